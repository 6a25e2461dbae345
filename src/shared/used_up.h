/* SPDX-License-Identifier: Apache-2.0 */
/* When a file system counts as full. */
#ifndef USED_UP_H
#define USED_UP_H

#include <stdbool.h>
#include <stdint.h>

/** @return  whether less than a thousandth of @total is left */
static inline bool is_used_up(uint64_t left, uint64_t total)
{
	return total && left < total / 1000 + 1;
}

/** The same for space in bytes. A small filesystem is full, too, if a write of some megabytes does not fit. */
static inline bool is_space_used_up(uint64_t left, uint64_t total)
{
	return is_used_up(left, total) || (left < 4 * 1024 * 1024 && left < total / 100);
}

#endif
