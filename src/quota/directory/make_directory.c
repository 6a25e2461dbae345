/* SPDX-License-Identifier: Apache-2.0 */
#include "make_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "quota/base/error.h"
#include "quota/base/path.h"
#include "quota/kernel/compat.h"
#include "shared/text_hash.h"
#include "tree_tag.h"

#define MOMENT (10 * 1000 * 1000L)

/* Open the parent directory, and make both names. */
static int open_above(struct fsq_making *making, const char *directory)
{
	char *copy = strdup(directory), *other = strdup(directory), *above = NULL;
	int rc = -ENOMEM;

	if (!copy || !other)
		goto out;
	making->parent = open(dirname(copy), O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (making->parent < 0) {
		rc = -errno;
		goto out;
	}
	making->name = strdup(basename(other));
	above = fsq_fd_path(making->parent);
	if (!making->name || !above ||
	    asprintf(&making->path, "%s/%s", strcmp(above, "/") == 0 ? "" : above, making->name) <
		    0)
		goto out;
	/* Of fixed length: a name can be as long as the filesystem allows. */
	snprintf(making->hidden, sizeof(making->hidden), ".fsquota.%016" PRIx64,
		 text_hash(TEXT_HASH_START, making->name));
	rc = 0;
out:
	free(copy);
	free(other);
	free(above);
	return rc;
}

/* @return   a descriptor that holds the lock; -EAGAIN try again; -EWOULDBLOCK another process has it */
static int open_hidden(const struct fsq_making *making, const struct fsq_new_directory *new)
{
	bool made = mkdirat(making->parent, making->hidden, 0700) == 0;
	struct stat st, there;
	int fd, rc = 0;

	if (!made && errno != EEXIST)
		return -errno;
	fd = openat(making->parent, making->hidden,
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		rc = errno == ENOENT ? -EAGAIN : -errno;
	else if (flock(fd, LOCK_EX | LOCK_NB))
		rc = errno == EWOULDBLOCK ? -EBUSY : -errno;
	else if (fstat(fd, &st) ||
		 fstatat(making->parent, making->hidden, &there, AT_SYMLINK_NOFOLLOW) ||
		 there.st_ino != st.st_ino || there.st_dev != st.st_dev)
		rc = -EAGAIN; /* its maker has renamed or removed it */
	else if ((st.st_uid != geteuid() && st.st_uid != new->owner) || !fsq_tree_is_empty(fd))
		rc = -ENOTEMPTY;
	else if (fchown(fd, new->owner, new->group) || fchmod(fd, new->mode))
		rc = -errno;
	if (rc == 0) {
		/* Read again after it got its ID. */
		lseek(fd, 0, SEEK_SET);
		return fd;
	}
	if (fd >= 0)
		close(fd);
	/* Another process that finds it makes a new one. */
	if (made && rc != -EAGAIN && rc != -EBUSY)
		unlinkat(making->parent, making->hidden, AT_REMOVEDIR);
	return rc;
}

int fsq_directory_make(struct fsq_making *making, const char *directory,
		       const struct fsq_new_directory *new)
{
	const struct timespec moment = { .tv_nsec = MOMENT };
	struct timespec begun, now;
	struct stat st;
	int rc;

	*making = (struct fsq_making){ .parent = -1 };
	rc = open_above(making, directory);
	if (rc)
		return rc;
	clock_gettime(CLOCK_MONOTONIC, &begun);
	for (;;) {
		if (fstatat(making->parent, making->name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			return -EEXIST;
		rc = open_hidden(making, new);
		if (rc != -EAGAIN && rc != -EBUSY)
			return rc;
		if (fsq_is_cancelled(new->options))
			return -EINTR;
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec - begun.tv_sec > (time_t) new->wait_seconds)
			return -EBUSY;
		if (rc == -EBUSY)
			nanosleep(&moment, NULL);
	}
}

int fsq_directory_show(struct fsq_making *making)
{
	if (syscall(SYS_renameat2, making->parent, making->hidden, making->parent, making->name,
		    RENAME_NOREPLACE))
		return -errno;
	making->shown = true;
	return 0;
}

void fsq_directory_unmake(struct fsq_making *making)
{
	if (making->parent >= 0 && making->hidden[0])
		unlinkat(making->parent, making->shown ? making->name : making->hidden,
			 AT_REMOVEDIR);
	fsq_directory_keep(making);
}

void fsq_directory_keep(struct fsq_making *making)
{
	if (making->parent >= 0)
		close(making->parent);
	free(making->name);
	free(making->path);
	*making = (struct fsq_making){ .parent = -1 };
}
