/* SPDX-License-Identifier: Apache-2.0 */
#include "privilege.h"

#include <stdio.h>

bool fsq_in_user_namespace(void)
{
	unsigned long inside = 0, outside = 0, count = 0;
	FILE *map = fopen("/proc/self/uid_map", "re");
	int fields;

	if (!map)
		return false;
	fields = fscanf(map, "%lu %lu %lu", &inside, &outside, &count);
	fclose(map);
	return !(fields == 3 && inside == 0 && outside == 0 && count == 4294967295UL);
}
