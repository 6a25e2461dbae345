/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of netlink messages: none leads out of the message, and each reading comes to an end. */
#include "fuzz.h"

#include "quota/kernel/warnings.h"

static void walk(struct fsq_nla_span span, int depth)
{
	const unsigned char *end = span.at + span.size;
	struct fsq_nla_span left = span, value;
	uint64_t number;
	uint16_t type;
	size_t before = left.size;

	while (fsq_nla_next(&left, &type, &value)) {
		MUST(left.size < before);
		before = left.size;
		MUST(value.at >= span.at && value.at + value.size <= end);
		if (fsq_nla_number(&value, &number))
			MUST(value.size == 2 || value.size == 4 || value.size == 8);
		if (depth < 8)
			walk(value, depth + 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Messages are aligned. */
	uint32_t *copy = malloc(size + 4);

	MUST(copy);
	if (size)
		memcpy(copy, data, size);
	walk((struct fsq_nla_span){ (unsigned char *)copy, size }, 0);
	free(copy);
	return 0;
}
