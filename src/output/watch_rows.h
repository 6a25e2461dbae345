/* SPDX-License-Identifier: Apache-2.0 */
/* What watch prints: a line for each event, which stands alone. */
#ifndef FSQ_WATCH_ROWS_H
#define FSQ_WATCH_ROWS_H

#include "rows.h"
#include "shared/writer.h"

#define WATCH_TIME 32

/** A time as RFC 3339 has it, UTC: 2026-11-22T11:22:51.042Z */
void watch_time(char text[WATCH_TIME], int64_t milliseconds);

void text_watch_row(struct writer *w, const struct watch_row *row);
void json_watch_row(struct writer *w, const struct watch_row *row);

#endif
