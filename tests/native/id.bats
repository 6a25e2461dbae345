#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# fsquota id: the bare project ID of files.

load ../lib/fsquota

setup_file() {
	local fs
	for fs in x e f; do
		fresh_fs $fs
		mkdir "/mnt/$fs/dir"
		oracle -x -f -c "project -s -p /mnt/$fs/dir 4294967294" "/mnt/$fs" >/dev/null
		touch "/mnt/$fs/dir/file" "/mnt/$fs/plain"
	done
}

@test "the ID of a directory, of a file created in it, and none, in the order of the paths" {
	local fs
	for fs in x e f; do
		exits 0 fsquota id "/mnt/$fs/dir" "/mnt/$fs/plain" "/mnt/$fs/dir/file"
		assert_output "4294967294
0
4294967294"
		assert_equal "$stderr" ""
	done
}

@test "a symlink is not followed" {
	ln -sf dir /mnt/x/link
	run_split fsquota id /mnt/x/link
	if kernel_knows file_setattr; then
		assert_equal "$status:$stdout" 0:0 # its own; that of the directory is another
	else
		assert_equal "$status:$stdout" 3:
	fi
}
