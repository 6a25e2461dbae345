/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/quota.h>
#include <stdlib.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "genetlink.h"
#include "quota/base/error.h"
#include "quota/fsquota.h"

/* So many are read at once; others have their turn then. */
#define BURST 4096

struct fsq_warnings {
	int fd;
	uint16_t family;
};

int fsq_warnings_open(struct fsq_warnings **warnings, struct fsq_error *err)
{
	struct fsq_warnings *made = calloc(1, sizeof(*made));

	if (!made)
		return fsq_fail(err, FSQ_E_FAILED, ENOMEM, NULL, "cannot go on");
	made->fd = fsq_genetlink_join("VFS_DQUOT", "events", &made->family);
	if (made->fd < 0) {
		int errnum = -made->fd;

		free(made);
		if (errnum == ENOENT)
			return fsq_fail(err, FSQ_E_NOT_SUPPORTED, 0, NULL,
					"the kernel sends no quota warnings here");
		return fsq_fail(err, fsq_error_kind_of(errnum), errnum, NULL,
				"cannot receive quota warnings of the kernel");
	}
	*warnings = made;
	return 0;
}

int fsq_warnings_fd(const struct fsq_warnings *warnings)
{
	return warnings->fd;
}

void fsq_warnings_close(struct fsq_warnings *warnings)
{
	if (!warnings)
		return;
	close(warnings->fd);
	free(warnings);
}

/* By QUOTA_NL_ number. */
static const struct {
	enum fsq_warning_kind kind;
	enum fsq_form form;
} meanings[] = {
	[QUOTA_NL_IHARDWARN] = { FSQ_WARNING_HARD_REACHED, FSQ_INODES },
	[QUOTA_NL_ISOFTLONGWARN] = { FSQ_WARNING_GRACE_OVER, FSQ_INODES },
	[QUOTA_NL_ISOFTWARN] = { FSQ_WARNING_SOFT_REACHED, FSQ_INODES },
	[QUOTA_NL_BHARDWARN] = { FSQ_WARNING_HARD_REACHED, FSQ_BLOCKS },
	[QUOTA_NL_BSOFTLONGWARN] = { FSQ_WARNING_GRACE_OVER, FSQ_BLOCKS },
	[QUOTA_NL_BSOFTWARN] = { FSQ_WARNING_SOFT_REACHED, FSQ_BLOCKS },
	[QUOTA_NL_IHARDBELOW] = { FSQ_WARNING_BELOW_HARD, FSQ_INODES },
	[QUOTA_NL_ISOFTBELOW] = { FSQ_WARNING_BELOW_SOFT, FSQ_INODES },
	[QUOTA_NL_BHARDBELOW] = { FSQ_WARNING_BELOW_HARD, FSQ_BLOCKS },
	[QUOTA_NL_BSOFTBELOW] = { FSQ_WARNING_BELOW_SOFT, FSQ_BLOCKS },
};

/* @return   whether it says something that is known here */
static bool read_attributes(struct fsq_nla_span left, struct fsq_warning *warning)
{
	uint64_t values[QUOTA_NL_A_MAX + 1] = { 0 };
	struct fsq_nla_span value;
	bool has[QUOTA_NL_A_MAX + 1] = { false };
	uint16_t type;

	while (fsq_nla_next(&left, &type, &value))
		if (type <= QUOTA_NL_A_MAX)
			has[type] = fsq_nla_number(&value, &values[type]);
	if (!has[QUOTA_NL_A_QTYPE] || !has[QUOTA_NL_A_EXCESS_ID] || !has[QUOTA_NL_A_WARNING] ||
	    !has[QUOTA_NL_A_DEV_MAJOR] || !has[QUOTA_NL_A_DEV_MINOR] ||
	    values[QUOTA_NL_A_QTYPE] >= FSQ_TYPES || values[QUOTA_NL_A_EXCESS_ID] > FSQ_ID_MAX ||
	    values[QUOTA_NL_A_WARNING] < QUOTA_NL_IHARDWARN ||
	    values[QUOTA_NL_A_WARNING] >= sizeof(meanings) / sizeof(meanings[0]))
		return false;
	*warning = (struct fsq_warning){
		.dev = makedev((unsigned int)values[QUOTA_NL_A_DEV_MAJOR],
			       (unsigned int)values[QUOTA_NL_A_DEV_MINOR]),
		.type = (enum fsq_type)values[QUOTA_NL_A_QTYPE],
		.id = (uint32_t)values[QUOTA_NL_A_EXCESS_ID],
		.form = meanings[values[QUOTA_NL_A_WARNING]].form,
		.kind = meanings[values[QUOTA_NL_A_WARNING]].kind,
		.has_writer = has[QUOTA_NL_A_CAUSED_ID],
		.writer = (uid_t)values[QUOTA_NL_A_CAUSED_ID],
	};
	return true;
}

int fsq_warnings_read(struct fsq_warnings *warnings, fsq_warning_visitor visit, void *arg,
		      bool *lost, struct fsq_error *err)
{
	_Alignas(uint64_t) unsigned char buffer[4096];
	struct fsq_nla_span left;
	struct fsq_warning warning;
	uint8_t command;

	*lost = false;
	for (int i = 0; i < BURST; i++) {
		int rc = fsq_genetlink_receive(warnings->fd, warnings->family, buffer,
					       sizeof(buffer), &command, &left);

		if (rc == -EAGAIN)
			break;
		if (rc < 0 && rc != -ENOBUFS)
			return fsq_fail(err, fsq_error_kind_of(-rc), -rc, NULL,
					"cannot receive quota warnings of the kernel");
		*lost |= rc == -ENOBUFS;
		if (rc == 1 && command == QUOTA_NL_C_WARNING && read_attributes(left, &warning) &&
		    visit(&warning, arg) == FSQ_VISIT_STOP)
			break;
	}
	return 0;
}
