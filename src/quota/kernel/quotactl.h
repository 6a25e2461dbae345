/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of quotactl(2) and quotactl_fd(2), and nowhere else. What each returns stands with the
 * fsq_quota_ function of the same name in fsquota.h.
 */
#ifndef FSQ_QUOTACTL_H
#define FSQ_QUOTACTL_H

#include "quota/fsquota.h"

/* Where a quota call goes. */
struct fsq_target {
	int fd;		    /* any descriptor on the file system, O_PATH will do; -1: use @device */
	const char *device; /* block device, for kernels before 5.14 */
	/* Called once, when the kernel or a seccomp filter does not know quotactl_fd(2) and there
	 * is no device yet: sets it, or leaves it. May be NULL. */
	void (*find_device)(struct fsq_target *target);
};

int fsq_quotactl_get(struct fsq_target *target, enum fsq_type type, uint32_t id,
		     struct fsq_dquot *dquot);

int fsq_quotactl_get_next(struct fsq_target *target, enum fsq_type type, uint32_t id,
			  struct fsq_dquot *dquot);

int fsq_quotactl_set_limits(struct fsq_target *target, enum fsq_type type, uint32_t id,
			    const struct fsq_limits *limits);

int fsq_quotactl_set_timers(struct fsq_target *target, enum fsq_type type, uint32_t id,
			    const struct fsq_timers *timers);

int fsq_quotactl_set_warnings(struct fsq_target *target, enum fsq_type type, uint32_t id,
			      const bool set[FSQ_FORMS], uint16_t warnings);

int fsq_quotactl_switch(struct fsq_target *target, enum fsq_switch what,
			const bool types[FSQ_TYPES]);

int fsq_quotactl_state(struct fsq_target *target, enum fsq_type type, struct fsq_state *state);

/** @return  whether the records of a type are in a hidden file. Source: quotactl(2), Q_GETINFO */
bool fsq_quotactl_is_hidden(struct fsq_target *target, enum fsq_type type);

int fsq_quotactl_sync(struct fsq_target *target, enum fsq_type type);

/**
 * Wait as long as the filesystem is frozen: whoever changes something on it then waits in the kernel, which
 * nothing ends. Changes nothing.
 *
 * @target   struct fsq_target
 * Source: quotactl(2), Q_XSETQLIM; fsfreeze(8)
 */
void fsq_quotactl_wait_thawed(void *target);

/**
 * Find out whether quota calls reach the kernel, without asking about any file system.
 *
 * @by_fd    set: quotactl_fd(2) does, so no device is needed
 * @return   0; -ENOSYS the kernel has no quota, or a seccomp filter says so; -EPERM a filter
 *           forbids them
 */
int fsq_quotactl_probe(bool *by_fd);

#endif
