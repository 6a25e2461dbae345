/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A row is a struct. An array of fields describes it: each has the name of a column, the key in JSON, the type of
 * the value and its offset in the struct. All formats print from that array.
 */
#ifndef FSQ_FIELD_H
#define FSQ_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* No value: an empty cell, null in JSON. */
#define FIELD_NOT_KNOWN UINT64_MAX /* of FIELD_COUNT and FIELD_BYTES */
#define FIELD_NO_SECONDS (-1)	   /* of FIELD_SECONDS */
#define FIELD_NO_RATE INT64_MIN	   /* of FIELD_RATE */

/* field_text() has the values of types up to FIELD_WORD. */
enum field_type {
	FIELD_TEXT,	   /* const char *, or NULL */
	FIELD_PATH,	   /* the same; a cell shows - for NULL */
	FIELD_WORD,	   /* an enum; @words has its texts, and NULL at the end */
	FIELD_TEXTS,	   /* struct field_texts: an array in JSON */
	FIELD_ID,	   /* uint32_t */
	FIELD_ID_OR_NONE,  /* the same, 0: none */
	FIELD_COUNT,	   /* uint64_t, or FIELD_NOT_KNOWN */
	FIELD_COUNT_LIMIT, /* uint64_t, 0: none */
	FIELD_BYTES,	   /* as FIELD_COUNT; unless exact, with a unit letter */
	FIELD_BYTES_LIMIT, /* as FIELD_COUNT_LIMIT */
	FIELD_SECONDS,	   /* int64_t of time that is left, or FIELD_NO_SECONDS */
	FIELD_RATE,	   /* int64_t, bytes a second; unless exact, with sign and unit letter */
	FIELD_PERCENT,	   /* double, below 0: none */
	FIELD_BOOL,	   /* bool: yes or no, in JSON true or false */
	FIELD_CHANGE, /* enum row_change; the JSON key "changed" is would_change in a dry run */
	FIELD_TIME,   /* int64_t, milliseconds since 1970; of an optional field 0: none */
	FIELD_ROW,    /* a pointer to a struct that @members describe, or NULL; only in JSON */
};

/* Whether a command has changed the object of the row, or in a dry run would change it. */
enum row_change {
	ROW_ONLY_SHOWN,
	ROW_UNCHANGED,
	ROW_CHANGED,
};

struct field_texts {
	const char *const *texts; /* or NULL */
	size_t count;
};

/* An array of them ends with one that has neither column nor key. */
struct field {
	const char *column; /* NULL: only in JSON */
	const char *key;    /* NULL: not in JSON */
	enum field_type type;
	uint16_t offset; /* in the row */
	const char *help;
	union {
		const char *const *words;    /* of FIELD_WORD */
		const struct field *members; /* of FIELD_ROW */
	};
	uint16_t size;	     /* of the struct of FIELD_ROW */
	uint16_t at_least;   /* offset of a bool: the value may be higher; 0: none */
	const char *heading; /* of a table for people; NULL: the name of the column */
	uint16_t nearness;   /* offset of the enum field_nearness to show; 0: by the percentage */
	bool optional;	     /* omitted from JSON if it is empty, instead of null */
	bool sometimes;	     /* some variants of the rows omit it from JSON */
	bool minor;	     /* left out on a terminal that is too narrow */
	bool first_out;	     /* and before anything is shortened */
	bool is_id;	     /* of FIELD_COUNT: says which one it is, not how many */
	bool if_any; /* left out of a table for people, unless chosen, where no row has a value */
};

/* Room for any number, size or time. */
#define FIELD_CELL 40

/** @return  whether the field has no value in this row; inline, because it is called so often */
static inline bool field_is_empty(const struct field *field, const void *row)
{
	const void *member = (const char *)row + field->offset, *pointer;

	switch (field->type) {
	case FIELD_TEXT:
	case FIELD_PATH:
	case FIELD_TEXTS:
	case FIELD_ROW:
		memcpy(&pointer, member, sizeof(pointer));
		return !pointer;
	case FIELD_WORD:
		return !field->words[*(const unsigned int *)member];
	case FIELD_ID_OR_NONE:
		return *(const uint32_t *)member == 0;
	case FIELD_COUNT_LIMIT:
	case FIELD_BYTES_LIMIT:
		return *(const uint64_t *)member == 0;
	case FIELD_COUNT:
	case FIELD_BYTES:
		return *(const uint64_t *)member == FIELD_NOT_KNOWN;
	case FIELD_SECONDS:
		return *(const int64_t *)member == FIELD_NO_SECONDS;
	case FIELD_RATE:
		return *(const int64_t *)member == FIELD_NO_RATE;
	case FIELD_PERCENT:
		return *(const double *)member < 0;
	case FIELD_TIME:
		return field->optional && *(const int64_t *)member == 0;
	case FIELD_CHANGE:
		return *(const unsigned int *)member == ROW_ONLY_SHOWN;
	default:
		return false;
	}
}

/** Write a time for people, in their zone, as 2026-01-31 08:00. @at  has FIELD_CELL bytes. @return  the end, a NUL */
char *field_put_local_time(char *at, int64_t milliseconds);

/** @return  the value of any type that is an integer in the row: a number, ID, time, enum or bool */
uint64_t field_number(const struct field *field, const void *row);

/** @return  whether field_text() returns the value; otherwise field_put() formats it */
static inline bool field_has_text(const struct field *field)
{
	return field->type <= FIELD_WORD;
}

/** @return  a text of the row, or NULL */
static inline const char *field_text(const struct field *field, const void *row)
{
	const void *member = (const char *)row + field->offset;

	return field->type == FIELD_WORD ? field->words[*(const unsigned int *)member]
					 : *(const char *const *)member;
}

/** @return  the text for a cell; for NULL "-" if it is a path, else "" */
const char *field_cell_text(const struct field *field, const void *row);

/**
 * Format a value that is neither text nor empty.
 *
 * @at       room for FIELD_CELL bytes
 * @exact    bytes and seconds as numbers, instead of 1.5G and 6d23h
 * @return   the end of what was written; there is no NUL
 */
char *field_put(char *at, const struct field *field, const void *row, bool exact);

/** @return  the value as text, from the row or in @cell; NULL: the field is empty */
const char *field_cell(const struct field *field, const void *row, bool exact,
		       char cell[FIELD_CELL]);

/** Compare two rows by a field. An empty one comes last, @descending or not. @return as strcmp(3) */
int field_compare(const struct field *field, const void *one, const void *other, bool descending);

/** @return  whether it says how much: --sort puts the largest first. Not IDs, and not times */
bool field_is_amount(const struct field *field);

/** @return  whether a cell is text, which is aligned left */
bool field_is_text(const struct field *field);

/* How near a percentage is to a limit: yellow and red in tables, and on pages. */
enum field_nearness { FIELD_FAR, FIELD_NEAR, FIELD_AT };

/** @return  FIELD_AT if @percent is shown as 100% or more; FIELD_FAR if it is below 0, which means none */
enum field_nearness field_nearness(double percent);

/** A percentage with one decimal, rounded as printf(3) does. @return  @cell */
const char *field_decimal(char cell[FIELD_CELL], double value);

/** A time such as 2026-01-31T08:15:00.123Z. @return  @cell */
const char *field_time(char cell[FIELD_CELL], int64_t milliseconds);

/** Time that is left: 6d23h; "expired" for none. @return  @cell */
const char *field_duration(char cell[FIELD_CELL], uint64_t seconds);

/** A size as lsblk(8) shows it: 1.5G, 10M. @return  @cell */
const char *field_size(char cell[FIELD_CELL], uint64_t bytes);

#endif
