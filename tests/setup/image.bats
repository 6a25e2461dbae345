#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=install
# needs: busybox-static dracut-core initramfs-tools-core klibc-utils systemd
#
# The step of the next boot in real images of initramfs-tools and dracut, which User-Mode Linux boots: its root is
# an ext4 as cloud images have it, and afterwards it has project quotas. Nothing of it is installed here: the images
# are built in a mount namespace that has the files where the packages put them.

load ../lib/fsquota
load image

uuid=0f2c0000-0000-4000-8000-000000000001

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	tree=$PWD/tree
	mkdir tree
	put_step "$tree"
	printf '%s\n' "UUID=$uuid" FEATURES=quota,project QUOTAS=usrquota,grpquota,prjquota >tree/etc/fsquota-at-boot.conf
}

# --- images -----------------------------------------------------------------------------------------------------------

# as_installed PROGRAM [ARGUMENT...]: run it as root of a namespace that has the tree above the machine's own root.
as_installed() {
	ticking unshare -rm sh -euc '
		for top in usr etc; do mount -t overlay -o "lowerdir=$0/$top:/$top" overlay "/$top"; done
		mount --bind "$0/boot" /boot
		exec "$@"' "$tree" "$@" >build.log 2>&1 || fail "$*: $(tail -n 20 build.log)"
}

# by_initramfs_tools [SETTING...]: image is one of it. No driver is needed: those of ext4 and the disk are built in.
by_initramfs_tools() {
	rm -rf conf
	cp -r /etc/initramfs-tools conf
	printf '%s\n' MODULES=list "$@" >>conf/initramfs.conf
	image=$PWD/initrd
	as_installed mkinitramfs -d "$PWD/conf" -o "$image" "$release"
	lsinitramfs "$image" >files
}

# by_dracut [MODULE...]: image is one of it, without these and others that take long and do nothing here.
by_dracut() {
	local without="kernel-modules kernel-modules-extra btrfs crypt dm nvdimm qemu lunmask resume terminfo virtfs virtiofs"
	image=$PWD/initrd
	as_installed dracut --force --no-hostonly --no-compress --kver "$release" --tmpdir "$PWD" --omit "$without $*" "$image"
	lsinitrd "$image" | awk '{ print $9 }' >files
}

# --- the machine ------------------------------------------------------------------------------------------------------

# root_that LINE...: disk is the ext4 of a system that runs these lines and powers off.
root_that() {
	local library libraries
	rm -rf root
	mkdir -p root/{bin,sbin,proc,sys,dev,run,tmp,etc,lib,lib64,data}
	cp "$FSQUOTA" root/bin/fsquota
	mapfile -t libraries < <({ ldd "$FSQUOTA" && ldd "$(command -v findmnt)"; } 2>/dev/null | grep -o '/[^ ]*' | sort -u)
	for library in "${libraries[@]}"; do cp --parents "$library" root; done
	cp "$(command -v busybox)" root/bin
	for library in sh mount umount cat dd ls sync poweroff rm chmod su wc; do ln -s busybox "root/bin/$library"; done
	echo ID=test >root/etc/os-release
	printf '%s\n' root:x:0:0::/:/bin/sh user:x:1000:1000::/:/bin/sh >root/etc/passwd
	printf '%s\n' '#!/bin/sh' 'echo "--- begin"' "$@" 'echo "--- end"' 'umount -a -r' 'poweroff -f' >root/sbin/init
	chmod +x root/sbin/init
	disk=$PWD/disk
	rm -f "$disk"
	truncate -s 64M "$disk"
	mkfs.ext4 -q -F -U $uuid -O '^quota,^project' -d root "$disk"
}

# booted [ARGUMENT...]: boot the machine with these words for the kernel; output is what its system printed.
booted() {
	boot 900 initrd="$image" "$@"
	output=$(tr -d '\r' <console | sed -n '/^--- begin$/,/^--- end$/p')
	mapfile -t lines <<<"$output"
	[[ $output == *'--- end' ]] || fail "it did not boot: $(tail -n 40 console)"
}

# has: the features of quotas that the disk has, and which quotas.
has() {
	tune2fs -l "$disk" | awk '
		/^Filesystem features:/ { for (i = 3; i <= NF; i++) if ($i == "quota" || $i == "project") words = words $i " " }
		/^(User|Group|Project) quota inode:/ { words = words tolower($1) " " }
		END { sub(/ $/, "", words); print words }'
}

result='cat /run/initramfs/fsquota-at-boot'
# A project of 1 MiB gets no 2 MiB; root has no limits.
limit='rm -rf /data/one
fsquota assign --mkdir --hard 1M /data/one
chmod 777 /data/one
su -s /bin/sh user -c "dd if=/dev/zero of=/data/one/file bs=64k count=32"
echo "written: $(wc -c </data/one/file)"'

# changed_by_boot: the first boot changes the root, which has limits then; the second one does nothing.
changed_by_boot() {
	root_that "$result" "mount -o remount,rw,prjquota /" "$limit"
	booted ro
	assert_line --index 1 "done $uuid"
	assert_line --regexp '^written: (9[0-9]|10[0-4])[0-9]{4}$'
	assert_equal "$(has)" 'quota project user group project'
	e2fsck -f -n "$disk"
	booted ro
	assert_line --index 1 "nothing $uuid"
}

@test "initramfs-tools with klibc: the root gets its features, once" {
	by_initramfs_tools BUSYBOX=n
	changed_by_boot
	# Mounted for writing at once.
	booted rw rootflags=prjquota
	assert_line --index 1 "nothing $uuid"
	assert_line --regexp '^written: (9[0-9]|10[0-4])[0-9]{4}$'
}

# bats test_tags=full
@test "initramfs-tools with busybox: a failure does not stop the boot" {
	# As if the kernel had no quotas.
	rm "tree/usr/lib/modules/$release/kernel/fs/quota/quota_v2.ko"
	depmod -b tree/usr "$release"
	by_initramfs_tools BUSYBOX=y
	root_that "$result"
	booted rw
	assert_line --index 1 "failed $uuid: this kernel does not mount it with usrquota,grpquota,prjquota; undone"
	assert_equal "$(has)" ''
	# What is root does not count, but which UUID it has.
	e2fsck -f -p "$disk"
	tune2fs -U 0f2c0000-0000-4000-8000-000000000002 "$disk"
	booted ro
	assert_line --index 1 "failed $uuid: no ext4 has this UUID"
	assert_equal "$(has)" ''
}

# bats test_tags=full
@test "dracut: the root gets its features, once" {
	by_dracut systemd
	changed_by_boot
}

# bats test_tags=full
@test "dracut with systemd: the root gets its features, once" {
	by_dracut
	changed_by_boot
}

# This machine's root has the feature quota, or seems to.
has_quota() {
	printf '#!/bin/sh\ncase "$*" in\n"-n -o FSTYPE /") echo ext4 ;;\n"-n -o SOURCE /") echo /dev/root ;;\n*) exec %s "$@" ;;\nesac\n' \
		"$BATS_TEST_TMPDIR/findmnt" >tree/usr/bin/findmnt
	cp "$(command -v findmnt)" "$BATS_TEST_TMPDIR/findmnt"
	printf '#!/bin/sh\necho "Filesystem features:      has_journal%s metadata_csum"\n' "$1" >tree/usr/sbin/dumpe2fs
	chmod +x tree/usr/bin/findmnt tree/usr/sbin/dumpe2fs
}

# bats test_tags=full
@test "without the file the image has nothing of it, but the module that a root with quotas needs" {
	rm tree/etc/fsquota-at-boot.conf
	local build
	for build in by_initramfs_tools 'by_dracut systemd'; do
		has_quota ' quota'
		$build
		run -1 grep fsquota-at-boot files
		run -0 grep -c 'quota_v2\.ko' files
		has_quota ''
		$build
		run -1 grep -E 'fsquota-at-boot|quota_v2\.ko' files
	done
}
