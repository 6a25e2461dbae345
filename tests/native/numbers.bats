#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Numbers and statuses that are true: no limit becomes "no limit" by accident, no row is made of what
# was not read, and a limit that stops nobody is said to.

load ../lib/fsquota

LOST=(18014398509481983k 8e 7e 1e 256p 288230376151711744 9223372036854775806 9223372036854775808)
NONE=(288230376151711743 9223372036854775807) # what stands for none, on ext4 and on XFS

setup_file() {
	fresh_each x e f
	chmod 755 /mnt/{x,e,f}
}

setup() {
	rm -f /etc/projects /etc/projid /etc/fsquota.conf
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
	local fs directory
	rm -f /etc/fsquota.conf
	for fs in x e f; do
		for directory in /mnt/$fs/volume*; do
			[ ! -d "$directory" ] || fsquota release "$directory" >/dev/null 2>&1 || true
			chmod -R u+rwx "$directory" 2>/dev/null || true
			rm -rf "$directory"
		done
	done
}

# hard_limit FS ID: as the kernel has it, in blocks of 512 bytes
hard_limit() { real -c "dump -p -L $2 -U $2" /mnt/"$1" | awk 'NR == 2 { print $3 }'; }

volume() {
	mkdir -m 1777 "$1"
	fsquota assign "$1" "${@:2}"
}

unprivileged() {
	install -D "$FSQUOTA" "$TMPDIR/bin/fsquota"
	run_split setpriv --reuid 1000 --regid 1000 --clear-groups "$TMPDIR/bin/fsquota" "$@"
}

@test "limit and restore take nothing that would count as no limit" {
	local fs size
	for fs in x e f; do
		fsquota limit -p bhard=1m 42 /mnt/$fs
		for size in "${LOST[@]}"; do
			refuses 2 "$size" fsquota limit -p bhard="$size" 42 /mnt/$fs
			refuses 2 "$size" fsquota limit -p bsoft="$size" bhard=0 42 /mnt/$fs
		done
		printf 'fs = %s\n42 0 36028797018963967 0 0\n' "$(findmnt -no SOURCE /mnt/$fs)" >dump
		refuses 2 "line 2" fsquota restore -p -f dump /mnt/$fs
		refuses 1 "cannot set limits: Numerical result out of range" xfs_quota -x -f -c "restore -p -f dump" /mnt/$fs
		assert_equal "$(hard_limit $fs 42)" 2048
	done
}

# Project 43 and user 1000 have limits on $fs.
limits_of_43() { real -c 'dump -p -L 43 -U 43' -c 'dump -u -L 1000 -U 1000' -c 'state -p' /mnt/$fs; }

# bats test_tags=shared
@test "a number with a sign replaces no limit and no time" {
	local fs before words
	printf '/mnt/x/volume hard=%s\n' +1G >plus
	for fs in x e f; do
		volume /mnt/$fs/volume --id 43 --no-register --hard 500M --hard-inodes 1000
		fsquota limit -u bhard=1g bsoft=1g ihard=1000 isoft=1000 1000 /mnt/$fs
		before=$(limits_of_43)
		refuses 2 'fsquota resize DIR +200M' fsquota limit bhard=+200M 43 /mnt/$fs
		for words in "limit bhard=+200M -u 1000" "limit bsoft=+1m 43" "limit -u bsoft=+1m 1000" "limit ihard=+5 43" \
			"limit -u isoft=+5 1000" "limit bhard=+20% 43" "limit bhard=20% 43" "limit bhard=-1g 43" "limit ihard=-5 43" \
			"limit -d bhard=+1g" "timer +1d" "timer -i +1d" "timer +60 43"; do
			refuses 2 : fsquota $words /mnt/$fs
		done
		for words in "assign --hard +1G" "assign --soft +1G" "assign --hard-inodes +5" "resize --soft +1G" \
			"resize --hard-inodes +5" "resize --allow-shrink -- -1G"; do
			refuses 2 : fsquota ${words% -- *} /mnt/$fs/volume ${words#"${words% -- *}"}
		done
		printf '43 0 +4096 0 0\n' >dump
		refuses 2 'line 1' fsquota restore -f dump /mnt/$fs
		assert_equal "$(limits_of_43)" "$before"
	done
	refuses 2 '"+1G" adds to a limit, which only fsquota resize DIR +SIZE does' fsquota apply plus
	refuses 2 'not "+4h"' fsquota check --full-within +4h /mnt/x
	echo 'budget = /mnt/x +1T' >/etc/fsquota.conf
	refuses 2 'budget' fsquota assign --hard 1G /mnt/x/volume
	# xfs_quota takes a sign for none.
	assert_equal "$(xfs_quota -x -f -c 'limit -p bhard=+200m 43' -c 'dump -p -L 43 -U 43' /mnt/x | awk 'NR == 2 { print $3 }')" 409600
	rm /etc/fsquota.conf
	for fs in x e f; do fsquota limit -u bhard=0 bsoft=0 ihard=0 isoft=0 1000 /mnt/$fs; done
}

# bats test_tags=slow,full
@test "the two values that stand for no limit are taken in both modes, and from a dump again" {
	local fs none i before
	for fs in x e f; do
		i=50
		for none in "${NONE[@]}"; do
			fsquota limit -p bhard=$none $((i += 1)) /mnt/$fs
			xfs_quota -x -f -c "limit -p bhard=$none $((i += 1))" /mnt/$fs
		done
		before=$(real -c 'dump -p -L 51 -U 54' /mnt/$fs)
		assert_equal "$(grep -c '^5' <<<"$before")" 4
		fsquota dump -p -L 51 -U 54 /mnt/$fs >dump
		fsquota limit -p bhard=1m 51 /mnt/$fs
		fsquota limit -p bhard=1m 54 /mnt/$fs
		run_split fsquota restore -p -f dump /mnt/$fs
		assert_equal "$fs $status ${stderr%%;*}" "$fs 0 fsquota restore: /mnt/$fs: limits of IDs that no directory has: 4"
		assert_equal "$(real -c 'dump -p -L 51 -U 54' /mnt/$fs)" "$before"
		fsquota limit -p bhard=1m 52 /mnt/$fs
		fsquota limit -p bhard=1m 53 /mnt/$fs
		run_split xfs_quota -x -f -c 'restore -p -f dump' /mnt/$fs
		assert_equal "$fs $status $stderr" "$fs 0 "
		assert_equal "$(real -c 'dump -p -L 51 -U 54' /mnt/$fs)" "$before"
		assert_equal "$(fsquota list --raw --bytes -No ID,HARD /mnt/$fs | grep '^5[1-4]')" \
			$'51 \n52 \n53 \n54 '
	done
}

# bats test_tags=slow,full
@test "when the kernel fails in the middle of a scan, list has the status and no row of zeros" {
	local fs when id rows failed
	for fs in x e f; do
		for id in 61 62 63 64; do fsquota limit -p bhard=1m $id /mnt/$fs; done
		printf '61:/mnt/%s/a\n64:/mnt/%s/d\n99:/mnt/%s/z\n' $fs $fs $fs >/etc/projects
		failed=0
		for when in 1 2 3 4 5 6; do
			run_split injecting quotactl_fd error=EIO:when=$when "$FSQUOTA" list --raw --bytes -No ID,HARD /mnt/$fs
			[ "$status" != 0 ] || continue
			failed=$((failed + 1))
			assert_equal "$fs $when: $status" "$fs $when: 1"
			assert_one_line
			rows=$(grep -v ' 1048576$' <<<"$stdout" | grep '^6' || true)
			assert_equal "$fs $when: $rows" "$fs $when: "
			[[ $stdout != *99* ]] || fail "$fs $when: $stdout"
		done
		assert [ $failed -ge 4 ]
		for id in 61 62 63 64; do fsquota limit -p bhard=0 $id /mnt/$fs; done
	done
}

@test "an unreadable directory gives 4, and the other operands are answered" {
	mkdir -m 777 /mnt/x/volume1 /mnt/x/volume2
	mkdir -m 700 /mnt/x/volume1/closed
	unprivileged usage --fallback=walk --raw -No PATH,SOURCE /mnt/x/volume1 /mnt/x/volume2
	assert_equal "$status" 4
	assert_equal "$stdout" "/mnt/x/volume2 walk"
	assert_one_line
	[[ $stderr == *"/mnt/x/volume1/closed: "*"Permission denied"* ]] || fail "$stderr"
}

# stops_nobody DIRECTORY WORD [CAUSE]: assign --hard says so, if there is a WORD, and --require-enforced refuses.
stops_nobody() {
	local directory=$1 word=$2 cause=${3-$2} before
	before=$(real -c 'dump -p' "${directory%/*}"; lsattr -pd "$directory")
	refuses 3 "$cause" fsquota assign --require-enforced --hard 1M "$directory"
	refuses 3 "$cause" fsquota assign --require-enforced --dry-run --hard 1M "$directory"
	assert_equal "$(real -c 'dump -p' "${directory%/*}"; lsattr -pd "$directory")" "$before"
	run ! grep -s "$directory" /etc/projects
	exits 0 fsquota assign --json --hard 1M "$directory"
	if [ -n "$word" ]; then
		assert_one_line
		assert_equal "$(jq -r .warning.path <<<"$stderr")" "$directory"
		[[ $(jq -r .warning.message <<<"$stderr") == *"$word"* ]] || fail "$stderr"
	else
		assert_equal "$stderr" ""
	fi
	assert_equal "$(jq -c '.assign[] | [.enforced, .hard_bytes]' "$BATS_TEST_TMPDIR/stdout")" '[false,1048576]'
	succeeds fsquota assign --unlimited "$directory"
}

@test "limits on a filesystem that only counts stop nobody, which is said" {
	fresh_fs x -o pqnoenforce
	mkdir -m 1777 /mnt/x/volume
	stops_nobody /mnt/x/volume "not enforced" "limits stop nobody: "
	for words in '0 assign --hard 10% /mnt/x/volume' '10 check /mnt/x' "0 apply $BATS_FILE_TMPDIR/wanted" \
		'0 resize /mnt/x/volume 3M' '0 usage /mnt/x/volume' '0 list /mnt/x'; do
		echo '/mnt/x/volume hard=2M' >$BATS_FILE_TMPDIR/wanted
		exits "${words%% *}" fsquota ${words#* }
		assert_one_line "$words"
		[[ $stderr == *"/mnt/x"*"not enforced on this filesystem: they stop nobody"* ]] || fail "$words: $stderr"
	done
	umount /mnt/x
	fresh_fs x
	umount /mnt/e
	mount "$FSQ_E_DEV" /mnt/e
	mkdir -m 1777 /mnt/e/volume
	stops_nobody /mnt/e/volume "not enforced" "limits stop nobody: "
	fsquota release /mnt/e/volume
	rmdir /mnt/e/volume
	fresh_fs e
	chmod 755 /mnt/x /mnt/e
}

@test "on ext4 and f2fs limits do not stop root: JSON says so, and --require-enforced refuses" {
	local fs
	for fs in e f; do
		mkdir -m 755 /mnt/$fs/volume
		stops_nobody /mnt/$fs/volume "" "root"
		# It is true:
		fsquota assign --hard 1M /mnt/$fs/volume 2>/dev/null
		run -0 fallocate -l 2m /mnt/$fs/volume/file
	done
	mkdir -m 755 /mnt/x/volume
	succeeds fsquota assign --json --require-enforced --hard 1M /mnt/x/volume
	assert_equal "$(jq .assign[].enforced "$BATS_TEST_TMPDIR/stdout")" true
	run ! fallocate -l 2m /mnt/x/volume/file
}

# warns WORDS COMMAND...: it succeeds with one line on stderr, which has all WORDS, separated by "|", or none without.
warns() {
	local words
	IFS='|' read -ra words <<<"$1"
	exits 0 "${@:2}"
	[ "${#words[@]}" -gt 0 ] || assert_equal "${*:2}: $stderr" "${*:2}: "
	[ "${#words[@]}" = 0 ] || assert_one_line "${*:2}"
	for word in "${words[@]}"; do
		[[ $stderr == *"$word"* ]] || fail "${*:2}: no '$word' in: $stderr"
	done
}

lowered() {
	local v=/mnt/$1/volume below='below the 8M in use: writing fails from now on'
	mkdir -m 1777 "$v"
	fallocate -l 8m "$v/file"
	touch "$v"/{1..9}
	chown -R 1000 "$v"
	# A directory that has more than it may, and again the same.
	warns "volume: the hard limit of space, 2M, is $below" fsquota assign "$v" --hard 2M --name wide
	warns "" fsquota assign "$v" --hard 2M
	warns "" fsquota assign "$v" --hard 20M --hard-inodes 100
	warns "hard limit of space is lowered from 20M to 19M" fsquota assign "$v" --hard 19M --dry-run
	warns "hard limit of space is lowered from 20M to 19M" fsquota assign "$v" --hard 19M
	warns "hard limit of space is lowered from 19M to 2M, $below" fsquota assign "$v" --hard 2M --dry-run
	warns "hard limit of space is lowered from 19M to 2M, $below" fsquota assign "$v" --hard 2M
	warns "limit of inodes is lowered from 100 to 5, below the 11 in use: no file can be made" fsquota assign "$v" --hard-inodes 5
	warns "" fsquota assign "$v" --unlimited
	warns "the soft limit of space, 1M, is below the 8M in use: the grace time runs" fsquota assign "$v" --soft 1M --hard 50M
	# A higher hard limit does not help when the grace time is over, but lets it begin anew on ext4.
	local over=''
	[ $1 != x ] || over='is below the 8M in use: the grace time is over, and nothing can be written'
	fsquota timer -p 1 wide /mnt/$1
	until fsquota quota -p --json wide /mnt/$1 | jq -e '.quota[0].bytes_grace_seconds == 0'; do nap 0.2; done
	warns "$over" fsquota limit bhard=60m wide /mnt/$1
	warns "is below what is in use: ${over:+the grace time is over, and nothing can be written}" fsquota resize "$v" 70M --soft 1M
	fsquota timer -p 7d wide /mnt/$1
	fsquota limit bhard=50m wide /mnt/$1
	# Without a letter both would be the same.
	warns "lowered from 52428800 bytes to 52420608 bytes" fsquota assign "$v" --hard 52420608
	# As JSON, and by each command.
	warns "\"path\":\"$v\"|lowered from 50M to 40M" fsquota assign "$v" --hard 40M --json
	jq -e .warning.message <<<"$stderr"
	echo "$v hard=30M" >wanted
	warns "volume: the hard limit of space is lowered from 40M to 30M" fsquota apply --dry-run wanted
	warns "volume: the hard limit of space is lowered from 40M to 30M" fsquota apply wanted
	warns "" fsquota apply wanted
	echo "$v hard=3M soft=none" >wanted
	warns "lowered from 30M to 3M, $below" fsquota apply --json wanted
	jq -e .warning.message <<<"$stderr"
	warns "" fsquota limit bhard=60m wide /mnt/$1
	fsquota dump -L "$(fsquota id "$v")" -U "$(fsquota id "$v")" /mnt/$1 >dump
	warns "" fsquota limit bhard=70m wide /mnt/$1
	warns "project $(fsquota id "$v"): the hard limit of space is lowered from 70M to 60M" fsquota restore -f dump /mnt/$1
	warns "lowered from 60M to 2M, $below" fsquota limit bhard=2m wide --dry-run /mnt/$1
	warns "lowered from 60M to 2M, $below" fsquota limit bhard=2m wide /mnt/$1
	warns "" fsquota limit bhard=2m wide /mnt/$1
	warns "" fsquota limit bhard=0 wide /mnt/$1
	warns "user 1000: the hard limit of space, 2M, is $below" fsquota limit -u bhard=2m 1000 /mnt/$1
	warns "" fsquota limit -u bhard=0 1000 /mnt/$1
	# A directory that joins a project with more than it may have.
	mkdir /mnt/$1/volume2
	warns "volume2: the hard limit of space, 1M, is $below" fsquota assign --name wide --hard 1M /mnt/$1/volume2
	# Where limits stop nobody there is no warning.
	fsquota disable /mnt/$1 2>/dev/null || return 0
	warns "" fsquota limit bhard=512k wide /mnt/$1
	fsquota enable /mnt/$1
}

@test "a limit that is lower than before, or than what is in use, is told by each command that sets it" {
	lowered x
	lowered e
	lowered f
}

@test "a size without a letter that is less than a block is refused, and asks for the letter" {
	local words fs before
	for fs in x e; do
		volume /mnt/$fs/volume --hard 5M
		before=$(real -c 'dump -p' /mnt/$fs)
		for words in "--hard 10" "--soft 4095" "--hard 1"; do
			refuses 2 "${words##* }G, ${words##* }M or ${words##* }K" fsquota assign $words /mnt/$fs/volume
			refuses 2 "${words##* }G, ${words##* }M or ${words##* }K" fsquota resize $words /mnt/$fs/volume
		done
		refuses 2 ' --hard 10: 10 bytes is less than a block; write 10G, 10M or 10K' fsquota assign --hard 10 /mnt/$fs/volume
		refuses 2 'write +10G, +10M or +10K' fsquota resize /mnt/$fs/volume +10
		refuses 2 'write 10G, 10M or 10K' fsquota resize /mnt/$fs/volume 10
		refuses 2 'bhard=10: 10 bytes is less' fsquota limit bhard=10 42 /mnt/$fs
		refuses 2 'less than a block' fsquota limit -u bsoft=100 1000 /mnt/$fs
		refuses 2 'less than a block' fsquota check --limit /mnt/$fs/volume=10
		echo "/mnt/$fs/volume hard=10" >wanted
		refuses 2 'line 1: hard=10: 10 bytes is less' fsquota apply wanted
		assert_equal "$(real -c 'dump -p' /mnt/$fs)" "$before"
		succeeds fsquota resize /mnt/$fs/volume 5M --hard-inodes 10
	done
	# xfs_quota takes it.
	succeeds xfs_quota -x -f -c 'limit -p bhard=512 42' /mnt/x
}

# no_grace FS: of project 44, which is above hard limits and has no soft ones.
no_grace() {
	local v=/mnt/$1/volume words
	mkdir -m 1777 "$v"
	fallocate -l 8m "$v/file"
	touch "$v"/{1..9}
	fsquota assign "$v" --id $2 --soft 2M --soft-inodes 3 >/dev/null 2>&1
	assert_equal "$(fsquota usage --raw -N -o GRACE,IGRACE "$v" | sed 's/7d/6d23h/g')" '6d23h 6d23h'
	# Limits alone: XFS starts a grace time, which goes on.
	real -c "limit -p bsoft=0 isoft=0 bhard=1m ihard=3 $2" /mnt/$1
	touch "$v/file"
	! setpriv --reuid 1000 --clear-groups dd if=/dev/zero of="$v/more" bs=1k count=1 status=none || true
	for words in "usage $v" "list /mnt/$1" "list $v" "check $v" "quota -bi $2 --at /mnt/$1" "report -bi /mnt/$1"; do
		run_split fsquota $words --json
		[ "$(jq -c "[.[][] | select(.id == $2) | .bytes_grace_seconds, .inodes_grace_seconds] | unique" <<<"$stdout")" = '[null]' ] ||
			complain "$words: $stdout"
	done
	fsquota metrics /mnt/$1 | grep -E "^fsquota_project_grace_seconds.*\"$2\"" && complain "metrics on $1" || true
	fsquota release "$v" >/dev/null
}

@test "where there is no soft limit there is no grace time, whatever the kernel says" {
	no_grace x 44
	no_grace e 45
	no_grace f 46
	no_complaints
}

# No limit, as kubelet and others write it: the largest number in all four. Each command sets one that is.
largest() {
	local fs=$1 v=/mnt/$1/volume words most
	[ "$fs" = x ] && most=${NONE[1]} || most=${NONE[0]}
	volume $v --id $2 --unlimited
	while IFS=: read -r words limits; do
		real -c "limit -p bsoft=$most bhard=$most isoft=9223372036854775807 ihard=9223372036854775807 $2" /mnt/$fs
		succeeds fsquota $words
		assert_equal "$words: $(fsquota usage --json $v | jq -c '[.usage[] | .soft_bytes, .hard_bytes, .soft_inodes, .hard_inodes]')" \
			"$words: [$limits]"
	done <<-END
		assign --hard 2M $v:null,2097152,null,null
		assign --soft 2M $v:2097152,null,null,null
		assign --hard-inodes 20 $v:null,null,null,20
		resize $v 2M:null,2097152,null,null
		resize $v --soft 2M:2097152,null,null,null
		resize $v --hard-inodes 20:null,null,null,20
		limit bhard=2M $2 /mnt/$fs:null,2097152,null,null
		limit ihard=20 $2 /mnt/$fs:null,null,null,20
		assign --soft 50% --hard 2M $v:1048576,2097152,null,null
	END
	echo "$v hard=2M keep" >wanted
	real -c "limit -p bsoft=$most bhard=$most $2" /mnt/$fs
	refuses 6 'has no limit that could grow' fsquota resize $v +1M
	succeeds fsquota apply --diff wanted
	assert_equal "$stdout" "changed   $v, hard none -> 2M"
}

@test "the largest number is no limit to any command" {
	largest x 47
	largest e 48
	largest f 49
}
