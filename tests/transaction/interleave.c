/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assign and release, stopped before each of their system calls from the first that opens the
 * projects file on, and what others do and see meanwhile.
 *
 *   interleave kubelet FILESYSTEM DIR COMMAND...
 *	Another process does to the two files what kubelet does: opens both, locks both, does not
 *	look again, reads, writes new files beside them, renames those over them. It is itself
 *	stopped before each of its calls; one run for each pair. Afterwards no line is lost, none is
 *	back, no ID is there twice, and the kernel has what the files say.
 *   interleave between FILESYSTEM DIR OTHER COMMAND...
 *	The same, and between the opening of the files and the lock OTHER is released, by a process
 *	that runs to its end.
 *   interleave readers FILESYSTEM DIR COMMAND...
 *	What the parsers of kubelet and of the real xfs_quota ($FSQ_ORACLE) make of both files at
 *	each stop is what they made of them before, or will after.
 *   interleave kill FILESYSTEM DIR COMMAND...
 *	The same after the command was killed there, and kubelet has come next.
 *
 * COMMAND is "FSQUOTA assign ..." or "FSQUOTA release ..." of DIR, which is empty. Prints what went
 * wrong, and in the last line the number of interleavings.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/dqblk_xfs.h>
#include <linux/fs.h>
#include <linux/quota.h>
#include <poll.h>
#include <regex.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/tag.h"
#include "../lib/trace.h"

#ifndef SYS_quotactl_fd
#define SYS_quotactl_fd 443
#endif

#define PROJECTS "/etc/projects"
#define PROJID "/etc/projid"
#define FIRST 1048577U
/* What is not ours, around ours. */
#define FOREIGN_PROJECTS "# directories\n7:/elsewhere\n"
#define FOREIGN_PROJID "# names\nother:7\n"
#define OLD_POD 1048700U
#define STEPS 11
#define STEP_MS 20

static const char *filesystem, *directory, *other;
static int directory_fd, other_fd = -1;
static char **command;
static bool releasing;
static unsigned long runs, wrongs;

static void die(const char *what)
{
	fprintf(stderr, "interleave: %s: %s\n", what, strerror(errno));
	exit(1);
}

static char *slurp(const char *file)
{
	static char text[2][16384];
	static int which;
	char *to = text[which ^= 1];
	int fd = open(file, O_RDONLY);
	ssize_t got = fd < 0 ? 0 : read(fd, to, sizeof(text[0]) - 1);

	if (fd >= 0)
		close(fd);
	to[got > 0 ? got : 0] = '\0';
	return to;
}

static void put(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		die(file);
	close(fd);
}

/* --- the kernel --- */

static uint32_t get_tag(void)
{
	struct fsxattr attributes;

	if (ioctl(directory_fd, FS_IOC_FSGETXATTR, &attributes))
		die("FSGETXATTR");
	return attributes.fsx_projid;
}

static void get_quota(uint32_t id, struct fs_disk_quota *quota)
{
	memset(quota, 0, sizeof(*quota));
	if (syscall(SYS_quotactl_fd, directory_fd, QCMD(Q_XGETQUOTA, 2), id, quota) &&
	    errno != ENOENT)
		die("Q_XGETQUOTA");
}

static void set_limit(uint32_t id, uint64_t blocks)
{
	struct fs_disk_quota quota = { .d_version = FS_DQUOT_VERSION,
				       .d_flags = FS_PROJ_QUOTA,
				       .d_fieldmask = FS_DQ_BHARD,
				       .d_id = id,
				       .d_blk_hardlimit = blocks };

	if (syscall(SYS_quotactl_fd, directory_fd, QCMD(Q_XSETQLIM, 2), id, &quota))
		die("Q_XSETQLIM");
}

/* --- what is there before --- */

static void reset(void)
{
	char text[4096];
	int length;

	for (uint32_t id = FIRST; id < FIRST + 4; id++) {
		struct fs_disk_quota quota;

		get_quota(id, &quota);
		if (quota.d_blk_hardlimit)
			set_limit(id, 0);
	}
	if (tag_file(directory_fd, releasing ? FIRST : 0, releasing) ||
	    (other && tag_file(other_fd, FIRST, true)))
		die("FSSETXATTR");
	if (releasing || other)
		set_limit(FIRST, 20480);
	unlink(PROJECTS);
	unlink(PROJID);
	length = snprintf(text, sizeof(text), FOREIGN_PROJECTS);
	if (releasing || other)
		length += snprintf(text + length, sizeof(text) - (size_t)length, "%u:%s\n", FIRST,
				   other ? other : directory);
	snprintf(text + length, sizeof(text) - (size_t)length, "%u:/pods/old\n", OLD_POD);
	put(PROJECTS, text);
	length = snprintf(text, sizeof(text), FOREIGN_PROJID);
	if (releasing || other)
		length += snprintf(text + length, sizeof(text) - (size_t)length, "volume%u:%u\n",
				   FIRST, FIRST);
	snprintf(text + length, sizeof(text) - (size_t)length, "volume%u:%u\n", OLD_POD, OLD_POD);
	put(PROJID, text);
}

/* --- how others read the files --- */

/* The entries as kubelet's regular expressions find them, one a line. */
static void as_kubelet(const char *text, const char *expression, char *entries)
{
	regex_t regex;
	char copy[16384], *rest = copy, *line;

	if (regcomp(&regex, expression, REG_EXTENDED | REG_NOSUB))
		die("regcomp");
	snprintf(copy, sizeof(copy), "%s", text);
	*entries = '\0';
	while ((line = strsep(&rest, "\n")))
		if (regexec(&regex, line, 0, NULL, 0) == 0)
			strcat(strcat(entries, line), "\n");
	regfree(&regex);
}

static void as_xfs_quota(char *entries, size_t size)
{
	char shell[512];
	size_t got;
	FILE *pipe;

	snprintf(shell, sizeof(shell), "%s -x -c print %s 2>/dev/null", getenv("FSQ_ORACLE"),
		 filesystem);
	pipe = popen(shell, "r");
	got = pipe ? fread(entries, 1, size - 1, pipe) : 0;
	entries[got] = '\0';
	if (!pipe || pclose(pipe) || got == 0)
		die("the real xfs_quota does not answer");
}

struct view {
	char projects[16384], projid[16384], xfs_quota[16384];
};

static void look(struct view *view)
{
	as_kubelet(slurp(PROJECTS), "^([[:digit:]]+):(.*)$", view->projects);
	as_kubelet(slurp(PROJID), "^([^#][^:]*):([[:digit:]]+)$", view->projid);
	as_xfs_quota(view->xfs_quota, sizeof(view->xfs_quota));
}

/* --- kubelet --- */

static int ask_fd, answer_fd;

/* The call that was asked for is made. */
static void answer(void)
{
	if (write(answer_fd, "+", 1) != 1)
		_exit(3);
}

/* Answer for the call before, if there was one, and wait until the next is asked for. */
static void step(void)
{
	static bool begun;
	char byte;

	if (begun)
		answer();
	begun = true;
	if (read(ask_fd, &byte, 1) != 1)
		_exit(3);
}

static bool has_id(const char *text, uint32_t id)
{
	char front[32], back[32];

	snprintf(front, sizeof(front), "\n%u:", id);
	snprintf(back, sizeof(back), ":%u\n", id);
	return strstr(text, front) || strstr(text, back);
}

static void without_line(char *text, const char *line)
{
	char *at = strstr(text, line);

	if (at)
		memmove(at, at + strlen(line), strlen(at + strlen(line)) + 1);
}

static void read_from(int fd, char *text, size_t size)
{
	ssize_t got = pread(fd, text, size - 1, 0);

	text[got > 0 ? got : 0] = '\0';
}

/* An old pod goes, a new one comes. */
static void be_kubelet(void)
{
	char projects[16384], projid[16384], line[64];
	uint32_t id = FIRST;
	struct fs_disk_quota quota;
	int one, second;

	step();
	one = open(PROJECTS, O_RDONLY | O_CREAT, 0644);
	step();
	second = open(PROJID, O_RDONLY | O_CREAT, 0644);
	step();
	flock(one, LOCK_EX);
	step();
	flock(second, LOCK_EX);
	step();
	read_from(one, projects, sizeof(projects) - 64);
	step();
	read_from(second, projid, sizeof(projid) - 64);
	for (;; id++) {
		get_quota(id, &quota);
		if (!has_id(projects, id) && !has_id(projid, id) && !quota.d_icount &&
		    !quota.d_blk_hardlimit)
			break;
	}
	snprintf(line, sizeof(line), "%u:/pods/old\n", OLD_POD);
	without_line(projects, line);
	sprintf(projects + strlen(projects), "%u:/pods/new\n", id);
	snprintf(line, sizeof(line), "volume%u:%u\n", OLD_POD, OLD_POD);
	without_line(projid, line);
	sprintf(projid + strlen(projid), "volume%u:%u\n", id, id);
	step();
	put(PROJECTS ".new", projects);
	step();
	put(PROJID ".new", projid);
	step();
	if (rename(PROJID ".new", PROJID))
		_exit(2);
	step();
	if (rename(PROJECTS ".new", PROJECTS))
		_exit(2);
	step();
	close(second);
	close(one);
	answer();
	_exit(0);
}

static pid_t start_kubelet(void)
{
	int down[2], up[2];
	pid_t pid = 0;

	if (pipe2(down, O_CLOEXEC) || pipe2(up, O_CLOEXEC) || (pid = fork()) < 0)
		die("fork");
	if (pid == 0) {
		ask_fd = down[0];
		answer_fd = up[1];
		close(down[1]);
		close(up[0]);
		be_kubelet();
	}
	close(down[0]);
	close(up[1]);
	ask_fd = down[1];
	answer_fd = up[0];
	return pid;
}

/* Let it make so many calls, as far as it comes: a lock may be in its way. */
static void let_kubelet(int steps)
{
	struct pollfd answer = { .fd = answer_fd, .events = POLLIN };
	char byte;

	for (int i = 0; i < steps; i++)
		if (write(ask_fd, "!", 1) != 1)
			die("kubelet");
	for (int i = 0; i < steps; i++)
		if (poll(&answer, 1, STEP_MS) != 1 || read(answer_fd, &byte, 1) != 1)
			return;
}

static void end_kubelet(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status != 0) {
		printf("kubelet: status %x\n", status);
		wrongs++;
	}
	close(ask_fd);
	close(answer_fd);
}

/* --- the command, stopped --- */

static bool is_entry(pid_t pid, uint64_t *number, uint64_t *path)
{
	struct ptrace_syscall_info info;

	if (!trace_ask(pid, &info))
		die("ptrace");
	*number = info.entry.nr;
	*path = info.entry.args[*number == SYS_openat];
	return info.op == PTRACE_SYSCALL_INFO_ENTRY;
}

static bool opens_projects(pid_t pid, uint64_t number, uint64_t address)
{
	char path[sizeof(PROJECTS)] = "", name[32];
	int fd;

	if (number != SYS_openat && number != SYS_open)
		return false;
	snprintf(name, sizeof(name), "/proc/%d/mem", (int)pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || pread(fd, path, sizeof(path), (off_t)address) < 0)
		path[0] = '\0';
	close(fd);
	return memcmp(path, PROJECTS, sizeof(path)) == 0;
}

static pid_t start_command(void)
{
	pid_t pid = fork();
	int null;

	if (pid < 0)
		die("fork");
	if (pid == 0) {
		null = open("/dev/null", O_WRONLY);
		dup2(null, 1);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execv(command[0], command);
		_exit(127);
	}
	return pid;
}

/*
 * Let it run to its call number @stop, counted from the one that opens the projects file.
 * @return   false when it has ended before, with @status
 */
static bool run_to(pid_t pid, int stop, int *status)
{
	uint64_t number, path;
	int count = -1, deliver = 0;

	if (!trace_begin(pid, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL))
		die("the command does not start");
	for (;;) {
		if (ptrace(PTRACE_SYSCALL, pid, 0, (long)deliver) || waitpid(pid, status, 0) != pid)
			die("ptrace");
		deliver = 0;
		if (!WIFSTOPPED(*status))
			return false;
		if (WSTOPSIG(*status) != (SIGTRAP | 0x80)) {
			deliver = WSTOPSIG(*status);
			continue;
		}
		if (!is_entry(pid, &number, &path))
			continue;
		if (count >= 0 || opens_projects(pid, number, path))
			count++;
		if (count == stop)
			return true;
	}
}

static int let_go(pid_t pid)
{
	int status;

	ptrace(PTRACE_DETACH, pid, 0, 0);
	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	return status;
}

/* --- what must be --- */

static int count_of(const char *text, const char *what)
{
	int count = 0;

	for (const char *at = text; (at = strstr(at, what)); at++)
		count++;
	return count;
}

static void wrong(const char *when, int stop, int steps, const char *what)
{
	wrongs++;
	if (wrongs > 10)
		return;
	printf("%s, call %d, kubelet's step %d: %s\n%s%s", when, stop, steps, what, slurp(PROJECTS),
	       slurp(PROJID));
}

/* The number that the line with a colon begins with. */
static uint32_t id_before(const char *text, const char *colon)
{
	while (colon > text && colon[-1] != '\n')
		colon--;
	return (uint32_t)strtoul(colon, NULL, 10);
}

/* Of the IDs in our range each is there once, and they are the ones that ought to be. */
static void check_files(int stop, int steps, bool kubelet)
{
	static char projects[16384], projid[16384], what[300];
	uint32_t tag = get_tag(), pod = 0, found;
	struct fs_disk_quota quota;
	const char *line;

	snprintf(projects, sizeof(projects), "%s", slurp(PROJECTS));
	snprintf(projid, sizeof(projid), "%s", slurp(PROJID));
	if (strncmp(projects, FOREIGN_PROJECTS, strlen(FOREIGN_PROJECTS)) ||
	    strncmp(projid, FOREIGN_PROJID, strlen(FOREIGN_PROJID)))
		wrong("files", stop, steps, "foreign lines have changed");
	snprintf(what, sizeof(what), ":%s\n", other ? other : "");
	if (other && strstr(projects, what))
		wrong("files", stop, steps, "what was released before is back");
	line = strstr(projects, ":/pods/new\n");
	if (line)
		pod = id_before(projects, line);
	if (kubelet &&
	    (!pod || count_of(projects, "/pods/new") != 1 || count_of(projects, "/pods/old")))
		wrong("files", stop, steps, "kubelet's lines are lost, or back");
	snprintf(what, sizeof(what), "volume%u:%u\n", pod, pod);
	if (kubelet && count_of(projid, what) != 1)
		wrong("files", stop, steps, "kubelet's name is lost");
	snprintf(what, sizeof(what), ":%s\n", directory);
	line = strstr(projects, what);
	if (releasing) {
		if (line || tag)
			wrong("files", stop, steps, "what was released is back");
		return;
	}
	if (!line || count_of(projects, what) != 1) {
		wrong("files", stop, steps, "what was assigned is lost, or there twice");
		return;
	}
	found = id_before(projects, line);
	if (found != tag || found == pod)
		wrong("files", stop, steps,
		      "the directory has another ID, or one that is there twice");
	snprintf(what, sizeof(what), "volume%u:%u\n", tag, tag);
	if (count_of(projid, what) != 1)
		wrong("files", stop, steps, "its name is lost");
	get_quota(tag, &quota);
	if (quota.d_blk_hardlimit != 20480)
		wrong("files", stop, steps, "its limit is another");
}

static void release_other(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		execl(command[0], command[0], "release", other, (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
		die("release of the other");
}

static bool one_pair(int stop, int steps)
{
	pid_t kubelet, pid;
	int status;
	bool stopped;

	reset();
	kubelet = start_kubelet();
	let_kubelet(steps);
	if (other)
		release_other();
	pid = start_command();
	stopped = run_to(pid, stop, &status);
	let_kubelet(STEPS - steps);
	if (stopped)
		status = let_go(pid);
	end_kubelet(kubelet);
	runs++;
	if (status != 0)
		wrong("status", stop, steps, "the command has failed");
	else
		check_files(stop, steps, true);
	return stopped;
}

/* Every fifth call; with FSQUOTA_FULL, and where lines are counted, each. */
static int every = 5;

/* Past the lock it is kubelet that comes first, and then the command waits, call after call. */
static void beside_kubelet(void)
{
	/* What kubelet has locked the other one would wait for. */
	for (int steps = other ? 1 : 0; steps < (other ? 3 : STEPS); steps++)
		for (int stop = 0; stop < (steps > 2 ? 12 : 1000); stop += every)
			if (!one_pair(stop, steps))
				break;
}

static bool is_one_of(const struct view *now, const struct view *old, const struct view *new)
{
	const char *seen = now->xfs_quota;

	return (strcmp(now->projects, old->projects) == 0 ||
		strcmp(now->projects, new->projects) == 0) &&
	       (strcmp(now->projid, old->projid) == 0 || strcmp(now->projid, new->projid) == 0) &&
	       (strcmp(seen, old->xfs_quota) == 0 || strcmp(seen, new->xfs_quota) == 0 ||
		strcmp(now->projid, old->projid) != 0 || strcmp(now->projid, new->projid) != 0);
}

static void watch(bool killing)
{
	static struct view old, new, now;
	int status, reader = -1;

	reset();
	look(&old);
	if (run_to(start_command(), -2, &status) || status != 0)
		die("undisturbed it fails");
	look(&new);
	for (int stop = 0;; stop += every) {
		pid_t pid;
		bool stopped;

		reset();
		/* Somebody who has the file open: no lease. */
		if (stop % 2)
			reader = open(PROJECTS, O_RDONLY);
		pid = start_command();
		stopped = run_to(pid, stop, &status);
		if (!stopped)
			break;
		if (killing) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
		}
		look(&now);
		if (!is_one_of(&now, &old, &new))
			wrong("readers", stop, -1, now.xfs_quota);
		runs++;
		if (killing) {
			pid = start_kubelet();
			let_kubelet(STEPS);
			end_kubelet(pid);
			if (run_to(start_command(), -2, &status) ||
			    (status != 0 && !(releasing && WEXITSTATUS(status) == 5)))
				wrong("again", stop, -1, "it fails");
			check_files(stop, -1, true);
		} else {
			let_go(pid);
		}
		if (reader >= 0)
			close(reader);
		reader = -1;
	}
	if (reader >= 0)
		close(reader);
}

int main(int argc, char **argv)
{
	if (argc < 6)
		return 2;
	if (getenv("FSQUOTA_FULL") || getenv("FSQUOTA_COVERAGE"))
		every = 1;
	filesystem = argv[2];
	directory = argv[3];
	other = strcmp(argv[1], "between") == 0 ? argv[4] : NULL;
	command = argv + (other ? 5 : 4);
	releasing = strcmp(command[1], "release") == 0;
	if (other)
		other_fd = open(other, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	directory_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory_fd < 0)
		die(directory);
	if (other || strcmp(argv[1], "kubelet") == 0)
		beside_kubelet();
	else
		watch(strcmp(argv[1], "kill") == 0);
	printf("%lu of %lu interleavings went wrong\n", wrongs, runs);
	return wrongs != 0 || runs < 8;
}
