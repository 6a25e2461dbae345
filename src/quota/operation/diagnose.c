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

/* Look at the file system of a path and, if asked for, at the directory itself. */
static void look_at_place(struct fsq_diagnosis *diagnosis, const char *path, bool itself)
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
		look_at_place(diagnosis, path, true);
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
		look_at_place(diagnosis, mount->directory, false);
	return fsq_diagnosis_is_over(diagnosis) ? FSQ_VISIT_STOP : FSQ_VISIT_CONTINUE;
}

static void look_at_all(struct fsq_diagnosis *diagnosis)
{
	int rc = fsq_mounts_each(NULL, look_at_mount, diagnosis, diagnosis->err);

	if (rc)
		diagnosis->rc = rc;
	/* There is none: what does the machine have instead? */
	if (diagnosis->dev_count == 0 && !fsq_diagnosis_is_over(diagnosis))
		look_at_place(diagnosis, "/", false);
}

int fsq_diagnose(const struct fsq_diagnose_request *request, fsq_finding_visitor visit, void *arg,
		 struct fsq_error *err)
{
	struct fsq_diagnosis diagnosis = {
		.request = request,
		.visit = visit,
		.arg = arg,
		.err = err,
		.look_at_place = look_at_place,
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
