/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and texts of errno values. With any C library the texts are those of glibc's strerror(3) in the C locale:
 * callers of xfs_quota match them. Errors that none of our calls return are left out.
 */
#ifndef FSQ_ERRNO_WORDS_H
#define FSQ_ERRNO_WORDS_H

/** @return  the text of an errno; if it is unknown, the next call overwrites the text */
const char *errno_words(int errnum);

/** @return  the name of an errno, such as EPERM; NULL: it is unknown */
const char *errno_name(int errnum);

#endif
