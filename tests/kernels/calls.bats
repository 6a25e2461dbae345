#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# System calls that a kernel has not yet, or that a container engine forbids: every command goes another
# way, and its answers stay the same.

load ../lib/fsquota
load day

setup() { cd "$BATS_TEST_TMPDIR"; }

# a_day FILESYSTEM COMMAND...: on one that is new.
a_day() {
	rm -f /etc/projects /etc/projid
	fresh_fs "$1"
	spend_day "/mnt/$1" "${@:2}"
}

# alike FILESYSTEM CALLS...: a day without each of them, and one with all of them.
alike() {
	local fs=$1 calls error
	shift
	a_day "$fs" env
	mv day with-all
	[ "$(grep -c '^\[0\]$' with-all)" -ge 20 ] || fail "$(<with-all)"
	: >difference
	for calls; do
		for error in ENOSYS EPERM; do
			step "without $calls ($error)"
			a_day "$fs" "$builddir/tests/kernels/forbid" "$error" "$calls"
			diff with-all day >>difference || echo "not alike without $calls ($error)" >>difference
		done
	done
	[ ! -s difference ] || fail "$(<difference)"
	echo "# compared $((2 * $# * $(grep -c '^\$ ' with-all))) answers" >&3
}

some_calls=(quotactl_fd openat2 statx open_tree statmount close_range)
# Without these no ID of a special file can be read or set.
file_calls=(file_setattr file_getattr,file_setattr
	quotactl_fd,openat2,file_getattr,file_setattr,open_tree,statmount,close_range)

# bats test_tags=slow,full
@test "XFS: without each of them the answers are the same" {
	special_files=yes alike x "${some_calls[@]}"
	special_files='' alike x "${file_calls[@]}"
}

# bats test_tags=again,full
@test "ext4: without each of them the answers are the same" {
	special_files=yes alike e "${some_calls[@]}" "${file_calls[@]}"
}

# bats test_tags=again,full
@test "f2fs: without each of them the answers are the same" {
	special_files=yes alike f "${some_calls[@]}" "${file_calls[@]}"
}
