#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Programs and scripts that run xfs_quota get from us what they parse. Each test has one client's
# call, word by word, its way to read the answer, and a look at what the kernel then holds.

# shellcheck disable=SC2154 # run_split sets stdout and stderr
load ../lib/fsquota
load kernel

# Without a path, a report is about the first XFS that was mounted.
setup_file() { fresh_each x x2; }

# Each test has an ID and a directory of its own, and no files in /etc but those it makes.
setup() {
	id=$((100 + BATS_TEST_NUMBER))
	dir=/mnt/x/$id
	mkdir "$dir"
	rm -f /etc/projects /etc/projid
}

# does WORD...: xfs_quota, which has nothing to say on stderr.
does() {
	run_split xfs_quota "$@"
	assert_equal "$*: $status:$stderr" "$*: 0:"
}

# does_quietly WORD...: nor on stdout.
does_quietly() {
	does "$@"
	assert_equal "$stdout" ""
}

@test "directpv tags a directory without saying where it is mounted, gives it as mount point, and reads for people" {
	# The low half of a hash.
	local hash=4027431614 values=() words
	mkdir "$dir/below"
	exits 0 xfs_quota -x -c "project -d 0 -s -p $dir $hash"
	is_tagged "$dir" $hash
	is_untagged "$dir/below"
	does -x -c "limit -p bhard=1610612736 $hash" "$dir"
	fill "$dir/file" 40
	does -x -c 'report -h' "$dir"
	while read -r -a words; do
		[[ ${words[0]-} != "#$hash"* ]] || values=("${words[@]}")
	done <<<"$stdout"
	assert_equal "${values[1]} ${values[3]}" "2.5M 1.5G"
	holds p $hash 2560 0 1572864
}

# jupyterhub-home-nfs: names are paths, the files are its own, and options come after the command.
@test "2i2c sets up homes whose names are their paths, sets six limits, and takes the last fifteen words of a row" {
	local files=$BATS_TEST_TMPDIR/files words row=''
	echo "$id:$dir" >"$files.projects"
	echo "$dir:$id" >"$files.projid"
	does -x -c "project -s $dir" -D "$files.projects" -P "$files.projid" /mnt/x
	is_tagged "$dir" $id
	does -x -c "limit -p bhard=20480k bsoft=0 ihard=77 isoft=0 rtbsoft=0 rtbhard=0 $dir" \
		-D "$files.projects" -P "$files.projid" /mnt/x
	fill "$dir/file" 16
	exits 0 xfs_quota -x -c 'report -N -p -bir' -D "$files.projects" -P "$files.projid"
	while read -r -a words; do
		[ "${words[*]:0:${#words[@]}-15}" != "$dir" ] || row=${words[*]: -15}
	done < <(sed '/^$/d' <<<"$stdout")
	assert_equal "$row" "1024 0 20480 00 [--------] 2 0 77 00 [--------] 0 0 0 00 [--------]"
	holds p $id 1024 0 20480
	holds p $id 2 0 77 i
}

@test "OpenShift gives a device, takes any word on stderr as failure, and sees a refusal by that" {
	local limit="limit -g bsoft=1048576 bhard=1048576 1000150000"
	does -x -c "$limit" "$FSQ_X_DEV"
	holds g 1000150000 0 1024 1024
	fresh_fs x2 -o noquota
	run_split xfs_quota -x -c "$limit" "$FSQ_X2_DEV"
	fresh_fs x2
	assert_not_equal "$stderr" ""
	holds g 1000150000 0 0 0 b /mnt/x2
}

@test "go-xfsquota and Terminus get six columns, of blocks or of inodes" {
	tagged "$dir" $id
	oracle -x -c "limit -p bhard=5m isoft=50 ihard=60 $id" /mnt/x
	local form line words
	declare -A row
	for form in b i; do
		run_split xfs_quota -x -c "report -p -n -N -$form" /mnt/x
		while IFS= read -r line; do
			[ -n "$line" ] || continue
			read -r -a words <<<"$line"
			assert_equal "${#words[@]}" 6
			[ "${words[0]#\#}" != "$id" ] || row[$form]=${words[*]:1:3}
		done <<<"$stdout"
	done
	assert_equal "${row[b]}" "0 0 5120"
	assert_equal "${row[i]}" "1 50 60"
	holds p $id 0 0 5120
	holds p $id 1 50 60 i
}

# What remains of a check when its own lines are taken away.
drift() {
	run_split xfs_quota -x -D /dev/null -P /dev/null -c "project -c -p $dir $id" /mnt/x
	grep -Ev "^Checking project |^Processed [0-9]+ \(/dev/null and cmdline\) paths for project $id with recursion depth infinite \(-1\)\.\$|^xfs_quota" "$BATS_TEST_TMPDIR/stdout" "$BATS_TEST_TMPDIR/stderr" -h || true
}

@test "agents that check strictly see no drift in a tree that is as it should be, and a directory that drifted" {
	mkdir "$dir/below"
	tagged "$dir" $id
	assert_equal "$(drift)" ""
	chattr -p 0 -P "$dir/below"
	assert_equal "$(drift)" "$dir/below - project identifier is not set (inode=0, tree=$id)
$dir/below - project inheritance flag is not set"
	is_untagged "$dir/below"
}

# One project, rootfs, known to both files.
@test "Flying Circus sets up, limits, reads and clears its root project, and sets the time of grace of all" {
	echo "$id:$dir" >/etc/projects
	echo "rootfs:$id" >/etc/projid
	exits 0 xfs_quota -x -c 'project -s rootfs' /mnt/x
	is_tagged "$dir" $id
	does -x -c 'limit -p bsoft=2g bhard=2g rootfs' /mnt/x
	fill "$dir/file" 16
	does -xc 'report -p' /mnt/x
	# ^rootfs\s+(\d+)\s+\d+\s+(\d+)\s+
	assert_equal "$(sed -nE 's/^rootfs\s+([0-9]+)\s+[0-9]+\s+([0-9]+)\s+.*/\1 \2/p' <<<"$stdout")" \
		"1024 2097152"
	holds p $id 1024 2097152 2097152
	exits 0 xfs_quota -x -c 'project -C rootfs' /mnt/x
	is_untagged "$dir"
	does_quietly -x -c 'timer -p 1m' /mnt/x
	run oracle -x -c 'state -p' /mnt/x
	assert_line 'Blocks grace time: [0 days 00:01:00]'
	assert_line 'Inodes grace time: [0 days 00:01:00]'
	oracle -x -c 'timer -p 7d' /mnt/x
}

# In a mount namespace where the filesystem is at /host alone.
at_host() {
	# shellcheck disable=SC2016 # expanded by the inner shell
	unshare -m bash -c 'mkdir -p /mnt/host && mount --move /mnt/x /mnt/host && "$@"' bash "$@"
}

@test "hail limits and tags scratch directories where the host is mounted, with a slash at the end" {
	is_silent at_host xfs_quota -x -c "limit -p bsoft=12582912 bhard=12582912 $id" /mnt/host/
	holds p $id 0 12288 12288
	succeeds at_host xfs_quota -x -c "project -s -p /mnt/host/$id $id" /mnt/host/
	is_tagged "$dir" $id
	is_silent at_host xfs_quota -x -c "limit -p bsoft=0 bhard=0 $id" /mnt/host/
	holds p $id 0 0 0
}

@test "webmin reads blocks and inodes of a user from one row" {
	oracle -x -c 'limit -u bsoft=3m bhard=5m isoft=7 ihard=9 daemon' /mnt/x
	chown daemon "$dir"
	does -xc 'quota -b -i -u daemon'
	local row
	row=$(awk '$1 == device && NF == 12 { print $2, $3, $4, $7, $8, $9, $12 }' \
		device="$FSQ_X_DEV" <<<"$stdout")
	assert_equal "$row" "0 3072 5120 1 7 9 /mnt/x"
	holds u 1 0 3072 5120
	holds u 1 1 7 9 i
}

@test "ISPConfig limits a user in mebibytes, and sets all times of grace of users, in seconds" {
	does_quietly -x -c 'limit -u bsoft=500m bhard=501m games' /mnt/x
	holds u 5 0 512000 513024
	does_quietly -x -c 'limit -u bsoft=0m bhard=0m games' /mnt/x
	holds u 5 0 0 0
	oracle -x -c 'timer -u -bir 1d' /mnt/x
	does_quietly -x -c 'timer -bir -i 604800' /mnt/x
	run oracle -x -c 'state -u' /mnt/x
	assert_line 'Blocks grace time: [7 days]'
	assert_line 'Inodes grace time: [7 days]'
	assert_line 'Realtime Blocks grace time: [7 days]'
}

@test "Mesos' operators find a range of IDs on all filesystems" {
	local one
	for one in 4999 5000 10000 10001; do
		mkdir -p "$dir/$one" "/mnt/x2/$one"
		tagged "$dir/$one" $one
		tagged "/mnt/x2/$one" $one /mnt/x2
	done
	does -x -c 'report -p -a -n -L 5000 -U 10000'
	assert_equal "$(awk '/^Project quota on/ { print $4 } /^#/ { print $1 }' <<<"$stdout" | xargs)" \
		"/mnt/x #5000 #10000 /mnt/x2 #5000 #10000"
	run_split xfs_quota -x -c 'report -a -n -L 5000 -U 10000'
	assert_equal "$stdout" "$(oracle -x -c 'report -a -n -L 5000 -U 10000')"
	assert_equal "$(xfs_io -r -c stat "$dir/5000" | awk '/projid/ { print $3 }')" 5000
}

@test "who reads repquota as CSV finds our limits" {
	tagged "$dir" $id
	does_quietly -x -c "limit -p bsoft=3m bhard=5m isoft=7 ihard=9 $id" /mnt/x
	run repquota -P -n -O csv /mnt/x
	assert_line "#$id,ok,ok,0,3072,5120,,1,7,9,"
}
