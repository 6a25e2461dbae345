/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generic netlink, as far as one family and one of its groups need it. libnl is not used: the static
 * build could not load it, and would need this all the same.
 */
#ifndef FSQ_GENETLINK_H
#define FSQ_GENETLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Attributes that are left to be read. */
struct fsq_nla_span {
	const unsigned char *at;
	size_t size;
};

/**
 * Take the next attribute.
 *
 * @type     set to its type
 * @value    set to its value, which may hold attributes
 * @return   false at the end, and where the rest makes no sense
 */
bool fsq_nla_next(struct fsq_nla_span *left, uint16_t *type, struct fsq_nla_span *value);

/** A number of 2, 4 or 8 bytes. @return  false: it is none */
bool fsq_nla_number(const struct fsq_nla_span *value, uint64_t *number);

/**
 * Open a socket that gets what the kernel sends to a group. It never waits.
 *
 * @family   set to the number of the family, which is the type of its messages
 * @return   the descriptor, or a negative errno: -ENOENT there is no such family or group in this
 *           network namespace
 * Source: netlink(7), linux/genetlink.h
 */
int fsq_genetlink_join(const char *family_name, const char *group_name, uint16_t *family);

/**
 * Receive the next message of the kernel.
 *
 * @command  set
 * @left     set to its attributes, which lie in @buffer
 * @return   1; 0 it is none of the family; -EAGAIN there is none; -ENOBUFS messages were lost; or
 *           another negative errno
 */
int fsq_genetlink_receive(int fd, uint16_t family, void *buffer, size_t size, uint8_t *command,
			  struct fsq_nla_span *left);

#endif
