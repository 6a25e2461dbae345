/* SPDX-License-Identifier: Apache-2.0 */
#include "pod_path.h"

#include <stdio.h>
#include <string.h>

#define PODS "/pods/"
#define VOLUMES "/volumes/"

bool fsq_pod_path_next(const char **at, struct fsq_pod_path *found)
{
	while ((*at = strstr(*at, PODS))) {
		const char *uid = *at + strlen(PODS), *end = strchr(uid, '/'), *volume;

		/* The slash that ends this match may begin the next one. */
		*at = uid - 1;
		if (!end || strncmp(end, VOLUMES, strlen(VOLUMES)) != 0)
			continue;
		volume = strchr(end + strlen(VOLUMES), '/');
		if (volume && strchr(++volume, '/'))
			volume = NULL;
		*found = (struct fsq_pod_path){ uid, (size_t)(end - uid), volume };
		return true;
	}
	return false;
}

bool fsq_is_of_pod(const char *path)
{
	struct fsq_pod_path found;

	return fsq_pod_path_next(&path, &found);
}

void fsq_usual_name(char name[FSQ_USUAL_NAME], uint32_t id)
{
	snprintf(name, FSQ_USUAL_NAME, "volume%u", id);
}
