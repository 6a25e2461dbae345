#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# resize: by a part of the limit, and without any; of several directories.

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
	run_split fsquota resize $top/{a,c} +1M --dry-run
	assert_equal "$status:$stderr" 0:
	assert_equal "$stdout" "would-change project 7 (a), $top/a: hard 2M -> 3M
would-change project 9 (c), $top/c: hard 1.2M -> 2.2M"
	run_split fsquota resize $top/{a,c} +1M --json
	assert_equal "$status:$(jq -c '.resize | map([.path, .hard_bytes, .changed])' <<<"$stdout")" \
		"0:[[\"$top/a\",3145728,true],[\"$top/c\",2277376,true]]"
	limits 3072 2048 2224
	# In the directory itself a name can be a number, too.
	cd $top
	is_silent fsquota resize a b --hard 4M
	is_silent fsquota resize --soft 3M a b
	limits 4096 4096 2224
	cd /
}

@test "several directories are resized at once, in their order" {
	on_both several
}

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

@test "of several directories all can be resized, or none is" {
	on_both none_or_all
}

shared() {
	fsquota release $top/b
	fsquota assign --name a $top/b >/dev/null
	run_split fsquota resize $top/{a,b,c,a} +20% --dry-run
	assert_equal "$status:$stderr" 0:
	assert_equal "$stdout" "would-change project 7 (a), $top/a: hard 1000K -> 1.2M
unchanged project 7 (a), $top/b
would-change project 9 (c), $top/c: hard 1000K -> 1.2M
unchanged project 7 (a), $top/a"
	run_split fsquota resize $top/{a,b,c,a} +20% --json
	assert_equal "$status:$(jq -c '.resize | map([.id, .hard_bytes, .changed])' <<<"$stdout")" \
		"0:[[7,1228800,true],[7,1228800,false],[9,1228800,true],[7,1228800,false]]"
	limits 1200 - 1200
}

@test "a project that several directories share is resized once" {
	on_both shared
}

@test "words that make no sense with several directories are refused" {
	local fs=x top=/mnt/x
	mkdir $top/{a,b}
	fsquota assign --name a $top/{a,b} --hard 1000K >/dev/null
	refuses 2 'a directory and a size are wanted' fsquota resize $top/a
	refuses 2 "\"$top/b\" is no size" fsquota resize $top/{a,b}
	refuses 2 '--name does not go with a directory' fsquota resize --name a $top/a +20%
	refuses 2 '--id goes with one directory' fsquota resize --id 7 $top/{a,b} +20%
	refuses 2 '--at goes with --id or --name' fsquota resize --at $top +20%
	refuses 2 'given twice' fsquota resize $top/{a,b} 2M --hard 2M
	assert_equal "$(fsquota usage $top/a -bno HARD)" 1024000
}

@test "an ordinary user resizes none" {
	local fs=x top=/mnt/x
	mkdir $top/{a,b}
	fsquota assign $top/{a,b} --hard 1000K >/dev/null
	refuses 4 CAP_SYS_ADMIN setpriv --reuid 1000 --regid 1000 --clear-groups fsquota resize $top/{a,b} +20%
	assert_equal "$(fsquota usage $top/{a,b} -bno HARD | sort -u)" 1024000
}
