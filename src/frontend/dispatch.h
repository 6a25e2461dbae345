/* SPDX-License-Identifier: Apache-2.0 */
/* Run a command where it may run and with as many words as it takes. */
#ifndef FSQ_FRONTEND_DISPATCH_H
#define FSQ_FRONTEND_DISPATCH_H

#include "command/command.h"

/* A command with its words, or with what they were parsed into. */
struct call {
	const struct command *command;
	int argc;    /* argv[0] is the name as it was typed */
	char **argv; /* parsed as xfs_quota does, anew for each filesystem; or NULL: */
	const struct invocation *invocation;
};

/** Run it on the current path. */
void dispatch(struct session *session, const struct call *call);

/** Run it on each filesystem of the table; the current path is left as it was. */
void dispatch_all(struct session *session, const struct call *call);

#endif
