/* SPDX-License-Identifier: Apache-2.0 */
/* Serve pages over HTTP, for programs that poll, with libmicrohttpd. */
#ifndef FSQ_HTTP_H
#define FSQ_HTTP_H

#include "native/cli/session.h"

/* The address that means the sockets that systemd has opened, see systemd.socket(5). */
#define HTTP_OF_SYSTEMD "systemd"

/* How many pages http_serve() takes. */
#define HTTP_PAGES 2

struct http_page {
	const char *path; /* such as "/metrics" */
	const char *type;
	const char *other, *other_type; /* the type if the client accepts @other; or NULL */
	bool checks; /* answer 503 with the page if there is an exit status when it is written */
	/* Write the page to session->out. @return  false: an error was reported */
	bool (*write)(struct session *session, void *arg);
	void *arg;
};

/**
 * Serve pages until a signal comes. A forked process writes a page for all requests of it that wait at that time; one
 * such process of each page runs at a time. Its memory is freed when it exits, and a hung filesystem does not block
 * the server. The call returns in that process, too.
 *
 * @address  numeric "ADDRESS:PORT"; ":PORT" for all addresses; or HTTP_OF_SYSTEMD
 * @return   false when it cannot be served; an error was reported
 * Source: microhttpd.h, sd_listen_fds(3)
 */
bool http_serve(struct session *session, const char *address, const struct http_page *pages,
		size_t count);

#endif
