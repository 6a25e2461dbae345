/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "diagnosis.h"
#include "quota/base/error.h"
#include "quota/base/path.h"
#include "quota/kernel/fs_type.h"
#include "quota/kernel/privilege.h"
#include "quota/limits/limits.h"
#include "quota/mounts/device.h"
#include "quota/mounts/filesystem_handle.h"
#include "quota/mounts/lookup.h"
#include "quota/mounts/overlay.h"
#include "quota/registry/project_edit.h"
#include "shared/array.h"

static void diagnose_path(struct fsq_diagnosis *diagnosis, const char *path, bool itself);

/* May the caller use quotas, and do quota calls of this process reach the kernel? */
static void check_caller(struct fsq_diagnosis *diagnosis)
{
	struct fsq_finding finding = { .id = FSQ_FINDING_PRIVILEGED };
	int rc;

	if (fsq_in_user_namespace())
		finding.id = FSQ_FINDING_USER_NAMESPACE;
	else if (!fsq_is_privileged())
		finding.id = FSQ_FINDING_NO_CAPABILITY;
	fsq_finding_visit(diagnosis, finding);
	rc = fsq_quotactl_probe(&diagnosis->by_fd);
	diagnosis->unreachable = rc != 0;
	if (rc == -ENOSYS && !fsq_has_seccomp_filter())
		fsq_finding_visit(diagnosis,
				  (struct fsq_finding){ .id = FSQ_FINDING_KERNEL_WITHOUT_QUOTA });
	else if (rc)
		fsq_finding_visit(diagnosis,
				  (struct fsq_finding){ .id = FSQ_FINDING_SECCOMP, .errnum = -rc });
}

/* --- a directory: whose project is it? --- */

/* @return   the parent directory on the same filesystem, if it hands on the ID; or -1 */
static int open_above(int fd, uint32_t id)
{
	int above = openat(fd, "..", O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
	struct fsq_inode_project project;
	struct stat here, there;

	if (above < 0)
		return -1;
	if (fstat(fd, &here) == 0 && fstat(above, &there) == 0 && here.st_dev == there.st_dev &&
	    here.st_ino != there.st_ino && fsq_inode_project_get(above, &project) == 0 &&
	    project.id == id && project.inherit)
		return above;
	close(above);
	return -1;
}

/*
 * @return   the path of the highest directory from which this one inherits the ID; NULL: none, or with errno
 * ENOMEM no memory
 */
static char *find_source(int fd, uint32_t id)
{
	int highest = -1, next;
	char *path;

	while ((next = open_above(highest < 0 ? fd : highest, id)) >= 0) {
		if (highest >= 0)
			close(highest);
		highest = next;
	}
	errno = 0;
	if (highest < 0)
		return NULL;
	path = fsq_fd_path(highest);
	close(highest);
	return path;
}

/* Does the next write fail? Of space less is left than a block of a file. */
static bool is_full(const struct fsq_dquot *dquot)
{
	const int64_t now = time(NULL);

	for (int form = FSQ_BLOCKS; form <= FSQ_INODES; form++) {
		const struct fsq_amounts *of = &dquot->form[form];
		const uint64_t next = form == FSQ_BLOCKS ? 4096 / FSQ_BASIC_BLOCK : 1;

		if ((of->hard && of->used + next > of->hard) ||
		    (of->soft && of->used > of->soft && of->expires && of->expires <= now))
			return true;
	}
	return false;
}

/* Whose files are written here? Of users the caller, but root has no limits: the owner. */
static void check_accounts(struct fsq_subject *subject)
{
	static const char *const names[] = { [FSQ_USER] = "user", [FSQ_GROUP] = "group" };
	static const char *const options[] = { [FSQ_USER] = "-u", [FSQ_GROUP] = "-g" };
	struct fsq_target *target = &subject->handle.target;
	struct fsq_state state;
	struct fsq_dquot dquot;
	struct stat st;

	if (fstat(target->fd, &st) || fsq_quotactl_state(target, FSQ_PROJECT, &state))
		return;
	for (int type = FSQ_USER; type <= FSQ_GROUP; type++) {
		const uint32_t id = type == FSQ_GROUP ? st.st_gid
				    : geteuid()	      ? geteuid()
						      : st.st_uid;

		if (id && state.enforced[type] &&
		    fsq_quotactl_get(target, (enum fsq_type)type, id, &dquot) == 0 &&
		    is_full(&dquot))
			fsq_finding_visit_here(subject,
					       (struct fsq_finding){ .id = FSQ_FINDING_ACCOUNT_FULL,
								     .path = subject->handle.path,
								     .name = names[type],
								     .other_name = options[type],
								     .project = id });
	}
}

static void check_directory(struct fsq_subject *subject)
{
	const char *file = subject->diagnosis->registry->projects_file;
	struct fsq_handle *handle = &subject->handle;
	struct fsq_finding finding = { .id = FSQ_FINDING_PROJECT_ABOVE, .path = handle->path };
	uint32_t registered = 0;
	struct fsq_dquot dquot;
	struct fsq_error err;
	char *source = NULL;
	struct stat st;

	if (fstat(handle->target.fd, &st) || !S_ISDIR(st.st_mode) ||
	    fsq_inode_project_get(handle->target.fd, &handle->project) || handle->project.id == 0)
		return;
	if (fsq_quotactl_get(&handle->target, FSQ_PROJECT, handle->project.id, &dquot) == 0 &&
	    is_full(&dquot))
		fsq_finding_visit_here(subject,
				       (struct fsq_finding){ .id = FSQ_FINDING_PROJECT_FULL,
							     .path = handle->path,
							     .project = handle->project.id });
	/* An unreadable file is a finding of its own. */
	if (fsq_projects_id_of(file, handle->path, &registered, &err))
		errno = err.errnum;
	else if (registered)
		return;
	else
		source = find_source(handle->target.fd, handle->project.id);
	if (source) {
		finding.name = source;
		finding.project = handle->project.id;
		finding.in_doubt =
			fsq_diagnose_is_registered(subject->diagnosis, handle->path, false);
		fsq_finding_visit_here(subject, finding);
	} else if (errno == ENOMEM) {
		fsq_diagnosis_fail(subject->diagnosis, ENOMEM, handle->path);
	}
	free(source);
}

/* --- an overlay --- */

/* The two directories that an overlay writes to. */
struct layers {
	char *upper, *work;
	char *own; /* the directory of an engine that has both and nothing else, or NULL */
	struct fsq_inode_project of_upper, of_work;
};

static bool has_limit(const struct layers *layers)
{
	struct fsq_target target = { .fd = fsq_lookup(NULL, layers->upper, O_PATH, NULL) };
	struct fsq_dquot dquot;
	bool has;

	if (target.fd < 0)
		return false;
	has = fsq_quotactl_get(&target, FSQ_PROJECT, layers->of_upper.id, &dquot) == 0 &&
	      fsq_dquot_is_limited(&dquot);
	close(target.fd);
	return has;
}

static void check_layers(struct fsq_subject *subject, const struct layers *layers)
{
	struct fsq_finding finding = {
		.id = FSQ_FINDING_OVERLAY_LIMITED,
		.name = layers->own ? layers->own : layers->upper,
		.project = layers->of_upper.id,
		.other = layers->of_work.id,
	};
	struct stat st;

	if (layers->of_upper.id != layers->of_work.id) {
		finding.id = FSQ_FINDING_OVERLAY_SPLIT;
		finding.name = layers->upper;
		finding.other_name = layers->work;
		finding.in_doubt = fsq_diagnose_is_registered(
			subject->diagnosis, layers->of_upper.id ? layers->work : layers->upper,
			true);
	} else if (layers->of_upper.id == 0 || !has_limit(layers)) {
		finding.id = FSQ_FINDING_OVERLAY_UNLIMITED;
		finding.other_name = layers->own ? NULL : layers->work;
		finding.count = fsq_lookup_stat(NULL, layers->upper, 0, &st, NULL) ? 0 : st.st_ino;
		finding.in_doubt = fsq_diagnose_is_registered(subject->diagnosis, finding.name,
							      !layers->own) ||
				   (!layers->own && fsq_diagnose_is_registered(subject->diagnosis,
									       layers->work, true));
	}
	fsq_finding_visit_here(subject, finding);
}

/* Can an overlay have project quotas? Then check the directory that it writes to. */
static void check_overlay(struct fsq_subject *subject)
{
	struct layers layers = { 0 };

	fsq_overlay_layers(&subject->outlook.mount, &layers.upper, &layers.work);
	if (!layers.upper || !layers.work || layers.upper[0] != '/' || layers.work[0] != '/' ||
	    fsq_lookup_project(NULL, layers.upper, &layers.of_upper) ||
	    fsq_lookup_project(NULL, layers.work, &layers.of_work)) {
		fsq_finding_visit_here(subject, (struct fsq_finding){ .id = FSQ_FINDING_OVERLAY,
								      .name = layers.upper });
		goto out;
	}
	layers.own = fsq_overlay_own(layers.upper, layers.work);
	if (!layers.own && errno == ENOMEM) {
		fsq_diagnosis_fail(subject->diagnosis, ENOMEM, subject->outlook.mount.directory);
		goto out;
	}
	check_layers(subject, &layers);
	diagnose_path(subject->diagnosis, layers.upper, false);
out:
	free(layers.upper);
	free(layers.work);
	free(layers.own);
}

/* --- a device or an image --- */

struct medium {
	struct fsq_diagnosis *diagnosis;
	const char *path;
	const struct stat *st;
	struct fsq_device device;
};

static void say_of_device(const struct medium *medium, struct fsq_finding finding)
{
	finding.path = finding.filesystem = medium->path;
	finding.type = medium->device.type;
	finding.is_image = S_ISREG(medium->st->st_mode);
	fsq_finding_visit(medium->diagnosis, finding);
}

static void say_of_medium(void *arg, struct fsq_finding finding)
{
	say_of_device(arg, finding);
}

/* What no mount can change, and what the next one will do. */
static void check_outlook(struct medium *medium, const struct fsq_outlook *outlook)
{
	struct fsq_finding finding = { 0 };

	if (outlook->features_errnum) {
		finding.id = FSQ_FINDING_FEATURES_UNKNOWN;
		finding.errnum = outlook->features_errnum;
	} else if (strcmp(outlook->type, "ext4") == 0) {
		fsq_outlook_ext4(&outlook->features, outlook->next.options, &finding);
	} else if (!outlook->features.project) {
		finding.id = FSQ_FINDING_F2FS_FEATURES;
	} else if (outlook->features.version && outlook->features.version < 5) {
		finding.id = FSQ_FINDING_XFS_VERSION_4;
	}
	if (finding.id)
		say_of_device(medium, finding);
	if (outlook->next.file)
		fsq_diagnose_next_mount(outlook, say_of_medium, medium);
}

/* Does it have all features for project quota, and does fstab ask for it? */
static void check_unmounted(struct medium *medium, int fd)
{
	struct fsq_outlook outlook = { .dev = medium->st->st_rdev };
	struct fsq_error err;

	outlook.type = strdup(medium->device.type);
	if (!outlook.type) {
		fsq_diagnosis_fail(medium->diagnosis, ENOMEM, medium->path);
		return;
	}
	if (!fsq_type_has_projects(outlook.type)) {
		say_of_device(medium,
			      (struct fsq_finding){ .id = fsq_outlook_other_type(outlook.type) });
	} else {
		outlook.features_errnum = -fsq_superblock_features(fd, &outlook.features);
		if (S_ISBLK(medium->st->st_mode) &&
		    fsq_outlook_find_next(&outlook, medium->diagnosis->fstab, fd, &err) &&
		    err.errnum == ENOMEM)
			fsq_diagnosis_fail(medium->diagnosis, ENOMEM, medium->path);
		else
			check_outlook(medium, &outlook);
	}
	fsq_outlook_clear(&outlook);
}

/* @return   a mount point of the device that is visible; or NULL */
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

/* @return   whether the device is done; otherwise diagnose the path itself */
static bool look_at_device(struct fsq_diagnosis *diagnosis, const char *path, const struct stat *st)
{
	const bool is_device = S_ISBLK(st->st_mode);
	const char *mounted = is_device ? mount_point_of(diagnosis, st) : NULL;
	struct medium medium = { .diagnosis = diagnosis, .path = path, .st = st };
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), rc;
	struct fsq_error err;
	bool all = true;

	if (fd < 0)
		rc = fsq_fail_errno(&err, errno, path, "cannot open");
	else
		rc = fsq_device_probe(fd, path, &medium.device, &err);
	if (medium.device.type)
		say_of_device(&medium, (struct fsq_finding){ .id = FSQ_FINDING_DEVICE,
							     .mountpoint = mounted,
							     .version = medium.device.version,
							     .uuid = medium.device.uuid,
							     .label = medium.device.label });
	if (mounted)
		diagnose_path(diagnosis, mounted, true);
	else if (medium.device.type)
		check_unmounted(&medium, fd);
	else if (rc == FSQ_E_CONFLICT || (rc && is_device))
		fsq_diagnosis_report_error(diagnosis, &err);
	else if (is_device)
		say_of_device(&medium, (struct fsq_finding){ .id = FSQ_FINDING_NO_FILESYSTEM });
	else
		all = false;
	fsq_device_clear(&medium.device);
	if (fd >= 0)
		close(fd);
	return all;
}

/* --- all together --- */

static bool is_device_known(const struct fsq_diagnosis *diagnosis, dev_t dev)
{
	for (size_t i = 0; i < diagnosis->dev_count; i++)
		if (diagnosis->devs[i] == dev)
			return true;
	return false;
}

struct awaited {
	const struct fsq_subject *subject;
	char *directory; /* or NULL */
	bool no_memory;
};

static enum fsq_visit take_awaited(const struct fsq_mount *line, void *arg)
{
	struct awaited *awaited = arg;
	const struct fsq_subject *subject = awaited->subject;

	if (!fsq_mount_point_hides(line->directory, subject->outlook.mount.directory,
				   subject->handle.path))
		return FSQ_VISIT_CONTINUE;
	awaited->directory = strdup(line->directory);
	awaited->no_memory = !awaited->directory;
	return FSQ_VISIT_STOP;
}

/* @return   whether the path belongs to a filesystem that is not mounted: nothing here is about that */
static bool is_awaited(struct fsq_subject *subject)
{
	struct awaited awaited = { .subject = subject };
	struct fsq_error err;
	bool is;

	if (fsq_fstab_each(subject->diagnosis->fstab, take_awaited, &awaited, &err) &&
	    err.errnum == ENOMEM)
		awaited.no_memory = true;
	if (awaited.no_memory)
		fsq_diagnosis_fail(subject->diagnosis, ENOMEM, subject->handle.path);
	else if (awaited.directory)
		fsq_finding_visit_here(subject, (struct fsq_finding){ .id = FSQ_FINDING_NOT_MOUNTED,
								      .path = subject->handle.path,
								      .name = awaited.directory });
	is = awaited.directory || awaited.no_memory;
	free(awaited.directory);
	return is;
}

static void look_at_subject(struct fsq_subject *subject, bool itself)
{
	struct fsq_diagnosis *diagnosis = subject->diagnosis;
	bool new = !is_device_known(diagnosis, subject->outlook.mount.dev);

	if (itself && is_awaited(subject))
		return;
	if (new) {
		dev_t *devs = array_grow(diagnosis->devs, diagnosis->dev_count,
					 &diagnosis->dev_capacity, sizeof(*devs));

		if (!devs) {
			fsq_diagnosis_fail(diagnosis, ENOMEM, NULL);
			return;
		}
		diagnosis->devs = devs;
		devs[diagnosis->dev_count++] = subject->outlook.mount.dev;
	}
	if (strcmp(subject->outlook.mount.type, "overlay") == 0) {
		check_overlay(subject);
		return;
	}
	if (new)
		fsq_diagnose_filesystem(subject);
	if (diagnosis->request->filesystems_only)
		return;
	if (new && subject->outlook.accounting)
		fsq_diagnose_records(subject);
	if (itself) {
		check_accounts(subject);
		check_directory(subject);
	}
}

/* Diagnose the filesystem of a path and, with @itself, the directory. */
static void diagnose_path(struct fsq_diagnosis *diagnosis, const char *path, bool itself)
{
	struct fsq_subject subject = { .diagnosis = diagnosis };
	struct fsq_mount line = { 0 };
	struct fsq_error err;
	char *resolved = NULL;
	int fd = fsq_lookup(NULL, path, O_PATH, &err), rc;

	if (fd >= 0) {
		resolved = fsq_fd_path(fd);
		close(fd);
		fd = fsq_handle_open(&subject.handle, resolved ? resolved : path, NULL, &err);
	}
	free(resolved);
	if (fd) {
		fsq_diagnosis_report_error(diagnosis, &err);
		return;
	}
	rc = fsq_mount_line_of_fd(subject.handle.target.fd, &line);
	if (rc == 0)
		rc = fsq_outlook_take_mount(&subject.outlook, &line);
	if (rc == -ENOMEM) {
		fsq_diagnosis_fail(diagnosis, ENOMEM, path);
	} else if (rc) {
		/* In a chroot the kernel does not list the mount of the root directory, nor its options. */
		fsq_fail(&err, FSQ_E_NOT_FOUND, -rc, path, "cannot find the mount%s",
			 rc == -ENXIO ? "; in a chroot, run doctor outside of the chroot" : "");
		fsq_diagnosis_report_error(diagnosis, &err);
	} else {
		look_at_subject(&subject, itself);
	}
	fsq_mount_clear(&line);
	fsq_outlook_clear(&subject.outlook);
	fsq_handle_close(&subject.handle);
}

/* A device means the filesystem on it. */
static void look_at_path(struct fsq_diagnosis *diagnosis, const char *path)
{
	struct fsq_error err;
	char *device = NULL;
	struct stat st;

	if (fsq_is_tag(path) && fsq_filesystem_device_of_tag(path, &device, &err)) {
		fsq_diagnosis_report_error(diagnosis, &err);
		return;
	}
	if (device)
		path = device;
	if (fsq_lookup_stat(NULL, path, 0, &st, NULL) ||
	    (!S_ISBLK(st.st_mode) && !S_ISREG(st.st_mode)) || !look_at_device(diagnosis, path, &st))
		diagnose_path(diagnosis, path, true);
	free(device);
}

/* @return   whether a visible mount there can have project quotas */
static bool is_candidate(const struct fsq_mount *mount)
{
	int fd = fsq_lookup(NULL, mount->directory, O_PATH, NULL);
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

	if (!is_device_known(diagnosis, mount->dev) && is_candidate(mount))
		diagnose_path(diagnosis, mount->directory, false);
	return fsq_diagnosis_is_over(diagnosis) ? FSQ_VISIT_STOP : FSQ_VISIT_CONTINUE;
}

int fsq_diagnose(const struct fsq_diagnose_request *request, fsq_finding_visitor visit, void *arg,
		 struct fsq_error *err)
{
	if (!request || !visit)
		return fsq_fail_null(err);

	struct fsq_diagnosis diagnosis = {
		.request = request,
		.visit = visit,
		.arg = arg,
		.err = err,
	};

	diagnosis.rc = fsq_check_size(request, request->size, sizeof(*request), err);
	if (diagnosis.rc == 0)
		diagnosis.rc = fsq_check_parts(request->registry, request->options, err);
	if (diagnosis.rc == 0 && fsq_lacks_path(request->paths, request->path_count))
		diagnosis.rc = fsq_fail_null(err);
	if (diagnosis.rc)
		return diagnosis.rc;
	if (!request->no_repairs)
		diagnosis.rc = fsq_mount_table_load(err);
	if (diagnosis.rc)
		return diagnosis.rc;
	diagnosis.registry = fsq_registry_or_default(request->registry);
	diagnosis.fstab = request->fstab ? request->fstab : FSQ_FSTAB;
	check_caller(&diagnosis);
	for (size_t i = 0; i < request->path_count && !fsq_diagnosis_is_over(&diagnosis); i++)
		look_at_path(&diagnosis, request->paths[i]);
	if (request->path_count == 0) {
		int rc = fsq_mounts_each(NULL, look_at_mount, &diagnosis, err);

		diagnosis.rc = rc ? rc : diagnosis.rc;
		/* There is none: report what the machine has instead. */
		if (diagnosis.dev_count == 0 && !fsq_diagnosis_is_over(&diagnosis))
			diagnose_path(&diagnosis, "/", false);
	}
	if (!fsq_diagnosis_is_over(&diagnosis) && !request->filesystems_only)
		fsq_diagnose_registry(&diagnosis);
	fsq_mount_points_free(diagnosis.mounts);
	free(diagnosis.devs);
	return diagnosis.rc;
}
