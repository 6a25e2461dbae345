# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# A dockerd of our own with its containerd, and its client: d WORD...

d() { docker -H unix:///run/engines/socket "$@" 3>&-; }

# start_dockerd DATA_ROOT [OPTION]...: and wait until it answers.
start_dockerd() {
	mkdir -p /run/engines
	dockerd --data-root "$1" --exec-root /run/engines/exec --pidfile /run/engines/pid -H unix:///run/engines/socket \
		--iptables=false --bridge=none --storage-driver overlay2 "${@:2}" >/run/engines/log 2>&1 3>&- &
	daemon=$!
	until d version >/dev/null 2>&1; do
		kill -0 "$daemon" || fail "$(tail -n 20 /run/engines/log)"
		nap 0.2
	done
}

stop_dockerd() {
	[ -n "${daemon-}" ] || return 0
	kill "$daemon"
	wait "$daemon" || :
	daemon=''
}
