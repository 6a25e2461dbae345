/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of blocks and inodes: those a project has, those it gets, and whether they stop a writer. */
#ifndef FSQ_LIMITS_H
#define FSQ_LIMITS_H

#include <sys/stat.h>

#include "quota/base/units.h"
#include "quota/kernel/quotactl.h"
#include "quota/mounts/filesystem.h"
#include "quota/mounts/handle.h"

/** @return  the limits of a record, all in the mask but those of realtime */
struct fsq_limits fsq_limits_of(const struct fsq_dquot *dquot);

/** @return  whether both are the same, whatever their masks */
bool fsq_limits_are_same(const struct fsq_limits *one, const struct fsq_limits *other);

/**
 * Take the limits that are as before out of the mask: another program may just have set them.
 *
 * @return   whether any is left
 */
bool fsq_limits_leave_changed(struct fsq_limits *after, const struct fsq_limits *before);

/** @return  whether there are none, whatever the mask */
bool fsq_limits_are_none(const struct fsq_limits *limits);

/**
 * Round a limit of space up to what the file system keeps: XFS its blocks, ext4 and f2fs KiB, though
 * they forget the rest only when the record is read from the disk again.
 *
 * @blocks   basic blocks; what stands for no limit on ext4 stays
 * @fd       a file on it
 * Source: fstatfs(2)
 */
uint64_t fsq_limit_round(uint64_t blocks, int fd);

/** The same of all limits of space. */
void fsq_limits_round(struct fsq_limits *limits, int fd);

#define FSQ_ORDER_TEXT (2 * FSQ_SIZE_TEXT + 64)

/** Write which soft limit would be above its hard one. @return  @text, or NULL if none is */
const char *fsq_limits_order_text(char text[FSQ_ORDER_TEXT], const struct fsq_limits *limits);

/** @return  whether a soft limit is above its hard one */
bool fsq_limits_are_out_of_order(const struct fsq_limits *limits, enum fsq_form form);

/**
 * @before   limits as they are
 * @asked    what changes of them
 * @unlimited take all away first
 * @fd       a file on the file system, whose largest value depends on its type
 * @return   what they become, rounded; where there would be none, KEP-1029's largest value
 */
struct fsq_limits fsq_limits_wanted(const struct fsq_limits *before, const struct fsq_limits *asked,
				    bool unlimited, int fd);

/** Add limits in bytes to those that are asked for; 0: it is not asked for. */
void fsq_limits_add(struct fsq_limits *asked, uint64_t soft_bytes, uint64_t hard_bytes,
		    uint64_t soft_inodes, uint64_t hard_inodes);

/** @return  those limits of which both the soft and the hard one are asked for; 0 for the others */
struct fsq_limits fsq_limits_asked_both(const struct fsq_limits *asked);

/** Check limits that are asked for. @return  0; FSQ_E_USAGE a soft one is above its hard one */
int fsq_limits_check_asked(const struct fsq_limits *asked, const char *path, struct fsq_error *err);

/**
 * Set the limits of a project, unless a soft one would be above its hard one: XFS would drop it
 * without an error.
 *
 * @dry_run  only check them
 * @path     for @err
 * @return   0, FSQ_E_CONFLICT, FSQ_E_USAGE for ID 0, or what an errno of fsq_quota_set_limits() stands for
 */
int fsq_limits_set(struct fsq_target *target, uint32_t id, const struct fsq_limits *limits,
		   bool dry_run, const char *path, struct fsq_error *err);

/**
 * The limits of a project whose lines are about to go: one block and one inode, of no use to anybody. If the
 * process is killed they prove that the lines are of this filesystem, and then that the record is a leftover.
 *
 * @fd       on the filesystem
 */
struct fsq_limits fsq_limits_of_leftover(int fd);

/** @return  whether a record has exactly these limits, and no use */
bool fsq_dquot_is_leftover(const struct fsq_dquot *dquot, int fd);

/**
 * Undo fsq_limits_set(), unless somebody has set others since: limits are set without a lock.
 *
 * @set      what was set
 * @before   what there was before
 */
void fsq_limits_put_back(struct fsq_target *target, uint32_t id, const struct fsq_limits *set,
			 const struct fsq_limits *before);

/**
 * Read the quota of a project.
 *
 * @or_empty a project that the kernel has no record of has neither use nor limits
 * @path     for @err
 * @return   0, or what an errno of fsq_quota_get() stands for
 */
int fsq_limits_read(struct fsq_target *target, uint32_t id, bool or_empty, struct fsq_dquot *dquot,
		    const char *path, struct fsq_error *err);

/** @return  whether a project uses something */
bool fsq_dquot_is_used(const struct fsq_dquot *dquot);

/** @return  whether a project has a limit of blocks or inodes */
bool fsq_dquot_is_limited(const struct fsq_dquot *dquot);

/** @return  whether there is use or a limit */
bool fsq_dquot_has_anything(const struct fsq_dquot *dquot);

/**
 * As fsq_limits_read(), again and again while something is used: XFS counts deleted files until it has cleaned
 * up behind them.
 *
 * @looks    how often at most, ten milliseconds each; reduced
 */
int fsq_limits_read_settled(struct fsq_target *target, uint32_t id, int *looks,
			    struct fsq_dquot *dquot, const char *path, struct fsq_error *err);

/**
 * Find out who is stopped at the limits of a directory.
 *
 * @directory of which fsq_handle_read_project() has read the project
 * @made     owner and mode of the directory, if it would be made in @directory; or NULL
 * @enforcement set on success
 * @space    set on success: the size of the filesystem in bytes, 0 where the kernel gives only that
 * of a project above it
 * @return   0; FSQ_E_NOT_SUPPORTED there is no project quota; FSQ_E_FAILED
 * Source: quotactl(2), Q_XGETQSTATV; fstatfs(2); capabilities(7), CAP_SYS_RESOURCE
 */
int fsq_enforcement_get(struct fsq_handle *directory, const struct stat *made,
			enum fsq_enforcement *enforcement, uint64_t *space, struct fsq_error *err);

/** Take a soft limit away that is no limit and above the hard one: kubelet sets the largest value. */
void fsq_limits_order(struct fsq_limits *limits);

/**
 * Tell whether a soft limit of an ID would be above its hard one with these limits set. XFS drops
 * such a soft limit without an error. One that it has and that is no limit is taken away: @limits sets 0.
 *
 * @after    filled unless it fails: the limits that there would be
 * @return   1 it would be, 0 not, or quota is off; or a negative errno as of fsq_quota_get()
 * Source: quotactl(2), Q_XGETQUOTA
 */
int fsq_quota_order_limits(struct fsq_filesystem *fs, enum fsq_type type, uint32_t id,
			   struct fsq_limits *limits, struct fsq_limits *after);

/**
 * Find out what fsq_quota_set_limits() would do, and change nothing.
 *
 * @before   filled on success: the record as it is
 * @after    filled on success: as it would be. What the file system rounds is rounded; soft and
 *           hard limits that XFS would pass over, for they are out of order, are as before
 * @return   what fsq_quota_set_limits() would return, as far as that can be known: -EROFS and
 *           -EPERM, too
 * Source: quotactl(2), Q_XGETQUOTA
 */
int fsq_quota_plan_limits(struct fsq_filesystem *fs, enum fsq_type type, uint32_t id,
			  const struct fsq_limits *limits, struct fsq_dquot *before,
			  struct fsq_dquot *after);

/**
 * The same of fsq_quota_set_timers().
 *
 * @before, @after  filled on success with all grace times
 * Source: quotactl(2), Q_XGETQUOTA, Q_XGETQSTATV
 */
int fsq_quota_plan_timers(struct fsq_filesystem *fs, enum fsq_type type, uint32_t id,
			  const struct fsq_timers *timers, struct fsq_timers *before,
			  struct fsq_timers *after);

/**
 * The same of fsq_quota_switch().
 *
 * @before, @after  filled on success: what is accounted and enforced
 * @return   as fsq_quota_switch(); -EOPNOTSUPP ext4 does not switch accounting off
 * Source: quotactl(2), Q_XGETQSTATV, Q_GETINFO; uname(2)
 */
int fsq_quota_plan_switch(struct fsq_filesystem *fs, enum fsq_switch what,
			  const bool types[FSQ_TYPES], struct fsq_state *before,
			  struct fsq_state *after);

#endif
