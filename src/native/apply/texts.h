/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of lines, as texts. A file is read when nobody has it open for writing: half of it would wish for half of the
 * directories, and the others would lose their quotas.
 */
#ifndef FSQ_APPLY_TEXTS_H
#define FSQ_APPLY_TEXTS_H

#include "native/cli/session.h"

struct apply_text {
	char *file; /* "-": standard input */
	char *text; /* with a NUL behind its end */
	size_t length;
};

/* Zeros at first. */
struct apply_texts {
	struct apply_text *list;
	size_t count, capacity;
	char *empty;	    /* a directory without such files, or NULL */
	bool being_written; /* a file is */
};

/* How texts are read. */
struct apply_reading {
	bool forgiving; /* pass over what the caller may not read */
	bool as_it_is;	/* also what somebody writes; what it has no newline behind is no line */
	bool at_once; /* do not wait for a file that is being written: its text of @last counts, or none */
	bool tell;			/* and say so */
	const struct apply_texts *last; /* or NULL */
	struct reported *reported;	/* see reported_add(): do not repeat an error */
};

/**
 * Read a file, or all files *.conf of a directory in the order of their names, or "-": standard input.
 *
 * @texts    gets them; free it with apply_texts_free(), also after a failure
 * @return   whether all could be read; else an error was reported
 * Source: fcntl(2), F_SETLEASE
 */
bool apply_texts_read(struct session *session, struct apply_texts *texts, const char *path,
		      const struct apply_reading *reading);

void apply_texts_free(struct apply_texts *texts);

#endif
