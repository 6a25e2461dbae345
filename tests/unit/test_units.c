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

#define size_is(text, wanted) parses(fsq_parse_size, text, wanted)
#define size_error(text) error_of(fsq_parse_size, text)
#define bytes_are(text, wanted) parses(fsq_parse_bytes, text, wanted)
#define bytes_error(text) error_of(fsq_parse_bytes, text)
#define count_error(text) error_of(fsq_parse_count, text)
#define duration_is(text, wanted) parses(fsq_parse_duration, text, wanted)
#define duration_error(text) error_of(fsq_parse_duration, text)

static bool id_is(const char *text, uint32_t wanted)
{
	uint32_t id = 0;

	return fsq_parse_id(text, &id) == 0 && id == wanted;
}

static int id_error(const char *text)
{
	uint32_t id;

	return fsq_parse_id(text, &id);
}

int main(void)
{
	ok(size_is("0", 0), "nothing is a size");
	ok(size_is("513", 513), "bytes need no suffix");
	ok(size_is("0x100000", 1 << 20), "sizes may be hexadecimal");
	ok(size_is("010m", 8ULL << 20), "a leading zero means octal, as it always has");
	ok(size_is("1s", 512) && size_is("1b", 4096), "s is a sector, b a block");
	ok(size_is("3k", 3072) && size_is("10M", 10ULL << 20), "suffixes in either case");
	ok(size_is("2g", 2ULL << 30) && size_is("1t", 1ULL << 40), "g and t");
	ok(size_is("1p", 1ULL << 50) && size_is("7e", 7ULL << 60), "p and e");
	ok(size_is("9223372036854775807", INT64_MAX), "kubelet's largest limit");
	ok(size_error("16e") == -ERANGE, "a size that wraps to 0 is out of range");
	ok(size_error("8e") == -ERANGE && size_error("18014398509481983k") == -ERANGE,
	   "and so is one that wraps to less than 0");
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
	ok(size_error("9223372036854775808") == -ERANGE,
	   "more than 2^63-1 typed out is out of range");
	ok(size_error("-1") == -EINVAL && size_error("-1m") == -EINVAL, "negative sizes are none");
	ok(size_error("") == -EINVAL && size_error("m") == -EINVAL, "a size has a number");
	ok(size_error("10q") == -EINVAL && size_error("10mb") == -EINVAL, "one known suffix only");
	ok(size_error("1.5m") == -EINVAL, "no decimals");
	ok(size_error("\t1") == -EINVAL && size_error("1 ") == -EINVAL, "no white space");

	ok(parses(fsq_parse_count, "5000000000", 5000000000), "a count of inodes");
	ok(count_error("10k") == -EINVAL && count_error("abc") == -EINVAL, "counts have no suffix");
	ok(count_error("") == -EINVAL && count_error("-1") == -EINVAL, "nor may they be negative");

	ok(duration_is("90", 90) && duration_is("0", 0), "a duration in seconds");
	ok(duration_is("2m", 120) && duration_is("1minute", 60) && duration_is("3minutes", 180),
	   "in minutes");
	ok(duration_is("5h", 18000) && duration_is("1day", 86400) && duration_is("2days", 172800),
	   "in hours and days");
	ok(duration_is("1week", 604800) && duration_is("0x2w", 1209600), "in weeks");
	ok(duration_error("3s") == -EINVAL && duration_error("7D") == -EINVAL &&
		   duration_error("abc") == -EINVAL && duration_error("") == -EINVAL &&
		   duration_error("1 day") == -EINVAL,
	   "what is no duration is not taken for 0");
	ok(duration_error("-5") == -EINVAL && duration_error("9223372036854775807w") == -ERANGE,
	   "nor is what is negative or too long");

	ok(id_is("0", 0) && id_is("4294967294", 4294967294U), "IDs from 0 to 4294967294");
	ok(id_is("010", 10) && id_is("+7", 7), "IDs are decimal, a plus is allowed");
	ok(id_error("4294967295") == -ERANGE, "4294967295 is no ID");
	ok(id_error("4294967296") == -ERANGE, "an ID does not wrap at 32 bits");
	ok(id_error("18446744073709551617") == -ERANGE, "nor at 64 bits");
	ok(id_error("-5") == -ERANGE, "IDs are not negative");
	ok(id_error("-18446744073709551611") == -ERANGE, "however far below 0");
	ok(id_error("0x10") == -EINVAL && id_error("1x") == -EINVAL, "what is no number is a name");
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
