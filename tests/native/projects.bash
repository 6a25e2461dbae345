# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# The projects that the tests of list, usage, check and find look at.
#
# On each filesystem: web (42: soft 4M, hard 10M, 5M used, so its grace time runs) with a second
# directory web2, logs (43: hard 100M, 1M used), nested/a (44: hard 4M, full) below a directory
# without a project, and 45, which has limits and no directory.

make_projects() {
	local fs
	for fs in x e f; do
		fresh_fs $fs
		mkdir -p /mnt/$fs/{web,web2,logs,nested/a,none}
		chmod 1777 /mnt/$fs/{web,web2,logs,nested,nested/a,none}
		chmod 755 /mnt/$fs
		own 42 /mnt/$fs/web $fs
		own 42 /mnt/$fs/web2 $fs
		own 43 /mnt/$fs/logs $fs
		own 44 /mnt/$fs/nested/a $fs
		real -c 'timer -p -b 6h' -c 'limit -p bsoft=4m bhard=10m 42' -c 'limit -p bhard=100m 43' \
			-c 'limit -p bhard=4m 44' -c 'limit -p bhard=1g ihard=9 45' /mnt/$fs
		fallocate -l 5M /mnt/$fs/web/file
		fallocate -l 1M /mnt/$fs/logs/file
		# As root passes the limits of ext4 and f2fs.
		head -c 5M /dev/zero | setpriv --reuid 1000 --clear-groups --bounding-set -all \
			dd of=/mnt/$fs/nested/a/file bs=4k 2>/dev/null || true
		sync -f /mnt/$fs
	done
}

# own ID DIRECTORY FILESYSTEM
own() { real -c "project -s -p $2 $1" "/mnt/$3" >/dev/null; }

register_projects() {
	local fs
	for fs in x e f; do
		printf '%s\n' "42:/mnt/$fs/web" "42:/mnt/$fs/web2" "43:/mnt/$fs/logs" "44:/mnt/$fs/nested/a"
	done >/etc/projects
	printf 'web:42\nlogs:43\nalone:45\n' >/etc/projid
	rm -f /etc/fsquota.conf
}

# For test files that do not define their own.
setup_file() { make_projects; }

setup() { register_projects; }
