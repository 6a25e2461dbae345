/* SPDX-License-Identifier: Apache-2.0 */
/* What this process may do. */
#ifndef FSQ_PRIVILEGE_H
#define FSQ_PRIVILEGE_H

#include <stdbool.h>

/**
 * Are we in another user namespace than the initial one? There project IDs cannot be set, which the
 * kernel refuses with EINVAL.
 *
 * Source: user_namespaces(7)
 */
bool fsq_in_user_namespace(void);

/** @return  whether the effective capabilities include one. Source: capabilities(7) */
bool fsq_has_capability(unsigned int capability);

/** @return  whether a seccomp filter looks at our system calls. Source: prctl(2) */
bool fsq_has_seccomp_filter(void);

/** @return  whether the caller has CAP_SYS_ADMIN in the initial user namespace */
bool fsq_is_privileged(void);

#endif
