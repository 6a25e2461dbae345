/* SPDX-License-Identifier: Apache-2.0 */
#include "mountinfo.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "quota/base/path.h"
#include "quota/kernel/compat.h"

/* Larger than any line: two paths, options and a source. */
#define BUFFER_SIZE (64 * 1024)

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

char *fsq_table_next_field(char **rest)
{
	char *field = *rest + strspn(*rest, " \t");
	size_t length = strcspn(field, " \t");

	*rest = field + length + (field[length] != '\0');
	field[length] = '\0';
	return field;
}

void fsq_mountinfo_unescape(char *field)
{
	char *to = field;

	for (const char *from = field; *from; to++) {
		if (from[0] == '\\' && is_octal(from[1]) && is_octal(from[2]) &&
		    is_octal(from[3])) {
			*to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

/* "ID PARENT MAJOR:MINOR ..." */
static bool read_numbers(const char *text, struct fsq_mountinfo_line *line)
{
	char *end;
	unsigned long major, minor;

	line->id = strtoull(text, &end, 10);
	line->parent = strtoull(end, &end, 10);
	major = strtoul(end, &end, 10);
	if (*end != ':')
		return false;
	minor = strtoul(end + 1, &end, 10);
	line->dev = makedev((unsigned int)major, (unsigned int)minor);
	return true;
}

static bool matches(const struct fsq_mountinfo_line *line, enum fsq_mountinfo_key key,
		    uint64_t value)
{
	return (key == FSQ_MOUNTINFO_ID ? line->id : line->dev) == value;
}

static int copy_field(char *to, const char *field, size_t size)
{
	if (strlen(field) >= size)
		return -EIO;
	strcpy(to, field);
	fsq_mountinfo_unescape(to);
	return 0;
}

/* "ID PARENT MAJOR:MINOR ROOT DIRECTORY OPTIONS [TAG...] - TYPE SOURCE SUPEROPTIONS" */
static int take_apart(char *text, struct fsq_mountinfo_line *line)
{
	char *directory = NULL, *type = NULL, *source = NULL, *rest = NULL;
	bool after_dash = false;
	int field = 0, after = 0;

	line->root = line->options = line->super_options = "";
	for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		field++;
		if (field == 4)
			line->root = word;
		else if (field == 5)
			directory = word;
		else if (field == 6)
			line->options = word;
		else if (after_dash && ++after == 1)
			type = word;
		else if (after == 2)
			source = word;
		else if (after == 3)
			line->super_options = word;
		else if (field > 6 && strcmp(word, "-") == 0)
			after_dash = true;
	}
	if (!directory || !source || copy_field(line->directory, directory, PATH_MAX) ||
	    copy_field(line->source, source, PATH_MAX) ||
	    copy_field(line->type, type, sizeof(line->type)))
		return -EIO;
	return 0;
}

/* Called for each line, without its end; a value other than 0 ends the reading. */
typedef int (*line_taker)(char *line, void *arg);

/* @return   0, what @take returned, or a negative errno */
static int read_lines(line_taker take, void *arg)
{
	size_t have = 0;
	char *buffer;
	int rc = 0;
	int fd = open(FSQ_MOUNTINFO, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	buffer = malloc(BUFFER_SIZE);
	if (!buffer) {
		close(fd);
		return -ENOMEM;
	}
	while (rc == 0) {
		ssize_t got = read(fd, buffer + have, BUFFER_SIZE - have);
		char *start = buffer, *end;

		if (got < 0)
			rc = -errno;
		if (got <= 0)
			break;
		have += (size_t)got;
		while (rc == 0 && (end = memchr(start, '\n', have - (size_t)(start - buffer)))) {
			*end = '\0';
			rc = take(start, arg);
			start = end + 1;
		}
		have -= (size_t)(start - buffer);
		memmove(buffer, start, have);
		if (rc == 0 && have == BUFFER_SIZE)
			rc = -EIO;
	}
	free(buffer);
	close(fd);
	return rc;
}

struct search {
	enum fsq_mountinfo_key key;
	uint64_t value;
	struct fsq_mountinfo_line *line;
};

static int take_if_wanted(char *text, void *arg)
{
	const struct search *search = arg;
	int rc;

	if (!read_numbers(text, search->line) || !matches(search->line, search->key, search->value))
		return 0;
	rc = take_apart(text, search->line);
	search->line->root = search->line->options = search->line->super_options = NULL;
	return rc ? rc : 1;
}

int fsq_mountinfo_find(enum fsq_mountinfo_key key, uint64_t value, struct fsq_mountinfo_line *line)
{
	struct search search = { key, value, line };
	int rc = read_lines(take_if_wanted, &search);

	return rc > 0 ? 0 : rc < 0 ? rc : -ENXIO;
}

struct visit {
	fsq_mountinfo_visitor visit;
	void *arg;
};

static int visit_line(char *text, void *arg)
{
	const struct visit *visit = arg;
	struct fsq_mountinfo_line line;

	if (!read_numbers(text, &line) || take_apart(text, &line))
		return 0;
	return visit->visit(&line, visit->arg) == FSQ_VISIT_STOP;
}

int fsq_mountinfo_each(fsq_mountinfo_visitor visit, void *arg)
{
	struct visit each = { visit, arg };
	int rc = read_lines(visit_line, &each);

	return rc > 0 ? 0 : rc;
}

static int is_below(char *text, void *arg)
{
	char *directory = text;
	const char *below;

	for (int field = 1; field < 5 && directory; field++)
		directory = strchr(directory, ' ') ? strchr(directory, ' ') + 1 : NULL;
	if (!directory)
		return -EIO;
	directory[strcspn(directory, " ")] = '\0';
	fsq_mountinfo_unescape(directory);
	below = fsq_path_below(arg, directory, strlen(directory));
	return below && *below;
}

int fsq_mountinfo_any_below(const char *directory)
{
	return read_lines(is_below, (void *)(uintptr_t)directory);
}

/* statmount(2): linux/mount.h of Linux 6.8 and later. */
struct mount_id_request {
	uint32_t size;
	uint32_t spare;
	uint64_t mnt_id;
	uint64_t param;
};

struct mount_status {
	uint32_t size;
	uint32_t mnt_opts;
	uint64_t mask;
	uint32_t sb_dev_major;
	uint32_t sb_dev_minor;
	uint64_t sb_magic;
	uint32_t sb_flags;
	uint32_t fs_type;
	uint64_t mnt_id;
	uint64_t mnt_parent_id;
	uint32_t mnt_id_old;
	uint32_t mnt_parent_id_old;
	uint64_t mnt_attr;
	uint64_t mnt_propagation;
	uint64_t mnt_peer_group;
	uint64_t mnt_master;
	uint64_t propagate_from;
	uint32_t mnt_root;
	uint32_t mnt_point;
	uint64_t mnt_ns_id;
	uint32_t fs_subtype;
	uint32_t sb_source;
	uint64_t spare[48];
	char strings[];
};

#define WANT_SB_BASIC 0x00000001U
#define WANT_MNT_POINT 0x00000010U
#define WANT_SB_SOURCE 0x00000200U

int fsq_mountinfo_statmount(uint64_t id, struct fsq_mountinfo_line *line)
{
	const uint64_t wanted = WANT_SB_BASIC | WANT_MNT_POINT | WANT_SB_SOURCE;
	union {
		struct mount_status status;
		char space[sizeof(struct mount_status) + 2 * PATH_MAX];
	} answer;
	struct mount_id_request request = { .size = sizeof(request),
					    .mnt_id = id,
					    .param = wanted };
	const struct mount_status *status = &answer.status;
	const char *directory, *source;

	if (syscall(SYS_statmount, &request, &answer, sizeof(answer), 0U))
		return -errno;
	if ((status->mask & wanted) != wanted)
		return -ENODATA;
	directory = status->strings + status->mnt_point;
	source = status->strings + status->sb_source;
	if (strlen(directory) >= PATH_MAX || strlen(source) >= PATH_MAX)
		return -ENODATA;
	line->id = id;
	line->dev = makedev(status->sb_dev_major, status->sb_dev_minor);
	strcpy(line->directory, directory);
	strcpy(line->source, source);
	return 0;
}
