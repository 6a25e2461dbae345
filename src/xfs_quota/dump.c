/* SPDX-License-Identifier: Apache-2.0 */
/* dump and restore: limits as text. */
#include "command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/read_file.h"

#define DEVICE_PREFIX "fs = "

struct dump {
	struct state *state;
	const char *device;
};

static void print_limits(const struct fsq_dquot *dquot, void *arg)
{
	const struct style forms = { .form = { true, true, true } };
	const struct dump *dump = arg;
	struct writer *out = dump->state->out;
	bool has_realtime = dquot->form[FSQ_REALTIME].soft || dquot->form[FSQ_REALTIME].hard;

	if (!xq_has_limits(&forms, dquot))
		return;
	write_format(out, DEVICE_PREFIX "%s\n%-10u", dump->device, dquot->id);
	for (int form = 0; form < (has_realtime ? FSQ_FORMS : FSQ_REALTIME); form++)
		write_format(out, " %7llu %7llu", (unsigned long long)dquot->form[form].soft,
			     (unsigned long long)dquot->form[form].hard);
	write_char(out, '\n');
}

static void run_dump(struct state *state, const struct call *call)
{
	const struct id_range range = { xq_number(call->options['L']),
					xq_number(call->options['U']), false };
	const struct path *path = &state->paths[state->current];
	struct dump dump = { state, path->info->device };

	xq_each_record(state, path->fs, call->type, &range, print_limits, &dump);
}

const struct command xq_dump = {
	.name = "dump",
	.letters = "ugpL:U:f:",
	.max = -1,
	.flags = COMMAND_FOREIGN | COMMAND_EXPERT | COMMAND_OUTPUT | COMMAND_CURRENT |
		 COMMAND_ONE_TYPE | COMMAND_NO_OPERANDS,
	.synopsis = "[-g|-p|-u] [-LU] [-f file]",
	.summary = "dump quota information for backup utilities",
	.help = "Print the limits of every user (-u, default), group (-g) or project (-p) that\n"
		"has any, in a form that restore reads.\n"
		"\n" HELP_TYPES "  -L ID    lowest ID\n"
		"  -U ID    highest ID\n" HELP_FILE,
	.run = run_dump,
};

/*
 * Set the limits of a line "ID BSOFT BHARD ISOFT IHARD [RTBSOFT RTBHARD]"; skip any other line. xfs_quota dumps IDs
 * from 2^31 on as negative numbers, which sscanf(3) converts back.
 */
static void restore_line(struct state *state, struct fsq_filesystem *fs, enum fsq_type type,
			 const char *line)
{
	unsigned long long numbers[2 * FSQ_FORMS];
	struct fsq_limits limits = { 0 };
	uint32_t id;
	int rc, count = sscanf(line, "%u %llu %llu %llu %llu %llu %llu", &id, &numbers[0],
			       &numbers[1], &numbers[2], &numbers[3], &numbers[4], &numbers[5]);

	if (count != 5 && count != 7)
		return;
	for (int form = 0; form < count / 2; form++) {
		limits.mask |= FSQ_SOFT(form) | FSQ_HARD(form);
		limits.soft[form] = numbers[2 * form];
		limits.hard[form] = numbers[2 * form + 1];
	}
	rc = fsq_quota_set_limits(fs, type, id, &limits);
	if (rc)
		xq_errno(state, 0, -rc, "cannot set limits");
}

/* Set limits on the device of the last "fs = DEVICE" line. */
static void restore_lines(struct state *state, enum fsq_type type, FILE *input)
{
	struct fsq_filesystem *fs = NULL;
	struct fsq_error err;
	char *line = NULL;
	size_t size = 0;
	ssize_t length;
	int rc = fsq_filesystem_of_device(&fs, "", &err);

	while (rc == 0 && (length = fsq_read_line(input, &line, &size)) >= 0) {
		if (strncmp(line, DEVICE_PREFIX, strlen(DEVICE_PREFIX)) == 0) {
			fsq_filesystem_close(fs);
			fs = NULL;
			rc = fsq_filesystem_of_device(&fs, line + strlen(DEVICE_PREFIX), &err);
		} else {
			restore_line(state, fs, type, line);
		}
	}
	if (rc)
		xq_error(state, 0, err.kind, err.errnum, "%s", err.message);
	else if (length != -ENODATA)
		xq_errno(state, XQ_SILENT, (int)-length, "cannot read the dump");
	fsq_filesystem_close(fs);
	free(line);
}

static void run_restore(struct state *state, const struct call *call)
{
	const char *file = call->options['f'];
	FILE *input = stdin;

	if (file)
		input = fopen(file, "re");
	if (!input) {
		xq_errno(state, 0, errno, "fopen on %s failed", file);
		return;
	}
	restore_lines(state, call->type, input);
	if (file)
		fclose(input);
}

const struct command xq_restore = {
	.name = "restore",
	.letters = "ugpf:",
	.max = -1,
	.flags = COMMAND_FOREIGN | COMMAND_EXPERT | COMMAND_ONE_TYPE,
	.synopsis = "[-g|-p|-u] [-f file]",
	.summary = "restore quota limits from a backup file",
	.run = run_restore,
};
