/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FSQ_SHARED_STATX_H
#define FSQ_SHARED_STATX_H

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#ifndef HAVE_STATX
#include <linux/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* musl has it since 1.2.5. */
static inline int statx(int fd, const char *path, int flags, unsigned int mask, struct statx *stx)
{
	return (int)syscall(SYS_statx, fd, path, flags, mask, stx);
}
#endif

/* STATX_MNT_ID and STATX_MNT_ID_UNIQUE, which older headers lack. */
#define FSQ_STATX_MOUNT_IDS 0x5000U

/**
 * Call statx(2). If the kernel lacks it, or a seccomp filter of an old container engine forbids it, fill in what
 * fstatat(2) returns: the mode, the owner, the inode and the device.
 *
 * @return   0 or -1 with errno
 */
static inline int get_statx(int fd, const char *path, int flags, unsigned int mask,
			    struct statx *stx)
{
	struct stat st;

	if (statx(fd, path, flags, mask, stx) == 0) {
		/* qemu-user emulates statx(2), but without the mount ID. */
		if (stx->stx_mnt_id == 0)
			stx->stx_mask &= ~FSQ_STATX_MOUNT_IDS;
		return 0;
	}
	/* glibc, which does the same where the kernel lacks it, does not know AT_STATX_DONT_SYNC. */
	if ((errno != EPERM && errno != ENOSYS &&
	     !(errno == EINVAL && (flags & AT_STATX_DONT_SYNC))) ||
	    fstatat(fd, path, &st, flags & ~AT_STATX_DONT_SYNC))
		return -1;
	*stx = (struct statx){ .stx_mask = STATX_TYPE };
	stx->stx_mode = (__u16)st.st_mode;
	stx->stx_uid = st.st_uid;
	stx->stx_ino = st.st_ino;
	stx->stx_dev_major = major(st.st_dev);
	stx->stx_dev_minor = minor(st.st_dev);
	return 0;
}

#endif
