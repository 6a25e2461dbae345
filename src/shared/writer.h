/* SPDX-License-Identifier: Apache-2.0 */
/* Buffered output of bytes to standard output or a file; remembers whether writing failed. */
#ifndef FSQ_WRITER_H
#define FSQ_WRITER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define WRITER_BUFFER (64 * 1024)

/* Text in memory that grows. */
struct text {
	char *bytes; /* with a NUL at the end; for free(3) */
	size_t used, capacity;
};

/** @return  the end of the text, with room for @length bytes and a NUL; NULL without memory */
char *text_room(struct text *text, size_t length);

struct writer {
	int fd;			 /* or -1 */
	struct text *text;	 /* where to write instead, or NULL */
	int errnum;		 /* of the first write that failed, else 0 */
	bool reported;		 /* that error was reported */
	struct writer *previous; /* the writer this one stands in for, if any */
	bool in_answer; /* write JSON as members of an object that is open, not as a document */
	/* Called before each write(2), then of PIPE_BUF bytes at most; if false, fail with EINTR. Or NULL */
	bool (*can_write)(void *arg);
	void *arg;
	size_t used;
	char buffer[WRITER_BUFFER];
};

/** Start writing to @fd, which stays the caller's. */
void writer_start(struct writer *writer, int fd);

/** Start writing to memory, after the text that is there. Lack of memory counts as a failed write. */
void writer_start_text(struct writer *writer, struct text *text);

/**
 * Write out what is buffered.
 *
 * @return   0, or the negative errno of the first write that failed since writer_start()
 */
int writer_flush(struct writer *writer);

/** @return  whether text for a terminal is buffered. Flush it before writing anything else there */
bool writer_needs_flush(const struct writer *writer);

/**
 * Write to a new file until writer_pop(); it must not exist.
 *
 * @writer   replaced by the writer of the file
 * @return   0, or the negative errno of open(2) or malloc(3)
 */
int writer_push_file(struct writer **writer, const char *file);

/**
 * Close the file and return to the previous writer, which must exist. Call writer_flush() first.
 *
 * @return   0, or the negative errno of close(2), unless a write to it has failed before
 */
int writer_pop(struct writer **writer);

/* The part of write_bytes() for bytes that do not fit into the buffer. */
void write_many_bytes(struct writer *writer, const char *bytes, size_t length);

static inline void write_bytes(struct writer *writer, const char *bytes, size_t length)
{
	if (length > WRITER_BUFFER - writer->used) {
		write_many_bytes(writer, bytes, length);
		return;
	}
	memcpy(writer->buffer + writer->used, bytes, length);
	writer->used += length;
}

static inline void write_text(struct writer *writer, const char *text)
{
	write_bytes(writer, text, strlen(text));
}

/** Write all of @text, which may be empty. */
static inline void write_all_of(struct writer *writer, const struct text *text)
{
	if (text->used)
		write_bytes(writer, text->bytes, text->used);
}

static inline void write_char(struct writer *writer, char c)
{
	if (writer->used == WRITER_BUFFER)
		writer_flush(writer);
	writer->buffer[writer->used++] = c;
}

/** Write as printf(3) does. Too slow for rows, of which there may be many. */
void write_format(struct writer *writer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void write_format_list(struct writer *writer, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

/** Write @text, and blanks on its right or left up to @width. Never cuts the text. */
void write_left(struct writer *writer, const char *text, size_t width);
void write_right(struct writer *writer, const char *text, size_t width);

/**
 * Write an untrusted name. Escape backslashes and what is not fsq_utf8_printable() as ls --escape does, but not
 * blanks. The name stays on its line and cannot control a terminal.
 */
void write_escaped(struct writer *writer, const char *text);

/* The digits of 2^64. */
#define NUMBER_DIGITS 20

/** Write a number to @at, which has room for NUMBER_DIGITS. @return  the end; there is no NUL */
char *put_number(char *at, uint64_t number);

void write_blanks(struct writer *writer, size_t count);
void write_number(struct writer *writer, uint64_t number);
void write_signed(struct writer *writer, int64_t number);
void write_number_left(struct writer *writer, uint64_t number, size_t width);
void write_number_right(struct writer *writer, uint64_t number, size_t width);

/** Write a number with leading zeros up to @width digits. */
void write_number_zeros(struct writer *writer, uint64_t number, size_t width);

/* --- ASCII in untrusted names --- */

/* Printable ASCII that needs no escape: between quotes in every format, or in a cell of --raw. */
enum { TEXT_QUOTED = 1, TEXT_RAW = 2 };
extern const unsigned char text_plain[256];

/** @return  the first character of @text that is not in a class of text_plain; it may be the NUL */
static inline const char *text_plain_end(const char *text, unsigned int class)
{
	while (text_plain[(unsigned char)*text] & class)
		text++;
	return text;
}

#endif
