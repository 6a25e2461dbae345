/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 in names of somebody else's, which may be none; and which of its characters people may see as they are. */
#ifndef FSQ_SHARED_UTF8_H
#define FSQ_SHARED_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* What stands for a byte that is no UTF-8: U+FFFD. */
#define UTF8_REPLACEMENT "\xef\xbf\xbd"

/**
 * @point    set to the first character of @text; or NULL
 * @return   the length of the UTF-8 sequence that @text begins with, or 0: there is none
 * Source: RFC 3629
 */
size_t fsq_utf8_length(const char *text, uint32_t *point);

/**
 * Which characters are never printed for people, and bytes that are no UTF-8: the only list of them.
 *
 * @return   the length of the character that @text begins with; 0: it is a control character, or one that nobody sees
 *           and that changes the order or the lines of what stands beside it; or it is none
 * Source: UnicodeData.txt, the categories Cc, Cf, Zl and Zp
 */
size_t fsq_utf8_printable(const char *text);

#endif
