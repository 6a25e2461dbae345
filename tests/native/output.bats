#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
# needs: python3-jsonschema
#
# How rows are printed, fsquota-output(7): every command has every format, and each is read back.

load ../lib/fsquota

long=/mnt/x/one-directory/another-directory/and-the-last-of-them

setup_file() {
	fresh_fs x
	mkdir -p "$long" /mnt/x/{web,logs}
	chattr +P -p 42 /mnt/x/web
	chattr +P -p 43 "$long"
	real -c 'limit -p bhard=10m 42' -c 'limit -p bsoft=1m bhard=1g ihard=9 43' -c 'limit -p bhard=1m 44' /mnt/x
	fallocate -l 64k /mnt/x/web/file
	sync -f /mnt/x
}

setup() {
	printf '42:/mnt/x/web\n43:%s\n44:/mnt/x/gone\n' "$long" >/etc/projects
	printf 'web:42\n' >/etc/projid
	cd "$BATS_TEST_TMPDIR" || return 1
}

# Commands that print rows and change nothing, and their words.
each_command=("df /mnt/x" "doctor /mnt/x" "dump /mnt/x" "find 42 /mnt/x" "id /mnt/x/web /mnt/x"
	"limit --dry-run bhard=1m 42 /mnt/x" "list /mnt/x" "lsattr -p /mnt/x" "project -c 44 -p /mnt/x/web /mnt/x"
	"quota 42 /mnt/x" "report /mnt/x" "resize --dry-run /mnt/x/web 20M" "state /mnt/x" "supported /mnt/x"
	"timer --dry-run 3d /mnt/x" "usage /mnt/x/web" "assign --dry-run /mnt/x/web --hard 9M"
	"release --dry-run /mnt/x/web" "prune --dry-run --all /mnt/x")

# table WORD...: sets output to what the command prints, which ends with 0.
table() {
	# shellcheck disable=SC2068 # words
	run -0 --separate-stderr fsquota $@
}

# bats test_tags=full
@test "every command has all columns in CSV, and in pairs the same" {
	local words columns
	for words in "${each_command[@]}"; do
		table "${words%% *}" --list-columns
		columns=$(awk '{ print $1 }' <<<"$output" | paste -sd,)
		[[ $columns == *,* ]] || fail "$words"
		table "$words" --csv --output-all
		assert_line --index 0 "$columns"
		assert [ "${#lines[@]}" -ge 2 ]
		# --csv has bytes, --pairs only with --bytes.
		fsquota $words --pairs --bytes --output "${columns,,}" >pairs
		python3 - "$columns" <(printf '%s\n' "$output") pairs <<-'EOF' || fail "$words"
			import csv, re, sys
			rows = list(csv.reader(open(sys.argv[2])))[1:]
			names = ["FSQUOTA_" + name.replace("%", "_PCT") for name in sys.argv[1].split(",")]
			assert all(re.fullmatch("[A-Z0-9_]+", name) for name in names), names
			for row, line in zip(rows, open(sys.argv[3]), strict=True):
			    assert re.findall(r'(\S+)="(.*?)"', line) == list(zip(names, row)), line
		EOF
	done
}

# bats test_tags=full
@test "every command has its JSON an object a line, too" {
	local words
	for words in "${each_command[@]}"; do
		diff <(fsquota $words --json | jq -c '.[] | if type == "array" then .[] else select(type == "object") end') \
			<(fsquota $words --jsonl | jq -c .) || fail "$words"
		[ -n "$(fsquota $words --jsonl)" ] || fail "$words"
	done
}

@test "--csv quotes what has a comma, a quote or a line end, so that it is read back" {
	local directory=$'/mnt/x/a "b", c\nd'
	mkdir "$directory"
	printf 'a"b:42\nc,d:43\n' >/etc/projid
	prints $'42,"a""b",10485760,\n43,"c,d",1073741824,1048576' \
		fsquota list --csv --noheadings -o ID,NAME,HARD,SOFT /mnt/x/web "$long"
	fsquota id --csv "$directory" >file
	rmdir "$directory"
	python3 - "$directory" <<-'EOF'
		import csv, sys
		assert list(csv.reader(open("file", newline=""))) == [["ID", "PATH"], ["0", sys.argv[1]]]
	EOF
}

@test "--output chooses columns of commands that print lines, and +LIST adds to the usual ones" {
	prints $'42 /mnt/x/web\n 0 /mnt/x/logs' fsquota id -N -o ID,PATH /mnt/x/web /mnt/x/logs
	# Without a heading nothing is as wide as one.
	prints 2 fsquota usage -o IUSED -N /mnt/x/web
	prints $'/mnt/x/web/file 42\n/mnt/x/web      42' fsquota find -No PATH,ID --sort -path 42 /mnt/x
	prints $'ID       HARD\n42   10485760\n43 1073741824\n44    1048576' fsquota dump --output ID,HARD --bytes /mnt/x
	table prune --dry-run --all --raw -No ACTION,ID,DIRECTORY /mnt/x
	assert_line --partial " 44 /mnt/x/gone"
	prints "42 yes" fsquota limit --output ID,CHANGED --noheadings bhard=11m 42 /mnt/x
	fsquota limit bhard=10m 42 /mnt/x
	prints "$(fsquota usage --raw -N /mnt/x/web) $FSQ_X_DEV" fsquota usage --raw -No +FILESYSTEM /mnt/x/web
	refuses 2 '"NOSUCH"' fsquota id -o PATH,NOSUCH /mnt/x
}

@test "sizes are for people, and -h changes nothing; --bytes has numbers" {
	local words
	for words in "report -h" "quota -h 42" "df -h"; do
		assert_equal "$(fsquota $words /mnt/x)" "$(fsquota ${words/-h/} /mnt/x)"
	done
	prints "1G 0B" fsquota quota --raw --noheadings --output HARD,USED 43 /mnt/x
	prints "1073741824 0" fsquota quota --raw --noheadings --output HARD,USED --bytes 43 /mnt/x
}

# on_terminal COLUMNS WORD...: the lines that fsquota prints there.
on_terminal() {
	run -0 script -qec "stty cols $1; TERM=dumb fsquota ${*:2}" /dev/null
	mapfile -t lines < <(tr -d '\r' <<<"$output")
}

@test "on a narrow terminal texts are shortened in their middle, and minor columns left out that nobody chose" {
	local row
	table list /mnt/x
	row=${lines[3]}
	assert_line --index 3 --partial "$long"
	on_terminal ${#row} list --sort ID /mnt/x
	assert_equal "${lines[3]}" "$row"
	on_terminal $((${#row} - 1)) list --sort ID /mnt/x
	assert_equal "${#lines[3]}" $((${#row} - 1))
	on_terminal 70 list --sort ID /mnt/x
	assert_equal "${#lines[3]}" 70
	[[ ${lines[3]} == *" /mnt/x/"*...*"${long: -8}" ]] || fail "${lines[3]}"
	# Not what a program reads, and not narrower than a word.
	on_terminal 70 list --raw /mnt/x
	[[ ${lines[2]} == *"$long" ]] || fail "${lines[2]}"
	on_terminal 10 list --sort ID -o PATH,IUSED /mnt/x
	assert_equal "${lines[2]}" "/mnt...-them     1"
	# On less than 80 columns, names go before paths are shortened.
	on_terminal 80 list /mnt/x
	assert_equal "${lines[0]}" "ID NAME         USED SOFT HARD USE% IUSED IHARD PATH"
	on_terminal 79 list /mnt/x
	assert_equal "${lines[0]}" "ID USED SOFT HARD USE% IUSED IHARD PATH"
	on_terminal 40 list /mnt/x
	assert_equal "${lines[0]}" "ID USED HARD USE% PATH"
	# The fullest first, but for programs.
	assert_equal "$(printf '%s\n' "${lines[@]:1:2}" | cut -d ' ' -f 1 | xargs)" "43 42"
}

@test "in a UTF-8 locale a name is shown as it is, as wide as the terminal shows it; in another one escaped" {
	printf 'gr\xc3\xb6\xc3\x9fe:42\n\xe6\x97\xa5\xe6\x9c\xac:43\n' >/etc/projid
	run -0 env LC_ALL=C.UTF-8 fsquota list -No NAME,ID /mnt/x/web "$long"
	assert_output $'gr\xc3\xb6\xc3\x9fe 42\n\xe6\x97\xa5\xe6\x9c\xac  43'
	run -0 env LC_ALL=C fsquota list -No NAME,ID /mnt/x/web "$long"
	assert_output 'gr\xc3\xb6\xc3\x9fe      42
\xe6\x97\xa5\xe6\x9c\xac 43'
	# What is no character, or moves the cursor, is escaped everywhere.
	printf 'a\xff\x1b\xc2\x9b:42\n' >/etc/projid
	prints 'a\xff\x1b\xc2\x9b' env LC_ALL=C.UTF-8 fsquota list -No NAME /mnt/x/web
	# There is room for 17: three of them on each side of the dots, and no half one.
	printf '\xe6\x97\xa5%.0s' {1..20} >name
	printf '%s:42\n' "$(<name)" >/etc/projid
	run -0 script -qec "stty cols 20; LC_ALL=C.UTF-8 TERM=dumb fsquota list -No ID,NAME /mnt/x/web" /dev/null
	assert_equal "$(LC_ALL=C.UTF-8 wc -L <<<"${output%$'\r'}")" 18
}

@test "a script that reads rows gets them in the same bytes on a terminal and in any locale" {
	printf 'gr\xc3\xb6\xc3\x9fe:42\n' >/etc/projid
	for format in --raw --pairs --csv --json --jsonl; do
		run -0 script -qec "stty cols 20 -onlcr; LC_ALL=C.UTF-8 TERM=xterm fsquota list $format /mnt/x" /dev/null
		assert_output "$(fsquota list $format /mnt/x)"
	done
}

@test "formats exclude each other, but in a batch, which is JSON; CSV has its headings without a row" {
	refuses 2 '--csv and an earlier format exclude each other' fsquota list --raw --csv --output ID,NAME /mnt/x
	refuses 2 '--raw and an earlier format exclude each other' fsquota list --json --raw /mnt/x
	assert_equal "$(fsquota list --json -J /mnt/x)" "$(fsquota list --json /mnt/x)"
	assert_equal "$(fsquota list --output all /mnt/x)" "$(fsquota list --output-all /mnt/x)"
	assert_equal "$(fsquota check --over 100000 --csv --output id,name /mnt/x)" "ID,NAME"
	assert_equal "$(fsquota check --over 100000 --output id,name /mnt/x)" ""
	assert_equal "$(echo '["list","--csv","--output","id","/mnt/x"]' | fsquota batch | jq -c .list)" \
		"$(fsquota list --json /mnt/x | jq -c .list)"
}

@test "the file - is standard output, or standard input, for each option that takes a file" {
	local words
	fresh_fs x
	mkdir -p /mnt/x/web "$BATS_TEST_TMPDIR/empty"
	fsquota assign --hard 10M /mnt/x/web >/dev/null
	fsquota limit bhard=1m 77 /mnt/x
	fallocate -l 1M /mnt/x/web/file
	cd "$BATS_TEST_TMPDIR/empty"
	for words in df dump "quota 77" report state; do
		# shellcheck disable=SC2086 # words
		run -0 fsquota $words /mnt/x
		[ -n "$output" ] || fail "$words"
		# shellcheck disable=SC2086 # words
		prints "$output" fsquota $words -f - /mnt/x
	done
	run -0 fsquota metrics --output-file - /mnt/x
	assert_line --partial 'fsquota_project_hard_bytes{id="42"'
	run -0 fsquota report --html - /mnt/x
	assert_line --regexp "^<tr data-key=[0-9]* data-used=1048576><td>/mnt/x/web<td>web<td"
	# It has no directory, and so none is shown.
	assert_line --regexp "^<tr data-key=[0-9]* data-used=0><td><td><td class=\"n\">77<td"
	fsquota dump /mnt/x >../dump
	fsquota limit bhard=2m 77 /mnt/x
	fsquota restore -f - /mnt/x <../dump
	[ "$(fsquota quota --csv -N --output HARD 77 /mnt/x)" = 1048576 ]
	assert_equal "$(ls -A)" ''
}

@test "a shell can evaluate pairs: they set no other variables, and no value runs a command" {
	local evil='/mnt/x/a"; touch run; $(touch run) `touch run` \ !!' pairs shell
	mkdir "$evil"
	chattr +P -p 42 "$evil"
	printf '42:%s\n' "$evil" >/etc/projects
	pairs=$(fsquota usage --pairs --output-all "$evil")
	rmdir "$evil"
	for shell in bash dash 'bash -i'; do
		run -0 --separate-stderr env -u HISTFILE $shell -c '
			before=$PATH
			eval "$1" || exit
			[ "$PATH" = "$before" ] && [ ! -e run ] && echo "$FSQUOTA_ID $FSQUOTA_USE_PCT $FSQUOTA_HARD"' sh "$pairs"
		assert_output --regexp '^42 [0-9]+% 10M$'
	done
}

@test "what the page advises for a shell answers" {
	local command path=$PATH used
	used=$(fsquota usage -N --raw --bytes -o used /mnt/x/web)
	command=$(sed -n '/^For a shell/,/^\.Ed/s/^# //p' "$srcdir/man/fsquota-output.7")
	eval "${command//\/srv\/logs/\/mnt\/x\/web}" >out
	assert_equal "$(<out) $PATH" "$used of 10485760"$'\n'"$((10485760 - used)) $path"
}

# Last, since these commands change something.
# bats test_tags=install
@test "the JSON of every command is as the schema says" {
	local words
	mkdir /mnt/x/{tree,tree/sub,new}
	echo '/mnt/x/tree/* hard=2M' >lines
	echo "42 0 20480 0 0" >dump
	for words in "${each_command[@]}" "assign /mnt/x/new --hard 1M" "assign /mnt/x/new --hard 1M" "usage /mnt/x/new /mnt" \
		"resize /mnt/x/new 2M" "resize --over 0 --at /mnt/x +10%" "limit bsoft=0 bhard=9m isoft=1 43 /mnt/x" "timer 3d /mnt/x" \
		"project -s -p /mnt/x/tree 45 /mnt/x" "project -c -p /mnt/x/web 45 /mnt/x" "disable -p /mnt/x" "enable -vugp /mnt/x" \
		"restore -p -f dump /mnt/x" "apply lines" "apply --dry-run lines" "check --over 0 /mnt/x" "list --total /mnt/x" "list --tree" \
		"explain /mnt/x/web" "export /mnt/x" "state" "df -i /mnt/x" "report -birug" "quota -bir 43" "usage --fallback=walk /mnt/x" \
		"move --rename /mnt/x/new /mnt/x/newer" "release /mnt/x/newer" "prune --all /mnt/x" "find 45 /mnt/x"; do
		# shellcheck disable=SC2086 # words
		fsquota $words --json >answer || [ "${words%% *}" = check ] || [[ $words == *' /mnt' ]] || fail "$words"
		jq -e 'any(.[]; length > 0)' answer >/dev/null || fail "$words: $(<answer)"
		cat answer >>answers
	done
	run -0 "$srcdir/tests/documentation/schema.py" "$FSQUOTA" answers
	assert [ "${output% answers}" -ge 45 ]
}
