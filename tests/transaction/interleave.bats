#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=every-call,shared
#
# assign and release stopped before each of their system calls on the two files: beside kubelet's own
# protocol, which does not look again once it has the lock; under the eyes of those who read without
# a lock; and killed. interleave.c says how.

load ../lib/fsquota

interleave=${builddir:?}/tests/transaction/interleave

# Who is stopped cannot give his lease up. The kernel takes it from him, after 45 seconds if it is not
# told otherwise; a machine's own kernel is not.
setup_file() { [ "$FSQ_GUEST" != uml ] || echo 1 >/proc/sys/fs/lease-break-time; }

setup() {
	fresh_fs x
	mkdir /mnt/x/dir /mnt/x/other
	rm -f /etc/projects* /etc/projid*
}

teardown_file() {
	[ "$FSQ_GUEST" != uml ] || echo 45 >/proc/sys/fs/lease-break-time
	echo "# interleavings: $(awk '{ sum += $3 } END { print sum }' "$BATS_FILE_TMPDIR/runs")" >&3
}

# interleaved HOW COMMAND...: nothing goes wrong
interleaved() {
	local how=$1 other=()
	shift
	[ "$how" != between ] || { other=("$1") && shift; }
	run "$interleave" "$how" /mnt/x /mnt/x/dir ${other[@]+"${other[@]}"} "$FSQUOTA" "$@"
	echo "${lines[-1]}" >>"$BATS_FILE_TMPDIR/runs"
	assert_success
	assert_line --index -1 --regexp '^0 of [0-9]+ interleavings went wrong$'
}

# bats test_tags=linux-6
@test "assign beside kubelet, each stopped at each of its calls: no line is lost, no ID there twice" {
	interleaved kubelet assign --hard 10M /mnt/x/dir
}

# bats test_tags=linux-6,full
@test "release beside kubelet, each stopped at each of its calls: no line is lost, none is back" {
	interleaved kubelet release /mnt/x/dir
}

# bats test_tags=linux-6,full
@test "assign beside kubelet, which had the files open when another release took lines away" {
	interleaved between /mnt/x/other assign --hard 10M /mnt/x/dir
}

# bats test_tags=full
@test "assign: who reads without a lock sees the old or the new list at each call" {
	interleaved readers assign --hard 10M /mnt/x/dir
}

# bats test_tags=full
@test "release: who reads without a lock sees the old or the new list at each call" {
	interleaved readers release /mnt/x/dir
}

# bats test_tags=linux-6
@test "assign is killed at each call, and kubelet comes next" { interleaved kill assign --hard 10M /mnt/x/dir; }

# bats test_tags=linux-6,full
@test "release is killed at each call, and kubelet comes next" { interleaved kill release /mnt/x/dir; }
