#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# A file server's day beside apply --watch --prune: nobody who is wished for is without limits, and no ID changes.
#
#   FSQUOTA_FULL      set: ten minutes with 2000 homes, instead of half a minute with 200
#   FSQUOTA_DAY_SEED  the seed (1)

load ../lib/fsquota

setup() {
	fresh_each x e
	rm -rf /etc/fsquota.conf* /etc/fsquota.d /etc/projects /etc/projid /var/lib/fsquota
}

teardown() { rm -rf /etc/fsquota.d /var/lib/fsquota; }

# day FILESYSTEM
day() {
	local size=(--seconds 30 --homes 200)
	[ -z "${FSQUOTA_FULL-}" ] || size=(--seconds 600 --homes 2000 --late 20)
	run ticking "$BATS_TEST_DIRNAME/day" "${size[@]}" --seed "${FSQUOTA_DAY_SEED:-1}" "/mnt/$1"
	echo "# ${lines[0]}" >&3
	[ "$status" = 0 ] || fail "$output"
}

# bats test_tags=random
@test "on XFS homes come and go, and lines are rewritten, and everybody has the limits of his line all day" { day x; }

# bats test_tags=random,full
@test "on ext4 homes come and go, and lines are rewritten, and everybody has the limits of his line all day" { day e; }
