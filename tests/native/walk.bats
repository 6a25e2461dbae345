#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# What project, assign, release and usage say of a walk: how far it is, what failed, and that it was
# stopped.

load ../lib/fsquota

setup_file() {
	fresh_fs x
	mkdir /mnt/x/tree
	for d in {1..20}; do
		mkdir /mnt/x/tree/d$d
		(cd /mnt/x/tree/d$d && touch {1..100})
	done
	chown -R 65534:65534 /mnt/x/tree
	# These are not the ordinary user's.
	chown 0 /mnt/x/tree/d3/{1..15}
}

setup() { rm -f /etc/projects /etc/projid; }

unprivileged() { setpriv --reuid=65534 --clear-groups "$FSQUOTA" "$@"; }

@test "some files that fail: the first ten are named, all are counted, and the status is 7" {
	for threads in 1 8; do
		FSQUOTA_THREADS=$threads exits 7 unprivileged project -s -p /mnt/x/tree 42 /mnt/x
		assert_equal "$(grep -c 'cannot set project on /mnt/x/tree/d3/.*: Operation not permitted' <<<"$stderr")" 10
		assert_equal "$(tail -n 1 <<<"$stderr")" "fsquota project: /mnt/x: 15 of 2021 files and \
directories failed; the first are named above"
	done
	run fsquota project -c -p /mnt/x/tree 42 /mnt/x
	assert_equal "$(grep -c 'has project ID 0, not 42' <<<"$output")" 15
	fsquota project -C -p /mnt/x/tree 42 /mnt/x
}

@test "--max-errors gives up" {
	for threads in 1 8; do
		FSQUOTA_THREADS=$threads exits 7 unprivileged project -s --max-errors 3 -p /mnt/x/tree 43 /mnt/x
		assert_equal "$(grep -c 'cannot set project on' <<<"$stderr")" 3
		assert_regex "$stderr" '3 of [0-9]+ files and directories failed, as many as --max-errors allows'
	done
	# Of the next directory not one is looked at.
	run_split unprivileged project -s --max-errors 15 -p /mnt/x/tree -p /mnt/x/tree/d5 43 /mnt/x
	assert_regex "$stderr" '15 of [0-9]+ files and directories failed, as many as'
	refute_regex "$stdout" tree/d5
	fsquota project -C -p /mnt/x/tree 43 /mnt/x
	run_split unprivileged project -s --max-errors 3 -p /mnt/x/tree 43 /mnt/x
	# It did give up: most were not looked at.
	run fsquota project -c -p /mnt/x/tree 43 /mnt/x
	assert_equal "$(($(grep -c 'has project ID 0, not 43' <<<"$output") > 15))" 1
	fsquota project -C -p /mnt/x/tree 43 /mnt/x
}

@test "--progress=always says how many, how fast and where, on standard error" {
	for threads in 1 8; do
		FSQUOTA_THREADS=$threads exits 0 fsquota project -s --progress=always -p /mnt/x/tree 44 /mnt/x
		assert_regex "$stderr" '^[0-9]+ entries, [0-9]+/s  /mnt/x/tree/d'
		assert_regex "$(tail -n 1 <<<"$stderr")" '^2021 entries, [0-9]+/s$'
		refute_regex "$stdout" entries
	done
	run_split fsquota usage --fallback=walk --progress=always /mnt/x/tree
	assert_equal "$status$stderr" 0
	fsquota project -C -p /mnt/x/tree 44 /mnt/x
	run_split fsquota usage --fallback=walk --progress=always -N -o IUSED /mnt/x/tree
	assert_regex "$stderr" '2021 entries'
	assert_equal "${stdout// /}" 2021
}

@test "no progress without a terminal, nor with --progress=never, nor in xfs_quota mode" {
	run_split fsquota project -s -p /mnt/x/tree 45 /mnt/x
	assert_equal "$stderr" ''
	run -0 script -qec "fsquota project -s --progress=never -p /mnt/x/tree 46 /mnt/x" /dev/null
	refute_output --partial entries
	fsquota project -C -p /mnt/x/tree 46 /mnt/x
}

@test "on a terminal the line is replaced, and gone at the end; names cannot move the cursor" {
	mv /mnt/x/tree/d7 $'/mnt/x/tree/\e[2J\a\nd7'
	run script -qec "fsquota project -s --progress=always -p /mnt/x/tree 47 /mnt/x" /dev/null
	mv $'/mnt/x/tree/\e[2J\a\nd7' /mnt/x/tree/d7
	assert_success
	assert_output --regexp $'\r[0-9]+ entries, [0-9]+/s  /mnt/x/tree/'
	assert_output --regexp $'\r\e\\[K$'
	refute_output --partial $'\e[2J'
	fsquota project -C -p /mnt/x/tree 47 /mnt/x
}

# stopped SIGNAL WORD...: the tool, which gets the signal when it has looked at some files.
stopped() {
	local signal=$1
	shift
	run_split bash -c 'coproc exec "$@" --progress=always 2>&1
		tool=$COPROC_PID
		IFS= read -r line <&"${COPROC[0]}"
		kill -'"$signal"' "$tool"
		cat <&"${COPROC[0]}" >&2
		wait "$tool"' bash "$FSQUOTA" "$@"
}

# bats test_tags=slow
@test "many small directories: a signal stops all threads" {
	mkdir /mnt/x/chain
	(cd /mnt/x/chain && mkdir -p {1..40}/{1..60} && chown -R 65534:65534 .)
	for threads in 1 8; do
		FSQUOTA_THREADS=$threads stopped INT project -s -p /mnt/x/chain 50 /mnt/x
		assert_equal "$threads: $status" "$threads: 130"
		assert_regex "$stderr" '/mnt/x/chain: stopped after [0-9]+ files and directories'
	done
	rm -r /mnt/x/chain
}

@test "a signal stops usage while it counts; what was counted before is shown" {
	# Enough of them to be still counted when the signal comes.
	mkdir -p /mnt/x/empty /mnt/x/many/{1..8}
	touch /mnt/x/many/{1..8}/{1..1000}
	stopped TERM usage --fallback=walk -N -o PATH /mnt/x/empty /mnt/x/many /mnt/x/empty
	rm -r /mnt/x/empty /mnt/x/many
	assert_equal "$status" 143
	assert_regex "$stderr" 'fsquota usage: /mnt/x/many: stopped (before it|after [0-9]+ files and directories)'
	assert_equal "$(grep -c empty <<<"$stderr")" 1
}

@test "a directory that cannot be read to its end is told by whatever walks" {
	local command when
	mkdir -p /mnt/x/half/sub
	touch /mnt/x/half/sub/file
	for command in 'usage --fallback=walk /mnt/x/half' 'find 7 /mnt/x/half' 'assign /mnt/x/half' \
		'lsattr -R /mnt/x/half' 'project -s -p /mnt/x/half 7 /mnt/x' 'project -C -p /mnt/x/half 7 /mnt/x'; do
		# assign looks for a container store first.
		when=3
		[[ $command != assign* ]] || when=3+
		run_split injecting getdents64 error=EIO:when=$when fsquota $command
		grep INJECTED "$BATS_TEST_TMPDIR/trace"
		assert [ "$status" != 0 ]
		assert_regex "$command: $stderr" "$command: fsquota [a-z]*: .*: Input/output error"
		assert_one_line
	done
	rm -r /mnt/x/half
}

@test "assign into a project undoes what it did, where two directories cannot be opened" {
	local which first before
	mkdir -p /mnt/x/two/{a,b,c}/sub
	touch /mnt/x/two/{a,b,c}/sub/{old,new}
	printf 'shared:4250\n' >/etc/projid
	chattr -p 4250 /mnt/x/two/{a,b,c}/sub/old
	before=$(lsattr -pR /mnt/x/two)
	# The second open is that of the first directory in it. One that fails has nothing more to be opened.
	for which in 'a b:2' 'sub b:3' 'b c:6' 'sub c:7'; do
		first=${which#*:}
		FSQUOTA_THREADS=1 run_split injecting openat2 error=EIO:when="$first..$((first + 1))" \
			timeout -s KILL 100 fsquota assign --no-register --unlimited --name shared /mnt/x/two
		assert_equal "$(sed -n 's/.*, "\(.*\)", .*INJECTED.*/\1/p' "$BATS_TEST_TMPDIR/trace" | xargs):$first" \
			"$which"
		assert_equal "$which: $status" "$which: 1"
		assert_equal "$which: $(lsattr -pR /mnt/x/two)" "$which: $before"
	done
	rm -r /mnt/x/two /etc/projid
}

@test "usage counts a file that takes the place of a directory at that moment" {
	mkdir -p /mnt/x/race/sub
	# The first opens the directory itself.
	stopped_at 437 2 "$FSQUOTA" usage --fallback=walk --raw --bytes -No USED,IUSED /mnt/x/race # openat2
	rmdir /mnt/x/race/sub
	head -c 8192 /dev/zero >/mnt/x/race/sub
	go_on
	assert_equal "$stdout" "8192 2"
	rm -r /mnt/x/race
}

@test "a signal stops the search for who owns an ID, and nothing has changed" {
	local before
	rm -f /etc/projects /etc/projid
	fsquota project -s -p /mnt/x/tree 48 /mnt/x
	before=$(lsattr -pR /mnt/x/tree | cut -c-8)
	for threads in 1 8; do
		FSQUOTA_THREADS=$threads stopped TERM assign --hard 1g /mnt/x/tree
		assert_equal "$status" 143
		assert_regex "$stderr" 'fsquota assign: /mnt/x/tree: stopped after [0-9]+ files and directories: Interr'
		assert_equal "$(lsattr -pR /mnt/x/tree | cut -c-8)" "$before"
		assert_equal "$(cat /etc/projects /etc/projid)" ''
	done
	fsquota project -C -p /mnt/x/tree 48 /mnt/x
}

# bats test_tags=slow
@test "a signal stops assign and release, which undo all and say so" {
	local before
	for threads in 1 8; do
		rm -f /etc/projects /etc/projid
		before=$(lsattr -pR /mnt/x/tree | cut -c-8)
		FSQUOTA_THREADS=$threads stopped TERM assign /mnt/x/tree
		assert_equal "$status" 143
		assert_regex "$stderr" 'fsquota assign: .*stopped after [0-9]+ files and directories, and undone'
		assert_equal "$(lsattr -pR /mnt/x/tree | cut -c-8)" "$before"
		assert [ ! -s /etc/projects ]
		fsquota assign --hard 1g /mnt/x/tree
		before=$(lsattr -pR /mnt/x/tree | cut -c-8; cat /etc/projects /etc/projid)
		FSQUOTA_THREADS=$threads stopped INT release /mnt/x/tree
		assert_equal "$status" 130
		assert_regex "$stderr" 'fsquota release: .*stopped after [0-9]+ files and directories, and undone'
		assert_equal "$(lsattr -pR /mnt/x/tree | cut -c-8; cat /etc/projects /etc/projid)" "$before"
		fsquota release /mnt/x/tree
	done
}
