/* SPDX-License-Identifier: Apache-2.0 */
#include "writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "utf8.h"

void writer_start(struct writer *writer, int fd)
{
	writer->fd = fd;
	writer->text = NULL;
	writer->errnum = 0;
	writer->reported = false;
	writer->previous = NULL;
	writer->in_answer = false;
	writer->can_write = NULL;
	writer->used = 0;
}

void writer_start_text(struct writer *writer, struct text *text)
{
	writer_start(writer, -1);
	writer->text = text;
}

char *text_room(struct text *text, size_t length)
{
	size_t wanted = text->used + length + 1, capacity = text->capacity ? text->capacity : 4096;
	char *larger = text->bytes;

	while (capacity < wanted)
		capacity *= 2;
	if (capacity != text->capacity)
		larger = realloc(text->bytes, capacity);
	if (!larger)
		return NULL;
	text->bytes = larger;
	text->capacity = capacity;
	return larger + text->used;
}

/* Append the buffer to writer->text. */
static int append(struct writer *writer)
{
	char *room = text_room(writer->text, writer->used);

	if (!room)
		return ENOMEM;
	memcpy(room, writer->buffer, writer->used);
	room[writer->used] = '\0';
	writer->text->used += writer->used;
	return 0;
}

int writer_flush(struct writer *writer)
{
	size_t done = writer->text ? writer->used : 0;

	if (writer->text && writer->used && !writer->errnum)
		writer->errnum = append(writer);
	while (done < writer->used && !writer->errnum) {
		size_t length = writer->used - done;
		ssize_t wrote;

		if (writer->can_write && !writer->can_write(writer->arg)) {
			writer->errnum = EINTR;
			break;
		}
		if (writer->can_write && length > PIPE_BUF)
			length = PIPE_BUF;
		wrote = write(writer->fd, writer->buffer + done, length);
		if (wrote >= 0)
			done += (size_t)wrote;
		else if (errno != EINTR)
			writer->errnum = errno;
	}
	writer->used = 0;
	return -writer->errnum;
}

bool writer_needs_flush(const struct writer *writer)
{
	return writer->used && writer->fd >= 0 && isatty(writer->fd);
}

void write_many_bytes(struct writer *writer, const char *bytes, size_t length)
{
	size_t room;

	while ((room = WRITER_BUFFER - writer->used) < length) {
		memcpy(writer->buffer + writer->used, bytes, room);
		writer->used = WRITER_BUFFER;
		writer_flush(writer);
		bytes += room;
		length -= room;
	}
	memcpy(writer->buffer + writer->used, bytes, length);
	writer->used += length;
}

/* Format into the buffer. If the rest of it is too small, format into allocated memory. */
void write_format_list(struct writer *writer, const char *format, va_list args)
{
	size_t room = WRITER_BUFFER - writer->used;
	va_list again;
	char *text;
	int length;

	va_copy(again, args);
	length = vsnprintf(writer->buffer + writer->used, room, format, args);
	if (length < (int)room) {
		writer->used += (size_t)length;
	} else if (vasprintf(&text, format, again) >= 0) {
		write_text(writer, text);
		free(text);
	} else if (!writer->errnum) {
		writer->errnum = ENOMEM;
	}
	va_end(again);
}

void write_format(struct writer *writer, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	write_format_list(writer, format, args);
	va_end(args);
}

void write_blanks(struct writer *writer, size_t count)
{
	for (; count > 0; count--)
		write_char(writer, ' ');
}

void write_left(struct writer *writer, const char *text, size_t width)
{
	size_t length = strlen(text);

	write_bytes(writer, text, length);
	if (length < width)
		write_blanks(writer, width - length);
}

void write_right(struct writer *writer, const char *text, size_t width)
{
	size_t length = strlen(text);

	if (length < width)
		write_blanks(writer, width - length);
	write_bytes(writer, text, length);
}

const unsigned char text_plain[256] = {
	[' '] = TEXT_QUOTED,
	['!'] = TEXT_QUOTED | TEXT_RAW,
	['"'] = TEXT_RAW,
	['#'] = TEXT_QUOTED | TEXT_RAW,
	['$'] = TEXT_RAW,
	['%' ... '['] = TEXT_QUOTED | TEXT_RAW,
	[']' ... '_'] = TEXT_QUOTED | TEXT_RAW,
	['`'] = TEXT_RAW,
	['a' ... '~'] = TEXT_QUOTED | TEXT_RAW,
};

static void write_octal(struct writer *writer, unsigned char byte)
{
	write_char(writer, '\\');
	for (int shift = 6; shift >= 0; shift -= 3)
		write_char(writer, (char)('0' + (byte >> shift & 7)));
}

void write_escaped(struct writer *writer, const char *text)
{
	static const char letters[] = "\a\b\t\n\v\f\r\\", names[] = "abtnvfr\\";

	for (;;) {
		const char *plain = text, *letter;
		size_t length;

		text = text_plain_end(text, TEXT_QUOTED);
		write_bytes(writer, plain, (size_t)(text - plain));
		if (*text == '\0')
			return;
		letter = strchr(letters, *text);
		length = fsq_utf8_printable(text);
		if (letter) {
			write_char(writer, '\\');
			write_char(writer, names[letter - letters]);
			text++;
		} else if (length) {
			write_bytes(writer, text, length);
			text += length;
		} else {
			/* The next bytes of a multibyte character are invalid alone, so they are escaped, too. */
			write_octal(writer, (unsigned char)*text++);
		}
	}
}

static const char pairs[] = "0001020304050607080910111213141516171819"
			    "2021222324252627282930313233343536373839"
			    "4041424344454647484950515253545556575859"
			    "6061626364656667686970717273747576777879"
			    "8081828384858687888990919293949596979899";

/*
 * Write the digits of a number backwards from @end, two for each division, since divisions are slow.
 * @return   the first digit
 */
static char *put_digits(char *end, uint64_t number)
{
	while (number >= 100) {
		end -= 2;
		memcpy(end, pairs + 2 * (number % 100), 2);
		number /= 100;
	}
	if (number < 10) {
		*--end = (char)('0' + number);
		return end;
	}
	end -= 2;
	memcpy(end, pairs + 2 * number, 2);
	return end;
}

char *put_number(char *at, uint64_t number)
{
	char digits[NUMBER_DIGITS], *end = digits + NUMBER_DIGITS;
	const char *begin = put_digits(end, number);

	return mempcpy(at, begin, (size_t)(end - begin));
}

void write_number(struct writer *writer, uint64_t number)
{
	char digits[NUMBER_DIGITS], *end = digits + NUMBER_DIGITS;
	const char *begin = put_digits(end, number);

	write_bytes(writer, begin, (size_t)(end - begin));
}

void write_signed(struct writer *writer, int64_t number)
{
	if (number < 0)
		write_char(writer, '-');
	write_number(writer, number < 0 ? -(uint64_t)number : (uint64_t)number);
}

/* No column of numbers is wider. */
#define COLUMN_MAX 32

static void write_filled(struct writer *writer, uint64_t number, size_t width, char filler)
{
	char cell[COLUMN_MAX], *end = cell + COLUMN_MAX, *begin;

	memset(cell, filler, sizeof(cell));
	begin = put_digits(end, number);
	if (width > (size_t)(end - begin))
		begin = end - width;
	write_bytes(writer, begin, (size_t)(end - begin));
}

void write_number_right(struct writer *writer, uint64_t number, size_t width)
{
	write_filled(writer, number, width, ' ');
}

void write_number_zeros(struct writer *writer, uint64_t number, size_t width)
{
	write_filled(writer, number, width, '0');
}

void write_number_left(struct writer *writer, uint64_t number, size_t width)
{
	char digits[NUMBER_DIGITS], *end = digits + NUMBER_DIGITS;
	const char *begin = put_digits(end, number);
	size_t length = (size_t)(end - begin);

	write_bytes(writer, begin, length);
	if (length < width)
		write_blanks(writer, width - length);
}

int writer_push_file(struct writer **writer, const char *file)
{
	int fd = open(file, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0600), rc;
	struct writer *top;

	/* If the standard descriptors are closed, messages must not go into the file. */
	if (fd >= 0 && fd <= STDERR_FILENO) {
		int low = fd;

		fd = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		rc = -errno;
		close(low);
	} else {
		rc = -errno;
	}
	if (fd < 0)
		return rc;
	top = malloc(sizeof(*top));
	if (!top) {
		close(fd);
		return -ENOMEM;
	}
	writer_start(top, fd);
	top->previous = *writer;
	*writer = top;
	return 0;
}

int writer_pop(struct writer **writer)
{
	struct writer *top = *writer;
	bool is_reported = top->errnum != 0;
	int rc = close(top->fd) ? -errno : 0;

	*writer = top->previous;
	free(top);
	return is_reported ? 0 : rc;
}
