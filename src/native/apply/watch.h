/* SPDX-License-Identifier: Apache-2.0 */
/*
 * That the lines, or the directories that they may be about, have changed. It only says that something has; apply then
 * looks at all, so an event that is lost costs nothing but time.
 */
#ifndef FSQ_APPLY_WATCH_H
#define FSQ_APPLY_WATCH_H

#include "file.h"

struct watched_directory;

struct apply_watch {
	struct session *session;
	int events, mounts, signals; /* descriptors */
	struct watched_directory *list;
	size_t count, capacity;
	unsigned int look;    /* its number */
	bool limited, warned; /* not everything can be watched, and that was reported */
	int64_t began, ended; /* the last look, in milliseconds */
};

/** @return  whether it can be waited; else an error was reported */
bool apply_watch_begin(struct apply_watch *watch, struct session *session);

/**
 * A look was taken: watch the directories of the files, and those in which the list's paths and what its patterns
 * match may appear.
 *
 * @files    operands of apply
 * @return   whether a new directory is watched: it may have changed before, so look again
 */
bool apply_watch_follow(struct apply_watch *watch, const struct apply_list *list,
			char *const *files, int count);

/**
 * Wait for a change, but pause after a look for as long as it took.
 *
 * @return   false: a signal has come, which is pending, or it cannot be waited; that was reported
 * Source: inotify(7); signalfd(2)
 */
bool apply_watch_wait(struct apply_watch *watch);

void apply_watch_end(struct apply_watch *watch);

#endif
