/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /etc/projects (which directory is the root of which project) and /etc/projid (which project has
 * which name), to be read; project_edit.h changes them.
 *
 * Lines that make no sense, or whose ID is no project ID, are passed over: none is ever taken for
 * project 0.
 */
#ifndef FSQ_PROJECT_FILES_H
#define FSQ_PROJECT_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"

#define FSQ_PROJECTS_FILE "/etc/projects"
#define FSQ_PROJID_FILE "/etc/projid"

/** Called for each line ID:DIRECTORY; a value other than 0 ends the reading and is returned. */
typedef int (*fsq_project_visitor)(uint32_t id, const char *directory, void *arg);

/**
 * Visit every project directory of a projects(5) file, in the file's order.
 *
 * @return   0, what @visit returned, or FSQ_E_NOT_FOUND when the file cannot be opened
 * Source: projects(5)
 */
int fsq_projects_each(const char *file, fsq_project_visitor visit, void *arg,
		      struct fsq_error *err);

/**
 * Look for a directory.
 *
 * @directory absolute and without symlinks
 * @id       set to its (first) ID, or to 0 where it is not in the file, or there is no file
 * @return   0, or FSQ_E_FAILED or FSQ_E_PERMISSION when the file cannot be read
 */
int fsq_projects_id_of(const char *file, const char *directory, uint32_t *id,
		       struct fsq_error *err);

/* All names of a projid(5) file, read in one pass; NULL has none. */
struct fsq_project_names;

/**
 * Read a projid(5) file. A file that is not there has no names.
 *
 * @names    set, on failure to an empty set of names; free it with fsq_project_names_free()
 * @return   0 or FSQ_E_FAILED
 * Source: projid(5)
 */
int fsq_project_names_read(struct fsq_project_names **names, const char *file,
			   struct fsq_error *err);

void fsq_project_names_free(struct fsq_project_names *names);

/** @return  the first name of an ID, or NULL */
const char *fsq_project_names_name(struct fsq_project_names *names, uint32_t id);

/** @return  whether there is a project @name; its (first) ID goes to @id */
bool fsq_project_names_id(const struct fsq_project_names *names, const char *name, uint32_t *id);

/** Visit every entry of a projid file in its order; as fsq_project_visitor with names. */
int fsq_project_names_each(struct fsq_project_names *names, fsq_project_visitor visit, void *arg);

#endif
