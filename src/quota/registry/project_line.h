/* SPDX-License-Identifier: Apache-2.0 */
/* The parser of a line of /etc/projects, ID:DIRECTORY, or of /etc/projid, NAME:ID. */
#ifndef FSQ_PROJECT_LINE_H
#define FSQ_PROJECT_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fsq_project_file { FSQ_PROJECTS, FSQ_PROJID };

enum fsq_line_kind {
	FSQ_LINE_OTHER, /* a comment, an empty line, or one that makes no sense */
	FSQ_LINE_ENTRY,
	FSQ_LINE_RETIRED, /* an entry that fsquota took away: its space can be used again */
};

struct fsq_project_line {
	enum fsq_line_kind kind;
	uint32_t id;	 /* of an entry */
	uint32_t word;	 /* of an entry: where its directory or name begins */
	uint32_t length; /* of the word, without slashes at the end of a directory */
	bool takes_id;	 /* another program may read a number in it, whatever its kind */
	uint32_t taken;
};

/* Instead of the colon of an entry it makes a retired line: no program sees an entry without one.
 */
#define FSQ_LINE_OFF '~'

/* What a retired line begins with that has no entry: what is left of one whose space was used again. */
#define FSQ_LINE_FILL "~fsquota~"

/** Make a retired line of the space for one; without room for FSQ_LINE_FILL it is known to nobody as ours. */
void fsq_project_line_fill(char *text, size_t length);

/**
 * Take a line apart.
 *
 * @text     the line, @length bytes without its newline; there may be NULs in it
 * Source: projects(5), projid(5)
 */
void fsq_project_line_parse(enum fsq_project_file file, const char *text, size_t length,
			    struct fsq_project_line *line);

/**
 * The same in a tenth of the time, for a line as most are: printable, with one to eight plain digits, and not the last
 * one of a file.
 *
 * @text     where it begins
 * @end      where the file does
 * @line     set but for what other programs may take; its ID is not 0
 * @return   the length of the line with its newline; 0: it is another one
 */
size_t fsq_project_line_parse_plain(enum fsq_project_file file, const char *text, const char *end,
				    struct fsq_project_line *line);

/**
 * Whether a line of the projects file has ID 0, which is no project: what carries it is in none, and its limits are the
 * defaults of all. Whoever changes quotas ignores the line.
 */
bool fsq_project_line_is_of_zero(enum fsq_project_file file, const struct fsq_project_line *line);

/** fsq_project_line_parse() of the next line of a text in memory. @return  as fsq_next_line() */
char *fsq_project_line_next(enum fsq_project_file file, char **rest, char *end,
			    struct fsq_project_line *line);

/**
 * Find the one byte that takes an entry away, for us and for every other reader of the file: a
 * colon that becomes FSQ_LINE_OFF or, in a line with several, the first byte, which becomes #.
 *
 * @off      set to what to write there
 * @return   its position in the line
 */
size_t fsq_project_line_switch(const char *text, size_t length, char *off);

#endif
