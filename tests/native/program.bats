#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The native program itself, and the other mode; and that each deviation of that is tested.

load ../lib/fsquota

@test "each deviation of xfs_quota mode has a test that names its number" {
	local number count
	count=$(sed -n '/^.Sh DEVIATIONS/,/^.El/p' "$srcdir/man/fsquota-xfs_quota.7" | grep -c '^.It$')
	assert [ "$count" -ge 11 ]
	for number in $(seq "$count"); do
		grep -qE "deviation $number\b|^D$number[@/ ]" "$srcdir"/tests/*/*.bats "$srcdir"/tests/xfs_quota/*.list ||
			fail "deviation $number"
	done
}

@test "-V is short for --version" { prints "$(fsquota --version)" fsquota -V; }

@test "with an option of xfs_quota first it is xfs_quota" {
	exits 0 fsquota -x -c 'state -p' /mnt/x
	assert_line --index 1 "  Accounting: ON"
	run_split fsquota -c 'quota -p -v 0' /mnt/x
	assert_line --index 0 "Disk quotas for Project #0 (0)"
}
