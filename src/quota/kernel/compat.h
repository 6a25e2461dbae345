/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and constants of kernel interfaces that the C library's headers may lack. */
#ifndef FSQ_COMPAT_H
#define FSQ_COMPAT_H

#include <sys/syscall.h>

#include "shared/statx.h"

/* These numbers are the same on every architecture but alpha. */
#ifdef __alpha__
#define FSQ_SYS_SHIFT 110
#else
#define FSQ_SYS_SHIFT 0
#endif

#ifndef SYS_open_tree
#define SYS_open_tree (428 + FSQ_SYS_SHIFT)
#endif
#ifndef SYS_fsopen
#define SYS_fsopen (430 + FSQ_SYS_SHIFT)
#endif
#ifndef SYS_fsconfig
#define SYS_fsconfig (431 + FSQ_SYS_SHIFT)
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open (434 + FSQ_SYS_SHIFT)
#endif
#ifndef SYS_close_range
#define SYS_close_range (436 + FSQ_SYS_SHIFT)
#endif
#ifndef SYS_openat2
#define SYS_openat2 (437 + FSQ_SYS_SHIFT)
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd (438 + FSQ_SYS_SHIFT)
#endif
#ifndef SYS_quotactl_fd
#define SYS_quotactl_fd (443 + FSQ_SYS_SHIFT)
#endif
#ifndef SYS_statmount
#define SYS_statmount (457 + FSQ_SYS_SHIFT)
#endif
#ifndef SYS_file_getattr
#define SYS_file_getattr (468 + FSQ_SYS_SHIFT)
#endif
#ifndef SYS_file_setattr
#define SYS_file_setattr (469 + FSQ_SYS_SHIFT)
#endif

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif

#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x00001000U
#endif
#ifndef STATX_MNT_ID_UNIQUE
#define STATX_MNT_ID_UNIQUE 0x00004000U
#endif

#endif
