/* SPDX-License-Identifier: Apache-2.0 */
/* Texts with {names} in them, and words of the shell. */
#ifndef FSQ_TEMPLATE_H
#define FSQ_TEMPLATE_H

#include <stdbool.h>
#include <stdint.h>

struct template_field {
	const char *name;
	const char *text; /* or NULL: the number */
	uint64_t number;
};

/**
 * Replace {names} of fields. Braces before anything but a small letter stay.
 *
 * @fields   ended by a NULL name; every name of the template is there
 * @quoted   texts become one word of the shell each, in one line of printable ASCII
 * @return   for free(3), or NULL without memory
 */
char *template_expand(const char *template, const struct template_field *fields, bool quoted);

#endif
