/* SPDX-License-Identifier: Apache-2.0 */
#include "limits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>

#include "quota/base/error.h"
#include "quota/base/units.h"
#include "quota/kernel/fs_type.h"
#include "quota/mounts/filesystem.h"

/* Between two reads. */
#define MOMENT (10 * 1000 * 1000L)

/* The largest block of XFS, 64 KiB, in basic blocks. */
#define LARGEST_BLOCK 128U
/* ext4 and f2fs count limits in KiB. */
#define UNIT_OF_OTHERS 2U

struct fsq_limits fsq_limits_of(const struct fsq_dquot *dquot)
{
	struct fsq_limits limits = { .mask = FSQ_SOFT(FSQ_BLOCKS) | FSQ_HARD(FSQ_BLOCKS) |
					     FSQ_SOFT(FSQ_INODES) | FSQ_HARD(FSQ_INODES) };

	for (int form = FSQ_BLOCKS; form <= FSQ_INODES; form++) {
		limits.soft[form] = dquot->form[form].soft;
		limits.hard[form] = dquot->form[form].hard;
	}
	return limits;
}

bool fsq_limits_are_same(const struct fsq_limits *one, const struct fsq_limits *other)
{
	for (int form = FSQ_BLOCKS; form <= FSQ_INODES; form++)
		if (one->soft[form] != other->soft[form] || one->hard[form] != other->hard[form])
			return false;
	return true;
}

bool fsq_limits_leave_changed(struct fsq_limits *after, const struct fsq_limits *before)
{
	after->mask = 0;
	for (int form = FSQ_BLOCKS; form <= FSQ_INODES; form++) {
		after->mask |= after->soft[form] != before->soft[form] ? FSQ_SOFT(form) : 0;
		after->mask |= after->hard[form] != before->hard[form] ? FSQ_HARD(form) : 0;
	}
	return after->mask != 0;
}

bool fsq_limits_are_none(const struct fsq_limits *limits)
{
	static const struct fsq_limits none;

	return fsq_limits_are_same(limits, &none);
}

uint64_t fsq_limit_round(uint64_t blocks, int fd)
{
	uint64_t unit = UNIT_OF_OTHERS;
	struct statfs sfs;

	/* Most limits are multiples of every unit. */
	if (blocks % LARGEST_BLOCK == 0 || blocks > FSQ_LIMIT_BLOCKS_MAX)
		return blocks;
	if (fstatfs(fd, &sfs) == 0 && sfs.f_type == XFS_SUPER_MAGIC)
		unit = (uint64_t)sfs.f_bsize / FSQ_BASIC_BLOCK;
	else if (fsq_limit_is_none(blocks))
		return blocks;
	return (blocks + unit - 1) / unit * unit;
}

void fsq_limits_round(struct fsq_limits *limits, int fd)
{
	for (int form = 0; form < FSQ_FORMS; form++) {
		if (form == FSQ_INODES)
			continue;
		limits->soft[form] = fsq_limit_round(limits->soft[form], fd);
		limits->hard[form] = fsq_limit_round(limits->hard[form], fd);
	}
}

struct fsq_limits fsq_limits_wanted(const struct fsq_limits *before, const struct fsq_limits *asked,
				    bool unlimited, int fd)
{
	struct fsq_limits none = { .mask = before->mask }, wanted = unlimited ? none : *before;

	for (int form = FSQ_BLOCKS; form <= FSQ_INODES; form++) {
		if (asked->mask & FSQ_SOFT(form))
			wanted.soft[form] = asked->soft[form];
		if (asked->mask & FSQ_HARD(form))
			wanted.hard[form] = asked->hard[form];
	}
	fsq_limits_order(&wanted);
	fsq_limits_round(&wanted, fd);
	if (fsq_limits_are_none(&wanted))
		wanted.hard[FSQ_BLOCKS] =
			fsq_is_xfs(fd) ? FSQ_XFS_UNLIMITED_BLOCKS + 1 : FSQ_UNLIMITED_BLOCKS;
	return wanted;
}

void fsq_limits_order(struct fsq_limits *limits)
{
	for (int form = 0; form < FSQ_FORMS; form++)
		if (fsq_limits_are_out_of_order(limits, (enum fsq_form)form))
			limits->soft[form] = fsq_limit_or_0(limits->soft[form]);
}

void fsq_limits_add(struct fsq_limits *asked, uint64_t soft_bytes, uint64_t hard_bytes,
		    uint64_t soft_inodes, uint64_t hard_inodes)
{
	const uint64_t soft[] = { fsq_limit_blocks_up(soft_bytes), soft_inodes },
		       hard[] = { fsq_limit_blocks_up(hard_bytes), hard_inodes };

	for (int form = FSQ_BLOCKS; form <= FSQ_INODES; form++) {
		if (soft[form]) {
			asked->soft[form] = soft[form];
			asked->mask |= FSQ_SOFT(form);
		}
		if (hard[form]) {
			asked->hard[form] = hard[form];
			asked->mask |= FSQ_HARD(form);
		}
	}
}

bool fsq_limits_are_out_of_order(const struct fsq_limits *limits, enum fsq_form form)
{
	return limits->hard[form] && limits->soft[form] > limits->hard[form];
}

const char *fsq_limits_order_text(char text[FSQ_ORDER_TEXT], const struct fsq_limits *limits)
{
	static const char *const names[] = { "", "-inodes", "-realtime" };
	char soft[FSQ_SIZE_TEXT], hard[FSQ_SIZE_TEXT];
	int form = 0;

	while (form < FSQ_FORMS && !fsq_limits_are_out_of_order(limits, (enum fsq_form)form))
		form++;
	if (form == FSQ_FORMS)
		return NULL;
	if (form == FSQ_INODES) {
		snprintf(soft, sizeof(soft), "%" PRIu64, limits->soft[form]);
		snprintf(hard, sizeof(hard), "%" PRIu64, limits->hard[form]);
	} else {
		fsq_size_text(soft, limits->soft[form]);
		fsq_size_text(hard, limits->hard[form]);
		/* The exact bytes only where they are needed. */
		if (strncmp(soft, hard, strcspn(hard, "(")) != 0)
			soft[strcspn(soft, " ")] = hard[strcspn(hard, " ")] = '\0';
	}
	snprintf(text, FSQ_ORDER_TEXT, "soft%s %s would be above hard%s %s", names[form], soft,
		 names[form], hard);
	return text;
}

/* @return   0; @code, and which */
static int check_order(const struct fsq_limits *limits, int code, const char *path,
		       struct fsq_error *err)
{
	char text[FSQ_ORDER_TEXT];

	if (!fsq_limits_order_text(text, limits))
		return 0;
	return fsq_add_hint(err, FSQ_HINT_ORDER_LIMITS, fsq_fail(err, code, 0, path, "%s", text));
}

int fsq_quota_order_limits(struct fsq_filesystem *fs, enum fsq_type type, uint32_t id,
			   struct fsq_limits *limits, struct fsq_limits *after)
{
	char text[FSQ_ORDER_TEXT];
	struct fsq_dquot dquot;
	int rc = fsq_quota_get(fs, type, id, &dquot);

	/* The call that sets the limits explains why quota is off. */
	if (rc && rc != -ENOENT && rc != -ESRCH)
		return rc;
	if (rc)
		dquot = (struct fsq_dquot){ 0 };
	for (int form = 0; form < FSQ_FORMS; form++) {
		bool sets_soft = limits->mask & FSQ_SOFT(form);
		bool sets_hard = limits->mask & FSQ_HARD(form);

		if (!sets_soft && !sets_hard)
			continue;
		after->soft[form] = sets_soft ? limits->soft[form] : dquot.form[form].soft;
		after->hard[form] = sets_hard ? limits->hard[form] : dquot.form[form].hard;
		if (!sets_soft && fsq_limits_are_out_of_order(after, (enum fsq_form)form) &&
		    fsq_limit_is_none(after->soft[form])) {
			after->soft[form] = limits->soft[form] = 0;
			limits->mask |= FSQ_SOFT(form);
		}
	}
	return fsq_limits_order_text(text, after) != NULL;
}

struct fsq_limits fsq_limits_asked_both(const struct fsq_limits *asked)
{
	struct fsq_limits both = *asked;

	for (int form = 0; form < FSQ_FORMS; form++)
		if (!(asked->mask & FSQ_SOFT(form)) || !(asked->mask & FSQ_HARD(form)))
			both.soft[form] = both.hard[form] = 0;
	return both;
}

int fsq_limits_check_asked(const struct fsq_limits *asked, const char *path, struct fsq_error *err)
{
	const struct fsq_limits both = fsq_limits_asked_both(asked);

	return check_order(&both, FSQ_E_USAGE, path, err);
}

int fsq_limits_set(struct fsq_target *target, uint32_t id, const struct fsq_limits *limits,
		   bool dry_run, const char *path, struct fsq_error *err)
{
	int rc = 0;

	/* ID 0 is no project: its limits are the defaults of all. */
	if (id == 0)
		return fsq_fail(err, FSQ_E_USAGE, 0, path,
				"has no project whose limits can be set");
	rc = check_order(limits, FSQ_E_CONFLICT, path, err);
	if (rc)
		return rc;
	if (!dry_run)
		rc = fsq_quotactl_set_limits(target, FSQ_PROJECT, id, limits);
	if (rc)
		return fsq_fail_errno(err, -rc, path, "cannot set limits");
	return 0;
}

struct fsq_limits fsq_limits_of_leftover(int fd)
{
	struct fsq_limits limits = { .hard = { [FSQ_BLOCKS] = 1, [FSQ_INODES] = 1 },
				     .mask = FSQ_SOFT(FSQ_BLOCKS) | FSQ_HARD(FSQ_BLOCKS) |
					     FSQ_SOFT(FSQ_INODES) | FSQ_HARD(FSQ_INODES) };

	fsq_limits_round(&limits, fd);
	return limits;
}

bool fsq_dquot_is_leftover(const struct fsq_dquot *dquot, int fd)
{
	const struct fsq_limits limits = fsq_limits_of(dquot);
	struct fsq_limits leftover;

	/* Check this first: the block size takes a system call. */
	if (fsq_dquot_is_used(dquot) || limits.hard[FSQ_INODES] != 1)
		return false;
	leftover = fsq_limits_of_leftover(fd);
	return fsq_limits_are_same(&limits, &leftover);
}

void fsq_limits_put_back(struct fsq_target *target, uint32_t id, const struct fsq_limits *set,
			 const struct fsq_limits *before)
{
	struct fsq_dquot dquot = { .id = id };
	struct fsq_limits now;
	int rc = fsq_quotactl_get(target, FSQ_PROJECT, id, &dquot);

	now = fsq_limits_of(&dquot);
	if ((rc && rc != -ENOENT) || fsq_limits_are_same(&now, set))
		fsq_quotactl_set_limits(target, FSQ_PROJECT, id, before);
}

int fsq_limits_read(struct fsq_target *target, uint32_t id, bool or_empty, struct fsq_dquot *dquot,
		    const char *path, struct fsq_error *err)
{
	int rc = -fsq_quotactl_get(target, FSQ_PROJECT, id, dquot);

	if (rc == ENOENT && or_empty)
		*dquot = (struct fsq_dquot){ .id = id };
	else if (rc)
		return fsq_fail_errno(err, rc, path, "cannot read the quota of project %u", id);
	return 0;
}

bool fsq_dquot_is_used(const struct fsq_dquot *dquot)
{
	return dquot->form[FSQ_BLOCKS].used || dquot->form[FSQ_INODES].used ||
	       dquot->form[FSQ_REALTIME].used;
}

bool fsq_dquot_is_limited(const struct fsq_dquot *dquot)
{
	const struct fsq_limits limits = fsq_limits_of(dquot);

	return !fsq_limits_are_none(&limits);
}

bool fsq_dquot_has_anything(const struct fsq_dquot *dquot)
{
	return fsq_dquot_is_used(dquot) || fsq_dquot_is_limited(dquot);
}

int fsq_limits_read_settled(struct fsq_target *target, uint32_t id, int *looks,
			    struct fsq_dquot *dquot, const char *path, struct fsq_error *err)
{
	const struct timespec moment = { .tv_nsec = MOMENT };
	struct fsq_dquot unused;
	int rc = fsq_limits_read(target, id, true, dquot, path, err);

	while (rc == 0 && fsq_dquot_is_used(dquot) && *looks > 0) {
		(*looks)--;
		/* A call for ID 0 makes XFS clean up. */
		fsq_quotactl_get(target, FSQ_PROJECT, 0, &unused);
		nanosleep(&moment, NULL);
		rc = fsq_limits_read(target, id, true, dquot, path, err);
	}
	return rc;
}

/* --- who is stopped --- */

static bool is_only_for_root(int fd, const struct stat *made)
{
	struct stat st;

	if (made)
		st = *made;
	else if (fstat(fd, &st))
		return false;
	return st.st_uid == 0 && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

int fsq_enforcement_get(struct fsq_handle *directory, const struct stat *made,
			enum fsq_enforcement *enforcement, uint64_t *space, struct fsq_error *err)
{
	struct statfs sfs;
	bool enforced;
	int rc = fsq_handle_check_quota(directory, &enforced, err);

	if (rc)
		return rc;
	if (fstatfs(directory->target.fd, &sfs))
		return fsq_fail(err, FSQ_E_FAILED, errno, directory->path,
				"cannot ask the filesystem");
	/* In a directory that hands on its project statfs(2) shows the project's limit. */
	*space = directory->project.inherit ? 0 : (uint64_t)sfs.f_bsize * sfs.f_blocks;
	*enforcement = FSQ_ENFORCED;
	if (!enforced)
		*enforcement = FSQ_NOT_ENFORCED;
	else if (sfs.f_type != XFS_SUPER_MAGIC && is_only_for_root(directory->target.fd, made))
		*enforcement = FSQ_ENFORCED_BUT_FOR_ROOT;
	return 0;
}
