#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What the native commands have answered they answer again, to the byte, on the newer kernel of User-Mode
# Linux: each file NAME.txt here. "tools/record transcript" writes the answers anew, by FSQUOTA_TRANSCRIPT=record.

load ../lib/fsquota

here=${srcdir:?}/tests/transcript

setup() { [ "$FSQ_GUEST" = uml ] || skip "the transcript has the devices and sizes of User-Mode Linux"; }

# replay: the scenario by which the test is called.
replay() {
	local name=$BATS_TEST_DESCRIPTION played=$BATS_TEST_TMPDIR/played
	local expected=$here/$name.txt
	bash -c '. "$1/transcript.bash" && play "$2"' bash "$here" "$name" >"$played"
	[ "${FSQUOTA_TRANSCRIPT-}" != record ] || cat "$played" >"$expected"
	diff -u --label "$name.txt" --label "now" "$expected" "$played" ||
		fail "the transcript differs: if that is meant, run tools/record transcript/$name"
	echo "# compared $(grep -c '^\$ ' "$expected") invocations on the transcript" >&3
}

@test "help" { replay; }
@test "assign" { replay; }
@test "assign-refused" { replay; }
@test "usage" { replay; }
@test "resize" { replay; }
@test "release" { replay; }
@test "list" { replay; }
@test "supported" { replay; }
@test "id" { replay; }
@test "project" { replay; }
@test "quota" { replay; }
@test "report" { replay; }
@test "filesystems" { replay; }
@test "state" { replay; }
@test "limit" { replay; }
@test "dump" { replay; }
@test "conf" { replay; }
@test "files" { replay; }
@test "refused" { replay; }
@test "words" { replay; }

@test "every file is replayed, begins with what it is about, and there are 210 invocations and more" {
	local file
	assert_equal "$(sed -n 's/^@test "\([a-z0-9-]*\)" { replay; }$/\1/p' "$BATS_TEST_FILENAME" | sort)" \
		"$(cd "$here" && printf '%s\n' *.txt | sed 's/\.txt$//' | sort)"
	for file in "$here"/*.txt; do
		[[ $(head -n 1 "$file") == '# '* ]] || fail "$file"
	done
	assert [ "$(cat "$here"/*.txt | grep -c '^\$ ')" -ge 210 ]
}
