/* SPDX-License-Identifier: Apache-2.0 */
/* Change one word of a file of the system's, and leave the rest to the byte. Nothing is written here. */
#ifndef FSQ_SETUP_EDIT_H
#define FSQ_SETUP_EDIT_H

#include "quota/diagnose/outlook.h"

/**
 * Change the options of a line of fstab(5).
 *
 * @text     of the whole file
 * @line     from 1 on
 * @return   the new text for free(3); NULL with errno ENOMEM, or EINVAL: it has no such line
 */
char *edit_fstab(const char *text, uint64_t line, const char *type, const char *types);

/** Add a line that mounts a device. @return  the new text for free(3), or NULL without memory */
char *edit_fstab_add(const char *text, const char *device, const char *directory, const char *type,
		     const char *options);

/**
 * Would libmount read the new text as it read the old one, but for the options of this line?
 *
 * @options  that the line is to have
 * @return   1 or 0, or a negative errno
 */
int edit_fstab_is_read(const char *text, uint64_t line, const char *options);

/**
 * Change what GRUB adds to the command line of the kernel, in the text of /etc/default/grub; or the text of
 * /etc/kernel/cmdline.
 *
 * @flags    the value of rootflags=
 * @return   as edit_fstab()
 */
char *edit_grub(const char *text, const char *flags);
char *edit_cmdline(const char *text, const char *flags);

/** @return  what differs, as lines that begin with - and +, for free(3); NULL without memory */
char *edit_difference(const char *before, const char *after);

#endif
