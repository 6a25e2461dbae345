/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of the volumes that kubelet makes for pods: ROOT/pods/UID/volumes/PLUGIN/VOLUME. */
#ifndef FSQ_POD_PATH_H
#define FSQ_POD_PATH_H

#include <stdbool.h>
#include <stddef.h>

struct fsq_pod_path {
	const char *uid;    /* in the path: where the UID begins */
	size_t length;	    /* of it; with it ends the directory of the pod */
	const char *volume; /* the last part; NULL: there are more parts, or fewer */
};

/**
 * Find where a path may have a UID: a root directory, or a volume, may contain "pods", too.
 *
 * @at       the path for the first time, and set for the next
 * @return   whether there is one more
 * Source: kubelet's own directories, which /etc/projects names
 */
bool fsq_pod_path_next(const char **at, struct fsq_pod_path *found);

#endif
