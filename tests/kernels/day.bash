# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# A day of a filesystem: one call of every command that meets the kernel, and what it answers.
#
#   spend_day MOUNT COMMAND...   to be run in the test's directory. What was asked and answered is in the
#                                file "day"; COMMAND is put in front of each call. At the end the
#                                filesystem and the two files are as before
#   $special_files               set: a tree has a symbolic link and a FIFO, too

ask() {
	local status=0 errors
	echo "$ $*" >>day
	"${before[@]}" "$@" >>day 2>errors </dev/null || status=$?
	mapfile errors <errors
	printf %s "${errors[@]}" "[$status]"$'\n' >>day
}

# What depends on the time of day, or on when the filesystem tidies up, is taken out of the day.
without_times() {
	sed -i -E '/^fsquota_filesystem_(used|free|available)/d; s/(seconds(\{[^}]*\})?|_created|timestamp_seconds)( |":)[0-9.e+-]+/\1\3N/g' day
}

# asked_of_xfs_quota MOUNT COMMAND...
asked_of_xfs_quota() {
	local words=() command
	for command in "${@:2}"; do words+=(-c "$command"); done
	ask xfs_quota -x -f "${words[@]}" "$1"
}

spend_day() {
	local mnt=$1 before=("${@:2}") top=$1/day file
	: >day
	mkdir -p "$top"/{plain,tree/{a,b/c},new}
	for file in "$top"/{plain/one,tree/a/two,tree/b/c/three}; do
		head -c 200000 /dev/zero >"$file"
	done
	if [ -n "$special_files" ]; then
		ln -s a "$top/tree/link"
		mkfifo "$top/tree/fifo"
	fi
	sync -f "$mnt"

	ask fsquota supported --json "$mnt"
	ask fsquota doctor --json "$top/plain"
	ask fsquota assign --json --hard 1M --soft 90% --hard-inodes 100 --name first "$top/plain"
	ask fsquota assign --json --hard 2M "$top/tree"
	ask fsquota assign --mkdir --mode 0750 --hard 3M "$top/new/sub"
	ask fsquota assign --hard 1M "$top/gone"
	ask fsquota usage --json "$top/plain" "$top/tree" "$top/tree/b/c" "$top/new/sub"
	ask fsquota usage --json --fallback=walk "$top"
	ask fsquota list --json "$mnt"
	ask fsquota check --over 50 "$mnt"
	ask fsquota metrics "$mnt"
	ask fsquota resize --json "$top/plain" +1M
	ask fsquota resize --name first 5M
	ask fsquota id "$top/tree" "$top/tree/a/two" "$top/tree/b/c" "$top/plain/one"
	ask fsquota lsattr -R "$top/tree/b"
	ask fsquota find "$(fsquota id "$top/tree")" "$mnt"
	ask fsquota project -s -p "$top/new" 77 "$mnt"
	ask fsquota project -c -p "$top/new" 77 "$mnt"
	ask fsquota project -C -p "$top/new" 77 "$mnt"
	# ext4 lets go of an empty record some time later, or now.
	sync -f "$mnt"
	ask fsquota limit -p bhard=4m ihard=50 78 "$mnt"
	asked_of_xfs_quota "$mnt" 'project -s -p '"$top"'/new 79' 'project -c -p '"$top"'/new 79' 'quota -p -v 79' \
		'report -p' 'limit -p bhard=5m 79' 'quota -p -v 79' 'state -p' 'dump -p' 'print' \
		'project -C -p '"$top"'/new 79' 'limit -p bhard=0 79' 'limit -p bhard=0 ihard=0 78'
	mv "$top/tree/b" "$top/tree/d"
	printf 'usage --json %s\nusage %s\nresize %s 6M\n' "$top/tree" "$top/none" "$top/tree" >requests
	ask sh -c 'exec fsquota batch <requests'
	printf '%s hard=7M\n%s hard=8M\n' "$top/plain" "$top/new" >wanted
	ask fsquota apply wanted
	rm -r "$top/tree"
	ask fsquota prune --json "$mnt"
	ask fsquota release --json "$top/plain" "$top/new"
	ask fsquota release "$top/new/sub"
	ask fsquota release "$top/new/sub"
	rm -r "$top"
	ask fsquota list --json "$mnt"
	cat /etc/projects /etc/projid >>day
	without_times
}
