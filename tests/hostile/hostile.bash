# shellcheck shell=bash
# shellcheck disable=SC2034 # variables of and for the suites
# SPDX-License-Identifier: Apache-2.0
#
# What the suites of this folder have in common; loaded after fsquota.bash.

FIRST=1048577
tenant=${builddir:?}/tests/hostile/tenant

# Files of others, and nothing of ours. The quota of no ID but 0 is left from the test before.
no_files() {
	printf '# foreign\n7:/somewhere/else\n' >/etc/projects
	printf '# foreign\nelsewhere:7\n' >/etc/projid
	rm -f /etc/fsquota.conf
}

# set_id ID FILE...: as the owner of the files does
set_id() { chattr -p "$@"; }

# begin_tenant DIR VICTIM WHAT...: sets tenant_pid; end_tenant ends it and shows what was done
begin_tenant() {
	coproc TENANT { exec "$tenant" "$@" 3>&-; }
	tenant_pid=$TENANT_PID
	# Its own descriptors are gone when the coprocess is.
	exec {tenant_out}<&"${TENANT[0]}"
	local line
	read -r -u "$tenant_out" line && [ "$line" = ready ] || fail "the tenant does not start: $line"
}

end_tenant() {
	[ -n "${tenant_pid-}" ] || return 0
	kill "$tenant_pid"
	cat <&"$tenant_out"
	exec {tenant_out}<&-
	wait "$tenant_pid" 2>/dev/null || true
	tenant_pid=
}

# is_stopped_at CALL COUNT CMD...: as stopped_at; or it has ended before that, and status, stdout and stderr are set.
is_stopped_at() {
	local words=("${@:3}") to pid
	coproc STOPPED { exec "${builddir:?}/tests/transaction/fail" 3>&-; }
	to=${STOPPED[1]} pid=$STOPPED_PID
	echo "$1 $2 stop 0 /dev/null $BATS_TEST_TMPDIR/stdout $BATS_TEST_TMPDIR/stderr ${words[*]// /$'\t'}" >&"$to"
	read -r status _ <&"${STOPPED[0]}"
	[ "$status" != stopped ] || return 0
	exec {to}>&-
	wait "$pid"
	stdout=$(<"$BATS_TEST_TMPDIR/stdout") stderr=$(<"$BATS_TEST_TMPDIR/stderr")
	return 1
}
