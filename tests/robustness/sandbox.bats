#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# System calls that fail: strace plays kernel. Those that a kernel does not know are in tests/kernels.

load ../lib/fsquota

setup_file() {
	fresh_fs x
	mkdir -p /mnt/x/dir/below /mnt/x/new/below
	touch /mnt/x/dir/file /mnt/x/new/file
	xfs_quota -x -c 'project -s -p /mnt/x/dir 42' -c 'limit -p bsoft=1g bhard=2g 42' /mnt/x >/dev/null
	oracle -x -c 'limit -p bhard=1m 1001' -c 'limit -p bhard=1m 1002' /mnt/x
}

setup() { rm -f /etc/projects /etc/projid; }

# failing CALLS ERROR[:when=N] [-P PATH] COMMAND...: the calls, on that path, fail.
failing() {
	run_split injecting "$1" "error=$2" "${@:3}"
	assert_file_contains "$BATS_TEST_TMPDIR/trace" INJECTED
}

@test "a kernel that fails to read a quota is as silent as with the real one" {
	failing quotactl,quotactl_fd ENODEV xfs_quota -x -c 'quota -p -v 42' -c 'state -p' -c 'report -p' /mnt/x
	local our_result="$status, $stdout, $stderr"
	failing quotactl,quotactl_fd ENODEV "$FSQ_ORACLE" -x -c 'quota -p -v 42' -c 'state -p' -c 'report -p' /mnt/x
	assert_equal "$our_result" "$status, $stdout, $stderr"
}

@test "a kernel that cannot read a quota, or finds it damaged, is complained of, with 1 (deviation 7)" {
	local words errno
	for words in 'quota -p 42' 'state -p' 'report -p' 'dump -p'; do
		for errno in 'EIO Input/output error' 'EUCLEAN Structure needs cleaning'; do
			failing quotactl,quotactl_fd "${errno%% *}" xfs_quota -x -c "$words" /mnt/x
			assert_equal "$words: $status" "$words: 1"
			[[ $stderr == *": ${errno#* }"* ]] || fail "$words: $stderr"
		done
	done
}

@test "a write that is interrupted is done again" {
	failing write EINTR:when=1 xfs_quota -x -c 'quota -p -N -v 42' /mnt/x
	assert_equal "$status" 0
	assert_equal "$stdout" "$(oracle -x -c 'quota -p -N -v 42' /mnt/x)"
}

@test "a write that takes only a part is continued" {
	exits 0 injecting write retval=10:when=1 xfs_quota -x -c 'quota -p -N -v 42' /mnt/x
	# The ten bytes that strace said were written are not there.
	local all
	all=$(oracle -x -c 'quota -p -N -v 42' /mnt/x)
	assert_equal "$stdout" "${all:10}"
}

@test "a file that cannot be tagged fails the command, and the others are tagged" {
	# Those on the directory itself.
	failing ioctl EIO -P /mnt/x/new xfs_quota -x -c 'project -s -p /mnt/x/new 55' /mnt/x
	assert_equal "$status" 1
	assert_equal "$stderr" 'xfs_quota: cannot get flags on /mnt/x/new: Input/output error'
	run fsquota id /mnt/x/new/file /mnt/x/new/below
	assert_output "55
55"
}

@test "a directory that cannot be listed fails the command" {
	failing getdents64 EIO:when=1 xfs_quota -x -c 'project -s -p /mnt/x/new 56' /mnt/x
	assert_equal "$status" 1
	assert_equal "$stderr" 'xfs_quota: cannot open /mnt/x/new: Input/output error'
}
