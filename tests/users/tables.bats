#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# Tables that people look at: a tree, bars, what is left, and the first rows.

# shellcheck disable=SC2154 # run sets output
load ../lib/fsquota

setup_file() {
	fresh_fs x
	rm -f /etc/projects /etc/projid
	mkdir -p /mnt/x/home/ann /mnt/x/home/bob /mnt/x/home-old /mnt/x/last
	fsquota assign /mnt/x/home --soft 4M --hard 8M --name home
	mkdir /mnt/x/home/ann/www
	local name
	for name in home/ann/www last home/bob home-old; do fsquota assign "/mnt/x/$name" --hard 10M --name "${name##*/}"; done
	dd if=/dev/zero of=/mnt/x/home/ann/file bs=1M count=5 conv=fsync status=none
	dd if=/dev/zero of=/mnt/x/last/file bs=64k count=170 conv=fsync status=none || :
	dd if=/dev/zero of=/mnt/x/home/bob/file bs=64k count=147 conv=fsync status=none
}

@test "a tree has directories below the one that they are in, and no other" {
	run -0 fsquota list --tree -No NAME,PATH /mnt/x
	assert_output "home     /mnt/x/home
www        ann/www
bob        bob
home-old /mnt/x/home-old
last     /mnt/x/last"
	# Programs get whole paths, in this order.
	run -0 fsquota list --tree --jsonl /mnt/x
	assert_equal "$(jq -r '.path, .directories[]' <<<"$output" | uniq)" \
		"$(printf '/mnt/x/%s\n' home home/ann/www home/bob home-old last)"
	refuses 2 '--tree has an order of its own' fsquota list --tree --reverse /mnt/x
}

@test "a tree with totals adds those in a directory to it, and then has what is in no project, and the sums" {
	run -0 fsquota list --tree --total --json /mnt/x
	assert_equal "$(jq -r '.list[] | "\(.name) \(.tree_bytes)"' <<<"$output")" "$(jq -r '(.list | INDEX(.name)) as $of |
		["home", "www", "bob", "home-old", "last"][] | . as $name |
		([if $name == "home" then "home", "www", "bob" else $name end | $of[.].used_bytes] | add) as $sum |
		"\($name) \($sum)"' <<<"$output"; echo 'null null')"
	assert_equal "$(jq -r '[(.list | map(.id) | last), .total[0].hard_bytes] | join(" ")' <<<"$output")" "0 $((48 * 1048576))"
	run -0 fsquota list --tree --total --bytes -o NAME,TREE,PATH /mnt/x
	assert_line --regexp '^home +[0-9]{8} /mnt/x/home$'
	assert_line --regexp '^\(no project\) +/mnt/x$'
}

@test "bars are as long as the use, where they are wanted or a terminal has room" {
	local when
	run -0 fsquota list --bars always -o NAME,USE% --sort -use%,name /mnt/x
	assert_equal "$(sed 's/ *$//' <<<"$output")" "NAME         USE%
last         100% ##########
bob           92% #########.
home          62% ######....
home-old       0% ..........
www            0% ..........
(no project)"
	refute_regex "$(fsquota list /mnt/x)$(fsquota list --bars always --raw /mnt/x)" '##'
	for when in 70: 90:'######\.\.\.\.'; do
		run -0 script -qec "stty cols ${when%%:*}; TERM=dumb fsquota list --sort ID /mnt/x" /dev/null
		[[ $output =~ (###[#.]*) ]] && [[ ${BASH_REMATCH[1]} =~ ${when#*:} ]] || [ "${when#*:}${BASH_REMATCH[1]-}" = '' ] ||
			fail "$when: $output"
	done
	refute_regex "$(script -qec 'stty cols 200; TERM=dumb fsquota list --bars never /mnt/x' /dev/null)" '##'
	# Both of them have room, or neither has.
	refute_regex "$(script -qec 'stty cols 30; TERM=dumb fsquota list -o USE%,USE% /mnt/x' /dev/null)" '##'
}

@test "AVAIL is the least of hard limit, grace time and filesystem, and as much can be written" {
	local left free
	run -0 fsquota list --raw --bytes -No NAME,AVAIL /mnt/x
	assert_line "home $((3 << 20))"
	assert_line "last 0"
	left=$(sed -n 's/^bob //p' <<<"$output")
	assert_equal "$left" "$(fsquota usage --raw --bytes -No AVAIL /mnt/x/home/bob)"
	run ! fallocate -l $((left + 65536)) /mnt/x/home/bob/more
	rm -f /mnt/x/home/bob/more
	# XFS reserves some blocks more while it allocates.
	until_true dd if=/dev/zero of=/mnt/x/home/bob/more bs=64k count=$((left / 65536 - 1)) conv=fsync status=none
	rm /mnt/x/home/bob/more
	# The filesystem has less than the limit.
	fsquota resize /mnt/x/home-old 500G
	free=$(($(stat -f -c '%a * %S' /mnt/x)))
	run -8 fsquota check --over 0 --raw --bytes -No NAME,AVAIL /mnt/x
	left=$(sed -n 's/^home-old //p' <<<"$output")
	assert [ $((left - free)) -ge -1048576 ] && assert [ $((left - free)) -le 1048576 ]
	fsquota timer 1 home /mnt/x
	until_true bash -c '[ "$(fsquota usage --raw -No GRACE,AVAIL /mnt/x/home)" = "expired 0B" ]'
}

@test "--top and --reverse go by the order, and the sums stay those of all" {
	local command
	for command in 'list --raw -No NAME /mnt/x' 'report --raw --noheadings --output NAME /mnt/x' 'check --over 0 --raw -No NAME /mnt/x'; do
		# shellcheck disable=SC2086 # words
		assert_equal "$(fsquota $command --top 2)" "$(fsquota $command --sort percent,used 2>&1 | head -n 2)"
		# shellcheck disable=SC2086 # words
		assert_equal "$(fsquota $command --sort id --top 2)" "$(fsquota $command --sort id 2>&1 | head -n 2)"
		# shellcheck disable=SC2086 # words
		assert_equal "$(fsquota $command --reverse)" "$(fsquota $command 2>&1 | tac)"
	done
	assert_equal "$(fsquota list --raw -No NAME --sort use --top 2 /mnt/x | xargs)" "last bob"
	assert_equal "$(fsquota list --raw -No NAME --sort use --reverse --top 9 /mnt/x | tail -n 1)" last
	assert_equal "$(fsquota list --tree -No NAME --top 2 /mnt/x)" "$(fsquota list --tree -No NAME /mnt/x | head -n 2)"
	for command in list 'list --total' 'check --over 0'; do
		# shellcheck disable=SC2086 # words
		assert_equal "$(fsquota $command --top 1 --json /mnt/x/home/ann/www /mnt/x/last | jq -r '.[][0].name // empty')" last
	done
	assert_equal "$(fsquota list --total --top 1 --json /mnt/x | jq -c '[.list, .total | length]')" '[1,1]'
	refuses 2 '--top is a number from 1 on' fsquota list --top 0 /mnt/x
}

@test "the defaults that XFS keeps at ID 0 are no limit of root: it is not the fullest" {
	real -c 'limit -u -d bhard=1m' -c 'limit -u bhard=100m 1000' /mnt/x
	run -0 fsquota report -u --json --top 1 /mnt/x
	run -0 jq -c '.report[] | [.id, .hard_bytes]' <<<"$output"
	assert_output '[1000,104857600]'
	real -c 'limit -u -d bhard=0' -c 'limit -u bhard=0 1000' /mnt/x
}

@test "watch says on a terminal what it watches, and nowhere else" {
	run -0 script -qec 'fsquota watch --initial --count 1 /mnt/x' /dev/null
	assert_line --index 0 $'fsquota watch: watches /mnt/x until it is interrupted\r'
	run -0 fsquota watch --initial --count 1 /mnt/x
	refute_output --partial interrupted
}

@test "doctor wraps a finding below its words on a terminal, with the repair in one piece, and nowhere else" {
	echo '77:/mnt/x/gone' >>/etc/projects
	run -0 script -qec "stty cols 60; TERM=linux fsquota doctor -q /mnt/x" /dev/null
	assert_line --index 0 $'\e[33mnote    \e[0m/mnt/x/gone: line 6 of /etc/projects has it as\r'
	assert_line --index 1 $'        project 77, and it is not there: gone (fsquota\r'
	run script -qec "stty cols 60; NO_COLOR=1 TERM=linux fsquota doctor -q /mnt/x" /dev/null
	refute_output --partial $'\e'
	run fsquota doctor -q /mnt/x
	assert_output --regexp 'note    /mnt/x/gone: line 6 of /etc/projects has it as project 77, and .* mounted'
}
