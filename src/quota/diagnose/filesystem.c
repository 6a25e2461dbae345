/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "diagnosis.h"
#include "quota/kernel/fs_type.h"
#include "quota/kernel/privilege.h"
#include "quota/kernel/space.h"
#include "quota/mounts/lookup.h"
#include "shared/used_up.h"

static bool is_type(const struct fsq_subject *subject, const char *type)
{
	return strcmp(subject->outlook.mount.type, type) == 0;
}

static void say_of_filesystem(struct fsq_subject *subject, enum fsq_finding_id id)
{
	fsq_finding_visit_here(subject, (struct fsq_finding){ .id = id });
}

/* @return   whether the features of ext4 or f2fs allow project quota, as far as they are known */
static bool check_features(struct fsq_subject *subject)
{
	struct fsq_outlook *outlook = &subject->outlook;
	struct fsq_finding finding = { .id = FSQ_FINDING_FEATURES_UNKNOWN };
	int rc;

	if (outlook->enforced)
		return true;
	rc = fsq_outlook_read_features(outlook);
	if (is_type(subject, "f2fs")) {
		if (rc || outlook->features.project)
			return true;
		finding.id = FSQ_FINDING_F2FS_FEATURES;
	} else if (rc) {
		finding.errnum = -rc;
	} else if (fsq_outlook_ext4(&outlook->features, outlook->mount.super_options, &finding)) {
		return true;
	}
	fsq_diagnosis_visit_with_options(subject, finding);
	return rc != 0;
}

/* The root filesystem is mounted before fstab is read, and XFS takes these options at mount only. */
static bool takes_root_flags(const struct fsq_subject *subject)
{
	return subject->outlook.is_root && is_type(subject, "xfs");
}

void fsq_diagnose_next_mount(const struct fsq_outlook *outlook,
			     void (*say)(void *arg, struct fsq_finding finding), void *arg)
{
	const struct fsq_next_mount *next = &outlook->next;
	const bool lacks_features = !outlook->features_errnum && !fsq_outlook_has_features(outlook);
	struct fsq_finding finding = { .name = next->file, .line = next->line }, obstacle;

	if (lacks_features && outlook->next_wants)
		finding.other_name = "prjquota";
	else
		finding.other_name = outlook->next_refused;
	if (finding.other_name) {
		finding.id = FSQ_FINDING_OPTION_REFUSED;
	} else if (!outlook->next_wants && next->line) {
		finding.id = FSQ_FINDING_FSTAB;
	} else if (!outlook->next_wants) {
		finding.id = FSQ_FINDING_MOUNT_UNIT;
		finding.other_name = next->unit;
	}
	/* Another finding says what is in the way of this repair. */
	finding.in_doubt = fsq_outlook_has_obstacle(outlook, &obstacle);
	if (finding.id)
		say(arg, finding);
}

static void say_of_subject(void *arg, struct fsq_finding finding)
{
	fsq_finding_visit_here(arg, finding);
}

/* What will mount it next? */
static void find_next_mount(struct fsq_subject *subject)
{
	const char *fstab = subject->diagnosis->fstab;
	struct fsq_error err;

	if (subject->diagnosis->request->no_repairs)
		return;
	fsq_outlook_read_features(&subject->outlook);
	/* What cannot be read is not judged. */
	if ((fsq_outlook_find_next(&subject->outlook, fstab, -1, &err) && err.errnum == ENOMEM) ||
	    (takes_root_flags(subject) && fsq_outlook_find_boot(&subject->outlook)))
		fsq_diagnosis_fail(subject->diagnosis, ENOMEM, fstab);
}

/* Is project quota on? */
static void check_quota(struct fsq_subject *subject)
{
	const struct fsq_outlook *outlook = &subject->outlook;
	struct fsq_finding off = { .id = FSQ_FINDING_QUOTA_OFF };

	if (outlook->enforced) {
		say_of_filesystem(subject, FSQ_FINDING_QUOTA_ON);
		return;
	}
	/* It switches them on with the first mount that can write, also by remount. */
	if (!is_type(subject, "xfs") && outlook->read_only &&
	    fsq_options_enforce(outlook->mount.super_options))
		return;
	off.in_fstab = takes_root_flags(subject)
			       ? fsq_options_enforce(outlook->next_boot.root_flags)
			       : outlook->next.line && fsq_options_enforce(outlook->next.options);
	off.errnum = is_type(subject, "ext4") ? outlook->features_errnum : 0;
	if (outlook->accounting)
		off.id = FSQ_FINDING_NOT_ENFORCED;
	else if (takes_root_flags(subject) && !off.in_fstab)
		off.id = FSQ_FINDING_ROOT_FLAGS;
	fsq_finding_visit_here(subject, off);
}

/* Will it be on after the next mount? */
static void check_next_mount(struct fsq_subject *subject)
{
	const struct fsq_outlook *outlook = &subject->outlook;
	const struct fsq_next_mount *next = &outlook->next;

	if (!next->file || takes_root_flags(subject) || fsq_diagnosis_is_over(subject->diagnosis))
		return;
	fsq_diagnose_next_mount(outlook, say_of_subject, subject);
	if (outlook->next_wants && next->line && !outlook->enforced &&
	    (outlook->features_errnum || fsq_outlook_has_features(outlook)))
		fsq_finding_visit_here(subject,
				       (struct fsq_finding){ .id = FSQ_FINDING_FSTAB_NOT_IN_FORCE,
							     .name = next->file,
							     .line = next->line });
}

static void check_read_only(struct fsq_subject *subject)
{
	struct statvfs sfs;

	if (fstatvfs(subject->handle.target.fd, &sfs) || !(sfs.f_flag & ST_RDONLY))
		return;
	fsq_finding_visit_here(subject, (struct fsq_finding){
						.id = FSQ_FINDING_READ_ONLY,
						.of_mount_only = !fsq_options_have(
							subject->outlook.mount.super_options, "ro"),
					});
}

/* In a project statfs(2) tells what that has left. */
static void check_full(struct fsq_subject *subject)
{
	int root = fsq_diagnosis_open_root(&subject->outlook.mount);
	struct fsq_inode_project project = { 0 };
	struct statvfs sfs;

	if (root < 0)
		return;
	fsq_inode_project_get(root, &project);
	if (project.id == 0 && fstatvfs(root, &sfs) == 0 && !(sfs.f_flag & ST_RDONLY) &&
	    (is_space_used_up((uint64_t)sfs.f_bavail * sfs.f_frsize,
			      (uint64_t)sfs.f_blocks * sfs.f_frsize) ||
	     is_used_up(sfs.f_ffree, sfs.f_files)))
		fsq_finding_visit_here(
			subject,
			(struct fsq_finding){ .id = FSQ_FINDING_FILESYSTEM_FULL,
					      .count = (uint64_t)sfs.f_bavail * sfs.f_frsize,
					      .inodes = sfs.f_ffree });
	close(root);
}

/* @return   whether the kernel answered, so that "off" is certain */
static bool ask_quota_state(struct fsq_subject *subject)
{
	const dev_t dev = subject->outlook.mount.dev;
	struct fsq_state state;
	int rc = fsq_quotactl_state(&subject->handle.target, FSQ_PROJECT, &state);

	if (rc == 0) {
		subject->outlook.accounting = state.accounting[FSQ_PROJECT];
		subject->outlook.enforced =
			subject->outlook.accounting && state.enforced[FSQ_PROJECT];
	} else if (!subject->diagnosis->by_fd &&
		   (rc == -ENOENT || rc == -ENOTBLK || rc == -EACCES)) {
		fsq_finding_visit_here(subject,
				       (struct fsq_finding){ .id = FSQ_FINDING_NO_DEVICE_NODE,
							     .errnum = -rc,
							     .count = major(dev),
							     .other_count = minor(dev) });
		return false;
	}
	return rc != -EPERM;
}

/* By the options of its mount. */
static bool enforces(const struct fsq_mount *mount)
{
	int fd = fsq_lookup(NULL, mount->directory, O_PATH, NULL);
	struct fsq_mount line = { 0 };
	bool does = fd >= 0 && fsq_mount_line_of_fd(fd, &line) == 0 && line.dev == mount->dev &&
		    fsq_options_enforce(line.super_options);

	fsq_mount_clear(&line);
	if (fd >= 0)
		close(fd);
	return does;
}

/* Nobody named it, nothing on it is registered, and another filesystem has the quotas. */
static bool is_unasked(struct fsq_subject *subject)
{
	struct fsq_diagnosis *diagnosis = subject->diagnosis;
	const dev_t dev = subject->outlook.mount.dev;
	const struct fsq_mount_points *points;
	bool elsewhere = false;

	if (diagnosis->request->path_count || subject->outlook.enforced)
		return false;
	points = fsq_diagnosis_mounts(diagnosis);
	for (size_t i = 0; points && i < points->count && !elsewhere; i++)
		elsewhere = points->mounts[i].dev != dev && points->mounts[i].is_local &&
			    fsq_type_has_projects(points->mounts[i].type) &&
			    enforces(&points->mounts[i]);
	return elsewhere && !fsq_diagnose_has_registered(diagnosis, dev);
}

void fsq_diagnose_filesystem(struct fsq_subject *subject)
{
	if (!is_type(subject, "xfs") && !is_type(subject, "ext4") && !is_type(subject, "f2fs")) {
		say_of_filesystem(subject, fsq_outlook_other_type(subject->outlook.mount.type));
		return;
	}
	if (!subject->diagnosis->unreachable && ask_quota_state(subject)) {
		find_next_mount(subject);
		subject->is_unasked = is_unasked(subject);
		if (is_type(subject, "xfs") || check_features(subject))
			check_quota(subject);
		check_next_mount(subject);
		subject->is_unasked = false;
	}
	if (fsq_diagnosis_is_over(subject->diagnosis))
		return;
	if (is_type(subject, "xfs") && fsq_xfs_is_version_4(subject->handle.target.fd))
		say_of_filesystem(subject, FSQ_FINDING_XFS_VERSION_4);
	check_read_only(subject);
	if (!subject->diagnosis->request->filesystems_only)
		check_full(subject);
	if (subject->outlook.enforced && !is_type(subject, "xfs") &&
	    fsq_has_capability(CAP_SYS_RESOURCE))
		say_of_filesystem(subject, FSQ_FINDING_ROOT_PASSES);
	if (strcmp(subject->outlook.mount.root, "/") != 0)
		fsq_finding_visit_here(subject,
				       (struct fsq_finding){ .id = FSQ_FINDING_BIND_MOUNT,
							     .name = subject->outlook.mount.root });
}
