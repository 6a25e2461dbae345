#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# A large tree is walked by several threads: what is done is what one does, and what is printed for each file has the
# order of one.

load ../lib/fsquota
load attacks
load trees

# 60 directories with 25 files each, 4 more with one, and a chain of 151; and the tree itself.
tree=/mnt/x/bushy
inodes_in_tree=1720

setup_file() {
	fresh_fs x
	bushy $tree 30 25
	# Names that could upset what is printed, and a chain that is longer than what is kept open.
	run -0 perl -e 'chdir shift; my $byte = chr 255;
		for ("new\nline", "$byte$byte", "tab\t\e[31m", " ") {
			mkdir "d3/$_" or die $!;
			open my $file, ">", "d3/$_/$_" or die $!
		}' $tree
	mkdir $tree/d9/deep
	"$attacker" deep $tree/d9/deep 150
}

teardown() {
	rm -f /etc/projid
	fsquota project -C -p $tree 0 /mnt/x >/dev/null
}

# with THREADS COMMAND...
with() { FSQUOTA_THREADS=$1 run_split timeout -s KILL 120 "${@:2}"; }

# all_of ID INODES
all_of() {
	inodes_of "$1"
	assert_equal "$inodes" "$2"
}

# bats test_tags=many
@test "set, clear, assign, release and usage do the same with eight threads" {
	local threads
	for threads in 1 8; do
		with $threads fsquota project -s -p $tree 42 /mnt/x
		assert_equal "$status:$stderr" 0:
		all_of 42 "$inodes_in_tree"
		with $threads fsquota project -C -p $tree 42 /mnt/x
		assert_equal "$status:$stderr" 0:
		all_of 42 0
		with $threads fsquota assign --no-register --unlimited --id 4242 $tree
		assert_equal "$status:$stdout:$stderr" 0:4242:
		all_of 4242 "$inodes_in_tree"
		with $threads fsquota release --no-register $tree
		assert_equal "$status:$stdout:$stderr" 0::
		all_of 4242 0
		with $threads fsquota usage --fallback=walk -N -o IUSED $tree
		assert_equal "$status:${stdout// /}:$stderr" "0:$inodes_in_tree:"
	done
}

@test "files with several names in several directories are counted once" {
	perl -e 'for my $d (0 .. 29) { link "$ARGV[0]/d0/f$_", "$ARGV[0]/d$d/link$_" for 0 .. 9 }' $tree
	with 8 fsquota usage --fallback=walk -N -o IUSED $tree
	find $tree -name 'link*' -delete
	assert_equal "$status:${stdout// /}:$stderr" "0:$inodes_in_tree:"
}

# bats test_tags=many,full
@test "one of the foreign IDs in the tree is named, and all is as before" {
	local i foreign=("$tree"/{d28/e/f20,d7/f3,d15/e,d29})
	echo shared:4242 >/etc/projid
	set_ids 4242 $tree/d1/f1 $tree/d20/e/f* $tree/d9/deep
	set_ids 66 "${foreign[@]}"
	ids_of $tree >"$BATS_TEST_TMPDIR/before"
	for ((i = 0; i < 10; i++)); do
		with 8 fsquota assign --no-register --unlimited --name shared $tree
		assert_equal "$status:$stdout" 6:
		printf 'fsquota assign: %s: belongs to project 66 already\n' "${foreign[@]}" | grep -qxF -- "$stderr" || fail "$stderr"
		ids_of $tree | diff "$BATS_TEST_TMPDIR/before" -
	done
}

@test "project -c has a row for each file in the order of one thread, and xfs_quota's prints the same bytes" {
	set_ids 66 $tree/d20/e/f* $tree/d7/f3
	with 1 fsquota project -c --jsonl -p $tree 42 /mnt/x
	[ "$(grep -c '"finding":"id"' <<<"$stdout")" -ge 1700 ]
	echo "$stdout" >"$BATS_TEST_TMPDIR/one"
	with 8 fsquota project -c --jsonl -p $tree 42 /mnt/x
	diff "$BATS_TEST_TMPDIR/one" <(echo "$stdout")
	with 8 xfs_quota -x -D/dev/null -P/dev/null -c "project -c -p $tree 42" /mnt/x
	diff <(oracle -x -D/dev/null -P/dev/null -c "project -c -p $tree 42" /mnt/x 2>&1) "$BATS_TEST_TMPDIR/stdout"
}

# signalled SIGNAL NUMBER COMMAND...: the first thread gets it when it opens a file for the NUMBERth
# time, as it does on every kernel.
signalled() {
	FSQUOTA_THREADS=${threads:-1} run_split strace -f -qq -o /dev/null -e trace=openat2 \
		-e "inject=openat2:signal=$1:when=$2" "${@:3}"
}

# has_stopped STATUS: the last command, and has told how much it had done.
has_stopped() {
	assert_equal "$status" "$1"
	[[ $stderr =~ "$tree: stopped after "([0-9]+)" files and directories" ]] || fail "$stderr"
	inodes_of 43
	assert_equal "$inodes" "${BASH_REMATCH[1]}"
	[ "$inodes" -gt 0 ]
	[ "$inodes" -lt $inodes_in_tree ]
	fsquota project -C -p $tree 43 /mnt/x
}

@test "project that gets a signal says how much it has done, and ends by it" {
	signalled INT 7 fsquota project -s -p $tree 43 /mnt/x
	has_stopped 130
	signalled TERM 700 fsquota project -s -p $tree 43 /mnt/x
	has_stopped 143
}

@test "a signal that comes with the last file: what was done is said" {
	signalled TERM 51 fsquota project -s --jsonl -p $tree/d0 43 /mnt/x
	assert_equal "$status" 143
	assert_output --partial '"files":'
}

@test "xfs_quota's project ends by a signal, too, and what it has printed is there" {
	signalled INT 7 xfs_quota -x -D/dev/null -P/dev/null -c "project -s -p $tree 43" /mnt/x
	assert_equal "$stdout" "Setting up project 43 (path $tree)..."
	has_stopped 130
	signalled TERM 51 xfs_quota -x -D/dev/null -P/dev/null -c "project -s -p $tree/d0 43" -c print /mnt/x
	assert_equal "$status:$stderr" 143:
	assert_line --index 1 --regexp '^Processed 1 .* infinite \(-1\)\.$'
	assert_equal "${#lines[@]}" 2
}

# bats test_tags=many,full
@test "a signal that is ignored stops nothing, as below nohup" {
	trap '' HUP
	signalled HUP 7 fsquota project -s -p $tree 43 /mnt/x
	assert_equal "$status:$stderr" 0:
	all_of 43 $inodes_in_tree
	fsquota project -C -p $tree 43 /mnt/x
	signalled HUP 7 xfs_quota -x -D/dev/null -P/dev/null -c "project -s -p $tree 43" /mnt/x
	assert_equal "$status:$stderr" 0:
	all_of 43 $inodes_in_tree
	fsquota project -C -p $tree 43 /mnt/x
	signalled HUP 7 fsquota assign --no-register --unlimited --id 4246 $tree
	trap - HUP
	assert_equal "$status:$stderr" 0:
}

# bats test_tags=many,full
@test "with few descriptors fewer threads do all of it" {
	local descriptors
	for descriptors in 64 128 200 600; do
		with 8 bash -c 'ulimit -n "$1" && shift && exec "$@"' bash $descriptors \
			fsquota project -s -p $tree $descriptors /mnt/x
		assert_equal "$descriptors:$status:$stderr" "$descriptors:0:"
		all_of $descriptors "$inodes_in_tree"
	done
}

# bats test_tags=many,full
@test "a number of threads that is none does no harm" {
	local number
	for number in '' 0 -1 eight 65535 99999999999999999999; do
		with "$number" fsquota project -s -p $tree 45 /mnt/x
		assert_equal "$number:$status:$stderr" "$number:0:"
		all_of 45 "$inodes_in_tree"
		with "$number" fsquota usage --fallback=walk -N -o IUSED $tree/d9
		assert_equal "$number:$status:$stderr" "$number:0:"
		fsquota project -C -p $tree 45 /mnt/x
	done
}

@test "where no thread can be had one does all" {
	succeeds injecting clone,clone3 error=EAGAIN fsquota project -s -p $tree 46 /mnt/x
	all_of 46 "$inodes_in_tree"
}
