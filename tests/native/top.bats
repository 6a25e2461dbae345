#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# top: all projects again and again, with how fast they grow and when they will be full; as lines, and on a terminal.

load ../lib/fsquota

setup() {
	rm -rf /etc/projects* /etc/projid*
	cd /
	fresh_fs x
	fresh_fs e
	for m in /mnt/x /mnt/e; do
		mkdir $m/web $m/idle
		fsquota assign --hard 100M $m/web >/dev/null
		fsquota assign --hard 50M $m/idle >/dev/null
	done
	writer=''
}

teardown() { [ -z "$writer" ] || kill "$writer" 2>/dev/null || true; }

# fills DIR: 1 MiB each second
fills() {
	(for _ in {1..60}; do
		dd if=/dev/zero bs=1M count=1 status=none >>"$1/file"
		sleep 1
	done) 3>&- &
	writer=$!
}

@test "what grows comes first, with its rate and when it is full" {
	local m rows
	for m in /mnt/x /mnt/e; do
		fills $m/web
		succeeds fsquota top --batch 4 --jsonl $m
		kill "$writer"
		assert_equal "$(jq -rs 'map(select(.kind != "no-project") | .kind + " " + .path) | .[-3:][]' <<<"$stdout")" "filesystem $m
project $m/web
project $m/idle"
		rows=$(jq -cs '[.[] | select(.path == "'$m'/web")] | last' <<<"$stdout")
		# One MiB a second, as far as sleep(1) is one.
		jq -e '.growth_10s > 100000 and .growth_10s < 3000000 and .growth_5m > 100000 and .full_in_seconds > 20 and
			.full_in_seconds < 1200 and .hard_bytes == 104857600 and
			.available_bytes == .hard_bytes - .used_bytes' <<<"$rows" || fail "$rows"
		assert_equal "$(jq -cs '[.[] | select(.path == "'$m'/idle")] | last | [.growth_10s, .growth_5m, .full_in_seconds, .percent + 0]' <<<"$stdout")" \
			'[0,0,null,0]'
		assert_equal "$(jq -s '[.[] | select(.kind == "filesystem")] | length' <<<"$stdout")" 4
	done
}

# on_screen KEYS...: top on a terminal of 100 columns and 12 lines, in which KEYS are pressed, a second after each other;
# the last ends it. Sets screens to what it wrote, one for each.
on_screen() {
	run -0 python3 - "$FSQUOTA" "$@" <<'END'
import fcntl, os, pty, select, struct, sys, termios, time

master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 12, 100, 0, 0))
before = termios.tcgetattr(slave)
pid = os.fork()
if pid == 0:
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for fd in range(3):
        os.dup2(slave, fd)
    os.environ["TERM"] = "xterm"
    os.execv(sys.argv[1], [sys.argv[1], "top", "/mnt/x"])

def read(seconds):
    text, end = b"", time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if select.select([master], [], [], left)[0]:
            text += os.read(master, 65536)
    return text.decode()

for key in sys.argv[2:]:
    print("SCREEN", read(2))
    if key == "TERM":
        os.kill(pid, 15)
    else:
        os.write(master, key.encode().decode("unicode_escape").encode())
print("SCREEN", read(1))
print("STATUS", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), termios.tcgetattr(slave) == before)
END
	screens=$output
}

@test "on a terminal: keys sort, choose, explain and end, and the terminal is as it was" {
	local enter=$'\e[?1049h' leave=$'\e[?1049l' chosen=$'\e[7m/mnt/x/'
	dd if=/dev/zero of=/mnt/x/idle/file bs=1M count=3 status=none
	on_screen u '\x1b[B' '\n' x ' ' q
	[[ $screens == *"$enter"*"fsquota top"*"by GROWTH"*"GROWTH5M FULLIN"* ]]
	[[ $screens != *"every 0.0s"* ]]
	[[ $screens == *"by USED"*"${chosen}idle"*"${chosen}web"*"tree "*"Press a key."* ]]
	[[ $screens == *"PAUSED"*"$leave"*"STATUS 0 True" ]]
	# Paused: down to the end and back again.
	(cd /mnt/x && mkdir {1..12} && fsquota assign {1..12} >/dev/null)
	on_screen n ' ' "$(printf '\\x1b[B%.0s' {1..13})" "$(printf '\\x1b[A%.0s' {1..13})" q
	[[ $screens == *"PAUSED"*"${chosen}web"* && ${screens##*PAUSED} == *$'\n/mnt/x '* ]]
	on_screen TERM
	[[ $screens == *"$leave"*"STATUS 0 True" ]]
	# The screen would take it with it.
	run -5 env TERM=xterm script -qec 'fsquota top /mnt/x/none' /dev/null
	[[ $output == *"$leave"*"fsquota top: /mnt/x/none: cannot open: No such file or directory"* ]] || fail "$output"
	# timeout(1) puts it into the background, where it stops; its signal ends it.
	run -0 timeout -k 1 20 env TERM=xterm script -qec 'timeout 1 fsquota top /mnt/x; echo ended' /dev/null
	[[ $output == *ended* ]] || fail "$output"
	# There it writes to a file.
	run timeout -k 1 20 script -qec "timeout 2 fsquota top /mnt/x >$BATS_TEST_TMPDIR/rows" /dev/null
	assert [ -s "$BATS_TEST_TMPDIR/rows" ]
}

@test "what is refused, and what it says of what is not there" {
	refuses 2 'top is no request' sh -c 'echo top | fsquota batch | jq -r .error.message >&2; exit 2'
	refuses 2 'interval' fsquota top --interval 0
	refuses 2 'batch' fsquota top --batch x
	refuses 2 'no column' fsquota top --sort nothing
	exits 1 injecting fstatfs error=EIO:when=2 -P /mnt/x fsquota top --batch 1 /mnt/x
	[[ $stderr == *"/mnt/x: cannot read its size"* ]] || fail "$stderr"
	refuses 5 '"path":"/mnt/x/gone"' fsquota top --json /mnt/x/gone
	refuses 4 'CAP_SYS_ADMIN' setpriv --reuid 1000 --regid 1000 --clear-groups fsquota top /mnt/x
}

@test "a filesystem may come and go, and is not kept" {
	fsquota top --batch 100 --json -o KIND >>"$BATS_TEST_TMPDIR/rows" 3>&- &
	writer=$!
	until grep -q /mnt/e "$BATS_TEST_TMPDIR/rows"; do sleep 0.1; done
	# Between two looks nothing is open.
	until umount /mnt/e; do sleep 0.1; done
	: >"$BATS_TEST_TMPDIR/rows"
	until grep -q /mnt/x "$BATS_TEST_TMPDIR/rows"; do sleep 0.1; done
	kill -0 "$writer"
	: >"$BATS_TEST_TMPDIR/rows"
	until grep -q /mnt/x/web "$BATS_TEST_TMPDIR/rows"; do sleep 0.1; done
	refute grep /mnt/e "$BATS_TEST_TMPDIR/rows"
}
