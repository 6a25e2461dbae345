/* SPDX-License-Identifier: Apache-2.0 */
#include "owner.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "quota/base/error.h"
#include "tree_account.h"

/* How often the directory may have another ID when it is read again. */
#define ATTEMPTS 4

struct proof {
	uint32_t id; /* that was looked for in the tree, or 0 */
	bool all;    /* and it is all there */
	uint64_t elsewhere;
};

static bool is_inherited(const struct fsq_place *directory)
{
	struct fsq_inode_project above;

	/* Without the right to read it, report the ID of the directory. */
	(void)fsq_place_read_above(directory, &above);
	return above.id == directory->project.id;
}

static bool is_claimed(const struct fsq_project_edit *edit, const struct fsq_claim *claim,
		       uint32_t id)
{
	uint32_t named;

	if (claim->id)
		return claim->id == id;
	return claim->name && fsq_project_edit_id_of_name(edit, claim->name, &named) && named == id;
}

static int refuse(const struct fsq_place *directory, struct fsq_project_edit *edit,
		  const struct proof *proof, struct fsq_error *err)
{
	uint32_t id = directory->project.id;
	size_t length = 0;
	const char *other = fsq_project_edit_directory_of(edit, id, &length);

	if (other)
		fsq_fail(err, FSQ_E_CONFLICT, 0, directory->path,
			 "carries project ID %u, which belongs to %.*s", id,
			 (int)(length < 150 ? length : 150), other);
	else if (proof->elsewhere)
		fsq_fail(err, FSQ_E_CONFLICT, 0, directory->path,
			 "carries project ID %u, which is also on %" PRIu64 " file%s elsewhere", id,
			 proof->elsewhere, proof->elsewhere == 1 ? "" : "s");
	else
		fsq_fail(err, FSQ_E_CONFLICT, 0, directory->path,
			 "carries project ID %u, which nothing shows to be its own", id);
	return fsq_add_hint(err, FSQ_HINT_INSIST_ON_ID, FSQ_E_CONFLICT);
}

/*
 * The line may have another name of the directory: of a bind mount, or over a symlink. That is the name
 * by which it is known from here on.
 * @return   1 there is one, 0, or a negative errno
 */
static int find_other_name(struct fsq_place *directory, const struct fsq_project_edit *edit)
{
	struct stat st;
	size_t at = 0;
	char *path;
	int rc = 0;

	if (fstat(directory->target.fd, &st))
		return -errno;
	while (rc == 0 &&
	       (path = fsq_project_edit_next_directory(edit, directory->project.id, &at))) {
		rc = fsq_path_leads_to(path, st.st_dev, st.st_ino);
		if (rc == 1) {
			free(directory->path);
			directory->path = path;
		} else {
			free(path);
		}
	}
	return rc;
}

/* @return   1: it has to be proven; else as fsq_owner_lock() */
static int decide(struct fsq_place *directory, struct fsq_project_edit *edit,
		  const struct fsq_claim *claim, const struct proof *proof, struct fsq_owner *owner,
		  struct fsq_error *err)
{
	uint32_t carried = directory->project.id;
	int rc = 0;

	*owner = (struct fsq_owner){ 0 };
	owner->listed = fsq_project_edit_id_of(edit, directory->path, &owner->id);
	if (!owner->listed && carried)
		rc = find_other_name(directory, edit);
	if (rc < 0)
		return fsq_fail(err, FSQ_E_FAILED, -rc, directory->path,
				"cannot be looked for among the registered directories");
	if (rc) {
		owner->listed = true;
		owner->id = carried;
	}
	if (owner->listed || carried == 0 || is_inherited(directory))
		return 0;
	if (is_claimed(edit, claim, carried)) {
		owner->id = carried;
		return 0;
	}
	/* Clients read IDs above 2^31 as negative numbers: nobody has one by accident. */
	if (!fsq_project_edit_is_shared(edit, carried, NULL) && carried <= INT32_MAX) {
		if (proof->id != carried)
			return 1;
		if (proof->all) {
			owner->id = carried;
			return 0;
		}
	}
	owner->disputed = claim->id || claim->name;
	return owner->disputed ? 0 : refuse(directory, edit, proof, err);
}

int fsq_owner_lock(struct fsq_place *directory, struct fsq_project_edit *edit,
		   const struct fsq_claim *claim, const struct fsq_call_options *options,
		   struct fsq_owner *owner, struct fsq_error *err)
{
	struct proof proof = { 0 };

	for (int i = 0; i < ATTEMPTS; i++) {
		int rc = fsq_project_edit_lock(edit, false, err);

		if (rc == 0)
			rc = fsq_place_check_path(directory, err);
		if (rc == 0)
			rc = fsq_place_read_project(directory, err);
		if (rc == 0)
			rc = decide(directory, edit, claim, &proof, owner, err);
		if (rc <= 0)
			return rc;
		fsq_project_edit_unlock(edit);
		proof.id = directory->project.id;
		rc = fsq_tree_account(directory, proof.id, options, &proof.all, &proof.elsewhere,
				      err);
		if (rc)
			return rc;
	}
	return fsq_fail(err, FSQ_E_CONFLICT, 0, directory->path,
			"gets another project ID again and again");
}
