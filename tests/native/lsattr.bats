#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
# fsquota lsattr: the layout of lsattr(1), on every filesystem.

load ../lib/fsquota

setup_file() {
	local fs
	for fs in x e f; do
		fresh_fs $fs
		mkdir -p "/mnt/$fs/tree/a/b" "/mnt/$fs/tree/sp ace"
		touch "/mnt/$fs/tree/file" "/mnt/$fs/tree/.hidden" "/mnt/$fs/tree/a/b/deep" \
			"/mnt/$fs/tree/"$'new\nline'
		oracle -x -f -c "project -s -d 0 -p /mnt/$fs/tree/a 77" \
			-c "project -s -d 0 -p /mnt/$fs/tree/a/b 4294967294" "/mnt/$fs" >/dev/null
		chattr +d "/mnt/$fs/tree/file"
		chattr +A "/mnt/$fs/tree/a/b/deep"
	done
	chattr +i /mnt/x/tree/file /mnt/e/tree/file
}

teardown_file() { chattr -i /mnt/x/tree/file /mnt/e/tree/file; }

# Our output and status, and those of the real one, for the same words; but ours keeps a name in its
# line.
same_as_lsattr() {
	local fs
	for fs in x e f; do
		run_split fsquota lsattr "${@//%/\/mnt\/$fs}"
		diff "$BATS_TEST_TMPDIR/stdout" <(lsattr "${@//%/\/mnt\/$fs}" | sed -z 's/new\nline/new\\nline/g')
		assert_equal "$status" 0
	done
}

@test "a directory is listed by what is in it" { same_as_lsattr %/tree; }
@test "with -p the ID comes first" { same_as_lsattr -p %/tree; }
@test "with -d directories are listed themselves" { same_as_lsattr -pd %/tree %/tree/a %/tree/file; }
@test "with -R all below is listed" { same_as_lsattr -pR %/tree; }
@test "a trailing slash stays as it was typed" { same_as_lsattr -pd %/tree/; }
@test "several paths, files and directories mixed" { same_as_lsattr -p %/tree/file %/tree/a %/tree/a/b; }
@test "options may follow paths" { same_as_lsattr %/tree -p -d; }

@test "with -a names that begin with a dot are listed" {
	run_split fsquota lsattr -pa /mnt/x/tree
	assert_output --partial '/mnt/x/tree/.hidden'
	refute_output --regexp '/\.\.?$'
}

@test "a relative path is printed as given" {
	cd /mnt/x/tree
	prints "$(lsattr -pd a)" fsquota lsattr -pd a
}

@test "flags are told apart, with every letter the filesystem knows" {
	local letter
	for letter in a A c d D i j S t T; do
		local dir=/mnt/e/tree/a
		chattr "+$letter" $dir 2>/dev/null || continue
		prints "$(lsattr -d $dir)" fsquota lsattr -d $dir
		assert_output --regexp "^[^ ]*$letter"
		chattr "-$letter" $dir
	done
}

@test "mounts below the directory are not entered, which is said" {
	mkdir /mnt/x/tree/mountpoint
	mount --bind /mnt/x/tree/a /mnt/x/tree/mountpoint
	run_split fsquota lsattr -pR /mnt/x/tree
	umount /mnt/x/tree/mountpoint
	rmdir /mnt/x/tree/mountpoint
	assert_equal "$status:$stderr" "0:fsquota lsattr: /mnt/x/tree: the mount /mnt/x/tree/mountpoint is not entered"
	refute_output --partial mountpoint
}

@test "--json has the same files, with ID, inheritance and flags" {
	local words
	for words in "-d /mnt/x/tree" /mnt/x/tree "-R /mnt/x/tree" "-aR /mnt/x/tree"; do
		run -0 jq -r '.lsattr[] | "\(.id) \(.flags)"' <(fsquota lsattr --json $words)
		assert_equal "$output" "$(fsquota lsattr -p $words | awk '/^ *[0-9]+ [-A-Za-z]+ \// {
			gsub("-", "", $2); print $1, $2 }')"
	done
	fsquota project -s -p /mnt/x/tree/a 77 /mnt/x
	prints '[77,true,true]' jq -c '.lsattr[0] | [.id, .inherit, (.flags | contains("P"))]' \
		<(fsquota lsattr -d --json /mnt/x/tree/a)
	fsquota project -C -p /mnt/x/tree/a 77 /mnt/x
	run_split fsquota lsattr --json
	assert_equal "$status$stdout" 2
	run_split fsquota lsattr --json -d /mnt/x/nowhere
	assert_equal "$status$stdout" '5{"lsattr":[]}'
}
