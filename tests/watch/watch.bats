#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What the kernel warns of, watch tells: each once, with the right numbers, and nothing is lost. What
# it does not warn of is found by polling. "watching" starts one, which the end of a test ends.

load ../lib/fsquota

tenants=$builddir/tests/watch/tenants
rmem_max=/proc/sys/net/core/rmem_max
hostile='$(touch /mnt/pwned)`touch /mnt/pwned`;touch '\''/mnt/pwned'\''"&'

setup() {
	rm -rf /etc/projects /etc/projid /mnt/pwned
	events=$BATS_TEST_TMPDIR/events messages=$BATS_TEST_TMPDIR/messages
	chmod a+x "$BATS_TEST_TMPDIR"
	watcher='' rmem='' before=() form=(--json)
}

teardown() {
	[ -z "$rmem" ] || echo "$rmem" >"$rmem_max"
	[ -z "$watcher" ] || end_process "$watcher"
	: >"$BATS_TEST_TMPDIR/go"
}

# watching [OPTION]...: start it, and wait until it watches: it says so as a service does.
watching() {
	local socket=$BATS_TEST_TMPDIR/ready notes=$BATS_TEST_TMPDIR/notes
	rm -f "$socket" "$notes"
	"$tenants" notified "$socket" >"$notes" 3>&- &
	until_true test -S "$socket"
	NOTIFY_SOCKET=$socket "${before[@]}" "$FSQUOTA" watch "${form[@]}" "$@" >"$events" 2>"$messages" 3>&- &
	watcher=$!
	until_true grep -qs READY=1 "$notes"
}

# ended STATUS: it does so by itself.
ended() {
	local status=0
	wait "$watcher" || status=$?
	watcher=
	assert_equal "$status" "$1"
}

# ends [SIGNAL]: it does so with status 0, having told all.
ends() {
	kill "-${1:-TERM}" "$watcher"
	ended 0
}

# told FILTER: how many events are so.
told() { jq -n "[inputs | select($1)] | length" "$events"; }

# tells FILTER [COUNT]: so many, or one. While nothing new is there, jq is not asked again.
tells() {
	local text
	IFS= read -rd '' text <"$events" || :
	[ "$* ${#text}" != "${not_told-}" ] || return 1
	[ "$(told "$1")" -lt "${2:-1}" ] || return 0
	not_told="$* ${#text}"
	return 1
}

# volume FS ID [ASSIGN-OPTION]...: a directory of user 1000
volume() {
	mkdir -p "/mnt/$1/$2"
	chown 1000 "/mnt/$1/$2"
	fsquota assign "/mnt/$1/$2" --id "$2" --name "v$2" "${@:3}" >/dev/null
}

# writes FILE KIB: as its owner
writes() {
	setpriv --reuid 1000 --clear-groups dd if=/dev/zero of="$1" bs=4k count=$(($2 / 4)) status=none 2>&1 || :
}

# --- what the kernel tells --------------------------------------------------------------------------

# both_limits FS SOURCE: of going below
both_limits() {
	fresh_fs "$1"
	volume "$1" 42 --soft 512K --hard 1M
	used=$(fsquota usage --bytes "/mnt/$1/42" --raw -No USED)
	watching --interval 1 "/mnt/$1"
	writes "/mnt/$1/42/a" 768
	until_true tells .event==\"soft-reached\"
	writes "/mnt/$1/42/b" 768
	until_true tells .event==\"hard-reached\"
	rm "/mnt/$1/42/a"
	until_true tells .event==\"below-soft\"
	ends
	run -0 jq -c '[.event, .limit, .type, .id, .name, .directories, .mountpoint, .source, .uid,
		.used_bytes, .soft_bytes, .hard_bytes, .used_inodes, .hard_inodes]' "$events"
	assert_output "$(jq -nc "[\"space\", \"project\", 42, \"v42\", [\"/mnt/$1/42\"], \"/mnt/$1\"] as \$it
		| [\"soft-reached\"] + \$it + [\"kernel\", 1000, $((used + 768 * 1024)), 524288, 1048576, 2, null],
		[\"hard-reached\"] + \$it + [\"kernel\", 1000, 1048576, 524288, 1048576, 3, null],
		[\"below-soft\"] + \$it + [\"$2\", $3, $((1048576 - 768 * 1024)), 524288, 1048576, 2, null]")"
	assert_equal "$(jq -r .filesystem "$events" | sort -u)" "$(findmnt -no SOURCE "/mnt/$1")"
	assert_equal "$(cat "$messages")" ''
}

@test "XFS: a soft and a hard limit give one event each, and polling finds that it is over" {
	both_limits x poll null
}

# bats test_tags=again,full
@test "ext4: a soft and a hard limit give one event each, and one when it is over" { both_limits e kernel 0; }

@test "limits of inodes are told" {
	local fs
	for fs in x e; do
		fresh_fs $fs
		volume $fs 42 --hard-inodes 5
		watching --interval 1 /mnt/$fs
		setpriv --reuid 1000 --clear-groups touch /mnt/$fs/42/{1..9} 2>/dev/null || :
		until_true tells .event==\"hard-reached\"
		rm /mnt/$fs/42/{1..3}
		until_true tells .event==\"below-hard\"
		# ext4 warns that it is below the soft limit, which is none.
		rm -r /mnt/$fs/42
		ends
		assert_equal "$(jq -c '[.event, .limit, .used_inodes, .hard_inodes, .soft_bytes]' "$events" | xargs)" \
			'[hard-reached,inodes,5,5,null] [below-hard,inodes,2,5,null]'
	done
}

@test "a line for people has the same" {
	fresh_fs x
	volume x 42 --soft 512K --hard 1M
	form=()
	watching --count 2 --interval 1 /mnt/x
	until_true eval "writes /mnt/x/42/a 768; rm -f /mnt/x/42/a; ! kill -0 $watcher 2>/dev/null"
	ended 0
	run -0 cat "$events"
	assert_line --regexp '^[-0-9]+T[0-9:.]+Z /mnt/x project 42 \(v42\): (soft|hard) limit of space reached, used [0-9.]+K?B?, soft 512K, hard 1M, by user 1000(, [0-9]+ times)?, in /mnt/x/42$'
	assert_equal "$(cat "$messages")" ''
}

@test "users and groups are told with -u and -g, and projects then are not" {
	fresh_fs x
	mkdir -m 1777 /mnt/x/all
	volume x 42 --soft 512K
	oracle -x -c 'limit -u bsoft=256k 1000' -c 'limit -g bsoft=256k 1000' /mnt/x
	program
	watching -u -g --exec "$BATS_TEST_TMPDIR/program" /mnt/x
	setpriv --reuid 1000 --regid 1000 --clear-groups \
		dd if=/dev/zero of=/mnt/x/42/a bs=4k count=200 status=none
	until_true tells '.type=="user"'
	until_true tells '.type=="group"'
	# The one has a run of its own, not one with the other.
	touch "$BATS_TEST_TMPDIR/go"
	until_true runs 2
	ends
	assert_equal "$(for run in 1 2; do run_number $run FSQUOTA_TYPE; done | sort | xargs)" 'group user'
	run -0 jq -c '[.event, .type, .id, .directories]' "$events"
	assert_equal "$(sort <<<"$output")" '["soft-reached","group",1000,[]]
["soft-reached","user",1000,[]]'
}

# --- storms -----------------------------------------------------------------------------------------

@test "XFS: a writer that tries again and again is folded: once a second, with a count" {
	fresh_fs x
	"$tenants" prepare /mnt/x 1
	watching --interval 1000 /mnt/x
	"$tenants" again /mnt/x/0/file 3000
	until_true eval '[ "$(jq -n "[inputs.count] | add" "$events")" -ge 3000 ]'
	ends
	assert_equal "$(told '.event!="hard-reached"')" 0
	[ "$(told true)" -lt 300 ]
	# Their times say that a second is between them, but for what clocks differ.
	run -0 jq -n '[inputs.time | (.[:19] + "Z" | fromdate) * 1000 + (.[20:23] | tonumber)]
		| [.[1:], .[:-1]] | transpose | map(.[0] - .[1]) | map(select(. < 950))' "$events"
	assert_output '[]'
}

# bats test_tags=again,full
@test "ext4: a writer that tries again and again gives one event" {
	fresh_fs e
	"$tenants" prepare /mnt/e 1
	watching /mnt/e
	"$tenants" again /mnt/e/0/file 3000
	until_true tells true
	ends
	assert_equal "$(jq -c '[.event, .used_bytes]' "$events")" '["hard-reached",65536]'
}

# bats file_tags=shared

# bats test_tags=many
@test "of a thousand IDs at their limits at once none is lost" {
	fresh_fs x
	"$tenants" prepare /mnt/x 1000
	watching --interval 1000 /mnt/x
	"$tenants" fill /mnt/x 1000
	until_true tells true 1000
	ends
	assert_equal "$(told true)" 1000
	assert_equal "$(jq -r .id "$events" | sort -n)" "$(seq 1000 1999)"
	assert_equal "$(jq -c '[.event, .limit, .used_bytes, .hard_bytes, .uid]' "$events" | sort -u)" \
		'["hard-reached","space",65536,65536,1000]'
	assert_equal "$(cat "$messages")" ''
}

# The watch stands still in between, so that what happens is one moment to it.
@test "of many that pass their soft limit at once some go below, others on to the hard one: all are told" {
	local fs id
	fresh_each x e
	for fs in x e; do
		for id in {41..48}; do volume $fs $id --soft 512K --hard 1M; done
	done
	watching --interval 1 /mnt/x /mnt/e
	kill -STOP "$watcher"
	for fs in x e; do
		for id in {41..48}; do writes /mnt/$fs/$id/a 768; done
	done
	kill -CONT "$watcher"
	until_true tells '.event=="soft-reached"' 16
	kill -STOP "$watcher"
	for fs in x e; do
		for id in {48..41..2}; do rm /mnt/$fs/$id/a; done
		for id in {47..41..2}; do writes /mnt/$fs/$id/b 768; done
	done
	kill -CONT "$watcher"
	until_true tells '.event=="below-soft"' 8
	until_true tells '.event=="hard-reached"' 8
	writes /mnt/x/48/a 768
	until_true tells '.event=="soft-reached"' 17
	ends
	assert_equal "$(jq -r '"\(.event) \(.mountpoint)/\(.id)"' "$events" | sort | uniq -c | awk '{ print $1, $2, $3 }')" \
		"$(for fs in e x; do printf '1 below-soft %s\n' /mnt/$fs/{42..48..2}; done
		for fs in e x; do printf '1 hard-reached %s\n' /mnt/$fs/{41..47..2}; done
		printf '1 soft-reached %s\n' /mnt/e/{41..48} /mnt/x/{41..47}; echo 2 soft-reached /mnt/x/48)"
}

# The kernel keeps less than all of it for a process that does not read.
# bats test_tags=many
@test "when the kernel tells more than fits, that is told, and polling finds the rest" {
	fresh_fs x
	"$tenants" prepare /mnt/x 1000
	rmem=$(<"$rmem_max")
	echo 65536 >"$rmem_max"
	before=(setpriv --bounding-set -net_admin --inh-caps -net_admin)
	watching --interval 1000 /mnt/x
	kill -STOP "$watcher"
	"$tenants" fill /mnt/x 1000
	kill -CONT "$watcher"
	until_true tells true 1000
	ends
	assert_equal "$(told true)" 1000
	assert_equal "$(jq -r .id "$events" | sort -n)" "$(seq 1000 1999)"
	assert_equal "$(jq -r .source "$events" | sort -u | xargs)" 'kernel poll'
	assert_equal "$(jq -r .warning.message "$messages" | sort | uniq -c | awk '{ $1 = $1 } 1')" \
		'1 the kernel told more than could be read, and some of it is lost: polling now'
}

# --- polling ----------------------------------------------------------------------------------------

@test "--over tells who rises to a percentage, and who goes back" {
	fresh_fs x
	# To remove a name XFS reserves blocks of its directory, 30 and more where mkfs.xfs turns rmapbt on. Nearer to the limit
	# the kernel would tell that it is reached.
	volume x 42 --hard 10M
	volume x 43 --hard 1M
	writes /mnt/x/43/a 800
	watching --over 75 --interval 1 /mnt/x
	writes /mnt/x/42/a 6000
	writes /mnt/x/42/b 3000
	until_true tells '.event=="percent-reached"'
	rm /mnt/x/42/b
	until_true tells '.event=="below-percent"'
	ends
	run -0 jq -c '[.event, .id, .source, .used_bytes, .percent]' "$events"
	assert_output '["percent-reached",42,"poll",9216000,87.9]
["below-percent",42,"poll",6144000,58.6]'
}

@test "who is so full at the start is counted, and --initial tells of him" {
	fresh_fs x
	volume x 42 --hard 1M
	volume x 43 --hard 1M
	writes /mnt/x/42/a 900
	run_split timeout 5 fsquota watch --over 80 /mnt/x
	assert_equal "$stdout:$stderr" ':fsquota watch: at a limit or over a level already: 1; --initial begins with those'
	run_split timeout 20 fsquota watch --over 80 --initial --count 1 /mnt/x
	assert_equal "$status:$stderr" 0:
	assert_regex "$stdout" ': 80% of space reached'
}

@test "a volume of a pod is told by the name that people know" {
	local volume=/mnt/x/pods/0d0d/volumes/kubernetes.io~empty-dir/cache
	fresh_fs x
	mount -t tmpfs none /var/log
	mkdir -p /var/log/pods/shop_web-0_0d0d "$volume"
	fsquota assign --hard 1M --id 1048577 "$volume"
	chmod 777 "$volume"
	writes "$volume/a" 900
	printf '#!/bin/sh\necho "$FSQUOTA_NAME $FSQUOTA_POD" >%s/pod\n' "$BATS_TEST_TMPDIR" >"$BATS_TEST_TMPDIR/program"
	chmod +x "$BATS_TEST_TMPDIR/program"
	run -0 timeout 20 fsquota watch --over 80 --initial --count 1 /mnt/x --exec "$BATS_TEST_TMPDIR/program"
	assert_output --partial ' project 1048577 (shop/web-0/cache): 80% of space reached'
	assert_equal "$(cat "$BATS_TEST_TMPDIR/pod")" 'volume1048577 shop/web-0/cache'
	umount /var/log
}

@test "an event says whether the limits hold in the directory" {
	fresh_fs x
	volume x 42 --hard 1M
	touch /mnt/x/42/file
	chattr -P /mnt/x/42
	watching /mnt/x
	dd if=/dev/zero of=/mnt/x/42/file bs=64k count=32 status=none 2>/dev/null || :
	until_true tells '.event=="hard-reached" and .in_force=="not-inherited"'
	ends
}

# What a program of --exec is told of an event, too.
@test "--full-within tells once who will be full soon, and when that is over" {
	fresh_fs x
	volume x 42 --hard 900M
	volume x 43 --hard 900M
	volume x 44 --hard 1M
	program
	touch "$BATS_TEST_TMPDIR"/go.{42..44}
	watching --full-within 500w --interval 1 --exec "$BATS_TEST_TMPDIR/program" /mnt/x
	fallocate -l 1M /mnt/x/42/a
	until_true tells '.event=="full-soon" and .id==42'
	until_true runs 1
	assert_equal "$(run_number 1 FSQUOTA_ID) $(run_number 1 FSQUOTA_EVENT)" '42 full-soon'
	assert_equal "$(run_number 1 FSQUOTA_FULL_IN_SECONDS)" "$(jq .full_in_seconds "$events")"
	assert_equal "$(run_number 1 FSQUOTA_IN_FORCE)" yes
	# It goes on so, up to the limit and without any.
	fallocate -l 1M /mnt/x/42/b
	writes /mnt/x/44/a 600
	until_true tells '.event=="full-soon" and .id==44'
	writes /mnt/x/44/b 600
	until_true tells '.event=="hard-reached" and .id==44'
	fallocate -l 1M /mnt/x/43/a
	until_true tells '.event=="full-soon" and .id==43'
	rm /mnt/x/42/[ab]
	fsquota resize /mnt/x/43 none
	until_true tells '.event=="not-full-soon"' 2
	ends
	run -0 jq -c '[.event, .id, .limit, .source, .full_in_seconds > 0]' "$events"
	assert_equal "$(sort <<<"$output")" '["full-soon",42,"space","poll",true]
["full-soon",43,"space","poll",true]
["full-soon",44,"space","poll",true]
["hard-reached",44,"space","kernel",'"$(jq 'select(.event == "hard-reached") | .full_in_seconds > 0' "$events")"']
["not-full-soon",42,"space","poll",false]
["not-full-soon",43,"space","poll",false]'
}

@test "--full-within has a line for people, and forgets a project that is gone" {
	fresh_fs x
	volume x 42 --hard 900M
	form=()
	watching --count 2 --interval 1 --full-within 500w /mnt/x
	until_true eval '! kill -0 '"$watcher"' 2>/dev/null || grep -q soon "$events" || ! fallocate -l "$((++written))M" /mnt/x/42/a'
	rm -r /mnt/x/42
	real -c 'limit -p bhard=0 42' /mnt/x
	ended 0
	run -0 cat "$events"
	assert_line --index 0 --regexp '^[-0-9]+T[0-9:.]+Z /mnt/x project 42 \(v42\): hard limit of space reached soon, used [0-9]+M, hard 900M, full in [0-9]+[smhd][0-9smh]*, in /mnt/x/42$'
	assert_line --index 1 --regexp 'project 42 \(v42\): hard limit of space not reached soon, used 0B, in /mnt/x/42$'
}

@test "the grace time that is over, and a limit that was raised, are found by polling" {
	fresh_fs x
	volume x 42 --soft 512K --hard 1M
	oracle -x -c 'timer -p -b 1' /mnt/x
	watching --interval 1 /mnt/x
	writes /mnt/x/42/a 768
	# XFS begins to count it when it writes the record.
	sync -f /mnt/x
	until_true tells '.event=="grace-over"'
	fsquota resize /mnt/x/42 --soft 900K
	until_true tells '.event=="below-soft"'
	ends
	prints $'soft-reached\ngrace-over\nbelow-soft' jq -r '.event' "$events"
}

@test "where the kernel sends no warnings it is said in one line, and polled" {
	local fs
	fresh_each x e
	for fs in x e; do volume $fs 42 --soft 512K --hard 1M; done
	before=(unshare -n)
	watching --interval 1 /mnt/x /mnt/e
	assert_equal "$(jq -c . "$messages")" '{"warning":{"errno":null,"path":null,"message":"the kernel sends no quota warnings here: polling every 1 seconds instead"}}'
	for fs in x e; do writes /mnt/$fs/42/a 768; done
	until_true tells '.event=="soft-reached"' 2
	for fs in x e; do writes /mnt/$fs/42/b 768; done
	until_true tells '.event=="hard-reached"' 2
	rm /mnt/{x,e}/42/a
	until_true tells '.event=="below-soft"' 2
	ends
	assert_equal "$(told '.source!="poll"')" 0
	assert_equal "$(jq -r '.event' "$events" | sort | uniq -c | awk '{ print $1, $2 }')" '2 below-soft
2 hard-reached
2 soft-reached'
}

# waits PID: it does nothing any more
waits() {
	local before
	before=$(grep -E '^State:.*sleeping|ctxt' /proc/$1/status)
	nap 0.5
	[[ $before == State* && $before == "$(grep -E '^State|ctxt' /proc/$1/status)" ]]
}

@test "a reader that does not read does not keep watch from ending by a signal" {
	local pid reader
	volume x 60 --hard 1M
	writes /mnt/x/60/file 2000
	mkfifo "$BATS_TEST_TMPDIR/full"
	exec {reader}<>"$BATS_TEST_TMPDIR/full"
	dd if=/dev/zero of="$BATS_TEST_TMPDIR/full" bs=4096 count=1000 oflag=nonblock 2>/dev/null || :
	fsquota watch --initial --json /mnt/x >"$BATS_TEST_TMPDIR/full" 2>"$BATS_TEST_TMPDIR/told" 3>&- {reader}>&- &
	pid=$!
	until_true waits $pid
	kill $pid
	status=0
	wait $pid || status=$?
	assert_equal "$status" 1
	grep -q 'cannot write the output' "$BATS_TEST_TMPDIR/told"
	exec {reader}>&-
}

@test "who is at a limit at the start is told with --initial alone" {
	fresh_fs x
	volume x 42 --soft 512K --hard 1M
	writes /mnt/x/42/a 768
	watching /mnt/x
	ends
	assert_equal "$(cat "$events")" ''
	watching --initial /mnt/x
	ends
	assert_equal "$(jq -c '[.event, .source]' "$events")" '["soft-reached","poll"]'
	# And when it is over in any case, also with the whole record.
	watching --interval 1 /mnt/x
	rm -r /mnt/x/42
	real -c 'limit -p bsoft=0 bhard=0 42' /mnt/x
	until_true tells '.event=="below-soft"'
	ends
	assert_equal "$(jq -c '[.soft_bytes, .hard_bytes]' "$events")" '[null,null]'
}

# assigns ID DIRECTORY OPTION...: of user 1000, with 768 KiB in it
assigns() {
	mkdir -p "$2"
	chown 1000 "$2"
	fsquota assign "$2" --id "$1" "${@:3}" >/dev/null
	writes "$2/a" 768
}

@test "of a directory that is no mount point the projects at and below it are told, and its own" {
	fresh_fs x
	program
	touch "$BATS_TEST_TMPDIR"/go.{42..46}
	assigns 42 /mnt/x/other --hard 1M
	assigns 43 /mnt/x/team/one --hard 1M
	assigns 44 /mnt/x/team-two --hard 1M
	mkdir /mnt/x/team/one/deep /mnt/x/none
	watching --initial --over 50 --full-within 500w --interval 1 --exec "$BATS_TEST_TMPDIR/program" /mnt/x/none /mnt/x/team/
	until_true tells '.id==43 and .event=="percent-reached"'
	# One that comes later is told, and what the others do before is not.
	writes /mnt/x/other/b 512
	writes /mnt/x/team-two/b 512
	assigns 45 /mnt/x/team/three --soft 256K --hard 1M
	until_true tells '.id==45 and .event=="soft-reached"'
	writes /mnt/x/team/one/b 512
	until_true tells '.id==43 and .event=="hard-reached"'
	# It keeps nothing open.
	umount /mnt/x
	until_true grep -q '"/mnt/x","message":"unmounted, and no longer watched"' "$messages"
	mount -o prjquota "$FSQ_X_DEV" /mnt/x
	until_true grep -q '"/mnt/x","message":"mounted, and watched from now on"' "$messages"
	assigns 46 /mnt/x/team/four --soft 256K
	writes /mnt/x/other/a 256
	until_true tells '.id==46 and .event=="soft-reached"'
	until_true runs 1
	ends
	assert_equal "$(jq .id "$events" | sort -u | xargs)" '43 45 46'
	assert_equal "$(while read -r run; do base64 -d <<<"$run" | sed -zn 's/^FSQUOTA_ID=//p' | tr '\0' '\n'; done \
		<"$BATS_TEST_TMPDIR/runs" | grep -v '^4[356]$')" ''
	# What belongs to the project of a directory above.
	watching --initial --over 50 --count 1 /mnt/x/team/one/deep
	ended 0
	assert_equal "$(jq .id "$events")" 43
	refuses 2 'is neither a directory nor a device' fsquota watch /mnt/x/other/a
}

# --- filesystems that come and go -------------------------------------------------------------------

@test "a filesystem that cannot be opened for a moment is watched later" {
	local tracer
	fresh_fs x
	volume x 42 --soft 512K
	umount /mnt/x
	watching --interval 1
	strace -qq -o "$BATS_TEST_TMPDIR/trace" -p "$watcher" -P /mnt/x -e trace=openat2 -e inject=openat2:error=EMFILE 3>&- &
	tracer=$!
	until_true grep -q '^TracerPid:.*[1-9]' "/proc/$watcher/status"
	mount -o prjquota "$FSQ_X_DEV" /mnt/x
	until_true grep -q INJECTED "$BATS_TEST_TMPDIR/trace"
	end_process "$tracer"
	until_true grep -q '"/mnt/x","message":"mounted, and watched from now on"' "$messages"
	writes /mnt/x/42/a 768
	until_true tells '.event=="soft-reached"'
	ends
}

@test "a filesystem can be unmounted, and is watched again when it is mounted" {
	fresh_fs x
	volume x 42 --soft 512K
	watching --interval 1 /mnt/x
	writes /mnt/x/42/a 768
	until_true tells true
	umount /mnt/x
	until_true grep -q '"/mnt/x","message":"unmounted, and no longer watched"' "$messages"
	mount -o prjquota "$FSQ_X_DEV" /mnt/x
	until_true grep -q '"/mnt/x","message":"mounted, and watched from now on"' "$messages"
	rm /mnt/x/42/a
	until_true tells '.event=="below-soft"'
	writes /mnt/x/42/a 768
	until_true tells '.event=="soft-reached"' 2
	ends
	assert_equal "$(wc -l <"$messages")" 2
}

@test "a filesystem that is mounted twice is watched once, and where it is left" {
	local again=$BATS_TEST_TMPDIR/again
	fresh_fs x
	volume x 42 --soft 512K
	real -c 'limit -p bhard=1m 4294967294' /mnt/x
	mkdir "$again"
	mount --bind /mnt/x "$again"
	watching --interval 1
	umount /mnt/x
	writes "$again/42/a" 768
	until_true tells '.event=="soft-reached"'
	rm "$again/42/a"
	until_true tells '.event=="below-soft"'
	ends
	assert_equal "$(jq -r 'select(.event == "below-soft") | .mountpoint' "$events")" "$again"
	umount "$again"
	mount -o prjquota "$FSQ_X_DEV" /mnt/x
}

@test "what stands in line when a filesystem is unmounted is told" {
	fresh_fs x
	volume x 42 --soft 512K
	watching /mnt/x
	kill -STOP "$watcher"
	writes /mnt/x/42/a 768
	umount /mnt/x
	kill -CONT "$watcher"
	until_true grep -q 'unmounted, and no longer watched' "$messages"
	ends
	assert_equal "$(jq -c '[.event, .id, .mountpoint, .used_bytes]' "$events")" '["soft-reached",42,"/mnt/x",null]'
	mount -o prjquota "$FSQ_X_DEV" /mnt/x
}

# Without a device node it is asked by its directory, where another filesystem is now.
@test "what is unmounted while warnings are lost is told without the numbers of another" {
	local node=$BATS_TEST_TMPDIR/node inner=/mnt/x2/inner
	fresh_each x x2 e
	umount /mnt/x
	mkdir $inner
	# shellcheck disable=SC2046 # two words
	mknod "$node" b $(stat -c '0x%t 0x%T' "$FSQ_X_DEV")
	mount -o prjquota "$node" $inner
	rm "$node"
	volume x2/inner 42 --soft 256K --hard 1M
	volume x2/inner 43 --soft 256K
	volume e 44 --soft 256K
	fallocate -l 640K /mnt/x2/file
	chattr -p 42 /mnt/x2/file
	real -c 'limit -p bsoft=256k 42' -c 'limit -p bsoft=256k 45' /mnt/x2
	rmem=$(<"$rmem_max")
	echo 65536 >"$rmem_max"
	before=(setpriv --bounding-set -net_admin --inh-caps -net_admin)
	watching --interval 1000 $inner /mnt/e
	writes $inner/42/a 512
	until_true tells true
	kill -STOP "$watcher"
	writes $inner/43/a 512
	writes /mnt/e/44/a 512
	"$tenants" again $inner/42/a 1000
	umount $inner /mnt/e
	kill -CONT "$watcher"
	until_true eval '[ "$(grep -c "no longer watched" "$messages")" = 2 ]'
	ends
	mount -o prjquota "$FSQ_X_DEV" /mnt/x
	mount -o prjquota "$FSQ_E_DEV" /mnt/e
	assert_equal "$(jq -r '[.event, .id, .used_bytes // "-"] | join(" ")' "$events" | paste -sd ,)" \
		'soft-reached 42 524288,soft-reached 44 -,soft-reached 43 -,hard-reached 42 -'
	run -0 jq -r '.warning | [.path // empty, .message] | join(": ")' "$messages"
	assert_output 'the kernel told more than could be read, and some of it is lost: polling now
/mnt/e: unmounted, and no longer watched
/mnt/x2/inner: unmounted, and no longer watched'
}

@test "without a PATH all filesystems are watched, also those that are mounted later" {
	fresh_each x e
	volume x 42 --soft 512K
	volume e 42 --soft 512K
	umount /mnt/e
	watching
	mount -o prjquota "$FSQ_E_DEV" /mnt/e
	until_true grep -q '"/mnt/e","message":"mounted' "$messages"
	writes /mnt/x/42/a 768
	writes /mnt/e/42/a 768
	until_true tells true 2
	ends
	assert_equal "$(jq -r .mountpoint "$events" | sort)" $'/mnt/e\n/mnt/x'
}

# --- commands ---------------------------------------------------------------------------------------

# A program that notes its environment, and whether another one runs; it ends when it may.
program() {
	cat >"$BATS_TEST_TMPDIR/program" <<-END
		#!/bin/bash
		cd "$BATS_TEST_TMPDIR"
		mkdir running || echo "\$FSQUOTA_ID" >>overlaps
		printf '%s\n' "\$@" >>arguments
		env -0 | grep -z '^FSQUOTA_\|^NOTIFY_\|^OURS' | sort -z | base64 -w 0 >>runs
		echo >>runs
		echo "a line of the program"
		until [ -e "go.\$FSQUOTA_ID" ] || [ -e go ] || [ ! -e runs ]; do sleep 0.05; done
		rmdir running
	END
	chmod +x "$BATS_TEST_TMPDIR/program"
}

# run_number N VARIABLE: of its environment
run_number() { sed -n "$1p" "$BATS_TEST_TMPDIR/runs" | base64 -d | sed -zn "s/^$2=//p" | tr '\0' '\n'; }

runs() { [ -e "$BATS_TEST_TMPDIR/runs" ] && [ "$(wc -l <"$BATS_TEST_TMPDIR/runs")" -ge "$1" ]; }

@test "--exec: one at a time, with the facts, and what came meanwhile for an ID is one more" {
	local directory=/mnt/x/42
	fresh_fs x
	unset FSQUOTA_FULL
	program
	volume x 42 --soft 256K --hard 1M --hard-inodes 5
	volume x 43 --soft 256K
	OURS=kept FSQUOTA_ID=wrong watching --exec "$BATS_TEST_TMPDIR/program" --exec-arg '$FSQUOTA_ID' \
		--exec-arg 'two words' /mnt/x
	writes $directory/a 512
	until_true runs 1
	# While it runs, others wait.
	setpriv --reuid 1000 --clear-groups touch $directory/{1..9} 2>/dev/null || :
	until_true tells '.id==42 and .limit=="inodes" and .event=="hard-reached"'
	writes /mnt/x/43/a 512
	until_true tells '.id==43'
	setpriv --reuid 1000 --clear-groups touch $directory/{1..9} 2>/dev/null || :
	until_true tells '.id==42 and .limit=="inodes" and .event=="hard-reached"' 2
	"$tenants" again $directory/a 1
	until_true tells '.id==42 and .limit=="space" and .event=="hard-reached"'
	assert_equal "$(wc -l <"$BATS_TEST_TMPDIR/runs")" 1
	touch "$BATS_TEST_TMPDIR/go"
	until_true runs 3
	ends
	assert [ ! -e "$BATS_TEST_TMPDIR/overlaps" ]
	assert_equal "$(wc -l <"$BATS_TEST_TMPDIR/runs")" 3
	assert_equal "$(run_number 1 'FSQUOTA_EVENT')" soft-reached
	assert_equal "$(run_number 1 'FSQUOTA_ID') $(run_number 2 'FSQUOTA_ID') $(run_number 3 'FSQUOTA_ID')" '42 42 43'
	# All that waited, with the facts of the last one.
	assert_equal "$(run_number 2 'FSQUOTA_EVENTS')" 'inodes:hard-reached space:hard-reached'
	assert_equal "$(run_number 2 'FSQUOTA_EVENT') $(run_number 2 'FSQUOTA_LIMIT')" 'hard-reached space'
	assert_equal "$(run_number 2 'FSQUOTA_[A-Z]*_INODES' | xargs)" '5 5'
	assert_equal "$(run_number 2 FSQUOTA_COUNT)" \
		"$(jq -n '[inputs | select(.id == 42 and .event == "hard-reached").count] | add' "$events")"
	assert_equal "$(run_number 1 'FSQUOTA_[STUNFMD][A-Z_]*' | grep -v 'T.*Z')" \
		"/mnt/x/42
0
/mnt/x/42
$FSQ_X_DEV

/mnt/x
v42
262144

kernel
project
1000
524288
2"
	assert_equal "$(run_number 1 'OURS') $(run_number 1 'NOTIFY_SOCKET')" 'kept '
	assert_equal "$(sort -u "$BATS_TEST_TMPDIR/arguments")" "$(printf '%s\n' '$FSQUOTA_ID' 'two words')"
	# What it prints is no event.
	assert_equal "$(grep -c 'a line of the program' "$messages")" 3
}

@test "--exec: names of tenants are inert" {
	local directory="/mnt/x/${hostile//\//|}"
	fresh_fs x
	program
	mkdir -p "$directory"
	chown 1000 "$directory"
	echo "42:$directory" >/etc/projects
	echo "${hostile//\//|}:42" >/etc/projid
	oracle -x -c 'limit -p bsoft=256k 42' /mnt/x
	real -c "project -s -p $directory 42" /mnt/x >/dev/null 2>&1 || :
	chattr -p 42 +P "$directory"
	touch "$BATS_TEST_TMPDIR/go.42"
	watching --exec "$BATS_TEST_TMPDIR/program" /mnt/x
	writes "$directory/a" 512
	until_true runs 1
	ends
	assert_equal "$(run_number 1 FSQUOTA_DIRECTORY)" "$directory"
	assert_equal "$(run_number 1 FSQUOTA_NAME)" "${hostile//\//|}"
	assert_equal "$(jq -r '.directories[0]' "$events")" "$directory"
	assert [ ! -e /mnt/pwned ]
	assert [ ! -e pwned ]
}

# many_directories NUMBER: lines of the project 42, of 4000 bytes each.
many_directories() {
	local long
	printf -v long '/%0249d' {1..16}
	awk -v number="$1" -v long="/mnt/x$long" 'BEGIN {
		print "42:/mnt/x/42"
		while (i++ < number) print "42:" substr(long, 1, 3990) sprintf("/%09d", i) }' >/etc/projects
}

# many_are_left NUMBER PASSED LEFT: of so many directories more, this is what the program gets and how many it does not.
many_are_left() {
	fresh_fs x
	program
	volume x 42 --soft 256K
	many_directories "$1"
	[ -z "${name-}" ] || echo "$name:42" >/etc/projid
	touch "$BATS_TEST_TMPDIR/go.42"
	watching --exec "$BATS_TEST_TMPDIR/program" /mnt/x
	writes /mnt/x/42/a 512
	until_true runs 1
	ends
	assert_equal "$(run_number 1 FSQUOTA_ID)" 42
	assert_equal "$(run_number 1 FSQUOTA_DIRECTORIES | grep -c .)" "$2"
	assert_equal "$(run_number 1 FSQUOTA_DIRECTORIES_LEFT)" "$3"
	assert_equal "$(jq '.directories | length' "$events")" $(($1 + 1))
	refute grep -q 'too long' "$messages"
}

@test "--exec: of three thousand long directories as many are passed as fit, and the others are counted" {
	many_are_left 3000 17 2984
	assert_equal "$(run_number 1 FSQUOTA_DIRECTORY) $(run_number 1 FSQUOTA_NAME)" '/mnt/x/42 v42'
}

@test "--exec: with a large environment of its own the program gets no directories and no long name, and runs" {
	local name
	printf -v name %05000d 1
	# So small that the kernel passes 128 KiB.
	before=(bash -c 'ulimit -s 512; LARGE=$(printf %0100000d 1) exec "$@"' bash)
	many_are_left 30 0 31
	assert_equal "$(run_number 1 FSQUOTA_DIRECTORY) $(run_number 1 FSQUOTA_NAME)" '/mnt/x/42 '
}

@test "--exec: all have their turn, one after the other" {
	local id
	fresh_fs x
	program
	"$tenants" prepare /mnt/x 20
	watching --exec "$BATS_TEST_TMPDIR/program" /mnt/x
	"$tenants" fill /mnt/x 20
	until_true tells true 20
	assert_equal "$(pgrep -c -P "$watcher")" 1
	: >"$BATS_TEST_TMPDIR/go"
	until_true runs 20
	ends
	assert [ ! -e "$BATS_TEST_TMPDIR/overlaps" ]
	assert_equal "$(for id in {1..20}; do run_number "$id" FSQUOTA_ID; done)" "$(jq .id "$events")"
}

# --- its end ----------------------------------------------------------------------------------------

@test "--exec: a program that fails, one that a signal ends, and one that is gone, is told" {
	local program=$BATS_TEST_TMPDIR/program
	fresh_fs x
	volume x 42 --soft 512K
	volume x 43 --soft 512K
	mkdir /mnt/x/other
	fsquota assign /mnt/x/other --name v42
	printf '#!/bin/sh\n[ $FSQUOTA_ID = 42 ] || exit 7\nprintf "%%s\\n" "$FSQUOTA_DIRECTORIES" >%s\nkill -KILL $$\n' \
		"$BATS_TEST_TMPDIR/directories" >"$program"
	chmod 755 "$program"
	watching --exec "$program" --interval 1 /mnt/x
	writes /mnt/x/43/a 768
	until_true grep -q 'program","message":"ended with exit status 7"' "$messages"
	writes /mnt/x/42/a 768
	until_true grep -q 'ended by signal 9' "$messages"
	assert_equal "$(<"$BATS_TEST_TMPDIR/directories")" $'/mnt/x/42\n/mnt/x/other'
	rm "$program" /mnt/x/42/a
	until_true grep -q 'cannot run it' "$messages"
	kill -TERM "$watcher"
	wait "$watcher" || true
	watcher=
}

@test "--exec: a signal takes off what waits, and with a second one nothing is waited for" {
	local program=$BATS_TEST_TMPDIR/program pipe=$BATS_TEST_TMPDIR/pipe signals
	mkfifo "$pipe"
	# It runs until somebody opens its pipe.
	printf '#!/bin/sh\necho "$FSQUOTA_ID" >>%s/runs\nread -r _ <%s\n' "$BATS_TEST_TMPDIR" "$pipe" >"$program"
	chmod +x "$program"
	for signals in 1 2; do
		fresh_fs x
		rm -f "$BATS_TEST_TMPDIR/runs"
		"$tenants" prepare /mnt/x 3
		watching --exec "$program" /mnt/x
		"$tenants" fill /mnt/x 3
		until_true tells true 3
		until_true runs 1
		kill "$watcher"
		until_true grep -q STOPPING=1 "$BATS_TEST_TMPDIR/notes"
		[ $signals = 2 ] || : >"$pipe"
		[ $signals = 1 ] || kill "$watcher"
		ended 0
		[ $signals = 1 ] || : >"$pipe"
		assert_equal "$(wc -l <"$BATS_TEST_TMPDIR/runs")" 1
	done
}

@test "SIGTERM and SIGINT end it with 0, and what stands in line is told" {
	fresh_fs x
	volume x 42 --soft 512K
	watching /mnt/x
	kill -STOP "$watcher"
	writes /mnt/x/42/a 768
	kill "$watcher"
	kill -CONT "$watcher"
	ended 0
	assert_equal "$(jq -r .event "$events")" soft-reached
	assert_equal "$(tail -n 1 "$BATS_TEST_TMPDIR/notes")" STOPPING=1
	# A process in the background ignores SIGINT, unless it is asked for.
	before=(env --default-signal=INT)
	watching /mnt/x
	ends INT
}

@test "--count ends it after so many events, and the program of the last one has run" {
	fresh_fs x
	program
	"$tenants" prepare /mnt/x 5
	watching --count 3 --exec "$BATS_TEST_TMPDIR/program" /mnt/x
	touch "$BATS_TEST_TMPDIR"/go.{1000..1004}
	"$tenants" fill /mnt/x 5
	ended 0
	assert_equal "$(told true)" 3
	assert_equal "$(wc -l <"$BATS_TEST_TMPDIR/runs")" 3
}

@test "it ends when nobody reads its output any more" {
	fresh_fs x
	volume x 42 --soft 512K --hard 1M
	mkfifo "$BATS_TEST_TMPDIR/pipe"
	(exec "$FSQUOTA" watch /mnt/x >"$BATS_TEST_TMPDIR/pipe" 2>"$messages" 3>&-) &
	watcher=$!
	: <"$BATS_TEST_TMPDIR/pipe"
	ended $((128 + 13))
	assert_equal "$(cat "$messages")" ''
	writes /mnt/x/42/a 768
	exits 1 timeout 100 bash -c '"$FSQUOTA" watch --initial --count 1 /mnt/x >&-'
}

# --- what is refused --------------------------------------------------------------------------------

@test "wrong words are refused, and so is an ordinary user" {
	refuses 2 'percentage such as 90, not "x"' fsquota watch --over x
	refuses 2 'percentage such as 90, not "0"' fsquota watch --over 0
	refuses 2 'percentage such as 90, not "nan"' fsquota watch --over nan
	refuses 2 'such as 30m or 4h, not "4x"' fsquota watch --full-within 4x
	refuses 2 'number of seconds from 1 on, not "0"' fsquota watch --interval 0
	refuses 2 'number of seconds from 1 on, not "99999999"' fsquota watch --interval 99999999
	refuses 2 'number from 1 on, not "-1"' fsquota watch --count -1
	refuses 2 '--exec is the path of one program, which reads nothing, not "true"; did you mean --exec /usr/bin/true, or fsquota watch ... | true?' fsquota watch --exec true
	refuses 2 '--exec-arg is for --exec' fsquota watch --exec-arg x
	refuses 5 '/nothing: cannot run it' fsquota watch --exec /nothing
	refuses 4 '/etc/passwd: cannot run it' fsquota watch --exec /etc/passwd
	refuses 2 '/mnt is none' fsquota watch --exec /mnt
	refuses 5 'No such file' fsquota watch /nothing
	refuses 3 '/proc' fsquota watch /proc
	fresh_fs x
	refuses 4 CAP_SYS_ADMIN setpriv --reuid 1000 --clear-groups fsquota watch /mnt/x
	umount /mnt/x
	mount -o noquota "$FSQ_X_DEV" /mnt/x
	refuses 3 'project quota is off' fsquota watch /mnt/x
	refuses 2 'watch is no request' as_a_request watch
	refuses 2 'watch is no request' as_a_request --json watch
}

# The exit status and the message of one request of batch.
as_a_request() {
	local answer
	answer=$(fsquota batch <<<"$*")
	jq -r .error.message <<<"$answer" >&2
	return "$(jq .exit <<<"$answer")"
}
