#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Whoever can read /etc/projects can lock it: nobody waits for that without end.

load ../lib/fsquota

setup() {
	fresh_fs x
	mkdir /mnt/x/dir
	# Not as others have left them: root's, and readable.
	rm -f /etc/projects /etc/projid
	printf '7:/elsewhere\n' >/etc/projects
	printf 'other:7\n' >/etc/projid
	cp /etc/projects /etc/projid "$BATS_TEST_TMPDIR"
}

teardown() { [ -z "${holder-}" ] || kill "$holder" 2>/dev/null || true; }

# hold FILE: another process, an ordinary user's, locks it; sets holder.
hold() {
	coproc HOLDER { exec setpriv --reuid 1000 --clear-groups perl -e '
		use Fcntl ":flock";
		open my $file, "<", shift or die;
		flock $file, LOCK_EX or die;
		$| = 1;
		print "locked\n";
		sleep 1000' "$1" 3>&-; }
	holder=$HOLDER_PID
	local line
	read -r line <&"${HOLDER[0]}"
	assert_equal "$line" locked
}

assert_unchanged() {
	diff /etc/projects "$BATS_TEST_TMPDIR/projects"
	diff /etc/projid "$BATS_TEST_TMPDIR/projid"
	assert_equal "$(fsquota id /mnt/x/dir)" 0
}

@test "a lock that is held is waited for as long as is said, and the holder is named" {
	local file command
	for file in /etc/projects /etc/projid; do
		hold $file
		for command in assign release; do
			exits 1 fsquota $command --lock-timeout 0 /mnt/x/dir
			[[ $stderr == *"$file: is locked, held by process $holder"* ]] || fail "$stderr"
			exits 1 fsquota $command --lock-timeout 1 /mnt/x/dir
			[[ $stderr == *"held by process $holder, for more than 1 s"* ]] || fail "$stderr"
		done
		refuses 1 "$file: is locked" fsquota resize --id 5 --at /mnt/x 1M --lock-timeout 0
		echo 'lock-timeout = 0' >/etc/fsquota.conf
		exits 1 fsquota assign /mnt/x/dir
		rm /etc/fsquota.conf
		assert_unchanged
		# To look takes no lock.
		run -0 fsquota assign --dry-run /mnt/x/dir
		kill "$holder"
		wait "$holder" 2>/dev/null || true
	done
	exits 2 fsquota assign --lock-timeout x /mnt/x/dir
	run -0 fsquota assign --lock-timeout 0 /mnt/x/dir
}

@test "a signal ends the wait for a lock" {
	local signal pid
	hold /etc/projects
	for signal in TERM:143 INT:130 HUP:129; do
		perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' "$FSQUOTA" assign /mnt/x/dir 3>&- &
		pid=$!
		# It polls the lock: the file is open by then.
		until grep -q /etc/projects <(readlink "/proc/$pid/fd"/* 2>/dev/null); do :; done
		kill -"${signal%:*}" "$pid"
		status=0
		wait "$pid" || status=$?
		assert_equal "${signal%:*} $status" "${signal%:*} ${signal#*:}"
	done
	assert_unchanged
}

@test "a signal ends the wait of an undo, too, and what is left is told" {
	local pid
	mkfifo "$BATS_TEST_TMPDIR/full"
	# A pipe that is full: the ID cannot be printed.
	perl -e 'use Fcntl; sysopen my $p, shift, O_RDWR or die; fcntl $p, F_SETFL, O_NONBLOCK;
		1 while syswrite $p, "x" x 4096; open STDOUT, ">&", $p; fcntl STDOUT, F_SETFL, 0;
		$SIG{INT} = "DEFAULT"; exec @ARGV' "$BATS_TEST_TMPDIR/full" \
		"$FSQUOTA" assign /mnt/x/dir 2>"$BATS_TEST_TMPDIR/stderr" 3>&- &
	pid=$!
	# Everything is done but for the answer: the line is in the file, and the lock is free.
	until grep -q /mnt/x/dir /etc/projects; do :; done
	hold /etc/projects
	kill -TERM "$pid"
	status=0
	wait "$pid" || status=$?
	assert_equal "$status" 143
	grep "cannot write the output" "$BATS_TEST_TMPDIR/stderr"
	grep "/etc/projects: cannot lock" "$BATS_TEST_TMPDIR/stderr"
	# All is undone but the lines, which were not to be had; the next call takes them away.
	assert_equal "$(fsquota id /mnt/x/dir)" 0
	kill "$holder"
	run -0 fsquota release /mnt/x/dir
	assert_unchanged
}

@test "commands for a directory, what is above it and what is in it come one after the other" {
	local outer=/mnt/x/outer command directory
	mkdir -p $outer/inner/deep /mnt/x/beside
	touch $outer/{1..30} $outer/inner/{1..3}
	fsquota assign --hard 1M $outer >/dev/null
	fsquota assign --hard 1M $outer/inner >/dev/null
	for command in release assign; do
		# In the walk, where no file is locked.
		stopped_at 437 20 "$FSQUOTA" $command $outer # openat2
		for directory in $outer $outer/inner $outer/inner/deep /mnt/x; do
			refuses 1 "$directory: is locked" fsquota assign --lock-timeout 0 $directory
			refuses 1 "$directory: is locked" fsquota release --lock-timeout 0 $directory
		done
		refuses 1 "$outer/new: is locked" fsquota assign --lock-timeout 0 --mkdir $outer/new
		assert [ ! -e $outer/new ]
		# Nothing else is in the way.
		run -0 fsquota assign --lock-timeout 0 /mnt/x/beside
		run -0 fsquota release --lock-timeout 0 /mnt/x/beside
		run -0 fsquota assign --dry-run $outer/inner
		go_on
		assert_equal "$command: $status" "$command: 0"
		[ $command = assign ] || fsquota release $outer/inner
	done
	# Where the locks are not to be had, it goes on without them.
	mount -o remount,ro /run
	run fsquota release $outer
	mount -o remount,rw /run
	assert_success
}
