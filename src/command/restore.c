/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "options.h"

#define DEVICE_PREFIX "fs = "

/*
 * "ID BSOFT BHARD ISOFT IHARD [RTBSOFT RTBHARD]". What xfs_quota dumped as a negative number is an
 * ID above 2^31.
 * @return   whether the line is one
 */
static bool parse_line(const char *line, uint32_t *id, struct fsq_limits *limits)
{
	unsigned long long soft[FSQ_FORMS] = { 0 }, hard[FSQ_FORMS] = { 0 };
	int count = sscanf(line, "%u %llu %llu %llu %llu %llu %llu", id, &soft[FSQ_BLOCKS],
			   &hard[FSQ_BLOCKS], &soft[FSQ_INODES], &hard[FSQ_INODES],
			   &soft[FSQ_REALTIME], &hard[FSQ_REALTIME]);

	if (count != 5 && count != 7)
		return false;
	*limits = (struct fsq_limits){ 0 };
	for (int form = 0; form < (count == 7 ? FSQ_FORMS : FSQ_REALTIME); form++) {
		limits->mask |= FSQ_SOFT(form) | FSQ_HARD(form);
		limits->soft[form] = soft[form];
		limits->hard[form] = hard[form];
	}
	return true;
}

static void restore(struct session *session, enum fsq_type type, FILE *input)
{
	struct fsq_target target = { .fd = -1, .device = "" };
	struct fsq_limits limits;
	char *device = NULL, *line = NULL;
	size_t size = 0;
	ssize_t length;
	uint32_t id;
	int rc;

	while ((length = getline(&line, &size, input)) >= 0) {
		if (length > 0 && line[length - 1] == '\n')
			line[length - 1] = '\0';
		if (strncmp(line, DEVICE_PREFIX, strlen(DEVICE_PREFIX)) == 0) {
			free(device);
			device = strdup(line + strlen(DEVICE_PREFIX));
			target.device = device ? device : "";
		} else if (parse_line(line, &id, &limits)) {
			rc = fsq_kernel_set_limits(&target, type, id, &limits);
			if (rc)
				session_complain(session, 1, -rc, "cannot set limits");
		}
	}
	free(line);
	free(device);
}

COMMAND_FUNCTION(restore)
{
	struct selection selection = { 0 };
	const char *file = NULL;
	FILE *input = stdin;
	int option;

	options_begin();
	while ((option = getopt(argc, argv, command->options)) != -1) {
		if (option == 'f')
			file = optarg;
		else if (!options_select(&selection, option))
			return command_usage(session, command);
	}
	if (options_type_count(&selection) > 1)
		return command_usage(session, command);
	if (file)
		input = fopen(file, "re");
	if (!input) {
		session_complain(session, 1, errno, "fopen on %s failed", file);
		return COMMAND_NEXT;
	}
	restore(session, options_type(&selection), input);
	if (file)
		fclose(input);
	return COMMAND_NEXT;
}
