#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# An answer, or a sentence, for everybody who meets a limit: root, a user, root and a user in a container, and the client
# of an NFS server.

load ../lib/fsquota
load ../lib/nfs

declare -gA id=([x]=42 [e]=43)

# Each of them at a directory of 20 MiB with a file of 19 MiB; NFS has it from the same filesystem.
setup_file() {
	local fs
	rm -f /etc/projects /etc/projid
	for fs in x e; do
		fresh_fs $fs
		mkdir -m 700 /mnt/$fs/home
		fsquota assign --id ${id[$fs]} --hard 20M /mnt/$fs/home >/dev/null
		chown 1000:1000 /mnt/$fs/home
		head -c 19M /dev/zero | as_user dd of=/mnt/$fs/home/file bs=1M 2>/dev/null
		sync -f /mnt/$fs
	done
}

teardown() { serve_no_more 2>/dev/null || :; }

root() { "$@"; }
user() { as_user "$@"; }
container_root() { as_user unshare -Ur "$@"; }
# Container engines forbid the calls, too.
container_user() { injecting quotactl,quotactl_fd error=EPERM setpriv --reuid 1000 --clear-groups "$@"; }
nfs_client() { as_user "$@"; }

# says STATUS STDOUT STDERR COMMAND...: both are patterns.
says() {
	run_split "$caller" "$FSQUOTA" "${@:4}"
	[ "$status" = "$1" ] || complain "$caller on $fs: ${*:4}: status $status, not $1: $stderr"
	# shellcheck disable=SC2053 # patterns
	[[ $stdout == $2 ]] || complain "$caller on $fs: ${*:4}: $stdout"
	# shellcheck disable=SC2053
	[[ $stderr == $3 ]] || complain "$caller on $fs: ${*:4}: stderr $stderr"
}

@test "root, a user, both in a container and an NFS client: usage, check, explain and list have an answer" {
	local caller fs home shown
	for fs in x e; do
		for caller in root user container_root container_user nfs_client; do
			home=/mnt/$fs/home
			shown='>=20M statfs'
			case $caller in
			root) shown='20M quota' ;;
			nfs_client)
				home=/run/b/home
				serve /mnt/$fs
				mount_served / /run/b
				;;
			esac
			says 0 "19M $shown" '' usage --raw -No USED,HARD,SOURCE $home
			says 0 '' '' check $home
			says 8 "19M $home" '' check --raw -No USED,PATH --over 90 $home
			says 0 "*\"path\":\"$home/file\"*" '' explain --json $home
			case $caller in
			root) says 0 "${id[$fs]} 20M 9?%" '' list --raw -No ID,HARD,USE% $home ;;
			nfs_client) says 3 '' '*: nfs4 has no project quotas here; put them on the directory that the server exports*' list $home ;;
			*) says 4 "${id[$fs]} >=20M 9?%" '*: cannot read quotas of others: *' list --raw -No ID,HARD,USE% /mnt/$fs ;;
			esac
		done
		umount /run/b
		serve_no_more
	done
	no_complaints
}

@test "where a server does not tell whether it is a limit, that is said" {
	serve /mnt/x
	mount_served /home /run/b
	run_split fsquota usage --json /run/b
	assert_equal "$status" 0
	[[ $stderr == *'"path":"/run/b","message":"the numbers are of a limit, or of a whole filesystem: 127.0.0.1:/home does not say which"'* ]] || fail "$stderr"
	run -0 jq -c '.usage[] | [.used_bytes, .limit_bytes, .hard_bytes, .enforced, .source, .used_inodes]' <<<"$stdout"
	assert_output '[19922944,20971520,null,false,"statfs",null]'
	run -8 --separate-stderr fsquota check --over 90 /run/b
	# The server knows what can be renamed.
	mkdir -p /mnt/x/home/{one,other}
	run_split fsquota usage /run/b/one /run/b/other
	refute_output --partial renamed
	rmdir /mnt/x/home/{one,other}
	# Who wants to count can.
	prints '19M walk' fsquota usage --raw -No USED,SOURCE --fallback walk /run/b
	umount /run/b
}

@test "an overlay is limited as its upper layer is" {
	mkdir -p /mnt/x/lower /mnt/x/home/{upper,work} /run/o
	mount -t overlay -o lowerdir=/mnt/x/lower,upperdir=/mnt/x/home/upper,workdir=/mnt/x/home/work overlay /run/o
	run -0 --separate-stderr fsquota usage --raw -No ID,USED,HARD,SOURCE /run/o
	umount /run/o
	rm -r /mnt/x/home/{upper,work}
	assert_output '42 19M >=20M statfs'
}

@test "who may not see all is told so once, and sees what is his" {
	# The other filesystems have user quotas, too.
	local one='cannot read quotas of others: Operation not permitted (this takes CAP_SYS_ADMIN in the initial user namespace: run it as root of the host; fsquota usage DIR works without, where a limit is set, and fsquota-batch(8) lets others look)'
	refuses 4 "fsquota report: $one" as_user fsquota report -p
	run_split as_user fsquota report -u --raw --noheadings --output ID,USED,MOUNTPOINT
	assert_equal "$status:$stderr" "4:fsquota report: $one"
	assert_line "1000 19M /mnt/x"
	run_split as_user fsquota check --over 90 --raw -No PATH
	assert_equal "$status:$stderr" "8:fsquota check: $one"
	assert_equal "$stdout" $'/mnt/x/home\n/mnt/e/home'
}

@test "explain without a directory is about the home of who asks" {
	HOME=/mnt/x/home succeeds as_user fsquota explain
	assert_line --regexp '^file +19M +100% +1 +/mnt/x/home/file$'
	HOME='' refuses 2 "HOME is not set" as_user fsquota explain
}
