/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fuzzer's target with inputs from a seed, without the fuzzer.
 *
 *	TEST [COUNT [SEED]]
 */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "tap.h"

#define INPUTS 10000
#define INPUT_SIZE 600
#define SECONDS 60

static uint64_t state;

/* splitmix64 */
static uint64_t next(void)
{
	uint64_t x = state += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

/* So that it can be run alone: COUNT 1 with this seed. */
static void say_seed(int number)
{
	static char text[64];
	int length = snprintf(text, sizeof(text), "# signal %d at seed %llu\n", number,
			      (unsigned long long)state);

	if (write(STDOUT_FILENO, text, (size_t)length) == length)
		_exit(1);
	_exit(2);
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 0) : INPUTS;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	static uint8_t input[INPUT_SIZE];

	signal(SIGABRT, say_seed);
	signal(SIGALRM, say_seed);
	for (unsigned long i = 0; i < count; i++) {
		size_t size;

		state = seed + i;
		size = 2 + next() % (INPUT_SIZE - 1);
		for (size_t at = 0; at < size; at++)
			input[at] = (uint8_t)next();
		state = seed + i;
		alarm(SECONDS);
		LLVMFuzzerTestOneInput(input, size);
	}
	ok(true, "what happens in any order is told as it ought to be");
	return tap_end();
}
