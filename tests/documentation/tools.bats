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

@test "tools/check, check-bare, demo, setup, build and record explain themselves" {
	local tool
	for tool in check check-bare demo setup build record; do
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
	run -2 "$srcdir/tools/check-bare" nonsense
	run -2 "$srcdir/tools/check-bare" --nonsense
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
	count() { packages_of "$1" | wc -l; }
	assert [ $(($(count check) - $(count demo))) -le 13 ]
}

# packages_of PURPOSE...: those that a machine without any would get, a line each
packages_of() { "$srcdir/tools/setup" --missing "$@" | sed -n 's/^Debian packages with apt: //p' | tr ' ' '\n' | sort; }

# needed [FILE...]: the words of the lines "# needs:" of these files, or of all
needed() {
	[ $# -gt 0 ] || set -- "$srcdir"/tests/*/*.bats
	sed -n 's/^# needs: //p' "$@" | tr ' ' '\n' | sort -u
}

@test "a file whose tests have the tag install says what they need, and no other does" {
	local file says tagged
	for file in "$srcdir"/tests/*/*.bats; do
		says=$(grep -c '^# needs: [^ ]' "$file" || :) tagged=1
		grep -qE '^# bats (file|test)_tags=([a-z0-9,-]*,)?install(,|$)' "$file" || tagged=0
		assert_equal "$file: $says" "$file: $tagged"
	done
}

@test "what tests need is a package of Debian, or is fetched, and tools/setup all gets it" {
	local word known
	printf '#!/bin/sh\n' >"$BATS_TEST_TMPDIR/bin/dpkg-query"
	chmod +x "$BATS_TEST_TMPDIR/bin/dpkg-query"
	# What is fetched has a script, and is no package that is installed.
	mapfile -t fetched < <(sed -n '/^declare -A what=/,/)$/p' "$srcdir/tools/setup" | grep -o '\[[a-z-]*\]' | tr -d '[]')
	assert [ ${#fetched[@]} -ge 7 ]
	for word in "${fetched[@]}"; do assert [ -x "$srcdir/tests/guest/$word" ]; done
	packages_of all >"$BATS_TEST_TMPDIR/all"
	needed | grep -vxF "$(printf '%s\n' "${fetched[@]}")" >"$BATS_TEST_TMPDIR/needed"
	run -0 comm -23 "$BATS_TEST_TMPDIR/needed" "$BATS_TEST_TMPDIR/all"
	assert_output ''
	# Where apt has its lists, they have each package.
	known=$(apt-cache pkgnames 2>/dev/null | sort)
	[ "$(wc -l <<<"$known")" -gt 20000 ] || return 0
	run -0 comm -23 "$BATS_TEST_TMPDIR/all" - <<<"$known"
	assert_output ''
}

# gets SUITE PACKAGES: what it needs beyond the short part
gets() { assert_equal "$1: $(comm -13 "$BATS_TEST_TMPDIR/check" <(packages_of suites "$1") | xargs)" "$1: $2"; }

@test "a suite gets what its files need, and nothing else" {
	printf '#!/bin/sh\n' >"$BATS_TEST_TMPDIR/bin/dpkg-query"
	chmod +x "$BATS_TEST_TMPDIR/bin/dpkg-query"
	packages_of check >"$BATS_TEST_TMPDIR/check"
	gets unit ''
	gets walk ''
	gets doctor 'btrfs-progs systemd'
	gets metrics python3-prometheus-client
	gets users/guessed man-db
	gets users 'chromium fish man-db zsh'
	gets library "$(needed "$srcdir"/tests/library/*.bats | xargs)"
	run -0 packages_of suites doctor metrics library
	refute_line --regexp '^(buildah|chromium|docker\.io|podman|lintian)$'
	run -2 "$srcdir/tools/setup" --missing suites nonsense
	assert_output 'setup: there is no suite nonsense; tools/check --list shows them'
	run -2 "$srcdir/tools/setup" --missing suites
	# tools/check says the same before it installs it. Here it ends there.
	run -1 "$srcdir/tools/check" library/abi
	assert_line --partial 'First it installs what is missing'
	assert_line --regexp '^  Debian packages with apt: .*abigail-tools'
	refute_output --regexp 'chromium|golang|docker'
	rm "$BATS_TEST_TMPDIR/started"
}
