/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "quota/base/path.h"
#include "quota/kernel/openat2.h"
#include "quota/mounts/mounts.h"
#include "registered.h"
#include "volumes.h"
#include "shared/array.h"

/* A mount: the deepest one above a directory is where it lies. */
struct mount {
	struct fsq_mount_entry entry;
	bool safe; /* to touch it hangs nobody */
};

struct trees {
	struct fsq_diagnosis *diagnosis;
	const struct fsq_registered_list *list;
	struct mount *mounts;
	size_t count, capacity;
	bool opened; /* those below, of which some directory is gone */
	struct fsq_volumes volumes;
	struct fsq_entries lines;
	int rc;
};

static enum fsq_visit add_mount(const struct fsq_mount_entry *entry, void *arg)
{
	struct trees *trees = arg;
	struct mount *mounts =
		array_grow(trees->mounts, trees->count, &trees->capacity, sizeof(*mounts));
	struct mount *mount;

	trees->rc = -ENOMEM;
	if (!mounts)
		return FSQ_VISIT_STOP;
	trees->mounts = mounts;
	mount = &mounts[trees->count];
	*mount = (struct mount){ .entry = { .id = entry->id,
					    .dev = entry->dev,
					    .directory = strdup(entry->directory),
					    .source = strdup(entry->source),
					    .type = strdup(entry->type),
					    .options = strdup(entry->options),
					    .super_options = strdup(entry->super_options) } };
	trees->count++;
	if (!mount->entry.directory || !mount->entry.source || !mount->entry.type ||
	    !mount->entry.options || !mount->entry.super_options)
		return FSQ_VISIT_STOP;
	trees->rc = 0;
	return FSQ_VISIT_CONTINUE;
}

static enum fsq_visit mark_safe(const struct fsq_mount *mount, void *arg)
{
	struct trees *trees = arg;

	for (size_t i = 0; i < trees->count; i++)
		if (trees->mounts[i].entry.id == mount->id)
			trees->mounts[i].safe = true;
	return FSQ_VISIT_CONTINUE;
}

/* @return   the mount that a directory lies on, or NULL; of several at one place the last */
static const struct mount *mount_of(const struct trees *trees, const char *directory)
{
	const struct mount *best = NULL;
	size_t best_length = 0;

	for (size_t i = 0; i < trees->count; i++) {
		const struct mount *mount = &trees->mounts[i];
		size_t length = strlen(mount->entry.directory);

		if (length < best_length ||
		    !fsq_path_below(mount->entry.directory, directory, strlen(directory)))
			continue;
		best = mount;
		best_length = length;
	}
	return best;
}

static bool is_wanted(const struct trees *trees, const struct mount *mount)
{
	const struct fsq_diagnosis *diagnosis = trees->diagnosis;

	if (!mount || !mount->safe)
		return false;
	if (diagnosis->request->path_count == 0)
		return true;
	for (size_t i = 0; i < diagnosis->dev_count; i++)
		if (diagnosis->devs[i] == mount->entry.dev)
			return true;
	return false;
}

/* Open what is on this mount and on no other; symlinks to elsewhere are not followed. */
static int open_on(const struct mount *mount, const char *directory)
{
	const char *below = fsq_path_below(mount->entry.directory, directory, strlen(directory));
	int root = open(mount->entry.directory, O_PATH | O_CLOEXEC), fd;

	if (root < 0)
		return -EXDEV;
	fd = fsq_openat2(root, *below ? below : ".",
			 O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC,
			 RESOLVE_BENEATH | RESOLVE_NO_XDEV);
	close(root);
	return fd;
}

static void say(const struct trees *trees, const struct mount *mount,
		const struct fsq_registered *entry, struct fsq_finding finding)
{
	finding.path = entry->word;
	finding.name = trees->list->file;
	finding.filesystem = mount->entry.source;
	finding.mountpoint = mount->entry.directory;
	finding.type = mount->entry.type;
	finding.project = entry->id;
	finding.line = entry->line;
	finding.text = entry->text;
	for (size_t i = 0; i < trees->count && fsq_finding_unmounts(finding.id); i++)
		if (trees->mounts[i].entry.dev == mount->entry.dev && &trees->mounts[i] != mount)
			finding.also_at = trees->mounts[i].entry.directory;
	fsq_finding_visit(trees->diagnosis, finding);
}

/* @return   the highest mount point of fstab(5) below the mount and above the directory, or NULL:
 *           the directory may come back with it */
static char *find_unmounted(const struct trees *trees, const struct mount *mount,
			    const char *directory)
{
	size_t at = strcmp(mount->entry.directory, "/") ? strlen(mount->entry.directory) : 0;
	struct fsq_fstab_line line;

	while (directory[at]) {
		char *above;

		at += 1 + strcspn(directory + at + 1, "/");
		above = strndup(directory, at);
		if (!above)
			return NULL;
		if (fsq_fstab_find(trees->diagnosis->fstab, above, &line) == 0 && line.number) {
			free(line.options);
			return above;
		}
		free(above);
	}
	return NULL;
}

/* As fsq_prune(): may its line go? Without privileges nobody knows. */
static bool is_certain(struct trees *trees, const struct fsq_registered *entry)
{
	const struct fsq_entry line = { entry->id, entry->word };
	const struct fsq_volume *volume;
	enum fsq_leftover_kept doubt = FSQ_NOT_KEPT;
	struct fsq_dquot dquot = { 0 };
	bool certain = false;
	struct fsq_error err;
	int rc = 0;

	if (!trees->opened) {
		trees->opened = true;
		rc = fsq_volumes_open(&trees->volumes, &err);
		if (rc == 0)
			rc = fsq_entries_of_projects(&trees->lines, trees->list->file, &err);
		if (rc == 0)
			rc = fsq_entries_index(&trees->lines, &err);
	}
	if (rc == 0 && trees->lines.by_id &&
	    fsq_volumes_find(&trees->volumes, entry->word, &volume) == FSQ_GONE) {
		if (volume->has_quota)
			rc = fsq_volume_read_quota(volume, entry->id, &dquot, &err);
		if (rc == 0)
			rc = fsq_volumes_doubt(&trees->volumes, &trees->lines, volume, FSQ_GONE,
					       &line, fsq_dquot_has_anything(&dquot), &doubt, &err);
		certain = rc == 0 && doubt == FSQ_NOT_KEPT &&
			  (entry->shared || dquot.form[FSQ_INODES].used == 0);
	}
	if (rc && err.errnum == ENOMEM)
		fsq_diagnosis_fail(trees->diagnosis, ENOMEM, entry->word);
	return certain;
}

static void check_gone(struct trees *trees, const struct mount *mount,
		       const struct fsq_registered *entry)
{
	char *unmounted = find_unmounted(trees, mount, entry->word);

	say(trees, mount, entry,
	    (struct fsq_finding){ .id = FSQ_FINDING_DIRECTORY_GONE,
				  .other_name = unmounted,
				  .in_doubt = !unmounted && !is_certain(trees, entry) });
	free(unmounted);
}

/*
 * Does another directory stand in its place, because its filesystem is not mounted? One that nobody has given an ID,
 * where the kernel knows nothing of the project.
 */
static bool is_replaced(const struct fsq_registered *entry, int fd, uint32_t carried)
{
	struct fsq_place place = { .target.fd = fd };
	struct fsq_inode_project above = { 0 };
	struct fsq_dquot dquot;
	int rc = fsq_quotactl_get(&place.target, FSQ_PROJECT, entry->id, &dquot);

	if (rc != -ENOENT && (rc || fsq_dquot_has_anything(&dquot)))
		return false;
	return carried == 0 || (fsq_place_read_above(&place, &above) == 0 && above.id == carried);
}

/* @return   whether it carries its ID and hands it on; else there is a finding */
static bool check_tag(struct trees *trees, const struct mount *mount,
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
		check_gone(trees, mount, entry);
		return false;
	} else if (project.id != entry->id) {
		finding.id = FSQ_FINDING_TAG_CHANGED;
		finding.other = project.id;
		finding.in_doubt =
			fsq_diagnose_has_foreign(trees->diagnosis, trees->list, entry, project.id);
	} else {
		finding.id = FSQ_FINDING_TAG_NOT_INHERITED;
	}
	say(trees, mount, entry, finding);
	return false;
}

static void check_deep(const struct trees *trees, const struct mount *mount,
		       const struct fsq_registered *entry, int fd)
{
	struct fsq_finding finding = { .options = fsq_options_with_quota(&mount->entry) };

	if (fsq_diagnose_deep(trees->diagnosis, trees->list, entry, fd, &finding))
		say(trees, mount, entry, finding);
	free((char *)(uintptr_t)finding.options);
}

static void check_entry(struct trees *trees, const struct fsq_registered *entry)
{
	const struct mount *mount = mount_of(trees, entry->word);
	int fd;

	if (!is_wanted(trees, mount))
		return;
	fd = open_on(mount, entry->word);
	if (fd == -ENOENT) {
		check_gone(trees, mount, entry);
	} else if (fd < 0 && fd != -ENOTDIR && fd != -ELOOP && fd != -EXDEV && fd != -EACCES &&
		   fd != -EPERM) {
		say(trees, mount, entry,
		    (struct fsq_finding){ .id = FSQ_FINDING_DIRECTORY_UNREADABLE, .errnum = -fd });
	} else if (fd >= 0) {
		if (!entry->twice && check_tag(trees, mount, entry, fd) &&
		    trees->diagnosis->request->deep)
			check_deep(trees, mount, entry, fd);
		close(fd);
	}
}

static void free_mounts(struct trees *trees)
{
	for (size_t i = 0; i < trees->count; i++)
		fsq_mount_entry_clear(&trees->mounts[i].entry);
	free(trees->mounts);
}

void fsq_diagnose_trees(struct fsq_diagnosis *diagnosis, const struct fsq_registered_list *list)
{
	struct trees trees = { .diagnosis = diagnosis, .list = list };
	int rc = fsq_mount_entries_each(add_mount, &trees);

	if (rc || trees.rc)
		fsq_diagnosis_fail(diagnosis, rc ? -rc : -trees.rc, NULL);
	else
		diagnosis->rc = fsq_mounts_each(NULL, mark_safe, &trees, diagnosis->err);
	for (size_t i = 0; i < list->count && !fsq_diagnosis_is_over(diagnosis); i++)
		check_entry(&trees, &list->entries[i]);
	if (trees.opened)
		fsq_volumes_close(&trees.volumes);
	fsq_entries_free(&trees.lines);
	free_mounts(&trees);
}
