/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of the volumes that kubelet makes for pods, ROOT/pods/UID/volumes/PLUGIN/VOLUME, and names of their projects. */
#ifndef FSQ_POD_PATH_H
#define FSQ_POD_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/** @return  whether a path may be that of a volume of a pod, or lie in one */
bool fsq_is_of_pod(const char *path);

#define FSQ_USUAL_NAME 24

/** The name that kubelet gives a project, and fsq_assign() one that gets none: "volume" and its ID. */
void fsq_usual_name(char name[FSQ_USUAL_NAME], uint32_t id);

/** @return  whether it is that name */
bool fsq_is_usual_name(const char *name, uint32_t id);

#endif
