/* SPDX-License-Identifier: Apache-2.0 */
/* Signals in the middle of a change: those that end a process wait until it is done or undone. */
#ifndef FSQ_INTERRUPT_H
#define FSQ_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

/** Let these signals wait; what was blocked before goes to @before. */
void fsq_interrupt_block(sigset_t *before);

/** Only those that somebody sends to stop us: for work that can be left where it is. */
void fsq_interrupt_block_stops(sigset_t *before);

/** @return  whether one of them is waiting that is not ignored: then undo, and restore */
bool fsq_interrupt_pending(void);

/** As it was before; what is waiting does now what it always does. */
void fsq_interrupt_restore(const sigset_t *before);

#endif
