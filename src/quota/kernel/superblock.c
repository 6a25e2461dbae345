/* SPDX-License-Identifier: Apache-2.0 */
#include "superblock.h"

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

#define SIZE 4096

/* Numbers of ext4 and f2fs begin with their lowest byte. */
static uint32_t read_number(const unsigned char *bytes, int size)
{
	uint32_t number = 0;

	while (size-- > 0)
		number = number << 8 | bytes[size];
	return number;
}

int fsq_superblock_features(int fd, struct fsq_features *features)
{
	unsigned char bytes[SIZE] = { 0 };
	/* ext4 and f2fs leave room for a boot loader. */
	const unsigned char *behind = bytes + 1024;
	bool records;
	ssize_t got = pread(fd, bytes, SIZE, 0);

	*features = (struct fsq_features){ .quota = true, .project = true };
	if (got < 0)
		return -errno;
	if (memcmp(bytes, "XFSB", 4) == 0) {
		features->version = bytes[101] & 0xf;
	} else if (read_number(behind + 0x38, 2) == 0xEF53) {
		features->project = read_number(behind + 0x64, 4) & 0x2000;
		/* The feature may be there for users and groups only, without the file of projects. */
		records = !features->project || read_number(behind + 0x26C, 4) != 0;
		features->quota = (read_number(behind + 0x64, 4) & 0x100) && records;
		features->inode_size = read_number(behind + 0x58, 2);
		memcpy(features->mount_options, behind + 0x200,
		       sizeof(features->mount_options) - 1);
	} else if (read_number(behind, 4) == 0xF2F52010) {
		features->project = read_number(behind + 2180, 4) & 0x10;
	} else {
		return -EINVAL;
	}
	return 0;
}

int fsq_superblock_open(const char *device, dev_t dev)
{
	int fd = open(device, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), rc = 0;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		rc = -errno;
	else if (!S_ISBLK(st.st_mode) || st.st_rdev != dev)
		rc = -ENXIO;
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

int fsq_superblock_of_mount(const char *device, dev_t dev, struct fsq_features *features)
{
	int fd = fsq_superblock_open(device, dev), rc;

	if (fd < 0)
		return fd;
	rc = fsq_superblock_features(fd, features);
	close(fd);
	return rc;
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
