/* SPDX-License-Identifier: Apache-2.0 */
#include "mount_entry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "mountinfo.h"
#include "quota/kernel/compat.h"
#include "shared/read_file.h"
#include "shared/statx.h"

void fsq_mount_entry_clear(struct fsq_mount_entry *entry)
{
	free(entry->directory);
	free(entry->source);
	free(entry->type);
	free(entry->root);
	free(entry->options);
	free(entry->super_options);
	*entry = (struct fsq_mount_entry){ 0 };
}

static int fill(struct fsq_mount_entry *entry, const struct fsq_mountinfo_line *line)
{
	*entry = (struct fsq_mount_entry){
		.id = line->id,
		.parent = line->parent,
		.dev = line->dev,
		.directory = strdup(line->directory),
		.source = strdup(line->source),
		.type = strdup(line->type),
		.root = strdup(line->root),
		.options = strdup(line->options),
		.super_options = strdup(line->super_options),
	};
	if (entry->directory && entry->source && entry->type && entry->root && entry->options &&
	    entry->super_options) {
		fsq_mountinfo_unescape(entry->root);
		return 0;
	}
	fsq_mount_entry_clear(entry);
	return -ENOMEM;
}

struct search {
	uint64_t id; /* 0: before Linux 5.8 */
	dev_t dev;
	struct fsq_mount_entry *entry;
	int rc;
};

static enum fsq_visit take_if_wanted(const struct fsq_mountinfo_line *line, void *arg)
{
	struct search *search = arg;

	if (search->id ? line->id != search->id : line->dev != search->dev)
		return FSQ_VISIT_CONTINUE;
	search->rc = fill(search->entry, line);
	return FSQ_VISIT_STOP;
}

int fsq_mount_entry_of_fd(int fd, struct fsq_mount_entry *entry)
{
	struct search search = { .entry = entry, .rc = -ENXIO };
	struct statx stx;
	int rc;

	*entry = (struct fsq_mount_entry){ 0 };
	if (get_statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &stx))
		return -errno;
	search.id = stx.stx_mask & STATX_MNT_ID ? stx.stx_mnt_id : 0;
	search.dev = makedev(stx.stx_dev_major, stx.stx_dev_minor);
	rc = fsq_mountinfo_each(take_if_wanted, &search);
	return rc ? rc : search.rc;
}

struct visit {
	fsq_mount_entry_visitor visit;
	void *arg;
	int rc;
};

static enum fsq_visit visit_line(const struct fsq_mountinfo_line *line, void *arg)
{
	struct visit *visit = arg;
	struct fsq_mount_entry entry;
	enum fsq_visit answer;

	visit->rc = fill(&entry, line);
	if (visit->rc)
		return FSQ_VISIT_STOP;
	answer = visit->visit(&entry, visit->arg);
	fsq_mount_entry_clear(&entry);
	return answer;
}

int fsq_mount_entries_each(fsq_mount_entry_visitor visit, void *arg)
{
	struct visit each = { .visit = visit, .arg = arg };
	int rc = fsq_mountinfo_each(visit_line, &each);

	return rc ? rc : each.rc;
}

/* @return   the option itself, or NULL */
static const char *find_option(const char *options, const char *name)
{
	size_t length = strlen(name);

	for (const char *option = options; *option; option += *option == ',') {
		if (strncmp(option, name, length) == 0 &&
		    (option[length] == ',' || option[length] == '=' || option[length] == '\0'))
			return option;
		option += strcspn(option, ",");
	}
	return NULL;
}

bool fsq_options_have(const char *options, const char *name)
{
	return find_option(options, name) != NULL;
}

char *fsq_options_value(const char *options, const char *name)
{
	const char *option = find_option(options, name);
	char *value;

	if (!option || option[strlen(name)] != '=')
		return NULL;
	option += strlen(name) + 1;
	value = strndup(option, strcspn(option, ","));
	if (value)
		fsq_mountinfo_unescape(value);
	return value;
}

bool fsq_options_enforce(const char *options)
{
	return (fsq_options_have(options, "prjquota") || fsq_options_have(options, "pquota")) &&
	       !fsq_options_have(options, "noquota") && !fsq_options_have(options, "pqnoenforce");
}

/* What the kernel shows though nobody need say it, and what contradicts project quota. */
static bool is_dropped(const char *option, size_t length)
{
	static const char *const dropped[] = {
		"rw",		"ro",	   "relatime",	  "attr2",    "inode64", "logbufs=8",
		"logbsize=32k", "noquota", "pqnoenforce", "prjquota", "pquota",
	};

	for (size_t i = 0; i < sizeof(dropped) / sizeof(dropped[0]); i++)
		if (strlen(dropped[i]) == length && memcmp(option, dropped[i], length) == 0)
			return true;
	return length == 0;
}

static void append_kept(char *to, const char *options)
{
	while (*options) {
		size_t length = strcspn(options, ",");

		if (!is_dropped(options, length)) {
			strncat(to, options, length);
			strcat(to, ",");
		}
		options += length + (options[length] == ',');
	}
}

char *fsq_options_with_quota(const struct fsq_mount_entry *entry)
{
	size_t size = strlen(entry->options) + strlen(entry->super_options) + sizeof(",,prjquota");
	char *options = calloc(1, size);

	if (!options)
		return NULL;
	append_kept(options, entry->options);
	append_kept(options, entry->super_options);
	strcat(options, "prjquota");
	fsq_mountinfo_unescape(options);
	return options;
}

/* "SOURCE DIRECTORY TYPE OPTIONS ..." @return  its options, if it is of the directory, or NULL */
static const char *options_of(char *text, const char *directory)
{
	char *target;
	size_t length;

	if (fsq_table_next_field(&text)[0] == '#')
		return NULL;
	target = fsq_table_next_field(&text);
	fsq_mountinfo_unescape(target);
	length = strlen(target);
	while (length > 1 && target[length - 1] == '/')
		target[--length] = '\0';
	if (strcmp(target, directory) != 0)
		return NULL;
	fsq_table_next_field(&text);
	return fsq_table_next_field(&text);
}

int fsq_fstab_find(const char *file, const char *directory, struct fsq_fstab_line *line)
{
	char *text, *rest, *next;
	uint64_t number = 0;
	size_t length;
	int rc = fsq_read_file(file, &text, &length);

	*line = (struct fsq_fstab_line){ 0 };
	if (rc)
		return rc == -ENOENT ? 0 : rc;
	rest = text;
	while (rc == 0 && (next = fsq_next_line(&rest, text + length))) {
		const char *options = options_of(next, directory);

		number++;
		if (!options)
			continue;
		free(line->options);
		*line = (struct fsq_fstab_line){ number, strdup(options) };
		rc = line->options ? 0 : -ENOMEM;
	}
	free(text);
	return rc;
}
