/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linked to the programs of build-coverage (see run): what a process has counted is added to one file that
 * it maps, COUNTS/NUMBER, where the number stands for the program as it was built. libgcov itself writes a
 * file for each source, 170 of them, which costs ten times what the process does, and which tests that count
 * or disturb system calls would see.
 *
 * With COVERAGE_WRITE in its environment a program does nothing but write these files, for gcov(1).
 *
 * Counts of a process that SIGKILL ends are lost, and of one that cannot open the file.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* What gcc compiles in, see gcov_info in its gcov-io.h: with conditions since 14. */
#if __GNUC__ < 12
#error "gcc 12 or later"
#elif __GNUC__ < 14
#define KINDS 8
#else
#define KINDS 9
#endif

struct function {
	const struct object *object;
	unsigned int id, lines_checksum, graph_checksum;
	struct {
		unsigned int count;
		int64_t *first;
	} counts;
};

struct object {
	unsigned int version;
	struct object *next;
	unsigned int stamp, checksum;
	const char *file;
	void (*merge[KINDS])(int64_t *, unsigned int);
	unsigned int functions_count;
	const struct function *const *functions;
};

void __real___gcov_init(struct object *object);
void __real___gcov_exit(void);
int __real_sigprocmask(int how, const sigset_t *set, sigset_t *before);

#define OBJECTS 500
static struct object *objects[OBJECTS];
static unsigned int objects_count;
static bool is_writing, has_ended;

void __wrap___gcov_init(struct object *object)
{
	if (objects_count < OBJECTS)
		objects[objects_count++] = object;
	__real___gcov_init(object);
}

static unsigned int hash(unsigned int before, unsigned int value)
{
	return (before ^ value) * 16777619;
}

/* How many counts there are; their layout is that of this build. */
static size_t measure(unsigned int *number)
{
	size_t count = 0;

	for (unsigned int i = 0; i < objects_count; i++) {
		*number = hash(hash(*number, objects[i]->stamp), objects[i]->checksum);
		for (const char *c = objects[i]->file; *c; c++)
			*number = hash(*number, (unsigned char)*c);
		for (unsigned int j = 0; j < objects[i]->functions_count; j++)
			if (objects[i]->functions[j] &&
			    objects[i]->functions[j]->object == objects[i])
				count += objects[i]->functions[j]->counts.count;
	}
	return count;
}

static int64_t *map(size_t size, unsigned int number)
{
	char path[] = COUNTS "/00000000";
	struct stat st;
	void *counts = MAP_FAILED;
	int fd;

	for (size_t i = sizeof(path) - 2; number; i--, number /= 16)
		path[i] = "0123456789abcdef"[number % 16];
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return NULL;
	/* Ordinary users count, too. */
	if (fstat(fd, &st) == 0 && ((size_t)st.st_size == size ||
				    (fchmod(fd, 0666) == 0 && ftruncate(fd, (off_t)size) == 0)))
		counts = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return counts == MAP_FAILED ? NULL : counts;
}

/* From the process to the file, or back. */
static void move(const struct function *function, int64_t *file)
{
	for (unsigned int i = 0; i < function->counts.count; i++) {
		int64_t *own = &function->counts.first[i];

		if (is_writing)
			*own = file[i];
		else if (*own != 0)
			__atomic_fetch_add(&file[i], __atomic_exchange_n(own, 0, __ATOMIC_RELAXED),
					   __ATOMIC_RELAXED);
	}
}

static void collect(void)
{
	unsigned int number = 2166136261;
	size_t size = measure(&number) * sizeof(int64_t), at = 0;
	int64_t *file = size > 0 ? map(size, number) : NULL;

	if (!file)
		return;
	for (unsigned int i = 0; i < objects_count; i++) {
		for (unsigned int j = 0; j < objects[i]->functions_count; j++) {
			const struct function *function = objects[i]->functions[j];

			if (function && function->object == objects[i]) {
				move(function, &file[at]);
				at += function->counts.count;
			}
		}
	}
	msync(file, size, MS_SYNC); /* a guest ends without */
	munmap(file, size);
}

/* Called once for each object. */
void __wrap___gcov_exit(void)
{
	if (!has_ended)
		collect();
	has_ended = true;
	if (is_writing)
		__real___gcov_exit();
}

/* Before execve(2), which only programs of the tests do: nobody wants their counts. */
void __wrap___gcov_dump(void)
{
}

/* A signal that is no longer blocked may end the process. */
int __wrap_sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
	sigset_t pending;

	if (sigpending(&pending) == 0 && !sigisemptyset(&pending))
		collect();
	return __real_sigprocmask(how, set, before);
}

__attribute__((constructor)) static void write_files(void)
{
	if (!getenv("COVERAGE_WRITE"))
		return;
	is_writing = true;
	exit(0);
}
