#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
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

@test "commands that change something, without memory" {
	exhausted x changes
}

@test "commands that switch, without memory" {
	exhausted x switches
}

@test "commands that read, without memory" {
	exhausted x reads
}

@test "commands of xfs_quota, at both doors, without memory" {
	exhausted x xfs_quota
}

@test "ext4: commands that change something, without memory" {
	[ -n "${FSQUOTA_FULL-}" ] || exhausted e switches
	[ -z "${FSQUOTA_FULL-}" ] || exhausted e changes switches
}

@test "ext4: commands of xfs_quota, at both doors, without memory" {
	exhausted e xfs_quota
	[ -z "${FSQUOTA_FULL-}" ] || exhausted e reads
}

@test "valgrind finds no error, no leak and no open descriptor in a change" {
	[ -n "${FSQUOTA_FULL-}" ] || exhausted x --memcheck switches
	[ -z "${FSQUOTA_FULL-}" ] || exhausted x --memcheck changes switches
}

@test "valgrind finds no error, no leak and no open descriptor in any command" {
	[ -z "${FSQUOTA_FULL-}" ] || exhausted x --memcheck reads
	[ -z "${FSQUOTA_FULL-}" ] || exhausted x --memcheck xfs_quota
	[ -n "${FSQUOTA_FULL-}" ] || exhausted x --memcheck some
}
