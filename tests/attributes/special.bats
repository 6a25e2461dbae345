#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# Symlinks, FIFOs, sockets and devices carry a project ID like files, and nothing is opened for it:
# in a small tree, whose files are held by O_PATH descriptors, and in a large one, where the names
# in a private clone of the mount will do.

load ../lib/fsquota
load ../walk/trees

specials=(broken-link directory-link file-link fifo socket watchdog block-device)

setup_file() {
	fresh_fs x
	mkdir /mnt/x/outside
	touch /mnt/x/outside/file
}

# tree NAME small|large: sets tree; in a large one the specials come when the walk has found out.
tree() {
	tree=/mnt/x/$1
	mkdir "$tree"
	[ "$2" = small ] || many "$tree/first" $((large + 20))
	populate "$tree"
}

populate() {
	mkdir "$1/directory"
	touch "$1/file" "$1/directory/file"
	ln -s nowhere "$1/broken-link"
	ln -s ../outside "$1/directory-link"
	ln -s ../outside/file "$1/file-link"
	mkfifo "$1/fifo"
	# To open it would have the machine reset itself, where there is one.
	mknod "$1/watchdog" c 10 130
	mknod "$1/block-device" b 7 200
	perl -MIO::Socket::UNIX -e 'chdir shift; IO::Socket::UNIX->new(Local => "socket", Listen => 1) or die $!' "$1"
}

# all_carry ID: everything in the tree.
all_carry() {
	local count
	count=$(find "$tree" | wc -l)
	carriers "$1" "$tree"
	assert_equal "$inodes" "$count"
	prints $'/mnt/x/outside 0\n/mnt/x/outside/file 0' ids_of /mnt/x/outside
}

# done_by COMMAND...: without a word that something was left out.
done_by() {
	succeeds timeout -s KILL 100 "$@"
	[ "$1" = fsquota ] || assert_line --partial 'Processed 1 '
}

set_check_and_clear() {
	local name
	tree "$1" "$1"
	done_by fsquota project -c -p "$tree" 42 /mnt/x
	output=$(grep -v "^$tree/first" <<<"$output")
	mapfile -t lines <<<"$output"
	for name in "${specials[@]}" file; do
		assert_line "$tree/$name: has project ID 0, not 42"
	done
	done_by fsquota project -s -p "$tree" 42 /mnt/x
	all_carry 42
	done_by fsquota project -c -p "$tree" 42 /mnt/x
	assert_output ""
	done_by fsquota project -C -p "$tree" 42 /mnt/x
	all_carry 0
	# By xfs_quota's words, which takes another ID for another one.
	done_by xfs_quota -x -c "project -s -p $tree 43" /mnt/x
	all_carry 43
	set_ids 44 "$tree/fifo" "$tree/broken-link"
	done_by xfs_quota -x -c "project -c -p $tree 43" /mnt/x
	assert_equal "${#lines[@]}" 4
	assert_line "$tree/fifo - project identifier is not set (inode=44, tree=43)"
	assert_line "$tree/broken-link - project identifier is not set (inode=44, tree=43)"
	done_by xfs_quota -x -c "project -C -p $tree 43" /mnt/x
	all_carry 0
}

@test "a small tree: everything gets the ID, is checked, and is cleared" { set_check_and_clear small; }

# bats test_tags=many
@test "a large tree: everything gets the ID, is checked, and is cleared" { set_check_and_clear large; }

@test "only directories hand the ID on" {
	local size
	for size in small large; do
		tree hand-on-$size $size
		done_by fsquota project -s -p "$tree" 42 /mnt/x
		run -0 --separate-stderr ids_of "$tree"
		prints "$(find "$tree" -type d | wc -l)" grep -c ' P$' <<<"$output"
	done
}

# opened FILE: what the trace says was opened, but by O_PATH.
opened() { grep -E 'open(at2?)?\(' "$1" | grep -v O_PATH; }

@test "nothing special is opened, and no access time changes" {
	local size name before opened
	for size in small large; do
		tree opened-$size $size
		for name in "${specials[@]}" file; do
			touch -h -d '2001-02-03' "$tree/$name"
			touch -h -a -d '2000-02-03' "$tree/$name"
		done
		before=$(cd "$tree" && stat -c '%n %x' "${specials[@]}" file)
		FSQUOTA_THREADS=1 run_split strace -f -o "$BATS_TEST_TMPDIR/trace" \
			-e trace=open,openat,openat2 \
			fsquota project -s -p "$tree" 42 /mnt/x
		assert_equal "$status:$stderr" 0:
		opened=$(opened "$BATS_TEST_TMPDIR/trace")
		[[ $opened == *'"directory"'* ]] || fail "no trace: $opened"
		for name in "${specials[@]}" file; do
			[[ $opened != *"\"$name\""* ]] || fail "$size: $opened"
		done
		prints "$before" bash -c 'cd "$1" && shift && stat -c "%n %x" "$@"' bash "$tree" "${specials[@]}" file
	done
}

@test "project of a symlink and of a FIFO alone" {
	tree alone small
	done_by fsquota project -s -p "$tree/file-link" 42 /mnt/x
	done_by fsquota project -s -p "$tree/fifo" 42 /mnt/x
	run ids_of "$tree"
	assert_line "$tree/file-link 42"
	assert_line "$tree/fifo 42"
	assert_line "$tree/file 0"
	prints $'/mnt/x/outside 0\n/mnt/x/outside/file 0' ids_of /mnt/x/outside
}

@test "id tells that of a symlink, not of where it leads, and of special files" {
	tree id small
	set_ids 45 "${specials[@]/#/$tree/}"
	succeeds timeout -s KILL 20 fsquota id "${specials[@]/#/$tree/}" "$tree/file"
	assert_output $'45\n45\n45\n45\n45\n45\n45\n0'
	run -0 fsquota id --json "$tree/broken-link"
	assert_output --partial 45
}

# bats test_tags=many,full
@test "the same without open_tree, and where a filter forbids it" {
	local error
	for error in ENOSYS EPERM; do
		tree without-$error large
		succeeds injecting open_tree error=$error fsquota project -s -p "$tree" 42 /mnt/x
		all_carry 42
	done
}

@test "without /proc special files are named, and files have their ID" {
	local size
	for size in small large; do
		tree without-proc-$size $size
		run_split unshare -m sh -c 'mkdir /run/tmp/proc && touch /run/tmp/proc/mounts &&
			mount --bind /proc /run/tmp/proc &&
			mount -t tmpfs -o mode=755 none /proc && mkdir /proc/self &&
			for file in mounts self/mountinfo; do
				cat "/run/tmp/proc/$file" >"/proc/$file"
			done
			umount /run/tmp/proc
			exec "$@"' sh fsquota project -s -p "$tree" 42 /mnt/x
		rm -rf /run/tmp/proc
		assert_equal "$status" 0
		assert_equal "$(grep -c 'is a special file, whose ID this kernel cannot change' <<<"$stderr")" "${#specials[@]}"
		carriers 0 "$tree"
		assert_equal "$inodes" "${#specials[@]}"
	done
}

@test "ext4 and f2fs keep none of special files: they are named as ever" {
	local mount name
	for mount in /mnt/e /mnt/f; do
		[ -d "$mount" ] || continue
		tree=$mount/old
		mkdir "$tree"
		populate "$tree"
		exits 0 timeout -s KILL 20 xfs_quota -x -f -c "project -s -p $tree 42" "$mount"
		assert_equal "$(wc -l <<<"$stderr")" "${#specials[@]}"
		for name in "${specials[@]}"; do
			[[ $'\n'$stderr$'\n' == *$'\n'"xfs_quota: skipping special file $tree/$name"$'\n'* ]] ||
				fail "$name: $stderr"
		done
		run_split timeout -s KILL 20 fsquota project -c -p "$tree" 42 "$mount"
		assert_equal "$status:$stdout" 0:
		exits 3 fsquota id "$tree/fifo"
		prints $'42\n42' fsquota id "$tree/file" "$tree/directory/file"
		rm -r "$tree"
	done
}

@test "assign gives all of them the ID, the kernel counts them, and release takes it off" {
	needs_quota
	local size
	for size in small large; do
		tree assign-$size $size
		prints 4242 fsquota assign --no-register --unlimited --id 4242 "$tree"
		all_carry 4242
		inodes_of 4242
		assert_equal "$inodes" "$(find "$tree" | wc -l)"
		is_silent fsquota release --no-register "$tree"
		all_carry 0
		inodes_of 4242
		assert_equal "$inodes" 0
	done
}

@test "a foreign ID among the special files: assign names it, and all is as before" {
	needs_quota
	local size name before
	echo shared:4242 >/etc/projid
	for size in small large; do
		tree foreign-$size $size
		set_ids 4242 "$tree/fifo" "$tree/directory/file"
		for name in broken-link socket; do
			set_ids 66 "$tree/$name"
			before=$(ids_of "$tree")
			run_split fsquota assign --no-register --unlimited --name shared "$tree"
			assert_equal "$status:$stdout" 6:
			assert_equal "$stderr" "fsquota assign: $tree/$name: belongs to project 66 already"
			prints "$before" ids_of "$tree"
			set_ids 0 "$tree/$name"
		done
		set_ids 0 "$tree/fifo" "$tree/directory/file"
	done
	rm /etc/projid
}

@test "release leaves what belongs to others, and what belongs to nobody" {
	needs_quota
	tree leave small
	fsquota assign --no-register --unlimited --id 4245 "$tree"
	set_ids 66 "$tree/fifo"
	set_ids 0 "$tree/socket"
	succeeds fsquota release --no-register "$tree"
	run ids_of "$tree"
	assert_line "$tree/fifo 66"
	assert_line "$tree/socket 0"
	carriers 4245 "$tree"
	assert_equal "$inodes" 0
}

# flagged: some files and directories that have other flags, and are the last of the tree.
flagged() {
	mkdir "$tree/hinted"
	touch "$tree"/{nodump,noatime,sync,append,immutable,attribute,extent}
	chattr +d "$tree/nodump"
	chattr +A "$tree/noatime"
	chattr +S "$tree/sync"
	xfs_io -c 'extsize 64k' "$tree/extent" "$tree/hinted"
	chattr +d "$tree/hinted"
	setfattr -n user.one -v two "$tree/attribute"
	chattr +a "$tree/append"
	chattr +i "$tree/immutable"
}

flags_of() {
	(cd "$tree" && lsattr -d nodump noatime sync append immutable attribute extent hinted &&
		xfs_io -r -c extsize extent hinted && getfattr -d attribute)
}

unflag() { chattr -ai "$tree/append" "$tree/immutable"; }

@test "other flags, extent size hints and attributes stay" {
	local size before
	for size in small large; do
		tree flags-$size $size
		flagged
		before=$(flags_of)
		[[ $before == *'--a-'*'[65536] extent'*'[65536] hinted'*two* ]] || fail "$before"
		done_by fsquota project -s -p "$tree" 42 /mnt/x
		all_carry 42
		run -0 flags_of
		# Of the directory it is one more.
		assert_output "${before/--- hinted/P-- hinted}"
		done_by fsquota project -C -p "$tree" 42 /mnt/x
		prints "$before" flags_of
		unflag
	done
}

# bats test_tags=many,full
@test "assign and release keep them, too" {
	needs_quota
	local before
	tree flags-assign large
	flagged
	before=$(flags_of)
	fsquota assign --no-register --unlimited --id 4243 "$tree"
	all_carry 4243
	fsquota release --no-register "$tree"
	all_carry 0
	prints "$before" flags_of
	unflag
}

# mounted: a filesystem, a directory and a file of outside, over some of the tree's.
mounted() {
	mkdir "$tree/memory" "$tree/directory/bound"
	touch "$tree/memory/hidden" "$tree/directory/bound/hidden"
	mount -t tmpfs none "$tree/memory"
	touch "$tree/memory/file"
	mount --bind /mnt/x/outside "$tree/directory/bound"
	mount --bind /mnt/x/outside/file "$tree/file"
}

unmounted() { umount "$tree/memory" "$tree/directory/bound" "$tree/file"; }

@test "what is mounted in a large tree is not touched, nor what it hides" {
	tree mounted large
	mounted
	exits 0 fsquota project -s -p "$tree" 42 /mnt/x
	[[ $stderr == *" $tree: 3 mounts are not entered, first $tree/"* ]] || fail "$stderr"
	run ids_of /mnt/x/outside
	unmounted
	assert_output $'/mnt/x/outside 0\n/mnt/x/outside/file 0'
	run ids_of "$tree"
	assert_line "$tree/memory/hidden 0"
	assert_line "$tree/directory/bound/hidden 0"
	assert_line "$tree/file 0"
	assert_line "$tree/fifo 42"
	assert_line "$tree/directory/file 42"
	assert_line "$tree/first/f1019 42"
}

@test "assign and release pass over what is mounted" {
	needs_quota
	tree mounted-assign large
	mounted
	set_ids 66 /mnt/x/outside/file
	run_split fsquota assign --no-register --unlimited --id 4244 "$tree"
	assert_equal "$status:$stdout" 0:4244
	[[ $stderr == *" $tree: 3 mounts are not entered, first $tree/"* ]] || fail "$stderr"
	fsquota release --no-register "$tree"
	run ids_of /mnt/x/outside
	unmounted
	set_ids 0 /mnt/x/outside/file
	assert_output $'/mnt/x/outside 0\n/mnt/x/outside/file 66'
	all_carry 0
}

# calls COUNT COMMAND...: how many system calls with that many files.
calls() {
	tree=/mnt/x/cost$1
	[ -d "$tree" ] || many "$tree" "$1"
	FSQUOTA_THREADS=1 succeeds strace -f -qq -o "$BATS_TEST_TMPDIR/trace" "${@:2}" -p "$tree" 42 /mnt/x
	calls=$(wc -l <"$BATS_TEST_TMPDIR/trace")
}

# bats test_tags=many,full
@test "a file in a large tree costs two system calls to set, one to check" {
	local calls few
	calls 1200 fsquota project -s
	few=$calls
	calls 1600 fsquota project -s
	# And some for reading the directory.
	[ $(((calls - few) / 10)) = 80 ] || fail "$few $calls"
	calls 1200 fsquota project -c
	few=$calls
	calls 1600 fsquota project -c
	[ $(((calls - few) / 10)) = 40 ] || fail "$few $calls"
}

# bats test_tags=many,full
@test "a small tree is not cloned for, and no thread is started for it; a large one is, once" {
	local calls
	calls $((large - 50)) fsquota project -s
	run -1 grep -E 'open_tree|clone' "$BATS_TEST_TMPDIR/trace"
	tree=/mnt/x/cost1200
	FSQUOTA_THREADS=8 run_split strace -f -qq -o "$BATS_TEST_TMPDIR/trace" \
		-e trace=open_tree,clone,clone3 fsquota project -s -p "$tree" 43 /mnt/x
	assert_equal "$status" 0
	prints 1 grep -c 'open_tree(' "$BATS_TEST_TMPDIR/trace"
	prints 7 grep -c 'clone[3]*(' "$BATS_TEST_TMPDIR/trace"
}
