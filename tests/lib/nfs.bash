# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# The kernel's NFS server and client in one guest, without the server's daemons: what they would answer is written into
# its caches. What is not there is waited for in the first half minute after the boot.

# serve DIRECTORY: export it as the root of the server.
serve() {
	local far=2147483647
	modprobe -d /run/modules -a nfsd nfs nfsv4
	mountpoint -q /proc/fs/nfsd || mount -t nfsd nfsd /proc/fs/nfsd
	echo "-2 -3 +4" >/proc/fs/nfsd/versions
	"$builddir/tests/lib/nfs_port"
	echo 1 >/proc/fs/nfsd/threads
	echo "nfsd 127.0.0.1 $far clients" >/proc/net/rpc/auth.unix.ip/channel
	echo "clients 1 \\x00000000 $far $1" >/proc/net/rpc/nfsd.fh/channel
	echo "0 $far 0" >/proc/net/rpc/auth.unix.gid/channel
	echo "1000 $far 0" >/proc/net/rpc/auth.unix.gid/channel
	echo "clients $1 $far 8193 65534 65534 0" >/proc/net/rpc/nfsd.export/channel
}

# mount_served PATH DIRECTORY
mount_served() {
	mkdir -p "$2"
	mount -i -t nfs4 -o vers=4.2,addr=127.0.0.1,clientaddr=127.0.0.1 "127.0.0.1:$1" "$2"
}

serve_no_more() {
	echo 0 >/proc/fs/nfsd/threads
	umount /proc/fs/nfsd
}
