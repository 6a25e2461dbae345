/* SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shared/clock.h"
#include "shared/utf8.h"
#include "table/table.h"

/* A walk that ends sooner shows no line; a file gets one line a second. */
#define FIRST_LINE_MS 500
#define BETWEEN_LINES_MS 1000

/* @width    of the terminal, on which the line replaces the last one; 0: a line of its own */
static void print_progress_line(uint64_t entries, uint64_t a_second, const char *path,
				unsigned int width)
{
	char line[4096];
	size_t length, size = sizeof(line);

	snprintf(line, sizeof(line), "%" PRIu64 " entries, %" PRIu64 "/s%s", entries, a_second,
		 path ? "  " : "");
	/* One column less: some terminals go to the next line after the last. */
	if (width > 0 && width < size)
		size = width;
	/* Names belong to tenants: they must not move the cursor. */
	for (length = strlen(line); path && *path && length + 1 < size; path++) {
		size_t bytes = fsq_utf8_printable(path);

		if (length + bytes + 1 > size)
			break;
		line[length++] = bytes ? *path : '?';
		for (; bytes > 1; bytes--)
			line[length++] = *++path;
	}
	line[length] = '\0';
	fprintf(stderr, width > 0 ? "\r%s\033[K" : "%s\n", line);
}

/* Ask for the terminal only when the first line is due. */
static void show_progress(uint64_t entries, const char *path, void *arg)
{
	struct progress *progress = arg;
	bool always = progress->when == PROGRESS_ALWAYS;
	int width;
	int64_t now, elapsed;

	if (!path && !always)
		return;
	now = clock_milliseconds(CLOCK_MONOTONIC);
	if (progress->began == 0)
		progress->began = now;
	elapsed = now - progress->began;
	if (!progress->asked)
		progress->terminal = isatty(STDERR_FILENO);
	progress->asked = true;
	if (progress->terminal ? !path || (!always && elapsed < FIRST_LINE_MS)
			       : !always || (path && progress->last &&
					     now - progress->last < BETWEEN_LINES_MS))
		return;
	width = progress->terminal ? terminal_width(STDERR_FILENO) : 0;
	if (progress->terminal && width < 20)
		width = 80;
	print_progress_line(entries, entries * 1000 / (uint64_t)(elapsed > 0 ? elapsed : 1), path,
			    (unsigned int)width);
	progress->shown = progress->terminal;
	progress->last = now;
}

static void tell_skipped_mount(const char *path, void *arg)
{
	struct progress *progress = arg;

	if (progress->mounts++ == 0)
		progress->first_mount = strdup(path);
}

uint64_t progress_take_mounts(struct progress *progress, struct session *session,
			      const char *directory)
{
	const char *first = progress->first_mount ? progress->first_mount : directory;
	uint64_t mounts = progress->mounts;

	progress_clear(progress);
	if (mounts == 1)
		session_warn(session, directory, "the mount %s is not entered", first);
	else if (mounts)
		session_warn(session, directory, "%" PRIu64 " mounts are not entered, first %s",
			     mounts, first);
	free(progress->first_mount);
	progress->first_mount = NULL;
	progress->mounts = 0;
	return mounts;
}

void progress_begin(struct progress *progress, const struct session *session)
{
	const char *variable = getenv("FSQUOTA_THREADS");
	uint64_t threads;

	*progress = (struct progress){
		.options = { .size = sizeof(progress->options),
			     .is_cancelled = is_signal_pending,
			     .arg = progress,
			     .mount_skipped = tell_skipped_mount },
		.when = session->progress,
	};
	if (variable && fsq_parse_positive(variable, &threads) == 0 && threads <= UINT16_MAX)
		progress->options.threads = (unsigned int)threads;
	if (session->progress == PROGRESS_NEVER)
		return;
	progress->options.progress = show_progress;
	if (session->progress == PROGRESS_ALWAYS)
		progress->began = clock_milliseconds(CLOCK_MONOTONIC);
}

void progress_clear(struct progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
	progress->shown = false;
}
