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

/* What the kernel puts behind the path of a file whose name is gone. */
static const char deleted[] = " (deleted)";

struct search {
	fsq_open_file_visitor visit;
	void *arg;
	enum fsq_visit next;
};

/* Cut the word off. @return  whether it was there */
static bool cut_deleted(char *path, size_t length)
{
	const size_t end = sizeof(deleted) - 1;

	if (length <= end || memcmp(path + length - end, deleted, end) != 0)
		return false;
	path[length - end] = '\0';
	return true;
}

/* Reading the link asks no filesystem, so a dead server is not waited for. */
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
	FILE *maps = fd < 0 ? NULL : fdopen(fd, "r");
	char *line = NULL, name[sizeof("map_files/") + 40];
	size_t size = 0;
	ssize_t length;

	if (!maps) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while (search->next == FSQ_VISIT_CONTINUE && (length = getline(&line, &size, maps)) > 0) {
		if (line[length - 1] == '\n')
			length--;
		if (!cut_deleted(line, (size_t)length) || !strchr(line, '/'))
			continue;
		snprintf(name, sizeof(name), "map_files/%.*s", (int)strcspn(line, " "), line);
		look_at_link(search, pid, process, name);
	}
	free(line);
	fclose(maps);
}

int fsq_open_files_each(fsq_open_file_visitor visit, void *arg)
{
	struct search search = { visit, arg, FSQ_VISIT_CONTINUE };
	DIR *proc = opendir("/proc");
	const struct dirent *entry;

	if (!proc)
		return -errno;
	while (search.next == FSQ_VISIT_CONTINUE && (entry = readdir(proc)) != NULL) {
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
	return 0;
}

bool fsq_process_has_mount(pid_t pid, uint64_t id, const char *type)
{
	char name[32], *line = NULL;
	size_t size = 0;
	bool found = false;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/mountinfo", (int)pid);
	file = fopen(name, "re");
	/* "36 35 0:45 / /srv rw,noatime shared:1 - overlay overlay rw": a path has no blanks there. */
	while (file && !found && getline(&line, &size, file) > 0) {
		const char *behind = strstr(line, " - ");

		found = behind && strtoull(line, NULL, 10) == id &&
			strncmp(behind + 3, type, strlen(type)) == 0 &&
			behind[3 + strlen(type)] == ' ';
	}
	free(line);
	if (file)
		fclose(file);
	return found;
}

char *fsq_process_command(pid_t pid)
{
	char name[32], *command = NULL;
	size_t size = 0;
	ssize_t length = -1;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/comm", (int)pid);
	file = fopen(name, "re");
	if (file) {
		length = getline(&command, &size, file);
		fclose(file);
	}
	if (length > 0 && command[length - 1] == '\n')
		command[length - 1] = '\0';
	if (length > 0)
		return command;
	free(command);
	return NULL;
}
