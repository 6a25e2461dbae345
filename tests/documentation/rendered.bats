#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What is made of other files and kept beside them is as they are.

load documentation

# made WHAT: as "tools/record WHAT" makes it of a copy of the tree, in $copy.
made() {
	copy=$BATS_TEST_TMPDIR/copy
	mkdir -p "$copy"
	cp -r "$srcdir"/{doc,man,tools,README.md} "$copy"
	mkdir "$copy/tests"
	cp -r "$srcdir/tests/documentation" "$copy/tests"
	run -0 "$copy/tools/record" "$1"
}

@test "doc/man has the pages, and each link in it leads to one" {
	local link
	made pages
	diff -r "$srcdir/doc/man" "$copy/doc/man" || fail "if that is meant, run tools/record pages"
	assert_equal "$(ls "$copy/doc/man" | wc -l)" "$(pages | wc -l)"
	for link in $(grep -rhoE '\]\([^)]*\)' "$copy/doc/man" | tr -d '()]' | sort -u); do
		[[ $link == *://* ]] || [ -e "$copy/doc/man/$link" ] || fail "$link"
	done
	# It notices a page that changed.
	sed -i 's/^\.Nd .*/&, and more/' "$copy/man/fsquota-move.8"
	run -0 "$copy/tools/record" pages
	run -1 diff -rq "$srcdir/doc/man" "$copy/doc/man"
}

@test "the ten rows of README.md are those of doc/costs.md" {
	made readme
	diff "$srcdir/README.md" "$copy/README.md" || fail "if that is meant, run tools/record readme"
	sed -i 's/^| a query, as kubelet asks | fsquota | [0-9]*/| a query, as kubelet asks | fsquota | 7/' "$copy/doc/costs.md"
	run -0 "$copy/tools/record" readme
	run -1 diff -q "$srcdir/README.md" "$copy/README.md"
}
