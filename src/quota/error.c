/* SPDX-License-Identifier: Apache-2.0 */
#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int fsq_fail(struct fsq_error *err, int code, int errnum, const char *path, const char *format, ...)
{
	va_list args;

	if (!err)
		return code;
	err->code = code;
	err->errnum = errnum;
	err->hint = NULL;
	err->path[0] = '\0';
	if (path)
		strncat(err->path, path, sizeof(err->path) - 1);
	va_start(args, format);
	vsnprintf(err->message, sizeof(err->message), format, args);
	va_end(args);
	return code;
}

int fsq_code_of_errno(int errnum)
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
