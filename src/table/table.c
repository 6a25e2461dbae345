/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "json.h"
#include "shared/sort.h"

/* A copy of a row that is held for sorting. Its texts are copies, too. */
struct held_row {
	void *row;
	size_t index;
	const struct table_style *style; /* compare() needs it */
};

static bool is_end(const struct field *field)
{
	return !field->column && !field->key;
}

/* --- columns and order --- */

static bool is_name(const char *known, const char *name, size_t length)
{
	return known && strlen(known) == length && strncasecmp(known, name, length) == 0;
}

/* By its name, as in the output for people, in JSON and for a shell; and "use" for USED, "percent" for USE%. */
static const struct field *find_column(const struct row_fields *type, const char *name,
				       size_t length)
{
	const struct field *keyed = type->fields;

	if (is_name("use", name, length))
		return find_column(type, "USED", strlen("USED"));
	if (is_name("use_pct", name, length) || is_name("percent", name, length))
		return find_column(type, "USE%", strlen("USE%"));
	for (const struct field *field = type->fields; !is_end(field); field++)
		if (is_name(field->column, name, length))
			return field;
	while (!is_end(keyed) && !is_name(keyed->key, name, length))
		keyed++;
	if (keyed->column || is_end(keyed))
		return keyed->column ? keyed : NULL;
	/* The column of the same value, or the one in whose place it is in JSON. */
	for (const struct field *field = type->fields; !is_end(field); field++)
		if (field->column && field->offset == keyed->offset)
			return field;
	return keyed > type->fields && !keyed[-1].key ? keyed - 1 : NULL;
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
	style->added = NULL;
	if (strcasecmp(names, "all") == 0) {
		style->column_count = 0;
	} else if (added && style->column_count == 0) {
		add_columns(style->columns, &style->column_count, type, type->usual);
		style->added = names;
	}
	if (strcasecmp(names, "all") != 0)
		return add_columns(style->columns, &style->column_count, type, names);
	for (const struct field *field = type->fields; !is_end(field); field++)
		if (field->column && style->column_count < TABLE_COLUMNS_MAX)
			style->columns[style->column_count++] = field;
	return NULL;
}

void table_use(struct table *table, struct table_style *style, const struct row_fields *type)
{
	table->type = type;
	if (!style->added)
		return;
	style->column_count = 0;
	add_columns(style->columns, &style->column_count, type, type->usual);
	add_columns(style->columns, &style->column_count, type, style->added);
}

bool table_has_column(const struct table_style *style, const char *name)
{
	for (size_t i = 0; i < style->column_count; i++)
		if (strcmp(style->columns[i]->column, name) == 0)
			return true;
	return false;
}

bool table_shows(const struct table_style *style, const char *name)
{
	for (size_t i = 0; i < style->sort_count; i++)
		if (strcmp(style->sort[i].field->column, name) == 0)
			return true;
	return style->column_count == 0 || style->format >= TABLE_JSON ||
	       table_has_column(style, name);
}

const char *table_sort(struct table_style *style, const struct row_fields *type, const char *keys)
{
	style->sort_count = 0;
	for (;; keys++) {
		size_t length = strcspn(keys, ",");
		bool has_sign = *keys == '-' || *keys == '+';
		const struct field *field = find_column(type, keys + has_sign, length - has_sign);

		if (!field || style->sort_count == TABLE_COLUMNS_MAX)
			return keys;
		style->sort[style->sort_count++] =
			(struct table_key){ field,
					    has_sign ? *keys == '-' : field_is_amount(field) };
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

/* Prepare a column: build once what precedes its value in every row. */
static void set_column(struct table_column *column, const struct field *field, const char *before,
		       const char *name, const char *after)
{
	char *at = stpcpy(column->start, before);

	at = mempcpy(at, name, strnlen(name, TABLE_START - strlen(before) - strlen(after) - 1));
	column->start_length = (size_t)(stpcpy(at, after) - column->start);
	column->field = field;
}

/*
 * The name of a column as a variable of a shell: FSQUOTA_USE_PCT of USE%. The prefix keeps eval from setting PATH and
 * other variables that have a meaning.
 */
static void make_variable(char name[TABLE_START], const char *column)
{
	char *at = stpcpy(name, "FSQUOTA_"), *end = name + TABLE_START - strlen("_PCT");

	for (; *column && at < end; column++) {
		if (*column == '%')
			at = stpcpy(at, "_PCT");
		else
			*at++ = *column;
	}
	*at = '\0';
}

/* --- JSON --- */

/* Prepare the members of a JSON object. @return  how many there are */
static size_t set_members(struct table_column *columns, const struct field *fields, bool dry_run)
{
	size_t count = 0;

	for (const struct field *field = fields; !is_end(field) && count < TABLE_COLUMNS_MAX;
	     field++) {
		const char *key = field->key;

		if (!key)
			continue;
		if (field->type == FIELD_CHANGE && dry_run && strcmp(key, "changed") == 0)
			key = "would_change";
		set_column(&columns[count++], field, ",\"", key, "\":");
	}
	return count;
}

static void write_texts(struct writer *w, const struct field_texts *texts)
{
	write_char(w, '[');
	for (size_t i = 0; i < texts->count; i++) {
		if (i > 0)
			write_char(w, ',');
		json_quote(w, texts->texts[i]);
	}
	write_char(w, ']');
}

static void write_object(struct writer *w, const struct table_column *columns, size_t count,
			 bool dry_run, const void *row);

/* A member that is a row: it is rare, so its own members are prepared each time. */
static void write_inner(struct writer *w, const struct field *members, bool dry_run,
			const void *row)
{
	struct table_column columns[TABLE_COLUMNS_MAX];

	write_object(w, columns, set_members(columns, members, dry_run), dry_run, row);
}

static void write_value(struct writer *w, const struct field *field, bool dry_run, const void *row)
{
	const void *member = (const char *)row + field->offset;
	char cell[FIELD_CELL];

	switch (field->type) {
	case FIELD_TEXT:
	case FIELD_PATH:
	case FIELD_WORD:
		json_quote(w, field_text(field, row));
		break;
	case FIELD_TEXTS:
		write_texts(w, member);
		break;
	case FIELD_ROW:
		write_inner(w, field->members, dry_run, *(const void *const *)member);
		break;
	case FIELD_TIME:
		json_quote(w, field_cell(field, row, true, cell));
		break;
	case FIELD_BOOL:
		write_text(w, *(const bool *)member ? "true" : "false");
		break;
	case FIELD_CHANGE:
		write_text(w, *(const unsigned int *)member == ROW_CHANGED ? "true" : "false");
		break;
	case FIELD_PERCENT:
		write_text(w, field_decimal(cell, *(const double *)member));
		break;
	case FIELD_RATE:
		write_signed(w, *(const int64_t *)member);
		break;
	default:
		write_number(w, field_number(field, row));
		break;
	}
}

static void write_object(struct writer *w, const struct table_column *columns, size_t count,
			 bool dry_run, const void *row)
{
	size_t comma = 1; /* 1: skip the leading comma */

	write_char(w, '{');
	for (const struct table_column *column = columns; column < columns + count; column++) {
		const struct field *field = column->field;
		const void *member = (const char *)row + field->offset;
		bool empty = field_is_empty(field, row);

		if (empty && (field->optional || (field->type == FIELD_CHANGE &&
						  *(const unsigned int *)member == ROW_ONLY_SHOWN)))
			continue;
		write_bytes(w, column->start + comma, column->start_length - comma);
		comma = 0;
		if (empty)
			write_text(w, "null");
		else
			write_value(w, field, dry_run, row);
	}
	write_char(w, '}');
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

/* Escape a cell as libsmartcols does: \x0a. */
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

/* Quote as in RFC 4180. Only the ends of our lines differ: \n instead of \r\n. */
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

static void write_headings(struct table *table)
{
	for (size_t i = 0; i < table->column_count; i++) {
		const struct table_column *column = &table->columns[i];

		write_bytes(table->out, column->start, column->start_length);
		write_text(table->out, column->field->column);
	}
	write_char(table->out, '\n');
}

static void write_cells(struct table *table, const void *row)
{
	enum table_format format = table->style->format;
	bool exact = table->style->exact || format == TABLE_CSV;
	struct writer *w = table->out;

	for (size_t i = 0; i < table->column_count; i++) {
		const struct table_column *column = &table->columns[i];
		const struct field *field = column->field;
		char cell[FIELD_CELL];

		write_bytes(w, column->start, column->start_length);
		if (!field_has_text(field) && !field_is_empty(field, row))
			write_bytes(w, cell, (size_t)(field_put(cell, field, row, exact) - cell));
		else if (field_has_text(field) && format == TABLE_CSV)
			write_quoted(w, field_cell_text(field, row));
		else if (field_has_text(field))
			write_escaped_cell(w, field_cell_text(field, row), format == TABLE_PAIRS);
	}
	write_text(w, format == TABLE_PAIRS ? "\"\n" : "\n");
}

static int write_row(struct table *table, const void *row)
{
	const struct table_style *style = table->style;
	struct writer *w = table->out;
	bool first = !table->begun;

	if (style->top && !table->follows && table->written++ >= style->top)
		return 0;
	table->begun = true;
	switch (style->format) {
	case TABLE_JSON:
		if (!table->single)
			write_text(w, first	     ? (w->in_answer ? "" : "\n")
				      : w->in_answer ? ","
						     : ",\n");
		write_object(w, table->columns, table->column_count, style->dry_run, row);
		return 0;
	case TABLE_JSON_LINES:
		write_object(w, table->columns, table->column_count, style->dry_run, row);
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

/* Replace a text by a copy. @return  0 or -ENOMEM */
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
			return a->style->reverse ? -order : order;
	}
	return (a->index < b->index) != a->style->reverse ? -1 : 1;
}

/* --- the table --- */

static void begin(struct table *table)
{
	const struct table_style *style = table->style;
	const struct field *chosen[TABLE_COLUMNS_MAX];
	bool pairs = style->format == TABLE_PAIRS;
	const char *separator = pairs ? "\" " : style->format == TABLE_CSV ? "," : " ";
	size_t count = 0;

	table->started = true;
	/* After the rows of another table: that one has the columns of the style, not this one. */
	if (!table->follows)
		count = style->column_count;
	memcpy(chosen, style->columns, count * sizeof(*chosen));
	table->lines = count == 0 && table->type->write_line;
	if (style->format == TABLE_JSON || style->format == TABLE_JSON_LINES) {
		count = set_members(table->columns, table->type->fields, style->dry_run);
	} else {
		if (count == 0)
			add_columns(chosen, &count, table->type, table->type->usual);
		for (size_t i = 0; i < count; i++) {
			char variable[TABLE_START] = "";

			if (pairs)
				make_variable(variable, chosen[i]->column);
			set_column(&table->columns[i], chosen[i], i ? separator : "", variable,
				   pairs ? "=\"" : "");
		}
	}
	table->column_count = count;
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

	if (!table->started)
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
	return (style->sort_count || style->reverse) && !table->follows ? hold(table, row)
									: write_row(table, row);
}

int table_end(struct table *table)
{
	int rc = 0;

	if (!table->started)
		begin(table);
	array_sort(table->held, table->held_count, sizeof(*table->held), compare);
	for (size_t i = 0; i < table->held_count && rc == 0; i++)
		rc = write_row(table, table->held[i].row);
	free(table->held);
	texts_free(&table->texts);
	if (table->style->format == TABLE_JSON)
		end_json(table);
	else if (table->style->format == TABLE_TEXT)
		aligned_end(table);
	return rc;
}
