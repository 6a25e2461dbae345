/* SPDX-License-Identifier: Apache-2.0 */
#include "mount_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "mountinfo.h"
#include "quota/base/error.h"
#include "quota/kernel/compat.h"
#include "quota/kernel/fs_type.h"
#include "shared/array.h"
#include "shared/statx.h"

void fsq_mount_cache_open(struct fsq_mount_cache *cache)
{
	*cache = (struct fsq_mount_cache){ .table = open(FSQ_MOUNTINFO, O_RDONLY | O_CLOEXEC) };
}

static void forget_all(struct fsq_mount_cache *cache)
{
	for (size_t i = 0; i < cache->count; i++) {
		fsq_mount_clear(&cache->mounts[i]->mount);
		free(cache->mounts[i]);
	}
	cache->count = 0;
}

void fsq_mount_cache_close(struct fsq_mount_cache *cache)
{
	forget_all(cache);
	free(cache->mounts);
	if (cache->table >= 0)
		close(cache->table);
}

void fsq_mount_cache_check(struct fsq_mount_cache *cache)
{
	struct pollfd table = { .fd = cache->table, .events = POLLPRI };

	if (cache->table < 0 || poll(&table, 1, 0) != 0)
		forget_all(cache);
	for (size_t i = 0; i < cache->count; i++)
		cache->mounts[i]->state_known = false;
}

/* The mount that statx(2) names; before Linux 6.8 IDs are used again, which poll(2) tells. */
static int mount_id(int fd, uint64_t *id)
{
	struct statx stx;

	if (get_statx(fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_MNT_ID, &stx))
		return -errno;
	if (!(stx.stx_mask & STATX_MNT_ID))
		return -ENOSYS;
	*id = stx.stx_mnt_id;
	return 0;
}

static struct fsq_known_mount *add(struct fsq_mount_cache *cache)
{
	struct fsq_known_mount **mounts =
		array_grow(cache->mounts, cache->count, &cache->capacity, sizeof(*mounts));

	if (!mounts)
		return NULL;
	cache->mounts = mounts;
	mounts[cache->count] = calloc(1, sizeof(**mounts));
	return mounts[cache->count] ? mounts[cache->count++] : NULL;
}

int fsq_mount_cache_find(struct fsq_mount_cache *cache, int fd, const char *path,
			 struct fsq_known_mount **known, struct fsq_error *err)
{
	struct statfs sfs;
	uint64_t id = 0;
	int rc = mount_id(fd, &id);

	for (size_t i = 0; i < cache->count && rc == 0; i++)
		if (id != 0 && cache->mounts[i]->id == id) {
			*known = cache->mounts[i];
			return 0;
		}
	*known = add(cache);
	if (!*known)
		return fsq_fail(err, FSQ_E_FAILED, ENOMEM, path, "cannot find the mount");
	(*known)->id = id;
	(*known)->in_memory = fstatfs(fd, &sfs) == 0 && fsq_is_in_memory(&sfs);
	rc = fsq_mount_of_fd(fd, path, &(*known)->mount, err);
	if (rc == 0)
		return 0;
	cache->count--;
	free(*known);
	return rc;
}
