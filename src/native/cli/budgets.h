/* SPDX-License-Identifier: Apache-2.0 */
/* What limits may add up to: the words budget and overcommit of fsquota.conf(5) and fsquota.d(5). */
#ifndef FSQ_BUDGETS_H
#define FSQ_BUDGETS_H

#include "quota/fsquota.h"
#include "session.h"

/**
 * Add a budget to those of the session.
 *
 * @key      "budget", of a size, or "overcommit", of percent
 * @directory absolute; NULL with overcommit: of each filesystem
 * @return   0, -EINVAL the value is none, or -ENOMEM
 */
int budgets_add(struct session *session, const char *key, const char *directory, const char *value);

/** Warn of a limit that was set with --force. @over  or NULL */
void budgets_warn(struct session *session, const char *path, const struct fsq_budget *over);

/** @return  the directory of a budget, or the mount point of its filesystem; NULL without one */
const char *budgets_where(const struct fsq_budget *budget, const char *mountpoint);

/** @return  the filesystem of a budget's directory; 0: it is not there, or an error was reported */
dev_t budgets_dev(struct session *session, const struct fsq_budget *budget);

/** @return what the limits of a filesystem may add up to, in bytes; FIELD_NOT_KNOWN: unlimited */
uint64_t budgets_of_filesystem(struct session *session, dev_t dev, uint64_t size_bytes);

/**
 * In a dry run a limit was removed: the next operands may use its room.
 *
 * @hard     the hard limit of space, in basic blocks
 */
void budgets_plan_release(struct session *session, const char *directory, uint64_t hard);

#endif
