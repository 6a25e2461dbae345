/* SPDX-License-Identifier: Apache-2.0 */
#include "pod_path.h"

#include <stdio.h>
#include <string.h>

#define PODS "/pods/"
#define VOLUMES "/volumes/"
#define USUAL "volume"

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
	snprintf(name, FSQ_USUAL_NAME, USUAL "%u", id);
}

/* Without printf(3), which takes a thousand instructions: each row of a table asks. */
bool fsq_is_usual_name(const char *name, uint32_t id)
{
	const char *at = name + strlen(USUAL);
	uint64_t number = 0;

	if (strncmp(name, USUAL, strlen(USUAL)) != 0 || *at == '0')
		return false;
	while (*at >= '0' && *at <= '9' && number <= UINT32_MAX)
		number = number * 10 + (uint64_t)(*at++ - '0');
	return *at == '\0' && number == id && id;
}
