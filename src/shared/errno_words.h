/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What errors of system calls are called. The words are those of glibc's strerror(3) in the C
 * locale, also with another C library: callers of xfs_quota match them. Errors that no call of ours
 * returns are left out.
 */
#ifndef FSQ_ERRNO_WORDS_H
#define FSQ_ERRNO_WORDS_H

/** @return  the words for an errno; those for one that is not known are overwritten by the next
 * call */
const char *errno_words(int errnum);

/** @return  its name, as EPERM, or NULL */
const char *errno_name(int errnum);

#endif
