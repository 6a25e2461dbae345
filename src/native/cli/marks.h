/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks: the directories that apply has assigned. apply --prune may release them when no line of its files names them
 * any more, but never a directory that was assigned by hand. They are in /var/lib/fsquota/applied, see
 * quota/directory/marks.h; those of another projects file are in FILE.applied.
 */
#ifndef FSQ_MARKS_H
#define FSQ_MARKS_H

#include <limits.h>

#include "session.h"

/**
 * The file of marks of a kind.
 *
 * @name     of the kind: "applied" or "until"
 */
void marks_find_file(const struct session *session, const char *name, char file[PATH_MAX]);

/** Get it ready to be changed. @return  for fsq_marks_free(), or NULL without memory */
struct fsq_marks *marks_open(const struct session *session, const char *name);

struct apply_mark {
	uint32_t id;
	char *directory;
	bool is_registered; /* under the same ID */
	bool is_there, is_wanted;
	dev_t dev;
	ino_t ino;
	bool is_done;  /* apply_marks_forget() removes it */
	int64_t since; /* of apply: when it was unwished first, in milliseconds */
};

struct apply_marks {
	struct apply_mark *list; /* sorted by directory */
	size_t count, capacity;
	bool no_memory;
};

/**
 * Mark a directory as assigned. If that cannot be written, warn; --prune then leaves the directory alone.
 *
 * @directory as fsq_lookup_gone() spells it
 * @marked   set to true, if it is written
 * @return   0, also with the warning; FSQ_E_FAILED there is no memory
 */
int apply_marks_add(struct session *session, uint32_t id, const char *directory, bool *marked,
		    struct fsq_error *err);

/**
 * Read all marks, and which of them are registered now.
 *
 * @marks    zeros; free it with apply_marks_free(), also after a failure
 * @return   whether it was read; else an error was reported
 */
bool apply_marks_read(struct session *session, struct apply_marks *marks);

/** Add a mark behind the others. @return  it, until the next one; NULL without memory */
struct apply_mark *apply_marks_keep(struct apply_marks *marks, uint32_t id, const char *directory);

/** @return  the mark of a directory, or NULL */
struct apply_mark *apply_marks_find(const struct apply_marks *marks, uint32_t id,
				    const char *directory);

/** Remove the marks that are done. A failure is reported. */
void apply_marks_forget(struct session *session, struct apply_marks *marks);

/** Remove the marks of directories that are not registered any more. */
void apply_marks_tidy(struct session *session);

/**
 * Remove the mark of a directory that was assigned by hand. It can have one: apply may have assigned the same ID
 * before. Warn if it fails.
 */
void apply_marks_forget_one(struct session *session, uint32_t id, const char *directory);

/** Move the mark of a renamed directory to its new path, if it has one. */
void apply_marks_follow(struct session *session, uint32_t id, const char *from, const char *to);

void apply_marks_free(struct apply_marks *marks);

#endif
