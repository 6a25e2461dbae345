#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# A quota on a directory in one call: assign, usage, resize, release, supported. What the kernel
# holds is asked of the tools of xfsprogs and e2fsprogs.

load ../lib/fsquota

FIRST=1048577

setup_file() {
	fresh_each x e f
	chmod 755 /mnt/{x,e,f}
	fresh_fs x2 -o noquota
}

setup() {
	cd "$BATS_TEST_TMPDIR"
	printf '# foreign\n7:/somewhere/else\n' >/etc/projects
	printf '# foreign\nelsewhere:7\n' >/etc/projid
	cp /etc/projects /etc/projid .
	volume=volume-$BATS_TEST_NUMBER
	rm -f /etc/fsquota.conf
}

teardown() {
	local directory
	for directory in /mnt/[xef]/volume-*; do
		[ ! -d "$directory" ] || fsquota release "$directory" >/dev/null 2>&1 || true
		[ ! -e "$directory" ] && [ ! -L "$directory" ] || rm -rf "$directory"
	done
	no_limits x e f
}

# No file, no limit, no ID is otherwise than before the test.
assert_no_trace() {
	local files=(/etc/proj*) fs
	diff "$BATS_TEST_TMPDIR/projects" /etc/projects
	diff "$BATS_TEST_TMPDIR/projid" /etc/projid
	assert_equal "${files[*]}" "/etc/projects /etc/projid"
	for fs in x e f; do real -c 'dump -p' /mnt/$fs; done >"$BATS_TEST_TMPDIR/left"
	assert_equal "$(grep -v '^fs = ' "$BATS_TEST_TMPDIR/left")" ""
	assert_equal "$(lsattr -pR /mnt/x /mnt/e /mnt/f 2>/dev/null | awk '$1 ~ /^[1-9]/')" ""
}

tree() {
	mkdir -p "$1/sub/deep"
	touch "$1/file" "$1/sub/file" "$1/sub/deep/file"
	ln -s file "$1/link"
	ln "$1/file" "$1/sub/other name"
}

# --- the whole life ---------------------------------------------------------------------------------

@test "a directory gets a quota, is filled, grows, is filled further, and is free again" {
	local fs dir
	for fs in x e f; do
		dir=/mnt/$fs/$volume
		mkdir -m 777 "$dir"
		prints "$FIRST" fsquota assign "$dir" --require-enforced --hard 4M --hard-inodes 10
		run ! as_user dd if=/dev/zero of="$dir/file" bs=64k count=100 conv=fsync
		run kernel_has /mnt/$fs $FIRST
		assert_output --regexp "^(4096|40[0-9][0-9]) 0 4096 2 0 10$"
		is_silent fsquota resize "$dir" +4M
		as_user dd if=/dev/zero of="$dir/more" bs=64k count=40 conv=fsync status=none
		run ! as_user touch "$dir"/{1..10}
		rm -r "${dir:?}"/*
		is_silent fsquota release "$dir"
	done
	assert_no_trace
	prints $FIRST fsquota assign "/mnt/x/$volume" --hard 1M
}

@test "what is in it belongs to the project, and new files do" {
	local fs dir
	for fs in x e f; do
		dir=/mnt/$fs/$volume
		mkdir "$dir"
		tree "$dir"
		fsquota assign "$dir" --hard 10M
		touch "$dir/sub/deep/new"
		assert_equal "$(lsattr -pR "$dir" 2>/dev/null | awk 'NF == 3 && $1 != '$FIRST)" ""
		run lsattr -pd "$dir" "$dir/sub" "$dir/sub/deep"
		assert_equal "$(grep -c 'P' <<<"$output")" 3
		rm "$dir/sub/deep/new"
		fsquota release "$dir"
	done
	assert_no_trace
}

@test "the path that is registered is the real one" {
	mkdir -p "/mnt/x/$volume/real/below"
	ln -s "/mnt/x/$volume/real" "/mnt/x/$volume/link"
	cd "/mnt/x/$volume"
	fsquota assign "link/./below/"
	assert_equal "$(tail -n 1 /etc/projects)" "$FIRST:/mnt/x/$volume/real/below"
	fsquota release /mnt/x//$volume/../$volume/real/below
	rm link
	assert_no_trace
}

@test "--unlimited only counts" {
	mkdir -p "/mnt/x/$volume" "/mnt/e/$volume"
	fsquota assign "/mnt/x/$volume" --unlimited
	fsquota assign "/mnt/e/$volume" --unlimited
	assert_equal "$(kernel_has /mnt/x $FIRST | cut -d' ' -f3)" 9007199254740992
	assert_equal "$(kernel_has /mnt/e $((FIRST + 1)) | cut -d' ' -f3)" 281474976710655
}

# --- names and IDs ----------------------------------------------------------------------------------

@test "another name or ID gives 6, and nothing changes" {
	mkdir "/mnt/x/$volume" "/mnt/e/$volume"
	fsquota assign "/mnt/x/$volume" --name pod1 --hard 1M
	echo 'pod2:99' >>/etc/projid
	local before
	before=$(cat /etc/projects /etc/projid; lsattr -pd "/mnt/x/$volume"; kernel_has /mnt/x $FIRST)
	refuses 6 pod1 fsquota assign "/mnt/x/$volume" --name other --hard 2M
	refuses 6 pod2 fsquota assign "/mnt/x/$volume" --name pod2 --hard 2M
	refuses 6 $FIRST fsquota assign "/mnt/x/$volume" --id 55 --hard 2M
	refuses 6 pod2 fsquota assign "/mnt/e/$volume" --name pod2 --id 98
	assert_equal "$before" \
		"$(cat /etc/projects /etc/projid; lsattr -pd "/mnt/x/$volume"; kernel_has /mnt/x $FIRST)"
	run -0 fsquota assign "/mnt/x/$volume" --name pod1 --id $FIRST
}

@test "an ID can be insisted on, unless somebody has it" {
	mkdir "/mnt/x/$volume" "/mnt/x/$volume/other"
	refuses 6 7 fsquota assign "/mnt/x/$volume" --id 7
	real -c 'limit -p bhard=1m 8' /mnt/x
	refuses 6 8 fsquota assign "/mnt/x/$volume" --id 8
	real -c 'limit -p bhard=0 8' -c "project -s -p /mnt/x/$volume/other 9" /mnt/x >/dev/null
	refuses 6 9 fsquota assign "/mnt/x/$volume" --id 9
	real -c "project -C -p /mnt/x/$volume/other 9" /mnt/x >/dev/null
	prints 10 fsquota assign "/mnt/x/$volume" --id 10
}

@test "--keep-limits registers what directories carry, and changes neither IDs nor limits" {
	local fs dir before words
	for fs in x e; do
		dir=/mnt/$fs/$volume
		cp "$BATS_TEST_TMPDIR"/proj{ects,id} /etc
		mkdir -p "$dir/limited/sub" "$dir/free" "$dir/none"
		real -c "project -s -p $dir/limited 5001" -c 'limit -p bsoft=1m bhard=2m ihard=9 5001' /mnt/$fs >/dev/null
		real -c "project -s -p $dir/free 5002" /mnt/$fs >/dev/null
		before=$(lsattr -pR "$dir"; kernel_has /mnt/$fs 5001; kernel_has /mnt/$fs 5002)
		refuses 5 none fsquota assign --keep-limits "$dir/none"
		refuses 6 5001 fsquota assign --keep-limits "$dir/limited/sub"
		refuses 6 5001 fsquota assign --keep-limits --id 5003 "$dir/limited"
		for words in "--hard 1M" "--soft 50%" --unlimited "--like $dir/free" --mkdir --no-register; do
			refuses 2 --keep-limits fsquota assign --keep-limits $words "$dir/limited"
		done
		run -0 fsquota assign --keep-limits --dry-run "$dir/limited" "$dir/free"
		assert_output "$(printf 'would-assign project %s\n' "5001 (volume5001), $dir/limited" "5002 (volume5002), $dir/free")"
		diff "$BATS_TEST_TMPDIR/projects" /etc/projects
		prints $'5001\n5002' fsquota assign --keep-limits "$dir/limited" "$dir/free"
		assert_equal "$(lsattr -pR "$dir"; kernel_has /mnt/$fs 5001; kernel_has /mnt/$fs 5002)" "$before"
		assert_equal "$(tail -n 2 -q /etc/projects /etc/projid | xargs)" \
			"5001:$dir/limited 5002:$dir/free volume5001:5001 volume5002:5002"
		prints 'false false' jq -r '[.assign[].changed] | join(" ")' <(fsquota assign --json --keep-limits "$dir"/{limited,free})
		# An ID that is also elsewhere must be insisted on, and one that was changed is not put right.
		chattr -p 5001 "$dir/none"
		refuses 6 5001 fsquota assign --keep-limits --name other "$dir/none"
		chattr -p 5002 "$dir/limited"
		refuses 6 5001 fsquota assign --keep-limits "$dir/limited"
		chattr -p 0 "$dir/none"
		fsquota release "$dir/limited" "$dir/free"
	done
}

@test "IDs that somebody has are never taken" {
	local id dir fs
	for fs in x e; do
		dir=/mnt/$fs/$volume
		mkdir "$dir" "$dir-used"
		real -c "limit -p bhard=1m $((FIRST + 1))" -c "limit -p ihard=5 $((FIRST + 2))" \
			-c "limit -p bsoft=1m $((FIRST + 5))" -c "project -s -p $dir-used $((FIRST + 4))" /mnt/$fs >/dev/null
		printf '%s\n' "$FIRST:/nowhere" >>/etc/projects
		printf '%s\n' "only-a-name:$((FIRST + 3))" >>/etc/projid
		run -0 fsquota assign "$dir"
		assert [ "$output" -gt $((FIRST + 5)) ]
		fsquota release "$dir"
		cp "$BATS_TEST_TMPDIR"/proj* /etc
	done
}

# bats test_tags=many,full
@test "five thousand IDs that only the kernel knows cost few calls, and are never taken" {
	local id limits=()
	for ((id = FIRST; id < FIRST + 5000; id++)); do limits+=(-c "limit -p ihard=9 $id"); done
	real "${limits[@]}" /mnt/x
	mkdir "/mnt/x/$volume"{,b,c}
	run_split strace -o "$BATS_TEST_TMPDIR/trace" -e trace=quotactl,quotactl_fd \
		fsquota assign "/mnt/x/$volume"
	assert [ "$stdout" -ge $((FIRST + 5000)) ]
	assert [ "$stdout" -lt $((FIRST + 5100)) ]
	assert [ "$(grep -c QCMD "$BATS_TEST_TMPDIR/trace")" -le 23 ]
	assert [ "$(grep -c GETNEXTQUOTA "$BATS_TEST_TMPDIR/trace")" -le 20 ]
	# The next ones stay near.
	run -0 fsquota assign "/mnt/x/${volume}b"
	assert [ "$output" -lt $((FIRST + 5100)) ]
	# What is not registered in /etc stays out of kubelet's range.
	prints 2097153 fsquota assign "/mnt/x/${volume}c" --no-register
	fresh_fs x
	chmod 755 /mnt/x
}

# What somebody left who was killed in the middle of it, below a directory with a project.
unfinished() {
	mkdir "$1"
	fsquota assign "$1" >/dev/null
	mkdir "$1/inner"
	tree "$1/inner"
	chattr -p $((FIRST + 1)) "$1/inner" "$1/inner/sub" "$1/inner/sub/file"
}

# bats file_tags=shared

@test "what was not finished is finished, also below a directory with a project" {
	local fs dir
	for fs in x e f; do
		dir=/mnt/$fs/$volume
		unfinished "$dir"
		prints $((FIRST + 1)) fsquota assign "$dir/inner" --hard 1M
		assert_equal "$(lsattr -pR "$dir/inner" 2>/dev/null | awk 'NF == 3 && $1 != '$((FIRST + 1)))" ""
		fsquota release "$dir/inner"
		fsquota release "$dir"
	done
	rm -r "$dir"
	assert_no_trace
}

@test "what was not finished stays as it was where it fails again" {
	local fs dir before
	for fs in x e; do
		dir=/mnt/$fs/$volume
		unfinished "$dir"
		mkdir "$dir/inner/zz"
		chattr -p 4321 "$dir/inner/zz"
		before=$(lsattr -pR "$dir" 2>/dev/null; cat /etc/proj*)
		refuses 6 zz fsquota assign "$dir/inner" --hard 1M
		assert_equal "$(lsattr -pR "$dir" 2>/dev/null; cat /etc/proj*)" "$before"
		chattr -p $FIRST "$dir/inner/zz"
		fsquota release "$dir/inner"
		fsquota release "$dir"
	done
}

# An outer directory with two inner ones that have limits, as deep as they come, and files in all; sets dir, inner and was.
around() {
	dir=/mnt/$1/$volume
	mkdir -p "$dir"/{one/sub,rest/deep/two,three}
	dd if=/dev/zero of="$dir/one/sub/file" bs=1k count=100 status=none
	dd if=/dev/zero of="$dir/rest/deep/two/file" bs=1k count=50 status=none
	dd if=/dev/zero of="$dir/rest/deep/file" bs=1k count=300 status=none
	touch "$dir"/{one,rest,three}/{a,b,c}
	inner=$(fsquota assign "$dir/one" "$dir/rest/deep/two" --hard 10M --hard-inodes 50)
	sync -f "$dir"
	was=$(inner_ones)
}

# All that the kernel has of the inner ones.
inner_ones() {
	local id
	for id in $inner; do kernel_has "${dir%/*}" "$id"; done
	lsattr -pRd "$dir/one" "$dir/rest/deep/two"
	lsattr -pR "$dir/one" "$dir/rest/deep/two"
}

gets_the_rest() {
	local dir inner was outer rest
	around "$1"
	refuses 6 "--around" fsquota assign "$dir" --hard 50M
	run -0 fsquota assign "$dir" --hard 50M --around --dry-run
	assert_equal "$(inner_ones)$(fsquota id "$dir")" "${was}0"
	run -0 fsquota assign "$dir" --hard 50M --around
	outer=$output
	assert_equal "$(inner_ones)" "$was"
	rest=$(find "$dir" \( -path "$dir/one" -o -path "$dir/rest/deep/two" \) -prune -o -printf "%b $1%y\n" |
		awk '$2 != "fd" { used += $1 / 2 } END { print used, NR }') # f2fs does not count directories
	assert_equal "$(kernel_has "/mnt/$1" "$outer" | cut -d' ' -f1,3,4)" "${rest% *} 51200 ${rest#* }"
	assert_equal "$(tail -n 1 /etc/projects)" "$outer:$dir"
	prints "$outer" fsquota assign "$dir"
	run -0 fsquota doctor --deep "$dir"
	refute_output --partial "$dir"
	is_silent fsquota release "$dir"
	counts "/mnt/$1" "$outer" 0
	assert_equal "$(inner_ones)" "$was"
	fsquota release "$dir/one" "$dir/rest/deep/two"
	rm -r "$dir"
}

@test "--around gives the rest of a directory a quota, and leaves the registered ones in it as they are" {
	gets_the_rest x
	gets_the_rest e
}

# bats test_tags=full
@test "--around on f2fs" { gets_the_rest f; }

@test "--around is undone where it fails, and finished by the next call where it was killed" {
	local fs dir inner was outer
	for fs in x e; do
		around $fs
		chattr -p 66 "$dir/three/b"
		refuses 6 "$dir/three/b: belongs to project 66" fsquota assign "$dir" --hard 50M --around
		assert_equal "$(inner_ones)$(fsquota id "$dir" "$dir/rest/a")" "$was"$'0\n0'
		chattr -p 0 "$dir/three/b"
		chattr -p 0 "$dir/one"
		refuses 6 "$dir/one: is registered with project ${inner%%$'\n'*}, which it does not carry" \
			fsquota assign "$dir" --around
		fsquota assign "$dir/one"
		assert_equal "$(inner_ones)$(fsquota id "$dir" "$dir/rest/a")" "$was"$'0\n0'
		run -137 injecting getdents64 signal=KILL:when=14 fsquota assign "$dir" --hard 50M --around
		outer=$(fsquota id "$dir")
		# In the middle of the walk.
		[[ $(find "$dir" -type d -exec fsquota id {} + | grep -cx "$outer") = [23] ]]
		refuses 6 "--around" fsquota assign "$dir" --hard 50M
		prints "$outer" fsquota assign "$dir" --hard 50M --around
		assert_equal "$(inner_ones)" "$was"
		assert_equal "$(fsquota id "$dir/rest/a" "$dir/rest/deep" "$dir/three/c")" "$outer"$'\n'"$outer"$'\n'"$outer"
		fsquota release "$dir" "$dir/one" "$dir/rest/deep/two"
	done
}

@test "--around knows a registered directory that is moved meanwhile, and not what is put in its place" {
	local fs dir inner was outer
	for fs in x e; do
		around $fs
		stopped_at 436 1 "$FSQUOTA" assign "$dir" --around # close_range, which drops the locks for the walk
		mv "$dir/one" "$dir/three/moved"
		mkdir "$dir/one"
		touch "$dir/one/new"
		go_on
		outer=$stdout
		assert_equal "$status:$stderr" 0:
		assert_equal "$(fsquota id "$dir/three/moved" "$dir/three/moved/sub/file" | uniq)" "${inner%%$'\n'*}"
		assert_equal "$(fsquota id "$dir/one" "$dir/one/new" "$dir/three/a" | uniq)" "$outer"
		mv "$dir/one" "$dir/three/moved" /mnt/$fs
		rm -r /mnt/$fs/{one,moved}
		fsquota prune >/dev/null
		fsquota release "$dir/rest/deep/two" "$dir"
	done
}

@test "--around takes the root directory of a filesystem, and a directory that is registered by a bind mount" {
	local fs dir inner was outer
	for fs in x e; do
		around $fs
		fsquota release "$dir/one"
		mkdir -p "/mnt/$fs-bound"
		mount --bind "$dir/one" "/mnt/$fs-bound"
		inner=$(fsquota assign "/mnt/$fs-bound")
		outer=$(fsquota assign "/mnt/$fs" --hard 90% --around)
		assert_equal "$(fsquota id "/mnt/$fs" "$dir/rest" "$dir/one/a" "$dir/one")" \
			"$outer"$'\n'"$outer"$'\n'"$inner"$'\n'"$inner"
		fsquota release "/mnt/$fs" "/mnt/$fs-bound" "$dir/rest/deep/two"
		umount "/mnt/$fs-bound"
	done
}

# bats test_tags=many,full
@test "an ID that is being given to a large directory is not taken on another filesystem" {
	local i
	mkdir -p "/mnt/e/$volume" "/mnt/x/$volume"
	for i in {1..300}; do echo >"/mnt/e/$volume/$i"; done
	# It is held up in the middle of the directory, without the locks.
	stopped_at 437 100 "$FSQUOTA" assign "/mnt/e/$volume" # openat2
	prints $((FIRST + 1)) fsquota assign "/mnt/x/$volume"
	go_on
	assert_equal "$status $stdout" "0 $FIRST"
}

# taken_meanwhile FS [OPTION...]: assign of $volume is about to give it the first ID, when somebody's
# file gets that. Sets status and output.
taken_meanwhile() {
	local top=/mnt/$1/$volume at
	shift
	mkdir "$top" "$top-before"
	touch "$top-theirs"
	chown 65534 "$top"
	strace -qq -o trace -e trace=ioctl fsquota assign "$top-before" >/dev/null
	at=$(grep -n FSSETXATTR trace | head -n 1 | cut -d: -f1)
	fsquota release "$top-before"
	counts "${top%/*}" $FIRST 0
	cp "$BATS_TEST_TMPDIR"/proj{ects,id} /etc
	stopped_at 16 "$at" "$FSQUOTA" assign "$top" --hard 1M "$@" # ioctl
	chattr -p $FIRST "$top-theirs"
	go_on
	output=$stdout$stderr
	assert_equal "$(fsquota id "$top-theirs")" $FIRST
	assert_equal "$(kernel_has "${top%/*}" $FIRST)" "0 0 0 1 0 0"
}

@test "a limit that somebody else sets at that moment stays, unless it is asked for" {
	local fs dir at command
	for fs in x e; do
		dir=/mnt/$fs/$volume
		mkdir "$dir"
		for command in assign resize; do
			fsquota assign "$dir" --hard 1M >/dev/null
			strace -qq -o trace -e trace=quotactl_fd fsquota $command "$dir" --hard 2M >/dev/null
			at=$(grep -n 'XSETQLIM.*{' trace | cut -d: -f1)
			stopped_at 443 "$at" "$FSQUOTA" $command "$dir" --hard 4M # quotactl_fd
			fsquota limit -p bhard=3M ihard=100 $FIRST "/mnt/$fs"
			go_on
			assert_equal "$status:$(kernel_has "/mnt/$fs" $FIRST | cut -d" " -f2-)" "0:0 4096 1 0 100"
			fsquota release "$dir"
		done
	done
}

@test "an ID that somebody's file gets at that moment is left to it, and the next one taken" {
	local fs
	for fs in x e; do
		taken_meanwhile $fs
		assert_equal "$status:$output" 0:$((FIRST + 1))
		assert_equal "$(fsquota id "/mnt/$fs/$volume")" $((FIRST + 1))
		assert_equal "$(diff projects /etc/projects)" "2a3
> $((FIRST + 1)):/mnt/$fs/$volume"
		fsquota release "/mnt/$fs/$volume"
		rm "/mnt/$fs/$volume-theirs"
	done
}

@test "what is made in a directory that --mkdir has made gets its ID, from the first moment" {
	local fs at dir
	for fs in x e; do
		dir=/mnt/$fs/$volume
		strace -qq -o trace -e trace=ioctl,mkdirat fsquota assign --mkdir "$dir-before" >/dev/null
		# It is there, and does not have the ID yet.
		at=$(awk '/mkdirat/ { shown = 1 } /ioctl/ { n++ } shown && /FSSETXATTR/ { print n; exit }' trace)
		fsquota release "$dir-before"
		stopped_at 16 "$at" "$FSQUOTA" assign --mkdir "$dir" # ioctl
		mkdir "$dir/made"
		go_on
		assert_equal "$status:$stderr" 0:
		assert_equal "$(fsquota id "$dir/made")" "$stdout"
		fsquota release "$dir"
	done
}

@test "what is made in the directory at that moment gets the next ID, too" {
	local fs at dir
	for fs in x e; do
		dir=/mnt/$fs/$volume
		mkdir "$dir" "$dir-before"
		strace -qq -o trace -e trace=quotactl_fd,ioctl fsquota assign "$dir-before" --hard 1M >/dev/null
		# The first look at the ID when the directory has it.
		at=$(awk '/quotactl_fd/ { n++ } /FSSETXATTR/ { set = 1 } set && /quotactl_fd/ { print n; exit }' trace)
		fsquota release "$dir-before"
		stopped_at 443 "$at" "$FSQUOTA" assign "$dir" --hard 1M # quotactl_fd
		touch "$dir/made"
		go_on
		assert_equal "$status:$stderr" 0:
		assert_equal "$(fsquota id "$dir/made")" "$stdout"
		counts "/mnt/$fs" "$stdout" 2
		prints '' fsquota find --orphans "/mnt/$fs"
		fsquota release "$dir"
	done
}

# bats test_tags=many
@test "an ID that was asked for and that somebody's file gets at that moment is refused" {
	taken_meanwhile x --id $FIRST
	assert_equal "$status" 6
	assert_output "fsquota assign: /mnt/x/$volume: project ID $FIRST was taken at the same moment"
	assert_equal "$(fsquota id "/mnt/x/$volume")" 0
	cmp projects /etc/projects
	cmp projid /etc/projid
}

# --- conflicts and failures -------------------------------------------------------------------------

@test "what is no directory, or not there, is refused, and nothing changes" {
	mkdir "/mnt/x/$volume"
	touch "/mnt/x/$volume/file"
	ln -s . "/mnt/x/$volume/link"
	mkfifo "/mnt/x/$volume/fifo"
	local command
	for command in "assign --hard 1M" release "resize --allow-shrink" supported; do
		local size=''
		[[ $command != resize* ]] || size=1M
		{
			refuses 5 nosuch fsquota $command "/mnt/x/$volume/nosuch" $size
			refuses 2 file fsquota $command "/mnt/x/$volume/file" $size
			refuses 2 symlink fsquota $command "/mnt/x/$volume/link" $size
			refuses 2 symlink fsquota $command "/mnt/x/$volume/link/" $size
			refuses 2 fifo fsquota $command "/mnt/x/$volume/fifo" $size
		}
	done
	assert_no_trace
}

@test "who is not root of the host gets 4, and nothing changes" {
	mkdir -m 777 "/mnt/x/$volume"
	refuses 4 "CAP_SYS_ADMIN" unshare -Ur "$FSQUOTA" assign "/mnt/x/$volume" --hard 1M
	refuses 4 "CAP_SYS_ADMIN" unshare -Ur "$FSQUOTA" supported "/mnt/x/$volume"
	refuses 4 "" as_user "$FSQUOTA" assign "/mnt/x/$volume" --hard 1M
	chmod 666 /etc/projects /etc/projid
	refuses 4 "CAP_SYS_ADMIN" as_user "$FSQUOTA" assign "/mnt/x/$volume" --hard 1M
	refuses 4 "CAP_SYS_ADMIN" setpriv --bounding-set -sys_admin --inh-caps -sys_admin \
		"$FSQUOTA" assign "/mnt/x/$volume" --hard 1M
	chmod 644 /etc/projects /etc/projid
	assert_no_trace
}

@test "files that cannot be written give 1, and nothing changes" {
	mkdir "/mnt/x/$volume"
	mount -t tmpfs -o size=16k tmpfs /run/files -m
	cp /etc/proj* /run/files
	local files=(--projects-file /run/files/projects --projid-file /run/files/projid)
	mount -o remount,ro /run/files
	refuses 1 "/run/files/projects" fsquota assign "/mnt/x/$volume" "${files[@]}"
	mount -o remount,rw /run/files
	head -c 4095 /dev/zero | tr '\0' '#' >/run/files/projid
	dd if=/dev/zero of=/run/files/full bs=4k status=none 2>/dev/null || true
	cp /run/files/projid "$BATS_TEST_TMPDIR/full"
	refuses 1 "/run/files/projid" fsquota assign "/mnt/x/$volume" "${files[@]}"
	cmp /run/files/projid "$BATS_TEST_TMPDIR/full"
	umount /run/files
	rmdir /run/files
	assert_no_trace
}

@test "limits, names and IDs that make no sense give 2, and nothing changes" {
	mkdir "/mnt/x/$volume"
	local words
	for words in "--hard 0" "--hard -1" "--hard x" "--hard 1.5" "--hard 10Q" "--hard 1GG" "--hard 9E" "--hard" \
		"--soft 2M --hard 1M" "--hard-inodes 0" "--hard-inodes 1k" "--name a:b" "--name #a" "--name 42" "--name 4294967295" \
		"--id 0" "--id 4294967295" "--id -1" "--id x" "--id-range 5" "--unlimited --hard 1M" "--nonsense" \
		"--soft-inodes 5 --hard-inodes 4" "--id 5 /mnt/x/another" "--mode 700"; do
		refuses 2 "" fsquota assign "/mnt/x/$volume" $words
	done
	refuses 2 "directory" fsquota assign --hard 1M
	# A word, and nothing that means something to a shell or a terminal.
	printf -v long 'n%.0s' {1..256}
	for name in '' 'a b' a:b '#a' $'a\n' $'a\t' $'a\e' "a'" 'a"' 'a$' 'a`' 'a\' "$long"; do
		refuses 2 "name" fsquota assign "/mnt/x/$volume" --name "$name"
	done
	mkdir "/mnt/x/$volume/a"$'\n'"b"
	run_split fsquota assign "/mnt/x/$volume/a"$'\n'"b"
	assert_equal "$status:$stdout" "2:"
	[[ $stderr == *newline* ]]
	run -0 fsquota assign --no-register "/mnt/x/$volume/a"$'\n'"b"
	fsquota release --no-register "/mnt/x/$volume/a"$'\n'"b"
	rm -r "/mnt/x/$volume"
	assert_no_trace
}

@test "an output that nobody reads undoes it" {
	mkdir "/mnt/x/$volume"
	tree "/mnt/x/$volume"
	mkfifo "$BATS_TEST_TMPDIR/pipe"
	exec 7<>"$BATS_TEST_TMPDIR/pipe" 8>"$BATS_TEST_TMPDIR/pipe" 7<&-
	status=0
	env --default-signal=PIPE "$FSQUOTA" assign "/mnt/x/$volume" --hard 1M >&8 || status=$?
	exec 8>&-
	assert_equal "$status" 141
	assert_no_trace
}

# --- usage, resize, release -------------------------------------------------------------------------

@test "usage without a quota is an error, or counts as du does" {
	local fs dir
	for fs in x e f x2; do
		dir=/mnt/$fs/$volume
		mkdir "$dir"
		tree "$dir"
		fallocate -l 300k "$dir/sub/large"
		mkfifo "$dir/fifo"
		mkdir "$dir/mount"
		mount -t tmpfs tmpfs "$dir/mount"
		fallocate -l 300k "$dir/mount/other"
		local code=5
		[ $fs != x2 ] || code=3
		refuses $code fallback fsquota usage --raw -N -o path "$dir"
		run_split fsquota usage --fallback=walk --raw --bytes -N -o used,iused,source "$dir"
		assert_equal "$stdout" "$(du -sx -B1 "$dir" | cut -f1) $(du -sx --inodes "$dir" | cut -f1) walk"
		umount "$dir/mount"
		rm -r "$dir"
	done
}

@test "a size in the place of a directory is seen before anything is done" {
	mkdir "/mnt/x/$volume"
	refuses 2 "did you mean --hard 20M?" fsquota assign "/mnt/x/$volume" 20M
	refuses 5 "/mnt/x/none: cannot open" fsquota assign "/mnt/x/$volume" /mnt/x/none
	assert_equal "$(fsquota id "/mnt/x/$volume")" 0
}

@test "without registration the files stay as they are, and are still looked at" {
	mkdir "/mnt/x/$volume"
	echo "taken:2097153" >>/etc/projid
	cp /etc/projid "$BATS_TEST_TMPDIR"
	prints 2097154 fsquota assign --no-register "/mnt/x/$volume" --hard 1M
	prints 2097154 fsquota assign --no-register "/mnt/x/$volume"
	fsquota release --no-register "/mnt/x/$volume"
	assert_no_trace
}
