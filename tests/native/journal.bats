#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# Who changed that? Each change is one entry in the journal, or a line of syslog(3), with fields of its own.

load ../lib/fsquota

setup() {
	rm -f /etc/projects* /etc/projid* /etc/fsquota.conf
	cd /
	fresh_each x e
	mkdir -p /run/systemd/journal /mnt/x/dir
	journal=$BATS_TEST_TMPDIR/journal
	listener=''
}

teardown() {
	[ -z "$listener" ] || kill "$listener"
	rm -rf /run/systemd/journal /dev/log /etc/fsquota.conf /etc/fstab
}

# listens SOCKET: what is sent to it is in $journal, each datagram behind a line "--".
listens() {
	perl -MSocket -e 'socket(my $socket, AF_UNIX, SOCK_DGRAM, 0) or die;
		bind($socket, sockaddr_un($ARGV[0])) or die;
		open(my $out, ">>", $ARGV[1]) or die;
		$out->autoflush(1);
		while (defined recv($socket, my $text, 8 << 20, 0)) { print $out "--\n$text\n" }' "$1" "$journal" 3>&- &
	listener=$!
	until [ -e "$journal" ]; do nap 0.02; done
}

# entry COMMAND...: what the command, whatever its status, has sent; without what all entries have. Every change of a
# test comes through it: an entry that nobody waited for would stand in front of the next one's.
entry() {
	: >"$journal"
	run_split "$@"
	# They come in order, and this one is another's.
	perl -MSocket -e 'socket(my $socket, AF_UNIX, SOCK_DGRAM, 0) or die;
		send($socket, "end", 0, sockaddr_un($ARGV[0])) or die' "${socket-/run/systemd/journal/socket}"
	until grep -qx end "$journal"; do nap 0.02; done
	entry=$(grep -avE '^(--|end|PRIORITY=[45]|SYSLOG_IDENTIFIER=fsquota|FSQUOTA_COMMAND=.*|FSQUOTA_TYPE=project|)$' "$journal" | tr -d '\0' || :)
}

# writes LINE...: entry has these.
writes() { assert_equal "$entry" "$(printf '%s\n' "$@")"; }

@test "assign, resize, move and release write who has which limits now, and what they were" {
	listens /run/systemd/journal/socket
	entry fsquota assign --hard 10M --name web /mnt/x/dir
	writes 'MESSAGE=assign /mnt/x/dir: done' FSQUOTA_RESULT=done FSQUOTA_ID=1048577 FSQUOTA_NAME=web \
		FSQUOTA_DIRECTORY=/mnt/x/dir FSQUOTA_SOFT_BYTES_BEFORE=0 FSQUOTA_HARD_BYTES_BEFORE=0 \
		FSQUOTA_SOFT_INODES_BEFORE=0 FSQUOTA_HARD_INODES_BEFORE=0 FSQUOTA_HARD_BYTES=10485760
	assert_equal "$(grep -cx 'FSQUOTA_COMMAND=assign' "$journal")" 1
	entry fsquota resize /mnt/x/dir 20M
	assert_equal "$(grep HARD_BYTES <<<"$entry")" $'FSQUOTA_HARD_BYTES_BEFORE=10485760\nFSQUOTA_HARD_BYTES=20971520'
	entry fsquota resize /mnt/x/dir 1M
	writes 'MESSAGE=resize /mnt/x/dir: would be smaller than the 20M (20971520 bytes) it has' FSQUOTA_RESULT=failed \
		FSQUOTA_STATUS=6 'FSQUOTA_ERROR=would be smaller than the 20M (20971520 bytes) it has' \
		FSQUOTA_DIRECTORY=/mnt/x/dir
	mkdir /mnt/x/other
	entry fsquota assign --name web /mnt/x/other
	entry fsquota resize /mnt/x/{dir,other} +1M
	assert_equal "$(grep -E '^MESSAGE|HARD_BYTES=' <<<"$entry")" \
		$'MESSAGE=resize /mnt/x/dir: done\nFSQUOTA_HARD_BYTES=22020096'
	entry fsquota resize --over 0 --at /mnt/x 20M --allow-shrink
	assert_equal "$(grep -E '^MESSAGE|HARD_BYTES=' <<<"$entry")" \
		$'MESSAGE=resize /mnt/x: done\nFSQUOTA_HARD_BYTES=20971520'
	entry fsquota release /mnt/x/other
	mv /mnt/x/dir /mnt/x/new
	entry fsquota move /mnt/x/dir /mnt/x/new
	writes 'MESSAGE=move /mnt/x/new: done' FSQUOTA_RESULT=done FSQUOTA_ID=1048577 FSQUOTA_DIRECTORY=/mnt/x/new \
		FSQUOTA_FROM=/mnt/x/dir
	entry fsquota release /mnt/x/new
	assert_equal "$(grep -E 'ID|HARD_BYTES' <<<"$entry")" $'FSQUOTA_ID=1048577\nFSQUOTA_HARD_BYTES_BEFORE=20971520'
}

@test "so do the commands for records, trees and switches, and apply and prune" {
	local command
	listens /run/systemd/journal/socket
	echo '/mnt/x/dir hard=1M' >"$BATS_TEST_TMPDIR/lines"
	for command in 'limit -p bhard=1m 77' 'timer -p 3days' 'project -s -p /mnt/x/dir 4242' 'disable -p' 'enable -p' 'disable -p' 'setup --yes'; do
		entry fsquota $command /mnt/x
		assert_equal "$command: $status $(grep -c "^FSQUOTA_COMMAND=${command%% *}$" "$journal")" "$command: 0 1"
	done
	entry fsquota limit -u bhard=1m bsoft=1m 1000 /mnt/e
	assert_equal "$(grep -E 'TYPE|ID|BYTES|SYSTEM' <<<"$entry")" \
		$'FSQUOTA_TYPE=user\nFSQUOTA_ID=1000\nFSQUOTA_FILESYSTEM=/mnt/e\nFSQUOTA_SOFT_BYTES=1048576\nFSQUOTA_HARD_BYTES=1048576'
	entry fsquota apply "$BATS_TEST_TMPDIR/lines"
	assert_equal "$(grep -cx 'FSQUOTA_DIRECTORY=/mnt/x/dir' "$journal")" 1
	rmdir /mnt/x/dir
	entry fsquota prune /mnt/x
	assert_equal "$(grep -ac '^FSQUOTA_COMMAND=prune$' "$journal")" 1
}

@test "apply writes which filesystem got another grace time, and why one did not" {
	listens /run/systemd/journal/socket
	echo '/mnt/x grace=2d' >"$BATS_TEST_TMPDIR/lines"
	entry fsquota apply --dry-run "$BATS_TEST_TMPDIR/lines"
	assert_equal "$entry" ''
	entry fsquota apply "$BATS_TEST_TMPDIR/lines"
	writes 'MESSAGE=apply /mnt/x: done' FSQUOTA_RESULT=done FSQUOTA_FILESYSTEM=/mnt/x
	entry fsquota apply "$BATS_TEST_TMPDIR/lines"
	assert_equal "$entry" ''
	echo '/mnt/x/dir grace=2d' >"$BATS_TEST_TMPDIR/lines"
	entry fsquota apply "$BATS_TEST_TMPDIR/lines"
	assert_equal "$(grep -E 'RESULT|STATUS|SYSTEM' <<<"$entry")" $'FSQUOTA_RESULT=failed\nFSQUOTA_STATUS=2\nFSQUOTA_FILESYSTEM=/mnt/x/dir'
}

@test "what changes nothing, and what only asks, writes nothing" {
	local command
	listens /run/systemd/journal/socket
	entry fsquota assign --hard 1M /mnt/x/dir
	for command in 'assign --hard 1M /mnt/x/dir' 'resize /mnt/x/dir 1M' 'resize --dry-run /mnt/x/dir 5M' \
		'release --dry-run /mnt/x/dir' 'release --if-exists /mnt/e' 'list' 'usage /mnt/x/dir' 'prune /mnt/x' \
		'project -c -p /mnt/x/dir 5 /mnt/x'; do
		entry fsquota $command
		assert_equal "$command: $entry" "$command: "
	done
}

@test "a name with a newline is a value, and no field of its own" {
	local directory=$'/mnt/x/new\nFSQUOTA_RESULT=forged'
	mkdir "$directory"
	listens /run/systemd/journal/socket
	entry fsquota assign --no-register "$directory"
	# The length is that of the path, as 64 bits.
	assert_equal "$(grep -ac '^FSQUOTA_DIRECTORY$' "$journal")" 1
	run -0 perl -0777 -ne 'my ($length, $path) = /^FSQUOTA_DIRECTORY\n(.{8})(.*)/ms or die;
		print substr($path, 0, unpack("Q<", $length))' "$journal"
	assert_output "$directory"
}

# fields: NAME:LENGTH of each field of the one entry, as the journal takes it apart
fields() {
	perl -0777 -ne 's/^--\n//; s/\n--\nend\n$//;
		while (length) {
			if (s/^([A-Z_]+)=([^\n]*)\n//) { print "$1:", length $2, "\n" }
			elsif (s/^([A-Z_]+)\n(.{8})//s) {
				my ($name, $length) = ($1, unpack "Q<", $2);
				print "$name:$length\n";
				substr($_, 0, $length) eq $ENV{operand} or print "no operand\n" if $name eq "FSQUOTA_DIRECTORY";
				substr($_, 0, $length + 1) = "";
			} else { die "no field: ", substr($_, 0, 100) }
		}' "$journal"
}

# What does not fit into a buffer of 64 KiB must not begin an entry of the caller's own.
# bats test_tags=full
@test "an operand of any length stays in its field" {
	local length names forged=$'\nMESSAGE=forged\nFSQUOTA_RESULT=done\nFSQUOTA_ID=7\n' command
	listens /run/systemd/journal/socket
	for length in 4096 65000 65100 65300 65400 65536 70000 131000; do
		printf -v operand "/%0$((length - ${#forged} - 1))d%s" 0 "$forged"
		export operand
		for command in "assign --hard 1M" "resize --hard 1M" release; do
			entry fsquota $command "$operand"
			assert_not_equal "$status" 0
			run -0 fields
			names=$(sed 's/:.*//; s/^FSQUOTA_//' <<<"$output" | sort | xargs)
			assert_equal "$length $command: $names" \
				"$length $command: COMMAND DIRECTORY ERROR MESSAGE PRIORITY RESULT STATUS SYSLOG_IDENTIFIER TYPE"
			assert_line "FSQUOTA_DIRECTORY:$length"
		done
	done
}

@test "log = none writes nothing, syslog a line, and without a journal nothing fails" {
	succeeds fsquota assign --hard 1M /mnt/x/dir
	listens /run/systemd/journal/socket
	echo 'log = none' >/etc/fsquota.conf
	entry fsquota resize /mnt/x/dir 2M
	writes ''
	kill "$listener"
	rm -f "$journal"
	listens /dev/log
	echo 'log = syslog' >/etc/fsquota.conf
	mkdir $'/mnt/x/a b\tc'
	socket=/dev/log entry fsquota assign --hard 1M $'/mnt/x/a b\tc'
	assert_equal "$(sed 's/^.*: fsquota/fsquota/' <<<"$entry" | tr -d '\0')" "fsquota FSQUOTA_COMMAND=assign FSQUOTA_RESULT=done \
FSQUOTA_TYPE=project FSQUOTA_ID=1048578 FSQUOTA_DIRECTORY=/mnt/x/a\\040b\\011c FSQUOTA_SOFT_BYTES_BEFORE=0 \
FSQUOTA_HARD_BYTES_BEFORE=0 FSQUOTA_SOFT_INODES_BEFORE=0 FSQUOTA_HARD_INODES_BEFORE=0 FSQUOTA_HARD_BYTES=1048576"
	echo 'log = book' >/etc/fsquota.conf
	refuses 2 '"book" is not "log = journal|syslog|none"' fsquota resize /mnt/x/dir 3M
}

@test "an entry costs two system calls, and the second one of a process one" {
	local calls
	mkdir /mnt/x/{a,b}
	exits 0 strace -f -o "$BATS_TEST_TMPDIR/trace" -e trace=socket,sendto,connect,sendmsg fsquota assign /mnt/x/a /mnt/x/b
	calls=$(grep -cE 'socket\(AF_UNIX|sendto\(' "$BATS_TEST_TMPDIR/trace")
	assert_equal "$calls" 3
}
