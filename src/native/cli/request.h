/* SPDX-License-Identifier: Apache-2.0 */
/* Build the request of assign from options, on the command line or in a file. */
#ifndef FSQ_REQUEST_H
#define FSQ_REQUEST_H

#include "quota/fsquota.h"
#include "session.h"

/* The file and line of an option; zeros: the command line. */
struct word_origin {
	const char *file;
	unsigned int line;
	struct reported *reported; /* see reported_add(): do not repeat an error; or NULL */
};

/** Report an error of an option. @return false */
bool assign_refuse(struct session *session, const struct word_origin *origin, const char *format,
		   ...) __attribute__((format(printf, 3, 4)));

/**
 * Set the part of a request that an option is for.
 *
 * @key      hard, soft, hard-inodes, soft-inodes, unlimited, name, id, mkdir, mode or owner
 * @value    NULL for unlimited and mkdir; a name must stay valid as long as the request
 * @return   whether the value is right; else an error was reported
 */
bool assign_request_set(struct session *session, const struct word_origin *origin,
			struct fsq_assign_request *request, const char *key, const char *value);

/** @return  whether all options of a request can be combined; else an error was reported */
bool assign_request_check(struct session *session, const struct word_origin *origin,
			  const struct fsq_assign_request *request);

/**
 * Log what was assigned, if that has changed anything, or why it failed.
 *
 * @assignment NULL: it failed, with @err
 */
void assign_write_journal(struct session *session, const struct fsq_assign_request *request,
			  const struct fsq_assignment *assignment, const struct fsq_error *err);

/** Warn if the store of a container engine got a new ID: the engine gives the next IDs to its containers. */
void assign_warn_of_store(struct session *session, const struct fsq_assign_request *request,
			  const struct fsq_assignment *assignment);

#endif
