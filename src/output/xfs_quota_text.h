/* SPDX-License-Identifier: Apache-2.0 */
/* Rows as xfs_quota prints them, to the byte, except that a row is always one line. */
#ifndef FSQ_XFS_QUOTA_TEXT_H
#define FSQ_XFS_QUOTA_TEXT_H

#include "rows.h"
#include "writer.h"

/* quota: use of one ID on one filesystem after the other */
void text_quota_begin(struct writer *w, const struct row_style *style,
		      const struct owner_row *owner);
void text_quota_row(struct writer *w, const struct row_style *style, const struct usage_row *row);

/* report: all IDs of one filesystem */
void text_report_begin(struct writer *w, const struct row_style *style, enum row_type type,
		       const char *directory, const char *device);
void text_report_row(struct writer *w, const struct row_style *style, const struct usage_row *row);
void text_report_end(struct writer *w);

/* state */
void text_state_row(struct writer *w, const struct state_row *row);
void text_state_off(struct writer *w, enum row_type type, const char *device);

/* dump */
void text_limits_row(struct writer *w, const struct limits_row *row);

/* quot */
void text_ownership_begin(struct writer *w, enum row_type type, const char *directory,
			  const char *device);
void text_ownership_row(struct writer *w, const struct ownership_row *row, bool files, bool unread);
void text_file_size_begin(struct writer *w, const char *directory, const char *device);
void text_file_size_row(struct writer *w, const struct file_size_row *row);

/* df: the first of blocks, inodes and realtime in @style is printed, under the heading of blocks
 * if blocks or realtime are in it */
void text_space_begin(struct writer *w, const struct row_style *style);
void text_space_row(struct writer *w, const struct row_style *style, const struct space_row *row);

/* print, path: @numbered for path, @foreign when foreign filesystems are marked */
void text_paths_begin(struct writer *w, bool numbered, bool foreign);
void text_paths_row(struct writer *w, bool numbered, bool foreign, const struct path_row *row);
void text_paths_none(struct writer *w);
void text_paths_range(struct writer *w, int value, int max);

/* project */
void text_project_begin(struct writer *w, enum project_action action, const char *project,
			const char *directory);
void text_project_wrong_id(struct writer *w, const char *path, uint32_t is, uint32_t wanted);
void text_project_no_inheritance(struct writer *w, const char *path);
void text_project_end(struct writer *w, unsigned int directories, const char *projects_file,
		      const char *project, int depth);

/* help */
void text_help_line(struct writer *w, const char *name, const char *synopsis, const char *summary);
void text_help_long(struct writer *w, const char *text);
void text_help_end(struct writer *w);
void text_help_unknown(struct writer *w, const char *name);

#endif
