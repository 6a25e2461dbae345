# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# The same invocations with the xfs_quota of xfsprogs and with ours, on filesystems prepared the
# same way, compared byte for byte: stdout, stderr, exit status, and in the end the quotas and
# project IDs that the kernel holds.
#
# A list, NAME.list, is what one test compares. One line is one invocation: a line of shell in
# which xfs_quota is the tool under test. Lines see what the lines before them did.
#
#   title: TEXT             what the list is about
#   on: x e f               the filesystems to run it on, each in a test of its own
#   with: x2 e              more filesystems it needs
#   cwd: DIR                where its lines run (default /)
#   needs: clock            sets the clock, so only in a guest with a clock of its own
#   prep: LINE              preparation, on both sides; must succeed
#   # TEXT                  comment
#   LINE                    compare
#   each: A | B | C         the next line comes once for each, which stands there for $V
#   @x LINE                 only on that filesystem; @x,e on two
#   ORACLE LINE             both sides use the tool of xfsprogs: commands that are not compared
#   D8 LINE                 deviation 8 of doc/xfs_quota.md: the results must differ
#   D8@e LINE               the same, but only on that filesystem; on others they must not
#   D8/7.2 LINE             only there: 6.1 and 7.2 are generations of xfs_quota, old and new kernels
#                           (new has file_setattr), 7.2-new is both; D8/7.2,new and D8@e/7.2 go, too
#   /7.2 LINE               nothing is compared elsewhere
#   | TEXT, ! TEXT, = N     after a deviating line: exactly this stdout, stderr, exit status (0)
#   |/7.2 TEXT              the same, only there
#
# In lines and expected texts, $M is the mount point, $DEV its device, $O the usual options
# (-x and the empty projects files), $F is -f where the filesystem needs it; /run/t is an empty
# directory to work in. prepare.sh has functions for preparations.

# differential LIST FILESYSTEM: the body of a test. LIST is a name or a file.
differential() {
	local list=$1 fs=$2
	[[ $list == */* ]] || list=$BATS_TEST_DIRNAME/$1.list
	local dir=$BATS_TEST_TMPDIR complaints=0 compared=0
	read_list || return 1
	if [ -n "$needs_clock" ] && [ "$FSQ_GUEST" != uml ]; then
		skip "sets the clock"
	fi
	run_side theirs "${FSQ_ORACLE%/*}"
	run_side ours "$FSQ_TOOLS"
	# Deviation 6, see deviations.bats.
	sed -i '/^xfs_quota: .* not entered$/d' "$dir"/ours/*.stderr
	judge_lines
	judge_kernel_state
	echo "# compared $compared invocations on ${names[$fs]}" \
		"(xfs_quota $FSQ_ORACLE_VERSION, Linux ${FSQ_KERNEL%%-*})" >&3
	[ "$complaints" = 0 ] || echo "$complaints differences in $1 on ${names[$fs]}"
	[ "$complaints" = 0 ]
}

declare -gA without=([x2]='-o noquota')
declare -gA names=([x]=XFS [e]=ext4 [f]=f2fs)

kernel=old
[ "$(printf '%s\n' 6.17 "$FSQ_KERNEL" | sort -V | head -n 1)" != 6.17 ] || kernel=new

# holds CONDITIONS: one of them, separated by commas, is true here.
holds() {
	local condition
	for condition in ${1//,/ }; do
		case $condition in
		"$FSQUOTA_XFS_QUOTA_VERSION" | "$kernel" | "$FSQUOTA_XFS_QUOTA_VERSION-$kernel") return 0 ;;
		esac
	done
	return 1
}

# Sets title, cwd, with, needs_clock and, for each line: text, kind (compare, deviate, oracle,
# prep), number (of the deviation), expected_stdout, expected_stderr, expected_status.
read_list() {
	text=() kind=() number=() expected_stdout=() expected_stderr=() expected_status=()
	with='' cwd=/ needs_clock='' title='' on=''
	local line value values=() group=() mount=/mnt/$fs device=FSQ_${fs^^}_DEV foreign=''
	device=${!device}
	[ "$fs" = x ] || foreign=-f
	while IFS= read -r line; do
		case $line in
		'' | '#'*) continue ;;
		'title: '*) title=${line#*: } && continue ;;
		'on: '*) on=${line#*: } && continue ;;
		'with: '*) with=${line#*: } && continue ;;
		'cwd: '*) cwd=${line#*: } && continue ;;
		'needs: clock') needs_clock=yes && continue ;;
		'each: '*)
			line="${line#*: } | "
			while [ -n "$line" ]; do values+=("${line%%' | '*}") && line=${line#*' | '}; done
			continue
			;;
		'|'* | '!'* | '= '*)
			for value in "${!group[@]}"; do expect "$value" "${line//\$V/"${group[value]}"}"; done
			continue
			;;
		esac
		group=()
		for value in "${values[@]:-}"; do
			group[${#text[@]}]=$value
			add_line "${line//\$V/"$value"}"
		done
		values=()
	done <"$list"
	if [ -z "$title" ] || [[ " $on " != *" $fs "* ]]; then
		echo "$list: it has no title, or is not meant for $fs"
		return 1
	fi
}

# add_line LINE: to those that are run and compared.
add_line() {
	local line=$1 this=compare number_here='' filesystem
	if [[ $line =~ ^/([0-9a-z.,-]+)\ (.*) ]]; then
		line=${BASH_REMATCH[2]}
		holds "${BASH_REMATCH[1]}" || line=''
	fi
	if [[ $line =~ ^@([a-z,]+)\ (.*) ]]; then
		line=${BASH_REMATCH[2]}
		[[ ,${BASH_REMATCH[1]}, == *,$fs,* ]] || line=''
	fi
	if [[ $line =~ ^D([0-9]+)(@([a-z]))?(/([0-9a-z.,-]+))?\ (.*) ]]; then
		number_here=${BASH_REMATCH[1]} filesystem=${BASH_REMATCH[3]}
		line=${BASH_REMATCH[6]} this=deviate
		[ -z "$filesystem" ] || [ "$filesystem" = "$fs" ] || this=compare
		[ -z "${BASH_REMATCH[5]}" ] || holds "${BASH_REMATCH[5]}" || this=compare
	elif [[ $line == 'ORACLE '* ]]; then
		this=oracle line=${line#ORACLE }
	elif [[ $line == 'prep: '* ]]; then
		this=prep line=${line#prep: }
	fi
	line=${line//\$M/"$mount"} line=${line//\$DEV/"$device"}
	line=${line//\$O /"-x ${foreign:+-f }-P/dev/null -D/dev/null "}
	line=${line//\$F /"${foreign:+-f }"}
	text+=("$line") kind+=("$this") number+=("$number_here")
}

# expect INDEX LINE: a line of the result that is expected of that one.
expect() {
	local index=$1 line=$2 value=${2:2}
	if [[ $line =~ ^[|!]/([0-9a-z.,-]+)\ (.*) ]]; then
		value=${BASH_REMATCH[2]}
		holds "${BASH_REMATCH[1]}" || return 0
	fi
	value=${value//\$M/"$mount"} value=${value//\$DEV/"$device"}
	value=${value//\$FSQ_X2_DEV/"$FSQ_X2_DEV"}
	expected_stdout[index]=${expected_stdout[index]-}
	case $line in
	'|'*) expected_stdout[index]+=$value$'\n' ;;
	'!'*) expected_stderr[index]=${expected_stderr[index]-}$value$'\n' ;;
	'='*) expected_status[index]=$value ;;
	esac
}

# run_side theirs|ours DIRECTORY: the whole list with the xfs_quota of that directory. A small
# shell runs it, because what a process costs here depends on the size of its parent.
run_side() {
	local side=$1 tools=$2 i filesystem settle=''
	# Newer kernels forget a record of ext4 or f2fs that holds nothing a moment after it was asked for, or
	# when they write the records. XFS does not, and a process for each line is expensive.
	[[ "$fs $with" != *[ef]* ]] || ! holds new || settle=sync
	mkdir "$dir/$side"
	{
		echo ". '$BATS_TEST_DIRNAME/prepare.sh'"
		# There ours does more than theirs (deviation 6), and trees have none of them.
		[ "$fs" != x ] || ! holds 6.1-new || echo special_files=no
		echo "rm -rf /run/t /etc/projects /etc/projid; mkdir /run/t"
		for filesystem in $fs $with; do
			# The second XFS is there for what has no quota.
			echo "fresh $filesystem ${without[$filesystem]-} || exit 99"
		done
		echo "cd $cwd; base=\$PATH; PATH='$tools':\$base"
		for i in "${!text[@]}"; do
			[ -n "${text[i]}" ] || continue
			[ -z "$settle" ] || echo "$settle"
			[ "${kind[i]}" != oracle ] || echo "PATH='${FSQ_ORACLE%/*}':\$base"
			printf '{ %s\n} >"$R/%d.stdout" 2>"$R/%d.stderr"; echo $? >"$R/%d.status"\n' \
				"${text[i]}" "$i" "$i" "$i"
			[ "${kind[i]}" != oracle ] || echo "PATH='$tools':\$base"
			echo "cd $cwd"
		done
		# XFS takes deleted files out of the quotas later, unless it is frozen.
		for filesystem in $fs $with; do
			echo "fsfreeze -f /mnt/$filesystem 2>/dev/null && fsfreeze -u /mnt/$filesystem"
		done
		# What the kernel holds (how many blocks the quota files take is no matter), and the
		# mounts of the lines away.
		printf '%s\n{\n' "$settle"
		for filesystem in $fs $with; do
			printf '%s %s %s /mnt/%s\n' "$FSQ_ORACLE" \
				'-x -f -P/dev/null -D/dev/null -c state -c "report -ugpbirnN"' \
				'-c dump -c "dump -g" -c "dump -p"' "$filesystem"
			printf 'lsattr -pR /mnt/%s\n' "$filesystem"
		done
		printf '} 2>/dev/null | grep -v "^  Inode: " >"$R/kernel"\n'
		echo 'while read -r _ place _; do case $place in
			/run/t/*) umount -l "$(printf "%b" "$place")" ;; esac; done </proc/mounts'
		echo ': >"$R/end"'
	} >"$dir/$side.sh"
	R=$dir/$side timeout 300 dash "$dir/$side.sh" </dev/null >"$dir/$side.shell" 2>&1 3>&- || true
}

complain() {
	complaints=$((complaints + 1))
	printf -- '--- %s\n    %s\n' "$1" "$2"
}

# show_difference NAME FILE1 FILE2: what differs, in a form that shows every byte.
show_difference() { diff -u --label "xfsprogs' $1" --label "our $1" <(cat -A "$2") <(cat -A "$3"); }

judge_lines() {
	local i part side status differing
	for side in theirs ours; do
		[ -e "$dir/$side/end" ] && [ ! -s "$dir/$side.shell" ] && continue
		complain "the lines did not all run ($side)" "$(cat "$dir/$side.shell")"
	done
	differing=" $(diff -rq "$dir/theirs" "$dir/ours" | sed -n '
		s|^Files .*/\([0-9]*\)\.[a-z]* and .*|\1|p
		s|^Only in .*: \([0-9]*\)\..*|\1|p' | tr '\n' ' ')"
	for i in "${!text[@]}"; do
		[ -n "${text[i]}" ] || continue
		case ${kind[i]} in
		prep)
			for side in theirs ours; do
				status=''
				read -r status <"$dir/$side/$i.status"
				[ "$status" != 0 ] || continue
				complain "this preparation failed ($side)" "${text[i]}"
				cat "$dir/$side/$i.stderr"
			done
			;;
		deviate)
			compared=$((compared + 1))
			if [[ $differing != *" $i "* ]]; then
				complain "deviation ${number[i]} does not deviate" "${text[i]}"
			elif [ -n "${expected_stdout[i]+set}" ]; then
				judge_deviation "$i"
			fi
			;;
		*)
			[ "${kind[i]}" = oracle ] || compared=$((compared + 1))
			[[ $differing == *" $i "* ]] || continue
			complain "${title}, ${names[$fs]}:" "${text[i]}"
			for part in stdout stderr status; do
				show_difference $part "$dir/theirs/$i.$part" "$dir/ours/$i.$part" || :
			done
			;;
		esac
	done
}

# judge_deviation INDEX: ours against what the list says.
judge_deviation() {
	mkdir -p "$dir/expected"
	printf '%s' "${expected_stdout[$1]}" >"$dir/expected/$1.stdout"
	printf '%s' "${expected_stderr[$1]-}" >"$dir/expected/$1.stderr"
	echo "${expected_status[$1]-0}" >"$dir/expected/$1.status"
	local part reported=''
	for part in stdout stderr status; do
		cmp -s "$dir/expected/$1.$part" "$dir/ours/$1.$part" && continue
		[ -n "$reported" ] || complain "deviation ${number[$1]}, not as it should be:" "${text[$1]}"
		reported=yes
		diff -u --label "expected $part" --label "our $part" \
			<(cat -A "$dir/expected/$1.$part") <(cat -A "$dir/ours/$1.$part") || :
	done
}

judge_kernel_state() {
	cmp -s "$dir/theirs/kernel" "$dir/ours/kernel" && return
	complain "what the kernel holds in the end differs" "$title, ${names[$fs]}"
	show_difference kernel "$dir/theirs/kernel" "$dir/ours/kernel" || :
}
