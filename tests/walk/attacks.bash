# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Attacks on a tool that walks a tree, for the suites that load this after fsquota.bash: attack,
# stand, falls and race. tests/walk/attacker.c says which there are.

# shellcheck disable=SC2034 # run_split and attack set variables, the suites read some
attacker=${builddir:?}/tests/walk/attacker
counted='runs ([0-9]+) changed ([0-9]+) hung ([0-9]+) opened ([0-9]+) wrong ([0-9]+) failed ([0-9]+) linked ([0-9]+)'

setup() {
	mount=/mnt/x
	tool=(xfs_quota)
	options=()
	launcher=()
}

# invocation ACTION: sets words to what is attacked, and expected to what it must say as an option
# of the attacker, who knows %ID and %TREE.
invocation() {
	case $1 in
	set) words=("${tool[@]}" -x -c 'project -s -p %TREE %ID' "$mount") ;;
	clear) words=("${tool[@]}" -x -c 'project -C -p %TREE %ID' "$mount") ;;
	assign) words=(fsquota assign --no-register --unlimited %TREE) ;;
	release) words=(fsquota release --no-register %TREE) ;;
	usage) words=(fsquota usage --fallback=walk -N -o IUSED %TREE) ;;
	esac
	expected=()
	case $1 in
	set | clear) expected=(-e 'Processed 1 ') ;;
	esac
}

# attack HOW KIND ACTION [OPTION...]: sets runs, changed, hung, opened, wrong and linked.
attack() {
	local words expected
	invocation "$3"
	[ -z "${unsaid-}" ] || expected=()
	run_split ticking "$attacker" "$1" "${@:4}" "${options[@]}" "${expected[@]}" "$2" "$3" \
		"$mount/arena" "${launcher[@]}" "${words[@]}"
	[[ $status:$stdout =~ ^0:$counted$ ]] || fail "attacker: status $status: $stdout $stderr"
	runs=${BASH_REMATCH[1]} changed=${BASH_REMATCH[2]} hung=${BASH_REMATCH[3]}
	opened=${BASH_REMATCH[4]} wrong=${BASH_REMATCH[5]} linked=${BASH_REMATCH[7]}
}

# stand KIND MIN:MAX ACTION...: in each of its windows, of which there must be some; MIN and MAX are
# of the inodes that usage may count.
stand() {
	local action count
	for action in "${@:3}"; do
		step "$1 $action"
		count=()
		[ "$action" != usage ] || count=(-c "$2")
		attack windows "$1" "$action" "${count[@]}"
		if [ "$runs" -lt 10 ] || [ "$changed$hung$opened$wrong$linked" != 00000 ]; then
			fail "$1, $action: $stdout"$'\n'"$stderr"
		fi
	done
}

# falls KIND ACTION...: the one of xfsprogs does.
falls() {
	local action
	tool[0]=$FSQ_ORACLE
	for action in "${@:2}"; do
		attack windows "$1" "$action" -u -p 4
		[ $((changed + hung + opened)) = 1 ] || fail "$1, $action: $stdout"$'\n'"$stderr"
	done
}

on_ext4() {
	mount=/mnt/e
	tool+=(-f)
}

# race KIND ACTION ROUNDS [COMMAND...]: the attacker swaps all the time; the tool is a child of the
# command. What may be counted meanwhile is anything; and when the tree itself is not there at the
# moment, there is nothing to process, which xfsprogs does not take for a failure.
race() {
	local runs changed hung opened wrong linked unsaid=''
	launcher=("${@:4}")
	step "$1 $2"
	[ "$1" != root ] || unsaid=yes
	attack race "$1" "$2" -n "$3"
	if [ "$runs" != "$3" ] || [ "$changed$hung$opened$wrong$linked" != 00000 ]; then
		fail "$1, $2: $stdout"$'\n'"$stderr"
	fi
}

# shellcheck disable=SC2054 # the commas are meant
# Each open and each ioctl waits, and so does the tool for the attacker.
slow=(strace -f -qq -o /dev/null -e trace=open,openat,openat2,ioctl
	-e inject=open,openat,openat2,ioctl:delay_enter=3000)

# every_other COMMAND...: window, for all kinds of them are among these, as there are three for each file.
every_other() {
	options+=(-s 2)
	"$@"
}

# What has windows of its own; with FSQUOTA_FULL what shares them, too.
all=(set release)
[ -z "${FSQUOTA_FULL-}${FSQUOTA_COVERAGE-}" ] || all+=(clear assign usage)
