#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# Budgets: what hard limits may add up to, of a directory and of a filesystem.

load ../lib/fsquota

setup_file() { fresh_each x e f; }

setup() {
	rm -rf /etc/projects /etc/projid /etc/fsquota.conf* /etc/fsquota.d /mnt/{x,e,f}/home
	settle /mnt/x
	mkdir -p /mnt/{x,e,f}/home/{a,b,c,d}
}

teardown() {
	fsquota prune --all >/dev/null 2>&1 || true
	fsquota release /mnt/{x,e,f}/home/? --if-exists >/dev/null 2>&1 || true
	rm -rf /etc/fsquota.conf* /etc/fsquota.d
}

# hard DIR: its limit in MiB, as the kernel has it
hard() { echo $(($(kernel_has "$(stat -c %m "$1")" "$(fsquota id "$1")" | cut -d' ' -f3) / 1024)); }

# says "KEY VALUE"...: lines of fsquota.conf
says() { printf '%s\n' "$@" >/etc/fsquota.conf; }

@test "what does not fit in the budget of a directory is refused, and nothing is changed" {
	local fs home before
	for fs in x e f; do
		home=/mnt/$fs/home
		says "budget = $home 100M"
		succeeds fsquota assign $home/a --hard 60M
		before=$(cat /etc/projects /etc/projid)
		refuses 6 "the budget of $home is 100M (104857600 bytes), and 40M (41943040 bytes) are left" \
			fsquota assign $home/b --hard 41M
		refuses 6 "--force" fsquota assign --dry-run $home/b --hard 41M
		assert_equal "$(fsquota id $home/b) $(cat /etc/projects /etc/projid)" "0 $before"
		succeeds fsquota assign $home/b --hard 40M
		refuses 6 "and 0B (0 bytes) are left" fsquota resize $home/b +1M
		refuses 6 "--force" fsquota resize $home/a $home/b 61M
		assert_equal "$(hard $home/a) $(hard $home/b)" "60 40"
		# No promise: no limit, a soft one, one that shrinks or stays.
		succeeds fsquota assign $home/c
		succeeds fsquota assign $home/d --soft 1G
		succeeds fsquota assign $home/b --hard 40M --hard-inodes 1000
		succeeds fsquota resize $home/a 50M --allow-shrink
		succeeds fsquota resize $home/b +10M
		refuses 6 "the budget of" fsquota assign $home/c --like $home/b
		# Outside.
		mkdir -p /mnt/$fs/homes
		succeeds fsquota assign /mnt/$fs/homes --hard 150M
		fsquota release /mnt/$fs/homes $home/?
	done
}

@test "a part of the filesystem" {
	local fs size
	for fs in x e; do
		size=$(($(stat -f -c '%b * %S' /mnt/$fs) / 1048576))
		says "overcommit = 120%"
		succeeds fsquota assign /mnt/$fs/home/a --hard 100%
		refuses 6 "120% of the filesystem" fsquota assign /mnt/$fs/home/b --hard $((size / 5 + 2))M
		succeeds fsquota assign /mnt/$fs/home/b --hard $((size / 5 - 2))M
		# Also what is in no file counts, and another filesystem has its own.
		says "overcommit = /mnt/$fs 150%"
		real -c "limit -p bhard=$((size / 4))m 4711" /mnt/$fs
		refuses 6 "150% of the filesystem" fsquota assign /mnt/$fs/home/c --hard $((size / 10))M
		succeeds fsquota assign /mnt/f/home/a --hard 200M
		fsquota release --if-exists /mnt/f/home/a /mnt/$fs/home/?
		real -c "limit -p bhard=0 4711" /mnt/$fs
	done
}

@test "of many at once no two get the same room" {
	local fs home i sum
	for fs in x e; do
		home=/mnt/$fs/home
		mkdir $home/v{1..12}
		says "budget = $home 100M"
		for i in {1..12}; do
			fsquota assign $home/v$i --hard 30M >/dev/null 2>"$BATS_TEST_TMPDIR/$i" &
		done
		wait
		assert_equal "$(grep -lc 'does not fit' "$BATS_TEST_TMPDIR"/? "$BATS_TEST_TMPDIR"/1? | wc -l)" 9
		for i in $(seq "$(wc -l </etc/projects)"); do fsquota resize $home/v? $home/v1? --over 0 +5M & done >/dev/null 2>&1
		wait
		sum=$(fsquota list --raw -N -o HARD --bytes | awk '{ sum += $1 } END { print sum / 1048576 }')
		[ "$sum" -le 100 ]
		fsquota list --raw -N -o PATH | xargs fsquota release
	done
}

@test "a project counts once, and where one of its directories is" {
	says "budget = /mnt/x/home 100M" "budget = /mnt/x/home/c 30M"
	mkdir -p /mnt/x/out /mnt/x/home/c/{in,more}
	fsquota assign /mnt/x/home/a /mnt/x/home/b --name both --hard 60M >/dev/null
	succeeds fsquota assign /mnt/x/home/d --hard 30M
	# Which joins with its limit.
	fsquota assign /mnt/x/out --name far --hard 20M >/dev/null
	refuses 6 "the budget of /mnt/x/home is" fsquota assign /mnt/x/home/c/in --name far
	fsquota resize /mnt/x/home/d 20M --allow-shrink
	succeeds fsquota assign /mnt/x/home/c/in --name far
	refuses 6 "budget of /mnt/x/home is" fsquota resize --name far 21M
	# By its ID, too; and of the inner budget.
	fsquota release /mnt/x/home/d
	refuses 6 "budget of /mnt/x/home/c is 30M" fsquota resize --id "$(fsquota id /mnt/x/out)" --at /mnt/x 31M
	succeeds fsquota resize --name far 30M
	# A directory that is gone has its limit until prune.
	rm -r /mnt/x/home/[ab]
	refuses 6 "and 10M" fsquota assign --mkdir /mnt/x/home/d --hard 11M
	fsquota prune >/dev/null
	succeeds fsquota assign --mkdir /mnt/x/home/d --hard 70M
	fsquota release /mnt/x/out
}

@test "which directory it is, whatever its name, and only its filesystem" {
	ln -s /mnt/x/home /mnt/link
	mount --bind /mnt/e/home /mnt/x/home/b
	says "budget = /mnt/link/ 50M" "budget = /nowhere 1M" "budget = /etc/passwd 1M"
	refuses 6 "budget of /mnt/link is 50M" fsquota assign /mnt/x/home/a --hard 51M
	succeeds fsquota assign /mnt/x/home/b/c --hard 51M
	succeeds fsquota assign /mnt/x/home/a --hard 50M
	says "budget = /mnt/link 40M" "budget = /nowhere 1M"
	exits 8 fsquota check
	assert_equal "$stderr" ""
	assert_line --regexp ' 50M +40M +10M +0 /mnt/x +/mnt/link$'
	fsquota release /mnt/x/home/b/c
	umount /mnt/x/home/b
	rm /mnt/link
}

@test "a directory counts whatever mount, symlink or spelling of its path leads to it" {
	local fs top way here budget
	for fs in x e; do
		top=/mnt/$fs
		mkdir -p $top/out/in /run/{one,whole,home}
		ln -s home $top/link
		ln -s $top/home /run/far
		mount --bind $top/home/a /run/one
		mount --bind $top /run/whole
		mount --bind $top/home /run/home
		mount --bind $top/home $top/out/in
		while read -r budget way; do
			says "budget = $budget 10M"
			exits 0 fsquota assign $way --hard 8M
			refuses 6 "2M (2097152 bytes) are left" fsquota assign $top/home/b --hard 8M
			refuses 6 "2M (2097152 bytes) are left" fsquota assign /run/whole/home/b --hard 8M
			exits 0 fsquota assign $top/home/b --hard 8M --force
			run_split fsquota list --total --json
			assert_equal "$budget $way $(jq '.total[] | select(.path) | .excess_bytes' <<<"$stdout")" "$budget $way 6291456"
			fsquota release $way $top/home/b
		done <<-END
			$top/home /run/one
			$top/home /run/whole/home/a
			$top/home $top/out/in/a
			/run/home $top/home/a
			/run/whole/home /run/one
			$top/link /run/home/a
		END
		# As somebody has written it.
		says "budget = $top/home 10M"
		for way in $top/link/a /run/far/a $top/out/../home/a $top/./home//a /run/whole/link/a /run/far/../link/a; do
			succeeds fsquota assign $top/home/a --hard 8M
			here=$(</etc/projects)
			echo "${here%%:*}:$way" >/etc/projects
			refuses 6 "2M (2097152 bytes) are left" fsquota assign $top/home/b --hard 8M
			echo "$here" >/etc/projects
			fsquota release $top/home/a
		done
		# The whole filesystem elsewhere is not in it, nor is a dead end.
		succeeds fsquota assign /run/whole/out --hard 20M
		ln -s loop $top/loop
		echo "1:$top/loop/a" >>/etc/projects
		succeeds fsquota assign $top/home/b --hard 8M
		fsquota release $top/home/b $top/out
		umount /run/one /run/whole /run/home $top/out/in
		rm -r $top/{link,loop,out} /run/far
		: >/etc/projects
	done
}

@test "lines of fsquota.d, for assign and resize, too" {
	mkdir /etc/fsquota.d
	cat >/etc/fsquota.d/home.conf <<-'END'
		/mnt/x/home budget=100M
		/mnt/e overcommit=10% budget=90M
		/mnt/x/home/a hard=40M budget=40M
		/mnt/x/home/[bc] hard=30M
	END
	run_split fsquota apply --dry-run --json
	assert_equal "$status:$stderr:$(jq -c '[.apply[] | .action]' <<<"$stdout")" '0::["created","created","created"]'
	succeeds fsquota apply
	assert_equal "$(cut -d: -f2 /etc/projects | sort)" $'/mnt/x/home/a\n/mnt/x/home/b\n/mnt/x/home/c'
	refuses 6 "budget of /mnt/x/home is" fsquota assign /mnt/x/home/d --hard 1M
	fsquota resize /mnt/x/home/c 20M --allow-shrink
	refuses 6 "budget of /mnt/x/home/a is" fsquota resize /mnt/x/home/a 41M
	succeeds fsquota apply
	refuses 6 "budget of /mnt/e is 90M" fsquota assign /mnt/e/home/a --hard 91M
	refuses 6 "10% of the filesystem" fsquota assign /mnt/e/home --hard 11%
	# One too many.
	echo '/mnt/x/home/d hard=1M' >/etc/fsquota.d/more.conf
	exits 6 fsquota apply --dry-run
	run_split fsquota apply --json
	assert_equal "$status:$(jq -c '[.apply[] | select(.action == "failed") | .path]' <<<"$stdout")" '6:["/mnt/x/home/d"]'
	assert_equal "$(fsquota id /mnt/x/home/d)" 0
	run_split fsquota apply --force --json
	assert_equal "$status:$(jq -c '[.apply[] | select(.over_budget) | [.path, .over_budget]]' <<<"$stdout")" \
		'0:[["/mnt/x/home/d","/mnt/x/home"]]'
	# A line that says something else wrong is apply's.
	echo '/mnt/x/home/d hard=much' >/etc/fsquota.d/more.conf
	fsquota resize /mnt/x/home/a 30M --allow-shrink 2>/dev/null
	# Of other files those of /etc/fsquota.d count, too.
	exits 6 fsquota apply - <<<'/mnt/x/home/d hard=90M'
	fsquota release /mnt/x/home/?
}

@test "apply --dry-run counts with what it would have done" {
	says "budget = /mnt/x/home 100M" "overcommit = /mnt/e 50%"
	run_split fsquota apply --dry-run --json - <<-'END'
		/mnt/x/home/a hard=60M
		/mnt/x/home/b hard=60M
		/mnt/x/home/c hard=40M
		/mnt/e/home/a hard=300M
		/mnt/e/home/b hard=300M
	END
	assert_equal "$status:$(jq -c '[.apply[] | .action]' <<<"$stdout")" \
		'6:["created","failed","created","created","failed"]'
	exits 6 fsquota assign --dry-run /mnt/x/home/{a,b} --hard 51M
	assert [ ! -e /etc/projects ]
}

@test "apply --watch says once what does not fit, and gives it when there is room" {
	mkdir /etc/fsquota.d
	printf '%s\n' '/mnt/x/home budget=100M' '/mnt/x/home/* hard=30M' >/etc/fsquota.d/home.conf
	fsquota apply --watch >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" &
	until_true grep -q '/mnt/x/home/d' "$BATS_TEST_TMPDIR/err"
	assert_equal "$(grep -c "does not fit" "$BATS_TEST_TMPDIR/err")" 1
	mkdir /mnt/x/home/e
	until_true grep -q '/mnt/x/home/e: ' "$BATS_TEST_TMPDIR/err"
	assert_equal "$(grep -c "does not fit" "$BATS_TEST_TMPDIR/err")" 2
	printf '%s\n' '/mnt/x/home budget=150M' '/mnt/x/home/* hard=30M' >/etc/fsquota.d/home.conf
	until_true grep -q ':/mnt/x/home/e' /etc/projects
	kill $!
	wait $! || true
	fsquota release /mnt/x/home/?
}

@test "list --total, check, metrics and doctor show how it stands" {
	says "budget = /mnt/x/home 100M" "overcommit = /mnt/e 10%"
	fsquota assign /mnt/x/home/a --hard 60M >/dev/null
	fsquota assign /mnt/x/home/b >/dev/null
	fallocate -l 8M /mnt/x/home/a/file
	fallocate -l 4M /mnt/x/home/b/file
	run_split fsquota list --total --json
	assert_equal "$(jq -c '.total[] | select(.budget_bytes) | [.path, .mountpoint, .hard_bytes, .excess_bytes, .unlimited_projects]' <<<"$stdout")" \
		'[null,"/mnt/e",0,0,0]
["/mnt/x/home","/mnt/x",62914560,0,1]'
	assert_equal "$(jq -c '.total[] | select(.path) | [.budget_bytes, .used_bytes]' <<<"$stdout")" '[104857600,12582912]'
	is_silent fsquota check
	is_silent fsquota doctor -q /mnt/x
	run_split fsquota assign /mnt/x/home/c --hard 50M --force --json
	assert_equal "$status:$(jq -r '.assign[0].over_budget' <<<"$stdout"):$stderr" \
		'0:/mnt/x/home:{"warning":{"errno":null,"path":"/mnt/x/home/c","message":"the limits are above the budget of /mnt/x/home now"}}'
	run_split fsquota resize /mnt/x/home/c 60M --force --json
	assert_equal "$status:$(jq -r ".resize[0].over_budget" <<<"$stdout")" 0:/mnt/x/home
	run_split fsquota resize --id "$(fsquota id /mnt/x/home/c)" --at /mnt/x 61M --force --json
	assert_equal "$status:$(jq -r ".resize[0].over_budget" <<<"$stdout")" 0:/mnt/x/home
	run_split fsquota assign /mnt/e/home/a --hard 20% --force --json
	assert_equal "$status:$(jq -r '.assign[0].over_budget' <<<"$stdout")" 0:/mnt/e
	exits 8 fsquota check
	assert_line --index 0 --regexp '^ *SIZE '
	assert_line --regexp '12M +121M +100M +21M +1 /mnt/x +/mnt/x/home'
	assert_line --regexp ' /mnt/e +-$'
	exits 8 fsquota check -q
	is_silent fsquota check /mnt/x/home/a
	exits 8 fsquota check -q /mnt/x/home
	run_split fsquota check --json /mnt/x
	assert_equal "$(jq -c '[.check, (.total[] | [.path, .excess_bytes])]' <<<"$stdout")" '[[],["/mnt/x/home",22020096]]'
	run_split fsquota metrics
	assert_line 'fsquota_budget_bytes{path="/mnt/x/home",filesystem="'"$FSQ_X_DEV"'",mountpoint="/mnt/x"} 104857600'
	assert_line 'fsquota_budget_hard_limits_bytes{path="/mnt/x/home",filesystem="'"$FSQ_X_DEV"'",mountpoint="/mnt/x"} 126877696'
	assert_line 'fsquota_budget_used_bytes{path="/mnt/x/home",filesystem="'"$FSQ_X_DEV"'",mountpoint="/mnt/x"} 12582912'
	assert_line --regexp '^fsquota_budget_bytes\{path="",filesystem="'"$FSQ_E_DEV"'",mountpoint="/mnt/e"\} [0-9]+$'
	run_split fsquota doctor -q
	assert_line "note    /mnt/x/home: hard limits add up to 126877696 bytes, and the budget is 104857600 bytes: see fsquota list --total"
	assert_line --regexp '^note +/mnt/e: hard limits add up to'
	run_split fsquota doctor -q /mnt/x
	refute_line --partial "/mnt/e: hard limits"
	# Nothing of it where there is no budget.
	rm /etc/fsquota.conf
	run_split fsquota metrics
	refute_line --partial fsquota_budget
	is_silent fsquota check
	run_split fsquota list --total --json
	assert_equal "$(jq -c '.total[0] | has("budget_bytes")' <<<"$stdout")" false
	fsquota release /mnt/x/home/{a,b,c} /mnt/e/home/a
}

@test "a budget in a later file of fsquota.conf.d replaces that of its directory, and two in one file both apply" {
	mkdir -p /etc/fsquota.conf.d /mnt/x/home/{a,b,c}
	says 'budget = /mnt/x/home 1M' 'budget = /mnt/x/home/c 5M' 'overcommit = 1%' 'overcommit = /mnt/x 1%'
	refuses 6 'the budget of /mnt/x/home is 1M' fsquota assign /mnt/x/home/a --hard 20M
	printf '%s\n' 'budget = /mnt/x/home/ 50M' 'budget = /mnt/x/home 40M' 'overcommit = 100%' >/etc/fsquota.conf.d/1.conf
	refuses 6 '1%' fsquota assign /mnt/x/home/a --hard 20M
	echo 'overcommit = /mnt/x 99%' >/etc/fsquota.conf.d/2.conf
	succeeds fsquota assign /mnt/x/home/a --hard 20M
	refuses 6 'the budget of /mnt/x/home is 40M' fsquota assign /mnt/x/home/b --hard 25M
	refuses 6 'the budget of /mnt/x/home/c is 5M' fsquota assign /mnt/x/home/c --hard 6M
	# One of fsquota.d counts beside it.
	mkdir /etc/fsquota.d
	echo '/mnt/x/home budget=30M' >/etc/fsquota.d/1.conf
	refuses 6 'the budget of /mnt/x/home is 30M' fsquota assign /mnt/x/home/b --hard 15M
}

@test "wrong words" {
	local line
	for line in 'budget = 1T' 'budget = /home' 'budget = home 1T' 'budget = /home 1T much' 'budget = /home -1' \
		'overcommit = 120' 'overcommit = 0%' 'overcommit = 10001%' 'overcommit = srv 120%' 'overcommit = /srv' \
		'overcommit = 99999999999999999999%'; do
		says "$line"
		refuses 2 "fsquota.conf, line 1" fsquota assign /mnt/x/home/a --hard 1M
		refuses 2 "fsquota.conf, line 1" fsquota check
	done
	rm /etc/fsquota.conf
	mkdir /etc/fsquota.d
	for line in '/mnt/x/home budget=' '/mnt/x/home budget' '/mnt/x/home budget=some budget=1M' '/mnt/x/home overcommit=120' \
		'/mnt/x/* budget=1M' 'home budget=1M' '"/mnt/x/home budget=1M'; do
		echo "$line" >/etc/fsquota.d/x.conf
		refuses 2 "x.conf, line 1" fsquota assign /mnt/x/home/a --hard 1M
		refuses 2 "x.conf, line 1" fsquota apply
	done
	assert [ ! -e /etc/projects ]
}

@test "sums that are larger than any number, and files that only root can read" {
	mkdir -p /mnt/x/home/{a,b}/{1..41}
	# 82 of them are more than 2^64 bytes.
	says "budget = /mnt/x/home 100P"
	fsquota assign /mnt/x/home/{a,b}/* --hard 200P --force >/dev/null 2>"$BATS_TEST_TMPDIR/err" || fail "$(head -2 "$BATS_TEST_TMPDIR/err")"
	refuses 6 "and 0B (0 bytes) are left" fsquota assign /mnt/x/home/c --hard 1P
	assert_equal "$(wc -l </etc/projects)" 82
	fsquota release /mnt/x/home/{a,b}/*
	mkdir -m 700 /etc/fsquota.d
	echo '/mnt/x/home budget=much' >/etc/fsquota.d/x.conf
	as_user "$FSQUOTA" list /mnt/x --projects-file /dev/null || [ $? = 4 ]
	chmod 755 /etc/fsquota.d
	chmod 600 /etc/fsquota.d/x.conf
	run as_user "$FSQUOTA" list /mnt/x
	refute_output --partial x.conf
	refuses 2 "x.conf, line 1" fsquota list /mnt/x
}

@test "without the files, and in batch" {
	says "budget = /mnt/x/home 100M"
	refuses 6 "does not fit" fsquota assign --no-register /mnt/x/home/a --hard 101M
	run_split fsquota batch <<<'assign --hard 60M /mnt/x/home/a
assign --hard 60M /mnt/x/home/b
assign --hard 40M /mnt/x/home/c'
	assert_equal "$(jq -c .exit <<<"$stdout" | tr '\n' ' ')" "0 6 0 "
	fsquota release /mnt/x/home/{a,c}
}
