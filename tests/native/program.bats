#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The native program itself, and the other mode; and that each deviation of that is tested.

load ../lib/fsquota

@test "each deviation of xfs_quota mode has a test that names its number" {
	local number count
	count=$(grep -cE '^[0-9]+\. ' "$srcdir/doc/xfs_quota.md")
	assert [ "$count" -ge 11 ]
	for number in $(seq "$count"); do
		grep -qE "deviation $number\b|^D$number[@/ ]" "$srcdir"/tests/*/*.bats "$srcdir"/tests/xfs_quota/*.list ||
			fail "deviation $number"
	done
}

@test "-V is short for --version" { prints "$(fsquota --version)" fsquota -V; }

@test "with an option of xfs_quota first it is xfs_quota" {
	exits 0 fsquota -x -c 'state -p' /mnt/x
	assert_line --index 1 "  Accounting: ON"
	run_split fsquota -c 'quota -p -v 0' /mnt/x
	assert_line --index 0 "Disk quotas for Project #0 (0)"
}

# Commands with --dry-run, and operands with which each would change something.
dry_operands='
	apply /mnt/x/lines
	assign /mnt/x/new
	disable /mnt/x
	enable /mnt/e
	limit bhard=7M 42 /mnt/x
	move /mnt/x/old /mnt/x/renamed
	project -s -p /mnt/x/new 42 /mnt/x
	prune /mnt/x
	release /mnt/x/dir
	resize /mnt/x/dir 8M
	restore -f /mnt/x/dump /mnt/x
	setup /mnt/x
	timer 9d /mnt/x
'

# Two projects, a registered directory that is gone, and lines for restore and apply.
make_projects() {
	fresh_each x e
	rm -f /etc/projects /etc/projid
	mkdir /mnt/x/{dir,old,new,gone}
	fsquota assign /mnt/x/dir /mnt/x/old /mnt/x/gone --hard 4M >/dev/null
	rmdir /mnt/x/gone
	settle /mnt/x
	mv /mnt/x/old /mnt/x/renamed
	fsquota disable /mnt/e
	fsquota limit bhard=3M 42 /mnt/x
	fsquota dump /mnt/x | sed 's/\<3072\>/9216/;s/\<6144\>/9216/' >/mnt/x/dump
	echo '/mnt/x/new hard=1M' >/mnt/x/lines
}

everything() {
	cat /etc/projects /etc/projid
	real -c 'report -p -N -n -b -i' -c state /mnt/x
	real -c state /mnt/e
	fsquota lsattr -pR /mnt/x
}

# bats test_tags=full
@test "an option behind operands is one, also with POSIXLY_CORRECT" {
	local name operands before help
	make_projects
	before=$(everything)
	for name in $(fsquota help --machine | cut -f 1); do
		help=$(fsquota "$name" --help)
		run_split timeout 20 env POSIXLY_CORRECT=1 fsquota "$name" /mnt/x/dir --help
		[ "$status:$stdout" = "0:$help" ] || complain "$name --help: $status $stderr"
		fsquota help --machine "$name" | grep -q -- --dry-run || continue
		operands=$(sed -n "s/^	$name //p" <<<"$dry_operands")
		run_split timeout 60 env POSIXLY_CORRECT=1 fsquota "$name" $operands --dry-run
		[[ $operands && $status = [039] && $stdout$stderr ]] || complain "$name --dry-run: $status $stdout $stderr"
		[ "$(everything)" = "$before" ] || complain "$name --dry-run changes something"
	done
	no_complaints
}

@test "an option is no value of the one before it, and behind -- it is an operand" {
	local before
	make_projects
	before=$(everything)
	refuses 2 'write --name=--dry-run' fsquota assign /mnt/x/new --name --dry-run
	refuses 2 'write --hard=--soft' fsquota resize /mnt/x/dir --hard --soft 4M
	refuses 2 'write -f--dry-run' fsquota restore -f --dry-run /mnt/x
	refuses 2 'write --id=--dry-run' fsquota release --id --dry-run
	# Behind -- it is an operand, and nothing is done if there is no such path.
	refuses 2 '--dry-run is no path' fsquota release /mnt/x/dir -- --dry-run
	refuses 2 '--dry-run is no path' fsquota release -- /mnt/x/dir --dry-run
	refuses 2 '--hard is no path' fsquota assign -- /mnt/x/new --hard 9M
	assert_equal "$(everything)" "$before"
	mkdir -- /mnt/x/new/--dry-run
	cd /mnt/x/new
	prints 7 fsquota assign --id 7 -- --dry-run
	is_silent fsquota release -- --dry-run
	assert_equal "$(</etc/projid)" "$(sed -n 's/^\(volume\)/\1/p' <<<"$before")"
}
