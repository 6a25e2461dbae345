# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# The pages of man. A page can be of several commands: fsquota-COMMAND.8 is then one line, ".so man8/PAGE".

: "${srcdir:?}"

# page_of COMMAND: the path of its page.
page_of() {
	local page=$srcdir/man/fsquota-$1.8 word target
	read -r word target <"$page" || return
	[ "$word" != .so ] || page=$srcdir/man/${target#man8/}
	echo "$page"
}

# pages [SECTIONS]: the paths of all pages, or of those sections ("58"), once each.
# shellcheck disable=SC2086 # a pattern
pages() { grep -LE "^\.so " "$srcdir"/man/*.[${1-1-9}]; }
