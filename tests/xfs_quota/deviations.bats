#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Where xfs_quota mode is not the same as xfs_quota, and better: the numbers are those of
# doc/xfs_quota.md; those that one invocation shows are lines D1 to D12 of the lists.
# What the real one does is asserted too, where it ends by itself, so that a deviation that is none any
# more is noticed.

load ../lib/fsquota

setup() {
	fresh_fs x
	fresh_fs x2 -o uquota,gquota,pquota
	projects=$BATS_TEST_TMPDIR/projects
	none=(-D/dev/null -P/dev/null)
}

id_of() { lsattr -pd "$1" | awk '{ print $1 }'; }

@test "deviation 1: a row is one line, however long the device's name is" {
	local name=/dev/mapper-like-volume-group-1-and-a-name
	mknod $name b $((0x$(stat -c %t "$FSQ_X_DEV"))) $((0x$(stat -c %T "$FSQ_X_DEV")))
	echo "$name /mnt/x xfs rw 0 0" >"$BATS_TEST_TMPDIR/mounts"
	local words=(-t "$BATS_TEST_TMPDIR/mounts" "${none[@]}" -c 'quota -p -N -v -b 0' -c 'df -hN' /mnt/x)
	run oracle "${words[@]}"
	assert_equal "${#lines[@]}" 4
	run xfs_quota "${words[@]}"
	rm $name
	assert_equal "${#lines[@]}" 2
	assert_line --index 0 --regexp "^$name +0 +0 +0 +00 \[-+\] /mnt/x$"
	assert_line --index 1 --regexp "^$name +960M .*% /mnt/x$"
}

@test "deviation 2: rows are not repeated for each filesystem" {
	run oracle "${none[@]}" -c 'quota -p -N -v 0' -c 'df -N' /mnt/x /mnt/x2
	assert_equal "${#lines[@]}" 8
	run xfs_quota "${none[@]}" -c 'quota -p -N -v 0' -c 'df -N' /mnt/x /mnt/x2
	assert_equal "${#lines[@]}" 4
	run xfs_quota -x "${none[@]}" -c 'state -p -a' /mnt/x /mnt/x2
	assert_equal "$(grep -c 'Project quota state' <<<"$output")" 2
	mkdir /mnt/x/dir
	run xfs_quota -x "${none[@]}" -c 'project -c -p /mnt/x/dir 5' /mnt/x /mnt/x2
	assert_equal "$(grep -c 'Checking project' <<<"$output")" 1
}

@test "deviation 2: without a path a bind mount is not a further filesystem" {
	mkdir -p /mnt/bind
	mount --bind /mnt/x /mnt/bind
	run oracle "${none[@]}" -c print
	assert_line --partial /mnt/bind
	run xfs_quota "${none[@]}" -c print
	refute_line --partial /mnt/bind
	assert_line --partial "/mnt/x  "
	run xfs_quota -x "${none[@]}" -c 'state -p' /mnt/bind
	umount /mnt/bind
	assert_line --index 0 "Project quota state on /mnt/bind ($FSQ_X_DEV)"
}

@test "deviation 6: -p and -d hold for one command" {
	mkdir -p /mnt/x/one/deep /mnt/x/two/deep
	xfs_quota -x "${none[@]}" -c 'project -s -d 0 -p /mnt/x/one 5' -c 'project -s -p /mnt/x/two 6' /mnt/x
	assert_equal "$(id_of /mnt/x/one) $(id_of /mnt/x/one/deep)" "5 0"
	assert_equal "$(id_of /mnt/x/two) $(id_of /mnt/x/two/deep)" "6 6"
}

@test "deviation 6: a mount in the tree is named only where the real one enters it" {
	local command
	mkdir -p /mnt/x/dir/{tmpfs,bind} /mnt/x/outside
	mount -t tmpfs inner /mnt/x/dir/tmpfs
	cd /mnt/x
	for command in 'project -s -p /mnt/x/dir 5' 'project -c -p dir/ 5' 'project -C -p ./dir 5' 'project -s -p /mnt/x/dir/. 5'; do
		succeeds xfs_quota -x "${none[@]}" -c "$command" /mnt/x
		# 7.2 looks for relative paths elsewhere.
		[[ $FSQUOTA_XFS_QUOTA_VERSION != 6.1 && $command != *' /mnt/'* ]] || succeeds oracle -x "${none[@]}" -c "$command" /mnt/x
	done
	mount --bind /mnt/x/outside /mnt/x/dir/bind
	for command in 'project -s -p /mnt/x/dir 5' 'project -c -p dir/ 5' 'project -s -p ./dir 5' 'project -s -p /mnt/x/dir/. 5'; do
		run_split xfs_quota -x "${none[@]}" -c "$command" /mnt/x
		[[ $status = 0 && $stderr == "xfs_quota: the mount "*dir*/bind" is not entered" ]] || fail "$command: $status $stderr"
	done
	assert_equal "$(id_of /mnt/x/outside)" 0
	umount /mnt/x/dir/{bind,tmpfs}
}

@test "deviation 6: what is set already is not written" {
	mkdir -p /mnt/x/dir/sub
	touch /mnt/x/dir/file
	strace -f -o "$BATS_TEST_TMPDIR/trace" xfs_quota -x "${none[@]}" \
		-c 'project -s -p /mnt/x/dir 5' -c 'project -s -p /mnt/x/dir 5' /mnt/x
	assert_equal "$(grep -cE '(FSSETXATTR|file_setattr|syscall_0x1d5).* = 0$' "$BATS_TEST_TMPDIR/trace")" 3
}

# each_fails DEVICE MOUNT-POINT COMMAND...: each must say what is wrong and give 1, as kubelet calls
# it, with the path alone, and without one.
each_fails() {
	local table=$BATS_TEST_TMPDIR/mounts command words
	echo "$1 $2 xfs rw 0 0" >"$table"
	for command in "${@:3}"; do
		for words in "-t $table -f $2" "-f $2" "-t $table -f"; do
			run_split xfs_quota -x -D "$projects" -P/dev/null $words -c "$command"
			assert_equal "$words $command: $status" "$words $command: 1"
			[[ $stderr == xfs_quota:\ cannot\ *": Input/output error"* ||
				$stderr == xfs_quota:\ no\ *": Input/output error"* ]] || fail "$command: $stderr"
		done
	done
}

@test "deviation 7: XFS that was shut down gives 1 for every command" {
	mkdir /mnt/x/dir
	echo "10:/mnt/x/dir" >"$projects"
	oracle -x "${none[@]}" -c 'project -s -p /mnt/x/dir 10' -c 'limit -p bhard=5m 10' /mnt/x >/dev/null
	sync -f /mnt/x
	xfs_io -x -c shutdown /mnt/x
	prints "" oracle -x "${none[@]}" -c 'quota -p -v 10' /mnt/x
	each_fails "$FSQ_X_DEV" /mnt/x print path df 'quota -p 10' 'quota -p -v 6' 'report -p' state 'dump -p' \
		'limit -p bhard=1m 10' 'timer -p -b 3' 'warn -p 3 10' 'enable -p' 'disable -p' 'off -p' \
		'remove -p' 'quot -p' 'project -s 10' 'project -c 10' 'project -C 10' \
		'project -s -p /mnt/x/dir 10' 'restore -p -f /dev/null'
	exits 1 xfs_quota --strict "${none[@]}" -c 'quota -p 10' /mnt/x
	refute [ "$stderr" = "" ]
}

@test "deviation 7: ext4 and f2fs that were shut down: what is not in memory gives 1, and so does project" {
	local fs
	for fs in e f; do
		fresh_fs $fs
		mkdir /mnt/$fs/dir
		echo "10:/mnt/$fs/dir" >"$projects"
		chattr -p 10 /mnt/$fs/dir
		chattr +P /mnt/$fs/dir
		sync -f /mnt/$fs
		xfs_io -x -c shutdown /mnt/$fs
		# Nothing is to be set there, and that is what must not be said.
		each_fails "$(findmnt -no SOURCE /mnt/$fs)" /mnt/$fs 'project -s 10' 'project -C 10' \
			"project -s -p /mnt/$fs/dir 10"
		assert_equal "$(grep -c "cannot set project on /mnt/$fs/dir" <<<"$stderr")" 2
		[ $fs = f ] || each_fails "$FSQ_E_DEV" /mnt/e 'quota -p -v 6' 'quota -p 6' 'limit -p bhard=1m 7'
		run -1 fsquota project -s -p /mnt/$fs/dir 10 /mnt/$fs
		fresh_fs $fs
	done
}

@test "deviation 7: where nothing is wrong nothing is asked but of the tree that is in order already" {
	mkdir /mnt/x/dir
	local words=("${none[@]}" -c 'project -s -p /mnt/x/dir 5' /mnt/x)
	strace -f -e trace=fsync -o "$BATS_TEST_TMPDIR/first" xfs_quota -x "${words[@]}"
	strace -f -e trace=fsync -o "$BATS_TEST_TMPDIR/again" xfs_quota -x "${words[@]}"
	assert_equal "$(grep -c fsync "$BATS_TEST_TMPDIR/first") $(grep -c fsync "$BATS_TEST_TMPDIR/again")" "0 1"
}

@test "deviation 8: less than a block is a block, not unlimited" {
	fresh_fs e
	succeeds xfs_quota -x -f "${none[@]}" -c 'limit -p bhard=1 5' /mnt/e
	run oracle -x -f "${none[@]}" -c 'dump -p' /mnt/e
	assert_line --regexp '^5 +0 +1 +0 +0$'
}

@test "deviation 8: an ID is not taken for the size in front of it" {
	xfs_quota -x "${none[@]}" -c 'limit -p bhard=1m 42' /mnt/x
	run_split xfs_quota -x "${none[@]}" -c 'limit -p bhard 42' /mnt/x
	assert_equal "$status:$stdout:$stderr" "1::xfs_quota: unrecognised argument bhard"
	assert_equal "$(kernel_has /mnt/x 42)" "0 0 1024 0 0 0"
	run oracle -x "${none[@]}" -c 'limit -p bhard 42' /mnt/x
	assert_output --partial "is 0 (unlimited)"
}

@test "deviation 9: df says nothing of project directories that its user may not ask for" {
	mkdir -p /mnt/x/dir
	echo "10:/mnt/x/dir" >"$projects"
	oracle -x -D "$projects" -P/dev/null -c 'project -s 10' /mnt/x
	chmod 755 "$BATS_TEST_TMPDIR" /mnt/x
	run_split as_user "$FSQUOTA" -D "$projects" -P/dev/null -c 'df -N' /mnt/x
	assert_equal "$status:${#lines[@]}:$stderr" "0:1:"
	run_split as_user "$FSQ_ORACLE" -D "$projects" -P/dev/null -c 'df -N' /mnt/x
	assert_equal "$status:${#lines[@]}:$stderr" "0:1:XFS_GETQUOTA: Operation not permitted"
}

@test "deviation 9: report -t keeps its header" {
	oracle -x "${none[@]}" -c 'limit -p bhard=1m 5' /mnt/x
	run oracle -x "${none[@]}" -c 'report -pbt' /mnt/x
	refute_output --partial "Project quota on"
	run xfs_quota -x "${none[@]}" -c 'report -pbt' /mnt/x
	assert_line --index 0 "Project quota on /mnt/x ($FSQ_X_DEV)"
	assert_equal "${#lines[@]}" 4
}

@test "deviation 9: df shows nothing as available, not less" {
	mkdir /mnt/x/dir
	echo "10:/mnt/x/dir" >"$projects"
	oracle -x "${none[@]}" -c 'project -s -p /mnt/x/dir 10' /mnt/x >/dev/null
	dd if=/dev/zero of=/mnt/x/dir/file bs=1M count=2 conv=fsync 2>/dev/null
	oracle -x "${none[@]}" -c 'limit -p bsoft=1m 10' /mnt/x
	run oracle -D "$projects" -P/dev/null -c 'df -N' /mnt/x
	assert_line --index 1 --regexp '^[^ ]+ +1024 +2048 +9223372036854774784 '
	run xfs_quota -D "$projects" -P/dev/null -c 'df -N' /mnt/x
	assert_line --index 1 --regexp '^[^ ]+ +1024 +2048 +0 +200% /mnt/x/dir$'
}
