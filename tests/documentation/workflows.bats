#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=install
# needs: python3-yaml
#
# The workflows of .github run what is in the tree: it judges each change, and makes a release of a tag.

load documentation

@test "the workflows are whole, and what they run is there" {
	run -0 "$srcdir/tests/documentation/workflows" "$srcdir" "$srcdir"/.github/workflows/*.yml
	assert_output ''
	# .ci/run judges, and a tag makes a release.
	assert grep -q 'run: .ci/run$' "$srcdir/.github/workflows/ci.yml"
	assert grep -q '&& make release$' "$srcdir/.github/workflows/release.yml"
}

# wrong WORDS SCRIPT: with this change of release.yml these words are said.
wrong() {
	sed "$2" "$srcdir/.github/workflows/release.yml" >"$BATS_TEST_TMPDIR/release.yml"
	run -1 "$srcdir/tests/documentation/workflows" "$srcdir" "$BATS_TEST_TMPDIR/release.yml"
	assert_output --partial "$1"
}

@test "a workflow that is not whole is found" {
	wrong 'there is no program tools/gone' 's|tools/setup|tools/gone|'
	wrong 'there is no make gone' 's/make release/make gone/'
	wrong "it needs 'gone'" 's/needs: .ci, build./needs: [gone]/'
	wrong 'has no version' 's/checkout@v4/checkout/'
	wrong 'there is no ./.github/workflows/gone.yml' 's/ci\.yml/gone.yml/'
	wrong "it has no steps" '/steps:/,/run: gh/d; /env:/,$d'
	wrong "a step knows no 'runs'" 's/- run: tools/- runs: tools/'
	wrong 'SC' 's|"$PWD"$|"$PWD|'
	wrong 'it has all permissions' '/^permissions:/,/contents: read/d'
	wrong 'release.yml: ' 's/^jobs:/ jobs: [/'
}
