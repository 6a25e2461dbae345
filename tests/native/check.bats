#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# fsquota check: which projects are at their limits. projects.bash has what there is.

load ../lib/fsquota
load projects

# full STATUS IDS WORD...: check ends with this status and shows these IDs.
full() {
	local code=$1 ids=$2
	shift 2
	run_split fsquota check --raw -No ID "$@"
	assert_equal "check $*: $status $stderr" "check $*: $code "
	assert_equal "check $*: $(tr '\n' ' ' <<<"$stdout")" "check $*: $ids "
}

@test "check shows what is above its soft limit or at its hard one, and ends with 8" {
	local fs
	for fs in x e f; do full 8 "42 44" /mnt/$fs; done
}

@test "check ends with 0 and prints nothing where nobody is full" {
	is_silent fsquota check /mnt/x/logs
	assert_equal "$(fsquota check --json /mnt/x/logs)" '{"check":[]}'
}

@test "check judges inodes, too" {
	local fs
	for fs in x e f; do
		real -c 'limit -p ihard=2 43' /mnt/$fs
		full 8 43 /mnt/$fs/logs
		real -c 'limit -p ihard=3 isoft=1 43' /mnt/$fs
		full 8 43 /mnt/$fs/logs
		real -c 'limit -p ihard=3 isoft=2 43' /mnt/$fs
		full 0 "" /mnt/$fs/logs
		real -c 'limit -p ihard=0 isoft=0 43' /mnt/$fs
	done
}

@test "check knows a hard limit that leaves no room for a block" {
	local fs used
	# XFS rounds limits to blocks.
	for fs in e f; do
		used=$(fsquota usage --raw --bytes -No USED /mnt/$fs/logs)
		real -c "limit -p bhard=$((used + 3584)) 43" /mnt/$fs
		full 8 43 /mnt/$fs/logs
		real -c "limit -p bhard=$((used + 4096)) 43" /mnt/$fs
		full 0 "" /mnt/$fs/logs
		real -c 'limit -p bhard=100m 43' /mnt/$fs
	done
}

@test "check --over goes by the percentage alone" {
	full 8 "42 44" --over 50 /mnt/x
	full 8 44 --over 90 /mnt/x
	full 8 44 --over=99% /mnt/x
	full 0 "" --over 101 /mnt/x
	full 8 "42 43 44 45 0" --over 0 /mnt/x
}

@test "check of a directory judges its project, and those below it" {
	full 8 44 /mnt/x/nested
	full 8 44 /mnt/x/nested/a
	full 8 42 /mnt/x/web
	full 8 42 /mnt/x/web2/
	local operand
	mkdir -p /mnt/x/web2/deep
	for operand in /mnt/x/web /mnt/x/web2 /mnt/x/web2/deep '/mnt/x/logs /mnt/x/web2/'; do
		# shellcheck disable=SC2086 # words
		run -8 fsquota check --raw -No PATH $operand
		local shown=${operand##* }
		shown=${shown%/deep}
		assert_output "${shown%/}"
		# shellcheck disable=SC2086 # words
		run -1 fsquota check --format nagios $operand
		assert_output --partial "'${shown%/}'="
	done
	rmdir /mnt/x/web2/deep
	run -8 fsquota check --raw -No PATH /mnt/x/nested /mnt/x/web2 /mnt/x/web
	assert_output $'/mnt/x/web2\n/mnt/x/nested/a'
	run -0 fsquota list --raw -No PATH /mnt/x/web2
	assert_output /mnt/x/web2
	mkdir -p /mnt/x/web/sub
	full 8 42 /mnt/x/web/sub
	rmdir /mnt/x/web/sub
	full 8 "42 44" /mnt/x/web /mnt/x/nested /mnt/x/logs
}

@test "check judges a directory that is not registered by the ID that it carries" {
	: >/etc/projects
	full 8 42 /mnt/x/web
	run_split fsquota check --raw -No ID,PATH /mnt/x/web
	assert_output "42 /mnt/x/web"
}

@test "check of a directory without any project is an error, also beside others" {
	refuses 5 "/mnt/x/none: belongs to no project" fsquota check /mnt/x/none
	refuses 5 "/mnt/x/gone" fsquota check /mnt/x/gone
	refuses 3 "/proc" fsquota check /proc
	run_split fsquota check --raw -No ID /mnt/x/none /mnt/x/nested
	assert_equal "$status:$stdout" 8:44
	assert_one_line
}

@test "check of everything takes all filesystems that have quota" {
	full 8 "42 44 42 44 42 44"
	full 8 "42 42 42 44 44 44" --sort id,mountpoint
}

@test "check -q prints nothing" {
	run_split fsquota check -q /mnt/x
	assert_equal "$status:$stdout$stderr" 8:
	is_silent fsquota check --quiet --json /mnt/x/logs
}

@test "check has JSON and a table" {
	exits 8 fsquota check --json /mnt/x
	run -0 jq -c '.check | map([.id, .directories, .bytes_grace_seconds > 0])' "$BATS_TEST_TMPDIR/stdout"
	assert_output "[[42,[\"/mnt/x/web\",\"/mnt/x/web2\"],true],[44,[\"/mnt/x/nested/a\"],false]]"
	run_split fsquota check /mnt/x
	assert_line --index 0 --regexp '^ID NAME +USED +SOFT +HARD +USE% +GRACE +IUSED +IHARD +PATH$'
	assert_line --index 1 --regexp "^42 web +5M +4M +10M +50% +[56]h.* +3 +/mnt/x/web$"
}

@test "check --limit judges by the limit of the caller while the quota only counts" {
	mkdir -p /mnt/x/pod
	fsquota assign /mnt/x/pod --unlimited >/dev/null
	head -c 2M /dev/zero >/mnt/x/pod/file
	sync -f /mnt/x
	full 0 "" --limit /mnt/x/pod=4M
	exits 8 fsquota check --json --limit /mnt/x/pod=1M
	run -0 jq -c '.check[] | [.path, .hard_bytes, .soft_bytes, .percent >= 200]' "$BATS_TEST_TMPDIR/stdout"
	assert_output "[\"/mnt/x/pod\",1048576,null,true]"
	full 8 "$(fsquota id /mnt/x/pod)" --limit /mnt/x/pod=4M --over 50
	run -0 fsquota release /mnt/x/pod
	rm -r /mnt/x/pod
}

@test "check --limit judges by nothing else than its limit" {
	full 0 "" --limit /mnt/x/web=1G
	full 8 42 --limit /mnt/x/web=1G --limit=/mnt/e/web=2M
	full 8 44 --limit /mnt/x/web=1G /mnt/x/nested
}

@test "check --limit counts directories that share a project once" {
	full 8 42 --limit /mnt/x/web=5M --limit /mnt/x/web2=5M
	full 0 "" --limit /mnt/x/web=6M --limit /mnt/x/web2=6M
	refuses 6 "/mnt/x/web2: has the project of /mnt/x/web" \
		fsquota check --limit /mnt/x/web=6M --limit /mnt/x/web2=7M
	full 8 "42 42" --limit /mnt/x/web=5M --limit /mnt/e/web=5M
}

@test "check --limit takes any name of a directory, and refuses what is none" {
	mkdir '/mnt/x/web/a=b'
	full 8 42 --limit '/mnt/x/web/a=b=2M'
	rmdir '/mnt/x/web/a=b'
	refuses 2 DIR=SIZE fsquota check --limit /mnt/x/web
	refuses 2 DIR=SIZE fsquota check --limit =5M
	refuses 2 '"5X"' fsquota check --limit /mnt/x/web=5X
	refuses 2 '"0"' fsquota check --limit /mnt/x/web=0
	refuses 2 'too large' fsquota check --limit /mnt/x/web=9999999E
	refuses 5 '/mnt/x/gone' fsquota check --limit /mnt/x/gone=5M
	refuses 5 'belongs to no project' fsquota check --limit /mnt/x/none=5M
}

# between_looks WRITER WORD...: check WORD..., with WRITER between its two looks: it stops before it waits.
between_looks() {
	local writer=$1
	shift
	stopped_at 230 1 "$FSQUOTA" check --json --interval 1 "$@" # clock_nanosleep
	$writer
	go_on
}

# A MiB, so that a second later 99 more are a minute and a half away, or more on a slow machine.
grows() {
	fallocate -l 1M "/mnt/x/logs/$((++written))"
	fallocate -l 1M "/mnt/e/logs/$written"
}

shrinks() {
	rm /mnt/{x,e}/logs/[0-9]*
	settle /mnt/x
}

within() { jq -c '.check | map([.path, .id, has("full_in_seconds")])' <<<"$stdout"; }

@test "check --full-within shows what is full soon if it goes on so, and the filesystem" {
	local fs
	for fs in x e; do
		between_looks grows --full-within 500w /mnt/$fs/logs
		assert_equal "$status:$stderr:$(within)" "8::[[\"/mnt/$fs\",0,true],[\"/mnt/$fs/logs\",43,true]]"
		jq -e '.check[1] | .full_in_seconds > 60 and .hard_bytes == 104857600' <<<"$stdout"
		jq -e '.check[1].full_in_seconds < .check[0].full_in_seconds' <<<"$stdout"
		jq -e '.check[0] | .full_in_seconds > 10 and .hard_bytes > .used_bytes and .source == "statfs" and
			.enforced and .mountpoint == "/mnt/'$fs'" and .filesystem == "'"$(findmnt -no SOURCE /mnt/$fs)"'" and
			.used_inodes < .hard_inodes and .name == null' <<<"$stdout"
		# Later, or not at all.
		between_looks grows --full-within 10 /mnt/$fs/logs
		assert_equal "$status:$stderr:$stdout" '0::{"check":[]}'
		between_looks : --full-within 500w --id 43 --at /mnt/$fs
		assert_equal "$status:$stderr:$stdout" '0::{"check":[]}'
		between_looks shrinks --full-within 500w /mnt/$fs/logs
		assert_equal "$status:$stderr:$stdout" '0::{"check":[]}'
	done
}

@test "check --full-within also judges by limits, or by --over, with the use of its second look" {
	between_looks grows --full-within 500w /mnt/x
	assert_equal "$status:$stderr:$(within)" \
		'8::[["/mnt/x",0,true],["/mnt/x/web",42,false],["/mnt/x/logs",43,true],["/mnt/x/nested/a",44,false]]'
	between_looks grows --full-within 500w --over 90 --name logs --at /mnt/x --at /mnt/e
	assert_equal "$status:$stderr:$(within)" '8::[["/mnt/x/logs",43,true],["/mnt/e/logs",43,true]]'
	assert_equal "$(jq '.check[0].used_bytes' <<<"$stdout")" "$(fsquota usage --raw --bytes -No USED /mnt/x/logs)"
	between_looks : --full-within 10 --over 90 /mnt/x
	assert_equal "$status:$stderr:$(within)" '8::[["/mnt/x/nested/a",44,false]]'
	shrinks
}

@test "check --full-within has a column, and says what is wrong" {
	stopped_at 230 1 "$FSQUOTA" check --full-within 500w --interval 1 --id 43 --at /mnt/x
	grows
	go_on
	assert_equal "$status" 8
	[[ ${stdout%%$'\n'*} =~ ^ID\ NAME.*\ FULLIN\ +IUSED ]] || fail "$stdout"
	[[ $stdout =~ 43\ logs.*[0-9][smhd]\  ]] || fail "$stdout"
	shrinks
	refuses 2 'such as 30m or 4h, not "soon"' fsquota check --full-within soon
	refuses 2 'not "0"' fsquota check --full-within 0 /mnt/x
	refuses 2 'goes with --full-within' fsquota check --interval 5 /mnt/x
	refuses 2 'interval' fsquota check --full-within 4h --interval 0
	refuses 2 'does not go with --limit' fsquota check --full-within 4h --limit /mnt/x/web=1G
	refuses 2 'it waits' sh -c 'echo check --full-within 4h | fsquota batch | jq -r .error.message >&2; exit 2'
}

@test "check --full-within says what it cannot read, and takes it for no growth" {
	for call in {1..4}; do
		run_split strace -qq -o /dev/null -P /mnt/x -e inject=fstatfs:error=EIO:when=$call \
			fsquota check --full-within 500w --interval 1 /mnt/x/logs
		[[ $stdout != *" /mnt/x"* && ($status = 0 || -n $stderr) ]] || fail "$call: $status: $stdout$stderr"
	done
}

@test "check takes a project by its ID or name" {
	full 8 42 --id 42 --at /mnt/x
	full 0 "" --id 43 --at /mnt/e/none
	full 8 "42 42 42" --name web
	full 8 42 --name web --at "$FSQ_E_DEV"
	full 0 "" --name alone --at /mnt/f
}

@test "usage takes a project by its ID or name, also one without a directory" {
	local fs
	for fs in x e f; do
		prints "- 45 alone 1G" fsquota usage --raw -No PATH,ID,NAME,HARD --id 45 --at /mnt/$fs
		run_split fsquota usage --raw -No PATH,USED --name web --at /mnt/$fs
		assert_output --regexp "^/mnt/$fs/web 5M$"
	done
	run -0 jq -c '.usage | map([.id, .mountpoint, .path, has("directories")])' <(fsquota usage --json --name logs)
	assert_output '[[43,"/mnt/x","/mnt/x/logs",false],[43,"/mnt/e","/mnt/e/logs",false],[43,"/mnt/f","/mnt/f/logs",false]]'
	prints '[42,42]' jq -c '.usage | map(.id)' <(fsquota usage --json --id 42 --at /mnt/x --at /mnt/e)
}

@test "a name is looked for only where there is project quota" {
	fresh_fs x2 -o uquota
	full 8 "42 42 42" --name web
	fresh_fs x2 -o noquota
}

@test "a project that is not there, or badly named, is an error" {
	local command
	for command in usage check; do
		refuses 5 '"nobody"' fsquota $command --name nobody
		refuses 5 'project 99' fsquota $command --id 99 --at /mnt/x
		refuses 5 'project 99' fsquota $command --id 99 --at /mnt/e
		refuses 5 /gone fsquota $command --id 42 --at /mnt/x/gone
		refuses 3 /proc fsquota $command --id 42 --at /proc
		refuses 2 --at fsquota $command --id 42
		refuses 2 '--at goes with' fsquota $command --at /mnt/x
		refuses 2 'do not go together' fsquota $command --id 42 --name web --at /mnt/x
		refuses 2 'instead of a directory' fsquota $command --name web /mnt/x/web
		refuses 2 '"0"' fsquota $command --id 0 --at /mnt/x
	done
}

# --- filesystems; these are the last, since they make all anew ---

# is_told MOUNT WORD...: the filesystem is, by check of it and of all, and by the status
is_told() {
	local words m=$1
	shift
	for words in "$m" ''; do
		# shellcheck disable=SC2086 # words
		run_split fsquota check --json "$@" $words
		[ "$status" = 8 ] || complain "check $* $words: $status $stderr"
		jq -e --arg m "$m" '.check | map(select(.path == $m and .id == 0 and .source == "statfs" and
			.mountpoint == $m)) | length == 1' <<<"$stdout" >/dev/null || complain "check $* $words: $stdout"
		# shellcheck disable=SC2086 # words
		run_split fsquota check -q "$@" $words
		assert_equal "$status:$stdout" '8:'
	done
}

# bats test_tags=full
@test "check shows a filesystem that is full, in space or inodes, but of a directory only its projects" {
	local fs m
	fresh_each x2 e f
	for fs in x2 e f; do
		m=/mnt/$fs
		mkdir "$m/web"
		fsquota assign --hard 10M "$m/web" >/dev/null
		is_silent fsquota check "$m"
		dd if=/dev/zero of="$m/big" bs=1M status=none 2>/dev/null || :
		is_told "$m"
		is_told "$m" --over 90
		is_told "$m" --full-within 1m --interval 1
		is_silent fsquota check "$m/web"
		is_silent fsquota check --over 101 "$m"
		rm "$m/big"
		settle "$m"
		is_silent fsquota check "$m"
	done
	mkdir /mnt/e/many
	python3 -c 'import os
try:
	for i in range(10 ** 6): os.mknod(f"/mnt/e/many/{i}")
except OSError: pass'
	is_told /mnt/e
	fresh_fs e
	no_complaints
}

@test "check tells of quota that is off where directories are registered" {
	fresh_fs x2
	mkdir /mnt/x2/web
	fsquota assign --hard 10M /mnt/x2/web >/dev/null
	is_silent fsquota check -q /mnt/x2
	umount /mnt/x2
	mount -o noquota "$FSQ_X2_DEV" /mnt/x2
	exits 8 fsquota check --json
	[[ $stderr == *'"path":"/mnt/x2","message":"project quota is off, and directories on it are registered'* ]]
	assert_equal "$(jq -c '.check[] | select(.path == "/mnt/x2") | [.id, .accounting, .enforced]' <<<"$stdout")" '[0,false,false]'
	refuses 3 'project quota is off' fsquota check /mnt/x2/web
	grep -v /mnt/x2 /etc/projects >"$BATS_TEST_TMPDIR/projects" || :
	run_split fsquota check --json --projects-file "$BATS_TEST_TMPDIR/projects"
	assert_equal "$stderr:$(jq -c '.check[] | select(.path == "/mnt/x2")' <<<"$stdout")" ':'
	fresh_fs x2
}

# mailing DIRECTORY WORD...: check --mail, with the programs in it for those of /usr/sbin.
mailing() {
	run_split unshare -m bash -c 'mount --bind "$0" /usr/sbin && exec fsquota check --mail "$@"' "$@"
}

@test "check --mail sends what it prints to the address of fsquota.conf, if it finds something" {
	local bin=$BATS_TEST_TMPDIR/bin mail=$BATS_TEST_TMPDIR/mail shown
	mkdir "$bin"
	shown=$(fsquota check /mnt/x || :)
	# Without an address there is no mail, and an error if there was something to send.
	mailing "$bin" /mnt/x
	assert_equal "$status:$stdout:$stderr" "8:$shown:fsquota check: --mail sends nothing: no address; write mail = ADDRESS into /etc/fsquota.conf"
	mailing "$bin" /mnt/x/logs
	assert_equal "$status:$stdout:$stderr" 0::
	echo 'mail = root, ann@example.org' >/etc/fsquota.conf
	mailing "$bin" /mnt/x
	assert_equal "$status:$stdout:$stderr" "8:$shown:fsquota check: cannot run /usr/sbin/sendmail: No such file or directory"
	printf '#!/bin/bash\n{ echo "$*"; cat; } >%s\n' "$mail" >"$bin/sendmail"
	chmod 755 "$bin/sendmail"
	mailing "$bin" -q /mnt/x
	assert_equal "$status:$stdout:$stderr" 8::
	assert_equal "$(<"$mail")" "-t -i
To: root, ann@example.org
Subject: fsquota on $(uname -n): 2 at their limits
Auto-Submitted: auto-generated
MIME-Version: 1.0
Content-Type: text/plain; charset=UTF-8
Content-Transfer-Encoding: 8bit

$shown"
	rm "$mail"
	mailing "$bin" /mnt/x/logs
	assert_equal "$status:$stdout:$stderr:$(ls "$mail" 2>/dev/null)" 0:::
	# A budget that is exceeded has a subject of its own.
	echo 'budget = /mnt/x/logs 1M' >>/etc/fsquota.conf
	mailing "$bin" /mnt/x/logs
	assert_equal "$status:$(grep ^Subject "$mail")" "8:Subject: fsquota on $(uname -n): hard limits exceed a budget"
	printf '#!/bin/bash\necho the queue is full\nexit 75\n' >"$bin/sendmail"
	mailing "$bin" -q /mnt/x
	assert_equal "$status:$stdout:$stderr" '8::fsquota check: /usr/sbin/sendmail failed with status 75: the queue is full'
	rm /etc/fsquota.conf
	run -3 fsquota check --mail --format nagios /mnt/x
	assert_output --partial '--mail does not go with --format nagios'
	refuses 2 '--mail does not go with --root' fsquota check --mail --root / /mnt/x
}
