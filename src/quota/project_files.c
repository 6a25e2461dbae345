/* SPDX-License-Identifier: Apache-2.0 */
#include "project_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "units.h"
#include "whole_file.h"

/*
 * Split "ONE:OTHER" at the first colon.
 * @return   false for a comment and for a line without colon
 */
static bool split(char *line, char **other)
{
	char *colon = strchr(line, ':');

	if (line[0] == '#' || !colon)
		return false;
	*colon = '\0';
	*other = colon + 1;
	return true;
}

static bool parse_file_id(const char *text, uint32_t *id)
{
	return fsq_parse_listed_id(text, strlen(text), id) == 0;
}

int fsq_projects_each(const char *file, fsq_project_visitor visit, void *arg, struct fsq_error *err)
{
	char *text, *rest, *line, *directory;
	size_t length;
	uint32_t id;
	int rc = fsq_read_whole(file, &text, &length);

	if (rc)
		return fsq_fail(err, rc == -ENOMEM ? FSQ_E_FAILED : FSQ_E_NOT_FOUND, -rc, file,
				"cannot read the projects file");
	rest = text;
	while (rc == 0 && (line = fsq_next_line(&rest, text + length)))
		if (split(line, &directory) && strlen(directory) < PATH_MAX &&
		    parse_file_id(line, &id))
			rc = visit(id, directory, arg);
	free(text);
	return rc;
}

struct entry {
	uint32_t id;
	const char *name;
};

struct fsq_project_names {
	char *text; /* the file; once it is taken apart the names point into it */
	size_t length;
	bool apart;
	struct entry *entries; /* in the file's order */
	struct entry *by_id;   /* sorted by ID, then by place in the file; made on first use */
	size_t count;
};

static int add_entry(struct fsq_project_names *names, uint32_t id, const char *name)
{
	/* Grown by doubling: a power of two says it is full. */
	if ((names->count & (names->count - 1)) == 0) {
		size_t size = names->count ? 2 * names->count : 1;
		struct entry *larger = reallocarray(names->entries, size, sizeof(*larger));

		if (!larger)
			return -ENOMEM;
		names->entries = larger;
	}
	names->entries[names->count++] = (struct entry){ id, name };
	return 0;
}

int fsq_project_names_read(struct fsq_project_names **out, const char *file, struct fsq_error *err)
{
	struct fsq_project_names *names = calloc(1, sizeof(*names));
	int rc = names ? fsq_read_whole(file, &names->text, &names->length) : -ENOMEM;

	*out = names;
	if (rc && rc != -ENOENT && rc != -ENOTDIR)
		return fsq_fail(err, FSQ_E_FAILED, -rc, file, "cannot read the projid file");
	return 0;
}

/* What needs more than one name, or names by ID. Without memory there are none. */
static void take_apart(struct fsq_project_names *names)
{
	char *rest = names->text, *line, *number;
	uint32_t id;

	if (!names || names->apart || !names->text)
		return;
	names->apart = true;
	while ((line = fsq_next_line(&rest, names->text + names->length))) {
		if (!split(line, &number))
			continue;
		number[strcspn(number, ":")] = '\0';
		if (parse_file_id(number, &id) && add_entry(names, id, line))
			return;
	}
}

void fsq_project_names_free(struct fsq_project_names *names)
{
	if (!names)
		return;
	free(names->text);
	free(names->entries);
	free(names->by_id);
	free(names);
}

static int compare_entries(const void *one, const void *other)
{
	const struct entry *a = one, *b = other;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	/* Names lie in the file's order. */
	return a->name < b->name ? -1 : a->name > b->name;
}

const char *fsq_project_names_name(struct fsq_project_names *names, uint32_t id)
{
	size_t low = 0, high;

	take_apart(names);
	high = names ? names->count : 0;
	if (high && !names->by_id) {
		names->by_id = reallocarray(NULL, names->count, sizeof(*names->by_id));
		if (!names->by_id)
			return NULL;
		memcpy(names->by_id, names->entries, names->count * sizeof(*names->by_id));
		qsort(names->by_id, names->count, sizeof(*names->by_id), compare_entries);
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (names->by_id[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return names && low < names->count && names->by_id[low].id == id ? names->by_id[low].name
									 : NULL;
}

/* One name in the text as it is: far less work than to take it apart. */
static bool scan_for(const struct fsq_project_names *names, const char *name, uint32_t *id)
{
	const char *end = names->text + names->length;
	size_t length = strlen(name);

	for (const char *line = names->text, *line_end; line < end; line = line_end + 1) {
		char number[64];

		line_end = memchr(line, '\n', (size_t)(end - line));
		if (!line_end)
			line_end = end;
		if ((size_t)(line_end - line) <= length || line[length] != ':' ||
		    memcmp(line, name, length) != 0)
			continue;
		snprintf(number, sizeof(number), "%.*s", (int)strcspn(line + length + 1, ":\n"),
			 line + length + 1);
		if (parse_file_id(number, id))
			return true;
	}
	return false;
}

bool fsq_project_names_id(const struct fsq_project_names *names, const char *name, uint32_t *id)
{
	/* Neither can be part of a name. */
	if (name[0] == '#' || strchr(name, ':') || !names || !names->text)
		return false;
	if (!names->apart)
		return scan_for(names, name, id);
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->entries[i].name, name) == 0) {
			*id = names->entries[i].id;
			return true;
		}
	return false;
}

int fsq_project_names_each(struct fsq_project_names *names, fsq_project_visitor visit, void *arg)
{
	int rc = 0;

	take_apart(names);
	for (size_t i = 0; names && i < names->count && rc == 0; i++)
		rc = visit(names->entries[i].id, names->entries[i].name, arg);
	return rc;
}
