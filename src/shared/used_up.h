/* SPDX-License-Identifier: Apache-2.0 */
/* When a file system counts as full. */
#ifndef USED_UP_H
#define USED_UP_H

#include <stdbool.h>
#include <stdint.h>

/** @return  whether less than a thousandth is left, of what there is at all */
static inline bool is_used_up(uint64_t left, uint64_t total)
{
	return total && left < total / 1000 + 1;
}

/** The same of space in bytes: a small filesystem is also full if a write of some megabytes does not fit. */
static inline bool is_space_used_up(uint64_t left, uint64_t total)
{
	return is_used_up(left, total) || (left < 4 * 1024 * 1024 && left < total / 100);
}

#endif
