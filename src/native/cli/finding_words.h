/* SPDX-License-Identifier: Apache-2.0 */
/* Texts for findings of fsq_diagnose(): a word, a sentence, and a command that repairs it. */
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
 * @return   false without memory
 */
bool finding_words_get(struct finding_words *words, const struct fsq_finding *finding);

void finding_words_clear(struct finding_words *words);

/** @return  @text quoted as one word for sh, in printable ASCII on one line, for free(3); NULL without memory */
char *quote_for_shell(const char *text);

#endif
