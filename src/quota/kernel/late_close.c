/* SPDX-License-Identifier: Apache-2.0 */
#include "late_close.h"

#include <unistd.h>

#include "compat.h"

/* As many as are sure to be left of the 1024 that a process may have. */
#define MANY 512

void fsq_late_close_all(struct fsq_late_close *late)
{
	int first = late->first, end = first + late->count;

	late->count = 0;
	if (end - first > 1 && syscall(SYS_close_range, first, end - 1, 0) == 0)
		return;
	for (int fd = first; fd < end; fd++)
		close(fd);
}

void fsq_late_close(struct fsq_late_close *late, int fd)
{
	if (late->count == MANY || fd != late->first + late->count)
		fsq_late_close_all(late);
	if (late->count == 0)
		late->first = fd;
	late->count++;
}
