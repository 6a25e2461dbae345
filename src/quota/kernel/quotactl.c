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

/* @return   the device that quotactl(2) wants, or NULL */
static const char *device_of(struct fsq_target *target)
{
	void (*find_device)(struct fsq_target * target) = target->find_device;

	target->find_device = NULL;
	if (!target->device && find_device)
		find_device(target);
	return target->device;
}

/* Has quotactl(2) answered, or did it not get as far as the file system? */
static bool is_answer(const char *device, int error)
{
	return error != EACCES && error != ENODEV && error != ENOTBLK &&
	       (error != ENOENT || access(device, F_OK) == 0);
}

static int call(struct fsq_target *target, unsigned int command, enum fsq_type type, uint32_t id,
		void *data)
{
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
		if ((refused != ENOSYS && refused != EPERM) || !device_of(target))
			return -refused;
	}
	if (syscall(SYS_quotactl, packed, target->device, id, data) == 0)
		return 0;
	error = errno;
	return refused != EPERM || is_answer(target->device, error) ? -error : -EPERM;
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

int fsq_quotactl_get(struct fsq_target *target, enum fsq_type type, uint32_t id,
		     struct fsq_dquot *dquot)
{
	struct fs_disk_quota raw;
	int rc = call(target, Q_XGETQUOTA, type, id, &raw);

	if (rc == 0)
		unpack(&raw, dquot);
	return rc;
}

int fsq_quotactl_get_next(struct fsq_target *target, enum fsq_type type, uint32_t id,
			  struct fsq_dquot *dquot)
{
	struct fs_disk_quota raw;
	int rc = call(target, Q_XGETNEXTQUOTA, type, id, &raw);

	if (rc == 0)
		unpack(&raw, dquot);
	return rc;
}

/* A record to send, still without any field in its mask. */
static struct fs_disk_quota blank(enum fsq_type type, uint32_t id)
{
	static const int8_t flag[FSQ_TYPES] = { FS_USER_QUOTA, FS_GROUP_QUOTA, FS_PROJ_QUOTA };

	return (struct fs_disk_quota){ .d_version = FS_DQUOT_VERSION,
				       .d_flags = flag[type],
				       .d_id = id };
}

static void add_field(struct fs_disk_quota *raw, unsigned int field)
{
	raw->d_fieldmask = (uint16_t)(raw->d_fieldmask | field);
}

static bool is_too_large(const struct fsq_limits *limits)
{
	for (int form = 0; form < FSQ_FORMS; form++)
		if (form != FSQ_INODES && (((limits->mask & FSQ_SOFT(form)) &&
					    limits->soft[form] > FSQ_LIMIT_BLOCKS_MAX) ||
					   ((limits->mask & FSQ_HARD(form)) &&
					    limits->hard[form] > FSQ_LIMIT_BLOCKS_MAX)))
			return true;
	return false;
}

int fsq_quotactl_set_limits(struct fsq_target *target, enum fsq_type type, uint32_t id,
			    const struct fsq_limits *limits)
{
	static const struct {
		unsigned int ours;
		unsigned int kernel;
	} fields[] = {
		{ FSQ_SOFT(FSQ_BLOCKS), FS_DQ_BSOFT },
		{ FSQ_HARD(FSQ_BLOCKS), FS_DQ_BHARD },
		{ FSQ_SOFT(FSQ_INODES), FS_DQ_ISOFT },
		{ FSQ_HARD(FSQ_INODES), FS_DQ_IHARD },
		{ FSQ_SOFT(FSQ_REALTIME), FS_DQ_RTBSOFT },
		{ FSQ_HARD(FSQ_REALTIME), FS_DQ_RTBHARD },
	};
	struct fs_disk_quota raw = blank(type, id);

	raw.d_blk_softlimit = limits->soft[FSQ_BLOCKS];
	raw.d_blk_hardlimit = limits->hard[FSQ_BLOCKS];
	raw.d_ino_softlimit = limits->soft[FSQ_INODES];
	raw.d_ino_hardlimit = limits->hard[FSQ_INODES];
	raw.d_rtb_softlimit = limits->soft[FSQ_REALTIME];
	raw.d_rtb_hardlimit = limits->hard[FSQ_REALTIME];
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (limits->mask & fields[i].ours)
			add_field(&raw, fields[i].kernel);
	return is_too_large(limits) ? -ERANGE : call(target, Q_XSETQLIM, type, id, &raw);
}

/* A call that sets limits waits first, and fails then: there are none where this one points to. */
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
			add_field(&raw, fields[form]);
			*low[form] = (int32_t)(uint32_t)timers->seconds[form];
			*high[form] = big ? (int8_t)(timers->seconds[form] >> 32) : 0;
		}
	if (big)
		add_field(&raw, FS_DQ_BIGTIME);
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
			add_field(&raw, fields[form]);
	return call(target, Q_XSETQLIM, type, id, &raw);
}

int fsq_quotactl_switch(struct fsq_target *target, enum fsq_switch what,
			const bool types[FSQ_TYPES])
{
	static const uint32_t accounting[FSQ_TYPES] = { FS_QUOTA_UDQ_ACCT, FS_QUOTA_GDQ_ACCT,
							FS_QUOTA_PDQ_ACCT };
	static const uint32_t enforcement[FSQ_TYPES] = { FS_QUOTA_UDQ_ENFD, FS_QUOTA_GDQ_ENFD,
							 FS_QUOTA_PDQ_ENFD };
	static const uint32_t records[FSQ_TYPES] = { FS_USER_QUOTA, FS_GROUP_QUOTA, FS_PROJ_QUOTA };
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
			flags |= records[type];
		else
			flags |= enforcement[type] | (what == FSQ_DISABLE ? 0 : accounting[type]);
	}
	return first == FSQ_TYPES ? -EINVAL : call(target, commands[what], first, 0, &flags);
}

static void unpack_flags(unsigned int flags, struct fsq_state *state)
{
	state->accounting[FSQ_USER] = flags & FS_QUOTA_UDQ_ACCT;
	state->enforced[FSQ_USER] = flags & FS_QUOTA_UDQ_ENFD;
	state->accounting[FSQ_GROUP] = flags & FS_QUOTA_GDQ_ACCT;
	state->enforced[FSQ_GROUP] = flags & FS_QUOTA_GDQ_ENFD;
	state->accounting[FSQ_PROJECT] = flags & FS_QUOTA_PDQ_ACCT;
	state->enforced[FSQ_PROJECT] = flags & FS_QUOTA_PDQ_ENFD;
}

static void unpack_file(uint64_t inode, uint64_t blocks, uint32_t extents, struct fsq_state *state)
{
	state->has_inode = inode != UINT64_MAX;
	state->inode = inode;
	state->blocks = blocks;
	state->extents = extents;
}

/* Kernels before 3.12, with one record for group and project. */
static int old_state(struct fsq_target *target, enum fsq_type type, struct fsq_state *state)
{
	struct fs_quota_stat raw = { .qs_version = FS_QSTAT_VERSION };
	const struct fs_qfilestat *file = type == FSQ_USER ? &raw.qs_uquota : &raw.qs_gquota;
	int rc = call(target, Q_XGETQSTAT, type, 0, &raw);

	if (rc)
		return rc;
	*state = (struct fsq_state){
		.grace_seconds = { (uint32_t)raw.qs_btimelimit, (uint32_t)raw.qs_itimelimit,
				   (uint32_t)raw.qs_rtbtimelimit },
		.max_warnings = { raw.qs_bwarnlimit, raw.qs_iwarnlimit },
	};
	unpack_flags(raw.qs_flags, state);
	unpack_file(file->qfs_ino, file->qfs_nblks, file->qfs_nextents, state);
	return 0;
}

int fsq_quotactl_state(struct fsq_target *target, enum fsq_type type, struct fsq_state *state)
{
	struct fs_quota_statv raw = { .qs_version = FS_QSTATV_VERSION1 };
	const struct fs_qfilestatv *file = type == FSQ_USER    ? &raw.qs_uquota
					   : type == FSQ_GROUP ? &raw.qs_gquota
							       : &raw.qs_pquota;

	if (call(target, Q_XGETQSTATV, type, 0, &raw))
		return old_state(target, type, state);
	*state = (struct fsq_state){
		.grace_seconds = { (uint32_t)raw.qs_btimelimit, (uint32_t)raw.qs_itimelimit,
				   (uint32_t)raw.qs_rtbtimelimit },
		.max_warnings = { raw.qs_bwarnlimit, raw.qs_iwarnlimit },
	};
	unpack_flags(raw.qs_flags, state);
	unpack_file(file->qfs_ino, file->qfs_nblks, file->qfs_nextents, state);
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

	/* Neither the descriptor nor the device exists, which the kernel says. */
	*by_fd = syscall(SYS_quotactl_fd, -1, command, 0, &raw) == 0 ||
		 (errno != ENOSYS && errno != EPERM);
	if (*by_fd)
		return 0;
	if (syscall(SYS_quotactl, command, "", 0, &raw) == 0 || (errno != ENOSYS && errno != EPERM))
		return 0;
	return -errno;
}
