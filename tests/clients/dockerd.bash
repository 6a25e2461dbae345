# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# A dockerd of our own with its containerd, and their clients: d WORD..., c WORD...

d() { docker -H unix:///run/engines/socket "$@" 3>&-; }
c() { ctr --address /run/engines/containerd/socket "$@"; }

# started PROCESS COMMAND...: wait until the command succeeds.
started() {
	until "${@:2}" >/dev/null 2>&1; do
		kill -0 "$1" || fail "$(tail -n 20 /run/engines/log)"
		nap 0.2
	done
}

# start_dockerd DATA_ROOT [OPTION]...: and wait until it answers. For a containerd that dockerd starts it would wait for
# 15 seconds only, which a slow machine needs.
start_dockerd() {
	local at=/run/engines/containerd
	mkdir -p $at
	printf '%s\n' 'version = 2' 'disabled_plugins = ["io.containerd.grpc.v1.cri"]' >$at/config.toml
	containerd --config $at/config.toml --root "$1/containerd/daemon" --state $at/state --address $at/socket \
		>>/run/engines/log 2>&1 3>&- &
	containerd=$!
	started "$containerd" c version
	dockerd --data-root "$1" --exec-root /run/engines/exec --pidfile /run/engines/pid -H unix:///run/engines/socket \
		--containerd $at/socket --iptables=false --bridge=none --storage-driver overlay2 "${@:2}" >>/run/engines/log 2>&1 3>&- &
	daemon=$!
	started "$daemon" d version
}

stop_dockerd() {
	local process
	for process in ${daemon-} ${containerd-}; do
		kill "$process"
		wait "$process" || :
	done
	daemon='' containerd=''
}
