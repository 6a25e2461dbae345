/* SPDX-License-Identifier: Apache-2.0 */
/* The pods of a Kubernetes node, by which people know the volumes that kubelet calls volume1048577. */
#ifndef FSQ_PODS_H
#define FSQ_PODS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/texts.h"

struct pod {
	char *namespace, *name, *uid; /* all in one allocation, at @namespace */
};

/* Zero-initialise it. They are read when a path of a volume is looked for. */
struct pods {
	struct pod *list;
	size_t count, capacity;
	bool read;
};

/**
 * Find the pod of a volume, among those of this node that have a log directory. Without memory none is found.
 *
 * @path     its directory, or NULL
 * @volume   set to its name in the pod, in @path
 * @return   NULL: it is in no known pod
 * Source: kubelet's directories /var/log/pods/NAMESPACE_POD_UID
 */
const struct pod *pods_find(struct pods *pods, const char *path, const char **volume);

/** @return  the same as NAMESPACE/POD/VOLUME, which @texts keeps; or NULL */
const char *pods_text(struct pods *pods, struct texts *texts, const char *path);

/**
 * Find the registered volumes of a name as pods_text() gives it, or of all before a "/" of it: of a pod or a namespace.
 *
 * @id       set, if there is one
 * @return   how many there are; 0 also without memory, or if the file cannot be read
 */
size_t pods_count(const char *projects_file, const char *name, uint32_t *id);

void pods_free(struct pods *pods);

#endif
