/* SPDX-License-Identifier: Apache-2.0 */
/* The use and the limits of a project as statfs(2) shows them in its directory, to everybody. */
#ifndef FSQ_DIRECTORY_SPACE_H
#define FSQ_DIRECTORY_SPACE_H

#include "quota/mounts/place.h"

/**
 * Read what statfs(2) shows in a directory whose project has limits that are enforced. It shows the
 * soft limit if there is one, else the hard one, no use above it, and no more free than there is on
 * the file system. Where the mount has no directory outside of the project, what it shows can also
 * be the size and the use of the file system.
 *
 * @place    with its mount
 * @project  that the directory carries
 * @usage    filled on success; what is not shown is FSQ_NOT_KNOWN, or 0 for a limit
 * @return   whether it shows a limit
 * Source: statfs(2)
 */
bool fsq_directory_space(const struct fsq_place *place, const struct fsq_inode_project *project,
			 struct fsq_usage *usage);

#endif
