/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diagnosis.h"
#include "quota/base/path.h"

/* The two directories that an overlay writes to. */
struct layers {
	char *upper, *work;
	char *above; /* the directory that both are in, or that upper is in */
	uint32_t upper_id, work_id;
};

/* @return   whether it could be read */
static bool read_id(const char *directory, uint32_t *id)
{
	struct fsq_inode_project project;
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
	bool have = fd >= 0 && fsq_inode_project_get(fd, &project) == 0;

	if (fd >= 0)
		close(fd);
	*id = have ? project.id : 0;
	return have;
}

static char *directory_above(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash > path ? strndup(path, (size_t)(slash - path)) : strdup("/");
}

/* The deepest directory above both. */
static char *above_both(const char *upper, const char *work)
{
	char *above = directory_above(upper);

	while (above && above[1] && !fsq_path_below(above, work, strlen(work))) {
		char *next = directory_above(above);

		free(above);
		above = next;
	}
	return above;
}

static bool is_unlimited(const struct fsq_dquot *dquot)
{
	const struct fsq_amounts *blocks = &dquot->form[FSQ_BLOCKS];
	const struct fsq_amounts *inodes = &dquot->form[FSQ_INODES];

	return !blocks->hard && !blocks->soft && !inodes->hard && !inodes->soft;
}

static bool has_limit(const struct layers *layers)
{
	struct fsq_target target = { .fd = open(layers->upper, O_PATH | O_CLOEXEC) };
	struct fsq_dquot dquot;
	bool has;

	if (target.fd < 0)
		return false;
	has = fsq_quotactl_get(&target, FSQ_PROJECT, layers->upper_id, &dquot) == 0 &&
	      !is_unlimited(&dquot);
	close(target.fd);
	return has;
}

static void check_ids(struct fsq_subject *subject, const struct layers *layers)
{
	struct fsq_finding finding = {
		.id = FSQ_FINDING_OVERLAY_LIMITED,
		.name = layers->above,
		.project = layers->upper_id,
		.other = layers->work_id,
	};

	if (layers->upper_id != layers->work_id) {
		finding.id = FSQ_FINDING_OVERLAY_SPLIT;
		finding.name = layers->upper;
		finding.other_name = layers->work;
		finding.in_doubt = fsq_diagnose_is_registered(
			subject->diagnosis, layers->upper_id ? layers->work : layers->upper, true);
	} else if (layers->upper_id == 0 || !has_limit(layers)) {
		finding.id = FSQ_FINDING_OVERLAY_UNLIMITED;
		finding.in_doubt =
			fsq_diagnose_is_registered(subject->diagnosis, layers->above, false);
	}
	fsq_finding_visit_here(subject, finding);
}

static void check_layers(struct fsq_subject *subject, struct layers *layers)
{
	if (!layers->upper || !layers->work || layers->upper[0] != '/' || layers->work[0] != '/' ||
	    !read_id(layers->upper, &layers->upper_id) ||
	    !read_id(layers->work, &layers->work_id)) {
		fsq_finding_visit_here(subject, (struct fsq_finding){ .id = FSQ_FINDING_OVERLAY,
								      .name = layers->upper });
		return;
	}
	layers->above = above_both(layers->upper, layers->work);
	if (!layers->above) {
		fsq_diagnosis_fail(subject->diagnosis, ENOMEM, subject->mount.directory);
		return;
	}
	check_ids(subject, layers);
	subject->diagnosis->look_at_place(subject->diagnosis, layers->upper, false);
}

void fsq_diagnose_overlay(struct fsq_subject *subject)
{
	struct layers layers = {
		.upper = fsq_options_value(subject->mount.super_options, "upperdir"),
		.work = fsq_options_value(subject->mount.super_options, "workdir"),
	};

	check_layers(subject, &layers);
	free(layers.upper);
	free(layers.work);
	free(layers.above);
}
