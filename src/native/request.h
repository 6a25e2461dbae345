/* SPDX-License-Identifier: Apache-2.0 */
/* A line of batch: the words of a command line. */
#ifndef FSQ_FRONTEND_REQUEST_H
#define FSQ_FRONTEND_REQUEST_H

#include <stddef.h>

struct request {
	char **words; /* NULL behind the last; they point into the line */
	size_t count, capacity;
};

/**
 * Split a line: an array of strings in JSON, or words between blanks of which none has to be quoted.
 *
 * @request  filled; what it holds is used again by the next call, and freed by request_clear()
 * @line     with a NUL behind its end; it is changed
 * @length   of it, without that NUL
 * @return   NULL, or what is wrong with the line
 */
const char *request_parse(struct request *request, char *line, size_t length);

void request_clear(struct request *request);

#endif
