#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=install
# needs: podman crun golang-go kubelet python3-kubernetes python3-yaml
#
# contrib/kubernetes: each overlay is what the API's schema wants, and podman runs the containers of the DaemonSet on
# the rights, the volumes and the seccomp profile that it gives them. Kubelet's own package makes volumes beside apply.

# shellcheck disable=SC2154 # run sets variables
load ../lib/fsquota
load kubelet

readonly kubelet=/mnt/x/kubelet node=/mnt/x/node

setup_file() {
	mount -t tmpfs var /var
	[ -e /sys/fs/cgroup/cgroup.controllers ] || mount -t cgroup2 cgroup2 /sys/fs/cgroup
	loopback_up
	mkdir -p /etc/containers
	echo '{"default":[{"type":"insecureAcceptAnything"}]}' >/etc/containers/policy.json
	printf '%s\n' '[storage]' 'driver = "vfs"' 'runroot = "/run/pods/podman"' 'graphroot = "/run/pods/storage"' \
		>/etc/containers/storage.conf
	# The system's programs, and ours.
	mkdir -p /run/pods/root/{own,usr,proc,dev,sys,tmp,etc/fsquota.d,node/etc,var/lib/kubelet,var/log/pods}
	ln -s usr/bin usr/lib usr/lib64 /run/pods/root
	cp "$FSQUOTA" /run/pods/root/own/fsquota
	"$BATS_TEST_DIRNAME/manifest" "$srcdir/contrib/kubernetes/base/daemonset.yaml" >"$BATS_FILE_TMPDIR/containers"
}

teardown_file() {
	rm -r /etc/containers
	umount -l /var
}

setup() {
	fresh_fs x
	map=$BATS_TEST_TMPDIR/map
	mkdir -p $kubelet/{before,teams} $node "$map"
	touch $node/{projects,projid}
	# As the first container has copied it.
	profiles=$BATS_TEST_TMPDIR
	cp "$srcdir/contrib/kubernetes/base/seccomp.json" "$profiles/fsquota.json"
	fsquota assign --projects-file $node/projects --projid-file $node/projid --id 77 --hard 9M $kubelet/before
	sed -i "s|$kubelet|/var/lib/kubelet|" $node/projects
	export HOME=/run/pods GODEBUG=asyncpreemptoff=1
}

teardown() {
	[ -z "${apply-}" ] || end_process "$apply"
	p rm --all --force --time 0 >/dev/null
}

p() { podman --cgroup-manager=cgroupfs --events-backend=none --runtime crun "$@" 3>&-; }

# container NAME [OPTION...]: the command line that runs the container of that name goes to words.
container() {
	local name=$1 what a b c
	words=(run --detach --name "$name" --rootfs --read-only --network host --cgroups=disabled --cap-drop all
		--env PATH=/own:/usr/bin -v /usr:/usr:ro "${@:2}")
	while read -r what a b c; do
		case $what:$a in
		volume:/var/lib/kubelet) words+=(-v "$kubelet:$b:$c") ;;
		volume:/etc) words+=(-v "$node:$b:$c") ;;
		volume:*) mkdir -p "$a" && words+=(-v "$a:$b:$c") ;;
		configmap:*) words+=(-v "$map:$b:$c") ;;
		env:*) words+=(--env "$a") ;;
		capability:*) words+=(--cap-add "$a") ;;
		esac
	done < <(sed -n "s/^$name //p" "$BATS_FILE_TMPDIR/containers")
	words+=(/run/pods/root)
	while IFS= read -r a; do
		words+=("$(jq -r . <<<"$a")")
	done < <(sed -n "s/^$name word //p" "$BATS_FILE_TMPDIR/containers")
}

# runs NAME: start it, with its profile. ends NAME: which it does with status 0 after SIGTERM; what it said
# is in said.
runs() {
	container "$1" --security-opt "seccomp=$profiles/$(sed -n "s/^$1 profile //p" "$BATS_FILE_TMPDIR/containers")"
	p "${words[@]}" >/dev/null
	assert_equal "$(p exec "$1" sed -n 's/^Seccomp:[[:space:]]*//p' /proc/1/status)" 2
}

ends() {
	p kill --signal TERM "$1" >/dev/null
	until_true has_ended "$1"
	said=$(p logs "$1" 2>&1)
	assert_equal "$(p inspect --format '{{.State.ExitCode}}' "$1"): $said" "0: $said"
}

has_ended() { [ "$(p inspect --format '{{.State.Status}}' "$1")" = exited ]; }

# answers: Prometheus has its page in $BATS_TEST_TMPDIR/page
answers() { "$srcdir/tests/metrics/http" 127.0.0.1 9753 'GET /metrics HTTP/1.1' "@$BATS_TEST_TMPDIR/page" 2>/dev/null; }

@test "metrics serves Prometheus and the probe, and runs what README.md shows" {
	local list
	runs metrics
	until_true answers
	assert_equal "$(sed -n 's/^fsquota_project_hard_bytes{id="77",//p' "$BATS_TEST_TMPDIR/page")" \
		"name=\"volume77\",path=\"/var/lib/kubelet/before\",filesystem=\"$FSQ_X_DEV\",mountpoint=\"/var/lib/kubelet\"} 9437184"
	assert_equal "$(grep -c '^fsquota_project_info{id="77",.*path="/var/lib/kubelet/before"' "$BATS_TEST_TMPDIR/page")" 1
	run -0 "$srcdir/tests/metrics/http" 127.0.0.1 9753 'GET /healthz HTTP/1.1'
	assert_line --index 0 'HTTP/1.1 200 OK'
	list=$(sed -n 's/^    kubectl .* exec .* -- \(fsquota list .*\)/\1/p' "$srcdir/contrib/kubernetes/README.md")
	# shellcheck disable=SC2086 # its words
	run -0 p exec metrics $list
	assert_line --regexp '^ *77 .* 9M .* /var/lib/kubelet/before$'
	ends metrics
	assert_equal "$said" ''
}

registered() { grep -qx "[0-9]*:/var/lib/kubelet/$1" $node/projects; }

@test "apply gives a directory that appears its quota, as the ConfigMap says it now" {
	# As kubelet does it: a new directory, to which a link is moved.
	mkdir "$map/..1" "$map/..2"
	echo '/var/lib/kubelet/teams/* hard=7M' >"$map/..1/node.conf"
	echo '/var/lib/kubelet/teams/* hard=8M' >"$map/..2/node.conf"
	ln -s ..1 "$map/..data"
	ln -s ..data/node.conf "$map/node.conf"
	runs apply
	install -d -o 1000 -m 700 $kubelet/teams/one
	until_true registered teams/one
	until_true limited $kubelet/teams/one 7340032
	ln -s ..2 "$map/..new"
	mv -T "$map/..new" "$map/..data"
	until_true limited $kubelet/teams/one 8388608
	ends apply
	assert_equal "$(grep -v '^created\|^changed' <<<"$said")" ''
}

limited() { [ "$(fsquota usage --json --projects-file $node/projects "$1" | jq '.usage[0].hard_bytes')" = "$2" ]; }

@test "a volume that kubelet's package registers is capped, again after a restart, and nothing is left when it goes" {
	local id lines=/run/pods/lines volumes=/mnt/x/pods/0b3ef7e6-7d11-4d5c-9a55-2f0d4a1f6c55/volumes/kubernetes.io~empty-dir
	local program messages=$BATS_TEST_TMPDIR/messages
	program=$("$srcdir/tests/guest/kubelet")
	rm -f /etc/projects /etc/projid
	mkdir -p "$lines" "$volumes"
	"$FSQUOTA" apply --watch --quiet "$lines" >"$BATS_TEST_TMPDIR/rows" 2>"$messages" 3>&- &
	apply=$!
	printf '%s\n' "$volumes/"{0..9}' hard=7M registered' >"$lines/pods.conf"
	coproc KUBELET { exec "$program" "$volumes" 2>&1 3>&-; }
	# As many as it makes from one line to the next, and it compares what it reads of them with the disk.
	printf '\n\n' >&"${KUBELET[1]}"
	read -r <&"${KUBELET[0]}"
	until_true limited "$volumes/0" 7340032
	id=$(fsquota id "$volumes/0")
	assert_equal "$(grep -c ":$volumes/0\$" /etc/projects) $(grep -c "^volume$id:$id\$" /etc/projid)" '1 1'
	# What kubelet does from 1.24 on when it starts; 1.20 leaves the volumes that there are alone.
	kubelet_assigns /mnt/x "$volumes/0" "$id" "$XFS_UNLIMITED"
	until_true limited "$volumes/0" 7340032
	# This one clears what an earlier one has left.
	id=$KUBELET_PID
	exec {KUBELET[1]}>&-
	wait "$id"
	"$program" "$volumes" </dev/null 3>&-
	assert_equal "$(ls "$volumes")$(cat /etc/projects /etc/projid)$(cat "$messages")" ''
	assert_equal "$(real -c 'report -p -N -n -b' /mnt/x | awk -F'[# ]+' '$2 && $2 != 77 && $4 + $5')" ''
}

@test "prune releases what is gone, and ends when it is told to" {
	rmdir $kubelet/before
	runs prune
	until_true pruned
	ends prune
	[[ $said == 'removed project 77 '*'/var/lib/kubelet/before: the directory is gone' ]] || fail "$said"
}

pruned() { ! registered before; }
