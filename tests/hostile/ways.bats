#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What leads to a directory belongs to tenants: they put symlinks there, swap directories for them at any moment, and
# have servers that do not answer.
#
#   FSQUOTA_FULL   set: on ext4, too, with every command beside every trick, and a swap before any call

load ../lib/fsquota
load hostile

TENANT=65534

tops=(/mnt/x) any='' each=4
[ -z "${FSQUOTA_FULL-}" ] || tops+=(/mnt/e) any=any each=1

setup() {
	no_files
	rm -rf /etc/fsquota.d /var/lib/fsquota
	mkdir /etc/fsquota.d
	fresh_each x e
}

teardown() {
	no_server
	rm -rf /etc/fsquota.d /var/lib/fsquota /run/dead /run/home
}

# --- tenants ------------------------------------------------------------------------------------

# dead_server DIR: has a server that does not answer
dead_server() {
	mkdir -p "$1"
	"${BATS_TEST_DIRNAME:?}/../lib/fuse_server" "$1" 3>&- &
	server=$! served=$1
	until_true mountpoint -q "$1"
	kill -STOP $server
	run timeout -s KILL 0.5 ls "$1"
	assert_equal "$status" 137
}

no_server() {
	[ -n "${server-}" ] || return 0
	kill -KILL "$server"
	wait "$server" 2>/dev/null || true
	umount "$served"
	server=''
}

# project_of FILE
project_of() { lsattr -pd "$1" | awk '{ print $1 }'; }

# hard DIR: its limit in KiB, as the kernel has it
hard() { kernel_has "${1%%/home*}" "$(project_of "$1")" | cut -d' ' -f3; }

# links TARGET LINK...: as the tenant makes them
links() {
	local link
	for link in "${@:2}"; do ln -s "$1" "$link"; done
	chown -h $TENANT "${@:2}"
}

# What files name in the home of tom.
toms=(cache deep line far sub conf reg more)

# homes: of ann, bob and tom in $home, with lines of every kind, and all that they have to have
homes() {
	local name
	mkdir -p $home/{ann,bob}/{cache,deep/1,line,reg} $home/gone $home/tom/{cache,deep/1,line,far/1,sub/1,conf/1,reg,more/1}
	printf '%s\n' "$home/*/cache hard=5M" "$home/*/deep/1 hard=2M" "$home/tom/line hard=5M" "$home/tom/far/1 hard=5M" \
		"$home/ann/line hard=3M" "$home/tom/sub budget=100M" "$home/tom/sub/1 hard=4M" >/etc/fsquota.d/homes.conf
	echo "budget = $home/tom/conf 100M" >/etc/fsquota.conf
	fsquota apply -q
	fsquota assign --hard 4M --name shared $home/{bob/reg,tom/reg,tom/more/1} >/dev/null
	fsquota assign --hard 4M $home/tom/conf/1 $home/gone >/dev/null
	rmdir $home/gone
	fallocate -l 5000K $home/ann/cache/file
	touch $home/bob/reg/file
	chown -R $TENANT $home/tom
	settle $top
	saved=$BATS_TEST_TMPDIR/saved
	rm -rf $saved
	mkdir $saved
	cp /etc/projects /etc/projid /var/lib/fsquota/applied $saved
}

# as_before: what is registered, and what is new and has no quota
as_before() {
	rm -rf $home/cy $home/dan
	mkdir -p $home/cy/{cache,deep/1} $home/dan
	cp $saved/proj* /etc
	cp $saved/applied /var/lib/fsquota
	set_id 0 $home/bob/reg/file
}

# HOME and TOP stand for themselves: status, text of stdout, command. The text of apply is checked in the kernel, too.
commands='[1-7]|created   HOME/cy/cache|fsquota apply
[1-7]|created   HOME/cy/deep/1|fsquota apply --prune
[1-7]|created   HOME/cy/cache|fsquota apply /etc/fsquota.d/homes.conf
[1-7]|would-create  HOME/cy/cache|fsquota apply --dry-run
0|HOME/ann/cache hard=5M|fsquota export
0|HOME/ann/cache hard=5M|fsquota export HOME
[0-7]|HOME/ann/cache|fsquota df
[0-7]|HOME/ann/cache|fsquota df TOP
0|HOME/ann/cache|fsquota list
0|HOME/ann/cache|fsquota list TOP
0|HOME/ann/cache|fsquota list HOME
0|TOP|fsquota list --total
0|path="HOME/ann/cache"|fsquota metrics
[0-7]|HOME/bob/reg/file|fsquota project -c shared
[0-7]||fsquota project -s shared
0|shared|fsquota report
8|HOME/ann/cache|fsquota check --over 90
8|HOME/ann/cache|fsquota check --over 90 HOME
0|HOME/ann/cache|fsquota top --batch 1 --interval 1
0|HOME/ann/cache|fsquota watch --over 90 --initial --count 1 TOP
0|HOME/bob/reg|fsquota find shared TOP
0|shared|fsquota quota shared --at TOP
0|HOME/ann/cache|fsquota batch <<<list
0|HOME/gone|fsquota prune --dry-run
0|HOME/gone|fsquota prune --all --dry-run
[03]|TOP|fsquota doctor
[03]|TOP|fsquota doctor --deep TOP
0|HOME/ann/cache|fsquota usage HOME/ann/cache
0|HOME/bob/reg|fsquota usage --fallback=walk HOME/bob/reg
0|HOME|fsquota usage --fallback=walk HOME
0|HOME/bob/reg|fsquota explain HOME/bob/reg
0||fsquota resize HOME/ann/line 6M
0||fsquota assign HOME/dan --hard 3M
0||fsquota move --rename --dry-run HOME/bob/cache HOME/bob/moved
0||fsquota move --rename --dry-run HOME TOP/moved
0||fsquota release --dry-run HOME/bob/cache
0||fsquota release HOME/gone
[0-7]|shared|fsquota release --dry-run --name shared
0||fsquota resize --dry-run --name shared 5M
[0-7]|HOME/bob/reg/file|xfs_quota -x -f -c "project -c shared" TOP
0|shared|xfs_quota -x -f -c "report -p" TOP
[0-7]|HOME/bob/reg|xfs_quota -x -f -c "project -s shared" TOP
[0-7]|HOME/ann/cache|xfs_quota -x -f -c df
[0-7]|HOME/ann/cache|xfs_quota -x -f -c print'

# has_limits NAME: by the patterns
has_limits() { [ "$(hard $home/$1/cache) $(hard $home/$1/deep/1)" = "5120 2048" ]; }

# watches: apply --watch gives what it finds its limits, and what comes later
watches() {
	local pid
	as_before
	fsquota apply --watch >"$BATS_TEST_TMPDIR/watched" 2>&1 3>&- &
	pid=$!
	(until_true has_limits cy && mkdir -p $home/dan/{cache,deep/1} && until_true has_limits dan) ||
		complain "apply --watch: $(tail -n 20 "$BATS_TEST_TMPDIR/watched")"
	end_process $pid || complain "apply --watch does not end"
}

# all_others_work: whatever the tenant has done, each command ends, and does and shows what the others are to have; if
# $each is 4 a fourth of them, another one in each test.
all_others_work() {
	local expected text command name number=$BATS_TEST_NUMBER
	while IFS='|' read -r expected text command; do
		[ $((number++ % each)) = 0 ] || continue
		step "$situation: $command"
		as_before
		text=${text//HOME/$home} command=${command//HOME/$home}
		text=${text//TOP/$top} command=${command//TOP/$top}
		eval "run_split timeout -s KILL 10 $command"
		# shellcheck disable=SC2053 # a pattern
		[[ $status = $expected ]] || complain "$command: status $status: $stdout: $stderr"
		[ "$status" != 137 ] || continue
		[[ $stdout == *"$text"* ]] || complain "$command: not $text: $stdout: $stderr"
		case $command in
		'fsquota apply --dry-run') assert_equal "$(project_of $home/cy/cache)" 0 ;;
		'fsquota apply'*) has_limits cy && [[ $stderr == *"$home/tom/line"* ]] ;;
		*'resize /'*) [ "$(hard $home/ann/line)" = 6144 ] && fsquota resize --allow-shrink $home/ann/line 3M ;;
		*assign*) [ "$(hard $home/dan)" = 3072 ] && fsquota release $home/dan ;;
		esac || complain "$command: not done"
	done <<<"$commands"
	for name in ann bob; do
		has_limits $name || complain "$situation: $name has other limits"
	done
}

# on_each TENANT_DOES: with $home in $top
on_each() {
	local top home saved situation
	for top in "${tops[@]}"; do
		home=$top/home situation="$1, $top"
		no_files
		rm -rf /var/lib/fsquota
		homes
		"$@"
		all_others_work
		watches
		no_server
	done
	no_complaints
}

to_dead_server() {
	rm -rf "${toms[@]/#/$home/tom/}"
	links /run/dead "${toms[@]/#/$home/tom/}"
	dead_server /run/dead
}

# bats test_tags=attack
@test "no command touches a mount that does not answer because a tenant's symlink leads there" {
	each=1
	on_each to_dead_server
}

on_home() { dead_server $home/tom; }

# bats test_tags=attack
@test "no command touches a mount that does not answer on a tenant's home" { on_each on_home; }

in_circles() {
	local name
	rm -rf "${toms[@]/#/$home/tom/}"
	for name in "${toms[@]}"; do links $name $home/tom/$name; done
}

# bats test_tags=attack
@test "symlinks of a tenant that lead in circles are his failure alone" { on_each in_circles; }

to_closed_directory() {
	install -d -m 0 -o 1001 $home/eve
	mkdir $home/eve/1
	rm -rf "${toms[@]/#/$home/tom/}"
	links $home/eve "${toms[@]/#/$home/tom/}"
}

# bats test_tags=attack
@test "symlinks of a tenant to another one's closed directory are his failure alone" { on_each to_closed_directory; }

to_another_home() {
	rm -rf "${toms[@]/#/$home/tom/}"
	links $home/bob "${toms[@]/#/$home/tom/}"
}

@test "symlinks of a tenant to another one's home are his failure alone" { on_each to_another_home; }

# --- whose line it is ---------------------------------------------------------------------------

# stopped_after DIR LIMIT: a write of 20 MB by its user is stopped at the limit, in KiB
stopped_after() {
	run ! as_user dd if=/dev/zero of="$1/big" bs=64K count=320
	assert_equal "$(hard "$1")" "$2"
	[ "$(stat -c %s "$1/big")" -le $(($2 * 1024)) ] || fail "$1: $(stat -c %s "$1/big")"
	rm -f "$1/big"
}

@test "a symlink of a user to a home does not give that home the limit of the symlink's line" {
	local top home target
	for top in "${tops[@]}"; do
		home=$top/home
		for target in bob ann new; do
			rm -rf $home /etc/projects /etc/projid /var/lib/fsquota
			mkdir -p $home/{ann,bob}
			chown 1000 $home/{ann,bob}
			printf '%s\n' "$home/ann/cache hard=50M" "$home/* hard=5M" >/etc/fsquota.d/homes.conf
			[ $target = new ] || fsquota apply -q 2>/dev/null || :
			mkdir -p $home/new
			chown 1000 $home/new
			as_user ln -s $home/$target $home/ann/cache
			run_split fsquota apply
			[[ $status == [167] ]] || fail "$top, $target: $status: $stderr"
			assert_one_line
			[[ $stderr == *"$home/ann/cache"* ]] || fail "$top, $target: $stderr"
			run ! fsquota assign --hard 50M $home/ann/cache
			run ! fsquota resize $home/ann/cache 50M
			stopped_after $home/ann 5120
			stopped_after $home/bob 5120
			stopped_after $home/new 5120
			run ! grep cache /etc/projects
		done
		fsquota release $home/{ann,bob,new}
	done
}

# state: what the victim has
state() {
	find $home/bob -printf '%p %i %u %m\n' | sort
	lsattr -pR $home/bob
	kernel_has $top "$(project_of $home/bob)"
	kernel_has $top "$(project_of $home/bob/vol)"
	cat /etc/projects /etc/projid
}

# bats test_tags=attack
@test "who names a path over a tenant's symlink does nothing to what it leads to" {
	local top home command path before situation bundle
	for top in "${tops[@]}"; do
		home=$top/home
		no_files
		mkdir -p $home/{bob/vol,tom/vol,free}
		touch $home/bob/{file,vol/file}
		chown $TENANT $home/tom
		fsquota assign --hard 5M $home/bob $home/bob/vol $home/tom/vol >/dev/null
		sed -i "s|$home/tom/vol|$home/tom/link/away|" /etc/projects
		links ../bob $home/tom/link
		links /run/dead $home/tom/dead
		links vol $home/bob/own
		dead_server /run/dead
		before=$(state)
		for path in link link/vol link/new link/own dead dead/1; do
			path=$home/tom/$path
			for command in "assign --hard 9M $path" "assign --mkdir --owner 1000 --hard 9M $path" "assign --keep-limits $path" \
				"assign --like $path $home/free" "resize $path 9M" "release $path" "release $home/tom/link/away" \
				"move --rename $path $home/free/new" "move --rename $home/tom/vol $path/new" "move $home/tom/link/away $path" \
				"project -s -p $path 55 $top" "project -C -p $path 55 $top" "usage $path" "explain $path"; do
				situation="$command, $top"
				# shellcheck disable=SC2086 # its words
				run_split timeout -s KILL 10 fsquota $command
				[[ $status == [1-7] ]] || complain "status $status: $stdout: $stderr"
				[ "$(state)" = "$before" ] || complain "$(diff <(state) <(echo "$before"))"
			done
			for bundle in "$path" /run/bundle; do
				situation="oci-hook, $bundle, $path, $top"
				mkdir -p /run/bundle
				echo "{\"root\":{\"path\":\"$path\"}}" >/run/bundle/config.json
				run_split timeout -s KILL 10 fsquota oci-hook --hard 9M <<<"{\"id\":\"c\",\"status\":\"creating\",\"bundle\":\"$bundle\"}"
				[[ $status == [1-7] ]] || complain "status $status: $stdout: $stderr"
				[ "$(state)" = "$before" ] || complain "$(diff <(state) <(echo "$before"))"
			done
			step "$path"
			run_split timeout -s KILL 10 xfs_quota -x -f -c "project -s -p $path 55" $top
			[[ $status != 137 && $(state) = "$before" ]] || complain "$path, project -s: $status: $stderr: $(diff <(state) <(echo "$before"))"
		done
		no_server
	done
	no_complaints
}

# --- swapped in the middle ----------------------------------------------------------------------

# swap NAME: the tenant's directory is away, and a symlink to the victim's has its place
swap() {
	mv $home/tom/$1 $home/tom/away
	links ../bob $home/tom/$1
}

swap_back() {
	rm $home/tom/$1
	mv $home/tom/away $home/tom/$1
}

inode_of() { stat -c %i "$1" 2>/dev/null || echo none; }

# movable: bob and tom with a volume each
movable() {
	rm -rf $home
	no_files
	mkdir -p $home/{bob/vol,tom/x/vol,new}
	fsquota assign --hard 5M $home/bob/vol $home/tom/x/vol >/dev/null
	touch $home/{bob,tom/x}/vol/file
	chown -R $TENANT $home/tom
	before=$(cat /etc/projects /etc/projid)
	bobs=$(inode_of $home/bob/vol) own=$(inode_of $home/tom/x/vol)
}

# bats test_tags=attack
@test "move --rename of a directory whose way is swapped moves the one that was named, or none" {
	local top home call count before bobs own new
	for top in "${tops[@]}"; do
		home=$top/home
		# openat2, openat, renameat2
		for call in $any 437 257 316; do
			for new in $home/new/vol $home/tom/x/new; do
				movable
				for ((count = 1; ; count++)); do
					situation="${new#"$home/"}, before call $call, $count, on $top"
					is_stopped_at $call $count "$FSQUOTA" move --rename $home/tom/x/vol $new || break
					swap x
					go_on
					[ "$(inode_of $home/bob/vol) $(ls $home/bob)" = "$bobs vol" ] || complain "bob has $(ls -Ri $home/bob)"
					if [ "$status" = 0 ]; then
						[ "$(inode_of ${new/tom?x/tom/away})" = "$own" ] || complain "moved another: $(ls -Ri $home)"
						grep -q ":$new$" /etc/projects || complain "not registered: $(</etc/projects)"
						movable
						continue
					fi
					[ "$(inode_of $home/tom/away/vol)" = "$own" ] || complain "$stderr: $(ls -Ri $home)"
					[ "$(cat /etc/projects /etc/projid)" = "$before" ] || complain "$stderr: $(cat /etc/projects /etc/projid)"
					swap_back x
				done
				[ "$status" = 0 ] || complain "without a swap: $status: $stderr"
				[ $call != 316 ] || [ $count -gt 1 ] || complain "it was never stopped"
				step "$situation"
			done
		done
	done
	no_complaints
}

# bats test_tags=attack
@test "assign --mkdir makes no directory where a symlink of the tenant leads in the middle of it" {
	local top home call count before victim there=''
	for top in "${tops[@]}"; do
		home=$top/home
		# mkdirat, openat2, fchown, fchmod
		for call in $any 258 437 93 91; do
			for there in '' new; do
				rm -rf $home
				no_files
				mkdir -p $home/{bob/vol,tom/y} ${there:+$home/bob/$there}
				chown -R $TENANT $home/tom
				before=$(cat /etc/projects /etc/projid)
				victim=$(find $home/bob -printf '%p %i %u %m\n'; lsattr -pR $home/bob)
				for ((count = 1; ; count++)); do
					situation="before call $call, $count, on $top${there:+, bob has one}"
					is_stopped_at $call $count "$FSQUOTA" assign --mkdir $home/tom/y/new --owner 1000 --hard 5M || break
					swap y
					go_on
					[ "$(find $home/bob -printf '%p %i %u %m\n'; lsattr -pR $home/bob)" = "$victim" ] ||
						complain "bob has $(ls -Rl $home/bob; lsattr -pR $home/bob)"
					if [ "$status" = 0 ]; then
						[ "$(stat -c %u $home/tom/away/new) $(hard $home/tom/away/new)" = "1000 5120" ] ||
							complain "done, but $(ls -Rl $home/tom)"
						swap_back y
						run fsquota release $home/tom/y/new
						rm -rf $home/tom/y/new
						continue
					fi
					[ ! -e $home/tom/away/new ] || complain "$status: $stderr: it is left: $(ls -l $home/tom/away)"
					[ "$(cat /etc/projects /etc/projid)" = "$before" ] || complain "$stderr: $(cat /etc/projects /etc/projid)"
					swap_back y
					rm -rf $home/tom/y/new
				done
				[ "$status" = 0 ] || complain "without a swap: $status: $stderr"
				[ $count -gt 1 ] || complain "it was never stopped"
				step "$situation"
			done
		done
	done
	no_complaints
}

victim() {
	find $home/bob -printf '%p %i %u %m\n' | sort
	lsattr -pR $home/bob
	kernel_has $top "$(project_of $home/bob/vol)"
}

# bats test_tags=attack
@test "a directory whose way is swapped while a command reaches for it is the one that was named, or none" {
	local top home command count before bobs own situation
	for top in "${tops[@]}"; do
		home=$top/home
		for command in "assign --hard 9M $home/tom/x/free" "assign --hard 9M $home/tom/x/vol" "resize $home/tom/x/vol 9M" \
			"release $home/tom/x/vol" "project -s -p $home/tom/x/free 55 $top" "project -C -p $home/tom/x/vol 55 $top" \
			"move $home/tom/x/gone $home/tom/x/free"; do
			status=0
			for ((count = 1; ; count++)); do
				situation="$command, before openat2 $count"
				if [ "$status" = 0 ]; then
					movable
					mkdir $home/{bob,tom/x}/free
					[[ $command != move* ]] || { echo "77:$home/tom/x/gone" >>/etc/projects && chattr +P -p 77 $home/tom/x/free; }
					before=$(victim)
				fi
				# shellcheck disable=SC2086 # its words
				is_stopped_at 437 $count "$FSQUOTA" $command || break
				swap x
				go_on
				[ "$(victim)" = "$before" ] || complain "$(diff <(victim) <(echo "$before"))"
				swap_back x
			done
			[ "$status" = 0 ] || complain "without a swap: $status: $stderr"
			[ $count -gt 1 ] || complain "it was never stopped"
			step "$situation"
		done
	done
	no_complaints
}

# --- what the administrator links ---------------------------------------------------------------

# ROW: status, text of stdout, command. HOME is as registered, REAL without the symlink.
over_links='0|HOME/ann hard=5M name=ann|fsquota export
0|ann hard=5M name=ann|fsquota export HOME
0|HOME/ann|fsquota list
0|HOME/ann|fsquota list HOME
0|HOME/ann|fsquota list REAL
0|path="HOME/ann"|fsquota metrics
0|HOME/ann|fsquota usage HOME/ann
0|/ann|fsquota usage REAL/ann
8|HOME/ann|fsquota check --over 90
8|ann|fsquota check --over 90 --name ann
0|HOME/ann|fsquota df TOP
0|HOME/ann/file|fsquota project -c ann
0||fsquota resize HOME/ann 6M
0||fsquota resize REAL/ann 6M
0||fsquota resize --name ann 6M
0||fsquota release HOME/ann
0||fsquota release REAL/ann
0||fsquota release --name ann
0||fsquota release --name ann --at TOP'

# bats test_tags=many
@test "a registered path over a symlink of root is known to every command" {
	local top home expected text command id=10
	for top in "${tops[@]}"; do
		home=$top/home
		mkdir -p $home
		ln -sfn $home /run/home
		while IFS='|' read -r expected text command; do
			situation="$command, $top"
			echo $((id += 1)):/run/home/ann >/etc/projects
			echo ann:$id >/etc/projid
			mkdir $home/ann
			chattr +P -p $id $home/ann
			fallocate -l 5000K $home/ann/file
			real -c "limit -p bhard=5m $id" $top
			[[ $command != *'project -c'* ]] || set_id 0 $home/ann/file
			text=${text//HOME//run/home} text=${text//REAL/$home}
			command=${command//HOME//run/home} command=${command//REAL/$home}
			# shellcheck disable=SC2086 # its words
			run_split ${command//TOP/$top}
			[ "$status" = "$expected" ] || complain "status $status: $stderr"
			[[ $stdout == *"$text"* ]] || complain "not $text: $stdout: $stderr"
			case $command in
			*resize*) [ "$(hard $home/ann)" = 6144 ] ;;
			*release*)
				[ "$(project_of $home/ann):$(cat /etc/projects /etc/projid)" = 0: ]
				[ "$(kernel_has $top $id | tr -d '0 ')" = '' ]
				;;
			esac || complain "$(project_of $home/ann), $(kernel_has $top $id), $(cat /etc/projects /etc/projid)"
			rm -rf $home/ann
			settle $top
		done <<<"$over_links"
	done
	no_complaints
}
