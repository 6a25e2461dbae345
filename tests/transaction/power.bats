#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The power fails, in assign and release or after them: what /etc/projects says is true of the disk, or
# the same command completes it. /etc is on another filesystem, where nothing is lost.
#
#   power  what was changed since the mount is lost, and the process is killed before the call
#   sync   another process syncs the filesystem before the call; the power fails when the command has ended
#
# One of XFS, ext4 and f2fs that is shut down without its log does the same as a disk without power.

load ../lib/fsquota

setup() {
	fs='' tried=0
	rm -f /etc/fsquota.conf
	coproc FAIL { exec "${builddir:?}/tests/transaction/fail" 3>&-; }
}

teardown() {
	echo "# power failures: $tried" >&3
	[ -z "$fs" ] || umount "/mnt/$fs"
}

# prepared: a filesystem with a directory of forty files, without a quota; for release with one.
prepared() {
	local directory
	fresh_fs "$fs"
	rm -f /etc/projects* /etc/projid*
	for directory in "$dir" "$dir/one" "$dir/two"; do
		mkdir "$directory"
		touch "$directory"/{1..13}
	done
	[ "${command[0]}" = assign ] || fsquota assign --hard 10M "$dir"
	sync -f "$dir"
}

# listed_calls: sets calls, "NUMBER COUNT" of each call of the command, in their order, from the first that names
# the directory.
listed_calls() {
	prepared
	strace -f -n -qq -o "$BATS_TEST_TMPDIR/calls" "$FSQUOTA" "${command[@]}" >/dev/null
	mapfile -t calls < <(awk -v dir="$dir" '
		match($0, /\[ *[0-9]+\] [a-z0-9_]+\(/) {
			number = substr($0, RSTART + 1) + 0
			count[number]++
			begun = begun || index($0, dir)
			if (begun && $0 !~ /exit_group/) print number, count[number]
		}' "$BATS_TEST_TMPDIR/calls")
	[ ${#calls[@]} -gt 30 ] || fail "only ${#calls[@]} calls"
}

# disturbed KIND CALL: prepares, runs the command, and mounts what is left.
disturbed() {
	prepared
	echo "$2 $1=/mnt/$fs 0 /dev/null $BATS_TEST_TMPDIR/stdout $BATS_TEST_TMPDIR/stderr $FSQUOTA ${command[*]}" \
		>&"${FAIL[1]}"
	read -r status _ <&"${FAIL[0]}"
	tried=$((tried + 1))
	[ $((tried % 10)) != 0 ] || step "$tried power failures"
	remounted
}

remounted() {
	# shellcheck source-path=SCRIPTDIR
	source "$BATS_TEST_DIRNAME/../guest/filesystems"
	describe_filesystem "$fs"
	umount "/mnt/$fs"
	mount "${mount[@]}" "$device" "/mnt/$fs"
}

# rows: project, inodes and hard limit in KiB of all that the kernel knows, but for project 0.
rows() {
	real -c 'report -p -N -n -b -i' "/mnt/$fs" | awk '$1 ~ /^#[1-9]/ && ($2 || $4 || $7) { print $1, $7, $4 }'
}

# judged: what the same command makes of it.
judged() {
	local rows lines=''
	run_split fsquota "${command[@]}"
	rows=$(rows)
	[ ! -e /etc/projects ] || lines=$(</etc/projects)
	if [ "${command[0]}" = assign ]; then
		[ "$status" = 0 ] && [ "$rows" = "#$stdout 42 10240" ] && [ "$lines" = "$stdout:$dir" ]
	else
		[[ $status = [05] && $rows$lines = '' ]]
	fi
}

# power_fails FILESYSTEM KIND EVERY COMMAND...: at every EVERYth call; with FSQUOTA_FULL at each
power_fails() {
	local kind=$2 every=$3 call wrong=0
	[ -z "${FSQUOTA_FULL-}" ] || every=1
	fs=$1 dir=/mnt/$1/dir command=("${@:4}" "/mnt/$1/dir")
	listed_calls
	for ((call = 0; call < ${#calls[@]}; call += every)); do
		((tried % 10)) || step "$kind at call $call of ${#calls[@]}"
		disturbed "$kind" "${calls[call]}"
		# What a command has said is done stays done.
		[ "$kind:$status:${command[0]}" != sync:0:assign ] || [[ $(rows) == '#'*' 42 '* ]] || {
			wrong=$((wrong + 1))
			echo "$kind at call $call: of what was done there is $(rows)"
		}
		judged || {
			wrong=$((wrong + 1))
			echo "$kind at call $call (${calls[call]}): status $status, $(rows), $(cat /etc/projects), $stderr"
		}
	done
	[ $wrong = 0 ]
}

# bats test_tags=shared
@test "XFS: the power fails after an assign, and something was synced in the middle of it" {
	power_fails x sync 31 assign --hard 10M
}

# bats test_tags=every-call,full
@test "ext4: the power fails after an assign, and something was synced in the middle of it" {
	power_fails e sync 20 assign --hard 10M
}

# bats test_tags=every-call,shared,full
@test "f2fs: the power fails after an assign, and something was synced in the middle of it" {
	power_fails f sync 30 assign --hard 10M
}

# bats file_tags=every-call,shared

# bats test_tags=full
@test "XFS: the power fails after a release, and something was synced in the middle of it" {
	power_fails x sync 20 release
}

# bats test_tags=full
@test "XFS: the power fails in an assign" { power_fails x power 31 assign --hard 10M; }
# bats test_tags=full
@test "XFS: the power fails in a release" { power_fails x power 25 release; }

# bats test_tags=full
@test "ext4: the power fails after a release, and something was synced in the middle of it" {
	power_fails e sync 25 release
}
