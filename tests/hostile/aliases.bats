#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# A directory is its device and inode: bind mounts and symlinks give it several names.

load ../lib/fsquota
load hostile

setup() {
	no_files
	fresh_each x e
}

teardown() {
	umount -R /mnt/other 2>/dev/null || :
	umount /mnt/[xe]/a/{self,self/deep,bind,tmp} 2>/dev/null || :
}

# project_of FILE
project_of() { lsattr -pd "$1" | awk '{ print $1 }'; }

@test "a mount of a directory onto itself is part of the tree, for every command" {
	local top id path
	for top in /mnt/x /mnt/e; do
		rm -f /etc/projects /etc/projid
		mkdir -p $top/a/self/deep/down
		mount --bind $top/a/self $top/a/self
		mount --bind $top/a/self/deep $top/a/self/deep
		touch $top/a/{f,self/f,self/deep/f,self/deep/down/f}
		id=$(fsquota assign $top/a --hard 5M)
		chmod -R a+rwX $top/a
		for path in $top/a/{f,self,self/f,self/deep,self/deep/f,self/deep/down/f}; do
			assert_equal "$path: $(project_of $path)" "$path: $id"
		done
		run ! setpriv --reuid 1000 --regid 1000 --clear-groups \
			dd if=/dev/zero of=$top/a/self/deep/big bs=1M count=20
		rm $top/a/self/deep/big
		run_split fsquota find --json "$id" $top
		assert_equal "$(jq '.find | length' <<<"$stdout") $(jq .mounts_skipped <<<"$stdout")" "8 0"
		fsquota release $top/a
		counts $top "$id" 0
		fsquota project -s -p $top/a 77
		assert_equal "$(project_of $top/a/self/deep/down/f)" 77
		assert_equal "$(fsquota usage --fallback=walk --json $top/a/self | jq -c '.usage[0] | [.id, .mounts_skipped]')" '[77,null]'
		fsquota project -C -p $top/a 77 >/dev/null
		counts $top 77 0
		umount $top/a/self/deep $top/a/self
	done
}

@test "a line with //, /. or .. in its path is the line of that directory, for every command" {
	local top spelled command id
	for top in /mnt/x /mnt/e; do
		mkdir -p $top/v
		for spelled in $top/v//one $top/v/./one $top/v/one/. $top/v/../v/one "/$top/v/one" $top/v/one//; do
			for command in 'release --name one' 'release --id 12' "release $top/v/one" "release $spelled" \
				"resize $top/v/one 20M" "assign $top/v/one --hard 20M" "list -No PATH $top" "prune" "explain $top/v/one"; do
				rm -rf $top/v/one
				mkdir $top/v/one
				echo "12:$spelled" >/etc/projects
				echo one:12 >/etc/projid
				real -c "project -s -p $top/v/one 12" -c 'limit -p bhard=10m 12' $top >/dev/null
				# shellcheck disable=SC2086 # its words
				run_split fsquota $command
				[ "$status" = 0 ] || complain "$spelled: $command: $status: $stderr"
				[[ $command != list* || $stdout == *v* ]] || complain "$spelled: $command: $stdout"
				id=$(project_of $top/v/one)
				case $command:$id:$(kernel_has $top 12 | cut -d' ' -f3):$(cat /etc/projects /etc/projid) in
				release*:0::) ;;
				[ra]*:12:20480:"12:$spelled"$'\n'one:12) ;;
				[lpe]*:12:10240:"12:$spelled"$'\n'one:12) ;;
				*) complain "$spelled: $command: $id, $(kernel_has $top 12), $(cat /etc/projects /etc/projid)" ;;
				esac
				fsquota release $top/v/one --if-exists 2>/dev/null || :
			done
			# Gone, or renamed.
			for command in 'release --name one' "release $top/v/one" "move $top/v/one $top/v/two" prune; do
				[[ $spelled != *..* || $command != *$top* ]] || continue
				mkdir -p $top/v/one
				echo "12:$spelled" >/etc/projects
				echo one:12 >/etc/projid
				real -c "project -s -p $top/v/one 12" -c 'limit -p bhard=10m 12' $top >/dev/null
				if [[ $command == move* ]]; then mv $top/v/{one,two}; else rmdir $top/v/one; fi
				settle $top
				# shellcheck disable=SC2086 # its words
				run_split fsquota $command
				[ "$status" = 0 ] || complain "$spelled, gone: $command: $status: $stderr"
				case $command:$(cat /etc/projects /etc/projid) in
				*[!o]:) ;;
				move*:"12:$top/v/two"$'\n'one:12) fsquota release $top/v/two && rmdir $top/v/two ;;
				*) complain "$spelled, gone: $command: $(cat /etc/projects /etc/projid)" ;;
				esac
			done
		done
	done
	no_complaints
}

@test "project -p of a directory that is registered, or given twice, visits it once" {
	mkdir /mnt/x/one
	echo 12:/mnt/x/one >/etc/projects
	run_split fsquota project -c -p /mnt/x/one -p /mnt/x//one/. 12 /mnt/x
	assert_equal "${#lines[@]}:$(sort -u <<<"$stdout" | wc -l)" 2:2
	prints 1 jq '.project | length' <(fsquota project --json -s -p /mnt/x/one 12 --at /mnt/x)
}

@test "other mounts are not entered, and each command says so" {
	local top says='2 mounts are not entered, first /mnt/'
	for top in /mnt/x /mnt/e; do
		rm -f /etc/projects /etc/projid
		mkdir -p $top/a/{bind,tmp} $top/b
		touch $top/b/f $top/a/f
		mount --bind $top/b $top/a/bind
		mount -t tmpfs t $top/a/tmp
		run_split fsquota assign --dry-run --raw -N -o MOUNTS,ID $top/a --id 500
		assert_equal "$stdout" "2 500"
		run_split fsquota assign --json $top/a --id 500
		assert_equal "$status $(jq .assign[].mounts_skipped <<<"$stdout")" "0 2"
		assert_one_line
		[[ $stderr == *"$says"* ]]
		assert_equal "$(project_of $top/b/f) $(project_of $top/a/f)" "0 500"
		run_split fsquota find 500 $top/a --json
		assert_equal "$(jq -c '[(.find | length), .mounts_skipped]' <<<"$stdout")" '[2,2]'
		[[ $stderr == *"$says"* ]]
		run_split fsquota project -c -p $top/a 500
		[[ $stderr == *"$says"* ]]
		# Of the one that xfs_quota would enter.
		run_split xfs_quota -x -f -c "project -c -p $top/a 500" $top
		[[ $stderr == *"the mount $top/a/bind is not entered"* ]]
		run_split fsquota release --json $top/a
		assert_equal "$status $(jq '.release[0].mounts_skipped' <<<"$stdout")" "0 2"
		[[ $stderr == *"$says"* ]]
		run_split fsquota usage --fallback=walk --json $top/a
		assert_equal "$status $(jq '.usage[0].mounts_skipped' <<<"$stdout")" "0 2"
		[[ $stderr == *"$says"* ]]
		umount $top/a/{bind,tmp}
	done
}

@test "release and assign leave a project inside that is registered by another name" {
	local top link
	for top in /mnt/x /mnt/e; do
		for link in bind symlink; do
			rm -rf /etc/projects /etc/projid $top/a
			mkdir -p $top/a/srv/home/ann $top/a/srv/other
			if [ $link = bind ]; then
				mkdir -p /mnt/other
				mount --bind $top/a/srv/home /mnt/other
			else
				ln -s $top/a/srv/home /mnt/other
			fi
			touch $top/a/srv/home/ann/f $top/a/srv/f
			fsquota assign $top/a/srv --id 601 --hard 9M
			fsquota assign $top/a/srv/home/ann --id 600 --hard 3M
			sed -i "s|$top/a/srv/home|/mnt/other|" /etc/projects
			# The owner gives the directory another ID; assign takes it back, but not what is ann's.
			chattr -p 99 $top/a/srv $top/a/srv/other
			fsquota assign $top/a/srv
			assert_equal "$(project_of $top/a/srv/other)" 601
			assert_equal "$(project_of $top/a/srv/home/ann/f)" 600
			fsquota release $top/a/srv
			assert_equal "$(project_of $top/a/srv/home/ann/f) $(project_of $top/a/srv/f)" "600 0"
			assert_equal "$(kernel_has $top 600)" "$([ $top = /mnt/x ] && echo 0 || echo 4) 0 3072 2 0 0"
			# By the name that is not registered it is the same directory.
			run_split fsquota assign $top/a/srv/home/ann
			assert_equal "$status $stdout $(</etc/projects)" "0 600 600:/mnt/other/ann"
			fsquota release $top/a/srv/home/ann
			assert_equal "$(cat /etc/projects /etc/projid)" ""
			if [ $link = bind ]; then umount /mnt/other && rmdir /mnt/other; else rm /mnt/other; fi
		done
	done
}

@test "a directory that is renamed, replaced or deleted while a command waits is a conflict, and nothing has changed" {
	local top=/mnt/x act command pid status id=700
	for act in 'mv d moved' 'mv d moved; mkdir d' 'rmdir d'; do
		for command in assign release; do
			rm -rf $top/d $top/moved /etc/projects /etc/projid
			mkdir $top/d
			[ $command = assign ] || fsquota assign $top/d --id $((id += 1)) --hard 1M
			touch /etc/projects
			coproc HOLDER { flock /etc/projects sh -c 'echo; read -r _'; }
			read -r _ <&"${HOLDER[0]}"
			fsquota $command $top/d >"$BATS_TEST_TMPDIR/told" 2>&1 3>&- &
			pid=$!
			until [[ $(readlink /proc/$pid/fd/*) == */etc/projects* ]]; do nap 0.05; done
			(cd $top && eval "$act")
			holder=$HOLDER_PID
			echo >&"${HOLDER[1]}"
			wait "$holder"
			status=0
			wait $pid || status=$?
			assert_equal "$command, $act: $status" "$command, $act: 6"
			grep -q 'was renamed, replaced or deleted' "$BATS_TEST_TMPDIR/told"
			[ $command = release ] || assert_equal "$(cat /etc/projects)" ""
			[ $command = assign ] || assert_equal "$(cat /etc/projects)" "$id:$top/d"
		done
	done
}

@test "--mkdir: sixty at once get one ID, names have up to 255 bytes, and who gives up removes nothing of others" {
	local top=/mnt/x name i pids=()
	for i in {1..60}; do
		fsquota assign $top/d --mkdir --hard 1M >"$BATS_TEST_TMPDIR/$i" 2>&1 3>&- &
		pids+=($!)
	done
	for i in "${pids[@]}"; do wait $i || fail "$(cat "$BATS_TEST_TMPDIR"/*)"; done
	assert_equal "$(sort -u "$BATS_TEST_TMPDIR"/{1..60})" 1048577
	assert_equal "$(grep "$top" /etc/projects)" "1048577:$top/d"
	for i in 247 250 255; do
		printf -v name '%0*d' $i 7
		fsquota assign $top/$name --mkdir --owner nobody --mode 750 >/dev/null
		assert_equal "$(stat -c '%U %a' $top/$name)" "nobody 750"
		fsquota release $top/$name
		rmdir $top/$name
	done
	# In a project that hands on its ID, too.
	chattr +P -p 99 $top
	fsquota assign $top/d2 --mkdir >/dev/null
	chattr -P -p 0 $top
	assert_equal "$(project_of $top/d2)" 1048578
	coproc HOLDER { flock /etc/projects sh -c 'echo; read -r _'; }
	read -r _ <&"${HOLDER[0]}"
	# Until it has its quota only root can enter it; who gives up removes it.
	fsquota assign $top/new --mkdir --owner nobody --lock-timeout 2 >"$BATS_TEST_TMPDIR/told" 2>&1 3>&- &
	i=$!
	until [ -d $top/new ]; do nap 0.05; done
	assert_equal "$(stat -c '%U %a' $top/new)" "root 1700"
	status=0
	wait $i || status=$?
	assert_equal "$status:$(ls -A $top | grep -v "^d")" 1:
	# What lies there by then is another's.
	fsquota assign $top/new --mkdir --lock-timeout 2 >"$BATS_TEST_TMPDIR/told" 2>&1 3>&- &
	i=$!
	until [ -d $top/new ]; do nap 0.05; done
	mv $top/new $top/d-elsewhere
	mkdir $top/new
	status=0
	wait $i || status=$?
	assert_equal "$status:$(ls -A $top | grep -v "^d[0-9]*$" | xargs)" "1:d-elsewhere new"
	rmdir $top/{new,d-elsewhere}
	# Who is killed leaves it, and the next one finishes it.
	fsquota assign $top/new --mkdir --owner nobody --mode 750 >"$BATS_TEST_TMPDIR/told" 2>&1 3>&- &
	i=$!
	until [ -d $top/new ]; do nap 0.05; done
	kill -KILL $i
	wait $i || true
	# Who comes second waits for the first.
	: >"$BATS_TEST_TMPDIR/told"
	fsquota assign $top/d3 --mkdir >>"$BATS_TEST_TMPDIR/told" 3>&- &
	i=$!
	until [ -d $top/d3 ]; do nap 0.05; done
	refuses 1 "$top/d3" fsquota assign $top/d3 --mkdir --lock-timeout 0
	fsquota assign $top/d3 --mkdir >>"$BATS_TEST_TMPDIR/told" 3>&- &
	until [[ $(readlink /proc/$!/fd/*) == *$top* ]]; do nap 0.05; done
	holder=$HOLDER_PID
	echo >&"${HOLDER[1]}"
	wait "$holder" $i $!
	assert_equal "$(uniq -c "$BATS_TEST_TMPDIR/told" | xargs)" "2 1048579"
	assert_equal "$(stat -c '%U %a' $top/d3)" "root 755"
	fsquota assign $top/new --mkdir --owner nobody --mode 750 >/dev/null
	assert_equal "$(stat -c '%U %a' $top/new)" "nobody 750"
	# One of somebody else's that looks like it keeps its owner.
	install -d -m 1700 -o daemon $top/theirs
	fsquota assign $top/theirs --mkdir --owner nobody --mode 750 >/dev/null
	assert_equal "$(stat -c '%U %a' $top/theirs)" "daemon 1700"
}

@test "apply: one directory by two names is an error, and gets what the later line says; a written name comes before a pattern" {
	local other top=/mnt/x/srv
	mkdir -p $top/x /mnt/other
	ln -s $top /mnt/x/link
	mount --bind $top /mnt/other
	for other in /mnt/x/link/x /mnt/other/x; do
		printf '%s\n' "$top/x hard=1M" "$other hard=2M" >/run/wanted
		run_split fsquota apply --dry-run /run/wanted
		assert_equal "$status:$stdout" "6:would-create  $other"
		assert_equal "$(project_of $top/x)" 0
		for _ in 1 2; do
			run_split fsquota apply --quiet /run/wanted
			assert_equal "$status:$stderr" "6:fsquota apply: /run/wanted, line 2: $other is in line 1, too, as $top/x: line 2 applies"
			assert_equal "$(kernel_has /mnt/x 1048577)" "0 0 2048 1 0 0"
		done
		fsquota release $other
	done
	printf '%s\n' "$top/* hard=1M" "/mnt/x/link/x hard=2M" >/run/wanted
	for _ in 1 2; do
		fsquota apply /run/wanted
		assert_equal "$(kernel_has /mnt/x 1048577)" "0 0 2048 1 0 0"
	done
	umount /mnt/other
	rm -r $top /mnt/x/link
}
