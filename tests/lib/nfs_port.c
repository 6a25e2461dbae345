/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nfs_port: let the kernel's NFS server listen on 127.0.0.1, as rpc.nfsd(8) does, where the nfsd
 * filesystem is mounted at /proc/fs/nfsd. The caller is in a network namespace that has no other.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

static int bring_up_loopback(int fd)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };

	return ioctl(fd, SIOCSIFFLAGS, &request);
}

int main(void)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(2049),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	/* Connections to a server before may still be waiting for their end. */
	const int again = 1;
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	int ports = open("/proc/fs/nfsd/portlist", O_WRONLY);

	if (fd < 0 || ports < 0 || bring_up_loopback(fd) ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &again, sizeof(again)) ||
	    bind(fd, (const struct sockaddr *)&address, sizeof(address)) || listen(fd, 8) ||
	    dprintf(ports, "%d\n", fd) < 0) {
		perror("nfs_port");
		return 1;
	}
	return 0;
}
