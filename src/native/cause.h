/* SPDX-License-Identifier: Apache-2.0 */
/* Why there is no quota where something failed: in the words of doctor. */
#ifndef FSQ_CAUSE_H
#define FSQ_CAUSE_H

#include <stdbool.h>

#include "error_text.h"
#include "quota/fsquota.h"

/* What an error row points into. */
struct cause {
	const char *word; /* of the finding; NULL: none was found */
	char *sentence;	  /* or NULL */
	char *hint;	  /* with the command that tells more, or NULL */
};

/**
 * Let an error that something is not supported say why, if its path tells. It takes as long as it
 * takes to look at the mount.
 *
 * @cause      filled; clear it with cause_clear() when the row is printed
 * @row        with what failed
 * @hint       of the library, or FSQ_HINT_NONE
 * @projects   the quota that is missing is of projects, not of users or groups
 */
void cause_explain(struct cause *cause, struct error_row *row, enum fsq_hint hint, bool projects);

void cause_clear(struct cause *cause);

#endif
