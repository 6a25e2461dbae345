#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What "fsquota schema" prints, which comes from the fields of rows.

load documentation

@test "the schema has each command that prints rows, and of one command the same" {
	run -0 jq -r '."$defs" | keys[]' <("$FSQUOTA" schema)
	assert_equal "$output" "$("$FSQUOTA" help --machine | cut -f 1 | while read -r command; do
		! "$FSQUOTA" schema "$command" >/dev/null 2>&1 || echo "$command"
	done | sort)"
	assert_equal "$("$FSQUOTA" schema list | jq -c '."$defs".answer')" "$("$FSQUOTA" schema | jq -c '."$defs".list')"
}

@test "what is no command, or has no rows, has no schema" {
	run -2 "$FSQUOTA" schema bogus
	assert_output "fsquota schema: there is no such command; errors and batch: see fsquota-json(5); usage: fsquota schema [COMMAND]"
	run -2 "$FSQUOTA" schema metrics
	assert_output "fsquota schema: that command has no rows of its own; see fsquota-json(5); usage: fsquota schema [COMMAND]"
}
