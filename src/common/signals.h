/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FSQ_SIGNALS_H
#define FSQ_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/*
 * During a change, block signals that end the process. The library checks for pending ones and rolls back. The
 * signal takes effect in restore_signals().
 */

/**
 * Block SIGHUP, SIGINT and SIGTERM; also SIGPIPE and SIGXFSZ, so that the write that raises one fails and the change
 * is rolled back.
 *
 * @before   set to what was blocked before
 */
void block_termination_signals(sigset_t *before);

/** Block SIGHUP, SIGINT and SIGTERM only, for work that needs no rollback. */
void block_interrupts(sigset_t *before);

/** @return  whether one of these signals is pending and not ignored. A callback for fsq_call_options. */
bool is_signal_pending(void *unused);

/** Restore the signal mask @before. A pending signal takes effect now. */
void restore_signals(const sigset_t *before);

/** Block @also, and those of SIGHUP, SIGINT and SIGTERM that are not ignored. @blocked  set to these signals */
void block_unignored_interrupts(sigset_t *blocked, int also);

#endif
