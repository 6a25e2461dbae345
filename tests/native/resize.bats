#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# resize: by a part of the limit, and without any; of several directories, and of what is over.

load ../lib/fsquota

setup() {
	rm -f /etc/projects /etc/projid
	fresh_each x e
	mkdir /mnt/x/dir /mnt/e/dir
}

# has DIRECTORY HARD SOFT: these limits, in KiB.
has() {
	run -0 real -c 'report -p -N -n' "${1%/dir}"
	assert_line --regexp "^#7  *[0-9]+  *$3  *$2  "
}

# each DIRECTORY
each() {
	fsquota assign --id 7 --hard 1000K --soft 500K "$1"
	is_silent fsquota resize "$1" +20%
	has "$1" 1200 700
	run -0 fsquota resize --dry-run "$1" +4K
	assert_output "would-change project 7 (volume7), $1: soft 700K -> 704K, hard 1228800 -> 1232896"
	run -0 fsquota resize --dry-run --hard +50% "$1"
	assert_output "would-change project 7 (volume7), $1: soft 700K -> 1.3M, hard 1.2M -> 1.8M"
	has "$1" 1200 700
	fsquota resize "$1" none
	has "$1" 0 700
	refuses 6 'has no limit that could grow' fsquota resize "$1" +10%
	# Equal limits stay equal.
	fsquota resize "$1" 2M --soft 2M
	has "$1" 2048 2048
	fsquota resize "$1" none
	has "$1" 0 0
}

@test "on XFS a limit grows by a part of it, and is taken away" { each /mnt/x/dir; }

# bats test_tags=again
@test "on ext4 a limit grows by a part of it, and is taken away" { each /mnt/e/dir; }

@test "what is no growth is refused, and nothing changes" {
	local word
	fsquota assign --id 7 --hard 1000K /mnt/x/dir
	for word in +0% 20% +% ++5% +5%% +999999% +-5% +1.5% None; do
		refuses 2 "\"$word\" is no " fsquota resize /mnt/x/dir "$word"
	done
	refuses 2 'given twice' fsquota resize /mnt/x/dir none --hard 5M
	has /mnt/x/dir 1000 0
}

# on_both TEST: on XFS and on ext4, with the directories a, b and c in $top, of the projects 7, 8 and 9.
on_both() {
	local fs top name id
	for fs in x e; do
		top=/mnt/$fs id=7
		rm -f /etc/projects /etc/projid
		for name in a b c; do
			mkdir "$top/$name"
			fsquota assign "$top/$name" --id $id --name $name --hard 1000K >/dev/null
			id=$((id + 1))
		done
		"$@"
	done
}

# limits KIB...: the hard limits of the projects 7, 8 and 9; - stands for one that is not looked at.
limits() {
	local id=7 limit
	for limit; do
		[ "$limit" = - ] || assert_equal "$id $(kernel_has "$top" $id | cut -d' ' -f3)" "$id $limit"
		id=$((id + 1))
	done
}

# fill DIRECTORY KIB
fill() {
	dd if=/dev/zero of="$1/file" bs=1k count="$2" conv=fsync 2>/dev/null
}

several() {
	is_silent fsquota resize $top/{a,b,c} +20%
	limits 1200 1200 1200
	is_silent fsquota resize $top/{a,b} --hard 2M
	limits 2048 2048 1200
	succeeds fsquota resize $top/{a,c} +1M --dry-run
	assert_equal "$stdout" "would-change project 7 (a), $top/a: hard 2M -> 3M
would-change project 9 (c), $top/c: hard 1.2M -> 2.2M"
	run_split fsquota resize $top/{a,c} +1M --json
	assert_equal "$status:$(jq -c '.resize | map([.path, .hard_bytes, .changed])' <<<"$stdout")" \
		"0:[[\"$top/a\",3145728,true],[\"$top/c\",2277376,true]]"
	limits 3072 2048 2224
	# In the directory itself a name can be a number, too.
	cd $top || return
	is_silent fsquota resize a b --hard 4M
	is_silent fsquota resize --soft 3M a b
	limits 4096 4096 2224
	cd /
}

@test "several directories are resized at once, in their order" { on_both several; }

none_or_all() {
	local wrong
	mkdir $top/none $top/gone
	fsquota assign $top/gone --id 10 --hard 1000K >/dev/null
	rmdir $top/gone
	touch $top/file
	fill $top/b 900
	for wrong in "5 gone" "5 none" "5 nothing" "2 file"; do
		refuses "${wrong% *}" "$top/${wrong#* }: " fsquota resize $top/{a,b} "$top/${wrong#* }" $top/c +20%
	done
	refuses 6 "$top/b: would be smaller than the 90" fsquota resize $top/{a,b,c} 500K --allow-shrink
	refuses 6 "$top/a: would be smaller than the 1000K" fsquota resize $top/{a,b,c} 950K
	limits 1000 1000 1000
	fsquota release --id 10 --at $top
}

@test "of several directories all can be resized, or none is" { on_both none_or_all; }

shared() {
	fsquota release $top/b
	fsquota assign --name a $top/b >/dev/null
	succeeds fsquota resize $top/{a,b,c,a} +20% --dry-run
	assert_equal "$stdout" "would-change project 7 (a), $top/a: hard 1000K -> 1.2M
unchanged project 7 (a), $top/b
would-change project 9 (c), $top/c: hard 1000K -> 1.2M
unchanged project 7 (a), $top/a"
	run_split fsquota resize $top/{a,b,c,a} +20% --json
	assert_equal "$status:$(jq -c '.resize | map([.id, .hard_bytes, .changed])' <<<"$stdout")" \
		"0:[[7,1228800,true],[7,1228800,false],[9,1228800,true],[7,1228800,false]]"
	limits 1200 - 1200
	mkdir $top/c/sub
	prints "fsquota resize: $top/c/sub: has no quota of its own: the limits are those of $top/c, project 9; fsquota assign gives it its own" \
		fsquota resize $top/c/sub $top/c +400K
	refuses 6 "would be smaller than the 1.562M (1638400 bytes) its project has" fsquota resize $top/c/sub 1M
	limits 1200 - 1600
	fsquota resize $top/c 1200K --allow-shrink
	fill $top/b 1150
	is_silent fsquota resize --over 90 $top/{a,b} +100K
	limits 1300 - 1200
	fill $top/b 1280
	is_silent fsquota resize --over 90 --at $top +100K
	limits 1400 - 1200
}

@test "a project that several directories share is resized once" { on_both shared; }

@test "an ID on two filesystems is two projects" {
	fsquota assign /mnt/x/dir --id 7 --hard 1000K >/dev/null
	fsquota assign /mnt/e/dir --name volume7 --hard 1000K >/dev/null
	is_silent fsquota resize /mnt/{x,e,x}/dir +20%
	has /mnt/x/dir 1200 0
	has /mnt/e/dir 1200 0
}

@test "where limits stop nobody several directories are told once" {
	local word
	fresh_fs x -o pqnoenforce
	mkdir /mnt/x/{a,b}
	fsquota assign /mnt/x/{a,b} --hard 1000K >/dev/null 2>&1
	for word in "" "--dry-run --csv"; do
		exits 0 fsquota resize $word /mnt/x/{a,b} +20%
		assert_one_line
		assert_regex "$stderr" 'limits are not enforced'
	done
	run_split fsquota resize --over 0 --at /mnt/x 2M
	assert_one_line
}

# meanwhile COMMAND...: runs while a resize of a, b and c is before its first change.
meanwhile() {
	local at
	strace -qq -o "$BATS_TEST_TMPDIR/trace" -e trace=quotactl_fd fsquota resize $top/{a,b,c} 1200K
	at=$(grep -n 'XSETQLIM' "$BATS_TEST_TMPDIR/trace" | head -1 | cut -d: -f1)
	stopped_at 443 "$at" "$FSQUOTA" resize $top/{a,b,c} +400K # quotactl_fd
	"$@"
	go_on
}

vanishes() {
	meanwhile rmdir $top/b
	assert_equal "$status:$stdout" 5:
	assert_one_line
	assert_regex "$stderr" "$top/b: cannot open"
	limits 1600 1200 1200
}

@test "a directory that vanishes ends it, and those before it are resized" { on_both vanishes; }

joins() {
	meanwhile bash -c "fsquota release $top/b && fsquota assign --name a $top/b" >/dev/null
	assert_equal "$status:$stdout" 6:
	assert_regex "$stderr" "$top/b: has project ID 7"
	limits 1600 - 1200
}

@test "a directory that joins a project that was resized does not raise it again" { on_both joins; }

over() {
	fill $top/a 950
	fill $top/b 500
	fsquota limit -p bsoft=1000k bhard=0 9 $top
	fill $top/c 960
	succeeds fsquota resize --over 90 --at $top 2M --dry-run
	assert_equal "$stdout" "would-change project 7 (a), $top/a: hard 1000K -> 2M
would-change project 9 (c), $top/c: hard none -> 2M"
	limits 1000 1000 0
	# One that cannot grow does not keep others from growing, and those that have grown are not over.
	fsquota limit -p bsoft=1000k bhard=0 7 $top
	fsquota limit -p bhard=1000k 9 $top
	for _ in 1 2; do
		refuses 6 "$top/a: has no limit that could grow" fsquota resize --over 90 --at $top +20%
		limits 0 1000 1200
	done
	succeeds fsquota resize --over 40 --at $top 3M --json
	assert_equal "$(jq -c '.resize | map([.id, .path, .soft_bytes, .hard_bytes, .changed])' <<<"$stdout")" \
		"[[7,\"$top/a\",1024000,3145728,true],[8,\"$top/b\",null,3145728,true],[9,\"$top/c\",3145728,3145728,true]]"
	limits 3072 3072 3072
}

@test "--over resizes the registered projects that use so much of their limit" { on_both over; }

whose() {
	local other=/mnt/x/other
	[ $fs = e ] || other=/mnt/e/other
	fill $top/a 950
	fill $top/b 950
	mkdir -p $other $top/unlisted
	fsquota project -s -p $top/unlisted 11 $top >/dev/null
	fsquota limit -p bhard=1000k 11 $top
	fill $top/unlisted 950
	fsquota assign $other --name other --hard 1000K >/dev/null
	fill $other 950
	# Of several directories those that are over.
	is_silent fsquota resize $top/{a,c} --over 90 +20%
	limits 1200 1000 1000 - 1000
	# The others need not be able to grow so.
	fsquota resize $top/c 3M
	is_silent fsquota resize $top/{a,c} --over 70 2M
	limits 2048 1000 3072
	fsquota resize $top/a 1200K --allow-shrink
	fsquota resize $top/c 1000K --allow-shrink
	# By name, and where it is not over.
	is_silent fsquota resize --over 90 --name a +20%
	is_silent fsquota resize --over 90 --id 8 --at $top +20%
	limits 1200 1200 1000 - 1000
	fsquota limit -p bhard=1000k 7 $top
	fsquota limit -p bhard=1000k 8 $top
	# A directory that is gone leaves a project that has others.
	fsquota assign --name a $top/gone --mkdir >/dev/null
	rmdir $top/gone
	is_silent fsquota resize --over 90 --at $top +20%
	limits 1200 1200 1000 - 1000
	# All filesystems, and no word of those without project quota.
	fresh_fs x2 -o uquota
	run_split fsquota resize --over 90 +10% --dry-run
	assert_equal "$status:$stderr:$(wc -l <<<"$stdout")" 0::1
	assert_regex "$stdout" " $other: hard 1000K -> 1.1M"
	refuses 3 'project quota is off' fsquota resize --over 90 --at /mnt/x2 +10%
	fresh_fs x2
	fsquota release $other
}

# bats test_tags=full
@test "--over leaves what is not registered, other filesystems and other directories" { on_both whose; }

inodes() {
	fsquota resize $top/a --hard-inodes 10
	fsquota resize $top/b --hard-inodes 100
	touch $top/a/{1..8}
	fill $top/c 950
	is_silent fsquota resize --over 90 --at $top --hard-inodes 20
	assert_equal "$(kernel_has $top 7 | cut -d' ' -f6) $(kernel_has $top 8 | cut -d' ' -f6)" "20 100"
	# Full of inodes is no reason for more space, which would grow with each run.
	is_silent fsquota resize --over 40 --at $top --hard-inodes 20
	is_silent fsquota resize --over 40 $top/{a,b} +20%
	limits 1000 1000 1000
	refuses 6 "$top/b: would be smaller than the 100 inodes" fsquota resize --over 1 --at $top --hard-inodes 30
	refuses 6 "$top/a: would be smaller than the 30 inodes" fsquota resize --over 25 --at $top --hard-inodes 15 +20%
	limits 1000 1000 1200
}

@test "--over goes by space or inodes, as what is resized" { on_both inodes; }

nobody() {
	fill $top/a 500
	is_silent fsquota resize --over 90 --at $top +20%
	is_silent fsquota resize --over 90 $top/{a,b} +20%
	prints '{"resize":[]}' fsquota resize --over 90 --at $top +20% --json
	prints '{"resize":[]}' fsquota resize --over 90 $top/a +20% --json
	limits 1000 1000 1000
}

@test "where none is over nothing is done, and there is an empty array" { on_both nobody; }

@test "words that make no sense with --over or with several directories are refused" {
	local word fs=x top=/mnt/x
	mkdir $top/{a,b}
	fsquota assign --name a $top/{a,b} --hard 1000K >/dev/null
	for word in '' x -1 90% 0x10 nan 90%%; do
		[ "$word" = 90% ] || refuses 2 '--over is a percentage' fsquota resize --over "$word" $top/a +20%
	done
	refuses 2 'a size is wanted' fsquota resize --over 90
	refuses 2 'a size is wanted' fsquota resize $top/a
	refuses 2 "$top/b is no size: the size stands last" fsquota resize $top/{a,b}
	refuses 2 'is no size' fsquota resize --over 90 $top/a
	refuses 2 '--at does not go with a directory' fsquota resize --over 90 --at $top $top/a +20%
	refuses 2 '--id goes with one directory' fsquota resize --id 7 $top/{a,b} +20%
	refuses 2 '--id takes --at' fsquota resize --over 90 --id 7 +20%
	refuses 2 'given twice' fsquota resize $top/{a,b} 2M --hard 2M
	refuses 5 "$top/none" fsquota resize --over 90 --at $top/none +20%
	refuses 5 "$top: belongs to no project" fsquota resize --over 0 $top/a $top +20%
	assert_equal "$(fsquota usage $top/a --bytes -No HARD)" 1024000
}

@test "an ordinary user resizes none" {
	local fs=x top=/mnt/x
	mkdir $top/{a,b}
	fsquota assign $top/{a,b} --hard 1000K >/dev/null
	refuses 4 CAP_SYS_ADMIN setpriv --reuid 1000 --regid 1000 --clear-groups fsquota resize $top/{a,b} +20%
	refuses 4 CAP_SYS_ADMIN setpriv --reuid 1000 --regid 1000 --clear-groups fsquota resize --over 0 $top/{a,b} +20%
	refuses 4 CAP_SYS_ADMIN setpriv --reuid 1000 --regid 1000 --clear-groups fsquota resize --over 0 --at $top +20%
	assert_equal "$(fsquota usage $top/{a,b} --bytes -No HARD | sort -u)" 1024000
}
