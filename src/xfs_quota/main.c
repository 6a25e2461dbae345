/* SPDX-License-Identifier: Apache-2.0 */
#include "main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

#define GENERATION_VARIABLE "FSQUOTA_XFS_QUOTA_VERSION"

/* Use the version in the environment, or the default of configure. @return  false: it is neither 6.1 nor 7.2 */
static bool choose_generation(enum generation *generation)
{
	const char *word = getenv(GENERATION_VARIABLE);

	if (!word || !*word)
		word = XFS_QUOTA_VERSION;
	*generation = strcmp(word, "6.1") == 0 ? XFS_QUOTA_6_1 : XFS_QUOTA_7_2;
	return *generation == XFS_QUOTA_6_1 || strcmp(word, "7.2") == 0;
}

/*
 * Remove --strict from @argv, unless it is the argument of another option. It is our only long option;
 * xfs_quota has none, so getopt(3) must report any other.
 * @return   how many words are left
 */
static int take_strict(struct state *state, int argc, char **argv)
{
	const char *variable = getenv("FSQUOTA_STRICT");
	int left = 1;

	state->strict = variable && *variable && strcmp(variable, "0") != 0;
	for (int i = 1; i < argc; i++) {
		const char *before = argv[i - 1];
		size_t length = strlen(before);
		bool is_argument = i > 1 && before[0] == '-' && before[1] != '-' && length > 1 &&
				   strchr("cdDPpt", before[length - 1]);

		if (strcmp(argv[i], "--") == 0 && !is_argument) {
			memmove(&argv[left], &argv[i], (size_t)(argc - i) * sizeof(*argv));
			left += argc - i;
			break;
		}
		if (strcmp(argv[i], "--strict") == 0 && !is_argument)
			state->strict = true;
		else
			argv[left++] = argv[i];
	}
	argv[left] = NULL;
	return left;
}

/* @return   whether to go on; otherwise state->status is set */
static bool parse_options(struct state *state, char **lines, size_t *line_count, int argc,
			  char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "c:d:D:fP:p:t:xV")) != -1) {
		switch (option) {
		case 'c':
			lines[(*line_count)++] = optarg;
			break;
		case 'd':
			state->only_projects[state->only_project_count++] = optarg;
			break;
		case 'D':
			state->projects_file = optarg;
			break;
		case 'f':
			state->foreign_allowed = true;
			break;
		case 'P':
			state->projid_file = optarg;
			break;
		case 'p':
			state->program = optarg;
			break;
		case 't':
			state->mount_table = optarg;
			break;
		case 'x':
			state->expert = true;
			break;
		case 'V':
			write_format(state->out, "%s version %s\n", state->program,
				     state->generation == XFS_QUOTA_6_1 ? "6.1.0" : "7.2.0");
			xq_flush(state);
			return false;
		default:
			fprintf(stderr,
				"Usage: %s [-V] [-x] [-f] [-p prog] [-c cmd]... [-d project]... "
				"[path]\n",
				state->program);
			state->status = state->strict ? 2 : 1;
			return false;
		}
	}
	return true;
}

/* Fill the table. The current path is the filesystem of the first operand, or the first of all. */
static void add_paths(struct state *state, int argc, char **argv)
{
	state->path_given = argc > 0;
	for (int i = 0; i < argc; i++) {
		int index = xq_add_path(state, argv[i]);

		if (i == 0)
			state->current = index;
	}
	if (argc == 0) {
		xq_add_all_paths(state);
		state->current = state->path_count > 0 ? 0 : -1;
	}
	/* Without -d, commands load the projects when they need them. */
	if (state->only_project_count > 0)
		xq_load_projects(state);
}

int xfs_quota_main(int argc, char **argv)
{
	static struct writer standard_output;
	const char *slash = strrchr(argv[0], '/');
	char **lines = calloc((size_t)argc, sizeof(*lines)); /* -c */
	size_t line_count = 0;
	struct state state = {
		.program = slash ? slash + 1 : argv[0],
		.projects_file = FSQ_PROJECTS_FILE,
		.projid_file = FSQ_PROJID_FILE,
		.only_projects = calloc((size_t)argc, sizeof(*state.only_projects)),
		.current = -1,
		.home = -1,
		.out = &standard_output,
	};

	writer_start(&standard_output, STDOUT_FILENO);
	if (!lines || !state.only_projects) {
		xq_out_of_memory(&state);
		goto out;
	}
	argc = take_strict(&state, argc, argv);
	if (!choose_generation(&state.generation)) {
		xq_usage_error(&state, GENERATION_VARIABLE " is 6.1 or 7.2");
		goto out;
	}
	if (!parse_options(&state, lines, &line_count, argc, argv))
		goto out;
	add_paths(&state, argc - optind, argv + optind);
	for (size_t i = 0; i < line_count && !state.quit; i++) {
		if (i > 0)
			xq_flush_terminal(&state);
		xq_run_line(&state, lines[i], true);
	}
	if (line_count > 0)
		xq_flush(&state);
	else
		xq_shell(&state);
out:
	xq_free_paths(&state);
	fsq_project_names_free(state.names);
	free(state.only_projects);
	free(lines);
	return state.status;
}
