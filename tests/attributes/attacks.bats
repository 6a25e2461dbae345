#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Attacks as in tests/walk on the ways that a kernel with file_setattr(2) opens: O_PATH descriptors
# in a small tree; in a large one, with -b, names in a private clone of the mount.

# shellcheck disable=SC2034 # run_split and attack set variables, and read some
load ../lib/fsquota
load ../walk/attacks
load ../walk/trees

setup_file() {
	fresh_fs x
	# Who stops it at its system calls stops the first thread only.
	export FSQUOTA_THREADS=1
}

# stand_in_large KIND ACTION: in some of the windows of a large tree. Those of small ones are in tests/walk. By name
# only project goes, which does not ask what ID there was.
stand_in_large() {
	options=(-b -s 6)
	stand "$1" 0:0 "$2"
}

@test "a large tree: a symlink, a FIFO or a directory in place of a file, and a file in place of a directory" {
	stand_in_large file-symlink set
	stand_in_large fifo set
	stand_in_large type set
}

@test "a directory where a symlink was when it was looked at hands on its ID" {
	# There are few windows.
	attack windows root-back set
	assert_equal "$changed$hung$opened$wrong$linked" 00000
}

@test "xfsprogs still falls for symlinks and for a bind mount" {
	# 7.2 follows no link.
	[ "$FSQUOTA_XFS_QUOTA_VERSION" != 6.1 ] || falls file-symlink set
	falls bind clear
}

# bats file_tags=attack

# bats test_tags=full
@test "a large tree: a symlink in place of a directory, one that is moved out, and a bind mount" {
	stand_in_large dir-symlink set
	stand_in_large moved clear
	stand_in_large bind set
}

# bats test_tags=full
@test "a device in place of a file is not opened, whatever is done to it" {
	options=(-s 3)
	stand device 12:16 clear
	options=(-b -s 6)
	stand device 12:16 set
}

@test "a directory that gets the name of a file goes on handing on its ID: a small tree" {
	options=(-s 2)
	stand exchange 12:12 set
}

# bats test_tags=full
@test "a directory that gets the name of a file while it is assigned goes on handing on its ID" {
	needs_quota
	options=(-s 2)
	stand exchange 12:12 assign
}

# bats test_tags=full
@test "an attacker who swaps as fast as he can, and a small tree" {
	local kind
	for kind in file-symlink moved type exchange; do race "$kind" set 4; done
}

# bats test_tags=full
@test "the same against assign and release of a large tree" {
	local kind
	needs_quota
	export FSQUOTA_THREADS=8
	options=(-b)
	for kind in file-symlink dir-symlink fifo type; do race "$kind" assign 2; done
	race moved release 2
}

# bats file_tags=attack,full

@test "a large tree: a file outside that is linked into it, and files that vanish" {
	stand_in_large link set
	stand_in_large vanish set
}

@test "a bind mount that appears is not touched, though mounts are handed on to clones" {
	mount --make-shared /mnt/x
	options=(-b -s 6)
	stand bind 6:12 set
	mount --make-private /mnt/x
}

@test "a directory that gets the name of a file goes on handing on its ID: a large tree" {
	options=(-b)
	stand exchange 12:12 set
}
