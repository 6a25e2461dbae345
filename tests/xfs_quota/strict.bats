#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
# --strict and FSQUOTA_STRICT=1: the same bytes, and exit codes that mean something.

load ../lib/fsquota

setup_file() {
	fresh_fs x
	fresh_fs x2 -o noquota
	mkdir /mnt/x/dir
}

prefix=()
none=(-x -D/dev/null -P/dev/null)

# strict CODE WORDS...: the bytes are those of the same call without, the status is CODE.
strict() {
	local code=$1 dir=$BATS_TEST_TMPDIR
	shift
	"${prefix[@]}" xfs_quota "${none[@]}" "$@" >"$dir/plain" 2>"$dir/plain.err" || true
	exits "$code" "${prefix[@]}" xfs_quota --strict "${none[@]}" "$@"
	diff "$dir/plain" "$dir/stdout"
	diff "$dir/plain.err" "$dir/stderr"
	exits "$code" env FSQUOTA_STRICT=1 "${prefix[@]}" xfs_quota "${none[@]}" "$@"
}

@test "0 when all is well" { strict 0 -c 'limit -p bhard=1m 5' -c 'quota -pv 5' -c print /mnt/x; }
@test "1 for what cannot be written" {
	mount -o remount,ro /mnt/x
	strict 1 -c 'limit -p bhard=1m 5' /mnt/x
	mount -o remount,rw /mnt/x
}

@test "2 for an unknown command" { strict 2 -c bogus /mnt/x; }
@test "2 for a wrong number of words" { strict 2 -c 'print x' /mnt/x; }
@test "2 for a size that is none" { strict 2 -c 'limit -p bhard=xx 5' /mnt/x; }
@test "3 for a command that wants XFS" { strict 3 -f -c path -c 'enable -p' /mnt/e; }
@test "4 for who may not" { prefix=(unshare -Ur) && strict 4 -c 'limit -p bhard=1m 5' /mnt/x; }
@test "5 for a path that is not there" { strict 5 -c 'state -p' /nonexistent; }
@test "5 for a project that is not there" { strict 5 -c 'limit -p bhard=1m nosuch' /mnt/x; }
@test "5 for an ID without a record" { strict 5 -c 'quota -pv 4242' /mnt/x; }
@test "6 for a directory that carries another ID" {
	oracle "${none[@]}" -c 'project -s -p /mnt/x/dir 8' /mnt/x
	echo 9:/mnt/x/dir >"$BATS_TEST_TMPDIR/projects"
	strict 6 -D "$BATS_TEST_TMPDIR/projects" -c df /mnt/x
}

@test "the first failure counts" { strict 5 -c 'limit -p bhard=1m nosuch' -c bogus /mnt/x; }
@test "FSQUOTA_STRICT=0 is as if it were not set" {
	FSQUOTA_STRICT=0 run -0 xfs_quota "${none[@]}" -c bogus /mnt/x
}

@test "--strict may be the argument of another option" {
	prints 'command "--strict" not found' xfs_quota "${none[@]}" -c --strict /mnt/x
}
