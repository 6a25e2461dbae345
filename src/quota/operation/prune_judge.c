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

int fsq_prune_is_known(struct fsq_prune *p, uint32_t id, bool *known)
{
	int rc = 0;

	*known = false;
	for (size_t i = 0; i < p->volumes.count && rc == 0 && !*known; i++) {
		const struct fsq_volume *volume = &p->volumes.list[i];
		struct fsq_dquot dquot;

		if (!volume->has_quota || !fsq_prune_is_first(p, volume))
			continue;
		rc = fsq_volume_read_quota(volume, id, &dquot, p->err);
		*known = rc == 0 && fsq_dquot_has_anything(&dquot);
	}
	return rc;
}

/*
 * While the directory of a pod exists, kubelet takes the pod up at its next start, and its volumes
 * with the IDs that /etc/projects has for them: .../pods/UID/volumes/...
 */
static bool is_of_living_pod(struct fsq_prune *p, const char *directory)
{
	bool living = false;

	for (const char *pods = directory; !living && (pods = strstr(pods, "/pods/"));) {
		const struct fsq_volume *volume;
		const char *end = strchr(pods += strlen("/pods/"), '/');
		char *pod;

		if (!end || strncmp(end, "/volumes/", strlen("/volumes/")) != 0) {
			/* The next one may begin with this slash. */
			pods--;
			continue;
		}
		pod = strndup(directory, (size_t)(end - directory));
		living = !pod || fsq_volumes_find(&p->volumes, pod, &volume) == FSQ_PRESENT;
		free(pod);
	}
	return living;
}

int fsq_prune_judge_line(struct fsq_prune *p, const struct fsq_volume *volume,
			 enum fsq_presence presence, const struct fsq_dquot *dquot,
			 struct fsq_leftover *leftover)
{
	const struct fsq_entry line = { leftover->id, leftover->directory };
	bool present = presence == FSQ_PRESENT, pod;
	int rc;

	leftover->inodes = dquot->form[FSQ_INODES].used;
	leftover->kept = FSQ_NOT_KEPT;
	leftover->kind = present ? FSQ_LEFTOVER_LINE : FSQ_LEFTOVER_DIRECTORY;
	if (present && (!volume->has_quota || fsq_dquot_has_anything(dquot)))
		return 1;
	if (presence == FSQ_UNSEEN) {
		leftover->kept = FSQ_KEPT_UNREADABLE;
		leftover->errnum = p->volumes.errnum;
		return 0;
	}
	pod = is_of_living_pod(p, leftover->directory);
	if (present && (pod || !fsq_prune_is_in_range(p, leftover->id)))
		return 1;
	if (p->request->all)
		return 0;
	rc = fsq_volumes_doubt(&p->volumes, &p->lines, volume, presence, &line,
			       fsq_dquot_has_anything(dquot), &leftover->kept, p->err);
	if (rc || leftover->kept != FSQ_NOT_KEPT)
		return rc;
	/* What is there may be a release that was killed, or the place of what is not mounted. */
	if (present)
		leftover->kept = FSQ_KEPT_UNPROVEN;
	else if (fsq_limits_are_used(dquot))
		leftover->kept = FSQ_KEPT_USED;
	else if (pod)
		leftover->kept = FSQ_KEPT_POD;
	return 0;
}
