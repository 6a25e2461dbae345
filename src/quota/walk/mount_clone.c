/* SPDX-License-Identifier: Apache-2.0 */
#include "mount_clone.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "dir_stack.h"
#include "quota/base/path.h"
#include "quota/kernel/compat.h"
#include "quota/mounts/mount.h"

#define OPEN_TREE_CLONE 1

int fsq_mount_clone_open(int root_fd, int *clone)
{
	char *root = fsq_fd_path(root_fd);
	bool has_mounts = !root || fsq_mount_any_below(root) != 0;

	*clone = -1;
	free(root);
	if (has_mounts)
		return -1;
	*clone = (int)syscall(SYS_open_tree, root_fd, "",
			      (unsigned int)(OPEN_TREE_CLONE | O_CLOEXEC | AT_EMPTY_PATH));
	return *clone < 0 ? -1 : openat(*clone, ".", FSQ_DIR_STACK_OPEN_FLAGS | O_DIRECTORY);
}
