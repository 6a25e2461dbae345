#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The native door itself: help, version, wrong words; and that the documentation is complete.

load ../lib/fsquota

commands() {
	fsquota --help | sed -n 's/^  \([a-z]\{2,\}\) .*/\1/p'
}

@test "--help lists the commands" {
	run_split fsquota --help
	assert_equal "$status" 0
	assert_output --partial '  id '
	assert_output --partial '  lsattr '
	run_split fsquota help
	assert_output "$(fsquota -h)"
}

@test "each command explains itself in two ways, on one screen" {
	local command
	for command in $(commands); do
		run_split fsquota help "$command"
		assert_equal "$status" 0
		assert_output --partial "Usage: fsquota $command"
		assert_output "$(fsquota "$command" --help)"
		assert [ "$(wc -l <<<"$stdout")" -le 24 ]
	done
}

@test "each command has a man page with EXIT STATUS and EXAMPLES, a line in the README, completions" {
	local command page
	for command in $(commands); do
		page=$srcdir/man/fsquota-$command.8
		assert_file_exist "$page"
		grep -q '^.Sh EXIT STATUS' "$page"
		grep -q '^.Sh EXAMPLES' "$page"
		grep -q "^| .fsquota $command " "$srcdir/README.md"
		grep -qw "$command" "$srcdir/completions/bash/fsquota"
		grep -qw "$command" "$srcdir/completions/zsh/_fsquota"
		grep -qw "$command" "$srcdir/completions/fish/fsquota.fish"
	done
}

@test "each deviation of the xfs_quota door has a test that names its number" {
	local number count
	count=$(sed -n '/^.Sh DEVIATIONS/,/^.El/p' "$srcdir/man/fsquota-xfs_quota.7" | grep -c '^.It$')
	assert [ "$count" -ge 11 ]
	for number in $(seq "$count"); do
		grep -rqE "deviation $number\b" "$srcdir"/tests/*/*.bats || fail "deviation $number"
	done
}

@test "bash completes commands and options" {
	run bash -c 'source "$1/completions/bash/fsquota"
		complete_words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _fsquota; echo "${COMPREPLY[*]}"; }
		complete_words fsquota i
		complete_words fsquota lsattr --
		complete_words fsquota help ls
		complete_words fsquota -x -c rep' bash "$srcdir"
	assert_line --index 0 id
	assert_line --index 1 -- "--json --help"
	assert_line --index 2 lsattr
	assert_line --index 3 report
}

@test "the help of our own commands fits a screen" {
	local command
	for command in assign id list lsattr release resize supported usage; do
		run fsquota "$command" --help
		assert [ "$(wc -L <<<"$output")" -le 80 ]
	done
}

@test "completion knows the values of options" {
	# shellcheck disable=SC2016 # for another shell
	run bash -c 'source "$1/completions/bash/fsquota"
		complete_words() { COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); COMPREPLY=(); _fsquota; echo "${COMPREPLY[*]}"; }
		complete_words fsquota usage --fallback ""
		complete_words fsquota list --sort p
		complete_words fsquota list -o PATH,U
		complete_words fsquota assign --ha' bash "$srcdir"
	assert_line --index 0 "walk none"
	assert_line --index 1 percent
	assert_line --index 2 "PATH,USED PATH,USE%"
	assert_line --index 3 -- "--hard --hard-inodes"
}

@test "bash completes the options and names that a command of xfs_quota takes" {
	echo volume:42 >/etc/projid
	run bash -c 'source "$1/completions/bash/fsquota"
		complete_words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _fsquota; echo "${COMPREPLY[*]}"; }
		complete_words fsquota report --
		complete_words fsquota project -
		complete_words fsquota limit -p bhard=1g vol
		complete_words fsquota limit bh
		complete_words fsquota quota -u daem
		complete_words fsquota quota --at /mnt/x
		complete_words fsquota project --progress ""
		complete_words fsquota usage --progress ""
		complete_words fsquota lsattr --' bash "$srcdir"
	rm /etc/projid
	assert_line --index 0 -- "--at --json --projects-file --projid-file --help"
	assert_line --index 1 -- "-c -s -C -d -p --at --json --projects-file --projid-file --help --max-errors --progress"
	assert_line --index 2 volume
	assert_line --index 3 bhard=
	assert_line --index 4 daemon
	assert_line --index 5 --partial "/mnt/x"
	assert_line --index 6 "auto never always"
	assert_line --index 7 "auto never always"
	assert_line --index 8 -- "--json --help"
}

@test "--version names the program" {
	run_split fsquota --version
	assert_equal "$status" 0
	assert_output --regexp '^fsquota [0-9]+\.[0-9]+\.[0-9]+$'
	assert_output "$(fsquota -V)"
}

@test "no word, a wrong word and a wrong option give 2 and one line each" {
	local words
	for words in "" bogus "" "id --bogus" "lsattr -Z" --bogus "help bogus" /mnt/x; do
		# shellcheck disable=SC2086 # words
		run_split fsquota $words
		assert_equal "$status" 2
		assert_equal "$stdout" ""
		assert_equal "$(wc -l <<<"$stderr")" 1
	done
}

@test "output that cannot be written gives 1" {
	run bash -c 'fsquota --help >/dev/full'
	assert_failure 1
	assert_output "fsquota: cannot write the output: No space left on device"
}

@test "with an option of xfs_quota first it is xfs_quota" {
	run_split fsquota -x -c 'state -p' /mnt/x
	assert_equal "$status" 0
	assert_line --index 1 "  Accounting: ON"
	run_split fsquota -c 'quota -p -v 0' /mnt/x
	assert_line --index 0 "Disk quotas for Project #0 (0)"
}
