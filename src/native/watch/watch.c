/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "native/cli/options.h"
#include "quota/base/error.h"
#include "quota/usage/usage.h"
#include "shared/array.h"
#include "shared/errno_words.h"
#include "watch.h"

/* --- polling --- */

/* @return -ENODEV: it is being unmounted, which the mount table will show */
static int open_volume(struct watch *watch, const struct watch_volume *volume,
		       struct fsq_filesystem **fs)
{
	struct fsq_error err;

	if (watch_volume_open(volume, fs, &err) == 0)
		return 0;
	if (err.errnum == ENOMEM)
		session_fail(watch->session, &err);
	return -ENODEV;
}

/* Report it once for each filesystem, not at every interval. */
static void report_failure(struct watch *watch, struct watch_volume *volume, enum fsq_type type,
			   int errnum)
{
	if (volume->reported_failure || errnum == ENODEV || errnum == ENOTBLK)
		return;
	volume->reported_failure = true;
	session_errno(watch->session, session_flag_of(type), errnum, volume->directory,
		      "%s: cannot read %s quotas", volume->directory, account_types[type]);
}

static void add_use(struct watch *watch, const struct fsq_dquot *dquot)
{
	struct fsq_usage usage = { .id = dquot->id };
	struct growth_use use;

	fsq_usage_set_dquot(&usage, dquot);
	use = growth_use(0, dquot->id, usage.used_bytes, usage.hard_bytes, FIELD_NOT_KNOWN);
	watch->ids.no_memory |= !array_add(&watch->uses, &watch->use_count, &watch->use_capacity,
					   &use, sizeof(use));
}

static void estimate(struct watch *watch, struct watch_volume *volume, enum fsq_type type)
{
	const struct growth_use *use = watch->uses;
	struct growth *growth = &volume->growth[type];

	/* Without memory, growth->count is 0. */
	if (!growth_look(growth, watch->uses, watch->use_count, watch_now() * 1000000))
		watch->ids.no_memory = true;
	for (size_t i = 0; i < growth->count; i++, use++)
		if (use->available >= LEAST_SPACE)
			watch_ids_estimate(&watch->ids, volume, type, use->id, use->full_seconds);
}

static void poll_volume(struct watch *watch, struct watch_volume *volume,
			enum watch_judgement judgement)
{
	struct fsq_filesystem *fs;
	struct fsq_dquot dquot;

	if (open_volume(watch, volume, &fs))
		return;
	for (int i = 0; i < FSQ_TYPES; i++) {
		enum fsq_type type = (enum fsq_type)i;
		/* Skip ID 0, root or no project: it has no limits. */
		uint32_t id = 1;
		int rc = volume->type[type] ? 0 : -ENOENT;

		watch->use_count = 0;
		while (rc == 0 && (rc = fsq_quota_get_next(fs, type, id, &dquot)) == 0) {
			if (dquot.id < id)
				break;
			watch_ids_judge(&watch->ids, volume, type, &dquot, judgement);
			if (watch->ids.within)
				add_use(watch, &dquot);
			if (dquot.id >= FSQ_ID_MAX)
				break;
			id = dquot.id + 1;
		}
		if (rc && rc != -ENOENT)
			report_failure(watch, volume, type, -rc);
		else if (volume->type[type] && watch->ids.within)
			estimate(watch, volume, type);
	}
	fsq_filesystem_close(fs);
}

/* @return  whether every poll reads all records, not only those of IDs above a level */
static bool reads_all(const struct watch *watch)
{
	return watch->ids.over > 0 || watch->ids.within > 0;
}

static bool is_above(const struct watch_id *id)
{
	return id->form[FSQ_BLOCKS].reported || id->form[FSQ_INODES].reported;
}

static void poll_id(struct watch *watch, const struct watch_id *id, enum watch_judgement judgement)
{
	struct fsq_dquot dquot = { .id = id->id };
	struct watch_volume *volume = id->volume;
	enum fsq_type type = id->type;
	struct fsq_filesystem *fs;
	int rc;

	if (open_volume(watch, volume, &fs))
		return;
	rc = fsq_quota_get(fs, type, dquot.id, &dquot);
	fsq_filesystem_close(fs);
	/* ENOENT: there is no use and no limit, so @dquot is all zero. */
	if (rc && rc != -ENOENT)
		report_failure(watch, volume, type, -rc);
	else
		watch_ids_judge(&watch->ids, volume, type, &dquot, judgement);
}

/* Poll the IDs above a level. @pass  only those that this pass has not seen; 0: all */
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
	for (size_t i = 0; i < watch->volume_count; i++)
		poll_volume(watch, watch->volumes[i], judgement);
	poll_ids(watch, watch->ids.pass, judgement);
}

/* --- filesystems --- */

static void free_volume(struct watch_volume *volume)
{
	for (int type = 0; type < FSQ_TYPES; type++)
		growth_free(&volume->growth[type]);
	free(volume->device);
	free(volume->directory);
	free(volume);
}

static struct watch_volume *find_volume(const struct watch *watch, dev_t dev)
{
	for (size_t i = 0; i < watch->volume_count; i++)
		if (watch->volumes[i]->dev == dev)
			return watch->volumes[i];
	return NULL;
}

static bool is_wanted(const struct watch *watch, const struct fsq_mount *mount)
{
	/* As in all commands, skip a filesystem without a device unless it was named. */
	if (watch->only_count == 0)
		return mount->device[0] == '/';
	for (size_t i = 0; i < watch->only_count; i++)
		if (strcmp(watch->only[i], mount->directory) == 0)
			return true;
	return false;
}

static bool has_quota(struct watch *watch, struct fsq_filesystem *fs, bool type[FSQ_TYPES])
{
	struct fsq_state state;
	bool any = false;
	int rc = fsq_quota_state(fs, FSQ_PROJECT, &state);

	/* The failure may be temporary: try again later. */
	watch->mounts_missed |= rc && fsq_error_kind_of(-rc) == FSQ_E_FAILED;
	if (rc)
		return false;
	for (int i = 0; i < FSQ_TYPES; i++)
		any |= type[i] = watch->wanted[i] && state.accounting[i];
	return any;
}

static struct watch_volume *add_volume(struct watch *watch, const struct fsq_filesystem_info *info)
{
	struct watch_volume *volume = calloc(1, sizeof(*volume));

	if (volume) {
		volume->dev = info->dev;
		volume->has_device = info->asks_device;
		volume->device = strdup(info->device);
		volume->directory = strdup(info->directory);
	}
	if (volume && volume->device && volume->directory &&
	    array_add(&watch->volumes, &watch->volume_count, &watch->volume_capacity, &volume,
		      sizeof(volume)))
		return volume;
	if (volume)
		free_volume(volume);
	watch->no_memory = true;
	return NULL;
}

static enum fsq_visit visit_mount(const struct fsq_mount *mount, void *arg)
{
	struct watch *watch = arg;
	struct watch_volume *volume = find_volume(watch, mount->dev);
	const struct fsq_filesystem_info *info;
	bool type[FSQ_TYPES] = { false };
	struct fsq_filesystem *fs;
	struct fsq_error err;
	char *moved;

	if (!is_wanted(watch, mount) || (volume && volume->is_mounted))
		return FSQ_VISIT_CONTINUE;
	if (volume) {
		/* A filesystem is known by its first mount point, which may have changed. */
		volume->is_mounted = true;
		moved = strcmp(volume->directory, mount->directory) == 0 ? NULL
									 : strdup(mount->directory);
		if (moved) {
			free(volume->directory);
			volume->directory = moved;
		}
		return FSQ_VISIT_CONTINUE;
	}
	if (fsq_filesystem_open_mount(&fs, mount, 0, &err)) {
		watch->no_memory |= err.errnum == ENOMEM;
		watch->mounts_missed |= err.kind == FSQ_E_FAILED;
		return FSQ_VISIT_CONTINUE;
	}
	info = fsq_filesystem_get_info(fs);
	if ((watch->only_count || info->asks_device) && has_quota(watch, fs, type))
		volume = add_volume(watch, info);
	fsq_filesystem_close(fs);
	if (!volume)
		return FSQ_VISIT_CONTINUE;
	volume->is_mounted = true;
	memcpy(volume->type, type, sizeof(type));
	if (!watch->begun)
		return FSQ_VISIT_CONTINUE;
	session_warn(watch->session, volume->directory, "mounted, and watched from now on");
	poll_volume(watch, volume, watch->initial ? WATCH_ALL : WATCH_BASELINE);
	return FSQ_VISIT_CONTINUE;
}

/* Read the mounts again. @keep  do not remove filesystems that were unmounted */
static void refresh(struct watch *watch, bool keep)
{
	struct fsq_error err;
	size_t i = 0;

	fsq_mount_points_free(watch->points);
	watch->points = NULL;
	for (size_t j = 0; j < watch->volume_count; j++)
		watch->volumes[j]->is_mounted = false;
	watch->mounts_missed = false;
	if (fsq_mounts_each(NULL, visit_mount, watch, &err)) {
		session_fail(watch->session, &err);
		watch->mounts_missed = true;
		return;
	}
	/* Remove filesystems last, so that visit_mount() sees a complete table. */
	while (i < watch->volume_count && !keep) {
		struct watch_volume *volume = watch->volumes[i];

		if (volume->is_mounted) {
			i++;
			continue;
		}
		/* Print its pending events first. */
		watch_report(watch, volume, INT64_MAX);
		watch_ids_forget(&watch->ids, volume);
		session_warn(watch->session, volume->directory, "unmounted, and no longer watched");
		watch->volume_count--;
		memmove(&watch->volumes[i], &watch->volumes[i + 1],
			(watch->volume_count - i) * sizeof(struct watch_volume *));
		free_volume(volume);
	}
	if (watch->no_memory)
		session_errno(watch->session, 0, ENOMEM, NULL, "cannot watch all filesystems");
	watch->no_memory = false;
}

/* Watch the filesystem of a path, and of its projects those that check would judge. */
static bool add_path(struct watch *watch, const char *path)
{
	struct session *session = watch->session;
	bool type[FSQ_TYPES];
	struct fsq_filesystem *fs;
	struct fsq_error err;
	bool has;

	if (fsq_filesystem_open(&fs, path, NULL, 0, &err))
		return session_fail(session, &err);
	has = has_quota(watch, fs, type);
	if (has)
		watch->only[watch->only_count] = strdup(fsq_filesystem_get_info(fs)->directory);
	fsq_filesystem_close(fs);
	if (has && watch->only[watch->only_count]) {
		watch->only_count++;
		if (watch->wanted[FSQ_PROJECT])
			scopes_add_path(&watch->scopes, session, path, true);
		/* An open filesystem could not be unmounted. */
		session_close_paths(session);
		return session->status == 0;
	}
	if (has)
		session_errno(session, 0, ENOMEM, path, "%s: cannot watch it", path);
	else
		session_error(session, watch->wanted[FSQ_PROJECT] ? ERROR_NO_QUOTA : 0,
			      FSQ_E_NOT_SUPPORTED, 0, path,
			      "%s: there is no such quota on this filesystem", path);
	return false;
}

/* @return  whether there is a filesystem to watch; else an error was reported */
static bool start(struct watch *watch, char **paths, size_t count)
{
	watch->only = calloc(count + 1, sizeof(*watch->only));
	if (!watch->only)
		return session_no_memory(watch->session);
	for (size_t i = 0; i < count; i++)
		if (!add_path(watch, paths[i]))
			return false;
	refresh(watch, false);
	if (watch->volume_count == 0 && watch->session->status == 0)
		session_error(watch->session, 0, FSQ_E_NOT_SUPPORTED, 0, NULL,
			      "no filesystem with quota is mounted; see fsquota doctor");
	return watch->session->status == 0;
}

/* --- events that arrive --- */

/* Look for new mounts. Keep filesystems that are gone: warnings about them may be pending. */
static bool look_for_new(struct watch *watch)
{
	if (poll(&watch->source[WATCH_MOUNTS], 1, 0) > 0) {
		watch->mounts_changed = true;
		watch->looked_for_new = false;
	}
	if (!watch->mounts_changed || watch->looked_for_new)
		return false;
	watch->looked_for_new = true;
	refresh(watch, true);
	return true;
}

static enum fsq_visit take_warning(const struct fsq_warning *warning, void *arg)
{
	struct watch *watch = arg;
	struct watch_volume *volume = find_volume(watch, warning->dev);

	/* It may have been mounted a moment ago. */
	if (!volume && look_for_new(watch))
		volume = find_volume(watch, warning->dev);
	if (volume && volume->type[warning->type])
		watch_ids_warn(&watch->ids, volume, warning);
	return FSQ_VISIT_CONTINUE;
}

/* Stop listening to the kernel's warnings, and poll instead. */
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

/* Wait until the output can be written. @return  false: a signal came while its reader did not read */
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
	bool polls = !watch->warnings || reads_all(watch) || watch->mounts_missed;
	int64_t next;

	/* IDs above a limit are polled, too. */
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

static void report_lack_of_memory(struct watch *watch)
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
	watch->mounts_changed |= watch->source[WATCH_MOUNTS].revents != 0 ||
				 (watch->mounts_missed && watch_now() >= watch->next_poll);
	if (watch->source[WATCH_WARNINGS].revents)
		read_warnings(watch);
	if (watch->mounts_changed) {
		refresh(watch, false);
		watch->mounts_changed = watch->looked_for_new = false;
	}
	if (watch->source[WATCH_OUTPUT].revents) {
		const bool closed = watch->source[WATCH_OUTPUT].revents & POLLNVAL;

		/* The reader has closed the pipe: end as a write to it would. */
		if (!closed)
			raise(SIGPIPE);
		session_errno(watch->session, 0, closed ? EBADF : EPIPE, NULL,
			      "cannot write the output");
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
	watch_report(watch, NULL, now);
	report_lack_of_memory(watch);
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
		watch_report(watch, NULL, INT64_MAX);
	}
	session_notify("STOPPING=1");
	/*
	 * Wait until the program has ended. After a signal, start no further job, and a second signal ends the wait.
	 * After --count events without a signal, run the waiting jobs, too.
	 */
	for (;;) {
		if (watch->signals || watch->session->out->errnum)
			watch_run_stop(&watch->run);
		if (!watch_run_is_busy(&watch->run) || watch->signals > 1)
			break;
		poll(&watch->source[WATCH_SIGNALS], 1, -1);
		read_signals(watch);
	}
}

/* --- descriptors to poll --- */

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
	/* No events are requested: poll(2) reports when the reader closes the pipe. */
	watch->source[WATCH_OUTPUT] = (struct pollfd){ .fd = session->out->fd };
	session->out->can_write = can_write;
	session->out->arg = watch;
	return true;
}

/*
 * Report the events of paths, or without paths on all filesystems, until a signal comes or --count
 * events were reported.
 */
static void watch_paths(struct watch *watch, char **paths, size_t count)
{
	struct fsq_error err;

	for (int i = 0; i < WATCH_SOURCES; i++)
		watch->source[i] = (struct pollfd){ .fd = -1 };
	if (!open_sources(watch) || !start(watch, paths, count))
		goto out;
	watch->begun = true;
	/* Listen to the kernel before the first look, so that no event is missed. */
	if (fsq_warnings_open(&watch->warnings, &err)) {
		watch->warnings = NULL;
		give_up_warnings(watch, &err);
	} else {
		watch->source[WATCH_WARNINGS] =
			(struct pollfd){ .fd = fsq_warnings_fd(watch->warnings), .events = POLLIN };
	}
	poll_all(watch, watch->initial ? WATCH_ALL : WATCH_BASELINE);
	report_lack_of_memory(watch);
	if (watch->session->status)
		goto out;
	watch->next_poll = watch_now() + (int64_t)watch->interval * 1000;
	session_notify("READY=1");
	watch_report_start(watch);
	wait_for_all(watch);
out:
	watch->session->out->can_write = NULL;
	for (int i = WATCH_SIGNALS; i <= WATCH_MOUNTS; i++)
		if (watch->source[i].fd >= 0)
			close(watch->source[i].fd);
	fsq_warnings_close(watch->warnings);
}

/* --- the command --- */

#define INTERVAL_SECONDS 10

struct watch_options {
	struct quota_options types; /* only the types are used */
	double over;
	uint64_t within, interval, count;
	bool initial;
	const char *file;
	struct word_list arguments;
};

static bool take_over(struct session *session, const struct command_option *option, void *to,
		      const char *text)
{
	struct watch_options *options = to;

	(void)option;
	/* Refuse 0: every project is above it. */
	return tables_parse_percent(session, "--over", text, DBL_MIN, &options->over);
}

static void clear_options(void *to)
{
	free(((struct watch_options *)to)->arguments.words);
}

static void command_watch(struct session *session, const struct invocation *invocation)
{
	const struct watch_options *options = invocation->options;
	struct watch watch = {
		.session = session,
		.ids = { .over = options->over, .within = options->within },
		.run = { .session = session, .fields = watch_rows.fields },
		.interval = options->interval,
		.initial = options->initial,
		.left = options->count,
	};
	struct fsq_error err;

	if (session->batch) {
		session_usage_error(session, "watch is no request: it does not end");
		return;
	}
	session_occupy_streams();
	memcpy(watch.wanted, options->types.type, sizeof(watch.wanted));
	watch.wanted[FSQ_PROJECT] |= options_type_count(&options->types) == 0;
	if (fsq_cache_new(&session->cache, &err)) {
		session_fail(session, &err);
		return;
	}
	/* Each event is printed when it happens. */
	session->style.sort_count = 0;
	if (session->style.format == TABLE_JSON)
		session->style.format = TABLE_JSON_LINES;
	else if (session->style.format == TABLE_TEXT && session->style.column_count)
		session->style.format = TABLE_RAW;
	if (watch_run_set(&watch.run, options->file, &options->arguments))
		watch_paths(&watch, invocation->operands, (size_t)invocation->operand_count);
	watch_ids_forget(&watch.ids, NULL);
	for (size_t i = 0; i < watch.volume_count; i++)
		free_volume(watch.volumes[i]);
	for (size_t i = 0; i < watch.only_count; i++)
		free(watch.only[i]);
	scopes_free(&watch.scopes);
	fsq_mount_points_free(watch.points);
	free(watch.volumes);
	free(watch.uses);
	free(watch.only);
	watch_run_free(&watch.run);
	/* The cache owns the names. */
	session_forget_names(session);
	fsq_cache_free(session->cache);
	session->cache = NULL;
}

#define FIELD(member) offsetof(struct watch_options, member)

static const struct command_option watch_options[] = {
	{ 0, "over", "tell, too, when so much of a limit is used", .kind = VALUE_NUMBER,
	  .argument = "PERCENT", .take = take_over },
	{ 0, "full-within", "tell, too, who will be full in TIME, such as 4h", .kind = VALUE_TIME,
	  .argument = "TIME", .take = options_take_time, .field = FIELD(within) },
	{ 0, "interval", "seconds between polls (10)", .kind = VALUE_TIME, .argument = "SECONDS",
	  .field = FIELD(interval), .positive = true },
	{ 0, "initial", "begin with what is at a limit already", .field = FIELD(initial) },
	{ 0, "count", "end after so many events", .kind = VALUE_NUMBER, .argument = "N",
	  .field = FIELD(count), .positive = true },
	{ 0, "exec", "run this program for each event", .kind = VALUE_FILE, .argument = "FILE",
	  .field = FIELD(file) },
	{ 0, "exec-arg", "one argument of it", .kind = VALUE_FILE, .argument = "WORD",
	  .field = FIELD(arguments), .repeats = true },
	{ 0 },
};

const struct command watch_command = {
	.name = "watch",
	.group = GROUP_LOOK,
	.summary = "tell when limits are reached, as it happens",
	.synopsis = "[OPTION]... [DIR|PATH]...",
	.help = "Print a line whenever a project of DIR or below, or of a filesystem or of all,\n"
		"reaches a limit, and when it is below again; or a user (-u) or group (-g) of\n"
		"the filesystem.",
	.example = "watch --over 95 /srv\n"
		   "watch --full-within 4h --exec /usr/local/sbin/grow",
	.options = (option_tables){ type_options, watch_options, registry_options, table_options,
				    help_option, NULL },
	.rows = &watch_rows,
	.answers = ANSWER_LINES,
	.operands = { { VALUE_PATH, "PATH", true } },
	.options_size = sizeof(struct watch_options),
	.defaults = &(const struct watch_options){ .interval = INTERVAL_SECONDS },
	.clear_options = clear_options,
	.flags = COMMAND_CONFIG | COMMAND_READS,
	.run = command_watch,
};
