#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=install,full
# needs: mmdebstrap uidmap
#
# A newcomer's transcript: a new Debian whose root is an ext4 without project quota, from "fsquota setup /" to a limited
# directory. User-Mode Linux boots it three times, then with the initramfs that its own update-initramfs has built.

# shellcheck source-path=SCRIPTDIR
load ../lib/fsquota
load ../packages/packages
load image

uuid=0f2c0000-0000-4000-8000-000000000001

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	tree=$PWD/tree disk=$PWD/disk
}

# debian: the tree is one, with fsquota where its package puts it.
debian() {
	busy debian.log unshare --mount mmdebstrap --quiet --variant=minbase --aptopt='APT::Sandbox::User "root"' \
		--include=initramfs-tools,systemd-sysv,udev,e2fsprogs bookworm "$tree"
	put_step "$tree"
	cp "$FSQUOTA" "$tree/usr/bin/fsquota"
	cp "$srcdir/contrib/systemd/fsquota-at-boot.service" "$tree/usr/lib/systemd/system"
	echo '/dev/ubda / ext4 errors=remount-ro 0 1' >"$tree/etc/fstab"
	# The drivers of the disk and of ext4 are built in; to copy the others, and to compress much, takes this machine minutes.
	printf '%s\n' MODULES=list COMPRESS=gzip >"$tree/etc/initramfs-tools/conf.d/small"
	busy initramfs.log chroot "$tree" update-initramfs -c -k "$release"
}

# typist: each boot types the lines of the next /root/boot.N into a shell, and powers off.
typist() {
	local unit
	printf '%s\n' '#!/bin/sh' 'boot=$(($(cat /root/boots 2>/dev/null || echo 0) + 1))' 'echo $boot >/root/boots' \
		'while IFS= read -r line; do' 'echo "# $line"' 'status=0' 'sh -c "$line" </dev/null 2>&1 || status=$?' \
		'[ $status = 0 ] || echo "(status $status)"' 'done </root/boot.$boot >/root/transcript.$boot' >"$tree/root/type"
	chmod +x "$tree/root/type"
	printf '%s\n' '[Unit]' After=fsquota-at-boot.service SuccessAction=poweroff FailureAction=poweroff \
		'[Service]' Type=oneshot ExecStart=/root/type '[Install]' WantedBy=multi-user.target \
		>"$tree/etc/systemd/system/newcomer.service"
	chroot "$tree" systemctl enable newcomer.service
	# The machine has one console, to which only the kernel writes.
	for unit in getty.target systemd-logind.service e2scrub_reap.service; do
		ln -s /dev/null "$tree/etc/systemd/system/$unit"
	done
}

# types BOOT LINE...
types() { printf '%s\n' "${@:2}" >"$tree/root/boot.$1"; }

# transcript BOOT: boot, and what was typed and printed
transcript() {
	boot 1150 ro systemd.show_status=0 "${@:2}"
	debugfs -R "cat /root/transcript.$1" "$disk" 2>/dev/null >"transcript.$1"
	[ -s "transcript.$1" ] || fail "boot $1 typed nothing: $(tail -n 20 console)"
	debugfs -R "dump /boot/initrd.img-$release initrd" "$disk" 2>/dev/null
	sed 's/ ([0-9]*)/ (N)/g' "transcript.$1"
}

@test "a new Debian on an ext4 without features: from fsquota setup / to a limited directory" {
	local limited='setpriv --reuid nobody --clear-groups dd if=/dev/zero of=/srv/web/file bs=1M count=9 status=none'
	debian
	typist
	types 1 'fsquota setup /' 'fsquota setup --yes --at-boot /'
	types 2 'cat /etc/fstab' 'ls /etc/fsquota-at-boot.conf' 'fsquota setup /' \
		'fsquota assign --mkdir /srv/web --hard 5M' 'chown nobody /srv/web' "$limited"
	types 3 'fsquota setup /' 'rm /srv/web/file' "$limited" 'fsquota usage /srv/web'
	mkfs.ext4 -q -F -U $uuid -O '^quota,^project' -d "$tree" "$disk" 1G
	transcript 1 >shown
	transcript 2 initrd="$PWD/initrd" >>shown
	transcript 3 initrd="$PWD/initrd" >>shown
	diff "$BATS_TEST_DIRNAME/newcomer.txt" shown
}
