# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# What the tests of setup share.
#
#   made KIND            a filesystem made anew, not mounted: sets fs, device, uuid, type, options and users
#   line WHAT            fstab mounts it, named so
#   comes_to_quota KIND WAY  it is mounted in this way, and setup does the rest
#   root_of MOUNT, root_of_x2 OPTION...  it is / of what setup sees: sets root and setup
#   enforced             a limit of a project stops a writer there, and that of a user does, who had one

units=/etc/systemd/system programs=/run/programs
kinds=(xfs xfs-users ext4 ext4-plain ext4-other ext4-inodes ext4-files f2fs)

device_of() {
	case $1 in
	x2) echo "$FSQ_X2_DEV" ;;
	e) echo "$FSQ_E_DEV" ;;
	f) echo "$FSQ_F_DEV" ;;
	esac
}

made() {
	local kind=$1
	options=defaults users=''
	case $kind in
	xfs*) fs=x2 type=xfs ;;
	ext4*) fs=e type=ext4 ;;
	f2fs) fs=f type=f2fs ;;
	esac
	device=$(device_of $fs)
	umount -q -A "$device" || :
	case $kind in
	xfs*) mkfs.xfs -q -f -L of-$fs "$device" ;;
	ext4) mkfs.ext4 -q -F -L of-$fs -O quota,project -E quotatype=prjquota "$device" 2>/dev/null ;;
	ext4-other) mkfs.ext4 -q -F -L of-$fs -O quota,project -E quotatype=usrquota "$device" 2>/dev/null ;;
	ext4-inodes) mkfs.ext4 -q -F -L of-$fs -O quota,^project -E quotatype=usrquota "$device" 2>/dev/null ;;
	ext4*) mkfs.ext4 -q -F -L of-$fs -O ^quota,^project "$device" 2>/dev/null ;;
	f2fs) mkfs.f2fs -q -f -l of-$fs -O extra_attr,project_quota "$device" >/dev/null ;;
	esac
	case $kind in
	xfs-users) options=uquota users=yes ;;
	ext4-inodes | ext4-other) options=usrquota users=yes ;;
	ext4-files) options=usrjquota=aquota.user,jqfmt=vfsv1 users=yes ;;
	esac
	uuid=$(blkid -p -s UUID -o value "$device")
	mount -o "$options" "$device" /mnt/$fs
	mkdir -m 777 /mnt/$fs/u
	if [ "$kind" = ext4-files ]; then
		quotacheck -cum /mnt/$fs 2>/dev/null
		quotaon -u /mnt/$fs
	fi
	[ -z "$users" ] || fsquota limit -u bhard=20m 1000 /mnt/$fs
	umount /mnt/$fs
}

# enforced [MOUNT]
enforced() {
	local at=${1:-/mnt/$fs}
	[ "$(fsquota state -p --raw --noheadings --output ENFORCED "$at")" = yes ] || fail "$kind: not enforced"
	rm -rf "$at/d"
	mkdir -m 777 "$at/d"
	fsquota assign "$at/d" --hard 5M >/dev/null
	run ! as_user dd if=/dev/zero of="$at/d/f" bs=1M count=9 status=none
	fsquota release "$at/d" >/dev/null
	rm -r "$at/d"
	[ -z "$users" ] || run ! as_user dd if=/dev/zero of="$at/u/f" bs=1M count=30 status=none
	rm -f "$at/u/f"
}

# --- how it is mounted: each leaves it mounted, and mounts_again does what the system would ---

mounts_again() { mount -a; }

line() {
	local what
	eval "what=$1"
	printf '# of the system\n%s\t/mnt/%s %s %s\t0 2\n' "$what" "$fs" "$type" "$options" >/etc/fstab
}

by_line() {
	line "$1"
	mount /mnt/$fs
}

by_device() { by_line '$device'; }
by_uuid() { by_line 'UUID=$uuid'; }
by_label() { by_line 'LABEL=of-$fs'; }

# systemd's own program makes the units of fstab.
by_drop_in() {
	by_line '$device'
	mkdir -p "$units/mnt-$fs.mount.d"
	printf '[Mount]\nOptions=%s,noatime\n' "$options" >"$units/mnt-$fs.mount.d/10.conf"
	mounts_again() { mount_unit; }
}

# What the unit says, and the last of its drop-ins by their names.
mount_unit() {
	local said
	rm -rf /run/generated
	mkdir /run/generated
	/usr/lib/systemd/system-generators/systemd-fstab-generator /run/generated /run/generated /run/generated
	[ ! -e "$units/mnt-$fs.mount" ] || cp "$units/mnt-$fs.mount" /run/generated
	said=$(cat "/run/generated/mnt-$fs.mount" "$units/mnt-$fs.mount.d/"*.conf | sed -n 's/^Options=//p' | tail -n 1)
	mount -t "$type" -o "$said" "$device" "/mnt/$fs"
}

by_unit() {
	printf '[Mount]\nWhat=%s\nWhere=/mnt/%s\nType=%s\nOptions=%s\n' "$device" "$fs" "$type" "$options" \
		>"$units/mnt-$fs.mount"
	mount -o "$options" "$device" /mnt/$fs
	mounts_again() { mount_unit; }
}

by_nothing() { mount -o "$options" "$device" /mnt/$fs; }

read_only() {
	line 'UUID=$uuid'
	mount -r /mnt/$fs
}

twice() {
	line '$device'
	mount /mnt/$fs
	mount --bind /mnt/$fs/u /run/other
}

with_wrong_options() {
	local kept=$options,noatime
	options=$kept
	case $type in
	xfs) options+=,noquota,usrjquota=aquota.user,jqfmt=vfsv0 ;;
	ext4) options+=,noquota,uqnoenforce ;;
	f2fs) options+=,pqnoenforce ;;
	esac
	line '$device'
	mount -o "$kept" "$device" /mnt/$fs
}

comes_to_quota() {
	local kind=$1 way=$2 before after
	mounts_again() { mount -a; }
	rm -rf $units/mnt-*.mount $units/mnt-*.mount.d
	: >/etc/fstab
	made "$kind"
	"$way"
	before=$(cat /etc/fstab /proc/self/mountinfo)
	run fsquota setup /mnt/$fs
	[ "$status" = 9 ] || fail "$kind $way: status $status: $output"
	assert_equal "$(cat /etc/fstab /proc/self/mountinfo)" "$before"
	[[ $output == *'after these steps: now: yes; after the next mount: yes; after the next boot: yes' ]] ||
		fail "$kind $way: $output"
	run fsquota setup --yes --unmount /mnt/$fs
	[ "$status" = 0 ] || fail "$kind $way: status $status: $output"
	[[ $output == *'in force now: yes; after the next mount: yes; after the next boot: yes' ]] ||
		fail "$kind $way: $output"
	[ "$way" != twice ] || mountpoint -q /run/other || fail "$kind: not mounted twice"
	[ "$way" = read_only ] || enforced
	umount -q /run/other || :
	umount /mnt/$fs
	mounts_again
	enforced
	run fsquota doctor -q /mnt/$fs
	[[ $output != *problem* ]] || fail "$kind $way: $output"
	umount /mnt/$fs
}

# --- the root filesystem: with the programs of $programs and the files of this /etc ---

root_of() {
	local directory
	root=/run/root
	mkdir -p $root $programs /etc/default /etc/kernel
	mount --bind "$1" $root
	for directory in bin dev etc lib lib64 proc run sbin sys tmp usr/bin usr/sbin usr/lib usr/lib64 "${builddir#/}"; do
		[ -e /$directory ] || continue
		mkdir -p "$root/$directory"
		mount --rbind "$(realpath /$directory)" "$root/$directory"
	done
	mkdir -p $root/boot
	# The kernel of a machine whose root filesystem is mounted to write when fstab is read.
	sed 's/ rw / /; s/ rootflags=[^ ]*//; s/$/ ro/' /proc/cmdline >/run/cmdline
	mount --bind /run/cmdline $root/proc/cmdline
	setup=("$(command -v env)" PATH=$programs "$(command -v chroot)" $root "$FSQUOTA" setup)
}

root_of_x2() {
	mount "$@" "$device" /mnt/x2
	root_of /mnt/x2
}
