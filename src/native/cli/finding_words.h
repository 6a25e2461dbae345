/* SPDX-License-Identifier: Apache-2.0 */
/* What a finding of fsq_diagnose() means, in the words of the command line. */
#ifndef FSQ_FINDING_WORDS_H
#define FSQ_FINDING_WORDS_H

#include "quota/fsquota.h"

struct finding_words {
	const char *word; /* stable: scripts compare it */
	char *sentence;
	char *repair; /* a command line for sh, in one line; NULL: there is none */
};

/**
 * Find the words for a finding.
 *
 * @words    filled; clear it with finding_words_clear()
 * @return   whether there was memory
 */
bool finding_words_get(struct finding_words *words, const struct fsq_finding *finding);

void finding_words_clear(struct finding_words *words);

/** @return  one word of the shell, in one line of printable ASCII, for free(3); NULL without memory */
char *quote_for_shell(const char *text);

#endif
