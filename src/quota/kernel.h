/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's quota interface: the only room that calls quotactl(2) and quotactl_fd(2). */
#ifndef FSQ_KERNEL_H
#define FSQ_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

/* The values are the kernel's own: USRQUOTA, GRPQUOTA, PRJQUOTA. */
enum fsq_type { FSQ_USER, FSQ_GROUP, FSQ_PROJECT, FSQ_TYPES };

/* What a quota counts. */
enum fsq_form { FSQ_BLOCKS, FSQ_INODES, FSQ_REALTIME, FSQ_FORMS };

/* The highest ID there can be: 4294967295 means "none" in every interface of the kernel. */
#define FSQ_ID_MAX 4294967294U

/* Where a quota call goes. */
struct fsq_target {
	int fd;		    /* any descriptor on the filesystem, O_PATH will do; -1: use @device */
	const char *device; /* block device, for kernels before 5.14 */
};

/* Use and limits of one form. Blocks and realtime count 512-byte basic blocks, inodes pieces. */
struct fsq_amounts {
	uint64_t used;
	uint64_t soft;	 /* 0: no limit */
	uint64_t hard;	 /* 0: no limit */
	int64_t expires; /* when the grace time ends, in seconds since 1970; 0: not running */
	unsigned int warnings;
};

struct fsq_dquot {
	uint32_t id;
	struct fsq_amounts form[FSQ_FORMS];
};

/* Limits to set: only those with their bit in @mask are sent to the kernel. */
struct fsq_limits {
	unsigned int mask; /* FSQ_SOFT(form) | FSQ_HARD(form) | ... */
	uint64_t soft[FSQ_FORMS];
	uint64_t hard[FSQ_FORMS];
};
#define FSQ_SOFT(form) (1U << (2 * (unsigned int)(form)))
#define FSQ_HARD(form) (2U << (2 * (unsigned int)(form)))

/* Grace times to set: of an ID when they end, of ID 0 how long they are for all. */
struct fsq_timers {
	bool set[FSQ_FORMS];
	int64_t seconds[FSQ_FORMS]; /* since 1970, or for ID 0 a duration; 40 bits with a sign */
};
#define FSQ_TIMER_MAX 549755813887LL

struct fsq_state {
	bool accounting[FSQ_TYPES];
	bool enforced[FSQ_TYPES];
	/* of the type that was asked for: */
	bool has_inode;
	uint64_t inode;	 /* the inode that holds the quota records */
	uint64_t blocks; /* its size in 512-byte blocks */
	uint32_t extents;
	uint32_t grace_seconds[FSQ_FORMS];
	unsigned int max_warnings[FSQ_FORMS];
};

/**
 * Read use and limits of one ID.
 *
 * @target   the filesystem
 * @id       0 to FSQ_ID_MAX
 * @dquot    filled on success
 * @return   0 or a negative errno: -ENOENT XFS has no record of @id (ext4 and f2fs answer zeros),
 *           -ESRCH the type is off, -ENOSYS the filesystem has no quota or seccomp forbids,
 *           -EPERM without CAP_SYS_ADMIN and not one's own, -ENOTBLK the device is none
 * Source: quotactl(2), Q_XGETQUOTA
 */
int fsq_kernel_get(const struct fsq_target *target, enum fsq_type type, uint32_t id,
		   struct fsq_dquot *dquot);

/**
 * Read use and limits of the first ID that has a record and is not below @id.
 *
 * @return   0, with @dquot->id the ID found, or a negative errno as fsq_kernel_get();
 *           -ENOENT when there is none, -EINVAL or -ENOSYS when the kernel (before 4.6) cannot
 * Source: quotactl(2), Q_XGETNEXTQUOTA
 */
int fsq_kernel_get_next(const struct fsq_target *target, enum fsq_type type, uint32_t id,
			struct fsq_dquot *dquot);

/*
 * The largest limit in basic blocks: 2^63-1 bytes, as XFS gives it back, which rounds it up. What
 * is more is taken for none, or for little.
 */
#define FSQ_LIMIT_BLOCKS_MAX (1ULL << 54)

/**
 * Set the limits named in @limits->mask and no other field; use is never written back.
 *
 * @return   0 or a negative errno: -EPERM without CAP_SYS_ADMIN, -ERANGE beyond
 *           FSQ_LIMIT_BLOCKS_MAX or what the filesystem can hold, -EINVAL a realtime limit on ext4
 * or f2fs, and as fsq_kernel_get() Source: quotactl(2), Q_XSETQLIM
 */
int fsq_kernel_set_limits(const struct fsq_target *target, enum fsq_type type, uint32_t id,
			  const struct fsq_limits *limits);

/**
 * Set grace times: when they end for one ID, or with ID 0 how long they are for every ID.
 *
 * @return   0 or a negative errno: -EINVAL realtime on ext4 or f2fs, and as fsq_kernel_set_limits()
 * Source: quotactl(2), Q_XSETQLIM
 */
int fsq_kernel_set_timers(const struct fsq_target *target, enum fsq_type type, uint32_t id,
			  const struct fsq_timers *timers);

/**
 * Set the number of warnings issued, of the forms in @set.
 *
 * @return   0 or a negative errno: -EINVAL from every kernel since 5.19
 * Source: quotactl(2), Q_XSETQLIM
 */
int fsq_kernel_set_warnings(const struct fsq_target *target, enum fsq_type type, uint32_t id,
			    const bool set[FSQ_FORMS], uint16_t warnings);

/* What fsq_kernel_switch() does to a filesystem's quota. */
enum fsq_switch {
	FSQ_ENABLE,  /* accounting and enforcement on */
	FSQ_DISABLE, /* enforcement off */
	FSQ_OFF,     /* accounting and enforcement off; since Linux 5.16 as FSQ_DISABLE */
	FSQ_REMOVE,  /* free the space of the quota records */
};

/**
 * Switch quota of some types on or off.
 *
 * @types    which; for FSQ_REMOVE only one
 * @return   0 or a negative errno: -EEXIST it is so already, -EINVAL accounting is off (or, to
 *           remove, on), -ENOSYS no XFS or no quota
 * Source: quotactl(2), Q_XQUOTAON, Q_XQUOTAOFF, Q_XQUOTARM
 */
int fsq_kernel_switch(const struct fsq_target *target, enum fsq_switch what,
		      const bool types[FSQ_TYPES]);

/**
 * Read what is switched on, and the grace times of one type.
 *
 * @return   0 or a negative errno: -ENOSYS without quota on this filesystem
 * Source: quotactl(2), Q_XGETQSTATV, Q_XGETQSTAT
 */
int fsq_kernel_state(const struct fsq_target *target, enum fsq_type type, struct fsq_state *state);

/**
 * Have pending use written to the quota records.
 *
 * @return   0 or a negative errno: -EROFS on a read-only mount
 * Source: quotactl(2), Q_XQUOTASYNC
 */
int fsq_kernel_sync(const struct fsq_target *target, enum fsq_type type);

#endif
