/* SPDX-License-Identifier: Apache-2.0 */
#include "openmetrics.h"

#include <unistd.h>

#include "shared/utf8.h"

enum value_type {
	METRIC_NUMBER,	    /* uint64_t */
	METRIC_LIMIT,	    /* the same, 0: none */
	METRIC_SECONDS,	    /* int64_t, FIELD_NO_SECONDS: none */
	METRIC_NANOSECONDS, /* uint64_t, shown in seconds */
	METRIC_BOOL,
};

/* Where a value is; it is there only if the bool @needs is set, SIZE_MAX: always. */
struct value {
	enum value_type type;
	size_t member, needs;
	const char *limit; /* the value of the label of that name, NULL: there is none */
};

struct metric {
	const char *name;
	const char *unit; /* the name ends in it; NULL: none */
	const char *help; /* without what must be escaped */
	struct value values[2];
	size_t value_count;
};

#define ALWAYS SIZE_MAX
#define OF_PROJECT(member) offsetof(struct project_row, member)
#define ONE(type, member) { { type, OF_PROJECT(member), ALWAYS, NULL } }, 1

static const struct metric of_projects[] = {
	{ "fsquota_project_used_bytes", "bytes", "Space that the files of the project use.",
	  ONE(METRIC_NUMBER, used_bytes) },
	{ "fsquota_project_soft_bytes", "bytes", "Soft limit of space; no sample: none is set.",
	  ONE(METRIC_LIMIT, soft_bytes) },
	{ "fsquota_project_hard_bytes", "bytes", "Hard limit of space; no sample: none is set.",
	  ONE(METRIC_LIMIT, hard_bytes) },
	{ "fsquota_project_used_inodes", "inodes", "Files and directories of the project.",
	  ONE(METRIC_NUMBER, used_inodes) },
	{ "fsquota_project_soft_inodes", "inodes", "Soft limit of inodes; no sample: none is set.",
	  ONE(METRIC_LIMIT, soft_inodes) },
	{ "fsquota_project_hard_inodes", "inodes", "Hard limit of inodes; no sample: none is set.",
	  ONE(METRIC_LIMIT, hard_inodes) },
	{ "fsquota_project_grace_seconds",
	  "seconds",
	  "Time left above the soft limit of the label; 0: it is over, and writing fails; no "
	  "sample: not above it.",
	  { { METRIC_SECONDS, OF_PROJECT(bytes_grace_seconds), ALWAYS, "bytes" },
	    { METRIC_SECONDS, OF_PROJECT(inodes_grace_seconds), ALWAYS, "inodes" } },
	  2 },
};

#define OF_FILESYSTEM(member) offsetof(struct metrics_filesystem, member)
#define IF(needs, type, member) { { type, OF_FILESYSTEM(member), OF_FILESYSTEM(needs), NULL } }, 1
#define EVER(type, member) { { type, OF_FILESYSTEM(member), ALWAYS, NULL } }, 1

static const struct metric of_filesystems[] = {
	{ "fsquota_filesystem_size_bytes", "bytes", "Size of the filesystem.",
	  IF(has_space, METRIC_NUMBER, size_bytes) },
	{ "fsquota_filesystem_used_bytes", "bytes", "Space in use on the filesystem.",
	  IF(has_space, METRIC_NUMBER, used_bytes) },
	{ "fsquota_filesystem_accounting", NULL, "1: the use of projects is counted; 0: it is not.",
	  IF(has_state, METRIC_BOOL, accounting) },
	{ "fsquota_filesystem_enforced", NULL,
	  "1: limits of projects are enforced; 0: they are not.",
	  IF(has_state, METRIC_BOOL, enforced) },
	{ "fsquota_filesystem_projects", NULL, "Projects with use or limits.",
	  IF(has_sums, METRIC_NUMBER, projects) },
	{ "fsquota_filesystem_unlimited_projects", NULL,
	  "Projects with use or limits, but without a hard limit of space.",
	  IF(has_sums, METRIC_NUMBER, unlimited) },
	{ "fsquota_filesystem_hard_limits_bytes", "bytes",
	  "Sum of the hard limits of space of all projects.",
	  IF(has_sums, METRIC_NUMBER, hard_bytes) },
	{ "fsquota_filesystem_no_project_used_bytes", "bytes",
	  "Space that files use which belong to no project.",
	  IF(has_sums, METRIC_NUMBER, none_bytes) },
	{ "fsquota_filesystem_no_project_used_inodes", "inodes",
	  "Files and directories that belong to no project.",
	  IF(has_sums, METRIC_NUMBER, none_inodes) },
	{ "fsquota_filesystem_scan_success", NULL,
	  "1: the quotas of the filesystem were read; 0: that failed.",
	  EVER(METRIC_BOOL, success) },
	{ "fsquota_filesystem_scan_duration_seconds", "seconds", "How long it took to read them.",
	  EVER(METRIC_NANOSECONDS, scan_nanoseconds) },
	{ "fsquota_filesystem_scan_timestamp_seconds", "seconds",
	  "When they were read, in seconds since 1970.",
	  EVER(METRIC_NANOSECONDS, scanned_nanoseconds) },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

size_t openmetrics_projects(void)
{
	return COUNT(of_projects);
}

size_t openmetrics_filesystems(void)
{
	return COUNT(of_filesystems);
}

/* A line that begins with # and three words. */
static void write_comment(struct writer *w, const char *what, const char *name, const char *text)
{
	write_text(w, "# ");
	write_text(w, what);
	write_char(w, ' ');
	write_text(w, name);
	write_char(w, ' ');
	write_text(w, text);
	write_char(w, '\n');
}

static void begin(struct writer *w, const struct metric *metric)
{
	write_comment(w, "TYPE", metric->name, "gauge");
	if (metric->unit)
		write_comment(w, "UNIT", metric->name, metric->unit);
	write_comment(w, "HELP", metric->name, metric->help);
}

void openmetrics_project_begin(struct writer *w, size_t metric)
{
	begin(w, &of_projects[metric]);
}

void openmetrics_filesystem_begin(struct writer *w, size_t metric)
{
	begin(w, &of_filesystems[metric]);
}

/* A terminal would obey it; programs get the name as it is. */
static bool is_control(const char *at)
{
	unsigned char byte = (unsigned char)at[0], next = (unsigned char)at[1];

	return byte < ' ' || byte == 127 || (byte == 0xc2 && next < 0xa0);
}

/* @name  with what stands in front of it; @value NULL: empty, which is the same as no label */
static void write_label(struct writer *w, const char *name, const char *value)
{
	write_text(w, name);
	write_text(w, "=\"");
	for (const char *at = value ? value : "", *end = at + strlen(at); *at;) {
		const char *plain = utf8_plain_end(at, end);
		size_t length;

		write_bytes(w, at, (size_t)(plain - at));
		at = plain;
		if (at == end)
			break;
		length = utf8_length(at);
		if (*at == '\n') {
			write_text(w, "\\n");
		} else if (length == 0 || (is_control(at) && isatty(w->fd))) {
			write_text(w, UTF8_REPLACEMENT);
			length = length ? length : 1;
		} else {
			if (*at == '"' || *at == '\\')
				write_char(w, '\\');
			write_bytes(w, at, length);
		}
		at += length;
	}
	write_char(w, '"');
}

static void write_seconds(struct writer *w, uint64_t nanoseconds)
{
	write_number(w, nanoseconds / 1000000000);
	write_char(w, '.');
	write_number_zeros(w, nanoseconds % 1000000000, 9);
}

static bool is_there(const struct value *value, const char *row)
{
	if (value->needs != ALWAYS && !*(const bool *)(row + value->needs))
		return false;
	if (value->type == METRIC_LIMIT)
		return *(const uint64_t *)(const void *)(row + value->member) != 0;
	if (value->type == METRIC_SECONDS)
		return *(const int64_t *)(const void *)(row + value->member) != FIELD_NO_SECONDS;
	return true;
}

/* Behind the labels. */
static void write_value(struct writer *w, const struct value *value, const char *row)
{
	const void *member = row + value->member;

	if (value->limit)
		write_label(w, ",limit", value->limit);
	write_text(w, "} ");
	if (value->type == METRIC_BOOL)
		write_char(w, *(const bool *)member ? '1' : '0');
	else if (value->type == METRIC_SECONDS)
		write_signed(w, *(const int64_t *)member);
	else if (value->type == METRIC_NANOSECONDS)
		write_seconds(w, *(const uint64_t *)member);
	else
		write_number(w, *(const uint64_t *)member);
	write_char(w, '\n');
}

void openmetrics_project_row(struct writer *w, size_t metric, const struct project_row *row,
			     bool with_path)
{
	const struct metric *of = &of_projects[metric];

	for (size_t i = 0; i < of->value_count; i++) {
		if (!is_there(&of->values[i], (const char *)row))
			continue;
		write_text(w, of->name);
		write_text(w, "{id=\"");
		write_number(w, row->id);
		write_char(w, '"');
		write_label(w, ",name", row->name);
		if (with_path)
			write_label(w, ",path", row->path);
		write_label(w, ",filesystem", row->filesystem);
		write_label(w, ",mountpoint", row->mountpoint);
		write_value(w, &of->values[i], (const char *)row);
	}
}

void openmetrics_filesystem_row(struct writer *w, size_t metric,
				const struct metrics_filesystem *row)
{
	const struct metric *of = &of_filesystems[metric];

	for (size_t i = 0; i < of->value_count; i++) {
		if (!is_there(&of->values[i], (const char *)row))
			continue;
		write_text(w, of->name);
		write_label(w, "{filesystem", row->filesystem);
		write_label(w, ",mountpoint", row->mountpoint);
		write_value(w, &of->values[i], (const char *)row);
	}
}

void openmetrics_end(struct writer *w)
{
	write_text(w, "# EOF\n");
}
