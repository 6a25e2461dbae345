#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# The capabilities that fsquota-concepts(7) says a command needs: with them it does what it does for root of the host,
# and without any one of them it does not.

load ../lib/fsquota

readonly USERS=/mnt/x/users FILES=/mnt/x/users/files

setup_file() {
	rm -f /etc/projects* /etc/projid*
	fresh_fs x
}

teardown() { pkill -KILL -x sleep || :; }

# A directory that another user has closed, with a deleted file that a process of theirs has open. Its project is
# ID 100; 101 is one of a directory that is gone.
prepare() {
	pkill -KILL -x sleep || :
	[ ! -d $FILES ] || fsquota release $FILES >/dev/null || xfs_quota -x -c 'project -C -p '$FILES' 100' /mnt/x
	fsquota prune --all >/dev/null 2>&1 || :
	rm -rf $USERS
	mkdir -p $FILES/sub $USERS/new/sub $USERS/gone
	touch $FILES/sub/file $USERS/new/sub/file
	fsquota assign --id 100 --hard 10M $FILES >/dev/null
	fsquota assign --id 101 --hard 10M $USERS/gone >/dev/null
	rmdir $USERS/gone
	chown -R 1000:1000 $USERS
	chmod -R go= $USERS
	as_user sh -c "exec 9>$FILES/sub/open; rm $FILES/sub/open; echo text >&9; exec sleep 1000" >/dev/null 2>&1 3>&- 4>&- &
	disown
	until pgrep -x sleep >/dev/null; do nap 0.05; done
}

# The words of an example of each.
declare -gA example=(
	[list]=/mnt/x [report]=/mnt/x [check]=/mnt/x [export]=/mnt/x [dump]=/mnt/x [prune]=/mnt/x
	[resize]="--id 100 --at /mnt/x 20M" [limit]='bhard=20m 100 /mnt/x' [timer]='-b 3days /mnt/x' [restore]="-f DUMP /mnt/x"
	[assign]="$USERS/new --hard 5M" [release]=$FILES [project]="-s -p $USERS/new 7 /mnt/x"
	[find]='100 /mnt/x' [explain]=$FILES
)

# with CAPABILITIES COMMAND...: run it as root with these alone; sets answer to its status and what it prints, without
# what is different each time.
with() {
	local bounding=-all one
	for one in $1; do bounding+=,+$one; done
	run setpriv --no-new-privs --bounding-set $bounding --inh-caps -all "$FSQUOTA" "${@:2}"
	answer="$status $(sed -E 's/_(scan|grace)_.*//; s/[0-9]+(ms|s)\b//' <<<"$output")"
}

# bats test_tags=full
@test "each command needs the capabilities that the page says, and no others" {
	local command capabilities rights one wanted count=0 page=$srcdir/man/fsquota-concepts.7
	dump=$BATS_TEST_TMPDIR/dump
	prepare
	fsquota dump -f "$dump" /mnt/x
	while read -r command capabilities; do
		read -ra words <<<"${example[$command]//DUMP/$dump}"
		prepare
		with "$capabilities" "$command" "${words[@]}"
		wanted=$answer
		[ "$status" = 0 ] || fail "$command with $capabilities: $answer"
		for one in $capabilities; do
			rights=$(tr ' ' '\n' <<<"$capabilities" | grep -vx "$one" | paste -sd ' ')
			prepare
			with "$rights" "$command" "${words[@]}"
			# explain has an answer for everybody.
			[[ $answer != "$wanted" && ($command = explain || $one:$status != sys_admin:[!4]) ]] || fail "$command without $one: $answer"
		done
		count=$((count + 1))
	done < <(sed -n '/^\.Sh RIGHTS/,/^\.El/p' "$page" | awk '
		function tell(i, n, names) { n = split(commands, names, " , "); for (i = 1; i <= n; i++) print names[i], rights }
		/^\.It Cm / { if (commands) tell(); commands = substr($0, 8); rights = "" }
		/^\.Dv CAP_/ { rights = rights " " tolower(substr($2, 5)) }
		/^\.El/ { tell() }')
	assert_equal $count ${#example[@]}
}
