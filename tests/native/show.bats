#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# Who uses how much: list and usage choose, sort and add up. projects.bash has what there is.

load ../lib/fsquota
load projects

# shows IDS WORD...: the IDs that list shows with these, in its order; ids sets output to them.
shows() {
	ids "${@:2}"
	assert_equal "${*:2}: $output" "${*:2}: $1 "
}

ids() {
	run_split fsquota list --raw -No ID "$@"
	assert_equal "$*: $status$stderr" "$*: 0"
	output=$(tr '\n' ' ' <<<"$stdout")
}

@test "without the names that cannot be read all rows are there, and the status says it" {
	local rows
	ids /mnt/x
	rows=$output
	rm /etc/projid
	mkdir /etc/projid
	run_split fsquota list --raw -No ID,NAME /mnt/x
	rmdir /etc/projid
	assert_equal "$status:$stderr" "1:fsquota list: cannot read /etc/projid: Is a directory"
	assert_equal "$(tr '\n' ' ' <<<"$stdout" | tr -s ' ')" "$rows"
}

@test "GRACE says how much of the grace time is left, and nothing where none runs" {
	run_split fsquota usage -No GRACE,IGRACE /mnt/x/web
	assert_output --regexp '^ *(6h|5h[0-9]+m) *$'
	prints "" fsquota usage --raw -No GRACE /mnt/x/logs
	run_split fsquota list --raw -No ID,GRACE /mnt/x
	assert_line --regexp '^42 (6h|5h[0-9]+m)$'
	assert_line '43 '
}

@test "JSON has the grace times in seconds, and so have columns with --bytes" {
	run -0 jq -c '.list[] | [.id, .bytes_grace_seconds > 18000, .inodes_grace_seconds]' \
		<(fsquota list --json /mnt/x)
	assert_output $'[42,true,null]\n[43,false,null]\n[44,false,null]\n[45,false,null]'
	prints true jq -c '.usage[] | .bytes_grace_seconds > 18000 and .bytes_grace_seconds <= 21600' \
		<(fsquota usage --json /mnt/x/web)
	run_split fsquota usage --raw --bytes -No GRACE /mnt/x/web
	[[ $stdout -gt 18000 && $stdout -le 21600 ]] || fail "$stdout"
}

@test "GRACE of a time that is over is expired, and 0 seconds" {
	local fs
	for fs in x e; do
		real -c 'timer -p -b 1s' -c 'limit -p bsoft=1m bhard=2m 61' /mnt/$fs
		mkdir -p /mnt/$fs/late
		own 61 /mnt/$fs/late $fs
		fallocate -l 1500k /mnt/$fs/late/file
		sync -f /mnt/$fs
		for _ in {1..1000}; do
			run_split fsquota usage --raw -No GRACE /mnt/$fs/late
			[ "$stdout" != expired ] || break
			sleep 0.1
		done
		assert_output expired
		assert_equal "$(fsquota usage --json /mnt/$fs/late | jq '.usage[0].bytes_grace_seconds')" 0
		rm -r /mnt/$fs/late
		real -c 'timer -p -b 6h' -c 'limit -p bsoft=0 bhard=0 61' /mnt/$fs
	done
}

@test "a project whose directory nobody knows has PATH - and null" {
	run_split fsquota list --raw -No ID,PATH /mnt/x
	assert_line "45 -"
	assert_line "42 /mnt/x/web"
	run -0 jq -c '.list[] | select(.id == 45) | [.path, .directories, .name]' <(fsquota list --json /mnt/x)
	assert_output '[null,[],"alone"]'
}

@test "--sort has the largest amount first and goes by any column in both directions, what has no value last" {
	local sorted
	for sorted in "id 42 43 44 45" "+id 42 43 44 45" "-id 45 44 43 42" "used 42 44 43 45" "+used 45 43 44 42" "-used,name 42 44 43 45" "-USE% 44 42 43 45" "use% 44 42 43 45" \
		"path 43 44 42 45" "name 45 43 42 44" "-name 42 43 45 44" "soft,-id 42 45 44 43" \
		"hard,id 45 43 42 44" "+hard 44 42 43 45" "grace,iused,id 42 43 44 45" "path,-id 43 44 42 45" \
		"use 42 44 43 45" "+use 45 43 44 42" "percent 44 42 43 45" "+Percent 45 43 42 44"; do
		shows "${sorted#* }" --sort "${sorted%% *}" /mnt/x
	done
	assert_equal "$(fsquota top --batch 1 --sort id --raw -No ID /mnt/x | xargs)" "42 43 44 45"
	refuses 2 '"size"' fsquota list --sort size /mnt/x
	refuses 2 '""' fsquota list --sort used, /mnt/x
	refuses 2 '"+"' fsquota list --sort + /mnt/x
	refuses 2 '"--used"' fsquota usage --sort=--used /mnt/x/web
}

@test "--sort goes over filesystems, and decides by the next column where one is equal" {
	run_split fsquota list --raw -No ID,MOUNTPOINT --sort id,-mountpoint /mnt/x /mnt/e
	assert_line --index 0 "42 /mnt/x"
	assert_line --index 1 "42 /mnt/e"
	assert_line --index 7 "45 /mnt/e"
}

@test "usage sorts, too, also JSON" {
	prints '[42,44,43]' jq -c '[.usage[] | .id]' \
		<(fsquota usage --json --sort -used /mnt/x/logs /mnt/x/web /mnt/x/nested/a)
	prints $'/mnt/e/web\n/mnt/e/logs' fsquota usage --raw -No PATH --sort id /mnt/e/logs /mnt/e/web
}

@test "--over shows what uses so much of its limit, or more" {
	shows "42 44" --over 50 /mnt/x
	shows 44 --over 90% /mnt/x
	shows "42 43 44 45" --over 0 /mnt/x
	shows "" --over 100.1 /mnt/x
	prints 42 fsquota usage --raw -No ID --over 40 /mnt/x/web /mnt/x/logs
	assert_equal "$(fsquota list --json --over 200 /mnt/x)" '{"list":[]}'
}

@test "--over refuses what is no percentage" {
	local word
	for word in x '' -1 nan 0x10 1e3 '90 ' 90%% inf .; do
		refuses 2 "\"$word\"" fsquota list "--over=$word" /mnt/x
	done
}

@test "list of a directory shows what is registered there and below" {
	shows 44 /mnt/x/nested
	shows 44 /mnt/x/nested/a/
	shows 42 /mnt/x/web
	shows "" /mnt/x/none
	shows "43 44" /mnt/x/nested /mnt/x/logs
	prints "[\"/mnt/x/web2\"]" jq -c '.list[].directories' <(fsquota list --json /mnt/x/web2)
}

@test "list of a mount point or a device shows all, once" {
	shows "42 43 44 45" /mnt/x
	shows "42 43 44 45" "$FSQ_E_DEV"
	shows "42 43 44 45" /mnt/x /mnt/x/web "$FSQ_X_DEV" /mnt/x/
	mount --bind /mnt/x/nested /mnt/x/none
	ids /mnt/x/none
	umount /mnt/x/none
	assert_output "42 43 44 45 "
}

@test "list follows a symlink and finds what is registered by one" {
	ln -s nested /mnt/x/link
	shows 44 /mnt/x/link
	echo 44:/mnt/x/link/a >/etc/projects
	ids /mnt/x/link
	rm /mnt/x/link
	assert_output "44 "
}

@test "list of a file is an error" {
	# Whether there is quota where the file is, nobody wants to know.
	run_split fsquota list --raw -No ID /etc/projects /mnt/e/web
	assert_equal "$status $stdout" '2 42'
	assert_equal "$stderr" 'fsquota list: /etc/projects: is neither a directory nor a device'
}

@test "what is in no project is a row of list, top, report and the page, and once in the sum of each" {
	local m none
	for m in /mnt/x /mnt/e; do
		none=$(fsquota quota --csv -N --output USED 0 $m)
		run -0 fsquota list --bytes -o ID,NAME,USED,PATH $m
		assert_line --regexp "^ *0 \\(no project\\) +$none +$m\$"
		run -0 fsquota list -N -o ID,NAME --total $m
		assert_line --regexp '^ *0 \(no project\)'
		run -0 fsquota report -N --output ID,NAME -p $m
		assert_line --regexp '^ *0 \(no project\)'
		run -0 fsquota report --html - $m
		assert_line --regexp "data-used=$none><td>$m<td>\\(no project\\)<td class=\"n\">0<"
		run -0 fsquota top --batch 1 --json $m
		assert_equal "$(jq -c 'select(.kind == "no-project") | [.id, .name, .path, .used_bytes, .mountpoint]' <<<"$output")" \
			"[null,null,null,$none,\"$m\"]"
		# What programs read has it where they ask for it.
		assert_equal "$(fsquota list --json --total $m | jq -c '.list | map(select(.id == 0)) | map([.name, .used_bytes])')" "[[null,$none]]"
		assert_equal "$(fsquota list --json $m | jq -c '.list | map(select(.id == 0))')" '[]'
		# It is one of the filesystem, not of a directory.
		refute_regex "$(fsquota list $m/web; fsquota top --batch 1 $m/web)" 'no project'
	done
}

@test "list --total has a row of what belongs to no project" {
	local fs used
	for fs in x e f; do
		used=$(real -c 'quota -p -N -v -n 0' /mnt/$fs | awk '{ print $2 * 1024 }')
		run -0 jq -c '.list[0] | [.id, .path, .used_bytes, .directories]' <(fsquota list --total --json /mnt/$fs)
		assert_output "[0,null,$used,[]]"
		ids --total /mnt/$fs/nested
		assert_regex "$output" "^0 44 "
	done
}

@test "list --total adds up the hard limits beside the size and use of the filesystem" {
	local size used sum=$(((10 + 100 + 4 + 1024) * 1024 * 1024))
	read -r size used < <(df -B1 --output=size,used /mnt/x | tail -1)
	run -0 jq -c '.total[] | [.size_bytes, .used_bytes, .hard_bytes, .excess_bytes, .mountpoint]' \
		<(fsquota list --total --json /mnt/x)
	assert_output "[$size,$used,$sum,$((sum > size ? sum - size : 0)),\"/mnt/x\"]"
	[ "$sum" -gt "$(df -B1 --output=size /mnt/x | tail -1)" ] || fail "the limits fit on /mnt/x"
}

@test "list --total of limits whose sum is too large has the largest number" {
	local id limits=()
	for id in {501..566}; do limits+=(-c "limit -p bhard=255p $id"); done
	real "${limits[@]}" /mnt/x
	run -0 fsquota list --total --json /mnt/x
	real "${limits[@]/255p/0}" /mnt/x
	assert_line --partial '"hard_bytes":18446744073709551614,'
}

@test "list --total says how many have no hard limit, and prints a second table" {
	real -c 'limit -p bsoft=1m 46' /mnt/x
	run -0 jq -c '.total | map([.mountpoint, .unlimited_projects])' <(fsquota list --total --json /mnt/x /mnt/e)
	real -c 'limit -p bsoft=0 46' /mnt/x
	assert_output '[["/mnt/x",1],["/mnt/e",0]]'
	run_split fsquota list --total /mnt/e
	assert_line --regexp '^ *0 .* /mnt/e +/mnt/e$'
	assert_line --regexp '^SIZE +USED +LIMITS +EXCESS +UNLIMITED +MOUNTPOINT$'
	run_split fsquota list --total -P --bytes /mnt/e
	assert_line --regexp "^FSQUOTA_SIZE=\"[0-9]+\" FSQUOTA_USED=\"[0-9]+\" FSQUOTA_LIMITS=\"$((1138 * 1048576))\" FSQUOTA_EXCESS=\"[0-9]+\" FSQUOTA_UNLIMITED=\"0\" FSQUOTA_MOUNTPOINT=\"/mnt/e\"$"
}

RED=$'\e[31m' YELLOW=$'\e[33m' RESET=$'\e[39m'

# on_terminal WORD...: what fsquota prints there, in output and lines.
on_terminal() { run -0 env -u NO_COLOR TERM=linux script -qec "fsquota $*" /dev/null; }

@test "on a terminal what is at a limit is red, and yellow what is near it" {
	on_terminal list --sort ID -o ID,USE%,GRACE /mnt/x
	assert_line --index 1 --regexp "^42  50% +${YELLOW//[/\\[} *[56]h[0-9m]*${RESET//[/\\[}"
	assert_line --index 2 --regexp '^43 +1% *.?$'
	assert_line --index 3 --partial "44 ${RED}100%$RESET"
	on_terminal usage -o USE%,PATH /mnt/x/nested/a
	assert_output --partial "${RED}100%$RESET"
}

@test "there are colours on a terminal only, and where nobody minds" {
	local words
	run_split env TERM=linux fsquota list /mnt/x
	refute_output --partial $'\e'
	for words in --color=never --raw --json; do
		on_terminal list $words /mnt/x
		refute_output --partial $'\e'
	done
	for words in "NO_COLOR=1 TERM=linux" "CLICOLOR=0 TERM=linux" TERM=dumb; do
		run -0 env $words script -qec "fsquota list /mnt/x" /dev/null
		refute_output --partial $'\e'
	done
	run -0 env NO_COLOR= TERM=linux script -qec "fsquota list /mnt/x" /dev/null
	assert_output --partial "${RED}100%$RESET"
}

@test "--color=always colours everywhere, but not what scripts read" {
	run_split env NO_COLOR=1 fsquota list --color=always /mnt/x
	assert_output --partial "${RED}100%$RESET"
	run_split fsquota list --color always -P /mnt/x
	refute_output --partial $'\e'
	run_split fsquota list --color always --json /mnt/x
	refute_output --partial $'\e'
	refuses 2 'auto, never or always' fsquota list --color=maybe /mnt/x
}
