/* SPDX-License-Identifier: Apache-2.0 */
/* volume DIRECTORY SIZE: assign a quota, show it, and release it. */
#include <fsquota.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int fail(const struct fsq_error *err)
{
	const char *hint = fsq_hint_text(err->hint);
	char text[FSQ_PATH_MAX + 512];

	fsq_error_text(err, text, sizeof(text));
	fprintf(stderr, "volume: %s%s%s\n", text, hint ? "; " : "", hint ? hint : "");
	return 1;
}

static int assign(const char *directory, uint64_t bytes)
{
	struct fsq_assign_request request;
	struct fsq_assignment *assignment;
	struct fsq_error err;

	memset(&request, 0, sizeof(request));
	request.size = sizeof(request);
	request.directory = directory;
	request.hard_bytes = bytes;
	if (fsq_assign(&assignment, &request, &err))
		return fail(&err);
	printf("ID %" PRIu32 "\n", fsq_assignment_id(assignment));
	fsq_assignment_free(assignment);
	return 0;
}

static int show(const char *directory)
{
	struct fsq_usage_request request;
	struct fsq_usage usage;
	struct fsq_error err;

	memset(&request, 0, sizeof(request));
	request.size = sizeof(request);
	request.path = directory;
	request.projects_file = FSQ_PROJECTS_FILE;
	if (fsq_usage_get(&usage, &request, &err))
		return fail(&err);
	printf("used %" PRIu64 "\n", usage.used_bytes);
	printf("hard %" PRIu64 "\n", usage.hard_bytes);
	fsq_usage_clear(&usage);
	return 0;
}

static int release(const char *directory)
{
	struct fsq_release_request request;
	struct fsq_released released;
	struct fsq_error err;

	memset(&request, 0, sizeof(request));
	request.size = sizeof(request);
	request.directory = directory;
	if (fsq_release(&request, &released, &err))
		return fail(&err);
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t bytes;
	int status;

	if (argc != 3 || fsq_parse_bytes(argv[2], &bytes)) {
		fprintf(stderr, "usage: volume DIRECTORY SIZE\n");
		return 2;
	}
	if (assign(argv[1], bytes))
		return 1;
	status = show(argv[1]);
	if (release(argv[1]))
		status = 1;
	return status;
}
