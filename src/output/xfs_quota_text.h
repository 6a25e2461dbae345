/* SPDX-License-Identifier: Apache-2.0 */
/* What xfs_quota prints for people only: help, and answers of its shell. */
#ifndef FSQ_XFS_QUOTA_TEXT_H
#define FSQ_XFS_QUOTA_TEXT_H

#include "shared/writer.h"

void text_paths_none(struct writer *w);
void text_paths_range(struct writer *w, int value, int max);

void text_help_line(struct writer *w, const char *name, const char *synopsis, const char *summary);
void text_help_end(struct writer *w);
void text_help_unknown(struct writer *w, const char *name);

#endif
