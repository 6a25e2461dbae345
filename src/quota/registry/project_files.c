/* SPDX-License-Identifier: Apache-2.0 */
#include "project_files.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "project_line.h"
#include "quota/base/error.h"
#include "shared/read_file.h"
#include "shared/sort.h"

/*
 * The next entry of a text; its line is ended by a NUL in place of the newline.
 * @return   false at the end
 */
static bool next_entry(enum fsq_project_file kind, char **next, char *end, char **line,
		       struct fsq_project_line *parsed)
{
	while ((*line = fsq_next_line(next, end))) {
		/* At the end of the text there may be no newline that was replaced. */
		size_t length = (size_t)(*next - *line) - ((*next)[-1] == '\0');

		fsq_project_line_parse(kind, *line, length, parsed);
		if (parsed->kind == FSQ_LINE_ENTRY)
			return true;
	}
	return false;
}

int fsq_projects_each(const char *file, fsq_project_visitor visit, void *arg, struct fsq_error *err)
{
	char *text, *next, *line;
	struct fsq_project_line parsed;
	size_t length;
	int rc = fsq_read_file(file, &text, &length);

	if (rc)
		return fsq_fail(err, fsq_error_kind_of(-rc), -rc, file,
				"cannot read the projects file");
	next = text;
	while (next_entry(FSQ_PROJECTS, &next, text + length, &line, &parsed))
		if (visit(parsed.id, line + parsed.word, arg) == FSQ_VISIT_STOP)
			break;
	free(text);
	return 0;
}

int fsq_projects_id_of(const char *file, const char *directory, uint32_t *id, struct fsq_error *err)
{
	size_t length, wanted = strlen(directory);
	struct fsq_project_line parsed;
	char *text, *next, *line;
	int rc = -fsq_read_file(file, &text, &length);

	*id = 0;
	if (rc == ENOENT || rc == ENOTDIR)
		return 0;
	if (rc)
		return fsq_fail(err, rc == EACCES ? FSQ_E_PERMISSION : FSQ_E_FAILED, rc, file,
				"cannot read the projects file");
	next = text;
	while (*id == 0 && next_entry(FSQ_PROJECTS, &next, text + length, &line, &parsed))
		if (parsed.length == wanted && memcmp(line + parsed.word, directory, wanted) == 0)
			*id = parsed.id;
	free(text);
	return 0;
}

struct named_id {
	uint32_t id;
	const char *name;
};

struct fsq_project_names {
	char *text; /* the file; once it is parsed the names point into it */
	size_t length;
	bool parsed;
	struct named_id *entries; /* in the file's order; there is room for all from the start */
	struct named_id *by_id;	  /* sorted by ID, then by place in the file; made on first use */
	size_t count;
	size_t next; /* in by_id, behind the one that was asked for: lists ask for one after the other */
};

/* The shortest line, and its newline: "a:1". */
#define SHORTEST_LINE 4

int fsq_project_names_read(struct fsq_project_names **out, const char *file, struct fsq_error *err)
{
	struct fsq_project_names *names = calloc(1, sizeof(*names));
	int rc = names ? fsq_read_file(file, &names->text, &names->length) : -ENOMEM;

	/* Allocate now; later functions cannot report ENOMEM. Pages that are not used cost nothing. */
	if (rc == 0) {
		names->entries = reallocarray(NULL, names->length / SHORTEST_LINE + 1,
					      sizeof(*names->entries));
		rc = names->entries ? 0 : -ENOMEM;
	}
	*out = names;
	if (rc == -ENOMEM) {
		fsq_project_names_free(names);
		*out = NULL;
	}
	if (rc && rc != -ENOENT && rc != -ENOTDIR)
		return fsq_fail(err, FSQ_E_FAILED, -rc, file, "cannot read the projid file");
	return 0;
}

/* For more than one name, and for names by ID. */
static void parse_all(struct fsq_project_names *names)
{
	struct fsq_project_line parsed;
	char *next, *line;

	if (!names || names->parsed || !names->text)
		return;
	names->parsed = true;
	next = names->text;
	while (next_entry(FSQ_PROJID, &next, names->text + names->length, &line, &parsed)) {
		line[parsed.length] = '\0';
		names->entries[names->count++] = (struct named_id){ parsed.id, line };
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
	const struct named_id *a = one, *b = other;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	/* Names lie in the file's order. */
	return a->name < b->name ? -1 : a->name > b->name;
}

static void sort_by_id(struct fsq_project_names *names)
{
	names->by_id = reallocarray(NULL, names->count, sizeof(*names->by_id));
	if (!names->by_id)
		return;
	memcpy(names->by_id, names->entries, names->count * sizeof(*names->by_id));
	array_sort(names->by_id, names->count, sizeof(*names->by_id), compare_entries);
}

static const char *look_through(const struct fsq_project_names *names, uint32_t id)
{
	for (size_t i = 0; i < names->count; i++)
		if (names->entries[i].id == id)
			return names->entries[i].name;
	return NULL;
}

/* The first one that has this ID or a higher one. */
static size_t find_by_id(const struct fsq_project_names *names, uint32_t id)
{
	size_t low = 0, high = names->count;

	if (names->next > 0 && names->next < high && names->by_id[names->next].id == id &&
	    names->by_id[names->next - 1].id < id)
		return names->next;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (names->by_id[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const char *fsq_project_names_name(struct fsq_project_names *names, uint32_t id)
{
	size_t found;

	parse_all(names);
	if (!names || names->count == 0)
		return NULL;
	if (!names->by_id)
		sort_by_id(names);
	if (!names->by_id)
		return look_through(names, id);
	found = find_by_id(names, id);
	names->next = found + 1;
	return found < names->count && names->by_id[found].id == id ? names->by_id[found].name
								    : NULL;
}

/* One name in the text as it is: far less work than to parse it. */
static bool scan_for(const struct fsq_project_names *names, const char *name, uint32_t *id)
{
	const char *end = names->text + names->length;
	size_t length = strlen(name);

	for (const char *line = names->text, *line_end; line < end; line = line_end + 1) {
		struct fsq_project_line parsed;

		line_end = memchr(line, '\n', (size_t)(end - line));
		if (!line_end)
			line_end = end;
		if ((size_t)(line_end - line) <= length || line[length] != ':' ||
		    memcmp(line, name, length) != 0)
			continue;
		fsq_project_line_parse(FSQ_PROJID, line, (size_t)(line_end - line), &parsed);
		if (parsed.kind == FSQ_LINE_ENTRY) {
			*id = parsed.id;
			return true;
		}
	}
	return false;
}

bool fsq_project_names_id(const struct fsq_project_names *names, const char *name, uint32_t *id)
{
	/* Neither can be part of a name. */
	if (name[0] == '#' || strchr(name, ':') || !names || !names->text)
		return false;
	if (!names->parsed)
		return scan_for(names, name, id);
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->entries[i].name, name) == 0) {
			*id = names->entries[i].id;
			return true;
		}
	return false;
}

void fsq_project_names_each(struct fsq_project_names *names, fsq_project_visitor visit, void *arg)
{
	parse_all(names);
	for (size_t i = 0; names && i < names->count; i++)
		if (visit(names->entries[i].id, names->entries[i].name, arg) == FSQ_VISIT_STOP)
			break;
}

/* Blanks and characters of the shell would make a name dangerous in scripts and completions. */
bool fsq_project_name_is_valid(const char *name)
{
	const size_t length = strlen(name);
	uint32_t id;

	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)name[i],
			      before = i ? (unsigned char)name[i - 1] : 0;

		/* Control characters, also those above 0x7f: alone, or behind 0xc2 in UTF-8. */
		if (byte <= ' ' || byte == 0x7f ||
		    (byte >= 0x80 && byte < 0xa0 && (before < 0x80 || before == 0xc2)))
			return false;
	}
	return length > 0 && length <= NAME_MAX && name[0] != '#' && !strpbrk(name, ":\"'`$\\") &&
	       fsq_parse_id(name, &id) == -EINVAL;
}
