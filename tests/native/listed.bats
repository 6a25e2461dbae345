#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The native commands that xfs_quota has, too: the numbers and the changes are the same, and besides
# they have exit codes, errors of one line, JSON, and pages whose examples work.
#
# Each filesystem holds the trees volume (project 42, above its soft limit) and logs (43).

load ../lib/fsquota
load ../lib/pages

setup_file() {
	local fs
	for fs in x e f; do
		fresh_fs $fs
		make_trees /mnt/$fs
		printf '42:/mnt/%s/volume\n43:/mnt/%s/logs\n' $fs $fs >"$BATS_FILE_TMPDIR/projects.$fs"
	done
	fresh_fs x2 -o noquota
}

setup() {
	rm -f /etc/projects
	projects=$BATS_FILE_TMPDIR/projects
	printf 'volume:42\nlogs:43\n' >/etc/projid
}

make_trees() {
	mkdir -m 1777 "$1/volume" "$1/logs"
	oracle -x -f -c "project -s -p $1/volume 42" "$1" >/dev/null
	oracle -x -f -c "project -s -p $1/logs 43" -c "limit -p bsoft=90m bhard=100m ihard=1000 43" "$1" >/dev/null
	fallocate -l 46m "$1/volume/file"
	fallocate -l 100k "$1/logs/1"
	fallocate -l 100k "$1/logs/2"
	fallocate -l 100k "$1/logs/3"
	oracle -x -f -c "limit -p bsoft=45m bhard=50m 42" "$1"
}

# Sets at: the words that name x, e or f, with the projects of its own.
fs_of() { at=(--projects-file "$projects.$1" "/mnt/$1"); }

# in_units UNIT: rows of an ID and sizes, separated by commas, as xfs_quota has them.
in_units() {
	awk -F , -v unit="$1" '{ printf "#%s", $1; for (i = 2; i <= NF; i++) printf " %.0f", $i / unit; print "" }'
}

# theirs FS COMMAND: what the real one prints, with the projects of ours; grace times are one word.
theirs() { oracle -x -f -D "$projects.$1" -c "$2" "/mnt/$1" | sed 's/\[[^]]*]/-/g'; }

# The limits that the real one dumps, with single blanks: limits_of FS ID [u|g|p]
limits_of() {
	oracle -x -f -c "dump -${3-p} -L $2 -U $2" "/mnt/$1" | awk 'NR == 2 { $1 = $1; print }'
}

# Sets snapshot: everything these commands can change. A grace time loses a day between two looks.
take_snapshot() {
	local fs
	snapshot=$(for fs in x e f x2; do
		oracle -x -f -c 'dump -p' -c 'dump -u' -c 'state' -c 'quota -pbin -v 42' "/mnt/$fs"
		lsattr -pR "/mnt/$fs" 2>/dev/null || true
	done | sed 's/\[[67] days\]/[about a week]/g')
}

# unchanged TEST: when it has run, all that commands can change is as it was.
unchanged() {
	local before
	take_snapshot
	before=$snapshot
	"$@"
	take_snapshot
	assert_equal "$snapshot" "$before"
}

# each_refuses CODE PATH WORDS...: each of these commands, of that path.
each_refuses() {
	local code=$1 path=$2 words
	for words in "${@:3}"; do
		refuses "$code" "$path" fsquota $words "$path"
	done
}

# --- what they do -------------------------------------------------------------------------------

# bats test_tags=shared
@test "report and quota have the numbers of xfs_quota" {
	local at fs type form columns unit
	for fs in x e f; do
		fs_of $fs
		for type in u g p; do
			for form in b i r; do
				columns=ID,USED,SOFT,HARD unit=1024
				[ $form != i ] || { columns=ID,IUSED,ISOFT,IHARD && unit=1; }
				[ $form != r ] || columns=ID,RUSED,RSOFT,RHARD
				diff <(fsquota report -$type --csv -N --output $columns "${at[@]}" | in_units $unit) \
					<(theirs $fs "report -$type -$form -n -N" | awk 'NF { print $1, $2, $3, $4 }')
				diff <(fsquota quota -$type --csv -N --output $columns 0 "${at[@]}" | in_units $unit) \
					<(theirs $fs "quota -$type -$form -v -N 0" | awk '{ print "#0", $2, $3, $4 }')
			done
		done
	done
}

@test "report shows what -t, -L and -U choose, with IDs alone where -n or a range is given" {
	local at words
	fs_of x
	fsquota limit bhard=1m 90 /mnt/x
	for words in "-p -t" "-p -L 43 -U 89" "-p -L 43"; do
		diff <(fsquota report $words --csv -N --output ID "${at[@]}" | in_units 1) \
			<(theirs x "report $words -N -n" | awk '/^#/ { print $1 }')
	done
	run -0 fsquota report -L 42 -U 42 "${at[@]}"
	refute_output --partial volume
	run -0 fsquota report -L 42 -U 42 -l "${at[@]}"
	assert_output --partial volume
	fsquota limit bhard=0 90 /mnt/x
}

@test "df has the numbers of xfs_quota, but for the hard limit in place of the soft one" {
	local at fs
	# Of those above their soft limit it shows less than nothing: deviation 9.
	projects=$BATS_TEST_TMPDIR/projects
	for fs in x e f; do
		grep logs "$BATS_FILE_TMPDIR/projects.$fs" >"$projects.$fs"
		fs_of $fs
		run -0 fsquota df --csv -N --output PATH,SIZE "${at[@]}"
		assert_line "/mnt/$fs/logs,104857600"
		oracle -x -f -c 'limit -p bsoft=100m 43' /mnt/$fs
		diff <(fsquota df --csv -N --output PATH,SIZE,USED,AVAIL "${at[@]}" | in_units 1024) \
			<(theirs $fs "df -N" | awk '{ print "#" $6, $2, $3, $4 }')
		diff <(fsquota df -i --csv -N --output PATH,INODES,IUSED,IFREE "${at[@]}" | in_units 1) \
			<(theirs $fs "df -N -i" | awk '{ print "#" $6, $2, $3, $4 }')
		oracle -x -f -c 'limit -p bsoft=90m 43' /mnt/$fs
	done
}

@test "every command says alike how much is used: of the hard limit, or else of the soft one" {
	local m=/mnt/x2 limits command over
	fresh_fs x2
	mkdir $m/web
	fsquota assign $m/web --name web >/dev/null
	fallocate -l 40M $m/web/file
	# As large a hard limit as in the last one is none.
	for limits in 'bsoft=10m bhard=80m' 'bsoft=80m bhard=0' 'bsoft=0 bhard=80m' 'bsoft=80m bhard=9223372036854775807'; do
		situation=$limits
		oracle -x -c "limit -p $limits web" $m
		for command in "df $m/web" "usage $m/web" "list $m/web" "quota web --at $m" "check --over 1 $m/web" \
			"report -L 1048577 $m" "top --batch 1 $m/web"; do
			# shellcheck disable=SC2086 # words
			run_split fsquota $command --noheadings --csv --output USE%
			[[ ,${stdout//$'\n'/,}, == *,50%,* ]] || complain "$command: $stdout"
		done
		fsquota report --html="$BATS_TEST_TMPDIR/page" $m
		grep -q '>50\.0%<td>' "$BATS_TEST_TMPDIR/page" || complain report --html
		for over in 49 51; do
			for command in "list $m" "metrics $m" "check $m" "resize --dry-run --at $m +1M"; do
				# It grows hard limits.
				[[ $command != resize* || $limits = *bhard=80m ]] || continue
				# shellcheck disable=SC2086 # words
				run_split fsquota $command --over $over
				[[ $over,$stdout == 49,*/web* || ($over = 51 && $stdout != */web*) ]] ||
					complain "$command --over $over: $stdout"
			done
		done
	done
	fresh_fs x2 -o noquota
	no_complaints
}

@test "state says of each type what xfs_quota says" {
	local fs
	for fs in x e f; do
		diff <(fsquota state --csv --noheadings --output TYPE,ACCOUNTING,ENFORCED,INODE /mnt/$fs) \
			<(theirs $fs state | awk '/quota state/ { type = tolower($1) } /Accounting/ { counted = $2 == "ON" ? "yes" : "no" }
				/Enforcement/ { enforced = $2 == "ON" ? "yes" : "no" }
				/Inode:/ { print type "," counted "," enforced "," substr($2, 2) }')
	done
}

@test "dump prints what xfs_quota prints, behind a line with the type, which that one's restore passes over" {
	local fs words
	for fs in x e f; do
		fsquota limit -u bhard=1m 90 /mnt/$fs || [ $fs = f ]
		for words in -p "-p -L 43" "-p -U 42" -u; do
			diff <(fsquota dump $words /mnt/$fs) \
				<(echo "# type = $([ "$words" = -u ] && echo user || echo project)" && theirs $fs "dump $words")
		done
		fsquota dump /mnt/$fs >"$BATS_TEST_TMPDIR/dump"
		fsquota limit bsoft=0 bhard=0 43 /mnt/$fs
		oracle -x -f -c "restore -p -f $BATS_TEST_TMPDIR/dump" /mnt/$fs
		fsquota dump /mnt/$fs | diff "$BATS_TEST_TMPDIR/dump" -
		fsquota limit -u bhard=0 90 /mnt/$fs || [ $fs = f ]
	done
}

@test "project is the type where none is named" {
	fsquota limit bhard=1m 91 /mnt/x
	assert_equal "$(limits_of x 91)" "91 0 2048 0 0"
	prints project,91,1048576 fsquota quota --csv -N --output TYPE,ID,HARD 91 /mnt/x
	run -0 fsquota dump -L 91 /mnt/x
	assert_line "# type = project"
	fsquota limit bhard=2m 91 /mnt/x
	sed 1d <<<"$output" | fsquota restore /mnt/x
	assert_equal "$(limits_of x 91)" "91 0 2048 0 0"
	fsquota timer -b 3days /mnt/x
	fsquota disable /mnt/x
	run -0 fsquota state --csv --noheadings --output TYPE,ENFORCED,GRACE /mnt/x
	assert_output $'user,yes,604800\ngroup,yes,604800\nproject,no,259200'
	fsquota enable /mnt/x
	fsquota timer -b 7days /mnt/x
	fsquota limit bhard=0 91 /mnt/x
}

@test "an ID that was only asked for is in no report" {
	local fs
	for fs in x e f; do
		fsquota quota -p 4711 /mnt/$fs >/dev/null 2>&1 || true
		fsquota report -p -n --raw /mnt/$fs >"$BATS_TEST_TMPDIR/report"
		grep -q '^project 42 ' "$BATS_TEST_TMPDIR/report"
		refute grep 4711 "$BATS_TEST_TMPDIR/report"
	done
}

@test "report shows all types that are counted, and quota nobody's without a name or a type" {
	run -0 fsquota report --csv -N --output TYPE /mnt/x
	assert_equal "$(uniq <<<"$output" | xargs)" "user group project"
	fresh_fs x2 -o pquota
	run -0 fsquota report --csv -N --output TYPE /mnt/x2
	fresh_fs x2 -o noquota
	assert_output project
	refuses 2 "name a project or a directory of one, or -u or -g for your own quota; without root: fsquota usage DIR" fsquota quota /mnt/x
	prints root setpriv --groups 0 "$FSQUOTA" quota -g --csv -N --output NAME /mnt/x
	prints '{"quota":[]}' setpriv --clear-groups "$FSQUOTA" quota -g --json /mnt/x
}

@test "limit knows users, groups and projects, by number and by name" {
	fsquota limit -u ihard=11 1000 /mnt/x
	assert_equal "$(limits_of x 1000 u)" "1000 0 0 0 11"
	fsquota limit -u ihard=12 daemon /mnt/x
	assert_equal "$(limits_of x "$(id -u daemon)" u)" "$(id -u daemon) 0 0 0 12"
	fsquota limit -g ihard=13 adm /mnt/x
	assert_equal "$(limits_of x "$(getent group adm | cut -d: -f3)" g)" \
		"$(getent group adm | cut -d: -f3) 0 0 0 13"
	echo other:123 >"$BATS_TEST_TMPDIR/projid"
	fsquota limit -p --projid-file "$BATS_TEST_TMPDIR/projid" ihard=14 other /mnt/x
	assert_equal "$(limits_of x 123)" "123 0 0 0 14"
}

@test "limit -d sets the limits of ID 0, and XFS gives them to IDs without any" {
	fresh_fs x2 -o pquota
	mkdir -m 1777 /mnt/x2/new
	fsquota limit -p -d bhard=1m /mnt/x2
	assert_equal "$(limits_of x2 0)" "0 0 2048 0 0"
	oracle -x -c 'project -s -p /mnt/x2/new 124' /mnt/x2 >/dev/null
	run setpriv --reuid 1000 --regid 1000 --clear-groups fallocate -l 2m /mnt/x2/new/file
	fresh_fs x2 -o noquota
	assert_failure
}

@test "timer sets the grace times of all" {
	local fs
	for fs in x e f; do
		is_silent fsquota timer -p 3days /mnt/$fs
		run oracle -x -f -c 'state -p' /mnt/$fs
		assert_line "Blocks grace time: [3 days]"
		assert_line "Inodes grace time: [3 days]"
		fsquota timer -p -i 90m /mnt/$fs
		run oracle -x -f -c 'state -pu' /mnt/$fs
		assert_line "Blocks grace time: [3 days]"
		assert_line "Inodes grace time: [0 days 01:30:00]"
		assert_line "Blocks grace time: [7 days]"
		fsquota timer -p 1w /mnt/$fs
	done
}

@test "ID 0, where the kernel keeps the grace times of all, has no grace time" {
	local fs
	for fs in x e f; do
		fsquota timer -p 1w /mnt/$fs
		run -0 fsquota list --total --raw -No ID,GRACE,IGRACE /mnt/$fs
		assert_line "0  "
		run -0 fsquota report -p -N --csv --output ID,GRACE,IGRACE /mnt/$fs
		assert_line 0,,
		prints 0,, fsquota quota -N --csv --output ID,GRACE,IGRACE 0 /mnt/$fs
	done
}

@test "timer with an ID sets what is left to one that is above its soft limit" {
	local fs
	for fs in x e f; do
		is_silent fsquota timer -p 2hours volume /mnt/$fs
		run oracle -f -c 'quota -p -v 42' /mnt/$fs
		assert_output --regexp '\[0(2:00:0|1:59:[0-5])[0-9]\]'
		fsquota timer -p 2hours logs /mnt/$fs
		run oracle -f -c 'quota -p -v 43' /mnt/$fs
		assert_output --partial '[--------]'
		run -0 script -qec "fsquota timer -p 7days 43 /mnt/$fs" /dev/null
		assert_output --partial "fsquota timer: /mnt/$fs: project 43 is above no soft limit: no grace time runs, and nothing changes"
		is_silent fsquota timer -p 7days 42 /mnt/$fs
	done
}

@test "project takes the directories from the projects file, on the filesystem that is named" {
	mkdir -p /mnt/x/tree /mnt/e/tree
	printf '132:/mnt/x/tree\n132:/mnt/e/tree\n' >"$BATS_TEST_TMPDIR/projects"
	fsquota project -s --projects-file "$BATS_TEST_TMPDIR/projects" 132 /mnt/e
	assert_equal "$(fsquota id /mnt/x/tree /mnt/e/tree)" $'0\n132'
	fsquota project -s --projects-file "$BATS_TEST_TMPDIR/projects" 132
	assert_equal "$(fsquota id /mnt/x/tree /mnt/e/tree)" $'132\n132'
	rm -r /mnt/x/tree /mnt/e/tree
}

checks() {
	local at fs words
	for fs in x e f; do
		fs_of $fs
		for words in "-c 42" 43 "-c -p /mnt/$fs/logs 44" "-c -d 0 -p /mnt/$fs/logs 44" "-c -p /mnt/$fs 44"; do
			diff <(fsquota project $words "${at[@]}") <(theirs $fs "project $words" | sed -n '
				s/ - project identifier is not set (inode=\([0-9]*\), tree=\([0-9]*\))/: has project ID \1, not \2/p
				s/ - project inheritance flag is not set/: does not hand on its project ID/p')
		done
	done
}

@test "project -c finds what xfs_quota finds, in a line each, and changes nothing" { unchanged checks; }

# bats file_tags=shared

@test "restore takes from a dump of several filesystems the lines of the one that is named" {
	fsquota limit bhard=7m 41 /mnt/x
	fsquota limit bhard=8m 41 /mnt/e
	fsquota dump -f "$BATS_TEST_TMPDIR/all" /mnt/x /mnt/e
	fsquota limit bhard=0 41 /mnt/x
	fsquota limit bhard=0 41 /mnt/e
	run -0 fsquota restore -f "$BATS_TEST_TMPDIR/all" /mnt/e
	assert_output 'fsquota restore: /mnt/e: limits of other filesystems in the dump are left: name each of them
fsquota restore: /mnt/e: limits of IDs that no directory has: 1; fsquota assign DIR --id ID gives an ID to one, and fsquota export saves directories with their limits'
	assert_equal "$(limits_of x 41):$(limits_of e 41)" ":41 0 16384 0 0"
	fsquota restore -f "$BATS_TEST_TMPDIR/all" /mnt/x
	assert_equal "$(limits_of x 41)" "41 0 14336 0 0"
}

@test "restore goes by the type in the dump, and an option that contradicts it is refused" {
	fsquota limit -u bhard=1m 1234 /mnt/x
	fsquota dump -u -L 1234 -f "$BATS_TEST_TMPDIR/dump" /mnt/x
	fsquota limit -u bhard=0 1234 /mnt/x
	refuses 2 "this is a dump of user quota; nothing is set" fsquota restore -p -f "$BATS_TEST_TMPDIR/dump" /mnt/x
	fsquota restore -f "$BATS_TEST_TMPDIR/dump" /mnt/x
	assert_equal "$(limits_of x 1234 u):$(limits_of x 1234)" "1234 0 2048 0 0:"
	fsquota dump -p /mnt/x >>"$BATS_TEST_TMPDIR/dump"
	fsquota limit -u bhard=3m 1234 /mnt/x
	refuses 2 "begins another type" fsquota restore -f "$BATS_TEST_TMPDIR/dump" /mnt/x
	assert_equal "$(limits_of x 1234 u)" "1234 0 6144 0 0"
	# Without the line it is what is said.
	sed -i '1d; 4,$d' "$BATS_TEST_TMPDIR/dump"
	fsquota restore -g -f "$BATS_TEST_TMPDIR/dump" /mnt/x
	assert_equal "$(limits_of x 1234 g)" "1234 0 2048 0 0"
	fsquota limit -u bhard=0 1234 /mnt/x
	fsquota limit -g bhard=0 1234 /mnt/x
}

@test "-f writes the same to a new file, that only its owner may read" {
	local words
	# Without the grace time that is left, which is another a second later.
	for words in df "dump -p" "quota -p --output id,used 42" "report -p --output id,used" \
		"state -p --output type" "dump -p --json" "dump -p --csv" "report -p --output id,used --at /mnt/e"; do
		rm -f "$BATS_TEST_TMPDIR/file"
		is_silent fsquota $words -f "$BATS_TEST_TMPDIR/file" /mnt/x
		fsquota $words /mnt/x | diff - "$BATS_TEST_TMPDIR/file"
		assert_equal "$(stat -c %a "$BATS_TEST_TMPDIR/file")" 600
	done
}

# --- which filesystem ---------------------------------------------------------------------------

@test "without a path all that have quota are shown, and df also shows what has none" {
	local words
	for words in "report -p" "quota -p 42" "state -p" df; do
		run -0 fsquota $words
		assert_output --partial /mnt/x
		assert_output --partial /mnt/e
		assert_output --partial /mnt/f
		[[ $words == df ]] || refute_output --partial /mnt/x2
	done
	assert_output --partial /mnt/x2
}

# --- exit codes ---------------------------------------------------------------------------------

@test "wrong words and numbers give 2" {
	local command word
	for command in state enable; do
		refuses 2 "usage: fsquota $command " fsquota $command word /mnt/x
	done
	for command in disable dump enable limit project quota report restore state timer df; do
		refuses 2 "fsquota $command" fsquota $command -Z /mnt/x
		refuses 2 "fsquota $command" fsquota $command --bogus /mnt/x
	done
	each_refuses 2 /mnt/x "limit -p 42" "limit -p bhard=1m" "limit -p -g bhard=1m 42" "timer -p" "timer -pg 3" \
		"quota -pu 42" "quota -p" "dump -pu" "restore -gu" "project -c -p /mnt/x/volume 42 43"
	refuses 2 bogus fsquota report -p -L bogus /mnt/x
	refuses 2 bogus fsquota report -p -U bogus /mnt/x
	refuses 2 -1 fsquota dump -p -L -1 /mnt/x
	refuses 2 x fsquota project -d x -c -p /mnt/x/logs 43
	# Commands of the shell of xfs_quota.
	for word in quit q '?' path print warn quot off remove; do refuses 2 "\"$word\"" fsquota "$word"; done
}

without_sense() {
	local word fs line
	for word in bhard= bhard=1x bhard=1.5g bhard=-1 bhard=16e ihard=1k ihard=x bhard hard=1g; do
		refuses 2 /mnt/x fsquota limit -p bsoft=1m isoft=1 $word 42 /mnt/x
	done
	for word in '' x 3fortnights 1.5h 4294967296 1000000weeks; do
		refuses 2 /mnt/x fsquota timer -p "$word" --at /mnt/x
	done
	# A soft limit above the hard one: both given, or one that is set already.
	for fs in x e f; do
		each_refuses 2 /mnt/$fs "limit -p bsoft=2m bhard=1m 77"
		each_refuses 6 /mnt/$fs "limit -p bsoft=51m 42" "limit -p bhard=44m 42" "limit -p isoft=1001 43"
	done
	for line in garbage "42 1 2 3" "42 1 2 3 x" "42 -1 2 3 4" "4294967296 1 2 3 4" "4294967295 1 2 3 4" \
		"42 1 2 3 4 5" "42 99999999999999999999 2 3 4" "42 0 18446744073709551615 0 0" \
		$'42 0\v8192 0 0'; do
		printf '%s\n' "fs = $FSQ_X_DEV" "43 1 2 3 4" "$line" >"$BATS_TEST_TMPDIR/dump"
		refuses 2 "line 3" fsquota restore -p -f "$BATS_TEST_TMPDIR/dump" /mnt/x
	done
}

@test "limits, times and dumps that make no sense give 2, and nothing is set" { unchanged without_sense; }

@test "what changes something wants the filesystem named, or gives 2" {
	local words
	for words in disable enable restore "limit -p bhard=1m 42" "timer -p 3"; do
		refuses 2 "name the filesystem" fsquota $words
	done
}

not_there() {
	local fs
	for fs in e f; do
		each_refuses 3 /mnt/$fs "limit -p rtbhard=1m 42" "timer -p -r 3days"
	done
}

@test "what a filesystem does not have gives 3: a type of quota, what only XFS has, and a realtime device" {
	unchanged not_there
	fresh_fs x2 -o uquota
	each_refuses 3 /mnt/x2 "dump -p" "enable -p" "limit -p bhard=1m 42" "quota -p 42" "report -p" "timer -p 3" \
		"timer -p 3 42"
	fresh_fs x2 -o noquota
}

# The same for who sets the ID of a tree, and for a dry run: one line, and no flag is left behind.
no_project_ids() {
	local dry before
	mkdir -p /mnt/x2/tree/{a,b}/c
	touch /mnt/x2/tree/{1..9}
	ln -s 1 /mnt/x2/tree/link
	for dry in --dry-run ''; do
		run_split fsquota project -s $dry -p /mnt/x2/tree 42 /mnt/x2
		assert_equal "$status" 3
		assert_one_line "$1 $dry"
		[[ $stderr == *"cannot set project on /mnt/x2/tree: "* && $stdout != *would-change* ]] || fail "$stderr$stdout"
		refute grep -q P <(lsattr -pRd /mnt/x2/tree /mnt/x2/tree/a | cut -c1-30)
	done
	# As xfs_quota answers, which leaves the flags.
	run_split xfs_quota -x -f -D/dev/null -P/dev/null -c 'project -s -p /mnt/x2/tree 42' /mnt/x2
	refute grep -q P <(lsattr -pRd /mnt/x2/tree /mnt/x2/tree/a | cut -c1-30)
	before="$status:$stdout:$(sort <<<"$stderr")"
	run_split real -c 'project -s -p /mnt/x2/tree 42' /mnt/x2
	assert_equal "$before" "$status:$stdout:$(sort <<<"$stderr")"
}

@test "a filesystem that keeps no project IDs gives 3" {
	umount /mnt/x2
	mkfs.ext4 -q -F -O ^project,^quota "$FSQ_X2_DEV"
	mount "$FSQ_X2_DEV" /mnt/x2
	no_project_ids ext4
	umount /mnt/x2
	mkfs.f2fs -q -f "$FSQ_X2_DEV"
	mount "$FSQ_X2_DEV" /mnt/x2
	no_project_ids f2fs
	fresh_fs x2 -o noquota
}

unknown() {
	local words
	each_refuses 5 /nowhere df disable dump enable "limit -p bhard=1m 42" "project -s 42" "quota -p 42" \
		"report -p" restore state "timer -p 3"
	refuses 5 /mnt/x/nowhere fsquota project -s -p /mnt/x/nowhere 42 /mnt/x
	refuses 5 /nowhere fsquota project -s --projects-file /nowhere 42 /mnt/x
	refuses 5 /nowhere fsquota restore -p -f /nowhere /mnt/x
	for words in "limit -u bhard=1m" "limit -g bhard=1m" "limit -p bhard=1m" "quota -u" "quota -g" "quota -p" \
		"timer -p 3" "project -s -p /mnt/x/volume"; do
		each_refuses 5 /mnt/x "$words nosuch"
	done
	# What is no 32-bit number.
	each_refuses 5 /mnt/x "limit -p bhard=1m 4294967295" "quota -p 4294967296" "timer -p 3 99999999999999999999"
}

@test "a path, a name or an ID that is not there gives 5, and nothing is changed" { unchanged unknown; }

@test "an ID that XFS has no record of gives 5; ext4 and f2fs answer zeros" {
	local fs
	each_refuses 5 /mnt/x "quota -p 4294967294" "timer -p 3 4294967294"
	for fs in e f; do
		prints 4294967294,0,,0 fsquota quota -N --csv --output ID,USED,HARD,IUSED 4294967294 /mnt/$fs
	done
}

# --- JSON ---------------------------------------------------------------------------------------

@test "every key that JSON has is documented" {
	local key
	for key in $(fsquota schema | jq -r '[.. | objects | .properties? // empty | keys[]] | unique[]'); do
		[ ! -f "$srcdir/man/fsquota-$key.8" ] || continue
		grep -qE "^\.(It )?Cm .*\b$key\b|^\.Cm $key|\"$key\"" "$srcdir/man/fsquota-json.5" || fail "$key"
	done
}

@test "JSON has null for a limit that only stands for accounting" {
	fsquota limit -p bhard=288230376151711743 161 /mnt/x
	fsquota limit -p bhard=288230376151710720 162 /mnt/e
	prints null jq -c '.quota[0].hard_bytes' <(fsquota quota -p --json 161 /mnt/x)
	prints 288230376151710720 jq -c '.quota[0].hard_bytes' <(fsquota quota -p --json 162 /mnt/e)
}

@test "names and paths of any bytes make valid JSON, in errors too" {
	local tree=$'/mnt/x/q"uo\\te\t\x01\xff\xc3\xa9'
	printf 'na"me\\:42\nb\xff\x01d:43\n' >/etc/projid
	run -0 jq -c '[.report[].name]' <(fsquota report -p --json /mnt/x)
	assert_output --partial '"na\"me\\","b'$'\xef\xbf\xbd''\u0001d"'
	mkdir "$tree"
	run -0 jq -c '[.project[].path]' <(fsquota project -c --json -p "$tree" 44 --at /mnt/x)
	assert_output --partial '"/mnt/x/q\"uo\\te\t\u0001'$'\xef\xbf\xbd\xc3\xa9'
	exits 5 fsquota usage --json "$tree"
	rmdir "$tree"
	assert_one_line
	prints '"/mnt/x/q\"uo\\te\t\u0001'$'\xef\xbf\xbd\xc3\xa9"' jq -c .error.path "$BATS_TEST_TMPDIR/stderr"
}

@test "common options may stand before the command" {
	succeeds fsquota --json --projects-file /dev/null --at /mnt/x df
	assert_equal "$stdout" "$(fsquota df --json --projects-file=/dev/null /mnt/x)"
	refuses 2 'not --bogus' fsquota --projid-file=/dev/null --bogus df
	refuses 2 'not --at' fsquota --at
}

# --- pages --------------------------------------------------------------------------------------

@test "mandoc finds nothing wrong with the pages" { prints "" mandoc -T lint -W warning $(pages); }

@test "every page is installed" {
	local page
	for page in "$srcdir"/man/*.[1-9]; do
		grep -qF "man/${page##*/}" "$srcdir/Makefile.am" || fail "$page"
	done
}

# transcript PAGE [SECTION]: what a page shows in EXAMPLES, or in all sections that match. /srv is an
# XFS on /dev/vdb1, and /data an ext4 on /dev/vdc1.
transcript() {
	awk -v sections="^${2-EXAMPLES}\$" '/^\.Sh/ { on = $2 ~ sections; next } /^\.Bd/ { block = on; next }
		/^\.Ed/ { block = 0 } block && NF' "$1" |
		sed "s#/dev/vdb1#$FSQ_X_DEV#g; s#/srv\\b#/mnt/x#g; s#/dev/vdc1#$FSQ_E_DEV#g
			s#/data\\b#/mnt/e#g; s#\\\\e#\\\\#g"
}

# Its commands, run: the same lines, if the page tells the truth. Seconds pass while they do. The
# reader's filesystems are larger than ours, which are too small for some limits.
replay() {
	local command
	while read -r _ command; do
		echo "# $command"
		(eval "$command") </dev/null 2>&1
	done < <(grep '^[#$] ' "$BATS_TEST_TMPDIR/page" | grep -v '^# type = ') | normalise
}

normalise() {
	sed -E '/is more than the filesystem has/d; s/^\$ /# /; s/[ \t]+/ /g; s/ $//; /^$/d
		s/ (7d|6d23h|1h|59m[0-9]*s?)( |$)/ TIME\2/g; s/(_seconds":)[0-9]+/\1N/g
		s/ 9[0-9]{2}M [0-9]+M [0-9]+%/ SIZE AND USE OF A FILESYSTEM/'
}

example_system() {
	fresh_fs x -o pquota
	mkdir -m 1777 /mnt/x/volume /mnt/x/logs
	printf '42:/mnt/x/volume\n43:/mnt/x/logs\n' >/etc/projects
	printf 'volume:42\nlogs:43\n' >/etc/projid
	oracle -x -c 'project -s volume' -c 'project -s logs' -c 'limit -p bhard=100m ihard=1000 logs' \
		/mnt/x >/dev/null
	fallocate -l 460m /mnt/x/volume/file
	fallocate -l 100k /mnt/x/logs/1
	fallocate -l 100k /mnt/x/logs/2
	fallocate -l 100k /mnt/x/logs/3
	oracle -x -c 'limit -p bsoft=450m bhard=500m volume' /mnt/x
	mkdir -p /etc/systemd/system/timers.target.wants
	ln -sf /dev/null /etc/systemd/system/timers.target.wants/fsquota-until.timer
	rm -rf /etc/fsquota.conf /etc/fsquota.d /var/lib/fsquota/until
	sync -f /mnt/x
}

# What only one page needs.
example_system_of() {
	case $1 in
	*-assign*) mkdir -p /mnt/x/home/ann ;;
	*-apply*)
		mkdir -p /mnt/x/users/ann /etc/fsquota.d
		fsquota assign /mnt/x/users/ann --hard 500M >/dev/null
		# Its first command shows the file.
		sed -n '2,/^# /{/^# /!p}' "$BATS_TEST_TMPDIR/page" >/etc/fsquota.d/web.conf
		;;
	*-prune*)
		mkdir /mnt/x/web
		fsquota assign /mnt/x/web --hard 1M >/dev/null
		;;
	*-release*)
		mkdir /mnt/x/old /mnt/x/web
		fsquota assign /mnt/x/old >/dev/null
		fsquota assign /mnt/x/web --name web >/dev/null
		;;
	esac
}

# bats test_tags=slow
@test "the examples of the pages show what happens" {
	local page changed=1
	cd "$BATS_TEST_TMPDIR"
	for page in "$srcdir"/man/fsquota-output.7 $(pages 58); do
		case $page in
		*-apply* | *-prune* | *-release*) changed=1 ;;
		*-doctor* | *-setup*) continue ;; # in tests/doctor and tests/setup, which make their faults
		*-watch*) continue ;;	   # in tests/watch: it does not end
		*/fsquota.d.5) continue ;; # shows lines, not commands
		esac
		[ $changed = 0 ] || example_system
		changed=0
		case $page in
		*-apply* | *-assign* | *-dump* | *-prune* | *-limit* | *-project* | *-re[ls]* | *-state* | */fsquota.8) changed=1 ;;
		esac
		transcript "$page" >"$BATS_TEST_TMPDIR/page"
		example_system_of "$page"
		diff <(normalise <"$BATS_TEST_TMPDIR/page") <(replay) || fail "$page"
	done
	rm -rf /etc/fsquota.conf /etc/fsquota.d
	fresh_fs x
	make_trees /mnt/x
}

# bats test_tags=slow
@test "the commands of the tutorial show what happens, from empty disks on" {
	local page=$srcdir/man/fsquota-tutorial.7
	cd "$BATS_TEST_TMPDIR"
	fresh_fs --bare x
	fresh_fs --bare e
	rm -rf /etc/fsquota.conf /etc/fsquota.d /etc/projid
	cp /etc/fstab fstab
	echo '/dev/vda1 / ext4 defaults 0 1' >/etc/fstab
	transcript "$page" '.*' >page
	assert [ "$(grep -c '^# ' page)" -ge 50 ]
	diff <(normalise <page) <(replay) || fail "$page"
	cp fstab /etc/fstab
	rm -rf /etc/fsquota.d
	fresh_fs x
	make_trees /mnt/x
	fresh_fs e
	make_trees /mnt/e
}
