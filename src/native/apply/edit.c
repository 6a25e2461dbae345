/* SPDX-License-Identifier: Apache-2.0 */
#include "edit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "file.h"
#include "native/cli/line.h"
#include "native/cli/program.h"
#include "native/rows/change.h"
#include "quota/limits/limits.h"
#include "shared/read_file.h"

/* Set @file to the name of a new file with the line. */
static bool write_line(struct session *session, const char *subject, const char *path,
		       const struct record_row *is, char **file)
{
	static struct writer w;
	const char *directory = getenv("TMPDIR");
	int fd, rc;

	if (asprintf(file, "%s/fsquota-XXXXXX", directory && *directory ? directory : "/tmp") < 0)
		*file = NULL;
	if (!*file)
		return session_no_memory(session);
	fd = mkostemp(*file, O_CLOEXEC);
	if (fd < 0) {
		session_errno(session, ERROR_OF_FILE, errno, *file, "cannot make %s", *file);
		free(*file);
		*file = NULL;
		return false;
	}
	writer_start(&w, fd);
	write_text(&w, "# The limits of ");
	write_escaped(&w, subject);
	write_text(&w, ". What the line does not say is none; see fsquota.d(5).\n");
	line_write_path(&w, path);
	line_write_limits(&w, is->hard_bytes, is->soft_bytes, is->hard_inodes, is->soft_inodes);
	write_char(&w, '\n');
	rc = writer_flush(&w);
	close(fd);
	return rc == 0 ||
	       session_errno(session, ERROR_OF_FILE, -rc, *file, "cannot write %s", *file);
}

/* As system(3) does, leave SIGINT and SIGQUIT of the terminal to the editor. */
static bool run_editor(struct session *session, const char *file)
{
	static const struct timespec now;
	/* An editor may have options, such as "code --wait". */
	const char *words[] = {
		"sh", "-c", "exec ${VISUAL:-${EDITOR:-$(command -v editor || echo vi)}} \"$1\"",
		"sh", file, NULL
	};
	sigset_t keys, before;
	int status = 0, rc;
	pid_t process;

	sigemptyset(&keys);
	sigaddset(&keys, SIGINT);
	sigaddset(&keys, SIGQUIT);
	sigprocmask(SIG_BLOCK, &keys, &before);
	rc = program_start(words, STDIN_FILENO, STDOUT_FILENO, environ, &process);
	if (rc == 0)
		status = program_wait(process);
	while (sigtimedwait(&keys, NULL, &now) > 0)
		;
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (rc)
		return session_errno(session, ERROR_OF_FILE, rc, file, "cannot run an editor");
	return status == 0 ||
	       session_error(session, ERROR_OF_FILE, FSQ_E_FAILED, 0, file,
			     "the editor failed with status %d; nothing is set", status);
}

/* A name or a grace time is none of limits. @return  whether the request is a line of limits only */
static bool is_of_limits(const struct fsq_assign_request *request)
{
	const unsigned int all = FSQ_SOFT(FSQ_BLOCKS) | FSQ_HARD(FSQ_BLOCKS) |
				 FSQ_SOFT(FSQ_INODES) | FSQ_HARD(FSQ_INODES);

	return !request->name && !request->id && !request->make && !request->mode &&
	       (request->unlimited || request->limits.mask == all);
}

/* Set @limits to what the line says; without a line they stay. */
static bool read_line(struct session *session, const char *path, char *file,
		      struct fsq_limits *limits)
{
	struct apply_list list = { .reads = APPLY_AS_WRITTEN };
	struct apply_text text = { .file = file };
	const struct fsq_assign_request *request;
	int rc = fsq_read_file(file, &text.text, &text.length);
	bool good;

	if (rc)
		return session_errno(session, ERROR_OF_FILE, -rc, file, "cannot read %s", file);
	good = apply_list_parse(session, &list, &text);
	request = list.directories.count ? &list.directories.list[0].request : NULL;
	if (!good || list.directories.count + list.graces.count + list.patterns.count == 0)
		goto out;
	good = list.directories.count == 1 && list.graces.count + list.patterns.count == 0 &&
	       strcmp(request->directory, path) == 0 && is_of_limits(request);
	if (!good)
		session_usage_error(session,
				    "%s: wanted is one line of %s with hard=, soft=, "
				    "hard-inodes= and soft-inodes= as sizes, or unlimited",
				    file, path);
	else
		*limits = request->limits;
out:
	apply_list_free(&list);
	free(text.text);
	return good;
}

enum edited edit_limits(struct session *session, const char *subject, const char *path,
			struct fsq_limits *limits, char **file)
{
	const struct record_row is = change_values(limits);
	struct fsq_limits before = { 0 };
	enum edited edited = EDIT_UNCHANGED;
	bool is_wrong = false;

	*file = NULL;
	if (session->batch || session->has_root) {
		session_usage_error(session,
				    session->batch ? "--edit is no request: it waits for an editor"
						   : "--edit does not go with --root");
		return EDIT_FAILED;
	}
	/* The largest number stands for no limit: the line does not have it. */
	fsq_limits_add(&before, is.soft_bytes, is.hard_bytes, is.soft_inodes, is.hard_inodes);
	*limits = before;
	if (!write_line(session, subject, path, &is, file) || !run_editor(session, *file))
		edited = EDIT_FAILED;
	else if (!read_line(session, path, *file, limits))
		is_wrong = true;
	else if (fsq_limits_leave_changed(limits, &before))
		return EDIT_CHANGED;
	/* What is wrong is not lost: the error names the file. */
	if (*file && !is_wrong)
		unlink(*file);
	free(*file);
	*file = NULL;
	return is_wrong ? EDIT_FAILED : edited;
}

void edit_end(struct session *session, char *file, bool set)
{
	if (set)
		unlink(file);
	else
		session_warn(session, NULL, "nothing is set; what was written is in %s", file);
	free(file);
}
