/* SPDX-License-Identifier: Apache-2.0 */
#include "pods.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quota/base/pod_path.h"
#include "quota/fsquota.h"
#include "shared/array.h"

#define PODS_DIRECTORY "/var/log/pods"

/* @name     NAMESPACE_POD_UID; other names are ignored. @return  false without memory */
static bool add_pod(struct pods *pods, const char *name)
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

static void read_pods(struct pods *pods)
{
	DIR *directory = opendir(PODS_DIRECTORY);
	const struct dirent *entry;

	while (directory && (entry = readdir(directory)) && add_pod(pods, entry->d_name))
		;
	if (directory)
		closedir(directory);
	pods->read = true;
}

const struct pod *pods_find(struct pods *pods, const char *path, const char **volume)
{
	struct fsq_pod_path found;

	while (path && fsq_pod_path_next(&path, &found)) {
		if (!found.volume)
			continue;
		if (!pods->read)
			read_pods(pods);
		*volume = found.volume;
		for (size_t i = 0; i < pods->count; i++)
			if (strncmp(found.uid, pods->list[i].uid, found.length) == 0 &&
			    !pods->list[i].uid[found.length])
				return &pods->list[i];
	}
	return NULL;
}

const char *pods_text(struct pods *pods, struct texts *texts, const char *path)
{
	const char *volume;
	const struct pod *pod = pods_find(pods, path, &volume);
	char *text;
	size_t size;

	if (!pod)
		return NULL;
	size = strlen(pod->namespace) + strlen(pod->name) + strlen(volume) + sizeof("//");
	text = texts_take(texts, size, 1);
	if (text)
		snprintf(text, size, "%s/%s/%s", pod->namespace, pod->name, volume);
	return text;
}

struct counting {
	struct pods pods;
	struct texts texts;
	const char *name;
	uint32_t id;
	size_t count;
};

static enum fsq_visit count_line(uint32_t id, const char *path, void *arg)
{
	struct counting *counting = arg;
	const char *text = pods_text(&counting->pods, &counting->texts, path);
	const size_t length = strlen(counting->name);

	if (text && strncmp(text, counting->name, length) == 0 &&
	    (!text[length] || text[length] == '/' || counting->name[length - 1] == '/')) {
		counting->count++;
		counting->id = id;
	}
	return FSQ_VISIT_CONTINUE;
}

size_t pods_count(const char *projects_file, const char *name, uint32_t *id)
{
	struct counting counting = { .name = name };

	if (name[0] == '/')
		return 0;
	if (fsq_projects_each(projects_file, count_line, &counting, NULL))
		counting.count = 0;
	*id = counting.id;
	pods_free(&counting.pods);
	texts_free(&counting.texts);
	return counting.count;
}

void pods_free(struct pods *pods)
{
	for (size_t i = 0; i < pods->count; i++)
		free(pods->list[i].namespace);
	free(pods->list);
}
