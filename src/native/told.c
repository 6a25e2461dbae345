/* SPDX-License-Identifier: Apache-2.0 */
#include "told.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *one, const void *other)
{
	return strcmp(one, other);
}

bool told_is_news(void **told, const char *text)
{
	char *copy;

	if (!told)
		return true;
	if (tfind(text, told, compare))
		return false;
	copy = strdup(text);
	if (copy && !tsearch(copy, told, compare))
		free(copy);
	return true;
}

void told_forget(void **told, const char *text)
{
	char *const *found = told ? tfind(text, told, compare) : NULL;
	char *copy = found ? *found : NULL;

	if (copy)
		tdelete(text, told, compare);
	free(copy);
}

void told_forget_all(void **told)
{
	tdestroy(*told, free);
	*told = NULL;
}
