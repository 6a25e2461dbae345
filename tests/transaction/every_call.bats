#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# assign, release and move are all or nothing, whatever goes wrong at whichever system call, and apply is for each
# directory. What is done is in scenarios.bash, how it is disturbed in inject, and what is looked at in witness.

load ../lib/fsquota

# The last lines of inject: F of N injections went wrong ...
teardown_file() {
	echo "# injections: $(awk '{ sum += $3 } END { print sum }' "$BATS_FILE_TMPDIR/injections")" >&3
}

# disturbed SCENARIO FILESYSTEM ARGUMENT...
disturbed() {
	# An ID of the test before on the other one would speak against the line.
	fresh_each x e
	rm -rf /etc/projects* /etc/projid* /etc/fsquota.d /var/lib/fsquota
	run "$BATS_TEST_DIRNAME/inject" "$1" "/mnt/$2" "${@:3}"
	echo "${lines[-1]}" >>"$BATS_FILE_TMPDIR/injections"
	assert_success
}

@test "what the witness sees is what lsattr, stat and xfs_quota see" {
	fresh_fs x
	rm -f /etc/projects* /etc/projid*
	mkdir -p /mnt/x/dir/sub
	touch /mnt/x/dir/file
	fsquota assign --hard 10M --soft-inodes 5 /mnt/x/dir
	printf 'show\nquit\n' | "$BATS_TEST_DIRNAME/witness" "$FSQ_ORACLE" /mnt/x /mnt/x/dir >"$BATS_TEST_TMPDIR/seen"
	run grep -v '^/etc has' "$BATS_TEST_TMPDIR/seen"
	assert_output '/etc/projects: 100644 0 0
/etc/projects: 1048577:/mnt/x/dir
/etc/projects: \
/etc/projid: 100644 0 0
/etc/projid: volume1048577:1048577
/etc/projid: \
/mnt/x: 0 - 40755 0 0 3
/mnt/x/dir: 1048577 P 40755 0 0 3
/mnt/x/dir/file: 1048577 - 100644 0 0 1
/mnt/x/dir/sub: 1048577 P 40755 0 0 2
project 0: used 0 3, soft 0 0, hard 0 0
project 1048577: used 0 3, soft 0 5, hard 10240 0
.'
	assert_equal "$(sed -n 's/^\/etc has //p' "$BATS_TEST_TMPDIR/seen")" "$(ls -A /etc | grep -vx 'proj[ei][dcts]*')"
	run lsattr -pd /mnt/x /mnt/x/dir /mnt/x/dir/file /mnt/x/dir/sub
	assert_output --regexp '^ +0 -+ /mnt/x
1048577 -+P-+ /mnt/x/dir
1048577 -+ /mnt/x/dir/file
1048577 -+P-+ /mnt/x/dir/sub$'
	run oracle -x -c 'dump -p' /mnt/x
	assert_line --regexp '^1048577 +0 +20480 +5 +0$'
}

# bats test_tags=shared
@test "assign of an empty directory: killed at any call" { disturbed a x kill; }
# bats test_tags=shared
@test "assign --mkdir: killed at any call, and the next one gives it owner and mode" { disturbed k x --main kill; }
# bats test_tags=shared,full
@test "release where the files are replaced: killed at any call" { disturbed e x kill; }

# bats test_tags=shared
@test "prune: killed at any call, and the next one removes what is left" { disturbed j x --main kill; }

# bats test_tags=shared,full
@test "release of a project whose directory is gone: killed at any call that changes something, and release and prune remove what is left" {
	local count status came words=("$FSQUOTA" release --name mine)
	fresh_fs x
	for ((count = 1; ; count++)); do
		rm -f /etc/projects* /etc/projid*
		mkdir /mnt/x/gone
		fsquota assign --hard 5M --name mine /mnt/x/gone >/dev/null
		rmdir /mnt/x/gone
		((count % 20)) || step "call $count"
		read -r status came _ < <("${builddir:?}/tests/transaction/fail" \
			<<<"changes $count signal=KILL 60 /dev/null $BATS_TEST_TMPDIR/out $BATS_TEST_TMPDIR/err ${words[*]}")
		[ "$came" = yes ] || break
		exits 0 fsquota release --name mine --if-exists
		exits 0 fsquota prune
		assert_equal "$count: $(cat /etc/projects /etc/projid | grep -v "~")$(real -c 'report -p -N -n -b -i -L 1' /mnt/x)" "$count: "
	done
	assert_equal "$status" 0
	[ "$count" -gt 8 ]
}

# bats test_tags=every-call,again,full
@test "ext4: move of a directory that was renamed: any call fails, or gets a signal" {
	disturbed h e errors signals
}

# bats file_tags=every-call,shared

# bats test_tags=full
@test "assign of an empty directory: any call fails, or gets a signal" { disturbed a x errors signals; }

@test "assign of a tree, without files: any call fails, is the last, or gets a signal" {
	disturbed b x errors kill signals
}

@test "assign --mkdir: any call fails, or gets a signal" { disturbed k x --main errors signals; }

# bats test_tags=full
@test "assign of one more directory of a project" { disturbed c x --main error kill signals; }
# bats test_tags=full
@test "assign again, with other limits" { disturbed d x --main error kill signals; }

@test "release where the files are replaced: any call fails, or gets a signal" { disturbed e x errors signals; }

# bats test_tags=full
@test "release where the files are cut" { disturbed f x --main error kill signals; }
# bats test_tags=full
@test "release of one of two directories of a project" { disturbed g x --main error kill signals; }

@test "move of a directory that was renamed: any call fails, is the last, or gets a signal" {
	disturbed h x errors kill signals
}

# bats test_tags=full
@test "prune on ext4: killed at any call, and the next one removes what is left" { disturbed j e --main kill; }

# bats test_tags=full
@test "apply --prune: any call fails, or is the last, and the next one does what is left" { disturbed i x --main errors kill; }

# bats file_tags=every-call

# bats test_tags=full
@test "assign of an empty directory on ext4" { disturbed a e --main errors kill signals; }
# bats test_tags=full
@test "assign of a tree on ext4" { disturbed b e --main errors kill signals; }
# bats test_tags=full
@test "release where the files are replaced, on ext4" { disturbed e e --main errors kill signals; }
