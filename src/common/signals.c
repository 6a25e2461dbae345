/* SPDX-License-Identifier: Apache-2.0 */
#include "signals.h"

#include <stddef.h>

static const int signals[] = { SIGHUP, SIGINT, SIGTERM, SIGPIPE, SIGXFSZ };
#define SIGNALS (sizeof(signals) / sizeof(signals[0]))
#define INTERRUPTS 3

static void block(size_t count, sigset_t *before)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < count; i++)
		sigaddset(&set, signals[i]);
	sigprocmask(SIG_BLOCK, &set, before);
}

void block_termination_signals(sigset_t *before)
{
	block(SIGNALS, before);
}

void block_interrupts(sigset_t *before)
{
	block(INTERRUPTS, before);
}

static bool is_ignored(int signal)
{
	struct sigaction action;

	return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

bool is_signal_pending(void *unused)
{
	sigset_t set;

	(void)unused;
	if (sigpending(&set))
		return false;
	/* A blocked signal becomes pending even if it is ignored, as below nohup(1). */
	for (size_t i = 0; i < SIGNALS; i++)
		if (sigismember(&set, signals[i]) == 1 && !is_ignored(signals[i]))
			return true;
	return false;
}

void restore_signals(const sigset_t *before)
{
	sigprocmask(SIG_SETMASK, before, NULL);
}

void block_unignored_interrupts(sigset_t *blocked, int also)
{
	sigemptyset(blocked);
	sigaddset(blocked, also);
	for (size_t i = 0; i < INTERRUPTS; i++)
		if (!is_ignored(signals[i]))
			sigaddset(blocked, signals[i]);
	sigprocmask(SIG_BLOCK, blocked, NULL);
}
