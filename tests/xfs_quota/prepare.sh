# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
#
# Functions for the lines of the lists; see differential.bash.

# A tree with one of everything: directories three deep, a hard link, links that lead to a file,
# a directory and nowhere, a fifo, devices, a socket, names with a space and a newline, an
# immutable file, and another filesystem mounted in it.
make_tree() {
	mkdir -p "$1/a/b/c"
	touch "$1/a/b/c/deep" "$1/a/af" "$1/file" "$1/sp ace" "$1/new
line"
	ln "$1/file" "$1/hard"
	ln -s file "$1/symlink"
	ln -s a "$1/symdir"
	ln -s nowhere "$1/dangling"
	mkfifo "$1/fifo"
	mknod "$1/chr" c 1 3
	mknod "$1/blk" b 7 200
	perl -MSocket -e 'socket S, AF_UNIX, SOCK_STREAM, 0; bind S, sockaddr_un $ARGV[0]' "$1/sock"
	touch "$1/immut"
	chattr +i "$1/immut"
	mkdir "$1/mp"
	mount -t tmpfs inner "$1/mp"
	touch "$1/mp/inside"
}

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
