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
	char *bytes; /* with a NUL behind the end; for free(3) */
	size_t used, capacity;
};

/** @return  room for @length bytes behind the text, and a NUL; NULL without memory */
char *text_room(struct text *text, size_t length);

struct writer {
	int fd;			 /* or -1 */
	struct text *text;	 /* instead, or NULL */
	int errnum;		 /* of the first write that failed, else 0 */
	bool reported;		 /* of which the user knows */
	struct writer *previous; /* the writer this one stands in for, if any */
	bool in_answer; /* JSON is members of an object that is open: no document of its own */
	/* Asked before PIPE_BUF bytes are written at most: false ends the writing with EINTR. Or NULL */
	bool (*can_write)(void *arg);
	void *arg;
	size_t used;
	char buffer[WRITER_BUFFER];
};

/** Start writing to @fd, which stays the caller's. */
void writer_start(struct writer *writer, int fd);

/** Start writing to memory, behind what is there; without any that is as a failed write. */
void writer_start_text(struct writer *writer, struct text *text);

/**
 * Write out what is buffered.
 *
 * @return   0, or the negative errno of the first write that failed since writer_start()
 */
int writer_flush(struct writer *writer);

/** @return  whether something is buffered for a terminal, where it must come before what follows */
bool writer_needs_flush(const struct writer *writer);

/**
 * Write to a new file until writer_pop(); it must not exist.
 *
 * @writer   set to another one
 * @return   0, or the negative errno of open(2) or malloc(3)
 */
int writer_push_file(struct writer **writer, const char *file);

/**
 * Close the file, which was flushed before. Only where there is a previous writer.
 *
 * @return   0, or the negative errno of close(2), unless writing has failed before
 */
int writer_pop(struct writer **writer);

/* What does not fit into the buffer. */
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

static inline void write_char(struct writer *writer, char c)
{
	if (writer->used == WRITER_BUFFER)
		writer_flush(writer);
	writer->buffer[writer->used++] = c;
}

/** Write as printf(3) does: for what is no row of many, since it takes longer. */
void write_format(struct writer *writer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void write_format_list(struct writer *writer, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

/** Write @text with @width at least, to the left or right of the blanks; never cut. */
void write_left(struct writer *writer, const char *text, size_t width);
void write_right(struct writer *writer, const char *text, size_t width);

/**
 * Write a name of somebody else's for people, as ls --escape does, but with blanks as they are: what is not
 * fsq_utf8_printable(), and backslashes. So it stays in its line, and does nothing to a terminal.
 */
void write_escaped(struct writer *writer, const char *text);

/* The digits of 2^64. */
#define NUMBER_DIGITS 20

/** Put a number into room for NUMBER_DIGITS. @return  behind its last */
char *put_number(char *at, uint64_t number);

void write_blanks(struct writer *writer, size_t count);
void write_number(struct writer *writer, uint64_t number);
void write_signed(struct writer *writer, int64_t number);
void write_number_left(struct writer *writer, uint64_t number, size_t width);
void write_number_right(struct writer *writer, uint64_t number, size_t width);

/** Write a number with leading zeros up to @width digits. */
void write_number_zeros(struct writer *writer, uint64_t number, size_t width);

/* --- ASCII in names of somebody else's --- */

/* Printable ASCII that stands for itself: between quotes in every format, or in a cell of --raw. */
enum { TEXT_QUOTED = 1, TEXT_RAW = 2 };
extern const unsigned char text_plain[256];

/** @return  the end of the characters that @text begins with of a class of text_plain; before its NUL */
static inline const char *text_plain_end(const char *text, unsigned int class)
{
	while (text_plain[(unsigned char)*text] & class)
		text++;
	return text;
}

#endif
