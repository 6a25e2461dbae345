#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# A node that was set up with version 0.1.0. The files in upgrade/ are from it: fsquota.conf (conf) and a file of fsquota.d
# (apply) with all keys and words that it knew, its /etc/projects and /etc/projid, and what its dump and list printed.

load ../lib/fsquota

# of NAME: such a file, with the devices of this kernel.
of() { sed "s|/dev/ubdb|$FSQ_X_DEV|; s|/dev/ubdc|$FSQ_E_DEV|" "$BATS_TEST_DIRNAME/upgrade/$1.txt"; }

# The IDs and limits are set with the tools of e2fsprogs and xfsprogs.
setup() {
	local id directory what
	fresh_each x e
	of projects >/etc/projects
	of projid >/etc/projid
	of conf >/etc/fsquota.conf
	of apply | install -D /dev/stdin /etc/fsquota.d/node.conf
	while IFS=: read -r id directory; do
		mkdir -p "$directory"
		chattr -p "$id" +P "$directory"
	done < <(of projects && echo 1048586:/mnt/x/unregistered)
	rmdir /mnt/x/gone /mnt/e/gone
	cd "$BATS_TEST_TMPDIR" || return
	for what in dump-x dump-e dump-users; do of $what >$what; done
	real -c "restore -p -f dump-x" -c "restore -u -f dump-users" /mnt/x
	real -c "restore -p -f dump-e" /mnt/e
}

teardown() { rm -r /etc/fsquota.d /etc/fsquota.conf /etc/projects* /etc/projid*; }

# Nothing is written, and of its list each row, and of each row each key is there.
stays_as_it_was() {
	of projects | cmp - /etc/projects
	of projid | cmp - /etc/projid
	diff <(of list | jq -S '.list[]') \
		<(fsquota list --json | jq -S --argjson old "$(of list)" '.list[] | with_entries(select(.key | IN($old.list[0] | keys[])))')
}

@test "apply changes nothing, and doctor finds no problem but two directories that are gone" {
	assert_equal "$(fsquota apply | cut -d' ' -f 1 | uniq -c | xargs)" "6 unchanged"
	run -0 fsquota doctor
	refute_line --regexp '^problem'
	assert_equal "$(grep -c ', but it is gone; repair: ' <<<"$output")" 2
	stays_as_it_was
}

@test "apply --prune takes nothing that apply of 0.1.0 has assigned" {
	is_silent fsquota apply --quiet
	echo '# none' >/etc/fsquota.d/node.conf
	is_silent fsquota apply --prune
	stays_as_it_was
}

@test "move, resize, release, prune and assign go on with it" {
	mv /mnt/x/users/cid /mnt/x/users/eve
	mv /mnt/x/byhand /mnt/x/moved
	fsquota move /mnt/x/byhand /mnt/x/moved
	prints "changed   /mnt/x/users/eve" fsquota apply --quiet
	fsquota resize /mnt/x/c +1M
	fsquota release /mnt/x/nested
	assert_equal "$(fsquota prune | cut -d' ' -f 1-3 | xargs)" "removed project 1048584 removed project 1048585"
	prints 3000000 fsquota assign --mkdir /mnt/x/new --hard 1M
	diff <(of projects | sed '/gone$/d; /nested$/d; s/users.cid/users\/eve/; s/byhand/moved/' | sort) \
		<(grep -v /new /etc/projects | sort)
	assert_equal "$(kernel_has /mnt/x 1048583) $(kernel_has /mnt/e 1048583)" "0 0 9216 2 0 0 4 0 7168 1 0 0"
}

@test "restore takes its dumps, which do not say of which type they are" {
	real -c 'limit -p bhard=1m 77' -c 'limit -u bhard=1m 1000' /mnt/x
	fsquota restore -f dump-x /mnt/x
	fsquota restore -u -f dump-users /mnt/x
	fsquota restore -f dump-e /mnt/e
	stays_as_it_was
	fsquota dump -u /mnt/x | sed 1d | cmp - dump-users
}
