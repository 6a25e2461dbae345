/* SPDX-License-Identifier: Apache-2.0 */
/* Decode UTF-8 in untrusted names, which may be invalid, and tell which characters may be printed unescaped. */
#ifndef FSQ_SHARED_UTF8_H
#define FSQ_SHARED_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* U+FFFD, printed in place of a byte that is not UTF-8. */
#define UTF8_REPLACEMENT "\xef\xbf\xbd"

/**
 * @point    set to the first character of @text; or NULL
 * @return   the length of the UTF-8 sequence that @text begins with, or 0: there is none
 * Source: RFC 3629
 */
size_t fsq_utf8_length(const char *text, uint32_t *point);

/**
 * Tell whether a character may be printed on a terminal as it is. utf8.c has the only list of those that may not.
 *
 * @return   the length of the character that @text begins with; 0: it is not UTF-8, a control character, or an
 *           invisible character that changes the order or the lines of the text around it
 * Source: UnicodeData.txt, the categories Cc, Cf, Zl and Zp
 */
size_t fsq_utf8_printable(const char *text);

#endif
