/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arguments DIRECTORY: call every function of fsquota.h with each pointer NULL, each size wrong and each value
 * outside of its enum, each in a process of its own: none is ended by a signal, and what must not be so is refused.
 * The directory is empty, and on a filesystem with project quota.
 *
 * arguments --functions: print the names of the functions that are called.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "quota/fsquota.h"
#include "../unit/tap.h"

/* What is wrong in a call: its argument number @at; or none, with -1. Set when it is come to: */
static int at, position;
static bool must_fail;

enum kind { NEEDED, OPTIONAL, SIZE, ENUM, ARGUMENT_KINDS };

/* How a size or a value can be wrong. */
static const size_t sizes[] = { 0, 1, SIZE_MAX, 100000 };
static const int values[] = { -1, 99, INT_MAX, INT_MIN };
#define WAYS 4
static int way;

/* @return  whether the argument is the wrong one */
static bool is_wrong(enum kind kind)
{
	/* A pointer is wrong in one way. */
	bool wrong = position++ == at && (kind >= SIZE || way == 0);

	must_fail |= wrong && kind != OPTIONAL;
	return wrong;
}

#define N(pointer) (is_wrong(NEEDED) ? NULL : (pointer))
#define O(pointer) (is_wrong(OPTIONAL) ? NULL : (pointer))
#define S(type) (is_wrong(SIZE) ? sizes[way] : sizeof(type))
#define E(type, value) (is_wrong(ENUM) ? (enum type)values[way] : (value))

static char directory[4096], file[4200];
static struct fsq_error error, *const err = &error;
static struct fsq_assignment *assignment;
static struct fsq_registry registry;
static struct fsq_call_options options;

static const struct fsq_registry *some_registry(void)
{
	registry = (struct fsq_registry){ .size = S(registry),
					  .projects_file = N("lines"),
					  .projid_file = N("names") };
	return O(&registry);
}

static const struct fsq_call_options *some_options(void)
{
	options = (struct fsq_call_options){ .size = S(options) };
	return O(&options);
}

static enum fsq_visit visit_leftover(const struct fsq_leftover *leftover, void *arg)
{
	(void)leftover, (void)arg;
	return FSQ_VISIT_STOP;
}

static enum fsq_visit visit_explained(const struct fsq_explained *explained, void *arg)
{
	(void)explained, (void)arg;
	return FSQ_VISIT_CONTINUE;
}

static enum fsq_visit visit_line(uint32_t id, const char *word, void *arg)
{
	(void)id, (void)word, (void)arg;
	return FSQ_VISIT_CONTINUE;
}

static enum fsq_visit visit_warning(const struct fsq_warning *warning, void *arg)
{
	(void)warning, (void)arg;
	return FSQ_VISIT_CONTINUE;
}

static enum fsq_visit visit_finding(const struct fsq_finding *finding, void *arg)
{
	(void)finding, (void)arg;
	return FSQ_VISIT_CONTINUE;
}

/*
 * Each call returns whether the function refused its arguments; one that cannot says so.
 *
 * FAILS(NAME, CALL)  it returns a negative number to say so; NONE(NAME, CALL): 0, false or NULL; VOID(NAME, CALL)
 * STEPS(NAME)        and a block, which returns it
 */
#define STEPS(name) static bool call_##name(void)
#define FAILS(name, call)          \
	STEPS(name)                \
	{                          \
		return (call) < 0; \
	}
#define NONE(name, call)        \
	STEPS(name)             \
	{                       \
		return !(call); \
	}
#define VOID(name, call)     \
	STEPS(name)          \
	{                    \
		call;        \
		return true; \
	}

static uint64_t number;
static uint32_t id;
static bool flag;
static struct fsq_limits limits, other_limits;
static struct fsq_budget budget;
static struct fsq_usage usage;
static struct fsq_project_names *names;
static struct fsq_assigned *assigned;
static struct fsq_warnings *warnings;
static char text[100];

/* A request for fsq_assign() and fsq_assigned_has() */
static const struct fsq_assign_request *assign_request(void)
{
	static struct fsq_assign_request request;

	request = (struct fsq_assign_request){ .size = S(request),
					       .directory = N(directory),
					       .name = O("arguments"),
					       .dry_run = true,
					       .registry = some_registry(),
					       .options = some_options(),
					       .budgets = N(&budget),
					       .budget_count = 1 };
	return N(&request);
}

FAILS(fsq_assign, fsq_assign(N(&assignment), assign_request(), O(err)))
VOID(fsq_assigned_close, fsq_assigned_close(O(assigned)))
NONE(fsq_assigned_has, fsq_assigned_has(N(assigned), assign_request()))
FAILS(fsq_assigned_open, fsq_assigned_open(N(&assigned), some_registry(), O(err)))
NONE(fsq_assignment_change, fsq_assignment_change(N(assignment)) == FSQ_CREATED)
NONE(fsq_assignment_enforcement, fsq_assignment_enforcement(N(assignment)))
VOID(fsq_assignment_free, fsq_assignment_free(O(assignment)))
NONE(fsq_assignment_id, fsq_assignment_id(N(assignment)))
VOID(fsq_assignment_limits, fsq_assignment_limits(N(assignment), N(&limits), N(&other_limits)))
FAILS(fsq_assignment_rollback, fsq_assignment_rollback(N(assignment), O(err)))

STEPS(fsq_diagnose)
{
	const char *paths[] = { N(directory) };
	const struct fsq_diagnose_request request = { .size = S(request),
						      .paths = N(paths),
						      .path_count = 1,
						      .fstab = O("/etc/fstab"),
						      .registry = some_registry(),
						      .options = some_options() };

	return fsq_diagnose(N(&request), N(visit_finding), O(&number), O(err)) < 0;
}

VOID(fsq_error_text, fsq_error_text(N(err), N(text), sizeof(text)))

STEPS(fsq_explain)
{
	const struct fsq_explain_request request = { .size = S(request),
						     .directory = N(directory),
						     .projects_file = O("/etc/projects"),
						     .options = some_options() };

	return fsq_explain(N(&request), N(visit_explained), O(&number), O(err)) < 0;
}

VOID(fsq_hint_text, fsq_hint_text(E(fsq_hint, FSQ_HINT_AROUND)))
VOID(fsq_limit_blocks_up, fsq_limit_blocks_up(UINT64_MAX))
VOID(fsq_limit_bytes, fsq_limit_bytes(UINT64_MAX))
VOID(fsq_limit_is_none, fsq_limit_is_none(UINT64_MAX))

STEPS(fsq_move)
{
	const struct fsq_move_request request = { .size = S(request),
						  .from = N("/nothing-is-called-so"),
						  .to = N(directory),
						  .dry_run = true,
						  .registry = some_registry(),
						  .options = some_options() };
	struct fsq_moved moved;

	return fsq_move(N(&request), O(&moved), O(err)) < 0;
}

FAILS(fsq_parse_bytes, fsq_parse_bytes(N("1"), N(&number)))
FAILS(fsq_parse_id, fsq_parse_id(N("1"), N(&id)))
FAILS(fsq_parse_positive, fsq_parse_positive(N("1"), N(&number)))
NONE(fsq_project_name_is_valid, fsq_project_name_is_valid(N("name")))
VOID(fsq_project_names_each, fsq_project_names_each(O(names), N(visit_line), O(&number)))
VOID(fsq_project_names_free, fsq_project_names_free(O(names)))
NONE(fsq_project_names_id, fsq_project_names_id(O(names), N("root"), N(&id)))
VOID(fsq_project_names_name, fsq_project_names_name(O(names), 42))
FAILS(fsq_project_names_read, fsq_project_names_read(N(&names), N("names"), O(err)))

FAILS(fsq_projects_each, fsq_projects_each(N("lines"), N(visit_line), O(&number), O(err)))

STEPS(fsq_prune)
{
	const char *paths[] = { N(directory) };
	const struct fsq_prune_request request = { .size = S(request),
						   .paths = N(paths),
						   .path_count = 1,
						   .range = { 1, 2 },
						   .dry_run = true,
						   .registry = some_registry(),
						   .options = some_options() };

	return fsq_prune(N(&request), N(visit_leftover), O(&number), O(err)) < 0;
}

STEPS(fsq_release)
{
	const struct fsq_release_request request = { .size = S(request),
						     .directory = N(directory),
						     .at = O(NULL),
						     .dry_run = true,
						     .registry = some_registry(),
						     .options = some_options() };
	struct fsq_released released;

	return fsq_release(N(&request), O(&released), O(err)) < 0;
}

STEPS(fsq_resize)
{
	const struct fsq_resize_request request = { .size = S(request),
						    .directory = N(directory),
						    .at = O(NULL),
						    .bytes = 1 << 20,
						    .dry_run = true,
						    .registry = some_registry(),
						    .options = some_options(),
						    .budgets = N(&budget),
						    .budget_count = 1 };
	struct fsq_resized resized;

	return fsq_resize(N(&request), O(&resized), O(err)) < 0;
}

VOID(fsq_usage_clear, fsq_usage_clear(O(&usage)))

STEPS(fsq_usage_get)
{
	const struct fsq_usage_request request = { .size = S(request),
						   .path = N(directory),
						   .projects_file = O("/etc/projects"),
						   .walk = true,
						   .options = some_options() };

	return fsq_usage_get(N(&usage), N(&request), O(err)) < 0;
}

NONE(fsq_version, fsq_version(O(&(unsigned int){ 0 })))
VOID(fsq_warnings_close, fsq_warnings_close(O(warnings)))
FAILS(fsq_warnings_fd, fsq_warnings_fd(N(warnings)))
FAILS(fsq_warnings_open, fsq_warnings_open(N(&warnings), O(err)))
FAILS(fsq_warnings_read,
      fsq_warnings_read(N(warnings), N(visit_warning), O(&number), N(&flag), O(err)))

static const struct {
	const char *name;
	bool (*call)(void);
} functions[] = {
#define FUNCTION(name)             \
	{                          \
#name, call_##name \
	}
	FUNCTION(fsq_assign),
	FUNCTION(fsq_assigned_close),
	FUNCTION(fsq_assigned_has),
	FUNCTION(fsq_assigned_open),
	FUNCTION(fsq_assignment_change),
	FUNCTION(fsq_assignment_enforcement),
	FUNCTION(fsq_assignment_free),
	FUNCTION(fsq_assignment_id),
	FUNCTION(fsq_assignment_limits),
	FUNCTION(fsq_assignment_rollback),
	FUNCTION(fsq_diagnose),
	FUNCTION(fsq_error_text),
	FUNCTION(fsq_explain),
	FUNCTION(fsq_hint_text),
	FUNCTION(fsq_limit_blocks_up),
	FUNCTION(fsq_limit_bytes),
	FUNCTION(fsq_limit_is_none),
	FUNCTION(fsq_move),
	FUNCTION(fsq_parse_bytes),
	FUNCTION(fsq_parse_id),
	FUNCTION(fsq_parse_positive),
	FUNCTION(fsq_project_name_is_valid),
	FUNCTION(fsq_project_names_each),
	FUNCTION(fsq_project_names_free),
	FUNCTION(fsq_project_names_id),
	FUNCTION(fsq_project_names_name),
	FUNCTION(fsq_project_names_read),
	FUNCTION(fsq_projects_each),
	FUNCTION(fsq_prune),
	FUNCTION(fsq_release),
	FUNCTION(fsq_resize),
	FUNCTION(fsq_usage_clear),
	FUNCTION(fsq_usage_get),
	FUNCTION(fsq_version),
	FUNCTION(fsq_warnings_close),
	FUNCTION(fsq_warnings_fd),
	FUNCTION(fsq_warnings_open),
	FUNCTION(fsq_warnings_read),
};

/* How the call of a process ends, but for signals. */
enum end { FINE = 10, NOT_REFUSED, NO_SUCH_ARGUMENT };

/* @return  its end, or 128 and the signal */
static int call_once(bool (*call)(void))
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		bool refused;

		alarm(60);
		position = 0;
		refused = call();
		_exit(position <= at	      ? NO_SUCH_ARGUMENT
		      : must_fail && !refused ? NOT_REFUSED
					      : FINE);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Call it with one argument wrong after the other, in each way. */
static void call_all(const char *name, bool (*call)(void))
{
	char what[200] = "";
	int end = FINE;

	for (at = -1; end != NO_SUCH_ARGUMENT && !what[0]; at++) {
		for (way = 0; way < WAYS && end != NO_SUCH_ARGUMENT && !what[0]; way++) {
			end = call_once(call);
			if (end != FINE && end != NO_SUCH_ARGUMENT)
				snprintf(what, sizeof(what), ": argument %d, way %d: %s %d", at,
					 way, end == NOT_REFUSED ? "is not refused" : "ends with",
					 end);
		}
	}
	snprintf(text, sizeof(text), "%.50s%.49s", name, what);
	ok(!what[0], text);
}

static int prepare(void)
{
	snprintf(file, sizeof(file), "%s/file", directory);
	fclose(fopen(file, "w"));
	fclose(fopen("lines", "w"));
	fclose(fopen("names", "w"));
	budget.percent = 100;
	at = -1;
	return !freopen(directory, "r", stdin) || fsq_project_names_read(&names, "names", err) ||
	       fsq_assigned_open(&assigned, NULL, err) || fsq_warnings_open(&warnings, err) ||
	       fsq_assign(&assignment, assign_request(), err);
}

int main(int argc, char **argv)
{
	size_t count = sizeof(functions) / sizeof(*functions);
	bool names_only = argc == 2 && strcmp(argv[1], "--functions") == 0;

	if (argc != 2 || (!names_only && (chdir(argv[1]) || !getcwd(directory, sizeof(directory)))))
		return 2;
	if (!names_only && prepare()) {
		fprintf(stderr, "%s: %s\n", err->path, err->message);
		return 2;
	}
	for (size_t i = 0; i < count; i++) {
		if (names_only)
			puts(functions[i].name);
		else
			call_all(functions[i].name, functions[i].call);
	}
	return names_only ? 0 : tap_end();
}
