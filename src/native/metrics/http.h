/* SPDX-License-Identifier: Apache-2.0 */
/* Serve one page over HTTP, for a program that polls, with libmicrohttpd. */
#ifndef FSQ_HTTP_H
#define FSQ_HTTP_H

#include "native/cli/session.h"

/* What serves the socket that systemd.socket(5) has opened. */
#define HTTP_OF_SYSTEMD "systemd"

struct http_page {
	const char *path; /* such as "/metrics" */
	const char *type;
	const char *other, *other_type; /* the type for who accepts @other */
	/* Write it to session->out. @return  false: there is none, and an error was reported */
	bool (*write)(struct session *session, void *arg);
	void *arg;
};

/**
 * Serve a page until a signal ends it. A process of its own writes it, one at a time, for all requests that wait
 * when it begins: its memory is freed with it, and a hung filesystem does not block the server. The call returns in
 * that process, too.
 *
 * @address  "ADDRESS:PORT", of numbers; ":PORT": all addresses; or HTTP_OF_SYSTEMD
 * @return   false when it cannot be served; an error was reported
 * Source: microhttpd.h, sd_listen_fds(3)
 */
bool http_serve(struct session *session, const char *address, const struct http_page *page);

#endif
