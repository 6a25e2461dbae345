#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# resize: by a part of the limit, and without any.

load ../lib/fsquota

setup() {
	rm -f /etc/projects /etc/projid
	fresh_each x e
	mkdir /mnt/x/dir /mnt/e/dir
}

# has DIRECTORY HARD SOFT: these limits, in KiB.
has() {
	run -0 real -c 'report -p -N -n' "${1%/dir}"
	assert_line --regexp "^#7  *[0-9]+  *$3  *$2  "
}

# each DIRECTORY
each() {
	fsquota assign --id 7 --hard 1000K --soft 500K "$1"
	is_silent fsquota resize "$1" +20%
	has "$1" 1200 700
	run -0 fsquota resize --dry-run --hard +50% "$1"
	assert_output "would-change project 7 (volume7), $1: soft 700K -> 1.3M, hard 1.2M -> 1.8M"
	has "$1" 1200 700
	fsquota resize "$1" none
	has "$1" 0 700
	refuses 6 'has no limit that could grow' fsquota resize "$1" +10%
	# Equal limits stay equal.
	fsquota resize "$1" 2M --soft 2M
	has "$1" 2048 2048
	fsquota resize "$1" none
	has "$1" 0 0
}

@test "on XFS a limit grows by a part of it, and is taken away" { each /mnt/x/dir; }

# bats test_tags=again
@test "on ext4 a limit grows by a part of it, and is taken away" { each /mnt/e/dir; }

@test "what is no growth is refused, and nothing changes" {
	local word
	fsquota assign --id 7 --hard 1000K /mnt/x/dir
	for word in +0% 20% +% ++5% +5%% +999999% +-5% +1.5% None; do
		refuses 2 "\"$word\" is no " fsquota resize /mnt/x/dir "$word"
	done
	refuses 2 'given twice' fsquota resize /mnt/x/dir none --hard 5M
	has /mnt/x/dir 1000 0
}
