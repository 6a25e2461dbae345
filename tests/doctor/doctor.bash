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

doctor=(fsquota doctor)

# For setup and teardown of tests that write /etc/fstab.
keep_fstab() {
	touch /etc/fstab
	cp /etc/fstab "$BATS_TEST_TMPDIR/fstab"
	: >/etc/fstab
}

restore_fstab() { [ ! -e "$BATS_TEST_TMPDIR/fstab" ] || cp "$BATS_TEST_TMPDIR/fstab" /etc/fstab; }

# For test files that do not define their own.
setup() {
	rm -f /etc/projects /etc/projid /etc/fsquota.conf
	keep_fstab
}

teardown() {
	umount -q /run/o || true
	umount -q /run/b || true
	restore_fstab
}

# Sets findings, one JSON object a line, and told, each of them and its repair. The exit status says whether
# there is a problem. A jq is expensive in the guest.
look() {
	local i
	run_split "${doctor[@]}" --json "$@"
	assert_equal "$stderr" ""
	mapfile -d '' -t told < <(jq -j '.doctor[] | tojson, "\u0000", (.repair // ""), "\u0000"' <<<"$stdout")
	wait $! || fail "no JSON: $stdout"
	findings=''
	for ((i = 0; i < ${#told[@]}; i += 2)); do findings+=${findings:+$'\n'}${told[i]}; done
	case $'\n'$findings in
	*$'\n''{"level":"problem"'*) assert_equal "$status" 3 ;;
	*) assert_equal "$status" 0 ;;
	esac
}

finds() {
	local level=$1 word=$2 i
	shift 2
	look "$@"
	finding=''
	for ((i = 0; i < ${#told[@]}; i += 2)); do
		[[ ${told[i]} == *"\"finding\":\"$word\""* ]] || continue
		[ -z "$finding" ] || fail "more than one $word: $findings"
		finding=${told[i]} repair=${told[i + 1]}
	done
	[ -n "$finding" ] || fail "no $word: $findings"
	[[ $finding == "{\"level\":\"$level\""* ]] || fail "not a $level: $finding"
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
	[[ $findings != *"\"finding\":\"$word\""* ]] || fail "still $word: $findings"
}

# told_by_others PATH: what other commands say there ends with the words of the finding.
told_by_others() {
	local path=$1 word sentence command call errors='' by=doctor
	{ read -r word && read -r sentence; } < <(jq -r '.finding, .message' <<<"$finding")
	local commands=("assign $path --hard 1M" "usage $path" "resize $path 1M" "supported $path"
		"release --id 5 --at $path" "list $path" "check $path" "limit -p bhard=1M 5 $path"
		"report -p $path" "quota -p 5 $path" "dump -p $path" "timer -p 1d $path"
		"prune $path")
	case $word in ext4-features | quota-off | root-flags | not-enforced) by=setup ;; esac
	# Of these usage and check show what statfs(2) says.
	case $word in tmpfs | network | overlay*)
		commands=("${commands[@]/usage*/supported $path}")
		commands=("${commands[@]/check*/supported $path}")
		;;
	esac
	for command in "${commands[@]}"; do
		read -ra call <<<"$command"
		call=("${doctor[@]:0:${#doctor[@]}-1}" "${call[@]}")
		run_split "${call[@]}"
		[ "$status" = 3 ] || fail "$command: $status: $stderr"
		[[ $stderr == *": $sentence ("*"see fsquota $by $path)" ]] || fail "$command: $stderr"
		run_split "${call[@]}" --json
		errors+=$stderr$'\n'
	done
	assert_equal "$(jq -sc --arg word "$word" --arg sentence "$sentence" '[length,
		map(select(.error.cause != $word or (.error.message | endswith($sentence) | not)))]' <<<"$errors")" \
		"[${#commands[@]},[]]"
}
