/* SPDX-License-Identifier: Apache-2.0 */
#include "genetlink.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Room for what the kernel tells while the caller is busy: several thousand messages. What is above
 * net.core.rmem_max takes CAP_NET_ADMIN. */
#define RECEIVE_BUFFER (8 * 1024 * 1024)

/* linux/netlink.h has these with a sign. */
#define HEADER sizeof(struct nlattr)
#define ALIGNED(size) (((size) + 3) & ~(size_t)3)
#define TYPE_MASK 0x3fffU

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

/* @return   0; -ENODATA a message of somebody else, or none at all; or what recvmsg(2) fails with */
static int receive(int fd, void *buffer, size_t size, const struct nlmsghdr **header)
{
	struct sockaddr_nl from = { 0 };
	struct iovec room = { .iov_base = buffer, .iov_len = size };
	struct msghdr message = { .msg_name = &from, .msg_namelen = sizeof(from) };
	ssize_t got;

	message.msg_iov = &room;
	message.msg_iovlen = 1;
	do {
		got = recvmsg(fd, &message, MSG_DONTWAIT);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	*header = buffer;
	/* Processes can send to the socket, too. */
	if (from.nl_pid != 0 || (message.msg_flags & MSG_TRUNC) || (size_t)got < sizeof(**header) ||
	    (*header)->nlmsg_len < sizeof(**header) || (*header)->nlmsg_len > (size_t)got)
		return -ENODATA;
	return 0;
}

/* @return   whether it is of the family */
static bool open_message(const struct nlmsghdr *header, uint16_t family, uint8_t *command,
			 struct fsq_nla_span *left)
{
	const size_t begin = NLMSG_HDRLEN + GENL_HDRLEN;
	struct genlmsghdr generic;

	if (header->nlmsg_type != family || header->nlmsg_len < begin)
		return false;
	memcpy(&generic, (const unsigned char *)header + NLMSG_HDRLEN, sizeof(generic));
	*command = generic.cmd;
	left->at = (const unsigned char *)header + begin;
	left->size = header->nlmsg_len - begin;
	return true;
}

int fsq_genetlink_receive(int fd, uint16_t family, void *buffer, size_t size, uint8_t *command,
			  struct fsq_nla_span *left)
{
	const struct nlmsghdr *header;
	int rc = receive(fd, buffer, size, &header);

	if (rc)
		return rc == -ENODATA ? 0 : rc;
	return open_message(header, family, command, left);
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

static int ask_for_family(int fd, const char *name)
{
	struct {
		struct nlmsghdr header;
		struct genlmsghdr generic;
		struct nlattr attribute;
		char name[GENL_NAMSIZ];
	} request = { 0 };
	const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	size_t length = strlen(name) + 1;

	request.header.nlmsg_len =
		(uint32_t)(NLMSG_HDRLEN + GENL_HDRLEN + HEADER + ALIGNED(length));
	request.header.nlmsg_type = GENL_ID_CTRL;
	request.header.nlmsg_flags = NLM_F_REQUEST;
	request.generic = (struct genlmsghdr){ .cmd = CTRL_CMD_GETFAMILY, .version = 1 };
	request.attribute.nla_type = CTRL_ATTR_FAMILY_NAME;
	request.attribute.nla_len = (uint16_t)(HEADER + length);
	memcpy(request.name, name, length);
	if (sendto(fd, &request, request.header.nlmsg_len, 0, (const struct sockaddr *)&kernel,
		   sizeof(kernel)) < 0)
		return -errno;
	return 0;
}

/* The kernel answers within the call that asks. */
static int find_family(int fd, const char *name, const char *group_name, uint16_t *family,
		       uint32_t *group)
{
	_Alignas(struct nlmsghdr) unsigned char buffer[8192];
	struct fsq_nla_span left, value;
	const struct nlmsghdr *header;
	struct nlmsgerr error;
	uint8_t command;
	uint64_t number = 0;
	uint16_t type;
	int rc = ask_for_family(fd, name);

	if (rc == 0)
		rc = receive(fd, buffer, sizeof(buffer), &header);
	if (rc)
		return rc;
	if (header->nlmsg_type == NLMSG_ERROR && header->nlmsg_len >= NLMSG_LENGTH(sizeof(error))) {
		memcpy(&error, NLMSG_DATA(header), sizeof(error));
		return error.error ? error.error : -ENODATA;
	}
	if (!open_message(header, GENL_ID_CTRL, &command, &left))
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

static int join(int fd, const char *family_name, const char *group_name, uint16_t *family)
{
	const struct sockaddr_nl any = { .nl_family = AF_NETLINK };
	const int size = RECEIVE_BUFFER;
	uint32_t group = 0;
	int rc;

	if (bind(fd, (const struct sockaddr *)&any, sizeof(any)))
		return -errno;
	rc = find_family(fd, family_name, group_name, family, &group);
	if (rc)
		return rc;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)))
		return -errno;
	return 0;
}

int fsq_genetlink_join(const char *family_name, const char *group_name, uint16_t *family)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_GENERIC);
	int rc;

	if (fd < 0)
		return -errno;
	rc = join(fd, family_name, group_name, family);
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}
