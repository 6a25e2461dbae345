/* SPDX-License-Identifier: Apache-2.0 */
/* Rows and help as the native door prints them to people. */
#ifndef FSQ_NATIVE_TEXT_H
#define FSQ_NATIVE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "writer.h"

/* One file as lsattr(1) lists it. */
struct attributes_row {
	const char *path;
	uint32_t flags; /* FS_IOC_GETFLAGS */
	uint32_t project;
	bool inherit; /* the directory hands it on */
};

/** The letters of the flags that are set, in lsattr(1)'s order. */
#define ATTRIBUTE_LETTERS 32
void attribute_letters(char letters[ATTRIBUTE_LETTERS], uint32_t set);

void text_attributes_row(struct writer *w, const struct attributes_row *row, bool project);
void text_attributes_enter(struct writer *w, const char *directory);
void text_attributes_leave(struct writer *w);

void text_id_row(struct writer *w, uint32_t id);

/* Where a quota can be put. */
struct support_row {
	const char *path;
	const char *filesystem; /* or NULL: not to be found out */
	const char *mountpoint;
	bool enforced;
};

void text_support_row(struct writer *w, const struct support_row *row);

void text_program_help_begin(struct writer *w);
void text_program_help_row(struct writer *w, const char *name, const char *summary);
void text_program_help_end(struct writer *w);
void text_program_version(struct writer *w, const char *version);
void text_command_help(struct writer *w, const char *usage, const char *help);

/** Help for a command of xfs_quota's table; @synopsis and @help may be NULL, @walks: it walks
 * trees. */
void text_listed_help(struct writer *w, const char *name, const char *synopsis,
		      const char *operands, const char *summary, const char *help, bool walks);

#endif
