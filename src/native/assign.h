/* SPDX-License-Identifier: Apache-2.0 */
/* What assign is asked for, one word after the other: from the command line, or from a file. */
#ifndef FSQ_ASSIGN_H
#define FSQ_ASSIGN_H

#include "quota/fsquota.h"
#include "session.h"

/* Where a word stands; zeros: on the command line. */
struct word_place {
	const char *file;
	unsigned int line;
	void **told; /* see told.h: not again what was refused before; or NULL */
};

/** Report what is wrong with it. @return  false */
bool assign_refuse(struct session *session, const struct word_place *place, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * Set what a word asks for.
 *
 * @key      hard, soft, hard-inodes, soft-inodes, unlimited, name, id, mkdir, mode or owner
 * @value    NULL for unlimited and mkdir; a name must stay
 * @return   whether it was right; else an error was reported
 */
bool assign_request_set(struct session *session, const struct word_place *place,
			struct fsq_assign_request *request, const char *key, const char *value);

/** @return  whether all words of a request go together; else an error was reported */
bool assign_request_check(struct session *session, const struct word_place *place,
			  const struct fsq_assign_request *request);

/** Warn of limits that stop nobody. */
void assign_warn_of_enforcement(struct session *session, const struct fsq_assign_request *request,
				const struct fsq_assignment *assignment);

/**
 * Write down what was assigned, if that has changed anything, or why it failed.
 *
 * @assignment NULL: it failed, with @err
 */
void assign_write_journal(const struct session *session, const struct fsq_assign_request *request,
			  const struct fsq_assignment *assignment, const struct fsq_error *err);

/** Warn of a container store that got a new ID: its engine takes the IDs that follow. */
void assign_warn_of_store(struct session *session, const struct fsq_assign_request *request,
			  const struct fsq_assignment *assignment);

#endif
