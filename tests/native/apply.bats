#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# apply: files that say what directories should have.

load ../lib/fsquota

FIRST=1048577

setup() {
	fresh_each x e
	: >/etc/projects >/etc/projid
	rm -rf /etc/fsquota.conf /etc/fsquota.d
	mkdir /etc/fsquota.d
	chmod 1777 /mnt/x /mnt/e
	fs=x top=/mnt/x/v
	mkdir $top
}

teardown() { rm -rf /etc/fsquota.d; }

# on_each TEST: on XFS and on ext4, in $top.
on_each() {
	local fs top
	for fs in x e; do
		: >/etc/projects >/etc/projid
		rm -f /etc/fsquota.d/*
		top=/mnt/$fs/v
		mkdir -p $top
		"$@"
	done
}

# limits ID: soft and hard, of space in KiB and of inodes
limits() { kernel_has /mnt/$fs "$1" | cut -d' ' -f 2,3,5,6; }

state() {
	cat /etc/projects /etc/projid
	real -c 'report -p -N -n -b -i' /mnt/$fs
	stat -c '%n %a %u %Y' $top/*
}

converges() {
	local before
	mkdir $top/plain $top/users $top/users/{ann,bob}
	touch $top/users/file
	ln -s ann $top/users/link
	cat >/etc/fsquota.d/10-volumes.conf <<-END
		# What this node has
		$top/plain	hard=10M soft=9M hard-inodes=1000

		"$top/two words" hard=1.5M mkdir mode=0750 owner=nobody name=web
	END
	echo "$top/users/* hard=1M" >/etc/fsquota.d/20-users.conf
	echo "$top/users/bob hard=2M" >/etc/fsquota.d/30-bob.conf
	echo "nonsense" >/etc/fsquota.d/other.conf.off
	succeeds fsquota apply --dry-run --diff
	assert_equal "$(cat /etc/projects /etc/projid)" ""
	assert_equal "$stdout" "would-create  $top/plain, soft none -> 9M, hard none -> 10M, hard-inodes none -> 1000
would-create  $top/two words, hard none -> 1.5M
would-create  $top/users/ann, hard none -> 1M
would-create  $top/users/bob, hard none -> 2M"
	run_split fsquota apply --dry-run --exit-code
	assert_equal "$status:$stderr" 9:
	assert_not_exists "$top/two words"
	run_split fsquota apply --exit-code
	assert_equal "$status:$stderr" 9:
	assert_equal "$stdout" "created   $top/plain
created   $top/two words
created   $top/users/ann
created   $top/users/bob"
	assert_equal "$(limits $FIRST)" "9216 10240 0 1000"
	assert_equal "$(limits $((FIRST + 1)))" "0 1536 0 0"
	assert_equal "$(limits $((FIRST + 2)))" "0 1024 0 0"
	assert_equal "$(limits $((FIRST + 3)))" "0 2048 0 0"
	assert_equal "$(stat -c '%a %U' "$top/two words")" "750 nobody"
	grep "^web:$((FIRST + 1))$" /etc/projid
	before=$(state)
	succeeds fsquota apply --exit-code
	refute_line --regexp '^(created|changed|failed)'
	assert_equal "$(state)" "$before"
	is_silent fsquota apply -q
	# Somebody turns it.
	sed -i 's/hard=10M/hard=20M/' /etc/fsquota.d/10-volumes.conf
	chattr -p 77 $top/users/ann
	rm -rf "$top/two words"
	run_split fsquota apply --quiet --dry-run
	assert_equal "$(grep -c '' <<<"$stdout")" 3
	succeeds fsquota apply --json --diff
	python3 -c '
import json, sys
rows = json.load(open(sys.argv[1]))["apply"]
assert [row["action"] for row in rows] == ["changed", "created", "changed", "unchanged"], rows
assert [row["changed"] for row in rows] == [True, True, True, False], rows
assert rows[0]["before"]["hard_bytes"] == 10 << 20 and rows[0]["after"]["hard_bytes"] == 20 << 20
assert rows[0]["line"] == 2 and rows[0]["file"] == "/etc/fsquota.d/10-volumes.conf"
' "$BATS_TEST_TMPDIR/stdout" || fail "$stdout"
	assert_equal "$(fsquota id $top/users/ann)" $((FIRST + 2))
	assert_equal "$(limits $FIRST)" "9216 20480 0 1000"
}

@test "apply gives directories what files say, changes what differs, and then nothing" { on_each converges; }

@test "a wrong line is told with its file and number, and nothing is changed" {
	local line
	mkdir $top/{a,b}
	for line in "relative/path hard=1M" "$top/../b hard=1M" "$top//b hard=1M" "$top/b/.. hard=1M" "$top/b/. hard=1M" \
		"$top/b hard=x" "$top/b mkdri" "$top/b mkdir=yes" "$top/b hard=1M hard=2M" "$top/b mkdir mkdir" "$top/b colour=red" \
		"$top/b unlimited hard=1M" "$top/b mode=0750" "$top/b mkdir mode=0990" "$top/b mkdir owner=nosuchuser" \
		"$top/b name=a:b" "$top/b id=0" "$top/b \"hard=1M" "$top/* mkdir" "$top/* name=shared" \
		"$top/* registered" "$top/b registered mkdir" "$top/b registered=yes" "$top/a hard=2M"; do
		printf '%s\n' "$top/a hard=1M" "$line" >/etc/fsquota.d/x.conf
		run_split fsquota apply
		assert_equal "$line: $status" "$line: 2"
		[[ $stderr == "fsquota apply: /etc/fsquota.d/x.conf, line 2: "* ]] || fail "$stderr"
		[[ $line != *mkdri || $stderr == *"nor around, keep, mkdir, registered or unlimited; "* ]] || fail "$stderr"
		assert_one_line
	done
	assert_equal "$(cat /etc/projects /etc/projid)" ""
	refuses 5 "cannot read" fsquota apply /nowhere
	printf '%s\n' "bad" "bad" >/etc/fsquota.d/x.conf
	run_split fsquota apply
	assert_equal "$(wc -l <<<"$stderr")" 2
}

@test "the later file applies, a comment may follow a line, and what belongs in the other file is told so" {
	mkdir $top/{ann,bob,cid}
	printf '%s\n' "$top/ann hard=1M # of the old server" "$top/[ab]* hard=2M" "$top/cid hard=4M" "# $top/cid hard=3M" >/etc/fsquota.d/10.conf
	printf '%s\n' "$top/ann hard=5M	#soft=1M" "$top/b* hard=6M#" >/etc/fsquota.d/20.conf
	refuses 2 '20.conf, line 2: "6M#"' fsquota apply
	printf '%s\n' "$top/ann hard=5M	#soft=1M" "$top/b* hard=6M" >/etc/fsquota.d/20.conf
	succeeds fsquota apply --diff
	assert_equal "$(sort <<<"$stdout")" "created   $top/ann, hard none -> 5M, instead of /etc/fsquota.d/10.conf, line 1
created   $top/bob, hard none -> 6M, instead of /etc/fsquota.d/10.conf, line 2
created   $top/cid, hard none -> 4M"
	succeeds fsquota apply --diff --json
	assert_equal "$(jq -c '.apply[] | [.path, .file, .line, .instead_of_file, .instead_of_line]' <<<"$stdout" | sort | head -n 1)" \
		"[\"$top/ann\",\"/etc/fsquota.d/20.conf\",1,\"/etc/fsquota.d/10.conf\",1]"
	echo 'lock-timeout = 5' >/etc/fsquota.d/30.conf
	refuses 2 '30.conf, line 1: this is a setting: it belongs in /etc/fsquota.conf' fsquota apply
	rm /etc/fsquota.d/30.conf
	echo "$top/ann hard=7M" >/etc/fsquota.conf
	refuses 2 'line 1: is a line of fsquota.d(5): it belongs in /etc/fsquota.d/*.conf' fsquota apply
	echo 'lock-timeout = 5 # seconds' >/etc/fsquota.conf
	succeeds fsquota apply --quiet
	assert_equal "$stdout" ''
}

@test "a path is written as in fstab, and a colon behind it is none of its name" {
	mkdir "$top/two words"
	refuses 2 "line 1: a path has no colon behind it, as in /srv/web hard=10G; a name that ends in one takes quotes: \"$top/web:\"" fsquota apply - <<<"$top/web: hard=1M mkdir"
	succeeds fsquota apply - <<<"\"$top/web:\" hard=1M mkdir"
	succeeds fsquota apply - <<<"$top/two\\040words hard=1M"
	assert_equal "$(fsquota export $top | sed 's/ .*id=.*//; /^#/d')" "$(printf '%s\n' "\"$top/two words\" hard=1M" "\"$top/web:\" hard=1M")"
	succeeds fsquota apply --diff - < <(fsquota export $top)
	refute_line --regexp '^(created|changed)'
}

@test "what a filesystem would hide once it is mounted is not made" {
	local why="$top/data/new: is not made: /etc/fstab mounts a filesystem on $top/data, which is not mounted"
	cp /etc/fstab "$BATS_TEST_TMPDIR"
	mkdir $top/data
	echo "$FSQ_X2_DEV $top/data xfs prjquota,nofail 0 2" >/etc/fstab
	refuses 5 "$why" fsquota assign --mkdir --hard 1M $top/data/new
	refuses 5 "$why" fsquota assign --mkdir --hard 1M --dry-run $top/data/new
	run_split fsquota apply - <<<"$top/data/new hard=1M mkdir"
	assert_equal "$status:$stdout:$stderr" "5:failed    $top/data/new:fsquota apply: $why"
	assert_not_exists $top/data/new
	mount $top/data
	succeeds fsquota apply - <<<"$top/data/new hard=1M mkdir"
	fsquota release $top/data/new
	rmdir $top/data/new
	umount $top/data
	assert_not_exists $top/data/new
	sed -i s/nofail/noauto/ /etc/fstab
	succeeds fsquota apply - <<<"$top/data/new hard=1M mkdir"
	cp "$BATS_TEST_TMPDIR/fstab" /etc/fstab
}

# Mallory owns a directory that the pattern goes through.
@test "a pattern follows no link and no mount that others have put there" {
	local kind count refused=''
	mkdir -p $top/users/{mal,bob/public}/ $top/backup/www $top/users/bob/public/www "$top/[d]" $top/users/$'new\nline'/public/www
	ln -s ../bob/public $top/users/mal/public
	mkdir $top/users/eve $top/users/eve/public
	ln -s $top/backup/www $top/users/eve/public/www
	mkdir -p $top/users/ann/public/www $top/users/dan/public
	mount --bind $top/backup $top/users/dan/public
	# Not of the pattern's.
	ln -s users $top/home
	printf '%s\n' "$top/home/*/public/www hard=1M" >"$top/[d]/x.conf"
	run_split fsquota apply "$top/[d]"
	umount $top/users/dan/public
	assert_equal "$status" 0
	assert_equal "$(sort <<<"$stdout")" "created   $top/users/ann/public/www
created   $top/users/bob/public/www"
	assert_equal "$(cut -d: -f2 /etc/projects | sort)" "$top/users/ann/public/www
$top/users/bob/public/www"
	assert_equal "$(wc -l <<<"$stderr")" 2
	[[ $stderr == *"/users/dan/public: is passed over: "* && $stderr == *"is passed over: there is a newline"* ]]
	# He does it between the look and the change.
	rm -rf $top/users/{eve,dan,mal} $top/users/new*
	fsquota release $top/users/{ann,bob}/public/www >/dev/null
	chown 1000 $top/users/ann
	for count in {1..14}; do
		stopped_at 437 $count "$FSQUOTA" apply "$top/[d]" # openat2
		mv $top/users/ann/public $top/users/ann/was
		ln -s ../../backup $top/users/ann/public
		go_on
		[ "$status" != 6 ] || [[ $stderr != *"$top/users/ann/public/www: leads over the symlink $top/users/ann/public,"* ]] || refused=yes
		assert_equal "$(fsquota id $top/backup/www)" 0
		grep -q ":$top/users/bob/public/www\$" /etc/projects
		for kind in ann/was bob/public; do fsquota release $top/users/$kind/www || true; done
		rm $top/users/ann/public
		mv $top/users/ann/was $top/users/ann/public
	done
	[ -n "$refused" ]
}

@test "a directory that cannot be looked at is a failure of its own, and all others get theirs" {
	local call told=0
	mkdir -p $top/{a,b}/c
	printf '%s\n' "$top/a hard=1M" "$top/?/c hard=1M" >/etc/fsquota.d/x.conf
	for call in getdents64:error=EIO:when=3 openat2:error=EIO:when={1..9}; do
		run_split strace -qq -o /dev/null -e trace=${call%%:*} -e inject=$call fsquota apply
		if [[ $stderr == *'line 2: cannot find all directories'* ]]; then
			assert_equal "$call: $status" "$call: 1"
			assert_one_line
			[[ $stderr == "fsquota apply: /etc/fsquota.d/x.conf, line 2: cannot find all directories of $top"*': Input/output error' ]] || fail "$call: $stderr"
			assert_equal "${lines[0]}" "created   $top/a"
			told=$((told + 1))
		fi
		# What a pattern matches stays: it may only have been missed.
		run_split strace -qq -o /dev/null -e trace=${call%%:*} -e inject=$call fsquota apply --prune
		grep -q ":$top/a$" /etc/projects
		fsquota release $(sed 's/^[0-9]*://' /etc/projects)
	done
	[ "$told" -ge 5 ] || fail "$told times"
	assert_equal "$(cat /etc/projects /etc/projid)" ""
	# One that is gone by then is none.
	for call in {4..9}; do
		run -0 strace -qq -o /dev/null -e trace=openat2 -e inject=openat2:error=ENOENT:when=$call fsquota apply --quiet
		told=$((told + (${#lines[@]} < 3)))
		fsquota release $(sed 's/^[0-9]*://' /etc/projects)
	done
	[ "$told" -ge 8 ] || fail "$told times"
}

whole_truth() {
	local dir=$top/u id
	mkdir -p $dir/{a,b,c}
	echo "$dir/* hard=10M soft=90%" >/etc/fsquota.d/10-all.conf
	fsquota apply
	id=$(fsquota id $dir/a)
	assert_equal "$(limits "$id")" '9216 10240 0 0'
	# What the line of one directory does not say is none, also where it was something before.
	echo "$dir/a hard=20M" >/etc/fsquota.d/20-one.conf
	succeeds fsquota apply --dry-run --diff --quiet
	assert_equal "$stdout" "would-change  $dir/a, soft 9M -> none, hard 10M -> 20M"
	fsquota apply
	assert_equal "$(limits "$id")" '0 20480 0 0'
	fsquota resize $dir/a --soft 15M --hard-inodes 100
	echo "$dir/a hard=5M" >/etc/fsquota.d/20-one.conf
	fsquota apply 2>/dev/null
	assert_equal "$(limits "$id")" '0 5120 0 0'
	# With keep it stays.
	fsquota resize $dir/a --soft 3M --hard-inodes 100 2>/dev/null
	echo "$dir/a hard=6M keep" >/etc/fsquota.d/20-one.conf
	succeeds fsquota apply
	assert_equal "$(limits "$id")" '3072 6144 0 100'
	echo "$dir/a" >/etc/fsquota.d/20-one.conf
	succeeds fsquota apply --diff --quiet
	assert_equal "$stdout" "changed   $dir/a, soft 3M -> none, hard 6M -> none, hard-inodes 100 -> none"
	echo "$dir/a soft=90%" >/etc/fsquota.d/20-one.conf
	refuses 2 'line 1: soft=90% is a part of the hard limit, and there is none' fsquota apply
	echo "$dir/a unlimited keep" >/etc/fsquota.d/20-one.conf
	refuses 2 'line 1: keep does not go with unlimited' fsquota apply
	# A volume of kubelet: its soft limit is the largest number.
	oracle -x -c "limit -p bhard=9223372036854775807 bsoft=9223372036854775807 $id" "/mnt/$fs"
	echo "$dir/a hard=30M keep" >/etc/fsquota.d/20-one.conf
	succeeds fsquota apply
	assert_equal "$(limits "$id")" '0 30720 0 0'
}

@test "a line is the whole truth of its directory, and keep leaves what it does not say" { on_each whole_truth; }

@test "two lines that make one project say the same of it" {
	mkdir $top/{a,b}
	echo "$top/a name=web hard=5M" >/etc/fsquota.d/1.conf
	echo "$top/b name=web hard=6M" >/etc/fsquota.d/2.conf
	refuses 2 '2.conf, line 1: name=web is in /etc/fsquota.d/1.conf, line 1, too, with other limits' fsquota apply
	assert_equal "$(cat /etc/projects)" ''
	echo "$top/b name=web hard=5M" >/etc/fsquota.d/2.conf
	succeeds fsquota apply
	assert_equal "$(fsquota id $top/a)" "$(fsquota id $top/b)"
}

meets() {
	local u=$top/u said
	mkdir -p $u/{abe,ann,bob}
	printf '%s\n' "$u/a* hard=1M" "$u/*n hard=2M" "$u/b* hard=3M" >/etc/fsquota.d/x.conf
	said="fsquota apply: /etc/fsquota.d/x.conf, line 2: $u/ann is in line 1, too: line 2 applies"
	run_split fsquota apply
	assert_equal "$status:$stderr" "6:$said"
	assert_equal "$(fsquota usage --raw -No HARD $u/*)" $'1M\n2M\n3M'
	# It stops no release, either.
	printf '%s\n' "$u/a* hard=1M" "$u/*n hard=2M" >/etc/fsquota.d/x.conf
	run_split fsquota apply --prune --quiet
	assert_equal "$status:$stdout:$stderr" "6:released  $u/bob:$said"
	# By two paths: the order is that of the lines.
	mkdir -p /run/again
	mount --bind $u /run/again
	printf '%s\n' "/run/again/abe hard=4M" "$u/abe hard=5M" "$u/bob hard=6M" >/etc/fsquota.d/x.conf
	run_split fsquota apply --quiet
	umount /run/again
	assert_equal "$status:$stderr" "6:fsquota apply: /etc/fsquota.d/x.conf, line 2: $u/abe is in line 1, too, as /run/again/abe: line 2 applies"
	assert_equal "$(fsquota usage --raw -No HARD $u/*)" $'5M\n2M\n6M'
}

@test "a directory that two lines of a file say something of is a failure of its own" { on_each meets; }

governs() {
	local line="the next apply sets what that says"
	mkdir -p $top/u/{a,b} $top/other
	printf '%s\n' '# All' "$top/u/* hard=1M" "$top budget=1T" >/etc/fsquota.d/1.conf
	fsquota apply
	run_split fsquota resize $top/u/a 2M
	assert_equal "$status:$stderr" "0:fsquota resize: $top/u/a: is in /etc/fsquota.d/1.conf, line 2: $line"
	echo "$top/u/a hard=3M" >/etc/fsquota.d/0.conf
	(cd $top && fsquota assign u/a --hard 4M) >/dev/null 2>"$BATS_TEST_TMPDIR/told"
	assert_equal "$(<"$BATS_TEST_TMPDIR/told")" "fsquota assign: u/a: is in /etc/fsquota.d/0.conf, line 1: $line"
	# What is wrong in a file is no failure of the change.
	printf '%s\n' nonsense "$top/u/b hard=x" "$top/u/b hard=7M owner=nosuchuser mkdir" >/etc/fsquota.d/3.conf
	run_split fsquota resize $top/u/b 2M
	assert_equal "$status:$stderr" "0:fsquota resize: $top/u/b: is in /etc/fsquota.d/3.conf, line 3: $line"
	rm /etc/fsquota.d/3.conf
	# Where nothing changes, or the line leaves it, nothing is said.
	succeeds fsquota assign $top/u/a --hard 4M
	assert_equal "$stderr" ''
	echo "$top/u/a name=a keep" >/etc/fsquota.d/0.conf
	succeeds fsquota resize $top/u/a 5M
	assert_equal "$stderr" ''
	succeeds fsquota assign $top/other --hard 1M
	assert_equal "$stderr" ''
	# What is taken away comes back, whatever the line says; and a line may name the old place.
	echo "$top/u/b hard=7M" >/etc/fsquota.d/3.conf
	run_split fsquota release $top/u/b $top/other $top/u/a
	assert_equal "$status:$stderr" "0:fsquota release: $top/u/b: is in /etc/fsquota.d/3.conf, line 1: $line
fsquota release: $top/u/a: is in /etc/fsquota.d/0.conf, line 1: $line"
	run_split fsquota release --if-exists $top/u/b
	assert_equal "$status:$stderr" "0:"
	fsquota apply --quiet
	run_split fsquota move --rename $top/u/b $top/u/c
	assert_equal "$status:$stderr" "0:fsquota move: $top/u/b: is in /etc/fsquota.d/3.conf, line 1: change the path there, too
fsquota move: $top/u/c: is in /etc/fsquota.d/1.conf, line 2: $line"
	run_split fsquota move --rename $top/u/c $top/u/d
	assert_equal "$status:$stderr" "0:"
	run_split fsquota move --rename $top/u/d $top/c
	assert_equal "$status:$stderr" "0:"
	run_split fsquota move --rename --dry-run $top/c $top/u/c
	assert_equal "$status:$stderr" "0:"
	# So does what a command of batch has done.
	echo "resize $top/u/a 6M" >"$BATS_TEST_TMPDIR/requests"
	echo "$top/u/a hard=3M" >/etc/fsquota.d/0.conf
	run -0 fsquota batch <"$BATS_TEST_TMPDIR/requests"
	assert_equal "$(jq -r '.messages[].warning.message' <<<"$output")" "is in /etc/fsquota.d/0.conf, line 1: $line"
}

@test "resize, assign, release and move name the line that governs a directory" { on_each governs; }

@test "a NUL byte in a file is refused, and cuts nothing" {
	mkdir $top/a
	printf '%s hard=10\0G\n' $top/a >/etc/fsquota.d/x.conf
	refuses 2 "NUL" fsquota apply
	printf 'lock-timeout = 5\0\n' >/etc/fsquota.conf
	refuses 2 "NUL" fsquota assign $top/a
	rm /etc/fsquota.conf
	refuses 2 "range" fsquota assign --id-range +5-10 $top/a
	assert_equal "$(cat /etc/projects /etc/projid)" ""
}

@test "what fails is told, and the others go on" {
	mkdir $top/b
	printf '%s\n' "$top/none hard=1M" "$top/b hard=1M" >$top/x.conf
	run_split fsquota apply $top/x.conf
	assert_equal "$status:$stdout" "5:failed    $top/none"$'\n'"created   $top/b"
	assert_one_line
	assert_equal "$(limits $FIRST)" "0 1024 0 0"
	# An empty directory of files, and no file at all, are no failures; a name that is not there is.
	is_silent fsquota apply
}

# calls FILE: the system calls of an apply that finds all as it should be
calls() {
	strace -f -o "$BATS_TEST_TMPDIR/trace" "$FSQUOTA" apply "$1" >"$BATS_TEST_TMPDIR/out"
	calls=$(wc -l <"$BATS_TEST_TMPDIR/trace")
}

thousand() {
	local one
	for i in {1..1000}; do echo "$top/$i hard=1M mkdir"; done >$top/all
	head -n 1 $top/all >$top/one
	succeeds fsquota apply $top/all
	assert_equal "$(grep -c '^created' <<<"$stdout")" 1000
	assert_equal "$(wc -l </etc/projects)" 1000
	cp -p /etc/projects /etc/projid "$BATS_TEST_TMPDIR"
	calls $top/one
	one=$calls
	calls $top/all
	assert_equal "$(grep -c '^unchanged' "$BATS_TEST_TMPDIR/out")" 1000
	echo "# $fs: $calls calls for 1000 lines, $one for one" >&3
	assert [ $((calls - one)) -le $((4 * 999 + 50)) ]
	run grep -E '(open[a-z0-9]*\(.*(O_WRONLY|O_RDWR|O_CREAT)|QCMD\(Q_XSETQLIM|FSSETXATTR|[0-9] +(mkdir|flock|rename))' \
		"$BATS_TEST_TMPDIR/trace"
	assert_failure
	assert_equal "$(stat -c %y /etc/projects /etc/projid)" \
		"$(stat -c %y "$BATS_TEST_TMPDIR"/{projects,projid})"
	diff /etc/projects "$BATS_TEST_TMPDIR/projects"
}

# bats test_tags=many,full
@test "a thousand lines that are so already cost four system calls each, and write nothing" { on_each thousand; }

killed() {
	local i
	for i in {1..40}; do echo "$top/$i hard=1M mkdir mode=0700 owner=nobody"; done >$top/all
	mkdir $top/7
	touch $top/7/{1..20}
	for i in {1..25}; do
		"$FSQUOTA" apply $top/all >/dev/null 2>&1 &
		sleep 0.0$((RANDOM % 10))
		kill -KILL $! 2>/dev/null || true
		wait $! 2>/dev/null || true
	done
	exits 0 fsquota apply $top/all
	assert_equal "$(sort -u /etc/projects | grep -c "^[0-9]*:$top/[0-9]*$")" 40
	assert_equal "$(cut -d: -f1 /etc/projects | grep -E '^[0-9]+$' | sort -u | wc -l)" 40
	assert_equal "$(stat -c '%a %U' $top/[0-9]* | sort | uniq -c | sort -rn | head -1 | sed 's/^ *//')" "39 700 nobody"
	exits 0 fsquota apply --exit-code $top/all
}

# bats test_tags=many,slow
@test "killed at any moment and run again it converges" { on_each killed; }
