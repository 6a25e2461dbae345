/* SPDX-License-Identifier: Apache-2.0 */
/* Where a project is, by its registered directories. */
#ifndef FSQ_PROJECT_PLACE_H
#define FSQ_PROJECT_PLACE_H

#include "quota/registry/entries.h"
#include "volumes.h"

struct fsq_project_place {
	uint32_t id;
	const char *only; /* of its directories only this one, or NULL */
	struct fsq_volumes volumes;
	struct fsq_entries lines; /* of all projects */
	bool *certain;		  /* of each line: it is of the file system where its path leads */
};

/**
 * Read what is mounted and what is registered.
 *
 * @place    with @id and @only; close it with fsq_project_place_close(), also after a failure
 * @return   0; as fsq_volumes_open() and fsq_entries_of_projects()
 */
int fsq_project_place_open(struct fsq_project_place *place, const char *projects_file,
			   struct fsq_error *err);

void fsq_project_place_close(struct fsq_project_place *place);

/**
 * @return   what there is of a line, if it is certain to be of the project and of @fs, which was found or
 *           named; else FSQ_ELSEWHERE; FSQ_UNSEEN is an error of the caller,
 *           fsq_project_place_fail_unseen()
 */
enum fsq_presence fsq_project_place_of(struct fsq_project_place *place,
				       const struct fsq_entry *line,
				       const struct fsq_filesystem *fs);

/** Say that an error hides whether the directory of a line exists. @return  FSQ_E_FAILED */
int fsq_project_place_fail_unseen(const struct fsq_project_place *place,
				  const struct fsq_entry *line, struct fsq_error *err);

/**
 * The same for a caller who names the file system: then directories on it are gone that are not there.
 *
 * @return   0 or a failure
 */
int fsq_project_place_name(struct fsq_project_place *place, struct fsq_error *err);

/**
 * Find the one file system of all its directories, but for those of which it is in doubt.
 *
 * @fs       set; it belongs to @place
 * @return   0; FSQ_E_CONFLICT they are on several; FSQ_E_NOT_FOUND there is none
 */
int fsq_project_place_find(struct fsq_project_place *place, struct fsq_filesystem **fs,
			   struct fsq_error *err);

/**
 * A registered directory that carries another ID than that of its line: was its release killed, or may it
 * be the place of a file system that is not mounted?
 *
 * @return   0 it is the directory of the line; FSQ_E_NOT_FOUND that is in doubt; or a failure
 */
int fsq_project_place_check(const struct fsq_registry *registry, const char *directory, uint32_t id,
			    struct fsq_error *err);

#endif
