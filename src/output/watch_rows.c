/* SPDX-License-Identifier: Apache-2.0 */
#include "watch_rows.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cells.h"
#include "json.h"

static const char *const types[] = { "user", "group", "project" };

void watch_time(char text[WATCH_TIME], int64_t milliseconds)
{
	time_t seconds = (time_t)(milliseconds / 1000);
	struct tm tm = { 0 };
	size_t length;

	gmtime_r(&seconds, &tm);
	length = strftime(text, WATCH_TIME, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + length, WATCH_TIME - length, ".%03dZ", (int)(milliseconds % 1000));
}

/* --- text --- */

static void write_amount(struct writer *w, const char *name, uint64_t amount, bool inodes)
{
	char cell[CELL];

	write_text(w, name);
	if (inodes) {
		write_number(w, amount);
	} else {
		cell_blocks(cell, amount / 512);
		write_text(w, cell + strspn(cell, " "));
	}
}

static void write_numbers(struct writer *w, const struct watch_row *row)
{
	bool inodes = row->of_inodes;
	uint64_t soft = inodes ? row->soft_inodes : row->soft_bytes;
	uint64_t hard = inodes ? row->hard_inodes : row->hard_bytes;

	write_amount(w, ", used ", inodes ? row->used_inodes : row->used_bytes, inodes);
	if (soft)
		write_amount(w, ", soft ", soft, inodes);
	if (hard)
		write_amount(w, ", hard ", hard, inodes);
}

void text_watch_row(struct writer *w, const struct watch_row *row)
{
	char time[WATCH_TIME];

	watch_time(time, row->milliseconds);
	write_text(w, time);
	write_char(w, ' ');
	write_escaped(w, row->mountpoint);
	write_char(w, ' ');
	write_text(w, types[row->owner.type]);
	write_char(w, ' ');
	write_number(w, row->owner.id);
	if (row->owner.name) {
		write_text(w, " (");
		write_escaped(w, row->owner.name);
		write_char(w, ')');
	}
	write_text(w, ": ");
	write_text(w, row->sentence);
	if (row->has_numbers)
		write_numbers(w, row);
	if (row->has_writer) {
		write_text(w, ", by user ");
		write_number(w, row->writer);
	}
	if (row->count > 1) {
		write_text(w, ", ");
		write_number(w, row->count);
		write_text(w, " times");
	}
	for (size_t i = 0; i < row->directory_count; i++) {
		write_text(w, i ? " " : ", in ");
		write_escaped(w, row->directories[i]);
	}
	write_char(w, '\n');
}

/* --- JSON --- */

static void number_or_null(struct json *json, const char *key, bool known, uint64_t number)
{
	if (known)
		json_number(json, key, number);
	else
		json_null(json, key);
}

static void amounts(struct json *json, const struct watch_row *row)
{
	bool known = row->has_numbers;

	number_or_null(json, "used_bytes", known, row->used_bytes);
	number_or_null(json, "soft_bytes", known && row->soft_bytes, row->soft_bytes);
	number_or_null(json, "hard_bytes", known && row->hard_bytes, row->hard_bytes);
	number_or_null(json, "bytes_grace_seconds",
		       known && row->bytes_grace_seconds != ROW_NO_GRACE,
		       (uint64_t)row->bytes_grace_seconds);
	number_or_null(json, "used_inodes", known, row->used_inodes);
	number_or_null(json, "soft_inodes", known && row->soft_inodes, row->soft_inodes);
	number_or_null(json, "hard_inodes", known && row->hard_inodes, row->hard_inodes);
	number_or_null(json, "inodes_grace_seconds",
		       known && row->inodes_grace_seconds != ROW_NO_GRACE,
		       (uint64_t)row->inodes_grace_seconds);
	if (known && row->percent >= 0)
		json_decimal(json, "percent", row->percent);
	else
		json_null(json, "percent");
}

void json_watch_row(struct writer *w, const struct watch_row *row)
{
	char time[WATCH_TIME];
	struct json json;

	watch_time(time, row->milliseconds);
	json_start(&json, w);
	json_open(&json, NULL, '{');
	json_string(&json, "time", time);
	json_string(&json, "event", row->event);
	json_string(&json, "limit", row->of_inodes ? "inodes" : "space");
	json_string(&json, "type", types[row->owner.type]);
	json_number(&json, "id", row->owner.id);
	json_string(&json, "name", row->owner.name);
	json_open(&json, "directories", '[');
	for (size_t i = 0; i < row->directory_count; i++)
		json_string(&json, NULL, row->directories[i]);
	json_close(&json, ']');
	json_string(&json, "filesystem", row->filesystem);
	json_string(&json, "mountpoint", row->mountpoint);
	json_string(&json, "source", row->from_kernel ? "kernel" : "poll");
	number_or_null(&json, "uid", row->has_writer, row->writer);
	json_number(&json, "count", row->count);
	amounts(&json, row);
	json_close(&json, '}');
	json_end(&json);
}
