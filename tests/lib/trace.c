/* SPDX-License-Identifier: Apache-2.0 */
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLS_MAX 64

int filter_calls(const unsigned int *calls, size_t count, unsigned int answer)
{
	struct sock_filter filter[CALLS_MAX + 3] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = { (unsigned short)(count + 3), filter };

	if (count > CALLS_MAX) {
		errno = E2BIG;
		return -1;
	}
	for (size_t i = 0; i < count; i++)
		filter[i + 1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i],
							     (unsigned char)(count - i), 0);
	filter[count + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	filter[count + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

void trace_me(void)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
}

bool trace_begin(pid_t pid, long options)
{
	int status;

	return waitpid(pid, &status, 0) == pid && WIFSTOPPED(status) &&
	       ptrace(PTRACE_SETOPTIONS, pid, NULL, options) == 0;
}

bool trace_ask(pid_t pid, struct ptrace_syscall_info *info)
{
	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(*info), info) > 0)
		return true;
#ifdef __x86_64__
	struct user_regs_struct registers;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &registers))
		return false;
	memset(info, 0, sizeof(*info));
	/* A system call begins with this in place of its result. */
	if ((int64_t)registers.rax != -ENOSYS) {
		info->op = PTRACE_SYSCALL_INFO_EXIT;
		info->exit.rval = (int64_t)registers.rax;
		return true;
	}
	info->op = PTRACE_SYSCALL_INFO_ENTRY;
	info->entry.nr = registers.orig_rax;
	info->entry.args[0] = registers.rdi;
	info->entry.args[1] = registers.rsi;
	return true;
#else
	return false;
#endif
}

bool trace_fail_call(pid_t pid, int error)
{
#ifdef __x86_64__
	/* A number that is none: the kernel does nothing, and this is the result. */
	return ptrace(PTRACE_POKEUSR, pid, offsetof(struct user_regs_struct, orig_rax), -1L) == 0 &&
	       ptrace(PTRACE_POKEUSR, pid, offsetof(struct user_regs_struct, rax), (long)-error) ==
		       0;
#else
#error "how a call fails on this machine is not known here"
#endif
}

static void become(char **command, const char *const streams[3], const unsigned int *calls,
		   size_t count)
{
	int in = open(streams[0], O_RDONLY | O_CLOEXEC);
	int out = open(streams[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	int err = open(streams[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
		_exit(125);
	/* A shell lets what runs in its background ignore it. */
	signal(SIGINT, SIG_DFL);
	if (count > 0) {
		trace_me();
		if (filter_calls(calls, count, SECCOMP_RET_TRACE))
			_exit(125);
	}
	execv(command[0], command);
	_exit(127);
}

pid_t trace_start(char **command, const char *const streams[3], const unsigned int *calls,
		  size_t count)
{
	const long options = PTRACE_O_EXITKILL | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK |
			     PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE;
	pid_t pid = count > 0 ? fork() : vfork();

	if (pid == 0)
		become(command, streams, calls, count);
	if (pid > 0 && count > 0 &&
	    (!trace_begin(pid, options) || ptrace(PTRACE_CONT, pid, NULL, 0L)))
		return -1;
	return pid;
}

int trace_run(pid_t program, void (*stopped)(pid_t pid, void *arg), void *arg)
{
	int status, signal, result = 0;
	pid_t pid;

	while ((pid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
		if (pid == program && !WIFSTOPPED(status))
			result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		if (pid < 0 || !WIFSTOPPED(status))
			continue;
		if (status >> 16 == PTRACE_EVENT_SECCOMP)
			stopped(pid, arg);
		signal = WSTOPSIG(status);
		/* New ones begin with a stop. */
		if (status >> 16 || signal == SIGSTOP || signal == SIGTRAP)
			signal = 0;
		ptrace(PTRACE_CONT, pid, NULL, (long)signal);
	}
	return result;
}
