#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=every-call,shared
#
# Every command ends well when a system call fails, see faults. Of the calls every 97th does; with
# FSQUOTA_FULL, and where lines are counted, each.

load ../lib/fsquota

teardown_file() {
	echo "# calls that failed: $(awk '{ sum += $3 } END { print sum }' "$BATS_FILE_TMPDIR/failed")" >&3
}

# with FILESYSTEM ERROR EVERY GROUP...
with() {
	local every=$3
	[ -z "${FSQUOTA_FULL-}${FSQUOTA_COVERAGE-}" ] || every=1
	fresh_fs "$1"
	rm -f /etc/projects* /etc/projid*
	run "$BATS_TEST_DIRNAME/faults" "$2" "$every" "/mnt/$1" "${@:4}"
	echo "${lines[-1]}" >>"$BATS_FILE_TMPDIR/failed"
	assert_success
}

@test "commands that change something, when a call fails" { with x EIO 97 changes; }

@test "commands that read, when a call fails" { with x EIO 97 reads; }

@test "commands that look at budgets, when a call fails" { with x EIO 31 budgets; }

@test "commands that once left something out without a word, when a call fails" { with x EIO 7 silent; }

# bats file_tags=every-call,shared,full

@test "commands that switch, when a call fails" { with x EIO 97 switches; }
@test "commands of xfs_quota, in both modes, when a call fails" { with x EIO 97 xfs_quota; }
@test "commands that seldom come, when a call fails" { with x EIO 97 seldom; }
@test "with FSQUOTA_FULL, and where lines are counted: watch, when a call fails" { with x EIO 1 watch; }
