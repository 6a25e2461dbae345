#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=install,shared,full
# needs: ansible
#
# Ansible's module community.general.xfs_quota, the real one, does with us what a playbook says.
# Its arguments are a task's; what it returns, a playbook's handlers act on.

# shellcheck disable=SC2154 # run_split sets stdout and stderr
load ../lib/fsquota
load kernel

setup_file() {
	fresh_fs x
}

# Each test has a project of its own, known to both files, and its directory with another below.
setup() {
	id=$((100 + BATS_TEST_NUMBER))
	dir=/mnt/x/$id name=project$id type=project
	mkdir -p "$dir/below"
	echo "$id:$dir" >/etc/projects
	echo "$name:$id" >/etc/projid
	as=()
}

# task ARGUMENT=VALUE...: as Ansible runs the module, less the three seconds of its own start.
# Sets changed, and message if it failed. as is a command to run it by.
task() {
	local argument json=''
	for argument in "$@"; do
		json+=", \"${argument%%=*}\": \"${argument#*=}\""
	done
	run_split "${as[@]}" /usr/bin/python3 -m \
		ansible_collections.community.general.plugins.modules.xfs_quota \
		<<<"{\"ANSIBLE_MODULE_ARGS\": {${json#, }}}"
	assert_equal "$stderr" ""
	changed=$(jq -r '.changed' <<<"$stdout")
	message=$(jq -r '.msg // ""' <<<"$stdout")
}

project() {
	task "type=$type" "name=$name" mountpoint=/mnt/x "$@"
}

# changes ARGUMENT=VALUE...: of the project, or of what type and name are; keeps: nothing is to be done.
changes() {
	project "$@"
	assert_equal "$*: $status:$changed:$message" "$*: 0:true:"
}

keeps() {
	project "$@"
	assert_equal "$*: $status:$changed:$message" "$*: 0:false:"
}

@test "a project is set up with its limits, is kept as it is, and a limit that differs is changed, and no other" {
	changes bsoft=8m bhard=10m isoft=50 ihard=60
	is_tagged "$dir" $id
	is_tagged "$dir/below" $id
	holds p $id 0 8192 10240
	keeps bsoft=8m bhard=10m isoft=50 ihard=60
	holds p $id 2 50 60 i
	changes bsoft=8m bhard=12m isoft=50
	assert_equal "$(jq -c '[.bsoft, .bhard, .isoft, .ihard]' <<<"$stdout")" "[null,12582912,null,null]"
	holds p $id 0 8192 12288
	holds p $id 2 50 60 i
	changes bsoft=0 bhard=10m
	holds p $id 0 0 10240
}

@test "a directory that lost its ID is found and mended" {
	project bhard=10m
	chattr -p 0 "$dir/below"
	changes bhard=10m
	is_tagged "$dir/below" $id
}

@test "a project is removed with its limits, and not again" {
	project bsoft=8m bhard=10m isoft=50 ihard=60
	changes state=absent
	keeps state=absent
	is_untagged "$dir"
	is_untagged "$dir/below"
	holds p $id 0 0 0
	holds p $id 0 0 0 i
}

@test "check mode says what would change, and changes nothing" {
	tagged "$dir" $id
	oracle -x -c "limit -p bhard=10m $id" /mnt/x
	changes state=absent _ansible_check_mode=true
	assert_equal "$(jq -c '[.xfs_quota.bhard, .bhard]' <<<"$stdout")" "[10485760,0]"
	is_tagged "$dir" $id
	holds p $id 0 0 10240
}

@test "limits of a user and of a group are set, kept, changed and removed" {
	local letter owner
	while read -r type name letter owner; do
		changes bsoft=3m bhard=4m ihard=70
		holds "$letter" "$owner" 0 3072 4096
		holds "$letter" "$owner" 0 0 70 i
		keeps bsoft=3m bhard=4m ihard=70
		changes bhard=5m
		holds "$letter" "$owner" 0 3072 5120
		changes state=absent
		holds "$letter" "$owner" 0 0 0
		holds "$letter" "$owner" 0 0 0 i
		keeps state=absent
	done < <(printf 'user daemon u 1\ngroup bin g 2\n')
}

@test "a playbook creates, keeps, changes and removes" {
	local home=$BATS_TEST_TMPDIR/ansible
	mkdir "$dir.old"
	echo "${id}0:$dir.old" >>/etc/projects
	echo "old:${id}0" >>/etc/projid
	tagged "$dir.old" ${id}0
	oracle -x -c "limit -p bhard=10m ${id}0" /mnt/x
	cat >"$BATS_TEST_TMPDIR/playbook.yml" <<-END
		- hosts: localhost
		  gather_facts: false
		  module_defaults:
		    community.general.xfs_quota: {type: project, name: $name, mountpoint: /mnt/x}
		  tasks:
		  - community.general.xfs_quota: {bhard: 10m}
		  - community.general.xfs_quota: {bhard: 10m}
		  - community.general.xfs_quota: {bhard: 12m}
		  - community.general.xfs_quota: {name: old, state: absent}
	END
	export ANSIBLE_HOME=$home ANSIBLE_LOCAL_TEMP=$home/local ANSIBLE_REMOTE_TEMP=$home/remote \
		ANSIBLE_PYTHON_INTERPRETER=/usr/bin/python3 ANSIBLE_LOCALHOST_WARNING=False ANSIBLE_PIPELINING=1
	LC_ALL=C.UTF-8 run_split ansible-playbook "$BATS_TEST_TMPDIR/playbook.yml"
	assert_equal "$status" 0
	assert_equal "$(sed -n 's/: \[localhost\]$//p' <<<"$stdout" | xargs)" "changed ok changed changed"
	is_tagged "$dir" $id
	holds p $id 0 0 12288
	is_untagged "$dir.old"
	holds p ${id}0 0 0 0
}
