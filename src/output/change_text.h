/* SPDX-License-Identifier: Apache-2.0 */
/* What apply changes, and what the dry runs of other commands say, a line each. */
#ifndef FSQ_CHANGE_TEXT_H
#define FSQ_CHANGE_TEXT_H

#include "rows.h"
#include "shared/writer.h"

void text_applied_row(struct writer *w, const struct applied_row *row);
void text_changed_quota_row(struct writer *w, const struct changed_quota_row *row);
void text_switched_row(struct writer *w, const struct switched_row *row);
void text_changed_tree_row(struct writer *w, const struct changed_tree_row *row);
void text_released_row(struct writer *w, const struct released_row *row);

#endif
