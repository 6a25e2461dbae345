/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals that end the process wait while something is changed: the library asks whether one has
 * come, undoes what it did, and the signal then does what it always does.
 */
#ifndef FSQ_SIGNALS_H
#define FSQ_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

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

#endif
