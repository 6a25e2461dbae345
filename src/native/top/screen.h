/* SPDX-License-Identifier: Apache-2.0 */
/* Use the whole terminal: the alternate screen, and keys without waiting for enter. */
#ifndef FSQ_SCREEN_H
#define FSQ_SCREEN_H

#include <stdbool.h>
#include <termios.h>

#include "shared/writer.h"

/* Control sequences of the terminal, from terminfo(5). A NULL text: the terminal lacks it. */
enum screen_text {
	SCREEN_CLEAR,
	SCREEN_BEGIN,
	SCREEN_END,
	SCREEN_HIDE_CURSOR,
	SCREEN_SHOW_CURSOR,
	SCREEN_REVERSE,
	SCREEN_PLAIN,
	SCREEN_TEXTS,
};

struct screen {
	struct termios before;
	char *text[SCREEN_TEXTS];
};

/** Before screen_begin(): in the background of the terminal stop here, where a signal still ends the process, until it is in the foreground. */
void screen_wait_for_foreground(const struct writer *w);

/**
 * Take over standard input and output, if both are a terminal that terminfo(5) knows.
 *
 * @return   whether they are; else nothing has changed
 * Source: terminfo(5), termios(3)
 */
bool screen_begin(struct screen *screen, struct writer *w);

/** Restore the terminal. */
void screen_end(struct screen *screen, struct writer *w);

/** @return  how many lines the terminal has */
int screen_lines(void);

enum screen_key { SCREEN_NONE, SCREEN_UP = 256, SCREEN_DOWN, SCREEN_ENTER };

/** Read a key that was pressed. @return  its character, or enum screen_key */
int screen_key(void);

#endif
