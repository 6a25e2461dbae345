/* SPDX-License-Identifier: Apache-2.0 */
#include "main.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "line.h"
#include "shell.h"
#include "command/paths.h"

struct options {
	char **lines; /* -c */
	size_t line_count;
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int usage(const struct session *session)
{
	fprintf(stderr, "Usage: %s [-V] [-x] [-f] [-p prog] [-c cmd]... [-d project]... [path]\n",
		session->program);
	return session->strict ? session_exit_code(FSQ_E_USAGE) : 1;
}

static int version(struct session *session)
{
	write_text(session->out, session->program);
	write_text(session->out, " version ");
	write_text(session->out, generation_version(session->generation));
	write_char(session->out, '\n');
	session_flush(session);
	return session->status;
}

/*
 * Take --strict, the one long option, out of the words; but not where it is the argument of another
 * option. xfs_quota has none, and getopt(3) is to say so of all others.
 * @return   how many words are left
 */
static int take_strict(struct session *session, int argc, char **argv)
{
	const char *variable = getenv("FSQUOTA_STRICT");
	int left = 1;

	session->strict = variable && *variable && strcmp(variable, "0") != 0;
	for (int i = 1; i < argc; i++) {
		const char *before = argv[i - 1];
		size_t length = strlen(before);
		bool argument = i > 1 && before[0] == '-' && before[1] != '-' && length > 1 &&
				strchr("cdDPpt", before[length - 1]);

		if (strcmp(argv[i], "--") == 0 && !argument) {
			memmove(&argv[left], &argv[i], (size_t)(argc - i) * sizeof(*argv));
			left += argc - i;
			break;
		}
		if (strcmp(argv[i], "--strict") == 0 && !argument)
			session->strict = true;
		else
			argv[left++] = argv[i];
	}
	argv[left] = NULL;
	return left;
}

/* @return   -1 to go on, or the exit status */
static int parse(struct session *session, struct options *options, int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "c:d:D:fP:p:t:xV")) != -1) {
		switch (option) {
		case 'c':
			options->lines[options->line_count++] = optarg;
			break;
		case 'd':
			session->only_projects[session->only_project_count++] = optarg;
			break;
		case 'D':
			session->projects_file = optarg;
			break;
		case 'f':
			session->foreign_allowed = true;
			break;
		case 'P':
			session->projid_file = optarg;
			break;
		case 'p':
			session->program = optarg;
			break;
		case 't':
			session->mount_table = optarg;
			break;
		case 'x':
			session->expert = true;
			break;
		case 'V':
			return version(session);
		default:
			return usage(session);
		}
	}
	return -1;
}

/* The table, and the current path: where the first operand lies, or the first entry. */
static void setup_paths(struct session *session, int argc, char **argv)
{
	dev_t dev, first_dev = 0;
	bool first_found = false;

	for (int i = 0; i < argc; i++) {
		bool found = paths_add(session, argv[i], &dev);

		if (i == 0) {
			first_found = found;
			first_dev = dev;
		}
	}
	session->path_given = argc > 0;
	if (argc == 0)
		paths_add_all(session);
	if (first_found)
		session->current_path = paths_find_dev(session, first_dev);
	else if (argc == 0 && session->path_count > 0)
		session->current_path = 0;
	/* Other commands ask for the projects when they need them. */
	if (session->only_project_count > 0)
		paths_load_projects(session);
}

static void run_lines(struct session *session, const struct options *options)
{
	for (size_t i = 0; i < options->line_count && !session->quit; i++) {
		if (i > 0)
			session_flush_terminal(session);
		line_run(session, options->lines[i], true);
	}
	session_flush(session);
}

int xfs_quota_main(int argc, char **argv)
{
	static struct writer standard_output;
	struct session session = {
		.program = base_name(argv[0]),
		.projects_file = FSQ_PROJECTS_FILE,
		.projid_file = FSQ_PROJID_FILE,
		.current_path = -1,
		.home_path = -1,
		.render = &text_renderer,
		.out = &standard_output,
	};
	struct options options = { .lines = calloc((size_t)argc, sizeof(*options.lines)) };
	int status;

	writer_start(&standard_output, STDOUT_FILENO);
	session.only_projects = calloc((size_t)argc, sizeof(*session.only_projects));
	if (!options.lines || !session.only_projects) {
		session_errno(&session, 0, ENOMEM, NULL, "cannot go on");
		status = session.status;
		goto out;
	}
	argc = take_strict(&session, argc, argv);
	if (!generation_choose(&session.generation)) {
		session_usage_error(&session, GENERATION_VARIABLE " is 6.1 or 7.2");
		status = session.status;
		goto out;
	}
	status = parse(&session, &options, argc, argv);
	if (status >= 0)
		goto out;
	setup_paths(&session, argc - optind, argv + optind);
	if (options.line_count > 0)
		run_lines(&session, &options);
	else
		shell(&session);
	status = session.status;
	session_end(&session);
out:
	free(session.only_projects);
	free(options.lines);
	return status;
}
