# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Plays a scenario, a file NAME.txt of this directory, on the kernel of tests/guest/run, and prints it
# with the answers of this fsquota. The file has all of it, in this order:
#
#   # WORDS             what the scenario is about
#   + LINE              set-up for what follows, in the words below and of the shell
#   $ fsquota WORDS     an invocation, as a line of the shell; or "$ user fsquota WORDS"
#   1> LINE             a line of standard output; "1\" when the last one has no end
#   2> LINE             a line of standard error, the same
#   exit STATUS         unless it is 0
#
# Playing reads the first three, and writes the others anew. What "cat" prints in the set-up is there, too.
#
# It is to be sourced by a bash of its own, since bats looks at every command of a test, which takes
# longer than the invocation. $FSQ_TOOLS, with the link fsquota in it, is first in PATH.

transcript=${BASH_SOURCE[0]%/*}
work=/run/transcript # where a scenario begins, an empty directory in memory

# --- words of set-up ------------------------------------------------------------------------------

# file FILE SIZE: of that many bytes, which are allocated.
file() { fallocate -l "$2" "$1"; }

# lines FILE LINE...: write the file.
lines() { printf '%s\n' "${@:2}" >"$1"; }

# user COMMAND...: run it without privileges.
user() { setpriv --reuid 1000 --regid 1000 --clear-groups "$@"; }

# --- a scenario -----------------------------------------------------------------------------------

# The same host for each: no filesystem but those that it makes, no projects, and few users.
prepare() {
	local mounted=()
	while read -r _ _ _ _ place _; do
		[[ $place != /mnt/* ]] || mounted+=("$place")
	done </proc/self/mountinfo
	[ ${#mounted[@]} = 0 ] || umount "${mounted[@]}" || return
	rm -rf "$work" /etc/projects /etc/projid /etc/fsquota.conf && mkdir "$work" && cd "$work" || return
	lines /etc/passwd root:x:0:0:::/bin/sh daemon:x:1:1:::/bin/sh alice:x:1000:1000:::/bin/sh
	lines /etc/group root:x:0: daemon:x:1: staff:x:50:
	lines /etc/nsswitch.conf 'passwd: files' 'group: files'
	umask 022
	unset "${!FSQUOTA@}"
	export LC_ALL=C TZ=UTC0 COLUMNS=80 FSQUOTA_THREADS=1
}

# print_stream NUMBER FILE
print_stream() {
	local all line
	mapfile all <"$2"
	for line in ${all[@]+"${all[@]}"}; do
		line=${line%$'\n'}
		printf '%s>%s\n' "$1" "${line:+ $line}"
	done
	[ ${#all[@]} = 0 ] || [[ ${all[-1]} == *$'\n' ]] || printf '%s\\\n' "$1"
}

# invoke WORDS: as a line of the shell.
invoke() {
	local status=0
	(eval "$1") >/run/transcript.1 2>/run/transcript.2 </dev/null || status=$?
	print_stream 1 /run/transcript.1
	print_stream 2 /run/transcript.2
	[ $status = 0 ] || echo "exit $status"
}

# set_up LINE
set_up() {
	eval "$1" >/run/transcript.1 2>&1 || { cat /run/transcript.1 >&2 && return 1; }
	[[ $1 != 'cat '* ]] || print_stream 1 /run/transcript.1
}

# What differs from one run to the next: the version, speeds, and seconds that have
# passed of a grace time of 302400 seconds, which is half a week so that the days do not change.
normalise() {
	sed -E 's/^1> fsquota [0-9]+\.[0-9]+\.[0-9]+$/1> fsquota $VERSION/
		s/entries, [0-9]+\/s/entries, $SPEED\/s/
		s/(_grace_seconds":|,)302[0-4][0-9]{2}\b/\1$HALF_A_WEEK/g; s/\b3d12h\b/3d11h/g'
}

# perform NAME
perform() {
	local all line
	mapfile -t all <"$transcript/$1.txt"
	for line in "${all[@]}"; do
		case $line in
		'# '*) echo "$line" ;;
		'+ '*) echo "$line" && set_up "${line#+ }" || return ;;
		'$ fsquota '* | '$ user fsquota '* | '$ fsquota') echo "$line" && invoke "${line#$ }" ;;
		[12]'>'* | [12]\\ | 'exit '*) ;;
		*) echo "$1.txt: \"$line\" is neither set-up, invocation nor answer" >&2 && return 1 ;;
		esac
	done
}

# play NAME: print the transcript of a scenario.
play() {
	set -o pipefail
	prepare && perform "$1" | normalise
}
