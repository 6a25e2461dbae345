/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "diagnosis.h"
#include "quota/kernel/privilege.h"
#include "quota/kernel/space.h"
#include "shared/read_file.h"
#include "shared/used_up.h"

#define CMDLINE "/proc/cmdline"

static bool is_type(const struct fsq_subject *subject, const char *type)
{
	return strcmp(subject->mount.type, type) == 0;
}

static void say_of_filesystem(struct fsq_subject *subject, enum fsq_finding_id id)
{
	fsq_finding_visit_here(subject, (struct fsq_finding){ .id = id });
}

enum fsq_finding_id fsq_diagnose_other_type(const char *type)
{
	if (strcmp(type, "btrfs") == 0)
		return FSQ_FINDING_BTRFS;
	if (strcmp(type, "tmpfs") == 0)
		return FSQ_FINDING_TMPFS;
	return fsq_is_network(type) ? FSQ_FINDING_NETWORK : FSQ_FINDING_OTHER_FILESYSTEM;
}

bool fsq_diagnose_ext4(const struct fsq_features *features, const char *options,
		       struct fsq_finding *finding)
{
	finding->other_name = fsq_options_of_types("ext4", features->quota ? NULL : options);
	if (!features->project && features->inode_size <= 128) {
		finding->id = FSQ_FINDING_EXT4_INODE_SIZE;
		finding->count = features->inode_size;
	} else if (!features->project || !features->quota) {
		finding->id = FSQ_FINDING_EXT4_FEATURES;
		finding->name = features->quota	    ? "project"
				: features->project ? "quota"
						    : "quota,project";
	} else {
		return true;
	}
	return false;
}

/* @return   whether the features of ext4 or f2fs allow project quota, as far as they are known */
static bool check_features(struct fsq_subject *subject)
{
	struct fsq_features features;
	struct fsq_finding finding = { 0 };
	bool project;
	int rc = 0;

	if (subject->enforced)
		return true;
	if (is_type(subject, "f2fs")) {
		if (fsq_superblock_f2fs(subject->mount.dev, &project) || project)
			return true;
		finding.id = FSQ_FINDING_F2FS_FEATURES;
	} else {
		rc = fsq_superblock_of_mount(subject->mount.device, subject->mount.dev, &features);
		finding.id = FSQ_FINDING_FEATURES_UNKNOWN;
		finding.errnum = -rc;
		if (rc == 0 && fsq_diagnose_ext4(&features, subject->mount.super_options, &finding))
			return true;
	}
	subject->lacks_features = rc == 0;
	fsq_diagnosis_visit_with_options(subject, finding);
	return rc != 0;
}

/* The root filesystem is mounted before fstab is read, and XFS takes these options at mount only. */
static bool takes_root_flags(const struct fsq_subject *subject)
{
	return strcmp(subject->mount.directory, "/") == 0 && is_type(subject, "xfs");
}

static bool kernel_has_root_flags(void)
{
	char *text = NULL, *flags = NULL;
	size_t length;
	bool has = false;

	if (fsq_read_file(CMDLINE, &text, &length) == 0) {
		/* The last one counts. */
		for (char *next = text; (next = strstr(next, "rootflags="));)
			flags = next += strlen("rootflags=");
		if (flags) {
			flags[strcspn(flags, " \n")] = '\0';
			has = fsq_options_enforce(flags);
		}
	}
	free(text);
	return has;
}

bool fsq_diagnose_next_mount(struct fsq_diagnosis *diagnosis, const struct fsq_next_mount *next,
			     const char *type, const char *of_superblock, bool lacks_features,
			     void (*say)(void *arg, struct fsq_finding finding), void *arg)
{
	struct fsq_finding finding = { .name = next->file, .line = next->line };
	char *text = NULL, *options;
	bool wanted;
	int rc = 0;

	if (asprintf(&options, "%s,%s", of_superblock, next->options ? next->options : "") < 0) {
		fsq_diagnosis_fail(diagnosis, ENOMEM, next->file);
		return false;
	}
	wanted = fsq_options_enforce(options);
	free(options);
	if (lacks_features && wanted)
		rc = (text = strdup("prjquota")) ? 0 : -ENOMEM;
	else
		rc = fsq_options_refused(type, next->options, &text);
	if (text) {
		finding.id = FSQ_FINDING_OPTION_REFUSED;
		finding.other_name = text;
	} else if (!wanted && next->line) {
		finding.id = FSQ_FINDING_FSTAB;
		finding.options = fsq_options_of_types(type, next->options);
	} else if (!wanted) {
		finding.id = FSQ_FINDING_MOUNT_UNIT;
		finding.other_name = next->unit;
		rc = asprintf(&text, "%s%sprjquota", next->options ? next->options : "",
			      next->options && *next->options ? "," : "") < 0
			     ? -ENOMEM
			     : 0;
		finding.options = text;
	}
	if (rc)
		fsq_diagnosis_fail(diagnosis, ENOMEM, next->file);
	else if (finding.id)
		say(arg, finding);
	if (!rc)
		free(text);
	return wanted;
}

static void say_of_subject(void *arg, struct fsq_finding finding)
{
	fsq_finding_visit_here(arg, finding);
}

/* What will mount it next? */
static void find_next_mount(struct fsq_subject *subject)
{
	const struct fsq_next_wanted wanted = { .fstab = subject->diagnosis->fstab,
						.directory = subject->mount.directory };
	struct fsq_error err;

	if (!subject->diagnosis->request->no_repairs &&
	    fsq_next_mount_find(&wanted, &subject->next, &err))
		fsq_diagnosis_fail(subject->diagnosis, ENOMEM, subject->diagnosis->fstab);
}

/* Is project quota on? */
static void check_quota(struct fsq_subject *subject)
{
	struct fsq_finding off = { .id = FSQ_FINDING_QUOTA_OFF };

	if (subject->enforced) {
		say_of_filesystem(subject, FSQ_FINDING_QUOTA_ON);
		return;
	}
	/* It switches them on with the first mount that can write, also by remount. */
	if (!is_type(subject, "xfs") && fsq_options_have(subject->mount.super_options, "ro") &&
	    fsq_options_enforce(subject->mount.super_options))
		return;
	off.in_fstab = subject->next.line && fsq_options_enforce(subject->next.options);
	if (subject->accounting)
		off.id = FSQ_FINDING_NOT_ENFORCED;
	else if (takes_root_flags(subject) && !kernel_has_root_flags())
		off.id = FSQ_FINDING_ROOT_FLAGS;
	fsq_diagnosis_visit_with_options(subject, off);
}

/* Will it be on after the next mount? */
static void check_next_mount(struct fsq_subject *subject)
{
	const struct fsq_next_mount *next = &subject->next;
	struct fsq_features features = { 0 };

	if (!next->file || takes_root_flags(subject) || fsq_diagnosis_is_over(subject->diagnosis))
		return;
	if (is_type(subject, "ext4"))
		fsq_superblock_of_mount(subject->mount.device, subject->mount.dev, &features);
	if (fsq_diagnose_next_mount(subject->diagnosis, next, subject->mount.type,
				    features.mount_options, subject->lacks_features, say_of_subject,
				    subject) &&
	    next->line && !subject->enforced && !subject->lacks_features)
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
							subject->mount.super_options, "ro"),
					});
}

/* In a project statfs(2) tells what that has left. */
static void check_full(struct fsq_subject *subject)
{
	int root = fsq_diagnosis_open_root(&subject->mount);
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
	const dev_t dev = subject->mount.dev;
	struct fsq_state state;
	int rc = fsq_quotactl_state(&subject->handle.target, FSQ_PROJECT, &state);

	if (rc == 0) {
		subject->accounting = state.accounting[FSQ_PROJECT];
		subject->enforced = subject->accounting && state.enforced[FSQ_PROJECT];
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

void fsq_diagnose_filesystem(struct fsq_subject *subject)
{
	if (!is_type(subject, "xfs") && !is_type(subject, "ext4") && !is_type(subject, "f2fs")) {
		say_of_filesystem(subject, fsq_diagnose_other_type(subject->mount.type));
		return;
	}
	if (!subject->diagnosis->unreachable && ask_quota_state(subject)) {
		find_next_mount(subject);
		if (is_type(subject, "xfs") || check_features(subject))
			check_quota(subject);
		check_next_mount(subject);
	}
	if (fsq_diagnosis_is_over(subject->diagnosis))
		return;
	if (is_type(subject, "xfs") && fsq_xfs_is_version_4(subject->handle.target.fd))
		say_of_filesystem(subject, FSQ_FINDING_XFS_VERSION_4);
	check_read_only(subject);
	if (!subject->diagnosis->request->filesystems_only)
		check_full(subject);
	if (subject->enforced && !is_type(subject, "xfs") && fsq_has_capability(CAP_SYS_RESOURCE))
		say_of_filesystem(subject, FSQ_FINDING_ROOT_PASSES);
	if (strcmp(subject->mount.root, "/") != 0)
		fsq_finding_visit_here(subject,
				       (struct fsq_finding){ .id = FSQ_FINDING_BIND_MOUNT,
							     .name = subject->mount.root });
}
