/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdint.h>

#include "tap.h"
#include "quota/base/units.h"

typedef int parser(const char *text, uint64_t *number);

static bool parses(parser *parse, const char *text, uint64_t wanted)
{
	uint64_t number = 0;

	return parse(text, &number) == 0 && number == wanted;
}

static int error_of(parser *parse, const char *text)
{
	uint64_t number;

	return parse(text, &number);
}

#define size_error(text) error_of(fsq_parse_size, text)
#define bytes_are(text, wanted) parses(fsq_parse_bytes, text, wanted)
#define bytes_error(text) error_of(fsq_parse_bytes, text)
#define duration_error(text) error_of(fsq_parse_duration, text)

static int id_error(const char *text)
{
	uint32_t id;

	return fsq_parse_id(text, &id);
}

/* What a shell can type is compared with xfs_quota: limit-sizes, limit-ids and timer.list. */
int main(void)
{
	ok(!fsq_limit_is_lost((1ULL << 58) - 513) && fsq_limit_is_lost((1ULL << 58) - 512) &&
		   !fsq_limit_is_lost((1ULL << 58) - 1) && fsq_limit_is_lost(1ULL << 58) &&
		   fsq_limit_is_lost(INT64_MAX - 1) && !fsq_limit_is_lost(INT64_MAX),
	   "what counts as no limit is lost, but for the two values that mean it");
	ok(fsq_limit_bytes(1ULL << 49) == (1ULL << 58) - 1 &&
		   fsq_limit_bytes((1ULL << 54) - 1) == INT64_MAX &&
		   fsq_limit_bytes(1ULL << 54) == INT64_MAX &&
		   fsq_limit_is_lost(fsq_limit_bytes((1ULL << 54) + 1)) &&
		   fsq_limit_is_lost(fsq_limit_bytes(1ULL << 50)) && fsq_limit_bytes(3) == 1536,
	   "which XFS may have rounded up");
	ok(size_error("\t1") == -EINVAL && size_error("1 ") == -EINVAL, "no white space");

	ok(duration_error("") == -EINVAL && duration_error("1 day") == -EINVAL,
	   "nor in a duration, and nothing is none");

	ok(id_error("-18446744073709551611") == -ERANGE, "however far below 0 an ID is");
	ok(id_error("") == -EINVAL && id_error("+") == -EINVAL, "nothing is no number");

	ok(fsq_limit_blocks(0) == 0, "no limit stays none");
	ok(fsq_limit_blocks(1) == 1 && fsq_limit_blocks(512) == 1, "a byte is a block");
	ok(fsq_limit_blocks(1023) == 1, "more is rounded down");
	ok(fsq_limit_blocks(INT64_MAX) == (1ULL << 54) - 1, "2^63-1 stays below 2^63");

	ok(bytes_are("1", 1) && bytes_are("512", 512) && bytes_are("010", 10), "bytes in decimal");
	ok(bytes_are("1k", 1024) && bytes_are("3M", 3 << 20) && bytes_are("255P", 255ULL << 50),
	   "with a letter");
	ok(bytes_are("5Gi", 5ULL << 30) && bytes_are("5giB", 5ULL << 30),
	   "as orchestrators write it");
	ok(bytes_are("128974848000m", 128974848000ULL << 20),
	   "m is no thousandth, as Kubernetes has it");
	ok(bytes_error("0") == -EINVAL && bytes_error("0G") == -EINVAL, "0 is no limit");
	ok(bytes_error("") == -EINVAL && bytes_error("G") == -EINVAL &&
		   bytes_error("-1") == -EINVAL && bytes_error("+1") == -EINVAL &&
		   bytes_error(" 1") == -EINVAL,
	   "what does not begin with a digit");
	ok(bytes_are("1.5G", 3ULL << 29) && bytes_are("0.5k", 512) && bytes_are("1.0009K", 1024) &&
		   bytes_error("1.5") == -EINVAL && bytes_error("1.G") == -EINVAL &&
		   bytes_error("0.0G") == -EINVAL && bytes_error(".5G") == -EINVAL,
	   "a point");
	ok(bytes_are("1.9999P", 2251687223694563ULL) && bytes_are("0.0005G", 536870) &&
		   bytes_are("1.00000000000000000000000000001K", 1024) &&
		   bytes_error("0.0000000001G") == -EINVAL && bytes_error("255.999999P") == 0,
	   "as many decimals as there are");
	ok(bytes_error("1..5G") == -EINVAL && bytes_error("1b") == -EINVAL &&
		   bytes_error("1GB") == -EINVAL && bytes_error("1Gib") == -EINVAL &&
		   bytes_error("1G ") == -EINVAL && bytes_error("0x10") == -EINVAL,
	   "what goes on as no size does");
	ok(bytes_error("8E") == -ERANGE && bytes_error("256P") == -ERANGE &&
		   bytes_error("288230376151711743") == -ERANGE &&
		   bytes_error("9223372036854775808") == -ERANGE &&
		   bytes_error("99999999999999999999") == -ERANGE,
	   "too large for a limit");
	ok(fsq_limit_blocks_up(1) == 1 && fsq_limit_blocks_up(512) == 1 &&
		   fsq_limit_blocks_up(513) == 2,
	   "limits of assign are rounded up");
	return tap_end();
}
