/* SPDX-License-Identifier: Apache-2.0 */
/* Whose a volume is on a node of Kubernetes, in the names that people know. */
#ifndef FSQ_PODS_H
#define FSQ_PODS_H

#include <stdbool.h>
#include <stddef.h>

struct pod {
	char *namespace, *name, *uid; /* of one allocation */
};

struct pods {
	struct pod *list; /* sorted by UID */
	size_t count, capacity;
};

/**
 * Read the pods of this node, which are those that have logs. Without any there are none.
 *
 * @return   false without memory
 * Source: kubelet's directories /var/log/pods/NAMESPACE_POD_UID
 */
bool pods_read(struct pods *pods);

void pods_free(struct pods *pods);

/**
 * @path     such as /var/lib/kubelet/pods/UID/volumes/PLUGIN/VOLUME
 * @volume   set to the last part of it
 * @return   the pod, or NULL: it is of none that is known
 */
const struct pod *pods_of_volume(const struct pods *pods, const char *path, const char **volume);

#endif
