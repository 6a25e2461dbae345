#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
# needs: valgrind
#
# Every allocation of every command fails once, and once with all behind it: one line, exit status 1,
# nothing is changed. What is run is in commands.bash, what must be in exhaust.

load ../lib/fsquota

teardown_file() {
	echo "# allocations that failed: $(awk '{ sum += $5 } END { print sum }' "$BATS_FILE_TMPDIR/failed")" >&3
}

# exhausted FILESYSTEM [OPTION] GROUP...
exhausted() {
	local mode=()
	[[ $2 != --* ]] || mode=("$2")
	fresh_fs "$1"
	rm -f /etc/projects* /etc/projid*
	run "$BATS_TEST_DIRNAME/exhaust" "${mode[@]}" "/mnt/$1" "${@:2 + ${#mode[@]}}"
	echo "${lines[-1]}" >>"$BATS_FILE_TMPDIR/failed"
	assert_success
}

# bats test_tags=every-call
@test "commands that change something, without memory" { exhausted x changes; }

@test "commands that switch, without memory" { exhausted x switches; }

# bats test_tags=every-call
@test "commands that read, without memory" { exhausted x reads processes; }

@test "commands that look at budgets, without memory" { exhausted x budgets; }

# bats test_tags=install,every-call,full
@test "valgrind finds no error, no leak and no open descriptor in a command of each kind" {
	exhausted x --memcheck some
}

# bats file_tags=every-call,shared,full

@test "commands of xfs_quota, in both modes, without memory" { exhausted x xfs_quota; }
@test "commands that seldom come, without memory" { exhausted x seldom; }
@test "ext4: commands that switch, without memory" { exhausted e switches; }
@test "ext4: commands of xfs_quota, in both modes, without memory" { exhausted e xfs_quota; }
@test "commands that wait, without memory" { exhausted x watch; }
@test "ext4: commands that change something, without memory" { exhausted e changes; }
@test "ext4: commands that read, without memory" { exhausted e reads processes; }
@test "commands that change something, without any memory from a moment on" { exhausted x --rest changes switches; }
@test "commands that read, without any memory from a moment on" { exhausted x --rest reads; }
# bats test_tags=install
@test "valgrind: commands that change something" { exhausted x --memcheck changes switches; }
# bats test_tags=install
@test "valgrind: commands that read" { exhausted x --memcheck reads processes; }
# bats test_tags=install
@test "valgrind: commands of xfs_quota, in both modes" { exhausted x --memcheck xfs_quota; }
