/* SPDX-License-Identifier: Apache-2.0 */
/*
 * glibc's getopt(3) with the messages of the C locale. It replaces the C library's: musl's does not permute
 * operands and prints other messages, and callers of xfs_quota depend on both.
 *
 * Not implemented, because unused: optional arguments, and operands in order (a leading "-").
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *optarg;
int optind = 1, opterr = 1, optopt = '?';

/* Where the next call continues. */
static struct {
	bool begun;
	bool in_order; /* the first operand ends the options */
	const char *letters;
	int first, last; /* the skipped operands: argv[first] to argv[last - 1] */
} scan;

static void begin_options(const char *options)
{
	if (optind == 0)
		optind = 1;
	scan.begun = true;
	scan.in_order = options[0] == '+' || getenv("POSIXLY_CORRECT");
	scan.letters = "";
	scan.first = scan.last = optind;
}

/* Move the options argv[last] to argv[optind - 1] in front of the skipped operands. */
static void move_operands(char **argv)
{
	for (; scan.last < optind; scan.first++, scan.last++) {
		char *option = argv[scan.last];

		memmove(&argv[scan.first + 1], &argv[scan.first],
			(size_t)(scan.last - scan.first) * sizeof(*argv));
		argv[scan.first] = option;
	}
}

static bool is_operand(const char *word)
{
	return word[0] != '-' || word[1] == '\0';
}

/* @return   whether argv[optind] is an option */
static bool find_option(int argc, char **argv)
{
	move_operands(argv);
	while (!scan.in_order && optind < argc && is_operand(argv[optind]))
		optind++;
	scan.last = optind;
	if (optind < argc && strcmp(argv[optind], "--") == 0) {
		optind++;
		move_operands(argv);
		scan.last = optind = argc;
	} else if (optind < argc && !is_operand(argv[optind])) {
		return true;
	}
	optind = scan.first;
	return false;
}

static int take_letter(int argc, char **argv, const char *options)
{
	int letter = (unsigned char)*scan.letters++;
	const char *known = strchr(options, letter);
	bool bundle_ends = *scan.letters == '\0';

	optopt = letter;
	if (!known || letter == ':' || letter == '+') {
		optind += bundle_ends;
		if (opterr)
			fprintf(stderr, "%s: invalid option -- '%c'\n", argv[0], letter);
		return '?';
	}
	if (known[1] != ':') {
		optind += bundle_ends;
		return letter;
	}
	optind++;
	if (!bundle_ends) {
		optarg = (char *)(uintptr_t)scan.letters;
	} else if (optind < argc) {
		optarg = argv[optind++];
	} else {
		if (opterr)
			fprintf(stderr, "%s: option requires an argument -- '%c'\n", argv[0],
				letter);
		letter = '?';
	}
	scan.letters = "";
	return letter;
}

int getopt(int count, char *const words[], const char *options)
{
	char **argv = (char **)(uintptr_t)words;

	optarg = NULL;
	if (!scan.begun || optind == 0)
		begin_options(options);
	if (*scan.letters == '\0') {
		if (!find_option(count, argv))
			return -1;
		scan.letters = argv[optind] + 1;
	}
	return take_letter(count, argv, options);
}
