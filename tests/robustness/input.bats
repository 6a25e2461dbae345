#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Wrong words, broken files and missing streams: a clear line on stderr, in xfs_quota's words where
# it has words for it, the status it has, and nothing is changed. Where the real one hangs, crashes
# or takes one thing for another, ours does not; where it does not, odd-input.list of tests/xfs_quota compares both.

load ../lib/fsquota

setup_file() {
	fresh_fs x
	fresh_fs x2 -o noquota
	mkdir /mnt/x/dir
	oracle -x -c 'project -s -p /mnt/x/dir 42' -c 'limit -p bsoft=1g bhard=2g ihard=77 42' \
		-c 'limit -u bhard=20m 1000' /mnt/x >/dev/null
	snapshot >"$BATS_FILE_TMPDIR/before"
}

setup() {
	rm -f /etc/projects /etc/projid
	cd "$BATS_TEST_TMPDIR" || return 1
	ours=$FSQ_TOOLS/xfs_quota
}

# Whatever a test did, the filesystem is as it was.
teardown() { diff "$BATS_FILE_TMPDIR/before" <(snapshot); }

snapshot() {
	oracle -x -P/dev/null -D/dev/null -c state -c 'report -ugpbirn' /mnt/x
	lsattr -pR /mnt/x
}

# ours ARGS...: sets status, stdout and stderr.
ours() { run_split bash -c 'exec -a xfs_quota "$@"' bash "$ours" "$@"; }

# complains STATUS MESSAGE: nothing but this line on stderr.
complains() {
	assert_equal "$status" "$1"
	assert_equal "$stdout" ""
	assert_equal "$stderr" "$2"
}

@test "a mount table with a line of a hundred thousand characters" {
	printf '%0100000d %s\n' 0 '/mnt/x xfs rw 0 0' >table
	ours -x -t table -c 'quota -p -N -v 42' /mnt/x
	assert_equal "$stderr" 'xfs_quota: cannot setup path for mount /mnt/x: No such device or address'
	echo "$FSQ_X_DEV /mnt/x xfs rw 0 0" >>table
	ours -x -t table -c 'quota -p -N -v 42' /mnt/x
	assert_output --regexp "^$FSQ_X_DEV +0 "
}

@test "a FIFO without a writer as mount table, projects file and projid file is empty" {
	mkfifo fifo
	run_split timeout -s KILL 100 "$ours" -x -t fifo -c print /mnt/x
	complains 0 'xfs_quota: cannot setup path for mount /mnt/x: No such device or address'
	succeeds timeout -s KILL 100 "$ours" -x -D fifo -P fifo -c print -c 'report -p -N' /mnt/x
	assert_line --regexp '^#42 '
}

@test "what another process writes into a pipe is read to its end" {
	run_split bash -c '"$1" -x -t <(echo "$FSQ_X_DEV /mnt/x xfs rw 0 0") \
		-D <(seq 1000 20000 | sed "s|$|:/mnt/x/nosuch|"; echo 42:/mnt/x/dir) \
		-P <(seq 1000 20000 | sed "s|.*|name&:&|"; echo last:42) \
		-c "project -c last" /mnt/x 2>/dev/null' bash "$ours"
	assert_line 'Checking project last (path /mnt/x/dir)...'
}

# streams REDIRECTION...: runs the rest of a shell line with ours as xfs_quota.
shell_line() {
	run_split bash -c 'xfs_quota() { (exec -a xfs_quota "$ours" "$@") }; ours=$1; eval "$2"' bash "$ours" "$1"
}

@test "with all three closed the status is still right" {
	shell_line 'xfs_quota -x -c "quota -p nosuch" /mnt/x <&- >&- 2>&-'
	complains 1 ''
	shell_line 'xfs_quota -x -c "limit -p bsoft=1g 42" /mnt/x <&- >&- 2>&-'
	complains 0 ''
}

@test "garbage on stdin is so many unknown commands" {
	head -c 3000 "$FSQUOTA" >garbage
	shell_line 'xfs_quota -x /mnt/x <garbage'
	assert_equal "$status:$stdout" "0:"
	refute [ -z "$stderr" ]
	run ! grep -av '^command ".*" not found$' <<<"${stderr//[^[:print:]$'\n']/}"
}

@test "commands on stdin are run to the last, with or without a newline" {
	shell_line 'printf "bogus\nquota -p -N -v 42\nquota -p -N -v 42" | xfs_quota -x /mnt/x'
	assert_equal "$status:$stderr:${#lines[@]}" '0:command "bogus" not found:2'
}

@test "too few descriptors" {
	# The loader needs one; the filesystem and the mount table are two.
	shell_line 'exec 3>&- 4>&- 5>&-; ulimit -n 4; xfs_quota -x -c "quota -p -N -v 42" /mnt/x'
	if kernel_knows statmount; then
		assert_equal "$status:$stdout:$stderr" "0:$(oracle -x -c 'quota -p -N -v 42' /mnt/x):"
	else
		complains 0 'xfs_quota: cannot setup path for mount /mnt/x: Too many open files'
	fi
}

@test "no name to be called by" {
	shell_line '(exec -a "" "$ours" -x -c "quota -p -N -v 42" /mnt/x)'
	assert_equal "$stdout" "$(oracle -x -c 'quota -p -N -v 42' /mnt/x)"
}
