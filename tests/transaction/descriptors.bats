#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# A process that may open few files: with each limit from 4 to 20 a command does all, or it fails and leaves
# nothing. The witness compares the IDs of all files, the limits, and both files of /etc.

load ../lib/fsquota

setup() {
	rm -f /etc/projects* /etc/projid* /etc/fsquota.conf
	all=0 none=0
}

teardown() { echo "# limits of descriptors: $((all + none)), of which $none stopped the command" >&3; }

# deep_tree DIRECTORY: nearly as many levels as descriptors, and something beside them.
deep_tree() {
	mkdir -p "$1"/sub/sub/sub/sub/sub/sub/sub/sub/sub/sub/sub/sub/sub/sub "$1"/beside "$1"/sub/sub/beside
	find "$1" -type d -exec touch {}/file \;
}

must() {
	local answer
	echo "${*:2}" >&"${WITNESS[1]}"
	read -r answer <&"${WITNESS[0]}"
	[ "$answer" = "$1" ] || differ "${@:2}"
}

differ() {
	local line
	echo "differ $2" >&"${WITNESS[1]}"
	while read -r line <&"${WITNESS[0]}" && [ "$line" != . ]; do echo "$line"; done
	fail "$descriptors descriptors, status $status: not $*: $(<"$BATS_TEST_TMPDIR/stderr")"
}

# limited all|again MOST COMMAND...: with 4 to MOST descriptors; "again": something may be left to do, which the
# same command does when it has enough of them.
limited() {
	local descriptors=all how=$1 most=$2 status=0 expected pid
	shift 2
	coproc WITNESS { exec "$BATS_TEST_DIRNAME/witness" "$FSQ_ORACLE" "$top" "$top" 3>&-; }
	must kept keep before
	"$FSQUOTA" "$@" >/dev/null 2>"$BATS_TEST_TMPDIR/stderr" || status=$?
	must kept keep after
	must restored restore before
	for ((descriptors = 4; descriptors <= most; descriptors++)); do
		status=0
		(exec 3>&- && ulimit -n "$descriptors" && exec "$FSQUOTA" "$@") \
			>/dev/null 2>"$BATS_TEST_TMPDIR/stderr" || status=$?
		[ $status = 0 ] && all=$((all + 1)) || none=$((none + 1))
		[ $status = 0 ] || [ -s "$BATS_TEST_TMPDIR/stderr" ] || fail "$descriptors: exit status $status"
		[ "$how" = all ] || "$FSQUOTA" "$@" >/dev/null
		expected=after
		[ "$how" = again ] || [ $status = 0 ] || expected=before
		must yes is $expected
		[ $expected = before ] || must restored restore before
	done
	pid=$WITNESS_PID
	echo quit >&"${WITNESS[1]}"
	wait "$pid"
}

# of FILESYSTEM: what the command is done on.
of() {
	# An ID of the test before on the other one would speak against the line of a directory that is gone.
	fresh_each x e
	top=/mnt/$1
	printf '# directories\n7:/elsewhere\n' >/etc/projects
	printf '# names\nother:7\n' >/etc/projid
}

assigns() {
	of "$1"
	mkdir "$top/dir"
	limited all 20 assign --hard 10M "$top/dir"
	assert [ "$all" -ge 13 ]
	rmdir "$top/dir"
	settle "$top"
	# Below a project, from which the files come.
	mkdir "$top/above"
	fsquota assign --hard 20M "$top/above"
	deep_tree "$top/above/dir"
	limited all 20 assign --hard 10M "$top/above/dir"
	assert [ "$all" -ge 23 ]
}

releases() {
	of "$1"
	deep_tree "$top/dir"
	fsquota assign --hard 10M "$top/dir"
	fsquota assign --hard 5M "$top/dir/sub/sub/beside"
	limited all 20 release "$top/dir"
	assert [ "$all" -ge 10 ]
}

@test "XFS: with few descriptors assign does all or nothing" { assigns x; }

# bats test_tags=again,full
@test "ext4: with few descriptors assign does all or nothing" { assigns e; }

# bats test_tags=again,full
@test "with few descriptors assign does all or nothing where there is another project in the tree" {
	of x
	deep_tree "$top/dir"
	fsquota assign --hard 5M "$top/dir/sub/sub/beside"
	limited all 20 assign --hard 10M "$top/dir"
	assert_equal "$all" 0
	# It was there before the other one; and its owner has given it an ID that is not its own.
	fsquota release "$top/dir/sub/sub/beside"
	fsquota assign --hard 10M "$top/dir"
	fsquota assign --hard 5M "$top/dir/sub/sub/beside"
	chattr -p 42 "$top/dir"
	limited all 20 assign --hard 10M "$top/dir"
	assert [ "$all" -ge 10 ]
}

@test "XFS: with few descriptors release does all or nothing" { releases x; }

# bats test_tags=again,full
@test "ext4: with few descriptors release does all or nothing" { releases e; }

# bats test_tags=again,slow,full
@test "with few descriptors resize does all or nothing, and prune, apply and project -s go on" {
	of x
	deep_tree "$top/dir"
	deep_tree "$top/second"
	mkdir "$top/gone"
	fsquota assign --hard 10M "$top/gone"
	rmdir "$top/gone"
	settle "$top"
	limited again 40 prune "$top"
	assert [ "$all" -ge 8 ]
	fsquota prune "$top"
	printf '%s\n' "$top/dir hard=10M" "$top/second hard=5M" >"$BATS_TEST_TMPDIR/wanted"
	limited again 20 apply "$BATS_TEST_TMPDIR/wanted"
	limited again 20 project -s -p "$top/dir" 42 "$top"
	fsquota assign --hard 10M "$top/dir"
	limited all 20 resize "$top/dir" 20M
	assert [ "$all" -ge 50 ]
}

# What apply --watch does for months.
@test "forty directories take no more descriptors than one" {
	of x
	cd "$top"
	mkdir -p applied/{1..40}
	echo "$top/applied/* hard=1M" >"$BATS_TEST_TMPDIR/lines"
	ulimit -n 24
	fsquota assign --mkdir --hard 1M {1..40} >/dev/null
	fsquota apply --quiet "$BATS_TEST_TMPDIR/lines" >/dev/null
	fsquota resize {1..40} 2M
	fsquota release {1..40} applied/*
	cd /
}
