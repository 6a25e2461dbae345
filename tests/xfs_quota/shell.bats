#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Commands from standard input where the real one crashes, and typed at a terminal; cli.list has the others.

load ../lib/fsquota

setup_file() { fresh_fs x; }

@test "without a filesystem commands do nothing, where the real one may crash" {
	local command
	for command in 'limit -p bhard=1m 5' 'timer -p 1d' 'warn -p 1 5' 'dump -p' 'enable -p' \
		'disable -p' 'off -p' 'remove -p' quot; do
		run bash -c 'printf "%s\n" "$1" | "$2" -x -P/dev/null -D/dev/null /nonexistent' _ "$command" "$FSQ_ORACLE"
		assert_equal "$status" 139
		run -0 bash -c 'printf "%s\n" "$1" | xfs_quota -x -P/dev/null -D/dev/null /nonexistent' _ "$command"
		assert_output "xfs_quota: cannot setup path for mount /nonexistent: No such file or directory"
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

@test "files that could not be read for a moment are read for the next command" {
	local in=$BATS_TEST_TMPDIR/in shown=$BATS_TEST_TMPDIR/shown pid first=0
	mkdir /mnt/x/dir
	echo 77:/mnt/x/dir >"$BATS_TEST_TMPDIR/projects"
	echo name:77 >"$BATS_TEST_TMPDIR/projid"
	mkfifo "$in"
	# To a terminal it writes after each command.
	script -qefc "exec xfs_quota -x -D $BATS_TEST_TMPDIR/projects -P $BATS_TEST_TMPDIR/projid /mnt/x <$in" "$shown" >/dev/null 3>&- 4>&- &
	exec 7>"$in"
	echo 'help quit' >&7
	until_true grep -q quit "$shown"
	pid=$(pgrep -x xfs_quota)
	while [ -e "/proc/$pid/fd/$first" ]; do ((first += 1)); done
	prlimit --pid "$pid" --nofile=$first:
	printf 'quota -p -v name\nprint\n' >&7
	until_true grep -q Pathname "$shown"
	run ! grep dir "$shown"
	prlimit --pid "$pid" --nofile=1024:
	echo print >&7
	exec 7>&-
	wait
	grep -q '/mnt/x/dir .*(project 77, name)' "$shown"
}
