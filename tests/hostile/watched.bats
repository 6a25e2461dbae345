#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=attack
#
# apply --watch beside tenants who do what they can with the directories that its pattern matches.

load ../lib/fsquota
load hostile

setup() {
	no_files
	rm -rf /var/lib/fsquota /etc/fsquota.d
	mkdir /etc/fsquota.d
	fresh_fs x
	stayer='' swapper=''
}

teardown() {
	end_tenant
	kill $swapper $stayer 2>/dev/null || :
	[ -z "$stayer" ] || wait "$stayer" || :
	rm -rf /var/lib/fsquota /etc/fsquota.d
}

# Each of the three is a directory, then a symlink to what is others', then has the place of another one.
swaps() {
	cd "$top/home" && exec setpriv --reuid 65534 --regid 65534 --clear-groups perl -e '
		for (my $i = 0;; $i++) {
			my ($one, $other) = ("s" . $i % 3, "s" . ($i + 1) % 3);
			mkdir $_ for $one, "$one/in";
			syscall 316, -100, $one, -100, $other, 2;  # renameat2, RENAME_EXCHANGE
			rename $one, "away";
			symlink((qw(../outside/plain neighbour ../outside/quota))[$i % 3], $one);
			rename "away", "s" . ($i + 2) % 3;
			select undef, undef, undef, 0.01;
			unlink $one;
			select undef, undef, undef, 0.01;
		}'
}

# What is not the tenant's: lines, limits, and the IDs of all that is there
others() {
	grep -E "(outside|neighbour)" /etc/projects
	for id in "$neighbour" "$quota"; do kernel_has "$top" "$id" | cut -d' ' -f 2,3,5,6; done
	lsattr -pd "$top" "$top"/home "$top"/home/neighbour{,/file} "$top"/outside{,/plain{,/in},/quota{,/in}} | awk '{ print $1, $3 }'
}

@test "tenants who swap, link and mount what a pattern matches lead no limit elsewhere" {
	local top=/mnt/x before quota neighbour rows=$BATS_TEST_TMPDIR/rows
	mkdir -p "$top"/home/neighbour "$top"/outside/{plain,quota}/in
	touch "$top"/home/neighbour/file
	chown -R 65533 "$top/home/neighbour" "$top/outside"
	quota=$(fsquota assign --hard 7M "$top/outside/quota")
	printf '%s\n' "$top/home/* hard=5M" "$top/home/*/in hard=1M" >/etc/fsquota.d/home.conf
	fsquota apply >/dev/null
	neighbour=$(fsquota id "$top/home/neighbour")
	before=$(others)
	chmod 1777 "$top/home"
	"$FSQUOTA" apply --watch --prune --prune-after 1 >"$rows" 2>&1 3>&- &
	stayer=$!
	install -d -o 65534 "$top/home/mal"
	swaps 3>&- 2>/dev/null &
	swapper=$!
	begin_tenant "$top/home/mal" "$neighbour" retag rename mount
	# They would leave apply next to nothing of a slow machine.
	renice -n 19 "$tenant_pid" "$swapper" >/dev/null
	until_true eval '[ $(grep -c "^created\|^changed" "$rows") -ge 20 ]'
	end_tenant
	kill "$swapper" && { wait "$swapper" || :; }
	mkdir "$top/home/last"
	until_true grep -q ":$top/home/last\$" /etc/projects
	assert_equal "$(others)" "$before"
	# No line is about what is elsewhere, and none has the ID of another one.
	run ! grep -vE "^#|^7:|:$top/(home/[^/]+(/in)?|outside/quota)\$" /etc/projects
	assert_equal "$(cut -d: -f1 /etc/projects | sort | uniq -d)" ''
}
