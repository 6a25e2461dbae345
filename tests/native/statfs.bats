#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# usage for who may not ask the kernel: what statfs(2) shows in the directory of a project.
# projects.bash has what there is.

# shellcheck disable=SC2154 # run_split sets stdout and stderr
load ../lib/fsquota
load projects

teardown() {
	umount -q /mnt/x/none /mnt/e/none || true
}

as_user() {
	setpriv --reuid 1000 --regid 1000 --clear-groups "$FSQUOTA" "$@"
}

@test "without privileges usage shows the limit and use that statfs shows" {
	local fs
	for fs in x e f; do
		run_split as_user usage -rno PATH,ID,NAME,USED,HARD,SOURCE /mnt/$fs/logs
		assert_equal "$status:$stderr" 0:
		assert_output "/mnt/$fs/logs 43 logs 1M 100M statfs"
	done
}

@test "statfs shows the soft limit where there is one, and no use above it" {
	local fs
	for fs in x e f; do
		run_split as_user usage -rno ID,USED,SOFT,HARD,USE%,SOURCE /mnt/$fs/web
		assert_output "42 4M  4M 100% statfs"
	done
}

@test "what statfs does not show is null, and empty" {
	local fs
	for fs in x e f; do
		run -0 jq -c '.usage[] | [.used_inodes, .hard_inodes, .source, .enforced]' \
			<(as_user usage --json /mnt/$fs/logs)
		assert_output '[null,null,"statfs",true]'
		real -c 'limit -p bhard=0 ihard=100 43' /mnt/$fs
		run -0 jq -c '.usage[] | [.used_bytes, .hard_bytes, .used_inodes, .hard_inodes, .percent]' \
			<(as_user usage --json /mnt/$fs/logs)
		assert_output '[null,null,2,100,2]'
		run_split as_user usage -rno USED,IUSED,IHARD /mnt/$fs/logs
		assert_output ' 2 100'
		real -c 'limit -p bhard=100m ihard=0 43' /mnt/$fs
	done
}

@test "in a mount of the project's directory alone statfs is believed" {
	local fs
	for fs in x e; do
		mount --bind /mnt/$fs/logs /mnt/$fs/none
		run_split as_user usage -rno ID,USED,HARD,SOURCE /mnt/$fs/none
		umount /mnt/$fs/none
		assert_output "43 1M 100M statfs"
	done
}

@test "where statfs shows no limit it is an error as before" {
	local fs
	for fs in x e f; do
		real -c 'limit -p bhard=0 43' /mnt/$fs
		refuses 4 "/mnt/$fs/logs" as_user usage /mnt/$fs/logs
		real -c 'limit -p bhard=100m 43' /mnt/$fs
		refuses 4 "/mnt/$fs/logs/file" as_user usage /mnt/$fs/logs/file
		refuses 5 "belongs to no project" as_user usage /mnt/$fs/none
	done
}

@test "where limits are not enforced statfs is not asked" {
	mount --bind /mnt/x/logs /mnt/x/none
	real -c 'disable -p' /mnt/x
	refuses 4 "/mnt/x/none" as_user usage /mnt/x/none
	refuses 4 "/mnt/x/logs" as_user usage /mnt/x/logs
	real -c 'enable -p' /mnt/x
}

@test "--fallback walk counts for who may not ask and is shown nothing" {
	local fs
	for fs in x e f; do
		real -c 'limit -p bhard=0 43' /mnt/$fs
		run_split as_user usage -rno USED,IUSED,SOURCE --fallback walk /mnt/$fs/logs
		real -c 'limit -p bhard=100m 43' /mnt/$fs
		assert_output --regexp '^1(\.0)?M 2 walk$'
		run_split as_user usage -rno SOURCE --fallback walk /mnt/$fs/logs
		assert_output statfs
	done
}

@test "who may ask gets the quota" {
	run_split fsquota usage -rno USED,SOFT,HARD,SOURCE /mnt/x/web
	assert_output "5M 4M 10M quota"
}

@test "statfs shows the project that the directory carries, whatever is registered" {
	echo 44:/mnt/x/logs >/etc/projects
	run_split as_user usage -rno ID,HARD,SOURCE /mnt/x/logs
	assert_output "43 100M statfs"
}

@test "where quotactl is forbidden statfs is asked, too" {
	run_split setpriv --reuid 1000 --clear-groups strace -f -qq -o /dev/null \
		-e trace=quotactl,quotactl_fd -e inject=quotactl,quotactl_fd:error=EPERM \
		"$FSQUOTA" usage -rno ID,HARD,SOURCE /mnt/x/logs
	assert_output "43 100M statfs"
}
