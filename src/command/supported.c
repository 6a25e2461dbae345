/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "command.h"
#include "options.h"
#include "quota/directory.h"
#include "quota/mounts.h"

struct supported_options {
	bool quiet;
};

/* To put a quota on a directory takes the right to read quotas of projects. */
static int check(struct fsq_directory *directory, bool *enforced, struct fsq_error *err)
{
	struct fsq_dquot dquot;
	int rc = fsq_directory_read_project(directory, err);

	if (rc == 0)
		rc = fsq_directory_check(directory, enforced, err);
	if (rc)
		return rc;
	rc = -fsq_kernel_get(&directory->target, FSQ_PROJECT, 1, &dquot);
	if (rc == 0 || rc == ENOENT)
		return 0;
	return fsq_fail(err, fsq_code_of_errno(rc), rc, directory->path,
			"cannot read quotas of projects");
}

static void show(struct session *session, const struct fsq_directory *directory, const char *path,
		 bool enforced)
{
	struct fsq_mount mount = { 0 };
	struct support_row row = { .path = path, .enforced = enforced };

	/* The mount may be unknown. */
	if (fsq_mount_of_fd(directory->fd, path, &mount, NULL) == 0) {
		row.filesystem = mount.device;
		row.mountpoint = mount.directory;
	}
	session->render->support(session->out, &row);
	fsq_mount_clear(&mount);
}

/* With --quiet only the exit status tells. */
static void fail(struct session *session, const struct fsq_error *err, bool quiet)
{
	if (quiet)
		session->status = session_exit_code(err->code);
	else
		session_fail(session, err);
}

static void command_supported(struct session *session, const struct invocation *invocation)
{
	const struct supported_options *options = invocation->options;
	struct fsq_directory directory;
	struct fsq_error err;
	bool enforced;
	const char *path;
	int rc;

	if (!options_directory(session, invocation, &path))
		return;
	if (fsq_directory_open(&directory, path, &err)) {
		fail(session, &err, options->quiet);
		return;
	}
	do {
		rc = check(&directory, &enforced, &err);
	} while (fsq_directory_retry(&directory, &rc, &err));
	if (rc)
		fail(session, &err, options->quiet);
	else if (!options->quiet)
		show(session, &directory, path, enforced);
	fsq_directory_close(&directory);
}

#define FIELD(member) offsetof(struct supported_options, member)

static const struct command_option quiet_option[] = {
	{ 'q', "quiet", "say nothing else", .field = FIELD(quiet) },
	{ 0 },
};

const struct command supported_command = {
	.name = "supported",
	.summary = "tell whether a quota can be put on a directory",
	.synopsis = "DIR [OPTION]...",
	.help = "Can a quota be put on DIR, here and by this caller? The exit status says so:\n"
		"0 yes, 3 not on this filesystem, 4 not by this caller.",
	.options = (option_tables){ quiet_option, json_option, help_option, NULL },
	.operands = { { VALUE_DIRECTORY, "DIR", false } },
	.options_size = sizeof(struct supported_options),
	.run = command_supported,
};
