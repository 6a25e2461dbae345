/* SPDX-License-Identifier: Apache-2.0 */
/* Budgets: the sums that hard limits may reach; set by budget and overcommit in fsquota.conf(5) and fsquota.d(5). */
#ifndef FSQ_BUDGETS_H
#define FSQ_BUDGETS_H

#include "quota/fsquota.h"
#include "session.h"

/**
 * Add a budget to those of the session.
 *
 * @key        "budget", with a size as @value, or "overcommit", with percent
 * @directory  absolute; NULL with overcommit: applies to each filesystem
 * @return     0; -EINVAL: @value is wrong; -ENOMEM
 */
int budgets_add(struct session *session, const char *key, const char *directory, const char *value);

/** Warn that --force has set a limit above a budget. @over  the budget; NULL: do nothing */
void budgets_warn(struct session *session, const char *path, const struct fsq_budget *over);

/** @return  the directory of a budget, or the mount point of its filesystem; NULL without one */
const char *budgets_where(const struct fsq_budget *budget, const char *mountpoint);

/** @return  the device of a budget's directory; 0: it does not exist, or an error was reported */
dev_t budgets_dev(struct session *session, const struct fsq_budget *budget);

/** @return what the limits of a filesystem may add up to, in bytes; FIELD_NOT_KNOWN: unlimited */
uint64_t budgets_of_filesystem(struct session *session, dev_t dev, uint64_t size_bytes);

/**
 * Note that a dry run would remove a limit, so that the next operands can use its part of the budget.
 *
 * @hard     the hard limit of space, in basic blocks
 */
void budgets_plan_release(struct session *session, const char *directory, uint64_t hard);

#endif
