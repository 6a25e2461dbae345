#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What is written about commands is what they are: their descriptions, which "help --machine" prints,
# beside the pages, the README, the completions and fsquota-json(5). No quota is needed here.

bats_require_minimum_version 1.5.0
: "${srcdir:?}" "${FSQUOTA:?}"

setup() {
	bats_load_library bats-support
	bats_load_library bats-assert
	PATH=$BATS_TEST_TMPDIR:$PATH
	ln -s "$FSQUOTA" "$BATS_TEST_TMPDIR/fsquota"
}

# The options that a command of xfs_quota has at the native door; one line in each page.
common='--at --json --projects-file --projid-file --help'

commands() {
	fsquota help --machine | cut -f 1
}

# options_of COMMAND: by letter and by name, one a line.
options_of() {
	fsquota help --machine "$1" | awk -F '\t' '
		$1 == "operand" { next }
		$1 != "-" { print $1 }
		$2 != "-" { print $2 }' | sort
}

# page_options COMMAND: those that its OPTIONS are about.
page_options() {
	sed -n '/^\.Sh OPTIONS/,/^\.Sh EXIT/s/^\.It Fl //p' "$srcdir/man/fsquota-$1.8" |
		sed 's/ , Fl /\n/g' | awk '{ print "-" $1 }' | sort
}

# readme_options COMMAND: those of its row in the table.
readme_options() {
	local row
	row=$(sed -n "s/^| \`fsquota $1 \([^\`]*\)\`.*/\1/p" "$srcdir/README.md")
	grep -oE -- '--[a-z-]+' <<<"$row" || true
	grep -oE -- '(^|[^a-z-])-[A-Za-z]+' <<<"$row" | sed 's/.*-//; s/./-&\n/g' | grep . || true
}

@test "every option of a command is in its page, and no other" {
	local command
	for command in $(commands); do
		diff <(options_of "$command") <(page_options "$command") || fail "fsquota-$command(8)"
	done
}

@test "the README has every command, and every option of its own or that there are more" {
	local command option known
	for command in $(commands); do
		grep -q "^| \`fsquota $command " "$srcdir/README.md" || fail "$command"
		known=$(options_of "$command")
		for option in $(readme_options "$command"); do
			grep -qx -- "$option" <<<"$known" || fail "README: $command $option"
		done
		! grep -q "^| \`fsquota $command [^\`]*OPTION\.\.\." "$srcdir/README.md" || continue
		for option in $known; do
			[[ " $common -h " == *" $option "* ]] ||
				grep -qx -- "$option" <(readme_options "$command") || fail "README: no $command $option"
		done
	done
}

@test "help shows every option of a command" {
	local command option
	for command in $(commands); do
		run -0 fsquota help "$command"
		for option in $(options_of "$command"); do
			grep -qE -- "^ +(-., )?$option( |,|$)" <<<"$output" || fail "$command $option"
		done
	done
}

@test "help fits a screen" {
	local command
	for command in $(commands); do
		run -0 fsquota "$command" --help
		assert [ "${#lines[@]}" -le 28 ]
		assert [ "$(sed 1d <<<"$output" | wc -L)" -le 80 ]
	done
}

@test "the description has as many fields in every line" {
	local command
	for command in $(commands); do
		run -0 fsquota help --machine "$command"
		run -0 awk -F '\t' '{ print NF }' <<<"$output"
		assert_equal "$(sort -u <<<"$output")" 6
	done
	run -2 fsquota help --machine bogus
	assert_output 'fsquota: there is no command "bogus"; see fsquota --help'
}

@test "fsquota-json(5) has the keys of a project" {
	[ "$(stat -f -c %T /dev/shm)" = tmpfs ] || skip "/dev/shm is no tmpfs"
	run -0 fsquota usage --json /dev/shm
	diff <(jq -r '.usage[0] | keys[]' <<<"$output" | cat - <(printf "directories\nchanged\nwould_change\n") | sort) \
		<(sed -n '/^\.Ss usage, list/,/^\.Ss supported/s/^\.It Cm //p' "$srcdir/man/fsquota-json.5" |
			sed 's/ Pq.*//; s/ , /\n/g' | sort)
}

# completed WORD...: what bash makes of the last one.
completed() {
	# shellcheck disable=SC2016 # for another shell
	run -0 bash -c 'source "$1/completions/bash/fsquota"
		shift
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_fsquota
		echo "${COMPREPLY[*]}"' bash "$srcdir" fsquota "$@"
}

@test "bash completes commands, options, values and operands" {
	completed i
	assert_output id
	completed help ls
	assert_output lsattr
	completed -x -c rep
	assert_output report
	completed lsattr --
	assert_output -- "--json --help"
	completed project -
	assert_output -- "-c -s -C -d -p --dry-run --max-errors --progress $common"
	completed assign --ha
	assert_output -- "--hard --hard-inodes"
	completed usage --fallback ""
	assert_output "none walk"
	completed list --sort=US
	assert_output -- "--sort=USED --sort=USE%"
	completed list -o PATH,U
	assert_output "PATH,USED PATH,USE%"
	completed quota -u daem
	assert_output daemon
	completed limit bh
	assert_output bhard=
	completed report --at /us
	assert_output /usr
	cd "$srcdir"
	completed resize comp
	assert_output completions
	completed resize . comp
	assert_output ""
}

@test "zsh and fish ask the tool, too" {
	grep -q 'help --machine' "$srcdir/completions/zsh/_fsquota" "$srcdir/completions/fish/fsquota.fish"
}

@test "systemd takes the units" {
	local unit
	for unit in "$srcdir"/contrib/systemd/*; do
		sed "s|/usr/bin/fsquota|$FSQUOTA|" "$unit" >"$BATS_TEST_TMPDIR/${unit##*/}"
	done
	run systemd-analyze verify --man=no "$BATS_TEST_TMPDIR"/fsquota-*.{service,path,timer}
	assert_success
	[[ $output != *fsquota* ]] || fail "$output"
}

@test "CONTRIBUTING.md says what runs where as tests/suites does" {
	run -0 diff <("$srcdir/tests/kernels/table") \
		<(sed '1,/^<!-- tests.kernels.table -->$/d; /^<!-- end -->$/,$d' "$srcdir/CONTRIBUTING.md")
}
