/* SPDX-License-Identifier: Apache-2.0 */
#include "walk_way.h"

#include <errno.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "syscalls.h"

#define ENTRIES_SIZE (32 * 1024)

struct fsq_way_level {
	int fd; /* -1 while closed to save descriptors */
	dev_t dev;
	ino_t ino;
	uint64_t mount_id; /* 0 until it is needed */
	char *entries;	   /* what getdents64(2) gave, and where we are in it */
	size_t room;
	size_t size;
	size_t position;
	off_t next; /* where a new descriptor has to read on */
	bool reopened;
	size_t path_length;
};

static struct fsq_way_level *current(const struct fsq_way *way)
{
	return &way->levels[way->count - 1];
}

/* --- the path --- */

static int set_path(struct fsq_way *way, size_t directory_length, const char *name)
{
	bool slash = directory_length > 0 && way->path[directory_length - 1] != '/';
	size_t length = directory_length + slash + strlen(name);

	if (length >= way->path_size) {
		char *larger = realloc(way->path, 2 * length + 1);

		if (!larger)
			return -ENOMEM;
		way->path = larger;
		way->path_size = 2 * length + 1;
	}
	if (slash)
		way->path[directory_length++] = '/';
	strcpy(way->path + directory_length, name);
	return 0;
}

int fsq_way_begin(struct fsq_way *way, const char *path)
{
	size_t length;
	int rc = set_path(way, 0, path);

	if (rc)
		return rc;
	length = strlen(way->path);
	while (length > 1 && way->path[length - 1] == '/')
		way->path[--length] = '\0';
	return 0;
}

int fsq_way_name(struct fsq_way *way, const char *name)
{
	return set_path(way, current(way)->path_length, name);
}

void fsq_way_here(struct fsq_way *way)
{
	way->path[current(way)->path_length] = '\0';
}

/* --- opening --- */

static uint64_t mount_id_of(int fd)
{
	struct statx stx;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &stx) || !(stx.stx_mask & STATX_MNT_ID))
		return 0;
	return stx.stx_mnt_id;
}

static int open_in(struct fsq_way *way, struct fsq_way_level *level, const char *name, int flags)
{
	struct open_how how = {
		.flags = (unsigned int)flags,
		.resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH,
	};
	struct stat st;
	int fd;

	if (!atomic_load_explicit(way->no_openat2, memory_order_relaxed)) {
		fd = (int)syscall(SYS_openat2, level->fd, name, &how, sizeof(how));
		if (fd >= 0)
			return fd;
		if (errno != ENOSYS && errno != EPERM)
			return -errno;
		/* Before Linux 5.6, or forbidden by a seccomp filter that does not know it. */
		atomic_store_explicit(way->no_openat2, true, memory_order_relaxed);
	}
	if (!level->mount_id)
		level->mount_id = mount_id_of(level->fd);
	fd = openat(level->fd, name, flags);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && st.st_dev == level->dev && mount_id_of(fd) == level->mount_id)
		return fd;
	close(fd);
	return -EXDEV;
}

int fsq_way_open(struct fsq_way *way, const char *name, int flags)
{
	return open_in(way, current(way), name, flags);
}

int fsq_way_fd(const struct fsq_way *way)
{
	return current(way)->fd;
}

int fsq_way_root_fd(const struct fsq_way *way)
{
	return way->levels[0].fd;
}

dev_t fsq_way_dev(const struct fsq_way *way)
{
	return current(way)->dev;
}

/* Open a directory of the way again by its name in the one above, which may have another
 * descriptor. It is the same, or somebody has moved it. @return  a descriptor, or -1 */
static int open_again(struct fsq_way *way, int above_fd, size_t at)
{
	const struct fsq_way_level *level = &way->levels[at];
	struct fsq_way_level above = { .fd = above_fd, .dev = level[-1].dev };
	size_t start = level[-1].path_length;
	struct stat st;
	char *name;
	int fd;

	start += way->path[start] == '/';
	name = strndup(way->path + start, level->path_length - start);
	fd = name ? open_in(way, &above, name, FSQ_WAY_OPEN | O_DIRECTORY) : -1;
	free(name);
	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == level->dev && st.st_ino == level->ino)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* From the deepest directory above it that is open. @return  a descriptor, or -1 */
static int find_again(struct fsq_way *way, size_t wanted)
{
	size_t at = wanted;
	int fd;

	while (way->levels[at].fd < 0)
		at--;
	fd = way->levels[at].fd;
	while (at < wanted && fd >= 0) {
		int next = open_again(way, fd, at + 1);

		if (fd != way->levels[at].fd)
			close(fd);
		fd = next;
		at++;
	}
	return fd;
}

bool fsq_way_move(struct fsq_way *way, int root_fd)
{
	int *fds = calloc(way->count, sizeof(*fds));
	size_t opened = 0;
	bool moved;

	for (int fd = root_fd; fds && fd >= 0;) {
		fds[opened++] = fd;
		fd = opened < way->count ? open_again(way, fd, opened) : -1;
	}
	moved = opened == way->count;
	for (size_t i = 0; i < opened; i++) {
		struct fsq_way_level *level = &way->levels[i];

		if (!moved || level->fd < 0) {
			close(fds[i]);
			continue;
		}
		close(level->fd);
		level->fd = fds[i];
		level->mount_id = 0;
		level->reopened = true;
	}
	if (!fds)
		close(root_fd);
	free(fds);
	return moved;
}

/* --- down and up --- */

/* Only what has not been read of it is kept. */
static void close_level(struct fsq_way_level *level)
{
	size_t left = level->size - level->position;
	char *smaller;

	close(level->fd);
	level->fd = -1;
	if (left > 0) {
		memmove(level->entries, level->entries + level->position, left);
		smaller = realloc(level->entries, left);
		if (smaller) {
			level->entries = smaller;
			level->room = left;
		}
	} else {
		free(level->entries);
		level->entries = NULL;
		level->room = 0;
	}
	level->size = left;
	level->position = 0;
}

int fsq_way_push(struct fsq_way *way, int fd, dev_t dev, ino_t ino)
{
	if (way->count == way->allocated) {
		size_t wanted = way->allocated ? 2 * way->allocated : 8;
		struct fsq_way_level *larger = reallocarray(way->levels, wanted, sizeof(*larger));

		if (!larger)
			return -ENOMEM;
		way->levels = larger;
		way->allocated = wanted;
	}
	way->levels[way->count++] = (struct fsq_way_level){
		.fd = fd,
		.dev = dev,
		.ino = ino,
		.path_length = strlen(way->path),
	};
	/* The first stays open: the others are found again from there, whatever happens. */
	if (way->count > FSQ_WAY_MAX_OPEN)
		close_level(&way->levels[way->count - FSQ_WAY_MAX_OPEN]);
	return 0;
}

bool fsq_way_pop(struct fsq_way *way)
{
	struct fsq_way_level *level = current(way), *above = level - 1;
	struct stat st;
	int up = -1;

	way->count--;
	if (way->count > 0 && above->fd < 0) {
		if (level->fd >= 0)
			up = openat(level->fd, "..", FSQ_WAY_OPEN | O_DIRECTORY);
		if (up >= 0 &&
		    (fstat(up, &st) || st.st_dev != above->dev || st.st_ino != above->ino)) {
			close(up);
			up = -1;
		}
		/* Somebody moved a directory; perhaps it was not the one above. */
		above->fd = up >= 0 ? up : find_again(way, way->count - 1);
		above->reopened = true;
		if (above->fd < 0)
			above->size = above->position = 0;
	}
	if (level->fd >= 0)
		close(level->fd);
	free(level->entries);
	return way->count == 0 || above->fd >= 0;
}

void fsq_way_end(struct fsq_way *way)
{
	while (way->count > 0) {
		struct fsq_way_level *level = &way->levels[--way->count];

		if (level->fd >= 0)
			close(level->fd);
		free(level->entries);
	}
	free(way->levels);
	free(way->path);
}

/* --- reading --- */

/* @return   1, 0 at the end of the directory, or a negative errno */
static int refill(struct fsq_way_level *level)
{
	ssize_t got;

	if (level->fd < 0)
		return 0;
	if (level->room < ENTRIES_SIZE) {
		char *larger = realloc(level->entries, ENTRIES_SIZE);

		if (!larger)
			return -ENOMEM;
		level->entries = larger;
		level->room = ENTRIES_SIZE;
	}
	if (level->reopened && lseek(level->fd, level->next, SEEK_SET) < 0)
		return -errno;
	level->reopened = false;
	got = getdents64(level->fd, (void *)level->entries, ENTRIES_SIZE);
	if (got <= 0)
		return got < 0 ? -errno : 0;
	level->size = (size_t)got;
	level->position = 0;
	return 1;
}

int fsq_way_next(struct fsq_way *way, struct dirent64 **entry)
{
	struct fsq_way_level *level = current(way);

	do {
		if (level->position >= level->size) {
			int rc = refill(level);

			if (rc <= 0)
				return rc;
		}
		*entry = (struct dirent64 *)(void *)(level->entries + level->position);
		level->position += (*entry)->d_reclen;
		level->next = (*entry)->d_off;
	} while (strcmp((*entry)->d_name, ".") == 0 || strcmp((*entry)->d_name, "..") == 0);
	return 1;
}
