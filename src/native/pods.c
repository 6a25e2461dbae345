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
	const char *first = strchr(name, '_'), *second = first ? strchr(first + 1, '_') : NULL;
	struct pod pod;
	size_t length = second ? strlen(second + 1) : 0;

	if (length == 0 || strchr(second + 1, '_'))
		return true;
	pod.uid = malloc(strlen(name) + 1);
	if (!pod.uid)
		return false;
	pod.namespace = (char *)memcpy(pod.uid, second + 1, length + 1) + length + 1;
	pod.name = (char *)mempcpy(pod.namespace, name, (size_t)(second - name)) -
		   (second - first) + 1;
	pod.name[-1] = pod.name[second - first - 1] = '\0';
	if (array_add(&pods->list, &pods->count, &pods->capacity, &pod, sizeof(pod)))
		return true;
	free(pod.uid);
	return false;
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
		free(pods->list[i].uid);
	free(pods->list);
}

const struct pod *pods_of_volume(const struct pods *pods, const char *path, const char **volume)
{
	const char *uid = path ? strstr(path, "/pods/") : NULL, *behind, *plugin;
	const struct pod *found;
	struct pod key;

	if (!uid)
		return NULL;
	uid += strlen("/pods/");
	behind = strchr(uid, '/');
	if (!behind || strncmp(behind, "/volumes/", strlen("/volumes/")) != 0)
		return NULL;
	plugin = behind + strlen("/volumes/");
	*volume = strchr(plugin, '/');
	if (!*volume || strchr(++*volume, '/'))
		return NULL;
	key.uid = strndup(uid, (size_t)(behind - uid));
	found = key.uid && pods->count
			? bsearch(&key, pods->list, pods->count, sizeof(key), compare)
			: NULL;
	free(key.uid);
	return found;
}
