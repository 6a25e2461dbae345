/* SPDX-License-Identifier: Apache-2.0 */
/* Commands from standard input, an answer for each: see fsquota-batch(8). */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "native/cli/options.h"
#include "quota/mounts/lookup.h"
#include "quota/usage/usage.h"
#include "shared/array.h"
#include "shared/json_read.h"
#include "table/json.h"

/* The longest request; the buffer is larger. */
#define REQUEST_MAX ((size_t)1024 * 1024)
#define INPUT_SIZE (REQUEST_MAX + 64 * 1024)
/* Keep at most this much memory for the next answer. */
#define ANSWER_KEPT ((size_t)1024 * 1024)

/* --- the words of a request --- */

#define ARRAY "[\"usage\", \"/srv/two words\"]"

static const char out_of_memory[] = "out of memory";

static bool add_word(struct request *request, char *word)
{
	if (array_add(&request->words, &request->count, &request->capacity, &word, sizeof(word)))
		return true;
	request->wrong = out_of_memory;
	return false;
}

/* Words between blanks, none of which can need quoting. */
static void split_words(struct request *request, char *line)
{
	char *rest = NULL, *word = NULL;

	if (line[strcspn(line, "'\"\\")])
		request->wrong = "a request with quotes is a JSON array of words, such as " ARRAY;
	else
		word = strtok_r(line, " \t\r", &rest);
	while (word && add_word(request, word))
		word = strtok_r(NULL, " \t\r", &rest);
}

static bool add_string(const struct json_value *value, void *request)
{
	/* An element of the array, and of no other in it. */
	return value->depth == 1 && !value->keys[0] && value->is_string &&
	       add_word(request, value->text);
}

const char *request_parse(struct request *request, char *line, size_t length)
{
	request->count = 0;
	request->wrong = NULL;
	if (memchr(line, '\0', length))
		return "there is a NUL in it";
	line += strspn(line, " \t\r\n");
	if (*line != '[')
		split_words(request, line);
	else if (!json_read(line, add_string, request) && !request->wrong)
		request->wrong = "this is no array of strings in JSON";
	if (!request->wrong && add_word(request, NULL))
		request->count--;
	return request->wrong;
}

/* --- reading --- */

struct batch_options {
	bool read_only;
};

struct batch {
	struct session *session; /* of the batch itself */
	int input;
	char *buffer;	   /* with room for a NUL behind INPUT_SIZE */
	size_t begin, end; /* of what was read and not answered */
	bool at_end;
	bool read_only;
	bool asks; /* SIGINT ends requests, and not the batch */
	sigset_t blocked;
	uint64_t number;
	struct request request;
	struct fsq_cache *cache;
	struct fsq_assigned *assigned;
	struct config_files config;
	struct text output, error, messages; /* of a request */
};

static void look_again(struct batch *batch)
{
	fsq_cache_check(batch->cache);
	batch->config.checked = false;
}

/* Flush pending answers before blocking in read(). */
static void read_more(struct batch *batch)
{
	ssize_t got;

	session_flush(batch->session);
	memmove(batch->buffer, batch->buffer + batch->begin, batch->end - batch->begin);
	batch->end -= batch->begin;
	batch->begin = 0;
	do {
		got = read(batch->input, batch->buffer + batch->end, INPUT_SIZE - batch->end);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		session_errno(batch->session, 0, errno, NULL, "cannot read the requests");
	batch->at_end = got <= 0;
	batch->end += got > 0 ? (size_t)got : 0;
	/*
	 * Requests that arrive together see one state of the system: a client that sends them before the
	 * first answer cannot tell which of them came before another process' change.
	 */
	look_again(batch);
}

enum line { LINE, LINE_TOO_LONG, LINE_NONE };

/* @line     set to the next line, which ends with a NUL in place of its newline */
static enum line next_line(struct batch *batch, char **line, size_t *length)
{
	bool too_long = false;
	size_t looked = 0;

	for (;;) {
		char *text = batch->buffer + batch->begin;
		size_t have = batch->end - batch->begin;
		char *newline = memchr(text + looked, '\n', have - looked);

		if (newline || batch->at_end) {
			if (!newline && have == 0 && !too_long)
				return LINE_NONE;
			*line = text;
			*length = newline ? (size_t)(newline - text) : have;
			text[*length] = '\0';
			batch->begin += *length + (newline != NULL);
			return too_long || *length > REQUEST_MAX ? LINE_TOO_LONG : LINE;
		}
		looked = have;
		if (too_long || have > REQUEST_MAX) {
			too_long = true;
			batch->begin = batch->end;
			looked = 0;
		}
		read_more(batch);
	}
}

/* --- answering --- */

/* Forget earlier signals: only one that comes from now on ends the request. */
static void before_waiting(void *arg)
{
	const struct timespec now = { 0 };
	struct batch *batch = arg;
	sigset_t interrupt;

	session_flush(batch->session);
	if (!batch->asks)
		return;
	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	while (sigtimedwait(&interrupt, NULL, &now) > 0)
		;
}

static void keep_little(struct text *text)
{
	text->used = 0;
	if (text->capacity <= ANSWER_KEPT)
		return;
	free(text->bytes);
	*text = (struct text){ 0 };
}

/* The answer if there was no memory to keep the error itself. */
static const char no_memory[] =
	",\"error\":{\"code\":\"failed\",\"errno\":\"ENOMEM\",\"path\":null,"
	"\"message\":\"cannot go on\",\"cause\":null,\"hint\":null}";

static void print_answer(struct batch *batch, const struct session *session)
{
	struct writer *w = batch->session->out;
	const struct text *output = &batch->output;
	struct json json;

	json_start(&json, w);
	json_open(&json, NULL, '{');
	json_number(&json, "request", batch->number);
	json_number(&json, "exit", (uint64_t)session->status);
	if (batch->error.used > 0)
		write_all_of(w, &batch->error);
	else if (session->no_memory)
		write_text(w, no_memory);
	if (batch->messages.used > 0) {
		json_open(&json, "messages", '[');
		/* Skip the leading comma. */
		write_bytes(w, batch->messages.bytes + 1, batch->messages.used - 1);
		json_close(&json, ']');
	}
	/* Rows are members already; other output becomes a string. */
	if (output->used > 0 && output->bytes[0] == ',')
		write_all_of(w, output);
	else if (output->used > 0)
		json_text(&json, "output", output->bytes, output->used);
	json_close(&json, '}');
	json_end(&json);
}

/* A path with a blank came as two words. @return  as of suggest_for_path() */
static char *suggest_array(struct session *session, const char *path, bool exists)
{
	const struct batch *batch = session->batch;
	char joined[PATH_MAX];
	struct stat st;
	size_t used = 0;

	for (char **word = batch->request.words; *word && !exists; word++) {
		const size_t room = sizeof(joined) - used;
		const bool is_path = strcmp(*word, path) == 0;
		int length;

		if (!used && !is_path)
			continue;
		length = snprintf(joined + used, room, used ? " %s" : "%s", *word);
		if ((size_t)length >= room)
			break;
		used += (size_t)length;
		if (!is_path && fsq_lookup_stat(NULL, joined, 0, &st, NULL) == 0)
			return strdup("a path with a blank takes a JSON array: " ARRAY);
	}
	return batch->session->suggest(session, path, exists);
}

static void answer_line(struct batch *batch, enum line kind, char *line, size_t length)
{
	static struct writer output, error, messages;
	struct session session = session_new(&output);
	const char *wrong = kind == LINE_TOO_LONG ? "the request is longer than 1 MiB"
						  : request_parse(&batch->request, line, length);

	batch->number++;
	writer_start_text(&output, &batch->output);
	writer_start_text(&error, &batch->error);
	writer_start_text(&messages, &batch->messages);
	output.in_answer = true;
	session.commands = batch->session->commands;
	session.run = batch->session->run;
	session.suggest = suggest_array;
	session.error = &error;
	session.messages = &messages;
	session.json = true;
	session.style.format = TABLE_JSON;
	session.batch = batch;
	session.read_only = batch->read_only;
	session.before_waiting = before_waiting;
	session.cache = batch->cache;
	session.assigned = batch->assigned;
	session.config = &batch->config;
	if (wrong == out_of_memory)
		session_no_memory(&session);
	else if (wrong)
		session_usage_error(&session, "%s", wrong);
	else
		session.run(&session, batch->request.words);
	batch->assigned = session.assigned;
	session.assigned = NULL;
	session_end(&session);
	print_answer(batch, &session);
	keep_little(&batch->output);
	keep_little(&batch->error);
	keep_little(&batch->messages);
	/* A command that changes something invalidates the cache, and leaves signals blocked. */
	if (session.has_waited) {
		look_again(batch);
		sigprocmask(SIG_SETMASK, &batch->blocked, NULL);
	}
}

/* --- the whole --- */

/* @return   0 or a negative errno */
static int begin_batch(struct batch *batch)
{
	struct fsq_error err;
	sigset_t interrupt;
	int nothing;

	batch->buffer = malloc(INPUT_SIZE + 1);
	if (!batch->buffer)
		return -ENOMEM;
	if (fsq_cache_new(&batch->cache, &err))
		return -err.errnum;
	/* Commands that read standard input must not read requests. */
	batch->input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (batch->input < 0 || nothing < 0 || dup2(nothing, STDIN_FILENO) < 0)
		return -errno;
	close(nothing);
	/* On a terminal SIGINT ends the batch. */
	batch->asks = !isatty(batch->input);
	sigemptyset(&interrupt);
	if (batch->asks) {
		/* A shell starts background processes with SIGINT ignored. */
		signal(SIGINT, SIG_DFL);
		sigaddset(&interrupt, SIGINT);
	}
	sigprocmask(SIG_BLOCK, &interrupt, NULL);
	sigprocmask(SIG_BLOCK, NULL, &batch->blocked);
	return 0;
}

static void command_batch(struct session *session, const struct invocation *invocation)
{
	const struct batch_options *options = invocation->options;
	struct batch batch = { .session = session, .input = -1, .read_only = options->read_only };
	enum line kind;
	size_t length;
	char *line;
	int rc;

	if (session->batch) {
		session_usage_error(session, "batch is no request of its own");
		return;
	}
	session_occupy_streams();
	if (invocation->operand_count > 0) {
		session_usage_error(session, "requests are lines of standard input, not \"%s\"",
				    invocation->operands[0]);
		return;
	}
	session_tell_of_terminal(session, "requests, one a line,");
	rc = begin_batch(&batch);
	if (rc)
		session_errno(session, 0, -rc, NULL, "cannot begin");
	while (rc == 0 && !session->out->errnum &&
	       (kind = next_line(&batch, &line, &length)) != LINE_NONE)
		answer_line(&batch, kind, line, length);
	if (batch.input >= 0)
		close(batch.input);
	free(batch.buffer);
	free(batch.output.bytes);
	free(batch.error.bytes);
	free(batch.messages.bytes);
	free(batch.request.words);
	config_forget(&batch.config);
	fsq_cache_free(batch.cache);
	fsq_assigned_close(batch.assigned);
}

static const struct command_option batch_options[] = {
	{ 0, "read-only", "refuse what changes something or names a file",
	  .field = offsetof(struct batch_options, read_only) },
	{ 0 },
};

const struct command batch_command = {
	.name = "batch",
	.group = GROUP_PROGRAMS,
	.summary = "answer commands from standard input, one a line",
	.synopsis = "[--read-only] < REQUESTS",
	.help = "Read a command a line, as a JSON array of its words, or as words between blanks\n"
		"without quotes, and answer each with a line of JSON. One process\n"
		"does the work of thousands. With --read-only, sudoers(5) can allow it to others.",
	.example = "batch <<<'usage /srv/web'\n"
		   "batch --read-only <requests >answers.jsonl",
	.options = (option_tables){ batch_options, help_option, NULL },
	.options_size = sizeof(struct batch_options),
	.run = command_batch,
};
