/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 in names of somebody else's, which may be none. */
#ifndef FSQ_UTF8_H
#define FSQ_UTF8_H

#include <stddef.h>

/* What stands for a byte that is no UTF-8: U+FFFD. */
#define UTF8_REPLACEMENT "\xef\xbf\xbd"

/**
 * @end      behind the text
 * @return   the end of the characters it begins with that stand for themselves in every quoted format:
 *           printable ASCII without quotes, backslash, backquote and $
 */
const char *utf8_plain_end(const char *text, const char *end);

/** @return  the length of the UTF-8 sequence that @text begins with, or 0: there is none */
size_t utf8_length(const char *text);

#endif
