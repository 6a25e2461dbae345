/* SPDX-License-Identifier: Apache-2.0 */
/* Filling a struct fsq_error, at the place that knows what failed. */
#ifndef FSQ_ERROR_H
#define FSQ_ERROR_H

#include "quota/fsquota.h"

/**
 * Fill an error.
 *
 * @err      to fill, or NULL
 * @kind     what to return
 * @errnum   errno of the failed call, or 0
 * @path     the object that failed, or NULL
 * @format   printf(3) text that says what failed
 * @return   @kind, so that a function can end with `return fsq_fail(...)`
 */
int fsq_fail(struct fsq_error *err, enum fsq_error_kind kind, int errnum, const char *path,
	     const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The same, of the kind that the errno of the failed call stands for. */
#define fsq_fail_errno(err, errnum, path, ...) \
	fsq_fail(err, fsq_error_kind_of(errnum), errnum, path, __VA_ARGS__)

#ifdef __clang_analyzer__
/* It never returns 0, which cannot be seen where it is called. */
#define fsq_fail(...) (fsq_fail(__VA_ARGS__) | 1)
#endif

/** Add a hint to an error. @return  its kind, which is @rc */
int fsq_add_hint(struct fsq_error *err, enum fsq_hint hint, int rc);

/** Add the path to an error that has none. @return  its kind, which is @rc */
int fsq_add_path(struct fsq_error *err, const char *path, int rc);

/**
 * Fill an error: a library that is loaded on first use is not installed, or too old, or there are no
 * memory or descriptors for it.
 *
 * @errnum   of load_library_once()
 * @file     its file, as libmount.so.1
 * @package  the package without the number that Debian adds
 * @return   FSQ_E_FAILED
 */
int fsq_fail_library(struct fsq_error *err, int errnum, const char *file, const char *package);

/** Fill an error: something that fsquota.h does not let be NULL is. @return  FSQ_E_USAGE */
int fsq_fail_null(struct fsq_error *err);

/* No request is larger, in any version. */
#define FSQ_REQUEST_MAX 4096

/**
 * Check the size that the caller has set in a request.
 *
 * @size     the request's first field
 * @known    sizeof the request, as this library knows it
 * @return   0; FSQ_E_USAGE it is smaller, or sets what only a later library knows
 */
int fsq_check_size(const void *request, size_t size, size_t known, struct fsq_error *err);

/**
 * Check what a request points to: the registry that it uses, and how it is watched.
 *
 * @registry, @options  as the request has them: or NULL
 * @return   as fsq_check_size(); FSQ_E_USAGE the registry names no files
 */
int fsq_check_parts(const struct fsq_registry *registry, const struct fsq_call_options *options,
		    struct fsq_error *err);

/** @return  the mounts to keep to, or NULL; @options may be NULL */
static inline const struct fsq_mount_points *fsq_mounts_of(const struct fsq_call_options *options)
{
	return options ? options->mounts : NULL;
}

/** @return  whether one of so many paths is NULL */
bool fsq_lacks_path(const char *const *paths, size_t count);

/** @return  whether the caller wants the call to stop; @options may be NULL */
static inline bool fsq_is_cancelled(const struct fsq_call_options *options)
{
	return options && options->is_cancelled && options->is_cancelled(options->arg);
}

/**
 * The kind of error that an errno of open(2), quotactl(2) or an FSXATTR ioctl stands for.
 *
 * @errnum   a positive errno, or 0
 * @return   an FSQ_E_ kind, FSQ_OK for 0
 */
enum fsq_error_kind fsq_error_kind_of(int errnum);

/** @return  the kind of an error that was filled if the caller wants it; else as of @errnum */
static inline int fsq_failed(const struct fsq_error *err, int errnum)
{
	return (int)(err ? err->kind : fsq_error_kind_of(errnum));
}

#endif
