#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# A message says what to do, in the words that the user typed.

load ../lib/fsquota

setup() {
	rm -rf /etc/projects /etc/projid /etc/fsquota.d
	fresh_each x e
	mkdir /mnt/x/dir
}

teardown() { rm -rf /etc/fsquota.d; }

@test "of soft and hard limits it has the sizes, and which to give" {
	fsquota assign /mnt/x/dir --soft 9M --hard 10M >/dev/null
	refuses 6 'soft 9M would be above hard 5M' fsquota limit -p bhard=5M "$(fsquota id /mnt/x/dir)" /mnt/x
	refuses 6 'soft 15M would be above hard 10M (give both limits, or soft none)' fsquota resize /mnt/x/dir --soft 15M
	refuses 2 'soft 15M would be above hard 1M' fsquota assign /mnt/x/dir --soft 15M --hard 1M
	refuses 2 'soft-inodes 9 would be above hard-inodes 5' fsquota limit -p isoft=9 ihard=5 7 /mnt/x
	refuses 2 'give the new size instead of -1G, with --allow-shrink' fsquota resize /mnt/x/dir -1G
}

@test "of a line of fsquota.d it says what is wrong with its blanks" {
	local words
	mkdir /etc/fsquota.d
	for words in 'hard = 20G' 'hard= 20G' 'hard =20G'; do
		echo "/mnt/x/dir $words" >/etc/fsquota.d/a.conf
		refuses 2 'a.conf, line 1: no blanks around "=": write hard=VALUE' fsquota apply
	done
	for words in 'size=20G hard' 'HARD=20G hard' '--hard=20G hard' 'limit=20G hard' 'hard_inodes=20 hard-inodes' 'user=root owner'; do
		echo "/mnt/x/dir ${words% *}" >/etc/fsquota.d/a.conf
		refuses 2 "line 1: there is no key \"${words%%=*}\"; did you mean ${words##* }?" fsquota apply
	done
	for words in '10G hard=10G?' 'words a path with blanks takes double quotes' 'soft soft takes a value' 'until=1 fsquota resize DIR SIZE --until WHEN, and apply leaves it so'; do
		echo "/mnt/x/dir ${words%% *}" >/etc/fsquota.d/a.conf
		refuses 2 "${words#* }" fsquota apply
	done
	for words in '~/dir' 'hard=10G' ./dir ';' 'user alice' $'\xef\xbb\xbf/mnt/x/dir'; do
		echo "$words hard=1G" >/etc/fsquota.d/a.conf
		refuses 2 'line 1: a line is a path and its limits, such as /srv/web hard=10G, not' fsquota apply
	done
	# shellcheck disable=SC2016 # no shell looks at it
	for words in '/mnt/x/{web,db}' '/mnt/x/${HOSTNAME}' '/mnt/x/users/**'; do
		echo "$words hard=1G mkdir" >/etc/fsquota.d/a.conf
		refuses 2 "line 1: only *, ? and [...] make a pattern, and each stands for one part of the path; {, \$ and ** of a name take quotes: \"$words\"" fsquota apply
	done
	echo '"/mnt/x/{web,$db}" hard=1G mkdir' >/etc/fsquota.d/a.conf
	run -0 fsquota apply
	run -0 fsquota export /mnt/x
	assert_line --partial '"/mnt/x/{web,$db}" '
	fsquota release '/mnt/x/{web,$db}'
	echo '/mnt/x/dir mode=700' >/etc/fsquota.d/a.conf
	refuses 2 'a.conf, line 1: mode and owner need mkdir' fsquota apply
	echo '/mnt/x/dir hard=20M # for a while' >/etc/fsquota.d/a.conf
	run -0 fsquota apply
}

@test "apply warns of a directory without *.conf that was named or has other files" {
	mkdir -p /etc/fsquota.d
	run_split fsquota apply
	assert_equal "$status$stdout$stderr" 0
	echo '/mnt/x/dir hard=20M' >/etc/fsquota.d/web
	run_split fsquota apply
	assert_equal "$status$stdout$stderr" '0fsquota apply: /etc/fsquota.d: web is not read: its name does not end in .conf'
	echo '/mnt/x/dir hard=20M' >/etc/fsquota.d/a.conf
	echo 'hard: 20M' | tee /etc/fsquota.d/{a.conf.off,b.yaml,README.md} >/dev/null
	run_split fsquota apply --quiet
	assert_equal "$status$stderr" $'0fsquota apply: /etc/fsquota.d: b.yaml is not read: its name does not end in .conf\nfsquota apply: /etc/fsquota.d: web is not read: its name does not end in .conf'
	run -0 fsquota apply /mnt/x/dir
	assert_output --partial '/mnt/x/dir: there is no file *.conf in it'
}

@test "apply of another user says that it takes root" {
	fsquota assign /mnt/x/dir --hard 1M >/dev/null
	fsquota resize /mnt/x/dir 2M --until 1d
	mkdir -p /etc/fsquota.d
	echo '/mnt/x/dir hard=1M' >/etc/fsquota.d/a.conf
	run -4 su nobody -s /bin/sh -c "'$FSQUOTA' apply --diff"
	assert_output --partial '/until: run it as root: cannot read which limits go back: Permission denied'
}

@test "the line of fstab that setup shows has each option once" {
	run -9 fsquota setup /mnt/e
	assert_line --regexp '/mnt/e ext4 (quota,)?usrquota,grpquota,prjquota,nofail '
}

@test "what cannot be done has the command that does it" {
	fsquota limit -p bhard=5M 204 /mnt/x
	refuses 6 'fsquota list and fsquota doctor' fsquota assign /mnt/x/dir --id 204
	refuses 5 'fsquota assign gives it one' fsquota resize /mnt/x/dir 3M
	refuses 5 'mkdir -p makes it' fsquota assign /mnt/x/not/there --mkdir
	refuses 2 '--mode and --owner need --mkdir' fsquota assign /mnt/x/dir --mode 700
	fsquota assign /mnt/x/dir --hard 1M >/dev/null
	refuses 6 'fsquota assign NEW --like OLD, and fsquota release OLD' fsquota move --rename /mnt/x/dir /mnt/e/dir
	mv /mnt/x/dir /mnt/x/renamed
	refuses 6 'if it was renamed: fsquota move OLD NEW' fsquota resize /mnt/x/renamed +1M
	run -0 fsquota prune --dry-run
	assert_line --partial '/mnt/x/dir: gone, but files elsewhere or open ones have the ID; if it was renamed: fsquota move OLD NEW'
	fsquota move /mnt/x/dir /mnt/x/renamed
	mkdir /mnt/e/lone
	refuses 5 'belongs to no project (fsquota assign gives it one, fsquota usage --fallback=walk counts without; of a user: fsquota quota -u)' fsquota explain /mnt/e/lone
	echo 8:/somewhere/else >>/etc/projects
	run -0 fsquota prune
	assert_line --partial '/somewhere/else: gone, or its filesystem is not mounted: --all removes it'
}

@test "--bars, --color and --progress alone mean always" {
	fsquota assign /mnt/x/dir --hard 1M >/dev/null
	run -0 fsquota list --bars /mnt/x
	assert_line --partial '..........'
	run -0 fsquota list /mnt/x --color
	refute_line --partial 'no such'
	run -0 fsquota list --bars never --color=never /mnt/x
	refute_line --partial '..........'
	refuses 2 '--bars is auto, never or always, not "often"' fsquota list --bars=often /mnt/x
}
