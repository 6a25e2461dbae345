#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# What is registered, what carries an ID, and what has limits: where the three differ.

load ../lib/fsquota
load doctor

setup_file() {
	fresh_each x e
	chmod 755 /mnt/x /mnt/e
}

setup() {
	rm -f /etc/projects /etc/projid /etc/fsquota.conf
	keep_fstab
	dir=/mnt/x/dir-$BATS_TEST_NUMBER
	mkdir "$dir"
}

teardown() {
	restore_fstab
	chattr -Rp 0 /mnt/x/dir-* 2>/dev/null || true
	rm -rf /mnt/x/dir-*
}

# mended LEVEL WORD FILE LINE...: the repair of the finding leaves these lines in the file.
mended() {
	finds "$1" "$2"
	typed
	no_more "$2"
	assert_equal "$(<"$3")" "$(printf '%s\n' "${@:4}")"
}

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
	fsquota limit bhard=0 4711 /mnt/x
}

# Kubelet before 1.24 counts without limits, and each one what a ConfigMap has.
@test "a volume of a pod may be without limits, and another directory is noted" {
	local volume=/mnt/x/pods/40ac2aea-808d-4b46-af07-75fe449cee4e/volumes/kubernetes.io~configmap/profile path
	for path in "$volume" /mnt/x/plain; do
		mkdir -p "$path"
		real -c "project -s -p $path 4712" /mnt/x >/dev/null
		echo "4712:$path" >>/etc/projects
		[ "$path" = "$volume" ] && no_more tag-without-limit /mnt/x || finds note tag-without-limit /mnt/x
		real -c "project -C -p $path 4712" /mnt/x >/dev/null
		sed -i '/^4712:/d' /etc/projects
	done
	rm -r /mnt/x/pods /mnt/x/plain
}

@test "an ID with files and limits that no file has" {
	local fs
	for fs in x e; do
		mkdir /mnt/$fs/tagged
		chattr +P -p 4714 /mnt/$fs/tagged
		fsquota limit -p bhard=1m 4714 /mnt/$fs
		finds note tag-without-line /mnt/$fs
		assert_equal "$(jq .id <<<"$finding")" 4714
		no_more tag-without-limit /mnt/$fs
		# So by configuration.
		echo 'register = no' >/etc/fsquota.conf
		no_more tag-without-line /mnt/$fs
		rm /etc/fsquota.conf
		run fsquota find --orphans /mnt/$fs
		assert_output --partial "/mnt/$fs/tagged"
		fsquota assign --keep-limits /mnt/$fs/tagged
		no_more tag-without-line /mnt/$fs
		fsquota release /mnt/$fs/tagged
		rmdir /mnt/$fs/tagged
	done
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
	# A directory may stand in its place: it is not to get the ID.
	mkdir -p /mnt/x/later/volume
	sed -i 's|/run/later|/mnt/x/later|' /etc/fstab /etc/projects
	finds note directory-gone
	no_more tag-changed
	assert_equal "$repair" "mount /mnt/x/later"
	typed
	no_more directory-gone
	umount /mnt/x/later
	: >/etc/fstab
	finds note directory-gone /mnt/x
	assert_equal "$repair" ''
	assert_regex "$finding" 'does not have: its filesystem is not mounted'
	rm -r /mnt/x/later
	finds note directory-gone /mnt/x
	assert_regex "$finding" 'renamed .fsquota move OLD NEW.'
	fresh_fs x2
}

@test "a registered directory on a filesystem without project IDs" {
	[ "$(stat -f -c %T /run)" = tmpfs ]
	echo 42:/proc/sys >/etc/projects
	mended problem directory-not-supported /etc/projects
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
	succeeds "$srcdir/tests/robustness/among" /run/dead timeout -s KILL 100 fsquota doctor -q
	refute_output --partial /run/dead
}

@test "names of tenants stay in their line, and in their word of the shell" {
	local name
	cd "$BATS_TEST_TMPDIR"
	for name in 'a b' 'a;touch pwned' "it's" '$(touch pwned)' 'back\slash' '`x`' \
		$'tab\there' $'\e[31mred' 'über' '50% \n' '*'; do
		mkdir "$dir/$name"
		chattr +P -p 77 "$dir/$name"
		echo "42:$dir/$name" >/etc/projects
		exits 3 fsquota doctor -q /mnt/x
		run ! grep -P '[^\t\n -~\x80-\xff]|\t' <<<"$stdout"
		finds problem tag-changed /mnt/x
		run ! grep -P '[^ -~]' <<<"$repair"
		typed
		no_more tag-changed /mnt/x
		assert_equal "$(fsquota id "$dir/$name")" 42
	done
	assert [ ! -e pwned ]
}

@test "a directory with two IDs, and an entry that is there twice" {
	chattr +P -p 42 "$dir"
	printf '42:%s\n# between\n43:%s/\n' "$dir" "$dir" >/etc/projects
	mended problem directory-twice /etc/projects "42:$dir" '# between'
	printf '42:%s\n43:%s/\n' "$dir" "$dir" >/etc/projects
	finds problem directory-twice
	assert_equal "$(jq -c '[.path, .line, .id]' <<<"$finding")" '["/etc/projects",2,42]'
	printf '42:%s\n42:%s\n' "$dir" "$dir" >/etc/projects
	mended note line-twice /etc/projects "42:$dir"
}

@test "two directories with one ID" {
	mkdir "$dir/a" "$dir/b"
	fsquota assign "$dir/a" --name shared --hard 1M
	fsquota assign "$dir/b" --name shared
	finds note id-shared
	assert_equal "$(jq -r .message <<<"$finding" | cut -d ' ' -f 1-3)" "$dir/a and $dir/b"
	# This may be meant; what is gone is another finding.
	assert_equal "$repair" ''
	# On two filesystems they share nothing but the ID.
	mkdir /mnt/e/c
	printf '42:%s\n42:/mnt/e/c\n' "$dir/c" >/run/projects
	run fsquota doctor --projects-file /run/projects
	assert_line --partial "$dir/c and /mnt/e/c have project 42 on two filesystems: each has limits of its own"
	rmdir /mnt/e/c
	fsquota release "$dir/a"
	mv "$dir/b" "$dir/moved"
	fsquota assign "$dir/moved" --name shared
	no_more directory-gone /mnt/e
	finds note directory-gone
	assert_equal "$repair" "fsquota release $dir/b"
	assert_equal "$(jq -c '[.path, .line, .filesystem]' <<<"$finding")" "[\"$dir/b\",1,\"$FSQ_X_DEV\"]"
	typed
	no_more id-shared
	assert_equal "$(fsquota usage -N -o HARD "$dir/moved" | tr -d ' ')" 1M
	fsquota release "$dir/moved"
}

# The lines, names, limits and tags of the projects above, beside and inside.
others() {
	local id
	grep -E ":$at(/beside|/dir/inside)?\$" /etc/projects
	for id in $others; do
		grep ":$id\$" /etc/projid
		kernel_has /mnt/x "$id" | cut -d ' ' -f 2,3,5,6
	done
	lsattr -pd $at
	lsattr -pR $at/beside $at/dir/inside
}

@test "a repair touches no project above, beside or inside, and repairs are typed in any order" {
	local at=/mnt/x/above id others before i
	fresh_fs x
	mkdir -p $at/{dir/{inside,sub},beside}
	touch $at/{dir/{file,inside/file,sub/file},beside/file}
	for i in "$at" $at/dir $at/beside $at/dir/inside; do run -0 fsquota assign "$i" --hard 5M; done
	id=1048578 others='1048577 1048579 1048580'
	before=$(others)
	chattr -p 77 $at/dir
	finds problem tag-changed /mnt/x
	assert_equal "$repair" "fsquota assign $at/dir"
	typed
	no_more tag-changed /mnt/x
	assert_equal "$(fsquota id $at/dir $at/dir/sub/file | uniq)" $id
	assert_equal "$(others)" "$before"
	chattr -P $at/dir
	finds problem tag-not-inherited /mnt/x
	typed
	no_more tag-not-inherited /mnt/x
	assert_equal "$(others)" "$before"
	# What a container engine gave its layers is not made one project; nor is what is registered inside.
	chattr -p 0 $at/dir/file
	finds problem tree-has-others --deep /mnt/x
	assert_equal "$repair" ''
	chattr -p 4711 $at/dir/sub
	chattr -p 77 $at/dir
	finds problem tag-changed /mnt/x
	assert_equal "$repair" ''
	chattr -p $id $at/dir $at/dir/{file,sub}
	no_more tree-has-others --deep /mnt/x
	# Each line that is too much is named, not numbered.
	cp /etc/projects /etc/projid "$BATS_TEST_TMPDIR"
	printf '%s\n' "43:$at/dir/" "1048579:$at/beside" "44:$at/dir" '42x:/a.b' '42x:/a*[b]^' "1048579:$at/beside/" \
		42:/proc/sys >>/etc/projects
	printf '%s\n' volume1048577:51 www:1048579 >>/etc/projid
	look
	assert_equal "$(grep -c '"repair":"LC_ALL=C sed' <<<"$findings")" 9
	local repairs=("${told[@]}")
	for ((i = 0; i < ${#repairs[@]}; i += 4)); do repair=${repairs[i + 1]} && [ -z "$repair" ] || typed; done
	for ((i = ${#repairs[@]} - 1; i > 0; i -= 2)); do repair=${repairs[i]} && [ -z "$repair" ] || typed; done
	diff "$BATS_TEST_TMPDIR/projects" /etc/projects
	diff "$BATS_TEST_TMPDIR/projid" /etc/projid
	# A limit and a project that is gone beside it.
	run -0 fsquota assign --mkdir $at/gone --hard 1M
	rm -r $at/gone
	fsquota limit -p bhard=1m 4712 /mnt/x
	finds note directory-gone
	typed
	finds note limit-without-tag
	typed
	no_more directory-gone
	assert_equal "$(others)" "$before"
	# It may be on a filesystem that is not mounted.
	echo 4713:$at/far >>/etc/projects
	finds note directory-gone
	assert_equal "$repair" ''
	doctor=(strace -qq -o /dev/null -e trace=openat2 -e inject=openat2:error=EIO:when=6+ "$FSQUOTA" doctor)
	run "${doctor[@]}" /mnt/x
	assert_equal "$status" 3
	assert_line --regexp "^problem $at/far: line .* cannot be seen: Input/output error"
	rm /etc/projects
}

@test "a name with two IDs, and an ID with two names" {
	printf 'web:42\nweb:43\n' >/etc/projid
	mended problem name-twice /etc/projid web:42
	printf 'web:42\nwww:42\n' >/etc/projid
	mended note id-with-two-names /etc/projid web:42
}

@test "a line that other programs may read an ID in" {
	local line
	for line in '42x:/mnt' '0x2a:/mnt' '-42:/mnt'; do
		printf '# 7:/comment\n%s\n\n' "$line" >/etc/projects
		mended note line-ambiguous /etc/projects '# 7:/comment'
	done
	printf '# 7:/comment\n42x:/mnt\n' >/etc/projects
	finds note line-ambiguous
	assert_equal "$(jq .line <<<"$finding")" 2
	printf '%s\n' '99999999999:/mnt 5' 18446744073709551658:/mnt >/etc/projects
	no_more line-ambiguous
	echo 'web:42 x' >/etc/projid
	mended note line-ambiguous /etc/projid
}

@test "a line that nobody reads" {
	local line
	for line in garbage 12:relative abc:/x 12: '52: /path' ':/y'; do
		printf '# 7:/comment\n \n # 8\n%s\n41:%s\n' "$line" "$dir" >/etc/projects
		finds note line-not-read
		assert_equal "$line: $(jq -c '[.path, .line, .repair]' <<<"$finding")" \
			"$line: [\"/etc/projects\",4,null]"
		run fsquota doctor -q
		assert_line --partial "/etc/projects: line 4 is no ID:/DIRECTORY"
	done
	rm /etc/projects
	for line in garbage web: web:x web:99999999999; do
		printf '#\n\n%s\n' "$line" >/etc/projid
		finds note line-not-read
		assert_equal "$line: $(jq -c '[.path, .line]' <<<"$finding")" "$line: [\"/etc/projid\",3]"
	done
	# What release leaves can be used again.
	printf '~fsquota~~~~~\n41~/gone\n' >/etc/projects
	printf 'web~41\n' >/etc/projid
	no_more line-not-read
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

@test "other files than those of /etc, also in the directory where it is" {
	cd "$BATS_TEST_TMPDIR"
	printf '42:%s\n43:%s\n' "$dir" "$dir" >projects
	finds problem directory-twice --projects-file projects --projid-file /dev/null
	typed
	no_more directory-twice --projects-file "$PWD/projects" --projid-file /dev/null
}
