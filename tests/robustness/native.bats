#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# In native mode, too, whatever it is given: one clear line on stderr for each failure, a status
# that says of what kind it is, and nothing is changed, opened or waited for.

load ../lib/fsquota

setup_file() {
	fresh_fs x
	local tree=/mnt/x/tree
	mkdir -p $tree/dir
	touch $tree/file
	mkfifo $tree/fifo
	mknod $tree/null c 1 3
	mknod $tree/disk b 7 200
	ln -s dir $tree/link
	ln -s nowhere $tree/dangling
	ln -s circle $tree/circle
	perl -MSocket -e 'socket S, AF_UNIX, SOCK_STREAM, 0; bind S, sockaddr_un $ARGV[0]' $tree/socket
	mkdir -m 711 $tree/closed
	mkdir $tree/closed/below
	# Where an ordinary user can get at it.
	install -D "$FSQUOTA" "$TMPDIR/bin/fsquota"
}

setup() { tree=/mnt/x/tree; }

# bats test_tags=linux-6
@test "special files and symlinks have an ID where the kernel can tell it, and are not opened" {
	local name
	for name in fifo null disk socket link dangling circle; do
		if kernel_knows file_setattr; then
			prints 0 fsquota id "$tree/$name"
		else
			refuses 3 "fsquota id: $tree/$name: " fsquota id "$tree/$name"
		fi
		# Its flags are those of files and directories only.
		refuses 3 "fsquota lsattr: $tree/$name: " fsquota lsattr -pd "$tree/$name"
	done
	# An O_PATH descriptor opens nothing.
	strace -f -qq -e trace=open,openat,openat2 -o "$BATS_TEST_TMPDIR/trace" \
		fsquota id $tree/{fifo,null,disk,socket} &>/dev/null || true
	grep "$tree" "$BATS_TEST_TMPDIR/trace"
	run ! grep "$tree.*O_R" <(grep -v O_PATH "$BATS_TEST_TMPDIR/trace")
}

@test "a symlink with a slash behind it is still a symlink" {
	fsquota project -s -p $tree/dir 9 /mnt/x
	if kernel_knows file_setattr; then
		prints 0 fsquota id "$tree/link/"
	else
		refuses 3 "fsquota id: $tree/link/: " fsquota id "$tree/link/"
	fi
}

@test "paths that are not there, of every kind" {
	local path
	for path in /nonexistent "$tree/file/below" "$tree/dangling/below"; do
		refuses 5 "fsquota id: $path: cannot" fsquota id "$path"
		refuses 5 "fsquota lsattr: $path: " fsquota lsattr -pd "$path"
	done
}

@test "a name that is too long" {
	local long
	printf -v long '%0300d' 7
	refuses 1 ': File name too long' fsquota id "$tree/$long"
	printf -v long '%05000d' 7
	refuses 1 ': File name too long' fsquota id "$long"
}

@test "a path through a directory that may not be read, but searched" {
	prints 0 as_user "$TMPDIR/bin/fsquota" id $tree/closed/below
}

@test "a device of the system is not opened" { refuses 3 'fsquota id: /dev/fuse: ' fsquota id /dev/fuse; }

@test "wrong words are a matter of usage" {
	refuses 2 '""' fsquota ''
	refuses 2 'word 2 is empty' fsquota lsattr -pd $tree ''
	refuses 2 '"-"' fsquota -
	refuses 2 '"--"' fsquota --
	refuses 2 '"bogus"' fsquota help bogus
	refuses 2 ' --bogus' fsquota lsattr --bogus $tree
	refuses 2 ' -Z' fsquota lsattr -Z $tree
	refuses 2 ' -Z' fsquota lsattr -Zp $tree
	refuses 2 ' -Z' fsquota lsattr -pZ $tree
}

@test "a version that cannot be written" {
	refuses 1 'fsquota: cannot write the output: No space left on device' bash -c 'exec fsquota --version >/dev/full'
}

@test "any number of options can be bundled" {
	local letters
	printf -v letters "p%.0s" {1..100}
	succeeds fsquota report "-bihnN$letters" /mnt/x
	assert_equal "$stdout" "$(fsquota report -p -b -i -h -n -N /mnt/x)"
}
