#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Our xfs_quota does what the xfs_quota of xfsprogs does; differential.bash says how the lists work.

load ../lib/tools
load differential

@test "every list is compared on every filesystem it is meant for" {
	tests=$(<"$BATS_TEST_FILENAME")
	for list in "$BATS_TEST_DIRNAME"/*.list; do
		name=${list##*/} name=${name%.list}
		while read -r key filesystems; do
			[ "$key" = on: ] || continue
			for fs in $filesystems; do
				[[ $tests == *"{ differential $name $fs; }"* ]] || { echo "nothing compares $name on $fs" && return 1; }
			done
		done <"$list"
	done
}

# bats test_tags=again,full
@test "one byte that differs is noticed" {
	mkdir "$BATS_TEST_TMPDIR/tools"
	printf '#!/bin/sh\n"%s" "$@" | sed s/pquota/Pquota/\n' "$FSQ_ORACLE" \
		>"$BATS_TEST_TMPDIR/tools/xfs_quota"
	chmod +x "$BATS_TEST_TMPDIR/tools/xfs_quota"
	FSQ_TOOLS=$BATS_TEST_TMPDIR/tools run differential print x 3>/dev/null
	[ "$status" = 1 ]
	[[ $output == *"+/mnt/x              $FSQ_X_DEV (uquota, gquota, Pquota)\$"* ]]
}

@test "XFS: program options, splitting of commands" { differential cli x; }
@test "XFS: odd words and files" { differential odd-input x; }
# bats test_tags=shared
@test "XFS: no path: every filesystem" { differential iteration x; }
# bats test_tags=shared
@test "XFS: a mount table of one's own" { differential mount-table x; }
# bats test_tags=shared
@test "XFS: not root" { differential not-root x; }
# bats test_tags=shared
@test "XFS: read-only, or without quotas" { differential refused x; }
# bats test_tags=again,shared
@test "ext4: state" { differential state e; }
# bats test_tags=shared
@test "f2fs: state" { differential state f; }
# bats test_tags=shared
@test "XFS: state and print of mounts with other quota options" { differential state-mounts x; }
@test "XFS: limit: users, groups, projects, defaults" { differential limit-ids x; }
@test "XFS: quota" { differential quota x; }
@test "XFS: report" { differential report x; }
# bats test_tags=shared
@test "XFS: the time left, to the second" { differential grace-text x; }
# bats test_tags=shared
@test "XFS: timer" { differential timer x; }
@test "XFS: dump and restore" { differential dump-restore x; }
# bats test_tags=shared,full
@test "XFS: quot" { differential quot x; }
# bats test_tags=shared
@test "XFS: two filesystems, argument counts, groups, high IDs" { differential several x; }
@test "XFS: help" { differential help x; }
# bats test_tags=shared
@test "XFS: print and path" { differential print x; }
# bats test_tags=again,shared,full
@test "ext4: project: check, set up, clear" { differential project-tree e; }
# bats test_tags=slow,full
@test "XFS: project: more than one filesystem" { differential project-mounts x; }
# bats test_tags=again,shared,full
@test "ext4: project: what may not be opened" { differential project-permission e; }
# bats test_tags=shared
@test "XFS: current path, bind mounts, odd mount points" { differential mounts x; }
# bats test_tags=shared
@test "XFS: where the output goes" { differential output x; }
@test "XFS: numbers for people" { differential human-numbers x; }
# bats test_tags=shared
@test "XFS: projects and projid files" { differential projects-files x; }
@test "XFS: df" { differential df x; }
@test "XFS: project: the projects and projid files" { differential project-files x; }
# bats test_tags=shared
@test "XFS: project: what may not be opened" { differential project-permission x; }
# bats test_tags=shared
@test "f2fs: every command" { differential f2fs f; }

# bats file_tags=slow

@test "XFS: paths on the command line" { differential paths x; }
@test "XFS: limit: keys and sizes" { differential limit-sizes x; }
@test "XFS: over soft and hard limits" { differential over-limit x; }
@test "XFS: a realtime device" { differential realtime x; }
@test "XFS: project: arguments" { differential project-arguments x; }
# bats test_tags=full
@test "XFS: device names of every length" { differential device-names x; }

@test "XFS: state" { differential state x; }
@test "XFS: enable, disable, off, remove and warn" { differential switches x; }
@test "XFS: project: check, set up, clear" { differential project-tree x; }

# bats file_tags=again,shared,full

@test "ext4: not root" { differential not-root e; }
@test "ext4: state and print of mounts with other quota options" { differential state-mounts e; }
@test "ext4: over soft and hard limits" { differential over-limit e; }
@test "ext4: timer" { differential timer e; }
@test "f2fs: timer" { differential timer f; }
@test "f2fs: dump and restore" { differential dump-restore f; }
@test "ext4: quot" { differential quot e; }
@test "f2fs: quot" { differential quot f; }
@test "f2fs: enable, disable, off, remove and warn" { differential switches f; }
@test "ext4: two filesystems, argument counts, groups, high IDs" { differential several e; }
@test "ext4: df" { differential df e; }
@test "ext4: project: arguments" { differential project-arguments e; }
@test "ext4: project: more than one filesystem" { differential project-mounts e; }
@test "ext4: limit: users, groups, projects, defaults" { differential limit-ids e; }
@test "ext4: quota" { differential quota e; }
@test "ext4: report" { differential report e; }
@test "ext4: dump and restore" { differential dump-restore e; }

# bats file_tags=again,shared

# bats test_tags=full
@test "ext4: limit: keys and sizes" { differential limit-sizes e; }
# bats test_tags=full
@test "ext4: enable, disable, off, remove and warn" { differential switches e; }
# bats test_tags=full
@test "ext4: project: the projects and projid files" { differential project-files e; }
