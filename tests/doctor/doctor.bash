# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# What the suites of doctor share. A test makes a fault for real, finds it, types the repair in as it
# was shown, and finds it no more:
#
#   finds LEVEL WORD [PATH...]   doctor has exactly one such finding; sets repair and finding
#   typed                        runs the repair with sh
#   no_more WORD [PATH...]       doctor has no such finding
#
# doctor sets how it is called.
# shellcheck disable=SC2154 # run_split sets variables

doctor=(fsquota doctor)

# Sets findings, one JSON object a line. The exit status says whether there is a problem.
look() {
	local problems
	run_split "${doctor[@]}" --json "$@"
	assert_equal "$stderr" ""
	findings=$(jq -c '.doctor[]' <<<"$stdout")
	problems=$(grep -c '^{"level":"problem"' <<<"$findings" || true)
	assert_equal "$status" "$((problems ? 3 : 0))"
}

finds() {
	local level=$1 word=$2
	shift 2
	look "$@"
	finding=$(grep "\"finding\":\"$word\"" <<<"$findings") || fail "no $word: $findings"
	assert_equal "$(wc -l <<<"$finding")" 1
	assert_equal "$(jq -r .level <<<"$finding")" "$level"
	repair=$(jq -r '.repair // empty' <<<"$finding")
}

typed() {
	[ -n "$repair" ] || fail "there is no repair: $finding"
	run sh -ec "$repair"
	[ "$status" = 0 ] || fail "$repair: $output"
}

no_more() {
	local word=$1
	shift
	look "$@"
	! grep "\"finding\":\"$word\"" <<<"$findings" || fail "still $word"
}
