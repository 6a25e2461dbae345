#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
# needs: nagios
#
# Near a limit: a sentence for who logs in, a line for the monitor, and why a file cannot be renamed.

load ../lib/fsquota

setup_file() {
	local fs
	rm -f /etc/projects /etc/projid
	for fs in x e; do
		fresh_fs $fs
		mkdir /mnt/$fs/{home,other,none}
		fsquota assign --hard 20M /mnt/$fs/home >/dev/null
		fsquota assign --soft 10M --hard 20M --hard-inodes 10 /mnt/$fs/other >/dev/null
		chown 1000:1000 /mnt/$fs/*
	done
}

setup() {
	rm -f /mnt/[xe]/{home,other,none}/*
	settle /mnt/x
	export XDG_RUNTIME_DIR=$BATS_TEST_TMPDIR
	chmod 777 "$BATS_TEST_TMPDIR"
}

# holds MIBS DIRECTORY
holds() {
	head -c "$1M" /dev/zero | as_user dd of="$2/file" bs=1M 2>/dev/null
	sync -f "$2"
}

@test "usage --brief says nothing below 90 percent, and a sentence above" {
	local fs
	for fs in x e; do
		holds 12 /mnt/$fs/home
		HOME=/mnt/$fs/home is_silent as_user fsquota usage --brief
		HOME=/mnt/$fs/home prints "/mnt/$fs/home: 12M of 20M (60%)" as_user fsquota usage --brief --over 50
		holds 19 /mnt/$fs/home
		prints "/mnt/$fs/home: 19M of 20M (95%)" as_user fsquota usage --brief /mnt/$fs/home
		prints "/mnt/$fs/home: 19M of 20M (95%)" fsquota usage --brief /mnt/$fs/home
		# Above the soft limit root knows more than statfs shows.
		holds 19 /mnt/$fs/other
		prints "/mnt/$fs/other: at least 10M of 10M (100%)" as_user fsquota usage --brief /mnt/$fs/other
		run -0 fsquota usage --brief /mnt/$fs/other
		assert_output --regexp "^/mnt/$fs/other: 19M of 20M \(95%\), above 10M; grace for (6d23h|7d)$"
	done
}

@test "usage --brief names one's own deleted file, the time until it is full, and one's own user quota" {
	local fs holder
	for fs in x e; do
		as_user sh -c "exec 9>/mnt/$fs/home/gone; rm /mnt/$fs/home/gone; head -c 19M /dev/zero >&9; exec sleep 100" 3>&- 4>&- &
		until holder=$(pgrep -x sleep); do nap 0.05; done
		sync -f /mnt/$fs
		run -0 as_user fsquota usage --brief /mnt/$fs/home
		assert_output --regexp "^/mnt/$fs/home: [0-9.]+M of 20M \([0-9]+%\); [0-9.]+M is a deleted file that process $holder \(sleep\) has open$"
		kill "$holder"
		wait $! || :
		counts /mnt/$fs "$(fsquota id /mnt/$fs/home)" 1
		holds 12 /mnt/$fs/home
		fsquota limit -u bhard=13M 1000 /mnt/$fs
		run -0 as_user fsquota usage --brief /mnt/$fs/home
		assert_output --regexp "^(ID 1000|[a-z0-9_-]+): 12M of 13M \(9[23]%\) on the filesystem of /mnt/$fs/home$"
		fsquota limit -u bhard=0 1000 /mnt/$fs
		# The look before was ten minutes ago, with 1 MiB less.
		rm -f "$XDG_RUNTIME_DIR/fsquota-brief"
		holds 18 /mnt/$fs/home
		as_user fsquota usage --brief /mnt/$fs/home >/dev/null
		as_user python3 -c 'import struct, sys
path = sys.argv[1]
directory, used, seconds = struct.unpack("256sQq", open(path, "rb").read())
open(path, "wb").write(struct.pack("256sQq", directory, used - 1048576, seconds - 600))' "$XDG_RUNTIME_DIR/fsquota-brief"
		run -0 as_user fsquota usage --brief /mnt/$fs/home
		assert_output --regexp "^/mnt/$fs/home: 18M of 20M \(90%\), full in (20m|19m|20m[0-9]+s|19m[0-9]+s)$"
	done
}

@test "usage --brief has status 0 and says nothing whatever happens, and waits for no dead mount" {
	local server began
	is_silent fsquota usage --brief /nowhere
	is_silent fsquota usage --brief /proc /mnt/x/none
	HOME='' is_silent fsquota usage --brief
	refuses 2 "--brief is a sentence" fsquota usage --brief --raw /mnt/x/home
	mkdir -p /run/dead
	"${BATS_TEST_DIRNAME:?}/../lib/fuse_server" /run/dead 3>&- &
	server=$!
	until_true mountpoint -q /run/dead
	kill -STOP $server
	began=$SECONDS
	is_silent fsquota usage --brief /run/dead
	[ $((SECONDS - began)) -lt 30 ]
	kill -CONT $server
	umount /run/dead
	wait $server || :
}

@test "usage of two directories says whether files can be renamed from one to the other, as the kernel does" {
	local fs from to words can
	for fs in x e; do
		for words in "home other neither" "home none there" "none home back" "none none both"; do
			read -r from to can <<<"$words"
			run_split fsquota usage /mnt/$fs/$from /mnt/$fs/$to
			from=/mnt/$fs/$from to=/mnt/$fs/$to
			case $can in
			neither) assert_line "Neither rename(2) nor link(2) works between $from and $to: each has a project of its own; mv(1) copies." ;;
			there) assert_line --partial "Files can be renamed and linked from $from to $to, but not back: $from takes only" ;;
			back) assert_line --partial "Files can be renamed and linked from $to to $from, but not back: $to takes only" ;;
			both) assert_line "Files can be renamed and linked from $from to $to and back." ;;
			esac || complain "$words"
			touch $from/one
			if [[ $can == there || $can == both ]]; then
				ln $from/one $to/two && rm $to/two
			else
				! ln $from/one $to/two 2>/dev/null
			fi || complain "$words: the kernel"
			rm $from/one
		done
	done
	run_split fsquota usage /mnt/x/home /mnt/e/home
	assert_line --partial "they are on two filesystems"
	mount --bind /mnt/x/none /run/bound --mkdir
	run_split fsquota usage /mnt/x/none /run/bound
	umount /run/bound
	assert_line --partial "each is on a mount of its own"
	# Programs read rows.
	run_split fsquota usage --raw /mnt/x/home /mnt/x/other
	refute_output --partial "rename"
	no_complaints
}

# plugin STATUS PATTERN WORD...: what a monitor gets; the pattern is of the whole line.
plugin() {
	run_split fsquota check --format nagios "${@:3}"
	assert_equal "${*:3}: $status" "${*:3}: $1"
	[ ${#lines[@]} = 1 ] || fail "$stdout"
	# shellcheck disable=SC2053
	[[ $stdout == $2 ]] || fail "${*:3}: $stdout"
}

@test "check --format nagios answers with the status, the line and the performance data of a plugin" {
	local fs
	for fs in x e; do
		plugin 0 "FSQUOTA OK - 1 judged, all below 90% | '/mnt/$fs/home'=*B;18874368;20552089;0;20971520" /mnt/$fs/home
		holds 19 /mnt/$fs/home
		plugin 1 "FSQUOTA WARNING - /mnt/$fs/home: 19M of 20M (95%). | '/mnt/$fs/home'=199*" /mnt/$fs/home
		plugin 2 "FSQUOTA CRITICAL - /mnt/$fs/home: 19M of 20M (95%). | *;15728640;18874368;0;20971520" \
			--warning 75 --critical 90% /mnt/$fs/home
		plugin 0 "FSQUOTA OK *" --warning 96 /mnt/$fs/home
		# Above the soft limit is a warning; inodes count, too.
		holds 12 /mnt/$fs/other
		plugin 1 "FSQUOTA WARNING - /mnt/$fs/other: 12M of 20M (60%), above 10M; grace for *. | *" /mnt/$fs/other
		as_user touch /mnt/$fs/other/{1..8}
		plugin 2 "FSQUOTA CRITICAL - /mnt/$fs/other: 12M of 20M (60%), 10 of 10 files (100%), above 10M; *'/mnt/$fs/other inodes'=10;9;9;0;10" /mnt/$fs/other
		plugin 2 "FSQUOTA CRITICAL - * /mnt/$fs/home: 19M of 20M (95%). | *'/mnt/$fs'=*" /mnt/$fs
		# A limit that does not hold is one, too.
		rm /mnt/$fs/home/file
		chattr -P /mnt/$fs/home
		plugin 1 "FSQUOTA WARNING - /mnt/$fs/home: *, but limits do not hold in it. | *" /mnt/$fs/home
		chattr +P /mnt/$fs/home
	done
	plugin 0 "FSQUOTA OK - * | 'root'=*" -u /mnt/x
}

@test "what a plugin cannot tell is UNKNOWN, with why, and names do not break the line" {
	plugin 3 'FSQUOTA UNKNOWN - fsquota check: /nowhere: cannot open: No such file or directory' /nowhere
	plugin 3 'FSQUOTA UNKNOWN - fsquota check: unknown option --bogus*' --bogus
	plugin 3 'FSQUOTA UNKNOWN - *--warning 99 is above --critical 98' --warning 99 /mnt/x/home
	plugin 3 'FSQUOTA UNKNOWN - *--warning is a percentage*' --warning many /mnt/x/home
	plugin 3 'FSQUOTA UNKNOWN - *has a line of its own, and --warning for --over' --json /mnt/x/home
	refuses 2 "go with --format nagios" fsquota check --warning 80 /mnt/x
	# What is critical is so, whatever else is not known.
	holds 20 /mnt/x/home || :
	plugin 2 'FSQUOTA CRITICAL - /mnt/x/home: * fsquota check: /nowhere: cannot open: *' /mnt/x/home /nowhere
	mkdir "/mnt/x/none/a|b='c"
	fsquota assign --hard 1M /mnt/x/none/a* >/dev/null
	plugin 0 "FSQUOTA OK - 1 judged, all below 90% | '/mnt/x/none/a_b__c'=*" /mnt/x/none/a*
	fsquota release /mnt/x/none/a*
	rmdir /mnt/x/none/a*
}

# --- contrib/login: who logs in ------------------------------------------------------------------

@test "who logs in reads the sentence, by profile.d in an interactive shell and by PAM" {
	local brief=$BATS_TEST_TMPDIR/brief kept=$BATS_TEST_TMPDIR/etc sentence='/mnt/x/home: 19M of 20M (95%)'
	mkdir "$kept"
	cp -p /etc/passwd /etc/pam.d/su "$kept"
	echo 'ann:*:1000:1000::/mnt/x/home:/bin/true' >>/etc/passwd
	sed "s|exec fsquota|exec $FSQUOTA|" "$srcdir/contrib/login/brief-of-user" >"$brief"
	chmod 755 "$brief"
	sed "s|/usr/share/fsquota/brief-of-user|$brief|" "$srcdir/contrib/login/pam" >>/etc/pam.d/su
	# su(1) with a command shows nothing that PAM says.
	prints '' su -l ann
	holds 19 /mnt/x/home
	prints "$sentence" su -l ann
	cp -p "$kept/passwd" /etc/passwd
	cp -p "$kept/su" /etc/pam.d/su
	# Without a terminal the shell complains on stderr.
	HOME=/mnt/x/home run_split as_user bash --norc -ic '. "$0"' "$srcdir/contrib/login/fsquota.sh"
	assert_equal "$status:$stdout" "0:$sentence"
	HOME=/mnt/x/home is_silent as_user bash -c '. "$0"' "$srcdir/contrib/login/fsquota.sh"
}

@test "an event of watch is a mail, with names of tenants in its body" {
	local watch sent=$BATS_TEST_TMPDIR/sent
	printf '#!/bin/sh\ncat >%s.new\nmv %s.new %s\n' "$sent" "$sent" "$sent" >"$BATS_TEST_TMPDIR/sendmail"
	chmod 755 "$BATS_TEST_TMPDIR/sendmail"
	SENDMAIL=$BATS_TEST_TMPDIR/sendmail fsquota watch --count 1 --initial --over 90 /mnt/x \
		--exec "$srcdir/contrib/watch/mail-event" --exec-arg ann@example.org >/dev/null 3>&- &
	watch=$!
	holds 19 /mnt/x/home
	until_true test -e "$sent"
	wait $watch || :
	run cat "$sent"
	assert_line "To: ann@example.org"
	assert_line "Subject: [fsquota] $(uname -n): percent-reached of project $(fsquota id /mnt/x/home)"
	assert_line --partial "/mnt/x/home on /mnt/x"
	assert_line --partial "used 19922944 of 20971520 bytes"
}

# --- the monitors themselves ---------------------------------------------------------------------

# bats test_tags=install
@test "Nagios takes the line apart as it is meant: status, text and performance data" {
	local run=$BATS_TEST_TMPDIR odd="/mnt/x/none/a|b='c" line server nagios
	nagios=$("$srcdir/tests/guest/nagios") || return 1
	mkdir "$run/results" "$odd"
	fsquota assign --hard 1M "$odd" >/dev/null
	chown 1000:1000 "$odd"
	holds 1 "$odd" || :
	holds 19 /mnt/x/home
	cat >"$run/nagios.cfg" <<-END
		log_file=$run/log
		cfg_file=$run/objects.cfg
		object_cache_file=$run/objects.cache
		status_file=$run/status.dat
		status_update_interval=1
		check_result_path=$run/results
		lock_file=$run/lock
		temp_path=$run
		temp_file=$run/temporary
		nagios_user=root
		nagios_group=root
		query_socket=$run/query
		check_external_commands=0
		retain_state_information=0
		use_syslog=0
		check_workers=1
		interval_length=1
		service_inter_check_delay_method=n
		process_performance_data=1
	END
	cat >"$run/objects.cfg" <<-END
		define command {
		command_name fsquota
		command_line $FSQUOTA check --format nagios /mnt/x/home /mnt/x/none
		}
		define timeperiod {
		timeperiod_name always
		alias always
		sunday 00:00-24:00
		monday 00:00-24:00
		tuesday 00:00-24:00
		wednesday 00:00-24:00
		thursday 00:00-24:00
		friday 00:00-24:00
		saturday 00:00-24:00
		}
		define contact {
		contact_name nobody
		host_notifications_enabled 0
		service_notifications_enabled 0
		host_notification_period always
		service_notification_period always
		host_notification_commands fsquota
		service_notification_commands fsquota
		}
		define host {
		host_name here
		address 127.0.0.1
		max_check_attempts 1
		active_checks_enabled 0
		check_period always
		notifications_enabled 0
		}
		define service {
		host_name here
		service_description quota
		check_command fsquota
		check_interval 1
		retry_interval 1
		max_check_attempts 1
		check_period always
		notifications_enabled 0
		}
	END
	line=$(fsquota check --format nagios /mnt/x/home /mnt/x/none || :)
	"$nagios" "$run/nagios.cfg" >"$run/output" 2>&1 3>&- &
	server=$!
	# It removes the file when it ends.
	until run sed -n '/^servicestatus/,/}/s/^\t*//p' "$run/status.dat" && [[ $output == *has_been_checked=1* ]]; do
		kill -0 $server || fail "$(<"$run/output")"
		nap 0.1
	done
	kill $server
	wait $server || :
	assert_line current_state=2
	assert_line "plugin_output=${line%% | *}"
	assert_line "performance_data=${line#* | }"
	fsquota release "$odd" >/dev/null
	rm -r "$odd"
}
