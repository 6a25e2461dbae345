/* SPDX-License-Identifier: Apache-2.0 */
#include "superblock.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "shared/read_file.h"

/* Where it is on the device, and what is in it; all numbers are little-endian. */
#define EXT4_OFFSET 1024
#define EXT4_SIZE 1024
#define EXT4_MAGIC_AT 0x38
#define EXT4_INODE_SIZE_AT 0x58
#define EXT4_RO_COMPAT_AT 0x64
#define EXT4_MAGIC 0xEF53
#define EXT4_RO_COMPAT_QUOTA 0x100
#define EXT4_RO_COMPAT_PROJECT 0x2000

static uint16_t number_16(const unsigned char *bytes)
{
	uint16_t number;

	memcpy(&number, bytes, sizeof(number));
	return le16toh(number);
}

static uint32_t number_32(const unsigned char *bytes)
{
	uint32_t number;

	memcpy(&number, bytes, sizeof(number));
	return le32toh(number);
}

static int read_superblock(int fd, dev_t dev, unsigned char bytes[EXT4_SIZE])
{
	struct stat st;
	ssize_t got;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISBLK(st.st_mode) || st.st_rdev != dev)
		return -ENXIO;
	got = pread(fd, bytes, EXT4_SIZE, EXT4_OFFSET);
	if (got < 0)
		return -errno;
	return got == EXT4_SIZE && number_16(bytes + EXT4_MAGIC_AT) == EXT4_MAGIC ? 0 : -EINVAL;
}

int fsq_superblock_ext4(const char *device, dev_t dev, struct fsq_ext4_features *features)
{
	unsigned char bytes[EXT4_SIZE];
	uint32_t flags;
	int fd = open(device, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return -errno;
	rc = read_superblock(fd, dev, bytes);
	close(fd);
	if (rc)
		return rc;
	flags = number_32(bytes + EXT4_RO_COMPAT_AT);
	*features = (struct fsq_ext4_features){
		.quota = flags & EXT4_RO_COMPAT_QUOTA,
		.project = flags & EXT4_RO_COMPAT_PROJECT,
		.inode_size = number_16(bytes + EXT4_INODE_SIZE_AT),
	};
	return 0;
}

int fsq_superblock_f2fs(dev_t dev, bool *project)
{
	char path[PATH_MAX + 64], device[PATH_MAX], *text;
	const char *name;
	ssize_t length;
	size_t size;
	int rc;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major(dev), minor(dev));
	length = readlink(path, device, sizeof(device) - 1);
	if (length < 0)
		return -errno;
	device[length] = '\0';
	name = strrchr(device, '/');
	snprintf(path, sizeof(path), "/sys/fs/f2fs/%s/features", name ? name + 1 : device);
	rc = fsq_read_file(path, &text, &size);
	if (rc)
		return rc;
	*project = strstr(text, "projquota") != NULL;
	free(text);
	return 0;
}
