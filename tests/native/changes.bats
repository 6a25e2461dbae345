#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=slow
#
# What every command that changes something says about it: a dry run says what would change and
# changes nothing, the real run says that it did, and both say when there is nothing to do.

load ../lib/fsquota

FIRST=1048577
FILES=(/etc/projects /etc/projid)

setup() {
	rm -f "${FILES[@]}" /etc/fsquota.conf
	cd "$BATS_TEST_TMPDIR" || return 1
}

# make FS: a filesystem with own, which has a quota (two directories, a link, five files), plain,
# which has none, and gone, which is not there.
make() {
	mnt=/mnt/$1
	fresh_fs "$1"
	chmod 755 "$mnt"
	rm -f "${FILES[@]}"
	mkdir -p "$mnt"/{own/sub,plain/sub,gone}
	touch "$mnt"/{own,plain}/{a,b,sub/c}
	ln "$mnt/plain/a" "$mnt/plain/sub/link"
	ln "$mnt/own/a" "$mnt/own/sub/link"
	fsquota assign "$mnt/own" --hard 8M >/dev/null
	fsquota assign "$mnt/gone" --hard 8M >/dev/null
	rmdir "$mnt/gone"
	counts "$mnt" $((FIRST + 1)) 0
	printf 'fs = %s\n42 0 4096 0 0\n43 0 0 0 7\n' "$mnt" >dump
	printf '%s hard=2M\n%s hard=1M mkdir\n' "$mnt/plain" "$mnt/applied" >conf
}

# Sets snapshot: all that a command could change on $mnt, and both files. What is in no order stays where it
# is while nothing changes.
take_snapshot() {
	local lines file
	{
		real -c 'dump -p' -c 'dump -u' -c 'state -p' "$mnt"
		fsquota lsattr -paR "$mnt"
		find "$mnt" "${FILES[@]}" -printf '%p %i %m %U %s %T@ %C@\n' 2>/dev/null
	} >snapshot || true
	mapfile -t lines <snapshot
	printf -v snapshot '%s\n' "${lines[@]/#  Inode*/}"
	for file in "${FILES[@]}"; do
		lines=()
		[ ! -e "$file" ] || mapfile -t lines <"$file"
		printf -v snapshot '%s\n' "$snapshot" "${lines[@]}"
	done
}

# ask KEY true|false COMMAND...: with --json each row has that key and not the other, and one of
# them, or none, says true. judge tells; says does both.
ask() {
	local key=$1 wanted=$2
	shift 2
	run_split "$@" --json
	assert_equal "$*: $status" "$*: 0"
	answers+=("{\"key\":\"$key\",\"wanted\":$wanted,\"rows\":$stdout}")
}

judge() {
	# Does one say what it should, does none have the other key, has every row this one?
	run -0 jq '.key as $key | .wanted as $wanted | (["changed", "would_change"] - [$key])[0] as $other | .rows |
		([.. | objects | select(has($key)) | .[$key]] | any == $wanted) and
		([.. | objects | has($other)] | any | not) and
		($wanted == false or ([.[] | if type == "array" then .[] else . end | has($key)] | all))' <<<"${answers[*]}"
	[ "${lines[*]}" = "${answers[*]/*/true}" ] || fail "${answers[*]} ${lines[*]}"
	answers=()
}

says() {
	ask "$@"
	judge
}

# is_changed WORD COMMAND...: the four runs. In a dry run the text has WORD.
is_changed() {
	local word=$1 before after
	shift
	take_snapshot
	before=$snapshot
	ask would_change true "$@" --dry-run
	run_split "$@" --dry-run
	assert_equal "$*: $status:$stderr" "$*: 0:"
	[[ $stdout == *"$word"* ]] || fail "$*: $stdout"
	take_snapshot
	assert_equal "$snapshot" "$before"

	ask changed true "$@"
	take_snapshot
	after=$snapshot
	[ "$after" != "$before" ] || fail "$*: nothing has changed"

	ask would_change false "$@" --dry-run
	run_split "$@" --dry-run
	assert_equal "$*: $status" "$*: 0"
	[[ $stdout != *would-* ]] || fail "$*: $stdout"
	take_snapshot
	assert_equal "$snapshot" "$after"
	ask changed false "$@"
	judge
}

# of_each FUNCTION: on XFS and ext4.
of_each() {
	local fs
	for fs in x e; do
		make $fs
		"$1" $fs
	done
}

limits() {
	is_changed "project 42, $mnt: soft none -> 1M, hard none -> 2M, hard-inodes none -> 7" \
		fsquota limit -p bsoft=1m bhard=2m ihard=7 42 "$mnt"
	is_changed "user 0 (root), $mnt: hard none -> 1G" fsquota limit -u -d bhard=1g "$mnt"
	is_changed "grace 7d -> 3d" fsquota timer -p -b -i 3days "$mnt"
	mkdir "$mnt"/4{2,3}
	fsquota project -s -p "$mnt/42" 42 "$mnt"
	fsquota project -s -p "$mnt/43" 43 "$mnt"
	is_changed "project 43, $mnt: hard-inodes none -> 7" fsquota restore -p -f dump "$mnt"
}

@test "limit, timer and restore say what they change" { of_each limits; }

# bats test_tags=full
@test "a limit that is rounded is no change in every run" {
	local fs
	for fs in x e; do
		make $fs
		is_changed "hard none -> " fsquota limit -p bhard=5000 42 "$mnt"
		is_changed "$((FIRST + 2))" fsquota assign "$mnt/plain" --hard 1000001
		is_changed "hard 8M -> " fsquota resize "$mnt/own" 9000001
	done
}

trees() {
	is_changed "project 42, $mnt/plain: 5 of 6 files and directories" \
		fsquota project -s -p "$mnt/plain" 42 "$mnt"
	is_changed "project 42, $mnt/plain: 5 of 6 files and directories" \
		fsquota project -C -p "$mnt/plain" 42 "$mnt"
}

@test "project says how many files it changes, each once" { of_each trees; }

# bats test_tags=full
@test "project -d changes, and counts, what is that deep" {
	make x
	is_changed "1 of 1 file or directory" fsquota project -s -d 0 -p "$mnt/plain" 42 "$mnt"
	is_changed "3 of 4 files" fsquota project -s -d 1 -p "$mnt/plain" 42 "$mnt"
}

directories() {
	# prune keeps what another filesystem may have.
	if [ "$1" = x ]; then fresh_fs e; else fresh_fs x; fi
	is_changed "hard 8M -> 9M" fsquota resize "$mnt/own" 9M
	is_changed "soft none -> 1M" fsquota resize "$mnt/own" --soft 1M
	is_changed "$FIRST" fsquota assign "$mnt/own" --hard 10M
	is_changed "$((FIRST + 2))" fsquota assign "$mnt/plain" --hard 1M
	is_changed "$((FIRST + 3))" fsquota assign "$mnt/made" --hard 1M --mkdir
	is_changed "would-change  $mnt/plain" fsquota apply conf
	is_changed "would-release project $FIRST (volume$FIRST), $mnt/own: limits, 2 lines, 5 files" \
		fsquota release --if-exists "$mnt/own"
	is_changed "would-release project $((FIRST + 2)) (volume$((FIRST + 2))): limits, 2 lines, 5 files" \
		fsquota release --if-exists --id $((FIRST + 2)) --at "$mnt"
	is_changed "would-remove project $((FIRST + 1)) (volume$((FIRST + 1))), $mnt/gone" \
		fsquota prune "$mnt"
}

@test "assign, resize, apply, release and prune say what they change" { of_each directories; }

switches() {
	is_changed "project quota, $mnt: enforced -> not enforced" silent fsquota disable -p "$mnt"
	is_changed "project quota, $mnt: not enforced -> enforced" silent fsquota enable -p "$mnt"
}

# Without the warning that all is so already.
silent() { "$@" 2>/dev/null; }

# bats test_tags=full
@test "enable and disable say what they change" { of_each switches; }

@test "what is released says what it had, with its other directory and without" {
	local fs
	for fs in x e; do
		make $fs
		fsquota assign "$mnt/plain" --name volume$FIRST >/dev/null
		says would_change true fsquota release --dry-run "$mnt/own"
		assert_equal "$(jq -c '.release[] | del(.path)' <<<"$stdout")" \
			"{\"id\":$FIRST,\"name\":\"volume$FIRST\",\"would_change\":true,\"before\":null,\"lines\":1,\"changed_files\":5,\"left_inodes\":0,\"mounts_skipped\":0}"
		says would_change true fsquota release --dry-run --name volume$FIRST
		assert_equal "$(jq -c '.release[] | [.path, .before.hard_bytes, .lines, .changed_files]' <<<"$stdout")" \
			"[null,8388608,3,10]"
		says changed true fsquota release --name volume$FIRST
		assert_equal "$(jq -c '.release[] | [.path, .before.hard_bytes, .lines, .changed_files]' <<<"$stdout")" \
			"[null,8388608,3,10]"
	done
}

# as_real CODE COMMAND...: the dry run fails as the real one, in its words, and changes nothing.
as_real() {
	local code=$1 before dry
	shift
	take_snapshot
	before=$snapshot
	run_split "$@" --dry-run
	dry=$status:$stderr
	assert_equal "$* --dry-run: $status" "$* --dry-run: $code"
	take_snapshot
	assert_equal "$snapshot" "$before"
	run_split "$@"
	assert_equal "$*: $dry" "$*: $status:$stderr"
}

refused() {
	fsquota limit -p bhard=4m 42 "$mnt"
	as_real 6 fsquota limit -p bsoft=5m 42 "$mnt"
	as_real 2 fsquota limit -p bhard=x 42 "$mnt"
	as_real 5 fsquota limit -p bhard=1m nobody "$mnt"
	as_real 2 fsquota timer -p x "$mnt"
	as_real 5 fsquota timer -p 3d nobody "$mnt"
	as_real 2 fsquota restore -p -f conf "$mnt"
	as_real 2 fsquota resize "$mnt/own" 5M --soft 6M --allow-shrink
	as_real 6 fsquota resize "$mnt/own" --soft 9M
	as_real 6 fsquota resize "$mnt/own" 1M
	as_real 2 fsquota assign "$mnt/plain" --hard 1M --soft 2M
	as_real 6 fsquota assign "$mnt/own" --soft 9M
	as_real 5 fsquota release "$mnt/plain"
	as_real 5 fsquota project -s -p "$mnt/nowhere" 42 "$mnt"
	as_real 5 fsquota project -s -p "$mnt/plain" nobody "$mnt"
	fsquota project -s -p "$mnt/plain/sub" 77 "$mnt" >/dev/null
	as_real 6 fsquota assign "$mnt/plain"
}

@test "a dry run refuses what the real one refuses" { of_each refused; }

# ro_etc COMMAND...: while /etc is read-only
ro_etc() {
	local status=0
	mount --bind /etc /etc
	mount -o remount,bind,ro /etc
	("$@") || status=$?
	umount /etc
	return $status
}

unwritable() {
	ro_etc as_real 1 fsquota assign "$mnt/plain" --hard 1M
	ro_etc as_real 1 fsquota apply conf
	ro_etc as_real 1 fsquota release "$mnt/own"
	ro_etc as_real 1 fsquota release --id $FIRST
	ro_etc as_real 1 fsquota prune
	as_real 4 setpriv --reuid 1000 --regid 1000 --clear-groups "$FSQUOTA" assign "$mnt/plain"
	# What writes no line is none of it.
	ro_etc fsquota resize "$mnt/own" 9M --dry-run
	ro_etc fsquota assign "$mnt/plain" --no-register --dry-run
}

# bats test_tags=full
@test "a dry run knows a registry that cannot be written" { of_each unwritable; }

realtime() {
	[ "$1" = x ] || as_real 3 fsquota limit -p rtbhard=1m 42 "$mnt"
	[ "$1" = x ] || as_real 3 fsquota timer -p -r 3d "$mnt"
	# On ext4 this is more than it holds, on XFS what stands for no limit.
	printf 'fs = x\n42 0 18014398509481984 0 0\n' >large
	[ "$1" = x ] || as_real 1 fsquota restore -p -f large "$mnt"
}

@test "a dry run knows what a filesystem does not have" { of_each realtime; }

# bats test_tags=full
@test "a dry run knows which quota is off" {
	fresh_fs x -o prjquota
	mnt=/mnt/x
	as_real 3 fsquota limit -u bhard=1m 42 "$mnt"
	as_real 3 fsquota timer -u 3d "$mnt"
	as_real 3 fsquota enable -u "$mnt"
	as_real 0 fsquota disable -u "$mnt"
	umount /mnt/x
	mount "$FSQ_X_DEV" /mnt/x
	as_real 3 fsquota limit -p bhard=1m 42 "$mnt"
	as_real 3 fsquota enable -p "$mnt"
	as_real 3 fsquota disable -p "$mnt"
}

# bats test_tags=full
@test "what XFS passes over is no change" {
	make x
	printf 'fs = x\n42 4096 2048 0 0\n' >odd
	says would_change false fsquota restore -p -f odd --dry-run "$mnt"
	says changed false fsquota restore -p -f odd "$mnt"
}

# As somebody without any capability.
nobody() { setpriv --reuid 65534 --clear-groups --bounding-set -all "$@"; }

forbidden() {
	as_real 4 nobody fsquota limit -p bhard=1m 42 "$mnt"
	# Who may ask for his own limits may not set them.
	as_real 4 nobody fsquota limit -u bhard=1m 65534 "$mnt"
	as_real 4 nobody fsquota timer -p 3d "$mnt"
	as_real 4 nobody fsquota restore -p -f dump "$mnt"
	as_real 4 nobody fsquota disable -p "$mnt"
	as_real 4 nobody fsquota project -s -p "$mnt/plain" 42 "$mnt"
	as_real 4 nobody fsquota resize "$mnt/own" 9M
	refuses 4 "" nobody fsquota release --dry-run "$mnt/own"
	mount -o remount,ro "$mnt"
	as_real 1 fsquota limit -p bhard=1m 42 "$mnt"
	as_real 1 fsquota timer -p 3d "$mnt"
	as_real 1 fsquota restore -p -f dump "$mnt"
	as_real 1 fsquota disable -p "$mnt"
	mount -o remount,rw "$mnt"
}

# bats test_tags=full
@test "a dry run knows what the caller may not do" {
	chmod 755 "$BATS_TEST_TMPDIR"
	of_each forbidden
}

# bats test_tags=full
@test "who owns a file may give it a project, and the dry run knows" {
	make e
	chown -R 65534 "$mnt/plain"
	chown 0 "$mnt/plain/b"
	exits 7 nobody fsquota project -s --dry-run --json -p "$mnt/plain" 42 "$mnt"
	assert_equal "$(jq -c '.project[] | [.files, .changed_files, .would_change]' <<<"$stdout")" "[6,4,true]"
	exits 7 nobody fsquota project -s --json -p "$mnt/plain" 42 "$mnt"
	assert_equal "$(jq -c '.project[] | [.files, .changed_files, .changed]' <<<"$stdout")" "[6,4,true]"
}

@test "the grace time that runs is a change, the one that does not is none" {
	make x
	chmod 777 "$mnt/own"
	fsquota resize "$mnt/own" --soft 64K
	says would_change false fsquota timer -p -b 3d --dry-run $FIRST "$mnt"
	dd if=/dev/zero of="$mnt/own/big" bs=64k count=2 conv=fsync status=none
	says would_change true fsquota timer -p -b 3d --dry-run $FIRST "$mnt"
	run -0 fsquota quota -p --json $FIRST "$mnt"
	assert [ "$(jq '.quota[0].bytes_grace_seconds' <<<"$output")" -gt $((4 * 86400)) ]
	says changed true fsquota timer -p -b 3d $FIRST "$mnt"
	run -0 fsquota quota -p --json $FIRST "$mnt"
	assert [ "$(jq '.quota[0].bytes_grace_seconds' <<<"$output")" -le $((3 * 86400)) ]
}

@test "where the row cannot be written, that is a failure" {
	local command
	make x
	for command in "limit -p bhard=1m 42 $mnt" "project -s -p $mnt/plain 42 $mnt" "release $mnt/own"; do
		run -1 --separate-stderr bash -c "fsquota $command --dry-run >/dev/full"
		[[ $stderr == *"cannot write the output"* ]] || fail "$command: $stderr"
		run -1 --separate-stderr bash -c "fsquota $command --json >/dev/full"
		[[ $stderr == *"cannot write the output"* ]] || fail "$command: $stderr"
	done
}

# bats test_tags=full
@test "several filesystems are rows of one document" {
	make x
	make e
	run_split fsquota limit -p --json --at /mnt/x --at /mnt/e bhard=1m 42
	assert_equal "$(jq -c '[.limit[].mountpoint]' <<<"$stdout")" '["/mnt/x","/mnt/e"]'
	run_split fsquota limit -p --dry-run --at /mnt/x --at /mnt/e bhard=2m 42
	assert_output "would-change project 42, /mnt/x: hard 1M -> 2M
would-change project 42, /mnt/e: hard 1M -> 2M"
}
