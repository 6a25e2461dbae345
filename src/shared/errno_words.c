/* SPDX-License-Identifier: Apache-2.0 */
#include "errno_words.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>

#define ERRNO(name, words) [name] = { #name, words }

static const struct {
	const char *name, *words;
} known[] = {
	ERRNO(EPERM, "Operation not permitted"),
	ERRNO(ENOENT, "No such file or directory"),
	ERRNO(ESRCH, "No such process"),
	ERRNO(EINTR, "Interrupted system call"),
	ERRNO(EIO, "Input/output error"),
	ERRNO(ENXIO, "No such device or address"),
	ERRNO(E2BIG, "Argument list too long"),
	ERRNO(EBADF, "Bad file descriptor"),
	ERRNO(EAGAIN, "Resource temporarily unavailable"),
	ERRNO(ENOMEM, "Cannot allocate memory"),
	ERRNO(EACCES, "Permission denied"),
	ERRNO(EFAULT, "Bad address"),
	ERRNO(ENOTBLK, "Block device required"),
	ERRNO(EBUSY, "Device or resource busy"),
	ERRNO(EEXIST, "File exists"),
	ERRNO(EXDEV, "Invalid cross-device link"),
	ERRNO(ENODEV, "No such device"),
	ERRNO(ENOTDIR, "Not a directory"),
	ERRNO(EISDIR, "Is a directory"),
	ERRNO(EINVAL, "Invalid argument"),
	ERRNO(ENFILE, "Too many open files in system"),
	ERRNO(EMFILE, "Too many open files"),
	ERRNO(ENOTTY, "Inappropriate ioctl for device"),
	ERRNO(ETXTBSY, "Text file busy"),
	ERRNO(EFBIG, "File too large"),
	ERRNO(ENOSPC, "No space left on device"),
	ERRNO(EROFS, "Read-only file system"),
	ERRNO(EMLINK, "Too many links"),
	ERRNO(EPIPE, "Broken pipe"),
	ERRNO(ERANGE, "Numerical result out of range"),
	ERRNO(EDEADLK, "Resource deadlock avoided"),
	ERRNO(ENAMETOOLONG, "File name too long"),
	ERRNO(ENOLCK, "No locks available"),
	ERRNO(ENOSYS, "Function not implemented"),
	ERRNO(ENOTEMPTY, "Directory not empty"),
	ERRNO(ELOOP, "Too many levels of symbolic links"),
	ERRNO(ENODATA, "No data available"),
	ERRNO(ENOLINK, "Link has been severed"),
	ERRNO(EBADMSG, "Bad message"),
	ERRNO(EOVERFLOW, "Value too large for defined data type"),
	ERRNO(EILSEQ, "Invalid or incomplete multibyte or wide character"),
	ERRNO(ENOTSOCK, "Socket operation on non-socket"),
	ERRNO(EMSGSIZE, "Message too long"),
	ERRNO(EPROTONOSUPPORT, "Protocol not supported"),
	ERRNO(EOPNOTSUPP, "Operation not supported"),
	ERRNO(EAFNOSUPPORT, "Address family not supported by protocol"),
	ERRNO(ENETDOWN, "Network is down"),
	ERRNO(ENETUNREACH, "Network is unreachable"),
	ERRNO(EADDRINUSE, "Address already in use"),
	ERRNO(EADDRNOTAVAIL, "Cannot assign requested address"),
	ERRNO(ECONNABORTED, "Software caused connection abort"),
	ERRNO(ECONNRESET, "Connection reset by peer"),
	ERRNO(ENOBUFS, "No buffer space available"),
	ERRNO(ENOTCONN, "Transport endpoint is not connected"),
	ERRNO(ESHUTDOWN, "Cannot send after transport endpoint shutdown"),
	ERRNO(ETIMEDOUT, "Connection timed out"),
	ERRNO(ECONNREFUSED, "Connection refused"),
	ERRNO(EHOSTDOWN, "Host is down"),
	ERRNO(EHOSTUNREACH, "No route to host"),
	ERRNO(ESTALE, "Stale file handle"),
	ERRNO(EUCLEAN, "Structure needs cleaning"),
	ERRNO(EREMOTEIO, "Remote I/O error"),
	ERRNO(EDQUOT, "Disk quota exceeded"),
	ERRNO(ENOMEDIUM, "No medium found"),
	ERRNO(ECANCELED, "Operation canceled"),
	ERRNO(ENOKEY, "Required key not available"),
};

const char *errno_name(int errnum)
{
	if (errnum <= 0 || (size_t)errnum >= sizeof(known) / sizeof(known[0]))
		return NULL;
	return known[errnum].name;
}

const char *errno_words(int errnum)
{
	static char unknown[32];

	if (errno_name(errnum))
		return known[errnum].words;
	snprintf(unknown, sizeof(unknown), "Unknown error %d", errnum);
	return unknown;
}
