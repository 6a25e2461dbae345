#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# resize --until: limits go back when their time is over.

load ../lib/fsquota

until_file=/var/lib/fsquota/until timers=/etc/systemd/system/timers.target.wants

# The timer that puts them back is enabled.
setup() {
	mkdir -p $timers
	ln -sf /dev/null $timers/fsquota-until.timer
	rm -rf /etc/projects /etc/projid /etc/fsquota.d $until_file
	fresh_each x e
}

teardown() {
	rm -rf /etc/fsquota.d $until_file $timers/fsquota-until.timer
}

# has KIB...: the hard limits of the projects 7 and 8.
has() {
	local id=7 limit
	for limit; do
		assert_equal "$id $(kernel_has "$top" $id | cut -d' ' -f3)" "$id $limit"
		id=$((id + 1))
	done
}

on_each() {
	local fs top
	for fs in x e; do
		top=/mnt/$fs
		rm -f /etc/projects /etc/projid $until_file
		mkdir $top/a $top/b
		fsquota assign $top/a --id 7 --hard 1000K >/dev/null
		fsquota assign $top/b --id 8 --hard 1000K >/dev/null
		"$@"
	done
}

# The time of each line is over.
pass() { sed -i 's,:/[0-9]*\,,:/1\,,' $until_file; }

goes_back() {
	is_silent fsquota resize $top/a +5M --until 3d
	is_silent fsquota resize $top/b 2000K --until '2100-01-01 08:00'
	assert_equal "$(wc -l <$until_file)" 2
	is_silent fsquota resize --due
	has 6120 2000
	run -0 fsquota list --noheadings --output ID,UNTIL $top
	assert_line --regexp "^ *8 2100-01-01 08:00$"
	run -0 jq -c '.list | map(has("until"))' <(fsquota list --json $top)
	assert_output '[true,true]'
	local at command
	at=$(date -u -d '2100-01-01 08:00' +%FT%T).000Z
	mkdir $top/b/deep
	run -0 fsquota export $top
	assert_line "$top/b hard=1000K"
	for command in "usage $top/b" "usage $top/b/deep" "usage --id 8 --at $top" "check --over 0 $top/b"; do
		# shellcheck disable=SC2086 # words
		assert_equal "$command: $(fsquota $command --raw -No ID,UNTIL)" "$command: 8 $at"
		# shellcheck disable=SC2086 # words
		assert_equal "$command: $(fsquota $command --json | jq -r '.[][0].until')" "$command: $at"
	done
	run -0 as_user fsquota usage --json $top/b
	assert_equal "$(jq -c '.usage[0] | [.id, .until]' <<<"$output")" '[8,null]'
	pass
	# Also below what is in use.
	dd if=/dev/zero of=$top/a/file bs=1k count=2000 conv=fsync 2>/dev/null
	succeeds fsquota resize --due --dry-run
	assert_line --regexp "^would-change project 7.*, $top/a: hard 6M -> 1000K$"
	has 6120 2000
	is_silent fsquota resize --due
	has 1000 1000
	assert [ ! -s $until_file ]
	run -0 jq -c '.usage | map(has("until"))' <(fsquota usage --json $top/a)
	assert_output '[false]'
	run -0 jq -c '.list | map(has("until"))' <(fsquota list --json $top)
	assert_output '[false,false]'
	# A second time goes back to where the first began.
	is_silent fsquota resize $top/b 2M --until 1d
	is_silent fsquota resize $top/b +1M --until 2d
	has 1000 3072
	assert_equal "$(wc -l <$until_file)" 1
	pass
	is_silent fsquota resize --due
	has 1000 1000
}

@test "limits go back when their time is over, on XFS and ext4" { on_each goes_back; }

others_decide() {
	fsquota resize $top/a 2M --until 1d
	real -c "limit -p bhard=3m 7" $top
	fsquota resize $top/b 2M --until 1d
	pass
	run_split fsquota resize $top/b 2M
	assert_equal "$status:$stdout:$stderr" \
		"0::fsquota resize: $top/b: the limits do not go back on 1970-01-01 00:00 any more"
	assert [ "$(wc -l <$until_file)" = 1 ]
	run_split fsquota resize --due
	assert_equal "$status:$stdout:$stderr" \
		"0::fsquota resize: $top/a: its limits do not go back: it has other limits meanwhile"
	has 3072 2048
	assert [ ! -s $until_file ]
	# What is released, moved or gone.
	fsquota resize $top/a 4M --until 1d
	fsquota move --rename $top/a $top/moved
	fsquota resize $top/b 4M --until 1d
	fsquota release $top/b
	assert_equal "$(cut -d, -f2- $until_file | cut -d/ -f2-)" "${top#/}/moved"
	mv $top/moved $top/hidden
	pass
	is_silent fsquota resize --due
	assert [ -s $until_file ]
	mv $top/hidden $top/moved
	is_silent fsquota resize --due
	has 3072
	fsquota resize $top/moved 5M --until 1d
	rm -r $top/moved
	fsquota prune $top >/dev/null
	pass
	run_split fsquota resize --due
	assert_equal "$status:$stdout:$stderr" \
		"0::fsquota resize: $top/moved: its limits do not go back: it is gone"
	assert [ ! -s $until_file ]
}

@test "limits that somebody sets meanwhile stay, and the directory may move or go" { on_each others_decide; }

@test "a day of the week or a time of day that is over today is the next one" {
	local day
	top=/mnt/x
	mkdir $top/a
	fsquota assign $top/a --id 7 --hard 1000K >/dev/null
	# goes_back_at WHEN DATE
	goes_back_at() {
		is_silent fsquota resize $top/a +1K --until "$1"
		fsquota list --noheadings --output UNTIL $top | grep -q "^ *$(date -u -d "$2" "+%F %R")$" || fail "$1: $(fsquota list $top)"
	}
	day=$(date +%A)
	goes_back_at "$day" '7 days 0:00'
	goes_back_at "${day:0:3} 0:00" '7 days 0:00'
	goes_back_at "${day,,} 12am" '7 days 0:00'
	goes_back_at 0:00 '1 day 0:00'
	goes_back_at 12am '1 day 0:00'
	goes_back_at "$(date -d '2 days' +%A) 8:00" '2 days 8:00'
	for when in "$day last week" today '0:00 yesterday'; do
		refuses 2 'not in the future' fsquota resize $top/a +1K --until "$when"
	done
}

@test "who looks at a terminal is told when the limits go back, and everybody what has to run for that" {
	local resize="fsquota resize /mnt/x/a +1K --until '2100-01-01 08:00'"
	mkdir /mnt/x/a
	fsquota assign /mnt/x/a --id 7 --hard 1000K >/dev/null
	run -0 script -qec "$resize" /dev/null
	assert_output $'fsquota resize: /mnt/x/a: the limits go back on 2100-01-01 08:00\r'
	rm $timers/fsquota-until.timer
	run_split fsquota resize /mnt/x/a +1K --until '2100-01-01 08:00'
	assert_equal "$status:$stdout:$stderr" '0::fsquota resize: /mnt/x/a: the limits go back on 2100-01-01 08:00, but only with systemctl enable --now fsquota-until.timer'
	run fsquota doctor --quiet /mnt/x
	refute_output --partial 'go back'
	mkdir /mnt/x/like
	run -0 fsquota assign --like /mnt/x/a /mnt/x/like
	assert_line 'fsquota assign: /mnt/x/a: its limits go back on 2100-01-01 08:00, the copied ones stay'
	pass
	run fsquota doctor --quiet /mnt/e
	refute_output --partial 'go back'
	run fsquota doctor --quiet /mnt/x
	assert_line --partial 'note    /mnt/x/a: its limits were to go back on 1970-01-01 00:00, as resize --until said: is fsquota-until.timer enabled?; repair: fsquota resize --due'
	is_silent fsquota resize --due
	run fsquota doctor --quiet /mnt/x
	refute_output --partial 'go back'
}

limits_that_stay() {
	local command
	fsquota resize $top/a 5M
	fsquota dump $top >"$BATS_TEST_TMPDIR/dump"
	for command in "limit -p bhard=4m 7 $top" "restore -f $BATS_TEST_TMPDIR/dump $top" "resize $top/a +1K" "assign $top/a --hard 2000K"; do
		fsquota resize $top/a 1M --allow-shrink --until "2100-01-01 08:00"
		run -0 fsquota apply - <<<"$top/a hard=3M"
		assert_output --regexp "^unchanged +$top/a, whose limits go back on 2100-01-01 08:00$"
		# shellcheck disable=SC2086
		run_split fsquota $command
		assert_equal "$status:$stderr" "0:fsquota ${command%% *}: $top/a: the limits do not go back on 2100-01-01 08:00 any more"
		run -0 cat $until_file
		refute_output --partial ":/"
	done
	fsquota resize $top/a 3M --allow-shrink --until '2100-01-01 08:00'
	for command in "list $top" "usage $top/a"; do
		# shellcheck disable=SC2086
		run -0 fsquota $command
		assert_line --regexp ' UNTIL$'
		assert_line --regexp ' 2100-01-01 08:00'
	done
	run_split fsquota dump $top
	assert_equal "$stderr" "fsquota dump: $top/a: its limits go back on 2100-01-01 08:00, and the dump has those of now; fsquota export has those that last"
	# They are back already.
	run_split fsquota resize $top/a 2000K --allow-shrink
	assert_equal "$status:$stderr" 0:
}

ends_now() {
	fsquota assign $top/a --soft 1M --hard 2M
	fsquota resize $top/a --soft 3M --hard 4M --until 3d 2>/dev/null
	prints "would-change project 7 (volume7), $top/a: soft 3M -> 1M, hard 4M -> 2M" fsquota resize $top/a --until now --dry-run
	is_silent fsquota resize $top/a --until now
	assert_equal "$(kernel_has $top 7 | cut -d" " -f2,3)" "1024 2048"
	refuses 5 "$top/a: has no limits that go back" fsquota resize $top/a --until now
	refuses 5 "belongs to no project" fsquota resize $top --until now
	refuses 2 '--until now goes with one directory' fsquota resize $top/a $top/b --until now
}

@test "--until now puts limits back before their time, the soft one, too" { on_each ends_now; }

@test "who sets limits that stay is told that they do not go back" { on_each limits_that_stay; }

@test "a time that is none, or is over, changes nothing" {
	local when
	top=/mnt/x
	mkdir $top/a
	fsquota assign $top/a --id 7 --hard 1000K >/dev/null
	for when in nonsense '' 0 '2001-01-01' '--version' '-3d'; do
		run_split fsquota resize $top/a 2M "--until=$when"
		assert_equal "$status:$(wc -l <<<"$stderr")" 2:1
	done
	PATH=$(dirname "$FSQUOTA") run_split "$FSQUOTA" resize $top/a 2M --until 'monday 8:00'
	assert_equal "$status" 1
	refuses 2 'with one directory' fsquota resize $top/a $top/b 2M --until 3d
	refuses 2 'with no directory' fsquota resize --due $top/a
	has 1000
	# A line without its change, as after a kill, and one that cannot be written.
	fsquota resize $top/a 2M --until 1d
	cp $until_file $BATS_TEST_TMPDIR/line
	fsquota resize $top/a 1000K --allow-shrink
	cat $BATS_TEST_TMPDIR/line >$until_file
	pass
	is_silent fsquota resize --due
	assert [ ! -s $until_file ]
	rm $until_file
	mkdir $until_file
	run_split fsquota resize $top/a 2M --until 1d
	assert_equal "$status" 1
	rmdir $until_file
	has 1000
}

@test "apply leaves limits alone until their time is over" {
	top=/mnt/x
	mkdir /etc/fsquota.d
	echo "$top/a hard=1000K id=7 mkdir" >/etc/fsquota.d/a.conf
	fsquota apply >/dev/null
	is_silent fsquota resize $top/a 2M --until 1d
	run -0 fsquota apply --diff
	assert_output --regexp "^unchanged  *$top/a, whose limits go back on [0-9]*-[0-9-]* [0-9:]*$"
	has 2048
	pass
	fsquota apply >/dev/null
	has 1000
	is_silent fsquota resize --due
	has 1000
}
