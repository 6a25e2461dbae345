/* SPDX-License-Identifier: Apache-2.0 */
/* statx(2) is in glibc, and in musl since 1.2.5. */
#ifndef FSQ_SHARED_STATX_H
#define FSQ_SHARED_STATX_H

#ifndef HAVE_STATX
#include <linux/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline int statx(int fd, const char *path, int flags, unsigned int mask, struct statx *stx)
{
	return (int)syscall(SYS_statx, fd, path, flags, mask, stx);
}
#endif

#endif
