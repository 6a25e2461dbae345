#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# apply --watch: a directory that appears where a line says something has its quota a moment later.

load ../lib/fsquota

setup() {
	rm -rf /etc/projects* /etc/projid* /etc/fsquota.d /var/lib/fsquota
	cd /
	fresh_each x e
	mkdir -p /etc/fsquota.d /mnt/x/home /mnt/e/home
	rows=$BATS_TEST_TMPDIR/rows messages=$BATS_TEST_TMPDIR/messages notes=$BATS_TEST_TMPDIR/notes
	stayer='' before=()
	limits=(/proc/sys/fs/inotify/max_{queued_events,user_watches})
	usual=("$(<"${limits[0]}")" "$(<"${limits[1]}")")
}

teardown() {
	# What strace follows outlives it.
	[ -z "$stayer" ] || [ ${#before[@]} = 0 ] || pkill -KILL -P "$stayer" || :
	[ -z "$stayer" ] || end_process "$stayer"
	echo "${usual[0]}" >"${limits[0]}"
	echo "${usual[1]}" >"${limits[1]}"
}

# says LINE...: the lines that there are, as an editor writes them.
says() {
	printf '%s\n' "$@" >/etc/fsquota.d/.new
	mv /etc/fsquota.d/.new /etc/fsquota.d/node.conf
}

# stays [OPTION...]: it has looked at all once.
stays() {
	"${builddir:?}/tests/watch/tenants" notified "$BATS_TEST_TMPDIR/socket" >"$notes" 3>&- &
	until_true test -S "$BATS_TEST_TMPDIR/socket"
	NOTIFY_SOCKET=$BATS_TEST_TMPDIR/socket "${before[@]}" "$FSQUOTA" apply --watch "$@" >"$rows" 2>"$messages" 3>&- &
	stayer=$!
	until_true grep -qs READY=1 "$notes"
	rm "$BATS_TEST_TMPDIR/socket"
}

# limited DIRECTORY SIZE: it has that hard limit.
limited() { [ "$(fsquota usage --raw -No HARD "$1" 2>/dev/null)" = "$2" ]; }

# all_limited COUNT: each directory of /mnt/x/home has an ID of its own, and a limit of 5M.
all_limited() {
	[ "$(fsquota list --raw -No ID,HARD,PATH /mnt/x/home | grep -c ' 5M /mnt/x/home/')" = "$1" ] &&
		[ "$(for_each_id | sort -u | grep -vxc 0)" = "$1" ]
}

for_each_id() { fsquota id /mnt/x/home/*; }

@test "on XFS a new directory that a pattern matches is limited before it is filled" {
	local home=/mnt/x/home status=0
	mkdir "$home/ann"
	says "$home/* hard=5M" "$home/*/public hard=1M"
	stays
	limited "$home/ann" 5M
	mkdir -p "$home/bob/public"
	until_true limited "$home/bob/public" 1M
	limited "$home/bob" 5M
	# Who writes at once is stopped, too.
	mkdir "$home/cid"
	chown 1000 "$home/cid"
	nap 0.3
	run ! setpriv --reuid 1000 --clear-groups dd if=/dev/zero of="$home/cid/file" bs=1M count=50 status=none
	assert [ "$(stat -c %s "$home/cid/file")" -le $((5 << 20)) ]
	mv "$home/ann" "$home/dan"
	until_true limited "$home/dan" 5M
	assert_equal "$(head -n 3 "$messages")" ''
	kill "$stayer"
	wait "$stayer" || status=$?
	assert_equal "$status" 143
	stayer=''
}

@test "a grace time is set at each look at all, not when a directory appears, and a wrong line is told once" {
	local home=/mnt/x/home top
	graces() { for top in /mnt/x /mnt/e; do fsquota state -p --raw --noheadings --output GRACE $top; done | paste -sd' '; }
	says "/mnt/x grace=3d" "$home/* hard=5M" "$home grace=1d"
	stays
	assert_equal "$(graces)" '3d 7d'
	fsquota timer 9d /mnt/x
	mkdir "$home/ann"
	until_true limited "$home/ann" 5M
	assert_equal "$(graces)" '9d 7d'
	says "/mnt/x grace=3d" "/mnt/e grace=4d" "$home/* hard=5M" "$home grace=1d"
	has_graces() { [ "$(graces)" = "$1" ]; }
	until_true has_graces '3d 4d'
	says "/mnt/x grace=3d" "/mnt/e grace=5d" "$home/* hard=5M" "$home grace=1d"
	until_true has_graces '3d 5d'
	until_true grep -q '^changed   /mnt/e$' <(tail -n 1 "$rows")
	assert_equal "$(grep -v "^unchanged" "$rows")" "changed   /mnt/x
failed    $home
created   $home/ann
changed   /mnt/x
changed   /mnt/e
changed   /mnt/e"
	assert_equal "$(grep -c "$home: is no mount point" "$messages")" 1
	# Of a filesystem that is mounted later, too.
	says "/run/later grace=6d"
	umount /mnt/e
	mkdir -p /run/later
	mount -o prjquota "$FSQ_E_DEV" /run/later
	until_true grep -q '^changed   /run/later$' "$rows"
	assert_equal "$(fsquota state -p --raw --noheadings --output GRACE /run/later)" 6d
	umount /run/later
}

# bats test_tags=many,full
@test "of a thousand directories made in bursts, renamed, deleted and made again each is limited, and has an ID alone" {
	local i
	says '/mnt/x/home/* hard=5M'
	stays --quiet
	for i in {1..10}; do
		(cd /mnt/x/home && seq -f "u%g" $((100 * i)) $((100 * i + 99)) | xargs mkdir)
		nap 0.05
	done
	until_true all_limited 1000
	(cd /mnt/x/home && for i in {100..199}; do mv u$i v$i; done && rmdir u2?? && mkdir u{200..299})
	until_true all_limited 1000
	until_true eval '! grep -q ":/mnt/x/home/u1..$" /etc/projects'
	# It ends in the middle, and the next one goes on.
	(cd /mnt/x/home && mkdir w{1..200})
	kill -KILL "$stayer"
	wait "$stayer" || :
	stays --quiet
	all_limited 1200
	assert_equal "$(head -n 3 "$messages")" ''
}

# bats test_tags=shared,full
@test "a directory that appears while all are looked at does not wait for the end of that" {
	local home=/mnt/x/home
	mkdir $home/{100..199}
	says "$home/* hard=5M"
	before=(strace -f -qq -o /dev/null -e trace=quotactl_fd -e inject=quotactl_fd:delay_exit=10000)
	stays --quiet
	says "$home/* hard=6M"
	until_true limited $home/100 6M
	mkdir $home/new
	until_true limited $home/new 6M
	limited $home/199 5M
	# Lines that change meanwhile wait for it, but no longer; and so does a filesystem that is mounted.
	fresh_fs x2
	mkdir -p /mnt/x2/home/ann /run/later
	umount /mnt/x2
	says "$home/* hard=7M" '/run/later/home/* hard=3M'
	until_true limited $home/100 7M
	mount -o prjquota "$FSQ_X2_DEV" /run/later
	run ! limited $home/199 7M
	until_true limited $home/199 7M
	until_true limited /run/later/home/ann 3M
	until_true umount /run/later 2>/dev/null
	fresh_fs x2
}

@test "events that are lost are no directories that are lost" {
	says '/mnt/x/home/* hard=5M'
	echo 4 >"${limits[0]}"
	stays --quiet
	kill -STOP "$stayer"
	mkdir /mnt/x/home/{1..50}
	kill -CONT "$stayer"
	until_true all_limited 50
}

@test "a directory that two patterns match delays nobody, and is told once" {
	says '/mnt/x/home/a* hard=5M' '/mnt/x/home/*n hard=6M'
	stays --quiet
	mkdir /mnt/x/home/ann /mnt/x/home/abe
	until_true limited /mnt/x/home/ann 6M
	until_true limited /mnt/x/home/abe 5M
	# A look at all.
	says '/mnt/x/home/a* hard=7M' '/mnt/x/home/*n hard=8M'
	until_true limited /mnt/x/home/abe 7M
	assert_equal "$(<"$messages")" \
		"fsquota apply: /etc/fsquota.d/node.conf, line 2: /mnt/x/home/ann is in line 1, too: line 2 applies"
	# It is told again when it was right in between.
	rmdir /mnt/x/home/ann
	says '/mnt/x/home/a* hard=5M' '/mnt/x/home/*n hard=6M'
	until_true limited /mnt/x/home/abe 5M
	mkdir /mnt/x/home/ann
	until_true limited /mnt/x/home/ann 6M
	assert_equal "$(grep -c "ann is in line 1, too" "$messages")" 2
}

# bats test_tags=slow
@test "what cannot be watched is looked at every ten seconds, and that is said" {
	says '/mnt/x/home/* hard=5M'
	echo 3 >"${limits[1]}"
	stays
	assert_equal "$(grep -c 'cannot be watched: looking every 10 seconds instead (see fs.inotify.max_user_watches)' "$messages")" 1
	mkdir /mnt/x/home/ann
	until_true limited /mnt/x/home/ann 5M
	# Nothing tells of an ID that its owner takes off; the next look finds it.
	fsquota project -C -p /mnt/x/home/ann 0
	assert_equal "$(fsquota id /mnt/x/home/ann)" 0
	until_true limited /mnt/x/home/ann 5M
}

# bats test_tags=shared
@test "one new directory among many takes 150 system calls at most, for a pattern and a path" {
	local trace=$BATS_TEST_TMPDIR/trace before_it dir
	(cd /mnt/x/home && mkdir {1..300})
	mkdir -p /mnt/e/home/x
	says '/mnt/x/home/* hard=5M' '/mnt/x/home/*/public hard=1M' '/mnt/e/home/x/ann hard=5M'
	# The clock is in the vdso elsewhere.
	before=(strace -f -e trace=!clock_gettime -o "$trace")
	stays --quiet
	for dir in /mnt/x/home/ann /mnt/e/home/x/ann; do
		until_true eval 'tail -n 1 "$trace" | grep -qE "poll\(.*, 3, [0-9]{5,6}"'
		before_it=$(wc -l <"$trace")
		mkdir "$dir"
		until_true limited "$dir" 5M
		until_true eval 'tail -n 1 "$trace" | grep -qE "poll\(.*, 3, [0-9]{5,6}"'
		before_it=$(($(wc -l <"$trace") - before_it))
		assert [ $before_it -le 150 ]
	done
	# And then none.
	before_it=$(wc -l <"$trace")
	nap 2
	assert_equal "$(wc -l <"$trace")" "$before_it"
	pkill -TERM -P "$stayer"
	wait "$stayer" || :
	stayer=''
}

@test "who makes directories all the time keeps it busy for half of the time at most, and that is told once" {
	local maker spent
	mkdir /mnt/x/home/{1..20}
	says '/mnt/x/home/*/* hard=5M'
	stays --quiet
	(while :; do
		mkdir /mnt/x/home/{1..20}/a
		rmdir /mnt/x/home/{1..20}/a
	done) 2>/dev/null 3>&- &
	maker=$!
	nap 2
	spent=$(awk '{ print $14 + $15 }' "/proc/$stayer/stat")
	nap 4
	spent=$(($(awk '{ print $14 + $15 }' "/proc/$stayer/stat") - spent))
	# Ticks of a hundredth of a second.
	assert [ $spent -le 220 ]
	kill $maker
	wait $maker || :
	assert_equal "$(grep -c 'is one of more directories than can get their limits at once' "$messages")" 1
	mkdir /mnt/x/home/new /mnt/x/home/new/b
	until_true limited /mnt/x/home/new/b 5M
}

@test "what could not be watched for a moment is watched at the next look" {
	says '/mnt/x/home/* hard=5M'
	before=(strace -f -qq -o "$BATS_TEST_TMPDIR/trace" -e trace=poll,ppoll,inotify_add_watch -e inject=inotify_add_watch:error=EMFILE:when=2)
	stays
	# Not every ten seconds.
	until_true grep -qE 'poll\(.*, 3, [0-9]{6}' "$BATS_TEST_TMPDIR/trace"
	assert_equal "$(grep -c 'cannot be watched' "$messages")" 1
	mkdir /mnt/x/home/ann
	until_true limited /mnt/x/home/ann 5M
	pkill -TERM -P "$stayer"
	wait "$stayer" || :
	stayer=''
}

@test "lines that change count at once; those that are wrong change nothing, and are said once" {
	mkdir /mnt/x/home/ann
	says '/mnt/x/home/* hard=5M'
	stays
	says '/mnt/x/home/* hard=6M'
	until_true limited /mnt/x/home/ann 6M
	says '/mnt/x/home/* hard=much'
	until_true grep -q 'node.conf, line 1: "much" is no size' "$messages"
	mkdir /mnt/x/home/bob
	# Other files of /etc are no lines.
	touch /etc/projects /etc/other
	nap 0.3
	assert_equal "$(wc -l <"$messages")" 1
	says '/mnt/x/home/* hard=7M'
	until_true limited /mnt/x/home/bob 7M
	limited /mnt/x/home/ann 7M
	rm /etc/fsquota.d/node.conf
	echo '/mnt/x/home/ann hard=8M' >/etc/fsquota.d/other.conf
	until_true limited /mnt/x/home/ann 8M
}

has_id() { [ "$(fsquota id "$1")" = "$2" ]; }

@test "a line with registered waits for the program whose directory it is, and follows the limits that this one sets" {
	local home=/mnt/x/home id
	mkdir "$home"/{ann,other}
	says "$home/ann hard=5M registered" "$home/other hard=5M registered" "$home/later hard=5M registered"
	stays
	id=$(fsquota assign "$home/ann" --unlimited)
	until_true limited "$home/ann" 5M
	# Its program starts again.
	real -c "limit -p bhard=9223372036854775807 bsoft=9223372036854775807 $id" /mnt/x
	until_true limited "$home/ann" 5M
	# The owner has changed the ID, and another directory has appeared meanwhile.
	chattr -p 7 "$home/ann"
	mkdir "$home/later"
	until_true has_id "$home/ann" "$id"
	# Its program takes the limits off first, and the line last.
	real -c "limit -p bhard=0 bsoft=0 $id" /mnt/x
	nap 1.5
	assert_equal "$(kernel_has /mnt/x "$id" | cut -d' ' -f 2,3)" '0 0'
	prints $'0\n0' fsquota id "$home/other" "$home/later"
	assert_equal "$(cat "$messages")" ''
	assert_equal "$(grep -vx "changed   $home/ann" "$rows")" ''
}

@test "files that are named may be replaced, and other files beside them do not matter" {
	mkdir /mnt/x/home/ann
	echo '/mnt/x/home/* hard=5M' >/etc/node.conf
	echo '/mnt/x/home/bob hard=1M mkdir' >/etc/more.conf
	stays /etc/node.conf /etc/more.conf
	echo '/mnt/x/home/* hard=6M' >/etc/.node.conf
	mv /etc/.node.conf /etc/node.conf
	until_true limited /mnt/x/home/ann 6M
	echo '/mnt/x/home/* hard=7M' >/etc/node.conf
	until_true limited /mnt/x/home/ann 7M
	rm /etc/node.conf
	until_true grep -q '/etc/node.conf: cannot read' "$messages"
	touch /etc/other /etc/projects
	nap 0.3
	assert_equal "$(wc -l <"$messages")" 1
	echo '/mnt/x/home/* hard=8M' >/etc/node.conf
	until_true limited /mnt/x/home/ann 8M
	echo '/mnt/x/home/bob hard=2M mkdir' >/etc/more.conf
	until_true limited /mnt/x/home/bob 2M
	rm /etc/{node,more}.conf
}

@test "with --prune a directory that no line names any more is released" {
	mkdir /mnt/x/home/ann
	says '/mnt/x/home/* hard=5M'
	stays --prune --prune-after 1
	says
	until_true grep -qx 'unwished  /mnt/x/home/ann' "$rows"
	limited /mnt/x/home/ann 5M
	until_true eval '[ "$(fsquota id /mnt/x/home/ann)" = 0 ]'
	assert_equal "$(grep -c '^unwished' "$rows") $(tail -n 1 "$rows")" '1 released  /mnt/x/home/ann'
}

# ids: of all homes
ids() { fsquota id /mnt/[xe]/home/*; }

@test "what is being written, or cut, or gone for a moment, releases nothing, and what is new has its quota" {
	local before fs
	mkdir /mnt/{x,e}/home/{ann,bob}
	says '/mnt/x/home/* hard=5M' '/mnt/e/home/* hard=5M'
	stays --prune --prune-after 1
	before=$(ids)
	# Half of it is there, and the writer thinks.
	exec {writer}>/etc/fsquota.d/node.conf
	echo '/mnt/x/home/* hard=5M' >&"$writer"
	nap 2.5
	assert_equal "$(ids)" "$before"
	mkdir /mnt/{x,e}/home/cid
	for fs in x e; do until_true limited /mnt/$fs/home/cid 5M; done
	# The others count meanwhile.
	echo '/mnt/x/home/ann hard=7M' >/etc/fsquota.d/other.conf
	until_true limited /mnt/x/home/ann 7M
	until_true grep -q 'node.conf: is being written' "$messages"
	assert_equal "$(ids | head -n 6)" "$(ids | grep -vx 0 | head -n 6)"
	rm /etc/fsquota.d/other.conf
	printf '/mnt/e/home/* hard=5' >&"$writer"
	before=$(ids)
	exec {writer}>&-
	# What is closed now ends in the middle of a line.
	until_true grep -q 'node.conf, line 2: there is no newline at its end' "$messages"
	nap 2
	assert_equal "$(ids)" "$before"
	says '/mnt/x/home/* hard=6M' '/mnt/e/home/* hard=6M'
	for fs in x e; do until_true limited /mnt/$fs/home/ann 6M; done
	# Without any file, and where the directory is gone.
	rm /etc/fsquota.d/node.conf
	until_true grep -q 'has no file \*.conf, so nothing is released' "$messages"
	says '/mnt/x/home/* hard=6M' '/mnt/e/home/* hard=6M'
	nap 1
	mv /etc/fsquota.d /etc/was
	nap 2
	mkdir /mnt/x/home/dan
	until_true limited /mnt/x/home/dan 6M
	mv /etc/was /etc/fsquota.d
	# A line is gone for less than the time.
	says '/mnt/x/home/* hard=6M' '/mnt/e/home/* hard=6M'
	nap 0.3
	says '/mnt/x/home/* hard=6M'
	until_true grep -q '^unwished  /mnt/e/home/ann' "$rows"
	says '/mnt/x/home/* hard=6M' '/mnt/e/home/* hard=6M'
	nap 2
	assert_equal "$(ids | head -n 6)" "$(head -n 6 <<<"$before")"
	run ! grep '^released' "$rows"
}

@test "directories above a pattern, those with the lines, and filesystems appear and go" {
	rm -r /etc/fsquota.d /mnt/x/home
	stays /etc/fsquota.d 2>/dev/null || :
	mkdir -p /etc/fsquota.d
	says '/mnt/x/srv/*/data hard=5M' '/mnt/x/one/two hard=2M mkdir' '/mnt/e/late/* hard=3M'
	mkdir -p /mnt/x/srv/a/data
	until_true limited /mnt/x/srv/a/data 5M
	mkdir /mnt/x/one
	until_true limited /mnt/x/one/two 2M
	rm -r /mnt/x/srv
	mkdir -p /mnt/x/srv/b/data
	until_true limited /mnt/x/srv/b/data 5M
	mkdir -p /mnt/e/late/a
	until_true limited /mnt/e/late/a 3M
	mkdir /mnt/e/late/b
	until_true limited /mnt/e/late/b 3M
	# A look may be under way.
	until_true umount /mnt/e 2>/dev/null
	fresh_fs e
	mkdir -p /mnt/e/late/c
	until_true limited /mnt/e/late/c 3M
}

@test "a tenant leads no limit elsewhere, and what fails is said once" {
	local id
	mkdir -p /mnt/x/home/{bob,mallory}/public /mnt/x/elsewhere
	ln -s ../../elsewhere /mnt/x/home/mallory/other
	says '/mnt/x/home/*/public hard=1M' '/mnt/x/home/mallory/other hard=2M'
	stays
	limited /mnt/x/home/bob/public 1M
	id=$(fsquota id /mnt/x/home/bob/public)
	rmdir /mnt/x/home/mallory/public
	ln -s ../bob/public /mnt/x/home/mallory/public
	mkdir -p /mnt/x/home/new/public
	until_true limited /mnt/x/home/new/public 1M
	mkdir -p /mnt/x/home/newer/public
	until_true limited /mnt/x/home/newer/public 1M
	assert_equal "$(fsquota id /mnt/x/home/bob/public)" "$id"
	prints 0 fsquota id /mnt/x/elsewhere
	assert_equal "$(grep -c '/mnt/x/home/mallory/other: is a symlink' "$messages")" 1
	assert_equal "$(grep -c '^failed' "$rows")" 1
}

# bats test_tags=many,full
@test "after thousands of events it needs no more memory" {
	local before after
	memory() {
		awk '/^VmRSS/ { print $2 }' "/proc/$stayer/status"
	}
	events() {
		perl -e 'for (1 .. shift) { mkdir "/mnt/x/home/dir" or die; rmdir "/mnt/x/home/dir" or die }' "$1"
	}
	says '/mnt/x/home/* hard=5M'
	stays --quiet
	events 2000
	nap 1
	before=$(memory)
	events 20000
	nap 1
	after=$(memory)
	echo "# after 22000 directories: $before KiB, then $after" >&3
	assert [ "$after" -le $((before + 512)) ]
	mkdir /mnt/x/home/ann
	until_true limited /mnt/x/home/ann 5M
}

# bats test_tags=many
@test "who makes directories between the stars of a pattern keeps it busy for half of the time at most" {
	local before after
	# ticks: of the processor that it has used; a hundred are a second.
	ticks() { awk '{ print $14 + $15 }' "/proc/$stayer/stat"; }
	mkdir -p /mnt/x/home/{1..300}
	says '/mnt/x/home/*/* hard=1M'
	stays --quiet
	before=$(ticks)
	perl -e 'my $end = time + 8; for (my $i = 0; time < $end; $i++) { mkdir "/mnt/x/home/new$i" or die; select undef, undef, undef, 0.01 }'
	after=$(ticks)
	echo "# in eight seconds it has used $((after - before)) hundredths" >&3
	assert [ $((after - before)) -le 480 ]
	mkdir /mnt/x/home/1/last
	until_true limited /mnt/x/home/1/last 1M
}

@test "--json prints a row a line; what cannot stay is refused" {
	says '/mnt/x/home/* hard=5M'
	stays --json
	mkdir /mnt/x/home/ann
	until_true eval '[ "$(jq -r "[.action, .path] | join(\" \")" "$rows")" = "created /mnt/x/home/ann" ]'
	refuses 2 'does not go with --dry-run' fsquota apply --watch --dry-run
	refuses 2 'does not go with --dry-run and --exit-code' fsquota apply --watch --exit-code
	refuses 2 'cannot watch standard input' fsquota apply --watch -
	run -0 fsquota batch <<<'["apply", "--watch"]'
	assert_output --partial 'it does not end'
}

# As kubelet changes the keys of a ConfigMap.
key_of_map() {
	local map=/run/map
	mkdir -p $map/..1 $map/..2
	echo '/mnt/x/home/ann hard=5M' >$map/..1/"$1"
	echo '/mnt/x/home/ann hard=6M' >$map/..2/"$1"
	ln -s ..1 $map/..data
	ln -s "..data/$1" "$map/$1"
	stays "$map/${2-$1}"
	limited /mnt/x/home/ann 5M
	ln -s ..2 $map/..new
	mv -T $map/..new $map/..data
	until_true limited /mnt/x/home/ann 6M
	end_process "$stayer"
	stayer=''
	rm -r $map
}

@test "a file that is a symlink is looked at again when what it leads over changes" {
	mkdir -p /mnt/x/home/ann
	key_of_map limits
	key_of_map node.conf
	key_of_map node.conf ''
	mkdir /run/other
	echo '/mnt/x/home/ann hard=7M' >/run/other/lines
	ln -s /run/other/lines /run/lines
	stays /run/lines
	limited /mnt/x/home/ann 7M
	echo '/mnt/x/home/ann hard=8M' >/run/other/new
	mv /run/other/new /run/other/lines
	until_true limited /mnt/x/home/ann 8M
	rm -r /run/lines /run/other
}

@test "a directory of lines without any *.conf is told" {
	mkdir -p /run/nothing
	echo '/mnt/x/home/ann hard=5M' >/run/nothing/limits
	stays /run/nothing
	until_true grep -q 'limits is not read: its name does not end in .conf' "$messages"
	rm -r /run/nothing
}
