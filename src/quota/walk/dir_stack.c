/* SPDX-License-Identifier: Apache-2.0 */
#include "dir_stack.h"

#include <errno.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "quota/kernel/openat2.h"
#include "shared/array.h"

#define ENTRIES_SIZE (32 * 1024)

struct fsq_dir_level {
	int fd; /* -1 while closed to save descriptors */
	dev_t dev;
	ino_t ino;
	char *entries; /* what getdents64(2) returned, and the position in it */
	size_t capacity;
	size_t size;
	size_t position;
	off_t next; /* where a new descriptor reads on */
	bool reopened;
	size_t path_length;
};

static struct fsq_dir_level *current(const struct fsq_dir_stack *stack)
{
	return &stack->levels[stack->count - 1];
}

/* --- the path --- */

static int set_path(struct fsq_dir_stack *stack, size_t directory_length, const char *name)
{
	bool slash = directory_length > 0 && stack->path[directory_length - 1] != '/';
	size_t length = directory_length + slash + strlen(name);

	if (length >= stack->path_size) {
		char *larger = realloc(stack->path, 2 * length + 1);

		if (!larger)
			return -ENOMEM;
		stack->path = larger;
		stack->path_size = 2 * length + 1;
	}
	if (slash)
		stack->path[directory_length++] = '/';
	strcpy(stack->path + directory_length, name);
	return 0;
}

int fsq_dir_stack_init(struct fsq_dir_stack *stack, const char *path)
{
	size_t length;
	int rc = set_path(stack, 0, path);

	if (rc)
		return rc;
	length = strlen(stack->path);
	while (length > 1 && stack->path[length - 1] == '/')
		stack->path[--length] = '\0';
	return 0;
}

int fsq_dir_stack_append_name(struct fsq_dir_stack *stack, const char *name)
{
	return set_path(stack, current(stack)->path_length, name);
}

void fsq_dir_stack_strip_name(struct fsq_dir_stack *stack)
{
	stack->path[current(stack)->path_length] = '\0';
}

/* --- opening --- */

static void close_level(struct fsq_dir_level *level)
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
			level->capacity = left;
		}
	} else {
		free(level->entries);
		level->entries = NULL;
		level->capacity = 0;
	}
	level->size = left;
	level->position = 0;
}

static int open_in(int fd, const char *name, int flags)
{
	return fsq_openat2(fd, name, flags,
			   RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH);
}

/* Close the highest open level below the root. @return  false when only the current one is open */
static bool close_one(struct fsq_dir_stack *stack)
{
	for (size_t i = 1; i + 1 < stack->count; i++)
		if (stack->levels[i].fd >= 0) {
			close_level(&stack->levels[i]);
			return true;
		}
	return false;
}

int fsq_dir_stack_open(struct fsq_dir_stack *stack, const char *name, int flags)
{
	int fd;

	do
		fd = open_in(current(stack)->fd, name, flags);
	while ((fd == -EMFILE || fd == -ENFILE) && close_one(stack));
	return fd;
}

int fsq_dir_stack_fd(const struct fsq_dir_stack *stack)
{
	return current(stack)->fd;
}

int fsq_dir_stack_root_fd(const struct fsq_dir_stack *stack)
{
	return stack->levels[0].fd;
}

dev_t fsq_dir_stack_dev(const struct fsq_dir_stack *stack)
{
	return current(stack)->dev;
}

/* Open a level again by its name in the level above. @return  a descriptor, -1 if it was moved */
static int open_again(struct fsq_dir_stack *stack, int above_fd, size_t at)
{
	const struct fsq_dir_level *level = &stack->levels[at];
	size_t start = level[-1].path_length;
	struct stat st;
	char *name;
	int fd;

	start += stack->path[start] == '/';
	name = strndup(stack->path + start, level->path_length - start);
	fd = name ? open_in(above_fd, name, FSQ_DIR_STACK_OPEN_FLAGS | O_DIRECTORY) : -1;
	/* A mount onto itself shows the same directory: see open_covered() in tree_walk.c. */
	if (fd == -EXDEV)
		fd = openat(above_fd, name, FSQ_DIR_STACK_OPEN_FLAGS | O_DIRECTORY);
	free(name);
	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == level->dev && st.st_ino == level->ino)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Open a level again from the deepest open one above it. @return  a descriptor, or -1 */
static int find_again(struct fsq_dir_stack *stack, size_t wanted)
{
	size_t at = wanted;
	int fd;

	while (stack->levels[at].fd < 0)
		at--;
	fd = stack->levels[at].fd;
	while (at < wanted && fd >= 0) {
		int next = open_again(stack, fd, at + 1);

		if (fd != stack->levels[at].fd)
			close(fd);
		fd = next;
		at++;
	}
	return fd;
}

bool fsq_dir_stack_reopen(struct fsq_dir_stack *stack, int root_fd)
{
	int *fds = calloc(stack->count, sizeof(*fds));
	size_t opened = 0;
	bool moved;

	for (int fd = root_fd; fds && fd >= 0;) {
		fds[opened++] = fd;
		fd = opened < stack->count ? open_again(stack, fd, opened) : -1;
	}
	moved = opened == stack->count;
	for (size_t i = 0; i < opened; i++) {
		struct fsq_dir_level *level = &stack->levels[i];

		if (!moved || level->fd < 0) {
			close(fds[i]);
			continue;
		}
		close(level->fd);
		level->fd = fds[i];
		level->reopened = true;
	}
	if (!fds)
		close(root_fd);
	free(fds);
	return moved;
}

/* --- down and up --- */

int fsq_dir_stack_push(struct fsq_dir_stack *stack, int fd, dev_t dev, ino_t ino)
{
	struct fsq_dir_level *levels =
		array_grow(stack->levels, stack->count, &stack->capacity, sizeof(*levels));

	if (!levels)
		return -ENOMEM;
	stack->levels = levels;
	stack->levels[stack->count++] = (struct fsq_dir_level){
		.fd = fd,
		.dev = dev,
		.ino = ino,
		.path_length = strlen(stack->path),
	};
	if (stack->count > FSQ_DIR_STACK_MAX_OPEN)
		close_level(&stack->levels[stack->count - FSQ_DIR_STACK_MAX_OPEN]);
	return 0;
}

bool fsq_dir_stack_pop(struct fsq_dir_stack *stack)
{
	struct fsq_dir_level *level = current(stack), *above = level - 1;
	bool is_closed = --stack->count > 0 && above->fd < 0;
	struct stat st;
	int up = -1;

	if (is_closed && level->fd >= 0)
		up = openat(level->fd, "..", FSQ_DIR_STACK_OPEN_FLAGS | O_DIRECTORY);
	if (up >= 0 && (fstat(up, &st) || st.st_dev != above->dev || st.st_ino != above->ino)) {
		close(up);
		up = -1;
	}
	if (level->fd >= 0)
		close(level->fd);
	free(level->entries);
	if (is_closed) {
		above->fd = up >= 0 ? up : find_again(stack, stack->count - 1);
		above->reopened = true;
		if (above->fd < 0)
			above->size = above->position = 0;
	}
	return stack->count == 0 || above->fd >= 0;
}

void fsq_dir_stack_free(struct fsq_dir_stack *stack)
{
	while (stack->count > 0) {
		struct fsq_dir_level *level = &stack->levels[--stack->count];

		if (level->fd >= 0)
			close(level->fd);
		free(level->entries);
	}
	free(stack->levels);
	free(stack->path);
}

/* --- reading --- */

/* @return   1, 0 at the end of the directory, or a negative errno */
static int refill(struct fsq_dir_level *level)
{
	ssize_t got;

	if (level->fd < 0)
		return 0;
	if (level->capacity < ENTRIES_SIZE) {
		char *larger = realloc(level->entries, ENTRIES_SIZE);

		if (!larger)
			return -ENOMEM;
		level->entries = larger;
		level->capacity = ENTRIES_SIZE;
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

int fsq_dir_stack_next_entry(struct fsq_dir_stack *stack, struct dirent64 **entry)
{
	struct fsq_dir_level *level = current(stack);

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
