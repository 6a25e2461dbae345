#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=install
# needs: ansible python3-yaml systemd
#
# What contrib has for provisioning does what it says: the Ansible role, cloud-init's snippet and the
# commands of the systemd units, with the capabilities and system calls that these leave.

# shellcheck disable=SC2154 # run_split sets stdout and stderr
load ../lib/fsquota
load kernel

setup_file() { fresh_each x e; }

setup() { rm -rf /etc/projects /etc/projid /etc/fsquota.d; }

# --- contrib/ansible ------------------------------------------------------------------------------

# play [OPTION...]: run the role with the variables in $BATS_TEST_TMPDIR/vars.yml. Sets recap to the
# counts of what it did, and tasks to the names of those that changed something.
play() {
	local home=$BATS_TEST_TMPDIR/ansible
	cat >"$BATS_TEST_TMPDIR/play.yml" <<-END
		- hosts: localhost
		  gather_facts: false
		  roles: [fsquota]
	END
	export ANSIBLE_HOME=$home ANSIBLE_LOCAL_TEMP=$home/local ANSIBLE_REMOTE_TEMP=$home/remote \
		ANSIBLE_ROLES_PATH=$srcdir/contrib/ansible/roles ANSIBLE_NOCOLOR=1 \
		ANSIBLE_PYTHON_INTERPRETER=/usr/bin/python3 ANSIBLE_LOCALHOST_WARNING=False ANSIBLE_PIPELINING=1
	LC_ALL=C.UTF-8 run_split ticking ansible-playbook -e "@$BATS_TEST_TMPDIR/vars.yml" "$@" "$BATS_TEST_TMPDIR/play.yml"
	[ "$status" = 0 ] || grep -E '^(fatal|failed):' <<<"$stdout"
	recap=$(grep -oE '\b(changed|failed)=[0-9]+' <<<"$stdout" | xargs)
	tasks=$(awk -F '[][]' '/^TASK/ { name = $2 } /^changed:/ { if (name != last) print name; last = name }' <<<"$stdout")
}

# changes_nothing: check mode does, and says what it would change
changes_nothing() {
	play --check --diff
	assert_equal "check: $status $recap" "check: 0 changed=4 failed=0"
	assert_equal "$tasks" "$expected"
	assert_not_exist /etc/fsquota.d
	for fs in x e; do
		top=/mnt/$fs/role
		assert_not_exist $top/web
		assert_equal "$(fsquota usage --json $top/old | jq '.usage[0].hard_bytes')" $((5 << 20))
	done
}

# The first run and the second; with FSQUOTA_FULL check mode, and those behind changes, too. A play takes seconds, so
# both filesystems are in each.
# bats test_tags=shared
@test "the Ansible role on XFS and ext4: the second run has changed=0" {
	local fs top id expected='fsquota : Make the directory of the file
fsquota : Write the file
fsquota : Take quotas off
fsquota : Give directories their quotas'
	for fs in x e; do
		top=/mnt/$fs/role
		fresh_fs $fs
		mkdir -p $top/users/ann $top/users/ben $top/old "$top/odd *"
		fsquota assign $top/old --hard 5M >/dev/null
	done
	cat >"$BATS_TEST_TMPDIR/vars.yml" <<-END
		fsquota_directories:
		  - {path: /mnt/x/role/web, hard: 10M, soft: 9M, hard-inodes: 100, name: web, mkdir: true, mode: "2750", owner: daemon}
		  - {path: /mnt/e/role/web, hard: 10M, soft: 9M, hard-inodes: 100, name: web-e, mkdir: true, mode: "2750", owner: daemon}
		  - {pattern: /mnt/x/role/users/*, hard: 1M}
		  - {pattern: /mnt/e/role/users/*, hard: 1M}
		  - {path: "/mnt/x/role/odd *", unlimited: true}
		  - {path: "/mnt/e/role/odd *", unlimited: true}
		fsquota_released: [/mnt/x/role/old, /mnt/e/role/old]
	END
	[ -z "${FSQUOTA_FULL-}" ] || changes_nothing
	play
	assert_equal "first: $status $recap" "first: 0 changed=4 failed=0"
	assert_equal "$tasks" "$expected"
	for fs in x e; do
		top=/mnt/$fs/role
		id=$(fsquota id $top/web)
		is_tagged $top/web "$id"
		# An empty directory of ext4 has a block.
		assert_equal "$(kernel_has "/mnt/$fs" "$id" | cut -d ' ' -f 2-)" "9216 10240 1 0 100"
		assert_equal "$(stat -c '%a %U' $top/web)" "2750 daemon"
		assert_equal "$(fsquota usage --json $top/users/ben | jq '.usage[0].hard_bytes')" $((1 << 20))
		assert_not_equal "$(fsquota id "$top/odd *")" 0
		is_untagged $top/old
	done
	play
	assert_equal "second: $status $recap" "second: 0 changed=0 failed=0"
	[ -n "${FSQUOTA_FULL-}" ] || return 0
	# And check mode agrees.
	play --check
	assert_equal "second check: $status $recap" "second check: 0 changed=0 failed=0"
	# What tenants have changed is put right.
	for fs in x e; do chattr -p 0 /mnt/$fs/role/users/ann; done
	play
	assert_equal "mended: $status $recap" "mended: 0 changed=1 failed=0"
	assert_equal "$tasks" 'fsquota : Give directories their quotas'
	for fs in x e; do assert_not_equal "$(fsquota id /mnt/$fs/role/users/ann)" 0; done
	# What leaves the list loses its quota; what another file names, and what no file has given, keeps it.
	for fs in x e; do
		mkdir /mnt/$fs/role/by-hand
		fsquota assign /mnt/$fs/role/by-hand --hard 2M >/dev/null
		echo "/mnt/$fs/role/users/ben hard=1M"
	done >/etc/fsquota.d/10-other.conf
	sed -i '/users/d; /odd/d' "$BATS_TEST_TMPDIR/vars.yml"
	play --check
	assert_equal "left, check: $status $recap" "left, check: 0 changed=2 failed=0"
	for fs in x e; do assert_not_equal "$(fsquota id /mnt/$fs/role/users/ann)" 0; done
	play
	assert_equal "left: $status $recap" "left: 0 changed=2 failed=0"
	for fs in x e; do
		is_untagged /mnt/$fs/role/users/ann
		assert_equal "$(fsquota id "/mnt/$fs/role/odd *")" 0
		for id in web users/ben by-hand; do assert_not_equal "$(fsquota id /mnt/$fs/role/$id)" 0; done
	done
	play
	assert_equal "left, again: $status $recap" "left, again: 0 changed=0 failed=0"
}

@test "the role takes nothing off because of a name that is wrong or of a value that is missing" {
	local words
	mkdir -p /mnt/x/careful /etc/fsquota.d
	echo '/mnt/x/careful hard=1M' >/etc/fsquota.d/50-ansible.conf
	succeeds fsquota apply
	for words in 'fsquota_dirs: []' 'fsquota_directories: /mnt/x/careful' 'fsquota_directories: [/mnt/x/careful]' \
		'fsquota_directories: [{path: /mnt/x/careful, hard: }]' 'fsquota_directories: [{path: /mnt/x/careful, hard: false}]'; do
		echo "$words" >"$BATS_TEST_TMPDIR/vars.yml"
		play
		assert_equal "$words: $recap" "$words: changed=0 failed=1"
		assert_regex "$(grep -E '^(fatal|failed):' <<<"$stdout")" 'fsquota_directories|a value for each of its keys'
	done
	assert_equal "$(fsquota usage --json /mnt/x/careful | jq '.usage[0].hard_bytes')" 1048576
}

# bats test_tags=full
@test "a wrong line fails the role and is named, nothing has changed, and no file of the role stays" {
	local tmp=$BATS_TEST_TMPDIR/tmp
	mkdir -p /mnt/x/wrong /etc/fsquota.d "$tmp"
	export TMPDIR=$tmp
	echo '/mnt/x/wrong hard=1M' >/etc/fsquota.d/50-ansible.conf
	echo '/mnt/x/other hard=1M' >/etc/fsquota.d/10-other.conf
	echo 'fsquota_directories: [{path: /mnt/x/wrong, hard: 10Q}]' >"$BATS_TEST_TMPDIR/vars.yml"
	play
	assert_equal "$recap" "changed=0 failed=1"
	# The last word, as a person reads it, and of the file that would have been.
	assert_equal "$(grep '^fatal' <<<"$stdout" | tail -n 1)" 'fatal: [localhost]: FAILED! => {"changed": false, "msg": '\
'"/etc/fsquota.d/50-ansible.conf, line 2: \"10Q\" is no size, such as 500M, 10G or none"}'
	assert_equal "$(</etc/fsquota.d/50-ansible.conf)" '/mnt/x/wrong hard=1M'
	is_untagged /mnt/x/wrong
	# What does not fit is told with its directory.
	echo '/mnt/x budget=1M' >/etc/fsquota.d/10-other.conf
	sed -i s/10Q/10M/ "$BATS_TEST_TMPDIR/vars.yml"
	play
	assert_regex "$(grep '^fatal' <<<"$stdout" | tail -n 1)" '"msg": "/mnt/x/wrong: the limit does not fit: [^{]*"}$'
	assert_equal "$(find "$tmp" -name 'fsquota.*')" ''
}

@test "the role's keys are those of fsquota.d(5)" {
	local key
	while read -r key; do
		grep -qE "^# .*\b$key\b" "$srcdir/contrib/ansible/roles/fsquota/defaults/main.yml" || fail "$key"
	done < <(sed -n '/^.Ss Keys/,/^.Sh EXAMPLES/s/^\.It Cm //p' "$srcdir/man/fsquota.d.5" | sed 's/ , /\n/g')
}

# bats test_tags=full
@test "Ansible finds nothing wrong with the playbook of the example" {
	export ANSIBLE_HOME=$BATS_TEST_TMPDIR ANSIBLE_LOCAL_TEMP=$BATS_TEST_TMPDIR/local \
		ANSIBLE_ROLES_PATH=$srcdir/contrib/ansible/roles
	LC_ALL=C.UTF-8 run -0 ticking ansible-playbook --syntax-check -i localhost, "$srcdir/contrib/ansible/site.yml"
	# Its variables are the role's.
	run -0 python3 -c '
import sys, yaml
play, = yaml.safe_load(open(sys.argv[1]))
role, = play["roles"]
options = yaml.safe_load(open(sys.argv[2]))["argument_specs"]["main"]["options"]
assert not role["vars"].keys() - options.keys(), role["vars"]
# And one that need not be given has its default in both files.
assert {key: value["default"] for key, value in options.items() if "default" in value} == yaml.safe_load(open(sys.argv[3]))
' "$srcdir"/contrib/ansible/{site.yml,roles/fsquota/{meta/argument_specs,defaults/main}.yml}
}

# --- contrib/cloud-init ---------------------------------------------------------------------------

# What cloud-init would do, with /dev/vdb and /srv as they are called here: makes the filesystem,
# mounts it, writes the files, and runs the commands.
first_boot() {
	python3 - "$srcdir/contrib/cloud-init/fsquota.yaml" "$FSQ_X_DEV" /mnt/x <<-'END'
		import os, subprocess, sys, yaml

		file, device, mountpoint = sys.argv[1:]
		text = open(file, encoding="utf-8").read()
		assert text.startswith("#cloud-config\n")
		config = yaml.safe_load(text.replace("/dev/vdb", device).replace("/srv", mountpoint))

		def run(*words):
		    print(*words)
		    subprocess.run(words, check=True, stdin=subprocess.DEVNULL)

		for one in config.pop("fs_setup"):
		    assert one["overwrite"] is False
		    run("mkfs." + one["filesystem"], "-q", "-L", one["label"], one["device"])
		for source, target, kind, options, dump, number in config.pop("mounts"):
		    with open("/etc/fstab", "a", encoding="utf-8") as fstab:
		        fstab.write(f"{source} {target} {kind} {options} {dump} {number}\n")
		    run("mount", target)
		for one in config.pop("write_files"):
		    os.makedirs(os.path.dirname(one["path"]), exist_ok=True)
		    with open(one["path"], "w", encoding="utf-8") as output:
		        output.write(one["content"])
		    os.chmod(one["path"], int(one["permissions"], 8))
		assert config.pop("packages") == ["fsquota"]
		for words in config.pop("runcmd"):
		    run(*words)
		assert not config, config
	END
}

@test "what cloud-init would do makes the filesystem, and its directories have their quotas" {
	local directory=/mnt/x/web
	fresh_fs --bare x
	cp /etc/fstab "$BATS_TEST_TMPDIR/fstab"
	cp "$srcdir"/contrib/systemd/* /etc/systemd/system/
	export SYSTEMD_OFFLINE=1
	run -0 first_boot
	assert_equal "$(fsquota usage --json $directory | jq -c '.usage[0] | [.hard_bytes, .soft_bytes]')" \
		"[$((10 << 30)),$((9 << 30))]"
	assert_equal "$(stat -c '%a %U' $directory)" "750 www-data"
	assert_equal "$(fsquota usage --json /mnt/x/users | jq '.usage[0].hard_bytes')" $((20 << 30))
	assert_link_exist /etc/systemd/system/multi-user.target.wants/fsquota-apply.service
	# The next boot changes nothing.
	prints '' fsquota apply --exit-code --quiet
	cp "$BATS_TEST_TMPDIR/fstab" /etc/fstab
	rm -rf /etc/systemd/system/*fsquota* /etc/systemd/system/*/fsquota*
	fresh_fs x
}

# --- contrib/systemd ------------------------------------------------------------------------------

# unit NAME [ARGUMENT...]: its command, with the capabilities that it leaves and no new ones; what it
# calls is in $BATS_TEST_TMPDIR/calls.
unit() {
	local file=$srcdir/contrib/systemd/fsquota-$1.service command capabilities words
	command=$(sed -n 's/^ExecStart=//p' "$file")
	capabilities=$(sed -n 's/^CapabilityBoundingSet=//p' "$file" | tr 'A-Z ' 'a-z,' | sed 's/cap_/+/g')
	read -ra words <<<"${command/\/usr\/bin\/fsquota/$FSQUOTA}"
	run_split strace -f -qq -o "$BATS_TEST_TMPDIR/trace" setpriv --no-new-privs \
		--bounding-set "-all,$capabilities" --inh-caps -all "${words[@]}" "${@:2}"
	# From the program's own start on.
	sed -nE "0,\\#execve\\(\"$FSQUOTA\"#d; s/^([0-9]+ +)?([a-z0-9_]+)\\(.*/\\2/p" "$BATS_TEST_TMPDIR/trace" |
		sort -u >"$BATS_TEST_TMPDIR/calls"
	assert [ "$(wc -l <"$BATS_TEST_TMPDIR/calls")" -gt 10 ]
}

# calls_of WORD...: the system calls that they name, and of groups those in them.
calls_of() {
	local word
	for word in "$@"; do
		[[ $word == @* ]] || { echo "$word" && continue; }
		# shellcheck disable=SC2046 # words
		calls_of $(systemd-analyze --no-pager syscall-filter "$word" | sed '1d; s/^ *//; /^#/d')
	done
}

# unit_allows NAME: its filter forbids nothing that its command has called. What systemd does not know
# is as if the kernel did not know it where the filter lists what is allowed, and else is allowed.
unit_allows() {
	local filter here=$BATS_TEST_TMPDIR
	filter=$(sed -n 's/^SystemCallFilter=//p' "$srcdir/contrib/systemd/fsquota-$1.service")
	# shellcheck disable=SC2046,SC2086 # words
	calls_of ${filter#\~} | sort -u >"$here/filter"
	assert [ "$(wc -l <"$here/filter")" -gt 20 ]
	calls_of @known | sort -u | comm -12 "$here/calls" - >"$here/known"
	if [[ $filter == '~'* ]]; then
		run -0 comm -12 "$here/known" "$here/filter"
	else
		run -0 comm -23 "$here/known" "$here/filter"
	fi
	assert_output ''
}

@test "fsquota-apply.service has what it needs: directories of others, with their owners and modes" {
	local top=/mnt/x/unit
	mkdir -p $top/theirs/below /etc/fsquota.d
	touch $top/theirs/below/file
	chmod 600 $top/theirs/below/file
	chown -R 1000:1000 $top/theirs
	chmod 700 $top/theirs $top/theirs/below
	printf '%s\n' "$top/new hard=1M mkdir mode=2750 owner=daemon:bin" "$top/theirs/below hard=2M" \
		>/etc/fsquota.d/x.conf
	unit apply
	assert_equal "$status:$stderr" 0:
	assert_equal "$(stat -c '%a %U %G' $top/new)" "2750 daemon bin"
	holds p "$(fsquota id $top/new)" 0 0 1024
	assert_equal "$(fsquota id $top/theirs/below/file)" "$(fsquota id $top/theirs/below)"
	unit_allows apply
}

@test "fsquota-apply-watch.service has what it needs" {
	local top=/mnt/x/stayed
	mkdir -p $top /etc/fsquota.d
	echo "$top/* hard=1M" >/etc/fsquota.d/x.conf
	{
		mkdir $top/early
		until fsquota usage $top/early; do nap 0.1; done
		mkdir $top/late
		until fsquota usage $top/late; do nap 0.1; done
		pkill -x fsquota
	} >/dev/null 2>&1 3>&- &
	unit apply-watch
	wait
	assert_equal "$status:$stderr" 143:
	unit_allows apply-watch
	rm /etc/fsquota.d/x.conf
}

@test "fsquota-prune.service has what it needs, and that for pods" {
	local top=/mnt/x/pruned volume id
	volume=$top/pods/uid1/volumes/kubernetes.io~empty-dir/cache
	mkdir -p $top/theirs/gone
	chown 1000:1000 $top/theirs
	chmod 700 $top/theirs
	id=$(fsquota assign $top/theirs/gone --hard 1M)
	rmdir $top/theirs/gone
	counts /mnt/x "$id" 0
	mkdir -p $volume
	fsquota assign $volume --hard 1M >/dev/null
	rm -r $top/pods
	unit prune-pods
	assert_equal "$status:$stderr" 0:
	assert_equal "$stdout" "$(grep -F "$volume" <<<"$stdout")"
	prints "$id:$top/theirs/gone" cat /etc/projects
	unit_allows prune-pods
	unit prune
	assert_equal "$status:$stderr" 0:
	[[ $stdout == 'removed project '*'the directory is gone' ]] || fail "$stdout"
	prints '' cat /etc/projects /etc/projid
	unit_allows prune
}

@test "fsquota-until.service has what it needs" {
	mkdir -p /mnt/x/until
	fsquota assign /mnt/x/until --hard 1M >/dev/null
	fsquota resize /mnt/x/until 2M --until 1d
	sed -i 's,:/[0-9]*\,,:/1\,,' /var/lib/fsquota/until
	unit until
	assert_equal "$status:$stdout:$stderr" 0::
	assert_equal "$(fsquota usage --json /mnt/x/until | jq '.usage[0].hard_bytes')" 1048576
	unit_allows until
}

@test "fsquota-watch.service has what it needs" {
	local id
	mkdir -p /mnt/x/watched
	id=$(fsquota assign /mnt/x/watched --hard 10M --soft 1M)
	fallocate -l 2M /mnt/x/watched/file
	unit watch --initial --count 1 /mnt/x
	assert_equal "$status:$stderr" 0:
	[[ $stdout == *"project $id "* ]] || fail "$stdout"
	unit_allows watch
}

@test "fsquota-check.service and fsquota-batch@.service have what they need" {
	local id
	mkdir -p /mnt/x/checked
	id=$(fsquota assign /mnt/x/checked --hard 1M)
	fallocate -l 1000K /mnt/x/checked/file
	sync -f /mnt/x
	unit check --raw -No ID /mnt/x/checked
	assert_equal "$status:$stdout" "8:$id"
	assert_regex "$stderr" '--mail sends nothing: no address'
	unit_allows check
	unit batch@ < <(printf '%s\n' list 'explain /mnt/x/checked')
	assert_equal "$status:$stderr" 0:
	assert_equal "$(jq -c .exit <<<"$stdout")" $'0\n0'
	unit_allows batch@
}
