#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# apply --prune releases what an earlier apply has assigned and no line wants any more, and nothing else.

load ../lib/fsquota

setup() {
	rm -rf /etc/projects* /etc/projid* /etc/fsquota.d /var/lib/fsquota
	cd /
	fresh_each x e
	mkdir /etc/fsquota.d
}

# wants LINE...
wants() { printf '%s\n' "$@" >/etc/fsquota.d/node.conf; }

# applies [OPTION...] -- [LINE...]: with --prune, it prints these lines and exits with 0.
applies() {
	local options=()
	while [ "$1" != -- ]; do options+=("$1") && shift; done
	shift
	succeeds fsquota apply --prune "${options[@]}"
	assert_equal "$stdout" "$(printf '%s\n' "$@")"
}

has_quota() { grep -q ":$1\$" /etc/projects; }

# released_when_unwanted FILESYSTEM
released_when_unwanted() {
	local top=/mnt/$1
	mkdir -p "$top"/{a,b,by-hand}
	touch "$top/a/file"
	fsquota assign --hard 3M "$top/by-hand"
	wants "$top/a hard=1M" "$top/b hard=2M" "$top/by-hand hard=4M"
	applies -- "created   $top/a" "created   $top/b" "changed   $top/by-hand"
	wants "$top/b hard=2M"
	# Without --prune it stays.
	prints "unchanged $top/b" fsquota apply
	has_quota "$top/a"
	applies --dry-run -- "would-release $top/a" "unchanged     $top/b"
	has_quota "$top/a"
	applies --diff -- "released  $top/a, hard 1M -> none" "unchanged $top/b"
	run ! has_quota "$top/a"
	prints $'0\n0' fsquota id "$top/a" "$top/a/file"
	# What was assigned by hand stays, also after apply has changed its limits.
	has_quota "$top/by-hand"
	applies -- "unchanged $top/b"
	assert_equal "$(cut -d : -f 2 /var/lib/fsquota/applied)" "$top/b"
}

@test "the room of what is released is there for others, in a dry run, too" {
	mkdir -p /mnt/e/home/{a,b,c}
	wants "/mnt/e/home budget=100M" "/mnt/e overcommit=90%" "/mnt/e/home/a hard=80M" "/mnt/e/home/b hard=10M"
	applies -- "created   /mnt/e/home/a" "created   /mnt/e/home/b"
	wants "/mnt/e/home budget=100M" "/mnt/e overcommit=90%" "/mnt/e/home/b hard=10M" "/mnt/e/home/c hard=90M"
	applies --dry-run -- "would-release /mnt/e/home/a" "unchanged     /mnt/e/home/b" "would-create  /mnt/e/home/c"
	# But not more than that.
	wants "/mnt/e/home budget=100M" "/mnt/e/home/b hard=10M" "/mnt/e/home/c hard=91M"
	run_split fsquota apply --prune --dry-run
	[[ $status:$stderr == 6:*'and 90M (94371840 bytes) are left'* ]] || fail "$status: $stderr"
	wants "/mnt/e/home budget=100M" "/mnt/e/home/b hard=10M" "/mnt/e/home/c hard=90M"
	applies -- "released  /mnt/e/home/a" "unchanged /mnt/e/home/b" "created   /mnt/e/home/c"
}

@test "on XFS what no line wants any more is released, and what was assigned by hand stays" {
	released_when_unwanted x
}

# bats test_tags=again
@test "on ext4 what no line wants any more is released, and what was assigned by hand stays" {
	released_when_unwanted e
}

@test "what a pattern or another path of it still names is wanted" {
	mkdir -p /mnt/x/home/{ann,bob} /mnt/x/real/web
	ln -s real /mnt/x/link
	wants '/mnt/x/home/* hard=1M' '/mnt/x/link/web hard=1M'
	applies -- 'created   /mnt/x/home/ann' 'created   /mnt/x/home/bob' 'created   /mnt/x/link/web'
	applies -- 'unchanged /mnt/x/home/ann' 'unchanged /mnt/x/home/bob' 'unchanged /mnt/x/link/web'
	wants '/mnt/x/home/b* hard=1M' '/mnt/x/real/web hard=1M'
	applies -- 'released  /mnt/x/home/ann' 'unchanged /mnt/x/home/bob' 'unchanged /mnt/x/real/web'
}

@test "what is not there, or is somebody else's by now, is left alone" {
	mkdir -p /mnt/x/{gone,again}
	wants '/mnt/x/gone hard=1M' '/mnt/x/again hard=1M'
	applies -- 'created   /mnt/x/gone' 'created   /mnt/x/again'
	mv /mnt/x/gone /mnt/x/away
	# Released and assigned by hand, it is no longer apply's.
	fsquota release /mnt/x/again
	fsquota assign --id 7 /mnt/x/again
	wants
	applies --
	has_quota /mnt/x/gone
	has_quota /mnt/x/again
	mv /mnt/x/away /mnt/x/gone
	applies -- 'released  /mnt/x/gone'
}

@test "what was assigned by hand again stays, though it has got the same ID" {
	mkdir /mnt/x/a
	wants '/mnt/x/a hard=1M'
	applies -- 'created   /mnt/x/a'
	fsquota release /mnt/x/a
	run_split fsquota assign --hard 2M /mnt/x/a
	assert_equal "$status:$stdout" 0:1048577
	wants
	applies --
	has_quota /mnt/x/a
}

@test "a directory that was renamed is what it was: by hand it stays, by apply it is released" {
	mkdir -p /mnt/x/home/{ann,bob}
	fsquota assign --hard 1M /mnt/x/home/ann
	wants '/mnt/x/home/* hard=1M'
	applies -- 'unchanged /mnt/x/home/ann' 'created   /mnt/x/home/bob'
	mv /mnt/x/home/ann /mnt/x/home/dan
	mv /mnt/x/home/bob /mnt/x/home/eve
	applies -- 'changed   /mnt/x/home/dan' 'changed   /mnt/x/home/eve'
	wants
	applies -- 'released  /mnt/x/home/eve'
	has_quota /mnt/x/home/dan
	# Renamed at that moment, before it is noted.
	wants '/mnt/x/home/eve hard=1M'
	run -0 strace -qq -o /dev/null -P /mnt/x/home/eve -e trace=readlink -e inject=readlink:error=ENOENT fsquota apply
	wants
	applies -- 'released  /mnt/x/home/eve'
}

@test "a directory that a line names is not released when it cannot be looked at for a moment" {
	local call
	mkdir -p /mnt/x/a/b
	wants '/mnt/x/a hard=1M' '/mnt/x/a/? hard=1M'
	applies -- 'created   /mnt/x/a' 'created   /mnt/x/a/b'
	for call in 'newfstatat,fstat error=EIO:when=1' 'newfstatat,fstat error=ENOENT:when=1' 'openat2 error=EIO:when=1'; do
		run injecting $call -P /mnt/x/a -P /mnt/x/a/b fsquota apply --prune
		refute_output --partial released
	done
	wants '/mnt/x/a hard=1M' '/mnt/x/a/b hard=1M'
	run_split injecting newfstatat,fstat error=EIO:when=1+2 -P /mnt/x/a fsquota apply --prune
	assert_equal "$status:$stderr" '1:fsquota apply: /mnt/x/a: cannot be looked at, so nothing is released: Input/output error'
	has_quota /mnt/x/a
	# Nor is one that no line names; and that is said.
	wants '/mnt/x/a hard=1M'
	run_split injecting newfstatat,fstat error=EIO -P /mnt/x/a/b fsquota apply --prune
	assert_equal "$status:$stderr" '1:fsquota apply: /mnt/x/a/b: cannot be looked at, so it is not released: Input/output error'
	applies -- 'released  /mnt/x/a/b' 'unchanged /mnt/x/a'
}

@test "a directory that is renamed while it is opened has no quota that apply has not noted" {
	mkdir -p /mnt/x/h/a
	wants '/mnt/x/h/* hard=1M'
	# readlink; the first one of AddressSanitizer is its own.
	stopped_at 89 $((2 + $(ldd "$FSQUOTA" 2>&1 | grep -c libasan))) "$FSQUOTA" apply
	mv /mnt/x/h/{a,b}
	go_on
	assert_equal "$status" 6
	applies -- 'created   /mnt/x/h/b'
	wants
	applies -- 'released  /mnt/x/h/b'
}

@test "killed while it notes what was released, apply still knows what it has assigned" {
	local call
	mkdir /mnt/x/{a,b}
	for call in pwrite64 ftruncate; do
		wants '/mnt/x/a hard=1M' '/mnt/x/b hard=1M'
		fsquota apply
		wants '/mnt/x/b hard=1M'
		run -137 injecting $call signal=KILL -P /var/lib/fsquota/applied "$FSQUOTA" apply --prune
		applies -- 'unchanged /mnt/x/b'
		wants
		applies -- 'released  /mnt/x/b'
		assert_equal "$(</var/lib/fsquota/applied)" ''
	done
}

@test "a wrong line releases nothing, and a directory that cannot be released stays apply's" {
	mkdir /mnt/x/{a,b}
	wants '/mnt/x/a hard=1M' '/mnt/x/b hard=1M'
	applies -- 'created   /mnt/x/a' 'created   /mnt/x/b'
	wants '/mnt/x/b hard=much'
	run_split fsquota apply --prune
	assert_equal "$status:$stdout" 2:
	has_quota /mnt/x/a
	wants '/mnt/x/b hard=1M'
	run_split strace -f -o /dev/null -e trace=pwrite64 -e inject=pwrite64:error=ENOSPC fsquota apply --prune
	assert_equal "$status:$stdout" $'1:failed    /mnt/x/a\nunchanged /mnt/x/b'
	applies -- 'released  /mnt/x/a' 'unchanged /mnt/x/b'
}

@test "a directory around one that is released can get the quota instead" {
	mkdir -p /mnt/x/a/inner
	wants '/mnt/x/a/inner hard=1M'
	applies -- 'created   /mnt/x/a/inner'
	wants '/mnt/x/a hard=1M'
	applies -- 'released  /mnt/x/a/inner' 'created   /mnt/x/a'
	run -0 fsquota apply --prune --json --exit-code
	wants
	run -9 fsquota apply --prune --json --exit-code
	assert_equal "$(jq -c '.apply[0] | [.path, .action, .changed, .file, .line]' <<<"$output")" \
		'["/mnt/x/a","released",true,null,null]'
}

@test "a directory around one that has a quota gets one with the word around, and the inner one stays" {
	mkdir -p /mnt/x/a/inner
	fsquota assign /mnt/x/a/inner --hard 1M
	wants '/mnt/x/a hard=2M'
	run_split fsquota apply
	[[ $status = 6 && $stderr == *'word around'* ]] || fail "$status: $stderr"
	wants '/mnt/x/a hard=2M around'
	applies -- 'created   /mnt/x/a'
	applies -- 'unchanged /mnt/x/a'
	assert_equal "$(kernel_has /mnt/x "$(fsquota id /mnt/x/a/inner)" | cut -d' ' -f3)" 1024
}

@test "one file of several, and standard input, release nothing" {
	mkdir /mnt/x/{a,b}
	wants '/mnt/x/a hard=1M' '/mnt/x/b hard=1M'
	applies -- 'created   /mnt/x/a' 'created   /mnt/x/b'
	echo '/mnt/x/a hard=1M' >/etc/one.conf
	refuses 2 'goes with directories of files' fsquota apply --prune /etc/one.conf
	refuses 2 'goes with directories of files' fsquota apply --prune - </etc/one.conf
	has_quota /mnt/x/b
	rm /etc/one.conf
	# A directory may have a further name, and is what the lines say.
	ln -s fsquota.d /etc/fsquota.also
	run -0 fsquota apply --prune /etc/fsquota.also
	has_quota /mnt/x/b
	rm /etc/fsquota.also
}

@test "who looks on is told of what no line names any more" {
	mkdir /mnt/x/{a,b}
	wants '/mnt/x/a hard=1M' '/mnt/x/b hard=1M'
	applies -- 'created   /mnt/x/a' 'created   /mnt/x/b'
	run -0 script -qec 'fsquota apply' /dev/null
	refute_output --partial 'no line'
	wants '/mnt/x/b hard=1M'
	run -0 script -qec 'fsquota apply' /dev/null
	assert_line --partial 'fsquota apply: directories that apply has assigned, and no line names any more: 1; --prune releases them'
}

@test "where nothing can be noted apply goes on, and says so" {
	mkdir /mnt/x/a
	wants '/mnt/x/a hard=1M'
	mkdir -p /var/lib/fsquota/applied
	run_split fsquota apply
	assert_equal "$status:$stdout" '0:created   /mnt/x/a'
	assert_line --index 0 'created   /mnt/x/a'
	[[ $stderr == *'/mnt/x/a: apply cannot note that'*'--prune will not release it: /var/lib/fsquota/applied: is a directory'* ]] || fail "$stderr"
	rmdir /var/lib/fsquota/applied
	wants
	applies --
	has_quota /mnt/x/a
}

@test "apply is killed at any call that changes something, and what it has assigned is released when no line wants it" {
	local calls=ioctl,quotactl,quotactl_fd,pwrite64,write,fsync,fdatasync,ftruncate,unlink n=0 killed=137
	mkdir /mnt/x/{a,b}
	while [ "$killed" = 137 ]; do
		n=$((n + 1)) killed=0
		wants '/mnt/x/a hard=1M' '/mnt/x/b hard=1M'
		strace -qq -o /dev/null -e trace="$calls" -e inject="$calls:signal=KILL:when=$n" \
			"$FSQUOTA" apply >/dev/null 2>&1 || killed=$?
		run -0 fsquota apply
		wants
		run -0 fsquota apply --prune
		run ! grep /mnt/x /etc/projects
		run -0 fsquota id /mnt/x/a /mnt/x/b
		assert_output $'0\n0'
	done
	assert [ "$n" -gt 10 ]
}

@test "what an earlier version has noted is taken over, and nothing is lost on the way" {
	local new=/var/lib/fsquota/applied old=/etc/projects.applied
	mkdir /mnt/x/{a,b,c}
	wants '/mnt/x/a hard=1M' '/mnt/x/b hard=1M' '/mnt/x/c hard=1M'
	fsquota apply -q
	mv $new $old
	rmdir /var/lib/fsquota
	wants '/mnt/x/b hard=1M' '/mnt/x/c hard=1M'
	applies --dry-run -- 'would-release /mnt/x/a' 'unchanged     /mnt/x/b' 'unchanged     /mnt/x/c'
	assert [ -e $old ]
	assert [ ! -e /var/lib/fsquota ]
	# Killed before the old file is gone.
	run -137 injecting unlink signal=KILL -P $old "$FSQUOTA" apply --prune
	wants '/mnt/x/c hard=1M'
	applies -- 'released  /mnt/x/b' 'unchanged /mnt/x/c'
	assert [ ! -e $old ]
	assert_equal "$(cut -d : -f 2 $new)" /mnt/x/c
	assert_equal "$(stat -c %a /var/lib/fsquota)" 700
	# What is assigned by hand meanwhile is not apply's any more.
	mv $new $old
	fsquota release /mnt/x/c
	fsquota assign /mnt/x/c --id "$(cut -d : -f 1 $old)" --hard 2M 2>/dev/null
	wants
	applies --
	has_quota /mnt/x/c
}

@test "what apply has noted shrinks, also where nothing is pruned" {
	mkdir -p /mnt/x/h/{1..90}
	wants '/mnt/x/h/* hard=1M'
	fsquota apply -q
	fsquota release /mnt/x/h/*
	rmdir /mnt/x/h/*
	mkdir /mnt/x/h/new
	fsquota apply -q
	assert_equal "$(cut -d : -f 2 /var/lib/fsquota/applied)" /mnt/x/h/new
}
