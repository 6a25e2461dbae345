#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=install
# needs: build-essential debhelper lintian mmdebstrap rpm rpmlint uidmap xz-utils
#
# The packages for Debian and of rpm: they build from what "make dist" has, the same bytes each time,
# lintian and rpmlint find nothing, and they come and go without leaving anything. Nothing of this
# needs a kernel of its own.

bats_require_minimum_version 1.5.0

# shellcheck source-path=SCRIPTDIR
load ../lib/fsquota
load packages

version=0.3.0 packages=(fsquota fsquota-xfs-quota libfsquota-dev libfsquota0 python3-fsquota)

# source_in DIRECTORY: what is distributed, there.
source_in() {
	mkdir -p "$1"
	tar -xf "$BATS_FILE_TMPDIR/source.tar" -C "$1"
}

# build_debs DIRECTORY: the packages in it, and what the build said in DIRECTORY/log.
build_debs() {
	source_in "$1"
	(cd "$1" && tar --exclude=debian -cJf fsquota_$version.orig.tar.xz fsquota-$version)
	busy "$1/log" env -C "$1/fsquota-$version" dpkg-buildpackage -us -uc
}

# The unit tests have a run of their own.
setup_file() {
	[ -n "${FSQUOTA_FULL-}" ] || export DEB_BUILD_OPTIONS=nocheck
	(cd "$builddir" && make -s distdir distdir="$BATS_FILE_TMPDIR/fsquota-$version") >/dev/null
	(cd "$BATS_FILE_TMPDIR" && tar -cf source.tar fsquota-$version)
	build_debs "$BATS_FILE_TMPDIR/one"
}

setup() {
	cd "$BATS_FILE_TMPDIR/one" || return
	architecture=$(dpkg --print-architecture)
}

# deb_of PACKAGE [DIRECTORY]: its file
deb_of() { echo "${2-.}/${1}_$version-1_"*.deb; }

# field PACKAGE NAME: the words of a field, without versions, a line each
field() {
	dpkg-deb -f "$(deb_of "$1")" "$2" | sed 's/ *([^)]*)//g; s/, */\n/g' | sort
}

@test "what was built is not distributed" {
	run find "$BATS_FILE_TMPDIR/fsquota-$version" -name '*.o' -o -name '.libs' -o -name __pycache__ -o -type f -size +2M
	assert_output ''
	run bash -c "find '$BATS_FILE_TMPDIR/fsquota-$version' -type f -exec head -c 4 {} + | grep -ac ELF"
	assert_output 0
}

@test "lintian finds nothing, not even what it says pedantically" {
	run lintian --allow-root --pedantic --fail-on error,warning,pedantic fsquota_$version-1_"$architecture".changes
	assert_success
	assert_output ''
}

# noted PRIORITY: the packages of the libraries that the program loads on first use
noted() {
	readelf -p .note.dlopen "$root/usr/bin/fsquota" |
		sed -n 's/.*"priority":"'"$1"'","soname":\["\([^"]*\)\.so\.\([^"]*\)"\].*/\1\2/p' | sort
}

@test "the packages depend on what is loaded on first use, or recommend it, and nothing else" {
	local root=$BATS_TEST_TMPDIR/root
	dpkg-deb -x "$(deb_of fsquota)" "$root"
	assert_equal "$(noted required)" $'libblkid1\nlibmount1'
	assert_equal "$(noted recommended)" $'libedit2\nlibmicrohttpd12\nlibtinfo6'
	assert_equal "$(field fsquota Depends)" $'libblkid1\nlibc6\nlibmount1'
	assert_equal "$(field fsquota Recommends)" $'libedit2\nlibmicrohttpd12\nlibtinfo6'
	assert_equal "$(field libfsquota0 Depends)" $'libblkid1\nlibc6\nlibmount1'
	assert_equal "$(field libfsquota0 Recommends)" ''
	assert_equal "$(field python3-fsquota Depends)" $'fsquota\npython3:any'
}

@test "programs build with the library, shared and static" {
	local root=$BATS_TEST_TMPDIR/root libraries
	for package in libfsquota0 libfsquota-dev; do dpkg-deb -x "$(deb_of $package)" "$root"; done
	libraries=$(dirname "$(find "$root" -name libfsquota.a)")
	PKG_CONFIG_PATH=$libraries/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 \
		PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 LD_LIBRARY_PATH=$libraries sh "$srcdir/debian/tests/library"
}

# bats test_tags=full
@test "in a bare root they are installed, upgraded, run and purged, and nothing is left" {
	local package
	export DEBS=$BATS_TEST_TMPDIR/debs TESTS=$srcdir/debian/tests
	mkdir "$DEBS"
	for package in "${packages[@]}"; do
		cp "$(deb_of "$package")" "$DEBS/$package.deb"
		dpkg-deb -R "$DEBS/$package.deb" "$DEBS/next"
		sed -i "s/\b$version-1\b/$version-2/" "$DEBS/next/DEBIAN/control"
		dpkg-deb --root-owner-group -b "$DEBS/next" "$DEBS/$package.next.deb" >/dev/null
		rm -r "$DEBS/next"
	done
	bare_debian "$BATS_TEST_TMPDIR/log" --include=xfsprogs,python3 --customize-hook="$BATS_TEST_DIRNAME/in-root"
	run cat "$BATS_TEST_TMPDIR/log"
	assert_line "upgraded: $version-2"
	assert_line 'all is as it was'
}

# With processes and mounts of its own, as an ordinary user.
in_container=(unshare --mount --pid --fork --mount-proc)
if [ "$(id -u)" = 0 ]; then
	in_container+=(setpriv --reuid 1000 --regid 1000 --clear-groups)
else
	in_container+=(--map-current-user)
fi

# bats test_tags=full
@test "a build elsewhere, at another time, by somebody else in a container makes the same bytes" {
	local other=$BATS_TEST_TMPDIR/somewhere/else file
	mkdir -p "$other"
	chmod a+x "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_TEST_TMPDIR"
	[ "$(id -u)" != 0 ] || chown -R 1000 "$BATS_TEST_TMPDIR/somewhere"
	# The unit tests run there, too.
	(umask 027 && export TZ=Asia/Tokyo LC_ALL=C.UTF-8 HOME=/nonexistent DEB_BUILD_OPTIONS='' version &&
		busy "$other/log" "${in_container[@]}" bash -c "$(declare -f source_in)"'
			source_in "$1" && cd "$1" && tar --exclude=debian -cJf fsquota_$version.orig.tar.xz fsquota-$version &&
			cd fsquota-$version && dpkg-buildpackage -us -uc' bash "$other")
	for file in *.deb; do
		cmp "$file" "$other/$file"
	done
	assert_equal "$(cd "$other" && echo *.deb)" "$(echo *.deb)"
}

# bats test_tags=full
@test "the spec file builds, rpmlint finds nothing, and the packages have the same files" {
	local top=$BATS_TEST_TMPDIR rpm
	(cd "$BATS_FILE_TMPDIR" && tar -cJf "$top/fsquota-$version.tar.xz" fsquota-$version)
	busy "$top/log" rpmbuild -ta --nodeps --nocheck --define "_topdir $top" "$top/fsquota-$version.tar.xz"
	run rpmlint -c "$BATS_TEST_DIRNAME/rpmlint.toml" "$srcdir/fsquota.spec" "$top"/*RPMS
	assert_success
	assert_line --partial ' 0 errors, 0 warnings'
	for rpm in "$top"/RPMS/*/*.rpm; do rpm -qpl "$rpm"; done |
		grep -v '/\.build-id\|/licenses/\|/doc/\|/libexec/\|^/etc/' | sed 's|/usr/lib64/|/lib/|; s|site-functions|completions|' | sort >"$top/rpm"
	for package in fsquota libfsquota0 libfsquota-dev; do dpkg-deb -c "$(deb_of $package)"; done |
		sed -n 's|^[^d][^ ]* .* \./\(usr[^ ]*\).*|/\1|p' | grep -v '/doc/\|/lintian/\|libfsquota\.a$' |
		sed 's|/usr/lib/[^/]*-linux-[^/]*/|/lib/|; s|vendor-completions|completions|; s|\(/man/.*\)\.gz$|\1|' | sort >"$top/deb"
	diff "$top/deb" "$top/rpm"
}
