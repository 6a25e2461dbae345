#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# Container stores, whose engines count up from the ID of a directory, and IDs that no file has. What they
# make is made here as they make it; tests/clients/engines.bats runs both.

load ../lib/fsquota
load doctor

setup() {
	rm -f /etc/projects /etc/projid /etc/fsquota.conf
	fresh_fs x
	mkdir /mnt/x/ours
}

# tagged ID DIR
tagged() {
	mkdir -p "$2"
	chattr +P -p "$1" "$2"
}

@test "a store whose ID is followed by one of ours is named, and containers' layers are no fault" {
	local store=/mnt/x/var/lib/docker
	mkdir -p "$store"
	run -0 fsquota assign "$store" /mnt/x/ours --hard 1M
	mkdir -p "$store"/{image,overlay2/l}
	# Two layers, and the limit of one that is gone.
	tagged 1048580 "$store/overlay2/a"
	tagged 1048581 "$store/overlay2/b"
	fsquota limit -p bhard=1m 1048580 /mnt/x
	fsquota limit -p bhard=1m 1048590 /mnt/x
	finds ok store /mnt/x
	assert_equal "$(jq -c '[.path, .id]' <<<"$finding")" "[\"$store\",1048577]"
	[[ $finding == *' 2 of the IDs'* ]] || fail "$finding"
	finds problem store-followed /mnt/x
	[[ $finding == *'/mnt/x/ours, project 1048578'* ]] || fail "$finding"
	no_more tag-without-limit /mnt/x
	no_more limit-without-tag /mnt/x
	# It is found again, and repaired, from any path and by all of doctor.
	finds problem store-followed
	typed
	no_more store-followed
	assert_equal "$(fsquota id /mnt/x/ours)" $((1048577 + 1000000))
	finds ok store /mnt/x/ours
	# Without an ID Docker begins at 1.
	fsquota release "$store"
	chattr -Rp 0 "$store"
	fsquota assign /mnt/x/var --id 7 --hard 1M >/dev/null 2>&1
	chattr -Rp 0 "$store"
	finds problem store-followed /mnt/x
	[[ $finding == *'/mnt/x/var, project 7'* ]] || fail "$finding"
}

@test "a registered store is found from the mount point, however deep it is" {
	local store=/mnt/x/a/b/c/d/e/docker
	mkdir -p $store/overlay2/l
	fsquota assign $store >/dev/null 2>&1
	finds ok store /mnt/x
	assert_equal "$(jq -r .path <<<"$finding")" $store
}

@test "layers of a store without an ID are its containers'" {
	mkdir -p /mnt/x/storage/overlay/l
	tagged 1360001 /mnt/x/storage/overlay/a
	tagged 1360002 /mnt/x/storage/overlay/b
	fsquota limit -p bhard=1m 1360001 /mnt/x
	fsquota limit -p bhard=1m 1360009 /mnt/x
	finds ok store /mnt/x
	[[ $finding == *'project 1360000: 2 of the IDs'* ]] || fail "$finding"
	no_more tag-without-limit /mnt/x
	no_more limit-without-tag /mnt/x
}

@test "many IDs that no file has are one finding, and another one if kubelet gives up" {
	local i
	for i in {0..15}; do tagged $((1048577 + i)) "/mnt/x/left/$i"; done
	look /mnt/x
	assert_equal "$(grep -c '"tag-without-limit"' <<<"$findings")" 16
	# In the files are three of the next.
	printf '%s\n' "1048593:/gone" "1048600:/gone2" >/etc/projects
	echo named:1048601 >/etc/projid
	for i in {17..22} {25..129} 131; do tagged $((1048577 + i)) "/mnt/x/left/$i"; done
	finds note ids-without-line /mnt/x
	[[ $finding == *'"128 project IDs'* ]] || fail "$finding"
	no_more tag-without-limit /mnt/x
	no_more kubelet-starved /mnt/x
	tagged $((1048577 + 130)) /mnt/x/left/130
	tagged $((1048577 + 132)) /mnt/x/left/132
	finds problem kubelet-starved /mnt/x
	[[ $finding == *"the first 130 IDs"*"up to $((1048577 + 132)),"*"fsquota assign --keep-limits DIRECTORY registers one"* ]] ||
		fail "$finding"
	fsquota assign --keep-limits /mnt/x/left/* >/dev/null
	no_more kubelet-starved /mnt/x
	no_more ids-without-line /mnt/x
}

# gone COUNT: so many volumes of pods were there.
gone() {
	seq 1048577 $((1048576 + $1)) | awk '{ print $1 ":/mnt/x/pods/uid" $1 "/volumes/kubernetes.io~empty-dir/cache" >"/etc/projects"
		print "volume" $1 ":" $1 >"/etc/projid"
		print "limit -p bhard=9223372036854775807 bsoft=9223372036854775807", $1 }' | oracle -x /mnt/x >/dev/null
}

@test "volumes of pods that are gone are one finding, which says how many more kubelet can bear" {
	gone 63
	# Kubelet takes up the pod that is there, and the line of its volume.
	mkdir -p /mnt/x/pods/uid1048577
	finds note kubelet-leaked
	assert_equal "$(jq -r '.message + "|" + .repair + "|" + .path' <<<"$finding")" \
		"volumes of pods that are gone have lines and limits (62), which kubelet never clears from 1.31 on; with 66 more of them, \
pods with a user namespace may not start|fsquota prune /mnt/x|/mnt/x"
	assert_equal "$(grep -c directory-gone <<<"$findings")" 1
	rmdir /mnt/x/pods/uid1048577
	gone 64
	finds problem kubelet-leaked
	no_more directory-gone
	gone 130
	finds problem kubelet-leaked /mnt/x
	[[ $finding == *'"volumes of pods that are gone'*'(130)'*': pods with a user namespace may not start'* ]] || fail "$finding"
	succeeds fsquota prune --quiet /mnt/x
	no_more kubelet-leaked
	assert_equal "$(cat /etc/projects /etc/projid)" ''
}
