#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# The pictures of doc show what fsquota prints.

load ../lib/fsquota
: "${srcdir:?}"

teardown() {
	! mountpoint -q /srv || umount /srv
	rm -f /etc/projects /etc/projid
	: >/etc/fstab
	fresh_fs x
}

@test "the pictures in doc are what tools/pictures makes of what fsquota prints on terminals, and in a page" {
	mkdir "$BATS_TEST_TMPDIR/doc"
	"$srcdir/tools/pictures" "$BATS_TEST_TMPDIR/doc"
	# browser.bats looks at those of the page.
	diff -r -x '*.png' -x '*.md' -x man "$srcdir/doc" "$BATS_TEST_TMPDIR/doc" || fail "if that is meant, run tools/record pictures"
	# With colours, and whole.
	grep -q 'fill="#e3b341">97%<' "$srcdir/doc/check.svg"
	grep -q 'fill="#9a6700">97%<' "$srcdir/doc/check-light.svg"
	assert_equal "$(grep -c '>repair: ' "$srcdir/doc/doctor.svg") $(grep -c '>repair: ' "$srcdir/doc/doctor-columns.svg")" "2 6"
}
