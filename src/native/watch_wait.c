/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "watch.h"
#include "shared/array.h"
#include "shared/errno_words.h"

/* @return   -ENODEV: it is just being unmounted, which the mount table will tell */
static int open_place(struct watch *watch, const struct watch_place *place,
		      struct fsq_filesystem **fs)
{
	struct fsq_error err;

	if (watch_place_open(place, fs, &err) == 0)
		return 0;
	if (err.errnum == ENOMEM)
		session_fail(watch->session, &err);
	return -ENODEV;
}

/* Once for each filesystem: it would be told at every interval. */
static void tell_failure(struct watch *watch, struct watch_place *place, enum fsq_type type,
			 int errnum)
{
	if (place->told_failure || errnum == ENODEV || errnum == ENOTBLK)
		return;
	place->told_failure = true;
	session_errno(watch->session, session_flag_of(type), errnum, place->directory,
		      "%s: cannot read %s quotas", place->directory, account_types[type]);
}

/* With less space than this left nothing can be written any more, which is told in another way. */
#define BLOCK 4096

/* What a filesystem's records of one type have shown, in the order of their IDs. */
struct uses {
	struct growth_use *all;
	size_t count, capacity;
};

static void add_use(struct watch *watch, struct uses *uses, const struct fsq_dquot *dquot)
{
	struct fsq_usage usage = { .id = dquot->id };
	struct growth_use use;

	fsq_usage_set_dquot(&usage, dquot);
	use = growth_use(0, dquot->id, usage.used_bytes, usage.hard_bytes, FIELD_NOT_KNOWN);
	watch->ids.no_memory |=
		!array_add(&uses->all, &uses->count, &uses->capacity, &use, sizeof(use));
}

static void estimate(struct watch *watch, struct watch_place *place, enum fsq_type type,
		     struct uses *uses)
{
	struct growth *growth = &place->growth[type];

	/* Without memory it counts nothing. */
	if (!growth_look(growth, uses->all, uses->count, watch_now() * 1000000))
		watch->ids.no_memory = true;
	for (size_t i = 0; i < growth->count; i++)
		if (uses->all[i].available >= BLOCK)
			watch_ids_estimate(&watch->ids, place, type, uses->all[i].id,
					   uses->all[i].full_seconds);
}

static void poll_place(struct watch *watch, struct watch_place *place,
		       enum watch_judgement judgement)
{
	struct fsq_filesystem *fs;
	struct fsq_dquot dquot;

	if (open_place(watch, place, &fs))
		return;
	for (int i = 0; i < FSQ_TYPES; i++) {
		enum fsq_type type = (enum fsq_type)i;
		/* What belongs to nobody, or to root, has no limits. */
		uint32_t id = 1;
		int rc = place->type[type] ? 0 : -ENOENT;
		struct uses uses = { 0 };

		while (rc == 0 && (rc = fsq_quota_get_next(fs, type, id, &dquot)) == 0) {
			if (dquot.id < id)
				break;
			watch_ids_judge(&watch->ids, place, type, &dquot, judgement);
			if (watch->ids.within)
				add_use(watch, &uses, &dquot);
			if (dquot.id >= FSQ_ID_MAX)
				break;
			id = dquot.id + 1;
		}
		if (rc && rc != -ENOENT)
			tell_failure(watch, place, type, -rc);
		else if (place->type[type] && watch->ids.within)
			estimate(watch, place, type, &uses);
		free(uses.all);
	}
	fsq_filesystem_close(fs);
}

/* All records are read at every poll, not only those of IDs that are above something. */
static bool reads_all(const struct watch *watch)
{
	return watch->ids.over > 0 || watch->ids.within > 0;
}

static bool is_above(const struct watch_id *id)
{
	return id->form[FSQ_BLOCKS].told || id->form[FSQ_INODES].told;
}

static void poll_id(struct watch *watch, const struct watch_id *id, enum watch_judgement judgement)
{
	struct fsq_dquot dquot = { .id = id->id };
	struct watch_place *place = id->place;
	enum fsq_type type = id->type;
	struct fsq_filesystem *fs;
	int rc;

	if (open_place(watch, place, &fs))
		return;
	rc = fsq_quota_get(fs, type, dquot.id, &dquot);
	fsq_filesystem_close(fs);
	/* Else its use and limits are gone: there are zeros. */
	if (rc && rc != -ENOENT)
		tell_failure(watch, place, type, -rc);
	else
		watch_ids_judge(&watch->ids, place, type, &dquot, judgement);
}

/* @pass     only those that it has not seen; 0: all */
static void poll_ids(struct watch *watch, unsigned int pass, enum watch_judgement judgement)
{
	struct watch_id *next;

	for (struct watch_id *id = watch->ids.all; id; id = next) {
		next = id->next;
		if (is_above(id) && (!pass || id->pass != pass))
			poll_id(watch, id, judgement);
	}
}

static void poll_all(struct watch *watch, enum watch_judgement judgement)
{
	watch->ids.pass++;
	for (size_t i = 0; i < watch->places.count; i++)
		poll_place(watch, watch->places.all[i], judgement);
	poll_ids(watch, watch->ids.pass, judgement);
}

/* --- what comes --- */

static void place_came(struct watch_place *place, void *arg)
{
	struct watch *watch = arg;

	session_warn(watch->session, place->directory, "%s: mounted, and watched from now on",
		     place->directory);
	poll_place(watch, place, watch->initial ? WATCH_ALL : WATCH_BASELINE);
}

/* Print its pending events first. */
static void place_gone(struct watch_place *place, void *arg)
{
	struct watch *watch = arg;

	watch_tell(watch, place, INT64_MAX);
	watch_ids_forget(&watch->ids, place);
	session_warn(watch->session, place->directory, "%s: unmounted, and no longer watched",
		     place->directory);
}

/* Those that are gone stay for now: warnings about them may be on the way. */
static bool look_for_new(struct watch *watch)
{
	if (poll(&watch->source[WATCH_MOUNTS], 1, 0) > 0) {
		watch->mounts_changed = true;
		watch->looked_for_new = false;
	}
	if (!watch->mounts_changed || watch->looked_for_new)
		return false;
	watch->looked_for_new = true;
	watch_places_refresh(&watch->places, true);
	return true;
}

static enum fsq_visit take_warning(const struct fsq_warning *warning, void *arg)
{
	struct watch *watch = arg;
	struct watch_place *place = watch_places_find(&watch->places, warning->dev);

	/* It may have been mounted a moment ago. */
	if (!place && look_for_new(watch))
		place = watch_places_find(&watch->places, warning->dev);
	if (place && place->type[warning->type])
		watch_ids_warn(&watch->ids, place, warning);
	return FSQ_VISIT_CONTINUE;
}

/* Without the kernel's warnings all is found by polling. */
static void give_up_warnings(struct watch *watch, const struct fsq_error *err)
{
	const char *reason = err->errnum ? errno_words(err->errnum) : NULL;

	session_warn(watch->session, NULL, "%s%s%s: polling every %llu seconds instead",
		     err->message, reason ? ": " : "", reason ? reason : "",
		     (unsigned long long)watch->interval);
	fsq_warnings_close(watch->warnings);
	watch->warnings = NULL;
	watch->source[WATCH_WARNINGS].fd = -1;
}

static void read_warnings(struct watch *watch)
{
	struct fsq_error err;
	bool lost;

	if (fsq_warnings_read(watch->warnings, take_warning, watch, &lost, &err)) {
		give_up_warnings(watch, &err);
		lost = true;
	} else if (lost) {
		session_warn(watch->session, NULL,
			     "the kernel told more than could be read, and some of it is lost: "
			     "polling now");
	}
	if (lost)
		poll_all(watch, WATCH_ALL);
}

static void read_signals(struct watch *watch)
{
	struct signalfd_siginfo info;

	while (read(watch->source[WATCH_SIGNALS].fd, &info, sizeof(info)) ==
	       (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		watch->ends = true;
		watch->signals++;
	}
	watch_run_reap(&watch->run);
}

/* --- waiting --- */

/* A reader that does not read holds up the events, but no signal. */
static bool can_write(void *arg)
{
	struct watch *watch = arg;
	struct pollfd two[] = { { .fd = watch->source[WATCH_OUTPUT].fd, .events = POLLOUT },
				watch->source[WATCH_SIGNALS] };

	while (poll(two, 2, watch->signals ? 0 : -1) >= 0 || errno == EINTR) {
		if (two[0].revents)
			return true;
		if (watch->signals)
			return false;
		read_signals(watch);
	}
	return true;
}

static int timeout_of(const struct watch *watch, int64_t now)
{
	const struct watch_id *due = watch->ids.first_due;
	bool polls = !watch->warnings || reads_all(watch);
	int64_t next;

	/* What is above something is polled, too. */
	for (const struct watch_id *id = watch->ids.all; id && !polls; id = id->next)
		polls = is_above(id);
	next = polls ? watch->next_poll : INT64_MAX;
	if (due && due->due < next)
		next = due->due;
	if (next == INT64_MAX)
		return -1;
	if (next <= now)
		return 0;
	return next - now > INT_MAX ? INT_MAX : (int)(next - now);
}

static void tell_lack_of_memory(struct watch *watch)
{
	if (watch->ids.no_memory)
		session_errno(watch->session, 0, ENOMEM, NULL, "cannot tell all that happens");
	watch->ids.no_memory = false;
}

/* Read warnings before the mounts: one may be about a filesystem that is gone. */
static void wait_once(struct watch *watch)
{
	int64_t now;

	if (poll(watch->source, WATCH_SOURCES, timeout_of(watch, watch_now())) < 0 &&
	    errno != EINTR) {
		session_errno(watch->session, 0, errno, NULL, "cannot wait");
		watch->ends = true;
		return;
	}
	if (watch->source[WATCH_SIGNALS].revents)
		read_signals(watch);
	watch->mounts_changed |= watch->source[WATCH_MOUNTS].revents != 0;
	if (watch->source[WATCH_WARNINGS].revents)
		read_warnings(watch);
	if (watch->mounts_changed) {
		watch_places_refresh(&watch->places, false);
		watch->mounts_changed = watch->looked_for_new = false;
	}
	if (watch->source[WATCH_OUTPUT].revents) {
		/* As the next line would. */
		raise(SIGPIPE);
		session_errno(watch->session, 0, EPIPE, NULL, "cannot write the output");
		watch->ends = true;
	}
	now = watch_now();
	if (now >= watch->next_poll) {
		if (!watch->warnings)
			poll_all(watch, WATCH_ALL);
		else if (reads_all(watch))
			poll_all(watch, WATCH_KERNEL);
		else
			poll_ids(watch, 0, WATCH_KERNEL);
		watch->next_poll = watch_now() + (int64_t)watch->interval * 1000;
	}
	watch_tell(watch, NULL, now);
	tell_lack_of_memory(watch);
}

/* When a signal arrives, print pending events before ending. */
static void wait_for_all(struct watch *watch)
{
	while (!watch->ends)
		wait_once(watch);
	if (watch->signals) {
		watch->ends = false;
		if (watch->warnings)
			read_warnings(watch);
		watch_tell(watch, NULL, INT64_MAX);
	}
	session_notify("STOPPING=1");
	/* Commands that run are waited for until a second signal comes, and after the last event of
	 * --count those that are to run. */
	for (;;) {
		if (watch->signals || watch->session->out->errnum)
			watch_run_stop(&watch->run);
		if (!watch_run_is_busy(&watch->run) || watch->signals > 1)
			break;
		poll(&watch->source[WATCH_SIGNALS], 1, -1);
		read_signals(watch);
	}
}

/* --- what is waited for --- */

static bool open_sources(struct watch *watch)
{
	struct session *session = watch->session;
	struct fsq_error err;
	int fd;

	signal(SIGCHLD, SIG_DFL);
	fd = session_open_signals(session, SIGCHLD);
	if (fd < 0)
		return false;
	watch->source[WATCH_SIGNALS] = (struct pollfd){ .fd = fd, .events = POLLIN };
	fd = fsq_mounts_changes(&err);
	if (fd < 0)
		return session_fail(session, &err);
	watch->source[WATCH_MOUNTS] = (struct pollfd){ .fd = fd, .events = POLLPRI };
	/* Only that it is closed at its other end. */
	watch->source[WATCH_OUTPUT] = (struct pollfd){ .fd = session->out->fd };
	session->out->can_write = can_write;
	session->out->arg = watch;
	return true;
}

void watch_wait(struct watch *watch, char **paths, size_t count)
{
	struct fsq_error err;

	for (int i = 0; i < WATCH_SOURCES; i++)
		watch->source[i] = (struct pollfd){ .fd = -1 };
	if (!open_sources(watch) || !watch_places_start(&watch->places, paths, count))
		goto out;
	watch->places.came = place_came;
	watch->places.gone = place_gone;
	watch->places.arg = watch;
	/* The kernel is listened to before the first look, so that nothing comes between. */
	if (fsq_warnings_open(&watch->warnings, &err)) {
		watch->warnings = NULL;
		give_up_warnings(watch, &err);
	} else {
		watch->source[WATCH_WARNINGS] =
			(struct pollfd){ .fd = fsq_warnings_fd(watch->warnings), .events = POLLIN };
	}
	poll_all(watch, watch->initial ? WATCH_ALL : WATCH_BASELINE);
	tell_lack_of_memory(watch);
	if (watch->session->status)
		goto out;
	watch->next_poll = watch_now() + (int64_t)watch->interval * 1000;
	session_notify("READY=1");
	wait_for_all(watch);
out:
	watch->session->out->can_write = NULL;
	for (int i = WATCH_SIGNALS; i <= WATCH_MOUNTS; i++)
		if (watch->source[i].fd >= 0)
			close(watch->source[i].fd);
	fsq_warnings_close(watch->warnings);
}
