/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FSQ_SIGNALS_H
#define FSQ_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/*
 * Signals that end the process are blocked during a change: the library checks for them and rolls back; then
 * they take effect.
 */

/**
 * Block SIGHUP, SIGINT and SIGTERM, and SIGPIPE and SIGXFSZ, which come with a write: it must fail,
 * and be undone.
 *
 * @before   set to what was blocked before
 */
void block_termination_signals(sigset_t *before);

/** Block SIGHUP, SIGINT and SIGTERM only, for work that can be left where it is. */
void block_interrupts(sigset_t *before);

/** @return  whether one of them is pending that is not ignored. For fsq_call_options. */
bool is_signal_pending(void *unused);

/** Unblock them: a pending one takes effect now. */
void restore_signals(const sigset_t *before);

/** Block SIGHUP, SIGINT and SIGTERM, but for those that are ignored, and one more. @blocked  set to them */
void block_unignored_interrupts(sigset_t *blocked, int also);

#endif
