/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "native/cli/options.h"
#include "native/cli/paths.h"
#include "native/rows/growth.h"
#include "native/rows/projects.h"
#include "native/rows/records.h"
#include "quota/fsquota.h"
#include "quota/usage/usage.h"
#include "screen.h"
#include "shared/array.h"
#include "shared/clock.h"
#include "shared/sort.h"
#include "shared/texts.h"

/* Use at most 1/BUSY_PART of a processor: a longer look makes the interval longer. */
#define BUSY_PART 2

#define SCREEN_COLUMNS "PATH,ID,NAME,USED,HARD,USE%,GROWTH,GROWTH5M,FULLIN"
#define LOG_COLUMNS "TIME,PATH,ID,NAME,USED,HARD,USE%,GROWTH,GROWTH5M,FULLIN"
/* Users and groups have no directories. */
#define USER_COLUMNS "MOUNTPOINT,ID,NAME,USED,HARD,USE%,GROWTH,GROWTH5M,FULLIN"
#define USER_LOG_COLUMNS "TIME,MOUNTPOINT,ID,NAME,USED,HARD,USE%,GROWTH,GROWTH5M,FULLIN"

struct top_options {
	struct quota_options types;
	uint64_t interval, batch, rows;
};

/* ID 0 in growth_use, where 0 is the filesystem: of what is in no project, and of root. */
#define ZERO_ID UINT32_MAX

enum top_kind { TOP_FILESYSTEM, TOP_PROJECT, TOP_NO_PROJECT, TOP_USER, TOP_GROUP };

struct top_row {
	int64_t time; /* milliseconds since 1970 */
	enum top_kind kind;
	uint64_t id;	  /* or FIELD_NOT_KNOWN: of a filesystem, or of no project */
	const char *path; /* of a filesystem its mount point */
	const char *name, *shown_name, *pod;
	uint64_t hard_bytes; /* of a filesystem its size */
	double percent;
	struct growth_use use;
	const char *filesystem, *mountpoint;
};

static const char *const kinds[] = { [TOP_FILESYSTEM] = "filesystem", [TOP_PROJECT] = "project",
				     [TOP_NO_PROJECT] = "no-project", [TOP_USER] = "user",
				     [TOP_GROUP] = "group",	      NULL };

#define MEMBER(name) .offset = offsetof(struct top_row, name)

static const struct field fields[] = {
	{ "TIME", "time", FIELD_TIME, MEMBER(time), "when it was so" },
	{ "KIND", "kind", FIELD_WORD, MEMBER(kind),
	  "filesystem, project, no-project, user or group", .words = kinds },
	{ "PATH", "path", FIELD_PATH, MEMBER(path), "the directory, or where it is mounted" },
	{ "ID", "id", FIELD_COUNT, MEMBER(id), "ID of the project, user or group", .is_id = true },
	{ "NAME", NULL, FIELD_TEXT, MEMBER(shown_name), "its name", .minor = true, .if_any = true,
	  .first_out = true },
	{ NULL, "name", FIELD_TEXT, MEMBER(name), "its name" },
	{ "USED", "used_bytes", FIELD_BYTES, MEMBER(use.bytes), "space in use" },
	{ "HARD", "hard_bytes", FIELD_BYTES_LIMIT, MEMBER(hard_bytes),
	  "hard limit of space, or the size of the filesystem" },
	{ "AVAIL", "available_bytes", FIELD_BYTES, MEMBER(use.available),
	  "what can still be written, also for the filesystem" },
	{ "USE%", "percent", FIELD_PERCENT, MEMBER(percent), "how much of the limit is used" },
	{ "GROWTH", "growth_10s", FIELD_RATE, MEMBER(use.rate[GROWTH_SHORT]),
	  "bytes a second, over 10 seconds", .heading = "GROWTH/s" },
	{ "GROWTH5M", "growth_5m", FIELD_RATE, MEMBER(use.rate[GROWTH_LONG]),
	  "bytes a second, over 5 minutes", .minor = true },
	{ "FULLIN", "full_in_seconds", FIELD_SECONDS, MEMBER(use.full_seconds),
	  "when nothing is available any more, if it goes on so" },
	{ "FILESYSTEM", "filesystem", FIELD_TEXT, MEMBER(filesystem), "its device" },
	{ "MOUNTPOINT", "mountpoint", FIELD_TEXT, MEMBER(mountpoint), "where it is mounted" },
	{ "POD", "pod", FIELD_TEXT, MEMBER(pod), "namespace, pod and volume of kubelet",
	  .optional = true },
	{ 0 },
};

static const struct row_fields top_rows = { fields, sizeof(struct top_row),
					    .usual = SCREEN_COLUMNS };
static const struct row_fields user_top_rows = { fields, sizeof(struct top_row),
						 .usual = USER_COLUMNS };

struct top {
	struct session *session;
	const struct top_options *options;
	const struct invocation *invocation;
	struct fsq_cache *cache;
	struct growth growth;
	struct top_row *rows; /* of the last look */
	size_t count, capacity;
	struct texts texts; /* of these rows */
	struct table_style order;
	int64_t next, interval; /* nanoseconds */
	bool reported_interval;
	int signals; /* descriptor, readable when one has come */
	bool ends;
	/* On a terminal: */
	struct screen *screen;
	struct text frame;
	bool paused, helps;
	uint32_t chosen_id; /* on chosen_dev; 0: choose the first project */
	dev_t chosen_dev;
};

/* --- looking --- */

static const char *keep_name(struct top *top, const char *text)
{
	const char *copy = text ? texts_keep(&top->texts, text) : NULL;

	if (text && !copy)
		session_no_memory(top->session);
	return copy;
}

static void add_row(struct top *top, const struct top_row *row)
{
	if (!array_add(&top->rows, &top->count, &top->capacity, row, sizeof(*row)))
		session_no_memory(top->session);
}

/* @return   the free bytes of a filesystem, or FIELD_NOT_KNOWN */
static uint64_t add_top_filesystem(struct top *top, struct session *session,
				   const struct path_entry *path, int64_t time)
{
	struct fsq_space space[FSQ_FORMS] = { 0 };
	struct top_row row = {
		.time = time,
		.kind = TOP_FILESYSTEM,
		.id = FIELD_NOT_KNOWN,
		.path = keep_name(top, path->info->directory),
		.filesystem = keep_name(top, path->info->device),
		.percent = -1,
	};

	if (!paths_read_space(session, path, path->info->directory, space))
		return FIELD_NOT_KNOWN;
	row.mountpoint = row.path;
	row.hard_bytes = space[FSQ_BLOCKS].total;
	row.use = growth_use(path->info->dev, 0, row.hard_bytes - space[FSQ_BLOCKS].free, 0,
			     space[FSQ_BLOCKS].free);
	row.percent = percent_of_limit(row.use.bytes, row.hard_bytes);
	add_row(top, &row);
	return row.use.available;
}

static void add_growing_project(struct top *top, struct projects *projects,
				const struct project *project, int64_t time, uint64_t free_bytes)
{
	static const enum top_kind of_type[] = { TOP_USER, TOP_GROUP, TOP_PROJECT };
	const struct project_row found = projects_row(projects, project);
	bool none = found.type == FSQ_PROJECT && !found.id;
	const struct top_row row = {
		.time = time,
		.kind = none ? TOP_NO_PROJECT : of_type[found.type],
		/* The filesystem has a row of its own. */
		.path = keep_name(top, none ? NULL : found.path),
		.name = keep_name(top, found.name),
		.shown_name = keep_name(top, found.shown_name),
		.pod = keep_name(top, found.pod),
		.hard_bytes = found.hard_bytes,
		.percent = found.percent,
		.id = none ? FIELD_NOT_KNOWN : found.id,
		.use = growth_use(projects->session->paths[project->filesystem].info->dev,
				  found.id ? found.id : ZERO_ID, found.used_bytes, found.hard_bytes,
				  free_bytes),
		.filesystem = keep_name(top, found.filesystem),
		.mountpoint = keep_name(top, found.mountpoint),
	};

	add_row(top, &row);
}

static void read_rows(struct top *top, struct session *session)
{
	const struct invocation *invocation = top->invocation;
	struct projects projects = {
		.session = session,
		.type = options_type(&top->options->types),
		.want_none = true,
		.by_statfs = true,
		.tell_of_statfs = true,
		.no_names = !table_shows(&top->order, "NAME"),
	};
	size_t at = 0;
	int64_t time;

	for (int i = 0; i < invocation->operand_count; i++)
		projects_add_path(&projects, invocation->operands[i], false);
	if (projects_collect_scopes(&projects, invocation->operand_count == 0)) {
		time = clock_milliseconds(CLOCK_REALTIME);
		for (size_t i = 0; i < projects.filesystem; i++) {
			uint64_t free_bytes =
				add_top_filesystem(top, session, &session->paths[i], time);

			for (; at < projects.count && projects.all[at].filesystem == i; at++)
				add_growing_project(top, &projects, &projects.all[at], time,
						    free_bytes);
		}
	}
	projects_free(&projects);
}

static int compare_uses(const void *one, const void *other)
{
	return growth_compare(&((const struct top_row *)one)->use,
			      &((const struct top_row *)other)->use);
}

static void measure(struct top *top)
{
	struct growth_use *uses = reallocarray(NULL, top->count + 1, sizeof(*uses));

	array_sort(top->rows, top->count, sizeof(*top->rows), compare_uses);
	for (size_t i = 0; i < top->count && uses; i++)
		uses[i] = top->rows[i].use;
	if (!uses ||
	    !growth_look(&top->growth, uses, top->count, clock_nanoseconds(CLOCK_MONOTONIC))) {
		session_no_memory(top->session);
		top->count = 0;
	}
	for (size_t i = 0; i < top->count; i++)
		top->rows[i].use = uses[i];
	free(uses);
}

/*
 * Each look has a session of its own, which reads the mounts anew and keeps no filesystem open. A failure of
 * the first look is an error; later ones may just mean that something was unmounted.
 */
static bool take_a_look(struct top *top)
{
	static struct writer nothing;
	struct session *session = top->session, one = session_new(session->out);
	struct text discarded = { 0 };
	bool first = top->growth.looked == 0;

	one.program = session->program;
	one.suggest = session->suggest;
	one.reads = session->reads;
	one.projects_file = session->projects_file;
	one.projid_file = session->projid_file;
	one.json = session->json;
	one.at = session->at;
	one.cache = top->cache;
	one.keeps_error = session->keeps_error;
	/* In a table for people some names are left out. */
	one.style.format = session->style.format;
	if (!first) {
		writer_start_text(&nothing, &discarded);
		one.error = one.messages = &nothing;
		fsq_cache_check(top->cache);
	}
	texts_free(&top->texts);
	top->texts = (struct texts){ 0 };
	top->count = 0;
	read_rows(top, &one);
	/* Do not free them: they belong to the other session and to the cache. */
	one.at = (struct word_list){ 0 };
	if (first) {
		session->first_error = one.first_error;
		one.first_error = (struct text){ 0 };
	}
	session_end(&one);
	free(discarded.bytes);
	if (first && one.status)
		session->status = one.status;
	else if (one.no_memory)
		session_no_memory(session);
	measure(top);
	/* Continue without a filesystem that fails. The exit status reports it. */
	return session->status == 0 || (session->status == session_exit_code(FSQ_E_FAILED) &&
					top->count > 0 && !session->no_memory);
}

/* --- showing --- */

/* The order of compare_rows(), which gets no argument. Filesystems always come first. */
static const struct table_style *sorted_by;

static int compare_rows(const void *one, const void *other)
{
	const struct top_row *a = one, *b = other;
	int order = (a->kind != TOP_FILESYSTEM) - (b->kind != TOP_FILESYSTEM);

	for (size_t i = 0; i < sorted_by->sort_count && order == 0; i++)
		order = field_compare(sorted_by->sort[i].field, a, b,
				      sorted_by->sort[i].descending);
	return order ? order : growth_compare(&a->use, &b->use);
}

static void sort_rows(struct top *top)
{
	sorted_by = &top->order;
	array_sort(top->rows, top->count, sizeof(*top->rows), compare_rows);
}

static size_t count_filesystems(const struct top *top)
{
	size_t count = 0;

	while (count < top->count && top->rows[count].kind == TOP_FILESYSTEM)
		count++;
	return count;
}

static void print_rows(struct top *top, size_t first, size_t most)
{
	struct session *session = top->session;

	tables_begin(session, "top");
	if (options_type(&top->options->types) != FSQ_PROJECT)
		session->table.type = &user_top_rows;
	for (size_t i = first; i < top->count && i - first < most; i++)
		tables_row(session, &top->rows[i]);
	tables_end(session);
}

static void print_lines(struct top *top)
{
	struct table_style *style = &top->session->style;
	uint64_t rows = top->options->rows;

	sort_rows(top);
	print_rows(top, 0, rows ? count_filesystems(top) + rows : top->count);
	session_flush(top->session);
	style->no_headings = true;
}

/* --- the screen --- */

static const struct {
	char key;
	const char *sort;
} sorts[] = {
	{ 'g', "-GROWTH,-USED" }, { 'm', "-GROWTH5M,-USED" }, { 'u', "-USED" },
	{ 'p', "-USE%,-USED" },	  { 'f', "FULLIN,-USED" },    { 'n', "PATH,NAME" },
};

/* @return  the index of the chosen row, or else of the first project */
static size_t find_chosen(const struct top *top)
{
	size_t first = count_filesystems(top);

	for (size_t i = first; i < top->count && top->chosen_id; i++)
		if (top->rows[i].use.id == top->chosen_id &&
		    top->rows[i].use.dev == top->chosen_dev)
			return i;
	return first;
}

static void choose_project(struct top *top, size_t at)
{
	if (at >= top->count || top->rows[at].kind == TOP_FILESYSTEM)
		return;
	top->chosen_id = top->rows[at].use.id;
	top->chosen_dev = top->rows[at].use.dev;
}

static void write_head(const struct top *top, struct writer *w)
{
	char text[64], interval[FIELD_CELL];
	struct tm tm;
	time_t seconds = time(NULL);

	localtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%H:%M:%S", &tm);
	write_format(w, "fsquota top  %s  every %ss  by %s%s\n", text,
		     field_decimal(interval, (double)top->interval / (double)SECOND_NANOSECONDS),
		     top->order.sort_count ? top->order.sort[0].field->column : "ID",
		     top->paused ? "  PAUSED" : "");
}

static const char help_text[] = "g  sort by GROWTH, over 10 seconds\n"
				"m  sort by GROWTH5M, over 5 minutes\n"
				"u  sort by USED\n"
				"p  sort by USE%, of the limit that stops first\n"
				"f  sort by FULLIN: when the limit is reached, if it goes on so\n"
				"n  sort by PATH\n"
				"\n"
				"arrows, j, k  choose a project\n"
				"enter         explain what takes its space\n"
				"space         pause\n"
				"q             quit\n"
				"\n"
				"Press a key.";

/* Draw the screen in one write(2), so that it does not flicker. */
static void draw(struct top *top)
{
	static struct writer frame;
	struct session *session = top->session;
	struct writer *out = session->out;
	size_t most = (size_t)screen_lines() - 3, chosen, line = 0, first = 0;
	char *const *of_screen = top->screen->text;
	char *rest, *end, *text;

	if (top->helps) {
		write_text(out, of_screen[SCREEN_CLEAR]);
		write_text(out, help_text);
		session_flush(session);
		return;
	}
	sort_rows(top);
	chosen = find_chosen(top);
	/* Scroll so that the chosen row is visible. */
	if (chosen >= most && most > 0)
		first = chosen - most + 1;
	top->frame.used = 0;
	writer_start_text(&frame, &top->frame);
	/* The table asks this descriptor for the width of the terminal. */
	frame.fd = out->fd;
	session->out = &frame;
	print_rows(top, first, most);
	session->out = out;
	write_text(out, of_screen[SCREEN_CLEAR]);
	write_head(top, out);
	if (writer_flush(&frame) == 0 && top->frame.bytes) {
		text = top->frame.bytes;
		end = text + top->frame.used;
		for (; text < end && (rest = memchr(text, '\n', (size_t)(end - text)));
		     text = rest + 1, line++) {
			bool is_chosen = line == chosen - first + 1 && of_screen[SCREEN_REVERSE] &&
					 of_screen[SCREEN_PLAIN];

			if (is_chosen)
				write_text(out, of_screen[SCREEN_REVERSE]);
			write_bytes(out, text, (size_t)(rest - text));
			if (is_chosen)
				write_text(out, of_screen[SCREEN_PLAIN]);
			write_char(out, '\n');
		}
	}
	write_text(out, "q quit, space pause, h help, gmupfn sort, arrows, enter explain");
	session_flush(session);
}

static void wait_for_key(struct top *top)
{
	struct pollfd two[] = { { .fd = STDIN_FILENO, .events = POLLIN },
				{ .fd = top->signals, .events = POLLIN } };

	while (poll(two, 2, -1) < 0 && errno == EINTR)
		;
	if (two[0].revents & POLLIN)
		screen_key();
}

/* Run explain for the chosen project. */
static void explain_chosen(struct top *top)
{
	struct session *session = top->session, one = session_new(session->out);
	size_t at = find_chosen(top);
	char command[] = "explain", *words[] = { command, NULL, NULL };
	sigset_t before;

	if (at >= top->count || !top->rows[at].path)
		return;
	words[1] = (char *)top->rows[at].path;
	one.commands = session->commands;
	one.run = session->run;
	one.projects_file = session->projects_file;
	one.projid_file = session->projid_file;
	write_text(session->out, top->screen->text[SCREEN_CLEAR]);
	session_flush(session);
	sigprocmask(SIG_BLOCK, NULL, &before);
	one.run(&one, words);
	sigprocmask(SIG_SETMASK, &before, NULL);
	session_end(&one);
	write_text(session->out, "\nPress a key.");
	session_flush(session);
	wait_for_key(top);
}

static void take_key(struct top *top)
{
	int key = screen_key();
	size_t at = find_chosen(top);

	if (top->helps)
		top->helps = false;
	else if (key == 'q')
		top->ends = true;
	else if (key == 'h' || key == '?')
		top->helps = true;
	else if (key == ' ')
		top->paused = !top->paused;
	else if (key == SCREEN_DOWN || key == 'j')
		choose_project(top, at + 1);
	else if ((key == SCREEN_UP || key == 'k') && at > 0)
		choose_project(top, at - 1);
	else if (key == SCREEN_ENTER)
		explain_chosen(top);
	for (size_t i = 0; i < sizeof(sorts) / sizeof(sorts[0]); i++) {
		if (key != sorts[i].key)
			continue;
		top->order.sort_count = 0;
		table_sort(&top->order, &top_rows, sorts[i].sort);
	}
}

/* --- waiting --- */

/* @return   whether it is time for another look */
static bool wait_on(struct top *top)
{
	struct pollfd two[] = { { .fd = top->signals, .events = POLLIN },
				{ .fd = top->screen ? STDIN_FILENO : -1, .events = POLLIN } };
	int64_t left = top->next - clock_nanoseconds(CLOCK_MONOTONIC);
	struct signalfd_siginfo info;

	if (left <= 0 && !top->paused)
		return true;
	/* poll(2) may return a little early. */
	if (poll(two, 2, top->paused ? -1 : (int)(left / 1000000) + 1) < 0)
		return false;
	if (two[0].revents && read(top->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		top->ends = info.ssi_signo != SIGWINCH;
	if (two[1].revents & (POLLHUP | POLLERR))
		top->ends = true;
	if (two[1].revents & POLLIN)
		take_key(top);
	if (top->screen && !top->ends && (two[0].revents || two[1].revents))
		draw(top);
	return false;
}

/* Set the time of the next look. If this one took long, make the interval longer: see BUSY_PART. */
static void set_next(struct top *top, int64_t began, int64_t used_before)
{
	int64_t used = clock_nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - used_before;
	int64_t asked = (int64_t)top->options->interval * SECOND_NANOSECONDS;

	top->interval = used * BUSY_PART > asked ? used * BUSY_PART : asked;
	top->next = began + top->interval;
	if (top->interval > asked && !top->screen && !top->reported_interval) {
		top->reported_interval = true;
		session_warn(top->session, NULL,
			     "a look takes too long for this interval: the next one comes later");
	}
}

static void run_screen(struct top *top)
{
	uint64_t left = top->options->batch;

	for (bool first = true; !top->ends; first = false) {
		int64_t began = clock_nanoseconds(CLOCK_MONOTONIC),
			used = clock_nanoseconds(CLOCK_PROCESS_CPUTIME_ID);

		if (!take_a_look(top))
			return;
		if (top->screen)
			draw(top);
		else if (!first)
			print_lines(top);
		if (top->session->out->errnum || (!first && left && --left == 0))
			return;
		set_next(top, began, used);
		while (!top->ends && !wait_on(top))
			;
	}
}

static void command_top(struct session *session, const struct invocation *invocation)
{
	const struct top_options *options = invocation->options;
	struct table_style *style = &session->style;
	struct top top = { .session = session, .options = options, .invocation = invocation };
	static struct writer messages;
	struct screen screen;
	struct fsq_error err;

	if (session->batch) {
		session_usage_error(session, "top is no request: it does not end");
		return;
	}
	if (!options_check_type(session, &options->types))
		return;
	top.interval = (int64_t)options->interval * SECOND_NANOSECONDS;
	if (style->sort_count == 0)
		table_sort(style, &top_rows, sorts[0].sort);
	if (options_type(&options->types) != FSQ_PROJECT)
		table_use(&session->table, style, &user_top_rows);
	top.order = *style;
	style->sort_count = 0;
	if (fsq_cache_new(&top.cache, &err)) {
		session_fail(session, &err);
		return;
	}
	if (!options->batch && style->format == TABLE_TEXT)
		screen_wait_for_foreground(session->out);
	top.signals = session_open_signals(session, SIGWINCH);
	if (top.signals < 0)
		goto out;
	if (!options->batch && style->format == TABLE_TEXT && screen_begin(&screen, session->out))
		top.screen = &screen;
	else if (style->format == TABLE_JSON)
		style->format = TABLE_JSON_LINES;
	else if (style->format == TABLE_TEXT)
		style->format = TABLE_RAW;
	if (!top.screen && style->column_count == 0)
		table_choose(style, &top_rows,
			     options_type(&options->types) == FSQ_PROJECT ? LOG_COLUMNS
									  : USER_LOG_COLUMNS);
	/* What is told meanwhile would go with the screen. */
	session->keeps_error = top.screen != NULL;
	run_screen(&top);
	if (top.screen)
		screen_end(&screen, session->out);
	writer_start(&messages, STDERR_FILENO);
	write_all_of(&messages, &session->first_error);
	writer_flush(&messages);
	close(top.signals);
out:
	growth_free(&top.growth);
	texts_free(&top.texts);
	free(top.rows);
	free(top.frame.bytes);
	fsq_cache_free(top.cache);
}

#define FIELD(member) offsetof(struct top_options, member)

static const struct command_option top_options[] = {
	{ 0, "interval", "seconds between looks (1)", .kind = VALUE_TIME, .argument = "SECONDS",
	  .field = FIELD(interval), .positive = true },
	{ 0, "batch", "no screen: print the rows so many times, and end", .kind = VALUE_NUMBER,
	  .argument = "N", .field = FIELD(batch), .positive = true },
	{ 0, "rows", "without a screen: so many projects each time", .kind = VALUE_NUMBER,
	  .argument = "N", .field = FIELD(rows), .positive = true },
	{ 0 },
};

const struct command top_command = {
	.name = "top",
	.group = GROUP_LOOK,
	.summary = "show which projects grow, and when they will be full",
	.synopsis = "[OPTION]... [DIR|PATH]...",
	.help = "Show the projects whose directories are at or below DIR, or all of a filesystem,\n"
		"by how fast they grow, again and again: on a terminal as a screen, else rows.\n"
		"Or the users (-u) or groups (-g) of the filesystems.",
	.example = "top\n"
		   "top --batch 1 --rows 10 /srv",
	.options = (option_tables){ type_options, top_options, table_options, registry_options,
				    help_option, NULL },
	.rows = &top_rows,
	.answers = ANSWER_LINES,
	.operands = { { VALUE_PATH, "PATH", true } },
	.options_size = sizeof(struct top_options),
	.defaults = &(const struct top_options){ .interval = 1 },
	.flags = COMMAND_CONFIG | COMMAND_READS,
	.run = command_top,
};
