/* SPDX-License-Identifier: Apache-2.0 */
#include "finding_words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/errno_words.h"

/* {path} and the like are replaced by a field of the finding; in a repair quoted for the shell. */
struct template
{
	enum fsq_finding_id id;
	const char *word, *sentence, *repair;
	/* The sentence for findings in doubt: it may be no fault, or the repair would change other projects. */
	const char *in_doubt;
	const char *on_device; /* the repair where nothing has to be unmounted */
};

/* Delete by contents: numbers change when a line above is deleted. */
#define DELETE_LINE "LC_ALL=C sed -i {delete} {path}"
#define MOUNT "mount -t {type} -o {options} {filesystem} {mountpoint}"
/* All that is left to do, whichever finding comes first. */
#define SETUP "fsquota setup --yes {mountpoint}"
#define SETUP_ANEW "fsquota setup --yes --unmount {mountpoint}"
#define SETUP_DEVICE "fsquota setup --yes {filesystem}"
#define SETUP_ROOT "fsquota setup --yes --at-boot /"
/* With an empty projects file, so that the other directories of the ID are left alone. */
#define SET_UP "fsquota project -s --projects-file /dev/null"

static const struct template templates[] = {
	{ FSQ_FINDING_PRIVILEGED, .word = "privileged", "may set project IDs and limits" },
	{ FSQ_FINDING_NO_CAPABILITY, .word = "no-capability",
	  "has no CAP_SYS_ADMIN, which setting limits and reading those of others takes: run it as "
	  "root" },
	{ FSQ_FINDING_USER_NAMESPACE, .word = "user-namespace",
	  "is in a user namespace, where nobody may set project IDs and limits: run it on the "
	  "host" },
	{ FSQ_FINDING_SECCOMP, .word = "seccomp",
	  "quotactl(2) fails whatever it asks ({error}): a seccomp filter or a security module "
	  "forbids it" },
	{ FSQ_FINDING_KERNEL_WITHOUT_QUOTA, .word = "kernel-without-quota",
	  "this kernel was built without quotas" },
	{ FSQ_FINDING_QUOTA_ON, .word = "quota-on",
	  "{type} that counts projects and enforces limits" },
	{ FSQ_FINDING_NOT_ENFORCED, .word = "not-enforced",
	  "projects are counted, but limits stop nobody: mounted without prjquota", SETUP_ANEW },
	{ FSQ_FINDING_QUOTA_OFF, .word = "quota-off",
	  "project quota is off: mounted without prjquota", SETUP_ANEW },
	{ FSQ_FINDING_OTHER_FILESYSTEM, .word = "other-filesystem",
	  "{type} has no project quotas: use XFS, ext4 or f2fs, mounted with prjquota" },
	{ FSQ_FINDING_BTRFS, .word = "btrfs",
	  "btrfs has no project quotas; it limits subvolumes with quota groups, see "
	  "btrfs-qgroup(8)" },
	{ FSQ_FINDING_TMPFS, .word = "tmpfs",
	  "tmpfs has no project quotas; a mount of its own with the option size= limits a "
	  "directory, see tmpfs(5)" },
	{ FSQ_FINDING_NETWORK, .word = "network",
	  "{type} has no project quotas here; put them on the directory that the server exports" },
	{ FSQ_FINDING_OVERLAY, .word = "overlay",
	  "an overlay has no project quotas of its own, and its upperdir cannot be seen from here: "
	  "ask where it was mounted" },
	{ FSQ_FINDING_EXT4_FEATURES, .word = "ext4-features",
	  "project quota is off: this ext4 lacks the feature {name}", SETUP_ANEW,
	  .on_device = SETUP_DEVICE },
	{ FSQ_FINDING_EXT4_INODE_SIZE, .word = "ext4-inode-size",
	  "inodes of {count} bytes have no place for a project ID: make this ext4 anew, which "
	  "DELETES everything on it",
	  "umount {mountpoint} && mkfs.ext4 -I 256 -O quota,project {filesystem} && mount -t ext4 "
	  "-o {options} {filesystem} {mountpoint}",
	  .on_device = "mkfs.ext4 -I 256 -O quota,project {filesystem}" },
	{ FSQ_FINDING_F2FS_FEATURES, .word = "f2fs-features",
	  "project quota is off: this f2fs lacks the feature project_quota; make it anew, which "
	  "DELETES everything on it",
	  "umount {mountpoint} && mkfs.f2fs -f -O extra_attr,project_quota {filesystem} && mount "
	  "-t f2fs -o {options} {filesystem} {mountpoint}",
	  .on_device = "mkfs.f2fs -f -O extra_attr,project_quota {filesystem}" },
	{ FSQ_FINDING_FEATURES_UNKNOWN, .word = "features-unknown",
	  "its features are not known: the device cannot be read ({error})" },
	{ FSQ_FINDING_NO_DEVICE_NODE, .word = "no-device-node",
	  "this kernel wants the device for quota calls, and it is not there ({error})",
	  "mknod {filesystem} b {count} {other_count}" },
	{ FSQ_FINDING_XFS_VERSION_4, .word = "xfs-version-4",
	  "an XFS of version 4, without checksums: group and project quota exclude each other" },
	{ FSQ_FINDING_READ_ONLY, .word = "read-only",
	  "read-only: no limit and no ID can be changed", "mount -o remount,rw {mountpoint}" },
	{ FSQ_FINDING_FSTAB, .word = "fstab",
	  "line {line} of {name} mounts it without prjquota, so that the next mount has none",
	  SETUP, .on_device = SETUP_DEVICE },
	{ FSQ_FINDING_MOUNT_UNIT, .word = "mount-unit",
	  "{name} mounts it without prjquota, so that the next mount has none", SETUP,
	  .on_device = SETUP_DEVICE },
	{ FSQ_FINDING_OPTION_REFUSED, .word = "option-refused",
	  "line {line} of {name} has {other_name}, which the kernel refuses for this {type}: the "
	  "next mount, and the next boot, fails",
	  SETUP, .on_device = SETUP_DEVICE },
	{ FSQ_FINDING_FSTAB_NOT_IN_FORCE, .word = "fstab-not-in-force",
	  "line {line} of {name} has prjquota, but it is mounted otherwise", SETUP_ANEW },
	{ FSQ_FINDING_ROOT_FLAGS, .word = "root-flags",
	  "project quota is off: XFS takes prjquota for the root filesystem only from the kernel "
	  "command line, as rootflags=prjquota",
	  SETUP },
	{ FSQ_FINDING_ROOT_PASSES, .word = "root-passes",
	  "{type} stops nobody who has CAP_SYS_RESOURCE, as this caller does: limits hold for "
	  "other users" },
	{ FSQ_FINDING_BIND_MOUNT, .word = "bind-mount",
	  "only {name} of {filesystem} is mounted here; limits count what is in all of it" },
	{ FSQ_FINDING_OVERLAY_LIMITED, .word = "overlay-limited",
	  "what is written to the overlay counts for project {id} of {name}" },
	{ FSQ_FINDING_OVERLAY_UNLIMITED, .word = "overlay-unlimited",
	  "nothing limits the overlay: assign its upperdir and workdir, as one project",
	  "fsquota assign {name} --hard 10G",
	  .in_doubt = "nothing limits the overlay: its upperdir and workdir have projects inside: "
		      "release them, and assign both as one project" },
	{ FSQ_FINDING_OVERLAY_SPLIT, .word = "overlay-split",
	  "its upperdir has project {id} and its workdir {other}: files cannot be copied up "
	  "(EXDEV)",
	  SET_UP " -p {other_name} {id} {other_name}",
	  .in_doubt = "its upperdir has project {id} and its workdir {other}: files cannot be "
		      "copied up (EXDEV); a directory with a project is in the way: release it" },
	{ FSQ_FINDING_STORE, .word = "store",
	  "a container store with project {id}: {count} of the IDs after it are in use, by its "
	  "containers" },
	{ FSQ_FINDING_STORE_FOLLOWED, .word = "store-followed",
	  "the engine of this container store takes the IDs after {id}, and changes the limits of "
	  "{name}, project {other}",
	  "fsquota release {name} && fsquota assign {name}{limits}",
	  .in_doubt = "the engine of this container store takes the IDs after {id}, and changes "
		      "the limits of {name}, project {other}, which has projects inside: release "
		      "them before it, and assign it before them" },
	{ FSQ_FINDING_IDS_WITHOUT_LINE, .word = "ids-without-line",
	  "{count} project IDs from {id} to {other} are in use, and no line has them: see fsquota "
	  "find --orphans; fsquota assign --keep-limits DIRECTORY registers one" },
	{ FSQ_FINDING_KUBELET_STARVED, .word = "kubelet-starved",
	  "the first {count} IDs that kubelet tries, up to {other}, are in use and in no file: it "
	  "gives up, and from 1.31 on pods with a user namespace do not start; see fsquota find "
	  "--orphans; fsquota assign --keep-limits DIRECTORY registers one" },
	{ FSQ_FINDING_KUBELET_LEAKED, .word = "kubelet-leaked",
	  "volumes of pods that are gone have lines and limits ({count}), which kubelet never "
	  "clears "
	  "from 1.31 on; with {other} more of them, pods with a user namespace may not start",
	  "fsquota prune {mountpoint}",
	  .in_doubt =
		  "volumes of pods that are gone have lines and limits ({count}), which kubelet "
		  "never clears from 1.31 on: pods with a user namespace may not start; "
		  "fsquota prune {mountpoint} removes them" },
	{ FSQ_FINDING_PROJECT_FULL, .word = "project-full",
	  "project {id} is full: at its hard limit, or above its soft one for too long; see "
	  "fsquota "
	  "explain" },
	{ FSQ_FINDING_ACCOUNT_FULL, .word = "account-full",
	  "{name} {id} is full: at the hard limit, or above the soft one for too long; see "
	  "fsquota quota {other_name} {id}" },
	{ FSQ_FINDING_NOT_MOUNTED, .word = "not-mounted",
	  "fstab mounts a filesystem on {name}, which is not mounted", "mount {name}" },
	{ FSQ_FINDING_LIMITS_OVERDUE, .word = "limits-overdue",
	  "its limits were to go back on {name}, as resize --until said: is fsquota-until.timer "
	  "enabled?",
	  "fsquota resize --due" },
	{ FSQ_FINDING_PROJECT_ABOVE, .word = "project-above",
	  "shares project {id} and its limits with {name}, which hands its ID on",
	  "fsquota assign {path} --hard 10G",
	  .in_doubt = "shares project {id} and its limits with {name}, which hands its ID on, and "
		      "has projects inside" },
	{ FSQ_FINDING_TAG_CHANGED, .word = "tag-changed",
	  "registered with project {id}, but carries ID {other}, so it is outside of its quota; "
	  "its owner may do that on the host, but not in a user namespace",
	  "fsquota assign {path}",
	  .in_doubt = "registered with project {id}, but carries ID {other}, and in it are IDs of "
		      "others, such as a container engine gives to its layers" },
	{ FSQ_FINDING_TAG_NOT_INHERITED, .word = "tag-not-inherited",
	  "does not hand its project {id} on: what is made in it is outside of its quota",
	  SET_UP " -d 0 -p {path} {id} {mountpoint}" },
	{ FSQ_FINDING_BUDGET_EXCEEDED, .word = "budget-exceeded",
	  "hard limits add up to {count} bytes, and the budget is {other_count} bytes: "
	  "see fsquota list --total" },
	{ FSQ_FINDING_DIRECTORY_GONE, .word = "directory-gone",
	  "line {line} of {name} has it as project {id}, but it is gone", "fsquota release {path}",
	  .in_doubt = "line {line} of {name} has it as project {id}, and it is not there: gone "
		      "(fsquota release), renamed (fsquota move OLD NEW), or not mounted" },
	{ FSQ_FINDING_DIRECTORY_NOT_SUPPORTED, .word = "directory-not-supported",
	  "line {line} of {name} has it as project {id}, but {type} has no project IDs",
	  "LC_ALL=C sed -i {delete} {name}" },
	{ FSQ_FINDING_TREE_HAS_OTHERS, .word = "tree-has-others",
	  "{count} files and directories in it do not carry project {id}, or do not hand it on",
	  SET_UP " -p {path} {id} {mountpoint}",
	  .in_doubt =
		  "{count} files and directories in it do not carry project {id}, or do not hand "
		  "it on; it also has other projects inside, which project -s would overwrite" },
	{ FSQ_FINDING_COUNT_DIFFERS, .word = "count-differs",
	  "the quota counts {count} bytes and {inodes} inodes for project {id}, what is there has "
	  "{other_count} and {other_inodes}: the records are wrong",
	  "umount {mountpoint} && { fsck -f -p {filesystem} || [ $? = 1 ]; } && " MOUNT,
	  .in_doubt = "the quota counts {count} bytes and {inodes} inodes for project {id}, what "
		      "is there has {other_count} and {other_inodes}: deleted files may be open, "
		      "or files elsewhere have the ID, which fsquota explain shows" },
	{ FSQ_FINDING_TAG_WITHOUT_LIMIT, .word = "tag-without-limit",
	  "project {id} has no limits, and is only counted; inodes in use: {count}",
	  "fsquota limit -p bhard=10G {id} {mountpoint}" },
	{ FSQ_FINDING_LIMIT_WITHOUT_TAG, .word = "limit-without-tag",
	  "project {id} has limits, but no file has its ID and no directory is registered",
	  "fsquota limit -p bsoft=0 bhard=0 isoft=0 ihard=0 {id} {mountpoint}" },
	{ FSQ_FINDING_TAG_WITHOUT_LINE, .word = "tag-without-line",
	  "project {id} has limits and {count} inodes, and no line has its ID: see fsquota find "
	  "--orphans; fsquota assign --keep-limits DIRECTORY registers it" },
	{ FSQ_FINDING_SPECIAL_FILES, .word = "special-files",
	  "{count} symbolic links and special files in it cannot carry project {id}, and count for "
	  "no project" },
	{ FSQ_FINDING_DIRECTORY_WITHOUT_LINE, .word = "directory-without-line",
	  "carries project {id}, and no line of {name} has it: another program has tagged it; "
	  "fsquota assign --keep-limits registers it" },
	{ FSQ_FINDING_RECORDS_UNREADABLE, .word = "records-unreadable",
	  "the quota records are damaged ({error}): the repair counts anew, and limits may be lost",
	  "umount {mountpoint} && { fsck -f -y {filesystem} || [ $? = 1 ]; } && " MOUNT,
	  .in_doubt = "the quota records cannot be read ({error}): see the kernel log" },
	{ FSQ_FINDING_FILESYSTEM_FULL, .word = "filesystem-full",
	  "the filesystem is full: {count} bytes and {inodes} inodes are left" },
	{ FSQ_FINDING_REGISTRY, .word = "registry", "entries: {count}, none double or unclear" },
	{ FSQ_FINDING_REGISTRY_READ_ONLY, .word = "registry-read-only",
	  "on a read-only mount: nothing can be registered; see --no-register and fsquota.conf(5)",
	  "mount -o remount,rw {name}" },
	{ FSQ_FINDING_REGISTRY_SYMLINK, .word = "registry-symlink",
	  "is a symlink, which is not followed to write: nothing can be registered; see "
	  "--no-register and fsquota.conf(5)",
	  "cp --remove-destination \"$(readlink -f {path})\" {path}" },
	{ FSQ_FINDING_REGISTRY_UNREADABLE, .word = "registry-unreadable",
	  "cannot be read: {error}" },
	{ FSQ_FINDING_DIRECTORY_TWICE, .word = "directory-twice",
	  "line {line} gives {name} ID {other}, a line above ID {id}", DELETE_LINE },
	{ FSQ_FINDING_ID_SHARED, .word = "id-shared",
	  "{name} and {other_name} share project {id} and its limits",
	  .in_doubt = "{name} and {other_name} have project {id} on two filesystems: each has "
		      "limits of its own" },
	{ FSQ_FINDING_LINE_TWICE, .word = "line-twice", "line {line} has {name} again",
	  DELETE_LINE },
	{ FSQ_FINDING_NAME_TWICE, .word = "name-twice",
	  "line {line} gives the name {name} ID {other}, a line above ID {id}", DELETE_LINE },
	{ FSQ_FINDING_ID_WITH_TWO_NAMES, .word = "id-with-two-names",
	  "line {line} gives project {id} the name {other_name}, a line above {name}",
	  DELETE_LINE },
	{ FSQ_FINDING_LINE_AMBIGUOUS, .word = "line-ambiguous",
	  "line {line} is none for fsquota, but other programs may read ID {id} in it",
	  DELETE_LINE },
	{ FSQ_FINDING_LINE_NOT_READ, .word = "line-not-read",
	  "line {line} is no {name} and no comment: nobody reads it; correct or delete it" },
	{ FSQ_FINDING_DIRECTORY_UNREADABLE, .word = "directory-unreadable",
	  "line {line} of {name} has it as project {id}, but whether it is there cannot be seen: "
	  "{error}" },
	{ FSQ_FINDING_DEVICE, .word = "device", "{device}" },
	{ FSQ_FINDING_NO_FILESYSTEM, .word = "no-filesystem",
	  "has no filesystem that libblkid knows" },
};

/* How a mount is repaired depends on what it is. */
static void adapt_to_mount(struct template *template, const struct fsq_finding *finding)
{
	bool is_xfs = finding->type && strcmp(finding->type, "xfs") == 0;
	bool is_ext4 = finding->type && strcmp(finding->type, "ext4") == 0;

	if (finding->id == FSQ_FINDING_NOT_ENFORCED && is_xfs) {
		template->sentence = "projects are counted, but limits stop nobody: mounted with "
				     "pqnoenforce, or disabled since";
		template->repair = SETUP;
	} else if (finding->id == FSQ_FINDING_NOT_ENFORCED && is_ext4) {
		template->sentence = "projects are counted, but limits stop nobody: mounted "
				     "without prjquota, or remounted with it, which does not "
				     "switch them on";
		template->repair = SETUP;
	} else if (finding->id == FSQ_FINDING_QUOTA_OFF && finding->errnum) {
		template->sentence = "project quota is off";
	} else if (finding->id == FSQ_FINDING_COUNT_DIFFERS && is_xfs) {
		/* After a mount without quota, XFS counts anew at the next one. */
		template->repair = "umount {mountpoint} && "
				   "mount -t xfs -o noquota {filesystem} {mountpoint} && "
				   "umount {mountpoint} && " MOUNT;
	} else if (finding->id == FSQ_FINDING_RECORDS_UNREADABLE && is_xfs) {
		template->repair = "umount {mountpoint} && xfs_repair {filesystem} && " MOUNT;
	} else if (finding->of_mount_only) {
		template->repair = finding->id == FSQ_FINDING_READ_ONLY
					   ? "mount -o remount,bind,rw {mountpoint}"
					   : "mount -o remount,bind,rw {name}";
	}
}

static bool unmounts(const struct template *template)
{
	return template->repair && strncmp(template->repair, "umount ", strlen("umount ")) == 0;
}

static bool is_by_setup(const struct template *template)
{
	return template->repair &&
	       (strcmp(template->repair, SETUP) == 0 || strcmp(template->repair, SETUP_ANEW) == 0);
}

static struct template template_of(const struct fsq_finding *finding)
{
	const struct template *found = templates;
	const bool is_root = finding->mountpoint && strcmp(finding->mountpoint, "/") == 0;
	struct template template;

	while (found->id != finding->id)
		found++;
	template = *found;
	adapt_to_mount(&template, finding);
	if (finding->filesystem && !finding->mountpoint && template.on_device)
		template.repair = template.on_device;
	/* setup takes devices. */
	if (finding->is_image && finding->id == FSQ_FINDING_EXT4_FEATURES)
		template.repair = "tune2fs -O {name} -Q {other_name} {filesystem}";
	if (finding->in_doubt) {
		template.sentence = template.in_doubt ? template.in_doubt : template.sentence;
		template.repair = NULL;
	}
	/* The root filesystem cannot be unmounted. */
	if (is_root && unmounts(&template))
		template.repair = NULL;
	else if (is_root && is_by_setup(&template))
		template.repair = finding->in_fstab || finding->id == FSQ_FINDING_FSTAB_NOT_IN_FORCE
					  ? "reboot"
					  : SETUP_ROOT;
	if (finding->id == FSQ_FINDING_OVERLAY_SPLIT && template.repair && finding->project == 0)
		template.repair = SET_UP " -p {name} {other} {name}";
	if (finding->id == FSQ_FINDING_OVERLAY_UNLIMITED && template.repair && finding->other_name)
		template.repair =
			"fsquota assign --name overlay{count} --hard 10G {name} {other_name}";
	if (finding->id == FSQ_FINDING_DIRECTORY_GONE && finding->count > 0)
		template.sentence = "line {line} of {name} has it as project {id}, whose ID it "
				    "does not have: its filesystem is not mounted, or it never got "
				    "the ID (then: fsquota project -s)";
	if (finding->id == FSQ_FINDING_DIRECTORY_GONE && finding->other_name) {
		template.sentence = "line {line} of {name} has it as project {id}; it may come "
				    "back with what is mounted at {other_name}";
		template.repair = "mount {other_name}";
	}
	if (finding->id == FSQ_FINDING_OPTION_REFUSED && !finding->line)
		template.sentence = "{name} has {other_name}, which the kernel refuses for this "
				    "{type}: the next mount, and the next boot, fails";
	if (finding->id == FSQ_FINDING_NO_DEVICE_NODE && finding->errnum != ENOENT)
		template.repair = NULL;
	return template;
}

/* --- texts --- */

struct field {
	const char *name;
	const char *text; /* or NULL: the number */
	uint64_t number;
	void (*put)(FILE *to, const struct fsq_finding *finding); /* instead of both, or NULL */
};

static void put_quoted(FILE *to, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789/._-+=,:@%";
	bool printable = true;

	for (const char *c = text; *c; c++)
		printable &= *c >= ' ' && *c < 0x7f;
	if (*text && text[strspn(text, plain)] == '\0') {
		fputs(text, to);
		return;
	}
	/* printf(1) is the one way to write any byte with printable characters in every sh. */
	fputs(printable ? "'" : "\"$(printf '", to);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (printable && c == '\'')
			fputs("'\"'\"'", to);
		else if (!printable && (c < ' ' || c >= 0x7f || strchr("\\'%", c)))
			fprintf(to, "\\%03o", c);
		else
			putc(c, to);
	}
	fputs(printable ? "'" : "')\"", to);
}

static void put_field(FILE *to, const char *name, size_t length, const struct field *fields,
		      const struct fsq_finding *finding, bool quoted)
{
	while (fields->name &&
	       (strlen(fields->name) != length || memcmp(fields->name, name, length) != 0))
		fields++;
	if (!fields->name)
		return;
	if (fields->put)
		fields->put(to, finding);
	else if (!fields->text)
		fprintf(to, "%" PRIu64, fields->number);
	else if (quoted)
		put_quoted(to, fields->text);
	else
		fputs(fields->text, to);
}

/* Replace {field}. A brace that no small letter follows is itself. */
static void put_template(FILE *to, const char *from, const struct field *fields,
			 const struct fsq_finding *finding, bool quoted)
{
	while (*from) {
		size_t length = strcspn(from, "}");

		if (*from != '{' || from[1] < 'a' || from[1] > 'z') {
			putc(*from++, to);
			continue;
		}
		put_field(to, from + 1, length - 1, fields, finding, quoted);
		from += length + (from[length] == '}');
	}
}

/* @return   two templates one behind the other, for free(3), or NULL without memory */
static char *expand_sentence(const char *first, const char *second, const struct field *fields,
			     const struct fsq_finding *finding, bool quoted)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	bool failed;

	if (!to)
		return NULL;
	put_template(to, first, fields, finding, quoted);
	put_template(to, second, fields, finding, quoted);
	failed = ferror(to);
	if (fclose(to) == 0 && !failed)
		return text;
	free(text);
	return NULL;
}

char *quote_for_shell(const char *text)
{
	const struct field fields[] = { { "text", .text = text }, { 0 } };

	return expand_sentence("{text}", "", fields, NULL, true);
}

/* The shell would strip a newline at the end, and the command would name another file. */
static bool can_be_typed(const struct fsq_finding *finding)
{
	const char *const names[] = { finding->path, finding->filesystem, finding->mountpoint,
				      finding->name, finding->other_name, finding->options };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i] && *names[i] && names[i][strlen(names[i]) - 1] == '\n')
			return false;
	return true;
}

/*
 * The script of sed that deletes a line by its text; of a line that is there twice all but the first.
 * @return   for free(3), or NULL without memory or without a line
 */
static char *sed_script(const struct fsq_finding *finding)
{
	bool keep_first = finding->id == FSQ_FINDING_LINE_TWICE && finding->text &&
			  strcmp(finding->text, finding->other_name) == 0;
	size_t length = 0;
	char *pattern, *script = NULL;

	if (!finding->text)
		return NULL;
	pattern = malloc(2 * strlen(finding->text) + 1);
	for (const char *c = finding->text; pattern && *c; c++) {
		if (strchr("\\.*[]^$/", *c))
			pattern[length++] = '\\';
		pattern[length++] = *c;
	}
	if (!pattern)
		return NULL;
	pattern[length] = '\0';
	if (asprintf(&script, keep_first ? "0,/^%s$/!{/^%s$/d}" : "/^%s$/d", pattern, pattern) < 0)
		script = NULL;
	free(pattern);
	return script;
}

/* What is on a device, and where that is mounted. */
static void put_device(FILE *to, const struct fsq_finding *finding)
{
	const char *const parts[] = {
		" ",	    finding->version, ", UUID ",       finding->uuid,
		", label ", finding->label,   ", mounted at ", finding->mountpoint
	};

	fputs(finding->type ? finding->type : "", to);
	for (size_t i = 1; i < sizeof(parts) / sizeof(parts[0]); i += 2)
		if (parts[i])
			fprintf(to, "%s%s", parts[i - 1], parts[i]);
	if (!finding->mountpoint && !finding->is_image)
		fputs(", not mounted", to);
}

/* The options of assign that give a project its limits again, and its name. */
static void put_limits(FILE *to, const struct fsq_finding *finding)
{
	static const char *const options[][2] = { [FSQ_BLOCKS] = { " --soft ", " --hard " },
						  [FSQ_INODES] = { " --soft-inodes ",
								   " --hard-inodes " } };

	for (int form = FSQ_BLOCKS; form <= FSQ_INODES; form++)
		for (int hard = 0; hard < 2; hard++) {
			uint64_t limit =
				hard ? finding->limits.hard[form] : finding->limits.soft[form];

			if (!fsq_limit_is_none(limit))
				fprintf(to, "%s%" PRIu64, options[form][hard],
					form == FSQ_BLOCKS ? fsq_limit_bytes(limit) : limit);
		}
	if (!finding->other_name)
		return;
	fputs(" --name ", to);
	put_quoted(to, finding->other_name);
}

/* Unmounting one of several mounts changes nothing. */
#define ALSO_AT "; the filesystem is also mounted at {also_at}: unmount it there, too"

bool finding_words_get(struct finding_words *words, const struct fsq_finding *finding)
{
	char *delete = sed_script(finding);
	const struct field fields[] = {
		{ "path", .text = finding->path },
		{ "filesystem", .text = finding->filesystem },
		{ "mountpoint", .text = finding->mountpoint },
		{ "type", .text = finding->type },
		{ "options", .text = finding->options },
		{ "name", .text = finding->name },
		{ "other_name", .text = finding->other_name },
		{ "delete", .text = delete },
		{ "device", .put = put_device },
		{ "limits", .put = put_limits },
		{ "also_at", .text = finding->also_at },
		{ "error", .text = errno_words(finding->errnum) },
		{ "id", .number = finding->project },
		{ "other", .number = finding->other },
		{ "line", .number = finding->line },
		{ "count", .number = finding->count },
		{ "other_count", .number = finding->other_count },
		{ "inodes", .number = finding->inodes },
		{ "other_inodes", .number = finding->other_inodes },
		{ 0 },
	};
	struct template template = template_of(finding);
	bool twice = unmounts(&template) && finding->also_at;
	bool done;

	if (twice || !can_be_typed(finding) ||
	    (template.repair && strstr(template.repair, "{delete}") && !delete))
		template.repair = NULL;
	words->word = template.word;
	words->sentence =
		expand_sentence(template.sentence, twice ? ALSO_AT : "", fields, finding, false);
	words->repair = template.repair
				? expand_sentence(template.repair, "", fields, finding, true)
				: NULL;
	done = words->sentence && (words->repair || !template.repair);
	if (!done)
		finding_words_clear(words);
	free(delete);
	return done;
}

void finding_words_clear(struct finding_words *words)
{
	free(words->sentence);
	free(words->repair);
	*words = (struct finding_words){ 0 };
}
