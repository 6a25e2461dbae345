#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# needs: ostree systemd
#
# fsquota setup: each filesystem, mounted in each way, comes to quotas that last, and nobody loses the limits that he had.

# shellcheck disable=SC2034,SC2154 # for and of setup.bash
load ../lib/fsquota
load setup

setup() {
	rm -f /etc/projects /etc/projid
	cp /etc/fstab "$BATS_TEST_TMPDIR/fstab" 2>/dev/null || :
	rm -f /etc/fstab*
	: >/etc/fstab
	mkdir -p $units /run/other
}

teardown() {
	[ -z "${holder-}" ] || end_process "$holder" 2>/dev/null || :
	umount -q -R /run/root || :
	umount -q /run/other || :
	rm -rf $units/*.mount $units/*.mount.d /run/ostree-booted /run/called $programs
	rm -f /etc/default/grub /etc/kernel/cmdline /etc/fsquota-at-boot.conf
	for fs in x2 e f; do umount -q -A "$(device_of $fs)" || :; done
	mv "$BATS_TEST_TMPDIR/fstab" /etc/fstab 2>/dev/null || : >/etc/fstab
	fresh_each x2 e f
	mountpoint -q /mnt/x || fresh_fs x
}

# bats test_tags=full
@test "every filesystem comes to quotas that last, however it is mounted" {
	local kind way
	for kind in "${kinds[@]}"; do
		for way in by_device by_uuid by_label by_unit by_drop_in by_nothing read_only twice with_wrong_options; do
			step "$kind $way"
			comes_to_quota "$kind" $way
		done
	done
}

@test "a line of fstab that names the device, a UUID or a label" {
	comes_to_quota xfs-users by_uuid
	comes_to_quota ext4-plain by_label
	comes_to_quota ext4-files by_device
}

# bats test_tags=install
@test "a mount unit gets a drop-in, and what systemd makes of fstab, too" {
	comes_to_quota f2fs by_unit
	comes_to_quota ext4-inodes by_drop_in
}

# bats test_tags=slow
@test "where nothing mounts it, fstab gets a line" {
	comes_to_quota ext4-other by_nothing
}

# bats test_tags=slow
@test "a mount point whose name fstab has to escape, and a line that mounts another device there" {
	local at=$'/run/a b\tc' what
	mkdir -p "$at"
	made xfs
	mount -o nodev,uquota "$device" "$at"
	run -0 fsquota setup --yes --unmount "$at"
	umount "$at"
	mount -a
	assert_regex "$(findmnt -no OPTIONS "$at")" 'nodev.*usrquota'
	enforced "$at"
	umount "$at"
	for what in "$FSQ_X_DEV" UUID=00000000-0000-4000-8000-000000000000 LABEL=other; do
		line "$what"
		mount "$device" /mnt/x2
		run -9 fsquota setup --yes --unmount /mnt/x2
		assert_line --partial "line 2 of fstab mounts another device here: have one mount $device, with prjquota"
		enforced
		prints "$device" findmnt -no SOURCE /mnt/x2
		umount /mnt/x2
	done
}

@test "one that is read-only, and one that is mounted twice" {
	comes_to_quota ext4 read_only
	comes_to_quota xfs twice
}

@test "options that the kernel refuses or that contradict it are taken out, and nothing else" {
	comes_to_quota xfs with_wrong_options
	comes_to_quota ext4-plain with_wrong_options
	# To the byte: a last line without its end, tabs, comments, fields that are missing.
	made xfs
	printf '# a\n\n%s\t /mnt/x2\txfs \t noatime,grpjquota=aquota.group\n#b\t\n/dev/none /mnt/none xfs noauto' \
		"$device" >/etc/fstab
	chmod 600 /etc/fstab
	mount -o noatime "$device" /mnt/x2
	run -7 fsquota setup --yes /mnt/x2
	printf '# a\n\n%s\t /mnt/x2\txfs \t noatime,prjquota\n#b\t\n/dev/none /mnt/none xfs noauto' "$device" |
		cmp - /etc/fstab
	assert_equal "$(stat -c %a /etc/fstab)" 600
	grep -q grpjquota /etc/fstab.before-fsquota
	umount /mnt/x2
	printf '%s /mnt/x2 xfs\n' "$device" >/etc/fstab
	run -0 fsquota setup --yes "$device"
	prints "$device /mnt/x2 xfs defaults,prjquota" cat /etc/fstab
	mount -a
	enforced
}

@test "who has it open is named, and keeps what he has" {
	local before
	made ext4-plain
	line '$device'
	mount /mnt/e
	before=$(</etc/fstab)
	sleep 1000 <"/mnt/e" &
	holder=$!
	run -9 fsquota setup /mnt/e
	assert_line --partial "interrupts sleep ($holder)"
	run_split fsquota setup --yes --unmount /mnt/e
	assert_equal "$status" 6
	assert_equal "$stderr" "fsquota setup: /mnt/e is in use, and was not unmounted: sleep ($holder)"
	mountpoint -q /mnt/e
	assert_equal "$(</etc/fstab)" "$before"
	end_process "$holder"
	holder=''
	run -9 fsquota setup --yes /mnt/e
	mountpoint -q /mnt/e
	run -0 fsquota setup --yes --unmount /mnt/e
	# Said twice, it does nothing.
	run -0 fsquota setup --yes --unmount /mnt/e
	refute_line --partial ' 1. '
	enforced
}

# umount frees the device of a loop mount, and at a boot it is not there.
@test "an image that is mounted by a loop device" {
	local image='/run/an image' command
	truncate -s 64M "$image"
	mkfs.ext4 -q -F -O ^quota,^project "$image"
	mount -o loop "$image" /run/other
	# Its commands typed by hand, without the edit of fstab.
	run -9 fsquota setup /run/other
	while read -r command; do
		eval "$command"
	done < <(sed -n 's/^ *# //p' <<<"$output")
	enforced /run/other
	umount /run/other
	mkfs.ext4 -q -F -O ^quota,^project "$image"
	mount -o loop "$image" /run/other
	run -0 fsquota setup --yes --unmount /run/other
	enforced /run/other
	umount /run/other
	refuses 6 'fstab mounts an image here: mount it first' fsquota setup /run/other
	run -0 cat /etc/fstab
	assert_line '/run/an\040image /run/other ext4 loop,prjquota,nofail 0 2'
	mount -a
	enforced /run/other
	umount /run/other
	# One that begins within the file.
	: >/etc/fstab
	mount -o loop,offset=1048576 "$(truncate -s 66M /run/part && device=$(losetup --find --show --offset 1048576 /run/part) &&
		mkfs.ext4 -q -O ^quota,^project "$device" && losetup -d "$device" && echo /run/part)" /run/other
	run -0 fsquota setup --yes --unmount /run/other
	enforced /run/other
	umount /run/other
	mount -a
	enforced /run/other
	umount /run/other
	rm "$image" /run/part
}

# bats test_tags=slow
@test "a step that fails leaves it mounted as it was, and the next run goes on" {
	local step
	for step in e2fsck tune2fs; do
		made ext4-plain
		line '$device'
		mount /mnt/e
		mount --bind /mnt/e/u /run/other
		mkdir -p $programs
		printf '#!/bin/sh\necho first\necho "no luck" >&2\nexit 8\n' >$programs/$step
		chmod +x $programs/$step
		PATH=$programs:$PATH run_split fsquota setup --yes --unmount /mnt/e
		assert_equal "$status:$stderr" "1:fsquota setup: $step failed with status 8: no luck"
		prints $'/\n/u' findmnt -nro FSROOT -S "$device"
		rm $programs/$step
		run -0 fsquota setup --yes --unmount /mnt/e
		prints $'/\n/u' findmnt -nro FSROOT -S "$device"
		enforced
		umount /run/other /mnt/e
	done
	# Killed between the two mounts.
	made ext4-plain
	line '$device'
	mount /mnt/e
	printf '#!/bin/sh\nkill -KILL $PPID\n' >$programs/tune2fs
	chmod +x $programs/tune2fs
	PATH=$programs:$PATH run -137 fsquota setup --yes --unmount /mnt/e
	run ! mountpoint -q /mnt/e
	rm $programs/tune2fs
	run -0 fsquota setup --yes --unmount /mnt/e
	mount -a
	enforced
}

# bats test_tags=slow
@test "the root filesystem: the tool that this system has sets the command line of its kernel" {
	local program setup=() repair
	made xfs
	root_of_x2 -o noquota
	run -9 "${setup[@]}" /
	assert_line --partial 'add rootflags=prjquota to the command line of the kernel, where this system has it (acts at the next boot; by hand)'
	assert_line 'in force now: no; after the next mount: no; after the next boot: no'
	# Each of these goes before those that were there.
	printf 'A=1\nGRUB_CMDLINE_LINUX="quiet"\n' >/etc/default/grub
	echo 'root=/dev/sda1 ro' >/etc/kernel/cmdline
	for program in kernel-install grub-mkconfig grub2-mkconfig update-grub grubby; do
		printf '#!/bin/bash\necho "%s $*" >/run/called\n' $program >$programs/$program
		chmod +x $programs/$program
		case $program in
		grub2-mkconfig) echo "GRUB_CMDLINE_LINUX='rootflags=noatime quiet'" >/etc/default/grub ;;
		update-grub) printf '%s\n' 'GRUB_CMDLINE_LINUX="quiet"' 'GRUB_CMDLINE_LINUX_DEFAULT="rootflags=noquota,nodiscard splash"' >/etc/default/grub ;;
		esac
		rm -f /run/called
		run -9 "${setup[@]}" / --yes
		assert_line --regexp '^ 1\. have the kernel mount the root filesystem with project quota \(acts at the next boot; done\)'
		case $program in
		kernel-install) prints 'root=/dev/sda1 ro rootflags=prjquota' cat /etc/kernel/cmdline ;;
		grub-mkconfig) prints $'A=1\nGRUB_CMDLINE_LINUX="quiet rootflags=prjquota"' cat /etc/default/grub ;;
		grub2-mkconfig) prints "GRUB_CMDLINE_LINUX='rootflags=prjquota quiet'" cat /etc/default/grub ;;
		update-grub) prints $'GRUB_CMDLINE_LINUX="quiet"\nGRUB_CMDLINE_LINUX_DEFAULT="rootflags=prjquota splash"' cat /etc/default/grub ;;
		esac
		case $program in
		kernel-install) prints 'kernel-install add-all' cat /run/called ;;
		grub-mkconfig) prints 'grub-mkconfig -o /boot/grub/grub.cfg' cat /run/called ;;
		grub2-mkconfig) prints 'grub2-mkconfig -o /boot/grub2/grub.cfg' cat /run/called ;;
		update-grub) prints 'update-grub ' cat /run/called ;;
		grubby) prints 'grubby --update-kernel=ALL --args=rootflags=prjquota' cat /run/called ;;
		esac
	done
	# What the boot loader has next: only a reboot is left.
	mkdir -p "$root/boot/grub"
	echo '	linux /vmlinuz root=UUID=1 ro rootflags=noatime,prjquota' >"$root/boot/grub/grub.cfg"
	run -7 "${setup[@]}" /
	assert_line ' 1. reboot, which interrupts everybody (acts at the next boot; waits)'
	assert_line 'in force now: no; after the next mount: no; after the next boot: yes'
	echo '	linux /vmlinuz root=UUID=1 ro rootflags=noatime' >>"$root/boot/grub/grub.cfg"
	run -9 "${setup[@]}" /
	assert_line --partial 'grubby --update-kernel=ALL --args=rootflags=noatime,prjquota'
	# OSTree keeps them elsewhere, and what is in /etc changes nothing.
	rm $programs/grubby
	touch /run/ostree-booted
	run -9 "${setup[@]}" /
	assert_line --partial 'add rootflags=noatime,prjquota to the command line'
	printf '#!/bin/bash\necho "ostree $*" >/run/called\n' >$programs/ostree
	chmod +x $programs/ostree
	run -9 "${setup[@]}" / --yes
	prints 'ostree admin instutil set-kargs --merge --replace=rootflags=noatime,prjquota' cat /run/called
	ln -s ostree $programs/rpm-ostree
	run -9 "${setup[@]}" /
	assert_line '    # rpm-ostree kargs --replace=rootflags=noatime=noatime,prjquota'
}

# bats test_tags=slow
@test "an ext4 that is the root filesystem has its features from the next boot" {
	local setup=() program
	made ext4-files
	mount -o usrjquota=aquota.user,jqfmt=vfsv1 "$device" /mnt/e
	root_of /mnt/e
	run -9 "${setup[@]}" /
	assert_line --partial 'boot from another medium and run this there'
	assert_line "    # tune2fs -O quota,project -Q usrquota,prjquota $device"
	mkdir -p "$root/usr/share/initramfs-tools/hooks" /etc/systemd/system
	touch "$root/usr/share/initramfs-tools/hooks/fsquota"
	for program in update-initramfs systemctl; do
		printf '#!/bin/bash\necho "%s $*" >>/run/called\n[ %s != update-initramfs ] || : >/boot/initrd.img-7\n' $program $program >$programs/$program
		chmod +x $programs/$program
	done
	rm -f /run/called
	run -9 "${setup[@]}" / --yes
	assert_line --partial '(acts at the next boot; needs --at-boot)'
	assert_file_not_exist /etc/fsquota-at-boot.conf
	# The options of fstab wait: before the features are there, they would make the boot fail.
	printf '%s / ext4 errors=remount-ro 0 1\n' "$device" >/etc/fstab
	run -7 "${setup[@]}" / --yes --at-boot
	assert_line --regexp 'have it mount with project quota \(acts at the next mount; waits\)'
	prints "UUID=$uuid"$'\nFEATURES=quota,project\nQUOTAS=usrquota,prjquota' cat /etc/fsquota-at-boot.conf
	prints $'update-initramfs -u\nsystemctl enable fsquota-at-boot.service' cat /run/called
	prints "$device / ext4 errors=remount-ro 0 1" cat /etc/fstab
	# Interrupted before the image was built: that is done again.
	rm "$root/boot/initrd.img-7"
	run -7 "${setup[@]}" / --yes --at-boot
	assert_line '    # update-initramfs -u'
	run -7 "${setup[@]}" / --yes --at-boot
	assert_line --partial ' 2. reboot'
	# The boot has failed to do it.
	mkdir -p /run/initramfs
	printf 'failed %s: no luck\nmore\n' "$uuid" >/run/initramfs/fsquota-at-boot
	run -9 "${setup[@]}" / --yes --at-boot
	assert_line --partial "the last boot has tried it and failed $uuid: no luck"
	rm -r /run/initramfs
	# The boot has done it: what is left goes on, and the step goes.
	umount -R /run/root
	umount /mnt/e
	tune2fs -O quota,project -Q usrquota,prjquota "$device" >/dev/null
	mount "$device" /mnt/e
	root_of /mnt/e
	rm -f /run/called
	run "${setup[@]}" / --yes --at-boot
	[ "$status" = 0 ] || fail "$output"
	assert_file_not_exist /etc/fsquota-at-boot.conf
	prints $'update-initramfs -u\nsystemctl disable fsquota-at-boot.service' cat /run/called
	prints "$device / ext4 errors=remount-ro,usrquota,prjquota 0 1" cat /etc/fstab
	run -0 "${setup[@]}" /
	assert_line 'in force now: yes; after the next mount: yes; after the next boot: yes'
	# A kernel that mounts it to write at once has no use for fstab.
	echo 'root=/dev/sda1 rw' >/run/cmdline
	run -9 "${setup[@]}" /
	assert_line --partial 'add rootflags=usrquota,prjquota to the command line of the kernel'
}

# ostree_root: an XFS with a deployment, booted: / and /var are parts of it, and all of it is at /sysroot.
ostree_root() {
	local at=/mnt/x2 tree=$BATS_TEST_TMPDIR/tree deployment directory
	mount -o noquota "$device" $at
	ostree admin init-fs --modern $at
	ostree admin os-init --sysroot=$at debian
	mkdir -p $tree/{usr/{bin,sbin,etc,lib/modules/6.1},lib,lib64,bin,sbin,boot,dev,proc,run,sys,sysroot,tmp,var}
	mkdir -p "$tree${builddir}"
	echo kernel >$tree/usr/lib/modules/6.1/vmlinuz
	echo image >$tree/usr/lib/modules/6.1/initramfs.img
	echo ID=debian | tee $tree/usr/etc/os-release >$tree/usr/lib/os-release
	ln -s sysroot/ostree $tree/ostree
	ostree --repo=$at/ostree/repo commit -b debian/1 --tree=dir=$tree
	ostree admin deploy --sysroot=$at --os=debian --karg=root=/dev/sda1 --karg=ro "$@" debian/1
	deployment=$(echo $at/ostree/deploy/debian/deploy/*.0)
	root=/run/root
	mkdir -p $root $programs
	mount --bind "$deployment" $root
	mount --bind $at $root/sysroot
	mount --bind $at/boot $root/boot
	mount --bind $at/ostree/deploy/debian/var $root/var
	for directory in bin dev lib lib64 proc run sbin sys usr/bin usr/sbin usr/lib "${builddir#/}"; do
		mount --rbind "$(realpath /$directory)" "$root/$directory"
	done
	sed -n 's/^options //p' $at/boot/loader/entries/*.conf >/run/cmdline
	mount --bind /run/cmdline $root/proc/cmdline
	touch /run/ostree-booted
	setup=("$(command -v env)" PATH=/usr/bin:/bin "$(command -v chroot)" $root "$FSQUOTA" setup)
}

# bats test_tags=install
@test "a deployment of OSTree has its arguments from ostree, and a part of it is set up as all of it" {
	local setup=() part
	made xfs
	ostree_root --karg=rootflags=noatime >/dev/null 2>&1
	for part in / /var /sysroot; do
		run -9 "${setup[@]}" $part
		assert_line '    # ostree admin instutil set-kargs --merge --replace=rootflags=noatime,prjquota'
		assert_line 'in force now: no; after the next mount: no; after the next boot: no'
		assert_line 'after these steps: now: no; after the next mount: no; after the next boot: yes'
	done
	# ostree asks for the sysroot that is mounted, not for the one that the kernel has booted.
	ostree admin instutil set-kargs --sysroot=/mnt/x2 --merge --replace=rootflags=noatime,prjquota >/dev/null
	run -7 "${setup[@]}" /var
	assert_line ' 1. reboot, which interrupts everybody (acts at the next boot; waits)'
	assert_line 'in force now: no; after the next mount: no; after the next boot: yes'
	umount -R /run/root
}

@test "nonsense, and what no step can change, is one line" {
	local what
	refuses 2 'no filesystem given' fsquota setup
	refuses 2 'one filesystem at a time' fsquota setup /mnt/x /mnt/e
	refuses 2 "mount $FSQ_E_DEV /srv, and then fsquota setup /srv" fsquota setup "$FSQ_E_DEV" /srv
	truncate -s 1M /run/image
	refuses 2 'mount -o loop /run/image DIR, and then fsquota setup DIR' fsquota setup /run/image
	mkdir /mnt/f/data
	run_split fsquota setup /mnt/f/data
	assert_equal "$stderr" 'fsquota setup: /mnt/f/data: the steps are for all of /mnt/f, of which it is a directory; if a disk of its own belongs there, mount that first'
	rm -r /run/image /mnt/f/data
	refuses 5 /nope fsquota setup /nope
	refuses 5 LABEL=nobody fsquota setup LABEL=nobody
	refuses 3 'tmpfs has no project quotas' fsquota setup /run
	refuses 3 'proc has no project quotas' fsquota setup /proc
	refuses 2 'not with --root' fsquota --root / setup /mnt/e
	refuses 4 'run it as root' as_user fsquota setup --yes /mnt/e
	umount /mnt/x
	mount -o noquota "$FSQ_X_DEV" /mnt/x
	refuses 4 'run it as root' as_user fsquota setup /mnt/x
	umount /mnt/e /mnt/f
	for what in 'mkfs.ext4 -q -F -I 128 -O ^quota,^project' 'mkfs.f2fs -q -f'; do
		case $what in *ext4*) device=$FSQ_E_DEV ;; *) device=$FSQ_F_DEV ;; esac
		wipefs -q -a "$device"
		$what "$device" 2>/dev/null
		refuses 3 'anew' fsquota setup "$device"
	done
	# Where only a part is mounted, or in a container, is not where it is set up.
	mkdir /mnt/x/part
	mount --bind /mnt/x/part /mnt/e
	umount /mnt/x
	refuses 3 "only a part of $FSQ_X_DEV is mounted here, its /part: run fsquota setup where all of it is" fsquota setup /mnt/e
	umount /mnt/e
	mkdir -p /run/systemd
	touch /run/systemd/container
	refuses 4 'on its host' fsquota setup /mnt/x2
	rm /run/systemd/container
	# A file that another program makes.
	fresh_fs x2 -o noquota
	echo "$FSQ_X2_DEV /mnt/x2 xfs defaults 0 0" >/etc/made
	rm /etc/fstab
	ln -s made /etc/fstab
	run -9 fsquota setup --yes /mnt/x2
	assert_line --partial 'line 1 of /etc/fstab cannot be changed safely: have its options end with prjquota (acts at the next mount; by hand)'
	rm /etc/fstab
	wipefs -q -a "$FSQ_E_DEV"
	refuses 3 'no filesystem that libblkid knows' fsquota setup "$FSQ_E_DEV"
}

# bats test_tags=shared
@test "the JSON has the steps, and what is in force" {
	made xfs
	line '$device'
	mount /mnt/x2
	run -9 fsquota setup --json /mnt/x2
	assert_equal "$(jq -c '[.setup[] | [.step, .state, .acts, .command]], [.total[0] | .now, .after_mount, .after_boot, .after_boot_then]' <<<"$output")" \
		'[[1,"to-do","next-mount",null],[2,"needs-unmount","now","umount /mnt/x2"],[3,"needs-unmount","now","mount /mnt/x2"]]
[false,false,false,true]'
	run -9 fsquota setup --json --yes --dry-run /mnt/x2
	run -7 fsquota setup --json --yes /mnt/x2
	assert_equal "$(jq -c '[.setup[].state], .total[0].after_boot' <<<"$output")" $'["done","needs-unmount","needs-unmount"]\ntrue'
	# An error names it.
	umount /mnt/x2
	mount -o noquota "$device" /mnt/x2
	mkdir /mnt/x2/d
	refuses 3 'see fsquota setup /mnt/x2/d' fsquota assign /mnt/x2/d --hard 1M
	refuses 3 'see fsquota setup /mnt/x2/d' fsquota supported /mnt/x2/d
	refuses 3 'see fsquota setup /mnt/x2' fsquota enable -p /mnt/x2
}

# bats test_tags=shared
@test "the example of the page shows what happens" {
	made xfs
	printf '# of the system\n%s /mnt/x2 xfs defaults 0 0\n' "$device" >/etc/fstab
	mount /mnt/x2
	mkdir /mnt/x2/web
	{
		echo '# fsquota setup /srv'
		run -9 fsquota setup /mnt/x2
		echo "$output"
		run -0 fsquota setup --yes --unmount /mnt/x2
		echo '# fsquota setup --yes --unmount /srv >steps'
		echo '# fsquota assign /srv/web --hard 10G'
		fsquota assign /mnt/x2/web --hard 10G
	} | sed "s|$device|/dev/vdb1|; s|/mnt/x2|/srv|g" >"$BATS_TEST_TMPDIR/shown"
	sed -n '/^# fsquota setup .srv/,/^1048577/p' "$srcdir/man/fsquota-setup.8" | diff - "$BATS_TEST_TMPDIR/shown"
}
