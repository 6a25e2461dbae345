/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line in the journal for each change, and for each that failed, with what it is about in fields of its own:
 * where the lines go says fsquota.conf(5). The journal itself adds who did it. No command reads them.
 */
#ifndef FSQ_JOURNAL_H
#define FSQ_JOURNAL_H

#include "quota/fsquota.h"
#include "session.h"

struct journal_entry {
	const char *directory, *name, *filesystem; /* or NULL */
	const char *from;			   /* of move: its old path; or NULL */
	enum fsq_type type;
	uint32_t id;				 /* 0: none */
	const struct fsq_limits *before, *after; /* what their masks have; or NULL */
	const struct fsq_error *err;		 /* why it failed; NULL: it did not */
};

/** Write an entry, unless this is a dry run. Failures are ignored. Notes in the session that something was changed. */
void journal_write(struct session *session, const struct journal_entry *entry);

#endif
