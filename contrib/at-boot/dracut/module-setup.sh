#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Module of dracut: what the next boot needs if "fsquota setup --at-boot" has left work for it.

conf=/etc/fsquota-at-boot.conf

# Is / an ext4 with the feature quota?
root_has_quota() {
	[ "$(findmnt -n -o FSTYPE / 2>/dev/null)" = ext4 ] &&
		[[ $(dumpe2fs -h "$(findmnt -n -o SOURCE / 2>/dev/null)" 2>/dev/null) == *'Filesystem features:'*' quota '* ]]
}

check() {
	[ -e "$conf" ] || root_has_quota
}

depends() {
	return 0
}

# No other module names quota_v2, and without it the kernel mounts no ext4 with quotas for writing: "rw" on the
# kernel's command line would not boot.
installkernel() {
	# shellcheck disable=SC2034 # else dracut leaves out what the running kernel has not loaded
	hostonly='' instmods quota_v2
}

install() {
	[ -e "$conf" ] || return 0
	inst_multiple tune2fs e2fsck blkid mount umount mkdir readlink sleep
	inst_multiple -o /etc/e2fsck.conf
	inst_simple "$conf"
	inst_script /usr/share/fsquota/fsquota-at-boot /usr/sbin/fsquota-at-boot
	# shellcheck disable=SC2154 # a variable of dracut
	inst_hook pre-mount 10 "$moddir/fsquota-pre-mount.sh"
}
