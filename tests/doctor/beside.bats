#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# Repairs that mount and unmount, and those of overlays and stores, beside other projects: no limit, line or ID of
# a project inside, beside or above changes. registry.bats has the repairs of lines and directories.

# shellcheck disable=SC2034 # for doctor.bash
load ../lib/fsquota
load doctor

# surround FS: the filesystem is mounted in a directory with a project of /mnt/x, beside another one, and has three
# projects, one inside the other. Sets at, device, type and the options that it has, and trees, whose IDs are compared.
surround() {
	local dir
	rm -f /etc/projects /etc/projid
	: >/etc/fstab
	# shellcheck source-path=SCRIPTDIR/../guest
	. "$srcdir/tests/guest/filesystems"
	local mkfs mount
	describe_filesystem "$1"
	type=${mount[1]} options=${mount[3]} at=/mnt/x/above/at trees=(/mnt/x/above)
	fresh_fs x
	fresh_fs "$1"
	umount "/mnt/$1"
	mkdir -p $at /mnt/x/above/beside
	mount -t "$type" -o "$options" "$device" $at
	mkdir -p $at/dir/inside $at/beside
	for dir in /mnt/x/above{,/beside} $at/dir{,/inside} $at/beside; do
		fsquota assign "$dir" --hard 5M --soft 4M --hard-inodes 70 >/dev/null
		touch "$dir/file"
	done
	limits=$(limits $at)
}

limits() { real -c 'report -p -N -n -b -i' "$1" | awk '$3 || $4 || $9 { print $1, $3, $4, $8, $9 }'; }

# Of all projects, but the limits of those on the filesystem, which may not be seen now.
others() {
	cat /etc/projects /etc/projid
	limits /mnt/x
	lsattr -pR "${trees[@]}"
}

# mounted OPTIONS [REMOUNT-OPTIONS]: the fault
mounted() {
	umount $at
	mount -t "$type" -o "$1" "$device" $at
	[ -z "${2-}" ] || mount -o "remount,$2" $at
}

# repaired LEVEL WORD [PATH]: the repair of the finding mends it, and nothing else has changed
repaired() {
	local before
	before=$(others)
	finds "$1" "$2" "${3-$at}"
	typed
	no_more "$2" "${3-$at}"
	assert_equal "$(others)" "$before"
	assert_equal "$(limits $at)" "$limits"
}

@test "an XFS is mounted anew beside other projects" {
	surround x2
	mounted noquota
	repaired problem quota-off
	mounted uquota,noatime
	repaired problem quota-off
	mounted uquota prjquota
	repaired problem quota-off
	mounted pqnoenforce
	repaired problem not-enforced
	umount $at
}

# bats test_tags=full
@test "an ext4 and an f2fs are mounted anew beside other projects" {
	surround e
	mounted defaults
	repaired problem not-enforced
	mounted defaults prjquota
	repaired problem not-enforced
	umount $at
	fresh_fs e
	surround f
	mounted defaults
	repaired problem not-enforced
	finds ok quota-on $at
	umount $at
	fresh_fs f
}

# bats test_tags=full
@test "what is read-only is mounted read-write beside other projects" {
	local fs
	for fs in x2 e f; do
		surround $fs
		mount -o remount,ro $at
		repaired problem read-only
		mount -o remount,bind,ro $at
		repaired problem read-only
		umount $at
		fresh_fs $fs
	done
}

# tests/setup asks the same of setup, which is the repair.
# bats test_tags=full
@test "what fstab says is mounted beside other projects" {
	local fs
	for fs in x2 e f; do
		surround $fs
		echo "$device $at $type defaults 0 0" >>/etc/fstab
		repaired note fstab
		mounted defaults
		repaired note fstab-not-in-force
		umount $at
		fresh_fs $fs
	done
}

# bats test_tags=full
@test "features are set, and a filesystem is made, beside projects of another" {
	surround e
	umount $at
	# With the feature the kernel forgets the limits, and the IDs of what is looked at.
	tune2fs -O ^project "$device" >/dev/null 2>&1
	mount "$device" $at
	trees=(/mnt/x/above/beside) limits=''
	repaired problem ext4-features
	umount $at
	# The projects of the filesystem are gone with it, and their lines stay.
	mkfs.ext4 -q -F -I 128 -O ^quota "$device" 2>/dev/null
	mount "$device" $at
	repaired problem ext4-inode-size
	umount $at
	umount /mnt/f
	mkfs.f2fs -q -f "$FSQ_F_DEV"
	mount -t f2fs "$FSQ_F_DEV" $at
	repaired problem f2fs-features
	umount $at
	fresh_each e f
}

# wrong_count FS: the kernel counts less of a project than there is
wrong_count() {
	local id
	yes | head -c 196608 >"$BATS_TEST_TMPDIR/file"
	id=$(fsquota id $at/beside)
	if [ "$1" = x2 ]; then
		cp "$BATS_TEST_TMPDIR/file" $at/beside/file
		sync -f $at
		umount $at
		xfs_db -x -c "dquot -p $id" -c 'write diskdq.bcount 1' "$device" >/dev/null
	else
		umount $at
		printf '%s\n' "cd beside" "rm file" "write $BATS_TEST_TMPDIR/file file" "sif file projid $id" |
			debugfs -w -f /dev/stdin "$device" >/dev/null 2>&1
	fi
	mount -t "$type" -o "$options" "$device" $at
}

# bats test_tags=full
@test "records are counted anew beside other projects" {
	local fs
	doctor=(fsquota doctor --deep)
	for fs in x2 e; do
		surround $fs
		wrong_count $fs
		repaired note count-differs
		assert [ "$(kernel_has $at "$(fsquota id $at/beside)" | cut -d ' ' -f 1)" -ge 192 ]
		umount $at
		fresh_fs $fs
	done
}

# damage_records FS: what the kernel has written of projects is garbage
damage_records() {
	local inode blocks size=4096 block
	umount $at
	case $1 in
	x2)
		inode=$(xfs_db -c 'sb 0' -c 'p pquotino' "$device")
		blocks=$(xfs_db -c "inode ${inode##* }" -c bmap "$device" | sed -n 's/.*startblock \([0-9]*\).*/\1/p')
		;;
	e)
		inode=$(dumpe2fs -h "$device" 2>/dev/null | sed -n 's/^Project quota inode: *//p')
		size=$(dumpe2fs -h "$device" 2>/dev/null | sed -n 's/^Block size: *//p')
		# The first one has the header, without which there is no mount.
		blocks=$(debugfs -R "blocks <$inode>" "$device" 2>/dev/null | cut -d ' ' -f 2-)
		;;
	f) blocks=$(dump.f2fs -i 6 "$device" </dev/null 2>&1 | sed -n 's/^i_addr\[0x[3-9a-f]\].*: \([0-9]*\)\]/\1/p') ;;
	esac
	[ -n "$blocks" ]
	for block in $blocks; do
		yes garbage | dd of="$device" bs="$size" seek="$block" count=1 iflag=fullblock conv=notrunc status=none
	done
	mount -t "$type" -o "$options" "$device" $at
}

@test "damaged records are named, and made anew beside other projects" {
	local fs before command
	for fs in x2 e f; do
		surround $fs
		before=$(others)
		# The guest takes what the kernel says of it for a fault of the kernel.
		dmesg -n 1
		damage_records $fs
		for command in "list $at" "report -p $at" "limit -p bhard=1M 5 $at"; do
			# shellcheck disable=SC2086 # words
			run fsquota $command
			assert_failure
			assert_output --partial "fsquota doctor names the repair"
		done
		finds problem records-unreadable $at
		typed
		dmesg -n 7
		no_more records-unreadable $at
		assert_equal "$(others)" "$before"
		fsquota resize $at/beside 6M
		assert_equal "$(fsquota usage --raw -No HARD,IUSED $at/beside)" "6M 2"
		umount $at
		fresh_fs $fs
	done
	# A device that fails is not repaired by this.
	doctor=(strace -qq -o /dev/null -e trace=quotactl_fd -e inject=quotactl_fd:error=EIO:when=4+ "$FSQUOTA" doctor)
	finds problem records-unreadable /mnt/x
	assert_equal "$repair" ""
}

# tests/setup asks the same of setup, which is the repair.
# bats test_tags=full
@test "a filesystem that is mounted twice is mounted anew at both places, or nobody is told to unmount it once" {
	local fs
	mkdir -p /run/b
	for fs in x2 e f; do
		surround $fs
		mounted noquota
		mount --bind $at/dir /run/b
		if [ $fs = x2 ]; then repaired problem quota-off; else repaired problem not-enforced; fi
		prints /dir findmnt -no FSROOT /run/b
		umount /run/b $at
		fresh_fs $fs
	done
	# What takes another program.
	surround e
	umount $at
	mkfs.ext4 -q -F -I 128 -O ^quota "$device" 2>/dev/null
	mount "$device" $at
	mkdir $at/dir
	mount --bind $at/dir /run/b
	finds problem ext4-inode-size $at
	assert_equal "$repair" ''
	[[ $finding == *"also mounted at /run/b: unmount it there, too"* ]]
	umount /run/b $at
	fresh_fs e
}

@test "an ID is put back on one directory, and not on the others that share it" {
	local dir id before
	fresh_fs x
	mkdir -p /mnt/x/{one,other}/sub
	for dir in one other; do fsquota assign /mnt/x/$dir --name both --hard 5M; done
	id=$(fsquota id /mnt/x/one)
	fsquota assign /mnt/x/other/sub --hard 2M
	before=$(cat /etc/projects && fsquota lsattr -pR /mnt/x && limits /mnt/x)
	chattr -p 0 /mnt/x/one/sub
	doctor=(fsquota doctor --deep)
	finds problem tree-has-others /mnt/x
	typed
	no_more tree-has-others /mnt/x
	chattr -P /mnt/x/one
	finds problem tag-not-inherited /mnt/x
	typed
	no_more tag-not-inherited /mnt/x
	assert_equal "$(cat /etc/projects && fsquota lsattr -pR /mnt/x && limits /mnt/x)" "$before"
}

@test "a directory that a store follows keeps its limit, and one with a project inside is not released" {
	local store=/mnt/x/var/lib/docker id before
	fresh_fs x
	mkdir -p $store /mnt/x/{ours/inside,above/ours,beside}
	fsquota assign $store /mnt/x/above >/dev/null
	id=$(fsquota assign /mnt/x/above/ours --hard 3M --soft 2M --soft-inodes 70 --hard-inodes 90 --name web-1)
	fsquota assign /mnt/x/beside --id 900 --hard 1M >/dev/null
	mkdir -p $store/{image,overlay2/l}
	fsquota release /mnt/x/above
	before=$(grep -v ours /etc/projects && limits /mnt/x | grep -v "^#$id ")
	finds problem store-followed /mnt/x
	typed
	no_more store-followed /mnt/x
	assert_equal "$(fsquota usage --raw -No SOFT,HARD,ISOFT,IHARD,NAME /mnt/x/above/ours)" "2M 3M 70 90 web-1"
	assert_equal "$(grep -v ours /etc/projects && limits /mnt/x | grep -v "^#$(fsquota id /mnt/x/above/ours) ")" "$before"
	# It would get no quota any more, for what is inside has one.
	# While the directory is no store that assign knows.
	mv $store/overlay2 $store/image /mnt/x
	fsquota assign /mnt/x/ours --id 1048590 --hard 4M >/dev/null
	mv /mnt/x/overlay2 /mnt/x/image $store
	fsquota assign /mnt/x/ours/inside --id 901 --hard 2M >/dev/null
	finds problem store-followed /mnt/x
	assert_equal "$repair" ''
	[[ $finding == *'which has projects inside'* ]] || fail "$finding"
}

# overlay_over DIR: what is written to /run/o is in its upper and work
overlay_over() {
	mkdir -p /mnt/x/lower /run/o
	mount -t overlay -o "lowerdir=/mnt/x/lower,upperdir=$1/upper,workdir=$1/work" overlay /run/o
}

# bats test_tags=slow
@test "an overlay is given one ID beside other projects, and not over them" {
	local c=/mnt/x/above/c before
	fresh_fs x
	mkdir -p $c/{upper/ann,work} /mnt/x/above/beside
	fsquota assign /mnt/x/above/beside --hard 2M >/dev/null
	fsquota assign $c/upper --hard 1M >/dev/null
	fsquota assign $c/upper/ann --hard 1M >/dev/null
	before=$(cat /etc/projects && limits /mnt/x && lsattr -pR $c/upper /mnt/x/above/beside)
	overlay_over $c
	finds problem overlay-split /run/o
	typed
	no_more overlay-split /run/o
	umount /run/o
	assert_equal "$(cat /etc/projects && limits /mnt/x && lsattr -pR $c/upper /mnt/x/above/beside)" "$before"
	# It is the other one that would get the ID, and there is a project inside.
	rm -r $c
	mkdir -p $c/{upper/ann,work}
	fsquota assign $c/work --hard 1M >/dev/null
	fsquota assign $c/upper/ann --hard 1M >/dev/null
	overlay_over $c
	finds problem overlay-split /run/o
	assert_equal "$repair" ''
	umount /run/o
	fsquota release $c/work
	overlay_over $c
	finds problem overlay-unlimited /run/o
	assert_equal "$repair" ''
	umount /run/o
}

@test "a directory in a project, with a project inside, is not to be assigned" {
	fresh_fs x
	mkdir -p /mnt/x/a/b/c
	fsquota assign /mnt/x/a --hard 5M >/dev/null
	fsquota assign /mnt/x/a/b/c --hard 1M >/dev/null
	finds note project-above /mnt/x/a/b
	assert_equal "$repair" ''
}
