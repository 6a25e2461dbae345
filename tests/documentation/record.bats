#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# tools/record: what it says about itself. What it writes is compared by the suites that own the files.

load documentation

setup() { record=$srcdir/tools/record; }

@test "each thing that can be recorded has its files, and a check names its command" {
	local what file rest count=0
	run -0 "$record" --list
	while read -r what file rest; do
		file=${file%,}
		compgen -G "$srcdir/$file" >/dev/null || fail "$what: there is no $file"
		[[ $what == fuzz || $what == bench ]] || grep -rqF "tools/record $what" "$srcdir/tests" --exclude=record.bats ||
			fail "no check says \"tools/record $what\""
		count=$((count + 1))
	done <<<"$output"
	assert [ $count -ge 8 ]
}

@test "what checks say of tools/record is there" {
	local what known
	known=$("$record" --list | cut -d ' ' -f 1)
	for what in $(grep -rhoE --exclude=record.bats 'tools/record [a-z]+' "$srcdir/tests" "$srcdir/CONTRIBUTING.md" "$srcdir/README.md" |
		cut -d ' ' -f 2 | sort -u); do
		grep -qx "$what" <<<"$known" || fail "tools/record $what"
	done
}

@test "a wrong word gives 2 and one line, and writes nothing" {
	local word
	for word in nothing --nothing; do
		run -2 "$record" "$word" interface
		assert_equal "${#lines[@]}" 1
		assert_output --partial 'see tools/record --list'
	done
}

@test "the costs of the last check are written into tests/suites" {
	mkdir -p "$BATS_TEST_TMPDIR/tests" "$BATS_TEST_TMPDIR/build"
	cp -r "$srcdir/tools" "$BATS_TEST_TMPDIR"
	cp "$srcdir/tests/suites" "$BATS_TEST_TMPDIR/tests"
	printf '%s\n' 'walk new shared - 100 4711' 'walk new static - 100 1000' >"$BATS_TEST_TMPDIR/build/check-costs-all"
	run -0 env builddir="$BATS_TEST_TMPDIR/build" "$BATS_TEST_TMPDIR/tools/record" costs
	run diff "$srcdir/tests/suites" "$BATS_TEST_TMPDIR/tests/suites"
	assert_equal "$(grep -c '^>' <<<"$output")" 1
	assert_line --regexp '^> walk +guest +[0-9-]+ 5711 '
}
