#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# assign of several directories, of some that are not there yet, and limits that are parts.

load ../lib/fsquota

FIRST=1048577

setup() {
	fresh_each x e
	: >/etc/projects >/etc/projid
	rm -f /etc/fsquota.conf
}

# on_each TEST: on XFS and on ext4, in $top, which nobody but root can write in.
on_each() {
	local fs top
	for fs in x e; do
		: >/etc/projects >/etc/projid
		top=/mnt/$fs/v
		mkdir $top
		"$@"
	done
}

hard_kib() { kernel_has /mnt/$fs "$1" | cut -d' ' -f3; }

several() {
	mkdir $top/{a,b,c}
	run_split fsquota assign $top/{a,b} --hard 10M
	assert_equal "$status:$stdout" "0:$FIRST"$'\n'"$((FIRST + 1))"
	assert_equal "$(hard_kib $FIRST) $(hard_kib $((FIRST + 1)))" "10240 10240"
	prints "[$FIRST,$((FIRST + 1))]" jq -c '.assign | map(.id)' <(fsquota assign $top/{a,b} --json)
	run_split fsquota assign $top/{c,none,a}
	assert_equal "$status:$stdout" 5:
	touch $top/file
	run_split fsquota assign $top/{c,file,a}
	assert_equal "$status:$stdout" "7:$((FIRST + 2))"
	refuses 2 "--id goes with one directory" fsquota assign $top/{a,b} --id 5
	fsquota release $top/{a,b,c}
	run_split fsquota assign $top/{a,b,c} --name web
	assert_equal "$status:$stdout" "0:$FIRST"$'\n'"$FIRST"$'\n'"$FIRST"
	assert_equal "$(cat /etc/projects)" "$FIRST:$top/a"$'\n'"$FIRST:$top/b"$'\n'"$FIRST:$top/c"
	prints 2 jq '.assign | length' <(fsquota assign --dry-run --json $top/{a,b})
}

@test "several directories get a project each, or one with --name; the first failure ends it" { on_each several; }

# What quotas consist of, in one text.
everything() {
	local fs
	cat /etc/projects /etc/projid
	for fs in x e; do
		real -c 'report -p -N -n -b -i' -c 'state -p' /mnt/$fs
		lsattr -pd /mnt/$fs/v/*/ || true
	done 2>/dev/null
}

# partly STATUS COMMAND...: it ends with that status, and has changed something.
partly() {
	local before
	before=$(everything)
	exits "$@"
	[ "$before" != "$(everything)" ] || fail "${*:2}: nothing has changed"
}

# apply_lines LINE...
apply_lines() { printf '%s\n' "$@" | fsquota apply -; }

# With a directory for each way to fail: a file, no quota, read-only, not there, limits that do not fit.
halves() {
	local other command
	mkdir -p $top/{small,fixed,a} /dev/shm/d
	touch $top/file
	fsquota assign $top/small --hard 1M
	mount --bind $top/fixed $top/fixed
	mount -o remount,bind,ro $top/fixed
	rm -rf $top/a
	for other in 7:$top/file 3:/dev/shm/d 1:$top/fixed 5:$top/none 6:$top/small; do
		mkdir $top/a
		# assign looks for missing directories first.
		[ $other = 5:$top/none ] || partly "${other%%:*}" fsquota assign $top/a "${other#*:}" --soft 5M
		fsquota release $top/a --if-exists
		partly "${other%%:*}" apply_lines "$top/a soft=5M keep" "${other#*:} soft=5M keep"
		fsquota release $top/a
		partly "${other%%:*}" apply_lines "${other#*:} soft=5M keep" "$top/a soft=5M keep"
		fsquota release $top/a
		exits 2 apply_lines "$top/a soft=5M" "${other#*:} soft=5M hard=4M"
		assert_equal "$(fsquota usage $top/a 2>&1)" "$(fsquota usage $top/a 2>&1 | grep 'no project')"
		rmdir $top/a
	done
	umount $top/fixed
	# Of release the same, before and behind a directory.
	mkdir $top/a
	for other in 7:$top/file 3:/dev/shm/d 5:$top/none; do
		fsquota assign $top/a --hard 1M >/dev/null
		partly "${other%%:*}" fsquota release $top/a "${other#*:}"
		fsquota assign $top/a --hard 1M >/dev/null
		partly "${other%%:*}" fsquota release "${other#*:}" $top/a
	done
	rm -r /dev/shm/d
}

# bats test_tags=full
@test "no status says that nothing has changed where a part has: assign, apply and release" { on_each halves; }

@test "no status says that nothing has changed where a part has: filesystems and projects" {
	real -c 'limit -p bhard=1m 42' /mnt/e
	mkdir /mnt/{x,e}/v
	echo 42:/mnt/x/v >/etc/projects
	partly 6 fsquota limit bsoft=5m 42 /mnt/x /mnt/e
	exits 2 fsquota limit bsoft=5m bhard=4m 42 /mnt/x /mnt/e
	partly 6 fsquota limit bsoft=6m 42 /mnt/x /mnt/e --raw
	partly 5 fsquota project -s 42 nosuch /mnt/x
	partly 0 fsquota release /mnt/x/v
	printf '%s\n' "limit bsoft=7m 42 --at /mnt/x --at /mnt/e" "release /mnt/x/v/none" 'limit bsoft=5m bhard=4m 42 /mnt/x' |
		fsquota batch >"$BATS_TEST_TMPDIR/answers"
	prints '[6,5,2]' jq -cs 'map(.exit)' "$BATS_TEST_TMPDIR/answers"
}

# signalled CALL DONE UNDO COMMAND...: SIGINT comes at each of its calls of that number in turn. It ends the
# command, unless it came too late: with the last of three directories. Of those behind the one where it came
# none is done. DONE prints how many are, and UNDO makes it none.
signalled() {
	local count status=0 came=yes words=("${@:4}") out=$BATS_TEST_TMPDIR/out done_at_first
	words=("${words[@]// /$'\t'}")
	for ((count = 1; ; count++)); do
		eval "$3"
		: >"$out"
		read -r status came _ < <("${builddir:?}/tests/transaction/fail" \
			<<<"$1 $count signal=INT 60 $BATS_TEST_TMPDIR/in $out $BATS_TEST_TMPDIR/err ${words[*]}")
		[ "$came" = yes ] || break
		read -r number < <(eval "$2")
		[ "$count" != 1 ] || done_at_first=$number
		[ "$status" = 130 ] || [ "$status:$number" = 0:3 ] ||
			complain "${*:4}, at $count: status $status, $number done: $(<"$BATS_TEST_TMPDIR/err")"
	done
	[ "$count" -gt 3 ] && [ "$done_at_first" -lt 2 ] || complain "${*:4}: $count calls, at first $done_at_first"
}

# bats test_tags=full
@test "a signal ends what works on several directories, also behind the first" {
	local top=/mnt/x/v
	mkdir -p $top/{a,b,c}
	printf '%s hard=1M\n' $top/{a,b,c} >"$BATS_TEST_TMPDIR/in"
	local lines='wc -l </etc/projects' gone='fsquota release --if-exists /mnt/x/v/{a,b,c}'
	signalled 73 "$lines" "$gone" "$FSQUOTA" assign $top/{a,b,c} --hard 1M
	signalled 73 "$lines" "$gone" "$FSQUOTA" apply "$BATS_TEST_TMPDIR/in"
	signalled 73 'echo $((3 - $(wc -l </etc/projects)))' 'fsquota assign /mnt/x/v/{a,b,c} >/dev/null' "$FSQUOTA" release $top/{a,b,c}
	fsquota release $top/{a,b,c} --if-exists
	mkdir $top/{a,b,c}/sub
	printf '%s\n' 1:$top/a 2:$top/b 3:$top/c >/etc/projects
	# shellcheck disable=SC2016 # for eval
	lines='lsattr -pd /mnt/x/v/{a,b,c}/sub | grep -vc " 0 -"'
	gone='real -c "project -C -p /mnt/x/v/a -p /mnt/x/v/b -p /mnt/x/v/c 1" /mnt/x >/dev/null'
	signalled 217 "$lines" "$gone" "$FSQUOTA" project -s 1 2 3 --at /mnt/x
	signalled 217 "$lines" "$gone" "$FSQUOTA" -x -c 'project -s 1 2 3' /mnt/x
	# Of what only counts, the rows.
	mkdir -p /mnt/x/counted/{a,b,c}/sub
	lines='grep -c counted "$BATS_TEST_TMPDIR/out"'
	signalled 217 "$lines" : "$FSQUOTA" usage --fallback walk -N /mnt/x/counted/{a,b,c}
	no_complaints
}

making() {
	prints "$FIRST" fsquota assign $top/new --mkdir --mode 2750 --owner nobody:daemon --hard 10M
	assert_equal "$(stat -c '%a %U %G' $top/new)" "2750 nobody daemon"
	assert_equal "$(fsquota id $top/new)" $FIRST
	# Again: it is there, and stays as it is.
	chmod 755 $top/new
	run_split fsquota assign $top/new --mkdir --mode 700 --hard 20M
	assert_equal "$status:$stdout:$stderr" "0:$FIRST:fsquota assign: $top/new: was there, and keeps its owner and mode: chown(1) and chmod(1) change them"
	assert_equal "$(stat -c %a $top/new) $(hard_kib $FIRST)" "2755 20480"
	prints "would-assign project $((FIRST + 1)) (volume$((FIRST + 1))), $top/dry" fsquota assign $top/dry --mkdir --dry-run
	assert_not_exists $top/dry
	# What fails leaves no directory.
	refuses 2 "would be above hard" fsquota assign $top/no --mkdir --hard 1M --soft 2M
	assert_not_exists $top/no
	refuses 6 "that of $top/new" fsquota assign $top/no --mkdir --id $FIRST
	assert_not_exists $top/no
	exec 8</etc/projid
	flock 8
	refuses 1 "is locked" fsquota assign $top/locked --mkdir --lock-timeout 0
	exec 8<&-
	assert_not_exists $top/locked
	refuses 5 "cannot be made" fsquota assign $top/none/no --mkdir
	refuses 2 "--owner need --mkdir" fsquota assign $top/new --mode 700
	refuses 2 "no mode" fsquota assign $top/no --mkdir --mode 8
	refuses 2 "no user or group" fsquota assign $top/no --mkdir --owner nosuch
	assert_not_exists $top/no
}

@test "--mkdir makes the directory with its mode and owner, and takes it back when it fails" { on_each making; }

parts() {
	local size
	mkdir $top/{a,b}
	chmod 777 $top/{a,b}
	size=$(df --output=size -k /mnt/$fs | tail -1)
	prints "$FIRST" fsquota assign $top/a --hard 10% --soft 90%
	# Within a promille: the size that df shows is not that of all kernels.
	assert [ $(($(hard_kib $FIRST) * 10)) -ge $((size - size / 100)) ]
	assert [ $(($(hard_kib $FIRST) * 10)) -le $((size + size / 100)) ]
	succeeds fsquota assign $top/b --hard 1.5M --soft 0.5m
	assert_equal "$(kernel_has /mnt/$fs $((FIRST + 1)) | cut -d' ' -f2,3)" "512 1536"
	run_split fsquota assign $top/b --soft 50%
	assert_equal "$(kernel_has /mnt/$fs $((FIRST + 1)) | cut -d' ' -f2,3)" "768 1536"
	# Twice the same: the project's own limit is not taken for the size of the filesystem.
	run_split fsquota assign $top/a --hard 10%
	assert_equal "$(hard_kib $FIRST)" "$(($(kernel_has /mnt/$fs $FIRST | cut -d' ' -f3)))"
	assert [ $(($(hard_kib $FIRST) * 10)) -ge $((size - size / 100)) ]
	for wrong in 0% 101% % 1.5 1.G .5G 1.5.5G -1% 10%% 1e3M; do
		refuses 2 "$wrong" fsquota assign $top/a --hard "$wrong"
	done
	run_split fsquota assign $top/b --unlimited
	refuses 6 "no hard limit" fsquota assign $top/b --soft 50%
}

@test "limits as parts of the filesystem and of the hard limit, and with a point" { on_each parts; }

# resized ID: soft and hard, of space in KiB and of inodes
resized() { kernel_has /mnt/$fs "$1" | cut -d' ' -f 2,3,5,6; }

other_limits() {
	mkdir $top/a
	chmod 777 $top/a
	fsquota assign $top/a --hard 10M --soft 8M --hard-inodes 100 --soft-inodes 50
	run_split fsquota resize $top/a +5M
	assert_equal "$status:$stderr:$(resized $FIRST)" "0::13312 15360 50 100"
	run_split fsquota resize $top/a --soft 9M --hard-inodes 200
	assert_equal "$status:$stderr:$(resized $FIRST)" "0::9216 15360 50 200"
	run_split fsquota resize $top/a 20M --soft-inodes 150
	assert_equal "$status:$stderr:$(resized $FIRST)" "0::9216 20480 150 200"
	run_split fsquota resize $top/a 20M --json
	assert_equal "$(jq -c '.resize[0] | [.id, .hard_bytes, .changed]' <<<"$stdout")" "[$FIRST,20971520,false]"
	run_split fsquota resize $top/a +1M --json
	assert_equal "$(jq -c '.resize[0] | [.hard_bytes, .changed]' <<<"$stdout")" "[22020096,true]"
	run_split fsquota assign $top/a --json
	assert_equal "$(jq .assign[].changed <<<"$stdout")" false
	refuses 6 "smaller than the 200 inodes it has" fsquota resize $top/a --hard-inodes 100
	refuses 6 "smaller than the 21M (22020096 bytes) it has" fsquota resize $top/a 20M
	refuses 6 "would be above hard" fsquota resize $top/a --soft 30M
	refuses 2 "would be above hard" fsquota resize $top/a 20M --soft 30M
	refuses 2 "a size is wanted" fsquota resize $top/a
	refuses 2 "no size" fsquota resize $top/a --soft 50%
	refuses 2 "size" fsquota resize $top/a 0
	refuses 2 "size" fsquota resize $top/a +
	assert_equal "$(resized $FIRST)" "10240 21504 150 200"
	touch $top/a/{1..5}
	exits 0 fsquota resize $top/a --soft-inodes 3
	[[ $stderr == *"soft limit of inodes is below what is in use"* ]] || fail "$stderr"
	refuses 6 "smaller than the 6 inodes that are in use" fsquota resize $top/a --hard-inodes 5 --allow-shrink
	run_split fsquota resize $top/a --hard-inodes 6 --allow-shrink
	assert_equal "$status:$(resized $FIRST)" "0:10240 21504 3 6"
}

# bats test_tags=slow,full
@test "resize sets the other limits, too, and says whether it changed something" { on_each other_limits; }
