/* SPDX-License-Identifier: Apache-2.0 */
#include "finding_words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/errno_words.h"
#include "template.h"

/*
 * In sentence and repair {path} and the like stand for a field of the finding; in repair as words of
 * the shell.
 */
struct template
{
	const char *word, *sentence, *repair;
};

/* By what is in the line: the number is another one when a line above has been deleted. */
#define DELETE_LINE "LC_ALL=C sed -i {delete} {path}"
#define MOUNT_ANEW "umount {mountpoint} && mount -t {type} -o {options} {filesystem} {mountpoint}"
/* Without the projects file: it would do the same to the other directories of the ID. */
#define SET_UP "fsquota project -s --projects-file /dev/null"

static const struct template templates[] = {
	[FSQ_FINDING_PRIVILEGED] = { "privileged", "may set project IDs and limits", NULL },
	[FSQ_FINDING_NO_CAPABILITY] = { "no-capability",
					"has no CAP_SYS_ADMIN, which setting limits and reading "
					"those of others takes: "
					"run it as root",
					NULL },
	[FSQ_FINDING_USER_NAMESPACE] = { "user-namespace",
					 "is in a user namespace, where nobody may set project IDs "
					 "and limits: run it on "
					 "the host",
					 NULL },
	[FSQ_FINDING_SECCOMP] = { "seccomp",
				  "quotactl(2) fails whatever it asks ({error}): a seccomp filter "
				  "or a security "
				  "module forbids it",
				  NULL },
	[FSQ_FINDING_KERNEL_WITHOUT_QUOTA] = { "kernel-without-quota",
					       "this kernel was built without quotas", NULL },
	[FSQ_FINDING_QUOTA_ON] = { "quota-on", "{type} that counts projects and enforces limits",
				   NULL },
	[FSQ_FINDING_NOT_ENFORCED] = { "not-enforced",
				       "projects are counted, but limits stop nobody: mounted "
				       "without prjquota",
				       MOUNT_ANEW },
	[FSQ_FINDING_QUOTA_OFF] = { "quota-off", "project quota is off: mounted without prjquota",
				    MOUNT_ANEW },
	[FSQ_FINDING_OTHER_FILESYSTEM] = { "other-filesystem",
					   "{type} has no project quotas: use XFS, ext4 or f2fs, "
					   "mounted with prjquota",
					   NULL },
	[FSQ_FINDING_BTRFS] = { "btrfs",
				"btrfs has no project quotas; it limits subvolumes with quota "
				"groups, see btrfs-qgroup(8)",
				NULL },
	[FSQ_FINDING_TMPFS] = { "tmpfs",
				"tmpfs has no project quotas; a mount of its own with the option "
				"size= limits a directory, see tmpfs(5)",
				NULL },
	[FSQ_FINDING_NETWORK] = { "network",
				  "{type} has no project quotas here; put them on the directory "
				  "that the server exports",
				  NULL },
	[FSQ_FINDING_OVERLAY] = { "overlay",
				  "an overlay has no project quotas of its own, and its upperdir "
				  "cannot be seen from here: ask where it was mounted",
				  NULL },
	[FSQ_FINDING_EXT4_FEATURES] = { "ext4-features",
					"project quota is off: this ext4 lacks the feature {name}",
					"umount {mountpoint} && tune2fs -O {name} -Q prjquota "
					"{filesystem} && "
					"mount -t ext4 -o {options} {filesystem} {mountpoint}" },
	[FSQ_FINDING_EXT4_INODE_SIZE] = { "ext4-inode-size",
					  "inodes of {count} bytes have no place for a project ID: "
					  "make this ext4 anew, "
					  "which DELETES everything on it",
					  "umount {mountpoint} && mkfs.ext4 -I 256 -O "
					  "quota,project {filesystem} && "
					  "mount -t ext4 -o {options} {filesystem} {mountpoint}" },
	[FSQ_FINDING_F2FS_FEATURES] = { "f2fs-features",
					"project quota is off: this f2fs lacks the feature "
					"project_quota; make it anew, which DELETES everything on "
					"it",
					"umount {mountpoint} && mkfs.f2fs -f -O "
					"extra_attr,project_quota {filesystem} && "
					"mount -t f2fs -o {options} {filesystem} {mountpoint}" },
	[FSQ_FINDING_FEATURES_UNKNOWN] = { "features-unknown",
					   "its features are not known: the device cannot be read "
					   "({error})",
					   NULL },
	[FSQ_FINDING_NO_DEVICE_NODE] = { "no-device-node",
					 "this kernel wants the device for quota calls, and it is "
					 "not there ({error})",
					 "mknod {filesystem} b {count} {other_count}" },
	[FSQ_FINDING_XFS_VERSION_4] = { "xfs-version-4",
					"an XFS of version 4, without checksums: group and project "
					"quota exclude each other",
					NULL },
	[FSQ_FINDING_READ_ONLY] = { "read-only", "read-only: no limit and no ID can be changed",
				    "mount -o remount,rw {mountpoint}" },
	[FSQ_FINDING_FSTAB] = { "fstab",
				"line {line} of {name} has no prjquota: the next mount is without",
				"sed -i -E '{line}s/^([ \\t]*([^ \\t]+[ \\t]+){3}[^ "
				"\\t]+)/\\1,prjquota/' {name}" },
	[FSQ_FINDING_FSTAB_NOT_IN_FORCE] = { "fstab-not-in-force",
					     "line {line} of {name} has prjquota, but it is "
					     "mounted otherwise",
					     "umount {mountpoint} && mount {mountpoint}" },
	[FSQ_FINDING_ROOT_FLAGS] = { "root-flags",
				     "project quota is off: XFS takes prjquota for the root "
				     "filesystem only from the "
				     "kernel command line, as rootflags=prjquota",
				     "sed -i 's/^GRUB_CMDLINE_LINUX=\"/&rootflags=prjquota /' "
				     "/etc/default/grub && "
				     "update-grub && reboot" },
	[FSQ_FINDING_ROOT_PASSES] = { "root-passes",
				      "{type} stops nobody who has CAP_SYS_RESOURCE, as this "
				      "caller does: limits hold "
				      "for other users",
				      NULL },
	[FSQ_FINDING_BIND_MOUNT] = { "bind-mount",
				     "a bind mount of {name} of {filesystem}: limits count what is "
				     "in the whole "
				     "filesystem",
				     NULL },
	[FSQ_FINDING_OVERLAY_LIMITED] = { "overlay-limited",
					  "what is written to the overlay counts for project {id} "
					  "of {name}",
					  NULL },
	[FSQ_FINDING_OVERLAY_UNLIMITED] = { "overlay-unlimited",
					    "nothing limits the overlay: assign the directory "
					    "above its upperdir and workdir",
					    "fsquota assign {name} --hard 10G" },
	[FSQ_FINDING_OVERLAY_SPLIT] = { "overlay-split",
					"its upperdir has project {id} and its workdir {other}: "
					"files cannot be copied up "
					"(EXDEV)",
					SET_UP " -p {other_name} {id} {other_name}" },
	[FSQ_FINDING_STORE] = { "store",
				"a container store with project {id}: {count} of the IDs after it "
				"are in use, by its containers",
				NULL },
	[FSQ_FINDING_STORE_FOLLOWED] = { "store-followed",
					 "the engine of this container store takes the IDs after "
					 "{id}, and changes the limits of {name}, project {other}",
					 "fsquota release {name} && fsquota assign {name}" },
	[FSQ_FINDING_IDS_WITHOUT_LINE] = { "ids-without-line",
					   "{count} project IDs from {id} to {other} are in use "
					   "without limits, and no file has them: see fsquota "
					   "find --orphans",
					   NULL },
	[FSQ_FINDING_KUBELET_STARVED] = { "kubelet-starved",
					  "the first {count} IDs that kubelet tries, up to "
					  "{other}, "
					  "are in use and in no file: it gives up, and pods have "
					  "no quota; see fsquota find --orphans",
					  NULL },
	[FSQ_FINDING_PROJECT_ABOVE] = { "project-above",
					"shares project {id} and its limits with {name}, which "
					"hands its ID on",
					"fsquota assign {path} --hard 10G" },
	[FSQ_FINDING_TAG_CHANGED] = { "tag-changed",
				      "registered with project {id}, but carries ID {other}, so it "
				      "is outside of its "
				      "quota; its owner may do that on the host, but not in a user "
				      "namespace",
				      "fsquota assign {path}" },
	[FSQ_FINDING_TAG_NOT_INHERITED] = { "tag-not-inherited",
					    "does not hand its project {id} on: what is made in it "
					    "is outside of its quota",
					    SET_UP " -d 0 -p {path} {id} {mountpoint}" },
	[FSQ_FINDING_DIRECTORY_GONE] = { "directory-gone",
					 "line {line} of {name} has it as project {id}, but it is "
					 "gone",
					 "fsquota release {path}" },
	[FSQ_FINDING_DIRECTORY_NOT_SUPPORTED] = { "directory-not-supported",
						  "line {line} of {name} has it as project {id}, "
						  "but {type} has no project IDs",
						  "LC_ALL=C sed -i {delete} {name}" },
	[FSQ_FINDING_TREE_HAS_OTHERS] = { "tree-has-others",
					  "{count} files and directories in it do not carry "
					  "project {id}, or do not hand it on",
					  SET_UP " -p {path} {id} {mountpoint}" },
	[FSQ_FINDING_COUNT_DIFFERS] = { "count-differs",
					"the quota counts {count} bytes and {inodes} inodes for "
					"project {id}, what is there has {other_count} and "
					"{other_inodes}: the records are wrong",
					"umount {mountpoint} && { fsck -f -p {filesystem} || "
					"[ $? = 1 ]; } && "
					"mount -t {type} -o {options} {filesystem} {mountpoint}" },
	[FSQ_FINDING_TAG_WITHOUT_LIMIT] = { "tag-without-limit",
					    "project {id} has no limits: its {count} inodes are "
					    "only counted",
					    "fsquota limit -p bhard=10G {id} {mountpoint}" },
	[FSQ_FINDING_LIMIT_WITHOUT_TAG] = { "limit-without-tag",
					    "project {id} has limits, but no file has its ID and "
					    "no directory is registered",
					    "fsquota limit -p bsoft=0 bhard=0 isoft=0 ihard=0 {id} "
					    "{mountpoint}" },
	[FSQ_FINDING_REGISTRY] = { "registry", "entries: {count}, none double or unclear", NULL },
	[FSQ_FINDING_REGISTRY_READ_ONLY] = { "registry-read-only",
					     "on a read-only mount: nothing can be registered; see "
					     "--no-register and "
					     "fsquota.conf(5)",
					     "mount -o remount,rw {name}" },
	[FSQ_FINDING_REGISTRY_UNREADABLE] = { "registry-unreadable", "cannot be read: {error}",
					      NULL },
	[FSQ_FINDING_DIRECTORY_TWICE] = { "directory-twice",
					  "line {line} gives {name} ID {other}, a line above ID "
					  "{id}",
					  DELETE_LINE },
	[FSQ_FINDING_ID_SHARED] = { "id-shared",
				    "{name} and {other_name} share project {id} and its limits",
				    NULL },
	[FSQ_FINDING_LINE_TWICE] = { "line-twice", "line {line} has {name} again", DELETE_LINE },
	[FSQ_FINDING_NAME_TWICE] = { "name-twice",
				     "line {line} gives the name {name} ID {other}, a line above "
				     "ID {id}",
				     DELETE_LINE },
	[FSQ_FINDING_ID_WITH_TWO_NAMES] = { "id-with-two-names",
					    "line {line} gives project {id} the name {other_name}, "
					    "a line above {name}",
					    DELETE_LINE },
	[FSQ_FINDING_LINE_AMBIGUOUS] = { "line-ambiguous",
					 "line {line} is none for fsquota, but other programs may "
					 "read ID {id} in it",
					 DELETE_LINE },
	[FSQ_FINDING_DIRECTORY_UNREADABLE] = { "directory-unreadable",
					       "line {line} of {name} has it as project {id}, but "
					       "whether it is there cannot be seen: {error}",
					       NULL },
	[FSQ_FINDING_DEVICE] = { "device", "{device}", NULL },
	[FSQ_FINDING_NO_FILESYSTEM] = { "no-filesystem", "has no filesystem that libblkid knows",
					NULL },
};

/* How a mount is repaired depends on what it is. */
static void adapt_to_mount(struct template *template, const struct fsq_finding *finding)
{
	bool is_xfs = finding->type && strcmp(finding->type, "xfs") == 0;
	bool is_ext4 = finding->type && strcmp(finding->type, "ext4") == 0;

	if (finding->id == FSQ_FINDING_NOT_ENFORCED && is_xfs) {
		template->sentence = "projects are counted, but limits stop nobody: mounted with "
				     "pqnoenforce, or disabled since";
		template->repair = "fsquota enable -p {mountpoint}";
	} else if (finding->id == FSQ_FINDING_NOT_ENFORCED && is_ext4) {
		template->sentence = "projects are counted, but limits stop nobody: mounted "
				     "without prjquota, or remounted with it, which does not "
				     "switch them on";
		template->repair = "fsquota enable -p {mountpoint}";
	} else if (finding->id == FSQ_FINDING_COUNT_DIFFERS && is_xfs) {
		/* A mount without quota makes XFS count at the next one. */
		template->repair =
			"umount {mountpoint} && "
			"mount -t xfs -o noquota {filesystem} {mountpoint} && " MOUNT_ANEW;
	} else if (finding->in_fstab && finding->id != FSQ_FINDING_ROOT_FLAGS) {
		template->repair = "umount {mountpoint} && mount {mountpoint}";
	} else if (finding->of_mount_only) {
		template->repair = finding->id == FSQ_FINDING_READ_ONLY
					   ? "mount -o remount,bind,rw {mountpoint}"
					   : "mount -o remount,bind,rw {name}";
	}
}

/* Nothing has to be unmounted. */
static void adapt_to_device(struct template *template, const struct fsq_finding *finding)
{
	if (finding->id == FSQ_FINDING_EXT4_FEATURES)
		template->repair = "tune2fs -O {name} -Q prjquota {filesystem}";
	else if (finding->id == FSQ_FINDING_EXT4_INODE_SIZE)
		template->repair = "mkfs.ext4 -I 256 -O quota,project {filesystem}";
	else if (finding->id == FSQ_FINDING_F2FS_FEATURES)
		template->repair = "mkfs.f2fs -f -O extra_attr,project_quota {filesystem}";
}

/* Give no repair: it may be no fault, or the repair would change other projects. */
static void adapt_to_doubt(struct template *template, const struct fsq_finding *finding)
{
	template->repair = NULL;
	if (finding->id == FSQ_FINDING_DIRECTORY_GONE)
		template->sentence = "line {line} of {name} has it as project {id}; it is gone, or "
				     "its filesystem is not mounted";
	else if (finding->id == FSQ_FINDING_TAG_CHANGED)
		template->sentence = "registered with project {id}, but carries ID {other}, and in "
				     "it are IDs of others, such as a container engine gives to "
				     "its layers";
	else if (finding->id == FSQ_FINDING_OVERLAY_SPLIT)
		template->sentence =
			"its upperdir has project {id} and its workdir {other}: files cannot be "
			"copied up (EXDEV); a directory with a project is in the way: release it";
	else if (finding->id == FSQ_FINDING_OVERLAY_UNLIMITED)
		template->sentence =
			"nothing limits the overlay: the directory above its upperdir and workdir, "
			"{name}, has projects inside: release them and assign it";
	else if (finding->id == FSQ_FINDING_PROJECT_ABOVE)
		template->sentence = "shares project {id} and its limits with {name}, which hands "
				     "its ID on, and "
				     "has projects inside";
	else if (finding->id == FSQ_FINDING_STORE_FOLLOWED)
		template->sentence =
			"the engine of this container store takes the IDs after {id}, and changes "
			"the limits of {name}, project {other}, which has projects inside: release "
			"them before it, and assign it before them";
	else if (finding->id == FSQ_FINDING_TREE_HAS_OTHERS)
		template->sentence =
			"{count} files and directories in it do not carry project "
			"{id}, or do not hand it on; it also has other projects inside, "
			"which project -s would overwrite";
	else
		template->sentence =
			"the quota counts {count} bytes and {inodes} inodes for project "
			"{id}, what is there has {other_count} and {other_inodes}: "
			"deleted files may be open, or files elsewhere have the ID, "
			"which fsquota find {id} {mountpoint} shows";
}

/* To unmount one of several mounts changes nothing but that it is gone. */
#define ALSO_AT "; the filesystem is also mounted at {also_at}: unmount it there, too"

static bool is_mounted_twice(const struct template *template, const struct fsq_finding *finding)
{
	return template->repair && finding->also_at &&
	       strncmp(template->repair, "umount ", strlen("umount ")) == 0;
}

static struct template template_of(const struct fsq_finding *finding)
{
	struct template template = templates[finding->id];

	adapt_to_mount(&template, finding);
	if (finding->filesystem && !finding->mountpoint)
		adapt_to_device(&template, finding);
	if (finding->in_doubt)
		adapt_to_doubt(&template, finding);
	/* The root filesystem cannot be unmounted. */
	if (template.repair && finding->mountpoint && strcmp(finding->mountpoint, "/") == 0 &&
	    strncmp(template.repair, "umount ", strlen("umount ")) == 0)
		template.repair = finding->in_fstab || finding->id == FSQ_FINDING_FSTAB_NOT_IN_FORCE
					  ? "reboot"
					  : NULL;
	if (finding->id == FSQ_FINDING_OVERLAY_SPLIT && template.repair && finding->project == 0)
		template.repair = SET_UP " -p {name} {other} {name}";
	if (finding->id == FSQ_FINDING_DIRECTORY_GONE && finding->other_name) {
		template.sentence = "line {line} of {name} has it as project {id}; it may come "
				    "back with what is mounted at {other_name}";
		template.repair = "mount {other_name}";
	}
	if (finding->id == FSQ_FINDING_NO_DEVICE_NODE && finding->errnum != ENOENT)
		template.repair = NULL;
	return template;
}

/* The shell would cut off a newline at the end, and the command be about something else. */
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

/* What is on a device, and where that is mounted. @return  for free(3), or NULL without memory */
static char *device_text(const struct fsq_finding *finding)
{
	const char *const parts[] = {
		" ",	    finding->version, ", UUID ",       finding->uuid,
		", label ", finding->label,   ", mounted at ", finding->mountpoint
	};
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return NULL;
	fputs(finding->type ? finding->type : "", to);
	for (size_t i = 1; i < sizeof(parts) / sizeof(parts[0]); i += 2)
		if (parts[i])
			fprintf(to, "%s%s", parts[i - 1], parts[i]);
	if (!finding->mountpoint && !finding->is_image)
		fputs(", not mounted", to);
	if (fclose(to)) {
		free(text);
		return NULL;
	}
	return text;
}

/*
 * The options of assign that give a project its limits again, and its name.
 *
 * @return   @repair with them behind it, for free(3), or NULL without memory
 */
static char *add_limits(const char *repair, const struct fsq_finding *finding)
{
	static const char *const options[][2] = { [FSQ_BLOCKS] = { " --soft ", " --hard " },
						  [FSQ_INODES] = { " --soft-inodes ",
								   " --hard-inodes " } };
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return NULL;
	fputs(repair, to);
	for (int form = FSQ_BLOCKS; form <= FSQ_INODES; form++)
		for (int hard = 0; hard < 2; hard++) {
			uint64_t limit =
				hard ? finding->limits.hard[form] : finding->limits.soft[form];

			if (limit && (form == FSQ_INODES || !fsq_limit_is_none(limit)))
				fprintf(to, "%s%" PRIu64, options[form][hard],
					form == FSQ_BLOCKS ? fsq_limit_bytes(limit) : limit);
		}
	if (finding->other_name)
		fputs(" --name {other_name}", to);
	if (fclose(to) == 0)
		return text;
	free(text);
	return NULL;
}

/* @words    gets no sentence without memory */
static void tell_other_mount(struct finding_words *words, struct template *template,
			     const struct template_field *fields)
{
	char *more = template_expand(ALSO_AT, fields, false), *sentence = words->sentence;

	template->repair = NULL;
	if (!more || asprintf(&words->sentence, "%s%s", sentence, more) < 0)
		words->sentence = NULL;
	free(more);
	free(sentence);
}

bool finding_words_get(struct finding_words *words, const struct fsq_finding *finding)
{
	char *delete = sed_script(finding);
	char *device = finding->id == FSQ_FINDING_DEVICE ? device_text(finding) : NULL;
	const struct template_field fields[] = {
		{ "path", finding->path, 0 },
		{ "filesystem", finding->filesystem, 0 },
		{ "mountpoint", finding->mountpoint, 0 },
		{ "type", finding->type, 0 },
		{ "options", finding->options, 0 },
		{ "name", finding->name, 0 },
		{ "other_name", finding->other_name, 0 },
		{ "delete", delete, 0 },
		{ "device", device ? device : "", 0 },
		{ "also_at", finding->also_at, 0 },
		{ "error", errno_words(finding->errnum), 0 },
		{ "id", NULL, finding->project },
		{ "other", NULL, finding->other },
		{ "line", NULL, finding->line },
		{ "count", NULL, finding->count },
		{ "other_count", NULL, finding->other_count },
		{ "inodes", NULL, finding->inodes },
		{ "other_inodes", NULL, finding->other_inodes },
		{ 0 },
	};
	struct template template = template_of(finding);
	char *with_limits = NULL;
	bool done = finding->id != FSQ_FINDING_DEVICE || device;

	if (template.repair && finding->id == FSQ_FINDING_STORE_FOLLOWED) {
		template.repair = with_limits = add_limits(template.repair, finding);
		done = with_limits != NULL;
	}
	if (!can_be_typed(finding) ||
	    (template.repair && strstr(template.repair, "{delete}") && !delete))
		template.repair = NULL;
	words->word = template.word;
	words->sentence = template_expand(template.sentence, fields, false);
	if (words->sentence && is_mounted_twice(&template, finding))
		tell_other_mount(words, &template, fields);
	words->repair = template.repair ? template_expand(template.repair, fields, true) : NULL;
	done = done && words->sentence && (words->repair || !template.repair);
	if (!done)
		finding_words_clear(words);
	free(with_limits);
	free(delete);
	free(device);
	return done;
}

void finding_words_clear(struct finding_words *words)
{
	free(words->sentence);
	free(words->repair);
	*words = (struct finding_words){ 0 };
}
