/* SPDX-License-Identifier: Apache-2.0 */
#include "watch_rows.h"

#include <string.h>

#include "common/accounts.h"

#define MEMBER(name) .offset = offsetof(struct watch_row, name)

static const struct field fields[] = {
	{ "TIME", "time", FIELD_TIME, MEMBER(milliseconds), "when it happened" },
	{ "EVENT", "event", FIELD_TEXT, MEMBER(event), "the word for what happened" },
	{ "LIMIT", "limit", FIELD_TEXT, MEMBER(limit), "of which limit: space or inodes" },
	{ "TYPE", "type", FIELD_WORD, MEMBER(type), "user, group or project",
	  .words = account_types },
	{ "ID", "id", FIELD_ID, MEMBER(id), "ID of the user, group or project" },
	{ "NAME", "name", FIELD_TEXT, MEMBER(name), "its name" },
	{ NULL, "directories", FIELD_TEXTS, MEMBER(directories) },
	{ "FILESYSTEM", "filesystem", FIELD_TEXT, MEMBER(filesystem), "device of the filesystem" },
	{ "MOUNTPOINT", "mountpoint", FIELD_TEXT, MEMBER(mountpoint), "where it is mounted" },
	{ "SOURCE", "source", FIELD_TEXT, MEMBER(source), "who says it: kernel or poll" },
	{ "UID", "uid", FIELD_COUNT, MEMBER(writer), "the user who caused it" },
	{ "COUNT", "count", FIELD_COUNT, MEMBER(count), "how often since the last one" },
	{ "USED", "used_bytes", FIELD_BYTES, MEMBER(used_bytes), "space in use" },
	{ "SOFT", "soft_bytes", FIELD_BYTES_LIMIT, MEMBER(soft_bytes), "soft limit of space" },
	{ "HARD", "hard_bytes", FIELD_BYTES_LIMIT, MEMBER(hard_bytes), "hard limit of space" },
	{ "GRACE", "bytes_grace_seconds", FIELD_SECONDS, MEMBER(bytes_grace_seconds),
	  "time left above the soft limit of space" },
	{ "IUSED", "used_inodes", FIELD_COUNT, MEMBER(used_inodes), "inodes in use" },
	{ "ISOFT", "soft_inodes", FIELD_COUNT_LIMIT, MEMBER(soft_inodes), "soft limit of inodes" },
	{ "IHARD", "hard_inodes", FIELD_COUNT_LIMIT, MEMBER(hard_inodes), "hard limit of inodes" },
	{ "IGRACE", "inodes_grace_seconds", FIELD_SECONDS, MEMBER(inodes_grace_seconds),
	  "time left above the soft limit of inodes" },
	{ "USE%", "percent", FIELD_PERCENT, MEMBER(percent), "how much of the limit is in use" },
	{ 0 },
};

static void write_amount(struct writer *w, const char *name, uint64_t amount, bool inodes)
{
	char cell[FIELD_CELL];

	write_text(w, name);
	if (inodes)
		write_number(w, amount);
	else
		write_text(w, field_size(cell, amount));
}

static void write_line(struct writer *w, const void *arg)
{
	const struct watch_row *row = arg;
	bool inodes = strcmp(row->limit, "inodes") == 0;
	uint64_t used = inodes ? row->used_inodes : row->used_bytes;
	uint64_t soft = inodes ? row->soft_inodes : row->soft_bytes;
	uint64_t hard = inodes ? row->hard_inodes : row->hard_bytes;
	char time[FIELD_CELL];

	write_text(w, field_time(time, row->milliseconds));
	write_char(w, ' ');
	write_escaped(w, row->mountpoint);
	write_char(w, ' ');
	write_text(w, account_types[row->type]);
	write_char(w, ' ');
	write_number(w, row->id);
	if (row->name) {
		write_text(w, " (");
		write_escaped(w, row->name);
		write_char(w, ')');
	}
	write_text(w, ": ");
	write_text(w, row->sentence);
	if (used != FIELD_NOT_KNOWN)
		write_amount(w, ", used ", used, inodes);
	if (used != FIELD_NOT_KNOWN && soft)
		write_amount(w, ", soft ", soft, inodes);
	if (used != FIELD_NOT_KNOWN && hard)
		write_amount(w, ", hard ", hard, inodes);
	if (row->writer != FIELD_NOT_KNOWN) {
		write_text(w, ", by user ");
		write_number(w, row->writer);
	}
	if (row->count > 1) {
		write_text(w, ", ");
		write_number(w, row->count);
		write_text(w, " times");
	}
	for (size_t i = 0; i < row->directories.count; i++) {
		write_text(w, i ? " " : ", in ");
		write_escaped(w, row->directories.texts[i]);
	}
	write_char(w, '\n');
}

/* So many fields watch_run.c has room for. */
_Static_assert(sizeof(fields) / sizeof(fields[0]) <= 32, "too many fields");

const struct row_fields watch_rows = { fields, sizeof(struct watch_row),
				       "TIME,EVENT,LIMIT,TYPE,ID,NAME,USED,HARD,USE%,MOUNTPOINT",
				       write_line };
