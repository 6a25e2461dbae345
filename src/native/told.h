/* SPDX-License-Identifier: Apache-2.0 */
/* What was said already, and is not said again: texts in a tree of tsearch(3). */
#ifndef FSQ_TOLD_H
#define FSQ_TOLD_H

#include <stdbool.h>

/**
 * @told     the tree, which gets the text; NULL: everything is said
 * @return   whether it was not said before
 */
bool told_is_news(void **told, const char *text);

/** From now on it is news again. */
void told_forget(void **told, const char *text);

/** So is everything. */
void told_forget_all(void **told);

#endif
