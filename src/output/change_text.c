/* SPDX-License-Identifier: Apache-2.0 */
#include "change_text.h"

#include <string.h>

#include "cells.h"
#include "json_rows.h"

/* From KEP-1029's value for ext4 on, rounded to blocks: accounting without a limit. */
#define UNLIMITED_BYTES ((1ULL << 58) - 512)

static void write_limit(struct writer *w, uint64_t value, bool bytes)
{
	char cell[CELL];

	if (value == 0 || (bytes && value >= UNLIMITED_BYTES)) {
		write_text(w, "none");
	} else if (bytes) {
		cell_blocks(cell, value / 512);
		write_text(w, cell + strspn(cell, " "));
	} else {
		write_number(w, value);
	}
}

/* What stands between the values that differ: @separator, and from then on a comma. */
static void begin_change(struct writer *w, const char **separator, const char *name)
{
	write_text(w, *separator);
	*separator = ", ";
	write_text(w, name);
	write_char(w, ' ');
}

static void write_change(struct writer *w, const char **separator, const char *name,
			 uint64_t before, uint64_t after, bool bytes)
{
	if (before == after)
		return;
	begin_change(w, separator, name);
	write_limit(w, before, bytes);
	write_text(w, " -> ");
	write_limit(w, after, bytes);
}

void text_applied_row(struct writer *w, const struct applied_row *row)
{
	const struct applied_limits *before = row->before, *after = row->after;
	const char *comma = ", ";

	write_left(w, row->action, sizeof("unchanged"));
	write_escaped(w, row->path);
	if (before && after) {
		write_change(w, &comma, "hard", before->hard_bytes, after->hard_bytes, true);
		write_change(w, &comma, "soft", before->soft_bytes, after->soft_bytes, true);
		write_change(w, &comma, "hard-inodes", before->hard_inodes, after->hard_inodes,
			     false);
		write_change(w, &comma, "soft-inodes", before->soft_inodes, after->soft_inodes,
			     false);
	}
	write_char(w, '\n');
}

/* "would-change project 42 (web), /srv" */
static void write_subject(struct writer *w, const char *action, enum row_type type, uint32_t id,
			  const char *name, const char *directory)
{
	write_text(w, action);
	write_char(w, ' ');
	write_text(w, json_type_word(type));
	write_char(w, ' ');
	write_number(w, id);
	if (name) {
		write_text(w, " (");
		write_escaped(w, name);
		write_char(w, ')');
	}
	if (directory) {
		write_text(w, ", ");
		write_escaped(w, directory);
	}
}

static const char *action_of(enum row_change change)
{
	return change == ROW_UNCHANGED ? "unchanged" : "would-change";
}

static void write_limits(struct writer *w, const char **separator,
			 const struct changed_quota_row *row)
{
	static const char *const hard[] = { "hard", "hard-inodes", "hard-realtime" };
	static const char *const soft[] = { "soft", "soft-inodes", "soft-realtime" };

	for (int form = 0; form < ROW_FORMS; form++) {
		uint64_t unit = form == ROW_INODES ? 1 : 512;
		const struct amounts_row *before = &row->before[form], *after = &row->after[form];

		write_change(w, separator, hard[form], before->hard_units * unit,
			     after->hard_units * unit, unit > 1);
		write_change(w, separator, soft[form], before->soft_units * unit,
			     after->soft_units * unit, unit > 1);
	}
}

static void write_grace(struct writer *w, int64_t seconds)
{
	char cell[CELL];

	cell_grace(cell, seconds, true, true);
	write_text(w, cell + strspn(cell, " "));
}

static void write_times(struct writer *w, const char **separator,
			const struct changed_quota_row *row)
{
	static const char *const names[] = { "grace", "grace-inodes", "grace-realtime" };

	for (int form = 0; form < ROW_FORMS; form++) {
		int64_t before = row->before[form].grace_seconds,
			after = row->after[form].grace_seconds;

		if (before == after)
			continue;
		begin_change(w, separator, names[form]);
		write_grace(w, before);
		write_text(w, " -> ");
		write_grace(w, after);
	}
}

static void write_warnings(struct writer *w, const char **separator,
			   const struct changed_quota_row *row)
{
	static const char *const names[] = { "warnings", "warnings-inodes", "warnings-realtime" };

	for (int form = 0; form < ROW_FORMS; form++)
		write_change(w, separator, names[form], row->before[form].warnings,
			     row->after[form].warnings, false);
}

void text_changed_quota_row(struct writer *w, const struct changed_quota_row *row)
{
	const char *separator = ": ";

	write_subject(w, action_of(row->change), row->owner.type, row->owner.id, row->owner.name,
		      row->directory);
	if (row->what == CHANGED_LIMITS)
		write_limits(w, &separator, row);
	else if (row->what == CHANGED_GRACE)
		write_times(w, &separator, row);
	else
		write_warnings(w, &separator, row);
	write_char(w, '\n');
}

static const char *enforced_word(bool enforced)
{
	return enforced ? "enforced" : "not enforced";
}

void text_switched_row(struct writer *w, const struct switched_row *row)
{
	write_text(w, action_of(row->change));
	write_char(w, ' ');
	write_text(w, json_type_word(row->type));
	write_text(w, " quota, ");
	write_escaped(w, row->directory);
	if (row->change == ROW_CHANGE_UNKNOWN) {
		write_text(w, ": the records, if there are any");
	} else if (row->was_enforced != row->enforced) {
		write_text(w, ": ");
		write_text(w, enforced_word(row->was_enforced));
		write_text(w, " -> ");
		write_text(w, enforced_word(row->enforced));
	}
	write_char(w, '\n');
}

void text_changed_tree_row(struct writer *w, const struct changed_tree_row *row)
{
	write_text(w, action_of(row->changed ? ROW_CHANGED : ROW_UNCHANGED));
	write_text(w, " project ");
	write_escaped(w, row->project);
	write_text(w, ", ");
	write_escaped(w, row->path);
	write_text(w, ": ");
	write_number(w, row->changed);
	write_text(w, " of ");
	write_number(w, row->entries);
	write_text(w, row->entries == 1 ? " file or directory\n" : " files and directories\n");
}

static void write_count(struct writer *w, const char **separator, uint64_t count, const char *of)
{
	if (count == 0)
		return;
	write_text(w, *separator);
	*separator = ", ";
	write_number(w, count);
	write_text(w, of);
}

void text_released_row(struct writer *w, const struct released_row *row)
{
	const char *separator = ": ";

	if (row->change == ROW_UNCHANGED) {
		write_text(w, "unchanged ");
		write_escaped(w, row->path ? row->path : "project");
		write_text(w, ": no quota\n");
		return;
	}
	write_subject(w, "would-release", ROW_PROJECT, row->id, row->name, row->path);
	if (row->limits) {
		write_text(w, separator);
		write_text(w, "limits");
		separator = ", ";
	}
	write_count(w, &separator, row->lines, row->lines == 1 ? " line" : " lines");
	write_count(w, &separator, row->untagged,
		    row->untagged == 1 ? " file or directory" : " files and directories");
	write_char(w, '\n');
}
