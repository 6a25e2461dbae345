/* SPDX-License-Identifier: Apache-2.0 */
/* Errors and warnings on stderr: a line for people, or an object for machines. */
#ifndef FSQ_ERROR_TEXT_H
#define FSQ_ERROR_TEXT_H

#include <stdbool.h>

#include "quota/fsquota.h"
#include "shared/writer.h"

struct error_row {
	const char *program; /* in front of the line, or NULL */
	const char *place;   /* in front of the message; or NULL */
	const char *path;    /* the object that failed, for JSON; or NULL */
	const char *message;
	int code;	   /* exit code; 0: a warning */
	int errnum;	   /* errno behind it, or 0 */
	const char *cause; /* why it is not supported, as doctor calls it; or NULL */
	const char *
		cause_words; /* the sentence, instead of what there is to say of @errnum; or NULL */
	const char *hint;    /* what to do about it, or NULL: what there is to say of @errnum */
	bool of_file;	     /* of a file of the caller's, not of quota: then there is nothing */
	bool is_root;	     /* the caller lacks no privilege */
};

enum error_form {
	ERROR_LINE,
	ERROR_DOCUMENT, /* a JSON object in a line, see fsquota-json(5) */
	ERROR_MEMBER,	/* a member of an object that is open, behind another one */
	ERROR_ELEMENT,	/* the same as an object in an array */
};

/**
 * Print an error in one line and one write(2).
 *
 * @to       instead of standard error, or NULL
 */
void print_error(const struct error_row *error, enum error_form form, struct writer *to);

/** @return  the words, or NULL for FSQ_HINT_NONE */
const char *hint_words(enum fsq_hint hint);

#endif
