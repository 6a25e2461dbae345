#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# A dry run says of each directory what the real run does to it, as the filesystem is now.

load ../lib/fsquota

FIRST=1048577

setup() { rm -rf /etc/projects /etc/projid /etc/fsquota.conf; }

# use FS: sets top to an empty directory there.
use() {
	fs=$1 top=/mnt/$1/v
	fresh_fs $fs
	rm -f /etc/projects /etc/projid
	chmod 755 /mnt/$fs
	mkdir $top
}

# on_each TEST: on XFS and on ext4, in $top.
on_each() {
	for fs in x e; do
		use $fs
		"$@"
	done
}

state() {
	cat /etc/projects /etc/projid 2>/dev/null || true
	# Where ext4 was asked for an ID, it has an empty record.
	real -c 'report -p -N -n -b -i' /mnt/$fs | grep -v ' 0          0          0     00 \[--------\]          0          0          0 '
	find $top -printf '%p %i %m %u %C@\n'
	fsquota lsattr -pR $top 2>/dev/null || true
}

# as_real COMMAND...: rows, errors and status of the dry run and of the real one, which are left in stdout, stderr and
# status; and the dry run changes nothing. A row of assign has the use, which only the real run knows.
as_real() {
	local before dry rows='.[] | if type == "array" then .[] else . end | with_entries(
		if .key == "would_change" then .key = "changed" else . end) | del(.used_bytes, .used_inodes, .percent)'
	before=$(state)
	run_split fsquota "$@" --json --dry-run
	assert_equal "$(state)" "$before"
	dry="$status:$stderr:$(jq -cS "$rows" <<<"$stdout")"
	run_split fsquota "$@" --json
	assert_equal "$dry" "$status:$stderr:$(jq -cS "$rows" <<<"$stdout")"
}

# apply_says STATUS LINE...: apply of these lines, which lie in $top where they do not begin with a slash.
apply_says() {
	local expected=$1
	shift
	printf "%s\n" "${@/#/$top/}" >"$BATS_TEST_TMPDIR/lines"
	as_real apply --diff "$BATS_TEST_TMPDIR/lines"
	assert_equal "$status:$(jq -r '[.apply[].action] | join(" ")' <<<"$stdout")" "$expected"
}

@test "a directory in one of another line" {
	use x
	mkdir -p $top/{c,k}/d/e
	touch $top/c/{1,d/2,d/e/3}
	apply_says '5:failed created' 'a/b hard=2M mkdir' 'a hard=1M mkdir'
	apply_says '0:created unchanged' 'a/b hard=2M mkdir' 'a hard=1M mkdir'
	apply_says '0:created' 'c hard=1M'
	apply_says '0:unchanged created' 'c hard=1M' 'c/d hard=2M'
	chattr -p 77 $top/c/d
	apply_says '0:unchanged changed' 'c hard=1M' 'c/d hard=2M'
	apply_says '0:created' 'c/d/e'
	apply_says '0:created' 'k/d hard=2M'
	apply_says '6:failed' 'k hard=1M'
}

one_name() {
	mkdir $top/{a,b,c}
	touch $top/b/file
	for line in 'a name=web hard=4M' 'b name=web soft=2M keep' 'new name=web hard-inodes=9 keep mkdir'; do
		apply_says 0:created "$line"
	done
	assert_equal "$(fsquota id $top/a $top/b $top/b/file $top/new | uniq)" $FIRST
	assert_equal "$(kernel_has /mnt/$fs $FIRST | cut -d' ' -f 2,3,5,6)" "2048 4096 0 9"
	apply_says '0:unchanged unchanged created' 'a name=web keep' 'b name=web keep' 'c name=web keep'
}

@test "one name in different directories" { on_each one_name; }

new_directories() {
	local line
	mkdir $top/{own,plain}
	ln -s plain $top/link
	fsquota assign $top/own --hard 9M >/dev/null
	# In a directory with a project of its own, over a link, and where a line is left of one that is gone.
	apply_says 0:created 'own/new mkdir hard=1M id=90 name=n'
	apply_says 0:created 'link/new mkdir hard=2M'
	rmdir $top/link/new
	counts /mnt/$fs $((FIRST + 1)) 0
	apply_says 0:created 'link/new mkdir hard=2M'
	rmdir $top/link/new
	counts /mnt/$fs $((FIRST + 1)) 0
	apply_says 0:created 'plain/new mkdir hard=2M'
	# What is in the way, and what is not there.
	touch $top/file
	ln -s nowhere $top/broken
	apply_says '2:failed failed' 'file mkdir' 'file/new mkdir'
	apply_says '5:failed' 'nowhere/new mkdir'
	apply_says '7:failed created' 'link mkdir' 'last mkdir'
	apply_says '2:failed' 'broken mkdir'
	apply_says '5:failed' 'broken/new mkdir'
	apply_says '6:failed' 'other id=90 name=m mkdir'
}

# bats test_tags=full
@test "mkdir in a project, over a link, where a line is left, and where it cannot be" { on_each new_directories; }

@test "a pattern, beside a directory that is made" {
	use x
	mkdir $top/1
	apply_says '0:created' '* hard=1M'
	apply_says '0:unchanged created' '* hard=1M' 'new hard=2M mkdir'
	apply_says '0:unchanged changed' '* hard=1M' 'new hard=3M mkdir'
	apply_says '6:changed changed' '* hard=1M' '? hard=2M'
	apply_says '2:' '* hard=1M name=all'
}

one_at_a_time() {
	mkdir -p $top/{a,c/d}
	as_real assign --hard 1M --name web $top/a
	as_real assign --mkdir --hard 2M $top/new
	cd $top
	as_real assign --mkdir relative
	as_real assign --mkdir ./three
	cd /
	as_real assign --mkdir --owner daemon --mode 700 --require-enforced --hard 1M $top/daemon
	as_real assign --mkdir --no-register $top/5/
	mkdir -p $top/docker/overlay2/l $top/docker2/overlay2/l
	as_real assign --mkdir --hard 1M $top/docker/overlay2/new
	# The ID that the dry run has asked ext4 for is free.
	as_real assign --hard 1M $top/docker2
	mount -o remount,ro /mnt/$fs
	as_real assign --mkdir $top/8 $top/9
	assert_equal "$status" 1
	mount -o remount,rw /mnt/$fs
}

# bats test_tags=full
@test "assign" { on_each one_at_a_time; }

several() {
	local before
	before=$(state)
	run -0 fsquota assign --dry-run --mkdir $top/one $top/two
	assert_output "$(printf "would-assign project $FIRST (volume$FIRST), $top/%s\n" one two)"
	run_split fsquota assign --dry-run --mkdir $top/one $top/one/two
	assert_equal "$status:$stdout" "5:would-assign project $FIRST (volume$FIRST), $top/one"
	assert_equal "$stderr" \
		"fsquota assign: $top/one/two: cannot be made: No such file or directory (its parent must exist: mkdir -p makes it)"
	assert_equal "$(state)" "$before"
}

@test "each directory as the filesystem is now" { on_each several; }

# release_says ARGUMENT...: the dry run and the real one say the same, but for would_change and changed.
release_says() {
	local dry
	run_split fsquota release "$@" --json --dry-run
	dry="$status:$stderr:${stdout//would_change/changed}"
	run_split fsquota release "$@" --json
	assert_equal "$status:$stderr:$stdout" "$dry"
}

released() {
	mkdir -p $top/{a,b,c,d}/sub $top/a/inside
	touch $top/{a,b}/{1,2,3}
	fsquota assign --hard 5M --name web $top/{a,b} >/dev/null
	fsquota assign --hard 2M $top/d $top/a/inside >/dev/null
	# An ID that no other filesystem has, which would be in doubt.
	fsquota assign --hard 2M --id 808 $top/c >/dev/null
	rm -r $top/c
	counts /mnt/$fs 808 0
	release_says $top/a $top/d/sub $top/c
	release_says $top/b
	release_says $top/a/inside $top/d
	assert_equal "$(cat /etc/projects /etc/projid)" ''
}

@test "release of one of two directories, of the last, and of one that is gone" { on_each released; }
