/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warnings of the kernel, which fsquota.h declares, by generic netlink; and what it takes to read its
 * messages. libnl is not used: the static build could not load it, and would need this all the same.
 */
#ifndef FSQ_WARNINGS_H
#define FSQ_WARNINGS_H

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

#endif
