/* SPDX-License-Identifier: Apache-2.0 */
#include "diagnosis.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "quota/base/error.h"
#include "quota/base/path.h"
#include "quota/mounts/lookup.h"
#include "quota/mounts/mount_table.h"

static enum fsq_finding_level level_of_finding(const struct fsq_finding *finding)
{
	switch (finding->id) {
	case FSQ_FINDING_PRIVILEGED:
	case FSQ_FINDING_QUOTA_ON:
	case FSQ_FINDING_OVERLAY_LIMITED:
	case FSQ_FINDING_REGISTRY:
	case FSQ_FINDING_STORE:
	case FSQ_FINDING_DEVICE:
		return FSQ_FINDING_OK;
	case FSQ_FINDING_FEATURES_UNKNOWN:
	case FSQ_FINDING_XFS_VERSION_4:
	case FSQ_FINDING_FSTAB:
	case FSQ_FINDING_MOUNT_UNIT:
	case FSQ_FINDING_FSTAB_NOT_IN_FORCE:
	case FSQ_FINDING_ROOT_PASSES:
	case FSQ_FINDING_BIND_MOUNT:
	case FSQ_FINDING_PROJECT_ABOVE:
	case FSQ_FINDING_TAG_WITHOUT_LIMIT:
	case FSQ_FINDING_LIMIT_WITHOUT_TAG:
	case FSQ_FINDING_DIRECTORY_GONE:
	case FSQ_FINDING_COUNT_DIFFERS:
	case FSQ_FINDING_ID_SHARED:
	case FSQ_FINDING_LINE_TWICE:
	case FSQ_FINDING_ID_WITH_TWO_NAMES:
	case FSQ_FINDING_LINE_AMBIGUOUS:
	case FSQ_FINDING_IDS_WITHOUT_LINE:
	case FSQ_FINDING_LINE_NOT_READ:
	case FSQ_FINDING_TAG_WITHOUT_LINE:
	case FSQ_FINDING_DIRECTORY_WITHOUT_LINE:
	case FSQ_FINDING_SPECIAL_FILES:
	case FSQ_FINDING_PROJECT_FULL:
	case FSQ_FINDING_ACCOUNT_FULL:
	case FSQ_FINDING_LIMITS_OVERDUE:
		return FSQ_FINDING_NOTE;
	case FSQ_FINDING_KUBELET_LEAKED:
		return finding->count < FSQ_KUBELET_SEARCHES / 2 ? FSQ_FINDING_NOTE
								 : FSQ_FINDING_PROBLEM;
	default:
		return FSQ_FINDING_PROBLEM;
	}
}

void fsq_finding_visit(struct fsq_diagnosis *diagnosis, struct fsq_finding finding)
{
	if (fsq_diagnosis_is_over(diagnosis))
		return;
	if (finding.level != FSQ_FINDING_NOTE || level_of_finding(&finding) == FSQ_FINDING_OK)
		finding.level = level_of_finding(&finding);
	diagnosis->stopped = diagnosis->visit(&finding, diagnosis->arg) == FSQ_VISIT_STOP;
}

bool fsq_finding_unmounts(enum fsq_finding_id id)
{
	return id == FSQ_FINDING_EXT4_INODE_SIZE || id == FSQ_FINDING_F2FS_FEATURES ||
	       id == FSQ_FINDING_COUNT_DIFFERS || id == FSQ_FINDING_RECORDS_UNREADABLE;
}

const struct fsq_mount_points *fsq_diagnosis_mounts(struct fsq_diagnosis *diagnosis)
{
	if (!diagnosis->mounts && diagnosis->rc == 0)
		diagnosis->rc = fsq_mount_points_read(&diagnosis->mounts, diagnosis->err);
	return diagnosis->mounts;
}

const char *fsq_diagnosis_other_mount(struct fsq_diagnosis *diagnosis,
				      const struct fsq_mount *mount)
{
	const struct fsq_mount_points *points = fsq_diagnosis_mounts(diagnosis);

	for (size_t i = 0; points && i < points->count; i++)
		if (points->mounts[i].dev == mount->dev && points->mounts[i].id != mount->id)
			return points->mounts[i].directory;
	return NULL;
}

int fsq_diagnosis_open_root(const struct fsq_mount *mount)
{
	int fd = fsq_lookup(NULL, mount->directory, O_PATH, NULL), root = -1;
	struct stat st;

	/* It may be covered by a mount whose server is dead. */
	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == mount->dev)
		root = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return root;
}

struct search_registered {
	const char *directory;
	bool itself, found;
};

static enum fsq_visit find_registered(uint32_t id, const char *directory, void *arg)
{
	struct search_registered *search = arg;
	const char *below = fsq_path_below(search->directory, directory, strlen(directory));

	search->found = id && below && (*below || search->itself);
	return search->found ? FSQ_VISIT_STOP : FSQ_VISIT_CONTINUE;
}

bool fsq_diagnose_is_registered(struct fsq_diagnosis *diagnosis, const char *directory, bool itself)
{
	struct search_registered search = { .directory = directory, .itself = itself };
	struct fsq_error err;
	int rc = fsq_projects_each(diagnosis->registry->projects_file, find_registered, &search,
				   &err);

	if (rc && err.errnum == ENOMEM)
		fsq_diagnosis_fail(diagnosis, ENOMEM, directory);
	return search.found || (rc && err.errnum != ENOENT && err.errnum != ENOTDIR);
}

struct search_filesystem {
	const struct fsq_mount_points *points;
	dev_t dev;
	bool found;
};

static enum fsq_visit find_on_filesystem(uint32_t id, const char *directory, void *arg)
{
	struct search_filesystem *search = arg;
	const struct fsq_mount *mount = fsq_mount_points_get(search->points, directory);

	search->found = id && mount && mount->dev == search->dev;
	return search->found ? FSQ_VISIT_STOP : FSQ_VISIT_CONTINUE;
}

bool fsq_diagnose_has_registered(struct fsq_diagnosis *diagnosis, dev_t dev)
{
	struct search_filesystem search = { .points = fsq_diagnosis_mounts(diagnosis), .dev = dev };
	struct fsq_error err;
	int rc = search.points ? fsq_projects_each(diagnosis->registry->projects_file,
						   find_on_filesystem, &search, &err)
			       : 0;

	return search.found || !search.points ||
	       (rc && err.errnum != ENOENT && err.errnum != ENOTDIR);
}

void fsq_finding_visit_here(struct fsq_subject *subject, struct fsq_finding finding)
{
	const struct fsq_mount *mount = &subject->outlook.mount;

	if (fsq_finding_unmounts(finding.id) && !subject->diagnosis->request->no_repairs)
		finding.also_at = fsq_diagnosis_other_mount(subject->diagnosis, mount);
	if (!finding.path)
		finding.path = mount->directory;
	finding.filesystem = mount->device;
	finding.mountpoint = mount->directory;
	finding.type = mount->type;
	if (subject->is_unasked)
		finding.level = FSQ_FINDING_NOTE;
	fsq_finding_visit(subject->diagnosis, finding);
}

void fsq_diagnosis_visit_with_options(struct fsq_subject *subject, struct fsq_finding finding)
{
	bool wanted = !subject->diagnosis->request->no_repairs;
	char *options = wanted ? fsq_options_with_quota(&subject->outlook.mount) : NULL;

	finding.options = options;
	if (wanted && !options)
		fsq_diagnosis_fail(subject->diagnosis, ENOMEM, subject->outlook.mount.directory);
	else
		fsq_finding_visit_here(subject, finding);
	free(options);
}

void fsq_diagnosis_fail(struct fsq_diagnosis *diagnosis, int errnum, const char *path)
{
	diagnosis->rc = fsq_fail(diagnosis->err, FSQ_E_FAILED, errnum, path, "cannot look at all");
}

void fsq_diagnosis_report_error(struct fsq_diagnosis *diagnosis, const struct fsq_error *err)
{
	if (diagnosis->request->failed)
		diagnosis->request->failed(err, diagnosis->arg);
}

bool fsq_diagnosis_is_over(const struct fsq_diagnosis *diagnosis)
{
	return diagnosis->stopped || diagnosis->rc;
}
