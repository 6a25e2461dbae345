#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# What a refusal or a warning says: what is wrong, why, and what to do. That it changes nothing, and its exit status in
# every case, is asked by the tests of each command.

# shellcheck disable=SC2154 # run_split sets status, stdout and stderr
load ../lib/fsquota

setup_file() { fresh_each x e; }

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	rm -rf /mnt/x/* /mnt/e/* /etc/fsquota.conf /etc/fsquota.conf.d
	printf '7:/somewhere/else\n8:/mnt/x/other\n' >/etc/projects
	printf 'elsewhere:7\nother:8\n' >/etc/projid
	mkdir -p /mnt/x/{web,other,tree/sub}
	touch /mnt/x/file
}

# says STATUS TEXT WORD...: the one line of "fsquota WORD..." is this, behind its name.
says() {
	run_split fsquota "${@:3}"
	assert_equal "${*:3}: $status:$stderr" "${*:3}: $1:fsquota${3:+ $3}: $2"
}

# hints DIR: in which words to go on.
hints() { echo "(see fsquota doctor $1)"; }

capability='Operation not permitted (this takes CAP_SYS_ADMIN in the initial user namespace: run it as root of the host; fsquota usage DIR works without, where a limit is set, and fsquota-batch(8) lets others look)'
off='project quota is off: mounted without prjquota'
no_tmpfs='tmpfs has no project quotas; a mount of its own with the option size= limits a directory, see tmpfs(5)'
no_proc='proc has no project quotas: use XFS, ext4 or f2fs, mounted with prjquota'

@test "the program, and options of any command" {
	prints "$(fsquota --version)" fsquota version
	run_split fsquota version now
	assert_equal "$status:$stderr" '2:fsquota: version takes no other words, not "now"'
	run_split fsquota help list usage
	assert_equal "$status:$stderr" '2:fsquota: help takes one command, not "usage"'
	assert_equal "$(fsquota help repquota)" "$(fsquota help report)"
	assert_equal "$(fsquota help free)" "$(fsquota help df)"
	fsquota project -s other /mnt/x
	is_silent fsquota tree -c other /mnt/x
	says 2 'option --json=yes takes no value: JSON, see fsquota-json(5)' usage --json=yes /mnt/x/web
	says 2 'unknown option --har; did you mean --hard SIZE?' assign --har 1M /mnt/x/web
	refuses 2 'fsquota assign: unknown option --bogus; usage: fsquota assign DIR... [--hard SIZE] [--soft SIZE] [OPTION]..., with --hard, --soft, ' fsquota assign --bogus --help
	refuses 2 '"options stand behind a command, not --json; see fsquota --help"' fsquota --json
}

@test "assign" {
	fsquota project -s -p /mnt/x/tree/sub 8 /mnt/x
	fsquota project -s -p /mnt/x/other 8 /mnt/x
	refuses 2 'assign: no directory given; usage: fsquota assign DIR... ' fsquota assign
	says 2 'word 1 is empty: a variable without a value?' assign ''
	says 2 'option --hard takes a value: --hard SIZE (at most so much: 500M, 1.5G, 10% of the filesystem)' assign /mnt/x/web --hard
	says 2 '"0" is no number of inodes, such as 10000, or none' assign /mnt/x/web --hard-inodes 0
	says 2 'unlimited does not go with other limits' assign /mnt/x/web --unlimited --hard 1M
	says 2 '"a:b" cannot be the name of a project: names are no numbers, do not begin with #, and have no blanks, quotes, colons, $ or backslashes' assign /mnt/x/web --name a:b
	says 6 '/mnt/x/web: project ID 7 is that of /somewhere/else: name another, or none' assign /mnt/x/web --id 7
	fsquota limit bhard=1m 70 /mnt/x
	says 6 '/mnt/x/web: project ID 70 is in use (the ID has limits or files there, see fsquota list and fsquota doctor)' \
		assign /mnt/x/web --id 70
	fsquota limit bhard=0 70 /mnt/x
	says 6 '/mnt/x/web: cannot be project 10: "other" is 8' assign /mnt/x/web --id 10 --name other
	says 6 '/mnt/x/web: there is no unused project ID from 7 to 8' assign /mnt/x/web --id-range 7-8
	says 2 '/mnt/x/file: is not a directory: name the directory itself' assign /mnt/x/file
	says 5 '/mnt/x/file/below: cannot open: Not a directory' assign /mnt/x/file/below
	says 6 '/mnt/x/tree/sub: belongs to project 8 already' assign /mnt/x/tree --hard 1M
	says 6 '/mnt/x/other: has project ID 8 already: release it first, for another one' assign /mnt/x/other --id 11
	says 6 '/mnt/x/other: has project ID 8 already, and "elsewhere" is 7' assign /mnt/x/other --name elsewhere
	mkdir /mnt/x/deleted
	cd /mnt/x/deleted
	rmdir /mnt/x/deleted
	says 5 '.: is deleted, or no absolute path leads to it' assign . --hard 1M
}

@test "a limit above the size of the filesystem is a warning, in JSON an object" {
	run_split fsquota assign /mnt/x/web --hard 1G
	assert_equal "$status" 0
	assert_regex "$stderr" '^fsquota assign: /mnt/x/web: the limit of 1G is more than the filesystem has, [0-9.]+M$'
	run_split fsquota assign /mnt/x/tree --hard 1T --json
	run -0 jq -r '.warning | "\(.path) \(.message)"' <<<"$stderr"
	assert_output --regexp '^/mnt/x/tree the limit of 1T is more than the filesystem has, [0-9.]+M$'
}

@test "the files of projects and names" {
	ln -s /etc/projects link
	mkfifo fifo
	mkdir directory
	truncate -s 65M large
	touch /mnt/x/projects
	chattr +i /mnt/x/projects
	says 1 'link: is a symlink, which is not followed' assign /mnt/x/web --projects-file link
	says 1 'directory: is a directory' assign /mnt/x/web --projid-file directory
	says 1 'fifo: is no regular file' assign /mnt/x/web --projid-file fifo
	says 1 '/nowhere/projid: cannot open: No such file or directory' assign /mnt/x/web --projid-file /nowhere/projid
	says 2 '/etc/projid: is the projects file and the projid file: name two files' assign /mnt/x/web --projects-file /etc/projid
	says 1 'large: is too large for what it should hold' assign /mnt/x/web --projects-file large
	says 4 '/mnt/x/projects: cannot open: Operation not permitted (is it immutable? see lsattr(1))' \
		assign /mnt/x/web --projects-file /mnt/x/projects
	chattr -i /mnt/x/projects
	says 1 'cannot read large: File too large' list --projects-file large /mnt/x
	says 1 'large: cannot read the projects file: File too large' usage --projects-file large /mnt/x/web
	mount -t tmpfs -o size=16k tmpfs directory
	touch directory/projects
	mount -o remount,ro directory
	says 1 'directory/projects: cannot open: Read-only file system (use --no-register, or --projects-file and --projid-file, or see fsquota.conf(5))' \
		assign /mnt/x/web --projects-file directory/projects --projid-file projid
	umount directory
	mount -o remount,ro /mnt/x
	says 1 '/mnt/x/web: cannot set the project ID: Read-only file system (remount it read-write first)' assign /mnt/x/web --hard 1M
	mount -o remount,rw /mnt/x
}

@test "fsquota.conf: its keys count, of one that is there twice the last, and a wrong value is named" {
	local line form
	printf '%s\n' '# a comment' '' ' id-range =  3000000-3999999 ' lock-timeout=2 >/etc/fsquota.conf
	prints 3000000 fsquota assign /mnt/x/web --hard 1M
	printf '%s\n' 'id-range = 20-29' 'id-range = 10-19' >/etc/fsquota.conf
	prints 10 fsquota assign /mnt/x/tree --hard 1M
	grep -q '^10:/mnt/x/tree$' /etc/projects
	mkdir /mnt/x/{a,b}
	printf 'projects-file = %s\nprojid-file=%s\n' "$PWD/projects" "$PWD/projid" >/etc/fsquota.conf
	prints 2097153 fsquota assign /mnt/x/a --hard 1M
	assert_equal "$(<projects)" 2097153:/mnt/x/a
	echo 'register = no' >/etc/fsquota.conf
	prints 2097154 fsquota assign /mnt/x/b --hard 1M
	while IFS='|' read -r line form; do
		echo "$line" >/etc/fsquota.conf
		says 2 "/etc/fsquota.conf, line 1: \"${line#* = }\" is not \"${line% = *} = $form\"" assign /mnt/x/web
	done <<-'EOF'
		id-range = 9-1|FIRST-LAST
		register = maybe|yes|no
		lock-timeout = soon|SECONDS
		projects-file = relative|/PATH
	EOF
	printf '\ncolour = blue\n' >/etc/fsquota.conf
	says 2 '/etc/fsquota.conf, line 2: there is no key "colour"; a line is KEY = VALUE, see fsquota.conf(5)' assign /mnt/x/web
	run_split fsquota usage /mnt/x/web
	assert_equal "$status:$stderr" '0:fsquota usage: /etc/fsquota.conf, line 2: there is no key "colour"; a line is KEY = VALUE, see fsquota.conf(5): the line is passed over'
	rm /etc/fsquota.conf
	mkdir /etc/fsquota.conf
	says 1 'cannot read /etc/fsquota.conf: Is a directory' usage /mnt/x/web
	says 1 'cannot read /etc/fsquota.conf: Is a directory' assign --help
	rmdir /etc/fsquota.conf
}

@test "fsquota.conf.d: its files come behind fsquota.conf, in the order of their names, and a later one wins" {
	local file
	mkdir /etc/fsquota.conf.d /mnt/x/{a,b,c,d}
	prints 1048579 fsquota assign /mnt/x/a --hard 1M
	echo 'id-range = 20-29' >/etc/fsquota.conf.d/20.conf
	prints 20 fsquota assign /mnt/x/b --hard 1M
	printf '%s\n' 'id-range = 10-19' "projid-file = $PWD/projid" >/etc/fsquota.conf
	for file in .30.conf 30.conf~ 30 30.conf.new conf .conf; do
		echo 'register = no' >/etc/fsquota.conf.d/$file
	done
	echo 'id-range = 30-39' >/etc/fsquota.conf.d/100.conf
	prints 21 fsquota assign /mnt/x/c --hard 1M --name c
	assert_equal "$(<projid)" c:21
	grep -q '^21:/mnt/x/c$' /etc/projects
	ln -s ../fsquota.conf.d/100.conf /etc/fsquota.conf.d/b.conf
	prints 30 fsquota assign /mnt/x/d --hard 1M
	prints 40 fsquota assign /mnt/x/web --hard 1M --id-range 40-49
}

@test "fsquota.conf.d: a wrong line is named with its file, and a file that cannot be read is" {
	local what
	mkdir /etc/fsquota.conf.d
	echo 'lock-timeout = 5' >/etc/fsquota.conf
	echo 'lock-timeout = 5' >/etc/fsquota.conf.d/10.conf
	fsquota assign /mnt/x/web --hard 1M
	printf '\nlock-timeout = soon\n' >/etc/fsquota.conf.d/20.conf
	says 2 '/etc/fsquota.conf.d/20.conf, line 2: "soon" is not "lock-timeout = SECONDS"' assign /mnt/x/web
	run_split fsquota usage /mnt/x/web
	assert_equal "$status:$stderr" '0:fsquota usage: /etc/fsquota.conf.d/20.conf, line 2: "soon" is not "lock-timeout = SECONDS": the line is passed over'
	echo '/mnt/x/web hard=1M' >/etc/fsquota.conf.d/20.conf
	says 2 '/etc/fsquota.conf.d/20.conf, line 1: is a line of fsquota.d(5): it belongs in /etc/fsquota.d/*.conf' assign /mnt/x/web
	printf 'lock-timeout = 5\0\n' >/etc/fsquota.conf.d/20.conf
	says 2 '/etc/fsquota.conf.d/20.conf: there is a NUL byte in it' assign /mnt/x/web
	for what in assign usage; do
		rm -rf /etc/fsquota.conf.d/20.conf
		mkdir /etc/fsquota.conf.d/20.conf
		says 1 'cannot read /etc/fsquota.conf.d/20.conf: Is a directory' $what /mnt/x/web
		rmdir /etc/fsquota.conf.d/20.conf
		ln -s nowhere /etc/fsquota.conf.d/20.conf
		says 5 'cannot read /etc/fsquota.conf.d/20.conf: No such file or directory' $what /mnt/x/web
	done
	ln -sf /dev/null /etc/fsquota.conf.d/20.conf
	succeeds fsquota usage /mnt/x/web
	chmod 600 /etc/fsquota.conf.d/10.conf
	refuses 4 'cannot read /etc/fsquota.conf.d/10.conf: Permission denied' as_user fsquota usage /mnt/x/web
	chmod 700 /etc/fsquota.conf.d
	refuses 4 'cannot list /etc/fsquota.conf.d: Permission denied' as_user fsquota usage /mnt/x/web
	rm -r /etc/fsquota.conf.d
	as_user fsquota usage /mnt/x/web
	touch /etc/fsquota.conf.d
	says 5 'cannot list /etc/fsquota.conf.d: Not a directory' usage /mnt/x/web
}

@test "release and resize" {
	local id
	fsquota assign /mnt/x/tree --hard 26M --id 70
	says 5 '/mnt/x/web: has no quota of its own (with --if-exists that is no failure)' release /mnt/x/web
	says 5 '/mnt/x/tree/sub: has no quota of its own (it belongs to the project of a directory above it)' release /mnt/x/tree/sub
	says 5 '/mnt/x/none: cannot open: No such file or directory (with --if-exists that is no failure; fsquota prune --dry-run shows what is gone)' release /mnt/x/none
	# As of a pod, whose volumes have quotas.
	mkdir -p /mnt/x/pod/volumes
	fsquota assign --mkdir /mnt/x/pod/volumes/cache --hard 1M
	says 5 '/mnt/x/pod: has no quota of its own (directories in it have their own, as fsquota list DIR shows; name them)' release /mnt/x/pod
	says 6 '/mnt/x/tree: has project ID 70' release --id 71 /mnt/x/tree
	mkdir $'/mnt/x/bell\a'
	says 5 '/mnt/x/bell\a: has no quota of its own (with --if-exists that is no failure)' release $'/mnt/x/bell\a'
	run_split fsquota release --json /mnt/x/web
	assert_equal "$status:$stdout:$stderr" '5:{"release":[]}:{"error":{"code":"not-found","errno":null,"path":"/mnt/x/web",'\
'"message":"has no quota of its own","cause":null,"hint":"with --if-exists that is no failure"}}'

	refuses 2 'resize: a directory and a size are wanted; usage: fsquota resize {DIR... ' fsquota resize
	says 2 '/mnt/x/tree is no size: the size stands last, fsquota resize DIR SIZE' resize 2M /mnt/x/tree
	says 2 '"0" is no project ID from 1 to 4294967294; a name takes --name' resize --id 0 /mnt/x/tree 50M
	says 6 '/mnt/x/tree: has project ID 70' resize --id 43 /mnt/x/tree 50M
	says 1 '/dev/null: is no regular file' resize --projects-file /dev/null /mnt/x/tree 50M
	says 5 '/mnt/x/web: belongs to no project (fsquota assign gives it one, fsquota usage --fallback=walk counts without; of a user: fsquota quota -u)' resize /mnt/x/web 5M
	says 6 '/mnt/x/tree: would be smaller than the 26M (27262976 bytes) it has (use --allow-shrink if that is meant)' \
		resize /mnt/x/tree 10M
	fallocate -l 4M /mnt/x/tree/4M
	says 6 '/mnt/x/tree: would be smaller than the 4M (4194304 bytes) that are in use (fsquota assign sets a limit below what is in use)' resize --allow-shrink /mnt/x/tree 3M
	says 2 '"+99999999999999999999" is too large for a limit' resize /mnt/x/tree +99999999999999999999
	run_split fsquota resize /mnt/x/tree +255P
	says 2 '/mnt/x/tree: the limit would be 256 PiB or more' resize /mnt/x/tree +255P

	for id in 80 81; do
		rm -rf /mnt/x/web
		mkdir /mnt/x/web
		fsquota assign /mnt/x/web --id $id
		[ $id = 80 ] || exec 8>/mnt/x/web/2
		exec 7>/mnt/x/web/1
		rm /mnt/x/web/*
		says 0 "/mnt/x/web: released, but $([ $id = 80 ] && echo 1 file still has || echo 2 files still have) project ID $id, and until they are gone no directory gets it: \
they are deleted but open, elsewhere (fsquota find $id), or of a kind that this kernel cannot change" release /mnt/x/web
	done
}

@test "limit, quota, report, dump and restore" {
	says 2 '/mnt/x: bhard=1e would count as no limit; 288230376151711743 means that' limit bhard=1e 9 /mnt/x
	says 3 '/mnt/e: cannot set limits: Invalid argument' limit rtbhard=2m 15 /mnt/e
	says 2 'name the filesystem by a directory on it: the last word, or --at; before it limits and whose they are, such as bhard=50M alice /srv; of a directory: fsquota assign DIR --hard 50M' limit
	says 2 '/mnt/x: cannot parse bhard=x: write a size such as 10m' limit bhard=x 42 /mnt/x
	says 2 '/mnt/x: cannot parse ihard=1k: write a number such as 1000' limit ihard=1k 42 /mnt/x
	says 2 '/mnt/x: unrecognised argument bogus=1: name limits and whose they are, such as bhard=50M alice /srv; of a directory: fsquota assign DIR --hard 50M' limit bogus=1 42 /mnt/x
	says 2 '/mnt/x: unrecognised argument 42: name limits and whose they are, such as bhard=50M alice /srv; of a directory: fsquota assign DIR --hard 50M' limit 42 bhard=4m /mnt/x
	says 2 '/mnt/x: soft 2M would be above hard 1M' limit bsoft=2m bhard=1m 42 /mnt/x
	says 5 '/mnt/x: there is no project nosuch: fsquota list shows them' limit bhard=1m nosuch /mnt/x
	says 5 '/mnt/x: no quota of project 99: No such file or directory' quota -v 99 /mnt/x
	says 5 '/mnt/x: there is no project 4294967295: fsquota list shows them' quota 4294967295 /mnt/x
	says 2 '/mnt/x: x is not a number from 0 to 4294967294' report -L x /mnt/x
	says 5 'open on /nowhere/out failed: No such file or directory' report -f /nowhere/out /mnt/x
	run_split fsquota limit --json bhard=x 42 /mnt/x
	assert_equal "$status:$stdout:$stderr" '2:{"limit":[]}:{"error":{"code":"usage","errno":null,"path":null,'\
'"message":"cannot parse bhard=x: write a size such as 10m","cause":null,"hint":null}}'

	fsquota limit bhard=1m 42 /mnt/x
	fsquota limit bhard=1m 42 /mnt/e
	fsquota dump -f one /mnt/x
	{ cat one && fsquota dump /mnt/e; } >all
	says 1 'open on one failed, -f writes a new one; > FILE replaces it: File exists' dump -f one /mnt/x
	says 2 "/mnt/x2: the dump has several filesystems, and $FSQ_X2_DEV is none of them: leave in it only the lines of one filesystem; nothing is set" restore -f all /mnt/x2
	printf '%s\n' "fs = $FSQ_X_DEV" '42 0 2048 0 0' nonsense >bad
	says 2 '/mnt/x: line 3 does not hold limits, as dump writes them; nothing is set; fsquota apply takes lines of export' restore -p -f bad /mnt/x
	echo '42 0 562949953421400 0 0' >bad
	says 2 '/mnt/x: line 1: a limit would count as none; nothing is set' restore -p -f bad /mnt/x
}

@test "project, df, id and lsattr" {
	says 2 '--max-errors is a number from 1 on, not "0"' project --max-errors 0 -s 8 /mnt/x
	says 2 '/mnt/x: x is not a number from 0 to 4294967294' project -d x -s 8 /mnt/x
	says 5 '/mnt/x: nosuch - no such project in /etc/projects or invalid project number' project -s nosuch /mnt/x
	says 2 '/mnt/x: only one projid/name can be specified when using -p <path>, 2 found.' project -s -p /mnt/x/web 44 45 /mnt/x
	says 5 '/mnt/x: cannot setup path for project dir /mnt/x/nowhere: No such file or directory' project -s -p /mnt/x/nowhere 44 /mnt/x
	says 5 '/mnt/x: projects file "/nowhere" doesn'\''t exist' project --projects-file /nowhere -s 8 /mnt/x
	says 6 '/mnt/x/other: has not the ID of its project, 8: fsquota project -s 8 gives it to it' df /mnt/x
	says 5 '/mnt/x/nowhere: cannot read the project ID: No such file or directory' id /mnt/x/nowhere /mnt/x/web
	assert_equal "$stdout" 0
	says 3 "/proc/version: cannot read the project ID: $no_proc $(hints /proc/version)" id /proc/version
	says 3 '/dev/null: the kernel tells project IDs of files and directories only' id /dev/null
	mkfifo /mnt/x/web/fifo
	says 3 '/mnt/x/web/fifo: the kernel tells flags of files and directories only' lsattr /mnt/x/web
}

@test "usage and supported" {
	ln -s web /mnt/x/link
	says 5 '/mnt/x/web: belongs to no project (fsquota assign puts a quota on it, --fallback=walk counts; of a user: fsquota quota -u)' usage /mnt/x/web
	says 2 '/mnt/x/link: is a symlink: name what it leads to' usage /mnt/x/link
	says 5 '/mnt/x/nowhere: cannot open: No such file or directory' supported /mnt/x/nowhere
	says 3 "/proc: $no_proc $(hints /proc)" supported /proc
	says 3 "$BATS_TEST_TMPDIR: $no_tmpfs $(hints "$BATS_TEST_TMPDIR")" assign "$BATS_TEST_TMPDIR"
	run_split fsquota usage --json /sys
	assert_equal "$status:$stdout:$stderr" '3:{"usage":[]}:{"error":{"code":"not-supported","errno":null,"path":"/sys","message":'\
"\"${no_proc/#proc/sysfs}\",\"cause\":\"other-filesystem\",\"hint\":\"--fallback=walk counts; see fsquota doctor /sys\"}}"
}

@test "where quota is off, or limits stop nobody" {
	local type
	hints() { echo "(see fsquota setup $1)"; }
	fresh_fs x2 -o noquota
	mkdir /mnt/x2/web
	says 3 "/mnt/x2/web: $off $(hints /mnt/x2/web)" assign /mnt/x2/web --hard 1M
	says 3 "/mnt/x2/web: $off (--fallback=walk counts; see fsquota setup /mnt/x2/web)" usage /mnt/x2/web
	says 3 "/mnt/x2: $off $(hints /mnt/x2)" supported /mnt/x2
	says 3 "/mnt/x2: $off $(hints /mnt/x2)" enable -p /mnt/x2
	printf '%s\n' '42 0 2048 0 0' >dump
	says 3 "/mnt/x2: cannot set limits of ID 42: $off $(hints /mnt/x2)" restore -p -f dump /mnt/x2
	run_split fsquota report --json -p /mnt/x2
	assert_equal "$status:$stdout:$stderr" '3:{"report":[]}:{"error":{"code":"not-supported","errno":"ENOSYS","path":"/mnt/x2",'\
"\"message\":\"cannot read project quotas: $off\",\"cause\":\"quota-off\",\"hint\":\"see fsquota setup /mnt/x2\"}}"
	exits 3 fsquota state /mnt/x2
	type='this type of quota is off: mount the filesystem with usrquota or grpquota; see fsquota doctor /mnt/x2'
	assert_equal "$stderr" "fsquota state: /mnt/x2: no user quota: Function not implemented ($type)
fsquota state: /mnt/x2: no group quota: Function not implemented ($type)
fsquota state: /mnt/x2: no project quota: $off $(hints /mnt/x2)"
	fresh_fs x2 -o pquota
	says 3 '/mnt/x2: quota is off: mount the filesystem with uquota, gquota or prjquota (see fsquota doctor /mnt/x2)' enable -u /mnt/x2
	fresh_fs x2 -o pqnoenforce
	mkdir /mnt/x2/web
	says 0 '/mnt/x2/web: limits are not enforced on this filesystem: they stop nobody' assign /mnt/x2/web --hard 1M
	says 3 "/mnt/x2/web: projects are counted, but limits stop nobody: mounted with pqnoenforce, or disabled since $(hints /mnt/x2/web)" \
		assign /mnt/x2/web --hard 2M --require-enforced
	prints "/mnt/x2: project quota on $FSQ_X2_DEV, mounted on /mnt/x2; limits are not enforced" fsquota supported /mnt/x2
	prints "/mnt/x: project quota on $FSQ_X_DEV, mounted on /mnt/x" fsquota supported /mnt/x
	fresh_fs x2
}

@test "an ordinary user" {
	local user=$TMPDIR/user
	install -D "$FSQUOTA" "$user/fsquota"
	fsquota() { as_user "$user/fsquota" "$@"; }
	"$FSQUOTA" project -s 8 /mnt/x
	chmod 777 /mnt/x/web
	mkdir -m 700 /mnt/x/secret
	chown 1000 /mnt/x/web
	touch /mnt/x/web/file
	chattr -p 42 /mnt/x/web
	says 4 '/etc/projects: cannot open: Permission denied (only root may change it)' assign /mnt/x/web --hard 1M
	says 4 "/mnt/x/web: cannot read the quota of project 42: $capability" assign --no-register /mnt/x/web --hard 1M
	says 4 '/mnt/x/secret: cannot open: Permission denied' usage --fallback=walk /mnt/x/secret
	says 4 '/mnt/x/secret: cannot read the project ID: Permission denied' id /mnt/x/web /mnt/x/secret
	says 7 "/mnt/x: cannot set project on /mnt/x/web/file: $capability" project -s -p /mnt/x/web 43 /mnt/x
	says 4 '/mnt/x: cannot open /mnt/x/secret: Permission denied' project -c -p /mnt/x/secret 43 /mnt/x
	says 4 "/mnt/x: cannot set limits: $capability" limit bhard=1m 42 /mnt/x
	says 4 "/mnt/x: no quota of user 0: $capability" quota -u root /mnt/x
	says 4 "/mnt/x: project directories are left out: $capability" df /mnt/x
}
