#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=attack,shared
#
# prune again and again beside kubelet's protocol and sixteen who assign, release, delete and are
# killed: what lives is not touched, and at the end nothing else is left.
#
#   FSQUOTA_FULL  set: five minutes, instead of ten seconds

load ../lib/fsquota
load hostile

setup() {
	no_files
	[ -n "${FSQUOTA_FULL-}" ] && duration=300 || duration=10
}

teardown() { [ -z "${kubelet-}" ] || kill "$kubelet" 2>/dev/null || true; }

# killed COMMAND...: with SIGKILL at some moment, if it is not faster.
killed() {
	local pid
	{
		"$@" >/dev/null &
		pid=$!
		sleep 0.0$((RANDOM % 6))
		kill -KILL $pid || true
		wait $pid || true
	} 2>/dev/null
}

# A tenant of one who never uses prune: one directory lives, others come and go in all ways.
come_and_go() {
	local top=/mnt/x/$1 id line
	mkdir -p $top
	while [ $SECONDS -lt $end ]; do
		mkdir $top/short
		case $((RANDOM % 4)) in
		0) killed "$FSQUOTA" assign --hard 1M $top/short ;;
		1)
			"$FSQUOTA" assign --hard 1M $top/short >/dev/null || return
			killed "$FSQUOTA" release $top/short
			;;
		2)
			"$FSQUOTA" assign --hard 1M $top/short >/dev/null || return
			"$FSQUOTA" release $top/short || return
			;;
		3)
			id=$("$FSQUOTA" assign --hard 1M $top/short) || return
			line=$("$FSQUOTA" usage -N -o ID,HARD $top/short) || return
			[[ $line =~ ^\ *$id\ +1M$ ]] || { echo "$top/short: $id: $line" >&2 && return 1; }
			;;
		esac
		rm -rf $top/short
		# The line of a directory that is not there yet is nobody's, but this one lives.
		if [ ! -d $top/lives ]; then
			mkdir $top/lives
			"$FSQUOTA" assign --hard 2M $top/lives >"$BATS_TEST_TMPDIR/$1" || return
		fi
		line=$("$FSQUOTA" usage -N -o ID,HARD $top/lives) || return
		[[ $line =~ ^\ *$(<"$BATS_TEST_TMPDIR/$1")\ +2M$ ]] ||
			{ echo "$top/lives: $line" >&2 && return 1; }
		echo
	done
}

@test "prune beside sixteen who come and go, and kubelet: what lives is not touched, all else goes" {
	local number end pids=() prunes=0
	fresh_fs x
	"$BATS_TEST_DIRNAME/../transaction/kubelet" >"$BATS_TEST_TMPDIR/kubelet" \
		2>"$BATS_TEST_TMPDIR/complaint" 3>&- &
	kubelet=$!
	end=$((SECONDS + duration))
	for number in {1..16}; do
		(
			exec 3>&-
			set +e
			come_and_go $number
		) >>"$BATS_TEST_TMPDIR/rounds" 2>>"$BATS_TEST_TMPDIR/errors" &
		pids+=($!)
	done
	while [ $SECONDS -lt $end ]; do
		succeeds fsquota prune
		! grep '^removed .*/lives:' <<<"$stdout" || fail "a living directory"
		! grep '^removed .*/pods/' <<<"$stdout" || fail "a line of kubelet's"
		grep -c '^removed' <<<"$stdout" >>"$BATS_TEST_TMPDIR/removed" || true
		step "$((prunes += 1)) prunes"
	done
	for number in "${pids[@]}"; do wait "$number" || fail "$(<"$BATS_TEST_TMPDIR/errors")"; done
	kill -TERM "$kubelet"
	wait "$kubelet" || fail "$(<"$BATS_TEST_TMPDIR/complaint")"
	kubelet=
	echo "# $prunes prunes, $(awk '{ sum += $1 } END { print sum + 0 }' "$BATS_TEST_TMPDIR/removed") removals" \
		"beside $(wc -l <"$BATS_TEST_TMPDIR/rounds") rounds" >&3
	# Of the one that was deleted before it and had its line, XFS may count the inode for a while.
	run -1 grep -v '/short: released, but 1 file still has ' "$BATS_TEST_TMPDIR/errors"
	sync -f /mnt/x
	# What was killed may have left lines without limits, and limits without lines, which are in doubt.
	succeeds fsquota prune --all /mnt/x
	# And a name, which is of no filesystem: after the last prune of all an assign was killed before its line.
	succeeds fsquota prune
	assert_only_the_living_are_left
}

assert_only_the_living_are_left() {
	local number
	for number in {1..16}; do
		[ ! -d /mnt/x/$number/lives ] || echo "$(<"$BATS_TEST_TMPDIR/$number"):/mnt/x/$number/lives"
	done | sort >"$BATS_TEST_TMPDIR/ours"
	sed 's/.*/&:\/pods\/&/' "$BATS_TEST_TMPDIR/kubelet" | sort >"$BATS_TEST_TMPDIR/theirs"
	# Lines that are switched off are no entries.
	run -0 diff <(grep -vE '^([0-9]+~/|~(fsquota)?~*$|#|7:)' /etc/projects | sort) \
		<(sort "$BATS_TEST_TMPDIR/ours" "$BATS_TEST_TMPDIR/theirs")
	run -0 diff <(grep -vE '(~[0-9]+|~)$|^#|^elsewhere:' /etc/projid | sort) \
		<(sed 's/:.*//; s/.*/volume&:&/' "$BATS_TEST_TMPDIR/ours" "$BATS_TEST_TMPDIR/theirs" | sort)
	run -0 diff <(real -c 'dump -p' /mnt/x | awk '$1 ~ /^[1-9]/ { print $1 }' | sort) \
		<(cut -d: -f1 "$BATS_TEST_TMPDIR/ours" | sort)
}
