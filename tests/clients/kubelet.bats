#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# kubelet's ephemeral storage monitoring gets true answers from us (kubelet.bash has its calls).
# What the kernel then holds is asked of the tools of xfsprogs, e2fsprogs and quota.

# shellcheck disable=SC2154 # run_split and the functions of kubelet.bash set variables
load ../lib/fsquota
load kubelet

setup_file() { fresh_each x e; }

# Each test has an ID and, on either filesystem, a directory of its own.
setup() {
	id=$((1048577 + BATS_TEST_NUMBER))
	x=/mnt/x/volumes/$id e=/mnt/e/volumes/$id
	mkdir -p "$x" "$e"
	chmod 1777 "$x" "$e"
}

# on FILESYSTEM: sets mount, dir and unlimited to those of x or e.
on() {
	mount=/mnt/$1 dir=$x unlimited=$XFS_UNLIMITED mounts=''
	[ "$1" = x ] || dir=$e unlimited=$EXT4_UNLIMITED
}

@test "quota is found where it is, and not on an XFS without or a filesystem that cannot have any" {
	kubelet_detects /mnt/x
	on e
	kubelet_detects /mnt/e
	fresh_fs x2 -o noquota
	mounts=''
	run ! kubelet_detects /mnt/x2
	mounts=''
	run ! kubelet_detects /run
}

@test "XFS, ext4: the directory, what is in it, and what is made later get the ID" {
	for fs in x e; do
		on $fs
		mkdir -p "$dir/below/deep"
		touch "$dir/below/file"
		kubelet_assigns "$mount" "$dir" "$id" "$unlimited"
		touch "$dir/below/deep/later"
		run lsattr -pd "$dir" "$dir/below" "$dir/below/deep" "$dir/below/file" "$dir/below/deep/later"
		assert_line --index 0 --regexp "^ *$id -+(e-+)?P-+ $dir\$"
		assert_line --index 1 --regexp "^ *$id -+(e-+)?P-+ $dir/below\$"
		assert_line --index 2 --regexp "^ *$id -+(e-+)?P-+ $dir/below/deep\$"
		assert_line --index 3 --regexp "^ *$id [-e]+ $dir/below/file\$"
		assert_line --index 4 --regexp "^ *$id [-e]+ $dir/below/deep/later\$"
	done
}

@test "XFS, ext4: a file that is deleted but open is counted" {
	for fs in x e; do
		on $fs
		kubelet_assigns "$mount" "$dir" "$id" "$unlimited"
		exec {open}>"$dir/file"
		rm "$dir/file"
		dd if=/dev/zero bs=64k count=16 status=none >&"$open"
		kubelet_reads "$mount" b "$id"
		exec {open}>&-
		# XFS may reserve more ahead of a writer.
		assert [ "$used" -ge 1048576 ]
		[ $fs = x ] || assert_equal "$used" $((1048576 + 4096))
	done
}

@test "XFS, ext4: a volume that has files is given its ID again, as after a reboot" {
	for fs in x e; do
		on $fs
		kubelet_assigns "$mount" "$dir" "$id" "$unlimited"
		mkdir -p "$dir/dir"
		touch "$dir/file"
		kubelet_assigns "$mount" "$dir" "$id" "$unlimited"
		run -0 fsquota id "$dir/file" "$dir/dir"
		assert_output "$id"$'\n'"$id"
	done
}

@test "the ID of a directory is read with lsattr, or with ours in its place" {
	local want=$id lsattr
	kubelet /mnt/e "project -s -p $e $want"
	for lsattr in /usr/bin/lsattr "fsquota lsattr"; do
		# shellcheck disable=SC2086 # fsquota's has two words
		kubelet_reads_id $lsattr "$e"
		assert_equal "$lsattr: $id" "$lsattr: $want"
	done
}

@test "a mount point with blanks and the like in its name can be asked" {
	local place=$BATS_TEST_TMPDIR/$'a blank, a\ttab, a \\ and a\nline'
	mkdir "$place"
	mount --bind /mnt/x "$place"
	kubelet /mnt/x "project -s -p $x $id"
	dd if=/dev/zero of="$x/file" bs=64k count=16 conv=fsync status=none
	mounts=''
	kubelet_detects "$place"
	kubelet_reads "$place" b "$id"
	umount "$place"
	assert_file_contains "$mounts" 'a\\040blank'
	assert_equal "$used" 1048576
}
