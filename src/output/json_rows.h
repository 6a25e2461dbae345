/* SPDX-License-Identifier: Apache-2.0 */
/* What the rows of JSON have in common. */
#ifndef FSQ_JSON_ROWS_H
#define FSQ_JSON_ROWS_H

#include "json.h"
#include "rows.h"

/** Begin an object on a line of its own, below the array of the document; and end it. */
void json_row_begin(struct json *json, struct writer *w);
void json_row_end(struct json *json);

/** @return  "user", "group" or "project" */
const char *json_type_word(enum row_type type);

/** A limit, null for none: in 512-byte blocks, or a count. */
void json_limit_bytes(struct json *json, const char *key, uint64_t blocks);
void json_limit_count(struct json *json, const char *key, uint64_t count);

/** Seconds, or null for ROW_NO_GRACE. */
void json_grace(struct json *json, const char *key, int64_t seconds);

/** "filesystem" and "mountpoint". */
void json_place(struct json *json, const char *device, const char *directory);

#endif
