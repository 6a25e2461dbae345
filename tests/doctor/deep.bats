#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# doctor --deep: registered directories, counted.

# shellcheck disable=SC2034 # for doctor.bash
load ../lib/fsquota
load doctor

setup() {
	fresh_each x e
	rm -f /etc/projects /etc/projid /etc/fsquota.conf
	doctor=(fsquota doctor --deep)
}

@test "directories as they must be, full and empty" {
	local fs
	for fs in x e f; do
		mkdir /mnt/$fs/full
		fsquota assign /mnt/$fs/full --hard 10M
		dd if=/dev/zero of=/mnt/$fs/full/file bs=64k count=9
		ln /mnt/$fs/full/file /mnt/$fs/full/again
		mkdir -p /mnt/$fs/full/a/b
		ln -s nowhere /mnt/$fs/full/link
		look
		run ! grep -E 'tree-has-others|count-differs' <<<"$findings"
		run_split fsquota doctor --deep --progress=always /mnt/$fs
		[[ $stderr == *" entries"* ]] || fail "$stderr"
		fsquota release /mnt/$fs/full
		rm -rf /mnt/$fs/full
	done
}

@test "a file whose owner gave it another ID" {
	mkdir /mnt/x/dir
	fsquota assign /mnt/x/dir --hard 10M
	touch /mnt/x/dir/file
	mkdir /mnt/x/dir/sub
	chattr -p 0 /mnt/x/dir/file
	chattr -P /mnt/x/dir/sub
	finds problem tree-has-others
	[[ $(jq -r .message <<<"$finding") == "2 files"* ]]
	# This is not seen without a walk.
	doctor=(fsquota doctor)
	no_more tree-has-others
	doctor=(fsquota doctor --deep)
	typed
	no_more tree-has-others
}

@test "a directory that cannot be opened is no file with another ID" {
	local caps=-dac_override,-dac_read_search
	mkdir -p /mnt/x/dir/{closed,sub}
	fsquota assign /mnt/x/dir --hard 10M
	install -d -m 700 -o daemon /mnt/x/dir/closed
	doctor=(setpriv --bounding-set $caps --inh-caps $caps "$FSQUOTA" doctor --deep)
	run_split "${doctor[@]}" --json /mnt/x
	assert_equal "$status" 4
	assert_equal "$(jq -r '.error | .path, .message' <<<"$stderr")" $'/mnt/x/dir/closed\ncannot be looked at'
	assert_equal "$(jq -r '.doctor[].finding' <<<"$stdout" | grep -E 'tree-has-others|count-differs')" ''
	# What it can see it still tells.
	chattr -p 0 /mnt/x/dir/sub
	run_split "${doctor[@]}" /mnt/x
	[[ $stdout == *"/mnt/x/dir: 1 files and directories in it do not carry"* ]] || fail "$stdout"
}

@test "an XFS on which a deleted file is open" {
	mkdir /mnt/x/dir
	fsquota assign /mnt/x/dir --hard 10M
	exec 8>/mnt/x/dir/file
	dd if=/dev/zero bs=64k count=3 >&8
	rm /mnt/x/dir/file
	finds note count-differs
	assert_equal "$repair" ''
	exec 8>&-
	counts /mnt/x 1048577 1
	no_more count-differs
	# An empty file elsewhere has no bytes, and is none of the tree.
	touch /mnt/x/far
	chattr -p 1048577 /mnt/x/far
	finds note count-differs
	assert_equal "$repair" ''
	[[ $(jq -r .message <<<"$finding") == *"and 2 inodes for project 1048577, what is there has 0 and 1:"*"fsquota explain shows" ]]
	rm /mnt/x/far
	counts /mnt/x 1048577 1
	no_more count-differs
}

# bats test_tags=linux-6
@test "symlinks and special files that cannot carry the ID are counted, and are no fault of the records" {
	mkdir /mnt/e/dir
	ln -s "$(printf %0100d 0)" /mnt/e/dir/link
	mkfifo /mnt/e/dir/pipe
	prints 2 jq '.assign[0].special_files' <(fsquota assign --json /mnt/e/dir --hard 10M)
	ln -s new /mnt/e/dir/new
	finds note special-files
	[[ $(jq -r .message <<<"$finding") == "2 symbolic links and special files in it"* ]]
	[[ $findings != *count-differs* ]] || fail "$findings"
	rm /mnt/e/dir/{link,pipe}
	no_more special-files
}

@test "a directory that another program has tagged is judged by the ID that it carries" {
	local dir=/mnt/x/volumes/web/_data
	mkdir -p $dir/sub /mnt/x/link
	real -c "project -s -p $dir 7001" -c 'limit -p bhard=9m 7001' /mnt/x >/dev/null
	dd if=/dev/zero of=$dir/sub/file bs=64k count=3 status=none
	finds note directory-without-line $dir
	[[ $(jq -r .path <<<"$finding") = "$dir" ]]
	[[ $findings != *tree-has-others* && $findings != *count-differs* ]] || fail "$findings"
	chattr -p 0 $dir/sub/file
	chattr -P $dir/sub
	finds problem tree-has-others $dir
	[[ $(jq -r .message <<<"$finding") == "2 files and directories in it do not carry project 7001"* ]]
	typed
	no_more tree-has-others $dir
	# Below it the kernel counts more; of a filesystem nobody asks for it.
	no_more count-differs $dir/sub
	no_more directory-without-line /mnt/x
	# It is registered, by whatever path.
	mount --bind /mnt/x/volumes /mnt/x/link
	fsquota assign --keep-limits /mnt/x/link/web/_data
	no_more directory-without-line $dir
	no_more directory-without-line $dir/sub
	umount /mnt/x/link
}

@test "two directories that share an ID are not compared" {
	mkdir /mnt/x/a /mnt/x/b
	fsquota assign /mnt/x/a --name both --hard 10M
	fsquota assign /mnt/x/b --name both
	dd if=/dev/zero of=/mnt/x/a/file bs=64k count=3
	no_more count-differs
}
