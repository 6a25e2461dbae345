#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# explain accounts for every byte that the kernel counts: files in the tree, below mounts and elsewhere, and deleted
# ones with the processes that have them open.

load ../lib/fsquota

setup() {
	rm -rf /etc/projects* /etc/projid*
	cd /
	fresh_each x e f
	holders=()
}

teardown() {
	[ ${#holders[@]} = 0 ] || kill "${holders[@]}" 2>/dev/null || true
	umount /mnt/[xef]/web/under 2>/dev/null || true
}

# file PATH MEGABYTES
file() {
	mkdir -p "${1%/*}"
	dd if=/dev/zero of="$1" bs=1M count="$2" status=none
}

# explains ARGUMENT...: sets parts to lines "part bytes inodes path", and checks that the sum is what the kernel counts.
explains() {
	local used sum='[(map(.used_bytes) | add // 0), (map(.used_inodes) | add // 0)]'
	exits 0 fsquota explain --json "$@"
	parts=$(jq -r '.explain[] | "\(.part) \(.used_bytes) \(.used_inodes) \(.path)"' <<<"$stdout")
	used=$(fsquota quota --json "$(fsquota id "$1")" --at "$1" | jq -c '.quota[0] | [.used_bytes, .used_inodes]')
	assert_equal "$(jq -c "[.explain[] | select(.part == \"used\")] | $sum" <<<"$stdout")" "$used"
	assert_equal "$(jq -c "[.explain[] | select(.part | IN(\"tree\", \"hidden\", \"open\", \"elsewhere\", \"unexplained\"))] | $sum" <<<"$stdout")" "$used"
}

# has LINE...: each is one of parts, * stands for anything
has() {
	local line
	for line; do
		# shellcheck disable=SC2053 # a pattern
		while read -r part; do
			[[ $part != $line ]] || continue 2
		done <<<"$parts"
		echo "no line $line in:" "$parts"
		return 1
	done
}

# holds FILE: a process has it open, and it is deleted
holds() {
	# shellcheck disable=SC2217 # it need not read it
	sleep 1000 3>&- <"$1" &
	holders+=($!)
	until [ "$(readlink /proc/$!/exe)" = "$(readlink -f "$(command -v sleep)")" ]; do sleep 0.01; done
	rm "$1"
}

# on "x e f" STEPS: on each of these filesystems, which is mounted at M, with a quota on the directory web
on() {
	local fs M
	for fs in $1; do
		M=/mnt/$fs
		mkdir "$M/web"
		fsquota assign --hard 200M "$M/web" >/dev/null
		$2
	done
}

tree() {
	file "$M/web/a" 1
	file "$M/web/big/b" 3
	file "$M/web/big/deep/c" 2
	ln -s a "$M/web/symlink"
	explains "$M/web" --top 4
	has "tree 6[23]????? 7 $M/web" 'unexplained 0 0 null'
	assert_equal "$(tail -n 4 <<<"$parts" | sed 's/ .* / /')" "directory $M/web/big
file $M/web/big/b
directory $M/web/big/deep
file $M/web/big/deep/c"
	explains "$M/web" --top 1
	assert_equal "$(wc -l <<<"$parts")" 4
}

@test "files and directories, the largest by name" { on "x e f" tree; }

deleted() {
	file "$M/web/log" 4
	file "$M/web/mapped" 3
	file "$M/web/stays" 1
	mkdir "$M/web/cwd"
	holds "$M/web/log"
	python3 -c 'import mmap, os, sys, time
fd = os.open(sys.argv[1], os.O_RDWR)
m = mmap.mmap(fd, 4096)
os.close(fd)
os.unlink(sys.argv[1])
os.chdir(sys.argv[2])
os.rmdir(sys.argv[2])
time.sleep(1000)' "$M/web/mapped" "$M/web/cwd" &
	holders+=($!)
	while [ -e "$M/web/cwd" ]; do sleep 0.01; done
	explains "$M/web"
	has "open 419???? 1 $M/web/log" "open 3145728 1 $M/web/mapped" "open * 1 $M/web/cwd" "tree 10????? 2 $M/web" 'unexplained 0 0 null'
	assert_equal "$(jq -c '.explain[] | select(.path == "'"$M"'/web/log") | [.pid, .command, .processes]' <<<"$stdout")" \
		"[${holders[-2]},\"sleep\",1]"
}

@test "deleted files that are open, mapped or a working directory" { on "x e f" deleted; }

@test "a deleted file is told once, with the first of its processes, or as one that the kernel has" {
	local m=/mnt/x loop many
	mkdir $m/web
	fsquota assign $m/web >/dev/null
	file $m/web/log 2
	file $m/web/image 3
	holds $m/web/log
	sleep 1000 3>&- 4</proc/$!/fd/0 5<&4 &
	holders+=($!)
	loop=$(losetup --find --show $m/web/image)
	rm $m/web/image
	until [ -e /proc/$!/fd/5 ]; do sleep 0.01; done
	# Files that are not of the project make it small: its tree is walked before the inodes are listed.
	for many in '' 200; do
		[ -z "$many" ] || (mkdir $m/other && cd $m/other && touch $(seq $many))
		explains $m/web
		assert_equal "$(jq -c '.explain[] | select(.part == "open") | [.used_bytes, .pid, .processes, .path]' <<<"$stdout")" \
			"[2097152,${holders[0]},2,\"$m/web/log\"]
[3145728,null,null,null]"
		has 'unexplained 0 0 null'
	done
	losetup -d "$loop"
}

overlay() {
	mkdir "$M"/web/{upper,work} "$M/merged"
	mount -t overlay -o "lowerdir=/etc,upperdir=$M/web/upper,workdir=$M/web/work" overlay "$M/merged"
	file "$M/merged/log" 3
	holds "$M/merged/log"
	# What the overlay has tried its upper directory with.
	settle "$M"
	explains "$M/web"
	assert_equal "$(jq -c '.explain[] | select(.part == "open") | [.used_bytes, .pid, .path]' <<<"$stdout")" \
		"[3145728,$!,\"$M/merged/log\"]"
	has 'unexplained 0 0 null'
	kill $!
	wait $! || true
	umount "$M/merged"
}

@test "a deleted file of a container, whose files are on an overlay" { on "x e" overlay; }

# A write lease, as those of Samba: to open the file would break it.
leased() {
	file "$M/web/leased" 4
	python3 -c 'import fcntl, os, sys, time
fd = os.open(sys.argv[1], os.O_RDWR)
fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
os.unlink(sys.argv[1])
time.sleep(1000)' "$M/web/leased" &
	holders+=($!)
	while [ -e "$M/web/leased" ]; do sleep 0.01; done
	explains "$M/web"
	assert_equal "$(jq -c '.explain[] | select(.part == "open") | [.used_bytes, .pid, .path]' <<<"$stdout" |
		sed 's/^.419[0-9]*,/[419,/')" "[419,$!,\"$M/web/leased\"]"
	has 'unexplained 0 0 null'
	grep -q "LEASE  *ACTIVE  *WRITE $! " /proc/locks || fail "$(cat /proc/locks)"
}

@test "a deleted file under a lease has its process, and the lease stays" { on "x f" leased; }

# bats test_tags=linux-6
@test "ext4: a deleted file under a lease has its process, and the lease stays" { on e leased; }

@test "a server that does not answer is not asked about the deleted file of an overlay over it" {
	local m=/mnt/x s=$BATS_TEST_TMPDIR/served explain server
	mkdir -p $m/web "$s"/{fuse,upper,work,merged}
	fsquota assign $m/web >/dev/null
	file $m/web/log 2
	"${BATS_TEST_DIRNAME:?}/../lib/fuse_server" "$s/fuse" &
	server=$!
	until_true mountpoint -q "$s/fuse"
	mount -t overlay -o "lowerdir=$s/fuse,upperdir=$s/upper,workdir=$s/work" overlay "$s/merged"
	holds "$s/merged/3"
	holds $m/web/log
	(mkdir "$s/merged/cwd" && cd "$s/merged/cwd" && rmdir "$s/merged/cwd" && exec sleep 1000 3>&-) &
	holders+=($!)
	until_true grep -q '^sleep$' /proc/$!/comm
	kill -STOP $server
	fsquota explain --json $m/web >"$BATS_TEST_TMPDIR/explained" &
	explain=$!
	ended() { ! kill -0 $explain; }
	# The end of the server ends what waits for it, so that nothing of the test stays.
	(until_true ended) 2>/dev/null || { kill -KILL $server && fail 'explain waits for the server'; }
	kill -KILL $server
	assert_equal "$(jq -c '[.explain[] | select(.part == "open") | [.used_bytes, .pid]]' "$BATS_TEST_TMPDIR/explained")" \
		"[[2097152,${holders[1]}]]"
	kill "${holders[@]}"
	wait "${holders[@]}" || true
	umount "$s/merged" "$s/fuse"
}

hidden() {
	file "$M/web/under/hidden" 2
	file "$M/web/file" 1
	mount -t tmpfs none "$M/web/under"
	mount --bind /etc/passwd "$M/web/file"
	touch "$M/web/theirs"
	chattr -p 77 "$M/web/theirs"
	mount --bind /etc/passwd "$M/web/theirs"
	file "$M/web/under/other" 5
	explains "$M/web"
	has "hidden 2?????? 2 $M/web/under" 'unexplained 0 0 null' "file 1048576 1 $M/web/file"
	umount "$M/web/file" "$M/web/theirs" "$M/web/under"
}

@test "what mounts cover is found, and what is on them is not counted" { on "x e f" hidden; }

others() {
	local id
	id=$(fsquota id "$M/web")
	file "$M/web/a" 1
	file "$M/web/names" 2
	file "$M/web/foreign" 3
	mkdir "$M/also" "$M/far" "$M/empty"
	printf '%s\n' "$id:/gone" "$id:/run" "$id:$M/far/stray" "$id:$M/empty" "77:$M" >>/etc/projects
	ln "$M/web/names" "$M/far/names"
	fsquota assign --name "volume$id" --hard 200M "$M/also" >/dev/null
	file "$M/also/b" 4
	file "$M/far/stray" 5
	chattr -p "$id" "$M/far/stray"
	chattr -p 77 "$M/web/foreign"
	fallocate -n -l 6M "$M/web/a"
	sync -f "$M"
	explains "$M/web"
	if [ "$M" = /mnt/x ]; then
		has "elsewhere 5?????? 1 $M" 'unexplained 0 0 null'
	else
		has 'unexplained 524???? 1 null'
		[[ $stderr == *"--everywhere looks for files of the project"* ]]
	fi
	explains "$M/web" --everywhere
	assert_equal "$stderr" ''
	has "elsewhere 4?????? 2 $M/also" "elsewhere 524???? 1 $M" 'unexplained 0 0 null' "foreign 314???? 1 $M/web" \
		"preallocated 52????? 1 null" "file 524???? 1 $M/far/stray" "file 629???? 1 $M/web/a"
	# --everywhere has found the other name, too.
	[[ $parts != *linked* ]]
	fsquota explain "$M/web" 2>/dev/null | grep -E '^linked +2M +[0-9]+% +1 '
}

@test "files elsewhere, with other IDs and names, and space beyond the end of files" { on "x e f" others; }

whole() {
	file "$M/web/file" 4
	file "$M/other/deep/file" 3
	file "$M/single" 1
	explains "$M"
	has "used 4[12]????? * $M" "tree 4[12]????? * $M" "foreign 419???? 2 $M" "directory 31????? 3 $M/other" "file 1048576 1 $M/single"
	refute grep -e /deep -e /web <<<"$parts"
	refuses 5 'belongs to no project' fsquota explain "$M/other"
	# A directory is one of its filesystem only where that is mounted.
	mkdir "$M/unused"
	refuses 5 'belongs to no project' fsquota explain "$M/unused"
	refuses 4 'cannot read what is in no project' as_user "$FSQUOTA" explain "$M"
}

# ext4 and f2fs cannot give an ID to those that are there; new ones have that of their directory.
special() {
	mkdir "$M/late" "$M/far"
	ln -s "$(printf %0100d 0)" "$M/late/link"
	mkfifo "$M/late/pipe" "$M/far/pipe"
	ln "$M/late/pipe" "$M/late/again"
	fsquota assign "$M/late" >/dev/null
	ln -s late "$M/late/new"
	sync -f "$M"
	for options in '' --everywhere; do
		explains "$M/late" $options
		has "tree * $(real -c "quota -p -N -n -v -i $(fsquota id "$M/late")" "$M" | awk '{ print $2 }') $M/late" 'unexplained 0 0 null'
		refute grep -E '^(uncounted|elsewhere)' <<<"$parts"
		[ "$M" = /mnt/x ] || has "special * 2 $M/late"
	done
}

@test "symlinks and special files that do not carry the ID" { on "x e f" special; }

@test "what reflinks share counts for each, and is told with --shared" {
	local M=/mnt/x
	file $M/web/a 2
	file $M/web/own 3
	file $M/web/part 4
	sync -f $M
	cp --reflink=always $M/web/a $M/web/b
	cp --reflink=always $M/web/part $M/outside
	dd if=/dev/zero of=$M/web/part bs=1M count=3 conv=notrunc,fsync status=none
	fsquota assign --hard 200M $M/web >/dev/null
	ln $M/web/a $M/web/again
	explains $M/web --shared
	has "shared 5242880 3 $M/web" 'unexplained 0 0 null' "tree 115????? 5 $M/web"
	explains $M/web
	refute grep '^shared' <<<"$parts"
	mkdir /mnt/e/web
	fsquota assign /mnt/e/web >/dev/null
	explains /mnt/e/web --shared
	has "shared 0 0 /mnt/e/web"
}

@test "of a filesystem what is in no project, by the directories in its root" { on "x e f" whole; }

@test "what cannot be read is said, and the rest is shown" {
	mkdir -p /mnt/e/web/closed
	file /mnt/e/web/file 2
	fsquota assign /mnt/e/web --hard 20M >/dev/null
	chown nobody /mnt/e/web/closed
	chmod 0 /mnt/e/web/closed
	exits 7 setpriv --bounding-set=-dac_override,-dac_read_search fsquota explain --json /mnt/e/web
	assert_regex "$stderr" '"path":"/mnt/e/web/closed".*"errno":"EACCES"|"errno":"EACCES","path":"/mnt/e/web/closed"'
	assert_equal "$(jq -c '[.explain[] | select(.part == "file") | .path]' <<<"$stdout")" '["/mnt/e/web/file"]'
}

@test "what is refused" {
	mkdir /mnt/x/{none,web}
	fsquota assign /mnt/x/web >/dev/null
	touch /mnt/x/web/file
	refuses 2 'one directory is wanted' fsquota explain /mnt/x/web /mnt/x/none
	refuses 2 'not a directory' fsquota explain /mnt/x/web/file
	refuses 2 'top' fsquota explain --top 10001 /mnt/x/web
	refuses 2 'top' fsquota explain --top 0 /mnt/x/web
	refuses 5 'belongs to no project' fsquota explain /mnt/x/none
	refuses 5 '/mnt/x/gone' fsquota explain /mnt/x/gone
	refuses 3 'no project quota' fsquota explain /run
	refuses 3 'proc has no project quotas' fsquota explain /proc
	refute grep fallback "$BATS_TEST_TMPDIR/stderr"
	ln -s web /mnt/x/link
	refuses 2 'symlink' fsquota explain /mnt/x/link
	refuses 4 '/mnt/x/web' as_user fsquota explain /mnt/x/web
}
