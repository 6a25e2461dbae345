/* SPDX-License-Identifier: Apache-2.0 */
#include "pods.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shared/array.h"

#define PODS_DIRECTORY "/var/log/pods"

static int compare(const void *one, const void *other)
{
	const struct pod *a = one, *b = other;

	return strcmp(a->uid, b->uid);
}

/* @name     NAMESPACE_POD_UID; anything else is no pod's. @return  false without memory */
static bool add(struct pods *pods, const char *name)
{
	char *rest = strdup(name);
	struct pod pod = { .namespace = rest };
	bool is_pod;

	if (!rest)
		return false;
	strsep(&rest, "_");
	pod.name = strsep(&rest, "_");
	pod.uid = rest;
	is_pod = pod.uid && *pod.uid && !strchr(pod.uid, '_');
	if (is_pod && array_add(&pods->list, &pods->count, &pods->capacity, &pod, sizeof(pod)))
		return true;
	free(pod.namespace);
	return !is_pod;
}

bool pods_read(struct pods *pods)
{
	DIR *directory = opendir(PODS_DIRECTORY);
	const struct dirent *entry;
	bool good = directory || errno != ENOMEM;

	while (good && directory && (entry = readdir(directory)))
		good = add(pods, entry->d_name);
	if (directory)
		closedir(directory);
	if (pods->count)
		qsort(pods->list, pods->count, sizeof(pods->list[0]), compare);
	return good;
}

void pods_free(struct pods *pods)
{
	for (size_t i = 0; i < pods->count; i++)
		free(pods->list[i].namespace);
	free(pods->list);
}

/* @key      a UID that a slash ends */
static int compare_to_path(const void *key, const void *one)
{
	const struct pod *pod = one;
	size_t length = strcspn(key, "/");
	int rc = strncmp(key, pod->uid, length);

	return rc ? rc : -(pod->uid[length] != '\0');
}

const struct pod *pods_of_volume(const struct pods *pods, const char *path, const char **volume)
{
	const struct pod *found = NULL;

	/* The directory of kubelet may have such a part, too. */
	for (const char *uid = path; !found && uid && (uid = strstr(uid, "/pods/"));) {
		const char *end = strchr(uid += strlen("/pods/"), '/');
		const char *plugin = end && strncmp(end, "/volumes/", strlen("/volumes/")) == 0
					     ? end + strlen("/volumes/")
					     : "";

		*volume = strchr(plugin, '/');
		if (!*volume || strchr(++*volume, '/') || !pods->count)
			continue;
		found = bsearch(uid, pods->list, pods->count, sizeof(*found), compare_to_path);
	}
	return found;
}
