/* SPDX-License-Identifier: Apache-2.0 */
#include "open_files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shared/read_file.h"

/* The kernel appends this to the path of a deleted file. */
static const char deleted[] = " (deleted)";

struct search {
	fsq_open_file_visitor visit;
	void *arg;
	enum fsq_visit next;
	bool no_memory;
};

/* Cut off the suffix. @return  whether it was there */
static bool cut_deleted(char *path, size_t length)
{
	const size_t end = sizeof(deleted) - 1;

	if (length <= end || memcmp(path + length - end, deleted, end) != 0)
		return false;
	path[length - end] = '\0';
	return true;
}

/* readlink(2) of the link does not ask the filesystem, so a dead server cannot block it. */
static void look_at_link(struct search *search, pid_t pid, int dirfd, const char *name)
{
	char path[PATH_MAX];
	ssize_t length = readlinkat(dirfd, name, path, sizeof(path) - 1);

	if (length > 0 && cut_deleted(path, (size_t)length))
		search->next = search->visit(
			&(struct fsq_open_file){
				.pid = pid, .path = path, .dirfd = dirfd, .name = name },
			search->arg);
}

static void look_at_descriptors(struct search *search, pid_t pid, int process)
{
	int fd = openat(process, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!directory) {
		search->no_memory |= errno == ENOMEM;
		if (fd >= 0)
			close(fd);
		return;
	}
	while (search->next == FSQ_VISIT_CONTINUE && (entry = readdir(directory)) != NULL)
		if (entry->d_name[0] != '.')
			look_at_link(search, pid, fd, entry->d_name);
	closedir(directory);
}

/* Lines such as "7f0000000000-7f0000001000 rw-s 00000000 fe:00 133  /srv/web/cache (deleted)". */
static void look_at_maps(struct search *search, pid_t pid, int process)
{
	int fd = openat(process, "maps", O_RDONLY | O_CLOEXEC);
	char *text = NULL, *rest, *line, name[sizeof("map_files/") + 40];
	size_t length = 0;
	int rc = fd < 0 ? -errno : fsq_read_fd(fd, &text, &length);

	search->no_memory |= rc == -ENOMEM;
	rest = text;
	while (rc == 0 && search->next == FSQ_VISIT_CONTINUE &&
	       (line = fsq_next_line(&rest, text + length)) != NULL) {
		if (!cut_deleted(line, strlen(line)) || !strchr(line, '/'))
			continue;
		snprintf(name, sizeof(name), "map_files/%.*s", (int)strcspn(line, " "), line);
		look_at_link(search, pid, process, name);
	}
	free(text);
	if (fd >= 0)
		close(fd);
}

int fsq_open_files_each(fsq_open_file_visitor visit, void *arg)
{
	struct search search = { .visit = visit, .arg = arg };
	DIR *proc = opendir("/proc");
	const struct dirent *entry;

	if (!proc)
		return -errno;
	while (search.next == FSQ_VISIT_CONTINUE && !search.no_memory &&
	       (entry = readdir(proc)) != NULL) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		int process;

		if (!isdigit((unsigned char)entry->d_name[0]) || pid == getpid())
			continue;
		process = openat(dirfd(proc), entry->d_name, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (process < 0)
			continue;
		look_at_descriptors(&search, pid, process);
		look_at_maps(&search, pid, process);
		look_at_link(&search, pid, process, "cwd");
		look_at_link(&search, pid, process, "root");
		close(process);
	}
	closedir(proc);
	return search.no_memory ? -ENOMEM : 0;
}

int fsq_process_has_mount(pid_t pid, uint64_t id, const char *type)
{
	char name[32], *text, *rest, *line;
	bool found = false;
	size_t length;
	int rc;

	snprintf(name, sizeof(name), "/proc/%d/mountinfo", (int)pid);
	rc = fsq_read_file(name, &text, &length);
	if (rc)
		return rc;
	/* "36 35 0:45 / /srv rw,noatime shared:1 - overlay overlay rw": a path has no blanks there. */
	rest = text;
	while (!found && (line = fsq_next_line(&rest, text + length)) != NULL) {
		const char *behind = strstr(line, " - ");

		found = behind && strtoull(line, NULL, 10) == id &&
			strncmp(behind + 3, type, strlen(type)) == 0 &&
			behind[3 + strlen(type)] == ' ';
	}
	free(text);
	return found;
}

int fsq_process_command(pid_t pid, char **command)
{
	char name[32];
	size_t length;
	int rc;

	*command = NULL;
	snprintf(name, sizeof(name), "/proc/%d/comm", (int)pid);
	rc = fsq_read_file(name, command, &length);
	if (rc == 0 && length > 0 && (*command)[length - 1] == '\n')
		(*command)[length - 1] = '\0';
	return rc;
}
