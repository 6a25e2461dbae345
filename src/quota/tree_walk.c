/* SPDX-License-Identifier: Apache-2.0 */
#include "tree_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "syscalls.h"

/* This many directories stay open; above, one is closed for each that is entered. */
#define MAX_OPEN 64
#define ENTRIES_SIZE (32 * 1024)
#define OPEN_FLAGS (O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

/* A directory on the way from the root to where the walk is. */
struct level {
	int fd; /* -1 while closed to save descriptors */
	dev_t dev;
	ino_t ino;
	uint64_t mount_id; /* 0 until it is needed */
	char *entries;	   /* what getdents64(2) gave, and where we are in it */
	size_t size;
	size_t position;
	off_t next; /* where a new descriptor has to read on */
	bool reopened;
	size_t path_length;
};

struct walk {
	fsq_walk_visitor visit;
	void *arg;
	int max_depth;
	bool no_openat2;
	bool files_closed;
	struct level *levels;
	size_t count, allocated;
	char *path;
	size_t path_size;
	const char *name; /* of the entry being visited, NULL outside of one */
};

static int report(struct walk *walk, enum fsq_walk_kind kind, int fd, int errnum)
{
	struct fsq_walk_entry entry = {
		.kind = kind,
		.path = walk->path,
		.fd = fd,
		.errnum = errnum,
		.depth = (int)walk->count,
		.parent = -1,
	};
	int rc;

	if (walk->count > 0 && walk->name) {
		entry.parent = walk->levels[walk->count - 1].fd;
		entry.name = walk->name;
	}
	rc = walk->visit(&entry, walk->arg);

	/* Only a directory can be pruned; of anything else there is nothing to enter. */
	return rc == FSQ_WALK_PRUNE && kind != FSQ_WALK_DIRECTORY ? 0 : rc;
}

static int set_path(struct walk *walk, size_t directory_length, const char *name)
{
	bool slash = directory_length > 0 && walk->path[directory_length - 1] != '/';
	size_t length = directory_length + slash + strlen(name);

	if (length >= walk->path_size) {
		char *larger = realloc(walk->path, 2 * length + 1);

		if (!larger)
			return -ENOMEM;
		walk->path = larger;
		walk->path_size = 2 * length + 1;
	}
	if (slash)
		walk->path[directory_length++] = '/';
	strcpy(walk->path + directory_length, name);
	return 0;
}

static uint64_t mount_id_of(int fd)
{
	struct statx stx;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &stx) || !(stx.stx_mask & STATX_MNT_ID))
		return 0;
	return stx.stx_mnt_id;
}

/*
 * Open an entry of a directory, unless it is a symlink or leads to another mount.
 * @return   a descriptor or a negative errno: -EXDEV another mount, -ELOOP a symlink
 */
static int open_entry(struct walk *walk, struct level *parent, const char *name, int flags)
{
	struct open_how how = {
		.flags = (unsigned int)(OPEN_FLAGS | flags),
		.resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH,
	};
	struct stat st;
	int fd;

	if (!walk->no_openat2) {
		fd = (int)syscall(SYS_openat2, parent->fd, name, &how, sizeof(how));
		if (fd >= 0)
			return fd;
		if (errno != ENOSYS && errno != EPERM)
			return -errno;
		/* Before Linux 5.6, or forbidden by a seccomp filter that does not know it. */
		walk->no_openat2 = true;
	}
	if (!parent->mount_id)
		parent->mount_id = mount_id_of(parent->fd);
	fd = openat(parent->fd, name, OPEN_FLAGS | flags);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && st.st_dev == parent->dev && mount_id_of(fd) == parent->mount_id)
		return fd;
	close(fd);
	return -EXDEV;
}

static bool is_special(mode_t mode)
{
	return !S_ISREG(mode) && !S_ISDIR(mode);
}

static int push(struct walk *walk, int fd, const struct stat *st)
{
	if (walk->count == walk->allocated) {
		size_t wanted = walk->allocated ? 2 * walk->allocated : 8;
		struct level *larger = reallocarray(walk->levels, wanted, sizeof(*larger));

		if (!larger)
			return -ENOMEM;
		walk->levels = larger;
		walk->allocated = wanted;
	}
	walk->levels[walk->count] = (struct level){
		.fd = fd,
		.dev = st->st_dev,
		.ino = st->st_ino,
		.path_length = strlen(walk->path),
	};
	walk->count++;
	/* The root stays open, to be found again whatever happens below it. */
	if (walk->count > MAX_OPEN) {
		struct level *far = &walk->levels[walk->count - MAX_OPEN];
		size_t left = far->size - far->position;
		char *smaller;

		close(far->fd);
		far->fd = -1;
		if (left > 0) {
			memmove(far->entries, far->entries + far->position, left);
			smaller = realloc(far->entries, left);
			if (smaller)
				far->entries = smaller;
		} else {
			free(far->entries);
			far->entries = NULL;
		}
		far->size = left;
		far->position = 0;
	}
	return 0;
}

/*
 * Open a directory of ours again from the deepest one above it that is open, name by name. It is
 * the same, or somebody has moved it.
 * @return   a descriptor, or -1
 */
static int open_again(struct walk *walk, size_t wanted)
{
	size_t at = wanted;
	struct level from;

	while (walk->levels[at].fd < 0)
		at--;
	from = walk->levels[at];
	while (at < wanted) {
		const struct level *next = &walk->levels[at + 1];
		size_t start = walk->levels[at].path_length;
		struct level found = { .dev = next->dev };
		struct stat st;
		char *name;

		start += walk->path[start] == '/';
		name = strndup(walk->path + start, next->path_length - start);
		found.fd = name ? open_entry(walk, &from, name, O_DIRECTORY) : -ENOMEM;
		free(name);
		if (from.fd != walk->levels[at].fd)
			close(from.fd);
		if (found.fd < 0)
			return -1;
		if (fstat(found.fd, &st) || st.st_dev != next->dev || st.st_ino != next->ino) {
			close(found.fd);
			return -1;
		}
		from = found;
		at++;
	}
	return from.fd;
}

/* Leave the current directory; its parent is opened again if it was closed. */
static int pop(struct walk *walk)
{
	struct level *level = &walk->levels[--walk->count];
	int up = -1;
	int rc = report(walk, FSQ_WALK_LEAVE, -1, 0);

	if (walk->count > 0 && level[-1].fd < 0) {
		struct level *parent = &level[-1];
		struct stat st;

		up = level->fd < 0 ? -1 : openat(level->fd, "..", OPEN_FLAGS | O_DIRECTORY);
		if (up >= 0 && fstat(up, &st) == 0 && st.st_dev == parent->dev &&
		    st.st_ino == parent->ino) {
			parent->fd = up;
			parent->reopened = true;
		} else {
			/* Somebody moved a directory. If it was the parent, what is left of it is
			 * lost. */
			if (up >= 0)
				close(up);
			parent->fd = open_again(walk, walk->count - 1);
			parent->reopened = parent->fd >= 0;
		}
		if (parent->fd < 0) {
			parent->size = parent->position = 0;
			walk->path[parent->path_length] = '\0';
			if (rc == 0)
				rc = report(walk, FSQ_WALK_NO_OPEN, -1, ESTALE);
		}
	}
	if (level->fd >= 0)
		close(level->fd);
	free(level->entries);
	return rc;
}

/*
 * The next entry of a directory.
 * @return   1, 0 at the end, or a negative errno
 */
static int next_entry(struct level *level, struct dirent64 **entry)
{
	do {
		if (level->position >= level->size) {
			ssize_t got;

			if (level->fd < 0)
				return 0;
			if (!level->entries || level->size < ENTRIES_SIZE) {
				char *buffer = realloc(level->entries, ENTRIES_SIZE);

				if (!buffer)
					return -ENOMEM;
				level->entries = buffer;
			}
			if (level->reopened && lseek(level->fd, level->next, SEEK_SET) < 0)
				return -errno;
			level->reopened = false;
			got = getdents64(level->fd, (void *)level->entries, ENTRIES_SIZE);
			if (got <= 0)
				return got < 0 ? -errno : 0;
			level->size = (size_t)got;
			level->position = 0;
		}
		*entry = (struct dirent64 *)(void *)(level->entries + level->position);
		level->position += (*entry)->d_reclen;
		level->next = (*entry)->d_off;
	} while (strcmp((*entry)->d_name, ".") == 0 || strcmp((*entry)->d_name, "..") == 0);
	return 1;
}

/* An entry that could not be opened: say what it is, or why. */
static int visit_unopened(struct walk *walk, int dirfd, const char *name, int errnum)
{
	struct stat st;

	if (errnum == EXDEV)
		return 0;
	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW))
		return report(walk, FSQ_WALK_NO_STAT, -1, errno);
	if (is_special(st.st_mode))
		return report(walk, FSQ_WALK_SPECIAL, -1, 0);
	return report(walk, FSQ_WALK_NO_OPEN, -1, errnum);
}

static int visit_directory(struct walk *walk, int fd)
{
	struct stat st;
	int rc;

	if (fstat(fd, &st)) {
		rc = report(walk, FSQ_WALK_NO_STAT, -1, errno);
		close(fd);
		return rc;
	}
	rc = report(walk, FSQ_WALK_DIRECTORY, fd, 0);
	if (rc == 0 && (walk->max_depth < 0 || walk->count < (size_t)walk->max_depth))
		rc = push(walk, fd, &st);
	else
		close(fd);
	return rc == FSQ_WALK_PRUNE ? 0 : rc;
}

static int visit_entry(struct walk *walk, const struct dirent64 *entry)
{
	struct level *level = &walk->levels[walk->count - 1];
	const char *name = entry->d_name;
	unsigned char type = entry->d_type;
	int fd, rc;

	rc = set_path(walk, level->path_length, name);
	if (rc)
		return rc;
	if (type == DT_UNKNOWN) {
		struct stat st;

		if (fstatat(level->fd, name, &st, AT_SYMLINK_NOFOLLOW))
			return report(walk, FSQ_WALK_NO_STAT, -1, errno);
		type = (unsigned char)IFTODT(st.st_mode);
	}
	if (type != DT_DIR && type != DT_REG)
		return report(walk, FSQ_WALK_SPECIAL, -1, 0);
	if (type == DT_REG && walk->files_closed)
		return report(walk, FSQ_WALK_FILE, -1, 0);
	fd = open_entry(walk, level, name, type == DT_DIR ? O_DIRECTORY : 0);
	if (fd < 0)
		return visit_unopened(walk, level->fd, name, -fd);
	if (type == DT_DIR)
		return visit_directory(walk, fd);
	rc = report(walk, FSQ_WALK_FILE, fd, 0);
	close(fd);
	return rc;
}

static int visit_root(struct walk *walk)
{
	struct stat st;
	int fd, rc;

	if (lstat(walk->path, &st))
		return report(walk, FSQ_WALK_NO_STAT, -1, errno);
	if (is_special(st.st_mode))
		return report(walk, FSQ_WALK_SPECIAL, -1, 0);
	fd = open(walk->path, OPEN_FLAGS);
	if (fd < 0)
		return report(walk, errno == ELOOP ? FSQ_WALK_SPECIAL : FSQ_WALK_NO_OPEN, -1,
			      errno);
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
		return visit_directory(walk, fd);
	rc = is_special(st.st_mode) ? report(walk, FSQ_WALK_SPECIAL, -1, 0)
				    : report(walk, FSQ_WALK_FILE, fd, 0);
	close(fd);
	return rc;
}

/* A directory that is open already; the walk reads it by a descriptor of its own. */
static int visit_open_root(struct walk *walk, int root_fd)
{
	int fd = openat(root_fd, ".", OPEN_FLAGS | O_DIRECTORY);

	if (fd < 0)
		return report(walk, FSQ_WALK_NO_OPEN, -1, errno);
	return visit_directory(walk, fd);
}

static int walk_all(struct walk *walk, int root_fd, const char *root)
{
	size_t length;
	int rc = set_path(walk, 0, root);

	if (rc)
		return rc;
	length = strlen(walk->path);
	while (length > 1 && walk->path[length - 1] == '/')
		walk->path[--length] = '\0';
	rc = root_fd < 0 ? visit_root(walk) : visit_open_root(walk, root_fd);
	while (rc == 0 && walk->count > 0) {
		struct level *level = &walk->levels[walk->count - 1];
		struct dirent64 *entry = NULL;
		int more = next_entry(level, &entry);

		if (more > 0) {
			walk->name = entry->d_name;
			rc = visit_entry(walk, entry);
			walk->name = NULL;
			continue;
		}
		walk->path[level->path_length] = '\0';
		if (more < 0) {
			rc = more == -ENOMEM ? more : report(walk, FSQ_WALK_NO_OPEN, -1, -more);
		}
		if (rc == 0)
			rc = pop(walk);
	}
	return rc;
}

static int walk_and_free(struct walk *walk, int root_fd, const char *root, struct fsq_error *err)
{
	int rc = walk_all(walk, root_fd, root);

	while (walk->count > 0) {
		struct level *level = &walk->levels[--walk->count];

		if (level->fd >= 0)
			close(level->fd);
		free(level->entries);
	}
	free(walk->levels);
	free(walk->path);
	if (rc == -ENOMEM)
		return fsq_fail(err, FSQ_E_FAILED, ENOMEM, root, "cannot walk the tree");
	return rc;
}

int fsq_tree_walk(const char *root, int max_depth, fsq_walk_visitor visit, void *arg,
		  struct fsq_error *err)
{
	struct walk walk = { .visit = visit, .arg = arg, .max_depth = max_depth };

	return walk_and_free(&walk, -1, root, err);
}

int fsq_tree_walk_at(int root_fd, const char *root, bool files_closed, fsq_walk_visitor visit,
		     void *arg, struct fsq_error *err)
{
	struct walk walk = { .visit = visit,
			     .arg = arg,
			     .max_depth = FSQ_WALK_INFINITE,
			     .files_closed = files_closed };

	return walk_and_free(&walk, root_fd, root, err);
}
