/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top, beside a model of what a look must show. The bytes are its options, and then what happens: projects that come,
 * go, grow and shrink, filesystems that do, and time.
 *
 *   - each look has each filesystem and project that is there, once, with the numbers of the moment;
 *   - growth is between the slowest and the quickest that was seen since a project came, and nothing at first;
 *   - it is full when what is available is used up at that rate;
 *   - looks come when the interval is over, and it ends when it is asked to.
 */
#include "fake.h"

struct seen {
	bool before, now; /* in the look before this one, in this one */
	uint64_t bytes;
	double least, most; /* bytes a second */
	bool has_rate;
};

static struct {
	uint64_t interval; /* seconds */
	/* Of a filesystem it is the first. */
	struct seen seen[FAKE_VOLUMES][FAKE_IDS + 1];
	int64_t looked;		   /* when, 0: never */
	unsigned int mount_tables; /* read until then */
	bool terminated;
} model;

/* What only watch does. */
static void fake_asked(int volume)
{
	(void)volume;
}

static void fake_took(const struct fsq_warning *warning)
{
	(void)warning;
}

static void fake_saw_mounts(void)
{
}

static void fake_lost(void)
{
}

static int fake_spawn(pid_t *process, char *const environment[])
{
	(void)process;
	(void)environment;
	return ENOSYS;
}

static pid_t fake_reap(void)
{
	return 0;
}

/* --- what it shows --- */

/* @return   what is used; @available is set */
static uint64_t use_of(int volume, uint32_t id, uint64_t *available)
{
	const struct fake_volume *of = &fake.volume[volume];
	const struct fsq_amounts *amounts =
		&of->dquot[FSQ_PROJECT][id ? id - 1 : 0].form[FSQ_BLOCKS];
	uint64_t left = amounts->hard > amounts->used ? amounts->hard - amounts->used : 0;

	*available = of->free;
	if (!id)
		return of->size - of->free;
	if (amounts->hard && left * FSQ_BASIC_BLOCK < of->free)
		*available = left * FSQ_BASIC_BLOCK;
	return amounts->used * FSQ_BASIC_BLOCK;
}

/* Rates are cut to integers. */
static void check_rate(const char *row, const char *name, const struct seen *seen)
{
	double rate;

	MUST(is_null(row, name) == !seen->has_rate);
	if (!seen->has_rate)
		return;
	rate = strtod(value_of(row, name), NULL);
	MUST(rate >= seen->least - 1 - 1e-6 * (seen->least < 0 ? -seen->least : seen->least));
	MUST(rate <= seen->most + 1 + 1e-6 * (seen->most < 0 ? -seen->most : seen->most));
}

static void check_full(const char *row, uint64_t available)
{
	double short_rate =
		is_null(row, "growth_10s") ? 0 : strtod(value_of(row, "growth_10s"), NULL);
	double long_rate = is_null(row, "growth_5m") ? 0 : strtod(value_of(row, "growth_5m"), NULL);
	double rate = short_rate > long_rate ? short_rate : long_rate, seconds, printed;

	MUST(is_null(row, "full_in_seconds") == !(rate > 0 && available > 0));
	if (!(rate > 0 && available > 0))
		return;
	seconds = (double)available / rate;
	printed = strtod(value_of(row, "full_in_seconds"), NULL);
	MUST(printed >= 1 && printed <= seconds + 1 && (printed >= seconds - 1));
}

static void read_row(const char *row)
{
	const int volume = strchr(value_of(row, "filesystem") + 1, '"')[-1] - '0';
	const uint32_t id = is_null(row, "id") ? 0 : (uint32_t)number_of(row, "id");
	const double seconds = (double)(fake.now - model.looked) / 1e9;
	struct seen *seen;
	uint64_t available, used;

	MUST(volume >= 0 && volume < FAKE_VOLUMES && id <= FAKE_IDS);
	seen = &model.seen[volume][id];
	MUST(!seen->now);
	seen->now = true;
	used = use_of(volume, id, &available);
	MUST(number_of(row, "used_bytes") == used &&
	     number_of(row, "available_bytes") == available);
	if (!seen->before)
		*seen = (struct seen){ .now = true };
	if (seen->before && model.looked && seconds > 0) {
		double rate = ((double)used - (double)seen->bytes) / seconds;

		seen->least = seen->has_rate && seen->least < rate ? seen->least : rate;
		seen->most = seen->has_rate && seen->most > rate ? seen->most : rate;
		seen->has_rate = true;
	}
	seen->bytes = used;
	check_rate(row, "growth_10s", seen);
	check_rate(row, "growth_5m", seen);
	check_full(row, available);
}

/* Nothing else, and nothing less. */
static void check_look(void)
{
	for (int i = 0; i < FAKE_VOLUMES; i++) {
		const struct fake_volume *volume = &fake.volume[i];

		for (uint32_t id = 0; id <= FAKE_IDS; id++) {
			struct seen *seen = &model.seen[i][id];

			MUST(seen->now ==
			     (volume->mounted &&
			      (!id || (!volume->failing &&
				       !fake_is_empty(&volume->dquot[FSQ_PROJECT][id - 1])))));
			seen->before = seen->now;
			seen->now = false;
		}
	}
}

/* The first look is not printed: it knows no growth. */
static void remember_first(void)
{
	for (int i = 0; i < FAKE_VOLUMES; i++) {
		const struct fake_volume *volume = &fake.volume[i];

		for (uint32_t id = 0; id <= FAKE_IDS; id++) {
			uint64_t available;

			model.seen[i][id] = (struct seen){
				.before = volume->mounted &&
					  (!id ||
					   !fake_is_empty(&volume->dquot[FSQ_PROJECT][id - 1])),
				.bytes = use_of(i, id, &available),
			};
		}
	}
	model.looked = fake.now;
	model.mount_tables = fake.mount_tables;
}

/* --- what happens --- */

static void change(unsigned int what)
{
	const unsigned int number = fake_byte(), amount = fake_byte();
	struct fake_volume *volume = &fake.volume[number % FAKE_VOLUMES];
	struct fsq_dquot *dquot = &volume->dquot[FSQ_PROJECT][number / FAKE_VOLUMES % FAKE_IDS];
	struct fsq_amounts *amounts = &dquot->form[FSQ_BLOCKS];
	const uint64_t blocks = (uint64_t)amount << number / 16;

	TRACE("change %u by %u: volume %d id %u\n", what, amount, (int)(number % FAKE_VOLUMES),
	      dquot->id);
	if (what < 4) {
		amounts->used += blocks;
		volume->free -= blocks * FSQ_BASIC_BLOCK < volume->free ? blocks * FSQ_BASIC_BLOCK
									: volume->free;
	} else if (what < 6) {
		amounts->used -= blocks < amounts->used ? blocks : amounts->used;
	} else if (what == 6) {
		amounts->hard = blocks;
	} else if (what == 7) {
		memset(dquot->form, 0, sizeof(dquot->form));
	} else {
		volume->free = volume->size / 256 * amount;
	}
}

static int step(struct pollfd *fds, nfds_t count, int64_t until)
{
	static const int64_t spans[] = { 1, 10, 100, 999, 1000, 2500, 10000, 1000000000 };
	const unsigned int what = fake_byte() % 16;
	unsigned int number;

	fake.steps++;
	switch (what) {
	case 9:
	case 10:
	case 11:
		fake.now += spans[fake_below(8)] * MILLISECOND;
		if (fake.now > until)
			fake.now = until;
		break;
	case 12:
		fake.now += (int64_t)fake_byte() * fake_byte() * SECOND_NANOSECONDS;
		break;
	case 13:
		number = fake_byte();
		TRACE("mounts, or failing\n");
		if (number & 1)
			fake.volume[number / 2 % FAKE_VOLUMES].mounted ^= true;
		else
			fake.volume[number / 2 % FAKE_VOLUMES].failing ^= true;
		break;
	case 14:
		errno = EINTR;
		return -1;
	case 15:
		return fake_signal(fds, count, SIGWINCH);
	default:
		change(what);
	}
	return 0;
}

static int fake_wait(struct pollfd *fds, nfds_t count, int timeout)
{
	const int64_t until = timeout < 0 ? INT64_MAX : fake.now + timeout * MILLISECOND;
	int rc = 0;

	if (!model.looked)
		remember_first();
	fake_rows(read_row);
	if (fake.mount_tables != model.mount_tables) {
		check_look();
		model.looked = fake.now;
		model.mount_tables = fake.mount_tables;
	}
	MUST(timeout > 0);
	while (fake.left && rc == 0 && fake.now < until)
		rc = step(fds, count, until);
	if (rc || fake.now >= until)
		return rc;
	model.terminated = true;
	return fake_signal(fds, count, SIGTERM);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const numbers[] = { "1", "10", "300", "2147483" };
	static char top[] = "top", json[] = "--json", file[] = "--projects-file=/dev/null",
		    names[] = "--projid-file=/dev/null";
	char interval[40];
	char *words[] = { top, json, file, names, interval, NULL };
	unsigned int flags;

	memset(&model, 0, sizeof(model));
	fake_begin(data, size);
	flags = fake_byte();
	for (int i = 0; i < FAKE_VOLUMES; i++)
		fake.volume[i].mounted = i == 0 || flags & (1U << i);
	snprintf(interval, sizeof(interval), "--interval=%s", numbers[flags / 64]);
	for (unsigned int i = 0; i < flags / 8 % 8; i++)
		change(fake_below(9));
	fake_run(words);
	if (!model.terminated)
		fprintf(stderr, "%.*s", (int)fuzz_error.used, fuzz_error.bytes);
	MUST(model.terminated);
	return 0;
}
