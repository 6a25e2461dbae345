#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# Grace times in the lines of apply and of export.

# shellcheck disable=SC2154 # run_split sets status, stdout and stderr
load ../lib/fsquota

setup() {
	rm -rf /etc/projects* /etc/projid* /etc/fsquota.conf /etc/fsquota.d
	fresh_each x e
	mkdir /etc/fsquota.d
}

teardown() { rm -rf /etc/fsquota.d; }

# on_each TEST: with $top on XFS, and on ext4.
on_each() {
	local top
	for top in /mnt/x /mnt/e; do
		rm -f /etc/fsquota.d/* /etc/projects* /etc/projid*
		"$@"
	done
}

# says LINE...: the lines that there are.
says() { printf '%s\n' "$@" >/etc/fsquota.d/node.conf; }

# lasts TIME INODES: these are the grace times at $top, in seconds.
lasts() {
	assert_equal "$(fsquota state -p --json $top | jq -c '.state[0] | [.bytes_grace_seconds, .inodes_grace_seconds]')" "[$1,$2]"
}

# writes COUNT WORD...: "fsquota WORD..." succeeds, and sets a record so often.
writes() {
	local count=$1
	shift
	run_split strace -f -qq -e trace=quotactl,quotactl_fd -o "$BATS_TEST_TMPDIR/trace" "$FSQUOTA" "$@"
	assert_equal "$*: $status:$stderr" "$*: 0:"
	# Without data it asks for the right.
	assert_equal "$(grep SETQLIM "$BATS_TEST_TMPDIR/trace" | grep -vc 'NULL')" "$count"
}

moves() {
	local name=${top##*/} exported
	mkdir $top/v
	fsquota assign $top/v --hard 10M --soft 5M >/dev/null
	assert_equal "$(fsquota export $top)" "$top/v hard=10M soft=5M"
	fsquota timer "$1" $top
	fsquota timer -i "$2" $top
	exported=$(fsquota export $top)
	assert_equal "$exported" "$top $3"$'\n'"$top/v hard=10M soft=5M"
	assert_equal "$(fsquota export $top/v)" "$top/v hard=10M soft=5M"
	fresh_fs "$name"
	rm -f /etc/projects* /etc/projid*
	mkdir $top/v
	lasts 604800 604800
	says "$exported"
	writes 2 apply --diff
	lasts "$4" "$5"
	assert_equal "$(fsquota export $top)" "$exported"
	writes 0 apply --exit-code
	assert_equal "$stdout" "unchanged $top"$'\n'"unchanged $top/v"
	writes 0 apply --exit-code --quiet
	assert_equal "$stdout" ''
	# It is on the disk.
	umount $top
	fresh_again "$name"
	lasts "$4" "$5"
	fsquota release $top/v
	rmdir $top/v
	fsquota timer 7d $top
}

# fresh_again NAME: mounted as fresh_fs does, with what is on it.
fresh_again() {
	local device=FSQ_${1^^}_DEV
	mount -o prjquota "${!device}" "/mnt/$1"
}

# bats test_tags=full
@test "a filesystem gets the grace times that export has printed of another one" {
	on_each moves 3d 3d grace=3d 259200 259200
	on_each moves 90m 7d 'grace=90m grace-inodes=7d' 5400 604800
	on_each moves 7d 26h 'grace=7d grace-inodes=26h' 604800 93600
	on_each moves 61 120 'grace=61 grace-inodes=2m' 61 120
}

changes() {
	local other=/mnt/x
	[ $top = /mnt/e ] || other=/mnt/e
	says "$top grace=4weeks"
	succeeds fsquota apply --dry-run --diff
	assert_equal "$stdout" "would-change  $top, grace 7d -> 28d, grace-inodes 7d -> 28d"
	exits 9 fsquota apply --dry-run --quiet --exit-code
	lasts 604800 604800
	exits 9 fsquota apply --exit-code --diff --json
	assert_equal "$(jq -c '.apply[] | [.path, .action, .changed, .id, .file, .line, .before, .grace_before.bytes_grace_seconds,
		.grace_after.bytes_grace_seconds, .grace_after.inodes_grace_seconds]' <<<"$stdout")" \
		"[\"$top\",\"changed\",true,null,\"/etc/fsquota.d/node.conf\",1,null,604800,2419200,2419200]"
	lasts 2419200 2419200
	# No directory has a quota for it, and a line that goes takes nothing away.
	[ ! -s /etc/projects ]
	assert_equal "$(fsquota id $top | awk '{ print $NF }')" "$(fsquota id $other | awk '{ print $NF }')"
	says "$top budget=1T"
	succeeds fsquota apply
	lasts 2419200 2419200
	# One of both stays.
	says "$top grace-inodes=1d"
	succeeds fsquota apply --diff
	assert_equal "$stdout" "changed   $top, grace-inodes 28d -> 1d"
	lasts 2419200 86400
	# Beside a quota and a budget.
	mkdir $top/v
	says "$top/v hard=1M" "$top grace=0 budget=1T overcommit=100%" '# end'
	succeeds fsquota apply --diff
	assert_equal "$stdout" "changed   $top, grace 28d -> none, grace-inodes 1d -> none
created   $top/v, hard none -> 1M"
	lasts null null
	says "$top/v hard=2M"
	fsquota apply --diff
	fsquota release $top/v
	fsquota timer 7d $top
}

@test "apply changes grace times that differ, and nothing else" { on_each changes; }

directory() {
	local why="fsquota apply: $top/v: is no mount point: a grace time is of a whole filesystem, so put grace= on the line of $top"
	mkdir -p $top/{v,w}
	says "$top/v grace=3d hard=1M" "$top/w hard=1M"
	run_split fsquota apply
	assert_equal "$status:$stdout:$stderr" "7:failed    $top/v
created   $top/v
created   $top/w:$why"
	run_split fsquota apply --json
	assert_equal "$status:$(jq -c .error.code <<<"$stderr"):$(jq -c '[.apply[] | [.path, .action]]' <<<"$stdout")" \
		"2:\"usage\":[[\"$top/v\",\"failed\"],[\"$top/v\",\"unchanged\"],[\"$top/w\",\"unchanged\"]]"
	lasts 604800 604800
	fsquota release $top/v $top/w
	# Nor is it of the filesystem, of which another line says something.
	says "$top grace=7d" "$top/v grace=3d"
	run_split fsquota apply
	assert_equal "$status:$stdout:$stderr" "2:unchanged $top"$'\n'"failed    $top/v:$why"
	# What is mounted there later has its own.
	mount --bind $top/w $top/v
	says "$top/v grace=3d"
	succeeds fsquota apply
	umount $top/v
	lasts 259200 259200
	says "$top/* grace=3d"
	refuses 2 'node.conf, line 1: a pattern does not go with grace and grace-inodes: put them on the line of the mount point' fsquota apply
}

@test "grace= on the line of a directory is a failure of that line alone, and names the mount point" { on_each directory; }

@test "wrong times are named, and nothing is changed" {
	local value word top=/mnt/x
	for word in grace grace-inodes; do
		for value in '' = =soon =-1 =+1 =7x =1.5d =4294967296 =999999999999999999999d '=1 d'; do
			says "/mnt/e grace=1d" "/mnt/x $word$value"
			run_split fsquota apply
			[[ $status:$stdout:$stderr == "2::fsquota apply: /etc/fsquota.d/node.conf, line 2: "* ]] || fail "$word$value: $status $stderr"
			[[ $value == '=1 d' || $stderr == *"$word=${value#=} is no time, such as $word=7d" ]] || fail "$word$value: $stderr"
		done
	done
	says '/mnt/x grace=1d grace=2d'
	refuses 2 'grace is given twice' fsquota apply
	says '/mnt/x grace=1d' '/mnt/x/ grace-inodes=2d'
	refuses 2 'line 2: /mnt/x is in /etc/fsquota.d/node.conf, line 1, too' fsquota apply
	lasts 604800 604800
	top=/mnt/e
	lasts 604800 604800
	says '/mnt/x grace=4294967295'
	writes 1 apply
	writes 0 apply
	assert_equal "$(fsquota export /mnt/x)" '/mnt/x grace=4294967295'
}

@test "the line of a later file applies, by whatever mount point, and where two of one file meet the later one does" {
	local top=/mnt/x
	says '/mnt/x grace=1d'
	echo '/mnt/x hard=1M' >/etc/fsquota.d/30.conf
	echo '/mnt/x grace-inodes=2d' >/etc/fsquota.d/z.conf
	rm /etc/fsquota.d/30.conf
	succeeds fsquota apply --diff
	assert_equal "$stdout" 'changed   /mnt/x, grace-inodes 7d -> 2d, instead of /etc/fsquota.d/node.conf, line 1'
	mkdir -p /run/again
	mount --bind /mnt/x /run/again
	echo '/run/again grace=3d' >/etc/fsquota.d/z.conf
	succeeds fsquota apply --diff
	assert_equal "$stdout" 'changed   /run/again, grace 7d -> 3d, grace-inodes 2d -> 3d, instead of /etc/fsquota.d/node.conf, line 1'
	succeeds fsquota apply
	assert_equal "$stdout" 'unchanged /run/again'
	rm /etc/fsquota.d/z.conf
	says '/run/again grace=4d' '/mnt/e grace=1d' '/mnt/x grace=5d'
	run_split fsquota apply
	assert_equal "$status:$stdout:$stderr" '6:changed   /mnt/e
changed   /mnt/x:fsquota apply: /etc/fsquota.d/node.conf, line 3: /mnt/x is in line 1, too, as /run/again: line 3 applies'
	lasts 432000 432000
	# A symlink of root's leads there, too; export prints one line for a filesystem.
	umount /run/again
	rmdir /run/again
	ln -s /mnt/x /run/again
	says '/run/again grace=6d'
	succeeds fsquota apply
	assert_equal "$stdout" 'changed   /run/again'
	rm /run/again
	mkdir -p /run/again
	mount --bind /mnt/x /run/again
	assert_equal "$(fsquota export | grep '^/mnt/[ex] ')" $'/mnt/e grace=1d\n/mnt/x grace=6d'
	assert_equal "$(fsquota export /mnt/x /run/again "$FSQ_X_DEV")" '/mnt/x grace=6d'
	umount /run/again
}

@test "what has no project quota, or is not there, is a failure of its own, and export says nothing of it" {
	local top=/mnt/x
	says '/proc grace=1d' '/nowhere grace=1d' '/mnt/e grace=1d' '/mnt/x grace=2d'
	fresh_fs --bare e
	mkfs.ext4 -q -O ^project,^quota "$FSQ_E_DEV"
	mount "$FSQ_E_DEV" /mnt/e
	run_split fsquota apply
	assert_equal "$(sort <<<"$stdout")" $'changed   /mnt/x\nfailed    /mnt/e\nfailed    /nowhere\nfailed    /proc'
	assert_equal "$(grep -c . <<<"$stderr")" 3
	[[ $stderr == *'/nowhere: cannot open: No such file or directory'* ]]
	[[ $stderr == *'/proc: proc has no project quotas'* ]]
	[[ $stderr == *'/mnt/e: '*'see fsquota setup /mnt/e'* ]]
	lasts 172800 172800
	assert_equal "$(fsquota export | grep '^/mnt/[ex] ')" '/mnt/x grace=2d'
	says '/mnt/x grace=3d'
	run_split as_user fsquota apply
	assert_equal "$status:$stdout" '4:failed    /mnt/x'
	[[ $stderr == 'fsquota apply: /mnt/x: cannot set the grace times: Operation not permitted '* ]]
	mount -o remount,ro /mnt/x
	run_split fsquota apply
	assert_equal "$status:$stdout:$stderr" "1:failed    /mnt/x:fsquota apply: /mnt/x: cannot set the grace times: Read-only file system (remount it read-write first)"
	mount -o remount,rw /mnt/x
}
