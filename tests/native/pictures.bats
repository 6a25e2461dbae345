#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The pictures of the README show what fsquota prints.

load ../lib/fsquota
: "${srcdir:?}"

teardown() {
	! mountpoint -q /srv || umount /srv
	rm -f /etc/projects /etc/projid
	fresh_fs x
}

@test "the pictures in doc are what tools/pictures makes of what fsquota prints" {
	local picture
	"$srcdir/tools/pictures" "$BATS_TEST_TMPDIR"
	for picture in list check doctor; do
		diff "$srcdir/doc/$picture.svg" "$BATS_TEST_TMPDIR/$picture.svg" ||
			fail "doc/$picture.svg differs: if that is meant, run tools/record pictures"
	done
	assert_equal "$(cd "$srcdir/doc" && echo *.svg)" "check.svg doctor.svg list.svg"
	# With colours, and whole.
	grep -q 'fill="#ff7b72">97%<' "$srcdir/doc/check.svg"
	grep -q 'repair:' "$srcdir/doc/doctor.svg"
}
