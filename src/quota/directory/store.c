/* SPDX-License-Identifier: Apache-2.0 */
#include "store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "quota/kernel/openat2.h"
#include "shared/statx.h"

/* How deep stores are searched, in how many directories, and among how many entries. */
#define DEPTH 4
#define DIRECTORIES 300
#define ENTRIES 10000

/*
 * Directories of a store whose subdirectories get IDs, and what proves it: both engines create the device
 * node where they set limits, and the overlay drivers keep short links to their layers in "l".
 */
static const struct home {
	const char *name;
	bool has_links;
} homes[] = { { "overlay2", true }, { "overlay", true }, { "vfs", false }, { "volumes", false } };

static const struct home *home_of_name(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(homes) / sizeof(homes[0]); i++)
		if (strlen(homes[i].name) == length && memcmp(homes[i].name, name, length) == 0)
			return &homes[i];
	return NULL;
}

/*
 * Open an entry on the same filesystem; the engines bind-mount their directories onto themselves. O_PATH
 * neither asks a dead server nor triggers an automount.
 * @return   a descriptor with O_PATH, or -1
 */
static int open_here(int fd, const char *path)
{
	int found = fsq_openat2(fd, path, O_PATH | O_NOFOLLOW | O_CLOEXEC, RESOLVE_NO_SYMLINKS);
	struct statx here, there;

	if (found < 0)
		return -1;
	if (get_statx(fd, "", AT_EMPTY_PATH, STATX_TYPE, &here) == 0 &&
	    get_statx(found, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &there) == 0 &&
	    S_ISDIR(there.stx_mode) && here.stx_dev_major == there.stx_dev_major &&
	    here.stx_dev_minor == there.stx_dev_minor)
		return found;
	close(found);
	return -1;
}

/*
 * @path     from @fd to the directory of that name
 * @return   a descriptor with O_PATH, or -1: it is none
 */
static int open_home(int fd, const char *path, const struct home *home)
{
	int inside = open_here(fd, path);
	struct stat st;

	if (inside < 0)
		return -1;
	if ((fstatat(inside, "backingFsBlockDev", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	     S_ISBLK(st.st_mode)) ||
	    (home->has_links && fstatat(inside, "l", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	     S_ISDIR(st.st_mode)))
		return inside;
	close(inside);
	return -1;
}

/* --- below --- */

struct search {
	fsq_store_visitor visit;
	void *arg;
	const char *path;
	int fd;
	struct statx top;
	/* Directories to be searched, below the first one, in breadth-first order. */
	char *queue[DIRECTORIES];
	int count, entries;
	bool found, stopped;
	int rc; /* 0, or a negative errno, which ends the search */
};

static char *join(struct search *search, const char *above, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", above, name) >= 0)
		return path;
	search->rc = -ENOMEM;
	return NULL;
}

/* @return   whether it is a store */
static bool visit_home(struct search *search, int above, const struct home *home, const char *below)
{
	int fd = open_home(above, home->name, home), readable;
	struct fsq_inode_project project = { 0 };
	char *path;

	if (fd < 0)
		return false;
	search->found = true;
	search->stopped = !search->visit;
	readable = search->visit ? openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (readable >= 0 && fsq_inode_project_get(readable, &project) == 0) {
		path = join(search, strcmp(search->path, "/") ? search->path : "", below + 2);
		if (path)
			search->stopped = search->visit(path, readable, project.id, search->arg) ==
					  FSQ_VISIT_STOP;
		free(path);
	}
	if (readable >= 0)
		close(readable);
	close(fd);
	return true;
}

/* Search a directory if it is on this filesystem and has subdirectories, as its link count says. */
static bool is_worth(const struct search *search, int above, const char *name)
{
	struct statx st;

	return get_statx(above, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC,
			 STATX_TYPE | STATX_NLINK, &st) == 0 &&
	       S_ISDIR(st.stx_mode) && st.stx_nlink != 2 &&
	       st.stx_dev_major == search->top.stx_dev_major &&
	       st.stx_dev_minor == search->top.stx_dev_minor;
}

/* @below    its path from the first one */
static void search_directory(struct search *search, const char *below, int depth)
{
	int fd = fsq_openat2(search->fd, below, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC,
			     RESOLVE_NO_SYMLINKS);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!directory && fd >= 0) {
		search->rc = -errno;
		close(fd);
	}
	while (directory && !search->stopped && search->rc == 0 && search->entries++ < ENTRIES &&
	       (entry = readdir(directory))) {
		const char *name = entry->d_name;
		const struct home *home = home_of_name(name, strlen(name));
		bool deeper;
		char *path;

		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
		    (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN))
			continue;
		deeper = depth < DEPTH && search->count < DIRECTORIES && is_worth(search, fd, name);
		if (!home && !deeper)
			continue;
		path = join(search, below, name);
		if (!path)
			break;
		if ((home && visit_home(search, fd, home, path)) || !deeper)
			free(path);
		else
			search->queue[search->count++] = path;
	}
	if (directory)
		closedir(directory);
}

int fsq_store_each(int fd, const char *path, fsq_store_visitor visit, void *arg)
{
	struct search search = { .visit = visit, .arg = arg, .path = path, .fd = fd };

	if (get_statx(fd, "", AT_EMPTY_PATH, STATX_TYPE, &search.top))
		return 0;
	search_directory(&search, ".", 0);
	for (int i = 0; i < search.count; i++) {
		int depth = 0;

		for (const char *at = search.queue[i]; *at; at++)
			depth += *at == '/';
		if (!search.stopped && search.rc == 0)
			search_directory(&search, search.queue[i], depth);
		free(search.queue[i]);
	}
	return search.rc ? search.rc : search.found;
}

/* --- above --- */

/* Do subdirectories of this directory, or of one above it, get IDs from an engine? @fd  the directory */
static bool is_in_home(int fd, const char *path)
{
	size_t end = strlen(path), up = 0;
	char above[PATH_MAX] = ".";

	while (end > 1) {
		size_t start = end;
		const struct home *home;
		int found;

		while (start > 0 && path[start - 1] != '/')
			start--;
		home = home_of_name(path + start, end - start);
		found = home ? open_home(fd, above, home) : -1;
		if (found >= 0) {
			close(found);
			return true;
		}
		if (start <= 1 || up + sizeof("/..") > sizeof(above))
			break;
		up += (size_t)sprintf(above + up, up ? "/.." : "..");
		end = start - 1;
	}
	return false;
}

int fsq_store_of(const struct fsq_handle *directory, bool filled, enum fsq_store_relation *relation)
{
	int found = filled ? fsq_store_each(directory->target.fd, directory->path, NULL, NULL) : 0;

	*relation = found > 0						? FSQ_STORE_HOLDS
		    : is_in_home(directory->target.fd, directory->path) ? FSQ_STORE_LIES_IN
									: FSQ_STORE_NONE;
	return found < 0 ? found : 0;
}

/*
 * A directory that is mounted onto itself is part of a store on the mount around it. Go up only the path by
 * which it was opened.
 *
 * @up       length of the part of @way that leads up
 * @far      set to it where another filesystem is there
 */
static int open_around(int from, char *way, size_t up, size_t *far)
{
	const char *down = way[up] ? way + up + 1 : ".";
	int top, fd = -1;

	way[up] = '\0';
	top = open_here(from, way);
	if (top < 0)
		*far = up;
	if (top >= 0) {
		fd = fsq_openat2(top, down, O_PATH | O_DIRECTORY | O_CLOEXEC,
				 RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS);
		close(top);
	}
	return fd;
}

/* Walk from one directory to the other without entering another mount, which may hang. */
int fsq_store_open(const struct fsq_handle *from, const char *path, size_t *far)
{
	const char *start = from->path, *rest = path;
	char way[PATH_MAX] = ".";
	size_t length = 1, same = 0, i = 0, up;
	int fd = -1, above, store;
	bool found = false;

	/* Find how much of both paths is the same. */
	for (; start[i] && start[i] == path[i]; i++)
		if (start[i] == '/')
			same = i;
	if (!start[i] && path[i] == '/')
		same = i;
	for (i = same; start[i]; i++)
		if (start[i] == '/' && length + sizeof("/..") < sizeof(way))
			length += (size_t)sprintf(way + length, "/..");
	rest += same;
	up = length;
	if (up >= *far || path[0] != '/' ||
	    length + strlen(rest) + sizeof("/overlay2/l") > sizeof(way))
		return -1;
	strcpy(way + length, rest);
	length += strlen(rest);
	for (i = 0; homes[i].has_links && !found; i++) {
		sprintf(way + length, "/%s/l", homes[i].name);
		fd = fsq_openat2(from->target.fd, way, O_PATH | O_DIRECTORY | O_CLOEXEC,
				 RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS);
		/* The directory may be mounted onto itself. */
		found = fd >= 0 || fd == -EXDEV;
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
	way[length - strlen(strrchr(path, '/'))] = '\0';
	above = !found ? -1
		       : fsq_openat2(from->target.fd, way, O_PATH | O_DIRECTORY | O_CLOEXEC,
				     RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS);
	if (above == -EXDEV)
		above = open_around(from->target.fd, way, up, far);
	if (above < 0)
		return -1;
	store = open_here(above, strrchr(path, '/') + 1);
	close(above);
	for (i = 0; store >= 0 && fd < 0 && homes[i].has_links; i++) {
		int home = open_home(store, homes[i].name, &homes[i]);

		if (home < 0)
			continue;
		close(home);
		fd = openat(store, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	if (store >= 0)
		close(store);
	return fd;
}
