#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=install,shared
# needs: docker.io podman runc crun
#
# oci-hook with real runtimes: a container has the limits of its annotations while it runs, on XFS and on ext4.

# shellcheck disable=SC2154 # run_split sets stdout and stderr
load ../lib/fsquota
load dockerd

setup_file() {
	fresh_each x e
	mount -t tmpfs var /var
	[ -s /sys/fs/cgroup/cgroup.controllers ] || mount -t cgroup2 cgroup2 /sys/fs/cgroup
	mkdir -p /run/hook/lower/bin /run/hook/lower/proc /run/hook/lower/dev
	cp /bin/bash-static /run/hook/lower/bin/sh
}

setup() {
	rm -f /etc/projects /etc/projid /etc/fsquota.conf
	export GODEBUG=asyncpreemptoff=1
}

teardown() {
	stop_dockerd
	umount -q /run/hook/*/rootfs || true
	rm -rf /mnt/{x,e}/store
}

# bundle NAME FILESYSTEM SCRIPT [KEY VALUE]...: a container in /run/hook/NAME, its layer in /mnt/FILESYSTEM/store/NAME, or
# in $upper and $work, and the annotations
bundle() {
	local top=/run/hook/$1 fs=${upper-/mnt/$2/store/$1/fs} work=${work-/mnt/$2/store/$1/work} options
	mkdir -p "$top/rootfs" "$fs" "$work"
	chmod 777 "$fs"
	options="lowerdir=${lower-/run/hook/lower},upperdir=$(escaped "$fs"),workdir=$(escaped "$work")"
	mount -t overlay -o "$options" overlay "$top/rootfs"
	jq -n --arg script "$3" --arg hook "$FSQUOTA" '{
		ociVersion: "1.0.2", root: {path: "rootfs"},
		process: {user: {uid: 1000, gid: 1000}, cwd: "/", env: ["PATH=/bin"], args: ["/bin/sh", "-c", $script]},
		mounts: [{destination: "/proc", type: "proc", source: "proc"}, {destination: "/dev", type: "tmpfs", source: "tmpfs"}],
		linux: {namespaces: [{type: "pid"}, {type: "mount"}, {type: "ipc"}, {type: "uts"}]},
		hooks: ({createRuntime: [{path: $hook, args: ["fsquota", "oci-hook"]}]} | .poststop = .createRuntime),
		annotations: ($ARGS.positional | [range(0; length; 2) as $i | {key: ("io.fsquota/" + .[$i]), value: .[$i + 1]}] | from_entries)
	}' --args "${@:4}" >"$top/config.json"
}

# For the options of an overlay.
escaped() { sed 's/[\\,]/\\&/g' <<<"$1"; }

# hook ID STATUS BUNDLE: as a runtime calls it
hook() { jq -n '$ARGS.named' --arg id "$1" --arg status "$2" --arg bundle "$3" | fsquota oci-hook; }

# stopped_at_limit FILESYSTEM [REST]: what runs this was; its stdout ends with REST, and nothing is left.
fill='printf %04000000d 0 >/file; echo $?'
stopped_at_limit() {
	[ "$status:$stdout" = "0:1${2-}" ] || fail "$1: $status:$stdout:$stderr"
	assert_one_line
	assert_regex "$stderr" 'No space left on device|Disk quota exceeded'
	nothing_is_left "$1"
}

nothing_is_left() {
	assert_equal "$(cat /etc/projects /etc/projid)" ''
	[[ $(kernel_has "/mnt/$1" 1048577) =~ ^([0-9]+\ 0\ 0\ [0-9]+\ 0\ 0)?$ ]] || fail "$1 has a limit"
}

runs() {
	run_split "$1" --root "/run/hook/state-$1" run --bundle "/run/hook/$2" "$2"
}

@test "a container that fills its layer is stopped at the limit, with crun and runc" {
	local runtime fs
	for runtime in crun runc; do
		for fs in x e; do
			bundle one $fs 'printf %04000000d 0 >/file; echo $?; while read -r line; do case $line in *overlay*) echo ok; esac; done </proc/mounts' \
				hard 3M soft 2M inodes 100
			runs $runtime one
			stopped_at_limit $fs $'\nok'
			assert [ "$(stat -c %s /mnt/$fs/store/one/fs/file)" -le 3145728 ]
			assert_equal "$(lsattr -pd /mnt/$fs/store/one/fs | awk '{ print $1 }')" 0
			umount /run/hook/one/rootfs
			rm -r /mnt/$fs/store/one
		done
	done
}

# bats test_tags=full
@test "twenty containers start and stop at once" {
	local fs n failed=''
	for fs in x e; do
		for n in {1..20}; do
			bundle c$n $fs 'echo text >/file; read -r line' hard $((n + 1))M
		done
		rm -f /run/hook/end
		mkfifo /run/hook/end
		exec 9<>/run/hook/end
		for n in {1..20}; do
			crun --root /run/hook/state-crun run --bundle /run/hook/c$n c$n </run/hook/end >"$BATS_TEST_TMPDIR/$n" 2>&1 3>&- 9>&- &
		done
		until_true eval '[ "$(grep -c :/mnt/$fs/store/ /etc/projects)" = 20 ]'
		# Each has its own ID and its own limit.
		for n in {1..20}; do
			[[ "$(fsquota usage -N --raw -o NAME,HARD /mnt/$fs/store/c$n)" = oci-c$n-*" $((n + 1))M" ]] || failed+=" $n"
		done
		assert_equal "$failed:$(cut -d: -f1 /etc/projects | sort -u | wc -l)" :20
		for n in {1..20}; do echo end >&9; done
		wait
		# A line that is taken off stays until nobody has the file open.
		assert_equal "$(grep -h "^[a-z0-9-]*:" /etc/projects /etc/projid; cat "$BATS_TEST_TMPDIR"/{1..20})" ""
		umount /run/hook/c*/rootfs
	done
}

# bats test_tags=full
@test "what a runtime that was killed has left goes with the next container that ends" {
	local fs pid
	for fs in x e; do
		bundle killed $fs 'while :; do read -rt 1 <>/dev/zero; done' hard 5M
		crun --root /run/hook/state-crun run --bundle /run/hook/killed killed >/dev/null 2>&1 3>&- &
		until_true eval '[ "$(crun --root /run/hook/state-crun state killed 2>/dev/null | jq -r .status)" = running ]'
		kill -9 $!
		wait $! || true
		pid=$(crun --root /run/hook/state-crun state killed | jq .pid)
		kill -9 "$pid"
		until_true eval "[ ! -e /proc/$pid ]"
		rm -r /run/hook/state-crun/killed
		umount /run/hook/killed/rootfs
		assert_regex "$(cut -d: -f1 /etc/projid)" ^oci-killed-
		# Started again, it has its ID again.
		bundle killed $fs 'echo again' hard 6M
		runs crun killed
		assert_equal "$status:$stdout:$(cat /etc/projects)" 0:again:
		# Gone.
		bundle other $fs 'echo other' hard 6M
		mkdir /mnt/$fs/store/gone
		fsquota assign /mnt/$fs/store/gone --hard 1M --name oci-gone >/dev/null
		rm -r /mnt/$fs/store/gone
		settle /mnt/$fs
		runs crun other
		assert_equal "$status:$stdout:$(cat /etc/projects /etc/projid)" 0:other:
		umount /run/hook/{killed,other}/rootfs
	done
}

# stops WORD ARGUMENT...: the bundle of these does not run, and the hook, called by hand, has this in its one line
stops() {
	local word=$1
	bundle bad x 'echo runs' "${@:2}"
	runs crun bad
	assert [ "$status" != 0 ]
	refute_output --partial runs
	run_split fsquota oci-hook <<<'{"id":"bad","status":"created","bundle":"/run/hook/bad"}'
	assert_one_line
	assert_regex "$stderr" "$word"
	assert_equal "$(cat /etc/projects /etc/projid 2>/dev/null)" ""
	umount /run/hook/bad/rootfs
}

@test "annotations that are wrong stop the container, those of others and none do not" {
	stops '"much" is no size' hard much
	stops '"-1" is no size' hard -1
	stops '"1M --help" is no size' soft '1M --help'
	stops '"" is no size' hard ''
	stops 'there is no annotation io.fsquota/hrad' hrad 3M
	stops 'soft 4M would be above hard 3M' hard 3M soft 4M
	echo 'budget = /mnt/x/store 2M' >/etc/fsquota.conf
	stops 'the budget of /mnt/x/store is 2M' hard 3M
	bundle plain x 'echo runs'
	runs runc plain
	assert_equal "$status:$stdout:$(cat /etc/projects 2>/dev/null)" 0:runs:
	umount /run/hook/plain/rootfs
	bundle plain x 'echo runs'
	jq '.annotations = {"io.other/hard": "much"}' /run/hook/plain/config.json >/run/hook/new
	mv /run/hook/new /run/hook/plain/config.json
	runs runc plain
	assert_equal "$status:$stdout" 0:runs
}

@test "an annotation, which an image can have, replaces no limit; an option of the hook does" {
	mkdir -p /mnt/x/store/bad/fs
	real -c 'limit -p bhard=2m 77' -c 'project -s -p /mnt/x/store/bad 77' /mnt/x >/dev/null
	stops 'has a limit already' hard 6M
	bundle bad x "$fill" hard 6M other much
	jq '.hooks[][0].args += ["--hard=3M"]' /run/hook/bad/config.json >/run/hook/new
	mv /run/hook/new /run/hook/bad/config.json
	runs crun bad
	stopped_at_limit x
	umount /run/hook/bad/rootfs
}

# bats test_tags=full
@test "a layer beside other directories is limited, and they are not, and a second one starts beside it" {
	local fs top dir upper work lower
	for fs in x e; do
		top=/mnt/$fs/store lower=$top/low
		mkdir -p $top/{low/sub,data}
		head -c 4M /dev/zero >$top/data/file
		for dir in one two; do
			upper=$top/up-$dir work=$top/wk-$dir
			bundle $dir $fs '' hard 3M
			is_silent hook $dir created /run/hook/$dir
		done
		assert_equal "$(lsattr -pd $top $top/* | awk '$1 == 0 { print $3 }')" "$top"$'\n'"$top/data"$'\n'"$top/low"
		assert_equal "$(lsattr -pd $top/*-one $top/*-two | awk '{ print $1 }' | uniq -c | awk '{ print $1 }')" $'2\n2'
		for dir in one two; do
			run as_user dd if=/dev/zero of=/run/hook/$dir/rootfs/file bs=64k count=64 conv=fsync
			assert_output --regexp 'No space left|quota exceeded'
			assert [ "$(stat -c %s $top/up-$dir/file)" -gt 2500000 ]
		done
		# Where the second directory is somebody else's, the first one stays as it was.
		umount /run/hook/two/rootfs
		is_silent hook two stopped /run/hook/two
		fsquota assign $top/wk-two --name theirs >/dev/null
		bundle two $fs '' hard 9M
		refuses 6 $top/wk-two hook two created /run/hook/two
		assert_equal "$(lsattr -pd $top/up-two | awk '{ print $1 }') $(cut -d: -f1 /etc/projid | grep -c '[^#]')" '0 2'
		umount /run/hook/{one,two}/rootfs
		is_silent hook one stopped /run/hook/one
		fsquota release $top/wk-two
		nothing_is_left $fs
		rm -rf $top
	done
}

# bats test_tags=full
@test "the directory that an engine makes for a layer alone is limited, not both directories in it" {
	local fs top upper work name other
	for fs in x e; do
		top=/mnt/$fs/store/layer
		for name in diff fs upper; do
			upper=$top/$name work=$top/work
			mkdir -p $top/{merged,empty}
			touch $top/{link,lower,committed}
			bundle one $fs '' hard 3M
			is_silent hook one created /run/hook/one
			assert_equal "$(cut -d: -f2 /etc/projects)" $top
			is_silent hook one stopped /run/hook/one
			umount /run/hook/one/rootfs
			# What is somebody else's stays out.
			for other in $top/{file,merged/file,lower/file}; do
				[[ $other != */lower/* ]] || { rm $top/lower && mkdir $top/lower; }
				: >$other
				bundle one $fs '' hard 3M
				is_silent hook one created /run/hook/one
				assert_equal "$other: $(cut -d: -f2 /etc/projects)" "$other: $upper"$'\n'"$work"
				is_silent hook one stopped /run/hook/one
				umount /run/hook/one/rootfs
				rm $other
			done
			rm -r $top
		done
	done
}

# bats test_tags=full
@test "two containers with one ID, of two engines, have limits of their own" {
	local fs dir
	for fs in x e; do
		for dir in one two; do
			bundle $dir $fs '' hard 3M
			is_silent hook same created /run/hook/$dir
		done
		assert_equal "$(lsattr -pd /mnt/$fs/store/{one,two} | awk '{ print $1 }' | sort -u | wc -l)" 2
		is_silent hook same stopped /run/hook/two
		assert_equal "$(grep -v '^#' /etc/projects | cut -d: -f2)" /mnt/$fs/store/one
		assert_equal "$(fsquota usage -N --raw -o HARD /mnt/$fs/store/one)" 3M
		is_silent hook same stopped /run/hook/one
		umount /run/hook/{one,two}/rootfs
		nothing_is_left $fs
	done
}

@test "the bundle is the state's, whatever the configuration says" {
	bundle one x '' hard 3M
	bundle two x '' hard 3M
	jq '. + {bundle: "/run/hook/two", id: "x", status: "stopped"}' /run/hook/one/config.json >/run/hook/new
	mv /run/hook/new /run/hook/one/config.json
	is_silent hook one created /run/hook/one
	assert_equal "$(cut -d: -f2 /etc/projects)" /mnt/x/store/one
	is_silent hook one stopped /run/hook/one
	umount /run/hook/{one,two}/rootfs
	nothing_is_left x
}

# bats test_tags=full
@test "an annotation that is no string stops the container" {
	local key value
	bundle one x '' hard 3M
	cp /run/hook/one/config.json /run/hook/good
	for key in hard soft inodes; do
		for value in 3 3.5 true false null '[]' '{}' '["3M"]' '{"a":"3M"}' '[[]]'; do
			jq ".annotations[\"io.fsquota/$key\"] = $value" /run/hook/good >/run/hook/one/config.json
			refuses 2 "the annotation io.fsquota/$key is no string" hook one created /run/hook/one
		done
	done
	assert_equal "$(cat /etc/projects /etc/projid 2>/dev/null)" ''
	umount /run/hook/one/rootfs
}

# bats test_tags=full
@test "a layer with commas and backslashes in its name" {
	local name upper work
	for name in 'a,b' 'a\b' 'a\,b' 'c\\,' 'a b,upperdir=/x' 'd\054'; do
		upper=/mnt/x/store/$name/fs work=/mnt/x/store/$name/work
		bundle one x '' hard 3M
		is_silent hook one created /run/hook/one
		assert_equal "$(lsattr -pd "$upper" | awk '{ print ($1 > 0) }') $name" "1 $name"
		is_silent hook one stopped /run/hook/one
		umount /run/hook/one/rootfs
		assert_equal "$(lsattr -pd "$upper" | awk '{ print $1 }') $name" "0 $name"
	done
}

# bats test_tags=full
@test "states and bundles that are none" {
	local input deep
	printf -v deep '%0100d' 0
	for input in '' { '[]' '{"id":"a"}' '{"id":"a","status":"created"}' '{"id":"a","status":"created","bundle":"/b"} x' \
		'{"id":"a","status":"created","bundle":"/b",}' '{"id":"a\u0000","status":"created","bundle":"/b"}' \
		'{"id":"a","status":01,"bundle":"/b"}' '{"id":"a","status":nul,"bundle":"/b"}' "{'id':\"a\"}" "${deep//0/[}"; do
		run_split fsquota oci-hook <<<"$input"
		assert_equal "$status" 2 "$input"
		assert_one_line
	done
	refuses 5 "cannot read /nowhere/config.json" fsquota oci-hook <<<'{"id":"a","status":"created","bundle":"/nowhere"}'
	is_silent fsquota oci-hook <<<'{"id":"a","status":"stopped","bundle":"/nowhere"}'
	mkdir -p /run/hook/none
	echo '{"root":{"path":"/usr"},"annotations":{"io.fsquota/hard":"1M"}}' >/run/hook/none/config.json
	refuses 3 "is on no overlay" fsquota oci-hook <<<'{"id":"a","status":"created","bundle":"/run/hook/none"}'
	echo '{"root":{"path":"/no"},"annotations":{"io.fsquota/hard":"1M"}}' >/run/hook/none/config.json
	refuses 5 "/no: cannot open" fsquota oci-hook <<<'{"id":"a","status":"created","bundle":"/run/hook/none"}'
	echo '{"annotations":{"io.fsquota/hard":"1M"}}' >/run/hook/none/config.json
	refuses 2 "has no root" fsquota oci-hook <<<'{"id":"a","status":"created","bundle":"/run/hook/none"}'
	refuses 2 "usage: fsquota oci-hook" fsquota oci-hook create </dev/null
	run_split fsquota batch <<<'oci-hook'
	assert_equal "$(jq -c '[.exit, .error.message]' <<<"$stdout")" '[2,"oci-hook is no request: it reads standard input"]'
}

# p WORD...: podman, with the hook of contrib
p() { podman --storage-driver overlay --root "$store" --runroot /run/hook/podman --cgroup-manager=cgroupfs --events-backend=none --hooks-dir /run/hook/hooks.d "${@:1}" 3>&-; }

@test "podman with the file of contrib, with crun and runc" {
	local fs store runtime
	export HOME=/run/hook
	mkdir -p /run/hook/hooks.d /etc/containers
	# Where packages have it.
	assert_equal "$(jq -r .hook.path "$srcdir/contrib/oci/90-fsquota.json")" "/$(grep /fsquota$ "$srcdir/debian/fsquota.install" | head -n 1)"
	jq --arg path "$FSQUOTA" '.hook.path = $path' "$srcdir/contrib/oci/90-fsquota.json" >/run/hook/hooks.d/90-fsquota.json
	echo '{"default":[{"type":"insecureAcceptAnything"}]}' >/etc/containers/policy.json
	tar -C /run/hook/lower -cf /run/hook/image.tar .
	for fs in e x; do
		fresh_fs $fs
		store=/mnt/$fs/podman
		p import /run/hook/image.tar localhost/tiny >/dev/null
		for runtime in crun runc; do
			run_split p --runtime $runtime run --rm --network none --annotation io.fsquota/hard=3M localhost/tiny /bin/sh -c "$fill"
			stopped_at_limit $fs
		done
		# Without the annotation nothing stops it, and the hook is not called.
		run_split p --runtime crun run --rm --network none localhost/tiny /bin/sh -c "$fill"
		assert_equal "$status:$stdout" 0:0
		umount $store/overlay 2>/dev/null || :
	done
}

@test "containerd's ctr and Docker with the runtime of contrib" {
	local fs runtime=/run/hook/fsquota-runc image=localhost/tiny:latest by_ctr by_docker
	export HOME=/run/hook
	loopback_up
	ln -s "$srcdir/contrib/oci/fsquota-runc" $runtime
	jq --arg path "$runtime" '.runtimes[] |= (.path = $path | .runtimeArgs[0] |= sub("10G"; "3M"))' "$srcdir/contrib/oci/daemon.json" \
		>/run/hook/daemon.json
	tar -C /run/hook/lower -cf /run/hook/image.tar .
	by_ctr=(c run --rm --runc-binary "$runtime") by_docker=(d run --name one --network none --runtime fsquota-10g)
	for fs in e x; do
		fresh_fs $fs
		start_dockerd /mnt/$fs/docker --config-file /run/hook/daemon.json
		# What an image says of itself limits nothing.
		d import --change 'ENV io.fsquota/hard=9M' --change 'LABEL io.fsquota/hard=9M' /run/hook/image.tar $image >/dev/null
		d save $image | c image import - >/dev/null
		# Its status: for what it printed, containerd's shim waits for two seconds after its end.
		exits 1 "${by_ctr[@]}" --annotation io.fsquota/hard=3M $image one /bin/sh -c "${fill%;*}"
		nothing_is_left $fs
		exits 0 "${by_ctr[@]}" $image one /bin/sh -c "${fill%;*}"
		run_split "${by_docker[@]}" $image /bin/sh -c "$fill"
		stopped_at_limit $fs
		d rm one >/dev/null
		counts /mnt/$fs 1048577 0
		# What does not start leaves nothing, and the engine says why.
		run_split "${by_ctr[@]}" --annotation io.fsquota/hard=much $image one /bin/sh -c 'echo runs'
		assert_regex "$status:$stdout:$stderr" '^1::.*: fsquota assign: "much" is no size'
		run_split "${by_docker[@]}" $image /bin/none
		assert_equal "$status:$stdout:$(cat /etc/projects /etc/projid)" 127::
		stop_dockerd
	done
	refuses 1 'cannot run: create, start and delete' "$runtime" --root /run/hook/state run --bundle /run/hook one
	refuses 1 'a quote, a backslash or a control character' "$runtime" create --bundle '/run/"hook' one
	prints '--root /run state one' "$runtime" --fsquota-hard=3M --fsquota-runtime=echo --root /run state one
}
