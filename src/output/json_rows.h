/* SPDX-License-Identifier: Apache-2.0 */
/* What our own commands print as JSON besides rows of a renderer and of project_rows.h. */
#ifndef FSQ_JSON_ROWS_H
#define FSQ_JSON_ROWS_H

#include "native_text.h"
#include "writer.h"

/** A path and its ID, between the begin() and end() of json_renderer. */
void json_id_row(struct writer *w, const char *path, uint32_t id);

/** A path, its ID and flags, likewise. */
void json_attributes_row(struct writer *w, const struct attributes_row *row);

/** A document with one object, of a path and an ID. */
void json_only_id(struct writer *w, const char *key, const char *path, uint32_t id);

/** A document that says where a quota can be put. */
void json_support(struct writer *w, const struct support_row *row);

#endif
