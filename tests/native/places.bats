#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# On which filesystem a registered directory lies: list finds it in the mount table, whatever is
# mounted where, and looks only at directories whose ID has no record.

load ../lib/fsquota

setup_file() {
	fresh_each x x2
	mkdir -p /mnt/x/web /mnt/x/sub /mnt/x2/web
	real -c 'limit -p bhard=1m 42' /mnt/x
	real -c 'limit -p bhard=1m 42' -c 'limit -p bhard=1m 43' /mnt/x2
}

teardown_file() { fresh_each x x2; }

setup() {
	rm -f /etc/projects /etc/projid
	mounted=()
}

teardown() {
	local at
	for ((at = ${#mounted[@]} - 1; at >= 0; at--)); do umount "${mounted[at]}"; done
}

# mount_at DIRECTORY ARGUMENT...: until the end of the test.
mount_at() {
	mkdir -p "$1"
	mount "${@:2}" "$1"
	mounted+=("$1")
}

# places FILESYSTEM LINE...: "ID PATH" of what list shows there with these lines.
places() {
	printf '%s\n' "${@:2}" >/etc/projects
	run -0 fsquota list --quick -N --raw -o ID,PATH "$1"
}

@test "a directory is on the filesystem that is mounted deepest above it" {
	mount_at /mnt/x/sub "$FSQ_X2_DEV"
	places /mnt/x 42:/mnt/x/sub/web 44:/mnt/x/sub/web 45:/mnt/x/subway 46:/mnt/x
	assert_output '42 -
45 /mnt/x/subway
46 /mnt/x'
	places /mnt/x2 42:/mnt/x/sub/web 44:/mnt/x/sub/gone 43:/mnt/x/web
	assert_output '42 /mnt/x/sub/web
43 -
44 /mnt/x/sub/gone'
}

@test "what another kind of filesystem holds is on none of ours" {
	mount_at /mnt/x/sub -t tmpfs none
	places /mnt/x 42:/mnt/x/sub/web 44:/mnt/x/sub
	assert_output '42 -'
}

@test "a mount that another one covers holds nothing" {
	mount_at /mnt/under/deep "$FSQ_X2_DEV"
	places /mnt/x2 42:/mnt/under/deep/web 44:/mnt/under/deep/gone
	assert_output '42 /mnt/under/deep/web
43 -
44 /mnt/under/deep/gone'
	mount_at /mnt/under -t tmpfs none
	places /mnt/x2 42:/mnt/under/deep/web 44:/mnt/under/deep/gone
	assert_output '42 -
43 -'
	# What is mounted on the one that covers is seen, too.
	mount_at /mnt/under/deep "$FSQ_X_DEV"
	places /mnt/x 42:/mnt/under/deep/web
	assert_output '42 /mnt/under/deep/web'
}

@test "of mounts on one another the last one counts" {
	local number last
	for number in {1..6}; do
		mount_at "/mnt/stack$number" "$FSQ_X2_DEV"
		mount_at "/mnt/stack$number" "$FSQ_X_DEV"
		[ $((number % 2)) = 1 ] || mount_at "/mnt/stack$number" "$FSQ_X2_DEV"
	done
	for number in {1..6}; do
		places /mnt/x "42:/mnt/stack$number/web"
		last=$output
		places /mnt/x2 "42:/mnt/stack$number/web"
		if [ $((number % 2)) = 0 ]; then
			assert_equal "$last $output" "42 - 42 /mnt/stack$number/web
43 -"
		else
			assert_equal "$last $output" "42 /mnt/stack$number/web 42 -
43 -"
		fi
	done
}

@test "a directory below a bind mount is on the filesystem of that" {
	mount_at /mnt/x/sub --bind /mnt/x/web
	places /mnt/x 42:/mnt/x/sub/a
	assert_output '42 /mnt/x/sub/a'
	mount_at /mnt/bound --bind /mnt/x2/web
	places /mnt/x2 42:/mnt/bound/a
	assert_output '42 /mnt/bound/a
43 -'
}

@test "a symlink that leads elsewhere makes no project" {
	ln -s /mnt/x2/web /mnt/x/link
	places /mnt/x 44:/mnt/x/link 45:/mnt/x/link/below 46:/mnt/x/web
	assert_output '42 -
46 /mnt/x/web'
	rm /mnt/x/link
}

@test "parts that are dots or empty are looked at" {
	mount_at /mnt/x/sub "$FSQ_X2_DEV"
	places /mnt/x 42:/mnt/x/./web 44:/mnt/x/sub/../web 45:/mnt/x//web 46:/mnt/x/web/
	assert_output '42 /mnt/x/./web
44 /mnt/x/sub/../web
45 /mnt/x//web
46 /mnt/x/web/'
	places /mnt/x2 44:/mnt/x/sub/../web
	assert_output '42 -
43 -'
}

@test "below chroot(2) it looks where there is no mount to go by" {
	local root=/mnt/x2/root line
	mkdir -p $root/{usr,proc,mnt/x,etc,dev}
	for line in bin lib lib64; do ln -sfn usr/$line $root/$line; done
	mount_at $root/usr --rbind /usr
	mount_at $root/proc -t proc none
	mount_at $root/mnt/x --bind /mnt/x
	cp "$FSQUOTA" $root/dev/fsquota
	printf '%s\n' 42:/mnt/x/web 43:/etc/web >$root/etc/projects
	prints '42 /mnt/x/web' unshare --root $root /dev/fsquota list --quick -N --raw -o ID,PATH /mnt/x
	umount -l $root/usr
	unset 'mounted[0]'
	mounted=("${mounted[@]}")
}
