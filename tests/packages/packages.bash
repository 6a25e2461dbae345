# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# For the tests of packages, which take minutes: what they run, where nothing stays behind, and how far it is.

# busy LOG PROGRAM [ARGUMENT...]: its output goes to LOG; where it fails, the end of that is shown.
busy() {
	ticking "${@:2}" >"$1" 2>&1 || { tail -n 50 "$1" && return 1; }
}

# bare_debian LOG ARGUMENT...: mmdebstrap makes one, in a mount namespace: killed, it would leave the machine's
# /dev/shm mounted below a directory that is then removed.
bare_debian() {
	local own=()
	[ "$(id -u)" != 0 ] || own=(unshare --mount)
	busy "$1" "${own[@]}" mmdebstrap --quiet --variant=minbase --aptopt='APT::Sandbox::User "root"' "${@:2}" \
		bookworm /dev/null
}
