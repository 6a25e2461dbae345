#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What this suite runs on: a kernel with file_getattr(2) and file_setattr(2), see "run --new".
# Without quota ($FSQ_QUOTA) project IDs can be tested all the same.

load ../lib/fsquota

setup_file() {
	echo "# on Linux $FSQ_KERNEL ($FSQ_GUEST)" >&3
}

@test "the kernel has file_getattr and file_setattr" {
	# shellcheck disable=SC2016 # perl's
	run perl -e '
		my ($path, $attributes) = ("/mnt/x", "\0" x 24);
		syscall(468, -100, $path, $attributes, 24, 0) == 0 or die "file_getattr: $!\n";
		syscall(469, -100, $path, $attributes, 24, 0) == 0 or die "file_setattr: $!\n"'
	assert_success
}

@test "XFS, ext4 and f2fs are mounted, with quota unless FSQ_QUOTA says no" {
	if [ "$FSQ_QUOTA" = no ]; then
		run findmnt -n -o FSTYPE /mnt/x
		assert_output xfs
		return
	fi
	for mount in x:xfs x2:xfs e:ext4 f:f2fs; do
		run findmnt -n -o FSTYPE,OPTIONS "/mnt/${mount%:*}"
		assert_output --regexp "^${mount#*:} .*prjquota"
	done
}
