#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# tests/check itself: what it says of suites that fail, end early or stand still, while they run and
# at the end. The suites are made up here, and what stands for the guest runs them on this machine.

# shellcheck disable=SC2016 # expanded in the suites
bats_require_minimum_version 1.5.0

setup() {
	top=$BATS_TEST_TMPDIR/top
	mkdir -p "$top/tests/guest" "$BATS_TEST_TMPDIR/tmp"
	touch "$top/fsquota" "$top/static"
	chmod +x "$top/fsquota" "$top/static"
	printf '%s\n' '#!/bin/bash' 'kernel=6.1.0
		while [ "$1" != -- ]; do
			[ "$1" != --new ] || kernel=7.2.0
			shift
		done
		shift
		export FSQ_KERNEL=$kernel FSQ_GUEST=fake TMPDIR=$srcdir
		[ -z "${CUT-}" ] || exec head -n "$CUT" < <("$@")
		[ -z "${BROKEN-}" ] || { echo "guest: $BROKEN" >&2 && exit 125; }
		trap "kill -KILL 0" TERM
		"$@" &
		wait $!' >"$top/tests/guest/run"
	printf '%s\n' '#!/bin/sh' '[ -z "$OLD" ] || { echo "new-kernel: none is here" >&2; exit 1; }' \
		>"$top/tests/guest/new-kernel"
	chmod +x "$top/tests/guest/"*
	mkfifo "$top/never"
	# What bats puts before it is for these tests, not for those that they start.
	while [[ $PATH == "$BATS_LIBEXEC:"* ]]; do PATH=${PATH#"$BATS_LIBEXEC:"}; done
}

# suite NAME "SHARED STATIC" [TEST-BODY...]: each body is a test.
suite() {
	local name=$1 number=0 body
	echo "$name $2" >>"$top/tests/suites"
	shift 2
	mkdir -p "$top/tests/$name"
	for body in "$@"; do
		number=$((number + 1))
		printf '@test "%s %d" {\n\t%s\n}\n' "$name" $number "$body"
	done >"$top/tests/$name/a.bats"
}

# the_check [NAME=VALUE...]
the_check() {
	${exec-} env -i PATH="$PATH" TERM=vt100 TMPDIR="$BATS_TEST_TMPDIR/tmp" srcdir="$top" builddir="$top" \
		FSQUOTA="$top/fsquota" "$@" "$BATS_TEST_DIRNAME/../check" 3>&-
}

# check [NAME=VALUE...]: sets status, output and lines.
check() {
	run the_check "$@"
	echo "$output"
	[ -z "$(ls -A "$BATS_TEST_TMPDIR/tmp")" ]
}

# said PATTERN: in a line.
said() {
	grep -E -- "$1" <<<"$output"
}

unsaid() {
	run ! said "$1"
}

ends_with() {
	[ "${lines[-1]}" = "$1" ]
}

@test "what passes is counted, and the kernel is named" {
	suite good '6.1 -' true true true
	check
	[ "$status" = 0 ]
	said '^good, 6\.1: starts$'
	said '^good, 6\.1 \([0-9]+ s, CPU [0-9]+ s\) +3 passed, on Linux 6\.1\.0 \(fake\)$'
	ends_with '3 passed, 0 failed'
}

@test "what fails is shown while the suite goes on, and nothing else of it" {
	# The last test passes when it is there to be read.
	suite mixed '6.1 -' true 'echo WHY; false' true \
		'for i in {1..200}; do ! grep -q WHY "$srcdir/out" || return 0; sleep 0.1; done; false'
	the_check >"$top/out" || status=$?
	output=$(<"$top/out")
	echo "$output"
	[ "$status" = 1 ]
	[ "$(grep -A1 '^mixed, 6\.1:$' "$top/out" | tail -n 1)" = 'not ok 2 mixed 2' ]
	[ "$(grep -c '^# WHY$' "$top/out")" = 1 ]
	said '^mixed, 6\.1 .* 3 passed, 1 FAILED'
	[ "$(tail -n 1 "$top/out")" = '3 passed, 1 failed' ]
	unsaid '^ok'
}

@test "what fails last is shown, too" {
	suite last '6.1 -' true 'echo WHY; false'
	check
	[ "$status" = 1 ]
	said '^not ok 2 last 2$'
	said '^# WHY$'
	ends_with '1 passed, 1 failed'
}

# How many times longer the check waits now: sets factor, at least 1.
patience() {
	local load processors
	read -r load _ </proc/loadavg
	processors=$(nproc)
	load=${load%.*}
	factor=$(((load > processors ? load : processors) / processors))
}

@test "a suite that stands still is ended, its test is named, and the others are run" {
	suite hanging '6.1 -' true 'cat "$srcdir/never"' true
	suite here 'here -' 'cat "$srcdir/never"'
	suite good '6.1 -' true
	check FSQUOTA_STILL=2
	[ "$status" = 1 ]
	[[ $output =~ 'hanging, 6.1: STOOD STILL in test 2 hanging 2: no test ended for '([0-9]+)' seconds' ]]
	patience
	[ "${BASH_REMATCH[1]}" -ge 2 ]
	[ "${BASH_REMATCH[1]}" -le $((2 * (factor + 3))) ]
	said '^hanging, 6\.1: 1 of 3 tests ran: it ended early$'
	said '^here: STOOD STILL in test 1 here 1: '
	ends_with '2 passed, 4 failed'
	# Nothing of them is left.
	run pgrep -f "cat $top/never"
	[ -z "$output" ]
}

@test "a suite that goes on is not ended, however long it takes" {
	local tests=() factor
	patience
	# More seconds than one may take that stands still.
	while [ ${#tests[@]} -lt $((2 * (factor + 2))) ]; do tests+=('sleep 1'); done
	suite long '6.1 -' "${tests[@]}"
	check FSQUOTA_STILL=2
	[ "$status" = 0 ]
	ends_with "${#tests[@]} passed, 0 failed"
}

@test "a suite that ends early has failed" {
	suite early '6.1 -' true true true
	check CUT=5
	[ "$status" = 1 ]
	said '^early, 6\.1: 1 of 3 tests ran: it ended early$'
	ends_with '1 passed, 1 failed'
}

@test "a guest that does not start has failed, and what it said is shown" {
	suite good '6.1 -' true
	check BROKEN='the kernel failed'
	[ "$status" = 1 ]
	said '^good, 6\.1: no test plan: it did not start$'
	said '^guest: the kernel failed$'
	ends_with '0 passed, 1 failed'
}

@test "a suite without a test has failed, and so has a check that ran nothing" {
	suite none '6.1 -'
	check
	[ "$status" = 1 ]
	ends_with '0 passed, 1 failed'
	: >"$top/tests/suites"
	check
	[ "$status" = 1 ]
	said '^nothing ran$'
}

@test "suites run on the kernels and with the binaries of their line" {
	suite old '6.1 any' 'echo "# $FSQ_KERNEL ${FSQUOTA##*/}" >&3'
	suite either 'any -' 'echo "# $FSQ_KERNEL ${FSQUOTA##*/}" >&3'
	suite both '6.1,any new' 'echo "# $FSQ_KERNEL ${FSQUOTA##*/}" >&3'
	check
	[ "$(said ': starts$')" = $'old, 6.1: starts\neither, new: starts\nboth, 6.1: starts\nboth, new: starts' ]
	check FSQUOTA_STATIC="$top/static"
	[ "$(said ': starts$')" = 'old, 6.1, shared: starts
old, new, static: starts
either, new, shared: starts
both, 6.1, shared: starts
both, new, shared: starts
both, new, static: starts' ]
	said '^both, new, static .* on Linux 7\.2\.0'
	said '^old, 6\.1, shared .* on Linux 6\.1\.0'
	check FSQUOTA_FULL=1
	[ "$(said ': starts$')" = 'old, 6.1: starts
either, 6.1: starts
either, new: starts
both, 6.1: starts
both, new: starts' ]
}

@test "a pattern behind the kernel chooses tests, but not from all of it" {
	suite long '6.1:long -' true true
	printf '@test "another" { true; }\n' >>"$top/tests/long/a.bats"
	check
	said '^long, 6\.1 \(a part\) .* 2 passed, on Linux 6\.1'
	check FSQUOTA_FULL=1
	said '^long, 6\.1 .* 3 passed, on Linux 6\.1'
	echo 'long 6.1:long,any -' >"$top/tests/suites"
	check
	[ "$(said ': starts$')" = $'long, 6.1 (a part): starts\nlong, new: starts' ]
	check OLD=1
	[ "$(said ': starts$')" = 'long, 6.1: starts' ]
}

@test "each run has its own binary" {
	suite binary '- -' 
	echo 'binary 6.1 6.1' >"$top/tests/suites"
	printf '@test "it is shared" { [ "${FSQUOTA##*/}" = fsquota ]; }\n' >"$top/tests/binary/a.bats"
	check FSQUOTA_STATIC="$top/static"
	said '^binary, 6\.1, static:$'
	ends_with '1 passed, 1 failed'
	check FSQUOTA_STATIC="$top/gone"
	[ "$status" = 1 ]
	said "^there is no binary to test: $top/gone\$"
	ends_with '1 passed, 1 failed'
}

@test "without a newer kernel all runs on 6.1, and one line says so" {
	suite either 'any -' true
	suite both '6.1,any -' true
	check OLD=1
	[ "$status" = 0 ]
	[ "$(said ': starts$')" = $'either, 6.1: starts\nboth, 6.1: starts' ]
	[ "$(said 'none is here' | wc -l)" = 1 ]
}

@test "one file of a folder can be a suite of its own" {
	suite folder '6.1 -' true true
	echo 'folder/one 6.1 -' >>"$top/tests/suites"
	printf '@test "one" { true; }\n' >"$top/tests/folder/one.bats"
	check
	said '^folder, 6\.1 .* 2 passed'
	said '^folder/one, 6\.1 .* 1 passed'
	ends_with '3 passed, 0 failed'
}

@test "FSQUOTA_CHECK chooses, and knows what there is" {
	suite good '6.1 -' true
	suite bad '6.1 -' false
	check FSQUOTA_CHECK=good
	[ "$status" = 0 ]
	ends_with '1 passed, 0 failed'
	check FSQUOTA_CHECK='good odd'
	[ "$status" = 1 ]
	said '^FSQUOTA_CHECK: there is no odd$'
}

@test "how far a suite is: a line in ten tests" {
	suite long '6.1 -' true{,,,,,,,,,,,,,,,,,,,,}
	check
	[ "$(said ' of 21')" = $'long, 6.1: 10 of 21\nlong, 6.1: 20 of 21' ]
	[ "$(wc -l <<<"$output")" -lt 8 ]
}

@test "how far a suite is: one line, drawn again and again, on a terminal" {
	suite long '6.1 -' true true false true
	check=$(declare -f the_check)
	export top BATS_TEST_TMPDIR BATS_TEST_DIRNAME
	run script -q -e -c "bash -c '$check; the_check'" /dev/null </dev/null
	[ "$status" = 1 ]
	[[ $output == *$'\r\e[Klong, 6.1: 1 of 4'$'\r\e[Klong, 6.1: 2 of 4'$'\r\e[K'* ]]
	[[ $output == *$'\nnot ok 3 long 3\r\n'* ]]
	[[ ${lines[-1]} == *'3 passed, 1 failed'* ]]
}

@test "a check that is ended takes its suites along" {
	suite hanging '6.1,here -' true 'cat "$srcdir/never"'
	exec=exec the_check >"$top/out" 2>&1 &
	pid=$!
	for i in {1..100}; do
		[ "$(pgrep -c -f "^cat $top/never")" != 2 ] || break
		sleep 0.1
	done
	cat "$top/out"
	[ "$i" -lt 100 ]
	kill $pid
	wait $pid || status=$?
	for i in {1..100}; do
		pgrep -f "^cat $top/never" >/dev/null || break
		sleep 0.1
	done
	[ "$i" -lt 100 ]
	[ -z "$(ls -A "$BATS_TEST_TMPDIR/tmp")" ]
}
