#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What fsquota-output(7) promises stays: interface.list has it. No quota is needed here.

load documentation

interface=$srcdir/tests/documentation/interface
list=$srcdir/tests/documentation/interface.list

@test "what fsquota-output(7) promises is there" {
	run "$interface" "$FSQUOTA" "$list"
	# What is gone breaks programs. What is new is recorded.
	[ -z "$output" ] || fail "$output"$'\n'"the interface differs: if that is meant, run tools/record interface"
	assert_success
}

@test "a word that is gone from the interface is found, and one that is new" {
	sed 's/^status: .*/& 99/; /^option assign/s/ --hard=VALUE//' "$list" >"$BATS_TEST_TMPDIR/list"
	run -1 "$interface" "$FSQUOTA" "$BATS_TEST_TMPDIR/list"
	assert_output "gone: status: 99
new: option assign: --hard=VALUE"
}

@test "fsquota-output(7) and what it names has five words of each kind" {
	run -0 awk '{ sub(/:$/, "", $1); count[$1] += NF - 1 } END { for (kind in count) if (count[kind] >= 5) print kind }' "$list"
	assert_equal "$(sort <<<"$output" | xargs)" "column command documented json metric option setting status"
}
