/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a dump: what is taken means what it says, and is written and taken again. */
#include "fuzz.h"

#include "native/rows/records.h"

static void check_again(const struct dump_line *line, bool realtime)
{
	const struct fsq_limits *limits = &line->limits;
	struct dump_line again = { 0 };
	char text[200];
	int length = snprintf(text, sizeof(text), "%u", line->id);

	for (int form = 0; form < (realtime ? FSQ_FORMS : FSQ_REALTIME); form++)
		length += snprintf(text + length, sizeof(text) - (size_t)length, "\t%llu %llu",
				   (unsigned long long)limits->soft[form],
				   (unsigned long long)limits->hard[form]);
	MUST(dump_line_parse(text, &again));
	MUST(again.id == line->id && memcmp(&again.limits, limits, sizeof(*limits)) == 0);
}

static void check(const char *text)
{
	struct dump_line line = { 0 };

	if (!dump_line_parse(text, &line))
		return;
	MUST(!dump_line_device(text) && line.limits.mask);
	check_again(&line, line.limits.mask & FSQ_HARD(FSQ_REALTIME));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = text_of(data, size), *rest = text, *line;

	while ((line = strsep(&rest, "\n")))
		check(line);
	free(text);
	return 0;
}
