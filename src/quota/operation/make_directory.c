/* SPDX-License-Identifier: Apache-2.0 */
#include "make_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "quota/kernel/compat.h"
#include "tree_tag.h"

/*
 * The directory is made under another name, and gets its own when owner and mode are set: so a
 * process that is killed leaves none that looks finished.
 */
static char *temporary_name(const char *directory)
{
	const char *slash = strrchr(directory, '/');
	char *name;

	if (asprintf(&name, "%.*s.fsquota.%s", slash ? (int)(slash + 1 - directory) : 0, directory,
		     slash ? slash + 1 : directory) < 0)
		return NULL;
	return name;
}

/* @return   0 or a negative errno. Another process may have moved something to its place. */
static int set_owner(const char *name, const struct fsq_new_directory *new)
{
	int fd = open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), rc = 0;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || st.st_uid != geteuid() || (st.st_mode & 07777) != 0700 ||
	    !fsq_tree_is_empty(fd))
		rc = -EEXIST;
	else if (fchown(fd, new->owner, new->group) || fchmod(fd, new->mode))
		rc = -errno;
	close(fd);
	return rc;
}

static int make_named(const char *name, const char *directory, const struct fsq_new_directory *new)
{
	int rc;

	/* One that a killed process left is empty. */
	if (mkdir(name, 0700) && (errno != EEXIST || rmdir(name) || mkdir(name, 0700)))
		return -errno;
	rc = set_owner(name, new);
	if (rc == 0 &&
	    syscall(SYS_renameat2, AT_FDCWD, name, AT_FDCWD, directory, RENAME_NOREPLACE))
		rc = -errno;
	if (rc)
		rmdir(name);
	return rc;
}

int fsq_directory_make(const char *directory, const struct fsq_new_directory *new)
{
	char *name = temporary_name(directory);
	int rc = name ? make_named(name, directory, new) : -ENOMEM;

	free(name);
	return rc;
}
