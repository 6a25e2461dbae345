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

#endif
