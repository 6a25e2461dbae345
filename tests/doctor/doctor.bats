#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# Why quotas do not work here: the caller and the mount.

# shellcheck disable=SC2034 # for doctor.bash
load ../lib/fsquota
load doctor

setup_file() {
	fresh_each x e
	chmod 755 /mnt/x /mnt/e
}

teardown() {
	! mountpoint -q /run/c1 || umount /run/c1
	restore_fstab
}

@test "where all is well every line says so" {
	succeeds fsquota doctor /mnt/x
	assert_equal "$stdout" "ok      caller: may set project IDs and limits
ok      /mnt/x: xfs that counts projects and enforces limits
ok      /etc/projects: entries: 0, none double or unclear
ok      /etc/projid: entries: 0, none double or unclear"
	is_silent fsquota doctor -q /mnt/x
}

@test "without a path every filesystem that can have project quotas is looked at" {
	look
	local fs
	for fs in x x2 e f; do
		[ "$(jq -r 'select(.finding == "quota-on") | .path' <<<"$findings" | grep -cx /mnt/$fs)" = 1 ]
	done
	# No others: /run is in memory.
	run ! grep -F '"/run"' <<<"$findings"
}

@test "a machine without any of them is told so" {
	doctor=(unshare -m sh -c 'umount -R /mnt && exec "$@"' sh "$FSQUOTA" doctor)
	finds problem other-filesystem
	assert_equal "$(jq -r .path <<<"$finding")" /
}

@test "text and JSON say the same" {
	fresh_fs x2 -o uquota
	run_split fsquota doctor --json /mnt/x2
	local json
	json=$(jq -r '.doctor[] | (.level + "        ")[:8] + (.path // "caller") + ": " + .message +
		if .repair then "; repair: " + .repair else "" end' <<<"$stdout")
	exits 3 fsquota doctor /mnt/x2
	assert_equal "$stdout" "$json"
}

@test "a path that does not exist is told, and the others are looked at" {
	run_split fsquota doctor /mnt/nowhere /mnt/x
	assert_equal "$status:$stderr" \
		"5:fsquota doctor: /mnt/nowhere: cannot open: No such file or directory"
	assert_line --partial "/mnt/x: xfs that counts"
}

@test "every finding is in the page, and the page has no other" {
	diff <(sed -n '/^.Sh FINDINGS/,/^.Sh EXIT/s/^.It Cm //p' "$srcdir/man/fsquota-doctor.8" |
		sed 's/ , /\n/g' | sort) \
		<(sed -n 's/.*\.word = "\([a-z0-9-]*\)".*/\1/p' "$srcdir/src/native/cli/finding_words.c" | sort)
}

# examples NUMBER: the commands of an example of the page, and what it shows; names are the guest's.
example() {
	sed -n '/^.Sh EXAMPLES/,/^.Sh SEE/p' "$srcdir/man/fsquota-doctor.8" |
		awk -v wanted="$1" '/^\.Bd/ { number++; next } /^\.Ed/ { inside = 0; next } /^\./ { next }
			number == wanted && !/^[A-Z].*[:.]$/' | sed "s|/dev/vdb1|$FSQ_X2_DEV|g; s|/srv|/mnt/x2|g"
}

# as_shown NUMBER: typed in, it prints what the page says.
as_shown() {
	local script
	script=$(example "$1" | sed -n 's/^# //p')
	prints "$(example "$1" | grep -v '^# ')" sh -c "$script"
}

@test "the examples of the page do what they show" {
	fresh_fs x2 -o noquota
	as_shown 1
	finds ok quota-on /mnt/x2
	fresh_fs x2 -o noquota
	run_split sh -c "$(example 2 | sed 's/^# //')"
	[[ $stdout == *"fsquota setup --yes --unmount /mnt/x2"* ]]
	fresh_fs x2
	as_shown 3
	run ! dd if=/dev/zero of=/run/c1/big bs=64k count=200 conv=fsync
	umount /run/c1
	fsquota release /mnt/x2/c1
}

@test "without CAP_SYS_ADMIN" {
	doctor=(setpriv --reuid 1000 --regid 1000 --clear-groups "$FSQUOTA" doctor)
	finds problem no-capability /mnt/x
	doctor=(setpriv --bounding-set -sys_admin --inh-caps -sys_admin "$FSQUOTA" doctor)
	finds problem no-capability /mnt/x
	doctor=(fsquota doctor)
	no_more no-capability /mnt/x
}

@test "in a user namespace" {
	doctor=(unshare -U -r "$FSQUOTA" doctor)
	finds problem user-namespace /mnt/x
	# What can be seen from there is looked at.
	finds ok quota-on /mnt/x
	doctor=(fsquota doctor)
	no_more user-namespace /mnt/x
}

@test "an XFS with user quota only keeps it, and the other options" {
	fresh_fs x2 -o uquota,noatime,nodev
	finds problem quota-off /mnt/x2
	told_by_others /mnt/x2
	typed
	finds ok quota-on /mnt/x2
	run findmnt -n -o OPTIONS /mnt/x2
	assert_output --regexp 'nodev.*noatime.*usrquota'
}

@test "an XFS does not take prjquota by remount, though mount says so" {
	fresh_fs x2 -o uquota
	mount -o remount,prjquota /mnt/x2
	finds problem quota-off /mnt/x2
	told_by_others /mnt/x2
	typed
	finds ok quota-on /mnt/x2
}
