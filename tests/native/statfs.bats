#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# usage for who may not ask the kernel: what statfs(2) shows in the directory of a project.
# projects.bash has what there is.

load ../lib/fsquota
load projects

setup() {
	local fs
	register_projects
	for fs in x e f; do real -c 'limit -p bsoft=0 bhard=100m isoft=0 ihard=0 43' /mnt/$fs; done
}

teardown() { umount -q /mnt/x/none /mnt/e/none || true; }

# has_json EXPECTED JQ DIRECTORY: of its row; json_of JQ DIRECTORY sets output to it.
has_json() {
	json_of "${@:2}"
	assert_output "$1"
}

json_of() {
	succeeds as_user fsquota usage --json "$2"
	run -0 jq -c ".usage[] | $1" <<<"$stdout"
}

@test "without privileges usage shows the limit and use that statfs shows" {
	local fs
	for fs in x e f; do
		succeeds as_user fsquota usage --raw -No PATH,ID,NAME,USED,HARD,USE%,SOURCE /mnt/$fs/logs
		assert_output "/mnt/$fs/logs 43 logs 1M >=100M 1% statfs"
	done
}

@test "of a use above the soft limit statfs shows the least, and of the hard limit, too" {
	local fs
	for fs in x e f; do
		prints "42 >=4M  >=4M 100% statfs" as_user fsquota usage --raw -No ID,USED,SOFT,HARD,USE%,SOURCE /mnt/$fs/web
		has_json '[4194304,true,4194304,null,null]' \
			'[.used_bytes, .used_at_least, .limit_bytes, .soft_bytes, .hard_bytes]' /mnt/$fs/web
	done
}

@test "below the soft limit the use is known, and the hard limit is not" {
	local fs
	for fs in x e f; do
		real -c 'limit -p bsoft=8m bhard=10m isoft=50 ihard=60 43' /mnt/$fs
		prints "1M  >=8M 2  >=50" as_user fsquota usage --raw -No USED,SOFT,HARD,IUSED,ISOFT,IHARD /mnt/$fs/logs
		json_of '[.limit_bytes, .hard_bytes, .used_inodes, .limit_inodes, .hard_inodes,
			.used_at_least, .percent]' /mnt/$fs/logs
		assert_output --partial '[8388608,null,2,50,null,false,12.'
	done
}

@test "a use as large as the hard limit can be larger" {
	local fs
	for fs in x e f; do
		real -c 'limit -p bhard=512k ihard=1 43' /mnt/$fs
		prints ">=512K >=512K >=1 >=1" as_user fsquota usage --raw -No USED,HARD,IUSED,IHARD /mnt/$fs/logs
		has_json '[true,524288,1]' '[.used_at_least, .limit_bytes, .limit_inodes]' /mnt/$fs/logs
		real -c 'limit -p bhard=100m ihard=1000 43' /mnt/$fs
		has_json '[false,true,2]' '[.used_at_least, .used_bytes < 2000000, .used_inodes]' /mnt/$fs/logs
		real -c 'limit -p ihard=2 43' /mnt/$fs
		has_json '[true,true,2]' '[.used_at_least, .used_bytes < 2000000, .used_inodes]' /mnt/$fs/logs
	done
}

@test "what statfs does not show is null, and empty" {
	local fs
	for fs in x e f; do
		has_json '[null,null,"statfs",true]' '[.used_inodes, .limit_inodes, .source, .enforced]' /mnt/$fs/logs
		real -c 'limit -p bhard=0 ihard=100 43' /mnt/$fs
		has_json '[null,null,2,100,2]' \
			'[.used_bytes, .limit_bytes, .used_inodes, .limit_inodes, .percent + 0]' /mnt/$fs/logs
		prints ' 2 >=100' as_user fsquota usage --raw -No USED,IUSED,IHARD /mnt/$fs/logs
	done
}

@test "where less space is free on the filesystem than in the project the use is null" {
	local fs free size
	for fs in x e f; do
		read -r free size < <(stat -f -c '%f %S' /mnt/$fs)
		fallocate -l $((free * size - 40 * 1048576)) /mnt/$fs/large
		sync -f /mnt/$fs
		json_of '[.used_bytes, .limit_bytes, .used_at_least, .percent]' /mnt/$fs/logs
		rm /mnt/$fs/large
		assert_output '[null,104857600,false,null]'
	done
}

@test "check --limit does not judge a use that is not known" {
	refuses 4 "/mnt/x/web: statfs(2) does not show its use" as_user fsquota check --limit /mnt/x/web=5M
	run_split as_user fsquota check --raw -No USED,HARD,IHARD --limit /mnt/x/logs=1M
	assert_equal "$status:$stdout" "8:1M 1M "
}

@test "check judges a directory by what statfs shows" {
	local fs
	for fs in x e f; do
		is_silent as_user fsquota check /mnt/$fs/logs
		run -8 --separate-stderr as_user fsquota check --raw -No USED,PATH --over 1 /mnt/$fs/logs
		assert_output "1M /mnt/$fs/logs"
		real -c 'limit -p bhard=1m 43' /mnt/$fs
		run -8 --separate-stderr as_user fsquota check --raw -No USED,HARD /mnt/$fs/logs
		assert_output ">=1M >=1M"
		real -c 'limit -p bhard=100m ihard=2 43' /mnt/$fs
		run -8 as_user fsquota check -q /mnt/$fs/logs
		real -c 'limit -p bhard=100m ihard=0 43' /mnt/$fs
		# Of a whole filesystem the directories are judged that are registered.
		run_split as_user fsquota check --raw -No PATH /mnt/$fs
		assert_equal "$status:$stdout" $'8:/mnt/'$fs$'/web\n/mnt/'$fs/nested/a
		[[ $stderr == "fsquota check: /mnt/$fs: cannot read quotas of others"* ]] || fail "$stderr"
		refuses 5 "belongs to no project" as_user fsquota check /mnt/$fs/none
	done
}

@test "explain accounts for a directory of one's own, with one's own deleted files" {
	local fs dir holder
	for fs in x e f; do
		dir=/mnt/$fs/logs
		as_user sh -c "exec 9>$dir/gone; rm $dir/gone; head -c 3M /dev/zero >&9; exec sleep 100" 3>&- 4>&- &
		until holder=$(pgrep -x sleep); do nap 0.05; done
		sync -f $dir
		succeeds as_user fsquota explain --json $dir
		run -0 jq -c '.explain[] | select(.part == "open") | [.used_bytes >= 3145728, .pid, .path]' <<<"$stdout"
		assert_output "[true,$holder,\"$dir/gone\"]"
		run -0 jq '[.explain[] | select(.part == "used" or .part == "unexplained") | .used_bytes] | .[1] == 0 and .[0] > 4000000' <<<"$stdout"
		assert_output true
		# What cannot be read is told.
		install -d -m 700 -o root $dir/closed
		run -7 --separate-stderr as_user fsquota explain $dir
		assert_equal "$stderr" "fsquota explain: $dir/closed: cannot be read, so the sum lacks it: Permission denied"
		rmdir $dir/closed
		kill "$holder"
		wait $! || :
	done
}

@test "in a mount of the project's directory alone statfs is believed" {
	local fs
	for fs in x e; do
		mount --bind /mnt/$fs/logs /mnt/$fs/none
		run_split as_user fsquota usage --raw -No ID,USED,HARD,SOURCE /mnt/$fs/none
		umount /mnt/$fs/none
		assert_output "43 1M >=100M statfs"
	done
}

@test "where statfs shows no limit it is an error as before" {
	local fs
	for fs in x e f; do
		real -c 'limit -p bhard=0 43' /mnt/$fs
		refuses 4 "/mnt/$fs/logs" as_user fsquota usage /mnt/$fs/logs
		refuses 4 "/mnt/$fs/logs/file" as_user fsquota usage /mnt/$fs/logs/file
		refuses 5 "belongs to no project" as_user fsquota usage /mnt/$fs/none
	done
}

@test "where limits are not enforced statfs is not asked" {
	mount --bind /mnt/x/logs /mnt/x/none
	real -c 'disable -p' /mnt/x
	refuses 4 "/mnt/x/none" as_user fsquota usage /mnt/x/none
	refuses 4 "/mnt/x/logs" as_user fsquota usage /mnt/x/logs
	real -c 'enable -p' /mnt/x
}

@test "--fallback walk counts for who may not ask and is shown nothing" {
	local fs
	for fs in x e f; do
		real -c 'limit -p bhard=0 43' /mnt/$fs
		run_split as_user fsquota usage --raw -No USED,IUSED,SOURCE --fallback walk /mnt/$fs/logs
		real -c 'limit -p bhard=100m 43' /mnt/$fs
		assert_output --regexp '^1(\.0)?M 2 walk$'
		prints statfs as_user fsquota usage --raw -No SOURCE --fallback walk /mnt/$fs/logs
	done
}

@test "statfs shows the project that the directory carries, whatever is registered" {
	echo 44:/mnt/x/logs >/etc/projects
	prints "43 >=100M statfs" as_user fsquota usage --raw -No ID,HARD,SOURCE /mnt/x/logs
}

@test "where quotactl is forbidden statfs is asked, too" {
	prints "43 >=100M statfs" setpriv --reuid 1000 --clear-groups strace -f -qq -o /dev/null \
		-e trace=quotactl,quotactl_fd -e inject=quotactl,quotactl_fd:error=EPERM \
		"$FSQUOTA" usage --raw -No ID,HARD,SOURCE /mnt/x/logs
}
