#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What is on a device or an image, mounted or not, and what UUID= and LABEL= mean.

load ../lib/fsquota
load doctor

setup() {
	rm -f /etc/projects /etc/projid /etc/fsquota.conf
	keep_fstab
	cd "$BATS_TEST_TMPDIR" || return
	dev=$FSQ_X2_DEV
}

teardown() {
	restore_fstab
	mountpoint -q /mnt/x2 || fresh_fs x2
	mountpoint -q /mnt/e || fresh_fs e
	mountpoint -q /mnt/f || fresh_fs f
}

# made MKFS DEVICE MOUNTPOINT ARGUMENT...: what is on a device now; it is not mounted.
made() {
	! mountpoint -q "$3" || umount "$3"
	case $1 in
	ext4) mkfs.ext4 -q -F "${@:4}" "$2" 2>/dev/null ;;
	*) "mkfs.$1" -q -f "${@:4}" "$2" 2>/dev/null ;;
	esac
}

# on_device KEY: of the finding "device"
on_device() {
	jq -r "select(.finding == \"device\") | .$1" <<<"$findings"
}

@test "a device that is not mounted: type, UUID and label" {
	made xfs "$dev" /mnt/x2 -L data
	finds ok device "$dev"
	local uuid
	uuid=$(blkid -p -s UUID -o value "$dev")
	assert_equal "$(jq -r '[.path, .filesystem, .mountpoint, .type, .version, .uuid, .label, .message] | join("|")' <<<"$finding")" \
		"$dev|$dev||xfs||$uuid|data|xfs, UUID $uuid, label data, not mounted"
	assert_equal "$(grep -c '"path":"/dev' <<<"$findings")" 1
	finds ok device "UUID=$uuid"
	assert_equal "$(on_device path)" "$dev"
	finds ok device LABEL=data
	assert_equal "$(on_device path)" "$dev"
}

@test "a device that is mounted is what is on it, and the filesystem" {
	made ext4 "$FSQ_E_DEV" /mnt/e -L 'sp ace' -O quota,project
	mount -t ext4 -o prjquota "$FSQ_E_DEV" /mnt/e
	finds ok device "$FSQ_E_DEV"
	assert_equal "$(on_device 'mountpoint, .type, .version, .label')" "/mnt/e
ext4
1.0
sp ace"
	[[ $(on_device message) == "ext4 1.0, UUID "*", label sp ace, mounted at /mnt/e" ]]
	finds ok quota-on "$FSQ_E_DEV"
	finds ok quota-on 'LABEL=sp ace'
}

@test "who cannot read a device is told of the filesystem on it" {
	fresh_fs x2
	doctor=(setpriv --reuid 1000 --regid 1000 --clear-groups "$FSQUOTA" doctor)
	no_more device "$dev"
	finds ok quota-on "$dev"
	umount /mnt/x2
	run_split "${doctor[@]}" "$dev"
	assert_equal "$status:$stderr" "4:fsquota doctor: $dev: cannot open: Permission denied"
}

@test "an ext4 that is not mounted and lacks the features" {
	made ext4 "$FSQ_E_DEV" /mnt/e -O ^quota,^project
	finds problem ext4-features "$FSQ_E_DEV"
	assert_equal "$repair" "fsquota setup --yes $FSQ_E_DEV"
	echo "$FSQ_E_DEV /mnt/e ext4 defaults 0 2" >/etc/fstab
	typed
	no_more ext4-features "$FSQ_E_DEV"
	mount /mnt/e
	finds ok quota-on /mnt/e
	made ext4 "$FSQ_E_DEV" /mnt/e -I 128 -O ^quota
	finds problem ext4-inode-size "$FSQ_E_DEV"
	typed
	no_more ext4-inode-size "$FSQ_E_DEV"
	mount -t ext4 -o prjquota "$FSQ_E_DEV" /mnt/e
	finds ok quota-on /mnt/e
}

@test "an f2fs that is not mounted and lacks the feature" {
	made f2fs "$FSQ_F_DEV" /mnt/f
	finds problem f2fs-features "$FSQ_F_DEV"
	typed
	finds ok device "$FSQ_F_DEV"
	assert_equal "$(on_device type)" f2fs
	no_more f2fs-features "$FSQ_F_DEV"
	mount -t f2fs -o prjquota "$FSQ_F_DEV" /mnt/f
	finds ok quota-on /mnt/f
}

@test "an XFS without checksums that is not mounted" {
	made xfs "$dev" /mnt/x2 -m crc=0
	finds note xfs-version-4 "$dev"
	made xfs "$dev" /mnt/x2
	no_more xfs-version-4 "$dev"
}

@test "what is on a device has no project quotas, or is nothing, or several things" {
	umount /mnt/x2
	mkswap -q "$dev" 2>/dev/null || mkswap "$dev" >/dev/null
	finds problem other-filesystem "$dev"
	assert_equal "$(on_device type)" swap
	dd if=/dev/zero of="$dev" bs=64k count=4 conv=fsync status=none
	finds problem no-filesystem "$dev"
	made xfs "$dev" /mnt/x2
	truncate -s 32M ext4
	mkfs.ext4 -q -F ext4
	dd if=ext4 of="$dev" bs=1k skip=1 seek=1 count=1 conv=notrunc,fsync status=none
	run_split fsquota doctor "$dev"
	assert_equal "$status:$stderr" \
		"6:fsquota doctor: $dev: has the marks of several filesystems: wipefs(8) shows them"
	run -5 --separate-stderr fsquota doctor LABEL=nowhere
	assert_equal "$stderr" "fsquota doctor: LABEL=nowhere: cannot find a device with this tag: No such device"
}

@test "an image is what is in it, and another file lies on a filesystem" {
	truncate -s 32M image
	mkfs.ext4 -q -F -L $'a\tb' -O ^quota,^project image
	finds problem ext4-features image
	assert_equal "$repair" "tune2fs -O quota,project -Q prjquota image"
	assert_equal "$(on_device message)" "ext4 1.0, UUID $(blkid -p -s UUID -o value image), label a	b"
	typed
	no_more ext4-features image
	echo text >/mnt/x/file
	no_more device /mnt/x/file
	finds ok quota-on /mnt/x/file
}

@test "fstab means a device that is not mounted by its path or by a tag" {
	local uuid source
	made xfs "$dev" /mnt/x2 -L data
	uuid=$(blkid -p -s UUID -o value "$dev")
	for source in "$dev" "UUID=$uuid" "UUID=${uuid^^}" LABEL=data; do
		printf '%s /other xfs prjquota\n' LABEL=dat UUID=1-2 none /dev/null /dev/none "$FSQ_X_DEV" >/etc/fstab
		echo "$source /mnt/x2 xfs defaults 0 0" >>/etc/fstab
		finds note fstab "$dev"
		assert_equal "$(jq .line <<<"$finding")" 7
		typed
		no_more fstab "$dev"
		assert_equal "$(tail -n 1 /etc/fstab)" "$source /mnt/x2 xfs defaults,prjquota 0 0"
	done
}

@test "the first line of fstab counts, as for mount, and no bind mount" {
	fresh_fs x2
	printf '%s\n' '/srv /mnt/x2 none rw,bind 0 0' "$dev /mnt//x2/. xfs defaults 0 0" \
		"$dev /mnt/x2 xfs prjquota 0 0" >/etc/fstab
	finds note fstab /mnt/x2
	assert_equal "$(jq .line <<<"$finding")" 2
	sed -i 2d /etc/fstab
	no_more fstab /mnt/x2
	umount /mnt/x2
	printf '%s\n' "$dev /mnt/x2 xfs noquota 0 0" "$dev /mnt/x2 xfs prjquota 0 0" >/etc/fstab
	mount /mnt/x2
	finds problem quota-off /mnt/x2
	umount /mnt/x2
}

@test "the upperdir of an overlay may have characters that the mount table escapes" {
	local name=$'/mnt/x/a b\tc'
	fresh_fs x
	mkdir -p "$name"/{upper,work} lower merged
	fsquota assign "$name" --hard 1M
	mount -t overlay -o "lowerdir=lower,upperdir=$name/upper,workdir=$name/work" overlay merged
	look "$PWD/merged"
	umount merged
	[[ $findings == *'"finding":"overlay-limited"'* ]] || fail "$findings"
	fsquota release "$name"
}

@test "commands take a filesystem by a tag" {
	local uuid
	made xfs "$dev" /mnt/x2 -L data
	mount -t xfs -o prjquota "$dev" /mnt/x2
	uuid=$(blkid -p -s UUID -o value "$dev")
	# What stands in the directory does not matter.
	mkdir /mnt/x/cwd
	cd /mnt/x/cwd
	mkdir LABEL=data
	fsquota limit -p --at LABEL=data bhard=3m 77
	[[ $(kernel_has /mnt/x2 77) == *3072* ]]
	fsquota limit -p bhard=4m 77 "UUID=$uuid"
	[[ $(kernel_has /mnt/x2 77) == *4096* ]]
	assert_equal "$(fsquota report -p --json LABEL=data)" "$(fsquota report -p --json /mnt/x2)"
	assert_equal "$(fsquota state --json "UUID=$uuid")" "$(fsquota state --json /mnt/x2)"
	assert_equal "$(fsquota list --json LABEL=data)" "$(fsquota list --json "$dev")"
	assert_equal "$(fsquota prune --dry-run --all --json LABEL=data)" "$(fsquota prune --dry-run --all --json /mnt/x2)"
	echo tagged:77 >/etc/projid
	assert_equal "$(fsquota usage --name tagged --at /mnt/x2 --at LABEL=data --json | jq '.usage | length')" 1
	fsquota resize --id 77 --at LABEL=data 6M
	[[ $(kernel_has /mnt/x2 77) == *6144* ]]
	fsquota release --id 77 --at "UUID=$uuid"
	assert_equal "$(kernel_has /mnt/x2 77)" ""
	assert_equal "$(kernel_has /mnt/x 77)" ""
	run -5 --separate-stderr fsquota report -p LABEL=nowhere
	assert_equal "$stderr" "fsquota report: LABEL=nowhere: cannot find a device with this tag: No such device"
	umount /mnt/x2
	run -5 --separate-stderr fsquota report -p LABEL=data
	assert_equal "$stderr" "fsquota report: $dev: cannot find a mount of the device: No such device or address (name a directory of a mounted filesystem, or its device)"
	rm -r /mnt/x/cwd
}

# tagged COMMAND...: it names both mount points, and changes nothing
tagged() {
	refuses 6 "$tag: is the tag of two filesystems, at /mnt/x and at /mnt/copy: name one of these" fsquota "$@"
}

# copies TYPE ARGUMENT...: a filesystem and a copy of it, mounted at /mnt/x and /mnt/copy, in either order
copies() {
	local tag uuid before options=prjquota
	umount /mnt/x /mnt/x2 2>/dev/null || :
	made "$1" "$dev" /mnt/x2 -L data "${@:2}"
	dd if="$dev" of="$FSQ_X_DEV" bs=1M status=none
	[ "$1" != xfs ] || options+=,nouuid
	mkdir -p /mnt/copy
	mount -t "$1" -o $options "$FSQ_X_DEV" /mnt/x
	# One that is mounted is meant, whether udev thinks so or not.
	fsquota limit bhard=3m 77 LABEL=data
	[[ $(kernel_has /mnt/x 77) == *3072* ]] || fail "$1: $(kernel_has /mnt/x 77)"
	mount -t "$1" -o $options "$dev" /mnt/copy
	before=$(kernel_has /mnt/x 77)
	uuid=$(blkid -p -s UUID -o value "$dev")
	for tag in LABEL=data "UUID=$uuid" "UUID=${uuid^^}" "UUID=\"$uuid\"" "LABEL='data'"; do
		tagged limit bhard=4m 77 --at $tag
		tagged limit bhard=4m 77 $tag
		tagged disable $tag
		tagged restore $tag </dev/null
		tagged timer 3d $tag
		tagged release --id 77 --at $tag
		tagged resize --id 77 --at $tag 6M
		tagged prune --all $tag
		tagged project -C 77 $tag
		tagged report $tag
		tagged list $tag
		exits 6 fsquota doctor $tag
	done
	assert_equal "$(kernel_has /mnt/x 77)$(kernel_has /mnt/copy 77)" "$before"
	umount /mnt/x /mnt/copy
}

# bats test_tags=shared
@test "a tag that a copy has, too, is refused with both mount points" {
	copies xfs
	copies ext4 -O quota,project -E quotatype=prjquota
	fresh_fs x
}

@test "xfs_quota knows no tags, as ever" {
	made xfs "$dev" /mnt/x2 -L data
	mount -t xfs -o prjquota "$dev" /mnt/x2
	run_split xfs_quota -x -c print LABEL=data
	local ours="$status:$stdout:$stderr"
	run_split oracle -x -c print LABEL=data
	assert_equal "$ours" "$status:$stdout:${stderr//"$FSQ_ORACLE"/xfs_quota}"
}

# without LIBRARY COMMAND...: where it is not installed
without() {
	local file
	file=$(ldconfig -p | sed -n "s|.*$1.so.1 .*=> ||p" | head -n 1)
	run_split unshare -m sh -c 'mount --bind /dev/null "$1" && shift && exec "$@"' sh "$(realpath "$file")" "${@:2}"
}

# bats test_tags=shared
@test "without a library the error names its package, and a query needs none" {
	local command libmount libblkid
	libmount='libmount.so.1: cannot load this library: install the package libmount1, or libmount'
	libblkid='libblkid.so.1: cannot load this library: install the package libblkid1, or libblkid'
	for command in list 'report -p' 'doctor /mnt/x' 'prune /mnt/x'; do
		without libmount fsquota $command
		assert_equal "$status:$stderr" "1:fsquota ${command%% *}: $libmount"
	done
	without libmount xfs_quota -x -c print
	assert_equal "$status:$stderr" "1:xfs_quota: $libmount"
	# libmount needs it, too.
	for command in 'report LABEL=data' 'list UUID=1'; do
		without libblkid fsquota $command
		assert_equal "$stderr" "fsquota ${command%% *}: $libblkid"
	done
	mkdir /mnt/x/dir
	fsquota assign /mnt/x/dir --hard 1M --id 9
	for command in 'fsquota usage /mnt/x/dir' 'fsquota id /mnt/x/dir' 'fsquota quota 9 /mnt/x' \
		'fsquota report -p /mnt/x' 'xfs_quota -x -c state /mnt/x/dir'; do
		without libmount $command
		assert_equal "$command:$status:$stderr" "$command:0:"
		strace -f -qq -e trace=openat -o trace $command >/dev/null
		run ! grep -E 'libmount|libblkid' trace
	done
	fsquota release /mnt/x/dir
	rmdir /mnt/x/dir
}

@test "neither library leaves a file, or reads that of a mount program" {
	made xfs "$dev" /mnt/x2 -L data
	rm -rf /run/blkid
	strace -f -qq -e trace=%file -o trace fsquota doctor LABEL=data >/dev/null
	grep -q "\"$dev\"" trace
	grep -v '"/dev/null"' trace >files
	run ! grep -E 'utab|blkid\.tab|/run/mount|O_CREAT|O_WRONLY' files
	assert [ ! -e /run/blkid ]
	strace -f -qq -e trace=%file -o trace fsquota list >/dev/null
	run ! grep -E 'utab|/run/mount|fstab' trace
}
