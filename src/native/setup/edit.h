/* SPDX-License-Identifier: Apache-2.0 */
/* Change one word of a file of the system's, and leave the rest to the byte. Nothing is written here. */
#ifndef FSQ_SETUP_EDIT_H
#define FSQ_SETUP_EDIT_H

#include "quota/diagnose/outlook.h"

/**
 * Make the options that a file is to have for the next mount: those that are there but for what the kernel refuses or
 * contradicts project quota, and what asks for project quota.
 *
 * @options  as they stand in the file, or NULL
 * @types    such as "usrquota,prjquota", see fsq_options_of_types()
 * @return   for free(3), or NULL without memory
 */
char *edit_options(const char *type, const char *options, const char *types);

/**
 * Change the options of a line of fstab(5).
 *
 * @text     of the whole file
 * @line     from 1 on
 * @return   the new text for free(3); NULL with errno ENOMEM, or EINVAL: it has no such line
 */
char *edit_fstab(const char *text, uint64_t line, const char *type, const char *types);

/**
 * Would libmount read the new text as it read the old one, but for the options of this line?
 *
 * @options  that the line is to have
 */
bool edit_fstab_is_read(const char *text, uint64_t line, const char *options);

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
