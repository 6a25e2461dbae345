/* SPDX-License-Identifier: Apache-2.0 */
#include "prune.h"

#include <stdlib.h>
#include <string.h>

#include "limits.h"
#include "quota/mounts/filesystem.h"

bool fsq_prune_is_in_range(const struct fsq_prune *p, uint32_t id)
{
	return id >= p->range.first && id <= p->range.last;
}

bool fsq_prune_is_first(const struct fsq_prune *p, const struct fsq_volume *volume)
{
	return volume == &p->volumes.list[volume->first];
}

int fsq_prune_read_quota(struct fsq_prune *p, const struct fsq_volume *volume, uint32_t id,
			 struct fsq_dquot *dquot)
{
	return fsq_limits_read(&volume->fs->place.target, id, true, dquot,
			       volume->fs->info.directory, p->err);
}

bool fsq_prune_is_limited(const struct fsq_dquot *dquot)
{
	const struct fsq_limits limits = fsq_limits_of(dquot);

	return !fsq_limits_are_none(&limits);
}

bool fsq_prune_has_anything(const struct fsq_dquot *dquot)
{
	return fsq_limits_are_used(dquot) || fsq_prune_is_limited(dquot);
}

int fsq_prune_is_known(struct fsq_prune *p, uint32_t id, bool *known)
{
	int rc = 0;

	*known = false;
	for (size_t i = 0; i < p->volumes.count && rc == 0 && !*known; i++) {
		const struct fsq_volume *volume = &p->volumes.list[i];
		struct fsq_dquot dquot;

		if (!volume->has_quota || !fsq_prune_is_first(p, volume))
			continue;
		rc = fsq_prune_read_quota(p, volume, id, &dquot);
		*known = rc == 0 && fsq_prune_has_anything(&dquot);
	}
	return rc;
}

/*
 * While the directory of a pod exists, kubelet takes the pod up at its next start, and its volumes
 * with the IDs that /etc/projects has for them: .../pods/UID/volumes/...
 */
static bool is_of_living_pod(struct fsq_prune *p, const char *directory)
{
	const struct fsq_volume *volume;
	const char *pods = strstr(directory, "/pods/");
	const char *end = pods ? strchr(pods + strlen("/pods/"), '/') : NULL;
	bool living;
	char *pod;

	if (!end || strncmp(end, "/volumes/", strlen("/volumes/")) != 0)
		return false;
	pod = strndup(directory, (size_t)(end - directory));
	living = !pod || fsq_volumes_find(&p->volumes, pod, &volume) == FSQ_PRESENT;
	free(pod);
	return living;
}

int fsq_prune_judge_line(struct fsq_prune *p, const struct fsq_volume *volume,
			 enum fsq_presence presence, const struct fsq_dquot *dquot,
			 struct fsq_leftover *leftover)
{
	bool all = p->request->all;

	leftover->inodes = dquot->form[FSQ_INODES].used;
	leftover->kept = FSQ_NOT_KEPT;
	leftover->kind = FSQ_LEFTOVER_DIRECTORY;
	if (presence == FSQ_PRESENT) {
		/* A release was killed, unless somebody writes lines long before he uses them. */
		leftover->kind = FSQ_LEFTOVER_LINE;
		return !volume->has_quota || fsq_prune_has_anything(dquot) ||
		       !fsq_prune_is_in_range(p, leftover->id) ||
		       is_of_living_pod(p, leftover->directory);
	}
	if (!all && (presence == FSQ_UNMOUNTED || !volume->has_quota ||
		     (presence == FSQ_GONE_OR_UNMOUNTED && !fsq_prune_is_limited(dquot))))
		leftover->kept = FSQ_KEPT_UNMOUNTED;
	else if (!all && fsq_limits_are_used(dquot))
		leftover->kept = FSQ_KEPT_USED;
	else if (!all && is_of_living_pod(p, leftover->directory))
		leftover->kept = FSQ_KEPT_POD;
	return 0;
}
