#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Wrong words, broken files and missing streams: a clear line on stderr, in xfs_quota's words where
# it has words for it, the status it has, and nothing is changed. Where the real one hangs, crashes
# or takes one thing for another, ours does not.

# shellcheck disable=SC2154 # run_split and same_as_xfs_quota set variables
load ../lib/fsquota

setup_file() {
	fresh_fs x
	fresh_fs x2 -o noquota
	mkdir /mnt/x/dir "/mnt/x/a b" $'/mnt/x/a\nb'
	oracle -x -c 'project -s -p /mnt/x/dir 42' -c 'limit -p bsoft=1g bhard=2g ihard=77 42' \
		-c 'limit -u bhard=20m 1000' /mnt/x >/dev/null
	snapshot >"$BATS_FILE_TMPDIR/before"
	# Where an ordinary user can get at it.
	install -D "$FSQUOTA" "$TMPDIR/bin/xfs_quota"
}

setup() {
	rm -f /etc/projects /etc/projid
	cd "$BATS_TEST_TMPDIR" || return 1
	as=()
	ours=$FSQ_TOOLS/xfs_quota
}

# Whatever a test did, the filesystem is as it was.
teardown() {
	diff "$BATS_FILE_TMPDIR/before" <(snapshot)
}

snapshot() {
	oracle -x -P/dev/null -D/dev/null -c state -c 'report -ugpbirn' /mnt/x
	lsattr -pR /mnt/x
}

ordinary_user() {
	as=(setpriv --reuid 1000 --regid 1000 --clear-groups)
	ours=$TMPDIR/bin/xfs_quota
}

# ours ARGS...: sets status, stdout and stderr.
ours() {
	run_split "${as[@]}" bash -c 'exec -a xfs_quota "$@"' bash "$ours" "$@"
}

# same_as_xfs_quota ARGS...: does what the real one does, and sets status, stdout and stderr.
same_as_xfs_quota() {
	ours "$@"
	local our_status=$status
	mv "$BATS_TEST_TMPDIR/stdout" "$BATS_TEST_TMPDIR/our.stdout"
	mv "$BATS_TEST_TMPDIR/stderr" "$BATS_TEST_TMPDIR/our.stderr"
	run_split "${as[@]}" bash -c 'exec -a xfs_quota "$@"' bash "$FSQ_ORACLE" "$@"
	assert_equal "$our_status" "$status"
	diff "$BATS_TEST_TMPDIR/stdout" "$BATS_TEST_TMPDIR/our.stdout"
	diff "$BATS_TEST_TMPDIR/stderr" "$BATS_TEST_TMPDIR/our.stderr"
}

# complains STATUS MESSAGE: nothing but this line on stderr.
complains() {
	assert_equal "$status" "$1"
	assert_equal "$stdout" ""
	assert_equal "$stderr" "$2"
}

# --- words --------------------------------------------------------------------------------------

@test "a word of a hundred thousand characters" {
	local long
	printf -v long '%0100000d' 7
	same_as_xfs_quota -x -c "$long" -c "quota -p -v x$long" -c "limit -p bhard=1m x$long" \
		-c "project -c -p /mnt/x/$long 42" /mnt/x
	same_as_xfs_quota -x -c 'state -p' "/mnt/x/$long"
}

@test "a command of twenty thousand words" {
	same_as_xfs_quota -x -c "limit -p $(seq -s ' ' 1 20000)" -c "quota -p -N -v 42" /mnt/x
	assert_equal "$(wc -l <<<"$stdout")" 1
}

@test "a thousand commands" {
	local commands
	mapfile -t commands < <(yes -- '-cquota -pNv 42' | head -n 1000)
	same_as_xfs_quota -x "${commands[@]}" /mnt/x
	assert_equal "${#lines[@]}" 1000
}

@test "percent signs and control characters are printed as they came" {
	same_as_xfs_quota -x -c $'%s%n\e[31m\a' -c $'quota -p -v %s%n\e' /mnt/x
	same_as_xfs_quota -p '%s%n' -x -c 'quota -p nosuch' /mnt/x
	assert_equal "$stderr" '%s%n: cannot find project nosuch'
}

@test "empty arguments" {
	same_as_xfs_quota -x -c print ''
	assert_equal "$stderr" 'xfs_quota: cannot setup path for mount : No such file or directory'
	same_as_xfs_quota -x -t '' -c print /mnt/x
	same_as_xfs_quota -x -D '' -c 'project -c 42' /mnt/x
	same_as_xfs_quota -x -P '' -c 'report -p' /mnt/x
	same_as_xfs_quota -x -d '' -c print /mnt/x
	same_as_xfs_quota -x -p '' -c 'quota -p nosuch' /mnt/x
	same_as_xfs_quota '' ''
}

@test "words of other languages and bytes that are no text" {
	same_as_xfs_quota -x -c $'quota -p -v Gr\xfc\xdfe' -c $'\xff\xfe' -c 'limit -p bhard=１m 42' /mnt/x
}

@test "-l gives names whatever else is given" {
	echo 'name:42' >/etc/projid
	same_as_xfs_quota -x -c 'report -p -n -l' -c 'report -p -l -n' -c 'report -p -l -L 42' /mnt/x
	assert_line --regexp '^name +0 '
}

# --- IDs ----------------------------------------------------------------------------------------

@test "limit refuses what is no ID" {
	local ids=(4294967295 4294967296 99999999999999999999 -1 0x2a 42x 4e1 42.0 '#42' garbage)
	same_as_xfs_quota -x "${ids[@]/#/-climit -p bhard=1m -- }" /mnt/x
	complains 1 "$(printf 'project: invalid xfs_quota name: %s\n' "${ids[@]}")"
}

@test "project refuses what is no ID" {
	local ids=(4294967295 4294967296 99999999999999999999 -1 0x2a 42x '#42' garbage)
	same_as_xfs_quota -D /dev/null -x "${ids[@]/#/-cproject -s -- }" /mnt/x
	complains 1 "$(printf '%s - no such project in /dev/null or invalid project number\n' "${ids[@]}")"
}

@test "quota refuses what is no ID" {
	local ids=(4294967295 4294967296 4294967338 99999999999999999999 -42 0x2a 42x '#42' +42 garbage)
	ours -x "${ids[@]/#/-cquota -p -v -- }" /mnt/x
	complains 1 "$(printf 'xfs_quota: cannot find project %s\n' "${ids[@]}")"
}

# --- paths --------------------------------------------------------------------------------------

@test "a path that leads in circles" {
	ln -s circle circle
	same_as_xfs_quota -x -c 'state -p' "$PWD/circle"
}

@test "a path that ordinary users may not go" {
	ordinary_user
	mkdir -m 700 "$TMPDIR/closed"
	same_as_xfs_quota -x -c 'state -p' "$TMPDIR/closed/below"
}

@test "a filesystem that can have no quota" {
	same_as_xfs_quota -x -c 'state -p' -c 'limit -p bhard=1m 42' -c 'quota -p -v 42' /proc
	same_as_xfs_quota -x -c 'report -p' -c print -c path /run
	same_as_xfs_quota -x -c 'state -p' -c 'limit -p bhard=1m 42' -c 'report -p' /dev/null
}

@test "directories with a blank and a newline in their names stand for their filesystem" {
	local directory
	for directory in "/mnt/x/a b" $'/mnt/x/a\nb'; do
		ours -x -c 'quota -p -N -v 42' "$directory"
		assert_equal "$status:$stderr" "0:"
		assert_equal "$stdout" "$(oracle -x -c 'quota -p -N -v 42' /mnt/x)"
	done
}

@test "mount points with a blank and a newline in their names" {
	local directory
	for directory in "$TMPDIR/a b" $'/run/tmp/a\nb'; do
		mkdir "$directory"
		mount --bind /mnt/x "$directory"
		same_as_xfs_quota -x -c 'quota -p -N -v 42' -c print "$directory"
		umount "$directory"
		assert_output --partial " $directory"
	done
}

# --- files --------------------------------------------------------------------------------------

# with_tables XFS_QUOTA TABLE...: one run for each, in one go.
with_tables() {
	# shellcheck disable=SC2016 # expanded by the inner shell
	run_split bash -c 'for table in "${@:2}"; do
			(exec -a xfs_quota "$1" -x -t "$table" -c print -c "quota -p -v 42" /mnt/x)
			echo "$table: $?"
		done' bash "$@"
}

@test "a mount table that is cut off anywhere" {
	local line="$FSQ_X_DEV /mnt/x xfs rw,prjquota 0 0" length
	for ((length = 0; length <= ${#line}; length++)); do
		printf '%s' "${line:0:length}" >"table$length"
	done
	with_tables "$FSQ_ORACLE" table*
	local theirs=$stdout$stderr
	with_tables "$ours" table*
	assert_equal "$stdout$stderr" "$theirs"
	assert_output --partial "$FSQ_X_DEV "
}

@test "a mount table whose second line is cut off" {
	printf '%s\n%s' "$FSQ_X_DEV /mnt/x xfs rw 0 0" "$FSQ_X2_DEV /mn" >table
	same_as_xfs_quota -x -t table -c print -c 'quota -p -v 42'
	assert_output --partial "$FSQ_X_DEV "
}

@test "a mount table that is empty, a program, a directory, or not there" {
	: >empty
	head -c 20000 "$FSQUOTA" >program
	local table
	for table in empty program nosuch /dev/null "$PWD"; do
		same_as_xfs_quota -x -t "$table" -c 'state -p' -c print /mnt/x
		same_as_xfs_quota -x -t "$table" -c 'state -p' -c print
	done
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
	run_split timeout -s KILL 100 "$ours" -x -D fifo -P fifo -c print -c 'report -p -N' /mnt/x
	assert_equal "$status:$stderr" "0:"
	assert_line --regexp '^#42 '
}

@test "what another process writes into a pipe is read to its end" {
	# shellcheck disable=SC2016 # expanded by the inner shell
	run_split bash -c '"$1" -x -t <(echo "$FSQ_X_DEV /mnt/x xfs rw 0 0") \
		-D <(seq 1000 20000 | sed "s|$|:/mnt/x/nosuch|"; echo 42:/mnt/x/dir) \
		-P <(seq 1000 20000 | sed "s|.*|name&:&|"; echo last:42) \
		-c "project -c last" /mnt/x 2>/dev/null' bash "$ours"
	assert_line 'Checking project last (path /mnt/x/dir)...'
}

@test "a projid line of a hundred thousand characters is passed over" {
	printf '%0100000d:7\nname:42\n' 0 >projid
	same_as_xfs_quota -x -P projid -c 'report -p -N' -c 'quota -p -N -v name' /mnt/x
	assert_line --regexp '^name +0 '
}

@test "NUL bytes in a projid line end it, and no other line" {
	printf 'one\0:1\n\0two:2\nname:42\0junk\n' >projid
	same_as_xfs_quota -x -P projid -c 'report -p -N' -c 'quota -p -N -v name' /mnt/x
	assert_line --regexp '^name +0 '
}

@test "garbage in the projects and projid files is never project 0" {
	printf '%s\n' abc:/mnt/x/dir :/mnt/x/dir 4294967296:/mnt/x/dir 4294967338:/mnt/x/dir -3:/mnt/x/dir \
		0x2a:/mnt/x/dir 42 '#42:/mnt/x/dir' '' 42x:/mnt/x/dir >projects
	printf '%s\n' a:abc b: c d:4294967296 e:-1 '#f:0' g:0x0 h:42x >projid
	ours -x -D projects -P projid -c print -c 'report -p -N' /mnt/x
	assert_equal "$status:$stderr" "0:"
	refute_output --partial project
	assert_line --regexp '^#0 '
	local name
	for name in a b c d e f g h; do
		ours -x -D projects -P projid -c "limit -p bhard=1m $name" /mnt/x
		complains 1 "project: invalid xfs_quota name: $name"
	done
}

@test "programs as projects and projid files" {
	head -c 20000 "$FSQUOTA" >program
	ours -x -D program -P program -c 'quota -p -N -v 42' -c 'report -p -N -n' /mnt/x
	assert_equal "$status" 0
	assert_line --regexp "^$FSQ_X_DEV +0 "
}

@test "a projid file that is a directory, or may not be read, has no names" {
	mkdir directory
	same_as_xfs_quota -x -P "$PWD/directory" -c 'report -p' -c 'quota -p -v name' /mnt/x
	ordinary_user
	echo 'name:42' >/etc/projid
	chmod 600 /etc/projid
	same_as_xfs_quota -x -c 'report -p' -c 'quota -p -v name' /mnt/x
}

# --- streams ------------------------------------------------------------------------------------

# streams REDIRECTION...: runs the rest of a shell line with ours as xfs_quota.
shell_line() {
	# shellcheck disable=SC2016 # expanded by the inner shell
	run_split bash -c 'xfs_quota() { (exec -a xfs_quota "$ours" "$@") }; ours=$1; eval "$2"' bash "$ours" "$1"
}

@test "a closed stdin does not matter" {
	shell_line 'xfs_quota -x -c "quota -p -N -v 42" /mnt/x <&-'
	assert_equal "$status:$stderr" "0:"
	assert_equal "$stdout" "$(oracle -x -c 'quota -p -N -v 42' /mnt/x)"
}

@test "a closed stdin has no commands" {
	shell_line 'xfs_quota -x /mnt/x <&-'
	assert_equal "$status:$stdout" "0:"
}

@test "a closed stderr loses messages, but not the status or the output" {
	shell_line 'xfs_quota -x -c "quota -p nosuch" -c "quota -p -N -v 42" /mnt/x 2>&-'
	assert_equal "$status" 1
	assert_equal "$stdout" "$(oracle -x -c 'quota -p -N -v 42' /mnt/x)"
}

@test "with all three closed the status is still right" {
	shell_line 'xfs_quota -x -c "quota -p nosuch" /mnt/x <&- >&- 2>&-'
	complains 1 ''
	shell_line 'xfs_quota -x -c "limit -p bsoft=1g 42" /mnt/x <&- >&- 2>&-'
	complains 0 ''
}

@test "messages do not go into a file that is written" {
	ordinary_user
	ours=$TMPDIR/bin/xfs_quota
	mkdir -m 777 "$TMPDIR/writable"
	shell_line 'cd "$TMPDIR/writable"
		setpriv --reuid 1000 --regid 1000 --clear-groups "$ours" -x -c "report -p -f file" /mnt/x >&- 2>&-'
	run cat "$TMPDIR/writable/file"
	assert_output ""
}

@test "output that cannot be written is complained of once" {
	shell_line 'xfs_quota -V >/dev/full'
	complains 1 'xfs_quota: cannot write the output: No space left on device'
	shell_line 'xfs_quota -x -c state -c report -c state /mnt/x >/dev/full'
	complains 1 'xfs_quota: cannot write the output: No space left on device'
}

@test "garbage on stdin is so many unknown commands" {
	head -c 3000 "$FSQUOTA" >garbage
	# shellcheck disable=SC2016 # expanded by the inner shell
	shell_line 'xfs_quota -x /mnt/x <garbage'
	assert_equal "$status:$stdout" "0:"
	refute [ -z "$stderr" ]
	run ! grep -av '^command ".*" not found$' <<<"${stderr//[^[:print:]$'\n']/}"
}

@test "commands on stdin are run to the last, with or without a newline" {
	shell_line 'printf "bogus\nquota -p -N -v 42\nquota -p -N -v 42" | xfs_quota -x /mnt/x'
	assert_equal "$status" 0
	assert_equal "$stderr" 'command "bogus" not found'
	assert_equal "${#lines[@]}" 2
}

# --- rights and means ---------------------------------------------------------------------------

@test "too few descriptors" {
	# The loader needs one; the filesystem and the mount table are two.
	shell_line 'exec 3>&- 4>&- 5>&-; ulimit -n 4; xfs_quota -x -c "quota -p -N -v 42" /mnt/x'
	if kernel_knows statmount; then
		assert_equal "$status:$stdout:$stderr" "0:$(oracle -x -c 'quota -p -N -v 42' /mnt/x):"
		return
	fi
	complains 0 'xfs_quota: cannot setup path for mount /mnt/x: Too many open files'
}

@test "too few descriptors for the names" {
	printf '%s\n' "$FSQ_X_DEV /mnt/x xfs rw 0 0" "$FSQ_X2_DEV /mnt/x2 xfs rw 0 0" >table
	shell_line 'exec 3>&- 4>&- 5>&-; ulimit -n 5; xfs_quota -x -t table -c "report -p -N"'
	assert_equal "$status:$stderr" "0:"
	assert_line --regexp '^#42 +0 '
}

@test "an empty environment" {
	shell_line 'env -i "$ours" -x -c "quota -p -N -v 42" /mnt/x'
	assert_equal "$stdout" "$(oracle -x -c 'quota -p -N -v 42' /mnt/x)"
}

@test "no name to be called by" {
	shell_line '(exec -a "" "$ours" -x -c "quota -p -N -v 42" /mnt/x)'
	assert_equal "$stdout" "$(oracle -x -c 'quota -p -N -v 42' /mnt/x)"
}
