/* SPDX-License-Identifier: Apache-2.0 */
#include "lookup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <libgen.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "quota/base/error.h"
#include "quota/base/path.h"
#include "quota/kernel/compat.h"
#include "quota/kernel/openat2.h"
#include "shared/array.h"
#include "shared/sort.h"
#include "shared/statx.h"

/* How many symlinks the kernel follows in a path. */
#define LINKS_MAX 40

#define PART_FLAGS (O_PATH | O_NOFOLLOW | O_CLOEXEC)

/* Who can change what is in a directory, and in those above it. */
enum trust {
	NOBODY,	    /* others than root and the caller */
	OWN_OF_ALL, /* everybody, but not what is another one's: it is sticky */
	ROOT,	    /* root and the caller alone */
};

/* How far a path was gone. */
struct way {
	const struct fsq_mount_points *points;
	int at;		     /* O_PATH, of a directory */
	char done[PATH_MAX]; /* without symlinks; "" is "/", and "." where a relative path begins */
	size_t length;	     /* of it */
	char rest[2 * PATH_MAX];
	char *next;	  /* in @rest */
	enum trust trust; /* of @at */
	dev_t dev;	  /* of @at */
	int links;	  /* that were followed */
	bool is_link;	  /* it ends at one that is not followed */
};

/* --- part by part --- */

static dev_t dev_of(const struct statx *stx)
{
	return makedev(stx->stx_dev_major, stx->stx_dev_minor);
}

static bool is_ours(const struct statx *stx)
{
	return stx->stx_uid == 0 || stx->stx_uid == geteuid();
}

static enum trust trust_in(const struct way *way, const struct statx *stx)
{
	if (!is_ours(stx) || way->trust == NOBODY)
		return NOBODY;
	if (!(stx->stx_mode & (S_IWGRP | S_IWOTH)))
		return ROOT;
	/* A user has chosen his group, and has no rights but his own. */
	if (!(stx->stx_mode & S_IWOTH) && stx->stx_uid != 0)
		return ROOT;
	return stx->stx_mode & S_ISVTX ? OWN_OF_ALL : NOBODY;
}

/* Without a mount it is on that of "/", which the kernel does not list in a chroot. */
static bool is_local(const struct fsq_mount_points *points, const struct fsq_mount *mount)
{
	return mount ? mount->is_local : !points->root;
}

/*
 * Is a file that was opened on the mount that the table has there? The filesystem is not asked: it may not answer.
 *
 * @return  0; -EXDEV no; or a negative errno
 */
static int check_mount(const struct fsq_mount_points *points, const struct fsq_mount *mount, int fd)
{
	const uint64_t id = mount ? mount->id : points->root_id;
	struct statx stx;

	if (get_statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &stx))
		return -errno;
	return !(stx.stx_mask & STATX_MNT_ID) || id == 0 || stx.stx_mnt_id == id ? 0 : -EXDEV;
}

/* The text of the way, with @name behind it. */
static int append(struct way *way, const char *name)
{
	size_t length = strlen(name);

	if (way->length + 1 + length >= sizeof(way->done))
		return -ENAMETOOLONG;
	way->done[way->length++] = '/';
	memcpy(way->done + way->length, name, length + 1);
	way->length += length;
	return 0;
}

static void cut(struct way *way)
{
	while (way->length && way->done[--way->length] != '/')
		;
	way->done[way->length] = '\0';
}

/* Open the next part, whatever it is. @return a descriptor or a negative errno */
static int open_part(struct way *way, const char *name, struct statx *stx)
{
	const bool is_up = strcmp(name, "..") == 0;
	const struct fsq_mount *mount = NULL;
	int fd, rc = 0;

	if (is_up && way->points)
		cut(way);
	else
		rc = append(way, name);
	if (rc)
		return rc;
	if (way->points) {
		mount = fsq_mount_points_get(way->points, way->length ? way->done : "/");
		if (!is_local(way->points, mount))
			return -EXDEV;
	}
	fd = openat(way->at, name, PART_FLAGS);
	if (fd < 0)
		return -errno;
	if (way->points)
		rc = check_mount(way->points, mount, fd);
	if (rc == 0 && get_statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, stx))
		rc = -errno;
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

static void go_into(struct way *way, int fd, const struct statx *stx)
{
	const bool crosses = dev_of(stx) != way->dev;
	struct statfs sfs;

	way->trust = trust_in(way, stx);
	if (crosses && way->trust != NOBODY &&
	    (fstatfs(fd, &sfs) || sfs.f_type == FUSE_SUPER_MAGIC))
		way->trust = NOBODY;
	way->dev = dev_of(stx);
	if (way->at >= 0)
		close(way->at);
	way->at = fd;
}

static int go_to_root(struct way *way)
{
	struct statx stx;
	int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), rc;

	if (fd < 0)
		return -errno;
	if (get_statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &stx)) {
		rc = -errno;
		close(fd);
		return rc;
	}
	way->length = 0;
	way->done[0] = '\0';
	way->trust = ROOT;
	way->dev = dev_of(&stx);
	go_into(way, fd, &stx);
	return 0;
}

static bool is_of_proc(const struct way *way)
{
	struct statfs sfs;

	return !way->points && fstatfs(way->at, &sfs) == 0 && sfs.f_type == PROC_SUPER_MAGIC;
}

/* @link     at the end of the way */
static int follow(struct way *way, int link, const struct statx *stx)
{
	char target[PATH_MAX], joined[2 * PATH_MAX];
	ssize_t length;

	way->is_link = !is_ours(stx) ? way->trust != ROOT : way->trust == NOBODY;
	if (way->is_link || ++way->links > LINKS_MAX)
		return -ELOOP;
	length = readlinkat(link, "", target, sizeof(target) - 1);
	if (length <= 0)
		return length ? -errno : -ENOENT;
	target[length] = '\0';
	if ((size_t)snprintf(joined, sizeof(joined), "%s/%s", target, way->next) >= sizeof(joined))
		return -ENAMETOOLONG;
	way->next = strcpy(way->rest, joined);
	cut(way);
	return target[0] == '/' ? go_to_root(way) : 0;
}

/* A link of /proc leads to what is open, whatever its text says. */
static int follow_link_of_proc(const struct way *way, const char *name, struct statx *stx)
{
	int fd = openat(way->at, name, O_PATH | O_CLOEXEC), rc;

	if (fd < 0)
		return -errno;
	if (get_statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, stx) == 0)
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

/*
 * @follows_last  follow a symlink at the end, else open it
 * @stx      filled, at least the type
 * @return   what is at the end, O_PATH, or a negative errno
 */
static int go(struct way *way, bool follows_last, struct statx *stx)
{
	while (*(way->next += strspn(way->next, "/"))) {
		char *name = strsep(&way->next, "/");
		bool is_last;
		int fd, rc;

		way->next = way->next ? way->next : name + strlen(name);
		is_last = way->next[strspn(way->next, "/")] == '\0';
		if (strcmp(name, ".") == 0)
			continue;
		fd = open_part(way, name, stx);
		if (fd >= 0 && S_ISLNK(stx->stx_mode) && (follows_last || !is_last) &&
		    is_of_proc(way)) {
			close(fd);
			fd = follow_link_of_proc(way, name, stx);
		}
		if (fd < 0)
			return fd;
		if (S_ISDIR(stx->stx_mode)) {
			go_into(way, fd, stx);
			continue;
		}
		if (is_last && !(follows_last && S_ISLNK(stx->stx_mode)))
			return fd;
		rc = S_ISLNK(stx->stx_mode) ? follow(way, fd, stx) : -ENOTDIR;
		close(fd);
		if (rc)
			return rc;
	}
	stx->stx_mode = S_IFDIR;
	return fcntl(way->at, F_DUPFD_CLOEXEC, 0);
}

static int begin(struct way *way, const struct fsq_mount_points *points, const char *path)
{
	struct statx stx;

	way->points = points;
	way->at = -1;
	way->next = way->rest;
	way->links = 0;
	way->is_link = false;
	if (strlen(path) >= PATH_MAX)
		return -ENAMETOOLONG;
	strcpy(way->rest, path);
	if (path[0] == '/')
		return go_to_root(way);
	strcpy(way->done, ".");
	way->length = 1;
	way->at = *path ? open(".", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	if (way->at < 0 || get_statx(way->at, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &stx))
		return *path ? -errno : -ENOENT;
	way->trust = ROOT;
	way->trust = trust_in(way, &stx);
	way->dev = dev_of(&stx);
	return 0;
}

static void end(struct way *way)
{
	if (way->at >= 0)
		close(way->at);
}

/* --- opening --- */

static int fail_way(const struct way *way, int rc, const char *path, struct fsq_error *err)
{
	if (rc == -ELOOP && way->is_link)
		fsq_fail(err, FSQ_E_CONFLICT, ELOOP, path,
			 "leads over the symlink %.200s, which others than root can change",
			 way->done);
	else if (rc == -EXDEV)
		fsq_fail(err, FSQ_E_NOT_SUPPORTED, EXDEV, path,
			 "is not looked at: what is mounted at or above %.200s may not answer",
			 way->done);
	else
		fsq_fail_errno(err, -rc, path, "cannot open");
	return rc;
}

static int fail_at_end(const char *path, const struct statx *stx, int flags, struct fsq_error *err)
{
	const bool is_link = S_ISLNK(stx->stx_mode);

	fsq_fail(err, FSQ_E_USAGE, 0, path, "is %s: name %s",
		 is_link ? "a symlink" : "not a directory",
		 flags & O_DIRECTORY ? "the directory itself" : "what it leads to");
	return is_link ? -ELOOP : -ENOTDIR;
}

/* @file     O_PATH. @return it, opened with @flags, or a negative errno */
static int reopen(const struct way *way, int file, const struct statx *stx, int flags)
{
	int fd;

	if (flags & O_PATH)
		return file;
	if (S_ISDIR(stx->stx_mode))
		fd = openat(file, ".", flags & ~O_NOFOLLOW);
	else
		fd = openat(way->at, strrchr(way->done, '/') + 1, flags | O_NOFOLLOW);
	fd = fd < 0 ? -errno : fd;
	close(file);
	return fd;
}

static int open_by_parts(const struct fsq_mount_points *points, const char *path, int flags,
			 struct fsq_error *err)
{
	struct statx stx;
	struct way way;
	int rc = begin(&way, points, path);
	int fd = rc ? rc : go(&way, !(flags & O_NOFOLLOW), &stx);

	if (fd >= 0 && ((S_ISLNK(stx.stx_mode) && !(flags & O_PATH)) ||
			(!S_ISDIR(stx.stx_mode) && (flags & O_DIRECTORY)))) {
		close(fd);
		fd = fail_at_end(path, &stx, flags, err);
	} else {
		fd = fd < 0 ? fd : reopen(&way, fd, &stx, flags);
		if (fd < 0)
			fail_way(&way, fd, path, err);
	}
	end(&way);
	return fd;
}

/* A descriptor of a mount, to keep. The last one is: lists name many paths on one mount. */
static int open_mount(const struct fsq_mount_points *points, const struct fsq_mount *mount)
{
	struct fsq_mount_anchor *anchor = points->anchor;
	int rc;

	if (anchor->mount == mount)
		return anchor->fd;
	if (anchor->mount)
		close(anchor->fd);
	anchor->mount = NULL;
	anchor->fd = fsq_openat2(AT_FDCWD, mount->directory, O_PATH | O_DIRECTORY | O_CLOEXEC,
				 RESOLVE_NO_SYMLINKS);
	rc = anchor->fd < 0 ? anchor->fd : check_mount(points, mount, anchor->fd);
	if (rc && anchor->fd >= 0)
		close(anchor->fd);
	if (rc)
		return rc;
	anchor->mount = mount;
	return anchor->fd;
}

/* Most paths have no symlink. @return a descriptor; or a negative errno, for which there may be another reason */
static int open_at_once(const struct fsq_mount_points *points, const char *path, int flags)
{
	const struct fsq_mount *mount;
	const char *below;
	int fd;

	if (!points)
		return fsq_openat2(AT_FDCWD, path, flags, RESOLVE_NO_SYMLINKS);
	if (path[0] != '/')
		return -ENOENT;
	mount = fsq_mount_points_get(points, path);
	if (!mount || !mount->is_local)
		return -EXDEV;
	fd = open_mount(points, mount);
	if (fd < 0)
		return fd;
	below = fsq_path_below(mount->directory, path, strlen(path));
	return fsq_openat2(fd, *below ? below : ".", *below ? flags : flags & ~O_NOFOLLOW,
			   RESOLVE_BENEATH | RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS);
}

int fsq_lookup_real(const struct fsq_mount_points *points, const char *path, int flags,
		    bool *is_real, struct fsq_error *err)
{
	int fd = open_at_once(points, path, flags | O_CLOEXEC);

	*is_real = fd >= 0;
	if (fd == -ELOOP || fd == -EXDEV || fd == -ENOTDIR || fd == -ENOSYS)
		fd = open_by_parts(points, path, flags | O_CLOEXEC, err);
	else if (fd < 0)
		fsq_fail_errno(err, -fd, path, "cannot open");
	return fd;
}

int fsq_lookup(const struct fsq_mount_points *points, const char *path, int flags,
	       struct fsq_error *err)
{
	bool unused;

	return fsq_lookup_real(points, path, flags, &unused, err);
}

int fsq_lookup_stat(const struct fsq_mount_points *points, const char *path, int flags,
		    struct stat *st, struct fsq_error *err)
{
	int fd = fsq_lookup(points, path, flags | O_PATH, err), rc;

	if (fd < 0)
		return fd;
	rc = fstat(fd, st) ? -errno : 0;
	close(fd);
	return rc ? fsq_fail_errno(err, -rc, path, "cannot read"), rc : 0;
}

int fsq_lookup_project(const struct fsq_mount_points *points, const char *path,
		       struct fsq_inode_project *project)
{
	int fd = fsq_lookup(points, path, FSQ_LOOKUP_READ | O_DIRECTORY, NULL), rc;

	if (fd < 0)
		return fd;
	rc = fsq_inode_project_get(fd, project);
	close(fd);
	return rc;
}

int fsq_name_open(struct fsq_name *name, const struct fsq_mount_points *points, const char *path,
		  struct fsq_error *err)
{
	char *copy = strdup(path), *other = strdup(path), *above = NULL;
	int rc = -ENOMEM;

	*name = (struct fsq_name){ .parent = -1 };
	if (copy && other)
		rc = name->parent = fsq_lookup(points, dirname(copy), O_RDONLY | O_DIRECTORY, err);
	if (rc < 0)
		goto out;
	rc = -ENOMEM;
	name->name = strdup(basename(other));
	above = fsq_fd_path(name->parent);
	if (!name->name || !above)
		goto out;
	if (asprintf(&name->path, "%s/%s", strcmp(above, "/") == 0 ? "" : above, name->name) < 0)
		name->path = NULL;
	else
		rc = 0;
out:
	if (rc == -ENOMEM)
		fsq_fail_errno(err, ENOMEM, path, "cannot open");
	free(copy);
	free(other);
	free(above);
	return rc < 0 ? rc : 0;
}

void fsq_name_close(struct fsq_name *name)
{
	if (name->parent >= 0)
		close(name->parent);
	free(name->name);
	free(name->path);
	*name = (struct fsq_name){ .parent = -1 };
}

/* --- where a path leads --- */

/* Does a path end with the root, . or .., which are no names? */
static bool ends_without_name(const char *path)
{
	size_t length = strlen(path), start;

	while (length && path[length - 1] == '/')
		length--;
	for (start = length; start && path[start - 1] != '/'; start--)
		;
	return length == 0 || (length - start == 1 && path[start] == '.') ||
	       (length - start == 2 && path[start] == '.' && path[start + 1] == '.');
}

char *fsq_lookup_gone(const struct fsq_mount_points *points, const char *path)
{
	struct fsq_name name = { .parent = -1 };
	char *found = NULL;
	int rc;

	if (ends_without_name(path))
		rc = name.parent = fsq_lookup(points, path, O_PATH | O_DIRECTORY, NULL);
	else
		rc = fsq_name_open(&name, points, path, NULL);
	if (rc >= 0)
		found = name.path ? strdup(name.path) : fsq_fd_path(name.parent);
	else if (rc == -ENOENT || rc == -ENOTDIR)
		found = strdup(path);
	fsq_name_close(&name);
	if (!found)
		errno = rc < 0 ? -rc : ENOMEM;
	return found;
}

char *fsq_lookup_spelling(const struct fsq_mount_points *points, const char *path)
{
	struct statx stx;
	struct way way;
	int fd = open_at_once(points, path, O_PATH | O_CLOEXEC), rc;

	if (fd >= 0) {
		char *copy = strdup(path);

		close(fd);
		if (copy)
			fsq_path_clean(copy);
		return copy;
	}
	rc = begin(&way, points, path);
	rc = rc ? rc : go(&way, true, &stx);
	if (rc >= 0)
		close(rc);
	/* The part that does not exist is in the text already. */
	for (char *name; (rc == -ENOENT || rc == -ENOTDIR) && (name = strsep(&way.next, "/"));) {
		if (strcmp(name, "..") == 0)
			cut(&way);
		else if (*name && strcmp(name, ".") != 0 && append(&way, name))
			rc = -ENAMETOOLONG;
	}
	end(&way);
	if (rc >= 0 || rc == -ENOENT || rc == -ENOTDIR)
		return strdup(way.length ? way.done : "/");
	errno = -rc;
	return NULL;
}

char *fsq_lookup_place(const struct fsq_mount_points *points, const char *path, dev_t *dev)
{
	char *real = fsq_lookup_spelling(points, path), *place = NULL;
	const struct fsq_mount *mount = real ? fsq_mount_points_get(points, real) : NULL;

	if (mount && asprintf(&place, "%s/%s", mount->root,
			      fsq_path_below(mount->directory, real, strlen(real))) < 0)
		place = NULL;
	if (place) {
		*dev = mount->dev;
		fsq_path_clean(place);
	} else if (real) {
		errno = mount ? ENOMEM : ENXIO;
	}
	free(real);
	return place;
}

static dev_t dev_of_unlisted(const struct fsq_mount_points *points, const char *path)
{
	struct stat st;

	return fsq_lookup_stat(points, path, O_NOFOLLOW, &st, NULL) ? 0 : st.st_dev;
}

/* Spell the directory that the first bytes of a path name, unless that is known. @return  0 or a negative errno */
static int know_above(const struct fsq_mount_points *points, const char *path, size_t length)
{
	struct fsq_mount_anchor *anchor = points->anchor;
	char *above, *real;

	if (anchor->above && anchor->above_length == length &&
	    memcmp(anchor->above, path, length) == 0)
		return 0;
	errno = ENOMEM;
	above = strndup(path, length);
	real = above ? fsq_lookup_spelling(points, length ? above : "/") : NULL;
	free(anchor->above);
	anchor->above = real ? above : NULL;
	if (!real) {
		free(above);
		return errno == ENOMEM ? -ENOMEM : -ENOENT;
	}
	anchor->above_length = length;
	anchor->real_length = real[1] ? strlen(real) : 0;
	memcpy(anchor->known, real, anchor->real_length);
	anchor->is_real = anchor->real_length == length && memcmp(anchor->known, path, length) == 0;
	free(real);
	return 0;
}

const char *fsq_lookup_known(const struct fsq_mount_points *points, const char *path, dev_t *dev)
{
	struct fsq_mount_anchor *anchor = points->anchor;
	const char *name = strrchr(path, '/'), *spelled = path;
	size_t length = name ? (size_t)(name - path) : 0, rest;
	const struct fsq_mount *mount;
	int rc;

	*dev = 0;
	if (path[0] != '/')
		return path;
	/* The last part may lead up, too. */
	if (!name[1] || (name[1] == '.' && (!name[2] || strcmp(name, "/..") == 0)))
		length = strlen(path);
	rc = length < PATH_MAX ? know_above(points, path, length) : -ENOENT;
	if (rc == -ENOMEM)
		return NULL;
	if (rc)
		return path;
	if (!anchor->is_real) {
		rest = strlen(path + length);
		if (anchor->real_length + rest >= sizeof(anchor->known))
			return path;
		memcpy(anchor->known + anchor->real_length, path + length, rest + 1);
		spelled = anchor->known[0] ? anchor->known : "/";
	}
	mount = fsq_mount_points_get(points, spelled);
	*dev = mount ? mount->dev : points->root ? 0 : dev_of_unlisted(points, spelled);
	return spelled;
}

void fsq_lookup_pause(const struct fsq_mount_points *points)
{
	if (points->anchor->mount)
		close(points->anchor->fd);
	points->anchor->mount = NULL;
}

/* @return  the errno, negative, if it is about us; other errors mean that the path leads elsewhere */
static int failed(int errnum)
{
	return errnum == EMFILE || errnum == ENFILE || errnum == ENOMEM ? -errnum : 0;
}

int fsq_lookup_stat_registered(const char *path, struct stat *st)
{
	/* RESOLVE_CACHED: the names of an open directory are cached, so most paths need no mount table. */
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				.resolve = RESOLVE_CACHED | RESOLVE_NO_SYMLINKS };
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	int rc;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return -errno;
	if (fd < 0) {
		struct fsq_mount_points *points;
		struct fsq_error err;

		if (fsq_mount_points_read(&points, &err))
			return -err.errnum;
		rc = fsq_lookup_stat(points, path, 0, st, NULL);
		fsq_mount_points_free(points);
	} else {
		rc = fstat(fd, st) ? -errno : 0;
		close(fd);
	}
	return rc;
}

int fsq_lookup_leads_to(const char *path, dev_t dev, ino_t ino)
{
	struct stat st;
	int rc = fsq_lookup_stat_registered(path, &st);

	return rc ? failed(-rc) : st.st_dev == dev && st.st_ino == ino;
}

/* --- patterns --- */

struct expansion {
	const struct fsq_mount_points *points;
	const struct fsq_mount *mount; /* of the fixed part */
	const char *only;	       /* or NULL */
	fsq_match_visitor visit;
	void *arg;
	char path[PATH_MAX]; /* of what is visited; "" is "/" */
	size_t length;
	bool stopped;
};

/* In a directory. */
struct name {
	char *word;
	ino_t ino; /* as it is listed: a directory; 0: it may be none, or not there */
};

/*
 * The one name that leads from what is visited to the path that is asked for.
 *
 * @length   set to that of the name; 0: all names do, since that path is reached, or there is none
 */
static const char *find_only(const struct expansion *all, size_t *length)
{
	const bool is_reached = !all->only || all->length >= strlen(all->only);

	*length = is_reached ? 0 : strcspn(all->only + all->length + 1, "/");
	return is_reached ? NULL : all->only + all->length + 1;
}

static void visit_match(struct expansion *all, int parent, const struct name *name, int errnum)
{
	const struct fsq_match match = { .path = all->length ? all->path : "/",
					 .parent = parent,
					 .name = name ? name->word : NULL,
					 .ino = name ? name->ino : 0,
					 .dev = all->mount ? all->mount->dev : 0,
					 .errnum = errnum };

	if (all->visit(&match, all->arg) == FSQ_VISIT_STOP)
		all->stopped = true;
}

static int compare_names(const void *one, const void *other)
{
	const struct name *a = one, *b = other;

	return strcmp(a->word, b->word);
}

/* May it be a directory that a part of a pattern matches? */
static bool is_match(const char *part, const struct dirent *entry)
{
	return (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN) &&
	       strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
	       fnmatch(part, entry->d_name, FNM_PERIOD) == 0;
}

struct names {
	struct name *list;
	size_t count, capacity;
};

/* @return   0 or a negative errno; with the names that were read until then */
static int read_names(int directory, const char *part, struct names *names)
{
	int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc;
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!stream) {
		rc = -errno;
		if (fd >= 0)
			close(fd);
		return rc;
	}
	while (errno = 0, (entry = readdir(stream))) {
		struct name name = { .ino = entry->d_ino };

		if (!is_match(part, entry))
			continue;
		name.word = strdup(entry->d_name);
		if (name.word &&
		    array_add(&names->list, &names->count, &names->capacity, &name, sizeof(name)))
			continue;
		free(name.word);
		errno = ENOMEM;
		break;
	}
	rc = -errno;
	closedir(stream);
	array_sort(names->list, names->count, sizeof(*names->list), compare_names);
	return rc;
}

static void expand(struct expansion *all, int directory, const char *pattern);

/* @rest     of the pattern, behind this part; "" behind the last one */
static void take_match(struct expansion *all, int directory, const struct name *name,
		       const char *rest)
{
	const size_t length = all->length, size = sizeof(all->path) - length;
	const struct fsq_mount *mount;
	int fd = -ENOENT;

	if ((size_t)snprintf(all->path + length, size, "/%s", name->word) >= size) {
		all->path[length] = '\0';
		visit_match(all, directory, NULL, ENAMETOOLONG);
		return;
	}
	all->length += 1 + strlen(name->word);
	mount = fsq_mount_points_get(all->points, all->path);
	if (mount != all->mount)
		visit_match(all, directory, name, EXDEV);
	else if (!*rest && name->ino)
		visit_match(all, directory, name, 0);
	else
		fd = fsq_openat2(directory, name->word,
				 O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
				 RESOLVE_BENEATH | RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS);
	if (fd >= 0 && *rest)
		expand(all, fd, rest);
	else if (fd >= 0)
		visit_match(all, directory, name, 0);
	else if (fd != -ENOENT && fd != -ENOTDIR && fd != -ELOOP)
		visit_match(all, directory, name, -fd);
	if (fd >= 0)
		close(fd);
	all->length = length;
	all->path[length] = '\0';
}

/* Is there a *, ? or [ that no backslash quotes, up to @end? */
static const char *find_special(const char *pattern, const char *end)
{
	for (; pattern < end; pattern++) {
		if (strchr("*?[", *pattern))
			return pattern;
		pattern += *pattern == '\\' && pattern[1];
	}
	return NULL;
}

static void unquote(char *part)
{
	char *to = part;

	for (; *part; part++) {
		part += *part == '\\' && part[1];
		*to++ = *part;
	}
	*to = '\0';
}

/*
 * @directory that @pattern begins in, O_PATH
 * @pattern  the parts that are left
 */
static void expand(struct expansion *all, int directory, const char *pattern)
{
	const char *end = strchrnul(pattern, '/');
	struct names names = { 0 };
	char *part = strndup(pattern, (size_t)(end - pattern));
	struct name one = { 0 };
	size_t length;
	const char *only = find_only(all, &length);
	int rc = -ENOMEM;

	visit_match(all, directory, NULL, 0);
	if (part && length)
		one.word = strndup(only, length);
	if (part && length && one.word) {
		if (fnmatch(part, one.word, FNM_PERIOD) == 0)
			take_match(all, directory, &one, end + (*end == '/'));
		rc = 0;
	} else if (part && !length && !find_special(pattern, end)) {
		unquote(part);
		take_match(all, directory, &(struct name){ .word = part }, end + (*end == '/'));
		rc = 0;
	} else if (part && !length) {
		rc = read_names(directory, part, &names);
	}
	for (size_t i = 0; i < names.count; i++) {
		if (!all->stopped)
			take_match(all, directory, &names.list[i], end + (*end == '/'));
		free(names.list[i].word);
	}
	if (rc && rc != -ENOENT)
		visit_match(all, directory, NULL, -rc);
	free(names.list);
	free(part);
	free(one.word);
}

/* Is one of the paths the other, or below it? */
static bool is_on_way(const char *one, const char *other)
{
	return fsq_path_below(one, other, strlen(other)) || fsq_path_below(other, one, strlen(one));
}

/* The length of what is before the slash before the first part with a *, ? or [. */
static size_t fixed_length(const char *pattern)
{
	const char *special = find_special(pattern, strchr(pattern, '\0'));

	while (special && special > pattern && *special != '/')
		special--;
	return special ? (size_t)(special - pattern) : strlen(pattern);
}

int fsq_lookup_each(const struct fsq_mount_points *points, const char *pattern, const char *only,
		    fsq_match_visitor visit, void *arg, struct fsq_error *err)
{
	struct expansion all = { .points = points, .visit = visit, .arg = arg };
	const size_t fixed = fixed_length(pattern);
	char *begin = fixed ? strndup(pattern, fixed) : strdup("/"), *real = NULL;
	int fd = -ENOMEM;

	if (begin) {
		unquote(begin);
		fd = fsq_lookup(points, begin, O_PATH | O_DIRECTORY, err);
	}
	if (fd >= 0)
		real = fsq_lookup_spelling(points, begin);
	free(begin);
	if (real && (!only || is_on_way(real, only))) {
		all.only = only && strlen(only) > strlen(real) ? only : NULL;
		all.mount = fsq_mount_points_get(points, real);
		all.length = strcmp(real, "/") == 0 ? 0 : strlen(real);
		memcpy(all.path, real, all.length);
		expand(&all, fd, pattern + fixed + 1);
	}
	if (fd >= 0)
		close(fd);
	free(real);
	return fd == -ENOENT || fd == -ENOTDIR || fd >= 0 ? 0 : fd;
}

char *fsq_lookup_pattern(const struct fsq_mount_points *points, const char *pattern)
{
	const size_t fixed = fixed_length(pattern);
	char *begin = strndup(pattern, fixed), *real = NULL, *spelled = NULL, *to;

	if (begin) {
		unquote(begin);
		real = fsq_lookup_spelling(points, fixed ? begin : "/");
	}
	if (begin && !real)
		spelled = strdup(pattern);
	else if (real)
		to = spelled = malloc(2 * strlen(real) + strlen(pattern) + 1);
	if (real && spelled) {
		for (const char *from = real; real[1] && *from; from++) {
			if (strchr("*?[\\", *from))
				*to++ = '\\';
			*to++ = *from;
		}
		strcpy(to, pattern + fixed);
	}
	free(begin);
	free(real);
	return spelled;
}
