#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=install
# needs: abigail-tools
#
# Programs that are linked with libfsquota.so.0 run with each later one: the shared library beside
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
	run -0 "$abi" "$builddir"/src/quota/.libs/libfsquota.so.0.*.*
	[ -z "$output" ] || echo "# $output" >&3
}

@test "what is kept has the functions, structs, enums and constants of the header, and not what is private" {
	local kind name header=$srcdir/src/quota/fsquota.h
	assert_equal "$(sed -n 's/^function \(.*\)@@LIBFSQUOTA_0:.*/\1/p' "$kept")" \
		"$(sed -n 's/^\t\(fsq_[a-z_]*\);$/\1/p' "$srcdir/src/quota/libfsquota.sym" | LC_ALL=C sort)"
	for kind in struct enum; do
		assert_equal "$(sed -n "s/^$kind \([a-z_]*\):.*/\1/p" "$kept")" \
			"$(sed -n "s/^$kind \([a-z_]*\) {.*/\1/p" "$header" | LC_ALL=C sort)"
	done
	# Of macros with arguments there is no value.
	for name in $(grep -oE '\bFSQ_[A-Z_]*[A-Z]\b' "$header" | sort -u); do
		grep -q "#define $name(" "$header" || grep -q " $name=" "$kept" || fail "$name"
	done
}

# changed FROM TO: one line of what is kept has another description.
changed() {
	sed "s/$1/$2/" "$kept" >"$other"
	assert_equal "$(diff "$kept" "$other" | grep -c '^>')" "${3-1}"
}

# found WHAT: the library as it was, beside what it is now.
found() {
	run -1 "$abi" "$other"
	assert_line --index 0 --partial "$1"
	assert_output --partial 'programs that were built before can fail'
	assert_output --partial 'tools/record abi'
}

@test "a function that is gone, and one with other arguments, are found" {
	changed '^function fsq_usage_get@.*' '' && sed -i '/^$/d' "$other"
	found "gone: function fsq_usage_get@@LIBFSQUOTA_0: int (struct fsq_usage *"
	changed '^\(function fsq_usage_get@.*\)struct fsq_error' '\1struct fsq_other'
	found "changed: function fsq_usage_get@@LIBFSQUOTA_0"
	changed 'function fsq_usage_get@@LIBFSQUOTA_0' 'function fsq_usage_get@@LIBFSQUOTA_2'
	found "gone: function fsq_usage_get@@LIBFSQUOTA_0"
}

@test "a field that is moved, one of another type, a struct that has grown, and another value are found" {
	changed '^\(struct fsq_usage:.*\); 8 used' '\1; 512 used'
	found "changed: struct fsq_usage: 104 bytes"
	changed '^\(struct fsq_usage:.*\) id uint32_t' '\1 id int64_t'
	found "changed: struct fsq_usage"
	changed "^struct fsq_usage: 104" "struct fsq_usage: 120"
	found "changed: struct fsq_usage"
	changed FSQ_E_USAGE=-5002 FSQ_E_USAGE=-5009
	found "changed: enum fsq_error_kind"
	changed FSQ_LOCK_SECONDS=60 FSQ_LOCK_SECONDS=61
	found "changed: macro FSQ_LOCK_SECONDS"
	changed '^\(typedef fsq_leftover_visitor: .*\)void' '\1int'
	found "changed: typedef fsq_leftover_visitor"
	changed libfsquota.so.0 libfsquota.so.2
	found "changed: soname: libfsquota.so.0"
}

@test "what the compiler makes of another header is another description" {
	local library=$BATS_TEST_TMPDIR/libfsquota.so.0
	cd "$BATS_TEST_TMPDIR"
	cat >fsquota.h <<-END
		struct fsq_pair { int one; ROOM long two; };
		int fsq_ask(const struct fsq_pair *const *pairs);
	END
	printf '#include "fsquota.h"\nint fsq_ask(const struct fsq_pair *const *pairs) { return pairs[0]->one; }\n' >fsquota.c
	gcc -g -shared -fPIC -DROOM= -Wl,-soname,libfsquota.so.0 -o "$library" fsquota.c
	"$abi" --print "$library" | grep -v '^enum\|^macro' >before.abi
	assert_equal "$(<before.abi)" 'function fsq_ask: int (const struct fsq_pair *const *)
soname: libfsquota.so.0
struct fsq_pair: 16 bytes; 0 one int; 8 two long int'
	gcc -g -shared -fPIC '-DROOM=long more;' -Wl,-soname,libfsquota.so.0 -o "$library" fsquota.c
	run -1 "$abi" "$library" before.abi
	assert_line 'changed: struct fsq_pair: 16 bytes; 0 one int; 8 two long int'
	assert_line '    now: struct fsq_pair: 24 bytes; 0 one int; 8 more long int; 16 two long int'
}

@test "a function more is said, and is no harm" {
	sed '/^function fsq_usage_get@/d' "$kept" >"$other"
	run -0 "$abi" "$kept" "$other"
	assert_output --regexp '^added: function fsq_usage_get@.*tools/record abi'
}

@test "a library without debug information is refused" {
	strip -g -o "$BATS_TEST_TMPDIR/stripped.so" "$builddir"/src/quota/.libs/libfsquota.so.0.*.*
	run -1 "$abi" "$BATS_TEST_TMPDIR/stripped.so"
	assert_output --partial 'no debug information'
}
