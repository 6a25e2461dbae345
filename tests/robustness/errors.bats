#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Every native command where it must fail: who is not root, quota off, read-only, a dead filesystem, one of
# another kind. It has the codes of fsquota(8), and one line for each failure. Nothing is changed.
# In xfs_quota mode it says what the real one says: xfs_quota/refused.list, not-root.list and others.

load ../lib/fsquota

# O is a directory on the filesystem, D a dump of it. Codes for whom and where: an ordinary user; root of a user
# namespace; a mount with noquota; with pqnoenforce only; read-only.
commands="
	df                             0    0    0    0    0
	dump -p                        4    4    3    0    0
	enable -p                      4    4    3    0    1
	disable -p                     4    4    3    0    1
	limit -p bsoft=1m bhard=2m 42  4    4    3    0    1
	project -s -p O 43             4    4    0    0    1
	project -c -p O 43             0    0    0    0    0
	quota -p -v 42                 4    4    3    0    0
	report -p                      4    4    3    0    0
	restore -p -f D                4    4    3    0    1
	state -p                       0    0    3    0    0
	timer -p 3d                    4    4    3    0    1
	timer -p 3d 42                 4    4    3    0    1
	id O                           0    0    0    0    0
	lsattr -pd O                   0    0    0    0    0"

code_names=(ok failed usage not-supported not-permitted not-found)

setup_file() {
	fresh_fs x
	populate /mnt/x
}

setup() {
	rm -f /etc/projects /etc/projid
	where=/mnt/x prefix=() column='' code='' complaints='' object_lines=()
	dump_of "$FSQ_X_DEV"
}

teardown() {
	umount -l "$BATS_TEST_TMPDIR"/* /mnt/odd 2>/dev/null || true
	mount -o remount,rw /mnt/x
	rm -f /dev/without-node
	if [ -e "$BATS_TEST_TMPDIR/dm" ]; then dmsetup remove --noudevsync fsquota-errors; fi
}

populate() {
	mkdir -m 755 "$1/dir" "$1/other"
	oracle -x -c "project -s -p $1/dir 42" -c 'limit -p bsoft=5m bhard=6m 42' "$1" >/dev/null 2>&1 || true
}

dump_of() {
	printf 'fs = %s\n42 0 4096 0 0\n' "$1" >"$BATS_TEST_TMPDIR/dump"
	chmod 644 "$BATS_TEST_TMPDIR/dump"
}

# each_row FUNCTION: calls FUNCTION WORD... with native set to the code that is expected.
each_row() {
	local i words rows=0 fields
	while read -ra fields; do
		[ ${#fields[@]} -gt 0 ] || continue
		words=("${fields[@]:0:${#fields[@]}-5}")
		native=${code:-${fields[-5 + column]}}
		for i in "${!words[@]}"; do
			case ${words[i]} in
			O) words[i]=${other-$where/other} ;;
			D) words[i]=$BATS_TEST_TMPDIR/dump ;;
			esac
		done
		"$1" "${words[@]}"
		rows=$((rows + 1))
	done <<<"$commands"
	[ $rows -ge 15 ]
}

# What the commands could change.
snapshot() {
	oracle -x -c 'dump -p' -c state "$where"
	lsattr -pR "$where" 2>/dev/null || true
}

# --- situations ---------------------------------------------------------------------------------

an_ordinary_user() { column=0 prefix=(setpriv --reuid 1000 --regid 1000 --clear-groups); }

a_user_namespace() { column=1 prefix=(unshare -U -r); }

# mounted_with OPTION: and what would succeed there has been done, so that it changes nothing.
mounted_with() {
	where=/mnt/x2
	fresh_fs x2 -o "$1"
	populate $where
	dump_of "$FSQ_X2_DEV"
	each_row with_oracle
}

with_oracle() { oracle -x -c "$*" "$where" >/dev/null 2>&1 || true; }

quota_off() {
	column=2
	mounted_with noquota
}

# enable and disable undo each other.
not_enforced() {
	column=3
	mounted_with pqnoenforce
}

read_only() {
	column=4
	mount -o remount,ro "$where"
}

read_only_without_recovery() {
	where=/mnt/x2 column=4
	fresh_fs x2
	populate $where
	dump_of "$FSQ_X2_DEV"
	umount $where
	mount -o ro,norecovery,uquota,gquota,pquota "$FSQ_X2_DEV" $where
}

shut_down() {
	where=/mnt/x2 code=1
	fresh_fs x2
	populate $where
	dump_of "$FSQ_X2_DEV"
	sync -f $where
	xfs_io -x -c shutdown $where
}

without_node() {
	where=/mnt/odd code=5
	fresh_fs x2
	populate /mnt/x2
	umount /mnt/x2
	mknod /dev/without-node b $((0x$(stat -c %t "$FSQ_X2_DEV"))) $((0x$(stat -c %T "$FSQ_X2_DEV")))
	mount -m -o uquota,gquota,pquota /dev/without-node $where
	rm /dev/without-node
}

a_dead_device() {
	local sectors
	where=/mnt/odd column=0
	fresh_fs x2
	umount /mnt/x2
	sectors=$(blockdev --getsz "$FSQ_X2_DEV")
	dmsetup create fsquota-errors --noudevsync --noudevrules --table "0 $sectors linear $FSQ_X2_DEV 0"
	touch "$BATS_TEST_TMPDIR/dm"
	mount -m -o uquota,gquota,pquota "/dev/dm-$(dmsetup info -c --noheadings -o minor fsquota-errors)" $where
	populate $where
	sync -f $where
	echo 3 >/proc/sys/vm/drop_caches
	dmsetup suspend --nolockfs --noudevsync fsquota-errors
	dmsetup reload fsquota-errors --table "0 $sectors error"
	dmsetup resume --noudevsync fsquota-errors
}

a_tmpfs() {
	where=$BATS_TEST_TMPDIR/tmpfs code=3
	mount -m -t tmpfs none "$where"
	mkdir "$where/other"
}

a_proc() { where=/proc other=/proc/tty/ldisc code=3; }

an_overlay() {
	local layers=$BATS_TEST_TMPDIR/layers
	where=$BATS_TEST_TMPDIR/overlay code=3
	mount -m -t tmpfs none "$layers"
	mkdir "$layers"/{lower,lower/other,upper,work}
	mount -m -t overlay -o "lowerdir=$layers/lower,upperdir=$layers/upper,workdir=$layers/work" none "$where"
}

# --- what is asserted of each -------------------------------------------------------------------

# native_call COMMAND...: in native mode; sets errors to the lines on stderr
native_call() {
	local words=("$@")
	case $1 in
	id | lsattr) ;;
	*) words+=("$where") ;;
	esac
	run_split "${prefix[@]}" timeout -s KILL 100 "$FSQ_TOOLS/fsquota" "${words[@]}"
	mapfile -t errors <"$BATS_TEST_TMPDIR/stderr"
}

# With --json it is an object instead, which is looked at later: a process is expensive.
with_one_line() {
	local line
	native_call "$@"
	[ "$status" = "$native" ] || complain "$*: status $status instead of $native: $stderr"
	if [ "$native" = 0 ]; then
		[[ -z $stderr || (${#errors[@]} = 1 && $stderr == *' already '*) ]] || complain "$*: $stderr"
		return 0
	fi
	line=${errors[0]-}
	[ ${#errors[@]} = 1 ] || complain "$*: ${#errors[@]} lines: $stderr"
	[[ $line == "fsquota $1: "*"$where"* ]] || complain "$*: does not say who and where: $line"
	[[ $line != *"$where: $where: "* ]] || complain "$*: says it twice: $line"
	[[ $line =~ ${advice_for[$1]-$advice} ]] || complain "$*: does not say what to do: $line"
	case $1 in
	id | lsattr) return 0 ;;
	esac
	native_call "$@" --json
	[ "$status" = "$native" ] || complain "$* --json: status $status instead of $native"
	if [ ${#errors[@]} = 1 ]; then
		object_lines+=("${errors[0]}")
		expected+="${code_names[native]} true true"$'\n'
	else
		complain "$* --json: $stderr"
	fi
}

# one_line_each SITUATION ADVICE [COMMAND=ADVICE]...: what to do about it, a regular expression
one_line_each() {
	local advice=$2 expected='' before pair
	local -A advice_for
	$1
	for pair in "${@:3}"; do advice_for[${pair%%=*}]=${pair#*=}; done
	before=$(snapshot)
	each_row with_one_line
	[ "$(snapshot)" = "$before" ] || complain "something was changed: $(diff <(echo "$before") <(snapshot))"
	if [ -n "$expected" ]; then
		run jq -r --arg where "$where" '.error | "\(.code) \([.message | type == "string"] | all) \(
			.path == $where or (.path | startswith($where + "/")))"' \
			<(printf '%s\n' "${object_lines[@]}")
		[ "$output" = "${expected%$'\n'}" ] || complain "objects: $(diff <(echo "${expected%$'\n'}") <(echo "$output"))"
	fi
	no_complaints
}

# --- the commands -------------------------------------------------------------------------------

# What fails for these is in native/{apply,assign,check,explain,export,find,gone,move,top}.bats, batch, doctor,
# documentation, metrics, setup and watch.
@test "no command is forgotten here" {
	forgets_none "$commands" 'apply|assign|batch|check|completion|doctor|explain|export|find|help|list|metrics|move|off|path|print|prune|'\
'quit|quot|release|remove|resize|schema|setup|supported|top|usage|warn|watch'
}

@test "an ordinary user is told once that it takes a capability" {
	one_line_each an_ordinary_user 'Operation not permitted \(.*CAP_SYS_ADMIN'
}

@test "root of a user namespace is told once that it takes the host's root" {
	one_line_each a_user_namespace 'initial user namespace'
}

@test "where quota is off it is said once, and how it is switched on" {
	one_line_each quota_off 'prjquota'
}

@test "where limits are not enforced the commands work in native mode" { one_line_each not_enforced .; }

@test "a read-only mount is complained of once, and what to do" {
	one_line_each read_only 'Read-only file system \(remount'
}

@test "a read-only mount without recovery is complained of once, and what to do" {
	one_line_each read_only_without_recovery 'Read-only file system \(remount'
}

@test "a filesystem that has shut down is complained of once" { one_line_each shut_down 'Input/output error'; }

# The kernel can still be asked through a descriptor of the mount point.
if_at_all_in_one_line() {
	native_call "$@"
	[[ $status =~ ^[01345]$ ]] || complain "$*: status $status: $stderr"
	[ $((status == 0)) = $((${#errors[@]} == 0)) ] || [[ $stderr == *' already '* ]] ||
		complain "$*: status $status: $stderr"
	[ ${#errors[@]} -le 1 ] || complain "$*: ${#errors[@]} lines: $stderr"
	[[ -z $stderr || $stderr == "fsquota $1: "*"$where"* ]] || complain "$*: $stderr"
	[[ $stderr != *"$where: $where: "* ]] || complain "$*: says it twice: $stderr"
	[[ $stderr != *'name a directory of a mounted filesystem'* ]] || complain "$*: was named: $stderr"
}

@test "a device whose node is gone does no harm in native mode, or is complained of once" {
	without_node
	dump_of /dev/without-node
	each_row if_at_all_in_one_line
	no_complaints
}

@test "a device that has died hangs nothing, and is complained of once" {
	a_dead_device
	dump_of "$(findmnt -no SOURCE $where)"
	each_row if_at_all_in_one_line
	# What XFS has in memory it tells until it has found out.
	touch $where/new 2>/dev/null || true
	sync -f $where 2>/dev/null || true
	native_call quota -p 42
	assert_equal "$status" 1
	umount $where
	no_complaints
}

# bats test_tags=again,full
@test "quot complains of a device that has died, where the real one says nothing" {
	a_dead_device
	run_split "$FSQ_ORACLE" -x -c 'quot -p' $where
	local theirs="$stdout:$stderr"
	assert_equal "$status" 0
	run_split xfs_quota -x -c 'quot -p' $where
	assert_equal "$status:$stdout:$stderr" "1:$theirs$where: Input/output error"
	run_split xfs_quota --strict -x -c 'quot -p' $where
	umount $where
	assert_equal "$status" 1
}

# Filesystems can always be listed, and IDs be read where lsattr can.
refused_as_not_supported() {
	case "$*" in
	df) native=0 ;;
	id* | lsattr* | 'project -c'*) ! lsattr -pd "${other-$where/other}" >/dev/null 2>&1 || native=0 ;;
	esac
	with_one_line "$@"
}

@test "filesystems of other kinds are refused in one line that names them, as not supported" {
	local kind advice=. expected=''
	local -A advice_for
	for kind in a_tmpfs a_proc an_overlay; do
		unset other
		$kind
		each_row refused_as_not_supported
	done
	no_complaints
}

# rows COMMAND...: what the command says of /mnt/x and /mnt/e, without what changes by itself
rows() {
	run_split fsquota "$@"
	sed -E '/_scan_|[/]mnt[/]x2/d; /[/]mnt[/][xe][/]/!d; s/^[0-9-]+T[^ ]+ //; s/ +/ /g' <<<"$stdout"
}

@test "one filesystem that has shut down costs the others nothing" {
	local command before=() commands=(list check 'check --over 1' df doctor 'metrics' export 'prune --dry-run' 'report -p' 'top --batch 1'
		'usage /mnt/x2/other/a /mnt/x/users/a /mnt/e/users/a' 'apply --dry-run /run/lines' 'apply /run/lines' 'apply --prune /run/lines') i fs
	fresh_each x e x2
	rm -f /etc/projects* /etc/projid*
	mkdir -p /mnt/{x,e,x2}/users/{a,b,c} /mnt/x2/other/a /run/lines
	echo '/mnt/x/users/[a] hard=1M
/mnt/x2/users/[a] hard=1M
/mnt/e/users/[a] hard=1M
/mnt/x2/users/b hard=1M
/mnt/x2/other/? hard=1M
/mnt/x/users/b hard=1M
/mnt/e/users/c hard=1M' >/run/lines/all.conf
	succeeds fsquota apply /run/lines
	for fs in x e x2; do dd if=/dev/zero of=/mnt/$fs/users/a/file bs=64k count=2 conv=fsync status=none; done
	for command in "${commands[@]}"; do before+=("$(rows $command)"); done
	sync
	xfs_io -x -c shutdown /mnt/x2
	echo 3 >/proc/sys/vm/drop_caches
	for i in "${!commands[@]}"; do
		[ "$(rows ${commands[i]})" = "${before[i]}" ] || complain "${commands[i]}: $(diff <(echo "${before[i]}") <(rows ${commands[i]}))"
	done
	# What is new gets its quota. What no line wants any more stays: the path that cannot be looked at may lead to it.
	mkdir /mnt/x/users/d
	echo '/mnt/x/users/[ad] hard=1M
/mnt/x2/users/[a] hard=1M
/mnt/e/users/[a] hard=1M
/mnt/x2/users/b hard=1M
/mnt/x2/other/? hard=1M
/mnt/e/users/c hard=1M' >/run/lines/all.conf
	run_split fsquota apply /run/lines
	[[ $status != [02] && $stderr == *Input/output* ]] || complain "apply: $status $stderr"
	grep -q ':/mnt/x/users/d$' /etc/projects || complain "d has no quota: $stdout $stderr"
	run_split fsquota apply --prune /run/lines
	[ "$status" != 0 ] || complain "apply --prune: $stderr"
	run_split fsquota prune
	assert_equal "$(sed 's/.*://' /etc/projects | sort | xargs)" \
		'/mnt/e/users/a /mnt/e/users/c /mnt/x/users/a /mnt/x/users/b /mnt/x/users/d /mnt/x2/other/a /mnt/x2/users/a /mnt/x2/users/b'
	no_complaints
	umount /mnt/x2
}
