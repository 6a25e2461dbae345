/* SPDX-License-Identifier: Apache-2.0 */
/* What to say of an option that a command does not have. */
#ifndef FSQ_UNKNOWN_OPTION_H
#define FSQ_UNKNOWN_OPTION_H

#include "options.h"

/**
 * Report the option, with what was probably meant by it.
 *
 * @word     "--" and a name, or "-" and a letter; the @length first bytes count
 * @whole    the word of the command line that a letter is in; NULL: @word has a name
 * @value    what may be the value of the option, or NULL
 * @return   false: nobody knows what was meant, and nothing was reported
 */
bool report_unknown_option(struct session *session, const struct command *command, const char *word,
			   size_t length, const char *whole, const char *value);

#endif
