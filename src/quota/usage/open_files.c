/* SPDX-License-Identifier: Apache-2.0 */
#include "open_files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "quota/base/inode_map.h"
#include "quota/kernel/compat.h"
#include "shared/read_file.h"

/* The kernel appends this to the path of a deleted file. */
static const char deleted[] = " (deleted)";

/* Can a file on a mount be on the filesystem? */
enum place {
	PLACE_OTHER,
	PLACE_FILESYSTEM, /* the filesystem itself */
	PLACE_OVERLAY,	  /* an overlay, perhaps with layers on it */
	PLACE_UNKNOWN,	  /* in no mount table that was read */
};

/* Mounts, devices and mount namespaces are in one map, with these in their keys. */
enum key { KEY_MOUNT, KEY_DEVICE, KEY_NAMESPACE, KEYS };

struct search {
	bool all; /* not only what is deleted */
	dev_t device;
	fsq_open_file_visitor visit;
	void *arg;
	struct fsq_inode_map
		known; /* the place of mounts and devices, and which namespaces were read */
	enum fsq_visit next;
	bool no_memory;
};

/* A process, while it is looked at. */
struct process {
	pid_t pid;
	int fd;
	bool mounts_read;
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

/* --- mounts, each table read once --- */

/* @return  whether it was not known yet */
static bool note(struct search *search, enum key key, uint64_t number, enum place place)
{
	int rc = fsq_inode_map_add(
		&search->known,
		&(struct fsq_inode_note){ .ino = number * KEYS + key + 1, .id = (uint32_t)place });

	search->no_memory |= rc == -ENOMEM;
	return rc > 0;
}

static enum place find_search_place(const struct search *search, enum key key, uint64_t number)
{
	const struct fsq_inode_note *found =
		fsq_inode_map_find(&search->known, number * KEYS + key + 1);

	return found ? (enum place)found->id : PLACE_UNKNOWN;
}

/* "36 35 0:45 / /srv rw,noatime shared:1 - overlay overlay rw": a path has no blanks there. */
static void note_mount_line(struct search *search, const char *line)
{
	const char *type = strstr(line, " - ");
	unsigned int major, minor;
	enum place place = PLACE_OTHER;
	uint64_t id;

	if (!type || sscanf(line, "%" SCNu64 " %*u %u:%u", &id, &major, &minor) != 3)
		return;
	if (makedev(major, minor) == search->device)
		place = PLACE_FILESYSTEM;
	else if (strncmp(type + 3, "overlay ", strlen("overlay ")) == 0)
		place = PLACE_OVERLAY;
	note(search, KEY_MOUNT, id, place);
	note(search, KEY_DEVICE, makedev(major, minor), place);
}

/* Read a text below a directory of /proc. @return  the text for free(3), or NULL */
static char *read_at(struct search *search, int dirfd, const char *name, size_t *length)
{
	int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC);
	char *text = NULL;
	int rc = fd < 0 ? -errno : fsq_read_fd(fd, &text, length);

	search->no_memory |= rc == -ENOMEM;
	if (fd >= 0)
		close(fd);
	return rc == 0 ? text : NULL;
}

/* Read the mount table of a process, unless that of its namespace was read. */
static void read_mounts(struct search *search, struct process *process)
{
	char namespace[64], *text, *rest, *line;
	ssize_t name = readlinkat(process->fd, "ns/mnt", namespace, sizeof(namespace) - 1);
	uint64_t number;
	size_t length;

	process->mounts_read = true;
	if (name > 0) {
		namespace[name] = '\0';
		if (sscanf(namespace, "mnt:[%" SCNu64, &number) == 1 &&
		    !note(search, KEY_NAMESPACE, number, PLACE_OTHER))
			return;
	}
	text = rest = read_at(search, process->fd, "mountinfo", &length);
	while (text && (line = fsq_next_line(&rest, text + length)) != NULL)
		note_mount_line(search, line);
	free(text);
}

static enum place place_of(struct search *search, struct process *process, enum key key,
			   uint64_t number)
{
	enum place place = find_search_place(search, key, number);

	if (place != PLACE_UNKNOWN || process->mounts_read)
		return place;
	read_mounts(search, process);
	return find_search_place(search, key, number);
}

/* --- what a process holds --- */

static void visit_file(struct search *search, enum place place, const struct fsq_open_file *file)
{
	struct fsq_open_file found = *file;

	found.is_certain = place == PLACE_FILESYSTEM;
	if (place != PLACE_OTHER)
		search->next = search->visit(&found, search->arg);
}

/* A number in a text such as "mnt_id:\t29\nino:\t133\n"; or 0 */
static uint64_t number_behind(const char *text, const char *word)
{
	const char *found = strstr(text, word);

	return found ? strtoull(found + strlen(word), NULL, 10) : 0;
}

/* @info  below @dirfd: what the kernel itself says about the descriptor, without its filesystem */
static void look_at_info(struct search *search, struct process *process,
			 const struct fsq_open_file *file, int dirfd, const char *info)
{
	struct fsq_open_file found = *file;
	size_t length;
	char *text = read_at(search, dirfd, info, &length);

	if (!text)
		return;
	found.ino = number_behind(text, "\nino:");
	found.mount = number_behind(text, "\nmnt_id:");
	found.is_leased = strstr(text, " LEASE ") != NULL;
	visit_file(search, place_of(search, process, KEY_MOUNT, found.mount), &found);
	free(text);
}

/*
 * readlink(2) of the link does not ask the filesystem, so no server can block it. Files of memfd_create(2) look
 * like deleted ones.
 */
static bool read_held(const struct search *search, int dirfd, const char *name, char path[PATH_MAX])
{
	ssize_t length = readlinkat(dirfd, name, path, PATH_MAX - 1);

	return length > 0 && path[0] == '/' && (cut_deleted(path, (size_t)length) || search->all) &&
	       strncmp(path, "/memfd:", 7) != 0;
}

static void look_at_descriptors(struct search *search, struct process *process)
{
	int fd = openat(process->fd, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	char path[PATH_MAX], info[sizeof("fdinfo/") + NAME_MAX];
	const struct dirent *entry;

	if (!directory) {
		search->no_memory |= errno == ENOMEM;
		if (fd >= 0)
			close(fd);
		return;
	}
	while (search->next == FSQ_VISIT_CONTINUE && (entry = readdir(directory)) != NULL) {
		if (entry->d_name[0] == '.' || !read_held(search, fd, entry->d_name, path))
			continue;
		snprintf(info, sizeof(info), "fdinfo/%s", entry->d_name);
		look_at_info(search, process,
			     &(struct fsq_open_file){ .pid = process->pid,
						      .path = path,
						      .dirfd = fd,
						      .name = entry->d_name },
			     process->fd, info);
	}
	closedir(directory);
}

/* Lines such as "7f0000000000-7f0000001000 rw-s 00000000 fe:00 133  /srv/web/cache (deleted)". */
static void look_at_maps(struct search *search, struct process *process)
{
	char *text, *rest, *line, *path, name[sizeof("map_files/") + 40];
	size_t length;

	text = rest = read_at(search, process->fd, "maps", &length);
	while (text && search->next == FSQ_VISIT_CONTINUE &&
	       (line = fsq_next_line(&rest, text + length)) != NULL) {
		unsigned int major, minor;
		enum place place;
		uint64_t ino;

		path = strchr(line, '/');
		if (!path || (!cut_deleted(line, strlen(line)) && !search->all) ||
		    sscanf(line, "%*s %*s %*s %x:%x %" SCNu64, &major, &minor, &ino) != 3)
			continue;
		place = place_of(search, process, KEY_DEVICE, makedev(major, minor));
		snprintf(name, sizeof(name), "map_files/%.*s", (int)strcspn(line, " "), line);
		if (place != PLACE_UNKNOWN)
			visit_file(search, place,
				   &(struct fsq_open_file){ .pid = process->pid,
							    .path = path,
							    .dirfd = process->fd,
							    .name = name,
							    .ino = ino });
	}
	free(text);
}

/* O_PATH opens no file: neither FUSE nor an overlay over it is asked. */
static void look_at_directory(struct search *search, struct process *process, const char *name)
{
	char path[PATH_MAX], info[sizeof("/proc/self/fdinfo/") + 20];
	int fd;

	if (!read_held(search, process->fd, name, path))
		return;
	fd = openat(process->fd, name, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return;
	snprintf(info, sizeof(info), "/proc/self/fdinfo/%d", fd);
	look_at_info(
		search, process,
		&(struct fsq_open_file){
			.pid = process->pid, .path = path, .dirfd = process->fd, .name = name },
		AT_FDCWD, info);
	close(fd);
}

int fsq_open_files_each(dev_t device, bool all, fsq_open_file_visitor visit, void *arg)
{
	struct search search = { .device = device, .all = all, .visit = visit, .arg = arg };
	DIR *proc = opendir("/proc");
	const struct dirent *entry;

	if (!proc)
		return -errno;
	while (search.next == FSQ_VISIT_CONTINUE && !search.no_memory &&
	       (entry = readdir(proc)) != NULL) {
		struct process process = { .pid = (pid_t)strtol(entry->d_name, NULL, 10) };

		if (!isdigit((unsigned char)entry->d_name[0]) || process.pid == getpid())
			continue;
		process.fd = openat(dirfd(proc), entry->d_name, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (process.fd < 0)
			continue;
		look_at_descriptors(&search, &process);
		look_at_maps(&search, &process);
		look_at_directory(&search, &process, "cwd");
		look_at_directory(&search, &process, "root");
		close(process.fd);
	}
	closedir(proc);
	fsq_inode_map_free(&search.known);
	return search.no_memory ? -ENOMEM : 0;
}

/* By now it may be another file, perhaps of a server that does not answer: /proc asks no filesystem. */
static bool is_taken(const struct fsq_open_file *file, int fd)
{
	char name[sizeof("/proc/self/fdinfo/") + 20], *text = NULL;
	size_t length;
	bool is;

	snprintf(name, sizeof(name), "/proc/self/fdinfo/%d", fd);
	is = fsq_read_file(name, &text, &length) == 0 &&
	     number_behind(text, "\nino:") == file->ino &&
	     number_behind(text, "\nmnt_id:") == file->mount;
	free(text);
	return is;
}

int fsq_open_file_take(const struct fsq_open_file *file)
{
	int pidfd, fd = -1, rc;

	if (!file->ino || !file->mount || !isdigit((unsigned char)file->name[0]))
		return -ENOENT;
	pidfd = (int)syscall(SYS_pidfd_open, file->pid, 0);
	if (pidfd >= 0)
		fd = (int)syscall(SYS_pidfd_getfd, pidfd, (int)strtol(file->name, NULL, 10), 0);
	rc = fd < 0 ? -errno : is_taken(file, fd) ? fd : -ENOENT;
	if (pidfd >= 0)
		close(pidfd);
	if (rc < 0 && fd >= 0)
		close(fd);
	return rc;
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
