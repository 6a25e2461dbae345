/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Print an aligned table: columns as wide as their widest cell, shortened to fit the terminal. libsmartcols would
 * take five times as many instructions for a row, so it is not used.
 */
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "shared/utf8.h"
#include "table.h"

/* Columns of text are not shortened below this width. */
#define LEAST_WIDTH 12
#define LEFT_OUT (-1)
/* On a narrower terminal a column that is "first_out" goes before others are shortened. */
#define USUAL_WIDTH 80
#define GAP "..."

/* Colors, in the order of enum field_nearness. */
enum { PLAIN, YELLOW, RED };

/* Cells of a bar, and their parts. */
#define BAR 10
#define BAR_PARTS 8

/* Red: at a limit, or a grace time that is over. Yellow: nearly, or a grace time that runs. */
static uint8_t color_of(const struct field *field, const void *row)
{
	const void *member = (const char *)row + field->offset;

	if (field->nearness)
		return (uint8_t) * (const enum field_nearness *)(const void *)((const char *)row +
									       field->nearness);
	if (field->type == FIELD_PERCENT)
		return (uint8_t)field_nearness(*(const double *)member);
	if (field->type == FIELD_SECONDS && !field_is_empty(field, row))
		return *(const int64_t *)member == 0 ? RED : YELLOW;
	return PLAIN;
}

/* Fill at least one part and not the last one, except at 0 % and 100 %. @return  filled parts; -1: no bar */
static int8_t bar_of(const struct field *field, const void *row)
{
	double percent;

	if (field->type != FIELD_PERCENT || field_is_empty(field, row))
		return -1;
	percent = *(const double *)(const void *)((const char *)row + field->offset);
	if (field_nearness(percent) == FIELD_AT)
		return BAR * BAR_PARTS;
	return (int8_t)(percent > 0 ? 1 + percent * (BAR * BAR_PARTS - 1) / 100 : 0);
}

/* @return  whether the locale has multibyte characters. Set it on first use, since that costs system calls. */
static bool knows_characters(void)
{
	static bool asked, known;

	if (!asked)
		known = setlocale(LC_CTYPE, "") && MB_CUR_MAX > 1;
	asked = true;
	return known;
}

/* @return   the length of the printable character that @text begins with, and its width; 0: it is not printable */
static size_t character(const char *text, int *width)
{
	mbstate_t state = { 0 };
	wchar_t wide;
	size_t length;

	*width = 1;
	if ((unsigned char)*text < 0x80)
		return *text >= 0x20 && *text < 0x7f;
	length = fsq_utf8_printable(text) && knows_characters()
			 ? mbrtowc(&wide, text, MB_LEN_MAX, &state)
			 : 0;
	if (length == 0 || length > MB_LEN_MAX)
		return 0;
	*width = wcwidth(wide);
	return *width < 0 ? 0 : length;
}

/*
 * Copy a text, and escape what is not printable as libsmartcols does: \x0a.
 *
 * @width    set to the width of the copy
 * @return   the end of the copy
 */
static char *put_text(char *to, const char *value, int *width)
{
	static const char digits[] = "0123456789abcdef";

	*width = 0;
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
		*width += columns;
	}
	return to;
}

int terminal_width(int fd)
{
	struct winsize size;

	return fd >= 0 && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool table_wants_colors(const struct table_style *style, int fd)
{
	const char *none = getenv("NO_COLOR"), *no = getenv("CLICOLOR"), *type = getenv("TERM");

	if (style->color != TABLE_AUTO)
		return style->color == TABLE_ALWAYS;
	return !(none && *none) && !(no && strcmp(no, "0") == 0) && type &&
	       strcmp(type, "dumb") != 0 && isatty(fd);
}

int aligned_row(struct table *table, const void *row)
{
	if (table->cell_count == 0)
		table->colored = table_wants_colors(table->style, table->out->fd);
	for (size_t i = 0; i < table->column_count; i++) {
		const struct field *field = table->columns[i].field;
		const char *text = field_has_text(field) ? field_cell_text(field, row) : NULL;
		char *at = text_room(&table->text, text ? 4 * strlen(text) : FIELD_CELL), *end;
		struct table_cell *cells = array_grow(table->cells, table->cell_count,
						      &table->cell_capacity, sizeof(*cells));
		int width;

		if (cells)
			table->cells = cells;
		if (!cells || !at)
			return -ENOMEM;
		if (text) {
			end = put_text(at, text, &width);
		} else {
			end = field_is_empty(field, row) ? at
			      : field->type == FIELD_TIME
				      ? field_put_local_time(at, (int64_t)field_number(field, row))
				      : field_put(at, field, row, table->style->exact);
			width = (int)(end - at);
		}
		*end = '\0';
		if (table->width[i] < width)
			table->width[i] = width;
		cells[table->cell_count++] = (struct table_cell){
			.text = table->text.used,
			.width = (uint32_t)width,
			.color = table->colored ? color_of(field, row) : PLAIN,
			.bar = bar_of(field, row),
		};
		table->text.used += (size_t)(end + 1 - at);
	}
	return 0;
}

/* @return   the least width that a column can be shortened to */
static int least_width(const struct table *table, int i)
{
	bool is_wide = field_is_text(table->columns[i].field) && table->width[i] > LEAST_WIDTH;

	return is_wide ? LEAST_WIDTH : table->width[i];
}

/*
 * Fit the table into the terminal: shorten the widest columns of text. If that is not enough, leave out minor
 * columns, unless the user chose the columns.
 *
 * @return   whether to print bars
 */
static bool fit(struct table *table)
{
	enum table_when when = table->style->bars;
	int columns = (int)table->column_count, room = terminal_width(table->out->fd);
	int excess = -1 - room, least, bars = 0, *width = table->width;

	for (int i = 0; i < columns; i++)
		bars += table->columns[i].field->type == FIELD_PERCENT ? BAR + 1 : 0;
	excess += when == TABLE_ALWAYS ? bars : 0;
	least = excess;
	for (int i = 0; i < columns; i++) {
		if (width[i] == LEFT_OUT)
			continue;
		excess += width[i] + 1;
		least += least_width(table, i) + 1;
	}
	for (int i = columns; room && table->style->column_count == 0 && i-- > 0;) {
		const struct field *field = table->columns[i].field;

		if (width[i] == LEFT_OUT ||
		    !((field->minor && least > 0) ||
		      (field->first_out && room < USUAL_WIDTH && excess > 0)))
			continue;
		excess -= width[i] + 1;
		least -= least_width(table, i) + 1;
		width[i] = LEFT_OUT;
	}
	for (int widest = 0; room && excess > 0; excess--, width[widest]--) {
		widest = 0;
		for (int i = 1; i < columns; i++)
			if (width[i] - least_width(table, i) >
			    width[widest] - least_width(table, widest))
				widest = i;
		if (width[widest] == least_width(table, widest))
			break;
	}
	return when == TABLE_ALWAYS || (when == TABLE_AUTO && room && excess + bars <= 0);
}

/* Skip the characters that fit into *@columns, and subtract their width from it. @return  the rest of @text */
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

/* Write the beginning and the end of a text that is too wide, with GAP between them. @return  the width */
static int write_shortened(struct writer *w, const char *text, int width, int room)
{
	int left = (room - (int)strlen(GAP)) / 2, right = room - (int)strlen(GAP) - left;
	int rest_left = left, drop = width - right;
	const char *end = skip(text, &rest_left), *tail;

	tail = skip(text, &drop);
	/* The cut is in the middle of a wide character: drop all of it. */
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

static const char *const sequences[] = { "", "\033[33m", "\033[31m" };
/* Resets only the color: top shows the chosen row in reverse video. */
#define PLAIN_COLOR "\033[39m"

static size_t first_column(const struct table *table)
{
	size_t i = 0;

	while (i + 1 < table->column_count && table->width[i] == LEFT_OUT)
		i++;
	return i;
}

static bool is_last_column(const struct table *table, size_t column)
{
	while (column + 1 < table->column_count && table->width[column + 1] == LEFT_OUT)
		column++;
	return column + 1 == table->column_count;
}

static void write_aligned(struct table *table, size_t column, const char *text, int width,
			  uint8_t color)
{
	int room = table->width[column];
	bool right = !field_is_text(table->columns[column].field);
	struct writer *w = table->out;

	if (room == LEFT_OUT)
		return;
	if (column > first_column(table))
		write_char(w, ' ');
	write_text(w, sequences[color]);
	if (right && width < room)
		write_blanks(w, (size_t)(room - width));
	if (width > room)
		width = write_shortened(w, text, width, room);
	else
		write_text(w, text);
	if (!right && width < room && !is_last_column(table, column))
		write_blanks(w, (size_t)(room - width));
	if (color != PLAIN)
		write_text(w, PLAIN_COLOR);
}

/* Write the bar after a percentage. @parts  those that are filled; -1: write blanks */
static void write_bar(struct writer *w, int8_t parts, uint8_t color)
{
	/* From U+2588, a full block, down to U+258F, an eighth of one. */
	char block[] = "\xe2\x96\x88";
	bool blocks = knows_characters();

	write_char(w, ' ');
	if (parts < 0) {
		write_blanks(w, BAR);
		return;
	}
	write_text(w, sequences[color]);
	for (int i = 0; i < BAR; i++) {
		const int filled = parts - i * BAR_PARTS;
		/* Whole cells: the first if there is any use, the last at the limit. */
		const int least = i == 0 ? 0 : i == BAR - 1 ? BAR_PARTS - 1 : BAR_PARTS / 2;

		if (blocks && filled > 0)
			block[2] = (char)('\x88' + (filled < BAR_PARTS ? BAR_PARTS - filled : 0));
		if (blocks)
			write_text(w, filled > 0 ? block : "\xe2\x96\x91");
		else
			write_char(w, filled > least ? '#' : '.');
	}
	if (color != PLAIN)
		write_text(w, PLAIN_COLOR);
}

static const char *heading_of(const struct field *field)
{
	return field->heading ? field->heading : field->column;
}

void aligned_end(struct table *table)
{
	const struct table_cell *cell = table->cells;
	size_t rows = table->cell_count / (table->column_count ? table->column_count : 1);
	bool headings = rows > 0 && !table->style->no_headings, bars = false;

	for (size_t i = 0; i < table->column_count; i++) {
		const struct field *field = table->columns[i].field;
		int width = headings ? (int)strlen(heading_of(field)) : 0;

		if (field->if_any && table->width[i] == 0 && table->style->column_count == 0)
			table->width[i] = LEFT_OUT;
		else if (table->width[i] < width)
			table->width[i] = width;
	}
	if (rows > 0 && table->after_rows)
		write_char(table->out, '\n');
	if (rows > 0)
		bars = fit(table);
	for (size_t i = 0; headings && i < table->column_count; i++) {
		const char *heading = heading_of(table->columns[i].field);

		write_aligned(table, i, heading, (int)strlen(heading), PLAIN);
		if (bars && table->columns[i].field->type == FIELD_PERCENT)
			write_bar(table->out, -1, PLAIN);
	}
	if (headings)
		write_char(table->out, '\n');
	for (size_t row = 0; row < rows; row++) {
		for (size_t i = 0; i < table->column_count; i++, cell++) {
			write_aligned(table, i, table->text.bytes + cell->text, (int)cell->width,
				      cell->color);
			if (bars && table->columns[i].field->type == FIELD_PERCENT)
				write_bar(table->out, cell->bar, cell->color);
		}
		write_char(table->out, '\n');
	}
	free(table->cells);
	free(table->text.bytes);
}
