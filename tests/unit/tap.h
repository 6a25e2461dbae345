/* SPDX-License-Identifier: Apache-2.0 */
/* Just enough of the Test Anything Protocol. */
#ifndef FSQ_TAP_H
#define FSQ_TAP_H

#include <stdbool.h>
#include <stdio.h>

static int tap_count, tap_failed;

#define ok(condition, name) tap_ok((condition), (name), __FILE__, __LINE__)

static inline void tap_ok(bool good, const char *name, const char *file, int line)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++tap_count, name);
	if (!good) {
		printf("# at %s:%d\n", file, line);
		tap_failed++;
	}
}

/* The end of main(). */
static inline int tap_end(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed ? 1 : 0;
}

#endif
