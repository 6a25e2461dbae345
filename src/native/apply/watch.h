/* SPDX-License-Identifier: Apache-2.0 */
/*
 * That the lines have changed, or that a directory has appeared which they may be about. An event that is lost costs
 * nothing but a look at all.
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
	/* In milliseconds: when this look has begun, and the last one at all has ended; when the next one may begin; since
	 * when something has happened before each look had ended, or 0; when that was told; when lines with the word
	 * registered were looked at. */
	int64_t began, all_ended, not_before, busy, told, registered_ended;
	int64_t wake; /* look again at all at this time, in milliseconds, whatever comes; 0: there is no need */
	bool remounted;	     /* mounts have changed */
	bool pending;	     /* look at all, as soon as that may begin */
	bool lines;	     /* have changed, which the administrator does: look at all at once */
	bool has_registered; /* there are lines with the word registered */
	bool all;	     /* now; else: */
	bool at_registered;  /* look at these lines */
	char **appeared;     /* paths of directories */
	size_t appeared_count, appeared_capacity;
};

/** @return  whether it can be waited; else an error was reported */
bool apply_watch_begin(struct apply_watch *watch, struct session *session);

/**
 * A look at all begins: watch the directories of the files.
 *
 * @files    operands of apply
 */
void apply_watch_files(struct apply_watch *watch, char *const *files, int count);

/** What looked_in() of a list is while it is expanded: watch a directory in which a part of a pattern is looked for. */
void apply_watch_add(const char *path, int fd, int errnum, void *watch);

/**
 * A look at all was taken: watch the directories in which the list's paths, and where its patterns begin, may appear. What
 * nothing wants any more is not watched any longer.
 *
 * @return   whether a new directory is watched: it may have changed before, so it is looked again
 */
bool apply_watch_follow(struct apply_watch *watch, const struct apply_list *list);

/** The same for a directory that has appeared, before a look at it. */
void apply_watch_follow_one(struct apply_watch *watch, const struct apply_list *list,
			    const char *path);

/**
 * The look is over: wait for the next one. What to look at is in @watch.
 *
 * @return   false: a signal has come, which is pending, or it cannot be waited; that was reported
 * Source: inotify(7); signalfd(2)
 */
bool apply_watch_wait(struct apply_watch *watch);

/**
 * In the middle of a look at all: which directories have appeared?
 *
 * @return   whether any have, which are in @watch; not where mounts have changed, which the look does not know
 */
bool apply_watch_ask(struct apply_watch *watch);

/**
 * Before a look at some: have mounts changed since this was asked last? Then all are looked at soon, too.
 *
 * Source: proc_pid_mountinfo(5), of poll(2)
 */
bool apply_watch_remounted(struct apply_watch *watch);

void apply_watch_end(struct apply_watch *watch);

#endif
