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
