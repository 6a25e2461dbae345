#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# needs: new-xfsprogs
# shellcheck disable=SC2034 # for the helpers
#
# Filesystems that were made otherwise: every command does there what it does on the usual one, and
# what the real xfs_quota reads is what ours reads.

load ../lib/fsquota
load day

setup() {
	cd "$BATS_TEST_TMPDIR"
	special_files=yes
}

# statuses MOUNT: what was asked in a day, and how it ended.
statuses() {
	rm -f /etc/projects /etc/projid
	spend_day "$1" env
	grep -E '^(\$ |\[)' day | sed "s|$1|MOUNT|g"
}

# as_usual FILESYSTEM MKFS-AND-MOUNT...: also on one that was made this way.
as_usual() {
	local fs=$1
	fresh_fs "$fs"
	statuses "/mnt/$fs" >usual
	fresh_fs "$@"
	statuses "/mnt/$fs" >here
	diff usual here || fail "otherwise on $*"
	reads_alike "/mnt/$fs"
	echo "# compared $(grep -c '^\$ ' here) answers" >&3
}

# reads_alike MOUNT: what both programs say of a project that is used and limited.
reads_alike() {
	local command
	mkdir "$1/used"
	fsquota assign "$1/used" --hard 9M --soft 2M --hard-inodes 7 2>&1
	dd if=/dev/zero of="$1/used/file" bs=64k count=20 conv=fsync status=none
	for command in 'report -p -b -i -r' 'quota -p -v -b -i -r volume1048577' 'state -p' 'dump -p' 'df'; do
		run_split oracle -x -f -c "$command" "$1"
		assert_equal "$(xfs_quota -x -f -c "$command" "$1")" "$stdout"
	done
	fsquota release "$1/used"
	rm -r "$1/used"
}

# mounts_not TYPE OPTIONS MKFS...: this kernel does not know such a filesystem; the test is for the others.
mounts_not() {
	local type=$1 options=$2
	shift 2
	"$@" || fail "$* fails"
	! mount -t "$type" -o "$options" "$FSQ_X2_DEV" /mnt/x2 || { umount /mnt/x2 && return 1; }
	echo "# not on Linux $FSQ_KERNEL: ${*:2}" >&3
}

# bats test_tags=shared
@test "XFS with blocks of 1 KiB" { as_usual x -o pquota -b size=1024; }

# Only the mkfs.xfs of xfsprogs 7 makes it, and Linux 6.13 counts on it.
# bats test_tags=shared,install
@test "XFS with a realtime device whose blocks are counted and limited" {
	[[ $FSQ_KERNEL != 6.1.* ]] || skip "Linux $FSQ_KERNEL takes it for corrupted"
	local top libraries command
	top=$("$srcdir/tests/guest/new-xfsprogs") libraries=$top/usr/lib/x86_64-linux-gnu
	truncate -s 300M "$BATS_TEST_TMPDIR/realtime"
	losetup /dev/loop7 "$BATS_TEST_TMPDIR/realtime"
	umount /mnt/x2
	"$libraries/ld-linux-x86-64.so.2" --library-path "$libraries" "$top/usr/sbin/mkfs.xfs" -q -f -K -m metadir=1 \
		-r rtdev=/dev/loop7 "$FSQ_X2_DEV"
	mount -o rtdev=/dev/loop7,pquota "$FSQ_X2_DEV" /mnt/x2
	mkdir /mnt/x2/used
	xfs_io -c 'chattr +t' /mnt/x2/used
	fsquota assign /mnt/x2/used --id 42 --name real --hard 50M
	fsquota limit -p rtbhard=20m rtbsoft=15m 42 /mnt/x2
	dd if=/dev/zero of=/mnt/x2/used/file bs=1M count=10 conv=fsync status=none
	for command in 'report -p -b -i -r' 'quota -p -v -b -i -r real' 'state -p' 'dump -p' 'df -r'; do
		run_split oracle -x -c "$command" /mnt/x2
		assert_equal "$(xfs_quota -x -c "$command" /mnt/x2)" "$stdout"
	done
	run ! dd if=/dev/zero of=/mnt/x2/used/more bs=1M count=20 conv=fsync
	assert_output --partial 'No space left on device'
	run -0 fsquota usage --json /mnt/x2/used
	fsquota release /mnt/x2/used
	umount /mnt/x2
	losetup -d /dev/loop7
	fresh_fs x2
}

# bats file_tags=again,shared,full

@test "XFS with quota of projects alone, and a small log" { as_usual x -o prjquota -l size=64m -i sparse=0; }

@test "XFS without checksums (version 4)" {
	umount /mnt/x2
	mounts_not xfs pquota mkfs.xfs -q -f -K -m crc=0 "$FSQ_X2_DEV" || as_usual x -o pquota -m crc=0
	fresh_fs x2
}

@test "XFS with 16 KiB directory blocks and large inodes" { as_usual x -n size=16384 -i size=2048; }
@test "ext4 without extents and journal" { as_usual e -O '^has_journal,^extent,^64bit,quota,project'; }

# bats file_tags=again,shared

# bats test_tags=full
@test "XFS with blocks of 64 KiB" {
	umount /mnt/x2
	mounts_not xfs pquota mkfs.xfs -q -f -K -b size=65536 "$FSQ_X2_DEV" || as_usual x -b size=65536
	fresh_fs x2
}

# bats test_tags=full
@test "ext4 with blocks of 1 KiB, and with 64-bit numbers" {
	as_usual e -b 1024
	as_usual e -O '^64bit,quota,project' -I 512
}

@test "ext4 with the quotas of users and groups in files of its own" {
	local command foreseen
	fresh_fs e -O '^quota,project'
	umount /mnt/e
	mount -o usrjquota=aquota.user,grpjquota=aquota.group,jqfmt=vfsv1 "$FSQ_E_DEV" /mnt/e
	quotacheck -cugm /mnt/e
	quotaon -ug /mnt/e
	dd if=/dev/zero of=/mnt/e/file bs=64k count=20 conv=fsync status=none
	chown 1000:1001 /mnt/e/file
	succeeds xfs_quota -x -f -c 'limit -u bsoft=5m bhard=9m 1000' -c 'limit -g ihard=8 1001' \
		-c 'timer -u -b 3days' /mnt/e
	for command in 'report -ug -bi' 'quota -u -v 1000' 'quota -g -v -i 1001' 'state' 'dump -u' 'dump -g'; do
		run_split oracle -x -f -c "$command" /mnt/e
		assert_equal "$(xfs_quota -x -f -c "$command" /mnt/e 2>&1)" "$stdout${stderr:+$'\n'$stderr}"
	done
	refuses 3 'lacks the feature' fsquota assign /mnt/e --hard 1M
	run -3 fsquota supported /mnt/e
	run -3 fsquota doctor /mnt/e
	# The kernel does not switch them by the call that is for all filesystems.
	run_split fsquota disable -u --dry-run /mnt/e
	foreseen=$status:$stderr
	run_split fsquota disable -u /mnt/e
	assert_equal "$foreseen" "$status:$stderr"
	assert_equal "$status" 3
	quotaoff -ug /mnt/e
	fresh_fs e
}
