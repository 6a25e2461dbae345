#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
# needs: golang-go
#
# The library in other languages on a real kernel: the Python module, and the provisioner of contrib/provisioner.

load ../lib/fsquota
: "${srcdir:?}" "${builddir:?}"
export PYTHONPATH=$srcdir/contrib/python PYTHONDONTWRITEBYTECODE=1 LD_LIBRARY_PATH=$builddir/src/quota/.libs

@test "Python: assign, watch, usage, resize, list and release are what the kernel has, on XFS and on ext4" {
	local fs
	for fs in x e; do
		fresh_fs $fs
		rm -f /etc/projects /etc/projid
		run python3 "$srcdir/tests/library/quotas.py" /mnt/$fs
		assert_success
		assert_output ''
	done
}

# provisions FS PROGRAM...: fifty volumes; user 1000 fills one, which grows; and nothing is left.
provisions() {
	local pool=/mnt/$1/pool out=$BATS_TEST_TMPDIR/out provisioner
	fresh_fs "$1"
	rm -f /etc/projects /etc/projid "$out"
	mkdir "$pool"
	"${@:2}" "$pool" >"$out" 2>&1 3>&- &
	provisioner=$!
	until_true grep -qs volumes "$out"
	assert_equal "$(wc -l </etc/projects)" 50
	as_user dd if=/dev/zero of="$pool/volume7/file" bs=64k count=24 status=none 2>&1 || :
	wait $provisioner
	assert_equal "$*: $(<"$out")" "$*: 50 volumes"$'\n'"volume7 was full, and has 2097152"
	assert_equal "$(cat /etc/projects /etc/projid)$(fsquota list "/mnt/$1" --raw -No ID)" ''
	run -0 as_user dd if=/dev/zero of="$pool/volume7/file" bs=64k count=64
}

# bats test_tags=install
@test "the provisioner of contrib/provisioner does the same in C, Python and Go, on XFS and on ext4" {
	local program=$BATS_TEST_TMPDIR/provisioner fs
	run -0 gcc -std=gnu17 -Wall -Wextra -Wshadow -Wconversion -Werror -I"$srcdir/src/quota" -o "$program" \
		"$srcdir/contrib/provisioner/provisioner.c" -L"$LD_LIBRARY_PATH" -lfsquota
	for fs in x e; do
		provisions $fs "$program"
		provisions $fs python3 "$srcdir/contrib/provisioner/provisioner.py"
		GODEBUG=asyncpreemptoff=1 provisions $fs "$builddir/tests/batch/provisioner"
	done
}
