/* SPDX-License-Identifier: Apache-2.0 */
/* The answer to a request of batch: what the command printed, in one line of JSON. */
#ifndef FSQ_ANSWER_H
#define FSQ_ANSWER_H

#include "shared/writer.h"

struct answer_row {
	uint64_t number; /* of the request, from 1 on */
	int code;	 /* the exit code */
	const struct text *output;
	const struct text *messages; /* errors and warnings, an object a line */
};

/**
 * Print an answer.
 *
 * @row      JSON that the command printed becomes a part of the answer, other text a string
 */
void print_answer(struct writer *writer, const struct answer_row *row);

#endif
