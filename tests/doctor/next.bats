#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
# needs: systemd
#
# The next mount: what a line of fstab or a mount unit will have, and whether the kernel takes it.

# shellcheck disable=SC2034,SC2154 # for and of doctor.bash
load ../lib/fsquota
load doctor

units=/etc/systemd/system

setup() {
	rm -f /etc/projects /etc/projid
	keep_fstab
	mkdir -p $units
	fresh_each x2 e
}

teardown() {
	rm -rf $units/*.mount $units/*.mount.d
	[ -z "${strange-}" ] || umount -q "$strange" || true
	restore_fstab
}

# all_done PATH: what doctor says is typed, in its order.
all_done() {
	local i repairs=()
	look "$1"
	for ((i = 1; i < ${#told[@]}; i += 2)); do [ -z "${told[i]}" ] || repairs+=("${told[i]}"); done
	for repair in "${repairs[@]}"; do typed; done
}

@test "what doctor says lasts: after all of it is typed once, the next mount has quota, too" {
	local fs
	umount /mnt/x2
	umount /mnt/e
	echo "$FSQ_X2_DEV /mnt/x2 xfs defaults 0 0" >/etc/fstab
	echo "$FSQ_E_DEV /mnt/e ext4 errors=remount-ro 0 2" >>/etc/fstab
	mkfs.ext4 -q -F -O ^quota,^project "$FSQ_E_DEV" 2>/dev/null
	for fs in x2 e; do
		mount /mnt/$fs
		all_done /mnt/$fs
		look /mnt/$fs
		[[ $findings != *'"level":"problem"'* ]] || fail "$findings"
		umount /mnt/$fs
		mount /mnt/$fs
		assert_equal "$(fsquota state -p --raw --noheadings --output ENFORCED /mnt/$fs)" yes
	done
}

# user_is_stopped: at his 20 MB; group_is_stopped: at its own
user_is_stopped() { run ! setpriv --reuid=1000 --clear-groups dd if=/dev/zero of=/mnt/e/u/f bs=1M count=30 status=none; }
group_is_stopped() { run ! setpriv --reuid=1001 --regid=1002 --clear-groups dd if=/dev/zero of=/mnt/e/u/g bs=1M count=30 status=none; }

@test "the repair of an ext4 keeps the quotas of users and groups that are in files" {
	local options
	for options in usrjquota=aquota.user,grpjquota=aquota.group,jqfmt=vfsv1 usrjquota=aquota.user,jqfmt=vfsv0 grpquota; do
		umount /mnt/e
		mkfs.ext4 -q -F -O ^quota,^project "$FSQ_E_DEV" 2>/dev/null
		echo "$FSQ_E_DEV /mnt/e ext4 $options 0 2" >/etc/fstab
		mount /mnt/e
		mkdir -m 777 /mnt/e/u
		quotacheck -cugm /mnt/e 2>/dev/null || quotacheck -cum /mnt/e 2>/dev/null || quotacheck -cgm /mnt/e
		quotaon /mnt/e 2>/dev/null || :
		[[ $options != *usr* ]] || setquota -u 1000 0 20000 0 0 /mnt/e
		[[ $options != *grp* ]] || setquota -g 1002 0 20000 0 0 /mnt/e
		[[ $options != *usr* ]] || user_is_stopped
		[[ $options != *grp* ]] || group_is_stopped
		rm -f /mnt/e/u/*
		all_done /mnt/e
		umount /mnt/e
		mount /mnt/e
		assert_equal "$(fsquota state -p --raw --noheadings --output ENFORCED /mnt/e)" yes
		[[ $options != *usr* ]] || user_is_stopped
		[[ $options != *grp* ]] || group_is_stopped
	done
}

@test "an option of fstab that the kernel refuses is a problem, mounted or not" {
	local options
	umount /mnt/x2
	mkfs.xfs -q -f -L home "$FSQ_X2_DEV"
	echo 'LABEL=home /mnt/x2 xfs defaults,prjquota,usrjquota=aquota.user,jqfmt=vfsv0 0 0' >/etc/fstab
	finds problem option-refused LABEL=home
	mount -o prjquota "$FSQ_X2_DEV" /mnt/x2
	finds problem option-refused /mnt/x2
	[[ $finding == *"line 1 of /etc/fstab has usrjquota=aquota.user, which the kernel refuses for this xfs: "* ]]
	umount /mnt/x2
	run ! mount /mnt/x2
	# Of ext4 without the features, prjquota.
	umount /mnt/e
	mkfs.ext4 -q -F -O ^quota,^project -L data "$FSQ_E_DEV" 2>/dev/null
	echo 'LABEL=data /mnt/e ext4 defaults,prjquota 0 2' >/etc/fstab
	finds problem option-refused LABEL=data
	run ! mount /mnt/e
	mount "$FSQ_E_DEV" /mnt/e
	finds problem option-refused /mnt/e
	all_done /mnt/e
	no_more option-refused /mnt/e
	# What mount(8) and systemd take for themselves goes to no kernel.
	options=defaults,nofail,noatime,nodev,x-systemd.device-timeout=10,comment=a,_netdev,prjquota
	printf '%s\n' "$FSQ_E_DEV /mnt/e ext4 $options,errors=remount-ro,user_xattr,discard 0 2" \
		"$FSQ_X2_DEV /mnt/x2 xfs $options,largeio,swalloc,logbsize=256k 0 0" >/etc/fstab
	mount /mnt/x2
	no_more option-refused /mnt/e
	no_more option-refused /mnt/x2
	assert_equal "$(fsquota doctor -q /mnt/x2)" ''
}

# f2fs has the kernel's parser from Linux 6.17 on.
# bats test_tags=linux-6
@test "an option of another type is refused, whether the kernel is asked or a table" {
	local option
	fresh_fs f
	for option in uqnoenforce logbufs=8 data=ordered; do
		echo "$FSQ_F_DEV /mnt/f f2fs prjquota,$option 0 0" >/etc/fstab
		finds problem option-refused /mnt/f
		[[ $finding == *"has $option, which the kernel refuses for this f2fs"* ]]
		umount /mnt/f
		run ! mount /mnt/f
		fresh_fs f
	done
	echo "$FSQ_F_DEV /mnt/f f2fs prjquota,usrjquota=a,jqfmt=vfsv1,active_logs=6,background_gc=on,acl 0 0" >/etc/fstab
	no_more option-refused /mnt/f
	# Who may not ask the kernel.
	echo "$FSQ_X2_DEV /mnt/x2 xfs prjquota,errors=remount-ro 0 0" >/etc/fstab
	doctor=(setpriv --reuid 1000 --regid 1000 --clear-groups "$FSQUOTA" doctor)
	finds problem option-refused /mnt/x2
	echo "$FSQ_X2_DEV /mnt/x2 xfs prjquota,logbsize=256k,noatime 0 0" >/etc/fstab
	no_more option-refused /mnt/x2
	doctor=(fsquota doctor)
}

# mounts_with FS QUOTA: by fstab, and doctor has said so before
mounts_with() {
	if [ "$2" = yes ]; then no_more fstab "/mnt/$1"; else finds note fstab "/mnt/$1"; fi
	umount "/mnt/$1"
	mount "/mnt/$1"
	[[ $(fsquota state -p --raw --noheadings --output ENFORCED "/mnt/$1" 2>/dev/null) = yes ]] && local is=yes || local is=no
	assert_equal "$is" "$2"
}

@test "of options that contradict each other the last one counts, and those in the superblock of ext4 come first" {
	local options
	for options in yes:noquota,prjquota no:prjquota,noquota yes:pqnoenforce,prjquota no:prjquota,pqnoenforce yes:noquota,noatime,pquota; do
		echo "$FSQ_X2_DEV /mnt/x2 xfs ${options#*:} 0 0" >/etc/fstab
		mounts_with x2 "${options%%:*}"
	done
	for options in no:defaults no:prjquota,noquota yes:noquota,prjquota; do
		echo "$FSQ_E_DEV /mnt/e ext4 ${options#*:} 0 2" >/etc/fstab
		mounts_with e "${options%%:*}"
	done
	umount /mnt/e
	tune2fs -E mount_opts=prjquota "$FSQ_E_DEV" >/dev/null
	for options in yes:defaults no:noquota yes:prjquota; do
		echo "$FSQ_E_DEV /mnt/e ext4 ${options#*:} 0 2" >/etc/fstab
		mountpoint -q /mnt/e || mount /mnt/e
		mounts_with e "${options%%:*}"
	done
}

# unit NAME OPTIONS LINE...: there is one, with more lines
unit() {
	printf '[Unit]\nDescription=a\n[Mount]\nType=xfs\n'"${2:+Options=$2\\n}" >"$units/$1"
	printf '%s\n' "${@:3}" >>"$units/$1"
}

@test "a mount unit without prjquota is told, and a drop-in is the repair" {
	unit mnt-x2.mount noatime "What=$FSQ_X2_DEV" Where=/mnt/x2
	finds note mount-unit /mnt/x2
	[[ $finding == *"$units/mnt-x2.mount mounts it without prjquota"* ]]
	typed
	no_more mount-unit /mnt/x2
	assert_equal "$(<$units/mnt-x2.mount.d/zz-fsquota.conf)" $'[Mount]\nOptions=noatime,prjquota'
	# A drop-in of somebody, and one of a line of fstab.
	rm -r $units/mnt-x2.mount.d
	mkdir $units/mnt-x2.mount.d
	printf '# Options=prjquota\n[Mount]\nOptions = \\\n# a\n  noatime,\\\nprjquota\n' >$units/mnt-x2.mount.d/10.conf
	no_more mount-unit /mnt/x2
	printf '[Mount]\nOptions=noatime\n[Other]\nOptions=prjquota\n' >$units/mnt-x2.mount.d/20.conf
	finds note mount-unit /mnt/x2
	[[ $finding == *"$units/mnt-x2.mount.d/20.conf mounts it without prjquota"* ]]
	rm $units/mnt-x2.mount
	echo "$FSQ_X2_DEV /mnt/x2 xfs prjquota 0 0" >/etc/fstab
	finds note mount-unit /mnt/x2
	# An option of another type is refused there, too.
	printf '[Mount]\nOptions=prjquota,jqfmt=vfsv0\n' >$units/mnt-x2.mount.d/20.conf
	finds problem option-refused /mnt/x2
	[[ $finding == *"$units/mnt-x2.mount.d/20.conf has jqfmt=vfsv0, "* ]]
}

# bats test_tags=install
@test "a unit is found by the device, and by the name that systemd gives it" {
	local name
	umount /mnt/x2
	mkfs.xfs -q -f -L home "$FSQ_X2_DEV"
	unit somewhere.mount '' "What=LABEL=home" Where=/somewhere
	finds note mount-unit LABEL=home
	rm $units/somewhere.mount
	no_more mount-unit LABEL=home
	for strange in '/run/a-b c' $'/run/.\303\244\\' '/run/a//b.c:d_e/'; do
		mkdir -p "$strange"
		mount -o prjquota "$FSQ_X2_DEV" "$strange"
		name=$(systemd-escape --path --suffix=mount "$strange")
		unit "$name" noatime "Where=$strange"
		finds note mount-unit "$strange"
		typed
		no_more mount-unit "$strange"
		rm -r "${units:?}/$name.d" "$units/$name"
		umount "$strange"
	done
	mount -o prjquota "$FSQ_X2_DEV" /mnt/x2
}
