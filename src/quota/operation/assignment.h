/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An assignment in the middle of it, and its steps. Each returns what fsq_assign() returns; what it has
 * changed is in the struct, and can be taken back.
 */
#ifndef FSQ_ASSIGNMENT_H
#define FSQ_ASSIGNMENT_H

#include "assign_plan.h"
#include "limits.h"
#include "make_directory.h"
#include "quota/mounts/handle.h"
#include "quota/registry/project_edit.h"
#include "tree_tag.h"

/* Of a directory that is made, without another one. */
#define FSQ_NEW_MODE 0755

struct fsq_assignment {
	const struct fsq_assign_request *request; /* @asked_for */
	struct fsq_assign_request asked_for;
	struct fsq_assign_plan *plan; /* of the dry runs before, or NULL */
	struct fsq_handle directory;
	char *unmade; /* in a dry run the path of what would be made; @directory is one above it */
	dev_t dev;    /* of the directory, or of what is above it */
	ino_t ino;    /* 0: it would be made */
	struct fsq_project_edit *edit;
	bool done;
	uint32_t id;
	bool is_new;	     /* nobody had the ID before */
	bool listed;	     /* as the directory's */
	bool complete;	     /* it was registered, and so all had been done */
	bool joins;	     /* a project by its name, but carried another's ID */
	bool looked, filled; /* is there something in the directory? */
	/* Of a directory that gets a new ID. */
	enum fsq_store_relation store;
	enum fsq_enforcement enforcement;
	uint64_t space;
	const struct fsq_budget *over_budget;
	/* What has been changed, for the rollback: */
	bool tagged;
	bool limited;
	bool made;		  /* the directory, or in a dry run it would be */
	struct fsq_making making; /* if so */
	bool overtaken;		  /* another process has made it */
	struct fsq_limits asked, limits_before, limits_after;
	struct fsq_tree_tag_request tag_request;
	char **others; /* of the request */
	struct fsq_tree_tag *tree;
	bool registered;
	bool named;
	bool nameless; /* until then, but with other directories */
};

/* --- assign_tree.c --- */

/** Give the ID to the directory, or what it had. */
int fsq_assignment_tag(struct fsq_assignment *a, struct fsq_error *err);
void fsq_assignment_untag(struct fsq_assignment *a);

/**
 * Give back to all in the directory what it had; the directory itself keeps the ID, and hands it on no more.
 *
 * @return   0; FSQ_E_FAILED something may still have the ID
 */
int fsq_assignment_untag_tree(struct fsq_assignment *a);

/** Is there a tree to be tagged? Asked once: to read a directory moves on in it. */
bool fsq_assignment_has_tree(struct fsq_assignment *a);

/** Does the directory get its ID after what is in it? */
bool fsq_assignment_comes_last(struct fsq_assignment *a);

/**
 * Give it to all in the directory; in a dry run only see whether all can get it. Called with the locks, which are
 * dropped meanwhile: kubelet may want them.
 */
int fsq_assignment_tag_tree(struct fsq_assignment *a, struct fsq_error *err);

/** @return  as fsq_assign(), for the errno with which something was added to the plan */
int fsq_assignment_planned(const struct fsq_assignment *a, int rc, struct fsq_error *err);

/** Add the name, unless the ID has one; who registered it without, and has done all, wants none. */
int fsq_assignment_register_name(struct fsq_assignment *a, struct fsq_error *err);

/* --- assign_limits.c --- */

/** Copy a request, with all limits in @limits. @return  as fsq_read_request(), or FSQ_E_USAGE: it contradicts itself */
int fsq_assign_read_request(struct fsq_assign_request *all,
			    const struct fsq_assign_request *request, struct fsq_error *err);

bool fsq_assign_wants_limits(const struct fsq_assign_request *request);

/** What is asked for, with a part of the file system in basic blocks. */
int fsq_assignment_find_asked(struct fsq_assignment *a, struct fsq_error *err);

/** Find out who is subject to limits. Changes nothing. */
int fsq_assignment_check_enforcement(struct fsq_assignment *a, struct fsq_error *err);

/** What the kernel counts, and the limits before. */
int fsq_assignment_read_quota(struct fsq_assignment *a, struct fsq_dquot *dquot,
			      struct fsq_error *err);

/** Set what is asked for, or what there was. */
int fsq_assignment_set_limits(struct fsq_assignment *a, struct fsq_error *err);
void fsq_assignment_unset_limits(struct fsq_assignment *a);

#endif
