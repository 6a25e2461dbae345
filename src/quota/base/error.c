/* SPDX-License-Identifier: Apache-2.0 */
#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#undef fsq_fail /* a macro that tells static analyzers that it never returns 0 */

int fsq_fail(struct fsq_error *err, enum fsq_error_kind kind, int errnum, const char *path,
	     const char *format, ...)
{
	va_list args;

	if (!err)
		return kind;
	err->kind = kind;
	err->errnum = errnum;
	err->hint = FSQ_HINT_NONE;
	err->path[0] = '\0';
	if (path)
		strncat(err->path, path, sizeof(err->path) - 1);
	va_start(args, format);
	vsnprintf(err->message, sizeof(err->message), format, args);
	va_end(args);
	return kind;
}

void fsq_error_text(const struct fsq_error *err, char *text, size_t size)
{
	if (!err || !text)
		return;
	snprintf(text, size, "%s%s%s%s%s", err->path, err->path[0] ? ": " : "", err->message,
		 err->errnum ? ": " : "", err->errnum ? strerror(err->errnum) : "");
}

const char *fsq_hint_text(enum fsq_hint hint)
{
	static const char *const texts[] = {
		[FSQ_HINT_NAME_MOUNTED] = "name a directory of a mounted filesystem, or its device",
		[FSQ_HINT_MOUNT_WITH_QUOTA] =
			"it takes XFS, ext4 or f2fs, mounted with prjquota; see fsquota doctor",
		[FSQ_HINT_MOUNT_OR_COUNT] =
			"it takes XFS, ext4 or f2fs, mounted with prjquota; or set walk to count",
		[FSQ_HINT_ASSIGN_OR_COUNT] = "assign a quota to it, or set walk to count",
		[FSQ_HINT_ROOT_ONLY] = "only root may change it",
		[FSQ_HINT_IMMUTABLE] = "is it immutable? see lsattr(1)",
		[FSQ_HINT_READ_ONLY_REGISTRY] = "use other files, or none",
		[FSQ_HINT_WAIT_LONGER] = "wait longer with lock_seconds",
		[FSQ_HINT_LOOK_AT_HOLDER] =
			"see what that process does, or wait longer with lock_seconds",
		[FSQ_HINT_INSIST_ON_ID] =
			"its owner may have set it; if it belongs to that project set id",
		[FSQ_HINT_NAME_DIRECTORY] = "name that directory, or set id",
		[FSQ_HINT_PROJECT_ABOVE] = "it belongs to the project of a directory above it",
		[FSQ_HINT_RELEASE_AGAIN] = "the quota stays; release it again",
		[FSQ_HINT_ALLOW_SHRINK] = "set allow_shrink if that is meant",
		[FSQ_HINT_NAME_FILESYSTEM] = "name its filesystem: set at",
		[FSQ_HINT_ENFORCE] = "see fsquota doctor",
		[FSQ_HINT_KEEP_TAGS] = "take it off them, or set keep_tags",
		[FSQ_HINT_RELEASE_AT] = "mount it, or name where it was: set id and at",
		[FSQ_HINT_FORCE] = "set over_budget if that is meant",
		[FSQ_HINT_AROUND] = "set around to leave it its project",
		[FSQ_HINT_ASSIGN] = "assign gives it one",
		[FSQ_HINT_ORDER_LIMITS] = "set both limits, or no soft one",
		[FSQ_HINT_MAKE_PARENT] = "its parent must exist",
		[FSQ_HINT_LOOK_AT_ID] = "the ID has limits or files there",
		[FSQ_HINT_COPY] = "copy it, assign a quota to the copy, and release this one",
		[FSQ_HINT_COPIED] =
			"if it is a copy, assign a quota to it, and prune the other one",
		[FSQ_HINT_MADE_AGAIN] = "if it was made again, remove it while it is empty",
		[FSQ_HINT_NO_REGISTER] = "with none in fsq_registry it is limited, without a line",
		[FSQ_HINT_ASSIGN_LESS] = "assign sets a limit below what is in use",
	};

	return (size_t)hint < sizeof(texts) / sizeof(*texts) ? texts[hint] : NULL;
}

const char *fsq_version(unsigned int *number)
{
	if (number)
		*number = FSQ_VERSION_NUMBER;
	return FSQ_VERSION;
}

int fsq_add_hint(struct fsq_error *err, enum fsq_hint hint, int rc)
{
	if (err)
		err->hint = hint;
	return rc;
}

int fsq_add_path(struct fsq_error *err, const char *path, int rc)
{
	if (rc && err && !err->path[0])
		strncat(err->path, path, sizeof(err->path) - 1);
	return rc;
}

int fsq_fail_null(struct fsq_error *err)
{
	return fsq_fail(err, FSQ_E_USAGE, EINVAL, NULL, "an argument is missing");
}

int fsq_check_size(const void *request, size_t size, size_t known, struct fsq_error *err)
{
	const char *bytes = request;

	for (size_t i = known; i < size; i++)
		if (size > FSQ_REQUEST_MAX || bytes[i])
			return fsq_fail(err, FSQ_E_USAGE, E2BIG, NULL,
					"this libfsquota is older than what it is asked for");
	return size < known ? fsq_fail(err, FSQ_E_USAGE, EINVAL, NULL,
				       "the member size of a struct (request, registry or options) "
				       "is not its sizeof")
			    : 0;
}

int fsq_check_parts(const struct fsq_registry *registry, const struct fsq_call_options *options,
		    struct fsq_error *err)
{
	int rc = 0;

	if (registry)
		rc = fsq_check_size(registry, registry->size, sizeof(*registry), err);
	if (rc == 0 && registry && (!registry->projects_file || !registry->projid_file))
		rc = fsq_fail_null(err);
	if (rc == 0 && options)
		rc = fsq_check_size(options, options->size, sizeof(*options), err);
	return rc;
}

bool fsq_lacks_path(const char *const *paths, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!paths || !paths[i])
			return true;
	return false;
}

enum fsq_error_kind fsq_error_kind_of(int errnum)
{
	switch (errnum) {
	case 0:
		return FSQ_OK;
	case EPERM:
	case EACCES:
		return FSQ_E_PERMISSION;
	case ENOENT:
	case ENOTDIR:
	case ENXIO:
	case ENODEV:
		return FSQ_E_NOT_FOUND;
	case ENOSYS:
	case EOPNOTSUPP:
	case ENOTTY:
	case ESRCH:
	case ENOTBLK:
		return FSQ_E_NOT_SUPPORTED;
	default:
		return FSQ_E_FAILED;
	}
}

int fsq_fail_library(struct fsq_error *err, int errnum, const char *file, const char *package)
{
	if (errnum > 0)
		return fsq_fail(err, FSQ_E_FAILED, errnum, file, "cannot load this library");
	return fsq_fail(err, FSQ_E_FAILED, 0, file,
			"cannot load this library: install the package %s1, or %s", package,
			package);
}
