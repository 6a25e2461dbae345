#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What fsquota-interface(7) promises stays: interface.list has it, a line each. No quota is needed here.

bats_require_minimum_version 1.5.0
: "${srcdir:?}" "${FSQUOTA:?}"

setup() {
	bats_load_library bats-support
	bats_load_library bats-assert
}

@test "what fsquota-interface(7) promises is there" {
	export LC_ALL=C
	run -0 "$srcdir/tests/documentation/interface" "$FSQUOTA"
	printf '%s\n' "$output" | sort >"$BATS_TEST_TMPDIR/now"
	sort "$srcdir/tests/documentation/interface.list" >"$BATS_TEST_TMPDIR/kept"
	# What is gone breaks programs; what is new belongs into interface.list.
	run -0 comm -13 "$BATS_TEST_TMPDIR/now" "$BATS_TEST_TMPDIR/kept"
	assert_output ''
	run -0 comm -23 "$BATS_TEST_TMPDIR/now" "$BATS_TEST_TMPDIR/kept"
	[ -z "$output" ] || fail "tests/documentation/interface.list lacks:"$'\n'"$output"
}

@test "fsquota-interface(7) and what it names has lines of each kind" {
	run -0 awk '{ count[$1]++ } END { for (kind in count) if (count[kind] >= 5) print kind }' \
		"$srcdir/tests/documentation/interface.list"
	assert_equal "$(sort <<<"$output" | xargs)" "column command documented json metric option setting status"
}
