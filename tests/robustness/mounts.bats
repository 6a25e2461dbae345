#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# A mount that is dead, or none of its business, can neither hang a command nor be touched by it.
# "timeout" only ends what would never end.

load ../lib/fsquota

setup_file() {
	fresh_each x x2
	mkdir /mnt/x/dir
	oracle -x -c 'project -s -p /mnt/x/dir 42' -c 'limit -p bhard=1g 42' /mnt/x >/dev/null
}

setup() {
	rm -f /etc/projects /etc/projid
	dead=/run/dead
	patience=60
	table=$BATS_TEST_TMPDIR/table
}

# with_dead COMMAND...: among the mounts is one whose server never answers. Sets what run_split
# does, and trace to the system calls that name a file or a descriptor.
with_dead() {
	run_split "$BATS_TEST_DIRNAME/among" "$dead" timeout -s KILL "$patience" \
		strace -f -qq -y -e trace=%file,%desc -o "$BATS_TEST_TMPDIR/trace" "$@"
	trace=$(<"$BATS_TEST_TMPDIR/trace")
}

# The command ended with 0, and no system call came near the dead mount.
assert_untouched() {
	assert_equal "$status:$stderr" "0:"
	assert [ -n "$trace" ]
	if grep -v -e ' read(' -e execve <<<"$trace" | grep -F "$dead"; then fail "touched"; fi
}

@test "a mount whose server never answers hangs whoever touches it" {
	patience=1
	with_dead stat "$dead/file"
	assert_equal "$status" 137
}

# Nor one for a mount point, a device or a name, or with a table of its own.
@test "a query for a directory does not touch a dead mount" {
	local words usual line="$FSQ_X_DEV /mnt/x xfs rw,prjquota 0 0"
	usual=$(oracle -x -c 'quota -p -N -n -v -b 42' /mnt/x)
	echo "$line" >"$table"
	printf '%s\n' "dead $dead fuse rw 0 0" "$line" "dead $dead/below fuse rw 0 0" >"$table.dead"
	for words in /mnt/x /mnt/x/dir "$FSQ_X_DEV" "-t $table -P/dev/null -D/dev/null -f /mnt/x" \
		"-t $table.dead -f /mnt/x"; do
		with_dead xfs_quota -x -c 'quota -p -N -n -v -b 42' $words
		assert_untouched
		assert_equal "$words: $stdout" "$words: $usual"
	done
	echo "42:$dead/home" >/etc/projects
	echo 'name:42' >/etc/projid
	with_dead xfs_quota -x -c 'quota -p -N -v -b name' /mnt/x
	assert_untouched
	assert_equal "$stdout" "$usual"
}

@test "a query for what was mounted after a dead mount does not touch it" {
	mkdir -p /run/late
	run_split "$BATS_TEST_DIRNAME/among" "$dead" bash -c 'mount --bind /mnt/x /run/late &&
		exec "$@"' bash timeout -s KILL "$patience" \
		strace -f -qq -y -e trace=%file,%desc -o "$BATS_TEST_TMPDIR/trace" \
		xfs_quota -x -c 'quota -p -N -n -v -b 42' /run/late
	trace=$(<"$BATS_TEST_TMPDIR/trace")
	assert_untouched
	assert_output --regexp "^$FSQ_X_DEV +0 .* /run/late\$"
}

@test "other commands do not touch a dead mount either" {
	with_dead xfs_quota -x -c 'limit -p bhard=1g 42' -c 'state -p' /mnt/x
	assert_untouched
	assert_line '  Accounting: ON'
	with_dead xfs_quota -x -c 'project -s -p /mnt/x/dir 42' /mnt/x
	assert_untouched
	assert_line --index 0 'Setting up project 42 (path /mnt/x/dir)...'
	with_dead xfs_quota -x -c help -c quit
	assert_untouched
	with_dead fsquota id /mnt/x/dir
	assert_untouched
	with_dead fsquota lsattr -pd /mnt/x/dir
	assert_untouched
}

@test "commands without a path, and a report of all filesystems, leave a dead mount out" {
	with_dead xfs_quota -x -c 'report -p -a'
	assert_untouched
	assert_equal "$stdout" "$(oracle -x -c 'report -p -a')"
	with_dead xfs_quota -x -f -c print -c path -c df -c 'state -p' -c 'quota -p -v 42'
	assert_untouched
	assert_line --regexp "^Project quota state on /mnt/x "
}

# below_dead COMMAND...: as with_dead, but before the server died, and in its tree, an XFS was
# mounted, and it is nowhere else.
below_dead() {
	mkdir -p "$dead/x"
	run_split unshare -m bash -c 'mount --move /mnt/x "$1/x" && dead=$1 && shift && exec "$@"' \
		bash "$dead" "$BATS_TEST_DIRNAME/among" "$dead" timeout -s KILL 5 \
		strace -f -qq -y -e trace=%file,%desc -o "$BATS_TEST_TMPDIR/trace" "$@"
	trace=$(<"$BATS_TEST_TMPDIR/trace")
	rm -r "$dead"
}

@test "without a path, what is mounted below a dead mount is left out" {
	below_dead xfs_quota -x -c 'report -p -a'
	assert_untouched
	below_dead xfs_quota -x -c print
	assert_untouched
	assert_output --partial /mnt/x2
	refute_output --partial "$FSQ_X_DEV "
}

@test "a device that is mounted below a dead mount is found where else it is mounted" {
	mkdir -p "$dead/x" /run/late
	run_split unshare -m bash -c 'mount --move /mnt/x "$1/x" && mount --bind "$1/x" /run/late && dead=$1 && shift && exec "$@"' \
		bash "$dead" "$BATS_TEST_DIRNAME/among" "$dead" timeout -s KILL 5 \
		xfs_quota -x -c 'quota -p -N -n -v -b 42' "$FSQ_X_DEV"
	rm -r "$dead" /run/late
	assert_equal "$status:$stderr" "0:"
	assert_output --regexp "^$FSQ_X_DEV +0 .* /run/late\$"
}

# on_dead COMMAND...: an XFS is mounted on the very root of the dead mount.
on_dead() {
	with_dead bash -c 'mount -c -i --bind /mnt/x "$1" && shift && umount /mnt/x && exec "$@"' bash "$dead" "$@"
}

@test "without a path, what is mounted on a dead mount does no harm" {
	on_dead xfs_quota -x -c 'report -p -a'
	assert_equal "$status:$stderr" "0:"
}

@test "a filesystem mounted over a dead mount, and what is below it, are reported" {
	with_dead bash -c 'mount -c -i -t tmpfs none "$1" && mkdir "$1/x" && mount -c -i --bind /mnt/x "$1/x" &&
		umount /mnt/x && shift && exec "$@"' bash "$dead" xfs_quota -x -c 'report -p -N -n -a'
	assert_equal "$status:$stderr" "0:"
	assert_line --regexp '^#42 '
}

@test "what a dead mount hides is left out, too" {
	dead=/mnt/x
	with_dead xfs_quota -x -c 'report -p -a'
	assert_equal "$status:$stderr" "0:"
	assert_output --partial /mnt/x2
	if grep -v -e ' read(' -e execve <<<"$trace" | grep '/mnt/x[^2]'; then fail "touched"; fi
}

# of_type TYPE COMMAND...: /mnt/x is mounted at /run/net/x instead, and the mount table of the command says that
# /run/net is of that type.
of_type() {
	run_split unshare -m bash -c 'mkdir -p /run/net && mount -t tmpfs none /run/net && mkdir /run/net/x &&
		mount --bind /mnt/x /run/net/x && umount /mnt/x &&
		sed "s|\( /run/net .* - \)tmpfs|\1$1|" /proc/self/mountinfo >/run/table &&
		mount --bind /run/table /proc/$$/mountinfo && shift && exec "$@"' bash "$@"
}

@test "without a path, what is mounted on a network, FUSE or autofs mount is left out" {
	local type
	for type in nfs nfs4 cifs 9p ceph lustre fuse fuse.sshfs autofs glusterfs; do
		of_type $type fsquota list --json
		[[ $stdout != *'"/run/net/x"'* ]] || fail "$type: $stdout"
	done
	of_type ramfs fsquota list --json
	[[ $stdout == *'"/run/net/x"'* ]] || fail "$stdout$stderr"
}

@test "an empty or broken mount table is told, and a query for a path answered without it where statmount(2) is" {
	local empty=(unshare -m bash -c ': >/run/table && mount --bind /run/table /proc/$$/mountinfo && exec "$@"' bash)
	run_split "${empty[@]}" fsquota list
	assert_equal "$status:$stderr" "3:fsquota list: no filesystem with quota is mounted; see fsquota doctor"
	run_split "${empty[@]}" fsquota id /mnt/x/dir
	assert_equal "$status:$stdout" "0:42"
	if kernel_knows statmount; then
		run_split "${empty[@]}" fsquota usage -N -o ID /mnt/x/dir
		assert_equal "$status:${stdout// /}" "0:42"
	else
		run_split injecting read error=EIO:when=2+ xfs_quota -x -c 'quota -p -v 42' /mnt/x
		assert_equal "$status:$stdout:$stderr" "1::xfs_quota: cannot setup path for mount /mnt/x: Input/output error"
	fi
}

@test "what is mounted on a dead mount can be asked for by its path" {
	on_dead xfs_quota -x -c 'quota -p -N -n -v -b 42' "$dead"
	assert_equal "$status:$stderr" "0:"
	assert_output --regexp "^$FSQ_X_DEV +0 .* $dead\$"
}

@test "a filesystem that is mounted five thousand times is reported once" {
	run_split "$BATS_TEST_DIRNAME/among" 1 bash -c 'mkdir /mnt/x/{0..12} && for i in {0..12}; do
		mount --rbind /mnt/x "/mnt/x/$i"; done && exec "$@"' bash xfs_quota -x -c 'report -p -N -n -a'
	rm -rf /mnt/x/{0..12}
	assert_equal "$status:$stderr" "0:"
	assert_equal "$(grep -c '^#42 ' <<<"$stdout")" 1
}

@test "without /proc a query with -t is answered all the same" {
	echo "$FSQ_X_DEV /mnt/x xfs rw,prjquota 0 0" >"$table"
	succeeds unshare -m bash -c 'umount -l /proc && exec "$@"' bash \
		xfs_quota -t "$table" -x -c 'quota -p -N -n -v -b 42' /mnt/x
	assert_equal "$stdout" "$(oracle -x -c 'quota -p -N -n -v -b 42' /mnt/x)"
}

@test "without /proc a query says that there is no such mount" {
	run_split unshare -m bash -c 'umount -l /proc && exec "$@"' bash \
		xfs_quota -x -c 'quota -p -N -n -v -b 42' /nosuch
	assert_equal "$stderr" "xfs_quota: cannot setup path for mount /nosuch: No such file or directory"
}

# The kernel lists no mount for "/" there: a package is built so, and a service may run so.
@test "in a chroot whose root is no mount point a directory is assigned, shown and released" {
	local fs root
	for fs in x e; do
		root=/mnt/$fs/root
		mkdir -p "$root"/{usr,proc,etc,vol,run}
		for name in bin lib lib64; do ln -sT "usr/$name" "$root/$name"; done
		mount --bind /usr "$root/usr"
		mount -t proc none "$root/proc"
		cp "$FSQUOTA" "$root/run/fsquota"
		chroot "$root" /run/fsquota assign /vol --hard 1M --id 88
		[[ $(kernel_has "/mnt/$fs" 88) == *' 0 1024 1 0 0' ]]
		run -0 chroot "$root" /run/fsquota usage --json /vol
		assert_output --partial '"mountpoint":"/"'
		assert_output --partial '"hard_bytes":1048576'
		exits 5 chroot "$root" /run/fsquota doctor /vol
		[[ $stderr == *'outside of the chroot'* ]] || fail "$stderr"
		run -0 chroot "$root" /run/fsquota release /vol
		run kernel_has "/mnt/$fs" 88
		[[ -z $output || $output == '0 0 0 0 0 0' ]] || fail "$output"
		assert_equal "$(cat "$root/etc/projects")" ''
		umount "$root/usr" "$root/proc"
	done
}
