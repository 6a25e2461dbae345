/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predict what a change of quota records would do, without a write that would show it: privileges and read-only mounts
 * are checked one by one.
 */
#include <errno.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "limits.h"
#include "quota/kernel/fs_type.h"
#include "quota/kernel/privilege.h"
#include "quota/kernel/space.h"
#include "quota/mounts/filesystem_handle.h"
#include "quota/mounts/lookup.h"

/* @return   0, or the errno with which each change would fail */
static int check_mount(struct fsq_filesystem *fs)
{
	struct statvfs vfs;
	int fd = fs->handle.target.fd, own = -1;
	bool read_only;

	if (fd < 0)
		fd = own = fsq_lookup(NULL, fs->info.directory, O_PATH, NULL);
	read_only = fd >= 0 && fstatvfs(fd, &vfs) == 0 && (vfs.f_flag & ST_RDONLY);
	if (own >= 0)
		close(own);
	return read_only ? -EROFS : 0;
}

static bool has_records(const struct fsq_filesystem *fs)
{
	int fd = fsq_lookup(NULL, fs->info.directory, FSQ_LOOKUP_READ, NULL);
	bool has = fd < 0 || fsq_xfs_has_records(fd);

	if (fd >= 0)
		close(fd);
	return has;
}

/* @return   0, also without a record */
static int read_record(struct fsq_filesystem *fs, enum fsq_type type, uint32_t id,
		       struct fsq_dquot *dquot)
{
	int rc = check_mount(fs);

	if (rc)
		return rc;
	rc = fsq_quota_get(fs, type, id, dquot);
	if (rc == -ENOENT)
		*dquot = (struct fsq_dquot){ .id = id };
	else if (rc)
		return rc;
	/* Users may read their own record, but not change it. */
	return fsq_is_privileged() ? 0 : -EPERM;
}

/* The largest that ext4 and f2fs hold is 2^63-1. */
static bool is_too_large(const struct fsq_filesystem *fs, enum fsq_form form, uint64_t limit)
{
	if (form == FSQ_INODES)
		return !fs->info.is_xfs && limit > INT64_MAX;
	return limit > FSQ_LIMIT_BLOCKS_MAX || (!fs->info.is_xfs && limit == FSQ_LIMIT_BLOCKS_MAX);
}

static int check_size(const struct fsq_filesystem *fs, const struct fsq_limits *limits)
{
	for (int form = 0; form < FSQ_FORMS; form++) {
		bool soft = limits->mask & FSQ_SOFT(form), hard = limits->mask & FSQ_HARD(form);

		if ((soft && is_too_large(fs, (enum fsq_form)form, limits->soft[form])) ||
		    (hard && is_too_large(fs, (enum fsq_form)form, limits->hard[form])))
			return -ERANGE;
		if (form == FSQ_REALTIME && (soft || hard) && !fs->info.is_xfs)
			return -EINVAL;
	}
	return 0;
}

int fsq_quota_plan_limits(struct fsq_filesystem *fs, enum fsq_type type, uint32_t id,
			  const struct fsq_limits *limits, struct fsq_dquot *before,
			  struct fsq_dquot *after)
{
	struct fsq_limits wanted = { 0 };
	int rc = read_record(fs, type, id, before);

	if (rc == 0)
		rc = check_size(fs, limits);
	if (rc)
		return rc;
	for (int form = 0; form < FSQ_FORMS; form++) {
		const struct fsq_amounts *has = &before->form[form];

		wanted.soft[form] = limits->mask & FSQ_SOFT(form) ? limits->soft[form] : has->soft;
		wanted.hard[form] = limits->mask & FSQ_HARD(form) ? limits->hard[form] : has->hard;
	}
	/* ext4 and f2fs round only when they read the record from the disk. */
	if (fs->info.is_xfs)
		fsq_limits_round(&wanted, fs->handle.target.fd);
	*after = *before;
	for (int form = 0; form < FSQ_FORMS; form++) {
		/* XFS ignores both limits, without an error, if the soft one is above the hard one. */
		if (fs->info.is_xfs && fsq_limits_are_out_of_order(&wanted, (enum fsq_form)form))
			continue;
		after->form[form].soft = wanted.soft[form];
		after->form[form].hard = wanted.hard[form];
	}
	return 0;
}

int fsq_quota_plan_timers(struct fsq_filesystem *fs, enum fsq_type type, uint32_t id,
			  const struct fsq_timers *timers, struct fsq_timers *before,
			  struct fsq_timers *after)
{
	struct fsq_dquot dquot;
	struct fsq_state state;
	int rc;

	*before = *timers;
	rc = read_record(fs, type, id, &dquot);
	/* The kernel keeps those of ID 0 outside of the records. */
	if (rc == 0 && id == 0)
		rc = fsq_quota_state(fs, type, &state);
	if (rc == 0 && timers->set[FSQ_REALTIME] && !fs->info.is_xfs)
		rc = -EINVAL;
	if (rc)
		return rc;
	for (int form = 0; form < FSQ_FORMS; form++)
		before->seconds[form] =
			id ? dquot.form[form].expires : (int64_t)state.grace_seconds[form];
	*after = *before;
	for (int form = 0; form < FSQ_FORMS; form++)
		if (timers->set[form])
			after->seconds[form] = timers->seconds[form];
	return 0;
}

/* ext4 switches quota whose records are in hidden files; f2fs does not. */
static bool can_switch(struct fsq_filesystem *fs, const bool types[FSQ_TYPES])
{
	struct fsq_target *target = &fs->handle.target;

	if (target->fd >= 0 && fsq_is_f2fs(target->fd))
		return false;
	for (int type = 0; type < FSQ_TYPES; type++)
		if (types[type] && !fsq_quotactl_is_hidden(target, (enum fsq_type)type))
			return false;
	return true;
}

/* The errors of ext4 and f2fs. */
static int plan_foreign_switch(struct fsq_filesystem *fs, enum fsq_switch what,
			       const bool types[FSQ_TYPES], const struct fsq_state *state)
{
	bool other = false;

	for (int type = 0; type < FSQ_TYPES; type++) {
		if (!types[type])
			continue;
		if (!state->accounting[type])
			return -EINVAL;
		other |= state->enforced[type] != (what == FSQ_ENABLE);
	}
	if (!other && what != FSQ_OFF)
		return -EEXIST;
	if (what == FSQ_REMOVE || !can_switch(fs, types))
		return -ENOSYS;
	return what == FSQ_OFF ? -EOPNOTSUPP : 0;
}

/* The errors of XFS, where quota of any type is on. */
static int plan_xfs_switch(enum fsq_switch what, const bool types[FSQ_TYPES],
			   const struct fsq_state *state)
{
	bool all_enforced = true, some_enforced = false, some_counted = false;

	if (what == FSQ_REMOVE)
		return -EINVAL;
	for (int type = 0; type < FSQ_TYPES; type++) {
		if (!types[type])
			continue;
		if (what == FSQ_ENABLE && !state->accounting[type])
			return -EINVAL;
		all_enforced &= state->enforced[type];
		some_enforced |= state->enforced[type];
		some_counted |= state->accounting[type];
	}
	if (what == FSQ_ENABLE)
		return all_enforced ? -EEXIST : 0;
	return some_enforced || (what == FSQ_OFF && some_counted) ? 0 : -EEXIST;
}

int fsq_quota_plan_switch(struct fsq_filesystem *fs, enum fsq_switch what,
			  const bool types[FSQ_TYPES], struct fsq_state *before,
			  struct fsq_state *after)
{
	int rc = check_mount(fs), asked;

	if (rc == 0 && !fsq_is_privileged())
		rc = -EPERM;
	if (rc)
		return rc;
	*before = (struct fsq_state){ 0 };
	asked = fsq_quota_state(fs, FSQ_PROJECT, before);
	if (!fs->info.is_xfs)
		rc = asked ? asked : plan_foreign_switch(fs, what, types, before);
	else if (asked == 0)
		rc = plan_xfs_switch(what, types, before);
	else if (what != FSQ_REMOVE)
		rc = asked;
	else if (!has_records(fs))
		rc = -EINVAL;
	*after = *before;
	/* Accounting stays on: since Linux 5.16 it ends only with the mount. */
	for (int type = 0; type < FSQ_TYPES && rc == 0; type++)
		if (types[type])
			after->enforced[type] = what == FSQ_ENABLE;
	return rc;
}
