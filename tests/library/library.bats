#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# needs: g++
#
# libfsquota for a program outside of this tree: its header, what it exports, and that it works.

# shellcheck disable=SC2154 # run_split sets variables
load ../lib/fsquota

header=$srcdir/src/quota/fsquota.h
symbols=$srcdir/src/quota/libfsquota.sym

setup_file() {
	export root=$BATS_FILE_TMPDIR/root
	make -s -C "$builddir" install DESTDIR="$root" >"$BATS_FILE_TMPDIR/install" 2>&1 ||
		cat "$BATS_FILE_TMPDIR/install" >&3
	PKG_CONFIG_LIBDIR=$(dirname "$(find "$root" -name fsquota.pc)")
	export PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR=$root
	LIBRARY_PATH=$(dirname "$(find "$root" -name libfsquota.so)")
	export LIBRARY_PATH
}

# The functions that the header declares, that libfsquota.sym lists, and that a file defines.
declared() {
	sed -n 's/^[a-z][a-z0-9_ ]*[ *]\(fsq_[a-z_]*\)(.*/\1/p' "$header" | sort -u
}

listed() { sed -n 's/^\t\(fsq_[a-z_]*\);$/\1/p' "$symbols" | sort -u; }

# bats test_tags=install
@test "the header stands alone in C11 and in C++17, without a warning" {
	run -0 gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c "$header"
	run -0 g++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c++ "$header"
}

@test "the shared library exports what the header declares, and nothing else" {
	run -0 nm -D --defined-only "$LIBRARY_PATH/libfsquota.so"
	assert_equal "$(sed -n 's/.* T \([a-z_]*\)@@LIBFSQUOTA_0$/\1/p' <<<"$output" | sort)" "$(declared)"
	assert_equal "$(grep -cv ' T ' <<<"$output")" 1
	assert_equal "$(listed)" "$(declared)"
	[ "$(declared | wc -l)" -gt 30 ]
}

@test "the static library defines no global name but with fsq_" {
	run -0 nm -g --defined-only "$LIBRARY_PATH/libfsquota.a"
	assert_equal "$(awk 'NF == 3 && $3 !~ /^fsq_/ { print $3 }' <<<"$output")" ""
}

# bats test_tags=install
@test "the program of fsquota(3) is built with pkg-config, as C and as C++" {
	local flags libraries
	flags=$(pkg-config --cflags fsquota) libraries=$(pkg-config --libs fsquota)
	# shellcheck disable=SC2086
	run -0 gcc -std=c11 -Wall -Wextra -Wpedantic -Werror $flags -o "$BATS_FILE_TMPDIR/volume" \
		"$srcdir/tests/library/volume.c" $libraries
	assert_output ''
	# shellcheck disable=SC2086
	run -0 g++ -std=c++17 -Wall -Wextra -Wpedantic -Werror $flags -o "$BATS_FILE_TMPDIR/volume++" \
		-x c++ "$srcdir/tests/library/volume.c" -x none $libraries
	assert_output ''
	# shellcheck disable=SC2086
	run -0 gcc -std=c11 $flags -o "$BATS_FILE_TMPDIR/static" "$srcdir/tests/library/volume.c" \
		"$LIBRARY_PATH/libfsquota.a" -lpthread
}

@test "fsquota(3) shows this program" {
	run -0 sed -n '/^\.Bd -literal$/,/^\.Ed$/p' "$srcdir/man/fsquota.3"
	assert_equal "$(sed -e '/^\.[BE]d/d' -e 's/\\e/\\/g' <<<"$output")" \
		"$(tail -n +2 "$srcdir/tests/library/volume.c")"
}

@test "fsquota(3) lists what the header declares" {
	assert_equal "$(sed -nE 's/^\.(It )?Fn (fsq_[a-z_]*).*/\2/p' "$srcdir/man/fsquota.3" | sort -u)" "$(declared)"
}

# prototypes: those of SYNOPSIS, one a line.
prototypes() {
	sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/p' "$srcdir/man/fsquota.3" | awk -F '"' '
		/^\.Ft/ { type = /"/ ? $2 : substr($0, 5); if (type !~ /\*$/) type = type " " }
		/^\.Fn/ { line = $2; for (i = 4; i < NF; i += 2) line = line ", " $i; print type substr($1, 5, length($1) - 5) "(" line ");" }'
}

@test "the prototypes of fsquota(3) are those of the header" {
	local prototype declarations
	declarations=$(tr -s '\n\t ' ' ' <"$header")
	assert [ "$(prototypes | wc -l)" -ge 10 ]
	while read -r prototype; do
		[[ " $declarations" == *" $prototype"* ]] || fail "$prototype"
	done < <(prototypes)
}

# bats test_tags=install
@test "it assigns a quota, asks for it and releases it, on XFS and on ext4" {
	local program fs
	for program in volume volume++ static; do
		for fs in x e; do
			fresh_fs $fs
			mkdir /mnt/$fs/volume
			LD_LIBRARY_PATH=$LIBRARY_PATH run_split "$BATS_FILE_TMPDIR/$program" \
				/mnt/$fs/volume $((10 << 20))
			assert_equal "$program $fs: $status: $stderr" "$program $fs: 0: "
			assert_line "ID 1048577"
			assert_line "hard 10485760"
			prints 0 fsquota id /mnt/$fs/volume
		done
	done
}

@test "its contracts hold for arguments that the program never passes, on XFS and on ext4" {
	local fs
	for fs in x e; do
		fresh_fs $fs
		rm -f /etc/projects /etc/projid
		run -0 "$builddir/tests/library/contracts" /mnt/$fs
	done
}

# bats test_tags=shared
@test "every function refuses what is NULL, or of a wrong size or value, and none is ended by it" {
	local fs
	sed -n 's/^\t\(fsq_[a-z_]*\);/\1/p' "$srcdir/src/quota/libfsquota.sym" >"$BATS_TEST_TMPDIR/exported"
	run -0 diff <("$builddir/tests/library/arguments" --functions | sort) <(sort "$BATS_TEST_TMPDIR/exported")
	for fs in x e; do
		fresh_fs $fs
		rm -f /etc/projects /etc/projid
		run -0 "$builddir/tests/library/arguments" /mnt/$fs
	done
}

# bats test_tags=install
@test "it says what failed, and where" {
	LD_LIBRARY_PATH=$LIBRARY_PATH exits 1 "$BATS_FILE_TMPDIR/volume" /proc 10485760
	[[ $stderr == *"/proc: there is no project quota"* ]] || fail "$stderr"
}

# bats test_tags=slow
@test "what is installed is uninstalled, but for folders that others have, too" {
	local other=$BATS_FILE_TMPDIR/other
	make -s -C "$builddir" install DESTDIR="$other" >/dev/null 2>&1
	[ -n "$(find "$other" -name 'libfsquota.so.0')" ]
	make -s -C "$builddir" uninstall DESTDIR="$other" >/dev/null 2>&1
	assert_equal "$(find "$other" ! -type d -o -name '*fsquota*')" ""
}
