#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# needs: fish zsh
#
# What bash, zsh and fish make of a TAB, each on a terminal.
# bats file_tags=install

# shellcheck disable=SC2154 # run sets output
load ../lib/fsquota

setup() {
	# shellcheck disable=SC1003,SC2016 # whoever expands it makes a file
	hostile='any$(touch ran)`touch ran`(touch ran)%F{red}$HOME*;&|"'\''\'
	printf '%s\n' web:7 mail:42 "$hostile:8" >/etc/projid
	printf '%s\n' 7:/srv/web 42:/srv/mail/a 42:/srv/mail/b "60:/srv/with $hostile" >/etc/projects
	cd "$BATS_TEST_TMPDIR" || return
	mkdir local && touch file
}

# become SHELL...: of lines "TYPED => WORDS" on standard input each shell makes the words.
become() {
	local table shell
	table=$(cat)
	for shell; do
		run -0 "$srcdir/tests/users/terminal" "$shell" < <(awk -F ' => ' '{ print $1 }' <<<"$table")
		diff <(awk -F ' => ' '{ print $2 }' <<<"$table") - <<<"$output" || fail "$shell"
		assert [ ! -e ran ]
	done
}

@test "each shell completes options before the command, IDs, names, owners, columns and directories that are registered" {
	become bash zsh fish <<-'END'
		--js => <--json>
		--at /srv us => <--at></srv><usage>
		--json --root /. usage --name we => <--json><--root></.><usage><--name><web>
		usage --id 4 => <usage><--id><42>
		list --sort=use,-fu => <list><--sort=use,-fullin>
		list --sort -FU => <list><--sort><-FULLIN>
		release /srv/we => <release></srv/web>
		move /srv/mail/a loc => <move></srv/mail/a><local>
		move /srv/mail/a /srv/we => <move></srv/mail/a></srv/we>
		usage --name fil => <usage><--name><fil>
		quota fil => <quota><file>
	END
	# What zsh and fish make of these is tried with FSQUOTA_FULL.
	become bash ${FSQUOTA_FULL:+zsh fish} <<-'END'
		-x -c pat => <-x><-c><path>
		-x -c 'lim => <-x><-c><limit>
		xfs_quota -x -c 'limit -p bh => <-x><-c><limit -p bhard=>
		-x -c 'limit -p bhard=1m we => <-x><-c><limit -p bhard=1m web>
		-x -c 'report -L 4 => <-x><-c><report -L 42>
	END
	# Options, of which there are several: bash shows them, and zsh takes the first.
	become bash <<<"-x -c 'limit -p - | limit -p -g => <-x><-c><limit -p ->"
	become zsh <<<"-x -c 'limit -p - | -g => <-x><-c><limit -p -d>"
	# More paths than an argument has room for, and a directory.
	seq -f "9:$PWD/lo%0100.0f" 2000 >>/etc/projects
	become bash <<<"release $PWD/lo => <release><$PWD/lo>"
	# The guest's static bash knows no groups.
	become zsh fish <<-'END'
		assign --owner daemon:daem => <assign><--owner><daemon:daemon>
		assign --owner=daemon:daem => <assign><--owner=daemon:daemon>
	END
}

@test "a shell runs and expands nothing of names and paths that others have written" {
	become bash zsh fish <<<"usage --name an => <usage><--name><$hostile>
-x -c 'limit -p an => <-x><-c><limit -p an>
release /srv/with => <release></srv/with $hostile>"
}

@test "zsh and fish show the name and the path beside an ID, and a path beside a name" {
	become zsh <<<'usage --id  | 42  -- mail /srv/mail/a => <usage><--id><42>'
	# The last one fish would expand.
	echo '~root:9' >>/etc/projid
	run -0 fish -c "source \"$srcdir/completions/fish/fsquota.fish\"
		for words in 'usage --id 4' 'quota ' 'explain /srv/we' '-x -c \"disable -'; complete -C \"fsquota \$words\"; end"
	assert_output "42	mail /srv/mail/a
web	/srv/web
mail	/srv/mail/a
$hostile
file
local/
/srv/web	web
disable -g
disable -p
disable -u
disable -v"
}
