#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=random,shared,linux-6
#
# Invocations at random; "generate" in this directory says how they are made, and runs more of them.
#
#   FSQUOTA_SEED     (default 1)
#   FSQUOTA_RANDOM   how many (default 120)
#   FSQUOTA_PART     K/N: only every Nth batch, from the Kth on

load ../lib/tools
load differential

# at_random FILESYSTEM PERCENT: that part of them, in batches on filesystems made anew.
at_random() {
	local seed=${FSQUOTA_SEED:-1} part=${FSQUOTA_PART:-0/1} left batch=0 size failed=''
	left=$((${FSQUOTA_RANDOM:-120} * $2 / 100))
	while [ $left -gt 0 ]; do
		size=$((left < 250 ? left : 250)) left=$((left - 250))
		if [ $((batch % ${part#*/})) = "${part%/*}" ]; then
			local list=$BATS_TEST_TMPDIR/$batch.list
			"$BATS_TEST_DIRNAME/generate" "$seed" "$size" "$1" "$batch" >"$list"
			(BATS_TEST_TMPDIR=$BATS_TEST_TMPDIR/$batch && mkdir "$BATS_TEST_TMPDIR" &&
				differential "$list" "$1") || failed="$failed $batch"
		fi
		batch=$((batch + 1))
	done
	[ -z "$failed" ] || echo "seed $seed, different in the batches$failed"
	[ -z "$failed" ]
}

@test "XFS: invocations at random" { at_random x 50; }
# bats test_tags=full
@test "ext4: invocations at random" { at_random e 30; }
# bats test_tags=full
@test "f2fs: invocations at random" { at_random f 20; }
