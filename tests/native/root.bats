#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# needs: locales
#
# --root: a pod with the node's directories at /host works on them as the node itself does.

load ../lib/fsquota

setup_file() {
	fresh_each x e
	# The root of the pod, with an /etc and a /proc of its own.
	mkdir -p /run/pod
	mount -t tmpfs pod /run/pod
	mkdir -p /run/pod/{etc,proc,host,tmp}
	local directory
	for directory in /usr /bin /lib /lib64 /sbin "${FSQUOTA%/*}"; do
		[ -e "$directory" ] || continue
		mkdir -p "/run/pod$directory"
		mount --bind "$directory" "/run/pod$directory"
	done
	mount -t proc proc /run/pod/proc
	mount --rbind / /run/pod/host
	mount --make-rslave /run/pod/host
}

teardown_file() { umount -R /run/pod; }

setup() { rm -f /etc/projects /etc/projid /etc/fsquota.conf /run/pod/etc/*; }

# In the pod.
pod() { chroot /run/pod "$FSQUOTA" "$@"; }

# bats test_tags=shared
@test "the node's lines have the node's paths" {
	local fs dir
	for fs in x e; do
		dir=/mnt/$fs/dir
		mkdir $dir
		chmod 777 /mnt/$fs $dir
		succeeds pod --root /host assign $dir --hard 5M --name $fs
		assert_equal "$(grep -c ":$dir$" /etc/projects):$(cut -d: -f1 /etc/projid | tail -1)" "1:$fs"
		# Both see the same.
		for command in "usage $dir" "list $dir" "check $dir" "doctor $dir" 'prune --dry-run' 'export' 'report -n'; do
			run_split pod --root=/host $command
			prints "$stdout" fsquota $command
		done
		prints "$(fsquota list --raw $dir)" pod list --raw $dir --root /host
		run -1 as_user dd if=/dev/zero of=$dir/file bs=64k count=100 conv=fsync
		assert_output --regexp 'No space|quota exceeded'
		succeeds pod --root /host resize $dir 6M
		assert_equal "$(kernel_has /mnt/$fs "$(fsquota id $dir)" | cut -d' ' -f3)" 6144
		rm -r $dir
		settle /mnt/$fs
		succeeds pod --root /host prune
		assert_equal "$(cat /etc/projects /etc/projid)" ""
	done
	# Nothing is left in the pod.
	assert_equal "$(ls /run/pod/etc)" ""
}

@test "the node's configuration and the pod's batch" {
	mkdir -p /mnt/x/{one,two} /etc/fsquota.d
	echo 'id-range = 5000-5999' >/etc/fsquota.conf
	echo '/mnt/x/one hard=5M' >/etc/fsquota.d/pods.conf
	# A file that the pod has under the same name.
	echo '/mnt/x/two hard=5M' >"/run/pod/etc/fsquota.d"
	succeeds pod apply --root /host
	rm /etc/fsquota.d/pods.conf
	assert_equal "$(cat /etc/projects)" "5000:/mnt/x/one"
	run_split pod --root /host batch <<<'["usage", "--json", "mnt/x/one"]
["--root", "/host", "list"]'
	assert_output --partial '"path":"mnt/x/one"'
	assert_output --partial "--root is for batch itself"
	# The first word, between the others, the last.
	succeeds pod release --root /host /mnt/x/one
	assert_equal "$(</etc/projects)" ""
}

# Each as it loads the most: with names of users, tags and a terminal.
loading="
	apply --diff
	assign --dry-run D
	batch
	check --over 1
	completion bash
	df UUID=f500a000-0000-4000-8000-000000000001
	disable -p /mnt/e
	doctor
	dump -u /mnt/x
	enable -p /mnt/e
	explain D
	export
	find 7 D
	help list
	id D
	limit --dry-run -u bhard=7m daemon /mnt/x
	list
	lsattr -p D
	metrics --info
	metrics --listen 127.0.0.1:9753
	move D D
	oci-hook createRuntime
	project -c -p D 7 /mnt/x
	prune --dry-run
	quota -u -v daemon /mnt/x
	release --dry-run D
	report -u -g -p
	resize --dry-run D +1M
	restore -u /mnt/x
	schema
	state
	supported D
	timer --dry-run -u 3d nobody /mnt/x
	top
	usage D
	watch --initial --count 1
	watch --initial --count 1 --exec /usr/bin/env"

# runs WORD...: on a terminal, in the directory
runs() {
	local input=$BATS_TEST_TMPDIR/input words
	printf -v words ' %q' "$@"
	: >"$input"
	[ "$1" != top ] || echo q >"$input"
	[ "$1" != batch ] || sed -n 's/^	//p' <<<"$loading" | grep -Ev '^(batch|metrics --l|oci|top|watch)' >"$input"
	script -qefc "strace -f -qq -o $BATS_TEST_TMPDIR/trace -e trace=chroot,open,openat,openat2,execve $FSQUOTA --root /run/pod/host$words" \
		/dev/null <"$input" >"$BATS_TEST_TMPDIR/shown" 2>&1 3>&- 4>&- &
	if [ "$2" = --listen ]; then
		until_true "$srcdir/tests/metrics/http" 127.0.0.1 9753 'GET /metrics HTTP/1.1' 2>/dev/null >&2
		pkill -TERM -x fsquota
	fi
	wait $! || :
}

# bats test_tags=install,full
@test "no command loads or runs what is in the directory" {
	local words complaints='' found dir=/mnt/x/$'d\303\244r'
	loopback_up
	mkdir "$dir"
	fsquota assign --soft 64k --hard 1M --name $'n\303\244me' "$dir"
	dd if=/dev/zero of="$dir/file" bs=64k count=2 conv=fsync status=none
	localedef --no-archive -i ja_JP -f EUC-JP "$BATS_TEST_TMPDIR/japanese" || :
	export LOCPATH=$BATS_TEST_TMPDIR LC_ALL=japanese TERM=xterm
	forgets_none "$loading" 'off|path|print|quit|quot|remove|setup|warn'
	while read -ra words; do
		[ ${#words[@]} -gt 0 ] || continue
		step "${words[*]}"
		runs "${words[@]/#D/$dir}"
		grep -q 'chroot(.* = 0' "$BATS_TEST_TMPDIR/trace" || complain "${words[*]}: $(<"$BATS_TEST_TMPDIR/shown")"
		found=$(sed '1,/chroot(.* = 0/d' "$BATS_TEST_TMPDIR/trace" | grep -E '\.so|gconv|execve|japanese' || :)
		[ -z "$found" ] || complain "${words[*]}: $found"
	done <<<"$loading"
	no_complaints
}

@test "what is no root" {
	refuses 5 "--root /nowhere: cannot enter" fsquota --root /nowhere list
	refuses 5 "--root /etc/passwd: cannot enter: Not a directory" fsquota list --root /etc/passwd
	refuses 2 "option --root takes a value" fsquota list --root
	refuses 5 "--root /mnt/x: cannot read proc/self/mountinfo in it: it takes the files of a whole system, with /proc mounted there" fsquota --root=/mnt/x list
	refuses 2 'setup runs programs of this system: not with --root' fsquota setup --root / /mnt/x
	refuses 4 "--root /: cannot enter: Operation not permitted" as_user "$FSQUOTA" --root / list
	# Behind -- it is a name.
	refuses 2 "--root is no path" fsquota usage -- --root
}

@test "all directories are below the root: what is released leaves room in its budget" {
	fresh_fs x2
	mkdir -p /mnt/x2/{proc,etc/fsquota.d,var/lib,a,b}
	mount -t proc proc /mnt/x2/proc
	printf '%s\n' '/ budget=100M' '/a hard=80M' >/mnt/x2/etc/fsquota.d/node.conf
	run -0 fsquota --root /mnt/x2 apply
	assert_output 'created   /a'
	printf '%s\n' '/ budget=100M' '/b hard=90M' >/mnt/x2/etc/fsquota.d/node.conf
	run -0 fsquota --root /mnt/x2 apply --prune --dry-run
	assert_output $'would-release /a\nwould-create  /b'
	umount /mnt/x2/proc
	fresh_fs x2
}
