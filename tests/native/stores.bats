#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# Beside container stores, whose engines count up from the ID of a directory and ask nobody: Docker's
# data-root and Podman's graphroot, as the two make them (tests/clients/engines.bats runs both).

load ../lib/fsquota

setup_file() { fresh_each x e; }

setup() { rm -f /etc/projects /etc/projid /etc/fsquota.conf; }

teardown() {
	local fs
	for fs in x e; do
		chattr -Rp 0 /mnt/$fs/s /mnt/$fs/v* 2>/dev/null || true
		rm -rf /mnt/$fs/s /mnt/$fs/v*
	done
	fresh_fs x
}

# docker DIR, podman DIR: what the engine makes at its first start.
docker() { mkdir -p "$1"/{buildkit,containers,image/overlay2,overlay2/l,volumes}; }
podman() {
	mkdir -p "$1"/{libpod,overlay/l,overlay-{containers,images,layers}}
	mknod "$1/overlay/backingFsBlockDev" b 7 0
}

readonly BAND=1073741824

@test "a directory that is, holds or lies in a container store gets an ID with room after it" {
	local fs
	for fs in x e; do
		docker /mnt/$fs/s/docker
		run_split fsquota assign /mnt/$fs/s/docker --hard 10M
		assert_equal "$status:$stdout:$(kernel_has /mnt/$fs $BAND | cut -d' ' -f3)" "0:$BAND:10240"
		[[ $stderr == *"/mnt/$fs/s/docker: is or holds a container store"* ]] || fail "$stderr"
		podman /mnt/$fs/s/storage
		run -0 --separate-stderr fsquota assign /mnt/$fs/s/storage
		assert_output $((BAND + 1000000))
		# Holds one, three directories down; and lies where the layers are, still without a file.
		docker /mnt/$fs/v/lib/a/docker
		run -0 --separate-stderr fsquota assign /mnt/$fs/v --dry-run
		assert_output "would-assign project $((BAND + 2000000)) (volume$((BAND + 2000000))), /mnt/$fs/v"
		run -0 --separate-stderr fsquota assign /mnt/$fs/v
		assert_output $((BAND + 2000000))
		mkdir -p /mnt/$fs/s/storage/overlay/layer
		run -0 --separate-stderr fsquota assign /mnt/$fs/s/storage/overlay/layer
		assert_output $((BAND + 3000000))
		# What is beside them does not.
		mkdir -p /mnt/$fs/v2/overlay2/other /mnt/$fs/v2/volumes
		run_split fsquota assign /mnt/$fs/v2
		assert_equal "$stdout:$stderr" "1048577:"
		rm /etc/projects /etc/projid
	done
}

@test "the ID of a store is in neither file, and the kernel knows none of a million" {
	docker /mnt/x/s
	echo "taken:$((BAND + 5))" >/etc/projid
	real -c "limit -p bhard=1m $((BAND + 1999999))" /mnt/x
	run_split fsquota assign /mnt/x/s
	assert_equal "$stdout" $((BAND + 2000000))
}

@test "the caller may choose the ID of a store, and is warned" {
	docker /mnt/x/s/a
	docker /mnt/x/s/b
	run_split fsquota assign /mnt/x/s/a --id 900000000
	assert_equal "$stdout" 900000000
	[[ $stderr == *"takes the IDs after 900000000"* ]] || fail "$stderr"
	run_split fsquota assign /mnt/x/s/b --id-range 500-600
	assert_equal "$stdout" 500
	[[ $stderr == *"takes the IDs after 500"* ]] || fail "$stderr"
	# Again nothing is chosen.
	run_split fsquota assign /mnt/x/s/b --hard 1M
	assert_equal "$stdout:$stderr" "500:"
	echo '/mnt/x/s/c hard=1M mkdir' >"$BATS_TEST_TMPDIR/wanted"
	docker /mnt/x/s/c
	run_split fsquota apply "$BATS_TEST_TMPDIR/wanted"
	assert_equal "$(fsquota id /mnt/x/s/c)" $BAND
	assert_one_line
}

# inherits ID DIR: somebody has made it who registers nothing.
inherits() {
	mkdir -p "$2"
	chattr +P -p "$1" "$2"
}

@test "no ID is given out in the room after a store's root" {
	local rest
	mkdir -p /mnt/x/s/docker /mnt/x/v{1,2,3,4}
	# Docker starts for the first time when its directory has an ID already.
	prints 1048577 fsquota assign /mnt/x/s/docker
	docker /mnt/x/s/docker
	# While it runs, it has it mounted onto itself.
	mount --bind /mnt/x/s/docker{,}
	run -0 fsquota assign /mnt/x/v1
	umount /mnt/x/s/docker
	assert_output $((1048577 + 1000000))
	# And for what is mounted itself.
	mount --bind /mnt/x/v2{,}
	run -0 fsquota assign /mnt/x/v2
	umount /mnt/x/v2
	assert_output $((1048577 + 1000001))
	# Also while Podman has its directory mounted onto itself, and when kubelet's range has no room more.
	rm -r /mnt/x/s/docker/overlay2
	fsquota assign /mnt/x/v3 --id 2097152 >/dev/null
	podman /mnt/x/s/docker
	mount --bind /mnt/x/s/docker/overlay{,}
	for rest in $(seq 2048577 2097151); do echo "$rest:/gone$rest"; done >>/etc/projects
	run -0 fsquota assign /mnt/x/v4
	umount /mnt/x/s/docker/overlay
	assert_output 2097153
}

# container DIR: the engine makes it for a container, with the next ID and a limit. Sets highest and theirs.
container() {
	inherits $((++highest)) "$1"
	real -c "limit -p bhard=5m $highest" "/mnt/$fs"
	theirs+=" $highest"
}

# ours DIR [OPTION]...: assign it, and add the ID to ours.
ours() {
	run -0 --separate-stderr fsquota assign "$@"
	ours+=" $output"
}

beside() {
	local top=/mnt/$fs store=/mnt/$fs/s/docker round id ours='' theirs='' highest=1048586
	local says="the engine of the container store $store takes the IDs after 1048577, and changes their limits: choose one from 2048577 on"
	fresh_fs $fs
	mkdir -p $store $top/v/{before-{1..9},{plain,named,chosen,bare}-{1..4}}
	# Others follow at once.
	succeeds fsquota assign $store $top/v/before-* --hard 10M
	docker $store
	for round in 1 2 3 4; do
		ours "$top/v/plain-$round" --hard 10M
		ours "$top/v/named-$round" --name "$fs-$round" --hard 10M
		container "$store/overlay2/$round"
		# The limit of this one stays when it is gone.
		container "$store/overlay2/gone"
		rm -r $store/overlay2/gone
		settle $top
		refuses 6 "v/chosen-$round: cannot have ID $((highest + 1)): $says" \
			fsquota assign "$top/v/chosen-$round" --id $((highest + 1))
		refuses 6 "cannot have ID $((highest + 1)) to 1050000: $says" \
			fsquota assign "$top/v/chosen-$round" --id-range $((highest + 1))-1050000
		ours "$top/v/chosen-$round" --id-range 1048580-3000000
		ours "$top/v/bare-$round" --no-register --id-range 1048580-3000000
		fsquota release "$top/v/chosen-$round"
		fsquota prune $top
		for id in $theirs; do
			assert_equal "$id $(kernel_has $top "$id" | cut -d' ' -f3)" "$id 5120"
		done
	done
	for id in $ours; do
		assert [ "$id" -ge 2048577 ]
	done
	# Again the store: others have IDs after its own, until they are released.
	run_split fsquota assign $store --hard 20M
	assert_equal "$status:$stdout" 0:1048577
	[[ $stderr == *"$store: the engine of this container store takes the IDs after 1048577, "*": see fsquota doctor" ]] ||
		fail "$stderr"
	assert_one_line
	awk -F: '$1 > 1048577 && $1 < 2048577 { print $2 }' /etc/projects | xargs fsquota release
	settle $top
	prints 1048577 fsquota assign $store
}

@test "beside a store that was assigned while it was empty no ID is given twice: XFS" { fs=x beside; }
@test "beside a store that was assigned while it was empty no ID is given twice: ext4" { fs=e beside; }

@test "a gap is kept behind IDs that somebody uses without a line, and before them" {
	mkdir -p /mnt/x/v{1,2,3,4}
	inherits 1048577 /mnt/x/s/root
	prints $((1048577 + 65536)) fsquota assign /mnt/x/v1
	# He counts up from somewhere below.
	inherits $((1048577 + 65540)) /mnt/x/s/layer
	prints $((1048577 + 65540 + 65536)) fsquota assign /mnt/x/v2
	# Where IDs of ours have no line, and in a small range, they stay together.
	prints 1048578 fsquota assign /mnt/x/v3 --id-range 1048577-1049000
	inherits 2097153 /mnt/x/s/other
	prints 2097154 fsquota assign /mnt/x/v4 --no-register
}
