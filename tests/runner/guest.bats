#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The guest that tests/guest/run starts.

bats_require_minimum_version 1.5.0

@test "an ordinary user's filesystems are like root's: each can be written, and counts" {
	local as=()
	[ "$(id -u)" != 0 ] || as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	cd /
	run -0 "${as[@]}" env TMPDIR=/tmp "$BATS_TEST_DIRNAME/../guest/run" --write /tmp -- sh -c 'set -e
		for mount in /mnt/*; do
			stat -c "%n %u" "$mount"
			mkdir "$mount/dir"
			chattr -p 42 "$mount/dir"
			repquota -P "$mount" | grep -c ^#42
		done' 3>&-
	[ "$output" = $'/mnt/e 0\n1\n/mnt/f 0\n1\n/mnt/x 0\n1\n/mnt/x2 0\n1' ] || { echo "$output" && false; }
}

# bats test_tags=full
@test "a suite can begin while the kernel is in its first second" {
	printf '@test "one" {\n\ttrue\n}\n' >"$BATS_TEST_TMPDIR/one.bats"
	run -0 "$BATS_TEST_DIRNAME/../guest/run" -- sh -c 'echo 0.84 0.08 >/run/uptime
		mount --bind /run/uptime /proc/uptime && exec "$@"' - \
		"$BATS_TEST_DIRNAME/../suite" "$BATS_TEST_TMPDIR/one.bats" 3>&-
	[[ $output == *$'\nok 1 one'* && $output != *'not ok'* ]] || { echo "$output" && false; }
}
