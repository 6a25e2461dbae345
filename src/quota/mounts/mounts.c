/* SPDX-License-Identifier: Apache-2.0 */
#include "mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "libmount.h"
#include "mountinfo.h"
#include "quota/base/error.h"
#include "quota/base/path.h"
#include "quota/kernel/compat.h"
#include "shared/array.h"
#include "shared/read_file.h"
#include "shared/statx.h"

void fsq_mount_clear(struct fsq_mount *mount)
{
	free(mount->device);
	free(mount->directory);
	*mount = (struct fsq_mount){ 0 };
}

static int fill(struct fsq_mount *mount, const char *device, const char *directory, uint64_t id,
		dev_t dev, struct fsq_error *err)
{
	*mount = (struct fsq_mount){ strdup(device), strdup(directory), id, dev };
	if (mount->device && mount->directory)
		return 0;
	fsq_mount_clear(mount);
	return fsq_fail(err, FSQ_E_FAILED, ENOMEM, directory, "cannot read the mount table");
}

int fsq_mount_copy(struct fsq_mount *copy, const struct fsq_mount *mount, struct fsq_error *err)
{
	return fill(copy, mount->device, mount->directory, mount->id, mount->dev, err);
}

#define MOUNT_IDS (STATX_MNT_ID | STATX_MNT_ID_UNIQUE)

/* Is it the mount that "/" lies on? */
static bool is_on_root(const struct statx *stx)
{
	const unsigned int id = stx->stx_mask & MOUNT_IDS;
	struct statx root;

	return id && get_statx(AT_FDCWD, "/", 0, id, &root) == 0 && (root.stx_mask & id) == id &&
	       root.stx_mnt_id == stx->stx_mnt_id;
}

int fsq_mount_of_fd(int fd, const char *path, struct fsq_mount *mount, struct fsq_error *err)
{
	struct fsq_mountinfo_line line = { 0 };
	struct statx stx;
	dev_t dev;
	int rc = -ENOSYS;

	if (get_statx(fd, "", AT_EMPTY_PATH, STATX_TYPE | MOUNT_IDS, &stx))
		return fsq_fail(err, FSQ_E_FAILED, errno, path, "cannot find the mount");
	dev = makedev(stx.stx_dev_major, stx.stx_dev_minor);
	if (stx.stx_mask & STATX_MNT_ID_UNIQUE) {
		rc = fsq_mountinfo_statmount(stx.stx_mnt_id, &line);
		/* The table knows the short ID only. */
		if (rc && get_statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &stx))
			return fsq_fail(err, FSQ_E_FAILED, errno, path, "cannot find the mount");
	}
	if (rc)
		rc = stx.stx_mask & STATX_MNT_ID
			     ? fsq_mountinfo_find(FSQ_MOUNTINFO_ID, stx.stx_mnt_id, &line)
			     : fsq_mountinfo_find(FSQ_MOUNTINFO_DEV, dev, &line);
	if (rc == -ENXIO || (rc == 0 && line.directory[0] == '\0')) {
		/* In a chroot whose root is no mount point, the kernel does not list its mount. */
		if (!is_on_root(&stx))
			return fsq_fail(err, FSQ_E_NOT_FOUND, ENXIO, path, "cannot find the mount");
		strcpy(line.directory, "/");
		line.id = stx.stx_mnt_id;
		if (rc)
			snprintf(line.source, sizeof(line.source), "/dev/block/%u:%u",
				 stx.stx_dev_major, stx.stx_dev_minor);
	} else if (rc) {
		return fsq_fail(err, fsq_error_kind_of(-rc), -rc, path, "cannot find the mount");
	}
	return fill(mount, line.source, line.directory, line.id, dev, err);
}

static bool same_filesystem(const char *one, const char *other)
{
	struct stat a, b;

	return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev;
}

/* A line of a mount table, but for what nobody asks for. */
struct line {
	char *device, *directory, *type;
};

/* A mount table in memory. getmntent(3) differs from one C library to the other. */
struct table {
	char *text;
	struct line *lines;
	size_t count, capacity;
};

/* Cut off the next field, and undo its escapes; "" at the end of the line. */
static char *next_field(char **rest)
{
	char *field = fsq_table_next_field(rest);

	fsq_mountinfo_unescape(field);
	return field;
}

static int add_line(struct table *table, char *text)
{
	char first = text[strspn(text, " \t")];
	struct line *line;

	if (first == '\0' || first == '#')
		return 0;
	line = array_grow(table->lines, table->count, &table->capacity, sizeof(*line));
	if (!line)
		return -ENOMEM;
	table->lines = line;
	line = &table->lines[table->count++];
	line->device = next_field(&text);
	line->directory = next_field(&text);
	line->type = next_field(&text);
	return 0;
}

static void close_table(struct table *table)
{
	free(table->text);
	free(table->lines);
}

static int open_table(struct table *table, const char *file, struct fsq_error *err)
{
	char *rest, *text;
	size_t length;
	int rc;

	*table = (struct table){ 0 };
	rc = fsq_read_file(file, &table->text, &length);
	/* A directory is a table without lines. */
	if (rc == -EISDIR)
		return 0;
	if (rc)
		return fsq_fail(err, fsq_error_kind_of(-rc), -rc, file,
				"cannot read the mount table");
	rest = table->text;
	while (rc == 0 && (text = fsq_next_line(&rest, table->text + length)))
		rc = add_line(table, text);
	if (rc == 0)
		return 0;
	close_table(table);
	return fsq_fail(err, FSQ_E_FAILED, -rc, file, "cannot read the mount table");
}

/* The line whose device is @path, or the deepest mount point at or above it. */
static int search_table(const struct table *table, const char *path, struct fsq_mount *mount,
			struct fsq_error *err)
{
	const struct line *best = NULL;
	size_t best_length = 1;

	for (size_t i = 0; i < table->count; i++) {
		const struct line *line = &table->lines[i];
		size_t length = strlen(line->directory);

		if (strcmp(line->type, "autofs") == 0)
			continue;
		if (strcmp(line->device, path) == 0) {
			best = line;
			break;
		}
		if (length < best_length || !fsq_path_below(line->directory, path, strlen(path)))
			continue;
		best = line;
		best_length = length;
	}
	return best ? fill(mount, best->device, best->directory, 0, 0, err) : 0;
}

static bool is_either(const struct fsq_mount *mount, const char *path)
{
	return strcmp(mount->directory, path) == 0 || strcmp(mount->device, path) == 0;
}

/* The path is not in the table as it was typed: what does it lead to? */
static int search_resolved(const struct table *table, const char *path, struct fsq_mount *mount,
			   struct fsq_error *err)
{
	char *resolved = realpath(path, NULL);
	int rc;

	if (!resolved)
		return fsq_fail(err, FSQ_E_NOT_FOUND, errno, path, "cannot resolve the path");
	rc = search_table(table, resolved, mount, err);
	if (rc == 0 && mount->directory && !is_either(mount, resolved) &&
	    !same_filesystem(mount->directory, resolved))
		fsq_mount_clear(mount);
	free(resolved);
	return rc;
}

int fsq_mount_in_table(const char *file, const char *path, struct fsq_mount *mount,
		       struct fsq_error *err)
{
	struct table table;
	int rc = open_table(&table, file, err);

	if (rc)
		return rc;
	*mount = (struct fsq_mount){ 0 };
	rc = search_table(&table, path, mount, err);
	/* Callers mostly give the mount point as the table has it: then nothing is resolved. */
	if (rc == 0 && !(mount->directory && is_either(mount, path))) {
		fsq_mount_clear(mount);
		rc = search_resolved(&table, path, mount, err);
	}
	if (rc == 0 && !mount->directory)
		rc = fsq_add_hint(err, FSQ_HINT_NAME_MOUNTED,
				  fsq_fail(err, FSQ_E_NOT_FOUND, ENXIO, path,
					   "cannot find the path in %s", file));
	if (rc)
		fsq_mount_clear(mount);
	close_table(&table);
	return rc;
}

static int each_in_table(const char *file, fsq_mount_visitor visit, void *arg,
			 struct fsq_error *err)
{
	struct table table;
	int rc = open_table(&table, file, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < table.count; i++) {
		const struct line *line = &table.lines[i];
		struct fsq_mount mount = { line->device, line->directory, 0, 0 };

		if (strcmp(line->type, "autofs") != 0 && visit(&mount, arg) == FSQ_VISIT_STOP)
			break;
	}
	close_table(&table);
	return 0;
}

/* A mount of the system. */
struct listed {
	struct fsq_mount mount;
	uint64_t parent;
	bool doubtful; /* it may hang */
};

struct listing {
	struct listed *all;
	size_t count, capacity;
	const struct listed **doubtful; /* those that are; made when all are known */
	size_t doubtful_count;
	const struct fsq_libmount *library; /* which knows more network filesystems, or NULL */
	int rc;				    /* of listing them */
};

static bool may_hang(const char *type)
{
	static const char *const types[] = { "autofs", "9p",	"ceph",	 "lustre", "afs",
					     "cifs",   "coda",	"gpfs",	 "ncpfs",  "orangefs",
					     "smb3",   "smbfs", "beegfs" };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(type, types[i]) == 0)
			return true;
	return strncmp(type, "fuse", 4) == 0 || strncmp(type, "nfs", 3) == 0;
}

static int add_listed(struct listing *listing, const struct listed *listed)
{
	struct listed *more;

	more = array_grow(listing->all, listing->count, &listing->capacity, sizeof(*more));
	if (!more)
		return -ENOMEM;
	listing->all = more;
	more = &listing->all[listing->count];
	*more = *listed;
	if (fill(&more->mount, listed->mount.device, listed->mount.directory, listed->mount.id,
		 listed->mount.dev, NULL))
		return -ENOMEM;
	listing->count++;
	return 0;
}

static void clear_listing(struct listing *listing)
{
	for (size_t i = 0; i < listing->count; i++)
		fsq_mount_clear(&listing->all[i].mount);
	free(listing->all);
	free(listing->doubtful);
}

static enum fsq_visit list_line(const struct fsq_mountinfo_line *line, void *arg)
{
	struct listing *listing = arg;
	struct listed listed = {
		.mount = { (char *)(uintptr_t)line->source, (char *)(uintptr_t)line->directory,
			   line->id, line->dev },
		.parent = line->parent,
		.doubtful = may_hang(line->type) ||
			    (listing->library && listing->library->fstype_is_netfs(line->type)),
	};

	listing->rc = add_listed(listing, &listed);
	return listing->rc ? FSQ_VISIT_STOP : FSQ_VISIT_CONTINUE;
}

/*
 * The path to a mount may hang where it leads over a mount that does, whichever of them was made
 * first. What covers such a mount itself is not in doubt: the path leads past it.
 */
static bool leads_over(const struct listed *one, const struct listed *doubtful)
{
	const char *over = doubtful->mount.directory, *target = one->mount.directory;

	return fsq_path_below(over, target, strlen(target)) &&
	       (strcmp(over, target) != 0 || one->parent != doubtful->mount.id);
}

static int find_doubtful(struct listing *listing)
{
	listing->doubtful = reallocarray(NULL, listing->count + 1, sizeof(*listing->doubtful));
	if (!listing->doubtful)
		return -ENOMEM;
	for (size_t i = 0; i < listing->count; i++)
		if (listing->all[i].doubtful)
			listing->doubtful[listing->doubtful_count++] = &listing->all[i];
	return 0;
}

static bool is_doubtful(const struct listing *listing, const struct listed *one)
{
	for (size_t i = 0; i < listing->doubtful_count && !one->doubtful; i++)
		if (leads_over(one, listing->doubtful[i]))
			return true;
	return one->doubtful;
}

static int each_in_system(fsq_mount_visitor visit, void *arg, struct fsq_error *err)
{
	struct listing listing = { .library = fsq_libmount() };
	int rc = fsq_mountinfo_each(list_line, &listing);

	if (rc == 0)
		rc = listing.rc;
	if (rc == 0)
		rc = find_doubtful(&listing);
	if (rc)
		rc = fsq_fail(err, fsq_error_kind_of(-rc), -rc, FSQ_MOUNTINFO,
			      "cannot read the mount table");
	for (size_t i = 0; i < listing.count && rc == 0; i++)
		if (!is_doubtful(&listing, &listing.all[i]) &&
		    visit(&listing.all[i].mount, arg) == FSQ_VISIT_STOP)
			break;
	clear_listing(&listing);
	return rc;
}

int fsq_mounts_each(const char *table, fsq_mount_visitor visit, void *arg, struct fsq_error *err)
{
	return table ? each_in_table(table, visit, arg, err) : each_in_system(visit, arg, err);
}

int fsq_mounts_changes(struct fsq_error *err)
{
	int fd = open(FSQ_MOUNTINFO, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return fsq_fail(err, fsq_error_kind_of(errno), errno, FSQ_MOUNTINFO,
				"cannot watch the mount table");
	return fd;
}
