/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The owner of a tree who attacks a tool that walks it as root.
 *
 *   attacker windows [OPTION...] KIND ACTION ARENA COMMAND...
 *	The tool is stopped before each of its system calls that may be a window (open, stat, ioctl,
 *	getdents and their kin, from the first that names the tree on): one run for each window, and
 *	in it, the one swap. The last run is not attacked.
 *   attacker race [OPTION...] KIND ACTION ARENA COMMAND...
 *	The tool runs freely, while the attacker swaps to and fro as fast as he can.
 *   attacker deep|wide DIR COUNT
 *	Make a chain of directories that no path name could reach the end of, or many files.
 *
 *   -n ROUNDS     of a race
 *   -s STRIDE     only every so many windows
 *   -p SECONDS    after which the tool is taken to hang, and killed (60)
 *   -u            end with the first run that harmed or hung
 *   -e TEXT       what the output must contain
 *   -c MIN:MAX    what the last number of the output must be
 *   -o            without openat2(2), as before Linux 5.6
 *   -b            a tree so big that it is walked in the manner of big ones; its windows begin when
 *                 the tool turns to that (open_tree(2)), behind what makes the tree big
 *
 * KIND is what is swapped, see kinds[]; ACTION what the tool is to do: set, clear, assign, release or
 * usage. "%ID" in COMMAND is the project ID, "%TREE" the tree.
 *
 * ARENA, on a filesystem with project IDs, is made anew for each run:
 *   home/tree	   what is walked; of user 1000, as is home
 *   outside	   of root: victim, vdir/inner, vdir/sub/inner
 *   attic	   of user 1000, but not in the tree: bystander
 *
 * Prints one line: the runs, and in how many of them an inode outside was changed, the tool hung,
 * opened a device, was wrong (in what it said, or did to files that nobody touched), or failed.
 *
 * A tool with threads can be raced, but not stopped at windows: only its first thread would be.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/tag.h"
#include "../lib/trace.h"

#define USER 1000
#define VICTIM_ID 33
#define FIRST_ID 5000
#define CHAIN 90
#define CHAIN_CUT 10
#define BIG 1010
#define STATUS_PARTIAL 7
/* Not in every <sys/syscall.h>. */
#define CALL_OPEN_TREE 428
#define CALL_FILE_GETATTR 468
#define CALL_FILE_SETATTR 469

enum kind {
	FILE_SYMLINK,
	DIR_SYMLINK,
	MOVED,
	DEEP_MOVED,
	FIFO,
	DEVICE,
	LINK,
	BIND,
	VANISH,
	TYPE,
	EXCHANGE,
	ROOT,
	ROOT_BACK
};

static const struct {
	const char *name;
	enum kind kind;
} kinds[] = {
	{ "file-symlink", FILE_SYMLINK }, /* of files, to a file outside */
	{ "dir-symlink", DIR_SYMLINK },	  /* of directories, to one outside */
	{ "moved", MOVED },		  /* a directory, out of the tree */
	{ "deep-moved", DEEP_MOVED },	  /* the same, out of the middle of a deep chain */
	{ "fifo", FIFO },		  /* for files */
	{ "device", DEVICE },		  /* for files; root has put it into the tree */
	{ "link", LINK },		  /* to a file outside */
	{ "bind", BIND },		  /* root mounts a directory and a file of outside */
	{ "vanish", VANISH },		  /* all that may be swapped */
	{ "type", TYPE },		  /* a file for a directory and vice versa */
	{ "exchange", EXCHANGE },	  /* a file and a directory: each gets the other's name */
	{ "root", ROOT },		  /* a symlink for the tree itself */
	{ "root-back", ROOT_BACK },	  /* the tree for a symlink that was in its place */
};

/* What is swapped, and what nobody touches. */
static const char *const files[] = { "a", "d/x", "d/e/y", "z" };
static const char *const keepers[] = { "k", "s", "s/k", "d/w" };
#define STEADY 3 /* so many of them are not in a directory that may be swapped */
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static enum kind kind;
static const char *action, *arena, *expected;
static char tree[512];
static long count_min, count_max = -1;
static unsigned int patience = 60;
static bool old_kernel, big;

static struct watched {
	char path[64];
	int fd;
	struct fsxattr before;
} watched[16], kept[COUNT(keepers) + 1], exchanged;
static size_t watched_count;

static struct {
	unsigned int runs, changed, hung, opened, wrong, failed, linked;
} tally;

static volatile pid_t victim_process;
static volatile bool timed_out;

static void die(const char *what)
{
	perror(what);
	exit(99);
}

__attribute__((format(printf, 1, 2))) static char *in(const char *format, ...)
{
	static char buffers[4][1024];
	static unsigned int next;
	char *buffer = buffers[next++ % COUNT(buffers)];
	int length = snprintf(buffer, sizeof(buffers[0]), "%s/", arena);
	va_list args;

	va_start(args, format);
	vsnprintf(buffer + length, sizeof(buffers[0]) - (size_t)length, format, args);
	va_end(args);
	return buffer;
}

static bool is(const char *wanted)
{
	return strcmp(action, wanted) == 0;
}

/* --- the arena --- */

/* The rights of the owner; root is only left for a while, the file system asks for these. */
static void become(uid_t uid)
{
	if (uid == 0 && seteuid(0))
		die("seteuid");
	if (setegid(uid) || (uid && seteuid(uid)))
		die("seteuid");
}

static void make_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0644);

	if (fd >= 0)
		close(fd);
}

static void remove_at(int dirfd, const char *name)
{
	struct dirent *entry;
	DIR *dir;
	int fd;

	if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
		return;
	fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	dir = fd < 0 ? NULL : fdopendir(fd);
	while (dir && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			remove_at(fd, entry->d_name);
	if (dir)
		closedir(dir);
	unlinkat(dirfd, name, AT_REMOVEDIR);
}

static void remove_tree(const char *path)
{
	remove_at(AT_FDCWD, path);
}

static void make_chain(const char *at, int levels)
{
	int fd = open(at, O_RDONLY | O_DIRECTORY);

	for (int i = 0; i < levels; i++) {
		int next;

		if (mkdirat(fd, "n", 0755))
			die("mkdir");
		next = openat(fd, "n", O_RDONLY | O_DIRECTORY);
		close(fd);
		fd = next;
	}
	close(fd);
}

/* They come first in the tree, and so are walked first. */
static void make_many(void)
{
	char name[1100];

	mkdir(in("home/tree/b"), 0755);
	for (int i = 0; i < BIG; i++) {
		snprintf(name, sizeof(name), "%s/%d", in("home/tree/b"), i);
		if (mknod(name, S_IFREG | 0644, 0))
			die(name);
	}
}

/* All that may be swapped; what is there already stays. */
static void make_prey(void)
{
	make_file(in("home/tree/a"));
	mkdir(in("home/tree/d"), 0755);
	make_file(in("home/tree/d/x"));
	mkdir(in("home/tree/d/e"), 0755);
	make_file(in("home/tree/d/e/y"));
	make_file(in("home/tree/z"));
}

static void watch(struct watched *one, const char *path, const char *name)
{
	one->fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	snprintf(one->path, sizeof(one->path), "%s", name);
	if (one->fd < 0 || ioctl(one->fd, FS_IOC_FSGETXATTR, &one->before))
		die(path);
}

static void watch_outside(const char *name, uint32_t id)
{
	struct watched *one = &watched[watched_count++];

	watch(one, in("%s", name), name);
	if (tag_file(one->fd, id, false) || ioctl(one->fd, FS_IOC_FSGETXATTR, &one->before))
		die(name);
}

static void make_arena(uint32_t id)
{
	static const char *const outside[] = { "outside/victim", "outside/vdir",
					       "outside/vdir/inner", "outside/vdir/sub",
					       "outside/vdir/sub/inner" };
	bool tagged = is("clear") || is("release");
	int fd;

	remove_tree(arena);
	umask(022);
	mkdir(arena, 0755);
	mkdir(in("home"), 0755);
	mkdir(in("outside"), 0755);
	mkdir(in("outside/vdir"), 0755);
	mkdir(in("outside/vdir/sub"), 0755);
	make_file(in("outside/victim"));
	make_file(in("outside/vdir/inner"));
	make_file(in("outside/vdir/sub/inner"));
	mkdir(in("attic"), 0755);
	make_file(in("attic/bystander"));
	mkdir(in("home/tree"), 0755);
	if (chown(in("attic"), USER, USER) || chown(in("home"), USER, USER) ||
	    chown(in("attic/bystander"), USER, USER) || chown(tree, USER, USER))
		die("chown");
	/* What is made in it inherits the ID, special files too. */
	fd = open(tree, O_RDONLY | O_CLOEXEC);
	if (tagged && tag_file(fd, id, true))
		die(tree);
	close(fd);
	become(USER);
	if (big)
		make_many();
	make_file(in("home/tree/k"));
	make_prey();
	mkdir(in("home/tree/s"), 0755);
	make_file(in("home/tree/s/k"));
	make_file(in("home/tree/d/w"));
	if (symlink("nowhere", in("home/tree/l")))
		die("symlink");
	if (kind == DEEP_MOVED)
		make_chain(in("home/tree/d/e"), CHAIN);
	become(0);
	for (size_t i = 0; kind == DEVICE && i < COUNT(files); i++)
		if (mknod(in("home/tree/%s.node", files[i]), S_IFCHR | 0666, makedev(1, 3)))
			die("mknod");
	watched_count = 0;
	/* Each tool has an ID that it would take away, or change. */
	for (size_t i = 0; i < COUNT(outside); i++)
		watch_outside(outside[i], is("release")			? id
					  : is("assign") || is("usage") ? 0
									: VICTIM_ID);
	watch_outside("attic/bystander", is("release") ? id : 0);
	watch_outside("attic", is("release") ? id : 0);
	watch_outside("outside", is("release") ? id : 0);
	watch_outside("home", 0);
	watch(&kept[0], tree, "the tree");
	for (size_t i = 0; i < COUNT(keepers); i++)
		watch(&kept[i + 1], in("home/tree/%s", keepers[i]), keepers[i]);
	if (kind == EXCHANGE)
		watch(&exchanged, in("home/tree/d"), "the exchanged directory");
	if (kind == ROOT_BACK && (rename(tree, in("home/aside")) || symlink(".", tree)))
		die("rename");
}

static void close_arena(void)
{
	for (size_t i = 0; i < watched_count; i++)
		close(watched[i].fd);
	for (size_t i = 0; i < COUNT(kept); i++)
		close(kept[i].fd);
	if (kind == EXCHANGE)
		close(exchanged.fd);
	umount2(in("home/tree/a"), MNT_DETACH);
	umount2(in("home/tree/d"), MNT_DETACH);
}

/* --- swaps --- */

/* Out of the way: a rename is refused where only half of it is tagged. */
static void away(const char *path)
{
	char old[1200];

	snprintf(old, sizeof(old), "%s.old", path);
	if (rename(path, old))
		remove_tree(path);
}

/* A relative symlink, as an absolute one would leave the filesystem on its way, which is refused;
 * or an absolute one, as a relative one does not lead out of a clone of the mount. */
static int link_out(const char *name, const char *target, bool absolute)
{
	char up[1024] = "";

	if (absolute)
		return symlink(in("%s", target), in("%s", name));
	for (const char *at = name; *at; at++)
		if (*at == '/')
			strcat(up, "../");
	strcat(up, target);
	return symlink(up, in("%s", name));
}

static void swap_files(void)
{
	for (size_t i = 0; i < COUNT(files); i++) {
		char *path = in("home/tree/%s", files[i]);
		int rc = 0;

		if (kind == DEVICE) {
			rc = rename(in("home/tree/%s.node", files[i]), path);
			continue;
		}
		remove_tree(path);
		if (kind == FILE_SYMLINK)
			rc = link_out(path + strlen(arena) + 1, "outside/victim", big && i % 2);
		else if (kind == FIFO)
			rc = mkfifo(path, 0666);
		else if (kind == LINK && link(in("outside/victim"), path) == 0)
			tally.linked++;
		else if (kind == TYPE && mkdir(path, 0755) == 0)
			make_file(in("home/tree/%s/new", files[i]));
		(void)rc; /* its directory may have gone */
	}
}

static void swap(void)
{
	char chain[2 * CHAIN_CUT + 1];
	int rc = 0;

	if (kind != BIND)
		become(USER);
	switch (kind) {
	case FILE_SYMLINK:
	case FIFO:
	case DEVICE:
	case LINK:
		swap_files();
		break;
	case DIR_SYMLINK:
		away(in("home/tree/d/e"));
		rc = link_out("home/tree/d/e", "outside/vdir", big);
		away(in("home/tree/d"));
		rc = link_out("home/tree/d", "outside/vdir", big);
		break;
	case MOVED:
		rc = rename(in("home/tree/d"), in("attic/d"));
		break;
	case DEEP_MOVED:
		for (int i = 0; i < CHAIN_CUT; i++)
			memcpy(chain + 2 * i, "/n", 3);
		rc = rename(in("home/tree/d/e%s", chain), in("attic/n"));
		break;
	case BIND:
		rc = mount(in("outside/vdir"), in("home/tree/d"), NULL, MS_BIND, NULL);
		rc = mount(in("outside/victim"), in("home/tree/a"), NULL, MS_BIND, NULL);
		break;
	case VANISH:
		for (size_t i = 0; i < COUNT(files); i++)
			remove_tree(in("home/tree/%s", files[i]));
		remove_tree(in("home/tree/d"));
		break;
	case TYPE:
		swap_files();
		away(in("home/tree/d"));
		make_file(in("home/tree/d"));
		break;
	case EXCHANGE:
		rc = renameat2(AT_FDCWD, in("home/tree/d"), AT_FDCWD, in("home/tree/z"),
			       RENAME_EXCHANGE);
		break;
	case ROOT:
		rc = rename(tree, in("home/tree.old"));
		rc = link_out("home/tree", "outside/vdir", false);
		break;
	case ROOT_BACK:
		rc = unlink(tree);
		rc = rename(in("home/aside"), tree);
		break;
	}
	(void)rc;
	if (kind != BIND)
		become(0);
}

static void swap_back(void)
{
	if (kind == EXCHANGE) {
		swap();
		return;
	}
	become(USER);
	if (kind == ROOT) {
		unlink(tree);
		if (rename(in("home/tree.old"), tree))
			die("rename");
	} else {
		remove_tree(in("attic/d"));
		for (size_t i = 0; i < COUNT(files); i++)
			remove_tree(in("home/tree/%s", files[i]));
		remove_tree(in("home/tree/d.old"));
		if (kind != FILE_SYMLINK && kind != FIFO)
			remove_tree(in("home/tree/d"));
		make_prey();
	}
	become(0);
}

/* --- the tool --- */

static void on_alarm(int signal)
{
	(void)signal;
	timed_out = true;
	if (victim_process > 0)
		kill(-victim_process, SIGKILL);
}

static void forbid_openat2(void)
{
	const unsigned int call = SYS_openat2;

	if (filter_calls(&call, 1, SECCOMP_RET_ERRNO | ENOSYS))
		_exit(125);
}

/*
 * release waits for files with the ID that it has not found, for they may be deleted, and about to go.
 * Those outside of the tree stay: it looks as often as ever, but no time passes between the looks.
 */
static void let_no_time_pass(void)
{
	const unsigned int calls[] = { SYS_nanosleep, SYS_clock_nanosleep };

	if (filter_calls(calls, COUNT(calls), SECCOMP_RET_ERRNO))
		_exit(125);
}

/* Let the tool stop at this one call, and run at full speed up to it. */
static void stop_at_open_tree(void)
{
	const unsigned int call = CALL_OPEN_TREE;

	if (filter_calls(&call, 1, SECCOMP_RET_TRACE))
		_exit(125);
}

static int path_argument(uint64_t number)
{
	switch (number) {
#ifdef SYS_open
	case SYS_open:
	case SYS_stat:
	case SYS_lstat:
		return 0;
#endif
	case SYS_openat:
	case SYS_openat2:
	case SYS_statx:
	case CALL_FILE_GETATTR:
	case CALL_FILE_SETATTR:
#ifdef SYS_newfstatat
	case SYS_newfstatat:
#endif
		return 1;
	default:
		return -1;
	}
}

static bool is_window(uint64_t number)
{
	return path_argument(number) >= 0 || number == SYS_ioctl || number == SYS_getdents64;
}

/*
 * Does the tool stop at these calls only, and run at full speed between them? Not where their results
 * matter, and where another filter keeps some of them from this one.
 */
static bool stops_by_filter(void)
{
	return kind != DEVICE && !old_kernel && !big;
}

static void stop_at_windows(void)
{
	unsigned int calls[32];
	size_t count = 0;

	for (unsigned int number = 0; number <= CALL_FILE_SETATTR && count < COUNT(calls); number++)
		if (is_window(number))
			calls[count++] = number;
	if (filter_calls(calls, count, SECCOMP_RET_TRACE))
		_exit(125);
}

static pid_t start(char **command, uint32_t id, int out, int err, bool traced)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	setpgid(0, 0);
	/* The watched descriptors are closed on exec. */
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	for (char **word = command; *word; word++) {
		static const char *const names[] = { "%ID", "%TREE" };

		for (size_t i = 0; i < COUNT(names); i++) {
			char *at = strstr(*word, names[i]), *full = NULL, number[16];

			if (!at)
				continue;
			snprintf(number, sizeof(number), "%u", id);
			if (asprintf(&full, "%.*s%s%s", (int)(at - *word), *word, i ? tree : number,
				     at + strlen(names[i])) < 0)
				_exit(126);
			*word = full;
		}
	}
	if (old_kernel)
		forbid_openat2();
	if (traced) {
		if (is("release"))
			let_no_time_pass();
		trace_me();
		if (big)
			stop_at_open_tree();
		else if (stops_by_filter())
			stop_at_windows();
	}
	execvp(command[0], command);
	_exit(127);
}

static bool names_tree(pid_t pid, const struct ptrace_syscall_info *info)
{
	int argument = path_argument(info->entry.nr), fd;
	char path[512] = "", name[32];

	if (argument < 0)
		return false;
	snprintf(name, sizeof(name), "/proc/%d/mem", (int)pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || pread(fd, path, sizeof(path) - 1, (off_t)info->entry.args[argument]) < 0)
		path[0] = '\0';
	close(fd);
	return strncmp(path, tree, strlen(tree)) == 0;
}

/* Has it just opened a device of the tree, and not only with O_PATH? */
static bool opened_device(pid_t pid, int64_t fd)
{
	char name[64], line[128];
	unsigned int flags = 0;
	struct stat st;
	FILE *info;

	snprintf(name, sizeof(name), "/proc/%d/fd/%d", (int)pid, (int)fd);
	if (stat(name, &st) || !(S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode)) ||
	    st.st_rdev != makedev(1, 3))
		return false;
	snprintf(name, sizeof(name), "/proc/%d/fdinfo/%d", (int)pid, (int)fd);
	info = fopen(name, "re");
	while (info && fgets(line, sizeof(line), info))
		sscanf(line, "flags: %o", &flags);
	if (info)
		fclose(info);
	return !(flags & O_PATH);
}

/*
 * Let it run up to a window, swap, and let it run on.
 * @return   its status; *swapped tells whether there was such a window
 */
static int run_to_window(pid_t pid, unsigned int window, bool *swapped)
{
	struct ptrace_syscall_info info;
	bool armed = false;
	unsigned int seen = 0, opened = 0;
	uint64_t number = 0;
	int status, deliver = 0;

	*swapped = false;
	if (!trace_begin(pid, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACESECCOMP))
		die("the tool did not start");
	for (;;) {
		/* Nothing more is to be done, unless devices are at stake. */
		bool runs_on = (*swapped && kind != DEVICE) || (big && !armed) || stops_by_filter();
		bool at_filter, at_call;

		ptrace(runs_on ? PTRACE_CONT : PTRACE_SYSCALL, pid, NULL, (long)deliver);
		while (waitpid(pid, &status, 0) < 0)
			if (errno != EINTR)
				die("waitpid");
		if (!WIFSTOPPED(status))
			break;
		at_filter = status >> 8 == (SIGTRAP | PTRACE_EVENT_SECCOMP << 8);
		at_call = at_filter ? stops_by_filter() : WSTOPSIG(status) == (SIGTRAP | 0x80);
		armed = armed || (at_filter && big);
		deliver = WSTOPSIG(status) == (SIGTRAP | 0x80) || WSTOPSIG(status) == SIGTRAP
				  ? 0
				  : WSTOPSIG(status);
		if (!at_call || (*swapped && kind != DEVICE) || !trace_ask(pid, &info))
			continue;
		/* At a filter, which the kernel tells apart, it begins as well. */
		if (at_filter || info.op == PTRACE_SYSCALL_INFO_ENTRY) {
			number = info.entry.nr;
			armed = armed || (!big && names_tree(pid, &info));
			if (armed && is_window(number) && ++seen == window) {
				swap();
				*swapped = true;
			}
		} else if (info.op == PTRACE_SYSCALL_INFO_EXIT && kind == DEVICE && armed &&
			   path_argument(number) >= 0 && info.exit.rval > 2) {
			opened += opened_device(pid, info.exit.rval);
		}
	}
	tally.opened += opened > 0;
	return status;
}

static int await(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			die("waitpid");
	return status;
}

/* --- what became of it --- */

static long last_number(const char *text)
{
	long number = -1;

	for (const char *at = text; *at; at++)
		if (*at >= '0' && *at <= '9' && (at == text || at[-1] < '0' || at[-1] > '9'))
			number = strtol(at, NULL, 10);
	return number;
}

static void complain(unsigned int window, const char *what, const char *detail)
{
	static int lines;

	/* The first line of it says enough. */
	if (lines++ < 12)
		fprintf(stderr, "%s, window %u: %s %.*s\n", action, window, what,
			(int)strcspn(detail, "\n"), detail);
}

static bool keepers_are_right(unsigned int window, uint32_t id, bool in_swapped)
{
	size_t count = 1 + (in_swapped ? COUNT(keepers) : STEADY);
	bool right = true;

	if (is("usage"))
		return true;
	for (size_t i = 0; i < count; i++) {
		struct fsxattr now = { 0 };
		uint32_t want = is("clear") || is("release") ? 0 : id;
		char detail[128];

		ioctl(kept[i].fd, FS_IOC_FSGETXATTR, &now);
		/* It may choose the ID; only it must be one for all. */
		if (is("assign") && i == 0)
			id = now.fsx_projid;
		if (now.fsx_projid == want || (is("assign") && now.fsx_projid == id && id))
			continue;
		snprintf(detail, sizeof(detail), "has %u", now.fsx_projid);
		complain(window, kept[i].path, detail);
		right = false;
	}
	return right;
}

/* What is made in it later must belong to the tree, too. */
static bool hands_on(unsigned int window, const struct watched *one)
{
	struct fsxattr now = { 0 };

	ioctl(one->fd, FS_IOC_FSGETXATTR, &now);
	if (now.fsx_projid == 0 || (now.fsx_xflags & FS_XFLAG_PROJINHERIT))
		return true;
	complain(window, one->path, "has the ID, but does not hand it on");
	return false;
}

static void judge(unsigned int window, uint32_t id, int status, const char *out, const char *err,
		  bool attacked)
{
	/* What has left the tree keeps the ID, and release says so: all that is in it is done. */
	bool left = is("release") && WIFEXITED(status) && WEXITSTATUS(status) == STATUS_PARTIAL;
	bool failed = !left && (!WIFEXITED(status) || WEXITSTATUS(status) != 0), changed = false,
	     wrong = false;
	long number = last_number(out);

	tally.runs++;
	for (size_t i = 0; i < watched_count; i++) {
		struct fsxattr now;

		if (ioctl(watched[i].fd, FS_IOC_FSGETXATTR, &now) == 0 &&
		    now.fsx_projid == watched[i].before.fsx_projid &&
		    now.fsx_xflags == watched[i].before.fsx_xflags)
			continue;
		complain(window, "changed:", watched[i].path);
		changed = true;
	}
	tally.changed += changed;
	if (timed_out) {
		complain(window, "hung", "");
		tally.hung++;
		return;
	}
	tally.failed += failed;
	if ((failed || left) && !err[0]) {
		complain(window, "failed, and did not say why", "");
		wrong = true;
	}
	if (failed)
		complain(window, "failed:", err);
	/* A symlink in place of the tree is refused where the path is looked up, before anything is processed. */
	if (expected && !strstr(out, expected) &&
	    !((kind == ROOT || kind == ROOT_BACK) && err[0])) {
		complain(window, "said:", out);
		wrong = true;
	}
	if (!failed && count_max >= 0 && (number < count_min || number > count_max)) {
		complain(window, "counted:", out);
		wrong = true;
	}
	/* A failure was told; without one, all that was not touched has been done. */
	if (!failed && kind != ROOT_BACK && !(attacked && kind == ROOT) &&
	    !keepers_are_right(window, id,
			       !attacked || kind == DEEP_MOVED || kind == FILE_SYMLINK ||
				       kind == FIFO || kind == LINK))
		wrong = true;
	if (!failed && (is("set") || is("assign")) &&
	    ((kind == EXCHANGE && !hands_on(window, &exchanged)) ||
	     (kind == ROOT_BACK && !hands_on(window, &kept[0]))))
		wrong = true;
	tally.wrong += wrong;
}

static void slurp(int fd, char *buffer, size_t size)
{
	ssize_t got = pread(fd, buffer, size - 1, 0);

	buffer[got < 0 ? 0 : got] = '\0';
	if (ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET) < 0)
		die("ftruncate");
}

static void attack(bool race, unsigned int rounds, unsigned int stride, bool until, char **command)
{
	int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC);
	char said[16384], complained[4096];
	bool swapped = true;

	for (unsigned int window = 1; race ? window <= rounds : swapped; window += stride) {
		uint32_t id = FIRST_ID + window % 1000;
		pid_t attacker = 0;
		int status;

		make_arena(id);
		timed_out = false;
		if (race) {
			attacker = fork();
			while (attacker == 0) {
				swap();
				swap_back();
			}
		}
		victim_process = start(command, id, out, err, !race);
		alarm(patience);
		status = race ? await(victim_process)
			      : run_to_window(victim_process, window, &swapped);
		alarm(0);
		victim_process = 0;
		if (attacker) {
			kill(attacker, SIGKILL);
			waitpid(attacker, NULL, 0);
		}
		slurp(out, said, sizeof(said));
		slurp(err, complained, sizeof(complained));
		judge(window, id, status, said, complained, swapped);
		close_arena();
		if (until && (tally.changed || tally.hung || tally.opened))
			break;
	}
	printf("runs %u changed %u hung %u opened %u wrong %u failed %u linked %u\n", tally.runs,
	       tally.changed, tally.hung, tally.opened, tally.wrong, tally.failed, tally.linked);
}

static int deep(const char *at, int levels)
{
	make_chain(at, levels);
	return 0;
}

static int wide(const char *at, long count)
{
	char name[32];

	if (chdir(at))
		die(at);
	for (long i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "f%ld", i);
		if (mknod(name, S_IFREG | 0644, 0))
			die(name);
	}
	return 0;
}

int main(int argc, char **argv)
{
	unsigned int rounds = 10, stride = 1;
	struct sigaction on = { .sa_handler = on_alarm };
	bool until = false, race;
	int option;

	if (argc == 4 && strcmp(argv[1], "deep") == 0)
		return deep(argv[2], atoi(argv[3]));
	if (argc == 4 && strcmp(argv[1], "wide") == 0)
		return wide(argv[2], atol(argv[3]));
	if (argc < 2)
		return 99;
	race = strcmp(argv[1], "race") == 0;
	argc--;
	argv++;
	while ((option = getopt(argc, argv, "+n:s:p:ue:c:ob")) != -1) {
		if (option == 'n')
			rounds = (unsigned int)atoi(optarg);
		else if (option == 's')
			stride = (unsigned int)atoi(optarg);
		else if (option == 'p')
			patience = (unsigned int)atoi(optarg);
		else if (option == 'o')
			old_kernel = true;
		else if (option == 'b')
			big = true;
		else if (option == 'u')
			until = true;
		else if (option == 'e')
			expected = optarg;
		else if (option != 'c' || sscanf(optarg, "%ld:%ld", &count_min, &count_max) != 2)
			return 99;
	}
	if (argc - optind < 4)
		return 99;
	for (size_t i = 0;; i++) {
		if (i == COUNT(kinds))
			return 99;
		kind = kinds[i].kind;
		if (strcmp(kinds[i].name, argv[optind]) == 0)
			break;
	}
	action = argv[optind + 1];
	arena = argv[optind + 2];
	snprintf(tree, sizeof(tree), "%s", in("home/tree"));
	if (setgroups(0, NULL))
		die("setgroups");
	sigaction(SIGALRM, &on, NULL);
	setvbuf(stderr, NULL, _IOLBF, 0);
	attack(race, rounds, stride, until, argv + optind + 3);
	return 0;
}
