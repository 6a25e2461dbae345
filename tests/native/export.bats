#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# export prints lines that apply reads: they change nothing here, and make the same elsewhere.

load ../lib/fsquota

setup() {
	rm -f /etc/projects /etc/projid
	cd /
	fresh_each x e
	cd /mnt/x || return
}

# exports LINE...: these lines, and no others.
exports() {
	succeeds fsquota export /mnt/x /mnt/e
	assert_equal "$stdout" "$(printf '%s\n' "$@")"
}

# changes_nothing: apply finds all as the lines say, and takes each of them but comments.
changes_nothing() {
	local before count
	before=$(cat /etc/projects /etc/projid && real -c 'report -p -n' -c 'report -p -n -i')
	count=$(fsquota export /mnt/x /mnt/e | grep -cv "^#" || :)
	succeeds fsquota apply --exit-code - < <(fsquota export /mnt/x /mnt/e)
	assert_equal "$(grep -c "^unchanged" <<<"$stdout" || :)" "$count"
	assert_equal "$(cat /etc/projects /etc/projid && real -c 'report -p -n' -c 'report -p -n -i')" "$before"
}

@test "what is exported changes nothing where it comes from, and makes the same where nothing is" {
	local before after id
	mkdir -p web outer/inner plain /mnt/e/both /mnt/e/other
	fsquota assign --hard 10M --soft 9M --hard-inodes 100 --soft-inodes 90 --name web web
	fsquota assign --hard 1500K outer
	# With a smaller ID than the directory that it is in.
	fsquota assign --id 7 --soft 1G outer/inner
	fsquota assign plain
	fsquota assign --hard 1000000 --name shared /mnt/e/both /mnt/e/other
	exports '/mnt/e/both hard=977K name=shared' '/mnt/e/other hard=977K name=shared' \
		'/mnt/x/outer hard=1500K' '/mnt/x/outer/inner soft=1G' '/mnt/x/plain unlimited' \
		'/mnt/x/web hard=10M soft=9M hard-inodes=100 soft-inodes=90 name=web'
	changes_nothing
	fsquota export --ids >"$BATS_TEST_TMPDIR/lines"
	before=$(fsquota list --csv --output PATH,ID,NAME,SOFT,HARD,ISOFT,IHARD --sort PATH)
	for id in $(cut -d : -f 1 /etc/projects | sort -u); do fsquota release --id "$id"; done
	assert_equal "$(cat /etc/projects /etc/projid)" ''
	run -0 fsquota apply "$BATS_TEST_TMPDIR/lines"
	after=$(fsquota list --csv --output PATH,ID,NAME,SOFT,HARD,ISOFT,IHARD --sort PATH)
	assert_equal "$after" "$before"
}

@test "every path that a line can have is quoted as apply reads it" {
	local name
	for name in 'two words' 'st*r' 'wh?t' '[set]' 'quo"te' 'back\slash' '#hash' "apo'strophe" $'caf\xe9'; do
		mkdir "$name"
		fsquota assign --hard 1M "$name"
	done
	run_split fsquota export /mnt/x
	assert_equal "${#lines[@]}" 9
	assert_line '"/mnt/x/quo\"te" hard=1M'
	assert_line '"/mnt/x/st*r" hard=1M'
	changes_nothing
}

@test "what apply cannot do is a comment that says why" {
	mkdir gone $'tab\there' moved
	fsquota assign --hard 1M gone moved $'tab\there'
	rmdir gone moved
	ln -s /mnt/e moved
	fsquota limit -p bhard=1m 77 /mnt/x
	exports '# /mnt/x/gone hard=1M: the directory is not there' \
		'# /mnt/x/moved hard=1M: the directory is on another filesystem' \
		'# /mnt/x/tab\there hard=1M: there is a control character in its path' \
		'# project 77 hard=1M: no directory is registered'
	changes_nothing
	run -0 fsquota export --json /mnt/x
	assert_equal "$(jq -c '.export[] | [.path, .id, .hard_bytes, .remark != null]' <<<"$output" | tail -n 1)" \
		'[null,77,1048576,true]'
}

@test "export takes directories and filesystems, as list does" {
	mkdir -p a/b c /mnt/e/d
	fsquota assign a c /mnt/e/d
	prints '/mnt/x/a unlimited' fsquota export a
	prints '/mnt/e/d unlimited' fsquota export /mnt/e
	refuses 5 /mnt/nowhere fsquota export /mnt/nowhere
	refuses 2 'neither a directory nor a device' fsquota export /etc/projects
}

@test "apply - reads standard input, whatever that is, and names it" {
	mkdir a
	echo '/mnt/x/a hard=1M' >"$BATS_TEST_TMPDIR/lines"
	prints 'created   /mnt/x/a' fsquota apply - <"$BATS_TEST_TMPDIR/lines"
	refuses 2 'standard input, line 2' fsquota apply - < <(printf '#\n/mnt/x/a hard=much\n')
	# A socket, as ssh has one there: open(2) of /dev/stdin fails.
	run -0 perl -MSocket -e 'socketpair(my $one, my $other, AF_UNIX, SOCK_STREAM, 0) or die;
		syswrite($one, "/mnt/x/a hard=2M\n"); shutdown($one, 1); open(STDIN, "<&", $other); exec "fsquota", "apply", "-"'
	assert_output 'changed   /mnt/x/a'
}
