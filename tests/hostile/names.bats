#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Names and files of tenants: a name with newlines and terminal escapes stays in its line, a file
# without end is refused, and what is said of an error is true.

load ../lib/fsquota
load hostile

# What terminals and readers of lines could take for something else, in one name; and as ls prints
# it, but for the blank.
evil=$'a\nb \x1b[31m\\\t\r\x7f\x01\xc2\x9b1m\x9b2m\xc4\x9b\xc2\xa0\xc3\xa9\xff'
shown='a\nb \033[31m\\\t\r\177\001\302\2331m\2332m'$'\xc4\x9b\xc2\xa0\xc3\xa9''\377'

setup_file() {
	local fs
	for fs in x e f; do
		fresh_fs $fs
		mkdir "/mnt/$fs/$evil" "/mnt/$fs/$evil/sub"
		touch "/mnt/$fs/$evil/$evil"
	done
}

setup() {
	no_files
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() { rm -f /etc/fsquota.conf; }

# one_line CODE COMMAND...: one line on stderr, with the name escaped in it and nothing that is not
one_line() {
	local code=$1
	shift
	run_split "$@"
	assert_equal "$*: $status" "$*: $code"
	assert_one_line
	! LC_ALL=C grep -q $'[\x01-\x1f\x7f]' "$BATS_TEST_TMPDIR/stderr" || fail "$* | $stderr"
	[[ $stderr == *"$shown"* ]] || fail "$*: $stderr"
}

# bounded CODE COMMAND...: with that code and a line on stderr, in 300 MB and a minute
bounded() {
	local code=$1
	shift
	run_split timeout -s KILL 100 bash -c 'ulimit -v 300000 && exec "$@"' bash "$@" </dev/null
	assert_equal "$*: $status" "$*: $code"
	assert [ "$(wc -l <"$BATS_TEST_TMPDIR/stderr")" -ge 1 ]
	[[ $stderr == *"too large"* ]] || fail "$*: $stderr"
}

@test "the name is escaped as ls does" {
	assert_equal "$(LC_ALL=C.UTF-8 ls -b -d "/mnt/x/$evil" | sed 's/\\ / /')" "/mnt/x/$shown"
}

@test "an error of our own commands is one line, whatever the name" {
	local fs command
	for fs in x e f; do
		for command in id lsattr usage supported assign release; do
			one_line 5 fsquota $command "/mnt/$fs/$evil/nothing"
		done
		one_line 5 fsquota list "/mnt/$fs/$evil/nothing"
		one_line 5 fsquota resize "/mnt/$fs/$evil/nothing" 1G
		one_line 2 fsquota assign "/mnt/$fs/$evil"
		one_line 2 fsquota supported "/mnt/$fs/$evil/$evil"
		one_line 5 fsquota usage "/mnt/$fs/$evil"
		one_line 2 fsquota resize "/mnt/$fs" "$evil"
		one_line 2 fsquota assign "/mnt/$fs" --hard "$evil"
	done
}

@test "an error of xfs_quota's commands in native mode is one line, too" {
	local fs
	for fs in x e f; do
		one_line 5 fsquota quota -p "$evil" /mnt/$fs
		one_line 5 fsquota report -p "/mnt/$fs/$evil/nothing"
		one_line 2 fsquota limit -p bhard="$evil" 42 /mnt/$fs
		one_line 5 fsquota restore -p -f "/mnt/$fs/$evil/nothing" /mnt/$fs
		one_line 1 fsquota report -p -f "/mnt/$fs/$evil/$evil" /mnt/$fs
		one_line 5 fsquota project -c -p "/mnt/$fs/$evil/nothing" 42 /mnt/$fs
	done
	one_line 2 fsquota "$evil"
	one_line 2 fsquota version "$evil"
	one_line 2 fsquota help id "$evil"
	one_line 2 fsquota id --"$evil"
}

@test "supported and lsattr print a name in one line" {
	local fs
	for fs in x e f; do
		exits 0 fsquota supported "/mnt/$fs/$evil"
		assert_equal "$(wc -l <"$BATS_TEST_TMPDIR/stdout")" 1
		[[ $stdout == "/mnt/$fs/$shown: project quota on "* ]] || fail "$stdout"
		exits 0 fsquota lsattr -R "/mnt/$fs/$evil"
		! LC_ALL=C grep -q $'[\x01-\x09\x0b-\x1f\x7f]' "$BATS_TEST_TMPDIR/stdout" || fail "$stdout"
		grep -qF " /mnt/$fs/$shown/$shown" <<<"$stdout"
		grep -qxF "/mnt/$fs/$shown/sub:" <<<"$stdout"
	done
	prints 0 fsquota id "/mnt/x/$evil"
}

@test "tables have the name in one line, whatever draws them" {
	local fs in_table
	for fs in x e f; do
		exits 0 fsquota usage -N --fallback=walk "/mnt/$fs/$evil"
		assert_equal "$(wc -l <"$BATS_TEST_TMPDIR/stdout")" 1
		in_table='a\x0ab \x1b[31m\\x09\x0d\x7f\x01\xc2\x9b1m\x9b2m\xc4\x9b\xc2\xa0\xc3\xa9\xff'
		[[ $stdout == "/mnt/$fs/$in_table "* ]] || fail "$stdout"
		printf '77:/mnt/%s/\x1b[31mred\n' $fs >/etc/projects
		printf '\x1b[31mred:77\n' >/etc/projid
		run_split fsquota list -N --sort id --reverse /mnt/$fs
		assert_equal "$(wc -l <"$BATS_TEST_TMPDIR/stdout")" 1
		[[ $stdout == *"77 \\x1b[31mred "*"/mnt/$fs/\\x1b[31mred" ]] || fail "$stdout"
	done
}

@test "the native commands that xfs_quota has, too, have names and paths in one line" {
	local fs command
	printf 'es\x1b[31mc:77\nlone\x9b31m:78\nc1\xc2\x9b31m:79\ntab\there:80\n' >/etc/projid
	for fs in x e; do
		mkdir -p /mnt/$fs/$'d\x1b\x9b'
		touch /mnt/$fs/$'d\x1b\x9b'/$'f\n\x1b'
		printf '77:%s\n' /mnt/$fs/$'d\x1b\x9b' >/etc/projects
		for id in 77 78 79 80; do fsquota limit -p bhard=1m $id /mnt/$fs; done
		for command in report 'quota 77' 'quota 78' 'quota 79' 'quota 80' 'project -c 77' 'project -s 77' df state; do
			run_split fsquota $command /mnt/$fs
			! LC_ALL=C grep -qP '[\x01-\x09\x0b-\x1f\x7f\x9b]' "$BATS_TEST_TMPDIR/stdout" || fail "$command: $stdout"
		done
		run -0 fsquota report -pN /mnt/$fs
		assert_output --partial 'es\x1b[31mc'
		run -0 fsquota report -pN -f "$BATS_TEST_TMPDIR/file.$fs" /mnt/$fs
		! LC_ALL=C grep -qP '[\x1b\x9b]' "$BATS_TEST_TMPDIR/file.$fs" || fail "in a file"
	done
}

# What a terminal obeys, what turns the order of characters round, what nobody sees, and what is no UTF-8; but no newline.
unseen=$'\x01\t\x0b\r\e]0;t\a\x7f\xc2\x85\xc2\x9b7m\xd8\x9c\xe2\x80\x8b\xe2\x80\x8f\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa'
unseen+=$'\xe2\x80\xae\xe2\x81\xa6\xe2\x81\xa9\xef\xbb\xbf\xf3\xa0\x81\x81\x9b8m\xe2\x80\xff\xed\xa0\x80'

# What every native command makes of names of $d, a directory; $p, a project; and $mnt, where both are.
rows='
	apply "$lines" --dry-run
	apply "$lines"
	assign "$d/none"
	assign "$d" --hard 9M --dry-run
	assign "$d" --name "$p"
	assign "$d"
	batch <<<"$(jq -cn '"'"'["usage", $ARGS.named.d], ["list"]'"'"' --arg d "$d")"
	check "$d" --over 0
	check --over 0
	completion "$d"
	df --at "$d"
	df "$d/none"
	disable "$d/none"
	doctor "$d"
	doctor "$d/none"
	doctor --deep "$mnt"
	dump "$d"
	dump -f "$d/none/x" "$mnt"
	enable "$d/none"
	explain "$d"
	export
	export "$d"
	find "$p" "$mnt"
	find 77 "$mnt"
	find --orphans "$mnt"
	help "$d"
	id "$d" "$d"/*
	limit bhard="$d" 77 "$mnt"
	limit bhard=20m "$p" "$mnt"
	list
	list --tree "$mnt"
	list "$d"
	lsattr -R "$mnt"
	lsattr -pR "$d"
	metrics "$d/none"
	move "$d" "$d-new" --dry-run
	move "$d/none" "$d-new"
	oci-hook "$d"
	project -c "$p" "$mnt"
	project -s "$p" "$mnt" --dry-run
	project -c -p "$d" 78 "$mnt"
	prune "$mnt"
	prune --dry-run
	quota "$p" "$mnt"
	quota "$d"
	release "$d" --dry-run
	release --name "$p" --at "$mnt" --dry-run
	release "$d/none"
	report "$mnt"
	report "$d/none"
	resize "$d" 30M --dry-run
	resize "$d" "$d"
	restore -f "$d/none" "$mnt"
	schema "$d"
	setup "$d"
	setup "$d/none"
	state "$d"
	supported "$d"
	supported "$d/f$unseen"
	timer "$d" 77 "$mnt"
	top --count 1 --interval 0.1 "$mnt"
	usage "$d"
	usage "$d/none"
	watch --initial --count 1 --over 0 "$d"
	watch --count "$d" "$mnt"
'

# bats test_tags=many
@test "no command shows a character that a terminal obeys, or that nobody sees" {
	local d p mnt lines row format
	forgets_none "$rows" 'off|path|print|quit|quot|remove|warn'
	export LC_ALL=C.UTF-8
	mnt=/mnt/x d=/mnt/x/d$unseen p=p$unseen lines=$BATS_TEST_TMPDIR/l$unseen.conf
	mkdir -p "$d/sub$unseen" "$mnt"/{gone"$unseen",$'\xc2\x9b',$'\xe2\x80\xae',$'\xff'}
	dd if=/dev/zero of="$d/f$unseen" bs=1M count=2 status=none
	fsquota assign "$d" "$mnt"/{gone"$unseen",$'\xc2\x9b',$'\xe2\x80\xae',$'\xff'} --hard 10M --soft 1M >/dev/null
	rmdir "$mnt/gone$unseen"
	sed -i "s/volume$(fsquota id "$d"):/p$unseen:/" /etc/projid
	printf '%s\n' "$mnt/sub$unseen hard=$unseen" "$mnt/$unseen $unseen=1" >"$lines"
	while read -r row; do
		step "$row"
		for format in '' --raw --pairs --json --jsonl; do
			echo "== $row $format"
			# shellcheck disable=SC2294 # that is what it is for
			eval "timeout 60 fsquota ${row%% *} $format ${row#* }" 2>&1 </dev/null || :
		done
	done <<<"$(sed 's/^\t//; /^$/d' <<<"$rows")" >out
	# shellcheck disable=SC2016 # of perl
	perl -CO -MEncode -ne '
		if (/^== /) { $row = $_; next }
		eval { $_ = Encode::decode("UTF-8", $_, Encode::FB_CROAK); 1 } or print "no UTF-8: $row";
		/((?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}])/ and printf("U+%04X: %s", ord($1), $row);
	' out | sort | uniq -c >wrong
	[ ! -s wrong ] || fail "$(cat wrong)"
	[ "$(grep -c '\\033\|\\x1b\|\\u001b' out)" -gt 100 ]
	fsquota release "$d" "$mnt"/{$'\xc2\x9b',$'\xe2\x80\xae',$'\xff'}
}

@test "a part of a name is another name" {
	local name
	printf 'ten:10\n:11' >projid
	for name in te tenn ten:10 ''; do
		refuses 5 "there is no project $name" fsquota quota -p --projid-file projid "$name" /mnt/x
	done
}

@test "a projects or projid file without end is refused by every native command" {
	mkdir -p /mnt/x/volume
	for command in df list; do bounded 1 fsquota $command --projects-file /dev/zero /mnt/x; done
	bounded 1 fsquota project -c --projects-file /dev/zero 42 /mnt/x
	bounded 1 fsquota report -p --projid-file /dev/zero /mnt/x
	bounded 1 fsquota quota -p --projid-file /dev/zero name /mnt/x
	bounded 1 fsquota limit -p --projid-file /dev/zero bhard=1m name /mnt/x
	bounded 1 fsquota project -c --projid-file /dev/zero name /mnt/x
	refuses 1 "is no regular file" fsquota assign --projects-file /dev/zero /mnt/x/volume
	refuses 1 "is no regular file" fsquota assign --projid-file /dev/zero /mnt/x/volume
	refuses 1 "is no regular file" fsquota release --projects-file /dev/zero /mnt/x/volume
	refuses 1 "is no regular file" fsquota release --projid-file /dev/zero /mnt/x/volume
	refuses 1 "is no regular file" fsquota resize --projects-file /dev/zero /mnt/x/volume 1G
	refuses 1 "is no regular file" fsquota resize --projid-file /dev/zero /mnt/x/volume 1G
	refuses 1 "cannot read the projects file" fsquota usage --projects-file /dev/zero -N /mnt/x/volume
	rmdir /mnt/x/volume
}

# bats test_tags=many
@test "a file, a pipe and a dump of 65 MiB are too large as well" {
	truncate -s 65M /run/large
	bounded 1 xfs_quota -x -D /run/large -c df /mnt/x
	bounded 1 fsquota list --projects-file <(yes) /mnt/x
	bounded 1 fsquota restore -p -f <(yes '') /mnt/x
	rm /run/large
}

# bats test_tags=many,full
@test "a table, a projects and a projid file without end are refused in xfs_quota mode" {
	bounded 1 xfs_quota -x -t /dev/zero -c print /mnt/x
	bounded 1 xfs_quota -x -t /dev/zero -c print
	bounded 1 xfs_quota -x -t /dev/zero -c 'report -p' /mnt/x
	bounded 1 xfs_quota -x -D /dev/zero -c print /mnt/x
	bounded 1 xfs_quota -x -D /dev/zero -c df /mnt/x
	bounded 1 xfs_quota -x -D /dev/zero -c 'project -c 42' /mnt/x
	bounded 1 xfs_quota -x -D /dev/zero -d 42 -c print /mnt/x
	bounded 1 xfs_quota -x -P /dev/zero -c 'report -p' /mnt/x
	bounded 1 xfs_quota -x -P /dev/zero -c 'quota -p name' /mnt/x
	bounded 1 xfs_quota -x -P /dev/zero -c 'limit -p bhard=1m name' /mnt/x
	bounded 1 xfs_quota -x -P /dev/zero -d name -c print /mnt/x
}

@test "restore, the shell and fsquota.conf read no line without end" {
	bounded 1 fsquota restore -p -f /dev/zero /mnt/x
	bounded 1 xfs_quota -x -c "restore -p -f /dev/zero" /mnt/x
	bounded 1 bash -c 'exec fsquota restore -p /mnt/x <"$1"' bash /dev/zero
	bounded 1 bash -c 'exec xfs_quota -x /mnt/x <"$1"' bash /dev/zero
	ln -sf /dev/zero /etc/fsquota.conf
	bounded 1 fsquota list /mnt/x
}

@test "a dump of a thousand lines and a command of a million letters are read" {
	local i
	for i in {1000..1999}; do echo "$i 0 2048 0 0"; done >dump
	exits 0 fsquota restore -p -f dump /mnt/x
	assert_equal "$(real -c 'dump -p -L 1000 -U 1999' | awk '$3 == 2048' | wc -l)" 1000
	sed -i 's/2048/0/' dump
	fsquota restore -p /mnt/x <dump
	assert_equal "$(real -c 'dump -p -L 1000 -U 1999' | awk '$1 >= 1000' | wc -l)" 0
	{ printf '%*s' 1000000 '' && echo print; } >lines
	exits 0 bash -c 'xfs_quota -x /mnt/x <lines'
	assert_output --partial /mnt/x
}

@test "restore takes no line with eight numbers, and none that ends in a CR" {
	local line
	for line in '43 0 8 0 0 0 0 7' $'43 0 8 0 0\r' $'43 0 8 0 0 0 0\r' $'\r' '43 0 8 0' '43 0 8 0 0 0'; do
		printf '42 0 8 0 0\n%s\n' "$line" >dump
		refuses 2 "line 2 does not hold limits" fsquota restore -p -f dump /mnt/x
	done
	assert_equal "$(kernel_has /mnt/x 42)$(kernel_has /mnt/x 43)" ""
}

@test "an immutable directory is none that root of the host could tag" {
	local what
	# XFS and f2fs let the ID of an immutable file be changed.
	mkdir /mnt/e/volume
	for what in /mnt/e/fixed/sub /mnt/e/fixed; do
		mkdir -p $what
		chattr +i $what
		refuses 4 "immutable" fsquota assign /mnt/e/fixed
		[[ $stderr == *"$what: "* && $stderr != *"run it as root"* ]] || fail "$stderr"
		run_split fsquota project -s -p /mnt/e/fixed 42 /mnt/e
		[[ $stderr == *"project on $what: "*"immutable"* && $stderr != *"run it as root"* ]] || fail "$stderr"
		chattr -i $what
		rm -r /mnt/e/fixed
	done
	touch /mnt/x/list
	chattr +i /mnt/x/list
	refuses 4 "immutable" fsquota assign --projects-file /mnt/x/list /mnt/e/volume
	[[ $stderr != *"run it as root"* ]] || fail "$stderr"
	chattr -i /mnt/x/list
	rm -r /mnt/x/list /mnt/e/volume
}

@test "a file of the caller's is not to be remounted, nor to be a mounted filesystem" {
	mount -t tmpfs -o ro none /mnt/x
	run_split fsquota report -p -f /mnt/x/file --at /mnt/e
	umount /mnt/x
	assert_equal "$status:$stderr" "1:fsquota report: open on /mnt/x/file failed: Read-only file system"
	perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0); bind(S, sockaddr_un("/run/socket")) or die'
	run_split fsquota restore -p -f /run/socket /mnt/x
	rm /run/socket
	assert_equal "$stderr" "fsquota restore: /mnt/x: fopen on /run/socket failed: No such device or address"
}

# typed_from PATTERN WORD COMMAND...: what stderr advises as "fsquota WORD ..." is typed, with --json
typed_from() {
	local pattern=$1 word=$2 advice
	shift 2
	run_split "$@"
	[[ $stderr =~ $pattern ]] || fail "$*: no advice: $stderr"
	advice="fsquota $word ${BASH_REMATCH[1]}"
	typed=$(sh -c "$advice --json") || [ "$word" = doctor ] || fail "$advice: $typed"
}

@test "a command that is advised names the directory, whatever its name" {
	local name dir found
	: >/etc/projects
	# shellcheck disable=SC2016 # the shell is not to run it
	for name in 'two words' "it's" '$(touch typed)' ';touch typed' '`touch typed`' 'say "it"' $'\xc3\xa4' 'back\slash'; do
		dir="/mnt/x/typed/$name"
		mkdir -p "$dir"
		mount -t tmpfs none "$dir"
		typed_from 'see fsquota doctor (.*)\)' doctor fsquota assign "$dir" --hard 1M
		assert_equal "$(jq -c '[.doctor[] | select(.finding == "tmpfs") | .path]' <<<"$typed")" \
			"$(jq -nc --arg dir "$dir" '[$dir]')"
		umount "$dir"
		fsquota assign "$dir" --hard 1M >/dev/null
		run_split fsquota enable "$dir"
		[[ $stderr =~ 'fsquota release '(.*)' takes' ]] || fail "$stderr"
		[ "${BASH_REMATCH[1]}" = DIR ] || sh -c "fsquota release --dry-run ${BASH_REMATCH[1]}"
		# Of a directory that is gone.
		mv "$dir" /mnt/x/moved
		run_split fsquota doctor -q /mnt/x
		[[ $stdout == *"(fsquota move OLD NEW)"* ]] || fail "$stdout"
		chattr -Rp 0 /mnt/x/moved
		found=$(fsquota doctor --json /mnt/x | jq -r '.doctor[] | select(.finding == "directory-gone") | .repair')
		sh -ec "$found"
		assert_equal "$(cat /etc/projects)" ""
		rm -r /mnt/x/moved
		assert_not_exists typed
	done
}
