/* SPDX-License-Identifier: Apache-2.0 */
#include "watch.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "notify.h"
#include "shared/errno_words.h"

/* What is waited for. */
enum { SIGNALS, MOUNTS, WARNINGS, OUTPUT, SOURCES };

struct wait {
	struct watch *watch;
	struct pollfd source[SOURCES];
	int64_t next_poll;
	bool mounts_changed, looked_for_new; /* since then */
	unsigned int signals;		     /* that ask for the end */
};

/* --- what comes --- */

static void place_came(struct watch_place *place, void *arg)
{
	struct wait *wait = arg;

	session_warn(wait->watch->session, place->directory, "%s: mounted, and watched from now on",
		     place->directory);
	watch_poll_place(wait->watch, place, wait->watch->initial ? WATCH_ALL : WATCH_BASELINE);
}

/* Print its pending events first. */
static void place_gone(struct watch_place *place, void *arg)
{
	struct wait *wait = arg;
	struct watch *watch = wait->watch;

	watch_ids_make_due(&watch->ids, place);
	watch_tell(watch, 1);
	watch_ids_forget(&watch->ids, place);
	session_warn(watch->session, place->directory, "%s: unmounted, and no longer watched",
		     place->directory);
}

static void look_at_mounts(struct wait *wait)
{
	const struct watch_place_changes changes = { place_came, place_gone, wait };

	watch_places_refresh(&wait->watch->places, &changes);
	wait->mounts_changed = wait->looked_for_new = false;
}

/* Those that are gone stay for now: warnings about them may be on the way. */
static bool look_for_new(struct wait *wait)
{
	const struct watch_place_changes changes = { place_came, NULL, wait };

	if (poll(&wait->source[MOUNTS], 1, 0) > 0) {
		wait->mounts_changed = true;
		wait->looked_for_new = false;
	}
	if (!wait->mounts_changed || wait->looked_for_new)
		return false;
	wait->looked_for_new = true;
	watch_places_refresh(&wait->watch->places, &changes);
	return true;
}

static enum fsq_visit take_warning(const struct fsq_warning *warning, void *arg)
{
	struct wait *wait = arg;
	struct watch *watch = wait->watch;
	struct watch_place *place = watch_places_find(&watch->places, warning->dev);

	/* It may have been mounted a moment ago. */
	if (!place && look_for_new(wait))
		place = watch_places_find(&watch->places, warning->dev);
	if (place && place->type[warning->type])
		watch_ids_warn(&watch->ids, place, warning);
	return FSQ_VISIT_CONTINUE;
}

/* Without the kernel's warnings all is found by polling. */
static void give_up_warnings(struct wait *wait, const struct fsq_error *err)
{
	struct watch *watch = wait->watch;
	const char *reason = err->errnum ? errno_words(err->errnum) : NULL;

	session_warn(watch->session, NULL, "%s%s%s: polling every %llu seconds instead",
		     err->message, reason ? ": " : "", reason ? reason : "",
		     (unsigned long long)watch->interval);
	fsq_warnings_close(watch->warnings);
	watch->warnings = NULL;
	wait->source[WARNINGS].fd = -1;
}

static void read_warnings(struct wait *wait)
{
	struct watch *watch = wait->watch;
	struct fsq_error err;
	bool lost;

	if (fsq_warnings_read(watch->warnings, take_warning, wait, &lost, &err)) {
		give_up_warnings(wait, &err);
		lost = true;
	} else if (lost) {
		session_warn(watch->session, NULL,
			     "the kernel told more than could be read, and some of it is lost: "
			     "polling now");
	}
	if (lost)
		watch_poll_all(watch, WATCH_ALL);
}

static void read_signals(struct wait *wait)
{
	struct signalfd_siginfo info;

	while (read(wait->source[SIGNALS].fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		wait->watch->ends = true;
		wait->signals++;
	}
	watch_run_reap(&wait->watch->run);
}

/* --- waiting --- */

static bool needs_polling(const struct wait *wait)
{
	return !wait->watch->warnings || wait->watch->ids.over > 0 || watch_knows_any(wait->watch);
}

/* A reader that does not read holds up the events, but no signal. */
static bool can_write(void *arg)
{
	struct wait *wait = arg;
	struct pollfd two[] = { { .fd = wait->source[OUTPUT].fd, .events = POLLOUT },
				wait->source[SIGNALS] };

	while (poll(two, 2, wait->signals ? 0 : -1) >= 0 || errno == EINTR) {
		if (two[0].revents)
			return true;
		if (wait->signals)
			return false;
		read_signals(wait);
	}
	return true;
}

static int timeout_of(const struct wait *wait, int64_t now)
{
	const struct watch_id *due = wait->watch->ids.first_due;
	int64_t next = needs_polling(wait) ? wait->next_poll : INT64_MAX;

	if (due && due->due < next)
		next = due->due;
	if (next == INT64_MAX)
		return -1;
	if (next <= now)
		return 0;
	return next - now > INT_MAX ? INT_MAX : (int)(next - now);
}

static void poll_if_due(struct wait *wait, int64_t now)
{
	struct watch *watch = wait->watch;

	if (now < wait->next_poll)
		return;
	if (!watch->warnings)
		watch_poll_all(watch, WATCH_ALL);
	else if (watch->ids.over > 0)
		watch_poll_all(watch, WATCH_KERNEL);
	else
		watch_poll_known(watch);
	wait->next_poll = watch_now() + (int64_t)watch->interval * 1000;
}

static void tell_lack_of_memory(struct watch *watch)
{
	if (watch->ids.no_memory)
		session_errno(watch->session, 0, ENOMEM, NULL, "cannot tell all that happens");
	watch->ids.no_memory = false;
}

/* As the next line would. */
static void end_without_reader(struct watch *watch)
{
	raise(SIGPIPE);
	session_errno(watch->session, 0, EPIPE, NULL, "cannot write the output");
	watch->ends = true;
}

/* Read warnings before the mounts: one may be about a filesystem that is gone. */
static void wait_once(struct wait *wait)
{
	struct watch *watch = wait->watch;
	int64_t now;

	if (poll(wait->source, SOURCES, timeout_of(wait, watch_now())) < 0 && errno != EINTR) {
		session_errno(watch->session, 0, errno, NULL, "cannot wait");
		watch->ends = true;
		return;
	}
	if (wait->source[SIGNALS].revents)
		read_signals(wait);
	wait->mounts_changed |= wait->source[MOUNTS].revents != 0;
	if (wait->source[WARNINGS].revents)
		read_warnings(wait);
	if (wait->mounts_changed)
		look_at_mounts(wait);
	if (wait->source[OUTPUT].revents)
		end_without_reader(watch);
	now = watch_now();
	poll_if_due(wait, now);
	watch_tell(watch, now);
	tell_lack_of_memory(watch);
}

/* Commands that run are waited for until a second signal comes, and after the last event of --count
 * those that are to run. */
static void finish(struct wait *wait)
{
	struct watch *watch = wait->watch;

	notify("STOPPING=1");
	for (;;) {
		if (wait->signals || watch->session->out->errnum)
			watch_run_stop(&watch->run);
		if (!watch_run_is_busy(&watch->run) || wait->signals > 1)
			break;
		poll(&wait->source[SIGNALS], 1, -1);
		read_signals(wait);
	}
}

/* When a signal arrives, print pending events before ending. */
static void wait_for_all(struct wait *wait)
{
	struct watch *watch = wait->watch;

	while (!watch->ends)
		wait_once(wait);
	if (wait->signals) {
		watch->ends = false;
		if (watch->warnings)
			read_warnings(wait);
		watch_ids_make_due(&watch->ids, NULL);
		watch_tell(watch, 1);
	}
	finish(wait);
}

/* --- what is waited for --- */

/* A signal that is ignored, as below nohup(1), stays so. */
static int take_signals(void)
{
	static const int ends[] = { SIGHUP, SIGINT, SIGTERM };
	struct sigaction action;
	sigset_t set;

	sigemptyset(&set);
	signal(SIGCHLD, SIG_DFL);
	sigaddset(&set, SIGCHLD);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (sigaction(ends[i], NULL, &action) || action.sa_handler != SIG_IGN)
			sigaddset(&set, ends[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static bool open_sources(struct wait *wait)
{
	struct session *session = wait->watch->session;
	int signals = take_signals(), mounts;
	struct fsq_error err;

	if (signals < 0) {
		session_errno(session, 0, errno, NULL, "cannot wait for signals");
		return false;
	}
	wait->source[SIGNALS] = (struct pollfd){ .fd = signals, .events = POLLIN };
	mounts = fsq_mounts_changes(&err);
	if (mounts < 0) {
		session_fail(session, &err);
		return false;
	}
	wait->source[MOUNTS] = (struct pollfd){ .fd = mounts, .events = POLLPRI };
	/* Only that it is closed at its other end. */
	wait->source[OUTPUT] = (struct pollfd){ .fd = session->out->fd };
	session->out->can_write = can_write;
	session->out->arg = wait;
	return true;
}

static void open_warnings(struct wait *wait)
{
	struct watch *watch = wait->watch;
	struct fsq_error err;

	if (fsq_warnings_open(&watch->warnings, &err)) {
		watch->warnings = NULL;
		give_up_warnings(wait, &err);
		return;
	}
	wait->source[WARNINGS] =
		(struct pollfd){ .fd = fsq_warnings_fd(watch->warnings), .events = POLLIN };
}

/* The kernel is listened to before the first look, so that nothing comes between. */
static void start(struct wait *wait, char **paths, size_t count)
{
	struct watch *watch = wait->watch;
	struct session *session = watch->session;

	if (!open_sources(wait) || !watch_places_start(&watch->places, paths, count))
		return;
	open_warnings(wait);
	watch_poll_all(watch, watch->initial ? WATCH_ALL : WATCH_BASELINE);
	tell_lack_of_memory(watch);
	if (session->status)
		return;
	wait->next_poll = watch_now() + (int64_t)watch->interval * 1000;
	notify("READY=1");
	wait_for_all(wait);
}

void watch_wait(struct watch *watch, char **paths, size_t count)
{
	struct wait wait = { .watch = watch };

	for (int i = 0; i < SOURCES; i++)
		wait.source[i].fd = -1;
	start(&wait, paths, count);
	watch->session->out->can_write = NULL;
	for (int i = SIGNALS; i <= MOUNTS; i++)
		if (wait.source[i].fd >= 0)
			close(wait.source[i].fd);
	fsq_warnings_close(watch->warnings);
}
