#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Every command where its output cannot go: stdout full, closed, or a pipe that nobody reads; stderr
# closed; and output of more than one buffer.

load ../lib/fsquota

# D is a dump.
commands='
	df
	dump -p
	enable -p
	disable -p
	off -p
	remove -p
	help
	limit -p bsoft=1m bhard=2m 42
	path
	print
	project -s -p /mnt/x/other 43
	project -c -p /mnt/x/other 44
	quot -p
	quota -p -v 42
	report -p
	restore -p -f D
	state -p
	timer -p 3d
	timer -p 3d 42
	warn -p 3 42
	quit
	id /mnt/x/other
	lsattr -pd /mnt/x/other
	apply --dry-run /mnt/x/other.conf
	assign --dry-run /mnt/x/other
	check --over 0 /mnt/x
	completion bash
	doctor /mnt/x
	explain /mnt/x/other
	export /mnt/x
	find 43 /mnt/x
	list /mnt/x
	metrics /mnt/x
	move --dry-run /mnt/x/gone /mnt/x/other
	prune --dry-run /mnt/x
	release --dry-run /mnt/x/other
	resize --dry-run /mnt/x/other 1G
	schema
	setup --dry-run /mnt/x
	supported /mnt/x/other
	top --batch 1 /mnt/x -o PATH,USED
	usage /mnt/x/other'
own='id|lsattr|apply|assign|check|completion|doctor|explain|export|find|list|metrics|move|prune|release|resize|schema|setup|supported|top|usage' # our own commands

# More than one buffer and one pipe hold. IDS are those that have limits.
large='
	dump -p
	path
	print
	project -c -p /mnt/x2/many 43
	quota -pbi -v IDS
	report -p
	id MANY
	lsattr -pR /mnt/x2/many'

setup_file() {
	local id
	fresh_fs x
	mkdir /mnt/x/other
	dd if=/dev/zero of=/mnt/x/other/file bs=64k count=1 conv=fsync 2>/dev/null
	oracle -x -c 'project -s -p /mnt/x/other 43' -c 'limit -p bsoft=1m bhard=2m 42' /mnt/x >/dev/null
	printf 'fs = %s\n42 0 4096 0 0\n' "$FSQ_X_DEV" >"$BATS_FILE_TMPDIR/dump"
	echo '/mnt/x/another hard=1M mkdir' >/mnt/x/other.conf
	# What prune shows.
	oracle -x -c 'limit -p bsoft=1m 1048600' /mnt/x

	fresh_fs x2
	mkdir /mnt/x2/many
	touch /mnt/x2/many/{1..2000}
	oracle -x -c 'project -s -p /mnt/x2/many 4000000000' /mnt/x2 >/dev/null
	for id in {1..2000}; do echo "limit -p ihard=5 $id"; done | oracle -x /mnt/x2 >/dev/null
	for id in {1..2000}; do echo "$id:/mnt/x2/many"; done >"$BATS_FILE_TMPDIR/projects"
}

setup() {
	rm -f /etc/projects /etc/projid
	complaints=''
}

# each_row FUNCTION [MOUNT TABLE]: calls FUNCTION MODE ROW with call set to what runs it there; it complains of none.
each_row() {
	local row words rows=0 where=${2-/mnt/x}
	while read -ra words; do
		[ ${#words[@]} -gt 0 ] || continue
		row="${words[*]}"
		case $row in
		*IDS) words=("${words[@]:0:3}" {1..2000}) ;;
		*MANY) read -ra words <<<"id $(printf '/mnt/x2/many %.0s' {1..6500})" ;;
		esac
		[ "${words[-1]}" != D ] || words[-1]=$BATS_FILE_TMPDIR/dump
		if [[ ! ${words[0]} =~ ^($own)$ ]]; then
			call=(xfs_quota -x -c "${words[*]}" "$where")
			"$1" xfs_quota "$row"
		fi
		[[ ! ${words[0]} =~ ^(help|off|path|print|quit|quot|remove|warn)$ ]] || continue
		call=(fsquota "${words[@]}")
		[[ ${words[0]} =~ ^($own)$ ]] || call+=("$where")
		"$1" fsquota "$row"
		rows=$((rows + 1))
	done <<<"${3-$commands}"
	[ $rows -ge 6 ]
	no_complaints
}

# The second time it changes nothing: this is what it says then.
again() {
	"${call[@]}" >/dev/null 2>&1 || true
	as_usual
}

as_usual() {
	run_split "${call[@]}"
	expected=$status expected_out=$stdout expected_err=$stderr
}

full() { "$@" >/dev/full; }

closed() { "$@" >&-; }

# output_fails WHERE TEXT MODE ROW: what would have printed gives 1 and one more line; what would
# not is as always.
output_fails() {
	local name=$3
	[ "$name" = xfs_quota ] || name="fsquota ${4%% *}"
	if [ -n "$expected_out" ]; then
		expected=1
		expected_err+=${expected_err:+$'\n'}"$name: cannot write the output: $2"
	fi
	run_split "$1" timeout -s KILL 100 "${call[@]}"
	[ "$status:$stderr" = "$expected:$expected_err" ] ||
		complain "$3 $4: status $status instead of $expected: \"$stderr\" instead of \"$expected_err\""
}

full_for() {
	again
	output_fails full 'No space left on device' "$@"
}

closed_for() {
	again
	output_fails closed 'Bad file descriptor' "$@"
}

# What fails for these is in tests/batch and tests/watch.
@test "no command is forgotten here" { forgets_none "$commands" 'batch|watch'; }

@test "a full disk gives 1 and one line for a file, however much would be written" {
	local words
	mount -m -t tmpfs -o size=8k none "$BATS_TEST_TMPDIR/small"
	for words in 'report -p' 'dump -p'; do
		run_split fsquota $words -f "$BATS_TEST_TMPDIR/small/file" /mnt/x2
		rm "$BATS_TEST_TMPDIR/small/file"
		[[ $status = 1 && $stderr == "fsquota ${words% *}: "*"cannot write"*": No space left on device" ]] ||
			complain "fsquota $words: $status: $stderr"
		run_split xfs_quota -x -c "$words -f $BATS_TEST_TMPDIR/small/file" /mnt/x2
		rm "$BATS_TEST_TMPDIR/small/file"
		[[ $status = 1 && $stderr == "xfs_quota: "*"cannot write"*": No space left on device" ]] ||
			complain "xfs_quota $words: $status: $stderr"
	done
	umount "$BATS_TEST_TMPDIR/small"
	no_complaints
}

@test "restore from a stdin that cannot be read fails" {
	local before
	before=$(oracle -x -c 'dump -p -L 42 -U 42' /mnt/x)
	exits 1 fsquota restore -p /mnt/x <&-
	[[ $stderr == 'fsquota restore: /mnt/x: '*'Bad file descriptor' ]] || fail "$stderr"
	exits 1 fsquota restore -p /mnt/x </mnt/x/other
	[[ $stderr == 'fsquota restore: /mnt/x: '*'Is a directory' ]] || fail "$stderr"
	assert_equal "$(oracle -x -c 'dump -p -L 42 -U 42' /mnt/x)" "$before"
}

# bats file_tags=slow

@test "a full stdout gives 1 and one line, where something would be printed" { each_row full_for; }

# bats test_tags=full
@test "a closed stdout gives 1 and one line, where something would be printed" { each_row closed_for; }

large_output() {
	case $2 in
	path | print) cp "$BATS_FILE_TMPDIR/projects" /etc/projects ;;
	*) rm -f /etc/projects ;;
	esac
	as_usual
	[ "$(stat -c %s "$BATS_TEST_TMPDIR/stdout")" -gt 70000 ] || complain "$1 $2: not large"
}

large_full_for() {
	large_output "$@"
	output_fails full 'No space left on device' "$@"
}

# bats test_tags=full
@test "a full stdout gives 1 and one line, however much would be printed" { each_row large_full_for /mnt/x2 "$large"; }

# Into a pipe that nobody reads.
unread() {
	{
		status=0
		timeout -s KILL 100 "${call[@]}" 2>"$BATS_TEST_TMPDIR/stderr" || status=$?
		echo "$status" >"$BATS_TEST_TMPDIR/status"
	} | true
	status=$(<"$BATS_TEST_TMPDIR/status")
	stderr=$(<"$BATS_TEST_TMPDIR/stderr")
}

ends_by_signal() {
	large_output "$@"
	(
		trap - PIPE
		unread
		[ "$status" != 141 ] || [ -n "$stderr" ]
	) && complain "$1 $2: $(<"$BATS_TEST_TMPDIR/status"): $(<"$BATS_TEST_TMPDIR/stderr")"
	return 0
}

# bats test_tags=full
@test "SIGPIPE ends a large output without a word" { each_row ends_by_signal /mnt/x2 "$large"; }

fails_without_signal() {
	local name=$1
	large_output "$@"
	[ "$name" = xfs_quota ] || name="fsquota ${2%% *}"
	expected_err+=${expected_err:+$'\n'}"$name: cannot write the output: Broken pipe"
	(
		trap '' PIPE
		unread
		[ "$status:$stderr" != "1:$expected_err" ]
	) && complain "$1 $2: $(<"$BATS_TEST_TMPDIR/status"): $(<"$BATS_TEST_TMPDIR/stderr")"
	return 0
}

# bats test_tags=full
@test "where SIGPIPE is ignored a large output nobody reads gives 1 and one line" {
	each_row fails_without_signal /mnt/x2 "$large"
}

# An output without what metrics says of the moment.
timeless() {
	sed -E 's/^(fsquota_filesystem_scan_(duration|timestamp)_seconds.*\} ).*/\1TIME/' <<<"$1"
}

no_stderr_for() {
	again
	status=0
	stdout=$("${call[@]}" 2>&-) || status=$?
	[ "$status:$(timeless "$stdout")" = "$expected:$(timeless "$expected_out")" ] ||
		complain "$1 $2: $status instead of $expected: \"$stdout\" instead of \"$expected_out\""
}

# bats test_tags=full
@test "with stderr closed output and status are the same" { each_row no_stderr_for; }

# What goes there while the file is open: a quota that is not, a directory of another project.
@test "with stderr closed nothing that should go there is in a file" {
	local words file=$BATS_TEST_TMPDIR/file expected
	echo 7:/mnt/x/other >/etc/projects
	for words in 'quota -p -v 4242' df; do
		for call in "fsquota $words -f $file /mnt/x"{,' <&-'} \
			"xfs_quota -x -c '$words -f $file' -c bogus /mnt/x"{,' <&-',' >&-',' <&- >&-'}; do
			bash -c "$call 2>/dev/null" || true
			expected=$(cat "$file")
			rm "$file"
			bash -c "$call 2>&-" || true
			[ "$(cat "$file")" = "$expected" ] || complain "$call: $(<"$file")"
			rm "$file"
		done
	done
	no_complaints
}
