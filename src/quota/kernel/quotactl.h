/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of quotactl(2) and quotactl_fd(2), and nowhere else. What each returns stands with the
 * fsq_quota_ function of the same name in fsquota.h.
 */
#ifndef FSQ_QUOTACTL_H
#define FSQ_QUOTACTL_H

#include "quota/fsquota.h"

/* Use and limits of one form: basic blocks, or inodes. */
struct fsq_amounts {
	uint64_t used;
	uint64_t soft;	 /* 0: no limit */
	uint64_t hard;	 /* 0: no limit */
	int64_t expires; /* end of the grace time, in seconds since 1970; 0: not running */
	unsigned int warnings;
};

struct fsq_dquot {
	uint32_t id;
	struct fsq_amounts form[FSQ_FORMS];
};

/*
 * The largest limit in basic blocks: 2^63-1 bytes, which XFS rounds up. The kernel takes what is
 * above it for no limit, or for a small one.
 */
#define FSQ_LIMIT_BLOCKS_MAX (1ULL << 54)

/* Grace times to set: for an ID when they end, for ID 0 how long they are for every ID. */
struct fsq_timers {
	bool set[FSQ_FORMS];
	int64_t seconds[FSQ_FORMS]; /* since 1970; for ID 0 a duration; 40 bits with a sign */
};
#define FSQ_TIMER_MAX 549755813887LL

struct fsq_state {
	bool accounting[FSQ_TYPES];
	bool enforced[FSQ_TYPES];
	/* Of the type that was asked for: */
	bool has_inode;
	uint64_t inode;	 /* the inode that holds the quota records */
	uint64_t blocks; /* its size in basic blocks */
	uint32_t extents;
	uint32_t grace_seconds[FSQ_FORMS];
	unsigned int max_warnings[FSQ_FORMS];
};

enum fsq_switch {
	FSQ_ENABLE,  /* accounting and enforcement on */
	FSQ_DISABLE, /* enforcement off */
	FSQ_OFF,     /* accounting and enforcement off; since Linux 5.16 as FSQ_DISABLE */
	FSQ_REMOVE,  /* free the space of the quota records */
};

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
