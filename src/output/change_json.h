/* SPDX-License-Identifier: Apache-2.0 */
/* JSON of what commands change. */
#ifndef FSQ_CHANGE_JSON_H
#define FSQ_CHANGE_JSON_H

#include "rows.h"
#include "shared/writer.h"

void json_leftover_row(struct writer *w, const struct leftover_row *row);
void json_applied_row(struct writer *w, const struct applied_row *row);
void json_changed_quota_row(struct writer *w, const struct changed_quota_row *row);
void json_switched_row(struct writer *w, const struct switched_row *row);
void json_changed_tree_row(struct writer *w, const struct changed_tree_row *row);
void json_released_row(struct writer *w, const struct released_row *row);

#endif
