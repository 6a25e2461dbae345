#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# limit --edit and resize --edit: limits as a line in an editor. The editor is a script that runs $CHANGE on the file and
# keeps what it was given in $BATS_TEST_TMPDIR/given.

load ../lib/fsquota

setup_file() { fresh_each x e; }

setup() {
	rm -f /etc/fsquota.conf /etc/projects /etc/projid
	export EDITOR=$BATS_TEST_TMPDIR/editor TMPDIR=$BATS_TEST_TMPDIR/tmp CHANGE given=$BATS_TEST_TMPDIR/given
	unset VISUAL
	mkdir "$TMPDIR"
	# shellcheck disable=SC2016 # for the script
	printf '%s\n' '#!/bin/sh' '[ "$(stat -c %a "$1")" = 600 ] || exit 66' 'cp "$1" "$given"' 'eval "$CHANGE"' >"$EDITOR"
	chmod +x "$EDITOR"
}

# has SOFT,HARD,IHARD FILESYSTEM: www-data
has() { assert_equal "$(fsquota list -u --csv -No ID,SOFT,HARD,IHARD "$2" | sed -n 's/^33,//p')" "$1"; }

no_file_is_left() { assert_equal "$(ls "$TMPDIR")" ''; }

@test "limit --edit sets what the line says, and what it does not say is none" {
	local fs
	for fs in x e; do
		real -c 'limit -u bsoft=5m bhard=10m ihard=100 33' /mnt/$fs
		# shellcheck disable=SC2016 # for the editor
		CHANGE='sed -i "s/hard=10M/hard=20M/; s/ hard-inodes.*//" "$1"' is_silent fsquota limit --edit -u www-data /mnt/$fs
		assert_equal "$(cat "$given")" "# The limits of user 33 (www-data). What the line does not say is none; see fsquota.d(5).
/mnt/$fs hard=10M soft=5M hard-inodes=100"
		has 5242880,20971520, /mnt/$fs
		# shellcheck disable=SC2016
		CHANGE='echo "/mnt/'$fs' unlimited # gone" >"$1"' is_silent fsquota limit --edit -u 33 /mnt/$fs
		has '' /mnt/$fs
		no_file_is_left
	done
}

@test "without a change, and without a line, nothing is set" {
	local CHANGE
	real -c 'limit -g bhard=10m 33' /mnt/x
	# shellcheck disable=SC2016
	for CHANGE in true 'echo "# a remark" >>"$1"' ': >"$1"' 'sed -i "s/10M/10240K/" "$1"'; do
		prints 'nothing changed' fsquota limit --edit -g 33 /mnt/x
		no_file_is_left
	done
	run -0 jq -c '.limit[0] | [.id, .changed]' <(fsquota limit --edit -g --json 33 /mnt/x)
	assert_output '[33,false]'
}

@test "a wrong line is one error, sets nothing and is not lost" {
	local words
	real -c 'limit -u bhard=10m 33' /mnt/x
	for words in hard=10Q 'hard=4M soft=5M' 'hard=5M name=web' 'hard=5M keep' hard=50%; do
		# shellcheck disable=SC2016
		CHANGE='echo "/mnt/x '$words'" >"$1"' refuses 2 "$TMPDIR/fsquota-" fsquota limit --edit -u 33 /mnt/x
		assert_equal "$(cat "$TMPDIR"/fsquota-*)" "/mnt/x $words"
		rm "$TMPDIR"/*
	done
	# shellcheck disable=SC2016
	CHANGE='echo "/mnt/e hard=1M" >"$1"' refuses 2 "$TMPDIR/fsquota-" fsquota limit --edit -u 33 /mnt/x
	# shellcheck disable=SC2016
	CHANGE='sed p -i "$1"' refuses 2 "one line of /mnt/x" fsquota limit --edit -u 33 /mnt/x
	has ,10485760, /mnt/x
}

@test "an editor that fails sets nothing, and signals of the terminal are its own" {
	real -c 'limit -u bhard=10m 33' /mnt/x
	# shellcheck disable=SC2016
	CHANGE='sed -i s/10M/20M/ "$1"; exit 3' refuses 1 "the editor failed with status 3" fsquota limit --edit -u 33 /mnt/x
	EDITOR=/nowhere/editor run -1 fsquota limit --edit -u 33 /mnt/x
	TMPDIR=/nowhere refuses 5 "cannot make /nowhere/fsquota-" fsquota limit --edit -u 33 /mnt/x
	no_file_is_left
	has ,10485760, /mnt/x
	# shellcheck disable=SC2016
	CHANGE='kill -INT $PPID; sed -i s/10M/20M/ "$1"' is_silent fsquota limit --edit -u 33 /mnt/x
	# shellcheck disable=SC2016
	VISUAL="sed -i s/20M/30M/" is_silent fsquota limit --edit -u 33 /mnt/x
	has ,31457280, /mnt/x
}

@test "--edit does not go with limits, batch or another root" {
	refuses 2 "usage: " fsquota limit --edit -u bhard=1m 33 /mnt/x
	refuses 2 "does not go with --root" fsquota limit --edit -u 33 /mnt/x --root /
	run_split fsquota batch <<<'limit --edit -u 33 /mnt/x'
	assert_equal "$(jq -r .error.message <<<"$stdout")" "--edit is no request: it waits for an editor"
	refuses 2 "--edit goes with one directory" fsquota resize --edit /mnt/x 5M
	refuses 2 "--edit goes with one directory" fsquota resize --edit --name web
}

@test "resize --edit changes the limits of a directory" {
	local id
	mkdir -p "/mnt/x/a web"
	id=$(fsquota assign "/mnt/x/a web" --hard 10M --soft 10M)
	cd /mnt/x
	# shellcheck disable=SC2016
	CHANGE='sed -i "s/hard=10M/hard=20M hard-inodes=50/" "$1"' is_silent fsquota resize --edit "a web"
	assert_equal "$(tail -n 1 "$given")" '"/mnt/x/a web" hard=10M soft=10M'
	assert_equal "$(fsquota usage --csv -No SOFT,HARD,IHARD "a web")" 10485760,20971520,50
	# shellcheck disable=SC2016
	CHANGE='sed -i "s/hard=20M/hard=15M/" "$1"' is_silent fsquota resize --edit "a web"
	head -c 5M /dev/zero >"a web/file"
	sync -f .
	# shellcheck disable=SC2016
	CHANGE='echo "\"/mnt/x/a web\" hard=4M" >"$1"' exits 6 fsquota resize --edit "a web"
	assert_equal "${#lines[@]} $(cat "$TMPDIR"/fsquota-*)" '0 "/mnt/x/a web" hard=4M'
	assert_equal "$(sed -n '$s/.* is in //p' "$BATS_TEST_TMPDIR/stderr")" "$(echo "$TMPDIR"/fsquota-*)"
	rm "$TMPDIR"/*
	prints 'nothing changed' fsquota resize --edit "a web"
	# shellcheck disable=SC2016
	CHANGE='sed -i "s/15M/16M/" "$1"' run -0 fsquota resize --edit --dry-run "a web"
	assert_output --partial "hard 15M -> 16M"
	# shellcheck disable=SC2016
	CHANGE='echo "\"/mnt/x/a web\" soft=8M" >"$1"' is_silent fsquota resize --edit "a web"
	assert_equal "$(fsquota usage --csv -No SOFT,HARD,IHARD "a web")" 8388608,,
	refuses 5 "no project" fsquota resize --edit /mnt/x
	no_file_is_left
	cd /
	fsquota release "/mnt/x/a web"
	[ "$id" ]
}
