#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The examples of the pages, typed in as they stand: they print what the page shows.

# shellcheck disable=SC2154 # run_split sets stdout and stderr
load ../lib/fsquota

setup() {
	fresh_fs x
	umount /mnt/x
	mount -o prjquota "$FSQ_X_DEV" /srv
	: >/etc/projects
	: >/etc/projid
	rm -rf /etc/fsquota.conf /etc/fsquota.d
}

teardown() {
	umount /srv
	mount -o prjquota "$FSQ_X_DEV" /mnt/x
	rm -rf /etc/fsquota.d
}

# What the pages have in common: two projects, and what they use.
scene() {
	mkdir /srv/volume /srv/logs
	printf '42:/srv/volume\n43:/srv/logs\n' >/etc/projects
	printf 'volume:42\nlogs:43\n' >/etc/projid
	fallocate -l 460M /srv/volume/file
	for file in 1 2 3; do fallocate -l 100K /srv/logs/$file; done
	real -c 'project -s -p /srv/volume 42' /srv >/dev/null
	real -c 'project -s -p /srv/logs 43' /srv >/dev/null
	real -c 'limit -p bsoft=450m bhard=500m 42' -c 'limit -p bhard=100m ihard=1000 43' /srv
	sync -f /srv
}

# examples PAGE: the blocks of its EXAMPLES, as troff prints them
examples() {
	sed -n '/^.Sh EXAMPLES/,/^.Sh SEE/p' "$srcdir/man/$1" |
		awk '/^\.Bd/ { inside = 1; next } /^\.Ed/ { inside = 0; next } inside' | sed 's/\\e/\\/g'
}

# Type in each line that begins with "# ", and compare what follows it.
as_shown() {
	local line command='' expected='' typed=0
	while IFS= read -r line; do
		if [[ $line == '# '* ]]; then
			[ -z "$command" ] || one_as_shown
			command=${line#\# } expected=''
			typed=$((typed + 1))
		else
			expected+=$line$'\n'
		fi
	done < <(examples "$1")
	one_as_shown
	echo "# $1: $typed commands" >&3
}

one_as_shown() {
	local got
	# The filesystem of the pages is larger than the guest's.
	got=$(sh -c "$command" 2>&1 | grep -v 'is above the size of the filesystem') || true
	assert_equal "$command: $got" "$command: ${expected%$'\n'}"
}

@test "fsquota-assign(8)" {
	scene
	as_shown fsquota-assign.8
}

@test "fsquota-usage(8)" {
	scene
	as_shown fsquota-usage.8
}

@test "fsquota-list(8)" {
	scene
	as_shown fsquota-list.8
}

@test "fsquota-check(8)" {
	scene
	as_shown fsquota-check.8
}

@test "fsquota-find(8)" {
	scene
	as_shown fsquota-find.8
}

@test "fsquota-resize(8)" {
	scene
	as_shown fsquota-resize.8
}

@test "fsquota-release(8)" {
	scene
	mkdir /srv/old /srv/web
	fsquota assign /srv/old
	fsquota assign /srv/web --name web
	as_shown fsquota-release.8
	assert_equal "$(cat /etc/projects /etc/projid)" ""
}

@test "fsquota-prune(8)" {
	mkdir /srv/web
	fsquota assign /srv/web --hard 1M
	as_shown fsquota-prune.8
}

@test "fsquota-apply(8)" {
	mkdir -p /srv/users/ann /etc/fsquota.d
	fsquota assign /srv/users/ann --hard 500M
	# The first command shows the file.
	examples fsquota-apply.8 | sed -n '2,/^# /{/^# /!p}' >/etc/fsquota.d/web.conf
	as_shown fsquota-apply.8
	assert_equal "$(stat -c '%a %U' /srv/web)" "750 www-data"
}
