/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <paths.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "native/check/plugin.h"
#include "native/cli/options.h"
#include "native/cli/paths.h"
#include "native/cli/program.h"
#include "native/cli/suggest.h"
#include "native/rows/growth.h"
#include "native/rows/projects.h"
#include "native/rows/totals.h"
#include "quota/base/error.h"
#include "quota/fsquota.h"
#include "quota/mounts/lookup.h"
#include "quota/usage/usage.h"
#include "shared/array.h"
#include "shared/clock.h"
#include "shared/used_up.h"

/* The exit status if something is full; and if nothing is, but limits do not hold. */
#define STATUS_FULL 8
#define STATUS_NOT_IN_FORCE 10

/* The time between the two looks of --full-within. */
#define INTERVAL_SECONDS 10

/* A limit of --limit, which the kernel does not know. */
struct held_limit {
	char *directory;
	uint64_t bytes;
};

struct check_options {
	struct quota_options types;
	bool quiet, mail;
	uint64_t within, interval; /* seconds, or 0 */
	struct held_limit *limits;
	size_t limit_count, limit_capacity;
	enum { FORMAT_TABLE, FORMAT_NAGIOS } format;
	const char *warning, *critical;
};

#define WARNING_PERCENT 90
#define CRITICAL_PERCENT 98

/* The use of a directory. */
struct held_usage {
	const char *directory;
	const struct held_limit *limit; /* of the caller; NULL: what statfs(2) shows */
	struct fsq_usage usage;
};

struct check {
	struct session *session;
	const struct check_options *options;
	struct projects projects;
	struct growth growth;
	struct plugin plugin;
	struct growth_use *uses; /* each filesystem, and its projects behind it; NULL: not asked */
	bool quiet;		 /* print nothing, not even for a mail */
	bool has_over, found, outside;
	uint64_t full_count; /* of rows */
	struct text mail;    /* what is printed, with --mail */
	struct writer *out;  /* where it is printed then */
	dev_t *registered;   /* filesystems with registered directories */
	size_t registered_count, registered_capacity;
	struct held_usage *held; /* directories that were judged alone; with room for all */
	size_t held_count;
};

/* --- options --- */

static bool take_limit(struct session *session, const struct command_option *option, void *to,
		       const char *word)
{
	struct check_options *options = to;
	const char *equals = strrchr(word, '=');
	struct held_limit limit;
	char why[SUGGESTION];
	int rc;

	(void)option;
	if (!equals || equals == word)
		return session_usage_error(session, "--limit is DIR=SIZE, not \"%s\"", word);
	rc = fsq_parse_bytes(equals + 1, &limit.bytes);
	if (rc)
		return session_usage_error(session, "%s",
					   suggest_size(equals + 1, rc, "500M or 10G", why));
	if (suggest_unit(equals + 1, limit.bytes, why))
		return session_usage_error(session, "--limit %s: %s", word, why);
	limit.directory = strndup(word, (size_t)(equals - word));
	if (!limit.directory || !array_add(&options->limits, &options->limit_count,
					   &options->limit_capacity, &limit, sizeof(limit))) {
		free(limit.directory);
		return session_no_memory(session);
	}
	return true;
}

static void clear_check_options(void *to)
{
	struct check_options *options = to;

	for (size_t i = 0; i < options->limit_count; i++)
		free(options->limits[i].directory);
	free(options->limits);
}

/* --- looking twice --- */

/* @return   false without memory */
static bool look_at_projects(struct check *check, const struct projects *projects)
{
	const struct session *session = check->session;
	struct growth_use *use = check->uses;
	size_t at = 0;

	for (size_t i = 0; i < session->path_count; i++) {
		const struct path_entry *path = &session->paths[i];
		struct fsq_space space[FSQ_FORMS] = { 0 };
		uint64_t used = FIELD_NOT_KNOWN, free = FIELD_NOT_KNOWN;

		if (paths_read_space(check->session, path, path->info->directory, space)) {
			free = space[FSQ_BLOCKS].free;
			used = space[FSQ_BLOCKS].total - free;
		}
		/* growth_look() needs them sorted; an index serves as device number. */
		*use++ = growth_use(i, 0, used, 0, free);
		for (; at < projects->count && projects->all[at].filesystem == i; at++) {
			const struct fsq_usage *usage = &projects->all[at].usage;

			*use++ = growth_use(i, usage->id, usage->used_bytes, usage->hard_bytes,
					    free);
		}
	}
	return growth_look(&check->growth, check->uses, (size_t)(use - check->uses),
			   clock_nanoseconds(CLOCK_MONOTONIC));
}

/* Read use and limits of the same projects again. */
static void read_again(struct check *check, struct projects *projects)
{
	for (size_t i = 0; i < projects->count; i++) {
		struct project *project = &projects->all[i];
		const struct path_entry *path = &check->session->paths[project->filesystem];
		struct fsq_dquot dquot = { .id = project->usage.id };
		int rc = fsq_quota_get(path->fs, projects->type, dquot.id, &dquot);

		if (rc && rc != -ENOENT) {
			session_errno(check->session, ERROR_AT_PATH, -rc, path->info->directory,
				      "cannot read the quota of %s %u",
				      account_types[projects->type], dquot.id);
			break;
		}
		fsq_usage_set_dquot(&project->usage, &dquot);
	}
}

static void look_twice(struct check *check, struct projects *projects)
{
	uint64_t interval = check->options->interval;
	struct timespec rest = { .tv_sec = (time_t)(interval ? interval : INTERVAL_SECONDS) };
	bool done;

	check->uses =
		calloc(check->session->path_count + projects->count + 1, sizeof(*check->uses));
	done = check->uses && look_at_projects(check, projects);
	if (done) {
		while (clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, &rest))
			;
		read_again(check, projects);
		done = look_at_projects(check, projects);
	}
	if (done)
		return;
	free(check->uses);
	check->uses = NULL;
	session_no_memory(check->session);
}

/* --- judging --- */

/* Above a soft limit, in its grace time or past it, or at a hard limit? */
static bool is_amount_above(uint64_t used, uint64_t soft, uint64_t hard, uint64_t least,
			    int64_t grace)
{
	return used != FIELD_NOT_KNOWN && (grace != FIELD_NO_SECONDS || (soft && used > soft) ||
					   (hard && (used >= hard || hard - used < least)));
}

/* The hard limits are those of the usage: statfs(2) shows the limit that comes first, and no use above it. */
static bool is_full(const struct fsq_usage *usage, const struct project_row *row)
{
	return is_amount_above(usage->used_bytes, usage->soft_bytes, usage->hard_bytes, LEAST_SPACE,
			       row->bytes_grace_seconds) ||
	       is_amount_above(usage->used_inodes, usage->soft_inodes, usage->hard_inodes, 1,
			       row->inodes_grace_seconds);
}

static void show_row(struct check *check, struct project_row *row, bool *why)
{
	*why = true;
	check->full_count += why == &check->found;
	if (check->quiet)
		return;
	/* Names of users may cost a question to a server: ask only for those that are shown. */
	if (row->type != FSQ_PROJECT)
		listing_set_name(check->session, row);
	tables_row(check->session, row);
}

static bool is_full_within(const struct check *check, int64_t seconds)
{
	return seconds != FIELD_NO_SECONDS && (uint64_t)seconds <= check->options->within;
}

static void judge_row(struct check *check, struct project_row *row, bool full, bool in_force)
{
	if (check->has_over)
		full = row->percent >= check->session->style.over;
	full |= is_full_within(check, row->full_seconds);
	if (check->options->format == FORMAT_NAGIOS) {
		if (row->type != FSQ_PROJECT)
			listing_set_name(check->session, row);
		plugin_add(&check->plugin, row, full, in_force);
		return;
	}
	if (full)
		show_row(check, row, &check->found);
	else if (!in_force)
		show_row(check, row, &check->outside);
	check->outside |= !in_force;
}

/* A row of ID 0, whose limit is the size. @return  whether the filesystem is full; ext4 leaves some space to root */
static bool read_filesystem_row(struct check *check, struct fsq_filesystem *fs,
				struct fsq_usage *usage, struct project_row *row)
{
	const struct fsq_filesystem_info *info = fsq_filesystem_get_info(fs);
	struct fsq_space space[FSQ_FORMS] = { 0 }, *blocks = &space[FSQ_BLOCKS];
	const struct fsq_space *inodes = &space[FSQ_INODES];
	enum fsq_type type = options_type(&check->options->types);
	struct fsq_state state = { 0 };
	int rc = fsq_filesystem_space(fs, NULL, info->directory, space);

	if (rc)
		session_errno(check->session, ERROR_AT_PATH, -rc, info->directory,
			      "cannot read its size");
	fsq_quota_state(fs, type, &state);
	if (session_has_person(check->session))
		options_tell_of_others(check->session, &check->options->types, fs, "check");
	*usage = (struct fsq_usage){
		.source = FSQ_USAGE_STATFS,
		.used_bytes = rc ? FIELD_NOT_KNOWN : blocks->total - blocks->free,
		.hard_bytes = blocks->total,
		.used_inodes = rc ? FIELD_NOT_KNOWN : inodes->total - inodes->free,
		.hard_inodes = inodes->total,
		.device = (char *)info->device,
		.mountpoint = (char *)info->directory,
		.accounting = state.accounting[type],
		.enforced = state.enforced[type],
	};
	*row = listing_row(check->session, info->directory, usage);
	row->shown_name = "(filesystem)";
	if (rc)
		return false;
	row->available_bytes = listing_free_bytes(check->session, info->directory);
	return is_space_used_up(row->available_bytes, blocks->total) ||
	       is_used_up(inodes->free, inodes->total);
}

/*
 * @use      with when it will be full, or NULL
 * @whole    all of it is wanted
 */
static void judge_filesystem(struct check *check, const struct path_entry *path,
			     const struct growth_use *use, bool whole)
{
	struct fsq_usage usage;
	struct project_row row;
	bool full = read_filesystem_row(check, path->fs, &usage, &row);

	row.full_seconds = use ? use->full_seconds : FIELD_NO_SECONDS;
	if (whole || is_full_within(check, row.full_seconds))
		judge_row(check, &row, full, true);
}

static void judge_project(struct check *check, struct projects *projects,
			  const struct project *project, int64_t full_seconds)
{
	struct project_row row = projects_row(projects, project);

	row.full_seconds = full_seconds;
	judge_row(check, &row, is_full(&project->usage, &row),
		  projects_is_in_force(projects, project, &row));
}

static void judge_visited(struct projects *projects, const struct project *project, void *arg)
{
	judge_project(arg, projects, project, FIELD_NO_SECONDS);
}

/* Judge projects together with the time until they are full. */
static void judge_growing(struct check *check, struct projects *projects)
{
	const struct session *session = check->session;
	const struct growth_use *use;
	size_t at = 0;

	look_twice(check, projects);
	use = check->uses;
	for (size_t i = 0; i < session->path_count; i++) {
		const struct path_entry *path = &session->paths[i];

		if (use && !options_choose_project(session) &&
		    scopes_want_some(&projects->scopes, path->info->dev))
			judge_filesystem(check, path, use,
					 scopes_want(&projects->scopes, path->info->dev, 0, NULL));
		use += use != NULL;
		for (; at < projects->count && projects->all[at].filesystem == i; at++) {
			judge_project(check, projects, &projects->all[at],
				      use ? use->full_seconds : FIELD_NO_SECONDS);
			use += use != NULL;
		}
	}
}

/* Judge the filesystems that are wanted as a whole. */
static void judge_filesystems(struct check *check)
{
	const struct session *session = check->session;
	const struct scopes *scopes = &check->projects.scopes;

	for (size_t i = 0; i < session->path_count; i++)
		if (scopes_want(scopes, session->paths[i].info->dev, 0, NULL))
			judge_filesystem(check, &session->paths[i], NULL, true);
}

/* --- filesystems whose quota is off --- */

static void judge_if_off(struct check *check, struct fsq_filesystem *fs)
{
	const char *directory = fsq_filesystem_get_info(fs)->directory;
	struct fsq_state state;
	struct fsq_usage usage;
	struct project_row row;
	int rc = fsq_quota_state(fs, FSQ_PROJECT, &state);

	if (rc ? fsq_error_kind_of(-rc) != FSQ_E_NOT_SUPPORTED &&
			    fsq_error_kind_of(-rc) != FSQ_E_NOT_FOUND
	       : state.accounting[FSQ_PROJECT])
		return;
	read_filesystem_row(check, fs, &usage, &row);
	session_warn(
		check->session, directory,
		"project quota is off, and directories on it are registered; see fsquota doctor");
	if (check->options->format == FORMAT_NAGIOS)
		plugin_add(&check->plugin, &row, true, false);
	else
		show_row(check, &row, &check->found);
}

/* Note the filesystem of a registered directory. */
static enum fsq_visit note_registered(uint32_t id, const char *directory, void *arg)
{
	struct check *check = arg;
	const struct fsq_mount_points *points = session_mounts(check->session);
	dev_t dev;

	if (!points)
		return FSQ_VISIT_STOP;
	if (!fsq_lookup_known(points, directory, &dev)) {
		session_no_memory(check->session);
		return FSQ_VISIT_STOP;
	}
	for (size_t i = 0; i < check->registered_count; i++)
		if (check->registered[i] == dev)
			return FSQ_VISIT_CONTINUE;
	if (id && dev &&
	    !array_add(&check->registered, &check->registered_count, &check->registered_capacity,
		       &dev, sizeof(dev)))
		session_no_memory(check->session);
	return FSQ_VISIT_CONTINUE;
}

static enum fsq_visit judge_mount(const struct fsq_mount *mount, void *arg)
{
	struct check *check = arg;
	struct fsq_filesystem *fs;

	for (size_t i = 0; i < check->registered_count; i++) {
		if (check->registered[i] != mount->dev ||
		    fsq_filesystem_open_mount(&fs, mount, 0, NULL))
			continue;
		check->registered[i] = 0;
		if (fsq_filesystem_get_info(fs)->has_device)
			judge_if_off(check, fs);
		fsq_filesystem_close(fs);
		break;
	}
	return FSQ_VISIT_CONTINUE;
}

/* If no path was named, judge also filesystems whose quota is off, but should be on. */
static void judge_those_off(struct check *check)
{
	struct fsq_error err;

	fsq_projects_each(check->session->projects_file, note_registered, check, NULL);
	if (check->registered_count && fsq_mounts_each(NULL, judge_mount, check, &err))
		session_fail(check->session, &err);
	free(check->registered);
}

static void check_projects(struct check *check, const struct invocation *invocation)
{
	struct session *session = check->session;
	struct projects *projects = &check->projects;
	int count = invocation->operand_count;

	for (int i = 0; i < count; i++)
		projects_add_path(projects, invocation->operands[i], true);
	if (!check->options->within)
		projects->visit = judge_visited;
	projects->arg = check;
	if (options_choose_project(session) ? projects_collect_chosen(projects)
					    : projects_collect_scopes(projects, count == 0)) {
		if (check->options->within)
			judge_growing(check, projects);
		else if (!options_choose_project(session))
			judge_filesystems(check);
	}
	if (!options_choose_project(session) && count == 0 && session->at.count == 0 &&
	    projects->type == FSQ_PROJECT)
		judge_those_off(check);
	/* A named directory must have been judged. */
	for (size_t i = 0; i < projects->scopes.count && session->status == 0; i++) {
		const struct scope *scope = &projects->scopes.list[i];

		if (scope->given && !projects_has_any(projects, scope))
			session_error(session, 0, FSQ_E_NOT_FOUND, 0, scope->given,
				      "%s: belongs to no project, and none is registered below it",
				      scope->given);
	}
}

/* --- one directory: by a limit of the caller, or by what anybody may see --- */

/*
 * Add the next directory.
 *
 * @return   whether to judge it: not if its project was judged before, since directories may share one; if that was by
 *           another limit, an error was reported
 */
static bool add_held(struct check *check)
{
	const struct held_usage *all = check->held, *last = &all[check->held_count++];

	for (; all < last; all++) {
		const struct fsq_usage *usage = &all->usage;

		if (!usage->id || usage->id != last->usage.id ||
		    strcmp(usage->device, last->usage.device) != 0)
			continue;
		if (all->limit && last->limit && all->limit->bytes != last->limit->bytes)
			session_error(check->session, 0, FSQ_E_CONFLICT, 0, last->directory,
				      "%s: has the project of %s, but another limit",
				      last->directory, all->directory);
		if (!all->limit == !last->limit)
			return false;
	}
	return true;
}

static void judge_shown(struct check *check, const struct held_usage *held)
{
	const struct fsq_usage *usage = &held->usage;
	struct project_row row = listing_row(check->session, held->directory, usage);

	row.directories = (struct field_texts){ &held->directory, 1 };
	judge_row(check, &row, is_full(usage, &row), listing_is_in_force(check->session, &row));
	listing_tell_of_size(check->session, held->directory, usage);
}

static void judge_held(struct check *check, const struct held_usage *held)
{
	const char *directory = held->directory;
	const struct fsq_usage *usage = &held->usage;
	struct project_row row = listing_row(check->session, directory, usage);

	if (usage->at_least &&
	    (usage->used_bytes == FSQ_NOT_KNOWN || usage->used_bytes == usage->hard_bytes)) {
		session_error(
			check->session, 0, FSQ_E_PERMISSION, 0, directory,
			"%s: statfs(2) does not show its use, and only root may ask the kernel",
			directory);
		return;
	}
	row.directories = (struct field_texts){ &directory, 1 };
	row.soft_bytes = 0;
	row.hard_bytes = row.shown_hard_bytes = held->limit->bytes;
	row.bytes_grace_seconds = FIELD_NO_SECONDS;
	/* What statfs(2) shows of limits is forgotten. */
	if (usage->at_least) {
		row.soft_inodes = row.hard_inodes = row.shown_hard_inodes = 0;
		row.limit_bytes = row.limit_inodes = FIELD_NOT_KNOWN;
		row.used_at_least = ROW_ONLY_SHOWN;
		row.limits_at_least = row.bytes_at_least = row.inodes_at_least = false;
	}
	row.percent = listing_percent(&row);
	judge_row(check, &row, row.used_bytes >= row.hard_bytes,
		  listing_is_in_force(check->session, &row));
}

/*
 * Judge what needs no question to the kernel's quota: what its caller may not ask, and what has none here.
 *
 * @return   how many operands are left, which come first now
 */
static int check_shown(struct check *check, const struct invocation *invocation)
{
	int left = 0;

	for (int i = 0; i < invocation->operand_count; i++) {
		struct held_usage *next = &check->held[check->held_count];

		next->directory = invocation->operands[i];
		if (session_usage(check->session, next->directory, &next->usage, NULL) ||
		    next->usage.source == FSQ_USAGE_QUOTA ||
		    (next->usage.hard_bytes && next->usage.used_bytes == FSQ_NOT_KNOWN)) {
			fsq_usage_clear(&next->usage);
			invocation->operands[left++] = invocation->operands[i];
			continue;
		}
		if (add_held(check))
			judge_shown(check, next);
	}
	return left;
}

static void check_held(struct check *check)
{
	for (size_t i = 0; i < check->options->limit_count; i++) {
		struct held_usage *next = &check->held[check->held_count];
		struct fsq_error err;

		next->limit = &check->options->limits[i];
		next->directory = next->limit->directory;
		if (session_usage(check->session, next->directory, &next->usage, &err)) {
			session_fail(check->session, &err);
			continue;
		}
		if (add_held(check))
			judge_held(check, next);
	}
}

/* --- the command --- */

/* @return   whether the percentages of a monitor are right; else an error was reported */
static bool take_percentages(struct session *session, const struct check_options *options,
			     struct plugin *plugin)
{
	plugin->warning = WARNING_PERCENT;
	plugin->critical = CRITICAL_PERCENT;
	return (!options->warning || tables_parse_percent(session, "--warning", options->warning, 0,
							  &plugin->warning)) &&
	       (!options->critical || tables_parse_percent(session, "--critical", options->critical,
							   0, &plugin->critical)) &&
	       (plugin->warning <= plugin->critical ||
		session_usage_error(session, "--warning %g is above --critical %g", plugin->warning,
				    plugin->critical));
}

/*
 * Send a mail to the address of fsquota.conf(5).
 *
 * @what     the end of the subject, behind the name of the host; never a name that a tenant gives
 * Source: sendmail(8), RFC 5322, RFC 3834
 */
static void send_mail(struct session *session, const char *what, const struct text *body)
{
	/* A line of the body may be a dot, which ends a mail without -i. */
	static const char *const words[] = { _PATH_SENDMAIL, "-t", "-i", NULL };
	static struct writer w;
	char host[256] = "";
	int fd, rc;

	if (!session->mail) {
		session_error(session, 0, FSQ_E_USAGE, 0, NULL,
			      "--mail sends nothing: no address; write mail = ADDRESS into "
			      "/etc/fsquota.conf");
		return;
	}
	fd = memfd_create("mail", MFD_CLOEXEC);
	if (fd < 0) {
		session_errno(session, 0, errno, words[0], "cannot write the mail");
		return;
	}
	gethostname(host, sizeof(host) - 1);
	writer_start(&w, fd);
	write_format(&w, "To: %s\nSubject: fsquota on ", session->mail);
	write_escaped(&w, host);
	write_format(&w,
		     ": %s\nAuto-Submitted: auto-generated\nMIME-Version: 1.0\n"
		     "Content-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: 8bit\n\n",
		     what);
	write_all_of(&w, body);
	rc = writer_flush(&w);
	if (rc == 0 && lseek(fd, 0, SEEK_SET) < 0)
		rc = -errno;
	if (rc)
		session_errno(session, 0, -rc, words[0], "cannot write the mail");
	else
		program_run(session, words, fd, 0);
	close(fd);
}

/* With --mail, keep what is printed. */
static void begin_mail(struct check *check)
{
	struct session *session = check->session;
	static struct writer w;

	check->out = session->out;
	writer_start_text(&w, &check->mail);
	session->out = session->table.out = &w;
}

/* Print what was kept, and send it if something was found. */
static void end_mail(struct check *check)
{
	struct session *session = check->session;
	int rc = writer_flush(session->out);
	char what[64] = "limits do not hold";

	session->out = session->table.out = check->out;
	if (rc)
		session_no_memory(session);
	else if (!check->options->quiet)
		write_all_of(session->out, &check->mail);
	session_flush(session);
	if (check->full_count)
		snprintf(what, sizeof(what), "%" PRIu64 " at their limits", check->full_count);
	else if (check->found)
		strcpy(what, "hard limits exceed a budget");
	if (rc == 0 && (check->found || check->outside))
		send_mail(session, what, &check->mail);
	else if (!session->mail && session_has_person(session))
		session_warn(session, NULL,
			     "no address: write mail = ADDRESS into /etc/fsquota.conf");
	free(check->mail.bytes);
}

static bool names_address(const struct invocation *invocation)
{
	struct stat st;

	for (int i = 0; i < invocation->operand_count; i++) {
		const char *word = invocation->operands[i];

		if ((strchr(word, '@') || !strchr(word, '/')) &&
		    fsq_lookup_stat(NULL, word, 0, &st, NULL) == -ENOENT)
			return true;
	}
	return false;
}

static void command_check(struct session *session, const struct invocation *invocation)
{
	const struct check_options *options = invocation->options;
	enum fsq_type type = options_type(&options->types);
	struct check check = {
		.session = session,
		.options = options,
		.projects = { .session = session,
			      .type = type,
			      .no_names = true,
			      .want_available = true,
			      .want_in_force = true,
			      .by_statfs = true,
			      .tell_of_statfs = true },
	};
	struct invocation rest = *invocation;
	struct until until = { 0 };
	bool chosen = options_choose_project(session);
	bool nagios = options->format == FORMAT_NAGIOS;
	const char *wrong =
		nagios && (options->quiet || session->style.has_over || session_has_rows(session))
			? "--format nagios has a line of its own, and --warning for --over"
		: options->mail && nagios ? "--mail does not go with --format nagios"
		: options->mail && names_address(invocation)
			? "--mail takes no address: \"mail = ADDRESS\" in fsquota.conf(5) has it"
		: options->mail && session->batch    ? "check --mail is no request"
		: options->mail && session->has_root ? "--mail does not go with --root: the "
						       "program would be one of that directory"
		: nagios && session->batch	     ? "check --format nagios is no request"
		: !nagios && (options->warning || options->critical)
			? "--warning and --critical go with --format nagios; else take --over"
		: type != FSQ_PROJECT && options->limit_count ? "--limit goes with projects"
		: options->interval && !options->within	      ? "--interval goes with --full-within"
		: options->within && options->limit_count ? "--full-within does not go with --limit"
		: options->within && session->batch ? "check --full-within is no request: it waits"
						    : NULL;

	if (!options_check_type(session, &options->types))
		return;
	if (wrong) {
		session_usage_error(session, "%s", wrong);
		return;
	}
	if (!take_percentages(session, options, &check.plugin))
		return;
	if (type != FSQ_PROJECT)
		table_use(&session->table, &session->style,
			  options->within ? &user_within_rows : &user_check_rows);
	else if (options->within)
		session->table.type = &within_rows;
	if (session->style.top)
		tables_sort_fullest(session);
	/* This choice of rows makes the answer incomplete. */
	check.has_over = session->style.has_over;
	session->style.has_over = false;
	if ((chosen || session->at.count || invocation->operand_count) &&
	    !options_directories_or_project(session, invocation))
		return;
	check.quiet = options->quiet && !options->mail;
	check.projects.want_sums = session->table.left_open =
		session->budget_count > 0 && type == FSQ_PROJECT;
	check.held = calloc((size_t)invocation->operand_count + options->limit_count + 1,
			    sizeof(*check.held));
	if (!check.held) {
		session_errno(session, 0, ENOMEM, NULL, "cannot check all");
		return;
	}
	check.projects.until = until_read_shown(session, &until);
	if (options->mail)
		begin_mail(&check);
	if (type == FSQ_PROJECT && !session->at.count && !chosen && !options->within)
		rest.operand_count = check_shown(&check, invocation);
	if (chosen || rest.operand_count || (!invocation->operand_count && !options->limit_count))
		check_projects(&check, &rest);
	check_held(&check);
	for (size_t i = 0; i < check.held_count; i++)
		fsq_usage_clear(&check.held[i].usage);
	free(check.held);
	if (!check.quiet && !nagios)
		tables_end(session);
	/* Overcommitted limits stop nobody until the filesystem is full. */
	if (check.projects.want_sums && totals_show(&check.projects, true, check.quiet || nagios)) {
		check.found = true;
		if (nagios)
			plugin_warn(&check.plugin, "Hard limits exceed a budget.");
	}
	projects_free(&check.projects);
	until_free(&until);
	if (nagios)
		plugin_show(session, &check.plugin);
	if (options->mail)
		end_mail(&check);
	/* A failed write must not look like success. */
	session_flush(session);
	growth_free(&check.growth);
	free(check.uses);
	if (nagios)
		return;
	if ((check.found || check.outside) && !session->out->reported)
		session->status = check.found ? STATUS_FULL : STATUS_NOT_IN_FORCE;
	else if (session->budgets_unknown && session->status == 0)
		session->status = session_exit_code(FSQ_E_USAGE);
}

#define FIELD(member) offsetof(struct check_options, member)

static const struct command_option check_options[] = {
	{ 'q', "quiet", "print nothing: the exit status says it", .field = FIELD(quiet) },
	{ 0, "mail", "also mail it; fsquota.conf(5) has the address", .field = FIELD(mail) },
	{ 0, "limit", "judge DIR by SIZE instead of its limits", .kind = VALUE_DIRECTORY,
	  .argument = "DIR=SIZE", .take = take_limit },
	{ 0, "full-within", "also what will be full in TIME, such as 4h", .kind = VALUE_TIME,
	  .argument = "TIME", .take = options_take_time, .field = FIELD(within) },
	{ 0, "format", "nagios: the line and the status of a plugin (0 to 3)", .kind = VALUE_CHOICE,
	  .argument = "FORMAT", .choices = "table nagios",
	  .choices_text = "table or nagios (fsquota metrics is for Prometheus)",
	  .field = FIELD(format) },
	{ 0, "warning", "of that: percent of a limit that are a warning (90)", .kind = VALUE_NUMBER,
	  .argument = "PERCENT", .field = FIELD(warning) },
	{ 0, "critical", "and percent that are critical (98)", .kind = VALUE_NUMBER,
	  .argument = "PERCENT", .field = FIELD(critical) },
	{ 0, "interval", "of --full-within: seconds between two looks (10)", .kind = VALUE_TIME,
	  .argument = "SECONDS", .field = FIELD(interval), .positive = true },
	{ 0 },
};

const struct command check_command = {
	.name = "check",
	.group = GROUP_LOOK,
	.summary = "tell which projects are at their limits",
	.synopsis = "[OPTION]... [DIR|PATH]... | --id ID --at PATH | --name NAME",
	.help = "Print the projects of each DIR and below, or of a filesystem, that are above a\n"
		"soft limit or at a hard one, filesystems that are full, and budgets that limits\n"
		"exceed; or the users (-u) or groups (-g) of a filesystem. The exit status is 8\n"
		"if there is one; 10 if there is none, but limits do not hold; else 0.",
	.example = "check --over 90 /srv\n"
		   "check --format nagios --warning 80 --critical 95 /srv",
	.options = (option_tables){ type_options, over_option, check_options, chosen_options,
				    first_options, table_options, registry_options, help_option,
				    NULL },
	.operands = { { VALUE_PATH, "PATH", true } },
	.options_size = sizeof(struct check_options),
	.rows = &check_rows,
	.totals = &total_rows,
	.clear_options = clear_check_options,
	.flags = COMMAND_CONFIG | COMMAND_READS | COMMAND_BUDGETS,
	.run = command_check,
};
