#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=every-call
#
# A call fails, and so do all of its kind that come after it: nothing can be undone, either. The next assign
# completes what was begun, and the next release removes it.

load ../lib/fsquota

setup() {
	fresh_each x e
	rm -f /etc/projects* /etc/projid* /etc/fsquota.conf
	failures=0
}

teardown() { echo "# calls that failed for good: $failures" >&3; }

# rows: every project that the kernel counts, with inodes and hard limit, but for project 0.
rows() { real -c 'report -p -N -n -b -i' "$top" | awk '$1 ~ /^#[1-9]/ && ($2 || $4 || $7) { print $1, $7, $4 }'; }

# failing CALL NUMBER COMMAND...: the call fails from that one on.
failing() {
	run_split strace -f -qq -o /dev/null -e "inject=$1:error=EIO:when=$2+" "$FSQUOTA" "${@:3}"
	failures=$((failures + 1))
}

# Nothing is assigned before and after.
released() {
	run_split fsquota release "$top/dir"
	[ "$status" = 0 ] || [ "$status" = 5 ] || fail "$number: released: $status: $stderr"
	assert_equal "$number: $(rows)$(cat /etc/projects /etc/projid)" "$number: "
}

# for_good FILESYSTEM LEAST CALL COMMAND: for each of its calls, LEAST at least.
for_good() {
	local top=/mnt/$1 number words=("$4" "/mnt/$1/dir")
	mkdir -p "$top/dir/one/two" "$top/dir/other"
	touch "$top"/dir/{,one/,one/two/,other/}{1..3}
	sync -f "$top"
	for ((number = 1; ; number++)); do
		step "$3 $number"
		[ "$4" = assign ] || fsquota assign "$top/dir" >/dev/null
		failing "$3" "$number" "${words[@]}"
		[ "$status" != 0 ] || break
		run_split fsquota assign --hard 10M "$top/dir"
		assert_equal "$number: $status: $stdout$stderr" "$number: 0: 1048577"
		assert_equal "$number: $(rows)" "$number: #1048577 16 10240"
		[ "$4" = release ] || released
		failing "$3" "$number" "${words[@]}"
		released
	done
	released
	[ "$number" -gt "$2" ] || fail "only $((number - 1)) calls of $3"
}

@test "XFS: what assign could not undo the next call completes" {
	for_good x 9 ioctl assign
	for_good x 5 openat2 assign
	for_good x 5 getdents64 assign
}

# bats test_tags=full
@test "XFS: what release could not undo the next call completes" {
	for_good x 9 ioctl release
	for_good x 5 openat2 release
	for_good x 5 getdents64 release
}

# As often as it asks for the ID of a directory, in the tree and while it gives all back.
# bats test_tags=full
@test "XFS: what cannot be looked at while assign is undone keeps the ID, and so does its directory" {
	local top=/mnt/x number
	mkdir -p $top/dir/{1..3}
	for number in {1..20}; do
		! strace -f -qq -o /dev/null -e inject=ioctl:error=EIO:when=$number "$FSQUOTA" assign $top/dir >/dev/full 2>&1 || fail "call $number"
		run_split fsquota assign --hard 10M $top/dir
		assert_equal "$number: $status:$stdout$stderr:$(rows)" "$number: 0:1048577:#1048577 4 10240"
		released
	done
}
