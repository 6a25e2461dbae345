/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "diagnosis.h"
#include "quota/base/error.h"
#include "quota/mounts/device.h"

struct subject {
	struct fsq_diagnosis *diagnosis;
	const char *path;
	const struct stat *st;
	struct fsq_device device;
	bool listed; /* in fstab */
};

static void say(const struct subject *subject, struct fsq_finding finding)
{
	finding.path = finding.filesystem = subject->path;
	finding.type = subject->device.type;
	finding.is_image = S_ISREG(subject->st->st_mode);
	fsq_finding_visit(subject->diagnosis, finding);
}

/* Does a line of fstab mean the device, by its path or by a tag? The first counts. */
static enum fsq_visit check_line(const struct fsq_mount *line, void *arg)
{
	struct subject *subject = arg;
	const char *source = line->device;
	struct stat st;

	if (strncmp(source, "LABEL=", 6) == 0)
		subject->listed =
			subject->device.label && strcmp(source + 6, subject->device.label) == 0;
	else if (strncmp(source, "UUID=", 5) == 0)
		subject->listed =
			subject->device.uuid && strcasecmp(source + 5, subject->device.uuid) == 0;
	else
		subject->listed = strncmp(source, "/dev/", 5) == 0 && stat(source, &st) == 0 &&
				  S_ISBLK(st.st_mode) && st.st_rdev == subject->st->st_rdev;
	if (!subject->listed)
		return FSQ_VISIT_CONTINUE;
	if (!fsq_options_enforce(line->options))
		say(subject, (struct fsq_finding){ .id = FSQ_FINDING_FSTAB,
						   .name = subject->diagnosis->fstab,
						   .line = line->line });
	return FSQ_VISIT_STOP;
}

/* Has it all that project quotas take, and does fstab ask for them? */
static void check_unmounted(struct subject *subject, int fd)
{
	const char *type = subject->device.type;
	struct fsq_finding finding = { 0 };
	struct fsq_features features;
	struct fsq_error err;
	int rc;

	if (strcmp(type, "xfs") != 0 && strcmp(type, "ext4") != 0 && strcmp(type, "f2fs") != 0) {
		say(subject, (struct fsq_finding){ .id = fsq_diagnose_other_type(type) });
		return;
	}
	rc = fsq_superblock_features(fd, &features);
	if (rc) {
		finding.id = FSQ_FINDING_FEATURES_UNKNOWN;
		finding.errnum = -rc;
	} else if (strcmp(type, "ext4") == 0) {
		fsq_diagnose_ext4(&features, &finding);
	} else if (!features.project) {
		finding.id = FSQ_FINDING_F2FS_FEATURES;
	} else if (features.version && features.version < 5) {
		finding.id = FSQ_FINDING_XFS_VERSION_4;
	}
	if (finding.id)
		say(subject, finding);
	if (S_ISBLK(subject->st->st_mode) &&
	    fsq_fstab_each(subject->diagnosis->fstab, check_line, subject, &err) &&
	    err.errnum == ENOMEM)
		fsq_diagnosis_fail(subject->diagnosis, ENOMEM, subject->path);
}

/* @return   where a device is mounted, at a place that can be looked at; or NULL */
static const char *mount_point_of(struct fsq_diagnosis *diagnosis, const struct stat *st)
{
	const struct fsq_mount_points *points = fsq_diagnosis_mounts(diagnosis);

	for (size_t i = 0; points && i < points->count; i++) {
		const struct fsq_mount *mount = &points->mounts[i];

		if (mount->dev == st->st_rdev && mount->is_local &&
		    fsq_mount_points_get(points, mount->directory) == mount)
			return mount->directory;
	}
	return NULL;
}

bool fsq_diagnose_device(struct fsq_diagnosis *diagnosis, const char *path, const struct stat *st)
{
	const bool is_device = S_ISBLK(st->st_mode);
	const char *mounted = is_device ? mount_point_of(diagnosis, st) : NULL;
	struct subject subject = { .diagnosis = diagnosis, .path = path, .st = st };
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), rc;
	struct fsq_error err;
	bool all = true;

	if (fd < 0)
		rc = fsq_fail(&err, fsq_error_kind_of(errno), errno, path, "cannot open");
	else
		rc = fsq_device_probe(fd, path, &subject.device, &err);
	if (subject.device.type)
		say(&subject, (struct fsq_finding){ .id = FSQ_FINDING_DEVICE,
						    .mountpoint = mounted,
						    .version = subject.device.version,
						    .uuid = subject.device.uuid,
						    .label = subject.device.label });
	if (mounted)
		diagnosis->look_at_place(diagnosis, mounted, true);
	else if (subject.device.type)
		check_unmounted(&subject, fd);
	else if (rc == FSQ_E_CONFLICT || (rc && is_device))
		fsq_diagnosis_tell(diagnosis, &err);
	else if (is_device)
		say(&subject, (struct fsq_finding){ .id = FSQ_FINDING_NO_FILESYSTEM });
	else
		all = false;
	fsq_device_clear(&subject.device);
	if (fd >= 0)
		close(fd);
	return all;
}
