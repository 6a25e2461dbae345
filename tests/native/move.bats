#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# move: a directory that is renamed keeps its quota, under its new path.

load ../lib/fsquota

setup() {
	rm -f /etc/projects /etc/projid
	cd /
	fresh_each x e
}

# registered: the lines of the projects file, sorted, and those of the names.
registered() {
	sort /etc/projects
	cat /etc/projid
}

# follows FILESYSTEM: to another name, with what is registered in it.
follows() {
	local top=/mnt/$1 id
	mkdir -p "$top/old/inner" "$top/above"
	id=$(fsquota assign --hard 10M --name web "$top/old")
	fsquota assign --id 7 --hard 5M "$top/old/inner"
	touch "$top/old/file"
	mv "$top/old" "$top/above/new"
	prints "would-move project $id (web), $top/old -> $top/above/new" fsquota move --dry-run "$top/old" "$top/above/new"
	is_silent fsquota move "$top/old" "$top/above/new"
	assert_equal "$(registered | paste -sd ' ')" "$id:$top/above/new 7:$top/above/new/inner web:$id volume7:7"
	assert_equal "$(fsquota usage --raw -No HARD,IUSED,PATH "$top/above/new")" "10M 2 $top/above/new"
	# And back, in one go.
	succeeds fsquota move --rename --json "$top/above/new" "$top/old"
	assert_equal "$(jq -c '.move[0] | [.path, .from, .id, .name, .changed, .lines]' <<<"$stdout")" \
		"[\"$top/old\",\"$top/above/new\",$id,\"web\",true,2]"
	assert_equal "$(ls "$top/old" "$top/above")" "$(printf '%s\n' "$top/above:" '' "$top/old:" file inner)"
	succeeds fsquota release "$top/old/inner" "$top/old"
	assert_equal "$(registered)" ''
}

@test "on XFS registration, name and limits follow, also of directories in it" { follows x; }

# bats test_tags=again
@test "on ext4 registration, name and limits follow, also of directories in it" { follows e; }

@test "what is in a directory without a quota of its own follows, too" {
	mkdir -p /mnt/x/old/{a,b}
	fsquota assign /mnt/x/old/a /mnt/x/old/b
	mv /mnt/x/old /mnt/x/new
	run -0 fsquota move --json /mnt/x/old /mnt/x/new
	assert_equal "$(jq -c '.move[0] | [.id, .lines]' <<<"$output")" '[null,2]'
	assert_equal "$(cut -d : -f 2 /etc/projects)" $'/mnt/x/new/a\n/mnt/x/new/b'
}

@test "what is not the same directory is refused, and nothing changes" {
	local before dry new
	mkdir -p /mnt/x/{old,other,free,mount} /mnt/e/new
	fsquota assign --id 7 --hard 1M /mnt/x/old
	fsquota assign --id 8 /mnt/x/other
	before=$(registered)
	refuses 5 'is not registered' fsquota move /mnt/x/nothing /mnt/x/free
	refuses 5 'cannot open' fsquota move /mnt/x/old /mnt/x/nothing
	refuses 6 'is still there' fsquota move /mnt/x/old /mnt/x/free
	mount --bind /mnt/x/free /mnt/x/mount
	for dry in '' --dry-run; do
		refuses 6 'is there already' fsquota move --rename $dry /mnt/x/old /mnt/x/free
		for new in /mnt/x/other/old /mnt/x/mount/old /mnt/e/old; do
			refuses 6 'another filesystem or in another project' fsquota move --rename $dry /mnt/x/old "$new"
		done
		refuses 5 'No such file' fsquota move --rename $dry /mnt/x/old /mnt/x/nothing/old
		refuses 2 'which is in it' fsquota move --rename $dry /mnt/x/old /mnt/x/old/old
	done
	umount /mnt/x/mount
	refuses 2 'is where it is already' fsquota move /mnt/x/old /mnt/x/old
	refuses 2 'the old and the new path' fsquota move /mnt/x/old
	refuses 2 "word 1 is empty" fsquota move "" /mnt/x/new
	mv /mnt/x/old /mnt/x/moved
	refuses 6 'has project ID 0, not 7' fsquota move /mnt/x/old /mnt/x/free
	refuses 6 'has project ID 8, not 7' fsquota move /mnt/x/old /mnt/x/other
	# Something else has its place now.
	mkdir /mnt/x/old
	refuses 6 'is still there' fsquota move /mnt/x/old /mnt/x/moved
	rmdir /mnt/x/old
	mkdir $'/mnt/x/new\nline'
	mv /mnt/x/moved $'/mnt/x/new\nline/'
	refuses 2 'newline' fsquota move /mnt/x/old $'/mnt/x/new\nline/moved'
	assert_equal "$(registered)" "$before"
	assert [ -d $'/mnt/x/new\nline/moved' ]
}

@test "a symlink that was left at the old path is no other directory" {
	mkdir /mnt/x/old
	fsquota assign --id 7 /mnt/x/old
	mv /mnt/x/old /mnt/x/new
	ln -s new /mnt/x/old
	run -0 fsquota move /mnt/x/old /mnt/x/new
	assert_equal "$(cat /etc/projects)" 7:/mnt/x/new
}

@test "when the registry cannot be written the directory is where it was" {
	mkdir /mnt/x/old
	fsquota assign --id 7 /mnt/x/old
	# The second write takes the old line away.
	exits 1 injecting pwrite64 error=ENOSPC:when=2 fsquota move --rename /mnt/x/old /mnt/x/new
	assert_equal "$(cat /etc/projects)" 7:/mnt/x/old
	assert_equal "$(ls /mnt/x)" old
}
