#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Many at once, and kubelet among them: everybody gets an ID, and no line is lost.

load ../lib/fsquota

setup() {
	fresh_fs x
	rm -f /etc/projects* /etc/projid*
	printf '# directories\n7:/elsewhere\n\n#8:/not this\n9:/else where\n' >/etc/projects
	printf '# names\nother:7\n\nninth:9\n' >/etc/projid
	foreign_projects=$(</etc/projects)
	foreign_projid=$(</etc/projid)
}

teardown() { [ -z "${kubelet-}" ] || kill "$kubelet" 2>/dev/null || :; }

# assign_all NUMBER...: all at once; the IDs go to files.
assign_all() {
	local number pids=() failed=0
	for number in "$@"; do
		"$FSQUOTA" assign --hard 10M "/mnt/x/$number" >"$BATS_TEST_TMPDIR/id.$number" 3>&- &
		pids+=($!)
	done
	for number in "${pids[@]}"; do wait "$number" || failed=$((failed + 1)); done
	assert_equal "$failed" 0
}

# Every line that is not foreign, as the IDs and who printed them have it.
expected_projects() {
	local number
	for number in {1..512}; do echo "$(<"$BATS_TEST_TMPDIR/id.$number"):/mnt/x/$number"; done
	sed 's/.*/&:\/pods\/&/' "$BATS_TEST_TMPDIR/kubelet"
}

# bats test_tags=many,shared
@test "512 directories get 512 IDs while kubelet changes the files, and no line is lost" {
	local round
	mkdir /mnt/x/{1..512}
	"$BATS_TEST_DIRNAME/kubelet" >"$BATS_TEST_TMPDIR/kubelet" 2>"$BATS_TEST_TMPDIR/complaint" 3>&- &
	kubelet=$!
	for round in {0..7}; do
		step "round $round"
		assign_all $(seq $((64 * round + 1)) $((64 * round + 64)))
	done
	kill "$kubelet"
	wait "$kubelet" || fail "kubelet: $(<"$BATS_TEST_TMPDIR/complaint")"
	kubelet=''
	assert [ "$(wc -l <"$BATS_TEST_TMPDIR/kubelet")" -gt 20 ]
	echo "# lines of kubelet: $(wc -l <"$BATS_TEST_TMPDIR/kubelet")" >&3

	assert_equal "$(cat "$BATS_TEST_TMPDIR"/id.* | sort -u | wc -l)" 512
	# Each ID once in each file, and nothing else behind the foreign lines.
	assert_equal "$(head -n 5 /etc/projects)" "$foreign_projects"
	assert_equal "$(head -n 4 /etc/projid)" "$foreign_projid"
	expected_projects | sort >"$BATS_TEST_TMPDIR/projects"
	run -0 diff <(tail -n +6 /etc/projects | sort) "$BATS_TEST_TMPDIR/projects"
	run -0 diff <(tail -n +5 /etc/projid | sort) \
		<(sed 's/^\([0-9]*\):.*/volume\1:\1/' "$BATS_TEST_TMPDIR/projects" | sort)
	# kubelet's stay in their order.
	run -0 diff <(sed -n 's/:\/pods.*//p' /etc/projects) "$BATS_TEST_TMPDIR/kubelet"
	# The kernel has the same.
	run diff <(oracle -P /dev/null -D /dev/null -x -c 'dump -p' /mnt/x | awk '/^[1-9]/ { print $1, $3 }' | sort) \
		<(cat "$BATS_TEST_TMPDIR"/id.* | sed 's/$/ 20480/' | sort)
	assert_success
	run -0 diff <(lsattr -p /mnt/x | awk '{ print $1, $2 ~ /P/, $3 }' | sort) \
		<(sed -n 's/^\([0-9]*\):\(\/mnt.*\)/\1 1 \2/p' "$BATS_TEST_TMPDIR/projects" | sort)
	run find /etc -maxdepth 1 -name 'proj*'
	assert_equal "${#lines[@]}" 2
}

@test "who reads in small pieces, without a lock, sees whole lines only, and misses none" {
	local round
	mkdir /mnt/x/{a,bb,ccc}
	# Three pages, in the middle of which lines come and go.
	seq 5000 5200 | sed 's/.*/&:\/foreign\/directory number &/' >>/etc/projects
	"$FSQUOTA" assign /mnt/x/a >/dev/null
	"$FSQUOTA" assign /mnt/x/bb >/dev/null
	seq 6000 6100 | sed 's/.*/&:\/foreign\/directory number &/' >>/etc/projects
	perl -e '$SIG{TERM} = sub { $stop = 1 };
		$| = 1;
		until ($stop) {
			my ($text, %seen) = "";
			open my $file, "<", "/etc/projects" or die;
			1 while sysread $file, $text, 61, length $text;
			for (split /\n/, $text) {
				if (m{^(\d+):/foreign/directory number (\d+)$}) {
					$1 == $2 or print "wrong: $_\n";
					$seen{$1} = 1;
				} elsif (!m{^(?:#.*|7:/elsewhere|9:/else where|\d+[:~]/mnt/x/(?:a|bb|ccc)|~(?:fsquota~)?~*|)$}) {
					print "wrong: $_\n";
				}
			}
			print "missed\n" if keys %seen != 302;
			print "read\n" if !$read++;
		}
		print "$read times\n"' >"$BATS_TEST_TMPDIR/read" 3>&- &
	kubelet=$!
	until grep -q read "$BATS_TEST_TMPDIR/read"; do :; done
	for round in {1..20}; do
		"$FSQUOTA" release /mnt/x/a
		"$FSQUOTA" assign /mnt/x/ccc >/dev/null
		"$FSQUOTA" release /mnt/x/bb
		"$FSQUOTA" assign /mnt/x/a >/dev/null
		"$FSQUOTA" release /mnt/x/ccc
		"$FSQUOTA" assign /mnt/x/bb >/dev/null
	done
	kill "$kubelet"
	wait "$kubelet"
	kubelet=
	run -1 grep -v -e '^read$' -e ' times$' "$BATS_TEST_TMPDIR/read"
	run tail -n 1 "$BATS_TEST_TMPDIR/read"
	assert_output --regexp '^[1-9][0-9]+ times$'
	# The room of lines that are gone was used again.
	assert [ "$(grep -c '~' /etc/projects)" -le 2 ]
}
