/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

#define WORDS 7

static const char *const letters[] = { "c:d:D:fP:p:t:xV", "f:gpuL:U:", "", "h" };
/* What can be seen of one call. */
struct seen {
	int result, index, character;
	const char *argument;
	char *argv[WORDS + 1];
};

/* Every word by its own pointer, so that their order can be compared. */
static void fill(char *argv[], unsigned int number)
{
	static char program[] = "x";
	static char pool[][16] = { "-",	      "--",	 "-x",	       "-fx",	   "-c",
				   "-cprint", "-Z",	 "word",       "/mnt",	   "-pf",
				   "-:",      "--json",	 "--projects", "--at",	   "--at=/x",
				   "--proj=", "--hello", "--none",     "--json=1", "--helped",
				   "-5",      "" };
	const unsigned int size = sizeof(pool) / sizeof(pool[0]);

	for (int i = 0; i < WORDS; i++, number /= size)
		argv[i] = i == 0 ? program : pool[number % size];
}

static unsigned int next_number(void)
{
	static unsigned long long state = 88172645463325252ULL;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned int)(state >> 16);
}

/* One side: the function and variables of the C library, or ours. */
struct side {
	int (*function)(int, char *const[], const char *);
	int *index, *quiet, *character;
	char **argument;
};

static struct seen call(const struct side *side, int argc, char **argv, const char *known)
{
	struct seen seen = { .result = side->function(argc, argv, known) };

	seen.index = *side->index;
	seen.character = seen.result == '?' ? *side->character : 0;
	seen.argument = *side->argument;
	memcpy(seen.argv, argv, WORDS * sizeof(*argv));
	return seen;
}

/* The same words with both. */
static bool agree(const struct side *one, const struct side *other, unsigned int number)
{
	const char *known = letters[number % 4];
	int argc = 1 + (int)(number / 4 % WORDS);
	char *mine[WORDS + 1] = { NULL }, *theirs[WORDS + 1] = { NULL };
	struct seen a, b;

	fill(mine, next_number());
	memcpy(theirs, mine, sizeof(mine));
	mine[argc] = theirs[argc] = NULL;
	*one->index = *other->index = 0;
	do {
		a = call(one, argc, mine, known);
		b = call(other, argc, theirs, known);
		if (memcmp(&a, &b, sizeof(a)) != 0)
			return false;
	} while (a.result != -1);
	return true;
}

static void compare(const struct side *library)
{
	const struct side ours = { getopt, &optind, &opterr, &optopt, &optarg };
	int agreed = 0;

	*ours.quiet = *library->quiet = 0;
	for (unsigned int i = 0; i < 200000; i++)
		agreed += agree(&ours, library, i);
	ok(agreed == 200000, "the same as the C library's");
	setenv("POSIXLY_CORRECT", "1", 1);
	for (unsigned int i = 0; i < 200000; i++)
		agreed += agree(&ours, library, i);
	ok(agreed == 400000, "the same with POSIXLY_CORRECT");
}

int main(void)
{
	void *handle = RTLD_NEXT;
	struct side library = {
		.index = dlsym(handle, "optind"),
		.quiet = dlsym(handle, "opterr"),
		.character = dlsym(handle, "optopt"),
		.argument = dlsym(handle, "optarg"),
	};

	*(void **)&library.function = dlsym(handle, "getopt");
	ok(library.function && library.function != getopt, "the C library has one, too");
	if (library.function && library.index)
		compare(&library);
	return tap_end();
}
