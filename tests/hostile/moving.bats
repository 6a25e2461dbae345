#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# All or nothing, also when the tree moves, files are held open, or we are killed in the middle of a
# walk.

load ../lib/fsquota
load hostile

setup() {
	no_files
	fresh_each x e
}

teardown() { end_tenant; }

teardown_file() {
	[ ! -e "$BATS_FILE_TMPDIR/kills" ] ||
		echo "# kills in the middle of a walk: $(wc -l <"$BATS_FILE_TMPDIR/kills")" >&3
}

# tree DIR DIRECTORIES FILES: of user nobody
tree() {
	mkdir -p "$1"
	perl -e 'my ($top, $directories, $files) = @ARGV;
		for my $d (1 .. $directories) {
			mkdir "$top/s$d" or die;
			for my $f (1 .. $files) { open my $h, ">", "$top/s$d/$f" or die }
		}' "$@"
	chown -R 65534:65534 "$1"
}

# assert_gone FILESYSTEM ID DIR: nothing is left of a quota
assert_gone() {
	# ext4 keeps a record that holds nothing for a while.
	assert_equal "$(kernel_has "$1" "$2" | tr -d '0 ')" ""
	assert_equal "$(lsattr -pR "$3" 2>/dev/null | awk -v id="$2" '$1 == id' | wc -l)" 0
	run ! grep -e "^$2:" -e ":$2$" /etc/projects /etc/projid
}

# bats test_tags=linux-6,attack
@test "release leaves nothing behind while directories in the tree are moved about" {
	local fs round dir id
	for fs in x e; do
		dir=/mnt/$fs/moving
		tree $dir 40 12
		begin_tenant $dir 0 rename
		for round in {1..6}; do
			run -0 fsquota assign $dir --hard 100M
			id=$output
			run_split fsquota release $dir
			while [ "$status" = 7 ]; do run_split fsquota release $dir; done
			assert_equal "$round: $status: $stderr" "$round: 0: "
			counts /mnt/$fs $id 0
		done
		end_tenant
		assert_gone /mnt/$fs $FIRST $dir
	done
}

# bats test_tags=attack,full
@test "assign gives all of a tree its ID while directories in it are moved about" {
	local fs dir round
	for fs in x e; do
		dir=/mnt/$fs/moving
		for round in {1..4}; do
			rm -rf $dir
			tree $dir 40 12
			begin_tenant $dir 0 rename
			run -0 fsquota assign $dir --id $((100 + round))
			end_tenant
			assert_equal "$round: $(lsattr -pR $dir 2>/dev/null | awk -v id=$((100 + round)) '
				$1 ~ /^[0-9]+$/ && $1 != id && $3 !~ /\/\.\.?$/')" "$round: "
			fsquota release $dir
		done
	done
}

# bats test_tags=attack,full
@test "project -C and -s do all of a tree while directories in it are moved about" {
	local fs dir round
	for fs in x e; do
		dir=/mnt/$fs/moving
		tree $dir 40 12
		begin_tenant $dir 0 rename
		for round in {1..4}; do
			xfs_quota -x -f -c "project -s -p $dir 55" /mnt/$fs >/dev/null 2>&1 || true
			run xfs_quota -x -f -c "project -C -p $dir 55" /mnt/$fs
			# On a busy machine the tenant may be ahead for all of the walks.
			while [[ $output == *"on $dir: Device or resource busy"* ]]; do
				run xfs_quota -x -f -c "project -C -p $dir 55" /mnt/$fs
			done
			counts /mnt/$fs 55 0
		done
		end_tenant
	done
}

# The ID is not gone from the filesystem, and no walk found the tree at rest.
@test "project -C says that it may have missed files, where no other directory should have the ID" {
	local fs dir
	for fs in x e; do
		dir=/mnt/$fs/moving
		tree $dir 100 1
		tree /mnt/$fs/other 1 1
		set_id 55 /mnt/$fs/other/s1/1 $dir/s1/1
		# As if it were changed in every walk.
		touch -d tomorrow $dir
		run_split fsquota project -C -p $dir 55
		assert_equal "$status: $stderr" \
			"7: fsquota project: cannot clear project on $dir: Device or resource busy"
		echo "55:/mnt/$fs/other" >/etc/projects
		run -0 fsquota project -C -p $dir 55 --jsonl
		assert_output --partial '"files":'
	done
}

# Its walks are faster than the clock of files.
# bats test_tags=linux-6,attack,full
@test "release waits for the clock where a directory was changed a moment ago" {
	local fs dir
	for fs in x e; do
		dir=/mnt/$fs/recent
		mkdir -p $dir/sub
		run -0 fsquota assign $dir --hard 10M
		exec {held}>$dir/sub/file
		rm $dir/sub/file
		touch -d "@$(awk -v now="$EPOCHREALTIME" 'BEGIN { printf "%.6f", now + 0.06 }')" $dir/sub
		run_split fsquota release $dir
		exec {held}>&-
		assert_equal "$fs: $status" "$fs: 0"
		[[ $stderr == *"1 file still has project ID $FIRST"* ]] || fail "$stderr"
	done
}

@test "a deleted file that is still open is told, and its ID is not given away" {
	local fs dir round
	for fs in x e; do
		dir=/mnt/$fs/held
		mkdir -p $dir/sub
		run -0 fsquota assign $dir --hard 10M
		exec {held}>$dir/sub/file
		rm $dir/sub/file
		exits 0 fsquota release $dir
		[[ $stderr == *"1 file still has project ID $FIRST"* ]] || fail "$stderr"
		mkdir $dir.other
		run -0 fsquota assign $dir.other
		refute_output $FIRST
		exec {held}>&-
		fsquota release $dir.other
		# XFS counts it until it has cleaned up.
		sync -f $dir
		run -0 fsquota assign $dir.other --id $FIRST
		fsquota release $dir.other
	done
}

@test "a second name outside of the directory is told, and the next call is not needed" {
	mkdir /mnt/x/one
	touch /mnt/x/one/file
	ln /mnt/x/one/file /mnt/x/outside
	run -0 fsquota assign /mnt/x/one
	rm /mnt/x/one/file
	exits 0 fsquota release /mnt/x/one
	[[ $stderr == *"1 file still has project ID $FIRST"* ]] || fail "$stderr"
	refuses 5 "no quota" fsquota release /mnt/x/one
}

# killed_at COUNT ARGUMENT...: fsquota is, when all its threads together open a file the COUNTth time.
killed_at() {
	local openat2=437
	prints "137 yes $openat2" "${builddir:?}/tests/transaction/fail" \
		<<<"$openat2 $1 signal=KILL 0 /dev/null /dev/null /dev/null $FSQUOTA ${*:2}"
	echo "$1" >>"$BATS_FILE_TMPDIR/kills"
}

# Killed after a random time, counted in system calls: with one thread and with several.
# bats test_tags=attack,shared,full
@test "killed at random moments of a walk, and the next call completes or takes away all" {
	local fs dir threads round calls
	RANDOM=4711
	for fs in x e; do
		dir=/mnt/$fs/killed
		# Of a thousand files and more: several threads walk.
		tree $dir 60 20
		for threads in 1 4; do
			for round in {1..6}; do
				calls=$((RANDOM % 950 + 200))
				step "killed after $calls calls"
				FSQUOTA_THREADS=$threads killed_at $calls assign --hard 100M $dir
				if [ $((round % 2)) = 0 ]; then
					prints $FIRST fsquota assign --hard 100M $dir
					counts /mnt/$fs $FIRST 1261
					FSQUOTA_THREADS=$threads killed_at $calls release $dir
				fi
				run fsquota release $dir
				assert [ "$status" = 0 ] || assert [ "$status" = 5 ]
				assert_gone /mnt/$fs $FIRST $dir
			done
		done
		rm -r $dir
	done
}

# bats test_tags=attack,full
@test "the undo of an assignment restores files with several names, too" {
	local fs dir round
	for fs in x e; do
		dir=/mnt/$fs/names
		mkdir -p $dir/a $dir/b /mnt/$fs/first
		touch /mnt/$fs/first/shared $dir/a/two
		ln $dir/a/two $dir/b/two
		fsquota assign --hard 10M --name both /mnt/$fs/first >/dev/null
		id=$(fsquota id /mnt/$fs/first)
		ln /mnt/$fs/first/shared $dir/a/shared
		ln /mnt/$fs/first/shared $dir/b/shared
		# The last file belongs to somebody else: a conflict, behind all others.
		mkdir $dir/z
		touch $dir/z/last
		set_id 9 $dir/z/last
		refuses 6 "project 9" fsquota assign --name both $dir
		run fsquota id $dir $dir/a $dir/a/two $dir/b/two $dir/a/shared /mnt/$fs/first/shared
		assert_output "$(printf '%s\n' 0 0 0 0 "$id" "$id")"
		set_id 0 $dir/z/last
		run -0 fsquota assign --name both $dir
		fsquota release $dir
		fsquota release /mnt/$fs/first
	done
}

@test "a directory that is deleted, or too deep for a path, is not registered" {
	local deep
	mkdir /mnt/x/gone
	cd /mnt/x/gone
	rmdir /mnt/x/gone
	refuses 5 "deleted" fsquota assign .
	cd /mnt/x
	deep=$(printf 'd%.0s' {1..250})
	for _ in {1..18}; do mkdir "$deep" && cd "$deep"; done
	refuses 5 "path" fsquota assign .
	run ! grep -e deleted -e ddd /etc/projects
	cd /
}

# bats test_tags=attack,full
@test "an owner who gives the ID back during each walk is told, and the next release completes it" {
	local owner before
	before=$(cat /etc/projects /etc/projid)
	mkdir /mnt/x/dir
	touch /mnt/x/dir/{1..4}
	run -0 fsquota assign /mnt/x/dir --hard 10M
	# Faster than any walk: FS_IOC_FSGETXATTR and FS_IOC_FSSETXATTR.
	perl -e 'my @files = map { open my $file, "<", $_ or die; $file } @ARGV;
		for (;;) { for (@files) {
			my $attributes = "\0" x 28;
			ioctl $_, 0x801c581f, $attributes;
			substr($attributes, 12, 4) = pack "L", 1048577;
			ioctl $_, 0x401c5820, $attributes;
		} }' /mnt/x/dir/{1..4} 3>&- &
	owner=$!
	run_split strace -qq -o /dev/null -e trace=openat2 -e inject=openat2:delay_enter=20000 fsquota release /mnt/x/dir
	kill $owner
	wait $owner || true
	assert_equal "$status" 7
	assert_regex "$stderr" '^fsquota release: /mnt/x/dir: [1-4] files? still have project ID 1048577, .*release it again'
	assert grep '^1048577:/mnt/x/dir$' /etc/projects
	assert_equal "$(kernel_has /mnt/x 1048577 | cut -d' ' -f3)" 10240
	run -0 fsquota release /mnt/x/dir
	assert_equal "$(cat /etc/projects /etc/projid)" "$before"
	counts /mnt/x 1048577 0
}
