#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Commands from standard input: piped as with the real one, and typed at a terminal.

load ../lib/fsquota

setup_file() {
	fresh_fs x
	fresh_fs e
}

none=(-D/dev/null -P/dev/null)

# Feeds the same lines to both, and compares what they print and return.
same_shell() {
	local dir=$BATS_TEST_TMPDIR
	printf '%b' "$1" >"$dir/lines"
	shift
	oracle "$@" <"$dir/lines" >"$dir/theirs" 2>"$dir/theirs.err" || echo "status $?" >>"$dir/theirs"
	xfs_quota "$@" <"$dir/lines" >"$dir/ours" 2>"$dir/ours.err" || echo "status $?" >>"$dir/ours"
	diff "$dir/theirs" "$dir/ours"
	diff "$dir/theirs.err" "$dir/ours.err"
}

@test "lines are run on the current path, up to quit" {
	same_shell 'quota -pv 5\nprint\nquit\nprint\n' -x "${none[@]}" /mnt/x
}

@test "unknown and empty lines do not end it" {
	same_shell 'bogus\n\n   \nlimit -p bhard=1m 5\nquota -pNv 5\n' -x "${none[@]}" /mnt/x
}

@test "no input, no output" {
	same_shell '' -x "${none[@]}" /mnt/x
	same_shell 'q\n' -x "${none[@]}" /mnt/x
}

@test "help, with and without -x" {
	same_shell 'help\n?\nhelp quit\n' "${none[@]}" /mnt/x
	same_shell 'help\n' -x "${none[@]}" /mnt/x
}

@test "the path can be changed, and commands run there alone" {
	same_shell 'path 1\nstate -p\nquota -pv 5\npath 0\nstate -p\n' -x -f "${none[@]}" /mnt/x /mnt/e
	same_shell 'path 1\nenable -p\nlimit -p bhard=1m 6\nquota -pNv 6\nreport -pN\ndump -p\n' -x -f "${none[@]}" /mnt/x /mnt/e
}

@test "a foreign filesystem without -f is refused for each command" {
	same_shell 'path\nreport -p\nstate\nquota -pv 5\nlimit -p bhard=1m 6\ndf\n' -x "${none[@]}" /mnt/e
}

@test "only blanks separate words, and nothing is quoted" {
	same_shell 'limit  -p   bhard=2m  5\nquota -pNv 5\nlimit\t-p bhard=2m 5\nquota -pv "5"\n!ls\n' -x "${none[@]}" /mnt/x
}

@test "the status is that of the first failure" {
	same_shell 'limit -p bhard=xx 5\nprint\n' -x "${none[@]}" /mnt/x
}

@test "without a filesystem commands do nothing, where the real one may crash" {
	local command
	for command in 'limit -p bhard=1m 5' 'timer -p 1d' 'warn -p 1 5' 'dump -p' 'enable -p' \
		'disable -p' 'off -p' 'remove -p' quot; do
		run bash -c 'printf "%s\n" "$1" | "$2" -x -P/dev/null -D/dev/null /nonexistent' _ "$command" "$FSQ_ORACLE"
		assert_equal "$status" 139
		run bash -c 'printf "%s\n" "$1" | xfs_quota -x -P/dev/null -D/dev/null /nonexistent' _ "$command"
		assert_success
		assert_output "xfs_quota: cannot setup path for mount /nonexistent: No such file or directory"
	done
	for command in state report 'report -a' 'quota -pv 5' df print path 'path 0' 'help quit' \
		'project -c -p /mnt/x 5' 'restore -p'; do
		same_shell "$command\n" -x "${none[@]}" /nonexistent
	done
}

@test "at a terminal there is a prompt, and commands and projects are completed" {
	echo 'averylongname:77' >"$BATS_TEST_TMPDIR/projid"
	run script -qec "xfs_quota -p ours -x -D/dev/null -P$BATS_TEST_TMPDIR/projid /mnt/x" /dev/null \
		< <(printf 'sta\t -p\nquota -p -v avery\t\nquit\n')
	assert_output --partial 'ours> '
	assert_output --partial 'Project quota state on /mnt/x'
	refute_output --partial 'not found'
	refute_output --partial 'cannot find'
}

@test "with -c a terminal gets no prompt" {
	run script -qec "xfs_quota -x -P/dev/null -D/dev/null -c print /mnt/x" /dev/null
	refute_output --partial '> '
}
