/* SPDX-License-Identifier: Apache-2.0 */
/* What a service tells the manager that has started it. */
#ifndef FSQ_NOTIFY_H
#define FSQ_NOTIFY_H

/**
 * Send a message to the socket of $NOTIFY_SOCKET, if there is one.
 *
 * @state    such as "READY=1"
 * Source: sd_notify(3)
 */
void notify(const char *state);

#endif
