# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# What the kernel holds, asked of the tools of xfsprogs and e2fsprogs, and ways to prepare it.

# shellcheck disable=SC2154 # run sets output

# holds TYPE ID USED SOFT HARD [b|i|r [MOUNTPOINT]]: the kernel's numbers, in KiB or inodes.
holds() {
	local used=0 soft=0 hard=0
	run oracle -x -P/dev/null -D/dev/null -c "report -$1 -N -n -${6-b} -L $2 -U $2" \
		"${7-/mnt/x}"
	# XFS has no row where all is zero.
	[ -z "$output" ] || read -r _ used soft hard _ <<<"$output"
	assert_equal "used $used soft $soft hard $hard" "used $3 soft $4 hard $5"
}

# is_tagged PATH ID: with the inheritance flag.
is_tagged() {
	run lsattr -pd "$1"
	assert_output --regexp "^ *$2 [-e]+P-+ $1\$"
}

is_untagged() {
	run lsattr -pd "$1"
	assert_output --regexp "^ *0 [-e]+ $1\$"
}

fill() { dd if=/dev/zero of="$1" bs=64k count="$2" conv=fsync status=none; }

# tagged DIR ID [MOUNTPOINT]: by the tool of xfsprogs.
tagged() { oracle -x -P/dev/null -c "project -s -p $1 $2" "${3-/mnt/x}" >/dev/null; }
