#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=install,full
# needs: git mmdebstrap uidmap
#
# What README.md says under "Install it", typed into a bare Debian.

bats_require_minimum_version 1.5.0

# shellcheck source-path=SCRIPTDIR
load ../lib/fsquota
load packages

@test "each line of README's Install it works in a bare root" {
	local line
	export SOURCE=$BATS_TEST_TMPDIR/source.tar README=$srcdir/README.md
	(cd "$srcdir" && git ls-files -z | tar -cf "$SOURCE" --null -T -)
	# Four builds.
	FSQ_TICKING=3600 bare_debian "$BATS_TEST_TMPDIR/typed" --customize-hook="$BATS_TEST_DIRNAME/install"
	while IFS= read -r line; do
		grep -qxF "typed: $line" "$BATS_TEST_TMPDIR/typed" || fail "not typed: $line"
	done < <(sed -n '/^## Install it/,/^## Try it/s/^    //p' "$README")
	assert_equal "$(grep -c '^fsquota [0-9]' "$BATS_TEST_TMPDIR/typed")" 2
}
