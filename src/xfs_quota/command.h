/* SPDX-License-Identifier: Apache-2.0 */
/* The description of a command, and the functions that parse a command line and run the command. */
#ifndef FSQ_XFS_QUOTA_COMMAND_H
#define FSQ_XFS_QUOTA_COMMAND_H

#include "state.h"

enum command_flags {
	COMMAND_SHELL = 1,	/* runs even if the current path is foreign */
	COMMAND_ONE_SHOT = 2,	/* with -c runs once, not for each filesystem of the table */
	COMMAND_FOREIGN = 4,	/* also runs on filesystems other than XFS */
	COMMAND_EXPERT = 8,	/* only with -x */
	COMMAND_OUTPUT = 16,	/* -f FILE sends the output to a new file */
	COMMAND_SHOWS_ALL = 32, /* covers all filesystems: with -c it runs in the first pass only */
	COMMAND_CURRENT = 64,	/* does nothing without a current path */
	COMMAND_ONE_TYPE = 128, /* accepts at most one of -u, -g and -p */
	COMMAND_NO_OPERANDS = 256,
};

struct call;

/* The description of a command, at the end of the file that implements it. */
struct command {
	const char *name;
	const char *alias;    /* or NULL */
	const char *letters;  /* options for getopt(3); NULL: every word is an operand */
	char refused;	      /* one of @letters that xfs_quota rejects all the same; or 0 */
	int min, max;	      /* words after the name, options included; max -1: no bound */
	unsigned int flags;   /* enum command_flags */
	const char *synopsis; /* or NULL */
	const char *summary;
	const char *help; /* what it does, its options and an example; or NULL */
	void (*run)(struct state *state, const struct call *call);
};

/* Lines of help. */
#define HELP_FORMS                      \
	"  -b       blocks (default)\n" \
	"  -i       inodes\n"           \
	"  -r       realtime blocks\n"
#define HELP_TYPES                        \
	"  -u       of users (default)\n" \
	"  -g       of groups\n"          \
	"  -p       of projects\n"
#define HELP_FILE "  -f FILE  write to a new file\n"
#define HELP_NARROW_FORMS \
	"  -b  blocks\n"  \
	"  -i  inodes\n"  \
	"  -r  realtime blocks\n"
#define HELP_NARROW_TYPES            \
	"  -u  of users (default)\n" \
	"  -g  of groups\n"          \
	"  -p  of projects\n"

/* How a table is printed. */
struct style {
	bool form[FSQ_FORMS]; /* -b, -i, -r; at least one */
	bool human;	      /* -h: sizes with a letter */
	bool numeric;	      /* -n: IDs instead of names */
	bool header;	      /* without -N */
};

/* A command with its words. */
struct call {
	const struct command *command;
	int argc;
	char **argv;		  /* argv[0] is the name as typed; getopt(3) permutes the rest */
	const char *options[128]; /* by letter: its argument, or ""; NULL: not given */
	char **operands;
	int operand_count;
	/* What the options mean in most commands: */
	bool types[FSQ_TYPES]; /* -u, -g, -p */
	int type_count;
	enum fsq_type type; /* for commands that take one: user, if none was given */
	int form_count;	    /* how many of -b, -i and -r were given */
	struct style style;
};

/** @return  the command at @index of the table, which is sorted by name, or NULL after the last */
const struct command *xq_command_at(size_t index);

/** @return  whether a command may run: with -x any, otherwise those without COMMAND_EXPERT */
bool xq_command_is_allowed(const struct state *state, const struct command *command);

/**
 * Run the command of a line.
 *
 * @line     words between blanks, without quoting; it is modified
 * @all      run it on each filesystem of the table; otherwise on the current path
 */
void xq_run_line(struct state *state, char *line, bool all);

/**
 * Cut a line at its blanks.
 *
 * @line     is modified; the words point into it
 * @count    set
 * @return   the words and a NULL, for free(3); NULL: no memory
 */
char **xq_split_line(char *line, int *count);

/** Fill @call from its argv. @return  false when options, operands or types are wrong; the usage was printed */
bool xq_parse_options(struct state *state, struct call *call);

/** Print a command's usage line, under the name that was typed. */
void xq_print_usage(struct state *state, const char *name, const struct command *command);

/** Print the usage line of the command of a call, under the command's own name. */
void xq_show_usage(struct state *state, const struct call *call);

/** Parse a number as atoi(3) of glibc does. @return  the number; 0 for NULL */
uint32_t xq_number(const char *word);

/** Read and run commands from standard input until its end or `quit`. */
void xq_shell(struct state *state);

/* --- amounts.c: use, limits and grace times in the layout of xfs_quota --- */

#define XQ_CELL 48

#define XQ_NO_GRACE (-1)

/**
 * "[7 days]", "[3 days 04:05:06]" or "[04:05:06]".
 *
 * @seconds  time left, or the configured grace time; or XQ_NO_GRACE
 * @exact    of a configured time: do not round it, and print hours after days
 * @human    the narrow layout
 */
void xq_cell_grace(char cell[XQ_CELL], int64_t seconds, bool exact, bool human);

/** Write three amounts of @form: in KiB or inodes, or with @human in the largest unit they reach. */
void xq_write_columns(struct writer *to, enum fsq_form form, bool human, uint64_t first,
		      uint64_t second, uint64_t third);

/**
 * Write use, limits, warnings and grace time of one form.
 *
 * @gap      blanks before the warnings
 */
void xq_write_amounts(struct writer *to, enum fsq_form form, bool human,
		      const struct fsq_amounts *amounts, size_t gap);

/** @return  whether nothing is used, in the forms of @style */
bool xq_is_unused(const struct style *style, const struct fsq_dquot *dquot);

/** @return  whether there is a limit, in the forms of @style */
bool xq_has_limits(const struct style *style, const struct fsq_dquot *dquot);

extern const struct command xq_df, xq_disable, xq_dump, xq_enable, xq_limit, xq_off, xq_path,
	xq_print_paths, xq_project, xq_quot, xq_quota, xq_remove, xq_report, xq_restore, xq_state,
	xq_timer, xq_warn;

#endif
