#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared,random
#
# apply --watch beside whoever makes, renames and removes directories, mounts over them and writes its lines: what it
# has done in the end is what the rules of the model say.
#
#   FSQUOTA_FULL        set: 10000 steps on each filesystem, instead of 200
#   FSQUOTA_MODEL_SEED  the first seed (1)

load ../lib/fsquota

setup() {
	fresh_each x x2 e
	rm -f /etc/fsquota.conf
}

# follows FILESYSTEM: it does, in so many steps.
follows() {
	local steps=200
	[ -z "${FSQUOTA_FULL-}" ] || steps=10000
	run ticking "$BATS_TEST_DIRNAME/model" --steps $steps --seed "${FSQUOTA_MODEL_SEED:-1}" --filesystem "$1" \
		--only watch,mount,unmount --whole
	printf '%s\n' "${lines[@]}" | sed -n '/^# model steps of watch\|seed/p' >&3
	[ "$status" = 0 ] || fail "$output"
}

@test "XFS: apply --watch follows directories, mounts and lines, killed, and with events that are lost" { follows xfs; }

# bats test_tags=full
@test "ext4: apply --watch follows directories, mounts and lines, killed, and with events that are lost" { follows ext4; }
