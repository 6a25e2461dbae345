/* SPDX-License-Identifier: Apache-2.0 */
#include "diagnose_stores.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "allocate.h"
#include "limits.h"
#include "quota/base/path.h"
#include "shared/array.h"
#include "store.h"

/* Kubelet gives up behind so many IDs that are in use and in no file. */
#define KUBELET_SEARCHES 128

/* How many IDs without lines and limits are told one by one. */
#define SINGLE 16

/* In how many registered directories a store is looked for, besides those with an ID of stores. */
#define LINES 1000

struct found_store {
	char *path; /* the directory that its engine calls root */
	uint32_t id;
	uint64_t theirs; /* IDs in its room that are in no file */
	uint64_t followers;
	uint32_t follower; /* the first ID in its room that has a line */
	struct fsq_limits follower_limits;
};

struct fsq_stores {
	struct fsq_subject *subject;
	const struct fsq_id_set *registered;
	struct fsq_id_set named;
	struct found_store *list;
	size_t count, capacity;
	size_t lines;
	/* IDs without lines and limits. */
	struct fsq_finding unknown[SINGLE];
	uint64_t unknown_count;
	uint32_t unknown_last;
	/* Where kubelet's search for an ID has come to, and how many it found in use. */
	uint64_t kubelet_next;
	uint64_t kubelet_searches;
	bool no_memory;
};

/* @return   the ID before the lowest one that something in the directory has, or 0 */
static uint32_t base_of_layers(struct fsq_stores *stores, int fd)
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
	struct fsq_stores *stores = arg;
	char *path = strndup(home, (size_t)(strrchr(home, '/') - home));
	struct found_store *list;

	if (!path) {
		stores->no_memory = true;
		return FSQ_VISIT_STOP;
	}
	/* Where the directory has no ID, containers/storage begins with a number from its inode. */
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

static void look_at_root(struct fsq_stores *stores)
{
	const struct fsq_mount *mount = &stores->subject->mount;
	int fd = open(mount->directory, O_PATH | O_CLOEXEC), root = -1;
	struct stat st;

	/* Another one may be mounted over it, whose server is gone. */
	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == mount->dev)
		root = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
	if (root >= 0) {
		stores->no_memory |= fsq_store_each(root, mount->directory, add_store, stores) < 0;
		close(root);
	}
	if (fd >= 0)
		close(fd);
}

/* A registered directory may lie deeper than stores are looked for. */
static enum fsq_visit look_at_line(uint32_t id, const char *directory, void *arg)
{
	struct fsq_stores *stores = arg;
	int fd;

	if (!fsq_path_below(stores->subject->mount.directory, directory, strlen(directory)) ||
	    (id < FSQ_STORE_FIRST && stores->lines++ >= LINES))
		return FSQ_VISIT_CONTINUE;
	fd = fsq_store_open(&stores->subject->place, directory);
	if (fd >= 0) {
		stores->no_memory |= fsq_store_each(fd, directory, add_store, stores) < 0;
		close(fd);
	}
	return FSQ_VISIT_CONTINUE;
}

static enum fsq_visit add_name(uint32_t id, const char *name, void *arg)
{
	struct fsq_stores *stores = arg;

	(void)name;
	stores->no_memory |= fsq_id_set_add(&stores->named, id) != 0;
	return FSQ_VISIT_CONTINUE;
}

struct fsq_stores *fsq_stores_find(struct fsq_subject *subject, const struct fsq_id_set *registered)
{
	const struct fsq_registry *registry = subject->diagnosis->registry;
	struct fsq_stores *stores = calloc(1, sizeof(*stores));
	struct fsq_project_names *names;
	struct fsq_error err;

	if (!stores)
		return NULL;
	stores->subject = subject;
	stores->registered = registered;
	stores->kubelet_next = fsq_allocate_range(&(struct fsq_id_range){ 0 }, registry).first;
	if (fsq_project_names_read(&names, registry->projid_file, &err))
		stores->no_memory |= err.errnum == ENOMEM;
	else
		fsq_project_names_each(names, add_name, stores);
	fsq_project_names_free(names);
	fsq_id_set_sort(&stores->named);
	look_at_root(stores);
	if (fsq_projects_each(registry->projects_file, look_at_line, stores, &err))
		stores->no_memory |= err.errnum == ENOMEM;
	if (!stores->no_memory)
		return stores;
	fsq_stores_free(stores);
	return NULL;
}

static bool is_listed(const struct fsq_stores *stores, uint32_t id)
{
	return fsq_id_set_has(stores->registered, id) || fsq_id_set_has(&stores->named, id);
}

/* Kubelet passes over IDs of the files, and stops at the first one that is free. */
static void search_as_kubelet(struct fsq_stores *stores, const struct fsq_dquot *dquot)
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
static struct found_store *store_of(struct fsq_stores *stores, uint32_t id)
{
	for (size_t i = 0; i < stores->count; i++)
		if (id > stores->list[i].id && id - stores->list[i].id < FSQ_STORE_ROOM)
			return &stores->list[i];
	return NULL;
}

bool fsq_stores_note(struct fsq_stores *stores, const struct fsq_dquot *dquot, bool limited)
{
	uint64_t inodes = dquot->form[FSQ_INODES].used;
	struct found_store *store = store_of(stores, dquot->id);

	search_as_kubelet(stores, dquot);
	if (is_listed(stores, dquot->id)) {
		if (store && (inodes || limited) && fsq_id_set_has(stores->registered, dquot->id)) {
			if (!store->followers++) {
				store->follower = dquot->id;
				store->follower_limits = fsq_limits_of(dquot);
			}
		}
		return false;
	}
	if (store) {
		store->theirs += inodes != 0;
		return true;
	}
	if (limited || !inodes)
		return false;
	if (stores->unknown_count < SINGLE)
		stores->unknown[stores->unknown_count] = (struct fsq_finding){
			.id = FSQ_FINDING_TAG_WITHOUT_LIMIT, .project = dquot->id, .count = inodes
		};
	stores->unknown_count++;
	stores->unknown_last = dquot->id;
	return true;
}

struct search_directory {
	uint32_t id;
	char *directory;
};

static enum fsq_visit find_directory(uint32_t id, const char *directory, void *arg)
{
	struct search_directory *search = arg;

	if (id != search->id)
		return FSQ_VISIT_CONTINUE;
	search->directory = strdup(directory);
	return FSQ_VISIT_STOP;
}

/* @return   for free(3); NULL without a name, also one that assign gives by itself */
static char *name_of(const struct fsq_registry *registry, uint32_t id)
{
	struct fsq_project_names *names;
	char usual[32], *copy = NULL;
	const char *name;

	snprintf(usual, sizeof(usual), "volume%u", id);
	if (fsq_project_names_read(&names, registry->projid_file, NULL) == 0) {
		name = fsq_project_names_name(names, id);
		copy = name && strcmp(name, usual) ? strdup(name) : NULL;
	}
	fsq_project_names_free(names);
	return copy;
}

static void visit_store(struct fsq_stores *stores, const struct found_store *store)
{
	char *name;
	const struct fsq_registry *registry = stores->subject->diagnosis->registry;
	struct search_directory search = { .id = store->follower };
	struct fsq_finding finding = { .id = FSQ_FINDING_STORE,
				       .path = store->path,
				       .project = store->id,
				       .count = store->theirs };

	fsq_finding_visit_here(stores->subject, finding);
	if (!store->followers)
		return;
	fsq_projects_each(registry->projects_file, find_directory, &search, NULL);
	if (!search.directory) {
		fsq_diagnosis_fail(stores->subject->diagnosis, ENOMEM, registry->projects_file);
		return;
	}
	finding.id = FSQ_FINDING_STORE_FOLLOWED;
	finding.name = search.directory;
	finding.other = store->follower;
	finding.count = store->followers;
	finding.limits = store->follower_limits;
	finding.other_name = name = name_of(registry, store->follower);
	finding.in_doubt =
		fsq_diagnose_is_registered(stores->subject->diagnosis, search.directory, false);
	fsq_finding_visit_here(stores->subject, finding);
	free(name);
	free(search.directory);
}

void fsq_stores_visit(struct fsq_stores *stores)
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
	if (stores->kubelet_searches > KUBELET_SEARCHES)
		fsq_finding_visit_here(
			stores->subject,
			(struct fsq_finding){ .id = FSQ_FINDING_KUBELET_STARVED,
					      .other = (uint32_t)stores->kubelet_next - 1,
					      .count = stores->kubelet_searches });
}

void fsq_stores_free(struct fsq_stores *stores)
{
	if (!stores)
		return;
	for (size_t i = 0; i < stores->count; i++)
		free(stores->list[i].path);
	free(stores->list);
	fsq_id_set_free(&stores->named);
	free(stores);
}
