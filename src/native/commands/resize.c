/* SPDX-License-Identifier: Apache-2.0 */
#include "quota/fsquota.h"

#include <fcntl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "native/apply/edit.h"
#include "native/cli/budgets.h"
#include "native/cli/journal.h"
#include "native/cli/options.h"
#include "native/cli/request.h"
#include "native/cli/suggest.h"
#include "native/cli/until.h"
#include "native/rows/change.h"
#include "native/rows/projects.h"
#include "native/rows/records.h"
#include "quota/base/path.h"
#include "quota/directory/resize.h"
#include "quota/limits/limits.h"
#include "quota/mounts/lookup.h"
#include "quota/usage/usage.h"

struct resize_options {
	bool allow_shrink, has_over, force, edit, due;
	const char *until;
	double over;			 /* only projects that use so many percent of their limit */
	const char *hard;		 /* as the operand */
	struct fsq_assign_request words; /* its other limits */
};

/* Take an option that assign has, too. */
static bool take_limit_word(struct session *session, const struct command_option *option, void *to,
			    const char *value)
{
	struct resize_options *options = to;

	if (!assign_request_set(session, &(struct word_origin){ 0 }, &options->words, option->name,
				value))
		return false;
	if (options->words.soft_percent)
		session_usage_error(session, "\"%s\" is no size, such as 500M, 10G or none", value);
	return !options->words.soft_percent;
}

static bool take_over_percent(struct session *session, const struct command_option *option,
			      void *to, const char *value)
{
	struct resize_options *options = to;

	(void)option;
	options->has_over = true;
	return tables_parse_percent(session, "--over", value, 0, &options->over);
}

/* The projects that one call resizes. */
struct resizing {
	struct session *session;
	const struct resize_options *options;
	struct fsq_resize_request request;
	dev_t asked;	/* the filesystem that was last asked whether it enforces limits, and */
	uint64_t space; /* in bytes, or 0 */
	const struct fsq_limits *from; /* with --until: resize only from these; or NULL */
	int64_t until;		       /* when the limits go back, in seconds since 1970; or 0 */
};

/* @return   false: an error was reported; @path is named in it, unless it is NULL */
static bool resize(const struct resizing *resizing, const struct fsq_resize_request *request,
		   struct fsq_resized *resized, const char *path)
{
	struct session *session = resizing->session;
	struct journal_entry entry = {
		.type = FSQ_PROJECT,
		.directory = request->directory,
		.filesystem = request->at,
		.id = request->id,
	};
	struct fsq_error err;

	if (resizing->from ? fsq_resize_from(request, resizing->from, NULL, resized, &err)
			   : fsq_resize(request, resized, &err)) {
		if (path)
			snprintf(err.path, sizeof(err.path), "%s", path);
		entry.err = &err;
		journal_write(session, &entry);
		return session_fail(session, &err);
	}
	entry.id = resized->id;
	entry.before = &resized->before;
	entry.after = &resized->after;
	if (resized->changed && !request->dry_run)
		journal_write(session, &entry);
	if (!resizing->from && !request->dry_run)
		until_forget(session, resized->id, resized->dev, &resized->after);
	return true;
}

struct found_mount {
	dev_t dev;
	char *directory;
};

static enum fsq_visit take_mount(const struct fsq_mount *mount, void *arg)
{
	struct found_mount *found = arg;

	if (mount->dev != found->dev)
		return FSQ_VISIT_CONTINUE;
	found->directory = strdup(mount->directory);
	return FSQ_VISIT_STOP;
}

/* @return   where a filesystem is mounted, for free(3); NULL: it is not known */
static char *find_mount(dev_t dev)
{
	struct found_mount found = { dev, NULL };

	fsq_mounts_each(NULL, take_mount, &found, NULL);
	return found.directory;
}

/* A soft limit that is not named moves with the hard one. */
static void tell_of_soft(struct session *session, const char *path,
			 const struct fsq_resize_request *request,
			 const struct fsq_resized *resized)
{
	const uint64_t before = resized->before.soft[FSQ_BLOCKS];
	const uint64_t after = resized->after.soft[FSQ_BLOCKS];
	char was[FIELD_CELL], is[FIELD_CELL];

	if (before != after && !(request->limits.mask & FSQ_SOFT(FSQ_BLOCKS)))
		session_warn(session, path,
			     "the soft limit moves with the hard one, from %s to %s; --soft SIZE "
			     "sets it",
			     field_size(was, before * FSQ_BASIC_BLOCK),
			     fsq_limit_is_none(after) ? "none"
						      : field_size(is, after * FSQ_BASIC_BLOCK));
	if (fsq_limit_is_none(resized->before.hard[FSQ_BLOCKS]) &&
	    !fsq_limit_is_none(resized->after.hard[FSQ_BLOCKS]))
		session_warn(session, path, "had no hard limit of space, and has one now");
}

static void warn(struct resizing *resizing, const struct fsq_resized *resized, const char *path)
{
	static const char *const words[] = { [FSQ_BLOCKS] = "space", [FSQ_INODES] = "inodes" };
	const struct fsq_resize_request *request = &resizing->request;
	const char *origin = request->directory ? request->directory : request->at;
	struct session *session = resizing->session;
	char *of_name = origin ? NULL : find_mount(resized->dev);
	char *above = resized->above && resized->changed
			      ? suggest_directory_above(session, resized->id, path)
			      : NULL;
	struct fsq_support support;

	if (above)
		session_warn(session, path,
			     "has no quota of its own: the limits are those of %s, project %u; "
			     "fsquota assign gives it its own",
			     above, resized->id);
	free(above);
	if (!origin)
		origin = of_name;

	if (origin && resized->dev != resizing->asked &&
	    fsq_supported(origin, &support, NULL) == 0) {
		if (!support.enforced)
			session_warn_not_enforced(session, origin);
		resizing->space = listing_total_bytes(support.mountpoint);
		fsq_support_clear(&support);
	}
	resizing->asked = resized->dev;
	change_warn_of_space(session, path ? path : origin, &resized->before, &resized->after,
			     resizing->space);
	if (path)
		listing_warn_if_outside(session,
					request->directory ? NULL : session_mounts(session), path,
					resized->id);
	budgets_warn(session, path, resized->over);
	free(of_name);
	/* The next apply leaves limits alone that go back. */
	if (resized->changed && !request->dry_run && request->directory && !resizing->from)
		session_note_change(session, request->directory, LIMITS_SET);
	if (session_has_person(session))
		tell_of_soft(session, path, request, resized);
	/* A soft limit below the use is no failure. */
	for (int form = FSQ_BLOCKS; form <= FSQ_INODES; form++)
		if (resized->after.soft[form] && resized->used[form] > resized->after.soft[form])
			session_warn(session, path,
				     "the soft limit of %s is below what is in use: %s",
				     words[form], change_effect_of_soft(resized->expires[form]));
}

/*
 * In another format the row; in a dry run what would change.
 *
 * @projects  have @project; NULL: the project is that of the request
 */
static bool show_resized(struct resizing *resizing, const struct fsq_resized *resized,
			 const char *path, struct projects *projects, const struct project *project)
{
	struct session *session = resizing->session;
	const struct listing_change change = {
		.directory = resizing->request.directory,
		.id = resized->id,
		.limits = resized->after,
		.changed = resized->changed,
		.enforced = true,
		.over = resized->over,
		.until = resizing->until,
	};

	if (session_has_rows(session)) {
		if (change.directory)
			return listing_show_change(session, &change);
		if (project)
			projects_show_change(projects, project, &change);
		else
			projects_show_chosen(session, &resized->dev, &change);
	} else if (session->dry_run) {
		change_show_limits(session, path ? path : resizing->request.at, resized->id,
				   &resized->before, &resized->after);
	}
	return true;
}

/* --- one project --- */

/* @return   false: an error was reported, and nothing is changed */
static bool resize_one(struct resizing *resizing)
{
	const char *path = resizing->request.directory;
	struct fsq_resized resized;

	if (!resize(resizing, &resizing->request, &resized, NULL))
		return false;
	warn(resizing, &resized, path);
	if (show_resized(resizing, &resized, path, NULL, NULL) &&
	    session_has_rows(resizing->session))
		tables_end(resizing->session);
	return true;
}

/* --- those that are over --- */

/* Is the use of what the request limits, space or inodes, over the given part of the limit? */
static bool is_over(const struct resizing *resizing, const struct fsq_usage *usage)
{
	const struct fsq_resize_request *request = &resizing->request;
	unsigned int mask = request->limits.mask;
	double space = -1, inodes = -1;

	if (request->bytes || request->percent || request->no_hard ||
	    (mask & (FSQ_SOFT(FSQ_BLOCKS) | FSQ_HARD(FSQ_BLOCKS))))
		space = percent_of_limit(usage->used_bytes,
					 first_limit(usage->soft_bytes, usage->hard_bytes,
						     records_grace_left(usage->bytes_expires)));
	if (mask & (FSQ_SOFT(FSQ_INODES) | FSQ_HARD(FSQ_INODES)))
		inodes = percent_of_limit(usage->used_inodes,
					  first_limit(usage->soft_inodes, usage->hard_inodes,
						      records_grace_left(usage->inodes_expires)));
	return (space > inodes ? space : inodes) >= resizing->options->over;
}

/* Resize all registered projects that are over. A failure of one does not stop the others. */
static void resize_registered(struct resizing *resizing)
{
	struct session *session = resizing->session;
	struct fsq_resize_request *request = &resizing->request;
	struct projects projects = { .session = session,
				     .type = FSQ_PROJECT,
				     .pass_over = !session->at.count };
	bool any = false;

	if (options_choose_project(session))
		projects_collect_chosen(&projects);
	else
		projects_collect_scopes(&projects, true);
	for (size_t i = 0; i < projects.count; i++) {
		const struct project *project = &projects.all[i];
		struct fsq_resized resized;
		const char *path;

		if (!project->known_count || !is_over(resizing, &project->usage))
			continue;
		any = true;
		path = projects_row(&projects, project).path;
		request->id = project->usage.id;
		request->at = session->paths[project->filesystem].info->directory;
		if (!resize(resizing, request, &resized, path))
			continue;
		warn(resizing, &resized, path);
		show_resized(resizing, &resized, path, &projects, project);
	}
	projects_free(&projects);
	if (!any && session->status == 0 && session_has_person(session))
		session_warn(session, NULL, "no project is so full");
	if (session_has_rows(session))
		tables_end(session);
}

/* --- several directories --- */

/*
 * Find out what would become of the project of a directory.
 *
 * @resized  its ID is 0 if it is not over
 * @return   false: an error was reported
 */
static bool plan(const struct resizing *resizing, struct fsq_resized *resized)
{
	struct fsq_resize_request request = resizing->request;
	struct fsq_usage usage = { 0 };

	request.dry_run = true;
	if (resizing->options->has_over) {
		/* First only ask for use and limits: for a project that is not over the new limit need not be possible. */
		struct fsq_resize_request none = {
			.size = sizeof(none),
			.directory = request.directory,
			.id = request.id,
			.registry = request.registry,
			.dry_run = true,
		};

		if (!resize(resizing, &none, resized, NULL))
			return false;
		usage.id = resized->id;
		usage.used_bytes = resized->used[FSQ_BLOCKS] * FSQ_BASIC_BLOCK;
		usage.used_inodes = resized->used[FSQ_INODES];
		listing_plan_change(&usage, &(struct listing_change){ .id = resized->id,
								      .limits = resized->before });
		if (!is_over(resizing, &usage)) {
			resized->id = 0;
			return true;
		}
	}
	return resize(resizing, &request, resized, NULL);
}

/* @return  the result for an earlier directory of the same project, or NULL */
static const struct fsq_resized *find_shared(const struct fsq_resized *all, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (all[i].id == all[count].id && all[i].dev == all[count].dev)
			return &all[i];
	return NULL;
}

/* Check all directories before the first change. */
static void resize_directories(struct resizing *resizing, char **directories, size_t count)
{
	struct fsq_resized *all = calloc(count, sizeof(*all));
	struct fsq_resize_request *request = &resizing->request;
	struct session *session = resizing->session;
	bool good = all || session_no_memory(session);

	for (size_t i = 0; i < count && good; i++) {
		request->directory = directories[i];
		good = plan(resizing, &all[i]);
	}
	for (size_t i = 0; i < session->budget_count && !request->dry_run; i++)
		session->budgets[i].planned = 0;
	if (!good)
		goto out;
	for (size_t i = 0; i < count && good; i++) {
		const struct fsq_resized *shared = find_shared(all, i);

		if (!all[i].id)
			continue;
		request->directory = directories[i];
		/* Another process may have moved it to a project that was resized already. */
		request->id = all[i].id;
		if (shared) {
			all[i].before = all[i].after = shared->after;
			all[i].changed = false;
		} else if (!request->dry_run) {
			good = resize(resizing, request, &all[i], NULL);
		}
		if (good && !shared)
			warn(resizing, &all[i], directories[i]);
		good = good && show_resized(resizing, &all[i], directories[i], NULL, NULL);
	}
	if (session_has_rows(session))
		tables_end(session);
out:
	free(all);
}

/* --- the words --- */

/* SIZE, +SIZE, +PERCENT% or none */
static bool take_size(struct session *session, const char *size, struct fsq_resize_request *request)
{
	size_t digits = strspn(size, "+0123456789");
	char why[SUGGESTION];
	int rc;

	request->no_hard = strcmp(size, "none") == 0;
	request->relative = size[0] == '+';
	if (request->no_hard)
		return true;
	if (request->relative && strcmp(size + digits, "%") == 0) {
		unsigned long percent = strtoul(size + 1, NULL, 10);

		request->relative = false;
		request->percent = (unsigned int)percent;
		return (size[1] != '+' && digits < 6 && percent) ||
		       session_usage_error(session, "\"%s\" is no growth, such as +20%%", size);
	}
	rc = fsq_parse_bytes(size + request->relative, &request->bytes);
	if (rc && strchr(size, '/'))
		return session_usage_error(
			session, "%s is no size: the size stands last, fsquota resize DIR SIZE",
			size);
	if (rc && strchr(size, ':'))
		return session_usage_error(
			session,
			"\"%s\" is no size: a time with a blank takes quotes, such "
			"as --until \"monday 8:00\"",
			size);
	if (rc)
		return session_usage_error(
			session, "%s", suggest_size(size, rc, "500M, 10G, +5G, +20% or none", why));
	return !suggest_unit(size, request->bytes, why) ||
	       session_usage_error(session, "%s: %s", size, why);
}

/* @return   whether there is something to do; else an error was reported */
static bool make_request(struct session *session, const struct invocation *invocation,
			 struct fsq_resize_request *request, int *directories)
{
	const struct resize_options *options = invocation->options;
	const bool has_limits = options->hard || options->words.limits.mask;
	int count = invocation->operand_count;
	int least = !options_stand_for_directory(session) && !options->has_over;
	const char *last = count > least ? invocation->operands[count - 1] : NULL, *size = NULL;
	uint64_t bytes;
	struct stat st;

	/* If other limits are given, the last word may be a directory and no size. */
	if (last && (!has_limits || *last == '+' || (*last >= '0' && *last <= '9') ||
		     strcmp(last, "none") == 0))
		size = last;
	*directories = count - (size != NULL);
	if (size && *directories > 1 &&
	    fsq_parse_bytes(invocation->operands[*directories - 1], &bytes) == 0 &&
	    fsq_lookup_stat(NULL, invocation->operands[*directories - 1], 0, &st, NULL) == -ENOENT)
		return session_usage_error(
			session, "one size is the hard limit; the soft one is --soft %s", size);
	if (size && options->hard)
		return session_usage_error(session,
					   "the hard limit is given twice: %s, and --hard %s", size,
					   options->hard);
	if (*directories < least || (!size && !has_limits)) {
		const bool only_size =
			least &&
			(!*directories || fsq_parse_bytes(invocation->operands[0], &bytes) == 0);

		return options_refuse(session, invocation,
				      only_size && session->wanted_id
					      ? "--id takes --at PATH, or the directory"
				      : only_size ? "a directory and a size are wanted"
						  : "a size is wanted");
	}
	if (!options_check_own_project(session, *directories, options->has_over) ||
	    !options_project_id(session, false, &request->id))
		return false;
	request->limits = options->words.limits;
	if (!size)
		size = options->hard;
	return !size || take_size(session, size, request);
}

/* --- in an editor --- */

/* @request   gets what the line says. @return  whether to carry it out; else that was reported, or nothing changed */
static bool edit_request(const struct resizing *resizing, struct fsq_resize_request *request,
			 char **file)
{
	struct session *session = resizing->session;
	struct fsq_resize_request ask = *request;
	int fd = fsq_lookup(NULL, request->directory, O_PATH, NULL);
	char *path = fd < 0 ? NULL : fsq_fd_path(fd), *subject = NULL;
	struct fsq_limits limits;
	struct fsq_resized is;
	enum edited edited = EDIT_FAILED;

	ask.dry_run = true;
	if (fd >= 0)
		close(fd);
	if (!resize(resizing, &ask, &is, NULL))
		goto out;
	limits = is.before;
	if (!path || asprintf(&subject, "project %u", is.id) < 0)
		session_no_memory(session);
	else
		edited = edit_limits(session, subject, path, &limits, file);
	if (edited == EDIT_UNCHANGED && !session_has_rows(session))
		write_text(session->out, "nothing changed\n");
	if (edited != EDIT_CHANGED)
		goto out;
	request->id = is.id;
	/* A line that was written in full says so: only what is in use is a bound. */
	request->allow_shrink = true;
	if (limits.mask & FSQ_HARD(FSQ_BLOCKS)) {
		request->bytes = fsq_limit_bytes(limits.hard[FSQ_BLOCKS]);
		request->no_hard = request->bytes == 0;
	}
	limits.mask &= ~FSQ_HARD(FSQ_BLOCKS);
	/* Without a word they would move along with the hard ones. */
	limits.mask |= FSQ_SOFT(FSQ_BLOCKS) | FSQ_SOFT(FSQ_INODES);
	request->limits = limits;
out:
	free(subject);
	free(path);
	return edited == EDIT_CHANGED || (edited == EDIT_UNCHANGED && session_has_rows(session));
}

/* @wanted   such as "--edit goes with one directory"; that of --id or --name is named */
static void refuse_without_directory(struct session *session, const char *wanted)
{
	char *directory = NULL;
	uint32_t id = session->wanted_id;

	if (id || (session->wanted_name &&
		   fsq_project_names_id(session_names(session), session->wanted_name, &id)))
		directory = suggest_directory_of(session, id);
	session_usage_error(session, "%s%s%s", wanted, directory ? "; that of the project: " : "",
			    directory ? directory : "");
	free(directory);
}

static void edit_one(struct resizing *resizing, const struct invocation *invocation)
{
	struct session *session = resizing->session;
	const struct resize_options *options = resizing->options;
	char *file = NULL;

	if (invocation->operand_count != 1 || options->hard || options->words.limits.mask ||
	    options->has_over || options_choose_project(session) || session->at.count) {
		refuse_without_directory(session,
					 "--edit goes with one directory, and with no limits");
		return;
	}
	resizing->request.directory = invocation->operands[0];
	if (!edit_request(resizing, &resizing->request, &file))
		return;
	resize_one(resizing);
	if (file)
		edit_end(session, file, session->status == 0);
}

/* --- limits that go back --- */

/* Write the line before the limits are set, and take older ones away afterwards. */
static void set_until(struct resizing *resizing, struct until *until, struct fsq_resized *plan)
{
	struct session *session = resizing->session;
	char *directory = fsq_lookup_gone(NULL, resizing->request.directory);
	struct until_line *older, line = { .id = plan->id,
					   .directory = directory,
					   .when = resizing->until,
					   .before = plan->before,
					   .after = plan->after };

	if (!directory) {
		session_no_memory(session);
		return;
	}
	while ((older = until_find(session, until, plan->id, plan->dev))) {
		/* A second time goes back to where the first one began, unless others have set limits meanwhile. */
		if (fsq_limits_are_same(&older->after, &plan->before))
			line.before = older->before;
		older->is_done = true;
	}
	resizing->request.id = plan->id;
	resizing->from = &plan->before;
	if (fsq_limits_are_same(&line.before, &line.after) || until_add(session, until, &line)) {
		if (!resize_one(resizing))
			for (size_t i = 0; i < until->count; i++)
				until->list[i].is_done = until->list[i].is_new;
		else
			until_tell(session, resizing->request.directory, resizing->until);
		until_remove(session, until);
	}
	free(directory);
}

static void resize_until(struct resizing *resizing)
{
	struct session *session = resizing->session;
	struct fsq_resize_request ask = resizing->request;
	struct until until = { 0 };
	struct fsq_resized plan;

	if (session->dry_run) {
		resize_one(resizing);
		return;
	}
	ask.dry_run = true;
	if (session_mounts(session) && until_read(session, &until, true) &&
	    resize(resizing, &ask, &plan, NULL)) {
		for (size_t i = 0; i < session->budget_count; i++)
			session->budgets[i].planned = 0;
		set_until(resizing, &until, &plan);
	}
	until_free(&until);
}

/* @return   whether there is nothing to do any more with the line */
static bool end_line(struct session *session, const struct until_line *line)
{
	struct journal_entry entry = { .type = FSQ_PROJECT,
				       .directory = line->directory,
				       .id = line->id };
	struct fsq_resized resized;
	struct fsq_error err;

	switch (until_put_back(session, line, session->dry_run, &resized, &err)) {
	case UNTIL_IS_BACK:
		entry.before = &resized.before;
		entry.after = &resized.after;
		if (resized.changed && session->dry_run)
			change_show_limits(session, line->directory, line->id, &resized.before,
					   &line->before);
		else if (resized.changed)
			journal_write(session, &entry);
		return true;
	case UNTIL_IS_VOID:
		session_warn(session, line->directory, "its limits do not go back: it %s",
			     err.errnum ? "is gone" : err.message);
		return true;
	case UNTIL_WAITS:
		return false;
	case UNTIL_FAILED:
		break;
	}
	entry.err = &err;
	journal_write(session, &entry);
	return session_fail(session, &err);
}

static bool is_due(const struct until_line *line, const void *now)
{
	return line->when <= *(const int64_t *)now;
}

/* Put back what is due. A failure of one does not stop the others, and is tried again the next time. */
static void resize_due(struct session *session)
{
	const int64_t now = time(NULL);
	struct until until = { 0 };
	bool is_any = false;

	if (until_read_if_any(session, &until, !session->dry_run, is_due, &now)) {
		is_any = true;
		for (size_t i = 0; i < until.count; i++)
			until.list[i].is_done =
				until.list[i].when <= now && end_line(session, &until.list[i]);
		if (!session->dry_run)
			until_remove(session, &until);
	}
	until_free(&until);
	if (!is_any && !session->status && session_has_person(session))
		session_warn(session, NULL, "no limits are due: fsquota list -o +until shows when");
}

/* Put back what --until has set of a directory, before its time. */
static void end_until(struct session *session, const struct invocation *invocation)
{
	const char *path = invocation->operands[0];
	struct until until = { 0 };
	const struct until_line *line = NULL;
	struct fsq_usage usage = { 0 };
	struct fsq_error err;

	if (invocation->operand_count != 1) {
		refuse_without_directory(session, "--until now goes with one directory, and puts "
						  "back its limits");
		return;
	}
	if (session_usage(session, path, &usage, &err)) {
		session_fail(session, &err);
		return;
	}
	if (until_read_if_any(session, &until, !session->dry_run, until_is_of_id, &usage.id))
		line = until_find_at(session, &until, usage.id, path);
	if (!line && !session->status)
		session_error(session, ERROR_AT_PATH, FSQ_E_NOT_FOUND, 0, path,
			      "has no limits that go back");
	for (size_t i = 0; i < until.count; i++)
		until.list[i].is_done = &until.list[i] == line && end_line(session, line);
	if (line && !session->dry_run)
		until_remove(session, &until);
	until_free(&until);
	fsq_usage_clear(&usage);
}

static void command_resize(struct session *session, const struct invocation *invocation)
{
	const struct resize_options *options = invocation->options;
	const struct fsq_registry registry = session_registry(session);
	struct resizing resizing = {
		.session = session,
		.options = options,
		.request = {
			.size = sizeof(resizing.request),
			.registry = &registry,
			.at = session->at.count ? session->at.words[0] : NULL,
			.allow_shrink = options->allow_shrink,
			.dry_run = session->dry_run,
			.over_budget = options->force,
		},
	};
	int directories;

	resizing.request.budgets = session->budgets;
	resizing.request.budget_count = session->budget_count;
	if (options->due) {
		if (invocation->operand_count || options->edit || options->until ||
		    options->has_over || options->hard || options->words.limits.mask ||
		    options_choose_project(session) || session->at.count)
			session_usage_error(session,
					    "--due goes with no directory, and with no limits");
		else
			resize_due(session);
		return;
	}
	if (options->until && (options->edit || options->has_over)) {
		refuse_without_directory(session,
					 "--until goes with one directory, and with limits");
		return;
	}
	if (options->edit) {
		edit_one(&resizing, invocation);
		return;
	}
	if (options->until && strcmp(options->until, "now") == 0 && !options->hard &&
	    !options->words.limits.mask) {
		end_until(session, invocation);
		return;
	}
	if (!make_request(session, invocation, &resizing.request, &directories))
		return;
	if (options->until && directories != 1) {
		refuse_without_directory(session,
					 "--until goes with one directory, and with limits");
		return;
	}
	if (options->until) {
		resizing.request.directory = invocation->operands[0];
		if (until_parse(session, options->until, &resizing.until))
			resize_until(&resizing);
		return;
	}
	if (options->has_over && !directories) {
		resize_registered(&resizing);
	} else if (options->has_over || directories > 1) {
		resize_directories(&resizing, invocation->operands, (size_t)directories);
	} else {
		if (directories)
			resizing.request.directory = invocation->operands[0];
		resize_one(&resizing);
	}
}

#define FIELD(member) offsetof(struct resize_options, member)

static const struct command_option own_options[] = {
	{ 0, "over",
	  "only projects that use so much of their limit, or more;\n"
	  "without DIR all registered ones, or those of --at",
	  .kind = VALUE_NUMBER, .argument = "PERCENT", .take = take_over_percent },
	{ 0, "hard", "the same as SIZE behind DIR", .kind = VALUE_SIZE, .argument = "SIZE",
	  .field = FIELD(hard) },
	{ 0, "soft", "the soft limit of space", .kind = VALUE_SIZE, .argument = "SIZE",
	  .take = take_limit_word },
	{ 0, "hard-inodes", "at most so many files and directories", .kind = VALUE_NUMBER,
	  .argument = "N", .take = take_limit_word },
	{ 0, "soft-inodes", "more than this only for the grace time", .kind = VALUE_NUMBER,
	  .argument = "N", .take = take_limit_word },
	{ 0, "edit", "edit its limits as a line, with $VISUAL or $EDITOR", .field = FIELD(edit) },
	{ 0, "force", "also where the limit does not fit in a budget", .field = FIELD(force) },
	{ 0, "until", "the limits go back then: 3d, \"monday 8:00\", now", .kind = VALUE_TIME,
	  .argument = "WHEN", .field = FIELD(until) },
	{ 0, "due", "only put back limits whose time is over", .field = FIELD(due) },
	{ 0, "allow-shrink", "let it become smaller than it is", .field = FIELD(allow_shrink) },
	{ 0 },
};

const struct command resize_command = {
	.name = "resize",
	.group = GROUP_DIRECTORY,
	.summary = "change the limits of a directory's quota",
	.synopsis = "{DIR... | --over PERCENT | --id ID --at PATH | --name NAME} "
		    "[SIZE|+SIZE|+PERCENT%|none] [OPTION]... | --edit DIR | --due",
	.help = "Make the hard limit of the project that each DIR belongs to SIZE, or larger by\n"
		"SIZE or PERCENT: 500M, 10G, +5G, +20%; none takes the limit away. It cannot\n"
		"become smaller than what is in use.",
	.example = "resize /srv/web +5G --until 'monday 8:00'\n"
		   "resize --over 90 --at /srv +20%",
	.options = (option_tables){ own_options, own_project_options, registry_options, lock_option,
				    dry_run_option, table_options, help_option, NULL },
	.operands = { { VALUE_REGISTERED, "DIR", true }, { VALUE_SIZE, "SIZE", false } },
	.rows = &usage_rows,
	.options_size = sizeof(struct resize_options),
	.flags = COMMAND_CONFIG | COMMAND_BUDGETS,
	.run = command_resize,
};
