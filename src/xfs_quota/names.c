/* SPDX-License-Identifier: Apache-2.0 */
/* Users, groups and projects: their names, and their quota records. */
#include "state.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>

const char *const xq_type_titles[FSQ_TYPES] = { "User", "Group", "Project" };

struct fsq_project_names *xq_project_names(struct state *state)
{
	struct fsq_error err;

	if (!state->names_read && fsq_project_names_read(&state->names, state->projid_file, &err)) {
		xq_errno(state, XQ_SILENT, err.errnum, "cannot read %s", err.path);
		state->names_failed = true;
	}
	state->names_read = true;
	return state->names;
}

void xq_forget_failed_names(struct state *state)
{
	if (!state->names_failed)
		return;
	fsq_project_names_free(state->names);
	state->names = NULL;
	state->names_read = state->names_failed = false;
}

bool xq_find_id(struct state *state, enum fsq_type type, const char *word, uint32_t *id)
{
	int rc = fsq_parse_id(word, id);

	if (rc == 0 || rc == -ERANGE)
		return rc == 0;
	return account_find_id(type, word, type == FSQ_PROJECT ? xq_project_names(state) : NULL,
			       id);
}

bool xq_names_are_lost(const struct state *state)
{
	return state->names_read && !state->names;
}

const char *xq_name_of(struct state *state, enum fsq_type type, uint32_t id)
{
	return account_name(type, id, type == FSQ_PROJECT ? xq_project_names(state) : NULL);
}

/* Looking up the record of each ID that has a name. */
struct search {
	struct state *state;
	struct fsq_filesystem *fs;
	enum fsq_type type;
	const struct id_range *range;
	void (*visit)(const struct fsq_dquot *dquot, void *arg);
	void *arg;
	bool saw_zero;
	bool answered; /* for some ID the kernel returned a record or ENOENT */
};

static void try_id(struct search *search, uint32_t id)
{
	const struct id_range *range = search->range;
	struct fsq_dquot dquot;
	int rc = fsq_quota_get(search->fs, search->type, id, &dquot);

	search->saw_zero |= id == 0;
	search->answered |= rc == 0 || rc == -ENOENT;
	if (rc && rc != -ENOENT && rc != -ENOSYS && rc != -ESRCH)
		xq_errno(search->state, XQ_BARE | XQ_STATUS_0, -rc, "XFS_GETQUOTA");
	if (rc == 0 && id >= range->lower && (!range->upper || id <= range->upper))
		search->visit(&dquot, search->arg);
}

static enum fsq_visit try_project(uint32_t id, const char *name, void *arg)
{
	(void)name;
	try_id(arg, id);
	return FSQ_VISIT_CONTINUE;
}

static void try_all_names(struct search *search)
{
	const struct passwd *user;
	const struct group *group;

	switch (search->type) {
	case FSQ_USER:
		setpwent();
		while ((user = getpwent()))
			try_id(search, user->pw_uid);
		endpwent();
		break;
	case FSQ_GROUP:
		setgrent();
		while ((group = getgrent()))
			try_id(search, group->gr_gid);
		endgrent();
		break;
	default:
		fsq_project_names_each(xq_project_names(search->state), try_project, search);
		if (search->range->zero_is_known && !search->saw_zero)
			try_id(search, 0);
		break;
	}
}

void xq_each_record(struct state *state, struct fsq_filesystem *fs, enum fsq_type type,
		    const struct id_range *range,
		    void (*visit)(const struct fsq_dquot *dquot, void *arg), void *arg)
{
	struct search search = { state, fs, type, range, visit, arg, false, false };
	struct fsq_dquot dquot;
	uint32_t id = range->lower;
	int rc = fsq_quota_get_next(fs, type, id, &dquot);

	if (rc) {
		try_all_names(&search);
		if (rc != -ENOENT && !search.answered)
			xq_errno(state, XQ_SILENT, -rc, "cannot read %s quotas",
				 account_types[type]);
		return;
	}
	while (rc == 0 && dquot.id >= id && (!range->upper || dquot.id <= range->upper)) {
		visit(&dquot, arg);
		if (dquot.id >= FSQ_ID_MAX)
			break;
		id = dquot.id + 1;
		rc = fsq_quota_get_next(fs, type, id, &dquot);
	}
	if (rc && rc != -ENOENT)
		xq_errno(state, XQ_SILENT, -rc, "cannot read the other %s quotas",
			 account_types[type]);
}
