/* SPDX-License-Identifier: Apache-2.0 */
#include "paths.h"
#include "watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shared/array.h"

static void free_place(struct watch_place *place)
{
	for (int type = 0; type < FSQ_TYPES; type++)
		growth_free(&place->growth[type]);
	free(place->device);
	free(place->directory);
	free(place);
}

void watch_places_free(struct watch_places *places)
{
	for (size_t i = 0; i < places->count; i++)
		free_place(places->all[i]);
	for (size_t i = 0; i < places->only_count; i++)
		free(places->only[i]);
	fsq_mount_points_free(places->points);
	free(places->all);
	free(places->only);
}

/* --- finding --- */

struct watch_place *watch_places_find(const struct watch_places *places, dev_t dev)
{
	for (size_t i = 0; i < places->count; i++)
		if (places->all[i]->dev == dev)
			return places->all[i];
	return NULL;
}

bool watch_place_has(struct watch_places *places, const struct watch_place *place,
		     const char *directory)
{
	dev_t dev = 0;

	if (places->points || fsq_mount_points_read(&places->points, NULL) == 0)
		dev = fsq_mount_points_find(places->points, directory);
	else
		places->points = NULL;
	return dev ? dev == place->dev : scope_is_below(directory, place->directory);
}

int watch_place_open(const struct watch_place *place, struct fsq_filesystem **fs,
		     struct fsq_error *err)
{
	int rc;

	if (place->has_device)
		return fsq_filesystem_of_device(fs, place->device, err);
	rc = fsq_filesystem_open(fs, place->directory, NULL, 0, err);
	if (rc || fsq_filesystem_get_info(*fs)->dev == place->dev)
		return rc;
	/* It was unmounted, and what it hid has records of its own. */
	fsq_filesystem_close(*fs);
	*err = (struct fsq_error){ .kind = FSQ_E_NOT_FOUND, .errnum = ENODEV };
	return FSQ_E_NOT_FOUND;
}

/* --- looking at the mounts --- */

static bool is_wanted(const struct watch_places *places, const struct fsq_mount *mount)
{
	/* Like all commands: what has no device has no quota, unless it was named. */
	if (places->only_count == 0)
		return mount->device[0] == '/';
	for (size_t i = 0; i < places->only_count; i++)
		if (strcmp(places->only[i], mount->directory) == 0)
			return true;
	return false;
}

static bool has_quota(const struct watch_places *places, struct fsq_filesystem *fs,
		      bool type[FSQ_TYPES])
{
	struct fsq_state state;
	bool any = false;

	if (fsq_quota_state(fs, FSQ_PROJECT, &state))
		return false;
	for (int i = 0; i < FSQ_TYPES; i++)
		any |= type[i] = places->wanted[i] && state.accounting[i];
	return any;
}

static struct watch_place *add_place(struct watch_places *places,
				     const struct fsq_filesystem_info *info)
{
	struct watch_place *place = calloc(1, sizeof(*place));

	if (place) {
		place->dev = info->dev;
		place->has_device = info->asks_device;
		place->device = strdup(info->device);
		place->directory = strdup(info->directory);
	}
	if (place && place->device && place->directory &&
	    array_add(&places->all, &places->count, &places->capacity, &place, sizeof(place)))
		return place;
	if (place)
		free_place(place);
	places->no_memory = true;
	return NULL;
}

static enum fsq_visit visit_mount(const struct fsq_mount *mount, void *arg)
{
	struct watch_places *places = arg;
	struct watch_place *place = watch_places_find(places, mount->dev);
	const struct fsq_filesystem_info *info;
	bool type[FSQ_TYPES] = { false };
	struct fsq_filesystem *fs;
	struct fsq_error err;
	char *moved;

	if (!is_wanted(places, mount) || (place && place->is_mounted))
		return FSQ_VISIT_CONTINUE;
	if (place) {
		/* The first mount of a filesystem stands for it; it may have been moved. */
		place->is_mounted = true;
		moved = strcmp(place->directory, mount->directory) == 0 ? NULL
									: strdup(mount->directory);
		if (moved) {
			free(place->directory);
			place->directory = moved;
		}
		return FSQ_VISIT_CONTINUE;
	}
	if (fsq_filesystem_open_mount(&fs, mount, 0, &err)) {
		places->no_memory |= err.errnum == ENOMEM;
		return FSQ_VISIT_CONTINUE;
	}
	info = fsq_filesystem_get_info(fs);
	if ((places->only_count || info->asks_device) && has_quota(places, fs, type))
		place = add_place(places, info);
	fsq_filesystem_close(fs);
	if (!place)
		return FSQ_VISIT_CONTINUE;
	place->is_mounted = true;
	memcpy(place->type, type, sizeof(type));
	if (places->came)
		places->came(place, places->arg);
	return FSQ_VISIT_CONTINUE;
}

void watch_places_refresh(struct watch_places *places, bool keep)
{
	struct fsq_error err;
	size_t i = 0;

	fsq_mount_points_free(places->points);
	places->points = NULL;
	for (size_t j = 0; j < places->count; j++)
		places->all[j]->is_mounted = false;
	if (fsq_mounts_each(NULL, visit_mount, places, &err)) {
		session_fail(places->session, &err);
		return;
	}
	/* The others are whole while a change is told. */
	while (i < places->count && !keep) {
		struct watch_place *place = places->all[i];

		if (place->is_mounted) {
			i++;
			continue;
		}
		if (places->gone)
			places->gone(place, places->arg);
		places->count--;
		memmove(&places->all[i], &places->all[i + 1],
			(places->count - i) * sizeof(struct watch_place *));
		free_place(place);
	}
	if (places->no_memory)
		session_errno(places->session, 0, ENOMEM, NULL, "cannot watch all filesystems");
	places->no_memory = false;
}

/* --- starting --- */

/* A path stands for its filesystem, wherever that is mounted later. */
static bool add_path(struct watch_places *places, const char *path)
{
	struct session *session = places->session;
	bool type[FSQ_TYPES];
	struct fsq_filesystem *fs;
	struct fsq_error err;
	bool has;

	if (fsq_filesystem_open(&fs, path, NULL, 0, &err))
		return session_fail(session, &err);
	has = has_quota(places, fs, type);
	if (has)
		places->only[places->only_count] = strdup(fsq_filesystem_get_info(fs)->directory);
	fsq_filesystem_close(fs);
	if (has && places->only[places->only_count]) {
		places->only_count++;
		return true;
	}
	if (has)
		session_errno(session, 0, ENOMEM, path, "%s: cannot watch it", path);
	else
		session_error(session, places->wanted[FSQ_PROJECT] ? ERROR_NO_QUOTA : 0,
			      FSQ_E_NOT_SUPPORTED, 0, path,
			      "%s: there is no such quota on this filesystem", path);
	return false;
}

bool watch_places_start(struct watch_places *places, char **paths, size_t count)
{
	places->only = calloc(count + 1, sizeof(*places->only));
	if (!places->only)
		return session_no_memory(places->session);
	for (size_t i = 0; i < count; i++)
		if (!add_path(places, paths[i]))
			return false;
	watch_places_refresh(places, false);
	if (places->count == 0 && places->session->status == 0)
		session_error(places->session, 0, FSQ_E_NOT_SUPPORTED, 0, NULL,
			      "no filesystem with quota is mounted; see fsquota doctor");
	return places->session->status == 0;
}
