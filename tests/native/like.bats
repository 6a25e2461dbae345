#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
#
# assign --like: the limits of another directory.

load ../lib/fsquota

setup() {
	rm -f /etc/projects /etc/projid
	fresh_each x e
	mkdir -p /mnt/x/{model,one,two,none} /mnt/e/one
	fsquota assign --hard 10M --soft 8M --hard-inodes 100 /mnt/x/model
}

# limits DIRECTORY...: soft and hard of space, then of inodes.
limits() { fsquota usage --csv -N --output SOFT,HARD,ISOFT,IHARD "$@"; }

@test "a directory gets the limits of another one, on this filesystem or on another, but for those that are given" {
	run_split fsquota assign --like /mnt/x/model /mnt/x/one /mnt/e/one
	assert_equal "$status:$stdout:$stderr" $'0:1048578\n1048579:'
	prints $'8388608,10485760,,100\n8388608,10485760,,100' limits /mnt/x/one /mnt/e/one
	fsquota assign --like /mnt/x/model --hard 20M --soft-inodes 50 /mnt/x/two
	prints 8388608,20971520,50,100 limits /mnt/x/two
	# What the other one has not is none here, too.
	fsquota assign /mnt/x/none
	fsquota assign --like /mnt/x/none /mnt/x/one
	prints ,,, limits /mnt/x/one
}

@test "what mv has copied to another filesystem is gone, and its quota is not" {
	mv /mnt/x/model /mnt/e/model
	fsquota assign --like /mnt/x/model --soft-inodes 50 /mnt/e/model
	prints 8388608,10485760,50,100 limits /mnt/e/model
	run -0 fsquota prune /mnt/x
	refuses 5 /mnt/x/model fsquota assign --like /mnt/x/model /mnt/x/one
}

@test "without a quota there is nothing to be like, and nothing is done" {
	refuses 5 /mnt/nowhere fsquota assign --like /mnt/nowhere /mnt/x/one
	run -5 fsquota assign --like /mnt/x/two /mnt/x/one
	assert_output 'fsquota assign: /mnt/x/two: belongs to no project'
	refuses 5 'belongs to no project' fsquota assign --like /run /mnt/x/one
	refuses 2 'does not go with --unlimited' fsquota assign --like /mnt/x/model --unlimited /mnt/x/one
	prints 0 fsquota id /mnt/x/one
}
