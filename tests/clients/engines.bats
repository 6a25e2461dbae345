#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=install,shared
# needs: docker.io podman runc crun golang-go kubelet
#
# Real dockerd and podman on the XFS of our quotas, and kubelet's package for them (kubelet.go). The two give their layers
# the IDs after that of their store, look into no file and take no lock: no limit of ours may change, and no layer and no
# volume may lose its ID.

# shellcheck disable=SC2154,SC2034 # run_split, finds and look set variables
load ../lib/fsquota
load ../doctor/doctor
load dockerd

readonly BAND=1073741824 ROOM=1000000

setup_file() {
	PACKAGE=$("$srcdir/tests/guest/kubelet") || return 1
	export PACKAGE
	mount -t tmpfs var /var
	[ -s /sys/fs/cgroup/cgroup.controllers ] || mount -t cgroup2 cgroup2 /sys/fs/cgroup
	loopback_up
	mkdir -p /run/engines/image/bin /etc/containers
	cp /bin/bash-static /run/engines/image/bin/sh
	tar -C /run/engines/image -cf /run/engines/image.tar .
	echo '{"default":[{"type":"insecureAcceptAnything"}]}' >/etc/containers/policy.json
	printf '%s\n' '[storage]' 'driver = "overlay"' 'runroot = "/run/engines/podman"' 'graphroot = "/mnt/x/storage"' \
		'[storage.options.overlay]' 'size = "5M"' >/etc/containers/storage.conf
}

setup() {
	rm -f /etc/projects /etc/projid /etc/fsquota.conf
	fresh_each x e
	export HOME=/run/engines GODEBUG=asyncpreemptoff=1
}

teardown() {
	[ -z "${kubelet-}" ] || { kill "$kubelet" || cat /run/engines/kubelet; }
	stop_dockerd
	umount /mnt/x/storage/overlay 2>/dev/null || :
}

# p WORD...: podman. in_container ENGINE NAME: one that writes 1 MB, and another one that stays.
p() { podman --cgroup-manager=cgroupfs --events-backend=none --runtime crun "$@" 3>&-; }
in_container() {
	local options=(--network none)
	[ "$1" = d ] || options+=(--cgroups=disabled)
	"$1" run --rm "${options[@]}" localhost/tiny /bin/sh -c 'printf %01000000d 0 >/file'
	"$1" create "${options[@]}" --name "$2" localhost/tiny /bin/sh >/dev/null
}

# Sets layers to "ID DIRECTORY" of each layer with an ID but its store's: all differ, in the room of the store.
find_layers() {
	local store=$1 root=$2
	layers=$(lsattr -pd "$store"/*/ | awk '$1 && $1 != '"$root"' { print $1, $3 }')
	[ -n "$layers" ] || fail "no layer of $store has an ID"
	assert_equal "$(cut -d' ' -f1 <<<"$layers" | sort | uniq -d)" ''
	assert_equal "$(awk '$1 <= '"$root"' || $1 >= '$((root + ROOM)) <<<"$layers")" ''
}

# theirs_stay: what was a layer is none any more, or has the same ID, and the limit of 5 MB.
theirs_stay() {
	local id directory
	while read -r id directory; do
		[ -d "$directory" ] || continue
		assert_equal "$(lsattr -pd "$directory" | awk '{ print $1 }') $directory" "$id $directory"
		assert_equal "$(kernel_has /mnt/x "$id" | cut -d' ' -f3) $id" "5120 $id"
	done <<<"$1"
}

# ours_stay: each directory of ours has its ID, its limit of 10 MB and its file; so has each volume of kubelet's.
ours_stay() {
	local id directory limits
	while IFS=: read -r id directory; do
		case $directory in
		/mnt/x/ours*) limits='0 10240' ;;
		/mnt/x/pods*) limits='9007199254740992 9007199254740992' ;;
		/mnt/e/pods*) limits='281474976710655 281474976710655' ;;
		*) continue ;;
		esac
		assert_equal "$(fsquota id "$directory") $(kernel_has "${directory%/*/*}" "$id" | cut -d' ' -f 2-) $(grep -c ":$id\$" /etc/projid)" \
			"$id $limits 2 0 0 1"
	done </etc/projects
	assert_equal "$(cut -d: -f1 /etc/projects | sort | uniq -d)" ''
}

# kubelet: in a mount namespace in which our binary is the xfs_quota that it finds.
kubelet() {
	exec unshare -m bash -c 'mount --bind "$FSQUOTA" /usr/sbin/xfs_quota && exec "$PACKAGE" /mnt/x/pods /mnt/e/pods' 3>&-
}

# beside ROUNDS SECONDS: at least so many rounds, which take at least so long. dockerd starts anew in each.
beside() {
	local round name known='' volumes order answer
	coproc KUBELET { kubelet 2>/run/engines/kubelet; }
	kubelet=$KUBELET_PID order=${KUBELET[1]} answer=${KUBELET[0]}
	start_dockerd /mnt/x/docker --storage-opt overlay2.size=5M
	d import /run/engines/image.tar localhost/tiny >/dev/null
	p import /run/engines/image.tar localhost/tiny >/dev/null 2>&1
	stop_dockerd
	run_split fsquota assign /mnt/x/docker /mnt/x/storage --hard 200M
	assert_equal "$stdout" "$BAND"$'\n'"$((BAND + ROOM))"
	echo '/mnt/x/ours/applied-* hard=10M' >/run/engines/wanted
	SECONDS=0
	for ((round = 0; round < $1 || SECONDS < $2; round++)); do
		step "round $round, second $SECONDS"
		echo works >&"$order"
		mkdir -p "/mnt/x/ours/assigned-$round" "/mnt/x/ours/applied-$round"
		fsquota assign "/mnt/x/ours/assigned-$round" --hard 10M
		start_dockerd /mnt/x/docker --storage-opt overlay2.size=5M
		fsquota apply /run/engines/wanted
		for name in assigned applied; do echo >"/mnt/x/ours/$name-$round/file"; done
		in_container d "c$round"
		in_container p "c$round"
		find_layers /mnt/x/docker/overlay2 $BAND
		known+=$layers$'\n'
		find_layers /mnt/x/storage/overlay $((BAND + ROOM))
		known=$(sort -u <<<"$known$layers")$'\n'
		fsquota prune /mnt/x
		echo rests >&"$order"
		read -r volumes <&"$answer"
		settle /mnt/x
		if [ $((round % 2)) = 1 ]; then
			d rm "c$round" >/dev/null
			p rm "c$((round - 1))" >/dev/null
		fi
		look /mnt/x
		prints 2 grep -c '"finding":"store"' <<<"$findings"
		refute grep -E '"(problem|store-followed|tag-without-limit|limit-without-tag|ids-without-line)"' <<<"$findings"
		theirs_stay "${known%$'\n'}"
		ours_stay
		stop_dockerd
	done
	assert_equal "$(grep -c :/mnt/x/ours/ /etc/projects) $(grep -c /pods/ /etc/projects)" "$((2 * round)) 4"
	echo "# volumes of kubelet: $volumes" >&3
	# At the end nothing is left but the two stores: the next kubelet clears what is there.
	exec {order}>&-
	wait "$kubelet"
	kubelet=''
	(kubelet) </dev/null
	fsquota release /mnt/x/ours/*
	assert_equal "$(grep -v '^#' /etc/projects)" "$BAND:/mnt/x/docker"$'\n'"$((BAND + ROOM)):/mnt/x/storage"
	assert_equal "$(real -c 'report -p -N -n -b' /mnt/x | awk -F'[# ]+' -v band=$BAND '$2 && $2 < band && $4 + $5')" ''
}

# bats test_tags=full
@test "dockerd, podman and kubelet change no limit of ours and of each other, and lose no layer and no volume" {
	beside 2 0
}

# bats test_tags=full
@test "dockerd, podman and kubelet for five minutes, restarted ten times" {
	beside 10 300
}

# bats test_tags=full
@test "a store that has had its ID before its first start is told, and gets room from then on" {
	mkdir -p /mnt/x/docker /mnt/x/{before,after}
	fsquota assign /mnt/x/docker /mnt/x/before --hard 10M
	assert_equal "$(kernel_has /mnt/x 1048578)" "0 0 10240 1 0 0"
	start_dockerd /mnt/x/docker --storage-opt overlay2.size=5M
	# That is what it does.
	assert_equal "$(kernel_has /mnt/x 1048578)" "0 0 0 1 0 0"
	finds problem store-followed /mnt/x
	typed
	no_more store-followed /mnt/x
	run -0 fsquota assign /mnt/x/after --hard 10M
	assert_output $((1048577 + ROOM + 1))
	d import /run/engines/image.tar localhost/tiny >/dev/null
	in_container d one
	stop_dockerd
	start_dockerd /mnt/x/docker --storage-opt overlay2.size=5M
	find_layers /mnt/x/docker/overlay2 1048577
	assert_equal "$(kernel_has /mnt/x $((1048577 + ROOM + 1)))" "0 0 10240 1 0 0"
}
