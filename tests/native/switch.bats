#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# enable and disable on ext4, which counts as long as it is mounted.

load ../lib/fsquota

FIRST=1048577

enforced() {
	fsquota state -p --json /mnt/e | jq -c '[.state[] | select(.type == "project") | .accounting, .enforced]'
}

# write KIB: as somebody who has no capability, with 64 KiB left in the page cache by none
write() {
	setpriv --reuid 65534 --clear-groups dd if=/dev/zero of=/mnt/e/v/file bs=1k count="$1" conv=fsync status=none
}

@test "ext4 mounted without prjquota counts, and enable makes it stop writers" {
	fresh_fs e -o defaults
	: >/etc/projects >/etc/projid
	chmod 755 /mnt/e
	mkdir /mnt/e/v
	chown 65534 /mnt/e/v
	fsquota assign /mnt/e/v --hard 1M
	assert_equal "$(enforced)" "[true,false]"
	run -0 write 2048
	is_silent fsquota enable -p /mnt/e
	assert_equal "$(enforced)" "[true,true]"
	run ! write 2048
	run_split fsquota enable -p /mnt/e
	assert_equal "$status:$stderr" "0:fsquota enable: /mnt/e: Quota enforcement already enabled."
	succeeds fsquota disable -p /mnt/e
	assert_equal "$(enforced)" "[true,false]"
	run -0 write 2048
	run_split fsquota disable -p /mnt/e
	assert_equal "$status:$stderr" "0:fsquota disable: /mnt/e: Quota enforcement already disabled."
	assert_equal "$(kernel_has /mnt/e $FIRST | cut -d' ' -f3)" 1024
}

@test "what ext4 and f2fs do not switch is told" {
	fresh_each e f
	refuses 3 "only when it is mounted" fsquota disable -p /mnt/f
	refuses 3 "only when it is mounted" fsquota disable -p --dry-run /mnt/f
	assert_equal "$(enforced)" "[true,true]"
	# As xfs_quota answers, in its words.
	run_split xfs_quota -x -f -c 'disable -p' /mnt/e
	assert_equal "$status:$stdout:$stderr" "0::disable: command is for XFS filesystems only"
}

# switched FS: what commands can switch there
switched() { fsquota state -p --json "/mnt/$1" | jq -c '[.state[] | .accounting, .enforced]'; }

# bats test_tags=shared
@test "a directory is no filesystem: disable and enable name its mount point, and release" {
	local fs command word before
	fresh_each x e
	: >/etc/projects >/etc/projid
	mkdir -p /mnt/part "/mnt/all of x"
	mount --bind /mnt/x "/mnt/all of x"
	for fs in x e; do
		mkdir "/mnt/$fs/two words"
		touch /mnt/$fs/file
		fsquota assign "/mnt/$fs/two words" --hard 1M >/dev/null
		mount --bind "/mnt/$fs/two words" /mnt/part
		before=$(switched $fs)
		for command in disable enable 'disable --dry-run' 'disable -v' 'disable -u'; do
			for word in "/mnt/$fs/two words" "/mnt/$fs/file" /mnt/part "/mnt/$fs/two words/../file"; do
				refuses 2 "fsquota release " fsquota $command "$word"
				[[ $stderr == *"fsquota ${command%% *} /mnt/$fs "* ]] || fail "$stderr"
			done
			refuses 2 "fsquota release '/mnt/$fs/two words' takes the quota off it" \
				fsquota $command --at /mnt/$fs --at "/mnt/$fs/two words"
		done
		assert_equal "$(switched $fs)" "$before"
		umount /mnt/part
	done
	# The filesystem by each of its names.
	cd /mnt/x
	for word in /mnt/x/ /mnt/x/. . "$FSQ_X_DEV" "UUID=$(findmnt -no UUID /mnt/x)" "/mnt/all of x" /mnt/x; do
		succeeds fsquota disable "$word"
		assert_equal "$(switched x)" '[true,false]'
		succeeds fsquota enable --at "$word"
	done
	assert_equal "$(switched x)" '[true,true]'
	cd /
	umount "/mnt/all of x"
	# Where only a part is mounted, that stands for it.
	touch "/mnt/x/two words/file"
	mount --bind "/mnt/x/two words" /mnt/part
	umount /mnt/x
	succeeds fsquota disable /mnt/part
	refuses 2 "fsquota enable /mnt/part switches" fsquota enable /mnt/part/file
	umount /mnt/part
	fresh_fs x
	mkdir /mnt/x/dir
	is_silent xfs_quota -x -f -c 'disable -p' /mnt/x/dir
	assert_equal "$(switched x)" '[true,false]'
	fresh_fs x
}
