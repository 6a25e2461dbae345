/* SPDX-License-Identifier: Apache-2.0 */
#include "warnings.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/quota.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "quota/base/error.h"
#include "quota/fsquota.h"

/* Room for several thousand messages while the caller is busy. More than net.core.rmem_max takes CAP_NET_ADMIN. */
#define RECEIVE_BUFFER (8 * 1024 * 1024)

/* linux/netlink.h defines these as signed. */
#define HEADER sizeof(struct nlattr)
#define ALIGNED(size) (((size) + 3) & ~(size_t)3)
#define TYPE_MASK 0x3fffU

/* At most so many messages are read at once. */
#define BURST 4096

struct fsq_warnings {
	int fd;
	uint16_t family;
};

/* --- attributes --- */

bool fsq_nla_next(struct fsq_nla_span *left, uint16_t *type, struct fsq_nla_span *value)
{
	struct nlattr header;
	size_t size;

	if (left->size < sizeof(header))
		return false;
	memcpy(&header, left->at, sizeof(header));
	if (header.nla_len < HEADER || header.nla_len > left->size)
		return false;
	*type = (uint16_t)(header.nla_type & TYPE_MASK);
	*value = (struct fsq_nla_span){ left->at + HEADER, header.nla_len - HEADER };
	size = ALIGNED(header.nla_len);
	if (size > left->size)
		size = left->size;
	left->at += size;
	left->size -= size;
	return true;
}

bool fsq_nla_number(const struct fsq_nla_span *value, uint64_t *number)
{
	uint16_t small;
	uint32_t medium;

	switch (value->size) {
	case sizeof(small):
		memcpy(&small, value->at, sizeof(small));
		*number = small;
		return true;
	case sizeof(medium):
		memcpy(&medium, value->at, sizeof(medium));
		*number = medium;
		return true;
	case sizeof(*number):
		memcpy(number, value->at, sizeof(*number));
		return true;
	default:
		return false;
	}
}

static bool is_text(const struct fsq_nla_span *value, const char *text)
{
	return value->size == strlen(text) + 1 && memcmp(value->at, text, value->size) == 0;
}

/* --- receiving --- */

/* @return   0; -ENODATA a message of another sender, or no whole one; or the errno of recvmsg(2) */
static int receive(int fd, void *buffer, size_t size, const struct nlmsghdr **header)
{
	struct sockaddr_nl from = { 0 };
	struct iovec room = { .iov_base = buffer, .iov_len = size };
	struct msghdr message = { .msg_name = &from, .msg_namelen = sizeof(from) };
	ssize_t got;

	message.msg_iov = &room;
	message.msg_iovlen = 1;
	got = recvmsg(fd, &message, MSG_DONTWAIT);
	if (got < 0)
		return -errno;
	*header = buffer;
	/* Other processes can send to the socket, too. */
	if (from.nl_pid != 0 || (message.msg_flags & MSG_TRUNC) || (size_t)got < sizeof(**header) ||
	    (*header)->nlmsg_len < sizeof(**header) || (*header)->nlmsg_len > (size_t)got)
		return -ENODATA;
	return 0;
}

/* @return   whether it is a message of the family with this command. @left is set to its attributes */
static bool open_message(const struct nlmsghdr *header, uint16_t family, uint8_t command,
			 struct fsq_nla_span *left)
{
	const size_t begin = NLMSG_HDRLEN + GENL_HDRLEN;
	struct genlmsghdr generic;

	if (header->nlmsg_type != family || header->nlmsg_len < begin)
		return false;
	memcpy(&generic, (const unsigned char *)header + NLMSG_HDRLEN, sizeof(generic));
	left->at = (const unsigned char *)header + begin;
	left->size = header->nlmsg_len - begin;
	return generic.cmd == command;
}

/* --- joining --- */

static void find_group(struct fsq_nla_span groups, const char *name, uint32_t *number)
{
	struct fsq_nla_span group, value;
	uint16_t type;

	while (fsq_nla_next(&groups, &type, &group)) {
		bool is_it = false;
		uint64_t id = 0;

		while (fsq_nla_next(&group, &type, &value)) {
			if (type == CTRL_ATTR_MCAST_GRP_NAME)
				is_it = is_text(&value, name);
			else if (type == CTRL_ATTR_MCAST_GRP_ID)
				fsq_nla_number(&value, &id);
		}
		if (is_it)
			*number = (uint32_t)id;
	}
}

/* Find a family and one of its groups. The kernel answers before sendto(2) returns. */
static int find_family(int fd, const char *name, const char *group_name, uint16_t *family,
		       uint32_t *group)
{
	const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	_Alignas(struct nlmsghdr) unsigned char buffer[8192];
	const size_t length = strlen(name) + 1;
	struct {
		struct nlmsghdr header;
		struct genlmsghdr generic;
		struct nlattr attribute;
		char name[GENL_NAMSIZ];
	} request = {
		.header = { .nlmsg_len = (uint32_t)(NLMSG_HDRLEN + GENL_HDRLEN + HEADER +
						    ALIGNED(length)),
			    .nlmsg_type = GENL_ID_CTRL,
			    .nlmsg_flags = NLM_F_REQUEST },
		.generic = { .cmd = CTRL_CMD_GETFAMILY, .version = 1 },
		.attribute = { .nla_type = CTRL_ATTR_FAMILY_NAME,
			       .nla_len = (uint16_t)(HEADER + length) },
	};
	struct fsq_nla_span left, value;
	const struct nlmsghdr *header;
	struct nlmsgerr error;
	uint64_t number = 0;
	uint16_t type;
	int rc;

	memcpy(request.name, name, length);
	if (sendto(fd, &request, request.header.nlmsg_len, 0, (const struct sockaddr *)&kernel,
		   sizeof(kernel)) < 0)
		return -errno;
	rc = receive(fd, buffer, sizeof(buffer), &header);
	if (rc)
		return rc;
	if (header->nlmsg_type == NLMSG_ERROR && header->nlmsg_len >= NLMSG_LENGTH(sizeof(error))) {
		memcpy(&error, NLMSG_DATA(header), sizeof(error));
		return error.error ? error.error : -ENODATA;
	}
	if (!open_message(header, GENL_ID_CTRL, CTRL_CMD_NEWFAMILY, &left))
		return -ENODATA;
	while (fsq_nla_next(&left, &type, &value)) {
		if (type == CTRL_ATTR_FAMILY_ID)
			fsq_nla_number(&value, &number);
		else if (type == CTRL_ATTR_MCAST_GROUPS)
			find_group(value, group_name, group);
	}
	*family = (uint16_t)number;
	return *family && *group ? 0 : -ENOENT;
}

int fsq_warnings_open(struct fsq_warnings **warnings, struct fsq_error *err)
{
	if (!warnings)
		return fsq_fail_null(err);

	const struct sockaddr_nl any = { .nl_family = AF_NETLINK };
	struct fsq_warnings *made = calloc(1, sizeof(*made));
	const int size = RECEIVE_BUFFER;
	uint32_t group = 0;
	int rc = 0;

	if (!made)
		return fsq_fail_errno(err, ENOMEM, NULL, "cannot go on");
	made->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_GENERIC);
	if (made->fd < 0 || bind(made->fd, (const struct sockaddr *)&any, sizeof(any)))
		rc = -errno;
	else
		rc = find_family(made->fd, "VFS_DQUOT", "events", &made->family, &group);
	if (rc == 0) {
		if (setsockopt(made->fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
			setsockopt(made->fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
		if (setsockopt(made->fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group,
			       sizeof(group)))
			rc = -errno;
	}
	if (rc == 0) {
		*warnings = made;
		return 0;
	}
	if (made->fd >= 0)
		close(made->fd);
	free(made);
	if (rc == -ENOENT)
		return fsq_fail(err, FSQ_E_NOT_SUPPORTED, 0, NULL,
				"the kernel sends no quota warnings here");
	return fsq_fail_errno(err, -rc, NULL, "cannot receive quota warnings of the kernel");
}

/* --- reading --- */

int fsq_warnings_fd(const struct fsq_warnings *warnings)
{
	if (!warnings)
		return -1;
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

/* @return   whether its type, ID and kind are known */
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
	if (!warnings || !visit || !lost)
		return fsq_fail_null(err);

	_Alignas(struct nlmsghdr) unsigned char buffer[4096];
	const struct nlmsghdr *header;
	struct fsq_nla_span left;
	struct fsq_warning warning;

	*lost = false;
	for (int i = 0; i < BURST; i++) {
		int rc = receive(warnings->fd, buffer, sizeof(buffer), &header);

		if (rc == -EAGAIN)
			break;
		if (rc && rc != -ENOBUFS && rc != -ENODATA)
			return fsq_fail_errno(err, -rc, NULL,
					      "cannot receive quota warnings of the kernel");
		*lost |= rc == -ENOBUFS;
		if (rc == 0 && open_message(header, warnings->family, QUOTA_NL_C_WARNING, &left) &&
		    read_attributes(left, &warning) && visit(&warning, arg) == FSQ_VISIT_STOP)
			break;
	}
	return 0;
}
