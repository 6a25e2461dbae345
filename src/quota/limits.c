/* SPDX-License-Identifier: Apache-2.0 */
#include "limits.h"

#include "filesystem.h"
#include "units.h"

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
	if (fsq_limits_are_same(&wanted, &none))
		wanted.hard[FSQ_BLOCKS] =
			fsq_filesystem_is_xfs(fd) ? FSQ_XFS_UNLIMITED_BLOCKS : FSQ_UNLIMITED_BLOCKS;
	return wanted;
}

int fsq_limits_set(const struct fsq_target *target, uint32_t id, const struct fsq_limits *limits,
		   const char *path, struct fsq_error *err)
{
	int rc;

	for (int form = FSQ_BLOCKS; form <= FSQ_INODES; form++)
		if (limits->hard[form] && limits->soft[form] > limits->hard[form])
			return fsq_fail(err, FSQ_E_USAGE, 0, path,
					"the soft limit would be above the hard one");
	rc = fsq_kernel_set_limits(target, FSQ_PROJECT, id, limits);
	if (rc)
		return fsq_fail(err, fsq_code_of_errno(-rc), -rc, path, "cannot set limits");
	return 0;
}
