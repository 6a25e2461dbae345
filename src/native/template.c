/* SPDX-License-Identifier: Apache-2.0 */
#include "template.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_in_quotes(FILE *to, const char *text)
{
	putc('\'', to);
	for (; *text; text++)
		if (*text == '\'')
			fputs("'\"'\"'", to);
		else
			putc(*text, to);
	putc('\'', to);
}

/* The one way with printable characters alone that every sh has. */
static void put_with_printf(FILE *to, const char *text)
{
	fputs("\"$(printf '", to);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < ' ' || c >= 0x7f || strchr("\\'%", c))
			fprintf(to, "\\%03o", c);
		else
			putc(c, to);
	}
	fputs("')\"", to);
}

static void put_quoted(FILE *to, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789/._-+=,:@%";
	bool printable = true;

	for (const char *c = text; *c; c++)
		printable &= *c >= ' ' && *c < 0x7f;
	if (*text && text[strspn(text, plain)] == '\0')
		fputs(text, to);
	else if (printable)
		put_in_quotes(to, text);
	else
		put_with_printf(to, text);
}

static void put_field(FILE *to, const char *name, size_t length,
		      const struct template_field *fields, bool quoted)
{
	while (fields->name &&
	       (strlen(fields->name) != length || memcmp(fields->name, name, length) != 0))
		fields++;
	if (!fields->name)
		return;
	if (!fields->text)
		fprintf(to, "%" PRIu64, fields->number);
	else if (quoted)
		put_quoted(to, fields->text);
	else
		fputs(fields->text, to);
}

char *template_expand(const char *from, const struct template_field *fields, bool quoted)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	bool failed;

	if (!to)
		return NULL;
	while (*from) {
		size_t length = strcspn(from, "}");

		if (*from != '{' || from[1] < 'a' || from[1] > 'z') {
			putc(*from++, to);
			continue;
		}
		put_field(to, from + 1, length - 1, fields, quoted);
		from += length + (from[length] == '}');
	}
	failed = ferror(to);
	if (fclose(to) == 0 && !failed)
		return text;
	free(text);
	return NULL;
}
