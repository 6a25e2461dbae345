#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# What seldom happens.

load ../lib/fsquota

setup() {
	rm -f /etc/projects /etc/projid /etc/fsquota.conf
	cd "$BATS_TEST_TMPDIR" || return 1
	cp /etc/fstab fstab 2>/dev/null || touch fstab
}

teardown() {
	cp "$BATS_TEST_TMPDIR/fstab" /etc/fstab
	rm -f /etc/projects /etc/projid
}

# limits PATH: soft and hard of space and of inodes.
limits() {
	fsquota usage --json "$1" | jq -r '.. | objects | select(has("id")) |
		"\(.soft_bytes) \(.hard_bytes) \(.soft_inodes) \(.hard_inodes)"'
}

@test "a default name that is another's is not given" {
	fresh_fs x
	echo 'volume1048577:5' >/etc/projid
	mkdir /mnt/x/dir
	prints 1048577 fsquota assign --hard 1M /mnt/x/dir
	assert_equal "$(</etc/projid)" volume1048577:5
	assert_equal "$(</etc/projects)" 1048577:/mnt/x/dir
}

@test "resize takes soft limits along that would be above the hard ones" {
	fresh_fs x
	mkdir /mnt/x/dir
	fsquota assign --hard 10M --soft 9M --hard-inodes 10 --soft-inodes 9 /mnt/x/dir
	run -0 fsquota resize --allow-shrink --hard-inodes 5 /mnt/x/dir 4M
	assert_equal "$(limits /mnt/x/dir)" '4194304 4194304 5 5'
}

@test "a soft limit that is equal to the hard limit stays equal, of space and of inodes" {
	local option
	fresh_fs x
	mkdir /mnt/x/dir
	fsquota assign --hard 10M --soft 10M --hard-inodes 10 --soft-inodes 10 /mnt/x/dir
	for option in '' --hard; do
		fsquota resize /mnt/x/dir $option 30M --hard-inodes 30
		assert_equal "$(limits /mnt/x/dir)" '31457280 31457280 30 30'
		fsquota resize --allow-shrink --hard 20M --hard-inodes 20 /mnt/x/dir
		assert_equal "$(limits /mnt/x/dir)" '20971520 20971520 20 20'
	done
	fsquota resize --hard +10M /mnt/x/dir
	assert_equal "$(limits /mnt/x/dir)" '31457280 31457280 20 20'
	fsquota resize /mnt/x/dir 40M --soft 35M --hard-inodes 40 --soft-inodes 35
	assert_equal "$(limits /mnt/x/dir)" '36700160 41943040 35 40'
	fsquota resize /mnt/x/dir 50M --hard-inodes 50
	assert_equal "$(limits /mnt/x/dir)" '36700160 52428800 35 50'
}

@test "a switch of a type that a filesystem does not count is refused, also in a dry run" {
	fresh_fs e -o prjquota -E quotatype=prjquota
	run_split fsquota enable -u --dry-run /mnt/e
	local foreseen="$status $stderr"
	run_split fsquota enable -u /mnt/e
	fresh_fs e
	assert_equal "$status $stderr" "$foreseen"
	[ "$status" != 0 ]
}

@test "project foresees that a read-only mount and a user namespace refuse" {
	fresh_fs x
	mkdir -p /mnt/x/dir /mnt/read-only
	mount --bind /mnt/x /mnt/read-only
	mount -o remount,bind,ro /mnt/read-only
	run_split fsquota project -s --dry-run -p /mnt/read-only/dir 42 /mnt/read-only
	umount /mnt/read-only
	[[ $stderr == *'Read-only file system'* ]] || fail "$stderr"
	run_split unshare -Ur fsquota project -s --dry-run -p /mnt/x/dir 42 /mnt/x
	[ "$status" != 0 ]
	prints 0 fsquota id /mnt/x/dir
}

@test "what a killed release has left of a project is released without a filesystem, if it is a name" {
	fresh_each x e
	echo web:1048580 >/etc/projid
	refuses 5 /nowhere fsquota release --name web --at /nowhere
	prints 'would-release project 1048580 (web): 1 line' fsquota release --name web --dry-run
	assert_equal "$(</etc/projid)" web:1048580
	# Limits may be all that there is of it.
	real -f -c 'limit -p bhard=1m 1048580' /mnt/e
	refuses 5 "with --at" fsquota release --name web
	run -0 fsquota release --name web --at /mnt/e
	assert_equal "$(</etc/projid)" ''
	# ext4 may keep an empty record for a while.
	[[ $(kernel_has /mnt/e 1048580) =~ ^[0\ ]*$ ]]
	echo web:1048580 >/etc/projid
	run -0 fsquota release --name web
	assert_equal "$(</etc/projid)" ''
	# Of an ID that no assignment chooses, the filesystem may be one that is not mounted.
	echo web:42 >/etc/projid
	refuses 5 "with --at" fsquota release --name web
	assert_equal "$(</etc/projid)" web:42
}

@test "a directory is released by its name when the one above it is gone, too" {
	fresh_fs x
	mkdir -p /mnt/x/above/dir
	fsquota assign --hard 1M /mnt/x/above/dir
	rm -r /mnt/x/above
	run -0 fsquota release /mnt/x/above/dir
	assert_equal "$(cat /etc/projects /etc/projid)" ''
}

@test "a tree is tagged where directories do not say what their entries are" {
	fresh_fs e -O ^filetype
	mkdir -p /mnt/e/dir/sub
	touch /mnt/e/dir/{file,sub/file}
	ln -s file /mnt/e/dir/link
	run -0 fsquota assign --hard 1M /mnt/e/dir
	run -0 fsquota id /mnt/e/dir/file /mnt/e/dir/sub/file /mnt/e/dir/sub
	assert_equal "$(grep -c 1048577 <<<"$output")" 3
	run -0 fsquota release /mnt/e/dir
	fresh_fs e
}

@test "apply takes quotes and backslashes, and a directory with slashes behind it" {
	fresh_fs x
	mkdir "/mnt/x/a b" '/mnt/x/c*' /mnt/x/cd /mnt/x/e
	cat >conf <<-'EOF'
		"/mnt/x/a b" hard=1M
		/mnt/x/c\* hard=2M
		"/mnt/x/"e// hard=3M
	EOF
	run -0 fsquota apply conf
	assert_equal "$(fsquota list --raw --noheadings -o PATH,HARD --bytes /mnt/x | sort)" "/mnt/x/a\\x20b 1048576
/mnt/x/c* 2097152
/mnt/x/e 3145728"
}

@test "a service manager is told at an abstract socket, too" {
	fresh_fs x
	mkdir /mnt/x/full
	fsquota assign --hard-inodes 1 /mnt/x/full
	NOTIFY_SOCKET=@nobody-is-there run -0 timeout 100 fsquota watch --initial --count 1 /mnt/x
}

@test "doctor tells of an overlay whose two directories are far from each other" {
	fresh_fs x
	mkdir -p /mnt/x/one/upper /mnt/x/two/deep/work lower merged
	mount -t overlay overlay -o lowerdir="$PWD/lower",upperdir=/mnt/x/one/upper,workdir=/mnt/x/two/deep/work merged
	run fsquota doctor "$PWD/merged"
	umount merged
	[[ $output == *overlay* ]] || fail "$output"
}

@test "a directory joins a project by its name, whatever ID of others it carries" {
	fresh_fs x
	mkdir -p /mnt/x/a/sub /mnt/x/b
	echo 'six:6' >/etc/projid
	fsquota project -s -p /mnt/x/a 88 /mnt/x >/dev/null
	fsquota project -s -p /mnt/x/b 88 /mnt/x >/dev/null
	prints 6 fsquota assign --hard 1M --name six /mnt/x/a
	run -0 fsquota id /mnt/x/a /mnt/x/a/sub
	assert_equal "$(grep -cw 6 <<<"$output")" 2
	prints 88 fsquota id /mnt/x/b
}

@test "a registered directory without a name gets the one it is called by, and no second one" {
	fresh_fs x
	local long
	mkdir /mnt/x/a /mnt/x/b
	echo 77:/mnt/x/a >/etc/projects
	fsquota project -s -p /mnt/x/a 77 /mnt/x >/dev/null
	prints 77 fsquota assign --hard 1M --name seven /mnt/x/a
	assert_equal "$(</etc/projid)" seven:77
	long=$(printf 'n%.0s' {1..160})
	echo "$long:77" >/etc/projid
	refuses 6 'belongs to project' fsquota assign --hard 1M --name other /mnt/x/a
	# And a directory whose name fills a line.
	mkdir "/mnt/x/$long"
	echo "88:/mnt/x/$long" >>/etc/projects
	fsquota project -s -p /mnt/x/b 88 /mnt/x >/dev/null
	refuses 6 'which belongs to /mnt/x/nnn' fsquota assign --hard 1M /mnt/x/b
	assert_equal "$(</etc/projid)" "$long:77"
}

@test "a range is searched to its end, and what is not answered is told" {
	local when
	fresh_fs x
	mkdir /mnt/x/dir
	real -c 'limit -p bhard=1m 500' -c 'limit -p bhard=1m 501' /mnt/x
	# Asked for are 500, 501 and 505; then what is between, or each of the range.
	for when in 500-600:4 500-504:3; do
		exits 1 injecting quotactl_fd "error=EIO:when=${when#*:}" fsquota assign --hard 1M --id-range "${when%:*}" /mnt/x/dir
		[[ $stderr == *'cannot ask for unused project IDs: Input/output error'* ]] || fail "$stderr"
	done
	prints 502 fsquota assign --hard 1M --id-range 500-504 /mnt/x/dir
}

@test "a directory that is registered twice is not taken for one that has all" {
	fresh_fs x
	mkdir /mnt/x/dir
	fsquota assign --hard 1M /mnt/x/dir
	cat /etc/projects /etc/projects >twice
	cat twice >/etc/projects
	echo '/mnt/x/dir hard=1M' >conf
	run -0 fsquota apply conf
	assert_equal "$(limits /mnt/x/dir)" 'null 1048576 null null'
}

# bats test_tags=slow,full
@test "release foresees which lines of directories that are gone it takes" {
	local id foreseen
	fresh_each x x2
	printf '5:/mnt/x/gone\n6:/mnt/x/gone\n' >/etc/projects
	printf 'five:5\nsix:6\n' >/etc/projid
	run -5 fsquota release --id 7 /mnt/x/none
	run -6 fsquota release --id 6 /mnt/x/gone
	for id in 6 5 6; do
		run fsquota release --json --dry-run --id $id --at /mnt/x
		foreseen=$id:$status:$(jq -c '.release[].lines' <<<"$output")
		run fsquota release --json --id $id --at /mnt/x
		assert_equal "$id:$status:$(jq -c '.release[].lines' <<<"$output")" "$foreseen"
	done
	assert_equal "$(cat /etc/projects /etc/projid)" ''
	# A directory elsewhere keeps the name.
	mkdir /mnt/x2/there
	printf '5:/mnt/x/gone\n5:/mnt/x2/there\n' >/etc/projects
	echo five:5 >/etc/projid
	run -0 fsquota release --dry-run --id 5 --at /mnt/x
	run -0 fsquota release --id 5 --at /mnt/x
	assert_equal "$(cat /etc/projects /etc/projid)" $'5:/mnt/x2/there\nfive:5'
	# By its own name, and the ID that it has.
	echo 5:/mnt/x/gone >/etc/projects
	run -0 fsquota release --id 5 /mnt/x/gone
	assert_equal "$(cat /etc/projects /etc/projid)" ''
}

@test "prune takes lines that share an ID, or a directory, and looks at a filesystem once" {
	fresh_fs x
	mkdir -p /mnt/x/pods/u/{etc,volumes}/v again
	mount --bind /mnt/x again
	printf '%s\n' 5:/mnt/x/one 5:/mnt/x/other 6:/mnt/x/one 1048580:/mnt/x/pods/u/etc/v \
		1048581:/mnt/x/pods/u/volumes/v 7:/mnt/x/pods >/etc/projects
	echo five:5 >/etc/projid
	real -c 'limit -p bhard=1m 5' -c 'limit -p bhard=1m 1048600' /mnt/x
	run -0 fsquota prune /mnt/x
	# In doubt are the first line of /mnt/x/one of another project, and those of what is there.
	assert_equal "$(cut -d: -f1 /etc/projects | sort -n | tr '\n' ' ')" '6 7 1048580 1048581 '
	run -0 fsquota prune --all /mnt/x
	run -0 fsquota prune
	umount again
	assert_equal "$(cat /etc/projid)" ''
	assert_equal "$(grep -v :/mnt/x/pods /etc/projects)" ''
	assert_equal "$(real -c 'report -p -n -N' /mnt/x | awk '$4 > 0')" ''
}

@test "statfs shows what is empty, also below a directory that cannot be read" {
	fresh_fs x
	mkdir /mnt/x/dir /mnt/x/none
	chmod 755 /mnt/x
	fsquota assign --hard 1M /mnt/x/dir
	local mode
	for mode in 755 711; do
		chmod $mode /mnt/x
		prints "0B >=1M statfs" as_user fsquota usage --raw -No USED,HARD,SOURCE /mnt/x/dir
	done
	# The root of the filesystem has the ID, and does not hand it on: statfs shows all of it.
	chmod 755 /mnt/x
	chattr -p 1048577 /mnt/x
	prints "0B >=1M statfs" as_user fsquota usage --raw -No USED,HARD,SOURCE /mnt/x/dir
	run_split as_user fsquota usage /mnt/x/none
	[ "$status" != 0 ]
	[ -n "$stderr" ]
}

# found WORD [PATH...]: how often doctor, as "doctor" calls it, finds it.
found() {
	local word=$1
	shift
	"${doctor[@]}" --json "$@" | jq -r '.doctor[].finding' | grep -cx "$word"
}

# bats test_tags=slow,full
@test "doctor knows every limit of the project that an overlay is in" {
	fresh_fs x
	mkdir -p /mnt/x/c/{upper,work} /mnt/x/lower merged
	fsquota project -s -p /mnt/x/c 88 /mnt/x >/dev/null
	mount -t overlay overlay -o "lowerdir=/mnt/x/lower,upperdir=/mnt/x/c/upper,workdir=/mnt/x/c/work" merged
	local doctor=(fsquota doctor) limit no='bsoft=0 bhard=0 isoft=0 ihard=0'
	assert_equal "$(found overlay-unlimited "$PWD/merged")" 1
	for limit in bsoft=1m bhard=1m isoft=10 ihard=10; do
		real -c "limit -p $no 88" -c "limit -p $limit 88" /mnt/x
		assert_equal "$limit $(found overlay-unlimited "$PWD/merged")" "$limit 0"
		assert_equal "$limit $(found overlay-limited "$PWD/merged")" "$limit 1"
	done
	umount merged
}

@test "doctor says where it cannot see the layers of an overlay" {
	fresh_fs x
	mkdir -p /mnt/x/c/{upper,work} /mnt/x/lower merged
	local doctor=(fsquota doctor) here=$PWD upper work
	cd /mnt/x/c
	for upper in upper "$PWD/upper"; do
		for work in work "$PWD/work"; do
			mount -t overlay overlay -o "lowerdir=/mnt/x/lower,upperdir=$upper,workdir=$work" "$here/merged"
			[ "$upper$work" != "$PWD/upper$PWD/work" ] || break
			assert_equal "$upper $work $(found overlay "$here/merged")" "$upper $work 1"
			umount "$here/merged"
		done
	done
	assert_equal "$(found overlay "$here/merged")" 0
	mv work elsewhere
	assert_equal "$(found overlay "$here/merged")" 1
	mv elsewhere work
	umount "$here/merged"
}

@test "doctor knows an overlay that nobody can write to, and one whose workdir has another ID" {
	fresh_fs x
	mkdir -p /mnt/x/c/{upper,work} /mnt/x/lower /mnt/x/other merged
	mount -t overlay overlay -o lowerdir=/mnt/x/lower:/mnt/x/other merged
	local doctor=(fsquota doctor)
	assert_equal "$(found overlay-unlimited "$PWD/merged")" 0
	umount merged
	chattr +P -p 88 /mnt/x/c/work
	mount -t overlay overlay -o "lowerdir=/mnt/x/lower,upperdir=/mnt/x/c/upper,workdir=/mnt/x/c/work" merged
	run fsquota doctor --json "$PWD/merged"
	sh -ec "$(jq -r '.doctor[] | select(.finding == "overlay-split") | .repair' <<<"$output")"
	assert_equal "$(found overlay-split "$PWD/merged")" 0
	umount merged
	prints 88 fsquota id /mnt/x/c/upper
}

@test "doctor names a directory above that hands its ID on, and no other" {
	fresh_fs x
	mkdir -p /mnt/x/above/dir
	chmod 755 /mnt/x
	local doctor=(fsquota doctor)
	chattr +P -p 88 /mnt/x/above/dir
	chattr -p 88 /mnt/x/above
	assert_equal "$(found project-above /mnt/x/above/dir)" 0
	chattr +P /mnt/x/above
	assert_equal "$(found project-above /mnt/x/above/dir)" 1
	chattr +P -p 88 /mnt/x
	assert_equal "$(found project-above /mnt/x)" 0
	# A list of projects that cannot be read is told, but not believed.
	doctor=(fsquota doctor --projects-file "$PWD")
	assert_equal "$(found project-above /mnt/x/above/dir)" 0
	assert_equal "$(found registry-unreadable /mnt/x/above/dir)" 1
	# Who may pass through a directory, but not read it, does not see its ID.
	doctor=(as_user fsquota doctor)
	assert_equal "$(found project-above /mnt/x/above/dir)" 1
	chmod 711 /mnt/x/above
	assert_equal "$(found project-above /mnt/x/above/dir)" 0
}

@test "doctor looks at a filesystem once, and at the last ID there is" {
	fresh_fs x
	mkdir again
	mount --bind /mnt/x again
	real -c 'limit -p bhard=1m 4294967294' /mnt/x
	run timeout 100 fsquota doctor --json
	umount again
	real -c 'limit -p bhard=0 4294967294' /mnt/x
	assert_equal "$(jq -r '.doctor[] | select(.finding == "quota-on") | .path' <<<"$output" |
		grep -cx -e /mnt/x -e "$PWD/again")" 1
	[[ $output == *4294967294* ]] || fail "$output"
}

@test "doctor of an ordinary user counts, and passes over what he may not see" {
	fresh_fs x
	mkdir -p /mnt/x/dir /mnt/x/closed/mount
	chmod 755 /mnt/x
	chmod 777 /mnt/x/dir
	fsquota assign --hard 1M /mnt/x/dir
	chmod 700 /mnt/x/closed
	mount --bind /mnt/x2 /mnt/x/closed/mount
	local doctor=(as_user fsquota doctor --deep)
	assert_equal "$(found count-differs /mnt/x)" 0
	assert_equal "$(found tree-has-others)" 0
	umount /mnt/x/closed/mount
}

@test "doctor sees that the files, or their filesystem, are read-only" {
	fresh_fs x2
	local doctor=(fsquota doctor --projects-file /mnt/x2/lines --projid-file /no-such-file) before
	before=$(found registry-read-only /mnt/x || true)
	umount /mnt/x2
	mount -t xfs -o ro,pquota "$FSQ_X2_DEV" /mnt/x2
	assert_equal "$(found registry-read-only /mnt/x)" $((before + 1))
	mount -o remount,bind,rw /mnt/x2
	grep -q ' /mnt/x2 rw.* ro,' /proc/self/mountinfo
	assert_equal "$(found read-only /mnt/x2)" 1
	fresh_fs x2
	# Of what is no directory nothing can be in it.
	doctor=(fsquota doctor --projects-file /etc/passwd/lines)
	assert_equal "$(found registry-unreadable /mnt/x)" 0
}

@test "a line without an absolute path is nobody's" {
	fresh_fs x
	printf '%s\n' 5:not/absolute 6:. >/etc/projects
	real -c 'limit -p bhard=1m 5' /mnt/x
	local command
	for command in list 'prune --dry-run' doctor 'find --orphans'; do
		run_split timeout 100 fsquota $command /mnt/x
		[ "$status" -le 3 ] || fail "$command: $status: $stderr"
	done
	assert_equal "$(</etc/projects)" $'5:not/absolute\n6:.'
}

@test "a project on two filesystems is resized, and shown, on one" {
	fresh_each x e
	real -c 'limit -p bhard=1m 5' /mnt/x
	real -c 'limit -p bhard=1m 5' /mnt/e
	local option
	for option in --dry-run --json; do
		run -0 fsquota resize $option --json --id 5 --at /mnt/x 2M
		assert_equal "$(jq '[.. | objects | select(has("hard_bytes")) | .hard_bytes]' -c <<<"$output")" '[2097152]'
	done
	mkdir /mnt/x/dir
	echo 5:/mnt/x/dir >/etc/projects
	echo five:5 >/etc/projid
	run -0 fsquota resize --json --name five 3M
	assert_equal "$(jq '[.. | objects | select(has("hard_bytes")) | .hard_bytes]' -c <<<"$output")" '[3145728]'
	assert_equal "$(kernel_has /mnt/e 5)" '0 0 1024 0 0 0'
}

# As of a process that is stopped while it writes.
@test "a file that somebody has a lease of is waited for, but not the page that report replaces" {
	local file id leased
	local hold='
import fcntl, os, signal, sys, time
signal.signal(signal.SIGIO, signal.SIG_IGN)
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
print("leased", flush=True)
time.sleep(float(sys.argv[2]))'
	fresh_fs x
	mkdir /mnt/x/dir
	id=$(fsquota assign --hard 1M --name leased /mnt/x/dir)
	for file in /etc/projects /etc/projid; do
		coproc lease { python3 -c "$hold" $file 2.5; }
		read -r leased <&"${lease[0]}"
		prints "$id leased /mnt/x/dir" fsquota list --raw -No ID,NAME,PATH /mnt/x
		wait
	done
	# Its owner may be a tenant. The kernel would take the lease away after 45 seconds.
	coproc lease { exec python3 -c "$hold" /mnt/x/page.html 100; }
	read -r leased <&"${lease[0]}"
	timeout -s KILL 40 fsquota report --html /mnt/x/page.html /mnt/x
	kill "$lease_PID"
	grep -q /mnt/x/dir /mnt/x/page.html
}

# bats test_tags=full
@test "a wrong line of fsquota.conf is a warning for commands that read, and stops all others" {
	local line words complaints='' usual usual_status expected reading="
		check /mnt/x
		doctor -q /mnt/x
		explain /mnt/x/conf
		export /mnt/x
		list
		metrics --metric fsquota_project_used_bytes
		top --batch 1 --output PATH
		usage /mnt/x/conf
		watch --initial --over 5 --count 1 --output EVENT" changing="
		apply
		assign /mnt/x/conf
		disable /mnt/x
		enable /mnt/x
		limit bhard=1m 7 /mnt/x
		move /mnt/x/conf /mnt/x/other
		oci-hook createRuntime
		project -s -p /mnt/x/conf 7 /mnt/x
		prune
		release /mnt/x/conf
		resize /mnt/x/conf 1G
		restore /mnt/x
		timer 3d /mnt/x"
	fresh_fs x
	rm -f /etc/projects /etc/projid
	mkdir /mnt/x/conf
	# The line before it counts.
	echo 'projects-file = /run/projects' >/etc/fsquota.conf
	fsquota assign --hard 1M /mnt/x/conf
	dd if=/dev/zero of=/mnt/x/conf/file bs=64k count=1 conv=fsync status=none
	[ -s /run/projects ]
	while read -ra words; do
		[ ${#words[@]} -gt 0 ] || continue
		echo 'projects-file = /run/projects' >/etc/fsquota.conf
		run_split fsquota "${words[@]}"
		usual=$stdout usual_status=$status
		for line in 'lock-timout = 5' 'lock-timeout = soon' 'id-range = 5' 'log = book' 'register' 'budget = /home' 'budgt = /home 1T'; do
			printf 'projects-file = /run/projects\n%s\n' "$line" >/etc/fsquota.conf
			expected=$usual_status
			[[ ${words[0]} != check || $line != budg* ]] || expected=2
			run_split fsquota "${words[@]}"
			[ "$status:$stdout" = "$expected:$usual" ] || complain "$line: ${words[*]}: $status $stdout"
			[[ $stderr == *'fsquota.conf, line 2: '*"${line##*= }"* || $stderr == *"${line%% *}"* ]] || complain "$line: ${words[*]}: $stderr"
			[ "$(grep -c . <<<"$stderr")" = 1 ] || complain "$line: ${words[*]}: not one line: $stderr"
		done
		echo 'projects-file = projects' >/etc/fsquota.conf
		run_split fsquota "${words[@]}"
		[ "$status:$stdout" = 2: ] || complain "${words[*]}: it has read another file: $status"
	done <<<"$reading"
	echo 'lock-timout = 5' >/etc/fsquota.conf
	while read -ra words; do
		[ ${#words[@]} -gt 0 ] || continue
		run_split fsquota "${words[@]}"
		[[ $status:$stdout:$stderr == 2::*'fsquota.conf, line 1: there is no key "lock-timout"; a line is KEY = VALUE, see fsquota.conf(5)' ]] || complain "${words[*]}: $status $stderr"
	done <<<"$changing"
	rm /etc/fsquota.conf /run/projects
	no_complaints
	forgets_none "$(sed 's/^	//' <<<"$reading$changing")" 'batch|completion|df|dump|find|help|id|lsattr|off|path|print|quit|quot|quota|remove|report|schema|setup|state|supported|warn'
}

# Sets zero: all that ID 0 has on $fs, but for what it uses.
see_zero() { zero=$(real -c 'dump -p' -c 'state -p' /mnt/$fs | grep -E '^0 |grace'); }

# leaves_zero COMMAND...: whatever its status is, it leaves ID 0 as it was.
leaves_zero() {
	local before
	see_zero
	before=$zero
	run_split fsquota "$@"
	see_zero
	[ "$zero" = "$before" ] || complain "$fs, line $line: $*: $zero$stderr"
}

# each_leaves_zero: with $line in the projects file and "zero" as a name of ID 0.
each_leaves_zero() {
	local id
	rm -rf /mnt/$fs/*
	mkdir /mnt/$fs/{z,other,moved-from}
	touch /mnt/$fs/z/file
	echo zero:0 >/etc/projid
	printf '%s/mnt/%s/z\n' "$line" $fs >/etc/projects
	echo "/mnt/$fs/z hard=5M" >lines
	leaves_zero release /mnt/$fs/z --dry-run
	leaves_zero release /mnt/$fs/z
	leaves_zero release --name zero --at /mnt/$fs
	leaves_zero resize /mnt/$fs/z 9M
	leaves_zero resize --name zero --at /mnt/$fs 9M
	leaves_zero resize --over 0 --at /mnt/$fs 900M
	leaves_zero assign --keep-limits /mnt/$fs/z
	leaves_zero assign --hard 6M --name zero /mnt/$fs/other
	[ "$status" = 6 ] && [[ $stderr == *'"zero"'* ]] || complain "assign --name zero: $status $stderr"
	leaves_zero prune --all /mnt/$fs
	leaves_zero move /mnt/$fs/z /mnt/$fs/moved --rename
	leaves_zero apply lines
	id=$(fsquota id /mnt/$fs/z)
	[ "$id" != 0 ] || complain "$fs, $line: apply gives no ID: $stderr"
	assert_equal "$(kernel_has /mnt/$fs "$id" | cut -d' ' -f3)" 5120
	leaves_zero assign --hard 4M /mnt/$fs/z
	assert_equal "$(kernel_has /mnt/$fs "$id" | cut -d' ' -f3)" 4096
	leaves_zero release /mnt/$fs/z
	assert_equal "$status:$(fsquota id /mnt/$fs/z /mnt/$fs/z/file | uniq)" 0:0
	settle /mnt/$fs
	rm -rf /mnt/$fs/z
	leaves_zero release /mnt/$fs/z
	leaves_zero prune --all
	run_split fsquota doctor -q /mnt/$fs
	[[ $stdout == *"/etc/projects: line 1 is none for fsquota, but other programs may read ID 0 in it"* ]] ||
		complain "doctor, $line: $stdout"
	[[ $stdout != *"registered with project 0"* ]] || complain "doctor, $line: $stdout"
}

# bats test_tags=full
@test "a line with ID 0 is none: what ID 0 has stays, whatever is done to the directory" {
	local fs line zero
	for fs in x e f; do
		fresh_fs $fs
		real -c 'limit -p bhard=900g ihard=900000 0' /mnt/$fs
		for line in '0:' ' 0:' '00:' '+0:' $'0\t:'; do each_leaves_zero; done
		fresh_fs $fs
	done
	no_complaints
}
