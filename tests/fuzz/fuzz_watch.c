/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch, beside a model of what must be told. The bytes are its options, and then what happens: writes and
 * removals, limits, time, filesystems that come and go, warnings that are lost, programs of --exec that end.
 *
 * The model knows nothing of the program but its rows:
 *   - of each limit it is told in turn that it was reached and that use is below;
 *   - what the kernel warns of is told within 1.1 seconds, and as often as it warned;
 *   - when nothing has happened for a while, what was told last is so;
 *   - numbers are those of the moment;
 *   - programs of --exec get each event once, one program at a time;
 *   - it sleeps when there is nothing to wait for, and ends when it is asked to.
 */
#include "fake.h"

#define GATHERED (1100 * MILLISECOND)
#define BLOCK 8
#define GRACE_SECONDS 7
#define KEYS (FAKE_VOLUMES * FSQ_TYPES * FAKE_IDS)
#define RUNNING_MAX 1

enum {
	SOFT_REACHED,
	GRACE_OVER,
	HARD_REACHED,
	BELOW_SOFT,
	BELOW_HARD,
	PERCENT_REACHED,
	BELOW_PERCENT,
	FULL_SOON,
	NOT_FULL_SOON,
	EVENTS,
};

static const char *const event_names[] = {
	"soft-reached",	   "grace-over",    "hard-reached", "below-soft",    "below-hard",
	"percent-reached", "below-percent", "full-soon",    "not-full-soon",
};

static const char *const type_names[] = { "user", "group", "project" };

/* What was told of a limit. */
struct told {
	bool soft, grace, hard, percent, full;
	/* Use and limit when that of hard was told. */
	bool hard_known;
	uint64_t hard_used, hard_limit;
	/* Since the last report: warnings, and what was seen when all had to be looked at. */
	uint64_t warned[EVENTS];
	bool must_soft, must_hard;
	int64_t since; /* the first that must be told; 0: there is none */
	/* The rows of this report. */
	uint64_t rows[EVENTS], last[EVENTS];
	int64_t full_seconds;
};

struct key {
	struct told form[FAKE_FORMS];
	uint64_t printed, handed; /* events; to programs of --exec */
	pid_t process;		  /* that runs, or 0 */
};

static struct {
	bool wanted[FSQ_TYPES], initial, executes;
	unsigned int over, within, interval;
	bool known[FAKE_VOLUMES], refreshes;
	struct key key[FAKE_VOLUMES][FSQ_TYPES][FAKE_IDS];
	uint64_t row;
	int64_t quiet_until;
	unsigned int without_timeout, running, ended;
	pid_t last_process;
	bool goes, gone; /* all is, or was, taken away at the end */
	bool late, terminated;
	unsigned int count; /* of rows that it may print, or 0 */
} model;

/* --- what is so --- */

static struct key *key_of(int volume, int type, uint32_t id)
{
	MUST(volume >= 0 && volume < FAKE_VOLUMES && type < FSQ_TYPES && id >= 1 && id <= FAKE_IDS);
	return &model.key[volume][type][id - 1];
}

static struct fsq_amounts *amounts_of(int number, int form)
{
	struct fake_volume *volume = &fake.volume[number / FAKE_IDS / FSQ_TYPES];

	return &volume->dquot[number / FAKE_IDS % FSQ_TYPES][number % FAKE_IDS].form[form];
}

static bool is_soft(const struct fsq_amounts *amounts)
{
	return amounts->soft && amounts->used > amounts->soft;
}

static bool is_grace_over(const struct fsq_amounts *amounts)
{
	return is_soft(amounts) && amounts->expires && amounts->expires <= fake_seconds();
}

static bool is_hard(const struct fsq_amounts *amounts, int form)
{
	return amounts->hard &&
	       amounts->used + (form == FSQ_BLOCKS ? BLOCK - 1 : 0) >= amounts->hard;
}

/* Of the limit that stops first. */
static bool is_percent(const struct fsq_amounts *amounts)
{
	bool is_over = amounts->expires && amounts->expires <= fake_seconds();
	uint64_t limit =
		amounts->soft && (is_over || !amounts->hard) ? amounts->soft : amounts->hard;

	return model.over && limit && (double)amounts->used * 100 / (double)limit >= model.over;
}

/* All records are looked at: what is above must be told, or with @baseline is known without. */
static void look_at_all(int volume, bool baseline)
{
	for (int i = 0; i < KEYS; i++) {
		int type = i / FAKE_IDS % FSQ_TYPES;

		if (i / FAKE_IDS / FSQ_TYPES != volume || !model.wanted[type] ||
		    fake.volume[volume].failing || !fake.volume[volume].mounted)
			continue;
		for (int form = 0; form < FAKE_FORMS; form++) {
			const struct fsq_amounts *amounts = amounts_of(i, form);
			struct told *told = &(&model.key[0][0][0])[i].form[form];
			const struct told now = { .soft = is_soft(amounts),
						  .grace = is_grace_over(amounts),
						  .hard = is_hard(amounts, form),
						  .percent = is_percent(amounts),
						  .hard_known = true,
						  .hard_used = amounts->used,
						  .hard_limit = amounts->hard };

			if (baseline) {
				*told = now;
				continue;
			}
			told->must_soft |= now.soft && !told->soft;
			told->must_hard |= now.hard && !told->hard;
			if ((told->must_soft || told->must_hard) && !told->since)
				told->since = fake.now;
		}
	}
}

/* --- what the program has learned --- */

static void fake_asked(int volume)
{
	if (model.known[volume])
		return;
	model.known[volume] = true;
	look_at_all(volume, !model.initial);
}

static void fake_lost(void)
{
	for (int i = 0; i < FAKE_VOLUMES; i++)
		if (model.known[i])
			look_at_all(i, false);
}

static void fake_saw_mounts(void)
{
	model.refreshes = true;
}

static void fake_took(const struct fsq_warning *warning)
{
	const int volume = (int)warning->dev - 1, event = (int)warning->kind;
	struct told *told = &key_of(volume, (int)warning->type, warning->id)->form[warning->form];

	if (!model.known[volume] || !model.wanted[warning->type])
		return;
	told->warned[event]++;
	if (!told->since &&
	    (event == HARD_REACHED || event == GRACE_OVER ||
	     (event == SOFT_REACHED && !told->soft) || (event == BELOW_SOFT && told->soft) ||
	     (event == BELOW_HARD && told->hard)))
		told->since = fake.now;
}

/* --- what it tells --- */

/* @return   the index of the word in a list */
static int word_of(const char *row, const char *name, const char *const *list, int count)
{
	const char *value = value_of(row, name) + 1;

	for (int i = 0; i < count; i++)
		if (strncmp(value, list[i], strlen(list[i])) == 0 && value[strlen(list[i])] == '"')
			return i;
	MUST(false); /* there must be a word that is known */
	return 0;
}

/* What is printed is what the kernel has. */
static void check_numbers(const char *row, int volume, const struct fsq_dquot *dquot)
{
	const bool known = fake.volume[volume].mounted && !fake.volume[volume].failing;

	MUST(is_null(row, "used_bytes") == !known);
	if (!known)
		return;
	MUST(number_of(row, "used_bytes") == dquot->form[FSQ_BLOCKS].used * FSQ_BASIC_BLOCK);
	MUST(number_of(row, "hard_bytes") == dquot->form[FSQ_BLOCKS].hard * FSQ_BASIC_BLOCK);
	MUST(number_of(row, "soft_bytes") == dquot->form[FSQ_BLOCKS].soft * FSQ_BASIC_BLOCK);
	MUST(number_of(row, "used_inodes") == dquot->form[FSQ_INODES].used);
	MUST(number_of(row, "hard_inodes") == dquot->form[FSQ_INODES].hard);
}

static void read_row(const char *row)
{
	const char *device = value_of(row, "filesystem");
	const int volume = strchr(device + 1, '"')[-1] - '0';
	const int type = word_of(row, "type", type_names, FSQ_TYPES);
	const uint32_t id = (uint32_t)number_of(row, "id");
	const int event = word_of(row, "event", event_names, EVENTS);
	const int form = value_of(row, "limit")[1] == 'i';
	struct key *key = key_of(volume, type, id);
	struct told *told = &key->form[form];

	MUST(model.known[volume] && model.wanted[type]);
	MUST(!model.count || model.row < model.count);
	MUST(number_of(row, "count") > 0);
	check_numbers(row, volume, &fake.volume[volume].dquot[type][id - 1]);
	told->rows[event] += number_of(row, "count");
	told->last[event] = ++model.row;
	told->full_seconds =
		is_null(row, "full_in_seconds") ? -1 : (int64_t)number_of(row, "full_in_seconds");
	key->printed += number_of(row, "count");
}

/* Which of them came last; 0: none */
static uint64_t later(uint64_t one, uint64_t other)
{
	return one > other ? one : other;
}

/* What the kernel warned of was told, as often. */
static void check_warnings(const struct told *told)
{
	const uint64_t *rows = told->rows, *warned = told->warned;
	const bool is_below = rows[BELOW_HARD] || rows[BELOW_SOFT];

	if ((warned[SOFT_REACHED] && !told->soft) || told->must_soft)
		MUST(rows[SOFT_REACHED] || rows[GRACE_OVER]);
	MUST(rows[GRACE_OVER] >= warned[GRACE_OVER]);
	/* One that is below when it is told is told as such, if it was told before. */
	if (warned[HARD_REACHED] || told->must_hard)
		MUST(rows[HARD_REACHED] >= warned[HARD_REACHED] + !warned[HARD_REACHED] ||
		     (rows[HARD_REACHED] == 0 && is_below));
	if (warned[BELOW_SOFT] && told->soft)
		MUST(rows[BELOW_SOFT]);
	if (warned[BELOW_HARD] && told->hard)
		MUST(is_below);
	/* Polling may have found one more, and once more after it was below. */
	MUST(rows[HARD_REACHED] <= warned[HARD_REACHED] + 2);
	MUST(rows[GRACE_OVER] <= warned[GRACE_OVER] + 2);
}

/* Reached and below in turn. @return  whether it is reached now */
static bool in_turn(bool before, uint64_t reached, uint64_t below, bool after)
{
	MUST(before + reached - below == after);
	return after;
}

static void read_report(struct told *told, const struct fsq_amounts *amounts, bool known)
{
	const uint64_t *rows = told->rows, *last = told->last;
	const uint64_t up = later(last[SOFT_REACHED], last[GRACE_OVER]);
	const bool soft = up || last[BELOW_SOFT] ? up > last[BELOW_SOFT] : told->soft;
	const uint64_t below = later(last[BELOW_SOFT], last[BELOW_HARD]);
	const uint64_t balance = told->soft + rows[SOFT_REACHED] - rows[BELOW_SOFT];

	check_warnings(told);
	/* Of the grace time it is told without the limit, too. */
	MUST(soft - balance <= rows[GRACE_OVER]);
	MUST(!rows[BELOW_HARD] || told->hard || rows[HARD_REACHED]);
	if (last[BELOW_SOFT] || last[GRACE_OVER])
		told->grace = last[GRACE_OVER] > last[BELOW_SOFT];
	told->soft = soft;
	if (last[HARD_REACHED] > below) {
		told->hard = true;
		told->hard_known = known;
		told->hard_used = amounts->used;
		told->hard_limit = amounts->hard;
	} else if (below) {
		told->hard = false;
	}
	told->percent = in_turn(told->percent, rows[PERCENT_REACHED], rows[BELOW_PERCENT],
				last[PERCENT_REACHED] == last[BELOW_PERCENT]
					? told->percent
					: last[PERCENT_REACHED] > last[BELOW_PERCENT]);
	told->full = in_turn(told->full, rows[FULL_SOON], rows[NOT_FULL_SOON],
			     last[FULL_SOON] == last[NOT_FULL_SOON]
				     ? told->full
				     : last[FULL_SOON] > last[NOT_FULL_SOON]);
	if (rows[FULL_SOON] && !rows[NOT_FULL_SOON])
		MUST(told->full_seconds >= 0 &&
		     told->full_seconds <= model.within + model.within / 4);
	if (rows[NOT_FULL_SOON] && !rows[FULL_SOON])
		MUST(told->full_seconds < 0 || told->full_seconds > model.within);
	told->must_soft = told->must_hard = false;
	told->since = 0;
	memset(told->warned, 0, sizeof(told->warned));
	memset(told->rows, 0, sizeof(told->rows));
	memset(told->last, 0, sizeof(told->last));
}

static bool has_rows(const struct told *told)
{
	for (int i = 0; i < EVENTS; i++)
		if (told->rows[i])
			return true;
	return false;
}

static void forget_volume(int volume)
{
	model.known[volume] = false;
	for (int i = 0; i < FSQ_TYPES * FAKE_IDS; i++)
		memset((&model.key[volume][0][0])[i].form, 0, sizeof(model.key[0][0][0].form));
}

/* It has printed as many rows as it may. */
static bool is_complete(void)
{
	return model.count && model.row == model.count;
}

/* All rows since the program waited the last time. */
static void read_output(void)
{
	fake_rows(read_row);
	for (int i = 0; i < KEYS && !is_complete(); i++) {
		struct key *key = &(&model.key[0][0][0])[i];
		const int volume = i / FAKE_IDS / FSQ_TYPES;
		const bool known = fake.volume[volume].mounted && !fake.volume[volume].failing;
		const bool any = has_rows(&key->form[0]) || has_rows(&key->form[1]);

		for (int form = 0; form < FAKE_FORMS; form++) {
			struct told *told = &key->form[form];

			if (any)
				read_report(told, amounts_of(i, form), known);
			/* A single large write was refused: use cannot fall below. */
			if (any && known && amounts_of(i, form)->used == 0)
				told->hard = false;
			MUST(!told->since || fake.now < told->since + GATHERED);
			/* What waits when a filesystem goes, or at the end, is told. */
			MUST(!told->since || !(model.terminated ||
					       (model.refreshes && !fake.volume[volume].mounted)));
		}
	}
	for (int i = 0; i < FAKE_VOLUMES && model.refreshes; i++)
		if (!fake.volume[i].mounted)
			forget_volume(i);
	model.refreshes = false;
}

/* --- when nothing has happened for a while --- */

static void check_truth(const struct told *told, const struct fsq_amounts *amounts, int form)
{
	const bool hard = is_hard(amounts, form);

	MUST(!told->since);
	MUST(!told->soft || is_soft(amounts));
	MUST(!told->soft || told->grace || !is_grace_over(amounts) ||
	     amounts->expires + model.interval + 2 > fake_seconds());
	MUST(fake.has_warnings || told->soft == is_soft(amounts));
	MUST(fake.has_warnings || told->hard || !hard);
	/* It may have been refused with some room left: then there is no more than that. */
	MUST(!told->hard || hard ||
	     (amounts->used && (!told->hard_known || (amounts->used >= told->hard_used &&
						      amounts->hard == told->hard_limit))));
	/* Once a grace time is over, this is told at the next look. */
	MUST(!model.over || told->percent == is_percent(amounts) ||
	     (amounts->expires && amounts->expires <= fake_seconds() &&
	      amounts->expires + model.interval + 2 > fake_seconds()));
	MUST(!told->full || amounts->used);
}

static void check_quiet(int timeout)
{
	bool any = model.over || model.within || !fake.has_warnings || model.running;

	for (int i = 0; i < KEYS; i++) {
		const struct key *key = &(&model.key[0][0][0])[i];
		const int volume = i / FAKE_IDS / FSQ_TYPES;
		const bool known = fake.volume[volume].mounted && !fake.volume[volume].failing;

		for (int form = 0; form < FAKE_FORMS; form++) {
			const struct told *told = &key->form[form];

			any |= told->soft || told->hard || told->grace;
			if (model.known[volume] && known && model.wanted[i / FAKE_IDS % FSQ_TYPES])
				check_truth(told, amounts_of(i, form), form);
			if (model.gone)
				MUST(!told->soft && !told->hard && !told->grace && !told->percent &&
				     !told->full);
		}
		MUST(!model.executes || key->process || key->handed == key->printed);
	}
	/* There is nothing to poll. */
	MUST(any || timeout < 0);
}

/* --- what happens --- */

static void grow(int volume, int type, uint32_t id, int form, uint64_t amount,
		 bool as_far_as_it_goes)
{
	struct fsq_amounts *amounts = &fake.volume[volume].dquot[type][id - 1].form[form];
	const bool above = is_soft(amounts), is_xfs = volume != 0;
	const uint64_t wanted = amounts->used + amount;

	if (amounts->hard && wanted > amounts->hard) {
		fake_warn(volume, (enum fsq_type)type, id, (enum fsq_form)form,
			  FSQ_WARNING_HARD_REACHED);
		if (!as_far_as_it_goes || amounts->used >= amounts->hard)
			return;
		amounts->used = amounts->hard;
	} else if (amounts->soft && wanted > amounts->soft && amounts->expires &&
		   amounts->expires <= fake_seconds()) {
		fake_warn(volume, (enum fsq_type)type, id, (enum fsq_form)form,
			  FSQ_WARNING_GRACE_OVER);
		return;
	} else {
		amounts->used = wanted;
	}
	if (!is_soft(amounts))
		return;
	if (!amounts->expires)
		amounts->expires = fake_seconds() + GRACE_SECONDS;
	/* XFS warns at every write. */
	if (!above || is_xfs)
		fake_warn(volume, (enum fsq_type)type, id, (enum fsq_form)form,
			  FSQ_WARNING_SOFT_REACHED);
}

static void shrink(int volume, int type, uint32_t id, int form, uint64_t amount)
{
	struct fsq_amounts *amounts = &fake.volume[volume].dquot[type][id - 1].form[form];
	const bool above = is_soft(amounts),
		   at_hard = amounts->hard && amounts->used >= amounts->hard;
	const bool is_xfs = volume != 0;

	/* XFS warns also when a file is removed at the limit, and not when use is below. */
	if (at_hard && is_xfs && amount % 2)
		fake_warn(volume, (enum fsq_type)type, id, (enum fsq_form)form,
			  FSQ_WARNING_HARD_REACHED);
	amounts->used -= amount < amounts->used ? amount : amounts->used;
	if (!is_soft(amounts))
		amounts->expires = 0;
	if (is_xfs)
		return;
	if (above && !is_soft(amounts))
		fake_warn(volume, (enum fsq_type)type, id, (enum fsq_form)form,
			  FSQ_WARNING_BELOW_SOFT);
	else if (at_hard && amounts->used < amounts->hard)
		fake_warn(volume, (enum fsq_type)type, id, (enum fsq_form)form,
			  FSQ_WARNING_BELOW_HARD);
}

static void change(unsigned int what)
{
	const unsigned int number = fake_byte(), amount = fake_byte();
	const int form = (int)(number / KEYS) % FAKE_FORMS;
	const int volume = (int)(number % KEYS) / FAKE_IDS / FSQ_TYPES;
	const int type = (int)(number % KEYS) / FAKE_IDS % FSQ_TYPES;
	const uint32_t id = number % FAKE_IDS + 1;
	struct fsq_amounts *amounts = &fake.volume[volume].dquot[type][id - 1].form[form];
	const uint64_t step = form == FSQ_BLOCKS ? 4 : 1;

	if (!fake.volume[volume].mounted)
		return;
	TRACE("change %u by %u: volume %d type %d id %u form %d\n", what, amount, volume, type, id,
	      form);
	if (what < 4) {
		grow(volume, type, id, form, (amount % 32) * step, amount & 64);
	} else if (what < 6) {
		shrink(volume, type, id, form,
		       amount == 255 ? amounts->used : (amount % 64) * step);
	} else {
		if (amount & 1)
			amounts->hard = (amount / 2 % 16) * 8 * step;
		else
			amounts->soft = (amount / 2 % 16) * 8 * step;
		if (amount & 32)
			amounts->expires = fake_seconds() + amount % 8;
		if (!is_soft(amounts))
			amounts->expires = 0;
		else if (!amounts->expires)
			amounts->expires = fake_seconds() + GRACE_SECONDS;
	}
	TRACE("  used %d soft %d hard %d expires in %d\n", (int)amounts->used, (int)amounts->soft,
	      (int)amounts->hard, (int)(amounts->expires - fake_seconds()));
}

static void mount_or_unmount(void)
{
	const unsigned int number = fake_byte();
	struct fake_volume *volume = &fake.volume[number % FAKE_VOLUMES];

	/* Somewhere else, or away or back. */
	if (volume->mounted && number & 64)
		volume->directory[1] ^= 'f' ^ 'F';
	else
		volume->mounted = !volume->mounted;
	fake.mounts_changed = true;
}

static void lose(void)
{
	const unsigned int number = fake_byte();

	if (number == 255)
		fake.warnings_fail = fake.has_warnings;
	else if (number & 1)
		fake.volume[number / 2 % FAKE_VOLUMES].failing ^= true;
	else
		fake.lost = fake.has_warnings;
}

/* --- programs --- */

static const char *variable_of(char *const environment[], const char *name)
{
	for (; *environment; environment++)
		if (strncmp(*environment, name, strlen(name)) == 0)
			return *environment + strlen(name);
	MUST(false); /* there must be a variable that is set */
	return NULL;
}

static int fake_spawn(pid_t *process, char *const environment[])
{
	const char *device = variable_of(environment, "FSQUOTA_FILESYSTEM=");
	const char *type = variable_of(environment, "FSQUOTA_TYPE=");
	int number = 0;
	struct key *key;

	while (strcmp(type_names[number], type) != 0)
		number++;
	key = key_of(device[strlen(device) - 1] - '0', number,
		     (uint32_t)strtoul(variable_of(environment, "FSQUOTA_ID="), NULL, 10));
	MUST(!key->process && model.running < RUNNING_MAX);
	MUST(strchr(variable_of(environment, "FSQUOTA_EVENTS="), ':'));
	key->handed += strtoull(variable_of(environment, "FSQUOTA_COUNT="), NULL, 10);
	key->process = *process = ++model.last_process;
	model.running++;
	return 0;
}

static pid_t fake_reap(void)
{
	if (!model.ended)
		return 0;
	model.ended--;
	for (int i = 0; i < KEYS; i++) {
		struct key *key = &(&model.key[0][0][0])[(i + (int)model.row) % KEYS];
		pid_t process = key->process;

		if (!process)
			continue;
		key->process = 0;
		model.running--;
		return process;
	}
	MUST(false); /* there must be a program that runs */
	return 0;
}

/* --- the program waits --- */

static int end_program(struct pollfd *fds, nfds_t count)
{
	model.ended = 1;
	return fake_signal(fds, count, SIGCHLD);
}

/* At the end all is taken away, and nothing more is to be told. */
static int at_end(struct pollfd *fds, nfds_t count)
{
	if (!model.gone && model.goes) {
		model.gone = true;
		for (int i = 0; i < KEYS * FAKE_FORMS; i++)
			*amounts_of(i / FAKE_FORMS, i % FAKE_FORMS) = (struct fsq_amounts){ 0 };
		for (int i = 0; i < FAKE_VOLUMES; i++) {
			fake.mounts_changed |= !fake.volume[i].mounted;
			fake.volume[i].mounted = true;
			fake.volume[i].failing = false;
		}
		model.quiet_until = fake.now + (2LL * model.interval + 5) * SECOND_NANOSECONDS;
		return 0;
	}
	/* It may not have run for a while. */
	if (model.late)
		fake.now += 5 * SECOND_NANOSECONDS;
	model.terminated = true;
	return fake_signal(fds, count, SIGTERM);
}

/* Until then nothing happens. @return  as poll(2); -2: it is over */
static int be_quiet(struct pollfd *fds, nfds_t count, int timeout)
{
	if (model.running)
		return end_program(fds, count);
	if (fake.now < model.quiet_until) {
		fake.now = timeout < 0 ? model.quiet_until : fake.now + timeout * MILLISECOND;
		return timeout < 0 ? -2 : 0;
	}
	return -2;
}

static int step(struct pollfd *fds, nfds_t count, int64_t until)
{
	static const int64_t spans[] = { 1, 40, 100, 950, 1000, 1100, 3000, 20000 };
	const unsigned int what = fake_byte() % 16;
	unsigned int number;

	fake.steps++;
	switch (what) {
	case 8:
	case 9:
		fake.now += spans[fake_below(8)] * MILLISECOND;
		if (fake.now > until)
			fake.now = until;
		break;
	case 10:
		number = fake_byte();
		/* It did not run for so long. */
		if (number > 240)
			fake.now += (int64_t)number * number * number * SECOND_NANOSECONDS;
		else
			fake.now += number * 10 * MILLISECOND;
		break;
	case 11:
		TRACE("mounts\n");
		mount_or_unmount();
		break;
	case 12:
		TRACE("lost, or failing\n");
		lose();
		break;
	case 13:
		if (model.running)
			return end_program(fds, count);
		errno = EINTR;
		return -1;
	case 14:
	case 15:
		model.quiet_until = fake.now + (2LL * model.interval + 3) * SECOND_NANOSECONDS;
		break;
	default:
		change(what);
	}
	return 0;
}

static int fake_wait(struct pollfd *fds, nfds_t count, int timeout)
{
	const int64_t until = timeout < 0 ? INT64_MAX : fake.now + timeout * MILLISECOND;
	int rc;

	read_output();
	model.without_timeout = timeout == 0 ? model.without_timeout + 1 : 0;
	MUST(model.without_timeout < 3);
	if (timeout == 0)
		return 0;
	/* Then it waits for programs alone. */
	if (model.terminated || is_complete()) {
		MUST(model.running);
		return end_program(fds, count);
	}
	do {
		if (model.quiet_until) {
			rc = be_quiet(fds, count, timeout);
			if (rc != -2)
				return rc;
			model.quiet_until = 0;
			TRACE("nothing happened for a while\n");
			check_quiet(timeout);
		}
		rc = fake.left ? step(fds, count, until) : at_end(fds, count);
		if (rc)
			return rc;
	} while (fake.now < until && !fake.warnings && !fake.lost && !fake.warnings_fail &&
		 !fake.mounts_changed);
	return fake_ready(fds, count);
}

/* --- the options --- */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const numbers[] = { "1", "10", "1000", "3" };
	static char watch[] = "watch", json[] = "--json", file[] = "--projects-file=/dev/null",
		    names[] = "--projid-file=/dev/null", initial[] = "--initial", user[] = "-u",
		    group[] = "-g", project[] = "-p", exec[] = "--exec=/bin/sh";
	char over[32], within[32], interval[32], count[32];
	char *words[16] = { watch, json, file, names }, **word = words + 4;
	unsigned int flags, more;

	memset(&model, 0, sizeof(model));
	fake_begin(data, size);
	flags = fake_byte();
	more = fake_byte();
	model.wanted[FSQ_PROJECT] = flags & 1 || !(flags & 2);
	model.wanted[FSQ_USER] = model.wanted[FSQ_GROUP] = flags & 2;
	model.initial = flags & 4;
	model.executes = flags & 8;
	model.over = flags & 16 ? 40 + more % 61 : 0;
	model.within = flags & 32 ? 1 + more % 100 : 0;
	fake.has_warnings = more % 8 != 0;
	model.goes = more & 32;
	model.late = more & 16;
	model.count = more % 16 == 15 ? 1 + fake_below(8) : 0;
	model.interval = (unsigned int)atoi(numbers[flags / 64]);
	for (int i = 0; i < FAKE_VOLUMES; i++)
		fake.volume[i].mounted = i == 0 || more & (64U << i);
	snprintf(interval, sizeof(interval), "--interval=%u", model.interval);
	snprintf(over, sizeof(over), "--over=%u", model.over);
	snprintf(within, sizeof(within), "--full-within=%u", model.within);
	*word++ = interval;
	if (model.wanted[FSQ_PROJECT])
		*word++ = project;
	if (model.wanted[FSQ_USER]) {
		*word++ = user;
		*word++ = group;
	}
	if (model.initial)
		*word++ = initial;
	if (model.executes)
		*word++ = exec;
	snprintf(count, sizeof(count), "--count=%u", model.count);
	if (model.count)
		*word++ = count;
	if (model.over)
		*word++ = over;
	if (model.within)
		*word++ = within;
	fake_run(words);
	read_output();
	if (!model.terminated && !is_complete())
		fprintf(stderr, "%.*s", (int)fuzz_error.used, fuzz_error.bytes);
	MUST(model.terminated || is_complete());
	return 0;
}
