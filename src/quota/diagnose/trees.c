/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diagnosis.h"
#include "quota/base/error.h"
#include "quota/base/path.h"
#include "quota/base/pod_path.h"
#include "quota/base/units.h"
#include "quota/directory/project_location.h"
#include "quota/kernel/fs_type.h"
#include "quota/kernel/openat2.h"
#include "quota/limits/limits.h"
#include "quota/mounts/lookup.h"
#include "quota/usage/disk_use.h"
#include "quota/usage/project_tree.h"
#include "shared/array.h"

/* --- what is in a directory --- */

/* @path     NULL: is any directory registered below this one?
 * @return   whether it is in one of these */
static bool is_inside(const struct fsq_registered_list *list, const char *directory,
		      const char *path)
{
	for (size_t i = 0; i < list->count; i++) {
		const char *word = list->entries[i].word;
		const char *below = fsq_path_below(directory, word, strlen(word));

		if (below && *below && (!path || fsq_path_below(word, path, strlen(path))))
			return true;
	}
	return false;
}

struct others {
	const struct fsq_registered_list *list;
	const struct fsq_registered *entry;
	uint32_t carried; /* by the directory */
	bool only_foreign;
	bool foreign, has_inside;
	uint64_t count, special; /* names of files whose ID the kernel does not tell */
	int rc;			 /* of the first that could not be looked at */
	struct fsq_error *err;
};

static enum fsq_visit count_wrong(const struct fsq_tree_event *event, void *arg)
{
	const unsigned int unseen =
		FSQ_TREE_CANNOT_STAT | FSQ_TREE_CANNOT_OPEN | FSQ_TREE_CANNOT_GET;
	struct others *others = arg;

	if ((event->kind & unseen) && others->rc == 0 && event->errnum != ENOENT)
		others->rc = fsq_fail(others->err, event->error, event->errnum, event->path,
				      "cannot be looked at");
	others->special += event->kind == FSQ_TREE_SPECIAL_FILE;
	if (!(event->kind & (FSQ_TREE_WRONG_ID | FSQ_TREE_NO_INHERITANCE)))
		return FSQ_VISIT_CONTINUE;
	if (others->has_inside && is_inside(others->list, others->entry->word, event->path))
		return FSQ_VISIT_CONTINUE;
	others->count++;
	others->foreign |=
		event->kind & FSQ_TREE_WRONG_ID && event->id != 0 && event->id != others->carried;
	return others->foreign && others->only_foreign ? FSQ_VISIT_STOP : FSQ_VISIT_CONTINUE;
}

/* Count what in the directory does not carry the ID, or does not hand it on. */
static int count_others(const struct fsq_diagnosis *diagnosis, struct others *others,
			struct fsq_error *err)
{
	const struct fsq_tree_request request = {
		.size = sizeof(request),
		.directory = others->entry->word,
		.id = others->entry->id,
		.action = FSQ_TREE_CHECK,
		.max_depth = FSQ_DEPTH_INFINITE,
		.emit = count_wrong,
		.arg = others,
		.options = diagnosis->request->options,
	};
	uint64_t entries;
	int rc;

	others->err = err;
	others->has_inside = is_inside(others->list, others->entry->word, NULL);
	rc = fsq_project_tree(&request, &entries, err);
	return rc ? rc : others->rc;
}

/* Does the directory of an entry hold files with other IDs, such as the layers of a container engine? */
static bool has_foreign(struct fsq_diagnosis *diagnosis, const struct fsq_registered_list *list,
			const struct fsq_registered *entry, uint32_t carried)
{
	struct others others = {
		.list = list, .entry = entry, .carried = carried, .only_foreign = true
	};
	struct fsq_error err;

	return count_others(diagnosis, &others, &err) || others.foreign;
}

/* Compare the kernel's count with the files. @return  0, or a failure in @err */
static int count_bytes(const struct fsq_diagnosis *diagnosis, const struct fsq_registered *entry,
		       int fd, struct fsq_finding *finding, struct fsq_error *err)
{
	struct fsq_target target = { .fd = fd };
	struct fsq_dquot dquot = { 0 };
	int rc;

	/* Before writeback, blocks count differently in both. */
	syncfs(fd);
	rc = fsq_disk_use(fd, entry->word, diagnosis->request->options, &finding->other_count,
			  &finding->other_inodes, err);
	if (rc)
		return rc;
	rc = fsq_quotactl_get(&target, FSQ_PROJECT, entry->id, &dquot);
	/* Without the right to ask, or without quota, there is nothing to compare. */
	finding->count = finding->other_count;
	finding->inodes = finding->other_inodes;
	if (rc == 0 || rc == -ENOENT) {
		finding->count = fsq_block_bytes(dquot.form[FSQ_BLOCKS].used);
		finding->inodes = dquot.form[FSQ_INODES].used;
	}
	return 0;
}

/* Leave those that do not count for the project out of what is compared. @return  how many they are */
static uint64_t leave_special(uint64_t special, int fd, struct fsq_finding *finding)
{
	struct stat st;
	uint64_t most = special < finding->other_inodes ? special : finding->other_inodes;
	uint64_t left = fsq_special_uncounted(most, finding->other_inodes - most, finding->inodes);

	finding->other_inodes -= left;
	/* A long symlink has a block. */
	if (fstat(fd, &st) == 0 && finding->other_count > finding->count &&
	    finding->other_count - finding->count <= left * (uint64_t)st.st_blksize)
		finding->other_count = finding->count;
	return left;
}

/*
 * Check the contents of the directory of an entry, which carries its ID.
 *
 * @finding  its ID and numbers are set
 * @special  set: how many symlinks and special files do not count
 * @return   whether there is a finding
 */
static bool look_deep(struct fsq_diagnosis *diagnosis, const struct fsq_registered_list *list,
		      const struct fsq_registered *entry, int fd, struct fsq_finding *finding,
		      uint64_t *special)
{
	struct others others = { .list = list, .entry = entry, .carried = entry->id };
	struct fsq_error err;
	int rc = count_others(diagnosis, &others, &err);

	finding->id = FSQ_FINDING_TREE_HAS_OTHERS;
	finding->count = others.count;
	/* Setting the ID of the whole tree would change those projects, too. */
	finding->in_doubt = others.foreign || others.has_inside;
	if (others.rc)
		fsq_diagnosis_report_error(diagnosis, &err);
	if ((rc == 0 || others.rc) && others.count)
		return true;
	/*
	 * Do not compare: the kernel adds up all directories of an ID, f2fs leaves out what du(1) counts, and
	 * du(1) counts registered directories inside.
	 */
	if (rc == 0 && !entry->shared && !others.has_inside && !fsq_is_f2fs(fd))
		rc = count_bytes(diagnosis, entry, fd, finding, &err);
	else
		finding->count = 0;
	if (rc == 0)
		*special = leave_special(others.special, fd, finding);
	if (rc && err.errnum == EINTR)
		fsq_diagnosis_fail(diagnosis, EINTR, entry->word);
	else if (rc && !others.rc)
		fsq_diagnosis_report_error(diagnosis, &err);
	finding->id = FSQ_FINDING_COUNT_DIFFERS;
	/*
	 * The kernel counts more: deleted files that are open, or files elsewhere. It counts less: its
	 * records are wrong.
	 */
	finding->in_doubt = finding->count >= finding->other_count;
	return rc == 0 &&
	       (finding->count != finding->other_count || finding->inodes > finding->other_inodes);
}

/* --- the directories --- */

/* Volumes of pods that are gone. */
struct leaked {
	const struct fsq_mount *mount;
	uint64_t count;
};

struct trees {
	struct leaked *leaked; /* of each filesystem */
	size_t leaked_count, leaked_capacity;
	struct fsq_diagnosis *diagnosis;
	const struct fsq_registered_list *list;
	bool opened; /* the part below is a missing directory */
	struct fsq_project_location handle;
};

static bool is_mount_wanted(const struct trees *trees, const struct fsq_mount *mount)
{
	const struct fsq_diagnosis *diagnosis = trees->diagnosis;

	if (!mount || !mount->is_local)
		return false;
	if (diagnosis->request->path_count == 0)
		return true;
	for (size_t i = 0; i < diagnosis->dev_count; i++)
		if (diagnosis->devs[i] == mount->dev)
			return true;
	return false;
}

/* Open a path on this mount only, without following symlinks. */
static int open_on(const struct fsq_mount *mount, const char *directory)
{
	const char *below = fsq_path_below(mount->directory, directory, strlen(directory));
	int root = fsq_lookup(NULL, mount->directory, O_PATH, NULL), fd;

	if (root < 0)
		return root == -EIO ? root : -EXDEV;
	fd = fsq_openat2(root, *below ? below : ".",
			 O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC,
			 RESOLVE_BENEATH | RESOLVE_NO_XDEV);
	close(root);
	return fd;
}

static void say_of_directory(const struct trees *trees, const struct fsq_mount *mount,
			     const struct fsq_registered *entry, struct fsq_finding finding)
{
	finding.path = entry->word;
	finding.name = trees->list->file;
	finding.filesystem = mount->device;
	finding.mountpoint = mount->directory;
	finding.type = mount->type;
	finding.project = entry->id;
	finding.line = entry->line;
	finding.text = entry->text;
	if (fsq_finding_unmounts(finding.id))
		finding.also_at = fsq_diagnosis_other_mount(trees->diagnosis, mount);
	fsq_finding_visit(trees->diagnosis, finding);
}

struct unmounted {
	const struct fsq_mount *mount;
	const char *directory;
	char *found;
};

static enum fsq_visit find_highest(const struct fsq_mount *line, void *arg)
{
	struct unmounted *search = arg;
	const char *above = line->directory;

	if (fsq_mount_point_hides(above, search->mount->directory, search->directory) &&
	    (!search->found || strlen(above) < strlen(search->found))) {
		free(search->found);
		search->found = strdup(above);
	}
	return FSQ_VISIT_CONTINUE;
}

/* Would fsq_prune() remove the line? Without privileges that is not known. */
static bool is_certain(struct trees *trees, const struct fsq_registered *entry)
{
	const struct fsq_entry line = { entry->id, entry->word };
	const struct fsq_volume *volume;
	enum fsq_leftover_kept doubt = FSQ_NOT_KEPT;
	struct fsq_dquot dquot = { 0 };
	enum fsq_presence presence = FSQ_ELSEWHERE;
	bool certain = false;
	struct fsq_error err;
	int rc = 0;

	if (!trees->opened)
		rc = fsq_project_location_open(&trees->handle, trees->list->file, &err);
	trees->opened = true;
	if (rc == 0 && trees->handle.certain)
		presence = fsq_volumes_find(&trees->handle.volumes, entry->word, &volume);
	if (presence == FSQ_UNSEEN && trees->handle.volumes.errnum == ENOMEM)
		fsq_diagnosis_fail(trees->diagnosis, ENOMEM, entry->word);
	if (presence == FSQ_GONE) {
		if (volume->has_quota)
			rc = fsq_volume_read_quota(volume, entry->id, &dquot, &err);
		if (rc == 0)
			rc = fsq_volumes_doubt(&trees->handle.volumes, &trees->handle.lines, volume,
					       FSQ_GONE, &line, fsq_dquot_has_anything(&dquot),
					       &doubt, &err);
		certain = rc == 0 && doubt == FSQ_NOT_KEPT &&
			  (entry->shared || dquot.form[FSQ_INODES].used == 0);
	}
	if (rc && err.errnum == ENOMEM)
		fsq_diagnosis_fail(trees->diagnosis, ENOMEM, entry->word);
	return certain;
}

/* Is it the volume of a pod that is gone, too? While that is there, kubelet may want the line. */
static bool is_of_gone_pod(const struct fsq_mount *mount, const char *directory)
{
	const char *at = directory;
	struct fsq_pod_path path;

	while (fsq_pod_path_next(&at, &path)) {
		char *pod = strndup(directory, (size_t)(path.uid + path.length - directory));
		int fd = pod ? open_on(mount, pod) : -ENOMEM;

		free(pod);
		if (fd >= 0)
			close(fd);
		if (fd == -ENOENT)
			return true;
	}
	return false;
}

static void add_leaked(struct trees *trees, const struct fsq_mount *mount)
{
	const struct leaked one = { mount, 1 };

	for (size_t i = 0; i < trees->leaked_count; i++)
		if (trees->leaked[i].mount == mount) {
			trees->leaked[i].count++;
			return;
		}
	if (!array_add(&trees->leaked, &trees->leaked_count, &trees->leaked_capacity, &one,
		       sizeof(one)))
		fsq_diagnosis_fail(trees->diagnosis, ENOMEM, mount->directory);
}

/* One finding for all of a filesystem: a busy node has hundreds. */
static void say_of_leaked(struct trees *trees)
{
	for (size_t i = 0; i < trees->leaked_count; i++) {
		const struct fsq_mount *mount = trees->leaked[i].mount;
		const uint64_t count = trees->leaked[i].count;
		const bool starves = count >= FSQ_KUBELET_SEARCHES;

		fsq_finding_visit(trees->diagnosis,
				  (struct fsq_finding){ .id = FSQ_FINDING_KUBELET_LEAKED,
							.path = mount->directory,
							.filesystem = mount->device,
							.mountpoint = mount->directory,
							.type = mount->type,
							.count = count,
							.other = starves ? 0
									 : FSQ_KUBELET_SEARCHES -
										   (uint32_t)count,
							.in_doubt = starves });
	}
	free(trees->leaked);
}

/* @replaced whether something else is at its path */
static void check_gone(struct trees *trees, const struct fsq_mount *mount,
		       const struct fsq_registered *entry, bool replaced)
{
	/* The directory may come back when the highest mount point of fstab above it is mounted. */
	struct unmounted unmounted = { .mount = mount, .directory = entry->word };
	bool certain;

	fsq_fstab_each(trees->diagnosis->fstab, find_highest, &unmounted, NULL);
	certain = !unmounted.found && is_certain(trees, entry);
	if (certain && is_of_gone_pod(mount, entry->word))
		add_leaked(trees, mount);
	else
		say_of_directory(trees, mount, entry,
				 (struct fsq_finding){ .id = FSQ_FINDING_DIRECTORY_GONE,
						       .other_name = unmounted.found,
						       .count = replaced,
						       .in_doubt = !unmounted.found && !certain });
	free(unmounted.found);
}

/*
 * Is this another directory, because the filesystem is not mounted? It has no ID, and the kernel has no
 * record of the project here.
 */
static bool is_replaced(const struct fsq_registered *entry, int fd, uint32_t carried)
{
	struct fsq_handle handle = { .target.fd = fd };
	struct fsq_inode_project above = { 0 };
	struct fsq_dquot dquot;
	int rc = fsq_quotactl_get(&handle.target, FSQ_PROJECT, entry->id, &dquot);

	if (rc != -ENOENT && (rc || fsq_dquot_has_anything(&dquot)))
		return false;
	return carried == 0 || (fsq_handle_read_above(&handle, &above) == 0 && above.id == carried);
}

/* @return   whether it carries its ID and hands it on; else there is a finding */
static bool check_tag(struct trees *trees, const struct fsq_mount *mount,
		      const struct fsq_registered *entry, int fd)
{
	struct fsq_inode_project project = { 0 };
	struct fsq_finding finding = { 0 };
	int rc = fsq_inode_project_get(fd, &project);

	if (rc == 0 && project.id == entry->id && project.inherit)
		return true;
	if (rc == -ENOTTY || rc == -EOPNOTSUPP) {
		finding.id = FSQ_FINDING_DIRECTORY_NOT_SUPPORTED;
	} else if (rc) {
		return false;
	} else if (project.id != entry->id && is_replaced(entry, fd, project.id)) {
		check_gone(trees, mount, entry, true);
		return false;
	} else if (project.id != entry->id) {
		finding.id = FSQ_FINDING_TAG_CHANGED;
		finding.other = project.id;
		finding.in_doubt = has_foreign(trees->diagnosis, trees->list, entry, project.id);
	} else {
		finding.id = FSQ_FINDING_TAG_NOT_INHERITED;
	}
	say_of_directory(trees, mount, entry, finding);
	return false;
}

static void check_deep(const struct trees *trees, const struct fsq_mount *mount,
		       const struct fsq_registered *entry, int fd)
{
	struct fsq_finding finding = { 0 };
	uint64_t special = 0;
	struct fsq_mount line;
	char *options = NULL;

	if (fsq_mount_line_of_fd(fd, &line) == 0)
		finding.options = options = fsq_options_with_quota(&line);
	if (look_deep(trees->diagnosis, trees->list, entry, fd, &finding, &special))
		say_of_directory(trees, mount, entry, finding);
	if (special)
		say_of_directory(
			trees, mount, entry,
			(struct fsq_finding){ .id = FSQ_FINDING_SPECIAL_FILES, .count = special });
	fsq_mount_clear(&line);
	free(options);
}

static void check_entry(struct trees *trees, const struct fsq_registered *entry)
{
	const struct fsq_mount *mount = fsq_mount_points_get(trees->diagnosis->mounts, entry->word);
	int fd;

	if (!is_mount_wanted(trees, mount))
		return;
	fd = open_on(mount, entry->word);
	if (fd == -ENOENT) {
		check_gone(trees, mount, entry, false);
	} else if (fd < 0 && fd != -ENOTDIR && fd != -ELOOP && fd != -EXDEV && fd != -EACCES &&
		   fd != -EPERM) {
		say_of_directory(trees, mount, entry,
				 (struct fsq_finding){ .id = FSQ_FINDING_DIRECTORY_UNREADABLE,
						       .errnum = -fd });
	} else if (fd >= 0) {
		if (!entry->twice && check_tag(trees, mount, entry, fd) &&
		    trees->diagnosis->request->deep)
			check_deep(trees, mount, entry, fd);
		close(fd);
	}
}

/*
 * Is it a registered directory, by whatever path, or does it belong to one?
 *
 * @inherited whether the directory above carries its ID, too
 */
static bool is_registered(const struct fsq_registered_list *list, const struct fsq_handle *handle,
			  const struct stat *st, bool inherited)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct fsq_registered *entry = &list->entries[i];

		if (strcmp(entry->word, handle->path) == 0 ||
		    (entry->id == handle->project.id &&
		     (inherited || fsq_lookup_leads_to(entry->word, st->st_dev, st->st_ino) == 1)))
			return true;
	}
	return false;
}

/* A directory that the caller has named, and another program tagged: what is in it must carry the same ID. */
static void check_unregistered(struct trees *trees, const char *path)
{
	struct fsq_inode_project above;
	const struct fsq_mount *mount;
	struct fsq_handle handle;
	bool inherited;
	struct stat st;

	if (fsq_handle_open_directory(&handle, path, NULL, NULL))
		return;
	mount = fsq_mount_points_get(trees->diagnosis->mounts, handle.path);
	inherited = fsq_handle_read_project(&handle, NULL) == 0 &&
		    fsq_handle_read_above(&handle, &above) == 0 && above.id == handle.project.id;
	if (mount && fstat(handle.target.fd, &st) == 0 && st.st_dev == mount->dev &&
	    handle.project.id && !is_registered(trees->list, &handle, &st, inherited)) {
		/* The kernel also counts what is in the directory above. */
		const struct fsq_registered entry = { .word = handle.path,
						      .id = handle.project.id,
						      .shared = inherited };

		if (!trees->diagnosis->registry->none)
			say_of_directory(
				trees, mount, &entry,
				(struct fsq_finding){ .id = FSQ_FINDING_DIRECTORY_WITHOUT_LINE });
		check_deep(trees, mount, &entry, handle.target.fd);
	}
	fsq_handle_close(&handle);
}

void fsq_diagnose_trees(struct fsq_diagnosis *diagnosis, const struct fsq_registered_list *list)
{
	struct trees trees = { .diagnosis = diagnosis, .list = list };

	const struct fsq_diagnose_request *request = diagnosis->request;
	const size_t named = request->deep ? request->path_count : 0;

	if ((list->count || named) && !fsq_diagnosis_mounts(diagnosis))
		return;
	for (size_t i = 0; i < list->count && !fsq_diagnosis_is_over(diagnosis); i++)
		check_entry(&trees, &list->entries[i]);
	for (size_t i = 0; i < named && !fsq_diagnosis_is_over(diagnosis); i++)
		check_unregistered(&trees, request->paths[i]);
	say_of_leaked(&trees);
	fsq_project_location_close(&trees.handle);
}
