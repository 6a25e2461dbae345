# shellcheck shell=bash
# shellcheck disable=SC2034 # for and from those who source it
# SPDX-License-Identifier: Apache-2.0
#
# What inject, tests/robustness/faults and tests/allocation/exhaust have in common: they ask the
# witness, and let fail run the commands. They have $top, the mount point, $work, a directory of their
# own, and die.

# begin_witness: of what is below $top
begin_witness() {
	coproc WITNESS { exec "${BASH_SOURCE[0]%/*}/witness" "$FSQ_ORACLE" "$top" "$top/dir"; }
	# The coprocess's own are closed in subshells.
	exec {from_witness}<&"${WITNESS[0]}" {to_witness}>&"${WITNESS[1]}"
}

# ask ORDER...: sets answer.
ask() {
	echo "$*" >&"$to_witness"
	IFS= read -r answer <&"$from_witness" || answer='the witness is gone'
}

must() {
	ask "${@:2}"
	[ "$answer" = "$1" ] || die "witness $*: $answer"
}

# seen ORDER...: on stdout
seen() {
	ask "$@"
	while [ "$answer" != . ]; do
		printf '    %s\n' "$answer"
		IFS= read -r answer <&"$from_witness" || break
	done
}

# slurp FILE VARIABLE
slurp() { IFS= read -r -d '' "$2" <"$1"; }

begin_fail() {
	mkfifo "$work/orders" "$work/answers"
	"${builddir:?}/tests/transaction/fail" <"$work/orders" >"$work/answers" {to_witness}>&- &
	exec {to_fail}>"$work/orders" {from_fail}<"$work/answers"
	trap 'exec {to_fail}>&-; echo quit >&"$to_witness"; wait; rm -rf "$work"' EXIT
}

# disturbed CALL COUNT HOW SECONDS WORD...: see fail.c; $stdin may be a file. Sets status, came and
# stderr.
disturbed() {
	local words=("${@:5}")
	echo "${*:1:4} ${stdin-/dev/null} $work/stdout $work/stderr ${words[*]// /$'\t'}" >&"$to_fail"
	read -r status came _ <&"$from_fail" || die 'fail is gone'
	slurp "$work/stderr" stderr
}

# learn_numbers: sets number_of[NAME] for the calls in $work/calls, of strace -f -n, and takes the numbers out.
learn_numbers() {
	local name number
	while read -r name number; do number_of[$name]=$number; done < <(
		sed -n 's/^[0-9]* *\[ *\([0-9]*\)\] \([a-z0-9_]*\)(.*/\2 \1/p' "$work/calls" | sort -u)
	sed -i 's/^\([0-9]*\) *\[ *[0-9]*\] /\1 /' "$work/calls"
}

# make_tree DIRECTORY: two levels, five entries
make_tree() {
	mkdir -p "$1/sub"
	echo some >"$1/file"
	ln "$1/file" "$1/sub/hardlink"
	ln -s file "$1/symlink"
	echo more >"$1/sub/inner"
}
