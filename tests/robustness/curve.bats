#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# needs: valgrind
#
# The costs of a directory among few and among more of them, by tests/bench/curve: it says what is counted, and the
# targets. By hand it goes up to a hundred thousand.

load ../lib/fsquota

# bats test_tags=install,many
@test "a directory costs apply, apply --watch and assign the same among twenty times as many" {
	local side=static
	! ldd "$FSQUOTA" >/dev/null 2>&1 || side=fsquota
	fresh_fs x
	FSQUOTA_STATIC=$FSQUOTA "${srcdir:?}/tests/bench/curve" --check --only $side --share 20 --below 100 --idle 2 \
		--churn 200 100 2000 2>&1 | sed -u 's/^/# /' >&3
	assert_equal "${PIPESTATUS[0]}" 0
	rm /etc/projects /etc/projid /var/lib/fsquota/applied
}
