# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# What kubelet does with project quotas: the calls it makes, argument by argument, and the way it
# reads the answers. Each function takes the mount point first.

# shellcheck disable=SC2034,SC2154 # for the caller; run_split sets status and stdout

# The largest limit of a filesystem, which kubelet sets to count without enforcing.
XFS_UNLIMITED=9223372036854775807
EXT4_UNLIMITED=288230376151711743

# one_line_table MOUNTPOINT: the file with the one line of /proc/self/mounts that -t gets.
one_line_table() {
	local line directory
	mounts=$TMPDIR/mounts$BATS_TEST_NUMBER
	: >"$mounts"
	while read -r line; do
		directory=${line#* }
		printf -v directory '%b' "${directory%% *}"
		[ "$directory" != "$1" ] || printf '%s\n' "$line" >"$mounts"
	done </proc/self/mounts
	[ -s "$mounts" ]
}

# kubelet MOUNTPOINT COMMAND: one call of xfs_quota. What it says on stderr is thrown away, its
# status is not.
kubelet() {
	[ -s "${mounts-}" ] || one_line_table "$1" || return 99
	run_split xfs_quota -t "$mounts" -P/dev/null -D/dev/null -x -f "$1" -c "$2"
}

# Is there a quota to be had? Only these words are looked for.
kubelet_detects() {
	kubelet "$1" 'state -p'
	[ "$status" = 0 ] && [[ $stdout == *'Accounting: ON'* ]]
}

# kubelet_assigns MOUNTPOINT DIR ID LIMIT: the limit first, so that nothing is tagged without one.
kubelet_assigns() {
	kubelet "$1" "limit -p bhard=$4 bsoft=$4 $3"
	[ "$status" = 0 ] || return 1
	kubelet "$1" "project -s -p $2 $3"
	[ "$status" = 0 ]
}

# kubelet_reads MOUNTPOINT b|i ID: sets used to bytes or inodes. The regular expression is POSIX
# and works line by line: ^[^ \t]*[ \t]*([0-9]+)
kubelet_reads() {
	used=''
	kubelet "$1" "quota -p -N -n -v -$2 $3"
	[ "$status" = 0 ] || return 1
	local line
	while IFS= read -r line; do
		[[ $line =~ ^[^$' \t']*[$' \t']*([0-9]+) ]] || continue
		used=${BASH_REMATCH[1]}
		[ "$2" != b ] || used=$((used * 1024))
		return 0
	done <<<"$stdout"
	# XFS says nothing of an ID that was never used, and that is a zero.
	[ -z "$stdout" ] && used=0
}

# kubelet_reads_id LSATTR... DIR: sets id. The regular expression is ^ *([0-9]+) [^ ]+ (.*)$, and
# what it finds as path must be the path that was given.
kubelet_reads_id() {
	run_split "${@:1:$#-1}" -pd "${!#}"
	[ "$status" = 0 ] && [[ $stdout =~ ^' '*([0-9]+)' '[^' ']+' '(.*)$ ]] || return 1
	id=${BASH_REMATCH[1]}
	[ "${BASH_REMATCH[2]}" = "${!#}" ]
}
