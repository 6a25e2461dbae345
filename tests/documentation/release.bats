#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# A release is what its files say: one version everywhere, and what is linked into its binaries. tools/check-long makes
# a whole one. No quota is needed here.

load documentation

setup() { version=$(sed -n 's/^AC_INIT(\[fsquota\], \[\(.*\)\])$/\1/p' "$srcdir/configure.ac"); }

@test "configure.ac, NEWS.md, both packagings, manifests and the program have one version, and one date" {
	local date
	[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]]
	date=$(date -u -d "$(sed -n '/^ -- /{s/.*>  //p;q}' "$srcdir/debian/changelog")" +%F)
	assert_equal "$(sed -n '/^## /{p;q}' "$srcdir/NEWS.md")" "## $version ($date)"
	assert_equal "$(sed -n '1s/.*(\(.*\)).*/\1/p' "$srcdir/debian/changelog")" "$version-1"
	assert_equal "$(sed -n 's/^Version: *//p' "$srcdir/fsquota.spec")" "$version"
	assert_equal "$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' "$srcdir/contrib/python/fsquota/__init__.py")" "$version"
	assert_equal "$(grep -rhoE '(newTag: |fsquota:)[0-9]+[.].*-busybox' "$srcdir/contrib/kubernetes" | sed 's/.*[: ]//' | sort -u)" \
		"$version-busybox"
	assert_equal "$(sed -n '/^%changelog/,$s/^\* \(.*20[0-9][0-9]\) .* - \(.*\)/\1, \2/p' "$srcdir/fsquota.spec" | head -n 1)" \
		"$(date -u -d "$date" '+%a %b %d %Y'), $version-1"
	run -0 "$FSQUOTA" --version
	assert_output "fsquota $version"
	# Symbols that came with a later version than this one.
	run sed -n 's/^ .* \([0-9.]*\)$/\1/p' "$srcdir/debian/libfsquota0.symbols"
	assert_equal "$(printf '%s\n' "$output" "$version" | sort -uV | tail -n 1)" "$version"
}

@test "no page is of another version" {
	run grep -hoE '^\.Os .*|fsquota[- ][0-9]+\.[0-9]+\.[0-9]+' "$srcdir"/man/* "$srcdir/README.md" "$srcdir/SECURITY.md"
	assert_equal "$(grep -v "^fsquota[- ]$version$" <<<"$output")" ''
}

@test "the footer of each installed page has the version of configure.ac" {
	local page root=$BATS_TEST_TMPDIR/root count=0
	run -0 make -s -C "$builddir" install-data DESTDIR="$root"
	while read -r page; do
		grep -q '^\.so ' "$page" && continue
		run -0 mandoc -T ascii "$page"
		[[ ${lines[-1]} == "fsquota $version "* ]] || fail "$page: ${lines[-1]}"
		count=$((count + 1))
	done < <(find "$root" -path '*/man/man*' -type f)
	assert_equal $count "$(pages | wc -l)"
}

# built_with LINE...: a static build whose linker's map has these lines, beside what each has.
built_with() {
	local libraries=$BATS_TEST_TMPDIR/libraries build=$BATS_TEST_TMPDIR/build
	mkdir -p "$libraries/lib" "$build/src"
	printf '%s\t%s\n' util-linux 2.38.1-5+deb12u3 musl 1.2.3-1 libedit 3.1-1 >"$libraries/versions"
	echo '#define PACKAGE_VERSION "0.1.0"' >"$build/config.h"
	echo binary >"$build/src/fsquota"
	{
		echo 'Archive member included to satisfy reference by file (symbol)'
		echo
		printf "$libraries/lib/%s\n" "$@"
		echo 'src/quota/.libs/libfsquota-all.a(error.o)'
		printf '\nMemory Configuration\n\n'
		echo "LOAD $libraries/lib/crt1.o"
		echo 'LOAD src/main.o'
		echo "LOAD $libraries/lib/libedit.a"
	} >"$build/fsquota.map"
	SOURCE_DATE_EPOCH=1700000000 run "$srcdir/tools/sbom" "$build" fsquota-0.1.0-linux-x86_64
}

@test "the SBOM has what is linked and nothing else, with version and license" {
	built_with 'libmount.a(la-tab.o)' 'libmount.a(la-fs.o)' 'libc.a(open.o)'
	assert_success
	echo "$output" >"$BATS_TEST_TMPDIR/sbom.json"
	run -0 jq -r '.packages[] | [.name, .versionInfo, .licenseDeclared] | @tsv' "$BATS_TEST_TMPDIR/sbom.json"
	assert_output "$(printf '%s\t%s\t%s\n' fsquota 0.1.0 Apache-2.0 libmount 2.38.1-5+deb12u3 LGPL-2.1-or-later musl 1.2.3-1 MIT)"
	run -0 jq -r '.creationInfo.created, .files[0].checksums[1].checksumValue, .spdxVersion' "$BATS_TEST_TMPDIR/sbom.json"
	assert_output "2023-11-14T22:13:20Z
$(sha256sum "$BATS_TEST_TMPDIR/build/src/fsquota" | cut -c -64)
SPDX-2.3"
}

# What SPDX 2.3 wants of each part, and that what is related is there.
@test "the SBOM is one by the rules of SPDX" {
	built_with 'libmount.a(la-tab.o)' 'libc.a(open.o)'
	assert_success
	run -0 jq -e '
		([.SPDXID] + [(.packages, .files)[].SPDXID]) as $ids
		| (["spdxVersion", "dataLicense", "SPDXID", "name", "documentNamespace", "creationInfo"] - keys == [])
		and (.documentNamespace | test("^[a-z]+:[^#]+$")) and .dataLicense == "CC0-1.0"
		and ($ids | unique | length) == ($ids | length) and all($ids[]; test("^SPDXRef-[A-Za-z0-9.-]+$"))
		and all(.packages[]; ["name", "SPDXID", "downloadLocation"] - keys == [])
		and all(.files[]; ["fileName", "SPDXID", "checksums"] - keys == [] and .checksums[0].algorithm == "SHA1")
		and any(.relationships[]; .spdxElementId == "SPDXRef-DOCUMENT" and .relationshipType == "DESCRIBES")
		and all(.relationships[]; .spdxElementId as $one | .relatedSpdxElement as $two
			| any($ids[]; . == $one) and any($ids[]; . == $two))
		and ([.relationships[] | select(.relationshipType == "STATIC_LINK")] | length) == (.packages | length) - 1' <<<"$output"
}

@test "there is no SBOM of what is not known, and none of what is not static" {
	built_with 'libpng.a(png.o)' 'libc.a(open.o)'
	assert_failure 1
	assert_output --partial 'libpng.a: its license is not known here'
	echo 'Memory Configuration' >"$BATS_TEST_TMPDIR/build/fsquota.map"
	run -1 "$srcdir/tools/sbom" "$BATS_TEST_TMPDIR/build" name
	assert_equal "${#lines[@]}" 1
}
