/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded, this lets one allocation of a program fail, whoever asks for the memory: the program, the
 * C library or one that it has loaded.
 *
 *   FSQ_FAIL_AT      which one, from 1 on; with 0 or without it none fails. With + behind the
 *                    number those behind it fail as well
 *   FSQ_FAIL_REPORT  the file that gets a line when it fails: who asked, innermost first, as OBJECT+OFFSET
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

/* Those of glibc, which dlsym(3) cannot find without allocating. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static atomic_ulong count;
static unsigned long fail_at;
static bool rest;
static const char *report;

__attribute__((constructor)) static void start(void)
{
	const char *at = getenv("FSQ_FAIL_AT");
	char *end;

	report = getenv("FSQ_FAIL_REPORT");
	fail_at = at ? strtoul(at, &end, 10) : 0;
	rest = at && *end == '+';
	/* Not in what the program starts. */
	unsetenv("LD_PRELOAD");
	count = 0;
}

struct line {
	char text[2048];
	size_t used;
};

static _Unwind_Reason_Code add_frame(struct _Unwind_Context *context, void *arg)
{
	struct line *line = arg;
	uintptr_t at = _Unwind_GetIP(context);
	const char *slash;
	Dl_info info;

	if (!at || !dladdr((void *)at, &info) || !info.dli_fname)
		return _URC_NO_REASON;
	if (strstr(info.dli_fname, "fail_nth"))
		return _URC_NO_REASON;
	slash = strrchr(info.dli_fname, '/');
	line->used += (size_t)snprintf(line->text + line->used, sizeof(line->text) - line->used,
				       "%s%s+0x%lx", line->used ? " " : "",
				       slash ? slash + 1 : info.dli_fname,
				       (unsigned long)(at - 1 - (uintptr_t)info.dli_fbase));
	return line->used < sizeof(line->text) - 300 ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static void tell(void)
{
	struct line line = { .used = 0 };
	int fd = report ? open(report, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;

	if (fd < 0)
		return;
	_Unwind_Backtrace(add_frame, &line);
	line.text[line.used++] = '\n';
	if (write(fd, line.text, line.used) < 0)
		_exit(98);
	close(fd);
}

static bool fails(void)
{
	unsigned long number = atomic_fetch_add(&count, 1) + 1;

	if (!fail_at || number < fail_at || (number > fail_at && !rest))
		return false;
	if (number == fail_at)
		tell();
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t items, size_t size)
{
	return fails() ? NULL : __libc_calloc(items, size);
}

void *realloc(void *old, size_t size)
{
	return fails() ? NULL : __libc_realloc(old, size);
}

void *reallocarray(void *old, size_t items, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(items, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, bytes);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return fails() ? NULL : __libc_memalign(alignment, size);
}

void *memalign(size_t alignment, size_t size)
{
	return aligned_alloc(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size)
{
	if (fails())
		return ENOMEM;
	*result = __libc_memalign(alignment, size);
	return *result ? 0 : ENOMEM;
}
