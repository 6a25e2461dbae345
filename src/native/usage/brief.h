/* SPDX-License-Identifier: Apache-2.0 */
/* usage --brief: a sentence for who logs in, where a limit is near, and nothing else. */
#ifndef FSQ_BRIEF_H
#define FSQ_BRIEF_H

#include "native/cli/session.h"

/**
 * Print a sentence for each directory whose project, and of whose filesystem the caller's own user, uses so much of its
 * limit. Another process looks, and is given up after a second: a mount may be dead. Nothing is an error.
 *
 * @over     in percent
 */
void brief_show(struct session *session, const char *const *directories, size_t count, double over);

#endif
