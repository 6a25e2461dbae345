#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Programs that are linked with libfsquota.so.1 run with each later one: the shared library beside
# libfsquota.abi, which describes what they were built with. No quota is needed here.

bats_require_minimum_version 1.5.0
: "${srcdir:?}" "${builddir:?}"

setup() {
	bats_load_library bats-support
	bats_load_library bats-assert
	abi=$srcdir/tests/library/abi
	kept=$srcdir/tests/library/libfsquota.abi
	other=$BATS_TEST_TMPDIR/other.abi
}

@test "programs that were built before run with this library" {
	run -0 "$abi" "$builddir"/src/quota/.libs/libfsquota.so.1.*.*
	[ -z "$output" ] || echo "# $output" >&3
}

@test "what is kept has the functions of the header, and not what is private" {
	run -0 diff <(sed -n "s/.*<elf-symbol name='\(fsq_[a-z_]*\)'.*/\1/p" "$kept" | sort -u) \
		<(sed -n 's/^\t\(fsq_[a-z_]*\);$/\1/p' "$srcdir/src/quota/libfsquota.sym" | sort -u)
	assert grep -q "name='fsq_usage' size-in-bits" "$kept"
	assert [ "$(stat -c %s "$kept")" -lt 300000 ]
	run ! grep -q "name='fsq_cache' size-in-bits" "$kept"
}

# without FUNCTION: as if it had never been there.
without() {
	sed "/elf-symbol name='$1'/d; /function-decl name='$1'/,/<.function-decl>/d" "$kept" >"$other"
}

# change PATTERN SCRIPT: of the first line after the struct fsq_usage that has it.
change() {
	awk -v pattern="$1" -v from="$2" -v to="$3" '
		/class-decl name=.fsq_usage. size-in-bits/ { inside = 1 }
		inside && $0 ~ pattern { sub(from, to); inside = 0 }
		{ print }' "$kept" >"$other"
	run -1 cmp -s "$kept" "$other"
}

@test "a function that is gone is found" {
	without fsq_usage_get
	run -1 "$abi" "$other"
	assert_line --regexp "function .*fsq_usage_get"
	assert_output --partial 'programs that were built before can fail'
}

@test "a field that is moved, one of another type, and a struct that has grown are found" {
	change 'layout-offset-in-bits=.64.' "layout-offset-in-bits='64'" "layout-offset-in-bits='4096'"
	run -1 "$abi" "$other"
	change 'var-decl' "type-id='[^']*'" "type-id='$(sed -n "s/.*<type-decl name='char' .*id='\([^']*\)'.*/\1/p" "$kept" | head -n 1)'"
	run -1 "$abi" "$other"
	change 'size-in-bits' "size-in-bits='[0-9]*'" "size-in-bits='65536'"
	run -1 "$abi" "$other"
}

@test "a function more is said, and is no harm" {
	without fsq_usage_get
	run -0 "$abi" "$kept" "$other"
	assert_line --regexp "function .*fsq_usage_get"
	assert_output --partial 'this was added'
}

@test "another name of the library is found" {
	sed "s/soname='libfsquota.so.1'/soname='libfsquota.so.2'/" "$kept" >"$other"
	run -1 "$abi" "$other"
}
