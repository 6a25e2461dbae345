#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# Do the limits hold? A directory that is made anew, restored or changed by its owner is outside of its quota, and each
# command that shows its numbers says so.

load ../lib/fsquota

setup() {
	fresh_each x e f
	rm -f /etc/projects /etc/projid
}

# on_each TEST: on XFS, ext4 and f2fs; $dir is registered, and limited to 10 MiB.
on_each() {
	local fs dir
	for fs in x e f; do
		: >/etc/projects >/etc/projid
		dir=/mnt/$fs/dir
		mkdir $dir
		succeeds fsquota assign $dir --hard 10M
		"$@"
		rm -rf $dir
	done
}

# told WARNING COMMAND [STATUS]: the command has this status, 0 if none is given, and this line on stderr.
told() {
	run_split fsquota $2
	assert_equal "$2: $status:$stderr" "$2: ${3-0}:fsquota ${2%% *}: $dir: $1"
}

# says WORD WARNING: each command does.
says() {
	local warning=$2
	told "$warning" "usage $dir"
	told "$warning" "usage -No HARD,INFORCE $dir"
	assert_output --regexp "^10M $1 *$"
	told "$warning" "list --raw -No PATH,INFORCE /mnt/$fs"
	assert_line "$dir $1"
	told "$warning" "list --tree $dir"
	told "$warning" "check $dir" 10
	assert_line --index 1 --partial "$dir"
	told "$warning" "check -q" 10
	assert_output ''
	told "$warning" "resize $dir 10M"
	told "$warning" "resize --over 0 --at /mnt/$fs 10M"
	succeeds fsquota metrics --metric fsquota_project_in_force /mnt/$fs
	assert_line --regexp "^fsquota_project_in_force.*path=\"$dir\".* 0$"
	fsquota report --html "$BATS_TEST_TMPDIR/page" /mnt/$fs
	grep -qF "<td>$dir<br><span class=\"problem\">not in force: $1</span>" "$BATS_TEST_TMPDIR/page"
	run jq -c '.list[].in_force, .messages' <(fsquota list --json $dir 2>/dev/null)
	assert_line --index 0 "\"$1\""
	# Who asks for less gets less.
	succeeds fsquota list --quick $dir
	succeeds fsquota metrics --quick --metric fsquota_project_in_force /mnt/$fs
	refute_line --regexp '^fsquota_project_in_force'
	run ! jq -e '.list[] | has("in_force")' <(fsquota list --quick --json $dir)
}

holds() {
	succeeds fsquota check
	assert_output ''
	succeeds fsquota list --raw -No INFORCE $dir
	assert_output yes
	prints '"yes"' jq -c '.usage[].in_force' <(fsquota usage --json $dir)
	succeeds fsquota metrics --metric fsquota_project_in_force /mnt/$fs
	assert_line --regexp "^fsquota_project_in_force.*path=\"$dir\".* 1$"
}

made_anew() {
	local id
	holds
	id=$(fsquota usage --raw -No ID $dir)
	rmdir $dir && mkdir $dir
	says other-id "is outside of its quota: it carries ID 0, and is registered with $id; fsquota assign gives it that again"
	succeeds fsquota assign $dir
	holds
}
@test "a directory that was made anew is outside of its quota, until it is assigned again" { on_each made_anew; }

not_handed_on() {
	local id
	id=$(fsquota usage --raw -No ID $dir)
	chattr -P $dir
	says not-inherited "does not hand its project $id on: what is made in it is outside of its quota; fsquota assign repairs that"
	succeeds fsquota assign $dir
	holds
}
@test "a directory that does not hand its ID on is told, until it is assigned again" { on_each not_handed_on; }

not_enforced() {
	local message="limits are not enforced on this filesystem: they stop nobody"
	fsquota disable -p /mnt/$fs
	run_split fsquota usage --raw -No ENFORCED,INFORCE $dir
	assert_equal "$status:$stdout:$stderr" "0:no not-enforced:fsquota usage: /mnt/$fs: $message"
	mkdir $dir/2
	fsquota assign $dir/2 --hard 1M >/dev/null 2>&1
	run_split fsquota list --raw -No INFORCE /mnt/$fs
	assert_equal "$status:$stdout:$stderr" "0:"$'not-enforced\nnot-enforced'":fsquota list: /mnt/$fs: $message"
	exits 10 fsquota check $dir
	# Without limits nothing has to hold.
	fsquota assign $dir --unlimited 2>/dev/null
	fsquota assign $dir/2 --unlimited 2>/dev/null
	is_silent fsquota check $dir
	fsquota enable -p /mnt/$fs
}
@test "limits that are not enforced are told once for each filesystem" {
	local fs dir
	for fs in x e; do
		dir=/mnt/$fs/dir
		mkdir $dir
		fsquota assign $dir --hard 10M >/dev/null
		not_enforced
	done
}

beside() {
	local id
	id=$(fsquota usage --raw -No ID $dir)
	# Of several directories the one that is outside is named, and what is gone is not.
	mkdir $dir.{2,3}
	fsquota assign --name both $dir.2 --hard 1M >/dev/null
	fsquota assign --name both $dir.3 >/dev/null
	rmdir $dir.{2,3} && mkdir $dir.3
	run_split fsquota list --raw -No NAME,INFORCE /mnt/$fs
	assert_line "both other-id"
	[[ $stderr == "fsquota list: $dir.3: is outside of its quota: "* ]] || fail "$stderr"
	rmdir $dir.3
	succeeds fsquota list --raw -No NAME,INFORCE /mnt/$fs
	assert_line 'both gone'
	# What is full matters more.
	rmdir $dir && mkdir $dir
	exits 10 fsquota check
	mkdir $dir.2
	fsquota assign $dir.2 >/dev/null
	dd if=/dev/zero of=$dir.2/file bs=64k count=16 conv=fsync status=none 2>/dev/null || :
	exits 8 fsquota check
	rm -rf $dir.2
}
@test "of several directories the one that is outside is named, and full matters more" { on_each beside; }
