# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# What every bats suite starts with:  load ../lib/fsquota
#
# The suites run as root inside tests/guest/run, which documents the filesystems they find.
#   $FSQUOTA              the binary under test
#   fsquota, xfs_quota    links to it, first in PATH
#   oracle                the xfs_quota of xfsprogs
#   fresh_fs x [...]      a filesystem made anew (tests/guest/fresh)
#   fresh_each x e ...    several of them
#   kernel_knows CALL     whether the kernel has this system call
#   run_split CMD...      like run, but keeps the streams apart
#   assert_one_line       what it ran said one line on stderr
#   counts FS ID INODES   asserts what the kernel counts
#   settle MOUNT          until XFS has taken what was removed off its counts
#   refuses CODE WORD CMD...  the command fails with that exit status, and one line that has WORD
#   exits STATUS CMD...   the command does, with that status
#   succeeds CMD...       the command does, and says nothing on stderr
#   is_silent CMD...      the command succeeds and prints nothing
#   prints OUTPUT CMD...  the command succeeds and prints this, on stdout and stderr together
#   stopped_at CALL COUNT CMD...  start a program, and stop it before its COUNTth system call of number CALL
#   go_on                 let it go on, and set status, stdout and stderr as run_split does
#   as_user CMD...        run it as user 1000, without privileges
#   complain TEXT..., no_complaints  what is wrong is gathered in $complaints, and fails at the end
#   until_true CMD...     waits for it, a hundred seconds at most
#   end_process PID       with SIGTERM; SIGKILL would lose what coverage has counted
#   loopback_up           the guest's loopback interface is up
#   real ARGUMENT...      the oracle without the files of /etc
#   kernel_has MOUNT ID   use and limits of a project, as the kernel has them
#   injecting CALLS HOW CMD...  the command, with error=EIO:when=2 or another HOW of strace for these calls
#   forgets_none ROWS BUT  each command of both programs begins a row, but for these
#   a_guest_writes DIR CMD  on this machine: have CMD write to DIR in a guest, which is gone then

bats_require_minimum_version 1.5.0

# shellcheck source-path=SCRIPTDIR
source "${BASH_SOURCE[0]%/*}/tools.bash"

# What bats_load_library does with these, without the thirty processes that it starts for each
# test: a process is expensive in the guest. Their functions are kept, for bash reads the files of the
# libraries three times as long.
load_libraries() {
	local directories directory library file functions
	IFS=: read -ra directories <<<"$BATS_LIB_PATH"
	for library in bats-support bats-assert bats-file; do
		for directory in "${directories[@]}" ''; do
			[ ! -d "$directory/$library/src" ] || break
		done
		[ -n "$directory" ] || { echo "install $library" >&2 && return 1; }
		for file in "$directory/$library"/src/*.bash; do
			# shellcheck disable=SC1090 # not ours
			source "$file"
		done
	done
	mapfile -t functions < <(compgen -A function | grep -E '^(assert|refute|batslib|fail)')
	declare -f "${functions[@]}" >"$FSQ_TOOLS/libraries"
}
if [ -s "$FSQ_TOOLS/libraries" ]; then
	source "$FSQ_TOOLS/libraries"
else
	load_libraries
fi

oracle() { "$FSQ_ORACLE" "$@"; }

fresh_fs() { fresh "$@"; }

fresh_each() {
	local name
	for name; do fresh_fs "$name"; done
}

# kernel_knows file_setattr|statmount: what a test expects may depend on it. With file_setattr
# symlinks and special files carry project IDs; with statmount no mount table is read for a path.
kernel_knows() {
	local since major minor
	case $1 in
	file_setattr) since=617 ;;
	statmount) since=608 ;;
	esac
	IFS=.- read -r major minor _ <<<"$FSQ_KERNEL"
	[ $((major * 100 + minor)) -ge "$since" ]
}

# Runs a command and sets status, stdout, stderr, and the lines of stdout; the bytes as they came are in
# the files $BATS_TEST_TMPDIR/stdout and stderr. output is stdout, for bats-assert. What reads them is no
# process, unlike "$(<FILE)": it is called thousands of times.
# shellcheck disable=SC2034 # for the caller
run_split() {
	status=0
	"$@" >"$BATS_TEST_TMPDIR/stdout" 2>"$BATS_TEST_TMPDIR/stderr" || status=$?
	mapfile -t lines <"$BATS_TEST_TMPDIR/stderr"
	join_lines stderr
	mapfile -t lines <"$BATS_TEST_TMPDIR/stdout"
	join_lines stdout
	output=$stdout
}

# join_lines NAME: sets it to the lines, without empty ones at the end, as "$(...)" would.
join_lines() {
	local text
	printf -v text '%s\n' "${lines[@]}"
	while [[ $text == *$'\n' ]]; do text=${text%$'\n'}; done
	printf -v "$1" %s "$text"
}

# What run_split ran said one line on stderr, and ended it.
assert_one_line() {
	local told
	mapfile told <"$BATS_TEST_TMPDIR/stderr"
	[[ ${#told[@]} = 1 && ${told[0]} == *$'\n' ]] || fail "${1-}${1:+: }not one line: $stderr"
}

# XFS does that later, in a thread of its own; what freezes it waits for that.
settle() { fsfreeze -f "$1" && fsfreeze -u "$1"; }

# counts FILESYSTEM ID INODES: the kernel does, now or within a minute: XFS takes a removed file
# off the count only when it has cleaned up behind it.
counts() {
	local inodes
	for _ in {1..1000}; do
		inodes=$(real -c "quota -p -N -n -v -i $2" "$1" | awk '{ used = $2 } END { print used + 0 }')
		[ "$inodes" != "$3" ] || return 0
		nap 0.05
	done
	fail "$1 counts $inodes inodes with ID $2, not $3"
}

refuses() {
	local code=$1 word=$2
	shift 2
	run_split "$@"
	assert_equal "$*: $status" "$*: $code"
	assert_equal "$stdout" ""
	assert_one_line "$*"
	[[ $stderr == *"$word"* ]] || fail "$*: $stderr"
}

exits() {
	local code=$1
	shift
	run_split "$@"
	assert_equal "$*: $status" "$*: $code"
}

succeeds() {
	run_split "$@"
	assert_equal "$*: $status:$stderr" "$*: 0:"
}

is_silent() {
	run_split "$@"
	assert_equal "$*: $status:$stdout:$stderr" "$*: 0::"
}

prints() {
	run -0 "${@:2}"
	assert_output "$1"
}

stopped_at() {
	local words=("${@:3}")
	words=("${words[@]// /$'\t'}")
	coproc STOPPED { exec "${builddir:?}/tests/transaction/fail" 3>&-; }
	echo "$1 $2 stop 0 /dev/null $BATS_TEST_TMPDIR/stdout $BATS_TEST_TMPDIR/stderr ${words[*]}" \
		>&"${STOPPED[1]}"
	read -r stdout <&"${STOPPED[0]}"
	assert_equal "$stdout" stopped
}

go_on() {
	local to=${STOPPED[1]} pid=$STOPPED_PID
	echo >&"$to"
	read -r status _ <&"${STOPPED[0]}"
	exec {to}>&-
	wait "$pid"
	stdout=$(<"$BATS_TEST_TMPDIR/stdout") stderr=$(<"$BATS_TEST_TMPDIR/stderr")
}

as_user() { setpriv --reuid 1000 --regid 1000 --clear-groups "$@"; }

complain() {
	local text="${situation-}${situation:+: }$*"
	complaints+=${text:0:600}$'\n'
}

no_complaints() { [ -z "${complaints-}" ] || fail "$complaints"; }

# What it has said by then is in the files $events, $rows and $messages.
until_true() {
	local i
	for ((i = 0; i < 2000; i++)); do
		! "$@" || return 0
		nap 0.05
	done
	fail "never: $*: $(tail -n 40 ${events+"$events"} ${rows+"$rows"} ${messages+"$messages"})"
}

end_process() {
	{ kill "$1" && kill -CONT "$1"; } 2>/dev/null || return 0
	until_true eval "! kill -0 $1 2>/dev/null" || { kill -KILL "$1" && return 1; }
}

# With the ioctl SIOCSIFFLAGS: ip(8) is a package more.
loopback_up() {
	python3 -c 'import fcntl, socket, struct
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh22x", b"lo", 0x41))'
}

real() { oracle -x -f -D/dev/null -P/dev/null "$@"; }

# no_limits FILESYSTEM...: takes off those of every project.
no_limits() {
	local fs id
	for fs; do
		for id in $(real -c 'report -p -N -n' "/mnt/$fs" | sed -n 's/^#\([1-9][0-9]*\) .*/\1/p'); do
			real -c "limit -p bsoft=0 bhard=0 isoft=0 ihard=0 $id" "/mnt/$fs"
		done
	done
}

# "USED SOFT HARD" in KiB, then of inodes.
kernel_has() {
	real -c "report -p -N -n -b -L $2 -U $2" -c "report -p -N -n -i -L $2 -U $2" "$1" |
		awk '$1 == "#'"$2"'" { printf "%s%s %s %s", sep, $2, $3, $4; sep = " " }'
}

# The trace has INJECTED where it came. More options of strace may stand before the command.
injecting() { strace -f -qq -o "$BATS_TEST_TMPDIR/trace" -e "trace=$1" -e "inject=$1:$2" "${@:3}"; }

# BUT is a regular expression.
forgets_none() {
	local name names
	names=$({
		fsquota --help | sed -n 's/^  \([a-z]\{2,\}\) .*/\1/p'
		oracle -x -c help | sed -n 's/^\([a-z]\{2,\}\) .*/\1/p'
	} | sort -u)
	[ "$(wc -l <<<"$names")" -ge 21 ]
	for name in $names; do
		[[ $name =~ ^($2)$ ]] || grep -qE "^	$name( |$)" <<<"$1" || fail "there is no row for $name"
	done
}

# In a session of its own: its kernel would outlive this process group. "run" ends it, and removes its disks, when it gets
# SIGTERM, which the kernel sends when this shell ends.
a_guest_writes() {
	local kernel=''
	! "$srcdir/tests/guest/new-kernel" >/dev/null 2>&1 || kernel=--new
	setpriv --pdeathsig TERM setsid "$srcdir/tests/guest/run" $kernel --timeout 3600 --write "$1" \
		${FSQUOTA_COVERAGE:+--write "$builddir/counts"} -- "$2" "$1" 3>&- 4>&-
}
