#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# Random steps of all who have to do with quotas, each compared with what must be true.
#
#   FSQUOTA_FULL        set: 10000 steps on each filesystem, instead of 250
#   FSQUOTA_MODEL_SEED  the first seed (1)

load ../lib/fsquota

model=$BATS_TEST_DIRNAME/model

setup() {
	fresh_each x x2 e
	rm -f /etc/fsquota.conf
}

# model_runs STEPS ARGUMENT...: ends well; how many there were is said, of many the kinds, too, and a failure at length
model_runs() {
	local steps=$1 kinds=''
	shift
	[ $steps -lt 250 ] || kinds='\| of'
	[ $steps -lt 250 ] || [ -z "${FSQUOTA_FULL-}" ] || steps=10000
	run ticking "$model" --steps $steps --seed "${FSQUOTA_MODEL_SEED:-1}" "$@"
	printf '%s\n' "${lines[@]}" | sed -n "/^# model steps\(:$kinds\)\|seed/p" >&3
	[ "$status" = 0 ] || fail "$output"
	assert_line --regexp "^# model steps: $steps\$"
}

@test "two hundred steps in whatever order leave kernel and files as they ought to be" {
	FSQUOTA_MODEL_SEED=9001 model_runs 200 --filesystem xfs
}

# bats file_tags=shared,random

@test "whatever is done in whatever order on XFS, kernel and files have what they ought to have" {
	model_runs 250 --filesystem xfs
}

# bats test_tags=full
@test "whatever is done in whatever order on ext4, kernel and files have what they ought to have" {
	model_runs 250 --filesystem ext4
}

@test "what the model has once found stays mended" {
	local filesystem
	for filesystem in xfs ext4; do
		run -0 "$model" --filesystem $filesystem --replay "$BATS_TEST_DIRNAME"/kept/*.json
		assert_line --regexp 'name-of-a-failed-assign.json: 5 steps'
		# An ID that another filesystem has is in doubt on this one.
		fresh_fs x
	done
}

@test "the model notices a limit, an ID and a line that nobody has set" {
	local what
	for what in limit tag line; do
		run -1 "$model" --steps 100 --sabotage $what
		assert_line --regexp '^# shrunk to 1 steps:$'
		assert_line --regexp '"do": "sabotage"'
	done
}
