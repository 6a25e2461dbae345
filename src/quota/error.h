/* SPDX-License-Identifier: Apache-2.0 */
/* What went wrong, on which path and why: filled where it happens, printed once at the top. */
#ifndef FSQ_ERROR_H
#define FSQ_ERROR_H

#include <limits.h>

/* The kinds of failure. Negative errnos end at -4095, so that the two are never confused. */
enum fsq_code {
	FSQ_OK = 0,
	FSQ_E_FAILED = -5001,	     /* otherwise: I/O, memory */
	FSQ_E_USAGE = -5002,	     /* the caller asked for something that makes no sense */
	FSQ_E_NOT_SUPPORTED = -5003, /* filesystem, kernel, or the quota type is off */
	FSQ_E_PERMISSION = -5004,    /* capability, user namespace, seccomp */
	FSQ_E_NOT_FOUND = -5005,     /* no such path, project or quota */
	FSQ_E_CONFLICT = -5006,	     /* ID in use, already assigned otherwise */
	FSQ_E_PARTIAL = -5007,	     /* some files of a tree failed */
};

struct fsq_error {
	int code;	     /* enum fsq_code */
	int errnum;	     /* errno behind it, 0 when there is none */
	char path[PATH_MAX]; /* the path it is about, cut when longer; may be empty */
	char message[256];   /* what was tried, without the path and without strerror */
	const char *hint;    /* what to do about it, or NULL */
};

/**
 * Fill an error.
 *
 * @err      to fill; NULL when the caller does not want to know
 * @code     what to return
 * @errnum   errno of the failed call, or 0
 * @path     what it is about, or NULL
 * @format   printf(3) text that says what was tried
 * @return   @code, so that a function can end with `return fsq_fail(...)`
 */
int fsq_fail(struct fsq_error *err, int code, int errnum, const char *path, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/**
 * The kind of failure an errno of open(2), quotactl(2) or an FSXATTR ioctl stands for.
 *
 * @errnum   a positive errno
 * @return   an FSQ_E_ code
 */
int fsq_code_of_errno(int errnum);

#endif
