/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "diagnosis.h"
#include "quota/base/error.h"
#include "quota/base/path.h"
#include "quota/kernel/fs_type.h"
#include "quota/mounts/device.h"
#include "quota/registry/project_edit.h"
#include "shared/array.h"

static enum fsq_finding_level level_of(enum fsq_finding_id id)
{
	switch (id) {
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
		return FSQ_FINDING_NOTE;
	default:
		return FSQ_FINDING_PROBLEM;
	}
}

void fsq_finding_visit(struct fsq_diagnosis *diagnosis, struct fsq_finding finding)
{
	if (fsq_diagnosis_is_over(diagnosis))
		return;
	finding.level = level_of(finding.id);
	diagnosis->stopped = diagnosis->visit(&finding, diagnosis->arg) == FSQ_VISIT_STOP;
}

bool fsq_finding_unmounts(enum fsq_finding_id id)
{
	return id == FSQ_FINDING_NOT_ENFORCED || id == FSQ_FINDING_QUOTA_OFF ||
	       id == FSQ_FINDING_EXT4_FEATURES || id == FSQ_FINDING_EXT4_INODE_SIZE ||
	       id == FSQ_FINDING_F2FS_FEATURES || id == FSQ_FINDING_FSTAB_NOT_IN_FORCE ||
	       id == FSQ_FINDING_COUNT_DIFFERS;
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
	size_t count = 0;
	const struct fsq_mount *mounts = points ? fsq_mount_points_list(points, &count) : NULL;

	for (size_t i = 0; i < count; i++)
		if (mounts[i].dev == mount->dev && mounts[i].id != mount->id)
			return mounts[i].directory;
	return NULL;
}

struct search_registered {
	const char *directory;
	bool itself, found;
};

static enum fsq_visit find_registered(uint32_t id, const char *directory, void *arg)
{
	struct search_registered *search = arg;
	const char *below = fsq_path_below(search->directory, directory, strlen(directory));

	(void)id;
	search->found = below && (*below || search->itself);
	return search->found ? FSQ_VISIT_STOP : FSQ_VISIT_CONTINUE;
}

bool fsq_diagnose_is_registered(const struct fsq_diagnosis *diagnosis, const char *directory,
				bool itself)
{
	struct search_registered search = { .directory = directory, .itself = itself };
	struct fsq_error err;
	int rc = fsq_projects_each(diagnosis->registry->projects_file, find_registered, &search,
				   &err);

	return search.found || (rc && err.errnum != ENOENT && err.errnum != ENOTDIR);
}

void fsq_finding_visit_here(struct fsq_subject *subject, struct fsq_finding finding)
{
	const struct fsq_mount *mount = &subject->mount;

	if (fsq_finding_unmounts(finding.id) && !subject->diagnosis->request->no_repairs)
		finding.also_at = fsq_diagnosis_other_mount(subject->diagnosis, mount);
	if (!finding.path)
		finding.path = mount->directory;
	finding.filesystem = mount->device;
	finding.mountpoint = mount->directory;
	finding.type = mount->type;
	fsq_finding_visit(subject->diagnosis, finding);
}

void fsq_diagnosis_fail(struct fsq_diagnosis *diagnosis, int errnum, const char *path)
{
	diagnosis->rc = fsq_fail(diagnosis->err, FSQ_E_FAILED, errnum, path, "cannot look at all");
}

void fsq_diagnosis_tell(struct fsq_diagnosis *diagnosis, const struct fsq_error *err)
{
	if (diagnosis->request->failed)
		diagnosis->request->failed(err, diagnosis->arg);
}

bool fsq_diagnosis_is_over(const struct fsq_diagnosis *diagnosis)
{
	return diagnosis->stopped || diagnosis->rc;
}

static bool is_known(const struct fsq_diagnosis *diagnosis, dev_t dev)
{
	for (size_t i = 0; i < diagnosis->dev_count; i++)
		if (diagnosis->devs[i] == dev)
			return true;
	return false;
}

/* @return   whether the file system is new, and to be looked at */
static bool add_dev(struct fsq_diagnosis *diagnosis, dev_t dev)
{
	dev_t *devs;

	if (is_known(diagnosis, dev))
		return false;
	devs = array_grow(diagnosis->devs, diagnosis->dev_count, &diagnosis->dev_capacity,
			  sizeof(*devs));
	if (!devs) {
		fsq_diagnosis_fail(diagnosis, ENOMEM, NULL);
		return false;
	}
	diagnosis->devs = devs;
	devs[diagnosis->dev_count++] = dev;
	return true;
}

static void look_at(struct fsq_subject *subject, bool itself)
{
	bool new = add_dev(subject->diagnosis, subject->mount.dev);

	if (strcmp(subject->mount.type, "overlay") == 0) {
		fsq_diagnose_overlay(subject);
		return;
	}
	if (new)
		fsq_diagnose_filesystem(subject);
	if (subject->diagnosis->request->filesystems_only)
		return;
	if (new && subject->accounting)
		fsq_diagnose_records(subject);
	if (itself)
		fsq_diagnose_directory(subject);
}

void fsq_diagnose_place(struct fsq_diagnosis *diagnosis, const char *path, bool itself)
{
	struct fsq_subject subject = { .diagnosis = diagnosis };
	struct fsq_error err;
	char *resolved = realpath(path, NULL);
	int rc;

	if (fsq_place_open(&subject.place, resolved ? resolved : path, &err)) {
		fsq_diagnosis_tell(diagnosis, &err);
		free(resolved);
		return;
	}
	free(resolved);
	rc = fsq_mount_line_of_fd(subject.place.target.fd, &subject.mount);
	if (rc == -ENOMEM) {
		fsq_diagnosis_fail(diagnosis, ENOMEM, path);
	} else if (rc) {
		/* In a chroot the kernel does not list the mount of its root, with its options. */
		fsq_fail(&err, FSQ_E_NOT_FOUND, -rc, path, "cannot find the mount%s",
			 rc == -ENXIO ? "; in a chroot, run doctor outside of the chroot" : "");
		fsq_diagnosis_tell(diagnosis, &err);
	} else {
		look_at(&subject, itself);
	}
	fsq_mount_clear(&subject.mount);
	fsq_place_close(&subject.place);
}

/* A device stands for what is mounted from it. */
static void look_at_path(struct fsq_diagnosis *diagnosis, const char *path)
{
	struct fsq_error err;
	char *device = NULL;
	struct stat st;

	if (fsq_is_tag(path) && fsq_device_of_tag(path, &device, &err)) {
		fsq_diagnosis_tell(diagnosis, &err);
		return;
	}
	if (device)
		path = device;
	if (stat(path, &st) || (!S_ISBLK(st.st_mode) && !S_ISREG(st.st_mode)) ||
	    !fsq_diagnose_device(diagnosis, path, &st))
		fsq_diagnose_place(diagnosis, path, true);
	free(device);
}

/* @return   whether there is a mount there that can have project quotas, and none that hides it */
static bool is_candidate(const struct fsq_mount *mount)
{
	int fd = open(mount->directory, O_PATH | O_CLOEXEC);
	struct statfs sfs;
	struct stat st;
	bool is;

	if (fd < 0)
		return false;
	is = fstatfs(fd, &sfs) == 0 && fstat(fd, &st) == 0 && st.st_dev == mount->dev &&
	     (sfs.f_type == XFS_SUPER_MAGIC || sfs.f_type == EXT4_SUPER_MAGIC ||
	      sfs.f_type == F2FS_SUPER_MAGIC);
	close(fd);
	return is;
}

static enum fsq_visit look_at_mount(const struct fsq_mount *mount, void *arg)
{
	struct fsq_diagnosis *diagnosis = arg;

	if (!is_known(diagnosis, mount->dev) && is_candidate(mount))
		fsq_diagnose_place(diagnosis, mount->directory, false);
	return fsq_diagnosis_is_over(diagnosis) ? FSQ_VISIT_STOP : FSQ_VISIT_CONTINUE;
}

static void look_at_all(struct fsq_diagnosis *diagnosis)
{
	int rc = fsq_mounts_each(NULL, look_at_mount, diagnosis, diagnosis->err);

	if (rc)
		diagnosis->rc = rc;
	/* There is none: what does the machine have instead? */
	if (diagnosis->dev_count == 0 && !fsq_diagnosis_is_over(diagnosis))
		fsq_diagnose_place(diagnosis, "/", false);
}

int fsq_diagnose(const struct fsq_diagnose_request *request, fsq_finding_visitor visit, void *arg,
		 struct fsq_error *err)
{
	struct fsq_diagnosis diagnosis = {
		.request = request,
		.visit = visit,
		.arg = arg,
		.err = err,
	};

	diagnosis.rc = fsq_check_size(request, request->size, sizeof(*request), err);
	if (diagnosis.rc)
		return diagnosis.rc;
	if (!request->no_repairs)
		diagnosis.rc = fsq_mount_table_load(err);
	if (diagnosis.rc)
		return diagnosis.rc;
	diagnosis.registry = fsq_registry_or_default(request->registry);
	diagnosis.fstab = request->fstab ? request->fstab : "/etc/fstab";
	fsq_diagnose_caller(&diagnosis);
	for (size_t i = 0; i < request->path_count && !fsq_diagnosis_is_over(&diagnosis); i++)
		look_at_path(&diagnosis, request->paths[i]);
	if (request->path_count == 0)
		look_at_all(&diagnosis);
	if (!fsq_diagnosis_is_over(&diagnosis) && !request->filesystems_only)
		fsq_diagnose_registry(&diagnosis);
	fsq_mount_points_free(diagnosis.mounts);
	free(diagnosis.devs);
	return diagnosis.rc;
}
