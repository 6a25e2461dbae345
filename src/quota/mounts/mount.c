/* SPDX-License-Identifier: Apache-2.0 */
#include "mount.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "quota/base/error.h"
#include "quota/base/path.h"
#include "quota/kernel/compat.h"
#include "quota/kernel/fs_type.h"
#include "shared/read_file.h"

/* --- a mount --- */

void fsq_mount_clear(struct fsq_mount *mount)
{
	free(mount->device);
	free(mount->directory);
	free(mount->type);
	free(mount->root);
	free(mount->options);
	free(mount->super_options);
	*mount = (struct fsq_mount){ 0 };
}

int fsq_mount_copy(struct fsq_mount *copy, const struct fsq_mount *mount, struct fsq_error *err)
{
	char *const from[] = { mount->device, mount->directory, mount->type,
			       mount->root,   mount->options,	mount->super_options };
	char **const to[] = { &copy->device, &copy->directory, &copy->type,
			      &copy->root,   &copy->options,   &copy->super_options };
	bool failed = false;

	*copy = *mount;
	for (size_t i = 0; i < sizeof(from) / sizeof(from[0]); i++) {
		*to[i] = from[i] ? strdup(from[i]) : NULL;
		failed |= from[i] && !*to[i];
	}
	if (!failed)
		return 0;
	fsq_mount_clear(copy);
	return fsq_fail_errno(err, ENOMEM, mount->directory, "cannot find the mount");
}

/* --- one line of mountinfo --- */

/* Undo the octal escapes (\040 and the like) of a field, in place. */
static char *unescape(char *field)
{
	char *to = field;
	unsigned int byte;
	int length;

	for (const char *from = field; *from; from += length) {
		/* Three octal digits, the first less than 4. */
		if (*from != '\\' || from[1] < '0' || from[1] > '3' ||
		    sscanf(from + 1, "%3o%n", &byte, &length) != 1 || length++ != 3) {
			byte = (unsigned char)*from;
			length = 1;
		}
		*to++ = (char)byte;
	}
	*to = '\0';
	return field;
}

/* Called for each line, without its newline. A result other than 0 ends the reading. */
typedef int (*line_taker)(char *line, void *arg);

/* @return   0, what @take returned, or a negative errno */
static int each_line_of_mountinfo(line_taker take, void *arg)
{
	char buffer[16 * 1024], *line = NULL; /* the kernel fills a page at a time */
	FILE *stream = fopen(FSQ_MOUNTINFO, "re");
	size_t size = 0;
	ssize_t length;
	int rc = 0;

	if (!stream)
		return -errno;
	setvbuf(stream, buffer, _IOFBF, sizeof(buffer));
	while (rc == 0 && (length = getline(&line, &size, stream)) > 0) {
		line[length - (line[length - 1] == '\n')] = '\0';
		rc = take(line, arg);
	}
	if (rc == 0 && !feof(stream))
		rc = -errno;
	free(line);
	fclose(stream);
	return rc;
}

struct search {
	uint64_t id; /* 0: before Linux 5.8, where the device must do */
	dev_t dev;
	struct fsq_mount *mount;
};

/* "ID PARENT MAJOR:MINOR ROOT DIRECTORY OPTIONS [TAG]... - TYPE SOURCE SUPEROPTIONS" */
static int take_if_wanted(char *text, void *arg)
{
	const struct search *search = arg;
	struct fsq_mount mount = { .id = strtoull(text, &text, 10) };
	unsigned long major, minor;
	char *behind;

	if (search->id && mount.id != search->id)
		return 0;
	mount.parent = strtoull(text, &text, 10);
	major = strtoul(text, &text, 10);
	minor = strtoul(text + (*text == ':'), &text, 10);
	mount.dev = makedev((unsigned int)major, (unsigned int)minor);
	if (!search->id && mount.dev != search->dev)
		return 0;
	behind = strstr(text, " - ");
	if (!behind || *text++ != ' ')
		return -EIO;
	*behind = '\0';
	behind += strlen(" - ");
	mount.root = strsep(&text, " ");
	mount.directory = strsep(&text, " ");
	mount.options = strsep(&text, " ");
	mount.type = strsep(&behind, " ");
	mount.device = strsep(&behind, " ");
	mount.super_options = strsep(&behind, " ");
	if (!mount.options || !mount.super_options)
		return -EIO;
	unescape(mount.root);
	unescape(mount.directory);
	unescape(mount.device);
	return fsq_mount_copy(search->mount, &mount, NULL) ? -ENOMEM : 1;
}

static int find_mountinfo_line(const struct statx *stx, struct fsq_mount *mount)
{
	struct search search = {
		.id = stx->stx_mask & STATX_MNT_ID ? stx->stx_mnt_id : 0,
		.dev = makedev(stx->stx_dev_major, stx->stx_dev_minor),
		.mount = mount,
	};
	int rc = each_line_of_mountinfo(take_if_wanted, &search);

	return rc > 0 ? 0 : rc < 0 ? rc : -ENXIO;
}

int fsq_mount_line_of_fd(int fd, struct fsq_mount *mount)
{
	struct statx stx;

	*mount = (struct fsq_mount){ 0 };
	return get_statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &stx)
		       ? -errno
		       : find_mountinfo_line(&stx, mount);
}

static int is_line_below(char *text, void *arg)
{
	const char *below;

	for (int field = 1; field < 5 && text; field++)
		text = strchr(text, ' ') ? strchr(text, ' ') + 1 : NULL;
	if (!text)
		return -EIO;
	text[strcspn(text, " ")] = '\0';
	below = fsq_path_below(arg, unescape(text), strlen(text));
	return below && *below;
}

int fsq_mount_any_below(const char *directory)
{
	return each_line_of_mountinfo(is_line_below, (void *)(uintptr_t)directory);
}

/* --- the kernel's own answer --- */

/* statmount(2): linux/mount.h of Linux 6.8 and later. */
struct mount_id_request {
	uint32_t size;
	uint32_t spare;
	uint64_t mnt_id;
	uint64_t param;
};

struct mount_status {
	uint32_t size, mnt_opts;
	uint64_t mask;
	uint32_t sb_dev_major, sb_dev_minor;
	uint64_t sb_magic;
	uint32_t sb_flags, fs_type;
	uint64_t mnt_id, mnt_parent_id;
	uint32_t mnt_id_old, mnt_parent_id_old;
	uint64_t mnt_attr, mnt_propagation, mnt_peer_group, mnt_master, propagate_from;
	uint32_t mnt_root, mnt_point;
	uint64_t mnt_ns_id;
	uint32_t fs_subtype, sb_source;
	uint64_t spare[48];
	char strings[];
};

#define WANTED (0x00000001U | 0x00000010U | 0x00000200U) /* SB_BASIC, MNT_POINT, SB_SOURCE */

/*
 * @return   0 with device, directory and ID, or a negative errno: -ENOSYS before Linux 6.8, -ENODATA
 *           when the kernel does not tell the source (some between 6.8 and 6.13)
 */
static int ask_statmount(uint64_t id, struct fsq_mount *mount)
{
	union {
		struct mount_status status;
		char space[sizeof(struct mount_status) + 2 * PATH_MAX];
	} answer;
	struct mount_id_request request = { .size = sizeof(request),
					    .mnt_id = id,
					    .param = WANTED };
	struct mount_status *status = &answer.status;

	if (syscall(SYS_statmount, &request, &answer, sizeof(answer), 0U))
		return -errno;
	if ((status->mask & WANTED) != WANTED)
		return -ENODATA;
	return fsq_mount_copy(mount,
			      &(struct fsq_mount){
				      .device = status->strings + status->sb_source,
				      .directory = status->strings + status->mnt_point,
				      .id = id,
			      },
			      NULL)
		       ? -ENOMEM
		       : 0;
}

#define MOUNT_IDS (STATX_MNT_ID | STATX_MNT_ID_UNIQUE)

int fsq_mount_of_fd(int fd, const char *path, struct fsq_mount *mount, struct fsq_error *err)
{
	struct statx stx;
	dev_t dev;
	int rc;

	*mount = (struct fsq_mount){ 0 };
	if (get_statx(fd, "", AT_EMPTY_PATH, STATX_TYPE | MOUNT_IDS, &stx))
		return fsq_fail(err, FSQ_E_FAILED, errno, path, "cannot find the mount");
	dev = makedev(stx.stx_dev_major, stx.stx_dev_minor);
	rc = stx.stx_mask & STATX_MNT_ID_UNIQUE ? ask_statmount(stx.stx_mnt_id, mount) : -ENOSYS;
	/* The table has only the short ID. */
	if (rc && (stx.stx_mask & STATX_MNT_ID_UNIQUE) &&
	    get_statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &stx))
		return fsq_fail(err, FSQ_E_FAILED, errno, path, "cannot find the mount");
	if (rc && rc != -ENOMEM)
		rc = find_mountinfo_line(&stx, mount);
	if (rc == -ENXIO || (rc == 0 && mount->directory[0] == '\0')) {
		/* In a chroot whose root is no mount point, the kernel does not list its mount. */
		const unsigned int id = stx.stx_mask & MOUNT_IDS;
		struct fsq_mount unlisted = *mount;
		char device[64], directory[] = "/";
		struct statx stx_root;
		const struct fsq_mount root = { .device =
							unlisted.device ? unlisted.device : device,
						.directory = directory,
						.id = stx.stx_mnt_id };

		snprintf(device, sizeof(device), "/dev/block/%u:%u", stx.stx_dev_major,
			 stx.stx_dev_minor);
		rc = -ENXIO;
		/* Is it on the mount that "/" is on? */
		if (id && get_statx(AT_FDCWD, "/", 0, id, &stx_root) == 0 &&
		    (stx_root.stx_mask & id) == id && stx_root.stx_mnt_id == stx.stx_mnt_id)
			rc = fsq_mount_copy(mount, &root, NULL) ? -ENOMEM : 0;
		fsq_mount_clear(&unlisted);
	}
	mount->dev = dev;
	if (rc == 0)
		return 0;
	*mount = (struct fsq_mount){ 0 };
	return fsq_fail(err, rc == -ENXIO ? FSQ_E_NOT_FOUND : fsq_error_kind_of(-rc), -rc, path,
			"cannot find the mount");
}

/* --- tables in fstab(5) format --- */

/* The next field of a line; "" after the last one. */
static char *next_field(char **rest)
{
	char *field = *rest + strspn(*rest, " \t");

	*rest = field + strcspn(field, " \t");
	if (**rest)
		*(*rest)++ = '\0';
	return unescape(field);
}

/*
 * Visit the lines of a table: but for autofs, or of fstab as fsq_fstab_each(). Not by getmntent(3): that of
 * musl passes over short lines and leaves the escapes; and libmount does not tell the number of a line.
 * @return   0 or a negative errno
 */
static int each_line(const char *file, bool is_fstab, fsq_mount_visitor visit, void *arg)
{
	enum fsq_visit next = FSQ_VISIT_CONTINUE;
	unsigned int number = 0;
	char *text, *rest, *line;
	size_t length;
	int rc = fsq_read_file(file, &text, &length);

	if (rc)
		return rc;
	rest = text;
	while (next != FSQ_VISIT_STOP && (line = fsq_next_line(&rest, text + length))) {
		struct fsq_mount mount = { 0 };

		number++;
		mount.device = next_field(&line);
		mount.directory = next_field(&line);
		mount.type = next_field(&line);
		mount.options = next_field(&line);
		if (!mount.device[0] || mount.device[0] == '#' ||
		    (is_fstab ? !mount.type[0] : strcmp(mount.type, "autofs") == 0))
			continue;
		if (is_fstab) {
			fsq_path_clean(mount.directory);
			mount.options = mount.options[0] ? mount.options : NULL;
			mount.line = number;
		}
		next = visit(&mount, arg);
	}
	free(text);
	return 0;
}

int fsq_mount_each_in_file(const char *file, fsq_mount_visitor visit, void *arg,
			   struct fsq_error *err)
{
	int rc = each_line(file, false, visit, arg);

	/* A directory is a table without lines. */
	if (rc == 0 || rc == -EISDIR)
		return 0;
	return fsq_fail_errno(err, -rc, file, "cannot read the mount table");
}

int fsq_fstab_each(const char *file, fsq_mount_visitor visit, void *arg, struct fsq_error *err)
{
	int rc = each_line(file, true, visit, arg);

	if (rc == 0 || rc == -ENOENT || rc == -ENOTDIR)
		return 0;
	return fsq_fail_errno(err, -rc, file, "cannot read");
}

bool fsq_mount_point_hides(const char *point, const char *mounted, const char *path)
{
	return strlen(point) > strlen(mounted) && fsq_path_below(point, path, strlen(path));
}

struct path_search {
	const char *path;
	struct fsq_mount best;
	bool exact; /* @path is its device or mount point */
	int rc;
};

/* The line whose device is @path, or that of the deepest mount point at or above it. */
static enum fsq_visit compare_line(const struct fsq_mount *mount, void *arg)
{
	struct path_search *search = arg;
	const char *path = search->path, *best = search->best.directory;
	bool is_device = strcmp(mount->device, path) == 0;
	size_t length = strlen(mount->directory);

	if (!is_device && (length == 0 || (best && length < strlen(best)) ||
			   !fsq_path_below(mount->directory, path, strlen(path))))
		return FSQ_VISIT_CONTINUE;
	fsq_mount_clear(&search->best);
	search->exact = is_device || strcmp(mount->directory, path) == 0;
	search->rc = fsq_mount_copy(&search->best, mount, NULL);
	return is_device || search->rc ? FSQ_VISIT_STOP : FSQ_VISIT_CONTINUE;
}

int fsq_mount_in_file(const char *file, const char *path, struct fsq_mount *mount,
		      struct fsq_error *err)
{
	struct path_search search = { .path = path };
	char *resolved = NULL;
	struct stat there, here;
	int rc = fsq_mount_each_in_file(file, compare_line, &search, err);

	/* Most callers pass the mount point as the table has it; then nothing is resolved. */
	if (rc == 0 && search.rc == 0 && !search.exact) {
		fsq_mount_clear(&search.best);
		search.path = resolved = realpath(path, NULL);
		rc = resolved ? fsq_mount_each_in_file(file, compare_line, &search, err)
			      : fsq_fail(err, FSQ_E_NOT_FOUND, errno, path,
					 "cannot resolve the path");
	}
	if (rc == 0 && search.rc)
		rc = fsq_fail_errno(err, ENOMEM, file, "cannot read the mount table");
	else if (rc == 0 &&
		 (!search.best.directory ||
		  (!search.exact && (stat(search.best.directory, &there) || stat(resolved, &here) ||
				     there.st_dev != here.st_dev))))
		rc = fsq_add_hint(err, FSQ_HINT_NAME_MOUNTED,
				  fsq_fail(err, FSQ_E_NOT_FOUND, ENXIO, path,
					   "cannot find the path in %s", file));
	if (rc)
		fsq_mount_clear(&search.best);
	*mount = search.best;
	free(resolved);
	return rc;
}

/* --- mounts that were found --- */

void fsq_mount_cache_open(struct fsq_mount_cache *cache)
{
	*cache = (struct fsq_mount_cache){ .table = open(FSQ_MOUNTINFO, O_RDONLY | O_CLOEXEC) };
}

static void forget_all(struct fsq_mount_cache *cache)
{
	while (cache->first) {
		struct fsq_known_mount *known = cache->first;

		cache->first = known->next;
		fsq_mount_clear(&known->mount);
		free(known);
	}
}

void fsq_mount_cache_close(struct fsq_mount_cache *cache)
{
	forget_all(cache);
	if (cache->table >= 0)
		close(cache->table);
}

bool fsq_mounts_have_changed(int fd)
{
	struct pollfd table = { .fd = fd, .events = POLLPRI };

	return poll(&table, 1, 0) != 0;
}

void fsq_mount_cache_check(struct fsq_mount_cache *cache)
{
	if (cache->table < 0 || fsq_mounts_have_changed(cache->table))
		forget_all(cache);
	if (cache->table < 0)
		fsq_mount_cache_open(cache);
	for (struct fsq_known_mount *known = cache->first; known; known = known->next)
		known->state_known = false;
}

int fsq_mount_cache_find(struct fsq_mount_cache *cache, int fd, const char *path,
			 struct fsq_known_mount **known, struct fsq_error *err)
{
	struct fsq_known_mount *new;
	struct statfs sfs;
	struct statx stx;
	uint64_t id = 0;
	int rc;

	/* Before Linux 6.8 the kernel reuses mount IDs; poll(2) reports changes of the table. */
	if (get_statx(fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_MNT_ID, &stx) == 0 &&
	    (stx.stx_mask & STATX_MNT_ID))
		id = stx.stx_mnt_id;
	for (*known = cache->first; *known; *known = (*known)->next)
		if (id != 0 && (*known)->id == id)
			return 0;
	new = calloc(1, sizeof(*new));
	if (!new)
		return fsq_fail_errno(err, ENOMEM, path, "cannot find the mount");
	rc = fsq_mount_of_fd(fd, path, &new->mount, err);
	if (rc) {
		free(new);
		return rc;
	}
	new->id = id;
	new->has_no_quota =
		fstatfs(fd, &sfs) || fsq_is_in_memory(&sfs) || fsq_is_answered_for(&sfs);
	new->next = cache->first;
	*known = cache->first = new;
	return 0;
}
