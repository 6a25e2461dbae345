/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lookup.h"
#include "mount.h"
#include "mount_table.h"
#include "quota/base/error.h"
#include "shared/statx.h"

/* A backslash stands before what would end the name, and before itself. */
static char *strip_backslashes(char *name)
{
	char *to = name;

	for (const char *from = name; from && *from; from++) {
		from += from[0] == '\\' && from[1];
		*to++ = *from;
	}
	if (to)
		*to = '\0';
	return name;
}

void fsq_overlay_layers(const struct fsq_mount *mount, char **upper, char **work)
{
	*upper = strip_backslashes(fsq_options_value(mount->super_options, "upperdir"));
	*work = strip_backslashes(fsq_options_value(mount->super_options, "workdir"));
}

/* --- the directory of an engine --- */

/*
 * How engines name the upper directory; the work directory is "work". Other names do not show whose the directory around
 * them is.
 */
static const char *const uppers[] = { "diff", "fs", "upper" };

/* What else Docker, Podman and CRI-O keep in that directory. Directories are empty, or mount points. */
static const struct {
	const char *name;
	mode_t type;
} beside[] = {
	{ "merged", S_IFDIR }, { "empty", S_IFDIR },	 { "link", S_IFREG },
	{ "lower", S_IFREG },  { "committed", S_IFREG },
};

typedef bool (*name_test)(int fd, const char *name, const char *upper);

/* @return   whether a directory can be read, and has only names that pass a test */
static bool has_only(int above, const char *directory, name_test test, const char *upper)
{
	int fd = openat(above, directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	bool good = stream != NULL;

	if (!stream && fd >= 0)
		close(fd);
	errno = 0;
	while (good && (entry = readdir(stream)))
		good = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		       test(fd, entry->d_name, upper);
	good = good && errno == 0;
	if (stream)
		closedir(stream);
	return good;
}

static bool none(int fd, const char *name, const char *upper)
{
	(void)fd, (void)name, (void)upper;
	return false;
}

/* Asks the kernel, not the filesystem, which may hang. */
static bool is_mount_point(const struct statx *stx)
{
	return stx->stx_attributes & STATX_ATTR_MOUNT_ROOT;
}

static bool is_of_engine(int fd, const char *name, const char *upper)
{
	const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
	struct statx stx;

	if (strcmp(name, upper) == 0 || strcmp(name, "work") == 0)
		return true;
	for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
		if (strcmp(name, beside[i].name) != 0)
			continue;
		if (get_statx(fd, name, flags, STATX_TYPE, &stx) ||
		    (stx.stx_mode & S_IFMT) != beside[i].type)
			return false;
		return beside[i].type == S_IFREG || is_mount_point(&stx) ||
		       has_only(fd, name, none, NULL);
	}
	return false;
}

/* @return   the name after the last slash of a path that has no slash at the end, or "" */
static const char *last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : "";
}

static bool is_upper_of_engine(const char *name)
{
	for (size_t i = 0; i < sizeof(uppers) / sizeof(uppers[0]); i++)
		if (strcmp(name, uppers[i]) == 0)
			return true;
	return false;
}

char *fsq_overlay_own(const char *upper, const char *work)
{
	const char *upper_name = last_name(upper), *work_name = last_name(work);
	const size_t length = (size_t)(upper_name - upper);
	struct statx stx;
	char *above;
	int fd;
	bool own;

	errno = 0;
	if (!is_upper_of_engine(upper_name) || strcmp(work_name, "work") != 0 ||
	    length != (size_t)(work_name - work) || memcmp(upper, work, length) != 0 || length < 2)
		return NULL;
	above = strndup(upper, length - 1);
	if (!above)
		return NULL;
	fd = fsq_lookup(NULL, above, O_PATH | O_DIRECTORY | O_NOFOLLOW, NULL);
	own = fd >= 0 && get_statx(fd, "", AT_EMPTY_PATH, STATX_TYPE, &stx) == 0 &&
	      !is_mount_point(&stx) && has_only(fd, ".", is_of_engine, upper_name);
	if (fd >= 0)
		close(fd);
	if (own)
		return above;
	free(above);
	errno = 0;
	return NULL;
}

/* --- for the caller --- */

int fsq_overlay_directories(const char *path, char **directory, char **work, struct fsq_error *err)
{
	int fd = fsq_lookup(NULL, path, O_PATH | O_DIRECTORY, err);
	int rc = fd < 0 ? fd : fsq_mount_table_load(err);
	char *upper = NULL, *own = NULL;
	struct fsq_mount mount = { 0 };

	*directory = *work = NULL;
	if (fd < 0)
		return fsq_failed(err, -fd);
	if (rc)
		goto out;
	rc = fsq_mount_line_of_fd(fd, &mount);
	if (rc) {
		rc = fsq_fail_errno(err, -rc, path, "cannot find the mount");
		goto out;
	}
	if (strcmp(mount.type, "overlay") != 0) {
		rc = fsq_fail(err, FSQ_E_NOT_SUPPORTED, 0, path, "is on no overlay");
		goto out;
	}
	fsq_overlay_layers(&mount, &upper, work);
	if (!upper || !*work || upper[0] != '/' || (*work)[0] != '/') {
		rc = fsq_fail(err, FSQ_E_NOT_SUPPORTED, 0, path,
			      "is on an overlay whose upper directory cannot be seen from here");
	} else if (!(own = fsq_overlay_own(upper, *work)) && errno == ENOMEM) {
		rc = fsq_fail_errno(err, ENOMEM, path, "cannot go on");
	} else {
		*directory = own ? own : upper;
		upper = own ? upper : NULL;
	}
out:
	if (rc || own) {
		free(*work);
		*work = NULL;
	}
	free(upper);
	fsq_mount_clear(&mount);
	close(fd);
	return rc;
}
