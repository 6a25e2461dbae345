/* SPDX-License-Identifier: Apache-2.0 */
/* The request of assign, option by option: from the command line, or from a file. */
#ifndef FSQ_REQUEST_H
#define FSQ_REQUEST_H

#include "quota/fsquota.h"
#include "session.h"

/* Where an option stands; zeros: on the command line. */
struct word_origin {
	const char *file;
	unsigned int line;
	void **reported; /* see reported_add(): not again what was refused before; or NULL */
};

/** Report an error of an option. @return false */
bool assign_refuse(struct session *session, const struct word_origin *origin, const char *format,
		   ...) __attribute__((format(printf, 3, 4)));

/**
 * Set what a word asks for.
 *
 * @key      hard, soft, hard-inodes, soft-inodes, unlimited, name, id, mkdir, mode or owner
 * @value    NULL for unlimited and mkdir; a name must stay
 * @return   whether it was right; else an error was reported
 */
bool assign_request_set(struct session *session, const struct word_origin *origin,
			struct fsq_assign_request *request, const char *key, const char *value);

/** @return  whether all words of a request go together; else an error was reported */
bool assign_request_check(struct session *session, const struct word_origin *origin,
			  const struct fsq_assign_request *request);

/**
 * Write down what was assigned, if that has changed anything, or why it failed.
 *
 * @assignment NULL: it failed, with @err
 */
void assign_write_journal(struct session *session, const struct fsq_assign_request *request,
			  const struct fsq_assignment *assignment, const struct fsq_error *err);

/** Warn of a container store that got a new ID: its engine takes the IDs that follow. */
void assign_warn_of_store(struct session *session, const struct fsq_assign_request *request,
			  const struct fsq_assignment *assignment);

/** @return  whether limits that are given contradict each other: a soft one is above its hard one */
bool limits_are_contradictory(const struct fsq_limits *limits);

#endif
