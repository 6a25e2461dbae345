/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"
#include "watch.h"

#include <errno.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"

#define INTERVAL_SECONDS 10

struct watch_options {
	struct quota_options types; /* of which only the types are used */
	double over;
	uint64_t within, interval, count;
	bool initial;
	const char *file;
	struct word_list arguments;
};

/* --- options --- */

static bool take_over(struct session *session, const struct command_option *option, void *to,
		      const char *text)
{
	struct watch_options *options = to;

	(void)option;
	/* Every project is at 0. */
	return tables_parse_over(session, text, DBL_MIN, &options->over);
}

static void clear_options(void *to)
{
	free(((struct watch_options *)to)->arguments.words);
}

/* --exec is looked at before something happens. */
static bool take_words(struct watch *watch, const struct watch_options *options)
{
	struct session *session = watch->session;
	struct stat st;

	if (!options->file && options->arguments.count)
		return session_usage_error(session, "--exec-arg is for --exec");
	if (!options->file)
		return true;
	if (!strchr(options->file, '/'))
		return session_usage_error(session, "--exec is the path of a program, not \"%s\"",
					   options->file);
	if (stat(options->file, &st) || access(options->file, X_OK))
		return session_errno(session, 0, errno, options->file, "%s: cannot run it",
				     options->file);
	if (!S_ISREG(st.st_mode))
		return session_usage_error(session, "--exec is the path of a program: %s is none",
					   options->file);
	watch->run.words = calloc(options->arguments.count + 2, sizeof(char *));
	if (!watch->run.words)
		return session_no_memory(session);
	watch->run.words[0] = (char *)options->file;
	for (size_t i = 0; i < options->arguments.count; i++)
		watch->run.words[i + 1] = (char *)options->arguments.words[i];
	watch->runs = true;
	return true;
}

/* --- the command --- */

static void command_watch(struct session *session, const struct invocation *invocation)
{
	const struct watch_options *options = invocation->options;
	bool type[FSQ_TYPES];
	struct watch watch = {
		.session = session,
		.places = { .session = session, .wanted = type },
		.ids = { .over = options->over, .within = options->within },
		.run = { .session = session, .fields = watch_rows.fields },
		.interval = options->interval,
		.initial = options->initial,
		.counts = options->count > 0,
		.left = options->count,
	};
	struct fsq_error err;

	if (session->batch) {
		session_usage_error(session, "watch is no request: it does not end");
		return;
	}
	memcpy(type, options->types.type, sizeof(type));
	if (options_type_count(&options->types) == 0)
		type[FSQ_PROJECT] = true;
	if (fsq_cache_new(&watch.cache, &err)) {
		session_fail(session, &err);
		return;
	}
	session->cache = watch.cache;
	/* Each event is printed when it happens. */
	session->style.sort_count = 0;
	if (session->style.format == TABLE_JSON)
		session->style.format = TABLE_JSON_LINES;
	else if (session->style.format == TABLE_TEXT && session->style.column_count)
		session->style.format = TABLE_RAW;
	watch.table = tables_begin(session, "watch");
	if (take_words(&watch, options))
		watch_wait(&watch, invocation->operands, (size_t)invocation->operand_count);
	watch_ids_forget(&watch.ids, NULL);
	watch_places_free(&watch.places);
	watch_run_free(&watch.run);
	/* The names were the cache's. */
	fsq_cache_free(watch.cache);
	session->cache = NULL;
	session->names = NULL;
	session->names_read = false;
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
	.summary = "tell when limits are reached, as it happens",
	.synopsis = "[OPTION]... [PATH]...",
	.help = "Print a line whenever a user, group or project (default) reaches a limit on the\n"
		"filesystem of a PATH, or of all, and when it is below again.",
	.options = (option_tables){ type_options, watch_options, registry_options, table_options,
				    help_option, NULL },
	.rows = &watch_rows,
	.answers = ANSWER_LINES,
	.operands = { { VALUE_PATH, "PATH", true } },
	.options_size = sizeof(struct watch_options),
	.defaults = &(const struct watch_options){ .interval = INTERVAL_SECONDS },
	.clear_options = clear_options,
	.flags = COMMAND_CONFIG,
	.run = command_watch,
};
