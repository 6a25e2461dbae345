/* SPDX-License-Identifier: Apache-2.0 */
/* What the user can do about an error of the library, in the words of the command line. */
#ifndef FSQ_HINTS_H
#define FSQ_HINTS_H

#include "quota/fsquota.h"

/** @return  the words, or NULL for FSQ_HINT_NONE */
const char *hint_words(enum fsq_hint hint);

#endif
