#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# The owner of a directory may give it any project ID, and so it proves nothing.

load ../lib/fsquota
load hostile

setup() {
	no_files
	fresh_each x e
	# Somebody's directory, which no file knows, and one that is registered.
	for fs in x e; do
		mkdir -m 777 /mnt/$fs/{unlisted,listed,mal}
		touch /mnt/$fs/unlisted/{1,2,3}
		real -c 'limit -p bhard=10m 500' /mnt/$fs
		chattr -p 500 /mnt/$fs/unlisted/* /mnt/$fs/unlisted
		chattr +P /mnt/$fs/unlisted
	done
}

# The neighbours are as they were.
assert_untouched() {
	assert_equal "$fs: $(kernel_has /mnt/$fs 500 | cut -d' ' -f3)" "$fs: 10240"
	[ -z "${listed-}" ] ||
		assert_equal "$fs: $(kernel_has /mnt/$fs "$listed" | cut -d' ' -f3)" "$fs: 20480"
}

@test "a directory with the ID of another gets neither its limits nor a word in them" {
	for fs in x e; do
		fsquota assign --hard 20M --projects-file /etc/projects /mnt/$fs/listed >/dev/null
		listed=$(fsquota id /mnt/$fs/listed)
		set_id "$listed" /mnt/$fs/mal
		refuses 6 "project ID $listed, which belongs to /mnt/$fs/listed (if it was renamed" fsquota assign /mnt/$fs/mal
		for id in 500 "$listed"; do
			set_id "$id" /mnt/$fs/mal
			refuses 6 "$id" fsquota assign /mnt/$fs/mal --hard 1M
			refuses 6 "$id" fsquota release /mnt/$fs/mal
			refuses 6 "$id" fsquota resize /mnt/$fs/mal 1M --allow-shrink
			assert_untouched
			assert_equal "$(fsquota id /mnt/$fs/mal)" "$id"
		done
		# Who insists gets what he says.
		set_id 500 /mnt/$fs/mal
		prints 500 fsquota assign /mnt/$fs/mal --id 500
		fsquota release /mnt/$fs/mal 2>/dev/null
		real -c 'limit -p bhard=10m 500' /mnt/$fs
		# And who says another does not take the old one along.
		set_id 500 /mnt/$fs/mal
		run -0 fsquota assign /mnt/$fs/mal --name fresh-$fs --hard 1M
		assert [ "$output" -ge $FIRST ]
		assert_untouched
		fsquota release /mnt/$fs/listed
	done
}

@test "an ID that no file knows is kept when all that has it is in the directory" {
	for fs in x e; do
		run -0 fsquota resize /mnt/$fs/unlisted 11M
		run -0 fsquota resize /mnt/$fs/unlisted 10M --allow-shrink
		prints 500 fsquota assign /mnt/$fs/unlisted
		assert_untouched
		fsquota release /mnt/$fs/unlisted
		assert_equal "$(kernel_has /mnt/$fs 500 | cut -d' ' -f3- | tr -d '0 ')" ""
		run ! grep 500 /etc/projects /etc/projid
	done
}

@test "one file elsewhere, and the ID is not the directory's" {
	for fs in x e; do
		touch /mnt/$fs/mal/file
		set_id 500 /mnt/$fs/mal/file
		refuses 6 "1 file elsewhere" fsquota assign /mnt/$fs/unlisted
		refuses 6 "1 file elsewhere" fsquota release /mnt/$fs/unlisted
		mkdir /mnt/$fs/unlisted/below
		refuses 6 "ID 500 from a directory above it" fsquota resize /mnt/$fs/unlisted/below 5M
		run -0 fsquota release /mnt/$fs/unlisted --id 500
		assert_equal "$(fsquota id /mnt/$fs/unlisted/1)" 0
		assert_equal "$(fsquota id /mnt/$fs/mal/file)" 500
	done
}

@test "an ID that clients cannot read is not kept by accident" {
	for fs in x e; do
		set_id 4294967294 /mnt/$fs/mal
		refuses 6 "ID 4294967294, which nothing shows to be its own" fsquota assign /mnt/$fs/mal
		refuses 6 4294967294 fsquota release /mnt/$fs/mal
		prints 4294967294 fsquota assign /mnt/$fs/mal --id 4294967294
		fsquota release /mnt/$fs/mal
	done
}

@test "a registered directory that its owner gave another ID is put right, or released" {
	local nested another
	for fs in x e; do
		mkdir -p /mnt/$fs/listed/{sub,nested,another}
		touch /mnt/$fs/listed/{sub,nested}/file
		listed=$(fsquota assign --hard 20M /mnt/$fs/listed)
		nested=$(fsquota assign --hard 1M /mnt/$fs/listed/nested)
		another=$(fsquota assign --hard 1M /mnt/$fs/listed/another)
		set_id 500 /mnt/$fs/listed /mnt/$fs/listed/sub
		set_id 77 /mnt/$fs/listed/sub/file
		# Its use and limits are those of its own project all the time.
		run_split fsquota usage -N -o ID,HARD /mnt/$fs/listed
		assert_output --regexp "^ *$listed +20M$"
		[[ $stderr == "fsquota usage: /mnt/$fs/listed: is outside of its quota: it carries ID 500, "* ]]
		fsquota resize /mnt/$fs/listed 21M
		fsquota resize /mnt/$fs/listed 20M --allow-shrink
		assert_untouched
		prints "$listed" fsquota assign /mnt/$fs/listed
		run fsquota id /mnt/$fs/listed{,/sub,/sub/file,/nested,/nested/file,/another}
		assert_output "$(printf '%s\n' "$listed" "$listed" "$listed" "$nested" "$nested" "$another")"
		# What counts for others does no longer; what nobody knows is left to who made it.
		set_id 500 /mnt/$fs/listed
		set_id 7 /mnt/$fs/listed/sub
		set_id 77 /mnt/$fs/listed/sub/file
		run -0 fsquota release /mnt/$fs/listed
		run fsquota id /mnt/$fs/listed{,/sub,/sub/file,/nested,/nested/file,/another}
		assert_output "$(printf '%s\n' 0 0 77 "$nested" "$nested" "$another")"
		listed=
		assert_untouched
		fsquota release /mnt/$fs/listed/nested
		fsquota release /mnt/$fs/listed/another
	done
}

@test "a registered directory that has lost its ID gets it back, and what is registered in it stays" {
	local nested how
	for fs in x e; do
		mkdir -p /mnt/$fs/listed/{nested,sub}
		touch /mnt/$fs/listed/{nested,sub}/file
		listed=$(fsquota assign --hard 20M /mnt/$fs/listed)
		nested=$(fsquota assign --hard 1M /mnt/$fs/listed/nested)
		for how in '-p 0' -P; do
			chattr $how /mnt/$fs/listed
			set_id 0 /mnt/$fs/listed/sub/file
			prints "$listed" fsquota assign /mnt/$fs/listed
			assert_equal "$(fsquota id /mnt/$fs/listed/{sub/file,nested,nested/file})" \
				"$(printf '%s\n' "$listed" "$nested" "$nested")"
			run -0 fsquota lsattr -pd /mnt/$fs/listed
			assert_output --regexp "^ *$listed [a-z-]*P"
			# What carries an ID that no file knows is not taken.
			set_id 77 /mnt/$fs/listed/sub/file
			chattr $how /mnt/$fs/listed
			refuses 6 "belongs to project 77" fsquota assign /mnt/$fs/listed
			assert_equal "$(fsquota id /mnt/$fs/listed/sub/file)" 77
		done
		assert_untouched
	done
}

@test "what is made in a nested directory while that is released belongs to the project above" {
	local outer inner fs
	for fs in x e; do
		mkdir -p /mnt/$fs/listed/nested/sub
		touch /mnt/$fs/listed/nested/{sub/,}{1..3}
		outer=$(fsquota assign --hard 20M /mnt/$fs/listed)
		inner=$(fsquota assign --hard 10M /mnt/$fs/listed/nested)
		stopped_at 217 2 "$FSQUOTA" release /mnt/$fs/listed/nested # getdents64
		touch /mnt/$fs/listed/nested/made
		mkdir /mnt/$fs/listed/nested/made-directory
		go_on
		assert_equal "$status:$stdout$stderr" 0:
		counts /mnt/$fs "$inner" 0
		# Both directories and "sub", six files, and what was made.
		counts /mnt/$fs "$outer" 11
		prints '' fsquota find --orphans /mnt/$fs/listed
	done
}

@test "a directory around one that is registered gets no quota, whatever ID that one carries" {
	local id
	for fs in x e; do
		mkdir -p /mnt/$fs/listed/sub/inner
		touch /mnt/$fs/listed/sub/inner/file
		id=$(fsquota assign --name both-$fs --hard 20M /mnt/$fs/listed/sub/inner)
		fsquota assign --name both-$fs /mnt/$fs/listed >/dev/null
		# It carries the ID of the directory above.
		refuses 6 "/mnt/$fs/listed/sub/inner" fsquota assign /mnt/$fs/listed/sub
		refuses 6 "/mnt/$fs/listed/sub/inner" fsquota assign --dry-run /mnt/$fs/listed/sub
		set_id 0 /mnt/$fs/listed/sub/inner
		refuses 6 "belongs to project $id" fsquota assign /mnt/$fs/listed/sub
		assert_equal "$(fsquota id /mnt/$fs/listed/{sub,sub/inner/file})" "$(printf '%s\n' "$id" "$id")"
		# One that is gone is in nobody's way.
		rm -r /mnt/$fs/listed/sub/inner
		fsquota assign /mnt/$fs/listed/sub >/dev/null
	done
}

@test "what others read as a number in the files is not given away" {
	printf '%s\n' "web:$FIRST"$'\r' "web:$((FIRST + 1))abc" >>/etc/projid
	printf '%s\n' "$((FIRST + 2))x:/srv" >>/etc/projects
	printf 'a:\0%s\n' $((FIRST + 3)) >>/etc/projid
	printf '42:/mnt/x/mal/\n' >>/etc/projects
	prints $((FIRST + 4)) fsquota assign /mnt/x/listed
	# A slash at the end makes no other directory.
	prints 42 fsquota assign /mnt/x/mal
	run fsquota list -N -o ID,PATH /mnt/x
	assert_line --regexp '^ *42 /mnt/x/mal/?$'
}

@test "kubelet finds an ID however many are assigned without registration" {
	local i
	mkdir /mnt/x/n{1..130}
	for i in {1..130}; do fsquota assign --no-register /mnt/x/n$i >"$BATS_TEST_TMPDIR/id"; done
	assert_equal "$(<"$BATS_TEST_TMPDIR/id")" $((2097153 + 129))
	fsquota assign --projects-file "$BATS_TEST_TMPDIR/p" --projid-file "$BATS_TEST_TMPDIR/n" \
		/mnt/x/mal >"$BATS_TEST_TMPDIR/id"
	assert_equal "$(<"$BATS_TEST_TMPDIR/id")" $((2097153 + 130))
	assert_equal "$(real -c 'report -p -N -n' /mnt/x | awk '{ sub("#", "") } $1 >= 1048577 && $1 < 2097153' | wc -l)" 0
}
