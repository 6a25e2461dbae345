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

#endif
