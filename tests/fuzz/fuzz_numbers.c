/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes, times, IDs and ranges: what is taken is what the digits say. */
#include "fuzz.h"

#include <errno.h>

#include "quota/fsquota.h"
#include "quota/base/units.h"

/* A number that is parsed is written and parsed again. */
static void check_id(const char *text)
{
	char again[16];
	uint32_t id, other;

	if (fsq_parse_id(text, &id))
		return;
	snprintf(again, sizeof(again), "%u", id);
	MUST(fsq_parse_id(again, &other) == 0 && other == id);
}

static void check_range(const char *text)
{
	struct fsq_id_range range;

	if (fsq_parse_id_range(text, &range) == 0)
		MUST(range.first > 0 && range.first <= range.last);
}

static void check_bytes(const char *text)
{
	uint64_t bytes, more;
	char *longer;
	int rc = fsq_parse_bytes(text, &bytes);

	MUST(rc == 0 || rc == -EINVAL || rc == -ERANGE);
	if (rc)
		return;
	/* One more digit in front is never less. */
	longer = malloc(strlen(text) + 2);
	MUST(longer);
	sprintf(longer, "1%s", text);
	if (text[0] >= '0' && text[0] <= '9' && fsq_parse_bytes(longer, &more) == 0)
		MUST(more >= bytes);
	free(longer);
}

static void check_duration(const char *text)
{
	char again[24];
	uint64_t seconds, other;
	int rc = fsq_parse_duration(text, &seconds);

	MUST(rc == 0 || rc == -EINVAL || rc == -ERANGE);
	if (rc || seconds > INT64_MAX)
		return;
	snprintf(again, sizeof(again), "%llu", (unsigned long long)seconds);
	MUST(fsq_parse_duration(again, &other) == 0 && other == seconds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = text_of(data, size);
	uint64_t number;

	check_id(text);
	check_range(text);
	check_bytes(text);
	check_duration(text);
	if (fsq_parse_positive(text, &number) == 0)
		MUST(number > 0);
	free(text);
	return 0;
}
