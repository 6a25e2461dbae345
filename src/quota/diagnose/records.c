/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "diagnosis.h"
#include "quota/base/path.h"
#include "quota/base/pod_path.h"
#include "quota/directory/allocate.h"
#include "quota/directory/store.h"
#include "quota/limits/limits.h"
#include "quota/registry/entries.h"
#include "shared/array.h"

/* How many IDs without lines are reported one by one. */
#define SINGLE 16

/* In how many registered directories without a store's ID a store is looked for. */
#define LINES 1000

struct found_store {
	char *path; /* the directory that its engine calls root */
	uint32_t id;
	uint64_t theirs; /* IDs in its room that are in no file */
	uint64_t followers;
	uint32_t follower; /* the first ID in its room that has a line */
	struct fsq_limits follower_limits;
};

struct stores {
	struct fsq_subject *subject;
	struct fsq_entries lines, names; /* of both files, by ID; empty if one cannot be read */
	struct found_store *list;
	size_t count, capacity;
	bool is_unregistered; /* by configuration IDs have no lines */
	/* IDs without lines. */
	struct fsq_finding unknown[SINGLE];
	uint64_t unknown_count;
	uint32_t unknown_last;
	/* The ID that kubelet's search has reached, and how many it found in use. */
	uint64_t kubelet_next;
	uint64_t kubelet_searches;
	bool no_memory;
};

/* @return   the ID below the lowest one found in the directory, or 0 */
static uint32_t base_of_layers(struct stores *stores, int fd)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;
	uint32_t lowest = 0;

	if (!directory && copy >= 0) {
		stores->no_memory = true;
		close(copy);
	}
	while (directory && (entry = readdir(directory))) {
		struct fsq_inode_project project = { 0 };
		int layer = openat(fd, entry->d_name,
				   O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

		if (layer < 0)
			continue;
		if (entry->d_name[0] != '.' && fsq_inode_project_get(layer, &project) == 0 &&
		    project.id && (!lowest || project.id < lowest))
			lowest = project.id;
		close(layer);
	}
	if (directory)
		closedir(directory);
	return lowest ? lowest - 1 : 0;
}

static enum fsq_visit add_store(const char *home, int fd, uint32_t id, void *arg)
{
	struct stores *stores = arg;
	char *path = strndup(home, (size_t)(strrchr(home, '/') - home));
	struct found_store *list;

	if (!path) {
		stores->no_memory = true;
		return FSQ_VISIT_STOP;
	}
	/* For a directory without an ID, containers/storage begins with a number made from its inode. */
	if (id == 0)
		id = base_of_layers(stores, fd);
	for (size_t i = 0; i < stores->count; i++) {
		if (stores->list[i].id != id || strcmp(stores->list[i].path, path) != 0)
			continue;
		free(path);
		return FSQ_VISIT_CONTINUE;
	}
	list = array_grow(stores->list, stores->count, &stores->capacity, sizeof(*list));
	if (!list) {
		stores->no_memory = true;
		free(path);
		return FSQ_VISIT_STOP;
	}
	stores->list = list;
	list[stores->count++] = (struct found_store){ .path = path, .id = id };
	return FSQ_VISIT_CONTINUE;
}

static void look_at_root(struct stores *stores)
{
	const struct fsq_mount *mount = &stores->subject->outlook.mount;
	int root = fsq_diagnosis_open_root(mount);

	if (root < 0)
		return;
	stores->no_memory |= fsq_store_each(root, mount->directory, add_store, stores) < 0;
	close(root);
}

/* A registered directory may lie deeper than fsq_store_each() looks. */
static void look_at_lines(struct stores *stores)
{
	const char *root = stores->subject->outlook.mount.directory;
	size_t looked = 0, far = SIZE_MAX;

	for (size_t i = 0; i < stores->lines.count; i++) {
		const struct fsq_entry *line = &stores->lines.list[i];
		int fd;

		if (!fsq_path_below(root, line->word, strlen(line->word)) ||
		    (line->id < FSQ_STORE_FIRST && looked++ >= LINES))
			continue;
		fd = fsq_store_open(&stores->subject->handle, line->word, &far);
		if (fd < 0)
			continue;
		stores->no_memory |= fsq_store_each(fd, line->word, add_store, stores) < 0;
		close(fd);
	}
}

static void find_stores(struct stores *stores)
{
	const struct fsq_registry *registry = stores->subject->diagnosis->registry;
	struct fsq_error err;

	stores->kubelet_next = fsq_allocate_range(&(struct fsq_id_range){ 0 }, registry).first;
	if (fsq_entries_of_projects(&stores->lines, registry->projects_file, &err))
		stores->no_memory |= err.errnum == ENOMEM;
	if (fsq_entries_of_projid(&stores->names, registry->projid_file, &err))
		stores->no_memory |= err.errnum == ENOMEM;
	if (fsq_entries_index(&stores->lines, &err) || fsq_entries_index(&stores->names, &err))
		stores->no_memory = true;
	if (!stores->no_memory)
		look_at_root(stores);
	if (!stores->no_memory)
		look_at_lines(stores);
	if (stores->no_memory)
		fsq_diagnosis_fail(stores->subject->diagnosis, ENOMEM,
				   stores->subject->outlook.mount.directory);
}

/* @return   the first entry of an ID, or NULL */
static const struct fsq_entry *entry_of_id(const struct fsq_entries *entries, uint32_t id)
{
	size_t count;
	const struct fsq_entry *const *found = fsq_entries_of_id(entries, id, &count);

	return count ? found[0] : NULL;
}

static bool is_listed(const struct stores *stores, uint32_t id)
{
	return entry_of_id(&stores->lines, id) || entry_of_id(&stores->names, id);
}

/* Kubelet skips IDs that are in the files, and stops at the first free one. */
static void search_as_kubelet(struct stores *stores, const struct fsq_dquot *dquot)
{
	while (stores->kubelet_next < dquot->id &&
	       is_listed(stores, (uint32_t)stores->kubelet_next))
		stores->kubelet_next++;
	if (stores->kubelet_next != dquot->id)
		return;
	if (!is_listed(stores, dquot->id)) {
		if (!dquot->form[FSQ_INODES].used)
			return;
		stores->kubelet_searches++;
	}
	stores->kubelet_next++;
}

/* @return   the store in whose room an ID lies, or NULL */
static struct found_store *store_of(struct stores *stores, uint32_t id)
{
	for (size_t i = 0; i < stores->count; i++)
		if (id > stores->list[i].id && id - stores->list[i].id < FSQ_STORE_ROOM)
			return &stores->list[i];
	return NULL;
}

static void visit_store(struct stores *stores, const struct found_store *store)
{
	const struct fsq_entry *line = entry_of_id(&stores->lines, store->follower), *name;
	struct fsq_finding finding = { .id = FSQ_FINDING_STORE,
				       .path = store->path,
				       .project = store->id,
				       .count = store->theirs };
	char usual[FSQ_USUAL_NAME];

	fsq_finding_visit_here(stores->subject, finding);
	if (!store->followers)
		return;
	finding.id = FSQ_FINDING_STORE_FOLLOWED;
	finding.name = line->word;
	finding.other = store->follower;
	finding.count = store->followers;
	finding.limits = store->follower_limits;
	/* Except for an ID from the range of assign. */
	fsq_usual_name(usual, store->follower);
	name = entry_of_id(&stores->names, store->follower);
	if (name && strcmp(name->word, usual) != 0)
		finding.other_name = name->word;
	finding.in_doubt =
		fsq_diagnose_is_registered(stores->subject->diagnosis, line->word, false);
	fsq_finding_visit_here(stores->subject, finding);
}

/* Report the findings. */
static void visit_stores(struct stores *stores)
{
	for (size_t i = 0; i < stores->count; i++)
		visit_store(stores, &stores->list[i]);
	for (size_t i = 0; stores->unknown_count <= SINGLE && i < stores->unknown_count; i++)
		fsq_finding_visit_here(stores->subject, stores->unknown[i]);
	if (stores->unknown_count > SINGLE)
		fsq_finding_visit_here(stores->subject,
				       (struct fsq_finding){ .id = FSQ_FINDING_IDS_WITHOUT_LINE,
							     .project = stores->unknown[0].project,
							     .other = stores->unknown_last,
							     .count = stores->unknown_count });
	if (stores->kubelet_searches > FSQ_KUBELET_SEARCHES)
		fsq_finding_visit_here(
			stores->subject,
			(struct fsq_finding){ .id = FSQ_FINDING_KUBELET_STARVED,
					      .other = (uint32_t)stores->kubelet_next - 1,
					      .count = stores->kubelet_searches });
}

/* In the order of IDs. visit_stores() reports those in the room of a store. */
static void check_record(struct stores *stores, const struct fsq_dquot *dquot)
{
	const uint64_t inodes = dquot->form[FSQ_INODES].used;
	const bool limited = fsq_dquot_is_limited(dquot);
	const struct fsq_entry *line = entry_of_id(&stores->lines, dquot->id);
	const bool listed = line || entry_of_id(&stores->names, dquot->id);
	struct found_store *store = store_of(stores, dquot->id);
	struct fsq_finding finding = { .project = dquot->id, .count = inodes };

	search_as_kubelet(stores, dquot);
	if (store && line && (inodes || limited) && !store->followers++) {
		store->follower = dquot->id;
		store->follower_limits = fsq_limits_of(dquot);
	}
	if (store && !listed) {
		store->theirs += inodes != 0;
		return;
	}
	if (limited == (inodes != 0) && (listed || !inodes || stores->is_unregistered))
		return;
	finding.id = !inodes   ? FSQ_FINDING_LIMIT_WITHOUT_TAG
		     : limited ? FSQ_FINDING_TAG_WITHOUT_LINE
			       : FSQ_FINDING_TAG_WITHOUT_LIMIT;
	if (!listed && inodes) {
		if (stores->unknown_count < SINGLE)
			stores->unknown[stores->unknown_count] = finding;
		stores->unknown_count++;
		stores->unknown_last = dquot->id;
		return;
	}
	/* Kubelet only counts what a ConfigMap has, and each volume before 1.24. */
	if (finding.id == FSQ_FINDING_TAG_WITHOUT_LIMIT && line && fsq_is_of_pod(line->word))
		return;
	/* Limits of a directory that is gone, or whose ID was changed, are reported elsewhere. */
	if (inodes || !line)
		fsq_finding_visit_here(stores->subject, finding);
}

void fsq_diagnose_records(struct fsq_subject *subject)
{
	struct stores stores = { .subject = subject,
				 .is_unregistered = subject->diagnosis->registry->none };
	struct fsq_dquot dquot;
	uint32_t next = 1;
	int rc = 0;

	find_stores(&stores);
	/* Some kernels start over after the last record. */
	while (!fsq_diagnosis_is_over(subject->diagnosis) &&
	       (rc = fsq_quotactl_get_next(&subject->handle.target, FSQ_PROJECT, next, &dquot)) ==
		       0 &&
	       dquot.id >= next) {
		check_record(&stores, &dquot);
		if (dquot.id >= FSQ_ID_MAX)
			break;
		next = dquot.id + 1;
	}
	if (rc == -EUCLEAN || rc == -EIO)
		fsq_diagnosis_visit_with_options(
			subject, (struct fsq_finding){ .id = FSQ_FINDING_RECORDS_UNREADABLE,
						       .errnum = -rc,
						       .in_doubt = rc != -EUCLEAN });
	if (!stores.no_memory)
		visit_stores(&stores);
	for (size_t i = 0; i < stores.count; i++)
		free(stores.list[i].path);
	free(stores.list);
	fsq_entries_free(&stores.lines);
	fsq_entries_free(&stores.names);
}
