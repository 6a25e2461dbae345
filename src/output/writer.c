/* SPDX-License-Identifier: Apache-2.0 */
#include "writer.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* 2^64 has 20 digits. */
#define DIGITS 20

void writer_start(struct writer *writer, int fd)
{
	writer->fd = fd;
	writer->errnum = 0;
	writer->previous = NULL;
	writer->used = 0;
}

int writer_flush(struct writer *writer)
{
	size_t done = 0;

	while (done < writer->used && !writer->errnum) {
		ssize_t wrote = write(writer->fd, writer->buffer + done, writer->used - done);

		if (wrote >= 0)
			done += (size_t)wrote;
		else if (errno != EINTR)
			writer->errnum = errno;
	}
	writer->used = 0;
	return -writer->errnum;
}

static void put(struct writer *writer, const char *bytes, size_t length)
{
	while (length > 0) {
		size_t room = WRITER_BUFFER - writer->used;
		size_t part = length < room ? length : room;

		memcpy(writer->buffer + writer->used, bytes, part);
		writer->used += part;
		bytes += part;
		length -= part;
		if (writer->used == WRITER_BUFFER)
			writer_flush(writer);
	}
}

void write_text(struct writer *writer, const char *text)
{
	put(writer, text, strlen(text));
}

void write_char(struct writer *writer, char c)
{
	put(writer, &c, 1);
}

void write_blanks(struct writer *writer, size_t count)
{
	static const char blanks[] = "                                ";

	while (count > 0) {
		size_t part = count < sizeof(blanks) - 1 ? count : sizeof(blanks) - 1;

		put(writer, blanks, part);
		count -= part;
	}
}

static void put_left(struct writer *writer, const char *bytes, size_t length, size_t width)
{
	put(writer, bytes, length);
	if (length < width)
		write_blanks(writer, width - length);
}

static void put_right(struct writer *writer, const char *bytes, size_t length, size_t width)
{
	if (length < width)
		write_blanks(writer, width - length);
	put(writer, bytes, length);
}

void write_left(struct writer *writer, const char *text, size_t width)
{
	put_left(writer, text, strlen(text), width);
}

void write_right(struct writer *writer, const char *text, size_t width)
{
	put_right(writer, text, strlen(text), width);
}

/* The digits of a number, at the end of @digits. */
static const char *format(uint64_t number, char digits[DIGITS])
{
	char *at = digits + DIGITS;

	do {
		*--at = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	return at;
}

void write_number(struct writer *writer, uint64_t number)
{
	write_number_right(writer, number, 0);
}

void write_number_left(struct writer *writer, uint64_t number, size_t width)
{
	char digits[DIGITS];
	const char *text = format(number, digits);

	put_left(writer, text, (size_t)(digits + DIGITS - text), width);
}

void write_number_right(struct writer *writer, uint64_t number, size_t width)
{
	char digits[DIGITS];
	const char *text = format(number, digits);

	put_right(writer, text, (size_t)(digits + DIGITS - text), width);
}

void write_number_zeros(struct writer *writer, uint64_t number, size_t width)
{
	char digits[DIGITS];
	const char *text = format(number, digits);
	size_t length = (size_t)(digits + DIGITS - text);

	for (; length < width; length++)
		write_char(writer, '0');
	put(writer, text, (size_t)(digits + DIGITS - text));
}
