#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# tests/check itself: what it says of suites that fail, end early or stand still, while they run and
# at the end. The suites are made up here, and what stands for the guest runs them on this machine.

# bats file_tags=slow
bats_require_minimum_version 1.5.0

setup() {
	top=$BATS_TEST_TMPDIR/top
	mkdir -p "$top/tests/guest" "$BATS_TEST_TMPDIR/tmp"
	touch "$top/fsquota" "$top/static"
	cp "$BATS_TEST_DIRNAME/../suite" "$top/tests"
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
	printf '%s\n' '#!/bin/sh' '[ -z "$OLD" ]' >"$top/tests/guest/new-xfsprogs"
	chmod +x "$top/tests/guest/new-xfsprogs"
	printf 'tag %s\n' 'linux-6 depends on the kernel' 'shared not for the static one' 'many makes many' \
		'attack attacks' >"$top/tests/suites"
	mkfifo "$top/never"
	# What bats puts before it is for these tests, not for those that they start.
	while [[ $PATH == "$BATS_LIBEXEC:"* ]]; do PATH=${PATH#"$BATS_LIBEXEC:"}; done
}

# suite NAME WHERE [TEST-BODY...]: each body is a test; one that is "# TAGS: BODY" has these tags.
suite() {
	local name=$1 number=0 body
	echo "$name $2" >>"$top/tests/suites"
	shift 2
	mkdir -p "$top/tests/$name"
	for body in "$@"; do
		number=$((number + 1))
		[[ $body != '# '* ]] || printf '# bats test_tags=%s\n' "${body:2:${#body}-2-$(wc -c <<<"${body#*:}")}"
		printf '@test "%s %d" {\n\t%s\n}\n' "$name" $number "${body#\# *: }"
	done >"$top/tests/$name/a.bats"
}

# the_check [NAME=VALUE...] [-- ARGUMENT...]
the_check() {
	local environment=()
	while [ $# -gt 0 ] && [ "$1" != -- ]; do environment+=("$1") && shift; done
	[ $# = 0 ] || shift
	${exec-} env -i PATH="$PATH" TERM=vt100 TMPDIR="$BATS_TEST_TMPDIR/tmp" srcdir="$top" builddir="$top" \
		FSQUOTA="$top/fsquota" ${environment[@]+"${environment[@]}"} "$BATS_TEST_DIRNAME/../check" "$@" 3>&-
}

# check STATUS [NAME=VALUE...] [-- ARGUMENT...]: it ends so; sets output and lines.
check() {
	run the_check "${@:2}"
	echo "$output"
	[ "$status:$(ls -A "$BATS_TEST_TMPDIR/tmp")" = "$1:" ]
}

# said PATTERN: in a line.
said() {
	grep -E -- "$1" <<<"$output"
}

unsaid() { run ! said "$1"; }

ends_with() { [ "${lines[-1]}" = "$1" ]; }

@test "what fails is shown while the suite goes on, and nothing else of it" {
	# The last test passes when it is there to be read.
	suite mixed guest true 'echo WHY; false' true \
		'for i in {1..200}; do ! grep -q WHY "$srcdir/out" || return 0; sleep 0.1; done; false'
	the_check >"$top/out" || status=$?
	output=$(<"$top/out")
	echo "$output"
	[ "$status" = 1 ]
	[ "$(grep -A1 '^mixed:$' "$top/out" | tail -n 1)" = 'not ok 2 mixed 2' ]
	[ "$(grep -c '^# WHY$' "$top/out")" = 1 ]
	said '^mixed .* 3 passed, 1 FAILED'
	[ "$(tail -n 1 "$top/out")" = '3 passed, 1 failed' ]
	unsaid '^ok'
}

@test "what fails last is shown, too" {
	suite last guest true 'echo WHY; false'
	check 1
	said '^not ok 2 last 2$'
	said '^# WHY$'
	ends_with '1 passed, 1 failed'
}

@test "a test that stands still is ended and named, with its last lines, and the others are run" {
	suite hanging guest true 'echo WHAT I DID; cat "$srcdir/never"' true
	suite here here 'setsid cat "$srcdir/never"'
	suite good guest true
	check 1 FSQUOTA_STILL=2
	said '^not ok 2 hanging 2: stood still for 2 seconds$'
	said '^#   WHAT I DID$'
	said "^#   [0-9]+ [a-z_0-9-]+ cat $top/never"
	said '^hanging: 2 of 3 tests ran: it ended early$'
	said '^not ok 1 here 1: stood still for 2 seconds$'
	ends_with '2 passed, 3 failed'
	# Nothing of them is left, in whatever session.
	run pgrep -f "cat $top/never"
	[ -z "$output" ]
}

@test "a test that says what it does is not ended, but for the time that it takes in all" {
	suite long guest 'for i in {1..8}; do echo "# $i" >&3; sleep 0.5; done' 'sleep 1'{,,}
	check 0 FSQUOTA_STILL=2
	ends_with '4 passed, 0 failed'
	check 1 FSQUOTA_STILL=2 FSQUOTA_LIMIT=2
	said '^not ok 1 long 1: took more than 2 seconds$'
	said '^long .* 0 passed, 1 FAILED'
}

@test "a guest that hangs is ended, too" {
	suite hanging guest true
	printf '%s\n' '#!/bin/bash' 'trap "exit 1" TERM' "cat $top/never & wait" >"$top/tests/guest/run"
	check 1 FSQUOTA_STILL=1 FSQUOTA_GRACE=1
	said '^hanging: STOOD STILL before the first test: nothing came for 2 seconds$'
	pkill -f "cat $top/never"
}

@test "a suite that ends early has failed" {
	suite early guest true true true
	check 1 CUT=5
	said '^early: 1 of 3 tests ran: it ended early$'
	ends_with '1 passed, 1 failed'
}

@test "a guest that does not start has failed, and what it said is shown" {
	suite good guest true
	check 1 BROKEN='the kernel failed'
	said '^good: no test plan: it did not start$'
	said '^guest: the kernel failed$'
	ends_with '0 passed, 1 failed'
}

@test "a suite without a test has failed, and so has a check that ran nothing" {
	suite none guest
	check 1
	ends_with '0 passed, 1 failed'
	: >"$top/tests/suites"
	check 1
	said '^nothing ran$'
}

@test "the short part is what has no tag of the long part, with the shared binary on the newer kernel" {
	suite part guest true '# linux-6: true' '# many: false' '# attack, many: false'
	suite long here '# many: false'
	check 0 FSQUOTA_STATIC="$top/static"
	[ "$(said ': starts$')" = 'part: starts' ]
	said '^part \([0-9]+ s, CPU [0-9]+ s\) +2 passed, on Linux 7\.2\.0 \(fake\)$'
	said '^left out: .*3 many'
	said '^left out: .*1 attack'
	ends_with '2 passed, 0 failed'
}

# bats test_tags=full
@test "all is with the shared binary; the short part with the static one, too, and on 6.1 what depends on it" {
	local what='echo "# $FSQ_KERNEL ${FSQUOTA##*/} $BATS_TEST_DESCRIPTION" >&3'
	suite part guest "$what" "# linux-6: $what" "# many: $what"
	suite two guest,7.2 "$what"
	suite host here "$what"
	suite late new "$what"
	suite lone static "$what"
	suite once guest "# shared: $what"
	check 0 FSQUOTA_STATIC="$top/static" -- --all
	[ "$(said ': starts$' | sort)" = 'host: starts
late, static: starts
late: starts
lone, static: starts
once: starts
part, Linux 6.1: starts
part, static: starts
part: starts
two, xfs_quota 7.2, static: starts
two: starts' ]
	said '^part .* 3 passed, on Linux 7\.2\.0'
	said '^part, static .* 2 passed, on Linux 7\.2\.0'
	said '^part, Linux 6\.1 .* 1 passed, on Linux 6\.1\.0'
	said '^left out: 0 tests, and the long part'
	check 0 -- --full
	said '^part, Linux 6\.1 .* 3 passed, on Linux 6\.1\.0'
	check 0 -- --all --new
	unsaid '6\.1'
}

@test "a tag that tests/suites does not know has failed" {
	suite good guest '# mani: true'
	check 1
	said '^tests/good/a.bats: tests/suites does not know the tag mani$'
}

@test "what is skipped is told, with the reason" {
	suite good guest true 'skip "no such disk"'
	check 0
	said '^SKIPPED good: good 2: no such disk$'
	ends_with '1 passed, 0 failed'
}

@test "each run has its own binary" {
	suite binary guest '[ "${FSQUOTA##*/}" = fsquota ]'
	check 1 FSQUOTA_STATIC="$top/static" -- --all
	said '^binary, static:$'
	ends_with '1 passed, 1 failed'
	check 1 FSQUOTA_STATIC="$top/gone" -- --all
	said "^there is no binary to test: $top/gone\$"
	ends_with '1 passed, 1 failed'
}

@test "without a newer kernel all runs on 6.1, and one line says so" {
	suite good guest true '# linux-6: true'
	suite late new true
	check 0 OLD=1 -- --all
	[ "$(said ': starts$')" = 'good, Linux 6.1: starts' ]
	said '^good, Linux 6.1 .* 2 passed, on Linux 6\.1\.0'
	said '^late: LEFT OUT'
	[ "$(said 'none is here' | wc -l)" = 1 ]
}

@test "one file of a folder can be a suite of its own" {
	suite folder guest true true
	echo 'folder/one guest' >>"$top/tests/suites"
	printf '@test "one" { true; }\n' >"$top/tests/folder/one.bats"
	check 0
	said '^folder .* 2 passed'
	said '^folder/one .* 1 passed'
	ends_with '3 passed, 0 failed'
	check 0 -- folder
	ends_with '3 passed, 0 failed'
	check 0 -- folder/one
	ends_with '1 passed, 0 failed'
}

@test "suites that are named run whole, and are known" {
	suite good guest true '# many: true'
	suite bad guest false
	check 0 -- good
	ends_with '2 passed, 0 failed'
	check 0 FSQUOTA_CHECK=good
	ends_with '2 passed, 0 failed'
	check 1 -- good odd
	said '^there is no suite odd; '
	check 2 -- --odd
}

@test "--list counts the tests of each part, and runs nothing" {
	suite good 'guest 12 34' false '# many: false'
	check 0 -- --list
	said '^good +guest +1 +12 s +2 +34 s '
	said '^  many +makes many$'
}

@test "how long each test took is kept" {
	suite good guest true 'sleep 0.5'
	check 0
	grep -E $'^[4-9][0-9][0-9]+\tgood new shared [^ ]+\t2 good 2$' "$top/check-times"
	grep -E '^good new shared [0-9]+ [0-9]+$' "$top/check-costs-short"
}

@test "how far a suite is: a line in ten tests" {
	suite long guest true{,,,,,,,,,,,,,,,,,,,,}
	check 0
	[ "$(said ' of 21')" = $'long: 10 of 21\nlong: 20 of 21' ]
	[ "$(wc -l <<<"$output")" -lt 8 ]
}

@test "how far a suite is: one line, drawn again and again, on a terminal" {
	suite long guest true true false true
	check=$(declare -f the_check)
	export top BATS_TEST_TMPDIR BATS_TEST_DIRNAME
	run script -q -e -c "bash -c '$check; the_check'" /dev/null </dev/null
	[ "$status" = 1 ]
	[[ $output == *$'\r\e[Klong: 1 of 4'$'\r\e[Klong: 2 of 4'$'\r\e[K'* ]]
	[[ $output == *$'\nnot ok 3 long 3\r\n'* ]]
	[[ ${lines[-1]} == *'3 passed, 1 failed'* ]]
}

@test "a check that is ended takes its suites along" {
	suite hanging guest,here true 'cat "$srcdir/never"'
	exec=exec the_check >"$top/out" 2>&1 &
	pid=$!
	for i in {1..600}; do
		[ "$(pgrep -c -f "^cat $top/never")" != 2 ] || break
		sleep 0.1
	done
	cat "$top/out"
	[ "$i" -lt 600 ]
	kill $pid
	wait $pid || status=$?
	for i in {1..600}; do
		pgrep -f "^cat $top/never" >/dev/null || break
		sleep 0.1
	done
	[ "$i" -lt 600 ]
	[ -z "$(ls -A "$BATS_TEST_TMPDIR/tmp")" ]
}
