#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What a visitor types: --help explains, wrong words are refused, and neither installs or builds anything.

load documentation

setup() {
	# Whoever installs, builds or boots fails.
	mkdir "$BATS_TEST_TMPDIR/bin"
	printf '#!/bin/sh\necho "$0 $*" >>"%s/started"\nexit 1\n' "$BATS_TEST_TMPDIR" >"$BATS_TEST_TMPDIR/bin/apt-get"
	chmod +x "$BATS_TEST_TMPDIR/bin/apt-get"
	for name in sudo make autoreconf linux.uml; do ln -s apt-get "$BATS_TEST_TMPDIR/bin/$name"; done
	PATH=$BATS_TEST_TMPDIR/bin:$PATH
}

teardown() { [ ! -e "$BATS_TEST_TMPDIR/started" ] || fail "$(<"$BATS_TEST_TMPDIR/started")"; }

@test "tools/check, demo, setup, build and record explain themselves" {
	local tool
	for tool in check demo setup build record; do
		run -0 "$srcdir/tools/$tool" --help
		assert_output --regexp "^$tool( .*)?: [a-z].*"
	done
	run -0 "$srcdir/tools/check" --list
	assert_line --regexp '^native +guest '
}

@test "wrong words are refused" {
	run -2 "$srcdir/tools/check" nonsense
	assert_output 'there is no suite nonsense; tools/check --list shows them'
	run -2 "$srcdir/tools/check" --nonsense
	assert_output 'check: there is no option --nonsense; see tools/check --help'
	run -2 "$srcdir/tools/demo" nonsense
	run -2 "$srcdir/tools/setup" nonsense
	run -2 "$srcdir/tools/setup"
	run -2 "$srcdir/tools/record" nonsense
}

@test "tools/setup --missing says what it would install and fetch" {
	local dpkg=$BATS_TEST_TMPDIR/bin/dpkg-query
	printf '#!/bin/sh\n[ "$4" = jq ] || echo "ok installed"\n' >"$dpkg"
	chmod +x "$dpkg"
	run -0 "$srcdir/tools/setup" --missing check
	assert_line 'Debian packages with apt: jq'
	# No more than a dozen besides those of the demo.
	printf '#!/bin/sh\n' >"$dpkg"
	count() { "$srcdir/tools/setup" --missing "$1" | sed -n 's/^Debian packages with apt: //p' | wc -w; }
	assert [ $(($(count check) - $(count demo))) -le 12 ]
}
