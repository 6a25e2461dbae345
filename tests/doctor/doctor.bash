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

# told_by_others PATH: what other commands say there ends with the words of the finding.
told_by_others() {
	local path=$1 word sentence command call
	word=$(jq -r .finding <<<"$finding")
	sentence=$(jq -r .message <<<"$finding")
	local commands=("assign $path --hard 1M" "usage $path" "resize $path 1M" "supported $path"
		"release --id 5 --at $path" "list $path" "check $path" "limit -p bhard=1M 5 $path"
		"report -p $path" "quota -p 5 $path" "dump -p $path" "timer -p 1d $path"
		"prune $path")
	# Of a tmpfs usage shows what statfs(2) says.
	[ "$word" != tmpfs ] || commands=("${commands[@]/usage*/supported $path}")
	for command in "${commands[@]}"; do
		read -ra call <<<"$command"
		call=("${doctor[@]:0:${#doctor[@]}-1}" "${call[@]}")
		run_split "${call[@]}"
		[ "$status" = 3 ] || fail "$command: $status: $stderr"
		[[ $stderr == *": $sentence ("*"see fsquota doctor $path)" ]] || fail "$command: $stderr"
		run_split "${call[@]}" --json
		[ "$(jq -r .error.cause <<<"$stderr")" = "$word" ] || fail "$command: $stderr"
		[[ $(jq -r .error.message <<<"$stderr") == *"$sentence" ]] || fail "$command: $stderr"
	done
}
