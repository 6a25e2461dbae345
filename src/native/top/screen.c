/* SPDX-License-Identifier: Apache-2.0 */
#include "screen.h"

#include <curses.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <unistd.h>

#include "shared/load_library.h"

LIBRARY_NOTE_TINFO;

/* The functions of curses(3) that are used, under their own names. */
struct terminfo {
	int (*setupterm)(const char *name, int fd, int *error);
	char *(*tigetstr)(const char *name);
};

#define SYMBOL(name) LIBRARY_SYMBOL(name, terminfo, name)

static const struct library_symbol symbols[] = { SYMBOL(setupterm), SYMBOL(tigetstr) };

/* @return   a capability without its padding, for free(3); NULL: the terminal lacks it */
static char *capability(const struct terminfo *terminfo, const char *name)
{
	const char *found = terminfo->tigetstr(name), *from;
	char *copy, *to;

	if (!found || found == (const char *)-1)
		return NULL;
	copy = to = strdup(found);
	for (from = found; copy && *from; from++) {
		const char *end = from[0] == '$' && from[1] == '<' ? strchr(from, '>') : NULL;

		if (end)
			from = end;
		else
			*to++ = *from;
	}
	if (copy)
		*to = '\0';
	return copy;
}

static void put(struct writer *w, const char *text)
{
	if (text)
		write_text(w, text);
}

void screen_wait_for_foreground(const struct writer *w)
{
	struct termios as_it_is;

	if (isatty(w->fd) && tcgetattr(STDIN_FILENO, &as_it_is) == 0)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &as_it_is);
}

bool screen_begin(struct screen *screen, struct writer *w)
{
	static const char *const names[] = {
		[SCREEN_CLEAR] = "clear",	[SCREEN_BEGIN] = "smcup",
		[SCREEN_END] = "rmcup",		[SCREEN_HIDE_CURSOR] = "civis",
		[SCREEN_SHOW_CURSOR] = "cnorm", [SCREEN_REVERSE] = "rev",
		[SCREEN_PLAIN] = "sgr0",
	};
	struct terminfo terminfo;
	struct termios raw;
	int error;

	*screen = (struct screen){ 0 };
	if (!isatty(STDIN_FILENO) || !isatty(w->fd) ||
	    !load_library(LIBRARY_TINFO, symbols, sizeof(symbols) / sizeof(symbols[0]),
			  &terminfo) ||
	    terminfo.setupterm(NULL, w->fd, &error) != 0 ||
	    tcgetattr(STDIN_FILENO, &screen->before))
		return false;
	for (int i = 0; i < SCREEN_TEXTS; i++)
		screen->text[i] = capability(&terminfo, names[i]);
	if (!screen->text[SCREEN_CLEAR])
		return false;
	raw = screen->before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	/* Disable ctrl-Z: SIGTSTP would leave the terminal in this mode. */
	raw.c_cc[VSUSP] = _POSIX_VDISABLE;
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
	put(w, screen->text[SCREEN_BEGIN]);
	put(w, screen->text[SCREEN_HIDE_CURSOR]);
	return true;
}

void screen_end(struct screen *screen, struct writer *w)
{
	put(w, screen->text[SCREEN_CLEAR]);
	put(w, screen->text[SCREEN_SHOW_CURSOR]);
	put(w, screen->text[SCREEN_END]);
	writer_flush(w);
	/* Who was put into the background meanwhile must not stop at the end. */
	signal(SIGTTOU, SIG_IGN);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &screen->before);
	for (int i = 0; i < SCREEN_TEXTS; i++)
		free(screen->text[i]);
}

int screen_lines(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_row < 4 ? 24 : size.ws_row;
}

int screen_key(void)
{
	unsigned char c[3] = { 0 };

	if (read(STDIN_FILENO, c, 1) != 1)
		return SCREEN_NONE;
	if (c[0] == '\n' || c[0] == '\r')
		return SCREEN_ENTER;
	if (c[0] != '\033')
		return c[0];
	/* An arrow is ESC [ A or ESC O A on all terminals that have one. */
	if (read(STDIN_FILENO, c + 1, 2) != 2 || (c[1] != '[' && c[1] != 'O'))
		return SCREEN_NONE;
	return c[2] == 'A' ? SCREEN_UP : c[2] == 'B' ? SCREEN_DOWN : SCREEN_NONE;
}
