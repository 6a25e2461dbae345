#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The attacks of tests/walk on the ways that a kernel with file_setattr(2) opens: O_PATH descriptors
# in a small tree; in a large one, with -b, names in a private clone of the mount.

# shellcheck disable=SC2034,SC2154 # run_split and attack set variables, and read some
load ../lib/fsquota
load ../walk/attacks
load ../walk/trees

setup_file() {
	fresh_fs x
	# Who stops it at its system calls stops the first thread only.
	export FSQUOTA_THREADS=1
}

# For stand and race: the filler of a large tree counts, too.
filler=1011

# stand_in_both KIND MIN:MAX ACTION...: some of the windows of a small tree, and of a large one; by
# name only project goes, which does not ask what ID there was.
stand_in_both() {
	local kind=$1 count=$2
	shift 2
	options=(-s 4)
	stand "$kind" "$count" "$@"
	options=(-b -s 6)
	stand "$kind" "$((${count%:*} + filler)):$((${count#*:} + filler))" "$@"
}

@test "a symlink in place of a file: the file that it leads to is left alone" {
	stand_in_both file-symlink 12:12 set
}

# bats test_tags=attack
@test "a symlink in place of a directory leads nobody into the one outside" {
	stand_in_both dir-symlink 8:14 set
}

# bats test_tags=attack
@test "a directory that is moved out of the tree takes nobody along" {
	stand_in_both moved 7:12 clear
}

@test "a FIFO in place of a file holds nobody up" {
	stand_in_both fifo 12:12 set
}

# bats test_tags=attack
@test "a device in place of a file is not opened, whatever is done to it" {
	options=(-s 3)
	stand device 12:16 clear
	options=(-b -s 6)
	stand device 12:16 set
}

# bats test_tags=attack
@test "a bind mount that appears in the tree is not touched" {
	stand_in_both bind 6:12 set
}

# bats test_tags=attack,full
@test "a bind mount that appears is not touched, though mounts are handed on to clones" {
	mount --make-shared /mnt/x
	options=(-b -s 6)
	stand bind 6:12 set
	mount --make-private /mnt/x
}

# bats test_tags=attack,full
@test "a file outside cannot be linked into the tree" {
	stand_in_both link 8:12 set
}

# bats test_tags=attack,full
@test "files that vanish are passed over" {
	stand_in_both vanish 5:12 set
}

@test "a file in place of a directory, a directory in place of a file" {
	stand_in_both type 7:18 set
}

# bats test_tags=attack
@test "a directory that gets the name of a file goes on handing on its ID: a small tree" {
	options=(-s 2)
	stand exchange 12:12 set
}

# bats test_tags=attack,full
@test "a directory that gets the name of a file goes on handing on its ID: a large tree" {
	options=(-b)
	stand exchange 12:12 set
}

# bats test_tags=attack
@test "assign and release are led nowhere either" {
	needs_quota
	options=(-s 4)
	stand dir-symlink 8:14 assign
	stand moved 7:12 release
	options=(-s 2)
	stand exchange 12:12 assign
}

@test "a directory where a symlink was when it was looked at hands on its ID" {
	# There are few windows.
	attack windows root-back set
	assert_equal "$changed$hung$opened$wrong$linked" 00000
}

# bats test_tags=attack,full
@test "a directory that is moved out of a deep tree" {
	options=(-b -s 61)
	stand deep-moved 12:102 set
}

@test "xfsprogs still falls for symlinks and for a bind mount" {
	falls file-symlink set
	falls bind clear
}

# --- eight threads, and a large tree ---

# bats test_tags=attack
@test "an attacker who swaps as fast as he can, and a small tree" {
	local kind
	for kind in file-symlink moved type exchange; do
		race "$kind" set 4
	done
}

# bats test_tags=attack,full
@test "an attacker who swaps as fast as he can, a large tree and eight threads" {
	local kind
	export FSQUOTA_THREADS=8
	options=(-b)
	for kind in file-symlink dir-symlink fifo type; do
		race "$kind" set 2
	done
	race moved clear 2
	race vanish usage 2
}

# bats test_tags=attack
@test "the same against assign and release" {
	local kind
	needs_quota
	export FSQUOTA_THREADS=8
	options=(-b)
	for kind in file-symlink dir-symlink fifo type; do
		race "$kind" assign 2
	done
	race moved release 2
}
