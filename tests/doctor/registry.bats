#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What is registered, what carries an ID, and what has limits: where the three differ.

# shellcheck disable=SC2154,SC2030,SC2031,SC2034 # run_split, finds and look set variables
load ../lib/fsquota
load doctor

setup_file() {
	fresh_fs x
	fresh_fs e
	chmod 755 /mnt/x /mnt/e
}

setup() {
	rm -f /etc/projects /etc/projid /etc/fsquota.conf
	cp /etc/fstab "$BATS_TEST_TMPDIR/fstab" 2>/dev/null || touch "$BATS_TEST_TMPDIR/fstab"
	dir=/mnt/x/dir-$BATS_TEST_NUMBER
	mkdir "$dir"
}

teardown() {
	cp "$BATS_TEST_TMPDIR/fstab" /etc/fstab
	chattr -Rp 0 /mnt/x/dir-* 2>/dev/null || true
	rm -rf /mnt/x/dir-*
}

# lines FILE LINE...: what is in it.
lines_are() {
	assert_equal "$(<"$1")" "$(printf '%s\n' "${@:2}")"
}

# --- IDs and limits ---------------------------------------------------------------------------------

@test "a directory that has its project from above" {
	fsquota assign "$dir" --hard 1M
	mkdir -p "$dir/a/b"
	finds note project-above "$dir/a/b"
	assert_equal "$(jq -r .message <<<"$finding" | grep -o 'with .*,')" "with $dir,"
	# The directory itself has it from nobody.
	no_more project-above "$dir"
	finds note project-above "$dir/a/b"
	typed
	no_more project-above "$dir/a/b"
	fsquota release "$dir/a/b"
	fsquota release "$dir"
}

@test "files with an ID that has no limits" {
	chattr -p 4711 "$dir"
	touch "$dir/file"
	finds note tag-without-limit /mnt/x
	assert_equal "$(jq .id <<<"$finding")" 4711
	typed
	no_more tag-without-limit /mnt/x
	xfs_quota -x -c 'limit -p bhard=0 4711' /mnt/x
}

@test "limits of an ID that nothing carries" {
	local fs
	for fs in x e; do
		fsquota limit -p bhard=1m bsoft=1m ihard=7 4712 /mnt/$fs
		finds note limit-without-tag /mnt/$fs
		assert_equal "$(jq .id <<<"$finding")" 4712
		typed
		no_more limit-without-tag /mnt/$fs
	done
	# What is registered will come back, or is told as gone.
	echo "4713:$dir" >/etc/projects
	fsquota limit -p bhard=1m 4713 /mnt/x
	no_more limit-without-tag /mnt/x
	fsquota limit -p bhard=0 4713 /mnt/x
}

# --- directories ------------------------------------------------------------------------------------

@test "a directory that may come back with its filesystem" {
	mkdir -p /run/later
	echo "$FSQ_X2_DEV /run/later xfs prjquota" >>/etc/fstab
	fresh_fs x2
	mkdir /mnt/x2/volume
	chattr +P -p 42 /mnt/x2/volume
	umount /mnt/x2
	echo 42:/run/later/volume >/etc/projects
	finds note directory-gone
	assert_equal "$repair" "mount /run/later"
	typed
	no_more directory-gone
	umount /run/later
	fresh_fs x2
}

@test "a registered directory on a filesystem without project IDs" {
	[ "$(stat -f -c %T /run)" = tmpfs ]
	echo 42:/proc/sys >/etc/projects
	finds problem directory-not-supported
	typed
	no_more directory-not-supported
	lines_are /etc/projects
}

@test "a registered directory that leads to another mount is not followed" {
	ln -s /mnt/e "$dir/link"
	mkdir -p /mnt/e/there
	echo "42:$dir/link/there" >/etc/projects
	look
	run ! grep -F "$dir" <<<"$findings"
}

@test "a registered directory behind a dead mount is left alone" {
	echo 42:/run/dead/volume >/etc/projects
	run_split "$srcdir/tests/robustness/among" /run/dead timeout -s KILL 60 fsquota doctor -q
	assert_equal "$status:$stderr" "0:"
	refute_output --partial /run/dead
}

@test "names of tenants stay in their line, and in their word of the shell" {
	local name
	cd "$BATS_TEST_TMPDIR"
	# shellcheck disable=SC2016
	for name in 'a b' 'a;touch pwned' "it's" '$(touch pwned)' 'back\slash' '`x`' \
		$'tab\there' $'\e[31mred' 'über' '50% \n' '*'; do
		mkdir "$dir/$name"
		chattr +P -p 77 "$dir/$name"
		echo "42:$dir/$name" >/etc/projects
		run_split fsquota doctor -q /mnt/x
		assert_equal "$status" 3
		run ! grep -P '[^\t\n -~\x80-\xff]|\t' <<<"$stdout"
		finds problem tag-changed /mnt/x
		run ! grep -P '[^ -~]' <<<"$repair"
		typed
		no_more tag-changed /mnt/x
		assert_equal "$(fsquota id "$dir/$name")" 42
	done
	assert [ ! -e pwned ]
}

# --- double and unclear lines -----------------------------------------------------------------------

@test "a directory with two IDs" {
	chattr +P -p 42 "$dir"
	printf '42:%s\n# between\n43:%s/\n' "$dir" "$dir" >/etc/projects
	finds problem directory-twice
	assert_equal "$(jq -c '[.path, .line, .id]' <<<"$finding")" '["/etc/projects",3,42]'
	typed
	no_more directory-twice
	lines_are /etc/projects "42:$dir" '# between'
}

@test "an entry that is there twice" {
	chattr +P -p 42 "$dir"
	printf '42:%s\n42:%s\n' "$dir" "$dir" >/etc/projects
	finds note line-twice
	typed
	no_more line-twice
	lines_are /etc/projects "42:$dir"
}

@test "two directories with one ID" {
	mkdir "$dir/a" "$dir/b"
	fsquota assign "$dir/a" --name shared --hard 1M
	fsquota assign "$dir/b" --name shared
	finds note id-shared
	assert_equal "$(jq -r .message <<<"$finding" | cut -d ' ' -f 1-3)" "$dir/a and $dir/b"
	typed
	no_more id-shared
	assert_equal "$(fsquota id "$dir/a" "$dir/b" | tail -n 1)" 0
	fsquota release "$dir/a"
}

@test "a name with two IDs, and an ID with two names" {
	printf 'web:42\nweb:43\n' >/etc/projid
	finds problem name-twice
	typed
	no_more name-twice
	lines_are /etc/projid web:42
	printf 'web:42\nwww:42\n' >/etc/projid
	finds note id-with-two-names
	typed
	no_more id-with-two-names
	lines_are /etc/projid web:42
}

@test "a line that other programs may read an ID in" {
	local line
	for line in '42x:/mnt' '0x2a:/mnt' '99999999999:/mnt 5' '-42:/mnt'; do
		printf '# 7:/comment\n%s\n\n' "$line" >/etc/projects
		look
		case $line in
		9*) run ! grep line-ambiguous <<<"$findings" && continue ;;
		esac
		finds note line-ambiguous
		assert_equal "$(jq .line <<<"$finding")" 2
		typed
		no_more line-ambiguous
		lines_are /etc/projects '# 7:/comment'
	done
	echo 'web:42 x' >/etc/projid
	finds note line-ambiguous
	typed
	no_more line-ambiguous
}

@test "a file that cannot be read" {
	mkdir /etc/projects
	finds problem registry-unreadable
	rmdir /etc/projects
	no_more registry-unreadable
	install -m 600 /dev/null /etc/projects
	doctor=(setpriv --reuid 1000 --regid 1000 --clear-groups "$FSQUOTA" doctor)
	finds problem registry-unreadable
}

@test "other files than those of /etc" {
	printf '42:%s\n43:%s\n' "$dir" "$dir" >"$BATS_TEST_TMPDIR/projects"
	finds problem directory-twice --projects-file "$BATS_TEST_TMPDIR/projects" --projid-file /dev/null
	typed
	no_more directory-twice --projects-file "$BATS_TEST_TMPDIR/projects" --projid-file /dev/null
}
