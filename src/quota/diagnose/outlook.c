/* SPDX-License-Identifier: Apache-2.0 */
#include "outlook.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "quota/base/error.h"
#include "quota/base/path.h"
#include "quota/mounts/device.h"
#include "quota/mounts/filesystem_handle.h"
#include "quota/mounts/handle.h"
#include "quota/mounts/lookup.h"
#include "quota/mounts/mount_table.h"
#include "quota/usage/open_files.h"
#include "shared/array.h"
#include "shared/read_file.h"

#define CMDLINE "/proc/cmdline"

/* --- how the kernel is booted --- */

/* Take the words of a command line; the last one of each counts. */
static void take_command_line(struct fsq_outlook *outlook, struct fsq_boot_flags *flags, char *line)
{
	char *rest = line, *word;

	*flags = (struct fsq_boot_flags){ 0 };
	while ((word = strsep(&rest, " \t\n\"'"))) {
		if (strncmp(word, "rootflags=", strlen("rootflags=")) == 0) {
			flags->root_flags =
				texts_keep(&outlook->texts, word + strlen("rootflags="));
			outlook->no_memory |= !flags->root_flags;
		} else if (strcmp(word, "rw") == 0 || strcmp(word, "ro") == 0) {
			flags->read_write = strcmp(word, "rw") == 0;
		}
	}
}

/* @return  whether a file was read */
static bool read_lines(struct fsq_outlook *outlook, const char *file, char **text, size_t *length)
{
	int rc = fsq_read_file(file, text, length);

	outlook->no_memory |= rc == -ENOMEM;
	return rc == 0;
}

static void take_running_kernel(struct fsq_outlook *outlook)
{
	char *text;
	size_t length;

	if (!read_lines(outlook, CMDLINE, &text, &length))
		return;
	take_command_line(outlook, &outlook->booted, text);
	free(text);
}

/* Take the command lines of a configuration of the boot loader. One that asks for no quota counts. */
static void take_boot_file(struct fsq_outlook *outlook, const char *file, bool *found)
{
	char *text, *rest, *line;
	size_t length;

	if (!read_lines(outlook, file, &text, &length))
		return;
	rest = text;
	while ((line = fsq_next_line(&rest, text + length))) {
		struct fsq_boot_flags one;

		line += strspn(line, " \t");
		if (!strstr(line, "root=") || *line == '#')
			continue;
		take_command_line(outlook, &one, line);
		if (!*found || !fsq_options_enforce(one.root_flags))
			outlook->next_boot = one;
		*found = true;
	}
	free(text);
}

/* What the boot loader gives to the next kernel; what this one was given, if that cannot be read. */
int fsq_outlook_find_boot(struct fsq_outlook *outlook)
{
	static const char *const patterns[] = { "/boot/loader/entries/*.conf",
						"/efi/loader/entries/*.conf", "/boot/grub/grub.cfg",
						"/boot/grub2/grub.cfg" };
	bool found = false;
	glob_t files;

	take_running_kernel(outlook);
	outlook->next_boot = outlook->booted;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]) && !found; i++) {
		int rc = glob(patterns[i], 0, NULL, &files);

		outlook->no_memory |= rc == GLOB_NOSPACE;
		if (rc)
			continue;
		for (size_t j = 0; j < files.gl_pathc; j++)
			take_boot_file(outlook, files.gl_pathv[j], &found);
		globfree(&files);
	}
	return outlook->no_memory ? -ENOMEM : 0;
}

/* --- where it is mounted --- */

static int fail_memory(const char *path, struct fsq_error *err)
{
	return fsq_fail_errno(err, ENOMEM, path, "cannot look at it");
}

/* OSTree mounts parts of the root filesystem at / and elsewhere, and all of it at /sysroot. */
static bool is_of_root(const struct fsq_mount *mount)
{
	return strcmp(mount->directory, "/") == 0 || (strcmp(mount->directory, "/sysroot") == 0 &&
						      access("/run/ostree-booted", F_OK) == 0);
}

static bool is_root(const struct fsq_outlook *outlook)
{
	struct stat st;

	return (stat("/", &st) == 0 && st.st_dev == outlook->dev) ||
	       (outlook->mount.directory && is_of_root(&outlook->mount));
}

/* Of several mounts of it the one that shows all, and first that of the root filesystem. */
static bool is_better(const struct fsq_mount *mount, const struct fsq_mount *than, const char *path)
{
	const bool whole = strcmp(mount->root, "/") == 0;

	if (!than || whole != (strcmp(than->root, "/") == 0))
		return !than || whole;
	if (is_of_root(mount) != is_of_root(than))
		return is_of_root(mount);
	return path && strcmp(mount->directory, path) == 0 && strcmp(than->directory, path) != 0;
}

/* Find all mounts of the device. @path  a mount point that was asked for, or NULL */
static int find_mounts(struct fsq_outlook *outlook, const char *path, struct fsq_error *err)
{
	struct fsq_mount_points *points;
	const struct fsq_mount *best = NULL;
	int rc = fsq_mount_points_read(&points, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < points->count; i++)
		if (points->mounts[i].dev == outlook->dev && points->mounts[i].is_local &&
		    is_better(&points->mounts[i], best, path))
			best = &points->mounts[i];
	if (best)
		rc = fsq_mount_copy(&outlook->mount, best, err);
	for (size_t i = 0; best && i < points->count && rc == 0; i++) {
		const struct fsq_mount *mount = &points->mounts[i];
		struct fsq_outlook_place place = {
			.directory = texts_keep(&outlook->texts, mount->directory),
			.root = texts_keep(&outlook->texts, mount->root),
			.read_only = fsq_options_have(mount->options, "ro"),
		};

		if (mount->dev != outlook->dev || mount == best)
			continue;
		if (!place.directory || !place.root ||
		    !array_add(&outlook->places, &outlook->place_count, &outlook->place_capacity,
			       &place, sizeof(place)))
			rc = fail_memory(mount->directory, err);
	}
	fsq_mount_points_free(points);
	return rc;
}

/* @return  the node of a block device by its name in the kernel, for free(3), or NULL */
static char *node_of(dev_t dev)
{
	char file[64], *text, *name, *node = NULL;
	struct stat st;
	size_t length;

	snprintf(file, sizeof(file), "/sys/dev/block/%u:%u/uevent", major(dev), minor(dev));
	if (fsq_read_file(file, &text, &length))
		return NULL;
	name = strstr(text, "DEVNAME=");
	if (name) {
		name += strlen("DEVNAME=");
		name[strcspn(name, "\n")] = '\0';
		if (asprintf(&node, "/dev/%s", name) < 0)
			node = NULL;
	}
	free(text);
	if (node && (stat(node, &st) || !S_ISBLK(st.st_mode) || st.st_rdev != dev)) {
		free(node);
		node = NULL;
	}
	return node;
}

/* The mount table has a name that may not be there, such as /dev/root. */
static int find_node(struct fsq_outlook *outlook, const char *path, struct fsq_error *err)
{
	struct stat st;

	if (outlook->device)
		return 0;
	if (stat(outlook->mount.device, &st) == 0 && S_ISBLK(st.st_mode) &&
	    st.st_rdev == outlook->dev)
		outlook->device = strdup(outlook->mount.device);
	else
		outlook->device = node_of(outlook->dev);
	if (!outlook->device)
		outlook->device = strdup(outlook->mount.device);
	return outlook->device ? 0 : fail_memory(path, err);
}

/* --- what it is --- */

static void read_state(struct fsq_outlook *outlook, struct fsq_target *target)
{
	struct fsq_state state;

	if (fsq_quotactl_state(target, FSQ_PROJECT, &state))
		return;
	outlook->accounting = state.accounting[FSQ_PROJECT];
	outlook->enforced = outlook->accounting && state.enforced[FSQ_PROJECT];
}

int fsq_outlook_take_mount(struct fsq_outlook *outlook, struct fsq_mount *line)
{
	fsq_mount_clear(&outlook->mount);
	outlook->mount = *line;
	*line = (struct fsq_mount){ 0 };
	outlook->dev = outlook->mount.dev;
	outlook->read_only = fsq_options_have(outlook->mount.super_options, "ro");
	outlook->is_root = is_root(outlook);
	outlook->type = strdup(outlook->mount.type);
	return outlook->type ? 0 : -ENOMEM;
}

static int look_at_mounted(struct fsq_outlook *outlook, struct fsq_error *err)
{
	struct fsq_handle handle = { 0 };
	struct fsq_mount line = { 0 };
	int rc = fsq_handle_open(&handle, outlook->mount.directory, NULL, err), errnum;

	if (rc)
		return rc;
	errnum = -fsq_mount_line_of_fd(handle.target.fd, &line);
	if (errnum)
		rc = fsq_fail_errno(err, errnum, outlook->mount.directory, "cannot find the mount");
	else if (line.dev != outlook->dev)
		rc = fsq_fail(err, FSQ_E_CONFLICT, 0, outlook->mount.directory,
			      "another filesystem covers it");
	else if (fsq_outlook_take_mount(outlook, &line))
		rc = fail_memory(outlook->mount.directory, err);
	else
		read_state(outlook, &handle.target);
	fsq_mount_clear(&line);
	fsq_handle_close(&handle);
	return rc;
}

int fsq_outlook_read_features(struct fsq_outlook *outlook)
{
	const char *device = outlook->device ? outlook->device : outlook->mount.device;
	bool project;
	int rc;

	if (outlook->features_read)
		return -outlook->features_errnum;
	rc = fsq_superblock_of_mount(device, outlook->dev, &outlook->features);
	/* Who may not read the device may read sysfs(5). */
	if (rc && strcmp(outlook->type, "f2fs") == 0 &&
	    fsq_superblock_f2fs(outlook->dev, &project) == 0) {
		outlook->features = (struct fsq_features){ .quota = true, .project = project };
		rc = 0;
	}
	/* Each XFS has them; who can read the device learns the UUID, too. */
	if (rc && rc != -EACCES && strcmp(outlook->type, "xfs") == 0) {
		outlook->features = (struct fsq_features){ .quota = true, .project = true };
		rc = 0;
	}
	outlook->features_read = true;
	outlook->features_errnum = -rc;
	return rc;
}

/* Read what the device says: the UUID, and of what is not mounted the type. */
static int look_at_device(struct fsq_outlook *outlook, struct fsq_error *err)
{
	int fd = open(outlook->device, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), rc = 0;
	struct fsq_device device = { 0 };

	if (fd < 0)
		return outlook->type ? 0
				     : fsq_fail_errno(err, errno, outlook->device, "cannot open");
	rc = fsq_device_probe(fd, outlook->device, &device, err);
	if (rc == 0 && !device.type && !outlook->type)
		rc = fsq_fail(err, FSQ_E_NOT_SUPPORTED, 0, outlook->device,
			      "has no filesystem that libblkid knows: make one, as with mkfs.xfs");
	if (rc == 0 && !outlook->type) {
		outlook->type = device.type;
		device.type = NULL;
	}
	outlook->uuid = device.uuid;
	device.uuid = NULL;
	fsq_device_clear(&device);
	close(fd);
	return outlook->type ? 0 : rc;
}

/* --- its next mount --- */

int fsq_outlook_find_next(struct fsq_outlook *outlook, const char *fstab, int device,
			  struct fsq_error *err)
{
	const char *name = outlook->device ? outlook->device : outlook->mount.device;
	const int own = device < 0 ? fsq_superblock_open(name, outlook->dev) : -1;
	const struct fsq_next_wanted wanted = {
		.fstab = fstab,
		.directory = outlook->is_root ? "/" : outlook->mount.directory,
		.device = device < 0 ? own : device,
		.dev = outlook->dev,
	};
	char *options = NULL;
	int rc = fsq_next_mount_find(&wanted, &outlook->next, err);

	if (own >= 0)
		close(own);
	if (rc)
		return rc;
	if (asprintf(&options, "%s,%s", outlook->features.mount_options,
		     outlook->next.options ? outlook->next.options : "") < 0)
		return fail_memory(wanted.fstab, err);
	outlook->next_wants = fsq_options_enforce(options);
	free(options);
	if (fsq_options_refused(outlook->type, outlook->next.options, &outlook->next_refused))
		return fail_memory(wanted.fstab, err);
	return 0;
}

/* --- all together --- */

struct search_fstab {
	const char *directory;
	char *device;
	bool found;
};

static enum fsq_visit find_directory(const struct fsq_mount *line, void *arg)
{
	struct search_fstab *search = arg;

	if (strcmp(line->directory, search->directory) != 0 || *line->device == '\0')
		return FSQ_VISIT_CONTINUE;
	search->device = strdup(line->device);
	search->found = true;
	return FSQ_VISIT_STOP;
}

/* A directory where fstab mounts a device, which is not mounted now, means that device. */
static int follow_fstab(struct fsq_outlook *outlook, const char *directory, const char *fstab,
			struct fsq_error *err)
{
	struct search_fstab search = { .directory = directory };
	struct fsq_error unread;
	struct stat st;
	int rc = 0;

	if (fsq_fstab_each(fstab, find_directory, &search, &unread) && unread.errnum == ENOMEM)
		return fail_memory(directory, err);
	if (search.found && !search.device)
		return fail_memory(directory, err);
	if (search.device && fsq_is_tag(search.device)) {
		char *tag = search.device;

		search.device = NULL;
		rc = fsq_device_of_tag(tag, &search.device, err);
		free(tag);
	}
	if (rc == 0 && search.device && stat(search.device, &st) == 0) {
		if (S_ISBLK(st.st_mode)) {
			outlook->device = search.device;
			outlook->dev = st.st_rdev;
			return 0;
		}
		if (S_ISREG(st.st_mode))
			rc = fsq_fail(err, FSQ_E_CONFLICT, 0, directory,
				      "fstab mounts an image here: mount it first");
	}
	free(search.device);
	return rc;
}

/* Find which device a path means. */
static int identify(struct fsq_outlook *outlook, const char *path, const char *fstab,
		    struct fsq_error *err)
{
	struct fsq_mount mount = { 0 };
	char *resolved = NULL;
	struct stat st;
	int fd = fsq_lookup(NULL, path, O_PATH, err), rc = 0;

	if (fd < 0)
		return fsq_failed(err, -fd);
	if (fstat(fd, &st)) {
		rc = fsq_fail_errno(err, errno, path, "cannot look at it");
	} else if (S_ISBLK(st.st_mode)) {
		outlook->dev = st.st_rdev;
		outlook->device = strdup(path);
		rc = outlook->device ? find_mounts(outlook, NULL, err) : fail_memory(path, err);
	} else {
		resolved = fsq_fd_path(fd);
		rc = resolved ? fsq_mount_of_fd(fd, path, &mount, err) : fail_memory(path, err);
		if (rc == 0 && strcmp(mount.directory, resolved) != 0)
			rc = follow_fstab(outlook, resolved, fstab, err);
		if (rc == 0 && !outlook->device)
			outlook->dev = mount.dev;
		if (rc == 0)
			rc = find_mounts(outlook, resolved, err);
		/* A type whose files have another number than its mount, such as btrfs. */
		if (rc == 0 && !outlook->mount.directory && !outlook->device) {
			outlook->mount = mount;
			mount = (struct fsq_mount){ 0 };
		}
		fsq_mount_clear(&mount);
		free(resolved);
	}
	close(fd);
	return rc;
}

int fsq_outlook_get(struct fsq_outlook *outlook, const char *path, const char *fstab,
		    struct fsq_error *err)
{
	char *device = NULL;
	int rc;

	*outlook = (struct fsq_outlook){ 0 };
	rc = fsq_mount_table_load(err);
	if (rc == 0 && fsq_is_tag(path))
		rc = fsq_filesystem_device_of_tag(path, &device, err);
	if (rc == 0)
		rc = identify(outlook, device ? device : path, fstab, err);
	free(device);
	if (rc == 0)
		rc = find_node(outlook, path, err);
	if (rc == 0 && outlook->mount.directory)
		rc = look_at_mounted(outlook, err);
	if (rc == 0)
		rc = look_at_device(outlook, err);
	if (rc == 0)
		fsq_outlook_read_features(outlook);
	if (rc == 0)
		rc = fsq_outlook_find_next(outlook, fstab, -1, err);
	if (rc == 0 && fsq_outlook_find_boot(outlook))
		rc = fail_memory(path, err);
	if (rc)
		fsq_outlook_clear(outlook);
	return rc;
}

void fsq_outlook_clear(struct fsq_outlook *outlook)
{
	free(outlook->device);
	free(outlook->type);
	free(outlook->uuid);
	free(outlook->next_refused);
	free(outlook->places);
	fsq_mount_clear(&outlook->mount);
	fsq_next_mount_clear(&outlook->next);
	texts_free(&outlook->texts);
	*outlook = (struct fsq_outlook){ 0 };
}

enum fsq_finding_id fsq_outlook_other_type(const char *type)
{
	if (strcmp(type, "btrfs") == 0)
		return FSQ_FINDING_BTRFS;
	if (strcmp(type, "tmpfs") == 0)
		return FSQ_FINDING_TMPFS;
	return fsq_is_network(type) ? FSQ_FINDING_NETWORK : FSQ_FINDING_OTHER_FILESYSTEM;
}

bool fsq_outlook_ext4(const struct fsq_features *features, const char *options,
		      struct fsq_finding *finding)
{
	finding->other_name = fsq_options_of_types("ext4", features->quota ? NULL : options);
	if (!features->project && features->inode_size <= 128) {
		finding->id = FSQ_FINDING_EXT4_INODE_SIZE;
		finding->count = features->inode_size;
	} else if (!features->project || !features->quota) {
		finding->id = FSQ_FINDING_EXT4_FEATURES;
		finding->name = features->quota	    ? "project"
				: features->project ? "quota"
						    : "quota,project";
	} else {
		return true;
	}
	return false;
}

bool fsq_outlook_has_obstacle(const struct fsq_outlook *outlook, struct fsq_finding *finding)
{
	const bool is_ext4 = strcmp(outlook->type, "ext4") == 0;
	const bool is_f2fs = strcmp(outlook->type, "f2fs") == 0;

	*finding = (struct fsq_finding){ .type = outlook->type, .filesystem = outlook->device };
	if (!is_ext4 && !is_f2fs && strcmp(outlook->type, "xfs") != 0) {
		finding->id = strcmp(outlook->type, "overlay") == 0
				      ? FSQ_FINDING_OVERLAY
				      : fsq_outlook_other_type(outlook->type);
		return true;
	}
	if (fsq_outlook_has_features(outlook) || outlook->features_errnum)
		return false;
	if (is_f2fs)
		finding->id = FSQ_FINDING_F2FS_FEATURES;
	return is_f2fs || (is_ext4 && !fsq_outlook_ext4(&outlook->features, NULL, finding) &&
			   finding->id == FSQ_FINDING_EXT4_INODE_SIZE);
}

bool fsq_outlook_has_features(const struct fsq_outlook *outlook)
{
	return outlook->enforced || (outlook->features_errnum == 0 && outlook->features.project &&
				     outlook->features.quota);
}

bool fsq_outlook_after_mount(const struct fsq_outlook *outlook)
{
	if (outlook->is_root)
		return outlook->enforced;
	return fsq_outlook_has_features(outlook) && !outlook->next_refused && outlook->next_wants;
}

bool fsq_outlook_after_boot(const struct fsq_outlook *outlook)
{
	if (!outlook->is_root)
		return fsq_outlook_after_mount(outlook) && outlook->next.file &&
		       !fsq_options_have(outlook->next.options, "noauto");
	if (!fsq_outlook_has_features(outlook) || outlook->next_refused)
		return false;
	/* XFS takes it at mount only, the others also where they are remounted to write. */
	return fsq_options_enforce(outlook->next_boot.root_flags) ||
	       (strcmp(outlook->type, "xfs") != 0 && outlook->next_wants &&
		(!outlook->next_boot.read_write ||
		 fsq_options_enforce(outlook->features.mount_options)));
}

struct search_users {
	void (*visit)(pid_t pid, const char *command, void *arg);
	void *arg;
	pid_t last; /* its files come one behind the other */
};

static enum fsq_visit take_user(const struct fsq_open_file *file, void *arg)
{
	struct search_users *search = arg;
	char *command;

	if (file->is_certain && file->pid != search->last) {
		fsq_process_command(file->pid, &command);
		search->visit(file->pid, command, search->arg);
		free(command);
		search->last = file->pid;
	}
	return FSQ_VISIT_CONTINUE;
}

int fsq_outlook_users(const struct fsq_outlook *outlook,
		      void (*visit)(pid_t pid, const char *command, void *arg), void *arg)
{
	struct search_users search = { .visit = visit, .arg = arg };

	return fsq_open_files_each(outlook->dev, true, take_user, &search);
}
