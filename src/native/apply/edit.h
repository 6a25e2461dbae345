/* SPDX-License-Identifier: Apache-2.0 */
/* Limits as a line of fsquota.d(5) in the editor of the user, for limit and resize. */
#ifndef FSQ_APPLY_EDIT_H
#define FSQ_APPLY_EDIT_H

#include "native/cli/session.h"
#include "quota/fsquota.h"

enum edited { EDIT_FAILED, EDIT_UNCHANGED, EDIT_CHANGED };

/**
 * Let the user edit limits of space and inodes. What the line does not say is none.
 *
 * @subject  for a comment above the line, such as "user 1000 (ann)"
 * @path     begins the line: the directory, or where the filesystem is mounted
 * @limits   as they are; set to those that the line says, with a mask of what has changed
 * @file     set to the file with the line, for edit_end(); NULL: there is none
 * @return   EDIT_FAILED: an error was reported; if it is about the line, it names the file, which stays
 */
enum edited edit_limits(struct session *session, const char *subject, const char *path,
			struct fsq_limits *limits, char **file);

/** Remove the file if the limits were @set; else keep it, and say where it is. */
void edit_end(struct session *session, char *file, bool set);

#endif
