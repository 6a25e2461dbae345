/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <search.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "quota/directory/assign.h"
#include "quota/directory/marks.h"
#include "quota/mounts/mount_table.h"
#include "quota/usage/usage.h"

/* How long to wait for a full pipe between two checks for signals, in milliseconds. */
#define WRITE_POLL_MS 100

struct session session_new(struct writer *out)
{
	return (struct session){
		.program = "fsquota",
		.projects_file = FSQ_PROJECTS_FILE,
		.projid_file = FSQ_PROJID_FILE,
		.lock_seconds = FSQ_LOCK_SECONDS,
		.current_path = -1,
		.out = out,
	};
}

bool session_has_rows(const struct session *session)
{
	return session->style.format != TABLE_TEXT || session->style.column_count > 0;
}

struct fsq_registry session_registry(struct session *session)
{
	struct fsq_registry registry = {
		.size = sizeof(struct fsq_registry),
		.projects_file = session->projects_file,
		.projid_file = session->projid_file,
		.none = session->no_register,
		.lock_seconds = session->lock_seconds,
	};

	/* What cannot be read fails when it is to be changed. */
	if (session->batch && !session->assigned)
		fsq_assigned_open(&session->assigned, &registry, NULL);
	registry.assigned = session->assigned;
	return registry;
}

bool session_keep_registry(struct session *session)
{
	const struct fsq_registry registry = session_registry(session);
	struct fsq_error err;
	int rc = session->assigned ? fsq_assigned_refresh(session->assigned, &registry, &err)
				   : fsq_assigned_open(&session->assigned, &registry, &err);

	return rc == 0 || session_fail(session, &err);
}

void session_forget_registry(struct session *session)
{
	fsq_assigned_close(session->assigned);
	session->assigned = NULL;
	if (session->marks)
		fsq_marks_forget(session->marks);
}

int session_usage(const struct session *session, const char *path, struct fsq_usage *usage,
		  struct fsq_error *err)
{
	const struct fsq_usage_request request = {
		.size = sizeof(request),
		.path = path,
		.projects_file = session->projects_file,
	};

	return fsq_usage_get(usage, &request, err);
}

const struct fsq_mount_points *session_mounts(struct session *session)
{
	struct fsq_error err;

	if (!session->mounts && fsq_mount_points_read(&session->mounts, &err)) {
		session->mounts = NULL;
		session_fail(session, &err);
	}
	return session->mounts;
}

void session_forget_mounts(struct session *session)
{
	fsq_mount_points_free(session->mounts);
	session->mounts = NULL;
}

void session_note_projects(struct session *session, const struct fsq_error *err)
{
	if (err->errnum != ENOENT && err->errnum != ENOTDIR)
		session_errno(session, 0, err->errnum, err->path, "cannot read %s", err->path);
}

int session_read_names(struct session *session, struct fsq_error *err)
{
	session->names_read = true;
	return session->cache
		       ? fsq_cache_names(session->cache, session->projid_file, &session->names, err)
		       : fsq_project_names_read(&session->names, session->projid_file, err);
}

/* Names from a cache belong to the cache. */
static void free_names(struct session *session)
{
	if (!session->cache)
		fsq_project_names_free(session->names);
	session->names = NULL;
	session->names_read = false;
}

void session_forget_names(struct session *session)
{
	free_names(session);
	if (session->cache)
		fsq_cache_check(session->cache);
}

struct fsq_project_names *session_names(struct session *session)
{
	struct fsq_error err;

	if (!session->names_read && session_read_names(session, &err))
		session_errno(session, 0, err.errnum, err.path, "cannot read %s", err.path);
	return session->names;
}

void session_tell_of_terminal(struct session *session, const char *what)
{
	if (isatty(STDIN_FILENO))
		session_warn(session, NULL, "reading %s from the terminal, up to Ctrl-D", what);
}

bool session_has_person(const struct session *session)
{
	return !session->batch && !session->json && isatty(STDERR_FILENO);
}

void session_flush(struct session *session)
{
	int rc = writer_flush(session->out);
	bool reported = session->out->reported;

	session->out->reported |= rc != 0;
	if (rc && !reported)
		session_errno(session, 0, -rc, NULL, "cannot write the output");
}

bool session_flush_unless_stopped(struct session *session)
{
	struct pollfd output = { .fd = session->out->fd, .events = POLLOUT };

	if (session->out->used == 0)
		return true;
	while (output.fd >= 0 && poll(&output, 1, WRITE_POLL_MS) == 0)
		if (is_signal_pending(NULL))
			return false;
	session_flush(session);
	return true;
}

void session_flush_terminal(struct session *session)
{
	if (writer_needs_flush(session->out))
		session_flush(session);
}

void session_forget_budgets(struct session *session, size_t count)
{
	while (session->budget_count > count)
		free((char *)session->budgets[--session->budget_count].directory);
}

void session_close_paths(struct session *session)
{
	for (size_t i = 0; i < session->path_count; i++) {
		if (!session->paths[i].is_project)
			fsq_filesystem_close(session->paths[i].fs);
		free(session->paths[i].directory);
	}
	session->path_count = 0;
}

void session_end(struct session *session)
{
	session_close_paths(session);
	free(session->paths);
	fsq_id_set_free(&session->unseen);
	free(session->noted);
	free(session->at.words);
	session_forget_budgets(session, 0);
	free(session->budgets);
	free(session->config_text);
	free(session->first_error.bytes);
	free_names(session);
	account_table_free(&session->accounts[FSQ_USER]);
	account_table_free(&session->accounts[FSQ_GROUP]);
	session_forget_mounts(session);
	session_forget_registry(session);
	fsq_marks_free(session->marks);
}

void session_note_change(struct session *session, const char *path, enum change_kind kind)
{
	struct changed new = { strdup(path), kind };

	if (!new.path || !array_add(&session->noted, &session->noted_count,
				    &session->noted_capacity, &new, sizeof(new)))
		free(new.path);
}

bool session_is_stopped(void *arg)
{
	struct session *session = arg;

	/* Checking for signals is a system call: do it now and then. */
	if (session->batch && ++session->visits % 64 == 0)
		session->stopped |= is_signal_pending(NULL);
	return session->stopped;
}

bool session_goes_on(struct session *session, const char *next)
{
	return !is_signal_pending(NULL) ||
	       session_errno(session, ERROR_AT_PATH, EINTR, next, "stopped before it");
}

void session_report_stop(struct session *session, const char *path)
{
	if (session->stopped)
		session_errno(session, 0, EINTR, path, "%s: stopped", path);
}

void session_wait(struct session *session)
{
	if (!session->batch)
		return;
	session->has_waited = true;
	session->before_waiting(session->batch);
}

bool names_to_id(struct session *session, enum fsq_type type, const char *word, uint32_t *id)
{
	int rc = fsq_parse_id(word, id);

	/* A number needs no names, which are read on first use. */
	if (rc == 0 || rc == -ERANGE)
		return rc == 0;
	return account_find_id(type, word, type == FSQ_PROJECT ? session_names(session) : NULL, id);
}

bool names_are_lost(const struct session *session)
{
	return session->no_memory && session->names_read && !session->names;
}

bool names_to_id_or_complain(struct session *session, enum fsq_type type, const char *word,
			     uint32_t *id)
{
	if (names_to_id(session, type, word, id))
		return true;
	if (names_are_lost(session))
		return false;
	if (type == FSQ_PROJECT && account_find_id(FSQ_USER, word, NULL, id))
		return session_error(session, 0, FSQ_E_NOT_FOUND, 0, NULL,
				     "there is no project %s, but a user: take -u", word);
	return session_error(session, 0, FSQ_E_NOT_FOUND, 0, NULL, "there is no %s %s%s",
			     account_types[type], word,
			     type == FSQ_PROJECT ? ": fsquota list shows them" : "");
}

const char *names_of_id(struct session *session, enum fsq_type type, uint32_t id)
{
	const char *name;

	if (type == FSQ_PROJECT)
		return account_name(type, id, session_names(session));
	errno = 0;
	name = account_name_of_many(&session->accounts[type], type, id);
	if (!name && errno == ENOMEM)
		session_no_memory(session);
	return name;
}

void session_occupy_streams(void)
{
	struct pollfd streams[] = { { .fd = 0 }, { .fd = 1 }, { .fd = 2 } };

	poll(streams, 3, 0);
	for (int i = 0; i < 3; i++)
		if (streams[i].revents & POLLNVAL)
			open("/", O_PATH);
}

int session_open_signals(struct session *session, int also)
{
	sigset_t set;
	int fd;

	block_unignored_interrupts(&set, also);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		session_errno(session, 0, errno, NULL, "cannot wait for signals");
	return fd;
}

/* --- the service manager --- */

void session_notify(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t length = path ? strlen(path) : 0;
	int fd;

	if (length < 2 || length >= sizeof(address.sun_path) || (path[0] != '/' && path[0] != '@'))
		return;
	memcpy(address.sun_path, path, length);
	/* An abstract socket, whose name begins with NUL. */
	if (path[0] == '@')
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&address,
	       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
	close(fd);
}

/* --- what was said already --- */

static int compare_reported(const void *one, const void *other)
{
	return strcmp(one, other);
}

/* @return   the text, which is not in the tree any more; or NULL */
static char *take_reported(void **tree, const char *text)
{
	char *const *found = tfind(text, tree, compare_reported);
	char *copy = found ? *found : NULL;

	if (copy)
		tdelete(text, tree, compare_reported);
	return copy;
}

bool reported_add(struct reported *reported, const char *text)
{
	char *copy, *known;

	if (!reported)
		return true;
	if (tfind(text, &reported->texts, compare_reported))
		return false;
	known = take_reported(&reported->before, text);
	copy = known ? known : strdup(text);
	if (copy && !tsearch(copy, &reported->texts, compare_reported))
		free(copy);
	return !known;
}

void reported_remove(struct reported *reported, const char *text)
{
	if (!reported)
		return;
	free(take_reported(&reported->texts, text));
	free(take_reported(&reported->before, text));
}

void reported_begin(struct reported *reported)
{
	if (reported->before)
		return;
	reported->before = reported->texts;
	reported->texts = NULL;
}

void reported_end(struct reported *reported)
{
	tdestroy(reported->before, free);
	reported->before = NULL;
}

void reported_clear(struct reported *reported)
{
	reported_begin(reported);
	reported_end(reported);
	tdestroy(reported->texts, free);
	reported->texts = NULL;
}
