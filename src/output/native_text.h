/* SPDX-License-Identifier: Apache-2.0 */
/* The rows that only the native door has, as the text renderer prints them. */
#ifndef FSQ_NATIVE_TEXT_H
#define FSQ_NATIVE_TEXT_H

#include "rows.h"
#include "shared/writer.h"

/** The letters of the flags that are set, in lsattr(1)'s order. */
#define ATTRIBUTE_LETTERS 32
void attribute_letters(char letters[ATTRIBUTE_LETTERS], uint32_t set);

void text_attributes_row(struct writer *w, const struct attributes_row *row, bool project);
void text_attributes_enter(struct writer *w, const char *directory);
void text_attributes_leave(struct writer *w);
void text_id_row(struct writer *w, const char *path, uint32_t id);
void text_found_row(struct writer *w, const struct found_row *row);
void text_support(struct writer *w, const struct support_row *row);
void text_leftover_row(struct writer *w, const struct leftover_row *row);

/** "ok", "note" or "problem". */
const char *finding_level_word(enum finding_level level);
void text_finding_row(struct writer *w, const struct finding_row *row);

#endif
