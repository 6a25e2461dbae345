# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# The tools of the suites, without the assertions; most want fsquota.bash, which documents both.

: "${FSQUOTA:?is the binary to test}"
FSQ_TOOLS=$BATS_RUN_TMPDIR/bin
if [ ! -d "$FSQ_TOOLS" ]; then
	mkdir "$FSQ_TOOLS"
	# Ordinary users are to find them, too, who may not look into the directory that it was built in.
	chmod a+x "$BATS_RUN_TMPDIR"
	cp "$FSQUOTA" "$FSQ_TOOLS/fsquota"
	ln -s fsquota "$FSQ_TOOLS/xfs_quota"
	mkfifo "$FSQ_TOOLS/never"
fi
FSQUOTA=$FSQ_TOOLS/fsquota

# step WORD...: a long test says how far it is, or tests/suite ends it.
step() { echo "# $*" >&3; }

# ticking PROGRAM [ARGUMENT...]: run it for twenty minutes (FSQ_TICKING seconds) at most, with a step now and
# then: for what is silent and slow.
ticking() {
	local pid naps=0
	timeout "${FSQ_TICKING:-1200}" "$@" 3>&- &
	pid=$!
	while kill -0 $pid 2>/dev/null; do
		nap 0.5
		(((naps += 1) % 40)) || step "${1##*/} runs"
	done
	wait $pid
}

# nap SECONDS: as sleep(1), without a process.
nap() { read -rt "$1" <>"$FSQ_TOOLS/never" || :; }

# bats 1.8 writes down the stack before each command of a test, which costs half a millisecond in the
# guest and a quarter of the time of all suites. Where a test failed it is known without that: of
# what -u, a signal or a teardown ends alone the line is missing. Other versions keep theirs.
# shellcheck disable=SC2034 # variables of bats
case ${BATS_VERSION-} in
1.8.*)
	bats_setup_tracing() {
		BATS_DEBUG_LAST_STACK_TRACE=() BATS_DEBUG_LASTLAST_STACK_TRACE=()
		BATS_DEBUG_LAST_STACK_TRACE_IS_VALID='' BATS_ERROR_SUFFIX=''
		exec 4<&1
		trap bats_error_trap ERR
	}
	bats_error_trap() {
		bats_check_status_from_trap
		[ -n "$BATS_DEBUG_LAST_STACK_TRACE_IS_VALID" ] || bats_capture_stack_trace
		BATS_DEBUG_LAST_STACK_TRACE_IS_VALID=1
	}
	trap - DEBUG
	# When a test begins: it would start two processes.
	get_mills_since_epoch() {
		echo $((${EPOCHREALTIME//[!0-9]/} / 1000))
	}
	;;
esac

# The xfs_quota to compare with: the one that is installed if ours follows it (tests/guest/followed-xfsprogs), or with
# FSQUOTA_ORACLE=7.2 the later one. Ours follows the same generation. Found once, and kept in a file.
find_oracle() {
	local guest=${BASH_SOURCE[0]%/*}/../guest later
	case ${FSQUOTA_ORACLE:-installed} in
	installed) FSQ_ORACLE=$(PATH=${PATH//"$FSQ_TOOLS":/} "$guest/followed-xfsprogs") ;;
	7.2) later=$("$guest/new-xfsprogs") && FSQ_ORACLE=$later/bin/xfs_quota ;;
	*) echo "FSQUOTA_ORACLE=$FSQUOTA_ORACLE: only installed and 7.2 are known" >&2 && false ;;
	esac || return 1
	FSQ_ORACLE_VERSION=$("$FSQ_ORACLE" -V) || return 1
	printf '%s\n' "$FSQ_ORACLE" "${FSQ_ORACLE_VERSION##* }" >"$FSQ_TOOLS/oracle"
}
[ -s "$FSQ_TOOLS/oracle" ] || find_oracle || exit 1
{ read -r FSQ_ORACLE && read -r FSQ_ORACLE_VERSION; } <"$FSQ_TOOLS/oracle"
case $FSQ_ORACLE_VERSION in
[1-6].*) FSQUOTA_XFS_QUOTA_VERSION=6.1 ;;
*) FSQUOTA_XFS_QUOTA_VERSION=7.2 ;;
esac
PATH=$FSQ_TOOLS:$PATH
export FSQUOTA FSQ_TOOLS FSQ_ORACLE FSQ_ORACLE_VERSION FSQUOTA_XFS_QUOTA_VERSION PATH
