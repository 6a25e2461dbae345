#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# Who owns a tree and swaps its files while root's tool walks it gains nothing: no inode outside the
# tree changes, nothing hangs, no device is opened, and what nobody touched is done. The xfs_quota
# of xfsprogs falls for the same attacks, which shows that they are ones.
#
#   FSQUOTA_FULL   set: a directory of a million entries, not of a hundred thousand
#
# Not an attack: a file that has got a second name in the tree before its directory was tagged, which
# takes the right to link to it. It is in the tree as much as it is outside, and both tools tag it.

# shellcheck disable=SC2034 # run_split and attack set variables, and read some
load ../lib/fsquota
load attacks
load trees

setup_file() { fresh_each x e; }

@test "a symlink in place of a file leads nobody to the file outside" { stand file-symlink 12:12 "${all[@]}"; }
@test "a symlink in place of the tree itself is not followed" { every_other stand root 12:12 set assign usage; }
@test "a FIFO in place of a file holds nobody up" { every_other stand fifo 12:12 set assign usage; }

@test "a device in place of a file is not opened to be counted" {
	# Root has made it: in a tagged tree it has the same ID, and may be renamed. To set or
	# clear the ID of a file it must be opened, which an old kernel offers no way round.
	stand device 12:16 usage
}

# bats file_tags=shared,attack

@test "a symlink in place of a directory leads nobody into the one outside" { stand dir-symlink 8:14 "${all[@]}"; }

# bats test_tags=full
@test "a directory that is moved out of the tree takes nobody along" { every_other stand moved 7:12 set release; }

# bats test_tags=full
@test "a file outside cannot be linked into the tree" {
	# The kernel forbids it: it is another's, and has not the ID of a tagged directory.
	stand link 8:12 set assign
}

# bats test_tags=full
@test "a file in place of a directory, a directory in place of a file" {
	every_other stand type 7:18 set release usage
}

# bats test_tags=full
@test "a directory that is moved out of a deep tree: what stays above it is done, or it is said" {
	options=(-s 40)
	stand deep-moved 12:102 set assign release usage
}

# bats test_tags=full
@test "an attacker who swaps as fast as he can, through windows that are wide open" {
	local kind action
	for kind in file-symlink dir-symlink fifo moved vanish root; do
		for action in set assign release; do race "$kind" "$action" 2 "${slow[@]}"; done
	done
}

# bats test_tags=full
@test "xfsprogs falls for symlinks in place of files, of directories and of the tree" {
	falls file-symlink set clear
	falls dir-symlink set clear
	falls root set clear
}

# bats file_tags=shared,linux-6,attack

@test "a bind mount that appears in the tree is not entered" { stand bind 6:12 set assign; }
# bats test_tags=full
@test "files that vanish are passed over" { every_other stand vanish 5:12 set assign usage; }

# bats test_tags=full
@test "without openat2 symlinks, mounts and FIFOs are no way out either" {
	options=(-o -s 2)
	stand file-symlink 12:12 set
	stand dir-symlink 8:14 assign
	stand fifo 12:12 usage
	stand bind 6:12 clear
}

# bats file_tags=shared,attack,full

@test "ext4: symlinks, mounts and FIFOs" {
	on_ext4
	options=(-s 2)
	stand file-symlink 12:12 set
	stand dir-symlink 8:14 assign
	stand fifo 12:12 clear
	stand bind 6:12 set
}

# --- what the kernel refuses an attacker, and what it does not ---
# bats file_tags=shared

@test "nothing of another's, and nothing from outside, can be linked or moved into a tagged tree" {
	local tree=/mnt/x/tagged as_user=(setpriv --reuid 1000 --regid 1000 --clear-groups)
	mkdir $tree /mnt/x/own
	touch /mnt/x/foreign /mnt/x/own/file
	chown -R 1000:1000 $tree /mnt/x/own
	run "${as_user[@]}" ln /mnt/x/foreign $tree/link
	assert_output --partial 'Operation not permitted'
	xfs_quota -x -c "project -s -p $tree 77" /mnt/x
	run "${as_user[@]}" ln /mnt/x/own/file $tree/link
	assert_output --partial 'Invalid cross-device link'
	run ln /mnt/x/foreign $tree/link
	assert_output --partial 'Invalid cross-device link'
	run "${as_user[@]}" perl -e 'rename shift, shift or die $!' /mnt/x/own/file $tree/moved
	assert_output --partial 'Invalid cross-device link'
	prints $'0\n0' fsquota id /mnt/x/foreign /mnt/x/own/file
}

@test "a file that had a second name in the tree before is tagged, by both" {
	local name
	for name in fsquota oracle; do
		mkdir /mnt/x/two-$name
		touch /mnt/x/outside-$name
		ln /mnt/x/outside-$name /mnt/x/two-$name/name
	done
	xfs_quota -x -c 'project -s -p /mnt/x/two-fsquota 78' /mnt/x
	oracle -x -c 'project -s -p /mnt/x/two-oracle 78' /mnt/x
	prints $'78\n78' fsquota id /mnt/x/outside-fsquota /mnt/x/outside-oracle
}

# --- trees that are no attack by themselves, but large or odd ---

# is_counted TREE INODES: to the last, by usage and by project -s.
is_counted() {
	local tree=$1
	run_split fsquota usage --fallback=walk -N -o IUSED "$tree"
	assert_equal "$status:${stdout//[ ]/}:$stderr" "0:$2:"
	succeeds xfs_quota -x -c "project -s -p $tree 4000" "$mount"
	assert_line --partial 'Processed 1 '
	inodes_of 4000
	assert_equal "$inodes" "$2"
}

# is_counted_by_all TREE INODES: by each command that walks.
is_counted_by_all() {
	local tree=$1
	is_counted "$@"
	succeeds xfs_quota -x -c "project -C -p $tree 4000" "$mount"
	inodes_of 4000
	assert_equal "$inodes" 0
	prints 4001 fsquota assign --no-register --unlimited --id 4001 "$tree"
	inodes_of 4001
	assert_equal "$inodes" "$2"
	is_silent fsquota release --no-register "$tree"
	inodes_of 4001
	assert_equal "$inodes" 0
}

# bats test_tags=many,full
@test "a tree 5000 levels deep is walked to its end; that of xfsprogs is not" {
	mkdir /mnt/x/deep
	"$attacker" deep /mnt/x/deep 5000
	is_counted_by_all /mnt/x/deep 5001
	# What it says has thousands of paths of ten thousand bytes.
	oracle -x -c 'project -s -p /mnt/x/deep 4002' /mnt/x >/dev/null 2>&1 || :
	inodes_of 4002
	assert [ "$inodes" -gt 1 ]
	assert [ "$inodes" -lt 5001 ]
}

# bats test_tags=linux-6
@test "names with newlines, escapes and bytes that are no UTF-8" {
	local tree=/mnt/x/names name ours
	mkdir $tree
	for name in $'new\nline' $'\xff\xfe\xc3' $'tab\t\e[31mred' ' ' -x '*' "$(printf '%0255d' 7)"; do
		mkdir "$tree/$name"
		touch "$tree/$name/$name"
	done
	is_counted_by_all $tree 15
	run_split fsquota usage --fallback=walk --json /mnt/e "$tree/"$'\xff\xfe\xc3'
	run -0 python3 -c 'import json, sys; json.load(open(sys.argv[1], encoding="utf-8"))' \
		"$BATS_TEST_TMPDIR/stdout"
	mkfifo $tree/$'fifo\n\xff'
	run_split xfs_quota -x -c "project -s -p $tree 4003" /mnt/x
	ours=$status:$stdout:$stderr
	if kernel_knows file_setattr; then
		assert_equal "$status:$stderr" 0:
		inodes_of 4003
		assert_equal "$inodes" 16 # the FIFO, too
		return
	fi
	run_split oracle -x -c "project -s -p $tree 4003" /mnt/x
	assert_equal "$ours" "$status:$stdout:$stderr"
}

# bats test_tags=many,full
@test "a directory of very many entries" {
	fresh_fs x
	mkdir /mnt/x/wide
	"$attacker" wide /mnt/x/wide 100000
	is_counted /mnt/x/wide 100001
}
