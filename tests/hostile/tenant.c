/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tenant who does with his directory whatever the kernel lets him, as fast as he can, until he is
 * ended by SIGTERM or SIGKILL.
 *
 *   tenant [-u UID] DIR VICTIM WHAT...
 *
 *   retag   give files and directories other project IDs, VICTIM among them, and back
 *   rename  move directories and files to and fro in the tree
 *   link    give files second names
 *   fill    write until nothing more can be written, and delete
 *   mount   in a user and mount namespace of his own: mount directories over each other
 *   hold    keep deleted files open
 *
 * One process for each. DIR belongs to UID (65534). Prints how often each did something.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/tag.h"

#define DIRECTORIES 8
#define FILES 6
#define HELD 4

static const char *directory;
static uint32_t victim;
static volatile sig_atomic_t ended;
static uint64_t state = 88172645463325252ULL;

static void end(int number)
{
	(void)number;
	ended = 1;
}

/* xorshift: the same each time. */
static unsigned int any(unsigned int count)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned int)(state >> 33) % count;
}

/* A directory that may be anywhere in the tree by now; . is the tree. */
static const char *any_directory(void)
{
	static char names[4][64];
	static unsigned int turn;
	char *name = names[turn++ % 4];

	switch (any(4)) {
	case 0:
		return ".";
	case 1:
		snprintf(name, sizeof(names[0]), "d%u", any(DIRECTORIES));
		break;
	default:
		snprintf(name, sizeof(names[0]), "d%u/d%u", any(DIRECTORIES), any(DIRECTORIES));
	}
	return name;
}

static const char *any_file(void)
{
	static char names[4][96];
	static unsigned int turn;
	char *name = names[turn++ % 4];

	snprintf(name, sizeof(names[0]), "%s/f%u", any_directory(), any(FILES));
	return name;
}

static void grow(void)
{
	char name[160];
	int fd;

	for (unsigned int i = 0; i < DIRECTORIES; i++) {
		snprintf(name, sizeof(name), "d%u", i);
		mkdir(name, 0755);
		for (unsigned int j = 0; j < FILES; j++) {
			snprintf(name, sizeof(name), "d%u/f%u", i, j);
			fd = open(name, O_WRONLY | O_CREAT, 0644);
			if (fd >= 0)
				close(fd);
		}
		snprintf(name, sizeof(name), "d%u/d%u", i, (i + 1) % DIRECTORIES);
		mkdir(name, 0755);
	}
}

static int retag(void)
{
	const uint32_t ids[] = { victim, 0, victim + 1, 4294967294U, 77 };
	const char *name = any(2) ? any_directory() : any_file();
	int fd = open(name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW), rc;

	if (fd < 0)
		return -1;
	rc = tag_file(fd, ids[any(sizeof(ids) / sizeof(ids[0]))], any(2));
	close(fd);
	return rc;
}

static int move(void)
{
	char name[160];

	if (any(2))
		return rename(any_file(), any_file());
	snprintf(name, sizeof(name), "%s/d%u", any_directory(), any(DIRECTORIES));
	return rename(any_directory(), name);
}

static int add_name(void)
{
	return link(any_file(), any_file());
}

static int fill(void)
{
	static const char block[64 * 1024];
	int fd = open("full", O_WRONLY | O_CREAT, 0644);

	if (fd < 0)
		return -1;
	while (!ended && write(fd, block, sizeof(block)) == (ssize_t)sizeof(block))
		continue;
	close(fd);
	grow();
	return unlink("full");
}

static int hide(void)
{
	static int ready;
	char one[96], other[96];

	if (!ready && (unshare(CLONE_NEWUSER | CLONE_NEWNS) ||
		       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)))
		return -1;
	ready = 1;
	snprintf(one, sizeof(one), "%s", any_directory());
	snprintf(other, sizeof(other), "%s", any_directory());
	if (mount(one, other, NULL, MS_BIND, NULL))
		return -1;
	return umount2(other, MNT_DETACH);
}

static int hold(void)
{
	static int held[HELD] = { -1, -1, -1, -1 };
	unsigned int at = any(HELD);
	char name[160];

	snprintf(name, sizeof(name), "%s/held", any_directory());
	if (held[at] >= 0)
		close(held[at]);
	held[at] = open(name, O_RDWR | O_CREAT, 0600);
	return held[at] < 0 ? -1 : unlink(name);
}

static const struct {
	const char *name;
	int (*act)(void);
} acts[] = {
	{ "retag", retag }, { "rename", move }, { "link", add_name },
	{ "fill", fill },   { "mount", hide },	{ "hold", hold },
};

static void be(const char *name)
{
	unsigned long done = 0, tried = 0;

	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		if (strcmp(acts[i].name, name) != 0)
			continue;
		state += i * 7919;
		for (; !ended; tried++)
			done += acts[i].act() == 0;
		printf("%s: %lu of %lu\n", name, done, tried);
		fflush(stdout);
		_exit(0);
	}
	_exit(2);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = end };
	uid_t uid = 65534;
	int option, status;

	while ((option = getopt(argc, argv, "u:")) != -1)
		uid = (uid_t)strtoul(optarg, NULL, 10);
	if (argc - optind < 3)
		return 2;
	directory = argv[optind];
	victim = (uint32_t)strtoul(argv[optind + 1], NULL, 10);
	setpgid(0, 0);
	sigaction(SIGTERM, &action, NULL);
	if (chdir(directory) || setgroups(0, NULL) || setgid(uid) || setuid(uid)) {
		perror(directory);
		return 1;
	}
	grow();
	for (int i = optind + 2; i < argc; i++) {
		switch (fork()) {
		case -1:
			return 1;
		case 0:
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			be(argv[i]);
		}
	}
	printf("ready\n");
	fflush(stdout);
	while (!ended)
		pause();
	signal(SIGTERM, SIG_IGN);
	kill(0, SIGTERM);
	while (wait(&status) > 0)
		continue;
	return 0;
}
