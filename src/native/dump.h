/* SPDX-License-Identifier: Apache-2.0 */
/* A line of what the dump command writes. */
#ifndef FSQ_DUMP_H
#define FSQ_DUMP_H

#include "quota/fsquota.h"

struct dump_line {
	uint32_t id;
	struct fsq_limits limits;
};

/** @return  the device of "fs = DEVICE", in @text; NULL: it is no such line */
const char *dump_line_device(const char *text);

/**
 * Parse "ID BSOFT BHARD ISOFT IHARD [RTBSOFT RTBHARD]", all in plain digits.
 *
 * @return   whether the line is one
 */
bool dump_line_parse(const char *text, struct dump_line *line);

#endif
