#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
# needs: python3-yaml
#
# Provisioners whose set-up and clean-up are whole scripts, in which our answer decides on the next
# call. Each test runs them as they are run, and looks at what the kernel then holds.

# shellcheck disable=SC2154 # run_split sets stdout and stderr
load ../lib/fsquota
load kernel

setup_file() { fresh_each x x2 e; }

setup() {
	rm -f /etc/projects /etc/projid
	mkdir -p /mnt/x/volumes /mnt/x/elsewhere /mnt/e/volumes
	volume=pvc-$BATS_TEST_NUMBER
	node=()
}

# in_helper MOUNTPOINT SCRIPT [ARGUMENT...]: in a helper's container a directory of the host is at
# /mnt/data, and no other filesystem is there.
in_helper() {
	# shellcheck disable=SC2016 # expanded by the inner shell
	unshare -m sh -c 'mkdir -p /mnt/data && mount --bind "$1/volumes" /mnt/data &&
		umount /mnt/x /mnt/x2 /mnt/e && shift && exec sh -c "$@"' sh "$1" "$2" sh "${@:3}"
}

# --- OpenEBS ------------------------------------------------------------------------------------

# openebs_sets_up VOLUME SOFT HARD: with limits in KiB.
# shellcheck disable=SC2016 # expanded in the helper
openebs_sets_up() {
	in_helper /mnt/x '
		[ "$(stat -f -c %T /mnt/data)" = xfs ] || exit 9
		mkdir /mnt/data/$1
		PID=`xfs_quota -x -c "report -h" /mnt/data | tail -2 | awk "NR==1{print substr (\\$1,2)}+0"`
		PID=$(($PID + 1))
		xfs_quota -x -c "project -s -p /mnt/data/$1  "$PID /mnt/data
		xfs_quota -x -c "limit -p bsoft=${2}k bhard=${3}k "$PID /mnt/data' "$@"
}

# shellcheck disable=SC2016 # expanded in the helper
openebs_cleans_up() {
	in_helper /mnt/x '
		ID=$(xfs_io -c stat /mnt/data/$1 | awk "/projid/{print \$3}")
		find -P /mnt/data/$1 \! -type p -print0 | tac | xargs -0 -n 64 xfs_io -c "chproj 0"
		xfs_quota -x -c "limit -p bsoft=0 bhard=0 $ID" /mnt/data' "$@"
}

@test "OpenEBS gives the first volume ID 1, and goes on from the highest ID" {
	fresh_fs x
	mkdir /mnt/x/volumes /mnt/x/hundred
	succeeds openebs_sets_up "$volume" 8192 10240
	is_tagged /mnt/x/volumes/$volume 1
	holds p 1 0 8192 10240
	tagged /mnt/x/hundred 100
	oracle -x -c 'limit -p bhard=1m 99' -c 'limit -u bhard=1m 5000' -c 'limit -g bhard=1m 6000' /mnt/x
	openebs_sets_up "$volume-a" 1024 1024
	openebs_sets_up "$volume-b" 2048 2048
	is_tagged "/mnt/x/volumes/$volume-a" 101
	is_tagged "/mnt/x/volumes/$volume-b" 102
	holds p 100 0 0 0
	holds p 101 0 1024 1024
	holds p 102 0 2048 2048
}

@test "OpenEBS' clean-up leaves neither ID nor limit nor use" {
	local directory=/mnt/x/volumes/$volume
	oracle -x -c 'limit -p bhard=1m 1234567' /mnt/x
	openebs_sets_up "$volume" 8192 10240
	mkdir "$directory/a blank"
	fill "$directory/a blank/file" 16
	holds p 1234568 1024 8192 10240
	succeeds openebs_cleans_up "$volume"
	run lsattr -pd "$directory" "$directory/a blank" "$directory/a blank/file"
	assert_equal "$(awk '{ print $1 }' <<<"$output" | xargs)" "0 0 0"
	holds p 1234568 0 0 0
	holds p 1234568 0 0 0 i
}

@test "OpenEBS on ext4 goes on from IDs that we set, and cleans up by ours" {
	local directory=/mnt/e/volumes/$volume
	mkdir "$directory.ours"
	succeeds xfs_quota -x -f -c "project -s -p $directory.ours 500" /mnt/e
	# shellcheck disable=SC2016 # expanded in the helper
	in_helper /mnt/e '
		mkdir /mnt/data/$1
		PID=`repquota -P /mnt/data | tail -3 | awk "NR==1{print substr (\\$1,2)}+0"`
		PID=$(($PID + 1))
		chattr +P -p $PID /mnt/data/$1
		setquota -P $PID 8192K 10240K 0 0 /mnt/data' "$volume"
	is_tagged "$directory" 501
	assert_equal "$(fsquota lsattr -pd "$directory/" | awk '{ print $1 }')" 501
	run_split xfs_quota -x -f -c 'report -p -N -n -L 501 -U 501' /mnt/e
	assert_output --regexp '^#501 +4 +8192 +10240 '
	run_split xfs_quota -x -f -c 'limit -p bsoft=0 bhard=0 501' /mnt/e
	run repquota -P -n /mnt/e
	assert_line --regexp '^#501 +-- +4 +0 +0 +1 '
}

# --- local-path-provisioner ---------------------------------------------------------------------

# local_path_sets_up VOLUME BYTES: its files grow by a line each; no path for the set-up.
local_path_sets_up() {
	local directory=/mnt/x/volumes/$1 project=0
	[ ! -s /etc/projects ] || project=$(tail -n1 /etc/projects)
	project=$((${project%%:*} + 1))
	mkdir -p "$directory"
	echo "$project:$directory" >>/etc/projects
	echo "$1:$project" >>/etc/projid
	xfs_quota -x -c "project -s $1" &&
		xfs_quota -x -c "limit -p bhard=$2 $1" /mnt/x &&
		xfs_quota -x -c "report -pbih" /mnt/x
}

local_path_tears_down() {
	xfs_quota -x -c "limit -p bhard=0 $1" /mnt/x
	rm -rf "/mnt/x/volumes/$1"
	# shellcheck disable=SC2005 # as it is done
	echo "$(sed "/$1/d" /etc/projects)" >/etc/projects
	# shellcheck disable=SC2005
	echo "$(sed "/$1/d" /etc/projid)" >/etc/projid
}

@test "local-path-provisioner sets up volumes without saying where they are mounted" {
	local long=pvc-0b7fb5c1-9e0a-4f5e-8f0e-6d1ab2c3d4e5_default_data
	echo '800:/mnt/x/elsewhere' >/etc/projects
	exits 0 local_path_sets_up $long 1073741824
	assert_equal "$(awk '$1 == name { print $2, $4, $7, $9 }' name=$long <<<"$stdout")" "0 1G 1 0"
	local_path_sets_up $volume 8388608
	is_tagged /mnt/x/volumes/$long 801
	is_tagged /mnt/x/volumes/$volume 802
	holds p 801 0 0 1048576
	holds p 802 0 0 8192
}

@test "local-path-provisioner finds a volume on the second filesystem, too" {
	mkdir /mnt/x2/$volume
	echo "820:/mnt/x2/$volume" >/etc/projects
	echo "$volume:820" >/etc/projid
	exits 0 xfs_quota -x -c "project -s $volume"
	is_tagged /mnt/x2/$volume 820
	succeeds xfs_quota -x -c "limit -p bhard=4194304 $volume" /mnt/x2
	holds p 820 0 0 4096 b /mnt/x2
	holds p 820 0 0 0
}

@test "local-path-provisioner's tear-down takes the limit off before the volume goes, and leaves an empty line" {
	fresh_fs x
	mkdir /mnt/x/volumes
	local_path_sets_up $volume-one 4194304
	fill "/mnt/x/volumes/$volume-one/file" 16
	holds p 1 1024 0 4096
	is_silent local_path_tears_down $volume-one
	holds p 1 0 0 0
	echo '840:/mnt/x/elsewhere' >>/etc/projects
	exits 0 local_path_sets_up $volume-two 8388608
	is_tagged /mnt/x/volumes/$volume-two 841
	holds p 841 0 0 8192
}

# --- contrib/kubernetes/local-path ----------------------------------------------------------------

# The provisioner runs setup and teardown in a helper with these variables: script NAME VOLUME [BYTES
# [MODE]]. Sets status, stdout and stderr.
script() {
	run_split env -i "PATH=$PATH" "VOL_DIR=/mnt/x/volumes/$2" "VOL_SIZE_BYTES=${3-4194304}" \
		"VOL_MODE=${4-Filesystem}" "${node[@]}" sh "$srcdir/contrib/kubernetes/local-path/$1"
}

# does ARGUMENT...: the script, which ends with 0 and says nothing on stderr.
does() {
	script "$@"
	assert_equal "$*: $status:$stderr" "$*: 0:"
}

# nothing_registered [DIRECTORY]: the files are there, and empty.
nothing_registered() { prints '' cat "${1-/etc}/projects" "${1-/etc}/projid"; }

@test "our set-up of a volume makes its directory and its limit, and the same again" {
	local id
	does setup "$volume" 8388608
	id=$stdout
	is_tagged "/mnt/x/volumes/$volume" "$id"
	assert_equal "$(stat -c %a "/mnt/x/volumes/$volume")" 777
	holds p "$id" 0 0 8192
	run ! setpriv --reuid 1000 --clear-groups dd if=/dev/zero of="/mnt/x/volumes/$volume/file" bs=64k count=200 \
		conv=fsync
	assert [ "$(stat -c %s "/mnt/x/volumes/$volume/file")" -le 8388608 ]
	script setup "$volume" 8388608
	assert_equal "$status:$stdout:$stderr" "0:$id:"
}

@test "our tear-down of a volume leaves neither files nor limit nor lines, the same again, and where one was ended" {
	local id directory=/mnt/x/volumes/$volume
	script setup "$volume"
	id=$stdout
	mkdir "$directory/a blank" "$directory/.hidden"
	ln -s /etc "$directory/link"
	fill "$directory/a blank/file" 16
	does teardown "$volume"
	assert_not_exist "$directory"
	nothing_registered
	holds p "$id" 0 0 0
	does teardown "$volume"
	script setup "$volume"
	rmdir "$directory"
	does teardown "$volume"
	nothing_registered
}

@test "our tear-down succeeds while a deleted file is open" {
	script setup "$volume"
	fill "/mnt/x/volumes/$volume/file" 16
	exec 9<"/mnt/x/volumes/$volume/file"
	script teardown "$volume"
	exec 9<&-
	assert_equal "$status" 0
	assert_not_exist "/mnt/x/volumes/$volume"
	nothing_registered
}

@test "our set-up of a block volume and of a bad size changes nothing, and of none only counts" {
	script setup "$volume" 4194304 Block
	assert_equal "$status:$stdout" 2:
	assert_equal "$stderr" "setup: /mnt/x/volumes/$volume: there are no quotas for volumes of mode Block"
	script setup "$volume" 4x
	assert_equal "$status:$stdout" 2:
	assert_one_line
	assert_not_exist "/mnt/x/volumes/$volume"
	assert_not_exist /etc/projects
	does setup "$volume" 0
	assert_equal "$(fsquota usage --json "/mnt/x/volumes/$volume" | jq '.usage[0].hard_bytes')" null
}

@test "our resize of a volume lets it grow, and shrinks none" {
	local id
	does setup "$volume" 4194304
	id=$stdout
	does resize "$volume" 8388608
	holds p "$id" 0 0 8192
	does resize "$volume" 8388608
	script resize "$volume" 4194304
	assert_equal "$status" 6
	script resize "$volume" 0
	assert_equal "$status:$stderr" "2:resize: /mnt/x/volumes/$volume: no size is given"
	script resize "$volume-none" 8388608
	assert_equal "$status" 5
	holds p "$id" 0 0 8192
}

@test "a line for its claim lets a volume grow, ours or that of OpenEBS, and on another node it is about nothing" {
	local id line openebs=/mnt/x/volumes/openebs-$volume
	does setup "${volume}_default_db" 4194304
	id=$stdout
	mkdir "$openebs"
	fsquota -x -c "project -s -p $openebs 845" -c 'limit -p bsoft=4096k bhard=4096k 845' /mnt/x >/dev/null
	line=$(sed -n 's|^#   /data/|/mnt/x/volumes/|p' "$srcdir/contrib/kubernetes/local-path/resize")
	printf '%s\n' "${line/20G/8M}" "$openebs* soft=8M hard=8M" >"$BATS_TEST_TMPDIR/lines"
	prints "changed   /mnt/x/volumes/${volume}_default_db
created   $openebs" fsquota apply "$BATS_TEST_TMPDIR/lines"
	holds p "$id" 0 0 8192
	holds p 845 0 8192 8192
	rm -r "$openebs" "/mnt/x/volumes/${volume}_default_db"
	prints '' fsquota apply "$BATS_TEST_TMPDIR/lines"
}

@test "our scripts and those on xfs_quota share a node" {
	local ours theirs
	echo '900:/mnt/x/elsewhere' >/etc/projects
	local_path_sets_up "$volume-theirs" 4194304
	script setup "$volume-ours" 8388608
	ours=$stdout
	local_path_sets_up "$volume-later" 2097152
	theirs=$(fsquota id "/mnt/x/volumes/$volume-later")
	is_tagged "/mnt/x/volumes/$volume-theirs" 901
	assert_not_equal "$ours" "$theirs"
	holds p 901 0 0 4096
	holds p "$ours" 0 0 8192
	holds p "$theirs" 0 0 2048
	# Each takes away its own, and ours also what theirs has set up.
	does teardown "$volume-ours"
	holds p "$ours" 0 0 0
	does teardown "$volume-theirs"
	holds p 901 0 0 0
	local_path_tears_down "$volume-later"
	holds p "$theirs" 0 0 0
	assert_equal "$(grep -v '^$' /etc/projects)" '900:/mnt/x/elsewhere'
}

# bats test_tags=install
@test "our scripts in the helper of the manifest register in the node's files" {
	local id
	mkdir "$BATS_TEST_TMPDIR/etc"
	node=("NODE_ETC=$BATS_TEST_TMPDIR/etc")
	assert_equal "$(python3 -c '
import sys, yaml
pod = yaml.safe_load(open(sys.argv[1]))
spec = pod["spec"]
container, = spec["containers"]
volumes = {volume["name"]: volume["hostPath"]["path"] for volume in spec["volumes"]}
mounts = {mount["mountPath"]: volumes[mount["name"]] for mount in container["volumeMounts"]}
print(pod["kind"], container["name"], *[mounts[one["value"]] for one in container["env"]])
' "$srcdir/contrib/kubernetes/local-path/helperPod.yaml")" "Pod helper-pod /etc"
	does setup "$volume"
	id=$stdout
	prints "$id:/mnt/x/volumes/$volume" cat "$BATS_TEST_TMPDIR/etc/projects"
	assert_not_exist /etc/projects
	does teardown "$volume"
	nothing_registered "$BATS_TEST_TMPDIR/etc"
}

# --- pouch and its kin: the tools of quota, and ours for what is there ----------------------------

@test "pouch sees the IDs and limits that we set, and its own in ours" {
	local id=16777217 directory=/mnt/e/$volume/layer
	mkdir -p "$directory" "$directory.ours"
	chattr -p $id +P "$directory"
	setquota -P $id 0 8192 0 0 /mnt/e
	run_split xfs_quota -x -f -c "project -s -p $directory.ours $((id + 1))" \
		-c "limit -p bhard=4m $((id + 1))" /mnt/e
	assert_equal "$status:$stderr" "0:"
	# The words of a line are taken at single blanks.
	assert_equal "$(fsquota lsattr -p "/mnt/e/$volume" | cut -d ' ' -f 1,3 | sort)" \
		"$id $directory"$'\n'"$((id + 1)) $directory.ours"
	run repquota -Pan
	assert_line --regexp "^#$((id + 1)) +-- +4 +0 +4096 "
	assert_line --regexp "^#$id +-- +4 +0 +8192 "
}
