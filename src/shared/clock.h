/* SPDX-License-Identifier: Apache-2.0 */
/* Read a clock. clock_gettime(2) cannot fail for the clocks that every kernel has. */
#ifndef FSQ_CLOCK_H
#define FSQ_CLOCK_H

#include <stdint.h>
#include <time.h>

#define SECOND_NANOSECONDS 1000000000LL

static inline int64_t clock_nanoseconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * SECOND_NANOSECONDS + now.tv_nsec;
}

static inline int64_t clock_milliseconds(clockid_t clock)
{
	return clock_nanoseconds(clock) / 1000000;
}

#endif
