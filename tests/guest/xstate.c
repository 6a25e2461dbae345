/* SPDX-License-Identifier: Apache-2.0 */
/*
 * User-Mode Linux 6.1 keeps some of a process's floating-point state. Where the processor
 * has more (Intel AMX) ptrace(2) takes nothing but the whole of it, and the kernel dies at its
 * first process. "run" preloads this there: what is missing is zeros, which is what there is of
 * registers that nobody uses. And since it reads and writes the state at each system call, and so
 * much of it is expensive, what was read and has not run since is not written again.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>

static long (*real)(enum __ptrace_request, ...);

/* What a process has, by its ID; PID 0 is nobody. */
static struct known {
	pid_t pid;
	size_t length;
	char state[4096];
} known[1024];

static long set_state(pid_t pid, void *type, const struct iovec *given, struct known *has)
{
	static char whole[64 * 1024];
	static struct iovec all = { whole, 0 };

	if (has->pid == pid && given->iov_len == has->length &&
	    memcmp(has->state, given->iov_base, has->length) == 0)
		return 0;
	if (all.iov_len == 0) {
		all.iov_len = sizeof(whole);
		if (real(PTRACE_GETREGSET, pid, type, &all))
			all.iov_len = 0;
		memset(whole, 0, sizeof(whole));
	}
	if (all.iov_len <= given->iov_len)
		return real(PTRACE_SETREGSET, pid, type, given);
	memcpy(whole, given->iov_base, given->iov_len);
	return real(PTRACE_SETREGSET, pid, type, &all);
}

long ptrace(enum __ptrace_request request, ...)
{
	void *address, *data;
	struct known *has;
	va_list arguments;
	bool is_state;
	pid_t pid;
	long rc;

	va_start(arguments, request);
	pid = va_arg(arguments, pid_t);
	address = va_arg(arguments, void *);
	data = va_arg(arguments, void *);
	va_end(arguments);
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "ptrace");
	has = &known[(unsigned int)pid % (sizeof(known) / sizeof(known[0]))];
	is_state = address == (void *)NT_X86_XSTATE;
	if (request == PTRACE_SETREGSET && is_state) {
		rc = set_state(pid, address, data, has);
		has->pid = 0;
		return rc;
	}
	rc = real(request, pid, address, data);
	if (request == PTRACE_GETREGSET && is_state && rc == 0) {
		const struct iovec *got = data;

		has->pid = got->iov_len <= sizeof(has->state) ? pid : 0;
		has->length = got->iov_len;
		if (has->pid)
			memcpy(has->state, got->iov_base, got->iov_len);
	} else if (request != PTRACE_GETREGS && request != PTRACE_SETREGS &&
		   request != PTRACE_PEEKUSER && request != PTRACE_GETSIGINFO) {
		/* Whatever else it is, it may let the process run. */
		has->pid = 0;
	}
	return rc;
}
