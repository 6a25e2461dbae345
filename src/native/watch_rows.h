/* SPDX-License-Identifier: Apache-2.0 */
/* What watch prints: a line for each event, which stands alone. */
#ifndef FSQ_WATCH_ROWS_H
#define FSQ_WATCH_ROWS_H

#include "quota/fsquota.h"
#include "table/table.h"

/* Something that happened to a quota. */
struct watch_row {
	int64_t milliseconds; /* when, since 1970 */
	const char *event;    /* "soft-reached" or another of watch's words */
	const char *sentence; /* the same for people, with the form */
	const char *limit;    /* "space" or "inodes" */
	enum fsq_type type;
	uint32_t id;
	const char *name;		/* or NULL */
	struct field_texts directories; /* of a project */
	const char *filesystem, *mountpoint;
	const char *source; /* "kernel" or "poll" */
	uint64_t writer;    /* user ID of who caused it, or FIELD_NOT_KNOWN */
	uint64_t count;	    /* how often since the last one */
	/* FIELD_NOT_KNOWN: the filesystem could not be asked */
	uint64_t used_bytes, used_inodes;
	/* 0: no limit */
	uint64_t soft_bytes, hard_bytes, soft_inodes, hard_inodes;
	int64_t bytes_grace_seconds, inodes_grace_seconds; /* or FIELD_NO_SECONDS */
	double percent; /* of the limit of the form that is in use; below 0: none */
};

extern const struct row_fields watch_rows;

#endif
