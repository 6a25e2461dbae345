/* SPDX-License-Identifier: Apache-2.0 */
/* provisioner DIRECTORY: fifty volumes of 1 MiB in it; the first one that is full grows; then all are released. */
#include <fsquota.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define VOLUMES 50
#define MIB (1 << 20)

struct volumes {
	dev_t dev;
	char path[VOLUMES][512];
	uint32_t id[VOLUMES];
	int full; /* an index, or -1 */
};

static void check(int rc, const struct fsq_error *err)
{
	char text[FSQ_PATH_MAX + 512];

	if (rc == 0)
		return;
	fsq_error_text(err, text, sizeof(text));
	fprintf(stderr, "provisioner: %s\n", text);
	exit(1);
}

static void assign(struct volumes *volumes, int i)
{
	struct fsq_assign_request request = { .size = sizeof(request) };
	struct fsq_assignment *assignment;
	struct fsq_error err;

	request.directory = volumes->path[i];
	request.make = true;
	request.owner = request.group = 1000;
	request.hard_bytes = MIB;
	check(fsq_assign(&assignment, &request, &err), &err);
	volumes->id[i] = fsq_assignment_id(assignment);
	fsq_assignment_free(assignment);
}

static enum fsq_visit find_full(const struct fsq_warning *warning, void *arg)
{
	struct volumes *volumes = arg;

	if (warning->kind != FSQ_WARNING_HARD_REACHED || warning->type != FSQ_PROJECT ||
	    warning->dev != volumes->dev)
		return FSQ_VISIT_CONTINUE;
	for (int i = 0; i < VOLUMES; i++)
		if (volumes->id[i] == warning->id)
			volumes->full = i;
	return FSQ_VISIT_CONTINUE;
}

static void wait_for_full(struct volumes *volumes)
{
	struct fsq_warnings *warnings;
	struct fsq_error err;
	bool lost;

	check(fsq_warnings_open(&warnings, &err), &err);
	printf("%d volumes\n", VOLUMES);
	fflush(stdout);
	while (volumes->full < 0) {
		struct pollfd wait = { .fd = fsq_warnings_fd(warnings), .events = POLLIN };

		poll(&wait, 1, -1);
		check(fsq_warnings_read(warnings, find_full, volumes, &lost, &err), &err);
	}
	fsq_warnings_close(warnings);
}

static void grow(const char *path)
{
	struct fsq_resize_request request = { .size = sizeof(request) };
	struct fsq_usage_request question = { .size = sizeof(question) };
	struct fsq_usage usage;
	struct fsq_error err;

	request.directory = question.path = path;
	request.bytes = MIB;
	request.relative = true;
	check(fsq_resize(&request, NULL, &err), &err);
	check(fsq_usage_get(&usage, &question, &err), &err);
	printf("%s was full, and has %" PRIu64 "\n", strrchr(path, '/') + 1, usage.hard_bytes);
	fsq_usage_clear(&usage);
}

int main(int argc, char **argv)
{
	static struct volumes volumes = { .full = -1 };
	struct fsq_released released;
	struct fsq_error err;
	struct stat st;

	if (argc != 2 || stat(argv[1], &st)) {
		fprintf(stderr, "usage: provisioner DIRECTORY\n");
		return 2;
	}
	volumes.dev = st.st_dev;
	for (int i = 0; i < VOLUMES; i++) {
		snprintf(volumes.path[i], sizeof(volumes.path[i]), "%s/volume%d", argv[1], i + 1);
		assign(&volumes, i);
	}
	wait_for_full(&volumes);
	grow(volumes.path[volumes.full]);
	for (int i = 0; i < VOLUMES; i++) {
		struct fsq_release_request request = { .size = sizeof(request) };

		request.directory = volumes.path[i];
		check(fsq_release(&request, &released, &err), &err);
	}
	return 0;
}
