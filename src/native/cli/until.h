/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits that go back at some time: those of resize --until. They are in /var/lib/fsquota/until, or for another projects
 * file in FILE.until, as marks of quota/directory/marks.h. A kill leaves a line too many, never one too few: limits that
 * nobody set are nothing to go back from.
 */
#ifndef FSQ_UNTIL_H
#define FSQ_UNTIL_H

#include "quota/fsquota.h"
#include "session.h"

struct until_line {
	uint32_t id;
	char *word; /* as it stands in the file */
	const char *directory;
	int64_t when; /* seconds since 1970 */
	struct fsq_limits before, after;
	bool is_new;  /* added by until_add() */
	bool is_done; /* until_remove() removes it */
};

struct until {
	struct until_line *list;
	size_t count, capacity;
	struct fsq_marks *marks; /* locked, or NULL */
	bool no_memory;
};

/**
 * Parse a time from now on such as 3d, or a time as date(1) has it.
 *
 * @when     set to seconds since 1970
 * @return   whether it is in the future; else an error was reported
 * Source: date(1)
 */
bool until_parse(struct session *session, const char *text, int64_t *when);

/** Tell on a terminal when the limits of a directory go back; and everywhere, if nothing that is known does it. */
void until_tell(struct session *session, const char *directory, int64_t when);

#define UNTIL_DATE FIELD_CELL

/** Write a time as people read it. @return  @date */
const char *until_date(char date[UNTIL_DATE], int64_t when);

/**
 * Read the file; without it there is nothing to read.
 *
 * @until    zeros; free it with until_free(), also after a failure
 * @to_write lock the file until then, and make it if it is missing
 * @return   whether it was read; else an error was reported
 */
bool until_read(struct session *session, struct until *until, bool to_write);

/** Read the file as until_read() does if a line is there that a function chooses. @return  whether it was read */
bool until_read_if_any(struct session *session, struct until *until, bool to_write,
		       bool (*chooses)(const struct until_line *line, const void *arg),
		       const void *arg);

/** Read it where it does not matter if it cannot be read. @return  whether it was read */
bool until_read_silently(struct session *session, struct until *until);

/** Read the file for rows, if they show UNTIL. Only root may read it: others see no such time. @return  @until, or NULL */
const struct until *until_read_shown(struct session *session, struct until *until);

/** @return  the first line of a project on a filesystem, or NULL */
struct until_line *until_find(struct session *session, const struct until *until, uint32_t id,
			      dev_t dev);

/** The same for a path of it; without an ID, without lines or without the path there is none. */
const struct until_line *until_find_at(struct session *session, const struct until *until,
				       uint32_t id, const char *path);

/** Add a line to the file, which is locked, unless it is there. @line  its directory is as fsq_lookup_gone() spells it. @return  as until_read() */
bool until_add(struct session *session, struct until *until, const struct until_line *line);

/** Remove the lines that are done. @return  as until_read() */
bool until_remove(struct session *session, struct until *until);

enum until_end {
	UNTIL_IS_BACK,
	UNTIL_IS_VOID, /* the limits are others meanwhile, or the directory is gone */
	UNTIL_WAITS, /* the directory is registered, but not there: its filesystem may not be mounted */
	UNTIL_FAILED,
};

/**
 * Put back the limits of a line, also below what is in use; in a dry run only ask.
 *
 * @err      says why, unless they are back
 */
enum until_end until_put_back(struct session *session, const struct until_line *line, bool dry_run,
			      struct fsq_resized *resized, struct fsq_error *err);

/** For until_read_if_any(): of this ID. @id  a uint32_t */
bool until_is_of_id(const struct until_line *line, const void *id);

/** Limits of a project were set that do not go back: remove its lines, and say so, unless they are back. A failure is reported. */
void until_forget(struct session *session, uint32_t id, dev_t dev, const struct fsq_limits *is);

/** A project was released: remove its lines that are void. A failure is reported. */
void until_tidy(struct session *session, uint32_t id);

/** A directory was renamed: change the paths of it, and of those in it. A failure is reported. */
void until_follow(struct session *session, const char *from, const char *to);

void until_free(struct until *until);

#endif
