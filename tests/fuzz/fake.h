/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the fuzzers of commands that do not end: filesystems, quotas, warnings and time, in place of those of the
 * kernel. The linker gives the calls of the program to the functions __wrap_NAME() below (fake.list lists them), and
 * all else is the program as it is.
 *
 * Time stands still but in poll(2). There the target says what happens next: fake_wait().
 */
#ifndef FSQ_FUZZ_FAKE_H
#define FSQ_FUZZ_FAKE_H

#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>

#include "shared/clock.h"
#include "quota/mounts/mount_table.h"

/* They are declared as what they stand for. */
__typeof__(clock_gettime) __wrap_clock_gettime;
__typeof__(fsq_filesystem_close) __wrap_fsq_filesystem_close;
__typeof__(fsq_filesystem_get_info) __wrap_fsq_filesystem_get_info;
__typeof__(fsq_filesystem_of_device) __wrap_fsq_filesystem_of_device;
__typeof__(fsq_filesystem_open_mount) __wrap_fsq_filesystem_open_mount;
__typeof__(fsq_filesystem_space) __wrap_fsq_filesystem_space;
__typeof__(fsq_mount_points_read) __wrap_fsq_mount_points_read;
__typeof__(fsq_mounts_changes) __wrap_fsq_mounts_changes;
__typeof__(fsq_mounts_each) __wrap_fsq_mounts_each;
__typeof__(fsq_quota_get) __wrap_fsq_quota_get;
__typeof__(fsq_quota_get_next) __wrap_fsq_quota_get_next;
__typeof__(fsq_quota_state) __wrap_fsq_quota_state;
__typeof__(fsq_warnings_close) __wrap_fsq_warnings_close;
__typeof__(fsq_warnings_fd) __wrap_fsq_warnings_fd;
__typeof__(fsq_warnings_open) __wrap_fsq_warnings_open;
__typeof__(fsq_warnings_read) __wrap_fsq_warnings_read;
__typeof__(poll) __wrap_poll;
__typeof__(posix_spawnp) __wrap_posix_spawnp;
__typeof__(time) __wrap_time;
__typeof__(waitpid) __wrap_waitpid;

#define FAKE_VOLUMES 3
#define FAKE_IDS 5 /* from 1 on */
#define FAKE_FORMS 2
#define FAKE_WARNINGS 64
#define MILLISECOND 1000000LL
/* CLOCK_REALTIME is so much ahead of CLOCK_MONOTONIC. */
#define FAKE_EPOCH 1700000000LL

struct fsq_filesystem {
	struct fsq_filesystem_info info;
	int volume;
};

struct fake_volume {
	char device[16], directory[16];
	bool mounted, failing; /* its records cannot be read */
	struct fsq_dquot dquot[FSQ_TYPES][FAKE_IDS];
	uint64_t size, free; /* bytes */
};

static struct fake {
	const uint8_t *input;
	size_t left;
	int64_t now; /* nanoseconds of CLOCK_MONOTONIC */
	struct fake_volume volume[FAKE_VOLUMES];
	bool has_warnings, lost, warnings_fail, mounts_changed;
	struct fsq_warning warning[FAKE_WARNINGS];
	size_t warnings;
	int warnings_fd, mounts_fd;
	unsigned int mount_tables; /* that were read */
	uint64_t steps;		   /* of all inputs, which are printed at the end */
} fake;

/* With $FAKE_TRACE what happens is printed: for an input that was found. */
#define TRACE(...)                                                                         \
	do {                                                                               \
		if (getenv("FAKE_TRACE")) {                                                \
			fprintf(stderr, "%lld ms: ", (long long)(fake.now / MILLISECOND)); \
			fprintf(stderr, __VA_ARGS__);                                      \
		}                                                                          \
	} while (0)

/* --- of the target --- */

/** The program asks what is counted on a filesystem. */
static void fake_asked(int volume);

/** The program has taken a warning. */
static void fake_took(const struct fsq_warning *warning);

/** The program has seen that mounts have changed, and reads them. */
static void fake_saw_mounts(void);

/** Warnings were lost, and the program knows it. */
static void fake_lost(void);

/** The program waits. @return as poll(2); let time pass by up to @timeout, and do something */
static int fake_wait(struct pollfd *fds, nfds_t count, int timeout);

/* Both may be unused. */
static int fake_spawn(pid_t *process, char *const environment[]);
static pid_t fake_reap(void);

/* --- the input --- */

static inline unsigned int fake_byte(void)
{
	if (!fake.left)
		return 0;
	fake.left--;
	return *fake.input++;
}

static inline unsigned int fake_below(unsigned int bound)
{
	return fake_byte() % bound;
}

static inline int64_t fake_seconds(void)
{
	return FAKE_EPOCH + fake.now / SECOND_NANOSECONDS;
}

static void fake_end(void)
{
	fprintf(stderr, "steps: %llu\n", (unsigned long long)fake.steps);
}

static void fake_begin(const uint8_t *data, size_t size)
{
	const uint64_t steps = fake.steps;
	static bool begun;

	if (!begun)
		begun = atexit(fake_end) == 0;
	fake = (struct fake){ .input = data, .left = size, .has_warnings = true, .steps = steps };
	fake.now = 1000 * SECOND_NANOSECONDS;
	for (int i = 0; i < FAKE_VOLUMES; i++) {
		struct fake_volume *volume = &fake.volume[i];

		snprintf(volume->device, sizeof(volume->device), "/dev/fake%d", i);
		snprintf(volume->directory, sizeof(volume->directory), "/fake/%d", i);
		volume->size = 1ULL << 40;
		volume->free = 1ULL << 39;
		for (int type = 0; type < FSQ_TYPES; type++)
			for (uint32_t id = 0; id < FAKE_IDS; id++)
				volume->dquot[type][id].id = id + 1;
	}
}

/* --- filesystems --- */

static int fake_open(struct fsq_filesystem **fs, int i, struct fsq_error *err)
{
	struct fake_volume *volume = &fake.volume[i];

	if (!volume->mounted) {
		*err = (struct fsq_error){ .kind = FSQ_E_NOT_FOUND, .errnum = ENODEV };
		return FSQ_E_NOT_FOUND;
	}
	*fs = calloc(1, sizeof(**fs));
	MUST(*fs);
	(*fs)->volume = i;
	(*fs)->info = (struct fsq_filesystem_info){ .device = volume->device,
						    .directory = volume->directory,
						    .dev = (dev_t)i + 1,
						    .is_xfs = true,
						    .has_device = true,
						    .asks_device = true };
	return 0;
}

int __wrap_fsq_filesystem_open_mount(struct fsq_filesystem **fs, const struct fsq_mount *mount,
				     unsigned int flags, struct fsq_error *err)
{
	(void)flags;
	return fake_open(fs, (int)mount->dev - 1, err);
}

int __wrap_fsq_filesystem_of_device(struct fsq_filesystem **fs, const char *device,
				    struct fsq_error *err)
{
	return fake_open(fs, device[strlen(device) - 1] - '0', err);
}

void __wrap_fsq_filesystem_close(struct fsq_filesystem *fs)
{
	free(fs);
}

const struct fsq_filesystem_info *__wrap_fsq_filesystem_get_info(const struct fsq_filesystem *fs)
{
	return &fs->info;
}

int __wrap_fsq_filesystem_space(const struct fsq_filesystem *fs,
				const struct fsq_mount_points *points, const char *directory,
				struct fsq_space space[FSQ_FORMS])
{
	const struct fake_volume *volume = &fake.volume[fs->volume];

	(void)points, (void)directory;
	memset(space, 0, FSQ_FORMS * sizeof(*space));
	space[FSQ_BLOCKS] = (struct fsq_space){ volume->size, volume->free };
	return 0;
}

int __wrap_fsq_mounts_each(const char *table, fsq_mount_visitor visit, void *arg,
			   struct fsq_error *err)
{
	char type[] = "xfs", root[] = "/", options[] = "rw,prjquota";

	(void)err;
	MUST(!table);
	fake.mount_tables++;
	for (int i = 0; i < FAKE_VOLUMES; i++) {
		struct fake_volume *volume = &fake.volume[i];
		const struct fsq_mount mount = { .device = volume->device,
						 .directory = volume->directory,
						 .id = (uint64_t)i + 1,
						 .dev = (dev_t)i + 1,
						 .type = type,
						 .root = root,
						 .options = options,
						 .is_local = true };

		if (volume->mounted && visit(&mount, arg) != FSQ_VISIT_CONTINUE)
			break;
	}
	return 0;
}

int __wrap_fsq_mounts_changes(struct fsq_error *err)
{
	(void)err;
	return fake.mounts_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int __wrap_fsq_mount_points_read(struct fsq_mount_points **points, struct fsq_error *err)
{
	(void)err;
	*points = NULL;
	return -1;
}

/* --- quotas --- */

int __wrap_fsq_quota_state(struct fsq_filesystem *fs, enum fsq_type type, struct fsq_state *state)
{
	(void)type;
	fake_asked(fs->volume);
	*state = (struct fsq_state){ .accounting = { true, true, true },
				     .enforced = { true, true, true } };
	return 0;
}

static inline bool fake_is_empty(const struct fsq_dquot *dquot)
{
	for (int form = 0; form < FAKE_FORMS; form++)
		if (dquot->form[form].used || dquot->form[form].soft || dquot->form[form].hard)
			return false;
	return true;
}

/* XFS has no record of what is empty. */
int __wrap_fsq_quota_get(struct fsq_filesystem *fs, enum fsq_type type, uint32_t id,
			 struct fsq_dquot *dquot)
{
	const struct fake_volume *volume = &fake.volume[fs->volume];

	if (volume->failing)
		return -EIO;
	if (id < 1 || id > FAKE_IDS || fake_is_empty(&volume->dquot[type][id - 1]))
		return -ENOENT;
	*dquot = volume->dquot[type][id - 1];
	return 0;
}

int __wrap_fsq_quota_get_next(struct fsq_filesystem *fs, enum fsq_type type, uint32_t id,
			      struct fsq_dquot *dquot)
{
	if (fake.volume[fs->volume].failing)
		return -EIO;
	for (id = id ? id : 1; id <= FAKE_IDS; id++)
		if (__wrap_fsq_quota_get(fs, type, id, dquot) == 0)
			return 0;
	return -ENOENT;
}

/* --- warnings --- */

static inline void fake_warn(int volume, enum fsq_type type, uint32_t id, enum fsq_form form,
			     enum fsq_warning_kind kind)
{
	if (!fake.has_warnings)
		return;
	if (fake.warnings == FAKE_WARNINGS)
		fake.lost = true;
	else
		fake.warning[fake.warnings++] = (struct fsq_warning){
			.dev = (dev_t)volume + 1, .type = type, .id = id, .form = form, .kind = kind
		};
}

int __wrap_fsq_warnings_open(struct fsq_warnings **warnings, struct fsq_error *err)
{
	static char some;

	if (!fake.has_warnings) {
		*err = (struct fsq_error){ .kind = FSQ_E_NOT_SUPPORTED, .message = "no warnings" };
		return FSQ_E_NOT_SUPPORTED;
	}
	*warnings = (struct fsq_warnings *)&some;
	fake.warnings_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return 0;
}

int __wrap_fsq_warnings_fd(const struct fsq_warnings *warnings)
{
	(void)warnings;
	return fake.warnings_fd;
}

int __wrap_fsq_warnings_read(struct fsq_warnings *warnings, fsq_warning_visitor visit, void *arg,
			     bool *lost, struct fsq_error *err)
{
	const size_t count = fake.warnings;

	(void)warnings;
	*lost = fake.lost;
	fake.lost = false;
	if (fake.warnings_fail) {
		*err = (struct fsq_error){ .kind = FSQ_E_FAILED, .message = "warnings fail" };
		fake.has_warnings = fake.warnings_fail = false;
		fake.warnings = 0;
		fake_lost();
		return FSQ_E_FAILED;
	}
	for (size_t i = 0; i < count; i++) {
		const struct fsq_warning warning = fake.warning[i];

		TRACE("warning %d: volume %d type %d id %u form %d\n", (int)warning.kind,
		      (int)warning.dev - 1, (int)warning.type, warning.id, (int)warning.form);
		visit(&warning, arg);
		fake_took(&warning);
	}
	fake.warnings -= count;
	if (*lost)
		fake_lost();
	return 0;
}

void __wrap_fsq_warnings_close(struct fsq_warnings *warnings)
{
	if (warnings)
		close(fake.warnings_fd);
}

/* --- time, and processes --- */

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	int64_t now = fake.now;

	if (clock == CLOCK_REALTIME)
		now += FAKE_EPOCH * SECOND_NANOSECONDS;
	*time = (struct timespec){ now / SECOND_NANOSECONDS, now % SECOND_NANOSECONDS };
	return 0;
}

time_t __wrap_time(time_t *time)
{
	if (time)
		*time = fake_seconds();
	return fake_seconds();
}

/* What is readable, as poll(2) says it. */
static int fake_ready(struct pollfd *fds, nfds_t count)
{
	int ready = 0;

	for (nfds_t i = 0; i < count; i++) {
		const bool has_warning = fake.warnings || fake.lost || fake.warnings_fail;

		fds[i].revents = 0;
		if (fds[i].fd < 0)
			continue;
		if (fds[i].fd == fake.mounts_fd && fake.mounts_changed) {
			fake.mounts_changed = false;
			fds[i].revents = POLLPRI;
			fake_saw_mounts();
		}
		if (fake.has_warnings && fds[i].fd == fake.warnings_fd && has_warning)
			fds[i].revents = POLLIN;
		ready += fds[i].revents != 0;
	}
	return ready;
}

/** A signal comes: what waits for signals is readable. @return as poll(2) */
static int fake_signal(struct pollfd *fds, nfds_t count, int signal)
{
	raise(signal);
	for (nfds_t i = 0; i < count; i++)
		if (fds[i].fd >= 0 && fds[i].fd != fake.mounts_fd &&
		    fds[i].fd != fake.warnings_fd && fds[i].events == POLLIN)
			fds[i].revents = POLLIN;
	return 1;
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout)
{
	int ready = fake_ready(fds, count);

	return ready || (count == 1 && timeout == 0) ? ready : fake_wait(fds, count, timeout);
}

int __wrap_posix_spawnp(pid_t *process, const char *path, const posix_spawn_file_actions_t *actions,
			const posix_spawnattr_t *attributes, char *const words[],
			char *const environment[])
{
	(void)path;
	(void)actions;
	(void)attributes;
	(void)words;
	return fake_spawn(process, environment);
}

pid_t __wrap_waitpid(pid_t process, int *status, int options)
{
	(void)options;
	MUST(process > 0);
	*status = 0;
	return fake_reap();
}

/* --- the rows that it prints, in JSON --- */

/** The rows since the last call. */
static void fake_rows(void (*read)(const char *row))
{
	char *end;

	for (size_t at = 0; at < fuzz_output.used; at = (size_t)(end + 1 - fuzz_output.bytes)) {
		end = memchr(fuzz_output.bytes + at, '\n', fuzz_output.used - at);
		MUST(end);
		*end = '\0';
		TRACE("told %s\n", fuzz_output.bytes + at);
		read(fuzz_output.bytes + at);
	}
	fuzz_output.used = 0;
}

/* @return   behind "NAME": in a row */
static inline const char *value_of(const char *row, const char *name)
{
	char quoted[40];
	const char *at;

	snprintf(quoted, sizeof(quoted), "\"%s\":", name);
	at = strstr(row, quoted);
	MUST(at);
	return at + strlen(quoted);
}

/* @return   0 for null */
static inline uint64_t number_of(const char *row, const char *name)
{
	return strtoull(value_of(row, name), NULL, 10);
}

static inline bool is_null(const char *row, const char *name)
{
	return strncmp(value_of(row, name), "null", 4) == 0;
}

/* --- the run --- */

/** Run a command until it ends, with the signals as they were before. */
static void fake_run(char **words)
{
	struct session session = fuzz_session();
	const struct timespec none = { 0 };
	sigset_t before, pending;

	for (char **at = words; *at; at++)
		TRACE("%s\n", *at);
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	session.run(&session, words);
	session_end(&session);
	sigemptyset(&pending);
	sigaddset(&pending, SIGTERM);
	sigaddset(&pending, SIGCHLD);
	while (sigtimedwait(&pending, NULL, &none) > 0)
		;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

#endif
