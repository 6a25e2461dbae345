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
	assert_line "\$'/mnt/x/caf\\351' hard=1M"
	assert_line "/mnt/x/apo'strophe hard=1M"
	changes_nothing
}

# The directories of the lines that are still there.
registered() { grep -a '^[0-9]*:' /etc/projects | cut -d: -f2- | sort; }

# bats test_tags=many,full
@test "names of all bytes that a name can have come back, at each place in it" {
	local fs
	for fs in x e; do
		mkdir /mnt/$fs/all
		# shellcheck disable=SC2016 # of perl
		perl -e '
			my @odd = ("#", " ", "  ", "\$", "\$\x27a\x27", "\\011", "\\", "\\\\", "\"", "\"\"", "*?[]", "a\\\t", "\t\"\x27",
				"\xe2\x80\xae", "\xe2\x80", "\xc3\xa9\x01", "\x27\x27\x01", "a\\012\x01", "=", "hard=1M", "...");
			for my $byte (grep { $_ != 10 && $_ != 47 } 1 .. 255) {
				my $c = chr $byte;
				push @odd, "${c}b", "a$c", "a${c}b";
			}
			for (@odd) { mkdir "$ARGV[0]/$_" or $!{EEXIST} && next or die "$_: $!"; print "$ARGV[0]/$_\0" }
		' /mnt/$fs/all >"$BATS_TEST_TMPDIR/names"
		xargs -0 fsquota assign --hard 1M <"$BATS_TEST_TMPDIR/names" >/dev/null
		registered >"$BATS_TEST_TMPDIR/before"
		fsquota export /mnt/$fs >"$BATS_TEST_TMPDIR/lines"
		refute grep -n '^#' "$BATS_TEST_TMPDIR/lines"
		changes_nothing
		xargs -0 fsquota release <"$BATS_TEST_TMPDIR/names"
		assert_equal "$(registered)" ''
		fsquota apply "$BATS_TEST_TMPDIR/lines" >/dev/null
		cmp <(registered) "$BATS_TEST_TMPDIR/before"
		assert_equal "$(fsquota list --csv -N -o HARD /mnt/$fs | grep -c '^1048576$')" "$(tr -dc '\0' <"$BATS_TEST_TMPDIR/names" | wc -c)"
		# Of a batch, too, and of a pattern.
		perl -0ne 'chomp; s/(["\\\x00-\x1f\x7f])/sprintf("\\u%04x", ord $1)/ge; print "[\"id\",\"$_\"]\n"' "$BATS_TEST_TMPDIR/names" |
			fsquota batch | jq -r '.id[0].id // .error.message' >"$BATS_TEST_TMPDIR/ids"
		assert_equal "$(grep -cx 0 "$BATS_TEST_TMPDIR/ids"):$(grep -c '[a-z]' "$BATS_TEST_TMPDIR/ids")" 0:0
		xargs -0 fsquota release <"$BATS_TEST_TMPDIR/names"
		mkdir -p $BATS_TEST_TMPDIR/wanted
		echo "/mnt/$fs/all/* hard=2M" >$BATS_TEST_TMPDIR/wanted/all.conf
		fsquota apply $BATS_TEST_TMPDIR/wanted >/dev/null
		cmp <(registered) <(grep -av '/[.]' "$BATS_TEST_TMPDIR/before")
		echo '# none' >$BATS_TEST_TMPDIR/wanted/all.conf
		fsquota apply --prune $BATS_TEST_TMPDIR/wanted >/dev/null
		assert_equal "$(registered)" ''
	done
}

@test "a byte that no line can have is refused" {
	local line
	mkdir -p a/b
	for line in "$'/mnt/x/a\\000/b'" "$'/mnt/x/a\\012'" "$'/mnt/x/a" "\"\$'/mnt/x/a" "$'/mnt/x/a'\"" "$'mnt'"; do
		refuses 2 'standard input, line 1' fsquota apply - <<<"$line hard=1M"
	done
	assert_equal "$(fsquota apply - <<<"$'/mnt/x/\\141'/* hard=1M")" 'created   /mnt/x/a/b'
}

@test "what apply cannot do is a comment that says why" {
	mkdir gone $'new\nline' moved
	fsquota assign --hard 1M gone moved
	fsquota assign --hard 2M --no-register --id 78 $'new\nline'
	rmdir gone moved
	ln -s /mnt/e moved
	fsquota limit -p bhard=1m 77 /mnt/x
	exports '# /mnt/x/gone hard=1M: the directory is not there' \
		'# /mnt/x/moved hard=1M: a symlink is in its place' \
		'# project 77 hard=1M: no directory is registered' \
		'# project 78 hard=2M: no directory is registered'
	changes_nothing
	run -0 fsquota export --json /mnt/x
	assert_equal "$(jq -c '.export[] | [.path, .id, .hard_bytes, .remark != null]' <<<"$output" | tail -n 1)" \
		'[null,78,2097152,true]'
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

@test "volumes of pods are comments: kubelet gives them their IDs" {
	local volume=/mnt/x/kubelet/pods/0d0d/volumes/kubernetes.io~empty-dir/cache
	mkdir -p "$volume"
	fsquota assign --hard 5M --id 1048600 "$volume"
	run -0 fsquota export /mnt/x/kubelet
	assert_output "# $volume hard=5M: it is a volume of a pod, to which kubelet gives its ID"
}
