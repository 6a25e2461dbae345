/* SPDX-License-Identifier: Apache-2.0 */
#include "mount.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "quota/base/error.h"
#include "quota/kernel/compat.h"
#include "quota/kernel/fs_type.h"
#include "shared/statx.h"

void fsq_mount_cache_open(struct fsq_mount_cache *cache)
{
	*cache = (struct fsq_mount_cache){ .table = open(FSQ_MOUNTINFO, O_RDONLY | O_CLOEXEC) };
}

static void forget_all(struct fsq_mount_cache *cache)
{
	while (cache->first) {
		struct fsq_known_mount *known = cache->first;

		cache->first = known->next;
		fsq_mount_clear(&known->mount);
		free(known);
	}
}

void fsq_mount_cache_close(struct fsq_mount_cache *cache)
{
	forget_all(cache);
	if (cache->table >= 0)
		close(cache->table);
}

void fsq_mount_cache_check(struct fsq_mount_cache *cache)
{
	struct pollfd table = { .fd = cache->table, .events = POLLPRI };

	if (cache->table < 0 || poll(&table, 1, 0) != 0)
		forget_all(cache);
	for (struct fsq_known_mount *known = cache->first; known; known = known->next)
		known->state_known = false;
}

int fsq_mount_cache_find(struct fsq_mount_cache *cache, int fd, const char *path,
			 struct fsq_known_mount **known, struct fsq_error *err)
{
	struct fsq_known_mount *new;
	struct statfs sfs;
	struct statx stx;
	uint64_t id = 0;
	int rc;

	/* Before Linux 6.8 IDs are used again, which poll(2) tells. */
	if (get_statx(fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_MNT_ID, &stx) == 0 &&
	    (stx.stx_mask & STATX_MNT_ID))
		id = stx.stx_mnt_id;
	for (*known = cache->first; *known; *known = (*known)->next)
		if (id != 0 && (*known)->id == id)
			return 0;
	new = calloc(1, sizeof(*new));
	if (!new)
		return fsq_fail(err, FSQ_E_FAILED, ENOMEM, path, "cannot find the mount");
	rc = fsq_mount_of_fd(fd, path, &new->mount, err);
	if (rc) {
		free(new);
		return rc;
	}
	new->id = id;
	new->in_memory = fstatfs(fd, &sfs) == 0 && fsq_is_in_memory(&sfs);
	new->next = cache->first;
	*known = cache->first = new;
	return 0;
}
