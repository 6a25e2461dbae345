/* SPDX-License-Identifier: Apache-2.0 */
/*
 * getopt(3) and getopt_long(3) as glibc has them, in place of the C library's: musl's leave
 * operands where they stand and have other words for errors, and callers of xfs_quota depend on
 * both.
 *
 * Not implemented, because unused: optional arguments, flags, the index of a long option,
 * operands in order (a leading "-"), and messages about long options. Not wanted: abbreviations.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *optarg;
int optind = 1, opterr = 1, optopt = '?';

/* Where the last call stopped. */
static struct {
	bool begun;
	bool in_order; /* the first operand ends the options */
	const char *letters;
	int first, last; /* operands that were passed over: from first up to before last */
} scan;

static void begin(const char *options)
{
	if (optind == 0)
		optind = 1;
	scan.begun = true;
	scan.in_order = options[0] == '+' || getenv("POSIXLY_CORRECT");
	scan.letters = "";
	scan.first = scan.last = optind;
}

static void reverse(char **words, int count)
{
	for (int i = 0; i < count / 2; i++) {
		char *word = words[i];

		words[i] = words[count - 1 - i];
		words[count - 1 - i] = word;
	}
}

/* Move what stands between the operands passed over and optind in front of them. */
static void move_operands(char **argv)
{
	int operands = scan.last - scan.first, options = optind - scan.last;

	if (operands > 0 && options > 0) {
		reverse(argv + scan.first, operands);
		reverse(argv + scan.last, options);
		reverse(argv + scan.first, operands + options);
	}
	scan.first += options;
	scan.last = optind;
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

/* Never by its beginning: an option that another command or a later version has would change its meaning. */
static const struct option *find_word(const struct option *words, const char *name, size_t length)
{
	for (; words->name; words++)
		if (strncmp(words->name, name, length) == 0 && words->name[length] == '\0')
			return words;
	return NULL;
}

static int take_word(int argc, char **argv, const struct option *words)
{
	char *name = argv[optind++] + 2;
	size_t length = strcspn(name, "=");
	const struct option *word = find_word(words, name, length);

	optopt = word ? word->val : 0;
	if (!word)
		return '?';
	if (name[length] == '=') {
		if (word->has_arg == no_argument)
			return '?';
		optarg = name + length + 1;
	} else if (word->has_arg == required_argument) {
		if (optind == argc)
			return '?';
		optarg = argv[optind++];
	}
	return word->val;
}

static int next(int argc, char **argv, const char *options, const struct option *words)
{
	optarg = NULL;
	if (!scan.begun || optind == 0)
		begin(options);
	if (*scan.letters == '\0') {
		if (!find_option(argc, argv))
			return -1;
		if (words && argv[optind][1] == '-')
			return take_word(argc, argv, words);
		scan.letters = argv[optind] + 1;
	}
	return take_letter(argc, argv, options);
}

int getopt(int argc, char *const argv[], const char *options)
{
	return next(argc, (char **)(uintptr_t)argv, options, NULL);
}

int getopt_long(int argc, char *const argv[], const char *options, const struct option *words,
		int *index)
{
	(void)index;
	return next(argc, (char **)(uintptr_t)argv, options, words);
}
