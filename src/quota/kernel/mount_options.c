/* SPDX-License-Identifier: Apache-2.0 */
#include "mount_options.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "compat.h"

/* Of linux/mount.h, which does not go with sys/mount.h. */
#define OPEN_CLOEXEC 1
#define SET_FLAG 0
#define SET_STRING 1

static bool kernel_takes(int fd, const char *option, const char *value)
{
	return syscall(SYS_fsconfig, fd, value ? SET_STRING : SET_FLAG, option, value, 0) == 0 ||
	       errno != EINVAL;
}

void fsq_mount_trial_begin(struct fsq_mount_trial *trial, const char *type)
{
	trial->type = type;
	trial->fd = (int)syscall(SYS_fsopen, type, OPEN_CLOEXEC);
	/* Without the kernel's parser it takes everything here. */
	if (trial->fd >= 0 && kernel_takes(trial->fd, "no-option-of-anybody", NULL))
		fsq_mount_trial_end(trial);
}

/* Is a word, or the beginning of one before a "=", in a list of words? */
static bool has_word(const char *words, const char *word)
{
	const size_t length = strlen(word);

	for (const char *at = words; (at = strstr(at, word)); at += length)
		if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
			return true;
	return false;
}

/* What mistakes put into fstab: options of another type of filesystem. Source: xfs(5), ext4(5), the kernel's f2fs.rst */
static bool is_of_another(const char *type, const char *option)
{
	static const struct {
		const char *types, *options;
	} known[] = {
		{ "xfs",
		  "uquota gquota pquota uqnoenforce gqnoenforce pqnoenforce qnoenforce "
		  "logbufs logbsize logdev rtdev allocsize swalloc largeio nolargeio inode32 "
		  "inode64 ikeep noikeep attr2 noattr2 sunit swidth wsync filestreams nouuid" },
		{ "ext4 f2fs", "usrjquota grpjquota jqfmt user_xattr acl errors" },
		{ "ext4", "data commit stripe delalloc nodelalloc journal_checksum journal_path "
			  "journal_dev init_itable noinit_itable auto_da_alloc noauto_da_alloc "
			  "dioread_nolock block_validity minixdf bsddf" },
		{ "f2fs", "background_gc gc_merge active_logs inline_xattr inline_data "
			  "inline_dentry flush_merge extent_cache alloc_mode fsync_mode checkpoint "
			  "compress_algorithm whint_mode" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (has_word(known[i].options, option))
			return !has_word(known[i].types, type);
	return false;
}

bool fsq_mount_trial_takes(const struct fsq_mount_trial *trial, const char *option,
			   const char *value)
{
	return trial->fd < 0 ? !is_of_another(trial->type, option)
			     : kernel_takes(trial->fd, option, value);
}

void fsq_mount_trial_end(struct fsq_mount_trial *trial)
{
	if (trial->fd >= 0)
		close(trial->fd);
	trial->fd = -1;
}
