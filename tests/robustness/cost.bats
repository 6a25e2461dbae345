#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# needs: valgrind
#
# What a call may cost, in things that can be counted: system calls, files opened, processes. The
# numbers do not depend on the machine; tests/bench/all measures the rest.

load ../lib/fsquota

setup_file() {
	fresh_each x e
	mkdir /mnt/x/dir
	oracle -x -c 'project -s -p /mnt/x/dir 42' -c 'limit -p bhard=1g 42' /mnt/x >/dev/null
	echo "$FSQ_X_DEV /mnt/x xfs rw,prjquota 0 0" >"$BATS_FILE_TMPDIR/table"
	echo "$FSQ_E_DEV /mnt/e ext4 rw,prjquota 0 0" >"$BATS_FILE_TMPDIR/table.e"
	# A hundred thousand projects, none of which is there.
	seq 100001 200000 | awk -v to="$BATS_FILE_TMPDIR" '{ print $1 ":/mnt/x/volume" $1 >to "/projects"
		print "volume" $1 ":" $1 >to "/projid" }'
}

setup() {
	rm -f /etc/projects /etc/projid
	table=$BATS_FILE_TMPDIR/table
	among=()
	# The static program has no libraries to map.
	most_calls=45
	ldd "$FSQUOTA" >/dev/null 2>&1 || most_calls=21
}

# calls COMMAND...: sets calls to the number of system calls of the command, which must succeed;
# among may have words to put before it.
calls() {
	"${among[@]}" strace -f -c -U calls,name -o "$BATS_TEST_TMPDIR/calls" "$@" >"$BATS_TEST_TMPDIR/out"
	calls=$(awk '$2 == "total" { print $1 }' "$BATS_TEST_TMPDIR/calls")
	[ "$calls" -gt 0 ]
}

# trace SYSCALLS COMMAND...: sets trace to the calls that were made.
trace() {
	"${among[@]}" strace -f -qq -e "trace=$1" -o "$BATS_TEST_TMPDIR/trace" "${@:2}" >"$BATS_TEST_TMPDIR/out"
	trace=$(<"$BATS_TEST_TMPDIR/trace")
}

# kubelet COMMAND [MOUNT]: the words of kubelet's call.
kubelet() { words=(xfs_quota -t "$table" -P/dev/null -D/dev/null -x -f "${2-/mnt/x}" -c "$1"); }

@test "kubelet's query on ext4 takes 45 system calls at most, of the static program 21" {
	table=$BATS_FILE_TMPDIR/table.e
	kubelet 'quota -p -N -n -v -i 42' /mnt/e
	calls "${words[@]}"
	assert [ "$calls" -le "$most_calls" ]
	assert_file_contains "$BATS_TEST_TMPDIR/out" "^$FSQ_E_DEV  *0 "
}

@test "kubelet's calls on XFS, and id, take 45 system calls at most, of the static program 21" {
	local command
	for command in 'quota -p -N -n -v -b 42' 'state -p' 'limit -p bhard=1g bsoft=1g 42'; do
		kubelet "$command"
		calls "${words[@]}"
		assert [ "$calls" -le "$most_calls" ]
	done
	calls fsquota id /mnt/x/dir
	assert [ "$calls" -le "$most_calls" ]
}

@test "kubelet's query opens its table and its mount point, and no other file" {
	kubelet 'quota -p -N -n -v -b 42'
	trace open,openat,openat2 "${words[@]}"
	local opened
	# But for the C library, where it is not linked in.
	opened=$(sed -n 's/[^"]*"\([^"]*\)".* = [0-9].*/\1/p' "$BATS_TEST_TMPDIR/trace" |
		grep -v -e '^/etc/ld\.so\.cache$' -e '/libc\.so\.6$')
	assert_equal "$opened" "$table
/mnt/x"
}

@test "a query starts no other process, and asks the kernel for the quota once" {
	kubelet 'quota -p -N -n -v -b 42'
	trace fork,vfork,clone,clone3,execve "${words[@]}"
	assert_equal "$(wc -l <"$BATS_TEST_TMPDIR/trace")" 1
	trace quotactl,quotactl_fd "${words[@]}"
	assert_equal "$(wc -l <"$BATS_TEST_TMPDIR/trace")" 1
}

@test "a command with a numeric ID opens neither /etc/projects nor /etc/projid" {
	echo '42:/mnt/x/dir' >/etc/projects
	echo 'name:42' >/etc/projid
	local command
	for command in 'quota -p -n -v 42' 'limit -p bhard=1g 42' 'state -p' 'report -p -n -b'; do
		trace open,openat,openat2 xfs_quota -x -c "$command" /mnt/x
		if [[ $trace == */etc/proj* ]]; then fail "$command: $trace"; fi
	done
}

@test "a command with a name reads /etc/projid once, and not /etc/projects" {
	seq 1 50 | awk '{ print $1 ":/mnt/x/dir" >"/etc/projects"; print "n" $1 ":" $1 >"/etc/projid" }'
	local command
	for command in 'quota -p -v n42' 'limit -p bhard=1g n42' 'report -p -b'; do
		trace open,openat,openat2 xfs_quota -x -c "$command" /mnt/x
		assert_equal "$command: $(grep -c '"/etc/projid"' <<<"$trace")" "$command: 1"
		if [[ $trace == */etc/projects* ]]; then fail "$command: $trace"; fi
	done
}

@test "a query by the last of a hundred thousand names, and a report, find it" {
	cp "$BATS_FILE_TMPDIR"/proj{ects,id} /etc
	oracle -x -D/dev/null -c 'limit -p bhard=5m 200000' /mnt/x
	run_split xfs_quota -x -c 'quota -p -N -v volume200000' /mnt/x
	assert_output --regexp "^$FSQ_X_DEV +0 +0 +5120 "
	run_split xfs_quota -x -c 'report -p -N' /mnt/x
	assert_line --regexp '^volume200000 +0 +0 +5120 '
}

# bats test_tags=many,full
@test "with -t five thousand mounts cost not one system call" {
	kubelet 'quota -p -N -n -v -b 42'
	among=("$BATS_TEST_DIRNAME/among" 10)
	calls "${words[@]}"
	local few=$calls
	among=("$BATS_TEST_DIRNAME/among" 5000)
	calls "${words[@]}"
	assert_equal "$calls" "$few"
}

# The mount that is asked for comes last.
mounted_last() {
	among=("$BATS_TEST_DIRNAME/among" "$1" bash -c 'mkdir /run/among/last &&
		mount --bind /mnt/x /run/among/last && exec "$@"' bash)
}

# bats test_tags=many,full
@test "without -t five thousand mounts cost one pass over the table" {
	local number calls_but_reads=()
	for number in 10 5000; do
		mounted_last $number
		calls xfs_quota -x -c 'quota -p -N -n -v -b 42' /run/among/last
		assert_file_contains "$BATS_TEST_TMPDIR/out" ' /run/among/last$'
		calls_but_reads+=("$(awk '$2 == "total" { all = $1 } $2 == "read" { reads = $1 }
			END { print all - reads }' "$BATS_TEST_TMPDIR/calls")")
	done
	assert_equal "${calls_but_reads[1]}" "${calls_but_reads[0]}"
	assert [ "${calls_but_reads[0]}" -le 45 ]
}

@test "assign of an empty directory is one process, and takes 76 system calls at most, 78 on ext4" {
	local fs options most
	printf '%s\n' '# foreign' 1:/one 2:/two >/etc/projects
	printf '%s\n' one:1 two:2 >/etc/projid
	for fs in x e; do
		for options in "" "--hard 10M" "--hard 10M --soft 5M --hard-inodes 100 --name pod-$fs"; do
			mkdir /mnt/$fs/assigned
			calls fsquota assign /mnt/$fs/assigned $options
			# What limits stop nobody takes one or two calls to know; a pipe that nobody
			# reads must not hold up a signal, which takes one; the directory is closed at the end; and to lock
			# it and the one above takes six; to see that there are no budgets, and that apply has noted nothing in either place,
			# three. An entry in the journal takes two. Whether more is in use than a limit allows takes one, and
			# so does whether there is a directory of settings. Without a limit a person is told, where one looks.
			most=75
			[ -z "$options" ] || most=76
			[ $fs = x ] || [ -z "$options" ] || most=78
			assert [ "$calls" -le $most ]
			refute grep -qE 'clone|fork' "$BATS_TEST_TMPDIR/calls"
			fsquota release /mnt/$fs/assigned
			rmdir /mnt/$fs/assigned
		done
	done
}

@test "beside many registered directories assign takes 24 system calls more at most, to look for a container store" {
	local few
	mkdir -p /mnt/x/assigned /mnt/x/near/{1..40}/sub
	calls fsquota assign /mnt/x/assigned
	few=$calls
	fsquota release /mnt/x/assigned
	fsquota assign /mnt/x/near/* >/dev/null
	calls fsquota assign /mnt/x/assigned
	assert [ "$calls" -gt "$few" ]
	assert [ "$calls" -le $((few + 24)) ]
	fsquota release /mnt/x/assigned /mnt/x/near/*
	rm -r /mnt/x/assigned /mnt/x/near
}

@test "usage costs the same, however much is in a directory" {
	mkdir /mnt/x/few /mnt/x/many
	touch /mnt/x/many/{1..500}
	fsquota assign /mnt/x/few
	fsquota assign /mnt/x/many
	calls fsquota usage --json /mnt/x/few
	local few=$calls
	calls fsquota usage --json /mnt/x/many
	assert_equal "$calls" "$few"
	fsquota release /mnt/x/few
	fsquota release /mnt/x/many
}

@test "usage --brief, at each login, takes 75 system calls and one process more where nothing is to be said" {
	mkdir /mnt/x/home
	fsquota assign /mnt/x/home --hard 10M >/dev/null
	calls fsquota usage --brief /mnt/x/home
	assert [ "$calls" -le 75 ]
	trace clone,clone3,fork,vfork fsquota usage --brief /mnt/x/home
	# strace may print a call in two lines.
	[ "$(grep -cE '(clone3?|v?fork)\(' <<<"$trace")" = 1 ] || fail "$trace"
	fsquota release /mnt/x/home
}

# bats test_tags=linux-6
@test "setting up a tree costs 4 system calls an entry, 2 with file_setattr(2)" {
	local most=4
	! kernel_knows file_setattr || most=2
	mkdir /mnt/x/one /mnt/x/two
	touch /mnt/x/one/{1..100} /mnt/x/two/{1..200}
	calls xfs_quota -x -c 'project -s -p /mnt/x/one 7' /mnt/x
	local one=$calls
	calls xfs_quota -x -c 'project -s -p /mnt/x/two 7' /mnt/x
	run lsattr -p /mnt/x/two
	assert_equal "$(grep -c '^ *7 ' <<<"$output")" 200
	# One of 256 entries looks for signals and at the clock.
	assert [ $((calls - one)) -le $((100 * most + 4)) ]
}

@test "a report costs one system call a row" {
	local limits=() id
	for id in {1001..1100}; do limits+=(-c "limit -p bhard=1m $id"); done
	oracle -x "${limits[@]}" /mnt/x
	calls xfs_quota -x -c 'report -p -n -N -L 1001 -U 1050' /mnt/x
	local fifty=$calls
	calls xfs_quota -x -c 'report -p -n -N -L 1001 -U 1100' /mnt/x
	assert_equal "$(grep -c '^#1' "$BATS_TEST_TMPDIR/out")" 100
	assert [ $((calls - fifty)) -le 51 ]
}

# instructions COMMAND...: sets instructions to how many of them it takes, and what run_split does.
instructions() {
	run_split valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@"
	[[ $stderr =~ "Collected : "([0-9]+) ]] || fail "$stderr"
	instructions=${BASH_REMATCH[1]}
}

# bats test_tags=install,many,shared,full
@test "a row of a report without names costs a fifth of the instructions of xfs_quota's" {
	local tool few cost=()
	for id in {1001..1300}; do echo "limit -p bsoft=5m bhard=1g $id"; done | oracle -x /mnt/x >/dev/null
	for tool in "$FSQ_TOOLS/xfs_quota" "$FSQ_ORACLE"; do
		instructions "$tool" -x -c 'report -p -n -L 1001 -U 1100' /mnt/x
		few=$instructions
		instructions "$tool" -x -c 'report -p -n -L 1001 -U 1300' /mnt/x
		assert_equal "$(grep -c '^#1' "$BATS_TEST_TMPDIR/stdout")" 300
		cost+=($(((instructions - few) / 200)))
	done
	echo "# instructions a row: ${cost[0]}, of xfs_quota ${cost[1]}" >&3
	assert [ $((5 * cost[0])) -le "${cost[1]}" ]
}

# bats test_tags=install,many
@test "a request to batch takes six system calls at most, and a twentieth of xfs_quota's instructions" {
	local id few one=$BATS_TEST_TMPDIR/one two=$BATS_TEST_TMPDIR/two
	mkdir /mnt/x/batch
	id=$(fsquota assign /mnt/x/batch --hard 100M)
	printf 'usage /mnt/x/batch\n%.0s' {1..1000} >"$one"
	cat "$one" "$one" >"$two"
	calls fsquota batch <"$one"
	few=$calls
	calls fsquota batch <"$two"
	assert_equal "$(grep -c "\"exit\":0,.*\"id\":$id," "$BATS_TEST_TMPDIR/out")" 2000
	# A few more read the lines.
	assert [ $((calls - few)) -le 6010 ]
	instructions "$FSQUOTA" batch <"$one"
	few=$instructions
	instructions "$FSQUOTA" batch <"$two"
	few=$(((instructions - few) / 1000))
	instructions "$FSQ_ORACLE" -x -c "quota -p -N -n -v -b $id" /mnt/x
	echo "# instructions: a request $few, xfs_quota $instructions" >&3
	assert [ $((20 * few)) -le "$instructions" ]
	fsquota release /mnt/x/batch
}

@test "settings cost two system calls where there are none, and the same for each request" {
	local few pid
	printf 'usage /mnt/x/dir\n' >"$BATS_TEST_TMPDIR/one"
	trace all fsquota usage /mnt/x/dir
	assert_equal "$(grep -c /etc/fsquota.conf <<<"$trace")" 2
	coproc BATCH { exec strace -f -qq -o "$BATS_TEST_TMPDIR/trace" "$FSQUOTA" batch; }
	for few in {1..10}; do
		echo 'usage /mnt/x/dir' >&"${BATCH[1]}"
		IFS= read -r -t 60 <&"${BATCH[0]}"
	done
	few=${BATCH[1]} pid=$BATCH_PID
	exec {few}>&-
	wait "$pid"
	assert_equal "$(grep -c /etc/fsquota.conf "$BATS_TEST_TMPDIR/trace")" $((2 + 2 + 9 * 2))
}

# of_projects COUNT COMMAND...: sets calls, allocations, allocated bytes and instructions of a command when
# so many projects are there, with limits, names and directories.
of_projects() {
	local count=$1 most=600
	shift
	seq 2001 $((2000 + most)) | awk -v last=$((2000 + count)) '
		{ print "limit -p bhard=" ($1 <= last ? "1m" : 0), $1 }' | oracle -x /mnt/x >/dev/null 2>&1
	seq 2001 $((2000 + count)) | awk '{ print $1 ":/mnt/x/v/volume" $1 >"/etc/projects"
		print "volume" $1 ":" $1 >"/etc/projid" }'
	calls "$@"
	run_split valgrind "$@"
	[[ $stderr =~ "total heap usage: "([0-9,]+)" allocs, "[0-9,]+" frees, "([0-9,]+)" bytes" ]] || fail "$stderr"
	allocations=${BASH_REMATCH[1]//,/} allocated=${BASH_REMATCH[2]//,/}
	instructions "$@"
}

# Buffers double: of metrics, three may do so between the two. The C library takes other instructions on other processors.
# bats test_tags=install,many,shared
@test "a project more costs list, report and metrics one system call, no allocation, and few instructions" {
	local command most bytes words shown few
	for command in '5900 240 list --quick --json' '5000 240 list --quick --raw --bytes' '5000 240 list --quick --pairs --bytes' '5000 90 report -p --csv' '4900 2600 metrics --quick'; do
		read -r most bytes command <<<"$command"
		read -ra words <<<"fsquota $command"
		of_projects 300 "${words[@]}" /mnt/x
		few=("$calls" "$allocations" "$instructions" "$allocated")
		of_projects 600 "${words[@]}" /mnt/x
		shown=$(grep -c 'volume2[0-9]*[",  ].*1048576' "$BATS_TEST_TMPDIR/stdout")
		[ "$shown" -ge 600 ] || fail "$command: $shown rows"
		echo "# $command: 300 more cost $((calls - few[0])) calls, $((allocations - few[1])) allocations," \
			"$((allocated - few[3])) bytes, $((instructions - few[2])) instructions after ${few[2]}" >&3
		[ $((calls - few[0])) -le 315 ] || fail "$command: $calls calls after ${few[0]}"
		[ $((allocations - few[1])) -le 15 ] && [ $((allocated - few[3])) -le $((300 * bytes)) ] ||
			fail "$command: $allocations allocations, $allocated bytes"
		[ $((instructions - few[2])) -le $((300 * most)) ] || fail "$command: $instructions instructions"
	done
	of_projects 0 true
}

# bats test_tags=install,many,shared,full
@test "that list looks at each directory costs three system calls more, and no allocation" {
	local few words=(fsquota list --json /mnt/x)
	mkdir -p /mnt/x/v
	(cd /mnt/x/v && seq -f volume%g 2001 2600 | xargs mkdir)
	of_projects 300 "${words[@]}"
	few=("$calls" "$allocations")
	of_projects 600 "${words[@]}"
	assert_equal "$(jq '[.list[] | select(.in_force == "other-id")] | length' "$BATS_TEST_TMPDIR/stdout")" 600
	echo "# list: 300 more cost $((calls - few[0])) calls, $((allocations - few[1])) allocations" >&3
	# Each is warned of, in two calls more.
	assert [ $((calls - few[0])) -le $((6 * 300 + 15)) ]
	assert [ $((allocations - few[1])) -le 15 ]
	of_projects 0 true
	rm -r /mnt/x/v
}

@test "prune --pods, every five minutes, asks no filesystem where no line is of a pod" {
	mkdir -p /mnt/x/few /mnt/x/pods/40ac2aea-808d-4b46-af07-75fe449cee4e/volumes/kubernetes.io~empty-dir/v
	fsquota assign /mnt/x/few
	trace quotactl,quotactl_fd fsquota prune --pods
	assert_equal "$trace" ''
	fsquota assign /mnt/x/pods/40ac2aea-808d-4b46-af07-75fe449cee4e/volumes/kubernetes.io~empty-dir/v
	trace quotactl,quotactl_fd fsquota prune --pods
	assert_regex "$trace" quotactl
	fsquota release /mnt/x/few /mnt/x/pods/40ac2aea-808d-4b46-af07-75fe449cee4e/volumes/kubernetes.io~empty-dir/v
	rm -r /mnt/x/few /mnt/x/pods
}

# bats test_tags=install,many,shared,full
@test "prune looks at each directory once, and reads its quota once" {
	local few words=(fsquota prune --dry-run --json --all /mnt/x)
	mkdir -p /mnt/x/v
	(cd /mnt/x/v && seq -f volume%g 2001 2600 | xargs mkdir)
	of_projects 300 "${words[@]}"
	few=("$calls" "$allocations" "$instructions")
	of_projects 600 "${words[@]}"
	assert_equal "$(jq '[.prune[] | select(.kind != "limits")] | length' "$BATS_TEST_TMPDIR/stdout")" 0
	echo "# prune: 300 more cost $((calls - few[0])) calls, $((allocations - few[1])) allocations," \
		"$((instructions - few[2])) instructions after ${few[2]}" >&3
	# To open, to close, and to get the next.
	assert [ $((calls - few[0])) -le $((3 * 300 + 15)) ]
	assert [ $((allocations - few[1])) -le 15 ]
	assert [ "$instructions" -le $((2 * few[2])) ]
	of_projects 0 true
	rm -r /mnt/x/v
}

# bats test_tags=install,many,shared,full
@test "each of many that are gone costs prune the same, and it locks and reads the files seldom" {
	local few locks
	gone_ones() {
		seq 2001 $((2000 + $1)) | awk '{ print "limit -p bhard=1m", $1 }' | oracle -x /mnt/x >/dev/null
		seq 2001 $((2000 + $1)) | awk '{ print $1 ":/mnt/x/v/volume" $1 >"/etc/projects"
			print "volume" $1 ":" $1 >"/etc/projid" }'
	}
	of_gone() {
		gone_ones "$1"
		calls "$FSQUOTA" prune --json /mnt/x
		assert_equal "$(jq '[.prune[] | select(.action == "removed")] | length' "$BATS_TEST_TMPDIR/out")" "$1"
		assert_equal "$(cat /etc/projects /etc/projid)" ''
		locks=$(awk '$2 == "flock" { print $1 }' "$BATS_TEST_TMPDIR/calls")
		gone_ones "$1"
		instructions "$FSQUOTA" prune --json /mnt/x
	}
	of_gone 600
	few=("$calls" "$instructions")
	assert_equal "$locks" 16
	of_gone 1200
	echo "# prune: 600 more that are gone cost $((calls - few[0])) calls," \
		"$((instructions - few[1])) instructions after ${few[1]}" >&3
	assert [ "$calls" -le $((21 * few[0] / 10)) ]
	assert [ "$instructions" -le $((23 * few[1] / 10)) ]
}

@test "the mount table is read once for the directories of all projects, and with --quick none is opened" {
	local opened
	seq 1 200 | awk '{ print $1 ":/mnt/x/dir/" $1 }' >/etc/projects
	for id in {1..200}; do echo "limit -p bhard=1m $id"; done | oracle -x /mnt/x >/dev/null
	trace open,openat,openat2 fsquota list --quick --json /mnt/x
	opened=$(grep -c '"/proc/self/mountinfo"' <<<"$trace")
	[ "$opened" -le 2 ] || fail "$trace"
	refute grep -q '"/mnt/x/dir\|"dir/' <<<"$trace"
	assert_equal "$(jq '[.list[] | select(.path)] | length' "$BATS_TEST_TMPDIR/out")" 200
	for id in {1..200}; do echo "limit -p bhard=0 $id"; done | oracle -x /mnt/x >/dev/null
}

@test "explain lists the inodes of an XFS, and asks neither for a file nor for each whether to go on" {
	mkdir /mnt/x/large
	fsquota assign /mnt/x/large >/dev/null
	(cd /mnt/x/large && mkdir {1..10} && touch {1..10}/{1..500})
	calls fsquota explain /mnt/x/large
	assert [ "$calls" -lt 2500 ]
	assert_file_contains "$BATS_TEST_TMPDIR/out" '^tree .* 5011 '
	rm -r /mnt/x/large
}

# bats test_tags=install,many,shared,full
@test "explain takes twice as much for deleted files on twice as many mounts, and in twice as many mount namespaces" {
	local dir=$BATS_TEST_TMPDIR/mounts kind few holder
	mkdir -p /mnt/x/web /mnt/x/layers
	fsquota assign /mnt/x/web >/dev/null
	# held_on COUNT: a deleted file on each of so many overlays, and what explain of another directory takes then.
	held_on() {
		mkdir "$dir"
		python3 "$BATS_TEST_DIRNAME/held.py" "$kind" "$1" "$dir" /mnt/x/layers 3>&- &
		holder=$!
		until_true test -e "$dir/ready"
		calls "$FSQUOTA" explain /mnt/x/web
		instructions "$FSQUOTA" explain /mnt/x/web
		kill $holder
		wait $holder || :
		rm -r "$dir" /mnt/x/layers/*
		echo "# explain: $1 deleted files on ${kind}s cost $calls calls, $instructions instructions" >&3
	}
	for kind in mount namespace; do
		held_on 150
		few=("$calls" "$instructions")
		held_on 300
		assert [ "$calls" -le $((5 * few[0] / 2)) ]
		assert [ "$instructions" -le $((5 * few[1] / 2)) ]
	done
	rm -r /mnt/x/web /mnt/x/layers
}
