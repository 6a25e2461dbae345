/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel.h"

#include <errno.h>
#include <linux/dqblk_xfs.h>
#include <linux/quota.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "syscalls.h"

#ifndef FS_DQ_BIGTIME
#define FS_DQ_BIGTIME (1 << 15)
#endif

static int call(const struct fsq_target *target, unsigned int command, enum fsq_type type,
		uint32_t id, void *data)
{
	unsigned int packed = QCMD(command, (unsigned int)type);

	if (target->fd >= 0) {
		if (syscall(SYS_quotactl_fd, target->fd, packed, id, data) == 0)
			return 0;
		/* ENOSYS: no such call, or no quota on the filesystem. The device tells which. */
		if (errno != ENOSYS || !target->device)
			return -errno;
	}
	return syscall(SYS_quotactl, packed, target->device, id, data) ? -errno : 0;
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

int fsq_kernel_get(const struct fsq_target *target, enum fsq_type type, uint32_t id,
		   struct fsq_dquot *dquot)
{
	struct fs_disk_quota raw;
	int rc = call(target, Q_XGETQUOTA, type, id, &raw);

	if (rc == 0)
		unpack(&raw, dquot);
	return rc;
}

int fsq_kernel_get_next(const struct fsq_target *target, enum fsq_type type, uint32_t id,
			struct fsq_dquot *dquot)
{
	struct fs_disk_quota raw;
	int rc = call(target, Q_XGETNEXTQUOTA, type, id, &raw);

	if (rc == 0)
		unpack(&raw, dquot);
	return rc;
}

int fsq_kernel_set_limits(const struct fsq_target *target, enum fsq_type type, uint32_t id,
			  const struct fsq_limits *limits)
{
	static const int8_t flag[FSQ_TYPES] = { FS_USER_QUOTA, FS_GROUP_QUOTA, FS_PROJ_QUOTA };
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
	struct fs_disk_quota raw = {
		.d_version = FS_DQUOT_VERSION,
		.d_flags = flag[type],
		.d_id = id,
		.d_blk_softlimit = limits->soft[FSQ_BLOCKS],
		.d_blk_hardlimit = limits->hard[FSQ_BLOCKS],
		.d_ino_softlimit = limits->soft[FSQ_INODES],
		.d_ino_hardlimit = limits->hard[FSQ_INODES],
		.d_rtb_softlimit = limits->soft[FSQ_REALTIME],
		.d_rtb_hardlimit = limits->hard[FSQ_REALTIME],
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (limits->mask & fields[i].ours)
			raw.d_fieldmask = (uint16_t)(raw.d_fieldmask | fields[i].kernel);
	return call(target, Q_XSETQLIM, type, id, &raw);
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
static int old_state(const struct fsq_target *target, enum fsq_type type, struct fsq_state *state)
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

int fsq_kernel_state(const struct fsq_target *target, enum fsq_type type, struct fsq_state *state)
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

int fsq_kernel_sync(const struct fsq_target *target, enum fsq_type type)
{
	return call(target, Q_XQUOTASYNC, type, 0, NULL);
}
