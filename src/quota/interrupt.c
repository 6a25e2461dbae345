/* SPDX-License-Identifier: Apache-2.0 */
#include "interrupt.h"

#include <stddef.h>

/* The last two come with a write that fails: it shall fail, and be undone. */
static const int signals[] = { SIGHUP, SIGINT, SIGTERM, SIGPIPE, SIGXFSZ };
#define COUNT (sizeof(signals) / sizeof(signals[0]))
#define STOPS 3

static void block(size_t count, sigset_t *before)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < count; i++)
		sigaddset(&set, signals[i]);
	sigprocmask(SIG_BLOCK, &set, before);
}

void fsq_interrupt_block(sigset_t *before)
{
	block(COUNT, before);
}

void fsq_interrupt_block_stops(sigset_t *before)
{
	block(STOPS, before);
}

/* nohup(1), or in the background: a signal that is blocked waits even so. */
static bool is_ignored(int number)
{
	struct sigaction action;

	return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

bool fsq_interrupt_pending(void)
{
	sigset_t set;

	if (sigpending(&set))
		return false;
	for (size_t i = 0; i < COUNT; i++)
		if (sigismember(&set, signals[i]) == 1 && !is_ignored(signals[i]))
			return true;
	return false;
}

void fsq_interrupt_restore(const sigset_t *before)
{
	sigprocmask(SIG_SETMASK, before, NULL);
}
