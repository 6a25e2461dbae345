#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# Which xfs_quota is followed, and in what the two differ. That each is followed to the byte is what
# the differential suites compare, with the real ones.

load ../lib/fsquota

setup() {
	fresh_fs x
	none=(-D/dev/null -P/dev/null)
}

# as GENERATION WORD...: ours, when that one is chosen
as() { FSQUOTA_XFS_QUOTA_VERSION=$1 run_split xfs_quota "${@:2}"; }

@test "-V says which one: 7.2 unless the environment says 6.1" {
	unset FSQUOTA_XFS_QUOTA_VERSION
	run_split xfs_quota -V
	assert_equal "$status $stdout" "0 xfs_quota version 7.2.0"
	as "" -V
	assert_equal "$status $stdout" "0 xfs_quota version 7.2.0"
	as 7.2 -p foo -V
	assert_equal "$status $stdout" "0 foo version 7.2.0"
	as 6.1 -V
	assert_equal "$status $stdout" "0 xfs_quota version 6.1.0"
	as 6.1 -x "${none[@]}" -c 'state -p' /mnt/x
	refute_output --partial "Realtime Blocks max warnings"
}

@test "any other is one line and 1, with --strict 2, and nothing is done" {
	local wrong
	for wrong in 6 6.1.0 7.3 x ' 6.1' 0; do
		as "$wrong" -x "${none[@]}" -c 'limit -p bhard=1m 5' /mnt/x
		assert_equal "$status $stdout $stderr" "1  xfs_quota: FSQUOTA_XFS_QUOTA_VERSION is 6.1 or 7.2"
	done
	as 6 --strict -V
	assert_equal "$status" 2
	prints "" oracle -x "${none[@]}" -c 'dump -p' /mnt/x
}

@test "an ID that has limits and uses nothing has a row, in 6.1 only with -v" {
	oracle -x "${none[@]}" -c 'limit -p bhard=1m 5' -c 'limit -p isoft=7 6' /mnt/x
	as 6.1 "${none[@]}" -c 'quota -p -N 5' -c 'quota -pi -N 6' /mnt/x
	assert_equal "$status $stdout" "0 "
	as 6.1 "${none[@]}" -c 'quota -p -N -v 5' /mnt/x
	assert_output --regexp " 1024 "
	as 7.2 "${none[@]}" -c 'quota -p -N 5' -c 'quota -pi -N 6' -c 'quota -pb -N 6' -c 'quota -pi -N 5' /mnt/x
	assert_equal "${#lines[@]}" 2
	assert_line --index 0 --regexp " 0 +0 +1024 "
	assert_line --index 1 --regexp " 0 +7 +0 "
}

@test "native mode is the same whatever is chosen" {
	oracle -x "${none[@]}" -c 'limit -p bhard=1m 5' /mnt/x
	local generation
	for generation in 6.1 7.2 nonsense; do
		FSQUOTA_XFS_QUOTA_VERSION=$generation fsquota quota -p 5 /mnt/x >"$BATS_TEST_TMPDIR/$generation"
		FSQUOTA_XFS_QUOTA_VERSION=$generation fsquota state -p /mnt/x >>"$BATS_TEST_TMPDIR/$generation"
	done
	cmp "$BATS_TEST_TMPDIR/6.1" "$BATS_TEST_TMPDIR/7.2"
	cmp "$BATS_TEST_TMPDIR/nonsense" "$BATS_TEST_TMPDIR/7.2"
}
