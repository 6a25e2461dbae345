#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# A command that changes something on a frozen filesystem waits in the kernel, where nothing ends it. It waits
# without the locks of /etc/projects and /etc/projid, so commands for other filesystems go on.

load ../lib/fsquota

setup() {
	fresh_each x e
	rm -f /etc/projects* /etc/projid* /etc/fsquota.conf
	frozen='' waiting=''
	mkdir /mnt/{x,e}/{dir,other}
}

teardown() {
	[ -z "$frozen" ] || fsfreeze -u "/mnt/$frozen"
	[ -z "$waiting" ] || wait "$waiting" || :
}

freeze() {
	fsfreeze -f "/mnt/$1"
	frozen=$1
}

thaw() {
	fsfreeze -u "/mnt/$frozen"
	frozen=''
}

# sleeps PROCESS: in the kernel, and no signal wakes it.
sleeps() {
	local state
	for _ in {1..1000}; do
		read -r _ _ state _ 2>/dev/null <"/proc/$1/stat" || break
		[ "$state" != D ] || return 0
		nap 0.05
	done
	fail "it does not wait: $(cat "$BATS_TEST_TMPDIR"/*err*)"
}

# begins COMMAND...: it waits for the frozen filesystem.
begins() {
	"$FSQUOTA" "$@" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- &
	waiting=$!
	sleeps $waiting
}

# ends STATUS
ends() {
	local status=0
	wait "$waiting" || status=$?
	waiting=''
	assert_equal "$status: $(<"$BATS_TEST_TMPDIR/err")" "$1: "
}

# others_go_on FILESYSTEM: there nobody has to wait for a lock.
others_go_on() {
	run -0 fsquota assign --lock-timeout 0 --hard 5M "/mnt/$1/other"
	run -0 fsquota resize --lock-timeout 0 "/mnt/$1/other" 6M
	run -0 fsquota release --lock-timeout 0 "/mnt/$1/other"
}

# waits_alone FROZEN OTHER COMMAND...
waits_alone() {
	freeze "$1"
	begins "${@:3}"
	others_go_on "$2"
	thaw
	ends 0
}

changes() {
	local id
	waits_alone "$1" "$2" assign --hard 10M "/mnt/$1/dir"
	id=$(<"$BATS_TEST_TMPDIR/out")
	assert_equal "$(kernel_has "/mnt/$1" "$id" | cut -d ' ' -f 3,4)" '10240 1'
	touch "/mnt/$1/dir/file"
	waits_alone "$1" "$2" resize "/mnt/$1/dir" 20M
	assert_equal "$(kernel_has "/mnt/$1" "$id" | cut -d ' ' -f 3,4)" '20480 2'
	waits_alone "$1" "$2" resize --name "volume$id" 30M
	assert_equal "$(kernel_has "/mnt/$1" "$id" | cut -d ' ' -f 3)" 30720
	waits_alone "$1" "$2" release "/mnt/$1/dir"
	counts "/mnt/$1" "$id" 0
	assert_equal "$(cat /etc/projects /etc/projid)" ''
	printf '%s\n' "/mnt/$1/dir hard=10M" >"$BATS_TEST_TMPDIR/wanted"
	waits_alone "$1" "$2" apply "$BATS_TEST_TMPDIR/wanted"
	waits_alone "$1" "$2" release --id "$id"
	assert_equal "$(cat /etc/projects /etc/projid)" ''
}

@test "a command waits for a frozen XFS, and commands for ext4 go on" { changes x e; }

# bats test_tags=again,full
@test "a command waits for a frozen ext4, and commands for XFS go on" { changes e x; }

@test "prune waits for a frozen XFS, and commands for ext4 go on" {
	fsquota assign --hard 10M /mnt/x/dir
	rmdir /mnt/x/dir
	waits_alone x e prune /mnt/x
	assert_equal "$(cat /etc/projects /etc/projid)" ''
	assert_equal "$(kernel_has /mnt/x 1048577 | tr -d '0 ')" ''
}

@test "a command that waits for a lock notices that the filesystem is frozen before it has the lock" {
	coproc LOCK { exec flock --no-fork /etc/projects cat 3>&-; }
	# It answers when it has the lock.
	echo locked >&"${LOCK[1]}"
	read -r _ <&"${LOCK[0]}"
	"$FSQUOTA" assign --hard 10M /mnt/x/dir >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- &
	waiting=$!
	until readlink "/proc/$waiting/fd"/* 2>/dev/null | grep -qx /etc/projects; do nap 0.05; done
	freeze x
	sleeps $waiting
	lock=$LOCK_PID
	kill "$lock"
	wait "$lock" || :
	others_go_on e
	thaw
	ends 0
	assert_equal "$(kernel_has /mnt/x 1048577 | cut -d ' ' -f 3,4)" '10240 1'
}

# stopped_then_frozen CALL COUNT COMMAND...: the filesystem is frozen before that call of the command.
stopped_then_frozen() {
	stopped_at "$@"
	freeze x
	echo >&"${STOPPED[1]}"
	sleeps "$(pgrep -P "$STOPPED_PID")"
	others_go_on e
	thaw
	read -r status _ <&"${STOPPED[0]}"
	pid=$STOPPED_PID
	kill "$pid"
	wait "$pid" || :
	assert_equal "$status: $(<"$BATS_TEST_TMPDIR/stderr")" "0: "
}

# bats test_tags=slow
@test "frozen while it goes through the tree, and before it locks again" {
	local syncfs=306 openat2=437
	touch /mnt/x/dir/{1..9}
	stopped_then_frozen $openat2 4 "$FSQUOTA" assign --hard 10M /mnt/x/dir
	stopped_then_frozen $openat2 4 "$FSQUOTA" release /mnt/x/dir
	stopped_then_frozen $syncfs 1 "$FSQUOTA" assign --hard 10M /mnt/x/dir
	assert_equal "$(kernel_has /mnt/x 1048577 | cut -d ' ' -f 3,4)" '10240 10'
	stopped_then_frozen $syncfs 1 "$FSQUOTA" release /mnt/x/dir
	assert_equal "$(kernel_has /mnt/x 1048577 | tr -d '0 ')$(cat /etc/projects /etc/projid)" ''
}

@test "a command that is killed while it waits for a frozen filesystem has changed nothing" {
	freeze x
	begins assign --hard 10M /mnt/x/dir
	kill -KILL $waiting
	others_go_on e
	thaw
	wait $waiting || status=$?
	waiting=
	assert_equal "$status" 137
	assert_equal "$(fsquota id /mnt/x/dir)$(cat /etc/projects /etc/projid)" 0
	run -0 fsquota assign --hard 10M /mnt/x/dir
	freeze x
	begins release /mnt/x/dir
	kill -KILL $waiting
	thaw
	wait $waiting || :
	waiting=
	assert_equal "$(kernel_has /mnt/x 1048577 | cut -d ' ' -f 3,4)" '10240 1'
	assert_equal "$(</etc/projects)" 1048577:/mnt/x/dir
}
