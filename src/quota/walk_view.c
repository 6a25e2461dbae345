/* SPDX-License-Identifier: Apache-2.0 */
#include "walk_view.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "mountinfo.h"
#include "syscalls.h"
#include "walk_way.h"

#define OPEN_TREE_CLONE 1

int fsq_walk_view_open(int root_fd, int *view)
{
	char link[32], root[PATH_MAX];
	ssize_t length;

	*view = -1;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", root_fd);
	length = readlink(link, root, sizeof(root));
	if (length <= 0 || (size_t)length == sizeof(root) || root[0] != '/')
		return -1;
	root[length] = '\0';
	if (fsq_mountinfo_any_below(root) != 0)
		return -1;
	*view = (int)syscall(SYS_open_tree, root_fd, "",
			     (unsigned int)(OPEN_TREE_CLONE | O_CLOEXEC | AT_EMPTY_PATH));
	return *view < 0 ? -1 : openat(*view, ".", FSQ_WAY_OPEN | O_DIRECTORY);
}
