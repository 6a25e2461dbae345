# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
#
# Functions for the lines of the lists; see differential.bash.

# A tree with one of everything: directories three deep, a hard link, links that lead to a file,
# a directory and nowhere, a fifo, devices, a socket (not with special_files=no), names with a space
# and a newline, an immutable file, and another filesystem mounted in it.
make_tree() {
	mkdir -p "$1/a/b/c"
	touch "$1/a/b/c/deep" "$1/a/af" "$1/file" "$1/sp ace" "$1/new
line"
	ln "$1/file" "$1/hard"
	[ "${special_files-}" = no ] || make_special_files "$1"
	touch "$1/immut"
	chattr +i "$1/immut"
	mkdir "$1/mp"
	mount -t tmpfs inner "$1/mp"
	touch "$1/mp/inside"
}

make_special_files() {
	ln -s file "$1/symlink"
	ln -s a "$1/symdir"
	ln -s nowhere "$1/dangling"
	mkfifo "$1/fifo"
	mknod "$1/chr" c 1 3
	mknod "$1/blk" b 7 200
	perl -MSocket -e 'socket S, AF_UNIX, SOCK_STREAM, 0; bind S, sockaddr_un $ARGV[0]' "$1/sock"
}

# as_user COMMAND...: an ordinary one
as_user() { setpriv --reuid 1000 --regid 1000 --clear-groups "$@"; }

# The project ID and the inheritance flag of everything that has them.
show_tags() {
	lsattr -pd "$1"
	lsattr -pR "$1" 2>/dev/null
}

# Fills a directory with 7 MiB and four files, written out so that the numbers do not move.
use_7m() {
	dd if=/dev/zero of="$1/f" bs=1M count=7 conv=fsync 2>/dev/null
	touch "$1/f1" "$1/f2" "$1/f3"
	sync -f "$1"
}

# tag_tree DIR ID: what "project -s" does to directories and regular files.
tag_tree() {
	chattr -i "$1"/immut 2>/dev/null
	find "$1" -xdev -type d -exec chattr -p "$2" {} + -exec chattr +P {} +
	find "$1" -xdev -type f -exec chattr -p "$2" {} +
	[ ! -e "$1/immut" ] || chattr +i "$1/immut"
}

# For the lists of "generate": something to be over limits with, directories to tag, and files with
# projects and limits.
ground_for_random() {
	mkdir -p "$1/d" "$1/t/a/b" "$1/t/c"
	chattr -p 1234 "$1/d"
	chattr +P "$1/d"
	use_7m "$1/d"
	dd if=/dev/zero of="$1/b" bs=64k count=2 conv=fsync 2>/dev/null
	chown bin "$1/b"
	chgrp 99 "$1"/d/* "$1/b" # no group with limits is over them
	[ "$1" = /mnt/x ] || use_by_each "$1/of" 1 2 3 5 7 10 42 43 777 1000 1234 4242 65534 2147483647 \
		2147483648 3000000000 4294967294
	[ "$1" != /mnt/x ] || touch "$1/t/f" "$1/t/a/g"
	printf '42:%s/t\n43:%s/t/a\n' "$1" "$1" >/run/t/pj
	printf 'first:42\nsecond:43\nbig:1234\n' >/run/t/pi
	printf 'fs = %s\n5 2048 4096 0 0\n1234 0 204800 100 0\n' "$(findmnt -no SOURCE "$1")" >/run/t/r
	sync -f "$1"
}

# use_by_each DIR ID...: a file for each as user, group and project; and the files that hold the
# quotas get blocks to spare, so that how large they are does not depend on the moment in which a
# record goes.
use_by_each() {
	mkdir "$1"
	perl -e '
		my ($directory, @ids) = @ARGV;
		my @spare = map { $_ << 24 } 1 .. 24;
		for my $id (@ids, @spare) {
			open my $file, ">", "$directory/$id";
			chown $id, $id, "$directory/$id";
		}
		system "chattr", "-p", $_, "$directory/$_" for @ids;
		unlink "$directory/$_" for @spare' "$@"
}
