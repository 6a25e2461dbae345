# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Trees, and what the kernel says of them, for the suites that load this after fsquota.bash.

# shellcheck disable=SC2034 # for the suites; run_split sets variables
# A walk of more entries than this is a large one (FSQ_WALK_LARGE).
large=1000

# For what cannot be shown without: run --new may have to do with a kernel that has none.
needs_quota() { [ "$FSQ_QUOTA" = yes ] || skip "this kernel has no quota"; }

# many DIR COUNT: that many files in a new directory.
many() {
	mkdir -p "$1"
	ticking "${builddir:?}/tests/walk/attacker" wide "$1" "$2"
}

# bushy DIR DIRECTORIES FILES: directories with files in them, and each with one more like it below.
# A process is expensive in the guest.
bushy() {
	perl -e 'my ($top, $directories, $files) = @ARGV;
		mkdir $top;
		for my $d (0 .. $directories - 1) {
			for my $at ("$top/d$d", "$top/d$d/e") {
				mkdir $at or die "$at: $!\n";
				for my $f (0 .. $files - 1) { open my $file, ">", "$at/f$f" or die $! }
			}
		}' "$@"
}

# ids_of DIR: the ID and the flag of each file and directory in it; on a kernel with file_getattr of
# symlinks and special files, too.
ids_of() {
	perl -MFcntl -e 'use bytes;
		sub show {
			my ($path) = @_;
			my $special = ! -f $path && ! -d _ || -l $path;
			my $attributes = "\0" x 28;
			if (syscall(468, -100, $path, $attributes, 24, 0x100) == 0) {
				my ($flags, undef, undef, $id) = unpack "QLLL", $attributes;
				printf "%s %d%s\n", $path, $id, $flags & 0x200 ? " P" : "";
			} elsif (!$special) {
				sysopen my $file, $path, O_RDONLY | O_NONBLOCK or die "$path: $!\n";
				ioctl $file, 0x801c581f, $attributes or die "$path: $!\n";
				my ($flags, undef, undef, $id) = unpack "LLLL", $attributes;
				printf "%s %d%s\n", $path, $id, $flags & 0x200 ? " P" : "";
			}
			return if $special || ! -d $path;
			opendir my $directory, $path or die "$path: $!\n";
			my @names = sort grep { !/^\.\.?$/ } readdir $directory;
			closedir $directory;
			show("$path/$_") for @names;
		}
		show($ARGV[0])' "$1"
}

# set_ids ID PATH...: of any type where the kernel can, without the flag.
set_ids() {
	perl -MFcntl -e 'my $id = shift;
		for my $path (@ARGV) {
			my $attributes = pack "QLLLL", 0, 0, 0, $id, 0;
			next if syscall(469, -100, $path, $attributes, 24, 0x100) == 0;
			sysopen my $file, $path, O_RDONLY | O_NONBLOCK or die "$path: $!\n";
			$attributes = pack "LLLLLx8", 0, 0, 0, $id, 0;
			ioctl $file, 0x401c5820, $attributes or die "$path: $!\n";
		}' "$@"
}

# inodes_of ID: how many the kernel counts, in all of the filesystem.
inodes_of() {
	run_split oracle -x -c "quota -p -N -i $1" "${mount:-/mnt/x}"
	read -r _ inodes _ <<<"$stdout"
	inodes=${inodes:-0}
}

# carriers ID DIR: sets inodes to how many in it carry the ID, without asking for quota.
carriers() { inodes=$(ids_of "$2" | grep -c -E " $1( P)?\$") || true; }
