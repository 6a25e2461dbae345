#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# needs: python3-prometheus-client
#
# What metrics prints: the numbers of list and usage, as valid OpenMetrics, whatever the names are; and
# the file that it replaces, whole or not at all. And what contrib has to run it: a systemd unit.

load ../lib/fsquota
load ../native/projects

setup_file() {
	make_projects
	fresh_fs x2
}

setup() {
	register_projects
	text=$BATS_TEST_TMPDIR/text
	dirty='' odd=''
}

teardown() {
	if [ -n "$odd" ]; then
		umount "$odd"
		mount -t f2fs -o usrquota,grpquota,prjquota "$FSQ_F_DEV" /mnt/f
	fi
	[ -z "$dirty" ] || fresh_fs x2
}

# A filesystem that is left as it was found by teardown. Arguments: of fresh_fs.
use_x2() {
	dirty=yes
	fresh_fs x2 "$@"
}

# same_as_list COUNT [ARGUMENT...]: metrics and list have the same projects, so many.
same_as_list() {
	local count=$1
	shift
	fsquota list --json "$@" >"$text.before"
	fsquota metrics "$@" >"$text"
	fsquota list --json "$@" >"$text.after"
	prints "$count" "$BATS_TEST_DIRNAME/same_as_list" "$text" "$text.before" "$text.after"
}

# value SERIES: of the one sample in the text that begins so; empty: there is none.
value() { awk -v series="$1" 'index($0, series) == 1 { print $NF }' "$text"; }

# --- what it says -------------------------------------------------------------------------------

# bats test_tags=install
@test "XFS, ext4 and f2fs: the numbers and labels are those of list" {
	local fs
	same_as_list 12
	for fs in x e f; do same_as_list 4 /mnt/$fs; done
	same_as_list 4 "$FSQ_X_DEV"
	same_as_list 2 /mnt/x/nested /mnt/e/logs
}

@test "XFS and ext4: the numbers are those of usage" {
	local fs dir json key
	fsquota metrics >"$text"
	for fs in x e; do
		for dir in web logs nested/a; do
			json=$(fsquota usage --json /mnt/$fs/$dir)
			for key in used_bytes soft_bytes hard_bytes used_inodes soft_inodes hard_inodes; do
				run awk -v metric="fsquota_project_$key{" -v path=",path=\"/mnt/$fs/$dir\"," \
					'index($0, metric) == 1 && index($0, path) { print $NF }' "$text"
				assert_equal "$fs $dir $key: $output" \
					"$fs $dir $key: $(jq -r ".usage[0].$key // \"\"" <<<"$json")"
			done
		done
	done
}

@test "a limit that is not set and a grace time that does not run have no sample" {
	fsquota metrics /mnt/x >"$text"
	assert_equal "$(grep -c '^fsquota_project_used_bytes{' "$text")" 4
	assert_equal "$(grep -c '^fsquota_project_hard_bytes{' "$text")" 4
	assert_equal "$(grep -c '^fsquota_project_soft_bytes{' "$text")" 1
	assert_equal "$(grep -c '^fsquota_project_hard_inodes{' "$text")" 1
	assert_equal "$(grep -c '^fsquota_project_soft_inodes{' "$text")" 0
	assert_equal "$(grep '^fsquota_project_grace_seconds{' "$text" | sed 's/ [0-9]*$//')" \
		"fsquota_project_grace_seconds{id=\"42\",name=\"web\",path=\"/mnt/x/web\",filesystem=\"$FSQ_X_DEV\",mountpoint=\"/mnt/x\",limit=\"bytes\"}"
}

# bats file_tags=shared

@test "a grace time that is over is 0, and never less" {
	use_x2
	mkdir /mnt/x2/over
	own 50 /mnt/x2/over x2
	touch /mnt/x2/over/a
	fallocate -l 2M /mnt/x2/over/b
	sync -f /mnt/x2
	# Both run from here on: what is written behind them can be refused.
	real -c 'timer -p -b 1s' -c 'timer -p -i 1s' -c 'limit -p bsoft=1m isoft=1 50' /mnt/x2
	for _ in {1..1000}; do
		fsquota metrics /mnt/x2 >"$text"
		[ "$(grep '^fsquota_project_grace_seconds{' "$text" | grep -c ' 0$')" -lt 2 ] || break
		sleep 0.1
	done
	sleep 1
	fsquota metrics /mnt/x2 >"$text"
	run sed -n 's/^fsquota_project_grace_seconds{.*limit=/limit=/p' "$text"
	assert_output 'limit="bytes"} 0
limit="inodes"} 0'
}

@test "the filesystems have size, use, state, and the sums of list --total" {
	local fs device labels json
	fsquota metrics >"$text"
	fsquota list --total --json >"$text.list"
	for fs in x e f; do
		device=FSQ_${fs^^}_DEV
		labels="{filesystem=\"${!device}\",mountpoint=\"/mnt/$fs\",device=\"${!device}\"}"
		json=$(jq ".total[] | select(.mountpoint == \"/mnt/$fs\")" "$text.list")
		assert_equal "$(value "fsquota_filesystem_size_bytes$labels")" "$(jq .size_bytes <<<"$json")"
		assert_equal "$(value "fsquota_filesystem_used_bytes$labels")" "$(jq .used_bytes <<<"$json")"
		assert_equal "$(value "fsquota_filesystem_hard_limits_bytes$labels")" \
			$(((10 + 100 + 4 + 1024) * 1048576))
		assert_equal "$(value "fsquota_filesystem_projects$labels")" 4
		assert_equal "$(value "fsquota_filesystem_unlimited_projects$labels")" 0
		assert_equal "$(value "fsquota_filesystem_accounting$labels")" 1
		assert_equal "$(value "fsquota_filesystem_enforced$labels")" 1
		assert_equal "$(value "fsquota_filesystem_scan_success$labels")" 1
		json=$(jq ".list[] | select(.id == 0 and .mountpoint == \"/mnt/$fs\")" "$text.list")
		assert_equal "$(value "fsquota_filesystem_no_project_used_bytes$labels")" \
			"$(jq .used_bytes <<<"$json")"
		assert_equal "$(value "fsquota_filesystem_no_project_used_inodes$labels")" \
			"$(jq .used_inodes <<<"$json")"
	done
}

@test "a scan has its time stamp, and how long it took" {
	local before=$EPOCHREALTIME after labels="{filesystem=\"$FSQ_X_DEV\",mountpoint=\"/mnt/x\",device=\"$FSQ_X_DEV\"}"
	fsquota metrics /mnt/x >"$text"
	after=$EPOCHREALTIME
	prints '1 1' awk -v before="$before" -v after="$after" \
		-v at="$(value "fsquota_filesystem_scan_timestamp_seconds$labels")" \
		-v took="$(value "fsquota_filesystem_scan_duration_seconds$labels")" \
		'BEGIN { print (before <= at && at <= after), (took > 0 && took <= after - before) }'
}

@test "XFS and ext4: it tells that enforcement is off" {
	local fs device
	for fs in x e; do
		fsquota disable -p /mnt/$fs
		fsquota metrics /mnt/$fs >"$text"
		fsquota enable -p /mnt/$fs
		device=FSQ_${fs^^}_DEV
		assert_equal "$fs $(value "fsquota_filesystem_enforced{filesystem=\"${!device}\",")" "$fs 0"
		assert_equal "$fs $(value "fsquota_filesystem_accounting{filesystem=\"${!device}\",")" "$fs 1"
	done
}

@test "what has quotas of users alone is shown without operands, and is no error" {
	use_x2 -o usrquota
	run_split fsquota metrics
	assert_equal "$status $stderr" '0 '
	cp "$BATS_TEST_TMPDIR/stdout" "$text"
	assert_equal "$(value "fsquota_filesystem_accounting{filesystem=\"$FSQ_X2_DEV\",")" 0
	assert_equal "$(value "fsquota_filesystem_scan_success{filesystem=\"$FSQ_X2_DEV\",")" 1
	assert_equal "$(value "fsquota_filesystem_no_project_used_bytes{filesystem=\"$FSQ_X2_DEV\",")" ''
	exits 3 fsquota metrics /mnt/x2
	[[ $stderr == *'project quota is off'* ]] || fail "$stderr"
}

# --- names --------------------------------------------------------------------------------------

@test "--info: a metric of its own has the pod of a volume, and all names" {
	local uid=0b5c2f6e-8d0f-4b5e-9d5a-4a1a3f6c7d10 pods=/mnt/x/pods/a/kubelet/pods volume
	local labels="filesystem=\"$FSQ_X_DEV\",mountpoint=\"/mnt/x\",device=\"$FSQ_X_DEV\"" none='namespace="",pod="",volume=""'
	mount -t tmpfs none /var/log
	volume=volumes/kubernetes.io~empty-dir/cache
	mkdir -p $pods/{$uid,other}/$volume /var/log/pods/{shop_web-7d4_$uid,no_pod,a_b_c_d,x_y_}
	fsquota assign --id 700 --hard 1M $pods/$uid/$volume
	fallocate -l 512K $pods/$uid/$volume/file
	fsquota assign --id 701 --name odd $pods/other/$volume
	fsquota metrics /mnt/x >"$text"
	run ! grep -q project_info "$text"
	fsquota metrics --info /mnt/x >"$text.info"
	diff <(grep '^fsquota_project_[^g]' "$text") <(grep '^fsquota_project_[^g]' "$text.info" | grep -v '^fsquota_project_info')
	prints "42\",name=\"web\",path=\"/mnt/x/web\",$labels,$none} 1
700\",name=\"volume700\",path=\"$pods/$uid/$volume\",$labels,namespace=\"shop\",pod=\"web-7d4\",volume=\"cache\"} 1
701\",name=\"odd\",path=\"$pods/other/$volume\",$labels,$none} 1" \
		sed -nE 's/^fsquota_project_info\{id="((42|70.)")/\1/p' "$text.info"
	# The same names where people look; a name of one's own stays.
	prints "700 shop/web-7d4/cache
701 odd" fsquota list --raw -N -o ID,NAME $pods
	prints "shop/web-7d4/cache" jq -r '.list[] | select(.id == 700).pod' <(fsquota list --json $pods)
	exits 8 fsquota check --over 10 --raw -N -o ID,POD $pods/$uid
	assert_equal "$stdout" "700 shop/web-7d4/cache"
	prints "shop/web-7d4/cache" jq -r 'select(.id == 700).pod' <(fsquota top --batch 1 --json $pods)
	run -0 fsquota explain $pods/$uid/$volume
	[[ ${lines[0]} == *POD && ${lines[1]} == *" shop/web-7d4/cache" ]] || fail "$output"
	run -0 fsquota report --html "$BATS_TEST_TMPDIR/page" /mnt/x
	grep -q '>shop/web-7d4/cache<' "$BATS_TEST_TMPDIR/page"
	# The path is there alone.
	fsquota metrics --info --no-path-label --id-range 700-700 /mnt/x >"$text"
	assert_equal "$(grep -c 'path=' "$text") $(grep -c '^fsquota_project_info.*path=' "$text")" '1 1'
	rm -r /mnt/x/pods
	assert_equal "$(fsquota metrics /mnt/x | sed -n 's/^fsquota_filesystem_gone_directories.* //p')" 2
	run ! grep -q ^fsquota_filesystem_gone_directories <(fsquota metrics --quick /mnt/x)
	succeeds fsquota prune -q /mnt/x
	assert_equal "$(fsquota metrics /mnt/x | sed -n 's/^fsquota_filesystem_gone_directories.* //p')" 0
	umount /var/log
}

@test "--metric: only these, of all that there are" {
	local all names
	mkdir /etc/fsquota.d
	echo '/mnt/x budget=1G' >/etc/fsquota.d/node.conf
	fsquota metrics --info >"$text"
	all=$(sed -n 's/^# TYPE \(.*\) gauge$/\1/p' "$text")
	fsquota metrics --metric "${all//$'\n'/,}" >"$text.chosen"
	assert_equal "$(sed -n 's/^# TYPE \(.*\) gauge$/\1/p' "$text.chosen")" "$all"
	for names in $all fsquota_filesystem_size_bytes,fsquota_project_used_bytes; do
		fsquota metrics --metric "$names" >"$text.chosen"
		assert_equal "$(sed -n 's/^# TYPE \(.*\) gauge$/\1/p' "$text.chosen" | sort)" "$(tr , '\n' <<<"$names" | sort)"
		assert_equal "$(tail -n 1 "$text.chosen")" '# EOF'
	done
	rm -r /etc/fsquota.d
	refuses 2 'there is no metric "fsquota_project_used"' fsquota metrics --metric fsquota_project_info,fsquota_project_used
	refuses 2 'there is no metric ""' fsquota metrics --metric fsquota_project_info,
}

# bats test_tags=install,full
@test "quotes, backslashes, newlines and what is no UTF-8 in names are told right" {
	local names id=100 name
	use_x2
	names=('a"b' 'c\d' 'c\nd' $'e\xffg' $'\xc3' 'ü日本𝄞' '{}=,#' $'tab\there' $'\xed\xa0\x80' '" 1' $'\x01')
	for name in "${names[@]}"; do
		mkdir "/mnt/x2/$name"
		chattr -p $id "/mnt/x2/$name"
		echo "$id:/mnt/x2/$name" >>/etc/projects
		id=$((id + 1))
	done
	printf '%s:100\n%s:101\n%s:102\n' 'we"b' 'lo\gs' $'\xfe' >>/etc/projid
	umount /mnt/f
	odd=$'/mnt/new\nline "x\\'
	mkdir "$odd"
	mount -t f2fs -o prjquota "$FSQ_F_DEV" "$odd"
	same_as_list 23
	same_as_list 11 /mnt/x2
	# What the parser has undone, as it stands there.
	assert_equal "$(grep -c '^fsquota_project_used_bytes{id="100",name="we\\"b",path="/mnt/x2/a\\"b",' "$text")" 1
	assert_equal "$(grep -c '^fsquota_project_used_bytes{id="101",name="lo\\\\gs",path="/mnt/x2/c\\\\d",' "$text")" 1
	assert_equal "$(grep -c '^fsquota_project_used_bytes{id="102",name="�",path="/mnt/x2/c\\\\nd",' "$text")" 1
	assert_equal "$(grep -c '^fsquota_project_used_bytes{id="103",name="",path="/mnt/x2/e�g",' "$text")" 1
	same_as_list 4 "$odd"
	assert_equal "$(grep -c 'mountpoint="/mnt/new\\nline \\"x\\\\"[,}].* [0-9]' "$text")" 28
	assert_equal "$(grep -acv '^\(# \(TYPE\|HELP\|UNIT\|EOF\)\|fsquota_\)' "$text")" 0
}

@test "a terminal gets no control characters of names" {
	use_x2
	mkdir /mnt/x2/{$'\e[31mred',$'\xe2\x80\xaeturned'}
	fsquota assign /mnt/x2/{$'\e[31mred',$'\xe2\x80\xaeturned'} >/dev/null
	run -0 fsquota metrics /mnt/x2
	assert_output --partial $'path="/mnt/x2/\e[31mred"'
	run -0 script -qec "$FSQUOTA metrics /mnt/x2" /dev/null
	assert_output --partial 'path="/mnt/x2/�[31mred"'
	assert_output --partial 'path="/mnt/x2/�turned"'
	refute_output --partial $'\e'
}

# bats test_tags=install,full
@test "a filesystem that is mounted twice has one series" {
	mkdir -p /mnt/again
	mount --bind /mnt/x /mnt/again
	same_as_list 12
	same_as_list 4 /mnt/x /mnt/again /mnt/x
	umount /mnt/again
	assert_equal "$(grep -c '^fsquota_filesystem_enforced{' "$text")" 1
}

# bats test_tags=install,full
@test "of several directories the first one is the label" {
	same_as_list 1 /mnt/x/web2
	assert_equal "$(grep -c 'id="42",name="web",path="/mnt/x/web2"' "$text")" 6
	same_as_list 4 /mnt/x
	assert_equal "$(grep -c 'path="/mnt/x/web2"' "$text")" 0
	assert_equal "$(grep -c '^fsquota_project_used_bytes{id="42",name="web",path="/mnt/x/web",' "$text")" 1
}

# --- options ------------------------------------------------------------------------------------

ids() {
	sed -n 's/^fsquota_project_used_bytes{id="\([0-9]*\)".*/\1/p' <<<"$output" | tr '\n' ' '
}

@test "--id-range and --over choose projects, and the sums stay" {
	local limits
	run -0 fsquota metrics /mnt/x
	limits=$(grep '^fsquota_filesystem_hard_limits_bytes' <<<"$output")
	run -0 fsquota metrics --id-range 43-44 /mnt/x
	assert_equal "$(ids)" '43 44 '
	assert_line "$limits"
	run -0 fsquota metrics --id-range 46-4294967294 /mnt/x
	assert_equal "$(ids)" ''
	run -0 fsquota metrics --over 50 /mnt/x
	assert_equal "$(ids)" '42 44 '
	assert_line "$limits"
	run -0 fsquota metrics --over 50 --id-range 1-43 /mnt/x
	assert_equal "$(ids)" '42 '
	# The range of fsquota.conf is where assign chooses.
	echo 'id-range = 43-44' >/etc/fsquota.conf
	run -0 fsquota metrics /mnt/x
	assert_equal "$(ids)" '42 43 44 45 '
}

# bats test_tags=install
@test "--no-path-label leaves out the directory and nothing else" {
	fsquota list --json /mnt/x >"$text.before"
	fsquota metrics --no-path-label /mnt/x >"$text"
	fsquota list --json /mnt/x >"$text.after"
	prints 4 "$BATS_TEST_DIRNAME/same_as_list" "$text" "$text.before" "$text.after" --no-path
	run -1 grep path= "$text"
}

@test "wrong words and what is not there are refused in a line" {
	refuses 2 'no range of project IDs' fsquota metrics --id-range 5 /mnt/x
	refuses 2 'no range of project IDs' fsquota metrics --id-range 5-4 /mnt/x
	refuses 2 'percentage' fsquota metrics --over much /mnt/x
	refuses 2 '--json' fsquota metrics --json /mnt/x
	refuses 5 '/mnt/nowhere' fsquota metrics /mnt/nowhere
	refuses 2 'neither a directory nor a device' fsquota metrics /mnt/x/logs/file
	refuses 2 'no regular file' fsquota metrics --output-file /dev/null /mnt/x
	assert [ -c /dev/null ]
	refuses 2 'no regular file' fsquota metrics --output-file /dev/stdout /mnt/x
	assert [ -L /dev/stdout ]
	refuses 2 'no regular file' fsquota metrics --output-file /mnt/x/logs /mnt/x
	refuses 2 'no regular file' fsquota metrics --output-file /mnt/x/logs/ /mnt/x
	refuses 2 'no regular file' fsquota metrics --output-file '' /mnt/x
	refuses 5 '/mnt/nowhere/a' fsquota metrics --output-file /mnt/nowhere/a /mnt/x
}

@test "an ordinary user sees what statfs shows, or is told that it takes a capability" {
	local fs forbid=()
	for fs in x e; do
		exits 0 setpriv --reuid 1000 --clear-groups "${forbid[@]}" "$FSQUOTA" metrics /mnt/$fs
		cp "$BATS_TEST_TMPDIR/stdout" "$text"
		assert_equal "$(value "fsquota_filesystem_scan_success{")" 1
		refute grep -E '^fsquota_(project_(soft|hard|grace)|filesystem_(projects|no_project))' "$text"
		grep '^fsquota_project' "$text" >"$BATS_TEST_TMPDIR/user"
		fsquota metrics /mnt/$fs >"$BATS_TEST_TMPDIR/root"
		# Each use is root's, or the limit that hides more; each limit is the soft one, or else the hard one.
		python3 - "$BATS_TEST_TMPDIR"/{user,root} <<-'END' || fail "$fs"
			import sys
			user, root = ({name: int(value) for name, _, value in (line.rpartition(" ") for line in open(file))
			               if name.startswith("fsquota_project_")} for file in sys.argv[1:])
			for name, value in user.items():
			    if "_used_" in name:
			        good = value == root[name] or value == user.get(name.replace("_used_", "_limit_")) < root[name]
			    else:
			        good = value == root.get(name.replace("_limit_", "_soft_"), root.get(name.replace("_limit_", "_hard_")))
			    assert good, (name, value)
		END
		assert [ "$(grep -c limit_bytes "$BATS_TEST_TMPDIR/user")" -ge 2 ]
		# And as in a container, whose engine forbids more.
		forbid=("$builddir/tests/kernels/forbid" EPERM quotactl,quotactl_fd)
	done
	exits 4 setpriv --reuid 1000 --clear-groups fsquota metrics --projects-file /dev/null /mnt/x
	[[ $stderr == *CAP_SYS_ADMIN* ]]
	cp "$BATS_TEST_TMPDIR/stdout" "$text"
	assert_equal "$(value 'fsquota_filesystem_scan_success{')" 0
	assert_equal "$(grep -c '^fsquota_project_' "$text")" 0
}

@test "of a filesystem that was shut down it tells that, and of the others all" {
	use_x2
	mkdir /mnt/x2/a
	fsquota assign --hard 1M --no-register /mnt/x2/a >"$BATS_TEST_TMPDIR/id"
	sync -f /mnt/x2
	xfs_io -x -c shutdown /mnt/x2
	echo 3 >/proc/sys/vm/drop_caches
	exits 1 fsquota metrics --output-file "$text"
	[[ $stderr == *'/mnt/x2'*'Input/output error'* ]]
	assert_equal "$(value "fsquota_filesystem_scan_success{filesystem=\"$FSQ_X2_DEV\",")" 0
	assert_equal "$(value "fsquota_filesystem_projects{filesystem=\"$FSQ_X2_DEV\",")" ''
	assert_equal "$(value "fsquota_filesystem_scan_success{filesystem=\"$FSQ_X_DEV\",")" 1
	assert_equal "$(grep -c '^fsquota_project_used_bytes{' "$text")" 12
}

# --- the file -----------------------------------------------------------------------------------

# new_directory: sets directory and file, which has an old text.
new_directory() {
	directory=$(mktemp -d)
	file=$directory/fsquota.prom
	echo old >"$file"
}

@test "--output-file replaces the file, readable for all, and leaves nothing beside it; without a filesystem it stays" {
	local directory file
	new_directory
	chmod 600 "$file"
	local inode
	inode=$(stat -c %i "$file")
	(umask 777 && cd "$directory" && run_split fsquota metrics --output-file fsquota.prom &&
		assert_equal "$status $stdout$stderr" '0 ')
	assert_equal "$(stat -c '%a %F' "$file")" '644 regular file'
	assert_equal "$(ls -A "$directory")" fsquota.prom
	assert [ "$(stat -c %i "$file")" != "$inode" ]
	refuses 5 nowhere fsquota metrics --output-file "$file" /mnt/nowhere
	assert_equal "$(tail -n 1 "$file") $(ls -A "$directory")" '# EOF fsquota.prom'
	# Who has it open goes on reading the old one.
	exec 9<"$file"
	fsquota metrics --output-file "$file" /mnt/e
	assert_equal "$(grep -c '^fsquota_project_used_bytes' <&9)" 12
	exec 9<&-
	assert_equal "$(grep -c '^fsquota_project_used_bytes' "$file")" 4
	rm "$file"
	fsquota metrics --output-file "$file"
	assert_equal "$(tail -n 1 "$file")" '# EOF'
}

@test "where a file must have a name while it is written, it is replaced, too" {
	local directory file line
	new_directory
	# The call that asks for a file without one fails as on such a filesystem.
	strace -e trace=openat -o "$text" fsquota metrics --output-file "$file"
	line=$(grep -n O_TMPFILE "$text" | cut -d : -f 1)
	assert [ "$line" -gt 0 ]
	echo old >"$file"
	strace -o "$text" -e trace=openat -e "inject=openat:error=EOPNOTSUPP:when=$line" \
		fsquota metrics --output-file "$file"
	assert_equal "$(grep -c 'O_CREAT.*O_EXCL' "$text")" 1
	assert_equal "$(tail -n 1 "$file")" '# EOF'
	assert_equal "$(stat -c %a "$file") $(ls -A "$directory")" '644 fsquota.prom'
	# And when it cannot be written to its end, nothing is left.
	echo old >"$file"
	run strace -o /dev/null -e "inject=openat:error=EOPNOTSUPP:when=$line" -e inject=fsync:error=EIO \
		fsquota metrics --output-file "$file"
	assert_failure 1
	assert_equal "$(<"$file") $(ls -A "$directory")" 'old fsquota.prom'
}

@test "whatever call fails while the file is written, the old one stays" {
	local directory file call
	new_directory
	for call in write fchmod fsync linkat renameat; do
		run -1 strace -o /dev/null -e "inject=$call:error=ENOSPC:when=1" fsquota metrics --output-file "$file"
		assert_equal "$(wc -l <<<"$output")" 1
		assert_output --partial 'No space left on device'
		assert_equal "$call: $(<"$file") $(ls -A "$directory")" "$call: old fsquota.prom"
	done
}

# bats test_tags=every-call
@test "killed at any system call, the old file is whole or the new one is" {
	local directory file call number old=0 new=0
	new_directory
	strace -o "$text.trace" fsquota metrics --output-file "$file"
	sed 's/^# EOF$/# old&/' "$file" >"$text"
	# The calls from the one on that makes the file: what is before has touched nothing.
	awk -F '(' '/^[a-z]/ { count[$1]++ } begun { print $1, count[$1] } /O_TMPFILE/ { begun = 1 }' \
		"$text.trace" | grep -v -e '^+' -e '^exit' >"$text.calls"
	while read -r call number; do
		cp "$text" "$file"
		run injecting "$call" "signal=KILL:when=$number" fsquota metrics --output-file "$file"
		assert_equal "$call $number: $status" "$call $number: 137"
		if cmp -s "$file" "$text"; then
			old=$((old + 1))
		else
			assert_equal "$call $number: $(tail -n 1 "$file")" "$call $number: # EOF"
			new=$((new + 1))
		fi
		# And a hidden one, which no collector reads, if at all.
		assert_equal "$call $number: $(ls "$directory")" "$call $number: fsquota.prom"
	done <"$text.calls"
	echo "# killed: $old with the old file, $new with the new one" >&3
	assert [ $old -ge 10 ]
	assert [ $new -ge 2 ]
	assert [ "$(ls -A "$directory" | wc -l)" -le 2 ]
}

@test "a signal that ends it comes when the file is whole, and leaves nothing beside it" {
	local directory file signal
	new_directory
	for signal in TERM INT HUP; do
		echo old >"$file"
		run strace -o /dev/null -e "inject=fchmod:signal=$signal" fsquota metrics --output-file "$file"
		assert [ "$status" -gt 128 ]
		assert_equal "$signal $(tail -n 1 "$file") $(ls -A "$directory")" "$signal # EOF fsquota.prom"
	done
	# Or nothing is written, when it comes before.
	echo old >"$file"
	run strace -o /dev/null -e inject=rt_sigprocmask:signal=TERM:when=1 fsquota metrics --output-file "$file"
	assert [ "$status" -gt 128 ]
	assert_equal "$(<"$file") $(ls -A "$directory")" 'old fsquota.prom'
}

@test "many at once leave one whole file" {
	local directory file
	new_directory
	for _ in {1..10}; do fsquota metrics --output-file "$file" & done
	wait
	assert_equal "$(grep -c '^# EOF' "$file")" 1
	assert_equal "$(ls -A "$directory")" fsquota.prom
}

# --- contrib/systemd ----------------------------------------------------------------------------

@test "the command of the systemd unit works with its capabilities alone" {
	local unit=$srcdir/contrib/systemd/fsquota-metrics.service command capabilities words directory
	command=$(sed -n 's/^ExecStart=//p' "$unit")
	capabilities=$(sed -n 's/^CapabilityBoundingSet=//p' "$unit" | tr 'A-Z ' 'a-z,' | sed 's/cap_/+/g')
	assert_equal "$capabilities" +sys_admin,+dac_read_search
	read -ra words <<<"${command/\/usr\/bin\/fsquota/$FSQUOTA}"
	mkdir -m 755 "$BATS_TEST_TMPDIR/lib"
	words[-1]=$BATS_TEST_TMPDIR/lib/${words[-1]##*/}
	chmod 700 /mnt/x/web /mnt/x/nested
	chown 1000 /mnt/x/web /mnt/x/nested
	prints '' setpriv --no-new-privs --bounding-set "-all,$capabilities" --inh-caps -all "${words[@]}"
	assert_equal "$(grep -c '^fsquota_project_used_bytes' "${words[-1]}")" 12
	# Whether a limit holds in the home of another is seen, too.
	for directory in web nested/a; do
		grep -q "^fsquota_project_in_force{.*path=\"/mnt/x/$directory\".*} 1" "${words[-1]}" || fail "$directory: $(<"${words[-1]}")"
	done
	chown 0 /mnt/x/web /mnt/x/nested
	chmod 1777 /mnt/x/web /mnt/x/nested
	# And not with less: some filesystem has no directory that shows a limit.
	run -4 setpriv --bounding-set -all --inh-caps -all "${words[@]}"
}
