#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# Users and groups where projects are usual: check, list, usage, top, metrics.

load ../lib/fsquota

# www-data (33) is above its soft limit of space, and its group at none; daemon (1) has limits and no files. On XFS the
# limits of ID 0 are those of whoever has none, but not of root.
setup_file() {
	local fs
	for fs in x e f; do
		fresh_fs $fs
		mkdir -m 1777 /mnt/$fs/dir
		fallocate -l 1M /mnt/$fs/dir/of-root
		real -c 'limit -u bsoft=4m bhard=10m 33' -c 'limit -g bhard=100m ihard=50 33' -c 'limit -u bhard=8m 1' /mnt/$fs
		setpriv --reuid 33 --regid 33 --clear-groups fallocate -l 5M /mnt/$fs/dir/file
		sync -f /mnt/$fs
	done
}

setup() { rm -f /etc/fsquota.conf /etc/projects /etc/projid; }

# shows STATUS IDS WORD...
shows() {
	exits "$1" fsquota "$3" --raw -No ID "${@:4}"
	assert_equal "$*: ${lines[*]}" "$*: $2"
}

@test "check -u and -g show who is at a limit, and end with 8" {
	local fs
	for fs in x e f; do
		shows 8 33 check -u /mnt/$fs
		shows 8 33 check -u /mnt/$fs/dir
		shows 8 33 check -u --name www-data --at /mnt/$fs
		shows 0 '' check -u --name daemon --at /mnt/$fs
		shows 0 '' check -g /mnt/$fs
		shows 8 33 check -g --over 5 --id 33 --at /mnt/$fs
		real -c 'limit -g ihard=1 33' /mnt/$fs
		shows 8 33 check -g /mnt/$fs
		real -c 'limit -g ihard=50 33' /mnt/$fs
	done
	shows 8 '33 33 33' check -u
	shows 8 '' check -uq
	shows 0 '' check /mnt/x
}

@test "check -u --full-within shows who will be full" {
	exits 8 fsquota check -u --full-within 1h --interval 1 --json /mnt/e
	run -0 jq -c '.check[] | [.type, .id, .name]' "$BATS_TEST_TMPDIR/stdout"
	assert_output '["user",33,"www-data"]'
}

@test "the limits of ID 0 of an XFS are no limits of root" {
	real -c 'limit -u bsoft=8k bhard=64k 0' /mnt/x
	shows 8 33 check -u /mnt/x
	run -0 jq -c '.list[0] | [.id, .name, .hard_bytes, .percent]' <(fsquota list -u --json /mnt/x)
	assert_output '[0,"root",null,null]'
	real -c 'limit -u bsoft=0 bhard=0 0' /mnt/x
}

@test "check -u says that nothing is enforced, and ends with 10" {
	fsquota limit -u bsoft=6M 33 /mnt/x
	fsquota disable -u /mnt/x
	exits 10 fsquota check -u /mnt/x
	assert_one_line
	assert_equal "$(fsquota list -u --raw -No ID,INFORCE /mnt/x 2>/dev/null)" $'0 \n1 not-enforced\n33 not-enforced'
	fsquota enable -u /mnt/x
	fsquota limit -u bsoft=4M 33 /mnt/x
}

@test "list -u and -g have the numbers of the kernel" {
	local fs type
	for fs in x e f; do
		for type in u g; do
			fsquota list -$type --csv -No ID,USED,SOFT,HARD /mnt/$fs/dir |
				awk -F , '{ print "#" $1, $2 / 1024, $3 / 1024, $4 / 1024 }' >"$BATS_TEST_TMPDIR/ours"
			real -c "report -$type -N -n -b" /mnt/$fs | awk 'NF { print $1, $2, $3, $4 }' >"$BATS_TEST_TMPDIR/real"
			assert [ -s "$BATS_TEST_TMPDIR/real" ]
			diff "$BATS_TEST_TMPDIR/real" "$BATS_TEST_TMPDIR/ours"
		done
	done
	run -0 fsquota list -u /mnt/x
	assert_line --index 0 --regexp '^ID NAME +USED SOFT HARD USE% IUSED IHARD MOUNTPOINT$'
	assert_line --index 3 --regexp '^33 www-data +5M +4M +10M +50% +1 +/mnt/x$'
	run -0 fsquota list -u /mnt/x -o +TYPE
	assert_line --index 0 --regexp '^ID NAME .* MOUNTPOINT TYPE$'
}

@test "top -u and -g show who grows" {
	local type
	for type in u g; do
		install -o 33 -g 33 /dev/null /mnt/e/dir/more
		(while sleep 0.5; do head -c 100k /dev/zero >>/mnt/e/dir/more; done) 3>&- &
		succeeds fsquota top -$type --batch 2 --jsonl /mnt/e
		kill $!
		rm /mnt/e/dir/more
		jq -es --arg kind "$([ $type = u ] && echo user || echo group)" 'length == 2 * (if $kind == "user" then 4 else 3 end) and
			.[0].kind == "filesystem" and .[0].id == null and
			(.[1] | .kind == $kind and .id == 33 and .name == "www-data" and .path == null and .growth_10s > 0) and
			any(.[]; .kind == $kind and .id == 0 and .name == "root")' <<<"$stdout" || fail "$stdout"
	done
	assert_equal "$(fsquota top -u --batch 1 --sort -used /mnt/e -N -o ID,NAME,MOUNTPOINT | tail -n 1)" "1 daemon /mnt/e"
	refuses 2 "exclude each other" fsquota top -ug --batch 1
}

@test "metrics -u and -g have series of their own, with the numbers of list" {
	local type text=$BATS_TEST_TMPDIR/text place labels
	run -0 fsquota metrics -pug /mnt/x
	echo "$output" >"$text"
	for type in user group; do
		place="filesystem=\"$FSQ_X_DEV\",mountpoint=\"/mnt/x\""
		labels="{id=\"33\",name=\"www-data\",$place}"
		diff <(sed -n "s#^fsquota_${type}_\([a-z_]*\)$labels#\1#p" "$text" | sort) \
			<(fsquota list -${type:0:1} --json /mnt/x | jq -r '.list[] | select(.id == 33) | to_entries[] |
				select(.value != null and (.key | test("^(used|soft|hard)_"))) | "\(.key) \(.value)"' | sort)
		assert_equal "$(grep -c "^fsquota_${type}_used_bytes{" "$text")" "$(fsquota list -${type:0:1} --raw -No ID /mnt/x | wc -l)"
	done
	assert_file_contains "$text" "^fsquota_user_grace_seconds{id=\"33\",name=\"www-data\",$place,limit=\"bytes\"} [1-9]"
	assert_equal "$(grep -c '^# TYPE fsquota_project_used_bytes' "$text")" 1
	run -0 fsquota metrics -u --over 20 --id-range 1-2 /mnt/x
	assert_equal "$(grep -c '^fsquota_user_used_bytes' <<<"$output") $(grep -c '^fsquota_filesystem_enforced' <<<"$output")" '1 1'
	refute_output --regexp 'fsquota_(project|group)_'
	run -0 fsquota metrics -g
	assert_line --regexp '^fsquota_group_used_bytes\{id="33",.*mountpoint="/mnt/f"'
}

@test "a record is one call, and many names are read at once, only if they are shown" {
	local opened id words=() options
	for id in {2001..2040}; do words+=(-c "limit -u bhard=1g $id"); done
	real "${words[@]}" /mnt/x
	seq 2001 2040 | sed 's/.*/user&:x:&:&::\/:\/bin\/sh/' >>/etc/passwd
	for options in '' '-o ID'; do
		# shellcheck disable=SC2086 # words
		strace -f -qq -o "$BATS_TEST_TMPDIR/trace" -e trace=open,openat,quotactl,quotactl_fd fsquota list -u $options /mnt/x >"$BATS_TEST_TMPDIR/list"
		assert [ "$(grep -c quotactl "$BATS_TEST_TMPDIR/trace")" -le $((40 + 3 + 4)) ]
		opened+=" $(grep -c '"/etc/passwd"' "$BATS_TEST_TMPDIR/trace" || true)"
	done
	assert_equal "$opened" ' 1 0'
	assert_file_contains <(fsquota list -u --raw -N -o ID,NAME /mnt/x) '^2040 user2040$'
	sed -i '/^user20/d' /etc/passwd
	words=("${words[@]/1g/0}")
	real "${words[@]}" /mnt/x
}

@test "what does not go with users is refused" {
	refuses 2 "exclude each other" fsquota list -ug /mnt/x
	refuses 2 "exclude each other" fsquota check -up /mnt/x
	refuses 2 "go with projects" fsquota list -u --tree /mnt/x
	refuses 2 "go with projects" fsquota list -g --total /mnt/x
	refuses 2 "--limit goes with projects" fsquota check -u --limit /mnt/x/dir=1M
	refuses 5 "no user nobody-has" fsquota check -u --name nobody-has
	refuses 5 "/mnt/x/gone" fsquota list -u /mnt/x/gone
	refuses 4 "not permitted" as_user "$FSQUOTA" list -u /mnt/x
}

# own STATUS OUTPUT WORD...: as www-data, who is in the group daemon, too.
own() {
	exits "$1" setpriv --reuid 33 --regid 33 --groups 33,1 "$FSQUOTA" "${@:3}"
	assert_equal "$*: ${lines[*]}" "$*: $2"
}

@test "everybody sees the own user and the own groups, and nobody else" {
	own 0 '33 5M 10M /mnt/x 33 5M 10M /mnt/e 33 5M 10M /mnt/f' usage -u --raw -No ID,USED,HARD,MOUNTPOINT
	own 0 '33 /mnt/e' usage -u /mnt/e/dir --raw -No ID,MOUNTPOINT
	own 0 '33 /mnt/x' usage -g /mnt/x --raw -No ID,MOUNTPOINT
	own 0 '5M' usage -u /mnt/x --over 20 --raw -No AVAIL
	own 8 33 check -u --id 33 --at /mnt/x --raw -No ID
	own 0 '' check -g --id 33 --at /mnt/x
	own 4 '' usage -u --name daemon --at /mnt/x
	own 5 '' usage -u /mnt/x/gone
	own 2 '' usage -u --at /mnt/x
	own 2 '' usage -u --fallback walk
	prints $'daemon /mnt/x' fsquota usage -u --name daemon --at /mnt/x --raw -No NAME,MOUNTPOINT
	prints root fsquota usage -u --raw -No NAME /mnt/x
	run_split as_user "$FSQUOTA" usage -u
	assert_equal "$status:$stderr" "5:fsquota usage: user 1000 has neither use nor limits"
}

@test "without quota of users they say so" {
	fresh_fs x2 -o prjquota
	refuses 3 "no user quota" fsquota list -u /mnt/x2
	refuses 3 "no group quota" fsquota check -g --at /mnt/x2 --id 33
	shows 8 '33 33 33' check -u
}
