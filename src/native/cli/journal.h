/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log each change, and each change that failed, with structured fields, to the target that fsquota.conf(5) sets. The
 * journal itself adds who made the change. No command reads these entries.
 */
#ifndef FSQ_JOURNAL_H
#define FSQ_JOURNAL_H

#include "quota/fsquota.h"
#include "session.h"

struct journal_entry {
	const char *directory, *name, *filesystem; /* or NULL */
	const char *from; /* the old path of a directory that was moved; or NULL */
	enum fsq_type type;
	uint32_t id;				 /* 0: none */
	const struct fsq_limits *before, *after; /* limits in their masks; or NULL */
	const struct fsq_error *err;		 /* why it failed; NULL: success */
};

/** Write an entry, unless this is a dry run, and set session->changed. A failure to write is ignored. */
void journal_write(struct session *session, const struct journal_entry *entry);

#endif
