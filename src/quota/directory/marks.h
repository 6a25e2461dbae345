/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks of directories, a line ID:DIRECTORY each as in projects(5), in a file that is locked and changed as /etc/projects
 * is: those that apply has assigned. Of those whose limits go back the directory has a time and limits in front.
 */
#ifndef FSQ_MARKS_OF_DIRECTORIES_H
#define FSQ_MARKS_OF_DIRECTORIES_H

#include "quota/fsquota.h"

/* The file as it was read last, which is known again as long as nobody else changes it. */
struct fsq_marks;

/**
 * @file     with the marks; not read yet
 * @seconds  to wait for its lock
 * @return   for fsq_marks_free(), or NULL without memory
 */
struct fsq_marks *fsq_marks_new(const char *file, unsigned int seconds);

/**
 * Add a mark, unless it is there. The file is made if it is missing.
 *
 * @return   0; FSQ_E_PERMISSION; FSQ_E_FAILED it cannot be opened, read or written, or is locked for too long
 */
int fsq_marks_add(struct fsq_marks *marks, uint32_t id, const char *directory,
		  struct fsq_error *err);

/**
 * Remove the marks that a function chooses.
 *
 * @chooses  called with each mark
 * @return   as above; on failure none is removed
 */
int fsq_marks_remove(struct fsq_marks *marks,
		     bool (*chooses)(uint32_t id, const char *directory, void *arg), void *arg,
		     struct fsq_error *err);

/**
 * Take the lock, until fsq_marks_unlock(), for several changes that belong together.
 *
 * @return   as of fsq_marks_add()
 */
int fsq_marks_lock(struct fsq_marks *marks, struct fsq_error *err);

void fsq_marks_unlock(struct fsq_marks *marks);

/** Forget what was read. */
void fsq_marks_forget(struct fsq_marks *marks);

void fsq_marks_free(struct fsq_marks *marks);

#endif
