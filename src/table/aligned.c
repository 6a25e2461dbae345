/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table for people: columns as wide as their cells, shortened where the terminal is narrower. libsmartcols
 * would take five times as many instructions for a row, so it is not used.
 */
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "table.h"

/* A column is not made narrower than this. */
#define LEAST_WIDTH 12
#define GAP "..."

enum { PLAIN, RED, YELLOW };

#define ALARMING_PERCENT 90

/* Red: full, or expired. Yellow: a grace time that runs. */
static uint8_t color_of(const struct field *field, const void *row)
{
	const void *member = (const char *)row + field->offset;

	if (field->type == FIELD_PERCENT)
		return *(const double *)member > ALARMING_PERCENT ? RED : PLAIN;
	if (field->type == FIELD_SECONDS && !field_is_empty(field, row))
		return *(const int64_t *)member == 0 ? RED : YELLOW;
	return PLAIN;
}

/* The locale costs system calls, and matters for names that are not ASCII alone. */
static bool knows_characters(void)
{
	static bool asked, known;

	if (!asked)
		known = setlocale(LC_CTYPE, "") && MB_CUR_MAX > 1;
	asked = true;
	return known;
}

/* @return   the length of the printable character that @text begins with, and its width; 0: none */
static size_t character(const char *text, int *width)
{
	mbstate_t state = { 0 };
	wchar_t wide;
	size_t length;

	*width = 1;
	if ((unsigned char)*text < 0x80)
		return *text >= 0x20 && *text < 0x7f;
	length = knows_characters() ? mbrtowc(&wide, text, MB_LEN_MAX, &state) : 0;
	if (length == 0 || length > MB_LEN_MAX)
		return 0;
	*width = wcwidth(wide);
	return *width < 0 ? 0 : length;
}

/* As libsmartcols escapes what cannot be printed: \x0a. */
static int put_cell(struct table *table, const char *value, struct table_cell *cell)
{
	static const char digits[] = "0123456789abcdef";
	size_t all = strlen(value);
	char *to = text_room(&table->text, 4 * all), *begin = to;
	int width = (int)(text_plain_end(value, TEXT_QUOTED) - value);

	if (!to)
		return -ENOMEM;
	/* Nearly every cell ends here. */
	to = mempcpy(to, value, (size_t)width);
	value += width;
	while (*value) {
		int columns = 1;
		bool plain = *value >= 0x20 && *value < 0x7f && *value != '\\';
		size_t length = plain ? 1 : character(value, &columns);

		if (length == 0 || (value[0] == '\\' && value[1] == 'x')) {
			*to++ = '\\';
			*to++ = 'x';
			*to++ = digits[(unsigned char)*value >> 4];
			*to++ = digits[(unsigned char)*value & 15];
			columns = 4;
			length = 1;
		} else {
			for (size_t i = 0; i < length; i++)
				*to++ = value[i];
		}
		value += length;
		width += columns;
	}
	*to++ = '\0';
	cell->text = table->text.used;
	cell->width = (uint32_t)width;
	table->text.used += (size_t)(to - begin);
	return 0;
}

int aligned_row(struct table *table, const void *row)
{
	const struct table_style *style = table->style;
	char room[FIELD_CELL];

	if (table->cell_count == 0) {
		const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");

		/* On a terminal that knows colours, unless the user wants none: see no-color.org. */
		table->colored = style->color == TABLE_COLOR_AUTO
					 ? !(none && *none) && terminal &&
						   strcmp(terminal, "dumb") != 0 &&
						   isatty(table->out->fd)
					 : style->color == TABLE_COLOR_ALWAYS;
	}
	for (size_t i = 0; i < table->column_count; i++) {
		const struct field *field = table->columns[i];
		const char *value = field_cell(field, row, style->exact, room);
		struct table_cell *cells = array_grow(table->cells, table->cell_count,
						      &table->cell_capacity, sizeof(*cells));

		if (!cells)
			return -ENOMEM;
		table->cells = cells;
		cells += table->cell_count;
		if (put_cell(table, value ? value : "", cells))
			return -ENOMEM;
		cells->color = table->colored ? color_of(field, row) : PLAIN;
		if (table->width[i] < (int)cells->width)
			table->width[i] = (int)cells->width;
		table->cell_count++;
	}
	return 0;
}

/* Make the last column of text narrower, if the terminal is. */
static void fit(struct table *table)
{
	struct winsize size;
	int total = (int)table->column_count - 1, last = -1, excess;

	if (table->out->fd < 0 || ioctl(table->out->fd, TIOCGWINSZ, &size) || size.ws_col == 0)
		return;
	for (int i = 0; i < (int)table->column_count; i++) {
		total += table->width[i];
		if (field_is_text(table->columns[i]) && table->width[i] > LEAST_WIDTH)
			last = i;
	}
	excess = total - size.ws_col;
	if (last < 0 || excess <= 0)
		return;
	table->width[last] -= excess;
	if (table->width[last] < LEAST_WIDTH)
		table->width[last] = LEAST_WIDTH;
}

/* @return   behind the characters that take @columns at most, which becomes what is left of them */
static const char *skip(const char *text, int *columns)
{
	int width;

	while (*text) {
		size_t length = character(text, &width);

		if (length == 0 || width > *columns)
			break;
		*columns -= width;
		text += length;
	}
	return text;
}

/* The beginning and the end of a text that is too wide. @return  its width */
static int write_shortened(struct writer *w, const char *text, int width, int room)
{
	int left = (room - (int)strlen(GAP)) / 2, right = room - (int)strlen(GAP) - left;
	int rest_left = left, drop = width - right;
	const char *end = skip(text, &rest_left), *tail;

	tail = skip(text, &drop);
	/* Half of a wide character would be left. */
	if (drop > 0 && *tail) {
		int one = 2;

		tail = skip(tail, &one);
		right -= 1;
	}
	write_bytes(w, text, (size_t)(end - text));
	write_text(w, GAP);
	write_text(w, tail);
	return left - rest_left + (int)strlen(GAP) + right;
}

static void write_aligned(struct table *table, size_t column, const char *text, int width,
			  uint8_t color)
{
	static const char *const sequences[] = { "", "\033[31m", "\033[33m" };
	int room = table->width[column];
	bool right = !field_is_text(table->columns[column]);
	bool last = column + 1 == table->column_count;
	struct writer *w = table->out;

	if (column > 0)
		write_char(w, ' ');
	write_text(w, sequences[color]);
	if (right && width < room)
		write_blanks(w, (size_t)(room - width));
	if (width > room)
		width = write_shortened(w, text, width, room);
	else
		write_text(w, text);
	if (!right && !last && width < room)
		write_blanks(w, (size_t)(room - width));
	if (color != PLAIN)
		write_text(w, "\033[0m");
}

void aligned_end(struct table *table)
{
	const struct table_cell *cell = table->cells;
	size_t rows = table->cell_count / (table->column_count ? table->column_count : 1);
	bool headings = rows > 0 && !table->style->no_headings;

	for (size_t i = 0; i < table->column_count; i++) {
		int width = (int)strlen(table->columns[i]->column);

		if (table->width[i] < width)
			table->width[i] = width;
	}
	if (rows > 0 && table->follows)
		write_char(table->out, '\n');
	if (rows > 0)
		fit(table);
	for (size_t i = 0; headings && i < table->column_count; i++) {
		const char *heading = table->columns[i]->column;

		write_aligned(table, i, heading, (int)strlen(heading), PLAIN);
	}
	if (headings)
		write_char(table->out, '\n');
	for (size_t row = 0; row < rows; row++) {
		for (size_t i = 0; i < table->column_count; i++, cell++)
			write_aligned(table, i, table->text.bytes + cell->text, (int)cell->width,
				      cell->color);
		write_char(table->out, '\n');
	}
	free(table->cells);
	free(table->text.bytes);
}
