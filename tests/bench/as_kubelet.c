/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What it takes to put a quota on directories: as kubelet does it with four calls of xfs_quota each
 * (without what Go itself costs), or with one of "fsquota assign".
 *
 *   as_kubelet kubelet XFS_QUOTA MOUNTPOINT ID DIR...    the first ID, then the following ones
 *   as_kubelet fsquota FSQUOTA - - DIR...
 *
 * Both register in the files PROJECTS and PROJID of the environment. Prints the microseconds that
 * passed for each directory, and those of processor time, children's included.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char *no_environment[] = { NULL };

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* A process whose output is read, as kubelet does. */
static void run(const char *const argv[])
{
	posix_spawn_file_actions_t actions;
	int pipes[2], status;
	char output[4096];
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC))
		die("pipe");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, pipes[1], STDOUT_FILENO);
	errno = posix_spawn(&pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv,
			    no_environment);
	if (errno)
		die(argv[0]);
	posix_spawn_file_actions_destroy(&actions);
	close(pipes[1]);
	while (read(pipes[0], output, sizeof(output)) > 0)
		;
	close(pipes[0]);
	if (waitpid(pid, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) > 5) {
		fprintf(stderr, "%s failed\n", argv[0]);
		exit(1);
	}
}

/* --- kubelet ------------------------------------------------------------------------------------
 */

/* The line of the mount table goes into a file of its own for each call. */
static void xfs_quota(char *binary, char *mountpoint, char *command)
{
	char table[256], line[4096], field[1024];
	const char *directory = getenv("TMPDIR");
	FILE *mounts;
	int fd;
	const char *argv[] = { binary, "-t",	   table, "-P/dev/null", "-D/dev/null", "-x",
			       "-f",   mountpoint, "-c",  command,	 NULL };

	snprintf(table, sizeof(table), "%s/mountsXXXXXX", directory ? directory : "/tmp");
	fd = mkostemp(table, O_CLOEXEC);
	mounts = fopen("/proc/self/mounts", "re");
	if (fd < 0 || !mounts)
		die(table);
	while (fgets(line, sizeof(line), mounts))
		if (sscanf(line, "%*s %1023s", field) == 1 && strcmp(field, mountpoint) == 0 &&
		    write(fd, line, strlen(line)) < 0)
			die(table);
	fclose(mounts);
	if (fsync(fd))
		die(table);
	run(argv);
	close(fd);
	unlink(table);
}

/* Lock and read a file, and write a copy with one more line: a write(2) each. */
static int copy_file(const char *file, char *temporary, size_t size, const char *line)
{
	FILE *from;
	struct stat st;
	char buffer[4096];
	int to, fd;

	if (lstat(file, &st) && errno != ENOENT)
		die(file);
	fd = open(file, O_RDONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0 || lstat(file, &st) || flock(fd, LOCK_EX))
		die(file);
	snprintf(temporary, size, "%sXXXXXX", file);
	to = mkostemp(temporary, O_CLOEXEC);
	from = fdopen(dup(fd), "r");
	if (to < 0 || !from)
		die(temporary);
	while (fgets(buffer, sizeof(buffer), from))
		if (write(to, buffer, strlen(buffer)) < 0)
			die(temporary);
	fclose(from);
	if (write(to, line, strlen(line)) < 0 || fchmod(to, st.st_mode & 07777) || close(to))
		die(temporary);
	return fd;
}

static void assign_as_kubelet(char *binary, char *mountpoint, unsigned int id,
			      const char *directory)
{
	const char *projects = getenv("PROJECTS"), *projid = getenv("PROJID");
	char command[4096], new_projects[4096], new_projid[4096];
	int projects_fd, projid_fd;

	snprintf(command, sizeof(command), "%u:%s\n", id, directory);
	projects_fd = copy_file(projects, new_projects, sizeof(new_projects), command);
	snprintf(command, sizeof(command), "volume%u:%u\n", id, id);
	projid_fd = copy_file(projid, new_projid, sizeof(new_projid), command);
	/* Is it in use? */
	snprintf(command, sizeof(command), "quota -p -N -n -v -b %u", id);
	xfs_quota(binary, mountpoint, command);
	snprintf(command, sizeof(command), "quota -p -N -n -v -i %u", id);
	xfs_quota(binary, mountpoint, command);
	if (rename(new_projid, projid) || rename(new_projects, projects))
		die("rename");
	close(projid_fd);
	close(projects_fd);
	snprintf(command, sizeof(command), "limit -p bhard=10485760 bsoft=10485760 %u", id);
	xfs_quota(binary, mountpoint, command);
	snprintf(command, sizeof(command), "project -s -p %s %u", directory, id);
	xfs_quota(binary, mountpoint, command);
}

/* --- fsquota ------------------------------------------------------------------------------------
 */

static void assign(char *binary, char *directory)
{
	const char *argv[] = { binary,		"assign",	   directory,
			       "--hard",	"10485760",	   "--soft",
			       "10485760",	"--projects-file", getenv("PROJECTS"),
			       "--projid-file", getenv("PROJID"),  NULL };

	run(argv);
}

static double microseconds(struct timeval time)
{
	return (double)time.tv_sec * 1e6 + (double)time.tv_usec;
}

static double processor_time(void)
{
	struct rusage own, children;

	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &children);
	return microseconds(own.ru_utime) + microseconds(own.ru_stime) +
	       microseconds(children.ru_utime) + microseconds(children.ru_stime);
}

int main(int argc, char **argv)
{
	struct timespec start, end;
	double passed;
	int count = argc - 5;

	if (count < 1 || !getenv("PROJECTS") || !getenv("PROJID")) {
		fprintf(stderr, "usage: as_kubelet kubelet|fsquota BINARY MOUNTPOINT ID DIR...\n");
		return 2;
	}
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (int i = 0; i < count; i++) {
		if (strcmp(argv[1], "kubelet") == 0)
			assign_as_kubelet(argv[2], argv[3], (unsigned int)(atoi(argv[4]) + i),
					  argv[5 + i]);
		else
			assign(argv[2], argv[5 + i]);
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	passed = (double)(end.tv_sec - start.tv_sec) * 1e6 +
		 (double)(end.tv_nsec - start.tv_nsec) / 1e3;
	printf("%.0f %.0f\n", passed / count, processor_time() / count);
	return 0;
}
