#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# fsquota find: what carries a project ID. projects.bash has what there is.

load ../lib/fsquota
load projects

setup_file() {
	make_projects
	local fs
	for fs in x e f; do
		mkdir -p /mnt/$fs/web/sub/deep
		touch /mnt/$fs/web/sub/deep/file /mnt/$fs/none/stray
		chattr -p 42 /mnt/$fs/none/stray
	done
}

teardown() { umount -q /mnt/x/web/sub /mnt/x2 || true; }

# found WORD...: what find prints, sorted, in output.
found() {
	run_split fsquota find "$@"
	assert_equal "$*: $status$stderr" "$*: 0"
	output=$(LC_ALL=C sort <<<"$stdout")
}

@test "find prints every file and directory that carries the ID" {
	local fs
	for fs in x e f; do
		found 42 /mnt/$fs
		assert_output "$(printf '%s\n' /mnt/$fs/{none/stray,web{,/file,/sub{,/deep{,/file}}},web2})"
	done
}

@test "find takes a name, several paths, and files" {
	found web /mnt/x/none /mnt/e/web/file /mnt/f/logs
	assert_output $'/mnt/e/web/file\n/mnt/x/none/stray'
}

@test "find agrees with what the kernel counts" {
	local fs
	for fs in x e f; do
		run -0 fsquota usage --raw -No IUSED /mnt/$fs/web
		assert_equal "$fs: $(fsquota find 42 /mnt/$fs | wc -l)" "$fs: $output"
	done
}

@test "find without a path searches all filesystems that have quota" {
	found logs
	assert_output "$(printf '%s\n' /mnt/{e,f,x}/logs{,/file})"
}

@test "find prints nothing and ends with 0 where nothing carries the ID; --json has paths and IDs" {
	is_silent fsquota find 4294967294 /mnt/x
	assert_equal "$(fsquota find --json 4294967294 /mnt/x)" '{"find":[],"mounts_skipped":0}'
	run -0 jq -c '.find | sort_by(.path) | map([.path, .id])' <(fsquota find --json 43 /mnt/e)
	assert_output '[["/mnt/e/logs",43],["/mnt/e/logs/file",43]]'
}

@test "find -0 ends each path with NUL, whatever is in a name" {
	local name=$'a\nb\\ "\xff'
	touch "/mnt/x/logs/$name"
	prints 3 bash -c "'$FSQUOTA' find -0 43 /mnt/x | xargs -0 -n 1 stat -c %i | wc -l"
	assert_equal "$(fsquota find 43 /mnt/x | wc -l)" 3
	fsquota find --null 43 "/mnt/x/logs/$name" >"$BATS_TEST_TMPDIR/out"
	printf '%s\0' "/mnt/x/logs/$name" | cmp - "$BATS_TEST_TMPDIR/out"
	rm "/mnt/x/logs/$name"
	refuses 2 -0 fsquota find -0 --json 43 /mnt/x
	refuses 2 -0 fsquota find -0 -o PATH 43 /mnt/x
}

@test "find --orphans shows what carries an ID that nobody registered" {
	mkdir /mnt/x/lost
	own 77 /mnt/x/lost x
	touch /mnt/x/lost/file
	found --orphans /mnt/x
	assert_output "77 /mnt/x/lost
77 /mnt/x/lost/file"
	prints '[77]' jq -c '.find | map(.id) | unique' <(fsquota find --json --orphans /mnt/x)
	assert_equal "$(fsquota find -0 --orphans /mnt/x | tr '\0' '\n' | wc -l)" 2
	echo lost:77 >>/etc/projid
	found --orphans /mnt/x
	assert_output ""
	sed -i /77/d /etc/projid
	echo 77:/elsewhere >>/etc/projects
	found --orphans /mnt/x
	assert_output ""
	sed -i /77/d /etc/projects
	rm -r /mnt/x/lost
}

@test "find --orphans goes by the files that are named, and not without them" {
	found --orphans --projects-file /dev/null --projid-file /dev/null /mnt/x/nested
	assert_output $'44 /mnt/x/nested/a\n44 /mnt/x/nested/a/file'
	refuses 1 /mnt/x fsquota find --orphans --projects-file /mnt/x /mnt/x/nested
	refuses 1 /mnt/x fsquota find --orphans --projid-file /mnt/x /mnt/x/nested
}

# bats test_tags=linux-6
@test "find sees special files and symlinks where the kernel tells their IDs" {
	ln -s nowhere /mnt/x/logs/link
	mkfifo /mnt/x/logs/fifo
	exits 0 fsquota find 43 /mnt/x/logs/link /mnt/x/logs/fifo
	local named=$stdout
	exits 0 fsquota find 43 /mnt/x/logs
	rm /mnt/x/logs/{link,fifo}
	if kernel_knows file_setattr; then
		assert_equal "$named:$stderr" $'/mnt/x/logs/link\n/mnt/x/logs/fifo:'
		assert_equal "$(grep -cxE '/mnt/x/logs/(link|fifo)' <<<"$stdout")" 2
	else
		assert_equal "$named" ""
		assert_equal "${#lines[@]}" 2
		assert_regex "$stderr" '^fsquota find: 2 symbolic links and special files were passed over'
	fi
}

@test "what cannot be read is told, the rest is found, and the status is 7" {
	mkdir -m 700 /mnt/x/logs/closed
	run_split setpriv --reuid 1000 --regid 1000 --clear-groups "$FSQUOTA" find 43 /mnt/x
	rmdir /mnt/x/logs/closed
	assert_equal "$status" 7
	assert_line "/mnt/x/logs"
	assert_regex "$stderr" "/mnt/x/logs/closed: cannot read the project ID: Permission denied"
}

@test "find refuses what is no project or no path" {
	refuses 5 nobody fsquota find nobody /mnt/x
	refuses 2 '"0"' fsquota find 0 /mnt/x
	refuses 2 "no project given" fsquota find
	refuses 5 /mnt/x/gone fsquota find 42 /mnt/x/gone
	refuses 3 /proc fsquota find 42 /proc/self/status
}
