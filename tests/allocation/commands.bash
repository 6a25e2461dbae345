# shellcheck shell=bash
# shellcheck disable=SC2034 # for and of exhaust and faults
# SPDX-License-Identifier: Apache-2.0
#
# Every command, for exhaust and tests/robustness/faults, which have "tried": "reads" those that change
# nothing, "changes" the others. In front of the words may stand what is special about it:
#
#   input=TEXT        its standard input
#   looks=yes         it changes what "state -p" shows
#   output_file=FILE  it writes this
#   undo=FUNCTION     what takes back what the witness does not know
#   answers=yes       it says in its output what fails, and ends with 0
#   or=STATUS         another status when it fails: what it found goes before
#   varies=yes        its output is another each time

reads() {
	local changes=''
	with_options "$@"
}

changes() {
	local changes=yes
	with_options "$@"
}

# What is done for each of several is done for those that can have it.
several() {
	local several=yes
	changes "$@"
}

with_options() {
	local input='' looks='' output_file='' varies='' answers='' or='' undo=:
	while [[ $1 == [a-z_]*=* ]]; do local "${1%%=*}=${1#*=}" && shift; done
	tried "$@"
}

die() {
	echo "$top: $*"
	exit 1
}

# look: sets also to all that may have changed and the witness does not see
look() {
	also=''
	[ -z "$looks" ] || also=$("$FSQ_ORACLE" -x -f -D/dev/null -P/dev/null -c 'state -p' "$top" 2>&1)
	[ -z "$output_file" ] || [ ! -e "$output_file" ] || also+=" $(grep -vc timestamp "$output_file") lines"
}

same_answer() {
	[ "$status:$stderr" = "$usual_status:$usual_stderr" ] || return 1
	[ "$stdout" = "$usual_stdout" ] || [ -n "$varies" ]
}

# --- the commands -----------------------------------------------------------------------------------

ours() { "$FSQUOTA" "$@" >/dev/null; }

# dir has a quota, full is at its limit, gone is gone, odd has an ID nobody knows, new has nothing.
prepare() {
	local name
	for name in dir full new odd; do make_tree "$top/$name"; done
	mkdir "$top/gone"
	printf '# directories\n7:/elsewhere\n' >/etc/projects
	printf '# names\nother:7\n' >/etc/projid
	ours assign --hard 10M --name mine "$top/dir"
	# How many there are depends on the kernel: whether the FIFO has the ID.
	ours assign --hard-inodes 5 "$top/full"
	ours assign --hard-inodes "$("$FSQUOTA" usage --raw -No IUSED "$top/full")" "$top/full"
	ours assign --hard 1M "$top/gone"
	ours assign --no-register --id 4242 --unlimited "$top/odd"
	rmdir "$top/gone"
	# XFS takes it off its counts later.
	fsfreeze -f "$top" && fsfreeze -u "$top"
	printf '%s hard=20M soft-inodes=100\n%s hard=10M name=fresh\n' "$top/dir" "$top/new" >"$top/apply.conf"
	ours dump -p "$top" >/dev/null
	"$FSQUOTA" dump -p "$top" >"$top/dump"
	state=$("$FSQUOTA" state -p "$top")
	# Without memory libblkid finds no UUID, and says nothing: it is not asked for one.
	printf '%s %s auto noatime 0 0\n' "$(findmnt -no SOURCE "$top")" "$top" >/etc/fstab
}

group_changes() {
	changes assign --hard 10M --name fresh "$top/new"
	changes assign --hard 20M --soft 5M "$top/dir"
	changes assign --no-register --id 77 --unlimited "$top/new"
	changes assign --json --hard 10M "$top/new"
	changes resize "$top/dir" +20M
	several resize --hard 20M "$top/dir" "$top/full"
	several resize --over 50 --at "$top" --hard-inodes 100
	changes release "$top/dir"
	several release "$top/dir" "$top/full"
	several release --name mine --at "$top"
	several prune "$top"
	several prune --all --json "$top"
	several apply "$top/apply.conf"
	several project -s -p "$top/new" 55 "$top"
	several project -s mine "$top"
	several project -C mine "$top"
	changes limit -p bhard=1m mine "$top"
	changes restore -p -f "$top/dump" "$top"
	several answers=yes "input=assign --id 1048600 --hard 10M $top/new"$'\n'"release $top/dir"$'\n' batch
}

# What the witness does not see: who is stopped, and the times of grace.
enforced_again() { ours enable -p "$top"; }

grace_again() { ours timer -p 7days "$top"; }

group_switches() {
	reads looks=yes undo=enforced_again disable -p "$top"
	reads looks=yes undo=grace_again timer -p 3days "$top"
	reads looks=yes undo=grace_again "input=$top grace=3days" apply -
	reads enable -p "$top"
	reads warn -p 3 42 "$top"
}

without_output() { rm -f "$output_file"; }

# Also the words of /etc/fsquota.conf, which others take more often, and the files of its directory.
group_budgets() {
	mkdir /etc/fsquota.conf.d
	echo "budget = $top 1G" >/etc/fsquota.conf
	printf 'budget = %s 100M\novercommit = %s 200%%\n' "$top" "$top" >/etc/fsquota.conf.d/budgets.conf
	changes assign --hard 10M "$top/new"
	changes assign --force --hard 101M --json "$top/new"
	several resize "$top/dir" "$top/full" 20M
	reads or=8 check "$top"
	reads list --total "$top"
	reads varies=yes metrics "$top"
	reads doctor -q "$top"
	rm -r /etc/fsquota.conf /etc/fsquota.conf.d
}

group_reads() {
	reads apply --dry-run --diff "$top/apply.conf"
	reads assign --dry-run --hard 20M "$top/new"
	reads assign --dry-run --mkdir "$top/one" "$top/one/two"
	reads release --dry-run "$top/dir"
	reads resize --dry-run "$top/dir" 20M
	reads resize --dry-run --json --over 0 "$top/dir" "$top/full" 20M
	reads prune --dry-run "$top"
	reads restore --dry-run -p -f "$top/dump" "$top"
	reads answers=yes "input=list $top"$'\n'"usage $top/dir"$'\n'"check $top"$'\n' batch
	reads or=8 check "$top"
	reads check --json --id 1048577 --at "$top"
	reads list -u --json "$top"
	reads usage -g --json "$top"
	reads or=8 check --limit "$top/dir=1M" "$top/dir"
	reads doctor "$top"
	reads doctor --deep --json "$top"
	reads or=9 setup "$top"
	reads find mine "$top"
	reads find --orphans "$top"
	reads id "$top/dir" "$top/new"
	reads list "$top"
	reads list "$top/dir"
	reads list --json "$top"
	reads list --raw --total --sort -used,name "$top"
	reads list --output-all
	reads lsattr -pR "$top/dir/sub"
	reads varies=yes metrics "$top"
	reads output_file="$top/x.prom" undo=without_output metrics --output-file "$top/x.prom" "$top"
	reads supported "$top"
	reads usage "$top/dir"
	reads usage --json --fallback=walk "$top/new/sub"
	reads --help
	reads help list
	reads help --machine
	reads --version
}

# These look at the processes that there are: the calls are others each time, so faults does not have them.
group_processes() {
	reads explain "$top/dir"
	reads explain --json --everywhere --top 2 "$top/dir"
}

# Each run of it takes a second.
group_watch() {
	reads varies=yes top --batch 1 "$top"
	reads or=8 check --full-within 4h --interval 1 "$top"
	reads or=0 varies=yes watch --initial --count 1 "$top"
	reads or=0 varies=yes watch --initial --full-within 4h --count 1 "$top"
	reads or=0 varies=yes watch --json --initial --over 50% --count 1 "$top"
}

# Not "report -u": where getpwuid(3) has no memory, glibc 2.36 ends the program or finds no name.
group_xfs_quota() {
	local words
	for words in 'df' 'df -i' 'dump -p' 'path' 'print' 'project -c mine' 'quot -p' 'quota -p mine' \
		'report -p' 'state'; do
		reads $words "$top"
		reads $words --json "$top"
		reads xfs_quota --strict -x -f -c "$words" "$top"
	done
	reads xfs_quota --strict -x -f -c help "$top"
	reads xfs_quota --strict -x -f -c 'help report' "$top"
	reads xfs_quota --strict -x -f -c 'report -p' -c 'quota -p mine'
	reads xfs_quota --strict -x -f -d 'mine' -c 'quota -p %%' "$top"
	reads input=$'report -p\nquota -p mine\npath 0\nquit\n' xfs_quota --strict -x -f "$top"
	several xfs_quota --strict -x -f -c 'project -s mine' "$top"
	several xfs_quota --strict -x -f -c "project -s -p $top/new 55" "$top"
	several xfs_quota --strict -x -f -c 'project -C mine' "$top"
	changes xfs_quota --strict -x -f -c 'limit -p bhard=1m mine' "$top"
	changes xfs_quota --strict -x -f -c "restore -p -f $top/dump" "$top"
	reads looks=yes undo=grace_again xfs_quota --strict -x -f -c 'timer -p 3days' "$top"
}

# For tests/robustness/faults: what once left something out without a word.
group_silent() {
	reads usage --json --fallback=walk "$top"
	reads find mine "$top"
	reads release --dry-run "$top/dir"
	reads df "$top"
}

# What seldom happens.
group_seldom() {
	changes assign --hard 1M "$top/odd"
	changes assign --hard 1M --id 4242 --name odd "$top/odd"
	changes assign --hard 10% --soft 50% "$top/new"
	several release "$top/odd"
	reads assign --mkdir --dry-run --hard 1M "$top/none"
	reads or=7 project -s --dry-run -p "$top/new" 55 "$top"
	reads doctor
	reads doctor "$top/dir/sub"
}

# One of each kind, where there is no time for all.
group_some() {
	changes assign --hard 10M --name fresh "$top/new"
	several release "$top/dir"
	several prune "$top"
	reads or=8 check "$top"
	reads doctor "$top"
	reads list --json "$top"
	reads usage --json --fallback=walk "$top"
	reads xfs_quota --strict -x -f -c 'report -p' "$top"
}
