/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Projects and filesystems as OpenMetrics text. All samples of a metric stand together, so whoever
 * has the rows hands them over once for each metric:
 *
 *   for (metric = 0; metric < openmetrics_projects(); metric++) {
 *           openmetrics_project_begin(w, metric);
 *           openmetrics_project_row(w, metric, ...) for each row
 *   }
 *
 * What is not set or not known has no sample.
 */
#ifndef FSQ_OPENMETRICS_H
#define FSQ_OPENMETRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "listing.h"
#include "shared/writer.h"

struct metrics_filesystem {
	const char *filesystem;
	const char *mountpoint;
	bool has_space; /* the next two are known */
	uint64_t size_bytes, used_bytes;
	bool has_state; /* the next two are known */
	bool accounting, enforced;
	bool has_sums; /* the next five are known */
	uint64_t projects;
	uint64_t hard_bytes;		  /* the sum of the hard limits */
	uint64_t unlimited;		  /* projects without a hard limit of space */
	uint64_t none_bytes, none_inodes; /* used by what is in no project */
	bool success;			  /* nothing failed */
	uint64_t scan_nanoseconds;	  /* how long it took */
	uint64_t scanned_nanoseconds;	  /* when it ended, since 1970 */
};

/** @return  how many metrics there are of a project, of a filesystem */
size_t openmetrics_projects(void);
size_t openmetrics_filesystems(void);

/** Describe a metric; its samples follow. */
void openmetrics_project_begin(struct writer *w, size_t metric);
void openmetrics_filesystem_begin(struct writer *w, size_t metric);

/** @with_path  give the series a label for the directory */
void openmetrics_project_row(struct writer *w, size_t metric, const struct project_row *row,
			     bool with_path);
void openmetrics_filesystem_row(struct writer *w, size_t metric,
				const struct metrics_filesystem *row);

/** End the text. */
void openmetrics_end(struct writer *w);

#endif
