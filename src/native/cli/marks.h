/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What apply has assigned itself, which --prune may release when no line wants it any more: /etc/projects.applied has
 * a line ID:DIRECTORY for each, as in projects(5). What people assigned is not in it.
 */
#ifndef FSQ_MARKS_H
#define FSQ_MARKS_H

#include "quota/fsquota.h"
#include "session.h"

struct apply_mark {
	uint32_t id;
	char *directory;
	bool is_registered; /* as it was then */
	bool is_there, is_wanted;
	dev_t dev;
	ino_t ino;
	bool is_done; /* to be forgotten */
};

struct apply_marks {
	struct apply_mark *list; /* sorted by directory */
	size_t count, capacity;
	bool no_memory;
};

/** Mark a directory as assigned. If the file cannot be written, warn; --prune then leaves the directory alone. */
void apply_marks_add(struct session *session, uint32_t id, const char *directory);

/**
 * Read all of them, and what is registered now.
 *
 * @marks    zeros; free it with apply_marks_free(), also after a failure
 * @return   whether it was read; else an error was reported
 */
bool apply_marks_read(struct session *session, struct apply_marks *marks);

/** Remove the marks that are done. A failure is reported. */
void apply_marks_forget(struct session *session, const struct apply_marks *marks);

/**
 * Forget a directory that was assigned by hand: it may have got the ID that it had when apply assigned it. A failure
 * is a warning.
 */
void apply_marks_forget_one(struct session *session, uint32_t id, const char *directory);

/** Move the mark of a renamed directory to its new path, if it has one. */
void apply_marks_follow(struct session *session, uint32_t id, const char *from, const char *to);

void apply_marks_free(struct apply_marks *marks);

#endif
