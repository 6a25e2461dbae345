/* SPDX-License-Identifier: Apache-2.0 */
/* Help: for people, and as lines with tabs for the completion of shells. */
#ifndef FSQ_HELP_TEXT_H
#define FSQ_HELP_TEXT_H

#include <stddef.h>

#include "shared/writer.h"

/** What the program is, around the rows of its commands. */
void text_program_help_begin(struct writer *w);
void text_program_help_row(struct writer *w, const char *name, const char *summary);
void text_program_help_end(struct writer *w);
void text_program_version(struct writer *w, const char *version);

/** @paths    behind the synopsis, with a blank in front */
void text_usage(struct writer *w, const char *name, const char *synopsis, const char *paths);

/**
 * One option of a command.
 *
 * @label    as "-o, --output LIST"
 * @width    of the widest label
 * @help     its other lines are indented like its first
 */
void text_help_option(struct writer *w, const char *label, size_t width, const char *help);

/** Fields separated by tabs; "-" stands for one that is NULL or empty. */
void text_machine_line(struct writer *w, const char *const *fields, size_t count);

#endif
