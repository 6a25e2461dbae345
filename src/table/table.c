/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "json.h"
#include "shared/sort.h"

/* A copy of a row, which owns all that the row points to. */
struct held_row {
	void *row;
	size_t index;
	const struct table_style *style; /* while they are sorted */
};

static bool is_end(const struct field *field)
{
	return !field->column && !field->key;
}

/* --- columns and order --- */

static const struct field *find_column(const struct row_fields *type, const char *name,
				       size_t length)
{
	for (const struct field *field = type->fields; !is_end(field); field++)
		if (field->column && strlen(field->column) == length &&
		    strncasecmp(field->column, name, length) == 0)
			return field;
	return NULL;
}

/* @return   as table_choose() */
static const char *add_columns(const struct field **columns, size_t *count,
			       const struct row_fields *type, const char *names)
{
	for (;; names++) {
		size_t length = strcspn(names, ",");
		const struct field *field = find_column(type, names, length);

		if (!field || *count == TABLE_COLUMNS_MAX)
			return names;
		columns[(*count)++] = field;
		names += length;
		if (*names == '\0')
			return NULL;
	}
}

const char *table_choose(struct table_style *style, const struct row_fields *type,
			 const char *names)
{
	bool added = *names == '+';

	names += added;
	if (!added || strcasecmp(names, "all") == 0)
		style->column_count = 0;
	else if (style->column_count == 0)
		add_columns(style->columns, &style->column_count, type, type->usual);
	if (strcasecmp(names, "all") != 0)
		return add_columns(style->columns, &style->column_count, type, names);
	for (const struct field *field = type->fields; !is_end(field); field++)
		if (field->column && style->column_count < TABLE_COLUMNS_MAX)
			style->columns[style->column_count++] = field;
	return NULL;
}

const char *table_sort(struct table_style *style, const struct row_fields *type, const char *keys)
{
	style->sort_count = 0;
	for (;; keys++) {
		size_t length = strcspn(keys, ",");
		bool use = length == strlen("use") && strncasecmp(keys, "use", length) == 0;
		bool percent =
			length == strlen("percent") && strncasecmp(keys, "percent", length) == 0;
		bool descending = use || percent || *keys == '-';
		const struct field *field =
			use	  ? find_column(type, "USED", strlen("USED"))
			: percent ? find_column(type, "USE%", strlen("USE%"))
				  : find_column(type, keys + descending, length - descending);

		if (!field || style->sort_count == TABLE_COLUMNS_MAX)
			return keys;
		style->sort[style->sort_count++] = (struct table_key){ field, descending };
		keys += length;
		if (*keys == '\0')
			return NULL;
	}
}

void table_list_columns(struct writer *w, const struct row_fields *type)
{
	for (const struct field *field = type->fields; !is_end(field); field++) {
		if (!field->column)
			continue;
		write_left(w, field->column, 12);
		write_text(w, field->help);
		write_char(w, '\n');
	}
}

/* --- JSON --- */

static void write_member(struct json *json, const struct field *field,
			 const struct table_style *style, const void *row);

static void write_members(struct json *json, const char *key, const struct field *fields,
			  const struct table_style *style, const void *row)
{
	json_open(json, key, '{');
	for (const struct field *field = fields; !is_end(field); field++)
		if (field->key)
			write_member(json, field, style, row);
	json_close(json, '}');
}

static void write_member(struct json *json, const struct field *field,
			 const struct table_style *style, const void *row)
{
	const char *key = field->key;
	const void *member = (const char *)row + field->offset;
	bool empty = field_is_empty(field, row);
	char cell[FIELD_CELL];
	const struct field_texts *texts = member;
	const void *inner;

	if (field->type == FIELD_CHANGE && style->dry_run && strcmp(key, "changed") == 0)
		key = "would_change";
	if (empty) {
		if (!field->optional && (field->type != FIELD_CHANGE ||
					 *(const unsigned int *)member != ROW_ONLY_SHOWN))
			json_string(json, key, NULL);
		return;
	}
	switch (field->type) {
	case FIELD_TEXT:
	case FIELD_PATH:
		json_string(json, key, *(const char *const *)member);
		break;
	case FIELD_WORD:
	case FIELD_TIME:
		json_string(json, key, field_cell(field, row, true, cell));
		break;
	case FIELD_TEXTS:
		json_open(json, key, '[');
		for (size_t i = 0; i < texts->count; i++)
			json_string(json, NULL, texts->texts[i]);
		json_close(json, ']');
		break;
	case FIELD_ROW:
		memcpy(&inner, member, sizeof(inner));
		write_members(json, key, field->members, style, inner);
		break;
	case FIELD_BOOL:
		json_bool(json, key, *(const bool *)member);
		break;
	case FIELD_CHANGE:
		json_bool(json, key, *(const unsigned int *)member == ROW_CHANGED);
		break;
	case FIELD_PERCENT:
		json_decimal(json, key, *(const double *)member);
		break;
	case FIELD_RATE:
		json_signed(json, key, *(const int64_t *)member);
		break;
	case FIELD_ID:
	case FIELD_ID_OR_NONE:
		json_number(json, key, *(const uint32_t *)member);
		break;
	default:
		json_number(json, key, *(const uint64_t *)member);
		break;
	}
}

static void write_json(struct writer *w, const struct row_fields *type,
		       const struct table_style *style, const void *row)
{
	struct json json;

	json_start(&json, w);
	write_members(&json, NULL, type->fields, style, row);
}

static void end_json(struct table *table)
{
	struct writer *w = table->out;

	if (table->single)
		write_text(w, table->begun ? "" : "null");
	else
		write_text(w, table->begun && !w->in_answer ? "\n]" : "]");
	if (table->count_key) {
		write_text(w, ",\"");
		write_text(w, table->count_key);
		write_text(w, "\":");
		write_number(w, table->count);
	}
	if (!table->left_open && !w->in_answer)
		write_text(w, "}\n");
}

/* --- a row a line, for programs --- */

/* As libsmartcols escapes cells: \x0a. */
static void write_escaped_cell(struct writer *w, const char *text, bool pairs)
{
	static const char digits[] = "0123456789abcdef";

	for (;;) {
		const char *plain = text;

		text = text_plain_end(text, pairs ? TEXT_QUOTED : TEXT_RAW);
		write_bytes(w, plain, (size_t)(text - plain));
		if (*text == '\0')
			return;
		write_text(w, "\\x");
		write_char(w, digits[(unsigned char)*text >> 4]);
		write_char(w, digits[(unsigned char)*text++ & 15]);
	}
}

/* RFC 4180, but for the end of a line. */
static void write_quoted(struct writer *w, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		write_text(w, text);
		return;
	}
	write_char(w, '"');
	for (; *text; text++) {
		if (*text == '"')
			write_char(w, '"');
		write_char(w, *text);
	}
	write_char(w, '"');
}

static void write_cell(struct table *table, size_t column, const char *text)
{
	enum table_format format = table->style->format;
	struct writer *w = table->out;

	if (column > 0)
		write_char(w, format == TABLE_CSV ? ',' : ' ');
	if (format == TABLE_CSV) {
		write_quoted(w, text);
		return;
	}
	if (format == TABLE_PAIRS) {
		write_text(w, table->columns[column]->column);
		write_text(w, "=\"");
	}
	write_escaped_cell(w, text, format == TABLE_PAIRS);
	if (format == TABLE_PAIRS)
		write_char(w, '"');
}

static void write_headings(struct table *table)
{
	for (size_t i = 0; i < table->column_count; i++)
		write_cell(table, i, table->columns[i]->column);
	write_char(table->out, '\n');
}

static void write_cells(struct table *table, const void *row)
{
	const struct table_style *style = table->style;
	bool exact = style->exact || style->format == TABLE_CSV;
	char cell[FIELD_CELL];

	for (size_t i = 0; i < table->column_count; i++) {
		const char *text = field_cell(table->columns[i], row, exact, cell);

		write_cell(table, i, text ? text : "");
	}
	write_char(table->out, '\n');
}

static int write_row(struct table *table, const void *row)
{
	const struct table_style *style = table->style;
	struct writer *w = table->out;
	bool first = !table->begun;

	table->begun = true;
	switch (style->format) {
	case TABLE_JSON:
		if (!table->single)
			write_text(w, first	     ? (w->in_answer ? "" : "\n")
				      : w->in_answer ? ","
						     : ",\n");
		write_json(w, table->type, style, row);
		return 0;
	case TABLE_JSON_LINES:
		write_json(w, table->type, style, row);
		write_char(w, '\n');
		return 0;
	case TABLE_RAW:
		if (first && !style->no_headings)
			write_headings(table);
		/* fall through */
	case TABLE_PAIRS:
	case TABLE_CSV:
		write_cells(table, row);
		return 0;
	default:
		if (!table->lines)
			return aligned_row(table, row);
		table->type->write_line(w, row);
		return 0;
	}
}

/* --- rows that are sorted --- */

/* @return   0 or -ENOMEM; *@text is a copy */
static int keep_text(struct table *table, const char **text)
{
	*text = texts_keep(&table->texts, *text);
	return *text ? 0 : -ENOMEM;
}

static int keep_member(struct table *table, const struct field *field, void *row)
{
	void *member = (char *)row + field->offset;
	struct field_texts *texts = member;
	const char **copies;
	void *inner;
	int rc = 0;

	if (field_is_empty(field, row))
		return 0;
	switch (field->type) {
	case FIELD_TEXT:
	case FIELD_PATH:
		return keep_text(table, member);
	case FIELD_TEXTS:
		copies = texts_room(&table->texts, (texts->count + 1) * sizeof(*copies));
		if (!copies)
			return -ENOMEM;
		for (size_t i = 0; i < texts->count && rc == 0; i++) {
			copies[i] = texts->texts[i];
			rc = keep_text(table, &copies[i]);
		}
		texts->texts = copies;
		return rc;
	case FIELD_ROW:
		inner = texts_room(&table->texts, field->size);
		if (!inner)
			return -ENOMEM;
		memcpy(inner, *(void **)member, field->size);
		*(void **)member = inner;
		return 0;
	default:
		return 0;
	}
}

static int hold(struct table *table, const void *row)
{
	struct held_row held = { texts_room(&table->texts, table->type->size), table->held_count,
				 table->style };
	int rc = 0;

	if (!held.row)
		return -ENOMEM;
	memcpy(held.row, row, table->type->size);
	for (const struct field *field = table->type->fields; !is_end(field) && rc == 0; field++)
		rc = keep_member(table, field, held.row);
	if (rc == 0 && !array_add(&table->held, &table->held_count, &table->held_capacity, &held,
				  sizeof(held)))
		rc = -ENOMEM;
	return rc;
}

static int compare(const void *one, const void *other)
{
	const struct held_row *a = one, *b = other;

	for (size_t i = 0; i < a->style->sort_count; i++) {
		const struct table_key *key = &a->style->sort[i];
		int order = field_compare(key->field, a->row, b->row, key->descending);

		if (order)
			return order;
	}
	return a->index < b->index ? -1 : 1;
}

/* --- the whole --- */

static void begin(struct table *table)
{
	const struct table_style *style = table->style;

	if (table->started)
		return;
	table->started = true;
	/* The style is of other rows where these follow. */
	if (!table->follows)
		table->column_count = style->column_count;
	memcpy(table->columns, style->columns, table->column_count * sizeof(*table->columns));
	table->lines = table->column_count == 0 && table->type->write_line;
	if (table->column_count == 0)
		add_columns(table->columns, &table->column_count, table->type, table->type->usual);
	if (style->format == TABLE_JSON) {
		write_text(table->out, table->follows || table->out->in_answer ? ",\"" : "{\"");
		write_text(table->out, table->key);
		write_text(table->out, table->single ? "\":" : "\":[");
	} else if (style->format == TABLE_CSV && !style->no_headings) {
		write_headings(table);
	}
}

int table_row(struct table *table, const void *row)
{
	const struct table_style *style = table->style;
	double percent;

	begin(table);
	for (const struct field *field = table->type->fields; style->has_over && !is_end(field);
	     field++) {
		if (field->type != FIELD_PERCENT)
			continue;
		memcpy(&percent, (const char *)row + field->offset, sizeof(percent));
		if (percent < style->over)
			return 0;
		break;
	}
	return style->sort_count && !table->follows ? hold(table, row) : write_row(table, row);
}

int table_end(struct table *table)
{
	int rc = 0;

	begin(table);
	array_sort(table->held, table->held_count, sizeof(*table->held), compare);
	for (size_t i = 0; i < table->held_count && rc == 0; i++)
		rc = write_row(table, table->held[i].row);
	free(table->held);
	texts_free(&table->texts);
	if (table->style->format == TABLE_JSON)
		end_json(table);
	aligned_end(table);
	return rc;
}
