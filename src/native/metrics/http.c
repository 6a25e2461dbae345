/* SPDX-License-Identifier: Apache-2.0 */
#include "http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "shared/clock.h"
#include "shared/errno_words.h"
#include "shared/load_library.h"

LIBRARY_NOTE_Z;

/* Time limits for a slow client. */
#define REQUEST_SECONDS 3
#define ANSWER_SECONDS 30
#define REQUEST_BYTES 8192

#define SOCKETS 8
/* Connections whose requests have not come as a whole. One more ends the oldest. */
#define WAITING 16
#define PAUSE_MILLISECONDS 200

struct zlib {
	int (*deflateInit2_)(z_stream *, int, int, int, int, int, const char *, int);
	uLong (*deflateBound)(z_stream *, uLong);
	int (*deflate)(z_stream *, int);
	int (*deflateEnd)(z_stream *);
};

#define SYMBOL(name) LIBRARY_SYMBOL(name, zlib, name)

static const struct library_symbol symbols[] = { SYMBOL(deflateInit2_), SYMBOL(deflateBound),
						 SYMBOL(deflate), SYMBOL(deflateEnd) };

struct connection {
	int fd;
	int64_t until; /* when its time is over */
	size_t seen;   /* bytes of the request that have come */
	bool is_ready; /* it has come as a whole, or what came is none */
};

struct server {
	struct session *session;
	const struct http_page *page;
	struct zlib zlib;
	bool has_zlib;
	int signals;
	int listeners[SOCKETS]; /* -1: it does not listen any more */
	size_t listener_count;
	struct connection waiting[WAITING]; /* the oldest first */
	size_t waiting_count;
	int64_t pause; /* when connections are accepted again, in milliseconds as below */
	bool reported_accept;
	bool ends;
	pid_t child;	 /* that answers, or 0 */
	int64_t started; /* it, in milliseconds of CLOCK_MONOTONIC */
	bool reported_stuck;
};

/* --- the sockets --- */

static void add_socket(struct server *server, int fd)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	server->listeners[server->listener_count++] = fd;
}

/* @return   the number that the variable is, or 0 */
static unsigned long variable(const char *name)
{
	const char *text = getenv(name);

	return text && text[0] >= '1' && text[0] <= '9' ? strtoul(text, NULL, 10) : 0;
}

static bool take_sockets(struct server *server)
{
	unsigned long count = variable("LISTEN_FDS");

	if (variable("LISTEN_PID") != (unsigned long)getpid() || count == 0 || count > SOCKETS)
		return session_usage_error(server->session,
					   "systemd has passed no socket: see systemd.socket(5)");
	for (int fd = 3; fd < 3 + (int)count; fd++) {
		int listens = 0;
		socklen_t size = sizeof(listens);

		if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) || !listens)
			return session_usage_error(server->session,
						   "descriptor %d of systemd is no socket that "
						   "listens",
						   fd);
		add_socket(server, fd);
	}
	return true;
}

/* An address and its length. */
struct address {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	};
	socklen_t length;
};

/* @return   whether it is "ADDRESS:PORT", with brackets around an ADDRESS of IPv6 */
static bool parse_address(const char *text, struct address *address)
{
	const char *colon = strrchr(text, ':');
	char host[64];
	unsigned int port = 0;
	size_t length;

	if (!colon || (size_t)(colon - text) >= sizeof(host))
		return false;
	for (const char *digit = colon + 1; *digit; digit++) {
		if (*digit < '0' || *digit > '9' || port > 65535)
			return false;
		port = port * 10 + (unsigned int)(*digit - '0');
	}
	if (port == 0 || port > 65535)
		return false;
	length = (size_t)(colon - text);
	memcpy(host, text, length);
	host[length] = '\0';
	*address = (struct address){ .v6.sin6_family = AF_INET6, .v6.sin6_addr = in6addr_any };
	address->length = sizeof(address->v6);
	address->v6.sin6_port = htons((uint16_t)port);
	if (length == 0)
		return true;
	if (host[0] == '[') {
		if (host[length - 1] != ']')
			return false;
		host[length - 1] = '\0';
		return inet_pton(AF_INET6, host + 1, &address->v6.sin6_addr) == 1;
	}
	address->v4 =
		(struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	address->length = sizeof(address->v4);
	return inet_pton(AF_INET, host, &address->v4.sin_addr) == 1;
}

static int open_socket(const struct address *address)
{
	const int one = 1;
	int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, &address->any, address->length) == 0 && listen(fd, 16) == 0)
		return fd;
	close(fd);
	return -1;
}

static bool open_sockets(struct server *server, const char *text)
{
	struct address address;
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
		address.length = sizeof(address.v4);
		fd = open_socket(&address);
	}
	if (fd < 0)
		return session_errno(server->session, ERROR_OF_FILE, errno, text,
				     "cannot listen on %s", text);
	add_socket(server, fd);
	return true;
}

/* --- a request --- */

/* @return   0, or the status that says what is wrong with it */
static int read_request(int fd, char request[REQUEST_BYTES + 1])
{
	size_t used = 0;

	while (used < REQUEST_BYTES) {
		ssize_t got = read(fd, request + used, REQUEST_BYTES - used);

		if (got <= 0)
			return -1;
		used += (size_t)got;
		request[used] = '\0';
		if (memchr(request, '\0', used))
			return 400;
		if (strstr(request, "\r\n\r\n") || strstr(request, "\n\n"))
			return 0;
	}
	return 431;
}

/* @item     of a list, such as "gzip;q=0.5" */
static bool has_no_weight(const char *item, size_t length)
{
	const char *weight = memmem(item, length, "q=", 2);

	return weight && !strchr("123456789", weight[2 + strspn(weight + 2, "0.")]);
}

/* @return   whether the list behind the header has the word, if it is not refused there */
static bool accepts(const char *request, const char *header, const char *word)
{
	size_t name = strlen(header), length = strlen(word);

	for (const char *line = request; (line = strchr(line, '\n'));) {
		const char *item = ++line + name;

		if (strncasecmp(line, header, name) != 0)
			continue;
		while (*item == ':' || *item == ',') {
			size_t whole;

			item += 1 + strspn(item + 1, " \t");
			whole = strcspn(item, ",\r\n");
			if (strncasecmp(item, word, length) == 0 &&
			    strchr("; \t,\r\n", item[length]))
				return !has_no_weight(item, whole);
			item += whole;
		}
	}
	return false;
}

/* @return   the status of the answer */
static int judge(const char *request, const char *path)
{
	size_t method = strcspn(request, " "), target, length = strlen(path);
	const char *at = request + method;

	if (method == 0 || *at++ != ' ')
		return 400;
	target = strcspn(at, " \r\n");
	if (strncmp(at + target, " HTTP/1.", 8) != 0)
		return 400;
	if (strncmp(at, path, length) != 0 || !strchr(" ?", at[length]))
		return 404;
	if (strncmp(request, "GET ", 4) != 0 && strncmp(request, "HEAD ", 5) != 0)
		return 405;
	return 200;
}

/* --- the answer --- */

static void send_all(int fd, const char *bytes, size_t length)
{
	while (length) {
		ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);

		if (sent < 0)
			return;
		bytes += sent;
		length -= (size_t)sent;
	}
}

/* @more     lines of the header */
static void send_status(int fd, int status, const char *more, size_t length)
{
	static const struct {
		int status;
		const char *words;
	} known[] = { { 200, "OK" },
		      { 400, "Bad Request" },
		      { 404, "Not Found" },
		      { 405, "Method Not Allowed" },
		      { 431, "Request Header Fields Too Large" },
		      { 500, "Internal Server Error" },
		      { 503, "Service Unavailable" } };
	const char *words = "";
	char head[256];

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].status == status)
			words = known[i].words;
	snprintf(head, sizeof(head),
		 "HTTP/1.1 %d %s\r\n%sContent-Length: %zu\r\nConnection: close\r\n\r\n", status,
		 words, more, length);
	send_all(fd, head, strlen(head));
}

/* @return   whether the text was replaced by the same, compressed */
static bool compress_text(const struct zlib *zlib, struct text *text)
{
	/* 15 bits of window, and the header of gzip around it. */
	const int window = 15 + 16, memory = 8;
	z_stream stream = { .next_in = (Bytef *)text->bytes, .avail_in = (uInt)text->used };
	struct text smaller = { 0 };
	bool done = false;
	uLong bound;

	if (zlib->deflateInit2_(&stream, Z_BEST_SPEED, Z_DEFLATED, window, memory,
				Z_DEFAULT_STRATEGY, ZLIB_VERSION, (int)sizeof(stream)) != Z_OK)
		return false;
	bound = zlib->deflateBound(&stream, text->used);
	if (text->used < UINT32_MAX / 2 && text_room(&smaller, bound)) {
		stream.next_out = (Bytef *)smaller.bytes;
		stream.avail_out = (uInt)bound;
		done = zlib->deflate(&stream, Z_FINISH) == Z_STREAM_END;
		smaller.used = stream.total_out;
	}
	zlib->deflateEnd(&stream);
	free(done ? text->bytes : smaller.bytes);
	if (done)
		*text = smaller;
	return done;
}

static bool write_page(struct server *server, struct text *text)
{
	struct session *session = server->session;
	struct writer *before = session->out;
	static struct writer writer;
	bool good;

	writer_start_text(&writer, text);
	session->out = &writer;
	good = server->page->write(session, server->page->arg);
	if (writer_flush(&writer))
		good = session_no_memory(session);
	session->out = before;
	return good;
}

static void answer(struct server *server, int fd)
{
	const struct http_page *page = server->page;
	char request[REQUEST_BYTES + 1], more[160];
	struct text text = { 0 };
	int status;
	bool other, compressed;

	alarm(REQUEST_SECONDS);
	status = read_request(fd, request);
	alarm(ANSWER_SECONDS);
	if (status == 0)
		status = judge(request, page->path);
	if (status == 200 && !write_page(server, &text))
		status = 500;
	if (status == 200) {
		other = accepts(request, "Accept", page->other);
		compressed = server->has_zlib && accepts(request, "Accept-Encoding", "gzip") &&
			     compress_text(&server->zlib, &text);
		snprintf(more, sizeof(more),
			 "Content-Type: %s\r\n%sVary: Accept, Accept-Encoding\r\n",
			 other ? page->other_type : page->type,
			 compressed ? "Content-Encoding: gzip\r\n" : "");
		send_status(fd, status, more, text.used);
		if (request[0] == 'G')
			send_all(fd, text.bytes, text.used);
	} else if (status > 0) {
		send_status(fd, status, status == 405 ? "Allow: GET, HEAD\r\n" : "", 0);
	}
	free(text.bytes);
}

/* --- one after the other --- */

static void read_signals(struct server *server)
{
	struct signalfd_siginfo info;
	int how;

	while (read(server->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		server->ends |= info.ssi_signo != SIGCHLD;
	if (!server->child || waitpid(server->child, &how, WNOHANG) != server->child)
		return;
	if (WIFSIGNALED(how) &&
	    clock_milliseconds(CLOCK_MONOTONIC) >= server->started + ANSWER_SECONDS * 1000)
		session_warn(server->session, NULL, "a request took longer than %d s: it was ended",
			     ANSWER_SECONDS);
	server->child = 0;
	server->reported_stuck = false;
}

/* The answering process hangs in the kernel, where no signal ends it. */
static void refuse(struct server *server, int fd)
{
	char request[REQUEST_BYTES];

	if (!server->reported_stuck)
		session_warn(
			server->session, NULL,
			"process %d, which answers a request, does not end: a filesystem hangs",
			(int)server->child);
	server->reported_stuck = true;
	recv(fd, request, sizeof(request), MSG_DONTWAIT);
	send_status(fd, 503, "", 0);
}

static int64_t now(void)
{
	return clock_milliseconds(CLOCK_MONOTONIC);
}

/* @return   whether this is the process that answered */
static bool take_request(struct server *server, int fd, const sigset_t *unblocked)
{
	pid_t child;

	if (server->child) {
		refuse(server, fd);
		return false;
	}
	server->started = now();
	child = fork();
	if (child == 0) {
		restore_signals(unblocked);
		answer(server, fd);
	} else if (child < 0) {
		session_errno(server->session, 0, errno, NULL, "cannot answer");
		send_status(fd, 503, "", 0);
	} else {
		server->child = child;
	}
	return child == 0;
}

/* A process that answers has it open, too. @end: without an answer */
static void drop(struct server *server, size_t index, bool end)
{
	struct connection *connection = &server->waiting[index];

	if (end)
		shutdown(connection->fd, SHUT_RDWR);
	close(connection->fd);
	server->waiting_count--;
	memmove(connection, connection + 1, (server->waiting_count - index) * sizeof(*connection));
}

/* @return   the first connection that is not ready, or is; waiting_count: there is none */
static size_t find_connection(const struct server *server, bool is_ready)
{
	size_t i = 0;

	while (i < server->waiting_count && server->waiting[i].is_ready != is_ready)
		i++;
	return i;
}

static bool is_full(const struct server *server)
{
	return server->waiting_count == WAITING && find_connection(server, false) == WAITING;
}

/* What it is out of comes back; a socket that was shut down does not. */
static void accept_connection(struct server *server, int *listener)
{
	int fd = accept4(*listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0 && (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED))
		return;
	if (fd < 0 && (errno == EINVAL || errno == EBADF || errno == ENOTSOCK)) {
		session_errno(server->session, 0, errno, NULL, "a socket does not listen any more");
		close(*listener);
		*listener = -1;
		return;
	}
	if (fd < 0) {
		if (!server->reported_accept)
			session_warn(server->session, NULL, "cannot take a request: %s",
				     errno_words(errno));
		server->reported_accept = true;
		server->pause = now() + PAUSE_MILLISECONDS;
		return;
	}
	server->reported_accept = false;
	if (server->waiting_count == WAITING)
		drop(server, find_connection(server, false), true);
	server->waiting[server->waiting_count++] =
		(struct connection){ .fd = fd, .until = now() + REQUEST_SECONDS * 1000 };
}

/* Look at what has come, and leave it for answer(). @return  false: it was closed */
static bool look_at(struct connection *connection)
{
	char request[REQUEST_BYTES + 1];
	ssize_t got = recv(connection->fd, request, REQUEST_BYTES, MSG_PEEK | MSG_DONTWAIT);
	int more = (int)got + 1;

	if (got < 0 && errno == EAGAIN)
		return true;
	if (got <= 0 || (size_t)got == connection->seen)
		return false;
	connection->seen = (size_t)got;
	request[got] = '\0';
	connection->is_ready = got == REQUEST_BYTES || memchr(request, '\0', (size_t)got) ||
			       strstr(request, "\r\n\r\n") || strstr(request, "\n\n");
	/* Be woken only by what comes behind it; answer() is to read what is there. */
	if (!connection->is_ready)
		setsockopt(connection->fd, SOL_SOCKET, SO_RCVLOWAT, &more, sizeof(more));
	return true;
}

/* Wait for signals, connections and requests, and take them. */
static void wait_once(struct server *server, bool busy)
{
	struct pollfd sources[1 + SOCKETS + WAITING] = { { server->signals, POLLIN, 0 } };
	struct pollfd *of_listeners = sources + 1;
	struct pollfd *of_waiting = of_listeners + server->listener_count;
	const size_t count = server->waiting_count;
	const bool some_ready = find_connection(server, true) < count;
	int64_t until = busy ? now() + 1000 : some_ready ? 0 : INT64_MAX;

	for (size_t i = 0; i < server->listener_count; i++)
		of_listeners[i] = (struct pollfd){ is_full(server) || now() < server->pause
							   ? -1
							   : server->listeners[i],
						   POLLIN, 0 };
	if (now() < server->pause && server->pause < until)
		until = server->pause;
	for (size_t i = 0; i < count; i++) {
		const struct connection *one = &server->waiting[i];

		of_waiting[i] = (struct pollfd){ one->is_ready ? -1 : one->fd, POLLIN, 0 };
		if (!one->is_ready && one->until < until)
			until = one->until;
	}
	until = until == INT64_MAX ? -1 : until > now() ? until - now() : 0;
	if (poll(sources, 1 + server->listener_count + count, (int)until) < 0)
		return;
	if (sources[0].revents)
		read_signals(server);
	/* From the last, since one that is dropped moves those behind it. */
	for (size_t i = count; i-- > 0;)
		if (!server->waiting[i].is_ready &&
		    (of_waiting[i].revents ? !look_at(&server->waiting[i])
					   : server->waiting[i].until <= now()))
			drop(server, i, true);
	for (size_t i = 0; i < server->listener_count; i++)
		if (of_listeners[i].revents && !is_full(server))
			accept_connection(server, &server->listeners[i]);
}

static bool listens(const struct server *server)
{
	for (size_t i = 0; i < server->listener_count; i++)
		if (server->listeners[i] >= 0)
			return true;
	return false;
}

/* While a request is answered, the next one waits, unless the answer hangs. Who says nothing delays nobody. */
static void serve(struct server *server, const sigset_t *unblocked)
{
	while (!server->ends && (listens(server) || server->waiting_count)) {
		const int64_t over =
			now() - server->started - (REQUEST_SECONDS + ANSWER_SECONDS) * 1000;
		const bool busy = server->child && over <= 1000;
		size_t ready;
		bool answered;

		if (server->child && over >= 0)
			kill(server->child, SIGKILL);
		wait_once(server, busy);
		ready = find_connection(server, true);
		if (ready == server->waiting_count || (busy && server->child))
			continue;
		answered = take_request(server, server->waiting[ready].fd, unblocked);
		drop(server, ready, false);
		if (answered)
			return;
	}
}

bool http_serve(struct session *session, const char *address, const struct http_page *page)
{
	struct server server = { .session = session, .page = page, .signals = -1 };
	bool good = open_sockets(&server, address);
	sigset_t before;

	if (!good)
		goto out;
	server.has_zlib = load_library(LIBRARY_Z, symbols, sizeof(symbols) / sizeof(symbols[0]),
				       &server.zlib);
	sigprocmask(SIG_BLOCK, NULL, &before);
	signal(SIGCHLD, SIG_DFL);
	server.signals = session_open_signals(session, SIGCHLD);
	good = server.signals >= 0;
	if (!good)
		goto out;
	session_notify("READY=1");
	serve(&server, &before);
out:
	for (size_t i = 0; i < server.listener_count; i++)
		if (server.listeners[i] >= 0)
			close(server.listeners[i]);
	if (server.signals >= 0)
		close(server.signals);
	return good;
}
