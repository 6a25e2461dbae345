#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=attack,shared
#
# A tenant who does what he can at full speed, while root gives him a quota, changes it, asks for it
# and takes it off again, and his neighbour has one, too.
#
#   FSQUOTA_FULL  set: five minutes each, instead of some seconds

load ../lib/fsquota
load hostile

setup() {
	no_files
	[ -n "${FSQUOTA_FULL-}" ] && duration=300 || duration=8
}

teardown() { end_tenant; }

# What must not change: registration and limits. How much is used the kernel counts for whose ID
# files have, so a tenant can count his own for others, but never take away.
neighbour() {
	grep "/mnt/$fs/neighbour$" /etc/projects
	grep ":$id$" /etc/projid
	kernel_has /mnt/$fs "$id" | cut -d' ' -f 2,3,5,6
	fsquota id /mnt/$fs/neighbour /mnt/$fs/neighbour/file
}

# A status that is not 0 is one of those that say so, in one line.
tell_true() {
	[[ " $1 " == *" $status "* ]] || fail "$2: $status: $stderr"
	[ "$status" = 0 ] || [ "$(wc -l <"$BATS_TEST_TMPDIR/stderr")" = 1 ] || fail "$2: $stderr"
	rounds=$((rounds + 1))
	[ $((rounds % 50)) != 0 ] || step "rounds $rounds"
	echo "$2 $status" >>"$BATS_TEST_TMPDIR/statuses"
}

# One tenant from his first day to his last: he gets a directory, is in it for some rounds, and his
# quota is taken off while he goes on.
generation() {
	local mal limit=5120
	mkdir /mnt/$fs/mal
	chown 65534 /mnt/$fs/mal
	run_split fsquota assign --hard 5M /mnt/$fs/mal
	tell_true 0 assign
	mal=$stdout
	begin_tenant /mnt/$fs/mal "$id" retag rename link fill mount hold
	for _ in 1 2 3 4; do
		run_split fsquota assign --hard 5M /mnt/$fs/mal
		tell_true "0 1 6" "assign again"
		if [ "$status" = 0 ]; then
			assert_equal "$stdout" "$mal"
			limit=5120
		fi
		assert_equal "$(grep -c "^$mal:/mnt/$fs/mal$" /etc/projects)" 1
		assert_equal "$(kernel_has /mnt/$fs "$mal" | cut -d' ' -f3)" $limit
		run_split fsquota resize /mnt/$fs/mal +1M
		# What he has filled under another ID he may have given his own one since.
		tell_true "0 6" resize
		[ "$status" != 0 ] || limit=$((limit + 1024))
		assert_equal "$(kernel_has /mnt/$fs "$mal" | cut -d' ' -f3)" $limit
		run_split fsquota usage -N -o ID,HARD /mnt/$fs/mal
		tell_true 0 usage
		[[ $stdout =~ ^\ *$mal\ +$((limit / 1024))M$ ]] || fail "usage: $stdout"
		run_split fsquota list --json /mnt/$fs
		tell_true 0 list
		assert_equal "$(neighbour)" "$before"
	done
	run_split fsquota release /mnt/$fs/mal
	tell_true "0 1 7" release
	if [ "$status" = 0 ]; then
		run ! grep "/mnt/$fs/mal$" /etc/projects
		# ID, and the four limits
		run real -c 'dump -p' /mnt/$fs
		refute_line --regexp "^$mal +[0-9 ]*[1-9]"
		released=$((released + 1))
	else
		assert_equal "$(grep -c "^$mal:/mnt/$fs/mal$" /etc/projects)" 1
	fi
	assert_equal "$(neighbour)" "$before"
	end_tenant >>"$BATS_TEST_TMPDIR/acts"
	# He is gone: the next call completes it.
	run_split fsquota release /mnt/$fs/mal
	tell_true "0 5 6" "release again"
	rm -rf /mnt/$fs/mal
}

# live_with_tenant FILESYSTEM
live_with_tenant() {
	local fs=$1 before end rounds=0 generations=0 released=0 used
	fresh_fs $fs
	mkdir /mnt/$fs/neighbour
	dd if=/dev/zero of=/mnt/$fs/neighbour/file bs=64k count=16 status=none
	chown -R 65533 /mnt/$fs/neighbour
	id=$(fsquota assign --hard 10M --hard-inodes 1000 /mnt/$fs/neighbour)
	sync -f /mnt/$fs
	before=$(neighbour)
	used=$(kernel_has /mnt/$fs "$id")
	end=$((SECONDS + duration))
	while [ $SECONDS -lt $end ]; do
		generation
		generations=$((generations + 1))
	done
	echo "# $fs: $rounds commands beside $generations tenants, $released released in the middle of it" >&3
	echo "# commands beside a hostile tenant: $rounds" >&3
	echo "# $fs: exit statuses: $(sort "$BATS_TEST_TMPDIR/statuses" | uniq -c |
		awk '{ text = $1; sub(/^ *[0-9]+ /, ""); printf "%s%s (%d)", comma, $0, text; comma = ", " }')" >&3
	sync -f /mnt/$fs
	assert_equal "$(neighbour)" "$before"
	assert_equal "$(kernel_has /mnt/$fs "$id")" "$used"
	assert_equal "$(real -c 'report -p -N -n' /mnt/$fs | awk '$1 != "#0" { print $1 }')" "#$id"
	fsquota release /mnt/$fs/neighbour
	assert_equal "$(cat /etc/projects /etc/projid)" \
		$'# foreign\n7:/somewhere/else\n# foreign\nelsewhere:7'
}

# bats test_tags=full
@test "a tenant does what he can for some seconds, and his neighbour does not notice, on XFS" { live_with_tenant x; }

# bats test_tags=full
@test "a tenant does what he can for some seconds, and his neighbour does not notice, on ext4" { live_with_tenant e; }
