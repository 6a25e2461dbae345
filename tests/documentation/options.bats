#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# needs: cloud-init python3-jsonschema python3-yaml systemd
#
# What is written about commands is what they are: their descriptions, which "help --machine" prints,
# beside the pages, the completions and fsquota-json(5). No quota is needed here.

load documentation

setup_file() {
	local command
	for command in $("$FSQUOTA" help --machine | cut -f 1); do
		echo "$(page_of "$command") $command"
	done >"$BATS_FILE_TMPDIR/pages"
}

setup() {
	PATH=$BATS_TEST_TMPDIR:$PATH
	ln -s "$FSQUOTA" "$BATS_TEST_TMPDIR/fsquota"
}

# The options that a command of xfs_quota has in native mode; one line in each page.
common='--at --projects-file --projid-file --help'
# What only the OPTIONS of a page have, because many commands have it.
rare='--progress'
# Those of every table, which fsquota-output(7) describes.
tables='--output --output-all --list-columns --sort --bytes --noheadings --color --bars --raw --pairs --csv --json --jsonl'

commands() { fsquota help --machine | cut -f 1; }

# options_of COMMAND [all]: by letter and by name, one a line; without those of tables, or all.
options_of() {
	fsquota help --machine "$1" | awk -F '\t' -v tables=" $([ "${2-}" = all ] || echo "$tables") " '
		$1 == "operand" || index(tables, " " $2 " ") { next }
		$1 != "-" { print $1 }
		$2 != "-" { print $2 }' | sort
}

# commands_of PAGE: those that a page is of.
commands_of() { awk -v page="$1" '$1 == page { print $2 }' "$BATS_FILE_TMPDIR/pages"; }

# command_pages: the pages of commands, a path a line.
command_pages() { cut -d ' ' -f 1 "$BATS_FILE_TMPDIR/pages" | sort -u; }

# page_options PAGE: those that its OPTIONS are about.
page_options() {
	sed -n '/^\.Sh OPTIONS/,/^\.Sh EXIT/s/^\.It Fl //p' "$1" | sed 's/ , Fl /\n/g' | awk '{ print "-" $1 }' | sort
}

# synopsis_of COMMAND: its lines in its page, as they are shown.
synopsis_of() {
	mandoc -T ascii -O width=1000 "$(page_of "$1")" | col -b | sed -n '/^SYNOPSIS/,/^DESCRIPTION/{//!p;}' |
		awk -v command="$1" '$1 == "fsquota" { mine = $2 == command } mine'
}

# synopsis_options COMMAND: with one dash and with two, one a line; letters may be bundled.
synopsis_options() {
	local synopsis
	synopsis=$(synopsis_of "$1")
	grep -oE -- '--[a-z-]+' <<<"$synopsis" || true
	grep -oE -- '[[ ]-[A-Za-z0]+' <<<"$synopsis" | sed 's/.*-//; s/./-&\n/g' | grep . || true
}

# fsquota(8) also has the options that commands have in common.
@test "every option of a command is in its page once, and no other" {
	local page command
	for page in $(command_pages); do
		diff <({ for command in $(commands_of "$page"); do options_of "$command"; done
			[ "$page" != "$srcdir/man/fsquota.8" ] || tr ' ' '\n' <<<"--root --lock-timeout $rare $common"; } | sort -u) \
			<(page_options "$page") || fail "$page"
		for command in $(commands_of "$page"); do
			[[ $(options_of "$command" all) != *--jsonl* ]] ||
				grep -q '^\.Xr fsquota-output 7$' "$page" || fail "$page"
		done
	done
}

@test "fsquota-output(7) has the options of every table" {
	diff <(tr ' ' '\n' <<<"$tables" | sort) \
		<(sed -n 's/^\.It Fl .*Fl -\|^\.It Fl -/--/p' "$srcdir/man/fsquota-output.7" | sed 's/ .*//' | sort -u)
	diff <(fsquota help --machine list | awk -F '\t' -v tables=" $tables " 'index(tables, " " $2 " ") { print $2 }' | sort) \
		<(tr ' ' '\n' <<<"$tables" | sort)
}

@test "the SYNOPSIS of a page has every option of the command's own, and no other" {
	local command letter name rest known shown
	for command in $(commands); do
		[ -n "$(synopsis_of "$command")" ] || fail "$(page_of "$command"): no $command"
		known=$(options_of "$command")
		shown=$(synopsis_options "$command")
		for option in $shown; do
			grep -qx -- "$option" <<<"$known" || fail "$(page_of "$command"): $command $option"
		done
		while IFS=$'\t' read -r letter name rest; do
			[[ $letter == operand || " $common $rare $tables " == *" $name "* ]] ||
				grep -qxE -- "$letter|$name" <<<"$shown" || fail "$(page_of "$command"): $command has $letter, $name"
		done < <(fsquota help --machine "$command")
	done
}

# Where a letter of xfs_quota's own command has no long name, and another one in the other commands.
letters_of_xfs_quota='-h df
-h quota
-h report'

@test "a letter has one long name in all commands, but for those of xfs_quota's own" {
	local command letter name rest
	local -A name_of=()
	for command in $(commands); do
		while IFS=$'\t' read -r letter name rest; do
			[[ $letter == -? ]] || continue
			if grep -qxF -- "$letter $command" <<<"$letters_of_xfs_quota"; then
				assert_equal "$command $letter $name" "$command $letter -"
				continue
			fi
			: "${name_of[$letter]:=$name}"
			assert_equal "$command $letter $name" "$command $letter ${name_of[$letter]}"
		done < <(fsquota help --machine "$command")
	done
	assert_equal "${name_of[-J]} ${name_of[-N]} ${name_of[-o]} ${name_of[-b]}" "--json --noheadings --output -"
}

@test "every command with --json has -J" {
	local command
	for command in $(commands); do
		fsquota help --machine "$command" >"$BATS_TEST_TMPDIR/options"
		assert_equal "$(grep -c -- $'\t--json\t' "$BATS_TEST_TMPDIR/options")" \
			"$(grep -c -- $'^-J\t--json\t' "$BATS_TEST_TMPDIR/options")"
	done
}

@test "a letter that tables had names the long option, where xfs_quota does not have it" {
	run -2 fsquota list -rno PATH
	assert_output "fsquota list: unknown option -r; did you mean --raw?"
	run -2 fsquota usage -b /
	assert_output "fsquota usage: unknown option -b: --bytes -N -o USED prints one exact number"
	run -2 fsquota top -b -n 1
	assert_output "fsquota top: unknown option -b; did you mean --batch N or --bytes?"
	run -2 fsquota df -n
	assert_output "fsquota df: unknown option -n; did you mean --noheadings?"
	run -2 fsquota batch -r
	assert_output --partial "unknown option -r; usage:"
}

# names_of PAGE: the commands in its NAME.
names_of() { sed -n '/^\.Sh NAME/,/^\.Nd/s/^\.Nm fsquota-\([a-z-]*\).*/\1/p' "$1"; }

@test "a page has every command that it is of in its NAME, and its exit statuses and examples" {
	local page
	for page in $(command_pages); do
		[ "$page" = "$srcdir/man/fsquota.8" ] || diff <(commands_of "$page" | sort) <(names_of "$page" | sort) || fail "$page"
		assert_equal "$page: $(grep -cE '^\.Sh (EXIT STATUS|EXAMPLES)' "$page")" "$page: 2"
	done
}

# --help prints each group of commands like this.
@test "fsquota(8) has the groups, commands and sentences of --help, and so has a page of one command" {
	local page command
	diff <(fsquota --help | sed -n '/^Usage/,/^fsquota help/{/:$/p; s/^  \([a-z][a-z-]*\) \+/\1\t/p;}') \
		<(awk '/^\.Sh/ { on = $2 == "COMMANDS" } !on { next }
			/^\.Ss/ { print substr($0, 5) ":" }
			/^\.It (Xr fsquota-[a-z-]+ 8|Cm [a-z-]+)$/ { sub("fsquota-", "", $3); name = $3; getline; print name "\t" $0 }' \
			"$srcdir/man/fsquota.8")
	for page in $(command_pages); do
		command=$(commands_of "$page")
		[[ $command != *$'\n'* ]] || continue
		assert_equal "$command: $(sed -n 's/^\.Nd //p' "$page")" \
			"$command: $(fsquota help --machine | awk -F '\t' -v command="$command" '$1 == command { print $2 }')"
	done
}

@test "fsquota(8) fits two screens" {
	mandoc -T utf8 -O width=80 "$srcdir/man/fsquota.8" | col -b >"$BATS_TEST_TMPDIR/page"
	run -0 sed '/^SEE ALSO/,$d' "$BATS_TEST_TMPDIR/page"
	assert_line "EXIT STATUS"
	assert [ "$(wc -l <<<"$output")" -le 130 ]
}

@test "help shows every command and option, with the words of its description" {
	local command option shown letter name rest
	diff <(fsquota help --machine | sort) <(fsquota --help | sed -nE 's/^  ([a-z-]+) +(.*)/\1\t\2/p' | sort)
	for command in $(commands); do
		run -0 fsquota help "$command"
		assert_output --partial "Usage: fsquota $command"
		assert_output "$(fsquota "$command" --help)"
		for option in $(options_of "$command" all); do
			grep -qE -- "(^|,) +(-., )?$option( |,|$)" <<<"$output" || fail "$command $option"
		done
		shown=$(tr -s ' \n' ' ' <<<"$output ")
		while IFS=$'\t' read -r letter name rest; do
			[[ $letter == operand || " $tables " == *" $name "* || $shown == *" ${rest##*$'\t'} "* ]] ||
				fail "$command $name: ${rest##*$'\t'}"
		done < <(fsquota help --machine "$command")
	done
}

@test "help fits a screen" {
	local command
	for command in $(commands); do
		run -0 fsquota "$command" --help
		assert [ "${#lines[@]}" -le 33 ]
		assert [ "$(sed 1d <<<"$output" | wc -L)" -le 80 ]
	done
}

# json_keys: "COMMAND KEY" for each key that COMMANDS of fsquota-json(5), or of $page, has of a command.
json_keys() {
	awk '/^\.Sh/ { on = /COMMANDS/ } !on { next } { gsub(/ [,;:.]/, "") }
		/^\.It Cm/ { count = split(substr($0, 8), commands) }
		/^\.Cm/ { for (i = 2; i <= NF; i++) for (c = 1; c <= count; c++) print commands[c], $i }' \
		"${page:-$srcdir/man/fsquota-json.5}" | sort -u
}

# json_types: "KEY TYPE" for each key that KEYS describes.
json_types() {
	sed -n '/^\.Sh KEYS/,/^\.Sh COMMANDS/{s/^\.It Cm //; T; s/ , Cm /\n/g; p}' "$srcdir/man/fsquota-json.5" |
		awk -F ' Pq ' '{ split($2, type, " "); for (i = split($1, keys, " , "); i; i--) print keys[i], type[1] }' | sort
}

# json_schema FILTER: what FILTER makes of each $command and .key of the schema.
json_schema() {
	fsquota schema | jq -r '."$defs" | to_entries[] | .key as $command | .value | .. | objects | .properties? // empty |
		to_entries[] | select(.key != $command or (.value | .items // .properties // .oneOf) == null) | '"$1" | sort -u
}

@test "fsquota-json(5) has the keys of each command, and no other" {
	diff <(json_schema '"\($command) \(.key)"') <(json_keys)
	# It would be noticed.
	sed 's/^\.Cm part ,/.Cm party ,/' "$srcdir/man/fsquota-json.5" >"$BATS_TEST_TMPDIR/page"
	page=$BATS_TEST_TMPDIR/page
	run diff <(json_schema '"\($command) \(.key)"') <(json_keys)
	assert_line '< explain part'
	assert_line '> explain party'
}

@test "fsquota-json(5) describes each key once, with its type" {
	diff <(json_schema '"\(.key) \(if .value.enum then "string" else [.value.type // "object"] | flatten | map(select(. != "null"))[0] |
			if . == "integer" then "number" else . end end)"') <(json_types)
}

# completes EXPECTED WORD...: what bash makes of the last one.
completes() {
	run -0 bash -c 'source "$1/completions/bash/fsquota"
		shift
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE=$*
		_fsquota
		echo "${COMPREPLY[*]}"' bash "$srcdir" fsquota "${@:2}"
	assert_output -- "$1"
}

@test "the program prints the scripts of completion" {
	local file
	# But for its comments.
	for file in bash/fsquota zsh/_fsquota fish/fsquota.fish; do
		cmp <("$FSQUOTA" completion "${file%/*}" | grep -v '^[[:blank:]]*#') \
			<(grep -v '^[[:blank:]]*#' "$srcdir/completions/$file")
	done
	run -2 "$FSQUOTA" completion tcsh
	assert_output "fsquota completion: usage: fsquota completion bash|zsh|fish"
}

@test "bash completes commands, options, values and operands" {
	completes id i
	completes lsattr help ls
	completes report -x -c rep
	completes "$tables --help" lsattr --
	local lettered=${tables/--noheadings/-N --noheadings}
	lettered=${lettered/--json/-J --json}
	completes "-c -s -C -d -p --dry-run --max-errors --progress --at $lettered --projects-file --projid-file --help" project -
	completes "--hard --hard-inodes" assign --ha
	completes "none walk" usage --fallback ""
	completes "--sort=USED --sort=USE%" list --sort=US
	completes "PATH,USED PATH,USE% PATH,UNTIL" list -o PATH,U
	completes "--sort=use,-used --sort=use,-use%" list --sort=use,-us
	completes "-USED -USE%" list --sort -US
	completes "id,+used id,+use%" list --sort id,+us
	completes daemon quota -u daem
	completes daemon:daemon assign --owner daemon:daem
	completes bhard= limit bh
	completes /usr report --at /us
	cd "$srcdir"
	completes --root --ro
	completes usage --json --at . us
	completes list --root /host lis
	completes --dry-run --root /host release --dry
	completes completions resize comp
	completes completions resize . comp
	completes "" supported . comp
}

@test "bash completes names that others have written, and runs nothing of them" {
	local names=$BATS_TEST_TMPDIR/names
	printf '%s\n' 'web:1' '$(touch${IFS}'"$BATS_TEST_TMPDIR"'/run):2' 'w`id`:3' 'with space:4' >"$names"
	completes "web \\\$\\(touch\\\$\\{IFS\\}$BATS_TEST_TMPDIR/run\\) w\\\`id\\\` with\\ space" \
		quota -p --projid-file="$names" ""
	completes 'with\ space' quota -p --projid-file="$names" 'wi'
	completes "1 2 3 4" --projid-file "$names" usage --id ""
	completes "web" usage --projid-file="$names" --name we
	sed 's,\(.*\):\(.*\),\2:/srv/\1,' "$names" >"$names.projects"
	completes '/srv/with\ space' release --projects-file="$names.projects" /srv/wi
	completes '' move /srv/web --projects-file="$names.projects" /srv/wi
	assert [ ! -e "$BATS_TEST_TMPDIR/run" ]
}

# bats test_tags=install
@test "systemd takes the units" {
	local unit
	for unit in "$srcdir"/contrib/systemd/*; do
		sed "s|/usr/bin/fsquota|$BATS_TEST_TMPDIR/fsquota|" "$unit" >"$BATS_TEST_TMPDIR/${unit##*/}"
	done
	run systemd-analyze verify --man=no "$BATS_TEST_TMPDIR"/fsquota-*.{service,path,socket,timer}
	assert_success
	[[ $output != *fsquota* ]] || fail "$output"
}

# What is left is root, CAP_SYS_ADMIN, and directories anywhere.
# bats test_tags=install
@test "systemd finds little exposed by the units" {
	local unit count=0 most
	for unit in "$srcdir"/contrib/systemd/*.service; do
		most=25
		# It runs sendmail(8), which may be setgid and open connections.
		[[ $unit != *-@(check|watch-mail).service ]] || most=40
		# It writes fstab and builds an initramfs, once.
		[[ $unit != *-at-boot.service ]] || continue
		run -0 systemd-analyze security --offline=true --threshold=$most "$unit"
		count=$((count + 1))
	done
	assert [ $count -ge 4 ]
	# It would find more.
	sed '/^SystemCallFilter=/d; /^CapabilityBoundingSet=/d' "$unit" >"$BATS_TEST_TMPDIR/${unit##*/}"
	run ! systemd-analyze security --offline=true --threshold=25 "$BATS_TEST_TMPDIR/${unit##*/}"
}

# bats test_tags=install
@test "cloud-init takes the snippet, by its schema" {
	local schema snippet=$srcdir/contrib/cloud-init/fsquota.yaml
	schema=$("$srcdir/tests/guest/cloud-init") || fail "tools/setup cloud-init"
	run -0 head -n 1 "$snippet"
	assert_output '#cloud-config'
	run -0 python3 -m jsonschema "$schema" -i <(json_of "$snippet")
	# It would not take this.
	run ! python3 -m jsonschema "$schema" -i <(sed 's/^runcmd:/&\n  - 7/' "$snippet" | json_of /dev/stdin)
}

json_of() {
	python3 -c 'import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1]))))' "$1"
}

# bats test_tags=install
@test "no unit runs before somebody enables it, but the one for pods" {
	local root=$BATS_TEST_TMPDIR unit
	mkdir -p "$root"/usr/lib/systemd/{system,system-preset}
	cp "$srcdir"/contrib/systemd/*.{service,path,socket,timer} "$root/usr/lib/systemd/system"
	for unit in "$srcdir"/contrib/systemd/*.{path,socket,timer}; do systemctl --root="$root" preset "${unit##*/}"; done
	assert [ -L "$root/etc/systemd/system/timers.target.wants/fsquota-prune.timer" ]
	cp "$srcdir"/contrib/systemd/*.preset "$root/usr/lib/systemd/system-preset"
	for unit in "$srcdir"/contrib/systemd/*.{path,socket,timer}; do systemctl --root="$root" preset "${unit##*/}"; done
	run -0 find "$root/etc/systemd/system" -type l -printf '%f\n'
	assert_output fsquota-prune-pods.timer
}

@test "each timer, path and socket has its service" {
	local unit
	for unit in "$srcdir"/contrib/systemd/*.{path,socket,timer}; do
		grep -q '^Accept=yes' "$unit" && assert [ -e "${unit%.*}@.service" ] && continue
		assert [ -e "${unit%.*}.service" ]
	done
}

@test "cron takes the line of contrib/cron.d" {
	run -0 grep -v '^#' "$srcdir/contrib/cron.d/fsquota"
	assert_line --regexp '^[0-9]+ \* \* \* \* root /usr/bin/fsquota check [^%]*$'
	assert_equal "${#lines[@]}" 2
	# cron(8) reads no file of that name otherwise.
	run -0 find "$srcdir/contrib/cron.d" -type f -name '[A-Za-z0-9_-]*' ! -name '*.*' -perm 644
	assert_output
}
