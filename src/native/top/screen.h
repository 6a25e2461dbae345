/* SPDX-License-Identifier: Apache-2.0 */
/* A whole terminal for one command: its own screen, and keys as they are pressed. */
#ifndef FSQ_SCREEN_H
#define FSQ_SCREEN_H

#include <stdbool.h>
#include <termios.h>

#include "shared/writer.h"

/* What the terminal takes for these; NULL: it has none. */
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

/**
 * Take over standard input and output, if both are a terminal that terminfo(5) knows.
 *
 * @return   whether they are; else nothing has changed
 * Source: terminfo(5), termios(3)
 */
bool screen_begin(struct screen *screen, struct writer *w);

/** Give it back as it was. */
void screen_end(struct screen *screen, struct writer *w);

/** @return  how many lines it has */
int screen_lines(void);

enum screen_key { SCREEN_NONE, SCREEN_UP = 256, SCREEN_DOWN, SCREEN_ENTER };

/** Read a key that was pressed. @return  its character, or enum screen_key */
int screen_key(void);

#endif
