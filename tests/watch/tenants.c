// SPDX-License-Identifier: Apache-2.0
/*
 * Many tenants at their limits, within a moment, and what else the suite of watch needs.
 *
 *   tenants prepare DIRECTORY COUNT   make COUNT directories in it, with project IDs from 1000 on,
 *                                     a file of user 1000 and a hard limit of 64 KiB each
 *   tenants fill DIRECTORY COUNT      as user 1000, write into each until that is refused
 *   tenants again FILE COUNT          as user 1000, begin to write COUNT times, though it is refused
 *   tenants notified SOCKET           print what arrives at a socket, until "STOPPING=1"
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/dqblk_xfs.h>
#include <linux/quota.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "../lib/tag.h"

#ifndef SYS_quotactl_fd
#define SYS_quotactl_fd 443
#endif
#define FIRST_ID 1000
#define TENANT 1000
#define PIECE 4096

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static char *name_of(const char *directory, long number, const char *below)
{
	static char name[4096];

	snprintf(name, sizeof(name), "%s/%ld%s", directory, number, below);
	return name;
}

static void make_file(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT, 0644);

	if (fd < 0 || fchown(fd, TENANT, TENANT))
		fail(name);
	close(fd);
}

static void prepare_one(const char *directory, long number)
{
	struct fs_disk_quota limits = {
		.d_version = FS_DQUOT_VERSION,
		.d_flags = FS_PROJ_QUOTA,
		.d_fieldmask = FS_DQ_BHARD,
		.d_blk_hardlimit = 128,
	};
	char *name = name_of(directory, number, "");
	unsigned int id = (unsigned int)(FIRST_ID + number);
	int fd;

	limits.d_id = id;
	if (mkdir(name, 0755) || chown(name, TENANT, TENANT))
		fail(name);
	fd = open(name, O_RDONLY);
	if (fd < 0 || tag_file(fd, id, true))
		fail(name);
	make_file(name_of(directory, number, "/file"));
	/* XFS makes no file where the limit is so low. */
	if (syscall(SYS_quotactl_fd, fd, QCMD(Q_XSETQLIM, PRJQUOTA), id, &limits))
		fail(name);
	close(fd);
}

/* Which every limit stops, on ext4, too. */
static void become_tenant(void)
{
	if (setgid(TENANT) || setuid(TENANT))
		fail("setuid");
}

static void fill_one(const char *directory, long number)
{
	static const char piece[PIECE];
	const char *name = name_of(directory, number, "/file");
	int fd = open(name, O_WRONLY);

	if (fd < 0)
		fail(name);
	while (write(fd, piece, sizeof(piece)) > 0)
		;
	if (errno != EDQUOT && errno != ENOSPC)
		fail(name);
	close(fd);
}

static void try_again(const char *file, long count)
{
	static const char piece[PIECE];
	int fd;

	become_tenant();
	fd = open(file, O_WRONLY | O_APPEND);
	if (fd < 0)
		fail(file);
	for (; count > 0; count--)
		if (write(fd, piece, sizeof(piece)) > 0)
			count++;
	close(fd);
}

static void print_notes(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	char note[256];
	ssize_t got;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)))
		fail(path);
	setvbuf(stdout, NULL, _IOLBF, 0);
	do {
		got = recv(fd, note, sizeof(note) - 1, 0);
		if (got < 0)
			fail(path);
		note[got] = '\0';
		puts(note);
	} while (strcmp(note, "STOPPING=1") != 0);
}

int main(int argc, char **argv)
{
	long count = argc > 3 ? atol(argv[3]) : 0;

	if (argc == 3 && strcmp(argv[1], "notified") == 0) {
		print_notes(argv[2]);
	} else if (count > 0 && strcmp(argv[1], "prepare") == 0) {
		for (long i = 0; i < count; i++)
			prepare_one(argv[2], i);
	} else if (count > 0 && strcmp(argv[1], "fill") == 0) {
		become_tenant();
		for (long i = 0; i < count; i++)
			fill_one(argv[2], i);
	} else if (count > 0 && strcmp(argv[1], "again") == 0) {
		try_again(argv[2], count);
	} else {
		fputs("usage: tenants prepare|fill|again PATH COUNT, or notified SOCKET\n", stderr);
		return 2;
	}
	return 0;
}
