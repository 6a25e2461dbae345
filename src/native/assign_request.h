/* SPDX-License-Identifier: Apache-2.0 */
/* What assign is asked for, one word after the other: from the command line, or from a file. */
#ifndef FSQ_ASSIGN_REQUEST_H
#define FSQ_ASSIGN_REQUEST_H

#include "quota/fsquota.h"
#include "session.h"

#define ASSIGN_WHY 256

/**
 * Set what a word asks for.
 *
 * @key      hard, soft, hard-inodes, soft-inodes, unlimited, name, id, mkdir, mode or owner
 * @value    NULL for unlimited and mkdir; a name must stay
 * @why      filled on failure: what is wrong with it
 * @return   whether it was right
 */
bool assign_request_set(struct session *session, struct fsq_assign_request *request,
			const char *key, const char *value, char why[ASSIGN_WHY]);

/** A request without any word. */
struct fsq_assign_request assign_request_new(const struct session *session);

/** @return  whether all words of a request go together; else @why is filled */
bool assign_request_check(const struct fsq_assign_request *request, char why[ASSIGN_WHY]);

/** Warn of limits that stop nobody. */
void assign_request_warn_of_enforcement(struct session *session,
					const struct fsq_assign_request *request,
					const struct fsq_assignment *assignment);

/** Warn of a container store that got a new ID: its engine takes the IDs that follow. */
void assign_request_warn_of_store(struct session *session, const struct fsq_assign_request *request,
				  const struct fsq_assignment *assignment);

#endif
