#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared,slow
# needs: busybox-static klibc-utils
#
# The step of the next boot (contrib/at-boot/fsquota-at-boot), without a boot: it is a script of the initramfs that
# gives an ext4 which is not mounted the features of project quotas. image.bats boots it.

load ../lib/fsquota

uuid=0f2c0000-0000-4000-8000-000000000001

setup() {
	conf=$BATS_TEST_TMPDIR/conf dir=$BATS_TEST_TMPDIR/run bin=$BATS_TEST_TMPDIR/bin shell=(dash) options=()
	mkdir "$bin"
	# Nothing here waits ten seconds for a device.
	stub sleep 'exit 0'
	umount /mnt/e /mnt/x2
	wipefs -q -a "$FSQ_X2_DEV"
	configured
}

teardown() {
	umount -q /proc/cmdline || true
	[ ! -e /dev/mapper/fsq ] || dmsetup remove fsq
	fresh_fs e
	fresh_fs x2
}

# stub NAME SCRIPT: a program that the step finds before the real one.
stub() {
	printf '#!/bin/sh\n%s\n' "$2" >"$bin/$1"
	chmod +x "$bin/$1"
}

# configured [FEATURES [QUOTAS]]: what fsquota setup --at-boot writes.
configured() {
	printf '%s\n' "UUID=$uuid" "FEATURES=${1-quota,project}" "QUOTAS=${2-usrquota,grpquota,prjquota}" >"$conf"
}

# made [ARGUMENT...]: an ext4 as cloud images have it.
made() {
	mkfs.ext4 -q -F -U $uuid -O '^quota,^project' -E nodiscard "$@" "$FSQ_E_DEV" 32M
}

# at_boot RESULT: run the step; the first line that it leaves is RESULT, a pattern.
at_boot() {
	run -0 env PATH="$bin:$PATH" FSQUOTA_AT_BOOT_CONF="$conf" FSQUOTA_AT_BOOT_RUN="$dir" "${shell[@]}" \
		"$srcdir/contrib/at-boot/fsquota-at-boot" ${options[@]+"${options[@]}"}
	read -r result <"$dir/fsquota-at-boot"
	# shellcheck disable=SC2053 # it is a pattern
	[[ $result == $1 ]] || fail "$(<"$dir/fsquota-at-boot")"
	[[ $output == *"fsquota-at-boot: $result" ]]
}

# has [DEVICE]: its features of quotas, and which quotas it has.
has() {
	tune2fs -l "${1-$FSQ_E_DEV}" | awk '
		/^Filesystem features:/ { for (i = 3; i <= NF; i++) if ($i == "quota" || $i == "project") words = words $i " " }
		/^(User|Group|Project) quota inode:/ { words = words tolower($1) " " }
		END { sub(/ $/, "", words); print words }'
}

sound() { e2fsck -f -n "$FSQ_E_DEV"; }

content() { head -c 32M "$FSQ_E_DEV" | sha256sum; }

# untouched RESULT: the step ends with it, and no byte of the device has changed.
untouched() {
	local before
	before=$(content)
	at_boot "$1"
	assert_equal "$(content)" "$before"
}

# bats test_tags=install
@test "an ext4 without the features gets them, with any shell of an initramfs" {
	for shell in dash 'busybox sh' /usr/lib/klibc/bin/sh; do
		read -ra shell <<<"${shell[0]}"
		made
		at_boot "done $uuid"
		assert_equal "$(has)" 'quota project user group project'
		sound
		mount -t ext4 -o prjquota "$FSQ_E_DEV" /mnt/e
		fsquota assign --mkdir --hard 1M /mnt/e/d
		chmod 777 /mnt/e/d
		run -1 as_user dd if=/dev/zero of=/mnt/e/d/f bs=64k count=32
		umount /mnt/e
	done
}

@test "the result says what the programs printed" {
	made
	at_boot "done $uuid"
	run -0 cat "$dir/fsquota-at-boot"
	assert_line --index 0 "done $uuid"
	assert_line --index 1 "+ e2fsck -p $FSQ_E_DEV"
	assert_line "+ tune2fs -O quota,project -Q usrquota,grpquota,prjquota $FSQ_E_DEV"
	assert_line --partial "$FSQ_E_DEV: clean, "
}

@test "it gets the quotas that the file names, and no others" {
	made
	configured quota,project prjquota
	at_boot "done $uuid"
	assert_equal "$(has)" 'quota project project'
	made
	configured project,quota prjquota,usrquota
	at_boot "done $uuid"
	assert_equal "$(has)" 'quota project user project'
}

@test "one of the features may be there" {
	made -O quota
	configured project prjquota
	at_boot "done $uuid"
	assert_equal "$(has)" 'quota project user group project'
	made -O project
	configured quota prjquota
	at_boot "done $uuid"
	assert_equal "$(has)" 'quota project project'
}

@test "the second time there is nothing to do" {
	made
	at_boot "done $uuid"
	untouched "nothing $uuid"
}

@test "features without the quota file are not all that is needed" {
	made -O quota,project
	tune2fs -Q '^prjquota' "$FSQ_E_DEV"
	debugfs -w -R 'feature project' "$FSQ_E_DEV"
	assert_equal "$(has)" 'quota project user group'
	configured quota,project prjquota
	at_boot "done $uuid"
	assert_equal "$(has)" 'quota project user group project'
}

@test "an unclean ext4 is repaired before" {
	made
	mount -t ext4 "$FSQ_E_DEV" /mnt/e
	mkdir /mnt/e/{1..20}
	xfs_io -x -c 'shutdown -f' /mnt/e
	umount /mnt/e
	[[ $(tune2fs -l "$FSQ_E_DEV") == *needs_recovery* ]]
	at_boot "done $uuid"
	[[ $(<"$dir/fsquota-at-boot") == *'recovering journal'* ]]
	assert_equal "$(has)" 'quota project user group project'
	sound
	mount -t ext4 -o prjquota "$FSQ_E_DEV" /mnt/e
	assert_dir_exists /mnt/e/20
}

@test "another UUID is not touched" {
	made -U 0f2c0000-0000-4000-8000-000000000002
	untouched "failed $uuid: no ext4 has this UUID"
	# The superblock counts, whatever blkid says.
	stub blkid "case \"\$*\" in
		*swsuspend*) ;;
		*TYPE*) echo ext4 ;;
		*) echo $FSQ_E_DEV ;;
		esac"
	untouched "failed $uuid: $FSQ_E_DEV has another UUID"
}

@test "another filesystem with the UUID is not touched" {
	mkfs.xfs -q -f -m uuid=$uuid "$FSQ_E_DEV"
	untouched "failed $uuid: no ext4 has this UUID"
}

@test "two with the UUID are not touched" {
	made
	mkfs.ext4 -q -F -U $uuid -O '^quota,^project' "$FSQ_X2_DEV" 32M
	untouched "failed $uuid: /dev/* and /dev/* have this UUID"
	assert_equal "$(has "$FSQ_X2_DEV")" ''
}

@test "below a device mapper the device itself is not taken" {
	made
	dmsetup create fsq --table "0 65536 linear $FSQ_E_DEV 0"
	# As udev has it.
	ln -sf "$(dmsetup info -c --noheadings -o blkdevname,name --separator ' ' fsq | sed 's|\([^ ]*\).*|/dev/\1|')" /dev/mapper/fsq
	at_boot "done $uuid"
	[[ $(<"$dir/fsquota-at-boot") == *'+ tune2fs -O quota,project -Q usrquota,grpquota,prjquota /dev/mapper/fsq'* ]]
}

@test "a mounted one is not touched" {
	made
	mount -t ext4 -o ro "$FSQ_E_DEV" /mnt/e
	untouched "failed $uuid: $FSQ_E_DEV is mounted at /mnt/e"
}

@test "nothing is touched while a system is in hibernation" {
	made
	mkswap -q "$FSQ_X2_DEV"
	printf S1SUSPEND | dd of="$FSQ_X2_DEV" bs=1 seek=4086 conv=notrunc status=none
	options=(--after-resume)
	untouched "failed $uuid: a system is in hibernation"
	wipefs -q -a "$FSQ_X2_DEV"
	# The image may be in a file of this very filesystem.
	echo 'root=/dev/vda1 resume=UUID=1 resume_offset=38912 ro' >"$BATS_TEST_TMPDIR/cmdline"
	mount --bind "$BATS_TEST_TMPDIR/cmdline" /proc/cmdline
	options=()
	untouched "failed $uuid: with resume_offset= it is unknown*"
	options=(--after-resume)
	at_boot "done $uuid"
}

@test "a device may come late" {
	made -U 0f2c0000-0000-4000-8000-000000000002
	stub sleep "echo >>$BATS_TEST_TMPDIR/slept; [ \$(wc -l <$BATS_TEST_TMPDIR/slept) -lt 3 ] || tune2fs -U $uuid $FSQ_E_DEV"
	at_boot "done $uuid"
	assert_equal "$(wc -l <"$BATS_TEST_TMPDIR/slept")" 3
}

@test "a file that is not as it should be changes nothing" {
	local ok2=FEATURES=quota,project ok3=QUOTAS=prjquota lines
	made
	rm "$conf"
	untouched "failed -: there is no $conf"
	local wrong=(
		"" "UUID=$uuid" "UUID=$uuid|$ok2" "UUID=$uuid|$ok2|$ok3|" "UUID=$uuid|$ok2|$ok3|$ok3" "|UUID=$uuid|$ok2|$ok3"
		"$ok2|UUID=$uuid|$ok3" "UUID=$uuid|$ok3|$ok2" "UUID=${uuid^^}|$ok2|$ok3" "UUID=${uuid%?}|$ok2|$ok3"
		"UUID=${uuid}0|$ok2|$ok3" "UUID=|$ok2|$ok3" "UUID=${uuid//-/0}|$ok2|$ok3" "UUID=\"$uuid\"|$ok2|$ok3"
		" UUID=$uuid|$ok2|$ok3" "UUID=$uuid |$ok2|$ok3" "UUID=${uuid/0f/??}|$ok2|$ok3" "UUID=$uuid"$'\r'"|$ok2|$ok3"
		"UUID=\$(touch $BATS_TEST_TMPDIR/run.it)|$ok2|$ok3" "UUID=\`touch $BATS_TEST_TMPDIR/run.it\`|$ok2|$ok3"
		"UUID=$uuid|FEATURES=|$ok3" "UUID=$uuid|FEATURES=quota project|$ok3" "UUID=$uuid|FEATURES=quota,project,|$ok3"
		"UUID=$uuid|FEATURES=quota,quota|$ok3" "UUID=$uuid|FEATURES=metadata_csum|$ok3" "UUID=$uuid|FEATURES=^quota|$ok3"
		"UUID=$uuid|$ok2|QUOTAS=" "UUID=$uuid|$ok2|QUOTAS=usrquota" "UUID=$uuid|$ok2|QUOTAS=prjquota,"
		"UUID=$uuid|$ok2|QUOTAS=,prjquota" "UUID=$uuid|$ok2|QUOTAS=usrquota,,prjquota" "UUID=$uuid|$ok2|QUOTAS=^prjquota"
		"UUID=$uuid|$ok2|QUOTAS=prjquota,prjquota" "UUID=$uuid|$ok2|QUOTAS=prjquota -f" "UUID=$uuid|$ok2|QUOTAS=*"
		"UUID=$uuid|$ok2|QUOTAS=prjquota;touch $BATS_TEST_TMPDIR/run.it" "# comment|UUID=$uuid|$ok2|$ok3"
	)
	local before
	before=$(content)
	for lines in "${wrong[@]}"; do
		printf '%s' "${lines:+${lines//|/$'\n'}$'\n'}" >"$conf"
		at_boot 'failed *: *'"$conf"'*'
	done
	# A file that ends in a line was cut off.
	printf '%s\n%s\n%s\n%s' "UUID=$uuid" "$ok2" "$ok3" more >"$conf"
	at_boot 'failed *: *'"$conf"'*'
	printf '%s\n%s\n%s' "UUID=$uuid" "$ok2" "$ok3" >"$conf"
	at_boot 'failed *: *'"$conf"'*'
	assert_equal "$(content)" "$before"
	assert_not_exists "$BATS_TEST_TMPDIR/run.it"
}

@test "a kernel that does not mount it with quotas gets it back as it was" {
	made
	stub mount 'echo "mount: no quota_v2"; exit 32'
	at_boot "failed $uuid: this kernel does not mount it with usrquota,grpquota,prjquota; undone"
	[[ $(<"$dir/fsquota-at-boot") == *'mount: no quota_v2'* ]]
	assert_equal "$(has)" ''
	sound
	# What was there before stays.
	made -O quota
	configured quota,project prjquota
	at_boot "failed $uuid: this kernel does not mount it with prjquota; undone"
	[[ $(has) == 'quota user group'* ]]
	sound
}

@test "tune2fs that asks for e2fsck -f gets it" {
	made
	stub tune2fs "case \$1 in
		-O) [ -e $BATS_TEST_TMPDIR/asked ] || {
			touch $BATS_TEST_TMPDIR/asked
			echo 'Please run e2fsck -f on the filesystem.'
			exit 1
		} ;;
		esac
		exec $(command -v tune2fs) \"\$@\""
	at_boot "done $uuid"
	[[ $(<"$dir/fsquota-at-boot") == *"+ e2fsck -f -p $FSQ_E_DEV"*"+ tune2fs -O"* ]]
	assert_equal "$(has)" 'quota project user group project'
}

@test "inodes that are too small have no room for a project ID" {
	made -I 128
	at_boot "failed $uuid: tune2fs failed*"
	[[ $(<"$dir/fsquota-at-boot") == *'inode size too small'* ]]
	assert_equal "$(has)" ''
	sound
}

@test "an ext4 that e2fsck -p cannot repair is left alone" {
	made
	stub e2fsck 'echo UNEXPECTED INCONSISTENCY; exit 4'
	untouched "failed $uuid: e2fsck ended with 4"
}
