/* SPDX-License-Identifier: Apache-2.0 */
#include "http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared/clock.h"
#include "shared/errno_words.h"
#include "shared/load_library.h"

LIBRARY_NOTE_MICROHTTPD;

/* For each listening socket. */
#define CONNECTIONS 64U
#define REQUEST_BYTES ((size_t)8192)
#define SILENCE_SECONDS 5U

#define SOCKETS 8
#define PAGE_SECONDS 30
#define PAUSE_MILLISECONDS 200

/* The functions of libmicrohttpd that are used, without MHD_. */
/* clang-format off */
#define FUNCTIONS(DO) \
	DO(start_daemon) DO(stop_daemon) DO(run) DO(get_timeout) DO(get_daemon_info) \
	DO(suspend_connection) DO(resume_connection) DO(lookup_connection_value) \
	DO(create_response_from_fd) DO(create_response_from_buffer) DO(add_response_header) \
	DO(queue_response) DO(destroy_response)
#define POINTER(name) typeof(MHD_##name) *name;
#define SYMBOL(name) LIBRARY_SYMBOL(MHD_##name, library, name),
/* clang-format on */

static struct library {
	FUNCTIONS(POINTER)
} lib;

/* A page, and the requests for it. */
struct job {
	const struct http_page *page;
	struct MHD_Connection *waiting[SOCKETS * CONNECTIONS];
	size_t waiting_count, asked; /* @asked: the first ones, for which @child writes */
	pid_t child;		     /* the process that writes the page to @text, or 0 */
	int text;
	int64_t started; /* when @child was, in milliseconds of CLOCK_MONOTONIC */
	bool reported_late;
};

struct server {
	struct session *session;
	int signals;
	bool ends;
	int sockets[SOCKETS]; /* listening, each with a daemon of libmicrohttpd */
	struct MHD_Daemon *daemons[SOCKETS];
	size_t count;
	struct job jobs[HTTP_PAGES];
	size_t job_count;
	bool reported_used_up;
};

/* --- the sockets --- */

static bool take_sockets(struct server *server)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
	int count = pid && fds && atoi(pid) == getpid() ? atoi(fds) : 0;

	if (count < 1 || count > SOCKETS)
		return session_usage_error(server->session,
					   "systemd has passed no socket: see systemd.socket(5)");
	for (int fd = 3; fd < 3 + count; fd++) {
		int listens = 0;
		socklen_t size = sizeof(listens);

		if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) || !listens)
			return session_usage_error(server->session,
						   "descriptor %d of systemd is no socket that "
						   "listens",
						   fd);
		server->sockets[server->count++] = fd;
	}
	return true;
}

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* @return   whether it is "ADDRESS:PORT", with brackets around an ADDRESS of IPv6 */
static bool parse_address(const char *text, union address *address)
{
	char host[INET6_ADDRSTRLEN + 2];
	const char *colon = strrchr(text, ':');
	size_t length = colon ? (size_t)(colon - text) : sizeof(host);
	unsigned long port = colon ? strtoul(colon + 1, NULL, 10) : 0;

	if (length >= sizeof(host) || colon[1 + strspn(colon + 1, "0123456789")] || port == 0 ||
	    port > UINT16_MAX)
		return false;
	memcpy(host, text, length);
	host[length] = '\0';
	if (length && host[0] != '[') {
		address->v4 = (struct sockaddr_in){ .sin_family = AF_INET,
						    .sin_port = htons((uint16_t)port) };
		return inet_pton(AF_INET, host, &address->v4.sin_addr) == 1;
	}
	address->v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6,
					     .sin6_port = htons((uint16_t)port) };
	if (length == 0)
		return true;
	if (host[length - 1] != ']')
		return false;
	host[length - 1] = '\0';
	return inet_pton(AF_INET6, host + 1, &address->v6.sin6_addr) == 1;
}

static int open_socket(const union address *address)
{
	const int one = 1;
	int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, &address->any, sizeof(*address)) == 0 && listen(fd, SOMAXCONN) == 0)
		return fd;
	close(fd);
	return -1;
}

static bool open_sockets(struct server *server, const char *text)
{
	union address address;
	int fd;

	if (strcmp(text, HTTP_OF_SYSTEMD) == 0)
		return take_sockets(server);
	if (!parse_address(text, &address))
		return session_usage_error(server->session,
					   "\"%s\" is no ADDRESS:PORT: write 127.0.0.1:9753, "
					   "[::1]:9753, or :9753 for all addresses",
					   text);
	fd = open_socket(&address);
	if (fd < 0 && errno == EAFNOSUPPORT && text[0] == ':') {
		/* A kernel without IPv6. */
		address.v4 = (struct sockaddr_in){ .sin_family = AF_INET,
						   .sin_port = address.v6.sin6_port };
		fd = open_socket(&address);
	}
	if (fd < 0)
		return session_errno(server->session, ERROR_OF_FILE, errno, text,
				     "cannot listen on %s", text);
	server->sockets[server->count++] = fd;
	return true;
}

/* --- requests --- */

/*
 * @job      whose page in @job->text is the answer; NULL: there is none
 * @size     of that page
 */
static enum MHD_Result respond(const struct job *job, struct MHD_Connection *connection,
			       unsigned int status, size_t size)
{
	const struct http_page *page = job ? job->page : NULL;
	const char *accept = lib.lookup_connection_value(connection, MHD_HEADER_KIND, "Accept");
	int fd = job ? fcntl(job->text, F_DUPFD_CLOEXEC, 0) : -1;
	struct MHD_Response *response =
		fd >= 0 ? lib.create_response_from_fd(size, fd)
			: lib.create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
	enum MHD_Result result;

	if (!response) {
		close(fd);
		return MHD_NO;
	}
	lib.add_response_header(response, "Connection", "close");
	if (status == 405)
		lib.add_response_header(response, "Allow", "GET, HEAD");
	if (fd >= 0) {
		if (page->other)
			lib.add_response_header(response, "Vary", "Accept");
		lib.add_response_header(response, "Content-Type",
					page->other && accept && strstr(accept, page->other)
						? page->other_type
						: page->type);
	}
	result = lib.queue_response(connection, job && fd < 0 ? 503 : status, response);
	lib.destroy_response(response);
	return result;
}

/* A callback of libmicrohttpd. */
static enum MHD_Result take_request(void *arg, struct MHD_Connection *connection, const char *url,
				    const char *method, const char *version, const char *upload,
				    size_t *upload_size, void **request)
{
	struct server *server = arg;
	struct job *job = server->jobs;

	(void)version, (void)upload, (void)upload_size, (void)request;
	server->reported_used_up = false;
	while (job < server->jobs + server->job_count && strcmp(url, job->page->path) != 0)
		job++;
	if (job == server->jobs + server->job_count)
		return respond(NULL, connection, 404, 0);
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return respond(NULL, connection, 405, 0);
	job->waiting[job->waiting_count++] = connection;
	lib.suspend_connection(connection);
	return MHD_YES;
}

/* A callback of libmicrohttpd. Without descriptors or memory it retries at once: pause, and warn once. */
static void hear_message(void *arg, const char *format, va_list args)
{
	struct server *server = arg;

	(void)format, (void)args;
	if (errno != EMFILE && errno != ENFILE && errno != ENOMEM && errno != ENOBUFS)
		return;
	if (!server->reported_used_up)
		session_warn(server->session, NULL, "cannot take a request: %s",
			     errno_words(errno));
	server->reported_used_up = true;
	poll(NULL, 0, PAUSE_MILLISECONDS);
}

/* --- the page --- */

/* Answer the first @count waiting connections, with the page in @job->text or without one. */
static void answer(struct job *job, size_t count, unsigned int status, bool with_page)
{
	off_t size = with_page ? lseek(job->text, 0, SEEK_END) : 0;

	if (with_page && size <= 0)
		status = 500;
	for (size_t i = 0; i < count; i++) {
		respond(size > 0 ? job : NULL, job->waiting[i], status, (size_t)size);
		lib.resume_connection(job->waiting[i]);
	}
	job->asked = 0;
	job->waiting_count -= count;
	memmove(job->waiting, job->waiting + count, job->waiting_count * sizeof(*job->waiting));
}

/* Fork a process that writes a page for all waiting connections. @return  true in that process, when it is written */
static bool start_page(struct server *server, struct job *job, const sigset_t *unblocked)
{
	struct session *session = server->session;

	job->started = clock_milliseconds(CLOCK_MONOTONIC);
	job->text = memfd_create("page", MFD_CLOEXEC);
	job->child = job->text < 0 ? -1 : fork();
	if (job->child < 0) {
		session_errno(session, 0, errno, NULL, "cannot answer");
		close(job->text);
		job->child = 0;
		answer(job, job->waiting_count, 503, false);
		return false;
	}
	job->asked = job->waiting_count;
	if (job->child > 0)
		return false;
	restore_signals(unblocked);
	/* If this process hangs, it must not keep the address in use. */
	for (size_t i = 0; i < server->count; i++)
		close(server->sockets[i]);
	writer_start(session->out, job->text);
	if (!job->page->write(session, job->page->arg) || writer_flush(session->out))
		ftruncate(job->text, 0);
	return true;
}

/* Answer if the page is written, or has taken too long. */
static void check_page(struct session *session, struct job *job)
{
	int how;

	if (waitpid(job->child, &how, WNOHANG) == job->child) {
		bool fails = job->page->checks && how != 0;

		answer(job, job->asked, WIFEXITED(how) && !fails ? 200 : 503, WIFEXITED(how));
		close(job->text);
		job->child = 0;
		job->reported_late = false;
	} else if (clock_milliseconds(CLOCK_MONOTONIC) >= job->started + PAGE_SECONDS * 1000) {
		/* The process may be in an uninterruptible wait, so SIGKILL may have no effect yet. */
		kill(job->child, SIGKILL);
		if (!job->reported_late)
			session_warn(session, NULL,
				     "process %d takes longer than %d s to write the page: does a "
				     "filesystem hang?",
				     (int)job->child, PAGE_SECONDS);
		job->reported_late = true;
		answer(job, job->waiting_count, 503, false);
	}
}

/* --- the server --- */

static bool start_daemons(struct server *server)
{
	for (size_t i = 0; i < server->count; i++) {
		server->daemons[i] = lib.start_daemon(
			MHD_USE_EPOLL | MHD_USE_ERROR_LOG | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
			take_request, server, MHD_OPTION_EXTERNAL_LOGGER, hear_message, server,
			MHD_OPTION_LISTEN_SOCKET, server->sockets[i], MHD_OPTION_CONNECTION_LIMIT,
			CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, REQUEST_BYTES,
			MHD_OPTION_CONNECTION_TIMEOUT, SILENCE_SECONDS, MHD_OPTION_END);
		if (!server->daemons[i])
			return session_errno(server->session, 0, errno, NULL, "cannot serve");
	}
	return true;
}

/* Wait for requests, signals or the next check. @return  false: a socket no longer listens; reported */
static bool wait_for_work(struct server *server)
{
	struct pollfd sources[1 + 2 * SOCKETS] = { { server->signals, POLLIN, 0 } };
	MHD_UNSIGNED_LONG_LONG left, timeout = INT_MAX;
	struct signalfd_siginfo info;

	for (const struct job *job = server->jobs; job < server->jobs + server->job_count; job++)
		if (job->child)
			timeout = timeout < 1000 ? timeout : 1000;
		else if (job->waiting_count)
			timeout = 0;
	for (size_t i = 0; i < server->count; i++) {
		int fd =
			lib.get_daemon_info(server->daemons[i], MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;

		sources[1 + 2 * i] = (struct pollfd){ fd, POLLIN, 0 };
		sources[2 + 2 * i] = (struct pollfd){ server->sockets[i], 0, 0 };
		if (lib.get_timeout(server->daemons[i], &left) == MHD_YES && left < timeout)
			timeout = left;
	}
	if (poll(sources, 1 + 2 * server->count, (int)timeout) <= 0)
		return true;
	while (read(server->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		server->ends |= info.ssi_signo != SIGCHLD;
	for (size_t i = 0; i < server->count; i++)
		if (sources[2 + 2 * i].revents)
			return session_error(server->session, 0, FSQ_E_FAILED, 0, NULL,
					     "a socket does not listen any more");
	return true;
}

static unsigned int connection_count(struct MHD_Daemon *daemon)
{
	return lib.get_daemon_info(daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)->num_connections;
}

/* At its connection limit a daemon stops listening. After it closes one it must run again to resume. */
static void run_daemon(struct MHD_Daemon *daemon)
{
	unsigned int before;

	do {
		before = connection_count(daemon);
		lib.run(daemon);
	} while (connection_count(daemon) < before);
}

/* Serve until a signal comes. @return  true in a process that has written a page */
static bool serve(struct server *server, const sigset_t *unblocked)
{
	while (wait_for_work(server) && !server->ends) {
		for (struct job *job = server->jobs; job < server->jobs + server->job_count;
		     job++) {
			if (job->child)
				check_page(server->session, job);
			if (job->waiting_count && !job->child && start_page(server, job, unblocked))
				return true;
		}
		for (size_t i = 0; i < server->count; i++)
			run_daemon(server->daemons[i]);
	}
	return false;
}

static bool load_microhttpd(struct session *session)
{
	static const struct library_symbol symbols[] = { FUNCTIONS(SYMBOL) };

	return load_library(LIBRARY_MICROHTTPD, symbols, sizeof(symbols) / sizeof(symbols[0]),
			    &lib) ||
	       session_error(session, ERROR_OF_FILE, FSQ_E_FAILED, 0, LIBRARY_MICROHTTPD,
			     LIBRARY_MICROHTTPD ": cannot load this library: install the package "
						"libmicrohttpd12, or libmicrohttpd");
}

bool http_serve(struct session *session, const char *address, const struct http_page *pages,
		size_t count)
{
	/* Static: the process that writes a page returns without freeing it. */
	static struct server server;
	sigset_t before;
	bool good;

	server = (struct server){ .session = session, .job_count = count };
	for (size_t i = 0; i < count; i++)
		server.jobs[i].page = &pages[i];
	if (!load_microhttpd(session) || !open_sockets(&server, address))
		return false;
	sigprocmask(SIG_BLOCK, NULL, &before);
	signal(SIGCHLD, SIG_DFL);
	server.signals = session_open_signals(session, SIGCHLD);
	good = server.signals >= 0 && start_daemons(&server);
	if (good) {
		session_notify("READY=1");
		if (serve(&server, &before))
			return true;
	}
	for (struct job *job = server.jobs; job < server.jobs + count; job++) {
		if (job->child)
			kill(job->child, SIGKILL);
		answer(job, job->waiting_count, 503, false);
	}
	for (size_t i = 0; i < server.count && server.daemons[i]; i++)
		lib.stop_daemon(server.daemons[i]);
	close(server.signals);
	return good;
}
