/* SPDX-License-Identifier: Apache-2.0 */
/* Suggest corrections for unknown words, paths and sizes. */
#ifndef FSQ_SUGGEST_H
#define FSQ_SUGGEST_H

#include "session.h"

#define SUGGESTION 160

/* The known name that is nearest to a word. */
struct suggestion {
	const char *word;
	size_t length;
	const char
		*commands; /* if @word is a command of another tool: ours for it, quoted; or NULL */
	const char *topic; /* if @word is a topic: where to read about it; or NULL */
	const char *
		options; /* if @word is an option of another tool: ours, separated by blanks; or NULL */
	size_t best;	 /* how many letters the nearest name differs in */
};

void suggest_begin(struct suggestion *to, const char *word, size_t length);

/** @return  whether the word is one of @words, which have blanks between them and one at each end */
bool suggest_has_word(const char *words, const char *word, size_t length);

/** @return  whether the option of that name does what the word does in another tool */
bool suggest_is_meant(const struct suggestion *to, const char *name);

/**
 * @return   whether a name is similar to the word, and more similar than those of earlier calls. To an option of another
 *           tool only our options for it are similar.
 */
bool suggest_is_nearer(struct suggestion *to, const char *name);

/**
 * A hint for a directory that the caller has named to get limits, and that is not there.
 *
 * @hint     what makes it, if all above it is there
 */
const char *suggest_missing(const char *directory, const char *hint);

/** @return  the first registered directory of a project, quoted for a shell, for free(3); or NULL */
char *suggest_directory_of(const struct session *session, uint32_t id);

/** @return  the same of one that @path, which the caller has named, is in */
char *suggest_directory_above(const struct session *session, uint32_t id, const char *path);

/** @return  whether @path is registered as it is written: it may lie on a mount that does not answer */
bool suggest_is_registered(const struct session *session, const char *path);

/** @return  whether @path, which the caller has named and which may be gone, or a directory below it is registered */
bool suggest_has_projects_below(const struct session *session, const char *path);

/**
 * A hint for a path that does not exist, or that belongs to no project.
 *
 * @return   for free(3); NULL: no project or user has that name, or no filesystem is mounted there
 */
char *suggest_for_path(struct session *session, const char *path, bool exists);

/**
 * Describe what is wrong with the size of a limit.
 *
 * @rc       of fsq_parse_bytes(), not 0
 * @such_as  sizes that are right
 */
const char *suggest_size(const char *word, int rc, const char *such_as, char text[SUGGESTION]);

/**
 * Ask for the unit of a size that has none, and would be less than a block.
 *
 * @bytes    what it was parsed to
 * @return   the message; NULL: the size is plausible
 */
const char *suggest_unit(const char *word, uint64_t bytes, char text[SUGGESTION]);

#endif
