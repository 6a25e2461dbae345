#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
# needs: btrfs-progs
#
# Filesystems that cannot have project quotas, or not as they are, and what is in the way although
# they can.

# shellcheck disable=SC2034,SC2054 # for doctor.bash; commas
load ../lib/fsquota
load ../lib/nfs
load doctor

# other_ext4 MKFS-ARGUMENT...: /mnt/e is one that is mounted without options.
other_ext4() {
	: >/etc/fstab
	umount /mnt/e
	mkfs.ext4 -q -F "$@" "$FSQ_E_DEV" 2>/dev/null
	mount -t ext4 "$FSQ_E_DEV" /mnt/e
}

# lacks WORD MKFS-ARGUMENT...: an ext4 that is made so has this problem, and its repair gives it quota.
lacks() {
	other_ext4 "${@:2}"
	touch /mnt/e/file
	finds problem "$1" /mnt/e
	told_by_others /mnt/e
	typed
	finds ok quota-on /mnt/e
}

@test "an ext4 without the features, or without one of them" {
	lacks ext4-features -O ^quota,^project
	assert [ -e /mnt/e/file ]
	other_ext4 -O quota
	finds problem ext4-features /mnt/e
	assert_equal "$(jq -r .message <<<"$finding" | grep -o 'feature.*')" "feature project"
	lacks ext4-features -O quota
	# A directory that is not there is named by what is above it.
	other_ext4 -O ^quota,^project
	refuses 3 'see fsquota setup /mnt/e)' fsquota assign --mkdir /mnt/e/new --hard 1M
}

@test "an ext4 whose inodes have no place for an ID" {
	lacks ext4-inode-size -I 128 -O ^quota
	other_ext4 -I 128 -O ^quota
	finds problem ext4-inode-size /mnt/e
	[[ $(jq -r .message <<<"$finding") == *128*DELETES* ]]
}

@test "an ext4 whose device the caller cannot read" {
	other_ext4 -O ^quota,^project
	doctor=(setpriv --reuid 1000 --regid 1000 --clear-groups "$FSQUOTA" doctor)
	finds note features-unknown /mnt/e
	doctor=(fsquota doctor)
	no_more features-unknown /mnt/e
}

@test "a filesystem of fstab that is not mounted, and what is said there" {
	local fs
	fresh_fs e
	for fs in x e; do
		mkdir -p "/mnt/$fs/disk/in"
		printf '/dev/none /mnt/%s/disk xfs defaults,noauto 0 0\n' $fs >/etc/fstab
		finds problem not-mounted "/mnt/$fs/disk/in"
		assert_equal "$repair" "mount /mnt/$fs/disk"
		no_more quota-on "/mnt/$fs/disk"
		finds ok quota-on "/mnt/$fs"
		printf '/dev/none /mnt/%s xfs defaults 0 0\n' $fs >/etc/fstab
		no_more not-mounted "/mnt/$fs/disk"
	done
	printf '/dev/none /run/disk xfs defaults 0 0\n' >/etc/fstab
	mkdir /run/disk
	refuses 3 'fstab mounts a filesystem on /run/disk, which is not mounted (see fsquota doctor /run/disk)' \
		fsquota assign /run/disk --hard 1M
	refuses 3 'fstab mounts a filesystem on /run/disk, which is not mounted' fsquota list /run/disk
	rmdir /run/disk
	: >/etc/fstab
}

@test "an ext4 whose quota is off, and whose device the caller cannot read" {
	other_ext4 -O ^quota,^project
	mkdir -m 777 /mnt/e/dir
	run -3 setpriv --reuid 1000 --regid 1000 --clear-groups "$FSQUOTA" assign /mnt/e/dir --hard 1M
	assert_output --partial 'project quota is off (see fsquota setup /mnt/e/dir)'
}

@test "root passes the limits of ext4 and f2fs, and not those of XFS" {
	local fs
	fresh_each x e f
	for fs in e f; do
		finds note root-passes /mnt/$fs
		mkdir /mnt/$fs/dir
		fsquota assign /mnt/$fs/dir --hard 1M
		dd if=/dev/zero of=/mnt/$fs/dir/file bs=64k count=40 conv=fsync
		fsquota release /mnt/$fs/dir
		doctor=(setpriv --bounding-set -sys_resource --inh-caps -sys_resource "$FSQUOTA" doctor)
		no_more root-passes /mnt/$fs
		doctor=(fsquota doctor)
	done
	no_more root-passes /mnt/x
}

@test "an XFS without checksums" {
	umount /mnt/x2
	mkfs.xfs -q -f -m crc=0 "$FSQ_X2_DEV"
	mount -t xfs -o pquota "$FSQ_X2_DEV" /mnt/x2
	finds note xfs-version-4 /mnt/x2
	fresh_fs x2
	no_more xfs-version-4 /mnt/x2
}

# --- read-only: beside.bats has the filesystem and the mount --------------------------------------------

@test "a name that the shell would cut off is in no repair" {
	local place=$BATS_TEST_TMPDIR/m$'\n'
	mkdir "$place" "${place%?}"
	mount -t tmpfs -o ro cut "${place%?}"
	fresh_fs x2
	mount --bind /mnt/x2 "$place"
	mount -o remount,bind,ro "$place"
	finds problem read-only "$place"
	assert_equal "$repair" ""
	assert_equal "$(jq -r .path <<<"$finding" | od -An -c | tr -d ' \n')" "$(printf '%s\n' "$place" | od -An -c | tr -d ' \n')"
	umount "$place" "${place%?}"
}

@test "a user or a group at its limit, of whom a path is" {
	local fs type id
	fresh_each x e
	for fs in x e; do
		for type in user group; do
			id=7
			[ $type = user ] || id=8
			mkdir /mnt/$fs/$type
			chown 7 /mnt/$fs/$type
			chgrp 8 /mnt/$fs/$type
			fsquota limit "-${type:0:1}" bhard=1m $id /mnt/$fs
			no_more account-full /mnt/$fs/$type
			! setpriv --reuid 7 --regid 8 --clear-groups sh -c "yes >/mnt/$fs/$type/file" 2>/dev/null
			finds note account-full /mnt/$fs/$type
			assert_equal "$(jq -r .message <<<"$finding" | cut -d: -f1)" "$type $id is full"
			no_more account-full /mnt/$fs
			fsquota limit "-${type:0:1}" bhard=0 $id /mnt/$fs
			rm /mnt/$fs/$type/file
		done
	done
	fresh_each x e
}

@test "a filesystem without space or without inodes is full" {
	local fs
	for fs in x e; do
		fresh_fs $fs
		mkdir /mnt/$fs/project
		fsquota assign --no-register /mnt/$fs/project --hard 1M
		no_more project-full /mnt/$fs/project
		# A full project is none.
		! yes | head -c 2M >/mnt/$fs/project/file
		no_more filesystem-full /mnt/$fs/project
		finds note project-full /mnt/$fs/project
		! yes >/mnt/$fs/file
		finds problem filesystem-full /mnt/$fs/project
		run fsquota check /mnt/$fs
		assert_equal "$status" 8
		rm /mnt/$fs/file
		no_more filesystem-full /mnt/$fs
		fresh_fs $fs
	done
	truncate -s 8M "$BATS_TEST_TMPDIR/image"
	mkfs.ext4 -q -N 16 "$BATS_TEST_TMPDIR/image"
	mkdir -p /run/b
	mount -o loop "$BATS_TEST_TMPDIR/image" /run/b
	no_more filesystem-full /run/b
	touch /run/b/{1..99} || true
	finds problem filesystem-full /run/b
	assert_equal "$(jq -r .message <<<"$finding" | grep -o 'and 0 inodes')" "and 0 inodes"
	umount /run/b
}

@test "an /etc that is read-only" {
	mount --bind /etc /etc
	mount -o remount,bind,ro /etc
	look /mnt/x
	repair=$(jq -r 'select(.finding == "registry-read-only") | .repair' <<<"$findings" | sort -u)
	assert_equal "$(wc -l <<<"$repair")" 1
	typed
	no_more registry-read-only /mnt/x
	touch /etc/projects
	umount /etc
}

@test "a projects file that is a symlink" {
	mkdir -p /mnt/x/dir
	ln -s no-such-lines /etc/projects
	finds problem registry-symlink /mnt/x
	refuses 1 "is a symlink" fsquota assign --hard 1M /mnt/x/dir
	echo "9:/mnt/x/dir" >/etc/no-such-lines
	typed
	no_more registry-symlink /mnt/x
	assert_equal "$(</etc/projects)" "9:/mnt/x/dir"
	rm /etc/no-such-lines
}

@test "an ext4 or f2fs that is read-only with prjquota has quota once it can be written" {
	local fs device
	for fs in e f; do
		fresh_fs $fs
		device=FSQ_${fs^}_DEV
		umount /mnt/$fs
		mount -o ro,prjquota "${!device}" /mnt/$fs
		finds problem read-only /mnt/$fs
		assert_equal "$(grep -c '"level":"problem"' <<<"$findings")" 1
		typed
		finds ok quota-on /mnt/$fs
	done
}

@test "an fstab that forgets prjquota" {
	fresh_fs x2
	printf '# comment\n%s\t/mnt/x2 xfs defaults,noatime 0 0\n/dev/x /mnt/y xfs defaults\n' \
		"$FSQ_X2_DEV" >>/etc/fstab
	finds note fstab /mnt/x2
	typed
	no_more fstab /mnt/x2
	run tail -n 3 /etc/fstab
	assert_output "# comment
$FSQ_X2_DEV	/mnt/x2 xfs defaults,noatime,prjquota 0 0
/dev/x /mnt/y xfs defaults"
	umount /mnt/x2
	mount /mnt/x2
	finds ok quota-on /mnt/x2
}

# root_on MOUNT: the root of what doctor sees.
root_on() {
	local directory root=$1
	for directory in bin dev etc lib lib64 proc run usr sbin tmp; do
		[ -e /$directory ] || continue
		mkdir "$root/$directory"
		mount --rbind "$(realpath /$directory)" "$root/$directory"
	done
	[ -e "$root$FSQUOTA" ] || { mkdir -p "$root${FSQUOTA%/*}" && cp "$FSQUOTA" "$root$FSQUOTA"; }
	doctor=(chroot "$root" "$FSQUOTA" doctor)
}

# root_on_x2 OPTION...: an XFS that is mounted so.
root_on_x2() {
	fresh_fs x2 "$@"
	root_on /mnt/x2
}

@test "nobody is told to unmount the root filesystem" {
	other_ext4 -O ^quota,^project
	root_on /mnt/e
	finds problem ext4-features /
	assert_equal "$repair" 'fsquota setup --yes --at-boot /'
	umount -R /mnt/e
	fresh_fs e -o defaults
	echo "$FSQ_E_DEV / ext4 prjquota" >>/etc/fstab
	root_on /mnt/e
	finds note fstab-not-in-force /
	assert_equal "$repair" reboot
	# A remount with prjquota switches nothing on.
	mount -o remount,prjquota /mnt/e
	finds problem not-enforced /
	[[ $(jq -r .message <<<"$finding") == *"without prjquota, or remounted with it"* ]]
	umount -R /mnt/e
	fresh_fs e
}

@test "the root filesystem takes prjquota from the command line of the kernel" {
	root_on_x2 -o noquota
	finds problem root-flags /
	assert_equal "$repair" 'fsquota setup --yes --at-boot /'
	# The kernel of a machine that does.
	sed 's/$/ rootflags=noatime,prjquota quiet/; s| rootflags=/||' /proc/cmdline \
		>"$BATS_TEST_TMPDIR/cmdline"
	mount --bind "$BATS_TEST_TMPDIR/cmdline" /mnt/x2/proc/cmdline
	no_more root-flags /
	umount /mnt/x2/proc/cmdline
	# One that has no such word, and an fstab, which is read too late.
	sed -i 's/ *rootflags=[^ ]*//g' "$BATS_TEST_TMPDIR/cmdline"
	mount --bind "$BATS_TEST_TMPDIR/cmdline" /mnt/x2/proc/cmdline
	echo "$FSQ_X2_DEV / xfs prjquota" >>/etc/fstab
	finds problem root-flags /
	no_more fstab-not-in-force /
	umount -R /mnt/x2
	fresh_fs x2
}

@test "a root filesystem that only counts is told so" {
	root_on_x2 -o pqnoenforce
	finds problem not-enforced /
	no_more root-flags /
	umount -R /mnt/x2
	fresh_fs x2
}

@test "a bind mount shows a part" {
	fresh_fs x2
	mkdir -p /mnt/x2/part "$BATS_TEST_TMPDIR/bound"
	mount --bind /mnt/x2/part "$BATS_TEST_TMPDIR/bound"
	finds note bind-mount "$BATS_TEST_TMPDIR/bound"
	assert_equal "$(jq -r .path <<<"$finding")" "$BATS_TEST_TMPDIR/bound"
	[[ $(jq -r .message <<<"$finding") == *" /part of $FSQ_X2_DEV"* ]]
	finds ok quota-on "$BATS_TEST_TMPDIR/bound"
	umount "$BATS_TEST_TMPDIR/bound"
	no_more bind-mount /mnt/x2
}

@test "a tmpfs has its size instead" {
	finds problem tmpfs /run
	told_by_others /run
	[[ $(jq -r .message <<<"$finding") == *size=* ]]
	finds problem other-filesystem /proc
}

# bats test_tags=install
@test "a btrfs has quota groups instead" {
	truncate -s 200M /run/btrfs
	mkfs.btrfs -q /run/btrfs
	mkdir -p /run/b
	mount -o loop /run/btrfs /run/b
	finds problem btrfs /run/b
	told_by_others /run/b
	[[ $(jq -r .message <<<"$finding") == *"quota groups"* ]]
	umount /run/b
	rm /run/btrfs
}

# bats test_tags=slow
@test "NFS is limited where it comes from" {
	fresh_fs x
	serve /mnt/x
	mount_served / /run/b
	finds problem network /run/b
	told_by_others /run/b
	[[ $(jq -r .message <<<"$finding") == nfs4*"the server exports" ]]
	umount /run/b
	serve_no_more
}

# overlay_on FS: mounted at /run/o, with its layers in /mnt/FS/c.
overlay_on() {
	fresh_fs "$1"
	mkdir -p /mnt/$1/c/upper /mnt/$1/c/work /mnt/$1/lower /run/o
	echo lower >/mnt/$1/lower/file
	chmod 777 /mnt/$1/c/upper
	mount -t overlay -o "lowerdir=/mnt/$1/lower,upperdir=/mnt/$1/c/upper,workdir=/mnt/$1/c/work" overlay /run/o
}

# bats test_tags=slow
@test "an overlay that nothing limits" {
	local fs
	for fs in x e; do
		overlay_on $fs
		finds problem overlay-unlimited /run/o
		told_by_others /run/o
		assert_equal "$repair" "fsquota assign /mnt/$fs/c --hard 10G"
		repair=${repair/10G/1M}
		typed
		finds ok overlay-limited /run/o
		finds ok quota-on /run/o
		# The writer is stopped.
		run ! setpriv --reuid 1000 --regid 1000 --clear-groups --bounding-set -all \
			dd if=/dev/zero of=/run/o/big bs=64k count=40 conv=fsync
		assert_output --regexp 'No space left|quota exceeded'
		# And a file of the lower layer is copied up.
		rm /run/o/big
		echo more >>/run/o/file
		umount /run/o
	done
}

# bats test_tags=full
@test "an overlay that nothing limits, whose layers lie beside others" {
	local fs
	for fs in x e; do
		fresh_fs $fs
		mkdir -p /mnt/$fs/c/{up1,wk1,data} /run/o
		mount -t overlay -o "lowerdir=/mnt/$fs/c/data,upperdir=/mnt/$fs/c/up1,workdir=/mnt/$fs/c/wk1" overlay /run/o
		finds problem overlay-unlimited /run/o
		assert_equal "$(sed "s/overlay[0-9]*/overlayN/" <<<"$repair")" \
			"fsquota assign --name overlayN --hard 10G /mnt/$fs/c/up1 /mnt/$fs/c/wk1"
		typed
		finds ok overlay-limited /run/o
		assert_equal "$(lsattr -pd /mnt/$fs/c /mnt/$fs/c/data | awk '{ print $1 }' | uniq)" 0
		umount /run/o
	done
}

# bats test_tags=full
@test "an overlay whose upperdir and workdir have different IDs" {
	overlay_on x
	fsquota assign /mnt/x/c/upper --hard 1M
	echo more >>/run/o/file || true
	finds problem overlay-split /run/o
	told_by_others /run/o
	run ! sh -c 'echo more >>/run/o/file'
	assert_output --partial "cross-device link"
	typed
	finds ok overlay-limited /run/o
	echo more >>/run/o/file
	umount /run/o
}

# bats test_tags=full
@test "an overlay whose layers cannot be seen from here" {
	overlay_on x
	mount -t tmpfs cover /mnt/x
	finds problem overlay /run/o
	told_by_others /run/o
	umount /mnt/x
	umount /run/o
}

@test "a seccomp filter that forbids quota calls" {
	local error
	fresh_fs x
	for error in EPERM ENOSYS; do
		doctor=("$builddir/tests/kernels/forbid" $error quotactl,quotactl_fd "$FSQUOTA" doctor)
		finds problem seccomp /mnt/x
		[ $error = EPERM ] || told_by_others /mnt/x
		# What the kernel was not asked is not said.
		no_more quota-off /mnt/x
	done
	doctor=(fsquota doctor)
	no_more seccomp /mnt/x
}

# bats test_tags=slow
@test "a kernel without quota" {
	doctor=(strace -f -qq -o "$BATS_TEST_TMPDIR/trace" -e trace=quotactl,quotactl_fd
		-e inject=quotactl,quotactl_fd:error=ENOSYS "$FSQUOTA" doctor)
	finds problem kernel-without-quota /mnt/x
	told_by_others /mnt/x
	assert_file_contains "$BATS_TEST_TMPDIR/trace" INJECTED
	doctor=(fsquota doctor)
	no_more kernel-without-quota /mnt/x
}

@test "a kernel that wants a device, where there is no node" {
	fresh_fs x2
	mount -t tmpfs -o mode=755 dev /run/lock 2>/dev/null || mount -m -t tmpfs -o mode=755 dev /run/lock
	# shellcheck disable=SC2046 # two words
	mknod /run/lock/disk b $(stat -c '0x%t 0x%T' "$FSQ_X2_DEV")
	umount /mnt/x2
	mount -t xfs -o prjquota /run/lock/disk /mnt/x2
	rm /run/lock/disk
	doctor=(strace -f -qq -o "$BATS_TEST_TMPDIR/trace" -e trace=quotactl_fd
		-e inject=quotactl_fd:error=ENOSYS "$FSQUOTA" doctor)
	# What is in its place is not taken away.
	touch /run/lock/disk
	finds problem no-device-node /mnt/x2
	assert_equal "$repair" ''
	rm /run/lock/disk
	finds problem no-device-node /mnt/x2
	# What cannot be asked is no further problem.
	assert_equal "$(jq -r 'select(.level == "problem").finding' <<<"$findings")" no-device-node
	told_by_others /mnt/x2
	typed
	finds ok quota-on /mnt/x2
	umount /mnt/x2 /run/lock
	fresh_fs x2
}

# bats test_tags=shared
@test "a filesystem that nobody asks about needs no quota where another one has it" {
	umount /mnt/e
	mount "$FSQ_E_DEV" /mnt/e
	finds note not-enforced
	assert_equal "$(jq -r .path <<<"$finding")" /mnt/e
	finds problem not-enforced /mnt/e
	mkdir /mnt/e/web
	echo 42:/mnt/e/web >/etc/projects
	finds problem not-enforced
	rm /etc/projects
	# It is a problem where none has.
	umount /mnt/{x,x2,f}
	finds problem not-enforced
}
