/* SPDX-License-Identifier: Apache-2.0 */
#include "generation.h"

#include <stdlib.h>
#include <string.h>

bool generation_choose(enum generation *generation)
{
	const char *word = getenv(GENERATION_VARIABLE);

	if (!word || !*word)
		word = XFS_QUOTA_VERSION;
	*generation = strcmp(word, "6.1") == 0 ? XFS_QUOTA_6_1 : XFS_QUOTA_7_2;
	return *generation == XFS_QUOTA_6_1 || strcmp(word, "7.2") == 0;
}

const char *generation_version(enum generation generation)
{
	return generation == XFS_QUOTA_6_1 ? "6.1.0" : "7.2.0";
}

bool generation_shows_unused_limits(enum generation generation)
{
	return generation >= XFS_QUOTA_7_2;
}

bool generation_shows_realtime_warnings(enum generation generation)
{
	return generation >= XFS_QUOTA_7_2;
}

bool generation_explains_special_files(enum generation generation)
{
	return generation >= XFS_QUOTA_7_2;
}

bool generation_tells_stale_lines(enum generation generation, bool path_given)
{
	return generation < XFS_QUOTA_7_2 || !path_given;
}

bool generation_asks_mount_points(enum generation generation)
{
	return generation >= XFS_QUOTA_7_2;
}
