/* SPDX-License-Identifier: Apache-2.0 */
#include "quotactl.h"

#include <errno.h>
#include <linux/dqblk_xfs.h>
#include <linux/quota.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "compat.h"

#ifndef FS_DQ_BIGTIME
#define FS_DQ_BIGTIME (1 << 15)
#endif

static int call(struct fsq_target *target, unsigned int command, enum fsq_type type, uint32_t id,
		void *data)
{
	void (*find_device)(struct fsq_target * target) = target->find_device;
	unsigned int packed = QCMD(command, (unsigned int)type);
	int refused = 0, error;

	if (target->fd >= 0) {
		if (syscall(SYS_quotactl_fd, target->fd, packed, id, data) == 0)
			return 0;
		refused = errno;
		/*
		 * ENOSYS: no such call, or no quota on the file system; EPERM: not allowed, or a
		 * filter does not know this call. quotactl(2) tells which.
		 */
		if (refused != ENOSYS && refused != EPERM)
			return -refused;
		target->find_device = NULL;
		if (!target->device && find_device)
			find_device(target);
		if (!target->device)
			return -refused;
	}
	if (syscall(SYS_quotactl, packed, target->device, id, data) == 0)
		return 0;
	error = errno;
	/* Did quotactl(2) fail before it reached the filesystem? */
	if (refused == EPERM && (error == EACCES || error == ENODEV || error == ENOTBLK ||
				 (error == ENOENT && access(target->device, F_OK))))
		return -EPERM;
	return -error;
}

static int64_t join_timer(int32_t low, int8_t high, bool big)
{
	if (!big)
		return low;
	return (int64_t)high * (1LL << 32) | (uint32_t)low;
}

static void unpack(const struct fs_disk_quota *raw, struct fsq_dquot *dquot)
{
	bool big = raw->d_fieldmask & FS_DQ_BIGTIME;

	*dquot = (struct fsq_dquot){
		.id = raw->d_id,
		.form = {
			[FSQ_BLOCKS] = { raw->d_bcount, raw->d_blk_softlimit, raw->d_blk_hardlimit,
					 join_timer(raw->d_btimer, raw->d_btimer_hi, big),
					 raw->d_bwarns },
			[FSQ_INODES] = { raw->d_icount, raw->d_ino_softlimit, raw->d_ino_hardlimit,
					 join_timer(raw->d_itimer, raw->d_itimer_hi, big),
					 raw->d_iwarns },
			[FSQ_REALTIME] = { raw->d_rtbcount, raw->d_rtb_softlimit,
					   raw->d_rtb_hardlimit,
					   join_timer(raw->d_rtbtimer, raw->d_rtbtimer_hi, big),
					   raw->d_rtbwarns },
		},
	};
}

static int get_dquot(struct fsq_target *target, unsigned int command, enum fsq_type type,
		     uint32_t id, struct fsq_dquot *dquot)
{
	struct fs_disk_quota raw;
	int rc = call(target, command, type, id, &raw);

	if (rc == 0)
		unpack(&raw, dquot);
	return rc;
}

int fsq_quotactl_get(struct fsq_target *target, enum fsq_type type, uint32_t id,
		     struct fsq_dquot *dquot)
{
	return get_dquot(target, Q_XGETQUOTA, type, id, dquot);
}

int fsq_quotactl_get_next(struct fsq_target *target, enum fsq_type type, uint32_t id,
			  struct fsq_dquot *dquot)
{
	return get_dquot(target, Q_XGETNEXTQUOTA, type, id, dquot);
}

static const struct {
	uint32_t records, accounting, enforcement;
} flags_of[FSQ_TYPES] = {
	[FSQ_USER] = { FS_USER_QUOTA, FS_QUOTA_UDQ_ACCT, FS_QUOTA_UDQ_ENFD },
	[FSQ_GROUP] = { FS_GROUP_QUOTA, FS_QUOTA_GDQ_ACCT, FS_QUOTA_GDQ_ENFD },
	[FSQ_PROJECT] = { FS_PROJ_QUOTA, FS_QUOTA_PDQ_ACCT, FS_QUOTA_PDQ_ENFD },
};

/* A record to be sent, with an empty mask. */
static struct fs_disk_quota blank(enum fsq_type type, uint32_t id)
{
	return (struct fs_disk_quota){ .d_version = FS_DQUOT_VERSION,
				       .d_flags = (int8_t)flags_of[type].records,
				       .d_id = id };
}

static void add_to_mask(struct fs_disk_quota *raw, unsigned int field)
{
	raw->d_fieldmask = (uint16_t)(raw->d_fieldmask | field);
}

int fsq_quotactl_set_limits(struct fsq_target *target, enum fsq_type type, uint32_t id,
			    const struct fsq_limits *limits)
{
	static const unsigned int soft_fields[FSQ_FORMS] = { FS_DQ_BSOFT, FS_DQ_ISOFT,
							     FS_DQ_RTBSOFT };
	static const unsigned int hard_fields[FSQ_FORMS] = { FS_DQ_BHARD, FS_DQ_IHARD,
							     FS_DQ_RTBHARD };
	struct fs_disk_quota raw = blank(type, id);
	__u64 *const soft[] = { &raw.d_blk_softlimit, &raw.d_ino_softlimit, &raw.d_rtb_softlimit };
	__u64 *const hard[] = { &raw.d_blk_hardlimit, &raw.d_ino_hardlimit, &raw.d_rtb_hardlimit };

	for (int form = 0; form < FSQ_FORMS; form++) {
		uint64_t most = form == FSQ_INODES ? UINT64_MAX : FSQ_LIMIT_BLOCKS_MAX;
		bool sets_soft = limits->mask & FSQ_SOFT(form);
		bool sets_hard = limits->mask & FSQ_HARD(form);

		*soft[form] = limits->soft[form];
		*hard[form] = limits->hard[form];
		if ((sets_soft && *soft[form] > most) || (sets_hard && *hard[form] > most))
			return -ERANGE;
		add_to_mask(&raw, (sets_soft ? soft_fields[form] : 0) |
					  (sets_hard ? hard_fields[form] : 0));
	}
	return call(target, Q_XSETQLIM, type, id, &raw);
}

/* A call that sets limits waits until the filesystem is thawed. This one then fails with EFAULT. */
void fsq_quotactl_wait_thawed(void *target)
{
	call(target, Q_XSETQLIM, FSQ_PROJECT, 0, NULL);
}

int fsq_quotactl_set_timers(struct fsq_target *target, enum fsq_type type, uint32_t id,
			    const struct fsq_timers *timers)
{
	static const unsigned int fields[FSQ_FORMS] = { FS_DQ_BTIMER, FS_DQ_ITIMER,
							FS_DQ_RTBTIMER };
	struct fs_disk_quota raw = blank(type, id);
	int32_t *const low[FSQ_FORMS] = { &raw.d_btimer, &raw.d_itimer, &raw.d_rtbtimer };
	int8_t *const high[FSQ_FORMS] = { &raw.d_btimer_hi, &raw.d_itimer_hi, &raw.d_rtbtimer_hi };
	bool big = false;

	for (int form = 0; form < FSQ_FORMS; form++)
		big |= timers->set[form] && timers->seconds[form] > INT32_MAX;
	for (int form = 0; form < FSQ_FORMS; form++)
		if (timers->set[form]) {
			add_to_mask(&raw, fields[form]);
			*low[form] = (int32_t)(uint32_t)timers->seconds[form];
			*high[form] = big ? (int8_t)(timers->seconds[form] >> 32) : 0;
		}
	if (big)
		add_to_mask(&raw, FS_DQ_BIGTIME);
	return call(target, Q_XSETQLIM, type, id, &raw);
}

int fsq_quotactl_set_warnings(struct fsq_target *target, enum fsq_type type, uint32_t id,
			      const bool set[FSQ_FORMS], uint16_t warnings)
{
	static const unsigned int fields[FSQ_FORMS] = { FS_DQ_BWARNS, FS_DQ_IWARNS,
							FS_DQ_RTBWARNS };
	struct fs_disk_quota raw = blank(type, id);

	raw.d_bwarns = raw.d_iwarns = raw.d_rtbwarns = warnings;
	for (int form = 0; form < FSQ_FORMS; form++)
		if (set[form])
			add_to_mask(&raw, fields[form]);
	return call(target, Q_XSETQLIM, type, id, &raw);
}

int fsq_quotactl_switch(struct fsq_target *target, enum fsq_switch what,
			const bool types[FSQ_TYPES])
{
	static const unsigned int commands[] = {
		[FSQ_ENABLE] = Q_XQUOTAON,
		[FSQ_DISABLE] = Q_XQUOTAOFF,
		[FSQ_OFF] = Q_XQUOTAOFF,
		[FSQ_REMOVE] = Q_XQUOTARM,
	};
	enum fsq_type first = FSQ_TYPES;
	uint32_t flags = 0;

	for (int type = FSQ_TYPES - 1; type >= 0; type--) {
		if (!types[type])
			continue;
		first = (enum fsq_type)type;
		if (what == FSQ_REMOVE)
			flags |= flags_of[type].records;
		else
			flags |= flags_of[type].enforcement |
				 (what == FSQ_DISABLE ? 0 : flags_of[type].accounting);
	}
	return first == FSQ_TYPES ? -EINVAL : call(target, commands[what], first, 0, &flags);
}

int fsq_quotactl_state(struct fsq_target *target, enum fsq_type type, struct fsq_state *state)
{
	struct fs_quota_statv raw = { .qs_version = FS_QSTATV_VERSION1 };
	const struct fs_qfilestatv *files[] = { &raw.qs_uquota, &raw.qs_gquota, &raw.qs_pquota };
	const struct fs_qfilestatv *file = files[type];

	if (call(target, Q_XGETQSTATV, type, 0, &raw)) {
		/* Kernels before 3.12, with one record for group and project. */
		struct fs_quota_stat old = { .qs_version = FS_QSTAT_VERSION };
		const struct fs_qfilestat *from =
			type == FSQ_USER ? &old.qs_uquota : &old.qs_gquota;
		int rc = call(target, Q_XGETQSTAT, type, 0, &old);

		if (rc)
			return rc;
		raw = (struct fs_quota_statv){
			.qs_flags = old.qs_flags,
			.qs_btimelimit = old.qs_btimelimit,
			.qs_itimelimit = old.qs_itimelimit,
			.qs_rtbtimelimit = old.qs_rtbtimelimit,
			.qs_bwarnlimit = old.qs_bwarnlimit,
			.qs_iwarnlimit = old.qs_iwarnlimit,
			.qs_uquota = { from->qfs_ino, from->qfs_nblks, from->qfs_nextents, 0 },
		};
		file = &raw.qs_uquota;
	}
	*state = (struct fsq_state){
		.grace_seconds = { (uint32_t)raw.qs_btimelimit, (uint32_t)raw.qs_itimelimit,
				   (uint32_t)raw.qs_rtbtimelimit },
		.max_warnings = { raw.qs_bwarnlimit, raw.qs_iwarnlimit },
		.has_inode = file->qfs_ino != UINT64_MAX,
		.inode = file->qfs_ino,
		.blocks = file->qfs_nblks,
		.extents = file->qfs_nextents,
	};
	for (int each = 0; each < FSQ_TYPES; each++) {
		state->accounting[each] = raw.qs_flags & flags_of[each].accounting;
		state->enforced[each] = raw.qs_flags & flags_of[each].enforcement;
	}
	return 0;
}

bool fsq_quotactl_is_hidden(struct fsq_target *target, enum fsq_type type)
{
	struct if_dqinfo info = { 0 };

	return call(target, (unsigned int)Q_GETINFO, type, 0, &info) == 0 &&
	       (info.dqi_flags & DQF_SYS_FILE);
}

int fsq_quotactl_sync(struct fsq_target *target, enum fsq_type type)
{
	return call(target, Q_XQUOTASYNC, type, 0, NULL);
}

int fsq_quotactl_probe(bool *by_fd)
{
	unsigned int command = QCMD((unsigned int)Q_XGETQSTAT, (unsigned int)FSQ_PROJECT);
	struct fs_quota_stat raw = { .qs_version = FS_QSTAT_VERSION };

	/* The kernel says that neither the descriptor nor the device exists. */
	*by_fd = syscall(SYS_quotactl_fd, -1, command, 0, &raw) == 0 ||
		 (errno != ENOSYS && errno != EPERM);
	if (*by_fd)
		return 0;
	if (syscall(SYS_quotactl, command, "", 0, &raw) == 0 || (errno != ENOSYS && errno != EPERM))
		return 0;
	return -errno;
}
