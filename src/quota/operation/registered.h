/* SPDX-License-Identifier: Apache-2.0 */
/* The entries of /etc/projects or /etc/projid with their lines, for fsq_diagnose(). */
#ifndef FSQ_REGISTERED_H
#define FSQ_REGISTERED_H

#include "diagnosis.h"
#include "quota/registry/project_line.h"
#include "shared/texts.h"

struct fsq_registered {
	const char *word; /* the directory or name */
	const char *text; /* the line */
	uint32_t id;
	uint64_t line; /* from 1 on */
	bool twice;    /* the word is there with another ID, too */
	bool shared;   /* the ID is there with another word, too */
};

struct fsq_registered_list {
	const char *file;
	enum fsq_project_file kind;
	char *text;			/* lines point into it */
	struct texts words;		/* that are not at the end of a line */
	struct fsq_registered *entries; /* in the order of the file */
	size_t count, capacity;
};

/** Look at the directories of the projects file that are on a file system that was looked at. */
void fsq_diagnose_trees(struct fsq_diagnosis *diagnosis, const struct fsq_registered_list *list);

/**
 * Look for files in the directory of an entry that carries another ID than its own: are there IDs of
 * others, such as a container engine gives to its layers?
 *
 * @carried  the ID of the directory
 */
bool fsq_diagnose_has_foreign(struct fsq_diagnosis *diagnosis,
			      const struct fsq_registered_list *list,
			      const struct fsq_registered *entry, uint32_t carried);

/**
 * Count what is in the directory of an entry, which carries its ID.
 *
 * @finding  its ID and numbers are set
 * @return   whether there is something to be told
 */
bool fsq_diagnose_deep(struct fsq_diagnosis *diagnosis, const struct fsq_registered_list *list,
		       const struct fsq_registered *entry, int fd, struct fsq_finding *finding);

#endif
