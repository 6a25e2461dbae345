/* SPDX-License-Identifier: Apache-2.0 */
#include "brief.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "native/rows/sentence.h"
#include "quota/usage/usage.h"

/* How long to wait for a mount. */
#define PATIENCE_SECONDS 1

/* Two looks are so far apart if they are to tell how fast it grows. */
#define LEAST_SECONDS 60
#define MOST_SECONDS 86400

/* A deleted file is told if it is this part of the use. */
#define DELETED_PART 20

/* --- how fast it grows: the use at the last look is kept in $XDG_RUNTIME_DIR --- */

struct look {
	char directory[256];
	uint64_t used;
	int64_t seconds; /* since 1970 */
};

static int open_looks(int flags)
{
	const char *directory = getenv("XDG_RUNTIME_DIR");
	char path[4096];

	if (!directory || directory[0] != '/' ||
	    snprintf(path, sizeof(path), "%s/fsquota-brief", directory) >= (int)sizeof(path))
		return -1;
	return open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
}

/* @return   the look that is kept; all zeros: none */
static struct look read_look(void)
{
	struct look look = { 0 };
	int fd = open_looks(O_RDONLY);

	if (fd >= 0 && read(fd, &look, sizeof(look)) != sizeof(look))
		look = (struct look){ 0 };
	if (fd >= 0)
		close(fd);
	return look;
}

static void keep_look(const struct look *look)
{
	int fd = open_looks(O_WRONLY | O_CREAT | O_TRUNC);

	if (fd >= 0 && write(fd, look, sizeof(*look)) != sizeof(*look))
		ftruncate(fd, 0);
	if (fd >= 0)
		close(fd);
}

/* @return   when the limit of space will be reached, if it goes on so; or FIELD_NO_SECONDS */
static int64_t seconds_until_full(const struct project_row *row)
{
	struct look now = { .used = row->used_bytes, .seconds = time(NULL) }, before = read_look();
	uint64_t limit = sentence_limit(row, FSQ_BLOCKS);
	int64_t passed = now.seconds - before.seconds;
	bool same;

	snprintf(now.directory, sizeof(now.directory), "%s", row->path);
	same = memcmp(before.directory, now.directory, sizeof(now.directory)) == 0 && passed >= 0 &&
	       passed <= MOST_SECONDS;
	if (row->used_bytes == FIELD_NOT_KNOWN)
		return FIELD_NO_SECONDS;
	if (!same || passed >= LEAST_SECONDS)
		keep_look(&now);
	if (!same || passed < LEAST_SECONDS || now.used <= before.used || limit <= now.used)
		return FIELD_NO_SECONDS;
	return (int64_t)((double)(limit - now.used) / (double)(now.used - before.used) *
			 (double)passed);
}

/* --- the sentence --- */

struct brief {
	struct session *session;
	uint64_t used_bytes;
};

static enum fsq_visit tell_of_deleted(const struct fsq_explained *part, void *arg)
{
	struct brief *brief = arg;
	struct writer *w = brief->session->out;
	char cell[FIELD_CELL];

	if (part->part != FSQ_SPACE_OPEN || part->bytes < brief->used_bytes / DELETED_PART)
		return FSQ_VISIT_CONTINUE;
	write_format(w, "; %s is a deleted file that ", field_size(cell, part->bytes));
	if (part->pid)
		write_format(w, "process %d (", (int)part->pid);
	write_escaped(w, part->command ? part->command : "a process");
	write_text(w, part->pid ? ") has open" : " has open");
	return FSQ_VISIT_STOP;
}

static void show_project(struct session *session, const char *directory, double over)
{
	struct brief brief = { .session = session };
	const struct fsq_explain_request request = {
		.size = sizeof(request),
		.directory = directory,
		.projects_file = session->projects_file,
		.only_open = true,
	};
	struct fsq_usage usage;
	struct project_row row;
	int64_t full_seconds;

	if (session_usage(session, directory, &usage, NULL))
		return;
	row = listing_row(session, directory, &usage);
	row.full_seconds = FIELD_NO_SECONDS;
	full_seconds = seconds_until_full(&row);
	if (row.percent >= over) {
		row.full_seconds = full_seconds;
		brief.used_bytes = row.used_bytes;
		sentence_write(session->out, &row);
		fsq_explain(&request, tell_of_deleted, &brief, NULL);
		write_char(session->out, '\n');
	}
	fsq_usage_clear(&usage);
}

/* The kernel tells everybody of the own user. */
static void show_user(struct session *session, const char *directory, double over)
{
	struct fsq_filesystem *fs;
	struct fsq_usage usage = { 0 };
	struct fsq_dquot dquot;
	struct project_row row;

	if (fsq_filesystem_open(&fs, directory, NULL, 0, NULL))
		return;
	if (fsq_quota_get(fs, FSQ_USER, getuid(), &dquot) == 0) {
		fsq_usage_set_dquot(&usage, &dquot);
		usage.id = dquot.id;
		row = listing_row_unnamed(FSQ_USER, NULL, &usage);
		if (row.percent >= over) {
			listing_set_name(session, &row);
			sentence_write(session->out, &row);
			write_text(session->out, " on the filesystem of ");
			write_escaped(session->out, directory);
			write_char(session->out, '\n');
		}
	}
	fsq_filesystem_close(fs);
}

void brief_show(struct session *session, const char *const *directories, size_t count, double over)
{
	const struct timespec patience = { .tv_sec = PATIENCE_SECONDS };
	sigset_t child, before;
	pid_t pid;

	session->silent = true;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, &before);
	pid = fork();
	if (pid == 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		for (size_t i = 0; i < count; i++) {
			show_project(session, directories[i], over);
			show_user(session, directories[i], over);
		}
		writer_flush(session->out);
		_exit(0);
	}
	if (pid > 0 && sigtimedwait(&child, NULL, &patience) < 0)
		kill(pid, SIGKILL);
	/* Not waited for: a process that a dead disk holds does not end. */
	if (pid > 0)
		waitpid(pid, NULL, WNOHANG);
	sigprocmask(SIG_SETMASK, &before, NULL);
	session->silent = false;
	session->status = 0;
}
