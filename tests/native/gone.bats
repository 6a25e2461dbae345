#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# Directories that are gone: release by path, ID and name, and prune.

load ../lib/fsquota

FIRST=1048577

setup_file() {
	fresh_each x e
	fresh_fs x2 -o noquota
}

setup() {
	printf '# foreign\n7:/mnt\n' >/etc/projects
	printf '# foreign\nelsewhere:7\n' >/etc/projid
	cp /etc/projects /etc/projid "$BATS_TEST_TMPDIR"
	: >/etc/fstab
	rm -f /etc/fsquota.conf
	fs=x top=/mnt/x/v
	mkdir $top
}

teardown() {
	rm -rf /mnt/{x,e}/v
	settle /mnt/x
	no_limits x e
	: >/etc/fstab
}

# volume NAME...: directories with a quota and a file.
volume() {
	local name directories=("${@/#/$top/}")
	mkdir -p "${directories[@]}"
	# One process for many: each is expensive in the guest.
	fsquota assign "${directories[@]}" --hard 10M >/dev/null 2>&1
	for name; do echo text >"$top/$name/file"; done
}

# The files as before the test, byte for byte, and no limit of any project.
assert_no_trace() {
	local fs
	diff "$BATS_TEST_TMPDIR/projects" /etc/projects
	diff "$BATS_TEST_TMPDIR/projid" /etc/projid
	for fs in x e; do
		run real -c "dump -p" /mnt/$fs
		assert_equal "$(grep -v '^fs = ' <<<"$output")" ""
	done
}

# on_each TEST: on XFS and on ext4, in $top. A test that calls no on_each has the one of XFS.
on_each() {
	for fs in x e; do
		top=/mnt/$fs/v
		mkdir -p $top
		"$@"
		rm -rf $top
	done
}

@test "release takes the quota of directories off, whether they are there or not" {
	volume a b c
	rm -rf $top/a $top/b
	is_silent fsquota release $top/a $top/c
	assert_equal "$(fsquota id $top/c)" 0
	(cd $top && fsquota release b/)
	assert_no_trace
	refuses 5 "cannot open" fsquota release $top/a
	refuses 5 "no quota of its own" fsquota release $top/c
	is_silent fsquota release --if-exists $top/a $top/c
}

release_by_project() {
	volume a b
	mkdir $top/{c,d}
	run -0 fsquota assign $top/c --name web
	run -0 fsquota assign $top/d --name web
	rm -rf $top/a $top/c
	is_silent fsquota release --id $FIRST
	is_silent fsquota release --name web
	assert_equal "$(fsquota id $top/d)" 0
	is_silent fsquota release --id $((FIRST + 1)) --at $top
	assert_no_trace
	refuses 5 'no project "web"' fsquota release --name web
	refuses 5 "no registered directory" fsquota release --id $FIRST
	refuses 5 "no quota of project" fsquota release --id $FIRST --at $top
	is_silent fsquota release --if-exists --name web
}

@test "release of an ID or a name releases all its directories, and those that are gone" {
	on_each release_by_project
}

# The line that stays comes first.
spread() {
	local other=/mnt/e
	[ "$fs" = x ] || other=/mnt/x
	mkdir $other/v2
	chown 65534 $other/v2
	prints $FIRST fsquota assign $other/v2 --name both --hard 10M
	run -0 fsquota assign $top/{gone,too} --mkdir --owner nobody --name both --hard 10M
	rm -rf $top/gone $top/too
	is_silent fsquota release --name both --at $top
	assert_equal "$(diff "$BATS_TEST_TMPDIR/projects" /etc/projects)" "2a3
> $FIRST:$other/v2"
	# ext4 lets go of an empty dquot a moment later.
	assert_equal "$(kernel_has /mnt/$fs $FIRST | tr -d "0 ")" ""
	assert_equal "$(kernel_has $other $FIRST | cut -d' ' -f3)" 10240
	is_silent fsquota release --name both
	rmdir $other/v2
	assert_no_trace
}

@test "release of a project on one filesystem leaves it on the other" { on_each spread; }

deleted_but_open() {
	local foreseen
	volume a
	exec 9>$top/a/open
	rm $top/a/open
	foreseen=$(fsquota release --dry-run --json --id $FIRST)
	run_split fsquota release --json --id $FIRST
	exec 9>&-
	assert_equal "$status" 0
	assert_equal "$stdout" "${foreseen/would_change/changed}"
	assert_equal "$(jq -c '.release[0] | [.lines, .changed_files, .left_inodes]' <<<"$stdout")" "[2,2,1]"
	counts /mnt/$fs $FIRST 0
	assert_no_trace
}

@test "release of a project of which a deleted file is open does what the dry run says" {
	on_each deleted_but_open
}

# A file of many extents is long in going.
deleted_now() {
	volume a b
	fsquota assign $top/{a,b} --hard 200M >/dev/null 2>&1
	python3 - $top/{a,b}/holes <<-'END'
		import os, sys
		for name in sys.argv[1:]:
		    fd = os.open(name, os.O_WRONLY | os.O_CREAT)
		    for i in range(4000):
		        os.pwrite(fd, b"x", i * 8192)
	END
	sync -f $top
	rm -rf $top/{a,b}
	run_split fsquota prune /mnt/$fs
	assert_equal "$status:$stderr:$(grep -c '^removed' <<<"$stdout")" 0::2
	assert_no_trace
}

# bats test_tags=slow
@test "prune takes what was deleted a moment ago, while XFS cleans up" { on_each deleted_now; }

moved() {
	volume a
	mv $top/a $top/elsewhere
	refuses 6 "have project ID $FIRST" fsquota release $top/a
	refuses 6 "have project ID $FIRST" fsquota release --id $FIRST
	assert_equal "$(kernel_has /mnt/$fs $FIRST | cut -d' ' -f3)" 10240
	grep "^$FIRST:$top/a$" /etc/projects
	is_silent fsquota release --keep-tags --id $FIRST
	assert_equal "$(kernel_has /mnt/$fs $FIRST | cut -d' ' -f3)" 0
	assert_equal "$(fsquota id $top/elsewhere)" $FIRST
	rm -rf $top/elsewhere
	counts /mnt/$fs $FIRST 0
	assert_no_trace
}

@test "files elsewhere that have the ID are counted, and release is refused without --keep-tags" { on_each moved; }

@test "what is asked of release must fit together" {
	refuses 2 "no directory given" fsquota release
	refuses 2 "do not go together" fsquota release --id 5 --name web
	refuses 2 "does not go with a directory" fsquota release --name web /mnt/x
	refuses 2 "does not go with a directory" fsquota release --at /mnt/x /mnt/x
	refuses 2 "one directory" fsquota release --id 5 /mnt/x /mnt/e
	refuses 2 "no project ID" fsquota release --id 0 --at /mnt/x
	refuses 3 "project quota is off" fsquota release --id 5 --at /mnt/x2
	refuses 5 "cannot open" fsquota release --id 5 --at /nowhere
	refuses 2 "--at" fsquota release --name a --at /mnt/x --at /mnt/x2
}

# hard ID [FS]: the hard limit of space, in KiB.
hard() {
	real -c 'report -p -b -N -n' "/mnt/${2:-$(basename "$(dirname "$top")")}" |
		awk -v id="#$1" '$1 == id { print $4 }'
}

# Its limits go first, and come back when a line cannot be taken out.
# bats test_tags=many,full
@test "release of a project that fails half-way leaves its limits, its line and its name" {
	local kept=$BATS_FILE_TMPDIR
	local call number
	volume a
	rm -rf $top/a
	counts ${top%/v} $FIRST 0
	cp /etc/projects /etc/projid $kept
	run -0 strace -qq -f -o $kept/trace -e trace=quotactl_fd fsquota release --id $FIRST --dry-run
	number=$(wc -l <$kept/trace)
	for call in quotactl_fd:when=$((number + 1)) {pwrite64,fsync}:when={1,2}; do
		run_split strace -qq -f -o $kept/trace -e trace="${call%:*}" -e "inject=${call/:/:error=EIO:}" \
			fsquota release --id $FIRST
		grep -q INJECTED $kept/trace || fail "$call: $(<$kept/trace)"
		assert_equal "$call: $status" "$call: 1"
		diff $kept/projects /etc/projects
		diff $kept/projid /etc/projid
		assert_equal "$call: $(hard $FIRST)" "$call: 10240"
	done
	fsquota release --id $FIRST
	assert_no_trace
}

@test "a name stays while its directory may be on a filesystem that is not seen" {
	ln -s x /mnt/seen
	echo "1048999:/mnt/seen/gone" >>/etc/projects
	echo "far:1048999" >>/etc/projid
	cp /etc/projects /etc/projid "$BATS_TEST_TMPDIR"
	refuses 5 1048999 fsquota release --name far --dry-run
	refuses 5 1048999 fsquota release --name far
	rm /mnt/seen
	assert_no_trace
}

@test "resize of a project by its name or ID" {
	volume a b
	fsquota resize --name volume$FIRST 20M
	assert_equal "$(hard $FIRST) $(hard $((FIRST + 1)))" "20480 10240"
	succeeds fsquota resize --name volume$FIRST +1M --json
	assert_equal "$(jq -c '.resize[0] | [.path, .id, .hard_bytes, .changed]' <<<"$stdout")" \
		"[\"$top/a\",$FIRST,22020096,true]"
	fsquota resize --name volume$FIRST 30M --dry-run
	assert_equal "$(hard $FIRST)" 21504
	refuses 6 "smaller than" fsquota resize --name volume$FIRST 1M
	# Its directory may be gone while files elsewhere have the ID.
	rm -rf "$top/b"
	fsquota resize --id $((FIRST + 1)) --at "$top" 30M --soft 20M
	assert_equal "$(hard $((FIRST + 1)))" 30720
	fsquota resize --id $((FIRST + 1)) 40M --at "$(findmnt -no SOURCE "${top%/v}")"
	assert_equal "$(hard $((FIRST + 1)))" 40960
	fsquota release --name volume$FIRST
	fsquota release --id $((FIRST + 1)) --at "$top"
}

@test "a file that cannot be read is not one without lines, with --if-exists neither" {
	volume a
	mv /etc/projects /etc/projects.kept
	mkdir /etc/projects
	run_split fsquota release --id $FIRST --at /mnt/x --if-exists
	rmdir /etc/projects
	mv /etc/projects.kept /etc/projects
	assert_equal "$status:$stdout" 1:
	[[ $stderr == *"/etc/projects"*"Is a directory"* ]] || fail "$stderr"
	fsquota release $top/a
}

@test "what is asked of resize must fit together" {
	local other=/mnt/e/v
	volume a
	mkdir -p $other/a && fsquota assign $other/a --hard 5M --id 77 --name far
	refuses 5 'no project "nobody"' fsquota resize --name nobody 5M
	refuses 2 "does not go with a directory" fsquota resize --name far $other/a 5M
	refuses 2 "a size is wanted" fsquota resize --name far
	refuses 2 "--id takes --at PATH, or the directory" fsquota resize --id 77 5M
	refuses 2 "--at goes with --id or --name" fsquota resize --at /mnt/e 5M
	refuses 2 "do not go together" fsquota resize --id 77 --name far --at /mnt/e 5M
	refuses 2 "--at" fsquota resize --id 77 --at /mnt/x --at /mnt/e 5M
	refuses 2 "much" fsquota resize --soft much $other/a
	refuses 5 "has no registered directory" fsquota resize --name elsewhere 5M --projects-file /dev/null
	refuses 6 "on another filesystem" fsquota resize --name far 5M \
		--projects-file <(printf '77:%s\n' $other/a $top/a)
	assert_equal "$(hard 77 e)" 5120
	rm -rf $other
}

prune_many() {
	volume keep
	cp /etc/projects "$BATS_TEST_TMPDIR/kept-projects"
	cp /etc/projid "$BATS_TEST_TMPDIR/kept-projid"
	mkdir -p $top/many/{1..500}
	fsquota assign --hard 1M $top/many/* >/dev/null
	assert_equal "$(wc -l </etc/projects)" 503
	rm -rf $top/many
	succeeds fsquota prune
	assert_equal "$(grep -c "^removed project .*: the directory is gone$" <<<"$stdout")" 500
	diff "$BATS_TEST_TMPDIR/kept-projects" /etc/projects
	diff "$BATS_TEST_TMPDIR/kept-projid" /etc/projid
	run real -c "dump -p" /mnt/$fs
	assert_equal "$(grep -vc '^fs = ' <<<"$output")" 1
	is_silent fsquota prune
	fsquota release $top/keep
	assert_no_trace
}

# bats test_tags=many,full
@test "five hundred volumes are deleted, and one prune leaves all as before" { on_each prune_many; }

prune_kinds() {
	volume gone
	rm -rf $top/gone
	# As a killed assign and a killed release leave them, or somebody who is not done yet.
	real -c "limit -p bhard=10m $((FIRST + 5))" -c "limit -p bhard=10m 30042" /mnt/$fs
	printf '%s\n' "left:$((FIRST + 6))" mine:30043 >>/etc/projid
	echo "$((FIRST + 7)):$top" >>/etc/projects
	succeeds fsquota prune --dry-run --json
	assert_equal "$(jq -c '.prune[] | [.action, .kind, .reason, .id - 1048577, .name]' <<<"$stdout")" \
		'["would-remove","directory",null,0,"volume1048577"]
["kept","line","unproven",7,null]
["kept","limits","unregistered",5,null]
["would-remove","name",null,6,"left"]'
	assert_equal "$(wc -l </etc/projects)" 4
	succeeds fsquota prune
	assert_equal "$stdout" "removed project $FIRST (volume$FIRST), $top/gone: the directory is gone
kept project $((FIRST + 7)), $top: the directory has neither the ID nor a limit, or its filesystem is not mounted
kept project $((FIRST + 5)) on /mnt/$fs: limits without files, which may be set in advance: --id-range or --all removes them
removed project $((FIRST + 6)) (left): a name without files, limits and directories"
	# What is chosen is no line's, and nobody else's.
	refuses 2 "no range of project IDs" fsquota prune --id-range 5
	run_split fsquota prune --id-range 30040-30050
	assert_equal "$(grep -v '^kept' <<<"$stdout")" "removed project 30042 on /mnt/$fs: limits without files
removed project 30043 (mine): a name without files, limits and directories"
	echo "8:/somewhere/else" >>/etc/projects
	run_split fsquota prune
	assert_line "kept project 8, /somewhere/else: gone, or its filesystem is not mounted: --all removes it"
	run_split fsquota prune --all
	assert_line "removed project 8, /somewhere/else: the directory is gone, or its filesystem is not mounted"
	assert_line "removed project $((FIRST + 7)), $top: the directory has neither the ID nor a limit"
	assert_line "removed project $((FIRST + 5)) on /mnt/$fs: limits without files"
	assert_no_trace
}

# A project whose directory is not there: nothing is done, and that is no success.
nothing_there() {
	local letter
	for letter in c s C; do
		volume web
		mv $top/web $top/www
		refuses 5 "$top/web: is the directory of project $FIRST, and not there; if it was renamed: fsquota move OLD NEW" fsquota project -$letter $FIRST
		fsquota move $top/web $top/www
		fsquota release $top/www
		refuses 5 "project 4711 has no directory in /etc/projects: name one with -p" fsquota project -$letter 4711 /mnt/$fs
		rm -r $top/www
	done
}

@test "project says that the directory of a project is not there" { on_each nothing_there; }

@test "prune removes lines and names and keeps what is in doubt, each with its reason; --all removes it" {
	on_each prune_kinds
}

# kept WORD: prune keeps the one line there is, and says so.
kept() {
	succeeds fsquota prune
	assert_equal "$(wc -l <<<"$stdout")" 1
	[[ $stdout == "kept project $FIRST (volume$FIRST), "*"$1"* ]] || fail "$stdout"
	assert_equal "$(grep -c "^$FIRST:" /etc/projects)" 1
	assert_equal "$(grep -c ":$FIRST$" /etc/projid)" 1
	is_silent fsquota prune -q
}

may_come_back() {
	# An ID in use: a deleted file that is open, and a directory that was moved.
	volume a
	exec 7<$top/a/file
	rm -rf $top/a
	kept "open ones have the ID"
	exec 7<&-
	run_split fsquota prune
	assert_no_trace
	volume a
	mv $top/a $top/b
	kept "files elsewhere"
	mv $top/b $top/a
	is_silent fsquota prune
	# A mount point of fstab where nothing is mounted, with the limits of another volume there.
	rm -rf $top/a
	echo "/dev/none $top ext4 defaults 0 0" >/etc/fstab
	kept "which fstab has"
	run -0 fsquota prune --all
	assert_line --partial "kept project $FIRST (volume$FIRST), "
	assert_line --partial "is not mounted, which fstab has: mount it, or take that line out of fstab"
	: >/etc/fstab
	# No limits that would prove that it was on this filesystem.
	real -c "limit -p bhard=0 $FIRST" /mnt/$fs
	kept "no limits of the ID"
	refuses 5 "not mounted" fsquota release --id $FIRST
	# Who names the directory, or the filesystem, knows it.
	if [ $fs = x ]; then fsquota release $top/a; else fsquota release --id $FIRST --at $top; fi
	assert_no_trace
	# A pod that kubelet takes up at its next start.
	volume pods/a/pods/uid/volumes/kubernetes.io~empty-dir/cache
	rm -rf $top/pods/a/pods/uid/volumes
	kept "kubelet knows the pod"
	rm -rf $top/pods/a/pods/uid
	run_split fsquota prune
	assert_line --partial "removed project $FIRST"
	assert_no_trace
}

# limits_left [STRACE-OPTION...]: prune of limits without files, and its calls in the file trace.
limits_left() {
	real -c "limit -p bhard=1m $((FIRST + 5))" /mnt/$fs
	run_split strace -qq -o trace -e trace=quotactl,quotactl_fd "$@" fsquota prune --id-range 1048577-1048600 /mnt/$fs
}

# The last ones look for limits, look again, and take them off.
last_calls_fail() {
	local calls n failed=0
	limits_left
	assert_equal "$status:$stderr" 0:
	calls=$(grep -c '^quotactl' trace)
	for ((n = calls - 6; n <= calls; n++)); do
		limits_left -e "inject=quotactl,quotactl_fd:error=EIO:when=$n"
		grep INJECTED trace || continue
		if [ "$status" = 0 ]; then
			# Of a mount that is none of its own, or the look right before. ext4 frees an empty
			# record a moment later.
			[[ "$(kernel_has /mnt/$fs $((FIRST + 5)))" =~ ^[0\ ]*$ ]] || fail "$n of $calls"
		else
			assert_equal "$n of $calls: $status:$(grep -c 'Input/output error' <<<"$stderr")" "$n of $calls: 1:1"
			failed=$((failed + 1))
		fi
	done
	assert [ "$failed" -ge 3 ]
	run -0 fsquota prune --all /mnt/$fs
	assert_no_trace
}

# bats test_tags=slow,full
@test "prune says it when the kernel fails to show or to take limits" {
	cd "$BATS_TEST_TMPDIR"
	on_each last_calls_fail
}

# bats test_tags=slow
@test "prune keeps what may come back" { on_each may_come_back; }

# lives ID DIR: prune, release of its ID and, if given, of itself leave its line and the kernel's records.
lives() {
	local before after
	settle /mnt/x
	before=$(cat /etc/projects /etc/projid && real -c 'report -p -N -n' -c 'report -p -i -N -n')
	fsquota prune >"$BATS_TEST_TMPDIR/pruned"
	! grep ^removed "$BATS_TEST_TMPDIR/pruned" || fail "removed"
	refuses 5 "${2-not mounted}" fsquota release --id "$1"
	refuses 5 "${2-not mounted}" fsquota release --id "$1" --if-exists
	[ -z "${2-}" ] || refuses 5 "not mounted" fsquota release "$2"
	[ -z "${2-}" ] || refuses 5 "not mounted" fsquota release "$2" --if-exists
	after=$(cat /etc/projects /etc/projid && real -c 'report -p -N -n' -c 'report -p -i -N -n')
	assert_equal "$after" "$before"
}

@test "a directory of a filesystem that is not mounted lives, however fstab is spelled" {
	local at=/mnt/x/at entry
	fresh_fs x
	mkdir -p $at
	ln -s x /mnt/link
	umount /mnt/x2
	mkfs.xfs -q -f "$FSQ_X2_DEV"
	mount -o prjquota "$FSQ_X2_DEV" $at
	fsquota assign $at --hard 10M
	fsquota assign --mkdir $at/sub --hard 10M
	umount $at
	for entry in $at $at/ //mnt///x//at /mnt/./x/at/. /mnt/link/at; do
		echo "$FSQ_X2_DEV $entry xfs prjquota 0 0" >/etc/fstab
		# A directory stands in its place, or not; the IDs have limits on the other one, or not.
		lives $FIRST $at
		lives $((FIRST + 1)) $at/sub
		mkdir $at/sub
		lives $((FIRST + 1)) $at/sub
		rmdir $at/sub
		real -c "limit -p bhard=5m $((FIRST + 1))" /mnt/x
		lives $((FIRST + 1)) $at/sub
		real -c "limit -p bhard=0 $((FIRST + 1))" /mnt/x
	done
	# Without a line in fstab, too.
	: >/etc/fstab
	rm /mnt/link
	fsquota prune
	assert_equal "$(grep -c ":$at" /etc/projects)" 2
	refuses 5 "not mounted" fsquota release --id $((FIRST + 1))
	# Where the filesystem is mounted elsewhere, the ID is known to be there.
	mount -o prjquota "$FSQ_X2_DEV" /mnt/x2
	lives $FIRST $at
	real -c "limit -p bhard=5m $((FIRST + 1))" /mnt/x
	lives $((FIRST + 1)) $at/sub
	assert_equal "$(fsquota prune --json | jq -c '[.prune[].reason]')" '["elsewhere","elsewhere"]'
	# Another filesystem over the parent has neither.
	mount -o prjquota "$FSQ_E_DEV" $at
	lives $((FIRST + 1)) $at/sub
	umount $at
	fresh_fs x2 -o noquota
}

@test "prune takes what is gone where another filesystem has the ID of its own" {
	local fs id
	for fs in x2 e f; do
		fresh_fs x
		fresh_fs $fs
		# A disk of another machine.
		mkdir -p /mnt/$fs/srv/data
		chattr +P -p $FIRST /mnt/$fs/srv/data
		real -c "limit -p bhard=3m $FIRST" /mnt/$fs
		id=$(fsquota assign --mkdir /mnt/x/one --hard 10M)
		assert_equal "$id" $FIRST
		rmdir /mnt/x/one
		succeeds fsquota prune
		assert_equal "$stdout" "removed project $FIRST (volume$FIRST), /mnt/x/one: the directory is gone"
		assert_equal "$(grep -c "^$FIRST:" /etc/projects)" 0
		[[ $(kernel_has /mnt/x $FIRST) =~ ^[0\ ]*$ ]]
		[[ $(kernel_has /mnt/$fs $FIRST) == *3072* ]]
		# One that was mounted there and is mounted elsewhere now.
		mkdir -p /mnt/x/at/srv
		fsquota assign --mkdir /mnt/x/at/srv/data --id $FIRST --hard 10M
		rm -r /mnt/x/at
		lives $FIRST /mnt/x/at/srv/data
		assert_equal "$(fsquota prune --json | jq -c '[.prune[].reason]')" '["elsewhere"]'
		fsquota prune --all >/dev/null
		fresh_fs $fs
	done
	fresh_fs x
	# Both have lines.
	fresh_fs x2
	fsquota assign --mkdir /mnt/x/one --name both --hard 10M
	fsquota assign --mkdir /mnt/x2/two --name both --hard 10M
	rmdir /mnt/x/one
	fsquota prune
	assert_equal "$(grep "^$FIRST:" /etc/projects)" "$FIRST:/mnt/x2/two"
	[[ $(kernel_has /mnt/x2 $FIRST) == *10240* ]]
	[[ $(kernel_has /mnt/x $FIRST) =~ ^[0\ ]*$ ]]
	fsquota release /mnt/x2/two
	fresh_fs x
	fresh_fs x2 -o noquota
}

@test "disks that are swapped, a file, and a host's files in a chroot: all live" {
	local id root=$BATS_TEST_TMPDIR/root
	fresh_each x e
	fsquota assign --mkdir /mnt/x/one --hard 10M
	fsquota assign --mkdir /mnt/e/two --hard 10M
	touch /mnt/x/file
	fsquota project -s -p /mnt/x/file 77 /mnt/x
	echo 77:/mnt/x/file >>/etc/projects
	fsquota prune
	umount /mnt/x /mnt/e
	mount -o prjquota "$FSQ_X_DEV" /mnt/e
	mount -o prjquota "$FSQ_E_DEV" /mnt/x
	lives $FIRST /mnt/x/one
	lives $((FIRST + 1)) /mnt/e/two
	umount /mnt/x /mnt/e
	mount -o prjquota "$FSQ_X_DEV" /mnt/x
	mount -o prjquota "$FSQ_E_DEV" /mnt/e
	mkdir -p /mnt/x/root/{etc,proc,dev,usr,run,tmp}
	cp /etc/projects /etc/projid /mnt/x/root/etc
	cp -L "$FSQUOTA" /mnt/x/root/fsquota
	mount --bind /mnt/x/root /mnt/x/root
	for id in usr proc dev; do mount --bind /$id /mnt/x/root/$id; done
	for id in lib lib64 bin; do ln -s usr/$id /mnt/x/root/$id; done
	run -0 chroot /mnt/x/root /fsquota prune
	umount -R /mnt/x/root
	refute_output --partial removed
	diff /etc/projects /mnt/x/root/etc/projects
	assert_equal "$(grep -c : /etc/projects)" 4
	rm -rf /mnt/x/root
	fresh_each x e
}

# meanwhile COMMANDS: before prune has its first lock.
meanwhile() {
	local before
	stopped_at 73 1 "$FSQUOTA" prune --id-range $((FIRST + 5))-$((FIRST + 10)) # flock
	eval "$1"
	before=$(cat /etc/projects /etc/projid)
	go_on
	[[ $status = 0 && $stdout != *removed* ]] || fail "$stdout$stderr"
	assert_equal "$(cat /etc/projects /etc/projid)" "$before"
}

@test "what somebody uses while prune waits for the locks stays" {
	volume gone back
	rm -rf $top/gone $top/back
	meanwhile 'mkdir $top/back; sed -i "s,^$FIRST:,77:," /etc/projects'
	real -c "limit -p bhard=1m $((FIRST + 5))" -c "limit -p bhard=1m $((FIRST + 6))" -c "limit -p bhard=1m $((FIRST + 7))" /mnt/x
	meanwhile 'mkdir $top/used; chattr -p $((FIRST + 5)) $top/used; real -c "limit -p bhard=0 $((FIRST + 6))" /mnt/x
		echo "$((FIRST + 7)):/mnt/x" >>/etc/projects'
	printf '%s\n' "limited:$((FIRST + 8))" "gone:$((FIRST + 9))" "listed:$((FIRST + 10))" >>/etc/projid
	meanwhile 'real -c "limit -p bhard=1m $((FIRST + 8))" /mnt/x; sed -i /^gone:/d /etc/projid
		echo "$((FIRST + 10)):/mnt/x" >>/etc/projects'
	assert_equal "$(real -c 'report -p -n -N' /mnt/x | awk '$4 { print $1, $4 }' | xargs)" \
		"#1048577 10240 #1048578 10240 #1048582 1024 #1048584 1024 #1048585 1024"
}

@test "prune says which directory it cannot look at, and keeps it" {
	volume a
	succeeds strace -qq -o /dev/null -e trace=openat2 -e inject=openat2:error=EIO:when=23+ fsquota prune /mnt/x
	assert_line "kept project $FIRST (volume$FIRST), $top/a: cannot be looked at: Input/output error"
	fsquota release $top/a
}

@test "release fails as long as an error hides whether the directory is gone, and changes nothing" {
	local call err asked=0
	for fs in x e; do
		for err in EIO EINTR ENOMEM; do
			fsquota limit bhard=1g 77 /mnt/$fs
			echo "77:/mnt/$fs/gone" >/etc/projects
			for call in {1..60}; do
				run injecting openat2 error=$err:when=$call fsquota release /mnt/$fs/gone
				grep -q INJECTED "$BATS_TEST_TMPDIR/trace" || break
				if [ "$status" = 0 ]; then
					# Another filesystem is nothing to it, nor how the path is spelled.
					assert_equal "$(wc -c </etc/projects)" 0
					fsquota limit bhard=1g 77 /mnt/$fs
					echo "77:/mnt/$fs/gone" >/etc/projects
					continue
				fi
				# Or its filesystem is not there.
				[[ $status = [15] ]] || fail "$err, $call: $status"
				assert_output --regexp "/mnt/$fs|cannot look at all filesystems"
				assert_equal "$(</etc/projects)" "77:/mnt/$fs/gone"
				assert_equal "$(fsquota quota -N --raw --bytes --output HARD 77 /mnt/$fs)" 1073741824
				asked=$((asked + 1))
			done
			assert_equal "$status:$(wc -c </etc/projects)" 0:0
		done
	done
	((asked >= 24)) || fail "only $asked calls failed"
}

@test "an existing directory whose ID another filesystem uses may lie below an unmounted one" {
	for fs in x e; do mkdir /mnt/$fs/dir; done
	fsquota limit bhard=1g 77 /mnt/e
	echo 77:/mnt/x/dir >/etc/projects
	run -5 fsquota release /mnt/x/dir
	assert_output --partial "/mnt/x/dir: is registered with project ID 77, which is not in use there"
	rmdir /mnt/{x,e}/dir
}

@test "a filesystem that is named is looked at, and no other; none that is mounted hides its lines" {
	for fs in x e; do
		top=/mnt/$fs/v
		volume a
		rm -rf /mnt/$fs/v/a
	done
	run_split fsquota prune /mnt/e/v
	assert_line "removed project $((FIRST + 1)) (volume$((FIRST + 1))), /mnt/e/v/a: the directory is gone"
	assert_equal "$(wc -l <<<"$stdout")" 1
	# What is below another mount is of that one.
	mount -t tmpfs none /mnt/x/v
	run_split fsquota prune
	umount /mnt/x/v
	assert_equal "$status:$stderr" 0:
	assert_output --partial "kept project $FIRST"
	run_split fsquota prune
	assert_line --partial "removed project $FIRST"
	assert_no_trace
}

@test "prune says why it cannot" {
	refuses 3 "project quota is off" fsquota prune /mnt/x2
	refuses 5 "cannot open" fsquota prune /nowhere
	volume a
	rm -rf $top/a
	chmod 755 /mnt/x
	exits 4 setpriv --reuid 65534 --regid 65534 --clear-groups "$FSQUOTA" prune
	exec 8</etc/projid
	flock 8
	refuses 1 "is locked" fsquota prune --lock-timeout 0
	exec 8<&-
	mv /etc/projid "$BATS_TEST_TMPDIR/away"
	mkdir /etc/projid
	run_split fsquota prune /mnt/x
	rmdir /etc/projid
	mv "$BATS_TEST_TMPDIR/away" /etc/projid
	assert_equal "$status" 1
	assert_equal "$stderr" "fsquota prune: /etc/projid: is a directory"
	assert_equal "$(kernel_has /mnt/x $FIRST | cut -d' ' -f3)" 10240
	run_split fsquota prune
	assert_no_trace
}
