/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>

#include "native_command.h"
#include "output/json_rows.h"
#include "output/native_text.h"
#include "quota/directory.h"
#include "quota/mounts.h"

/* Who may not ask about projects may not put a quota on anything. */
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

	/* Where it is mounted may not be to be found out. */
	if (fsq_mount_of_fd(directory->fd, path, &mount, NULL) == 0) {
		row.filesystem = mount.device;
		row.mountpoint = mount.directory;
	}
	if (session->json)
		json_support(session->out, &row);
	else
		text_support_row(session->out, &row);
	fsq_mount_clear(&mount);
}

/* Only the exit status, for who asks for nothing else. */
static void fail(struct session *session, const struct fsq_error *err, bool quiet)
{
	if (quiet)
		session->status = session_exit_code(err->code);
	else
		session_fail(session, err);
}

NATIVE_FUNCTION(supported)
{
	static const struct option words[] = {
		NATIVE_WORDS,
		{ "quiet", no_argument, NULL, 'q' },
		{ NULL, 0, NULL, 0 },
	};
	struct fsq_directory directory;
	struct fsq_error err;
	bool quiet = false, enforced;
	const char *path;
	int option, rc;

	while ((option = native_option(session, command, argc, argv, "hq", words)) != -1) {
		if (option != 'q')
			return;
		quiet = true;
	}
	if (!native_operand(session, command, argc, argv, &path))
		return;
	if (fsq_directory_open(&directory, path, &err)) {
		fail(session, &err, quiet);
		return;
	}
	do {
		rc = check(&directory, &enforced, &err);
	} while (fsq_directory_retry(&directory, &rc, &err));
	if (rc)
		fail(session, &err, quiet);
	else if (!quiet)
		show(session, &directory, path, enforced);
	fsq_directory_close(&directory);
}
