#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What the native door has said before it says again, to the byte: invocations.list, on the newer
# kernel of User-Mode Linux. What is meant to change is recorded anew (tests/transcript/record) and
# read as a diff; FSQUOTA_TRANSCRIPT=record writes instead of comparing.

load ../lib/fsquota

here=${srcdir:?}/tests/transcript

setup() {
	[ "$FSQ_GUEST" = uml ] || skip "the transcript has the devices and sizes of User-Mode Linux"
}

replay() {
	local played=$BATS_TEST_TMPDIR/played expected=$here/expected/$1.txt
	# shellcheck disable=SC2016 # for another shell
	bash -c '. "$1/transcript.bash" && play "$2"' bash "$here" "$1" >"$played"
	[ "${FSQUOTA_TRANSCRIPT-}" != record ] || cat "$played" >"$expected"
	diff -u --label "expected/$1.txt" --label "now" "$expected" "$played"
	echo "# compared $(grep -c '^\$ ' "$expected") invocations on the transcript" >&3
}

@test "help: the program itself" { replay help; }
@test "assign: a quota on a directory of XFS" { replay assign; }
@test "assign-refused: what assign does not do" { replay assign-refused; }
@test "ext4: the same commands on ext4" { replay ext4; }
@test "f2fs: the same commands on f2fs" { replay f2fs; }
@test "usage: how much a directory uses" { replay usage; }
@test "resize: a larger limit, and a smaller one" { replay resize; }
@test "release: the quota off a directory" { replay release; }
@test "owner: whose an ID is" { replay owner; }
@test "list: all projects" { replay list; }
@test "supported: whether there can be a quota" { replay supported; }
@test "id: project IDs and flags of files" { replay id; }
@test "project: the ID of directory trees" { replay project; }
@test "quota: use and limits of one" { replay quota; }
@test "report: use and limits of all" { replay report; }
@test "filesystems: df, print and path" { replay filesystems; }
@test "state: quota on and off" { replay state; }
@test "limit: limits with each unit" { replay limit; }
@test "timer: grace times, and warnings" { replay timer; }
@test "dump: limits out and in" { replay dump; }
@test "quot: who owns what" { replay quot; }
@test "conf: fsquota.conf" { replay conf; }
@test "files: the shared files, and their locks" { replay files; }
@test "refused: an ordinary user, and filesystems without quota" { replay refused; }
@test "words: where options stand, and how they are shortened" { replay words; }

@test "every scenario is replayed, and there are 500 invocations and more" {
	# shellcheck disable=SC2016 # for another shell
	run bash -c '. "$1/transcript.bash" && scenarios' bash "$here"
	assert_output "$(sed -n 's/^@test .* { replay \([a-z0-9-]*\); }$/\1/p' "$here/transcript.bats")"
	assert_output "$(cd "$here/expected" && for scenario in $output; do basename "$scenario.txt" .txt; done)"
	assert_equal "$(find "$here/expected" -name '*.txt' | wc -l)" "${#lines[@]}"
	assert [ "$(cat "$here"/expected/*.txt | grep -c '^\$ ')" = "$(grep -c '^\$ ' "$here/invocations.list")" ]
	assert [ "$(grep -c '^\$ ' "$here/invocations.list")" -ge 500 ]
}
