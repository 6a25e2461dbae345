/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which project is a directory's own? Its owner may give it any project ID, also that of somebody
 * else, so the ID that it carries proves nothing. /etc/projects decides. Without a line there, the
 * ID is the directory's when all inodes that have it are in the directory; otherwise the caller
 * must insist on it.
 */
#ifndef FSQ_OWNER_H
#define FSQ_OWNER_H

#include "quota/mounts/handle.h"
#include "quota/registry/project_edit.h"

/* What the caller insists on. */
struct fsq_claim {
	uint32_t id;	  /* 0: nothing */
	const char *name; /* of the project, or NULL */
	bool carried;	  /* it must keep the ID that it carries; if that is not proven, fail */
};

struct fsq_owner {
	uint32_t id;   /* 0: the directory has no project of its own */
	bool listed;   /* in the projects file */
	bool by_id;    /* listed under another path, and found by the ID that it carries */
	bool disputed; /* it carries an ID that is not proven, and the caller insists on another */
};

/**
 * Lock both files, read the directory's project, and decide. Where the tree has to be walked the
 * locks are dropped meanwhile: kubelet may want them.
 *
 * @edit     both files; locked on success
 * @claim    an ID or name that the directory carries is believed
 * @options  or NULL
 * @owner    filled on success
 * @return   0; FSQ_E_CONFLICT its path does not lead to it any more, or it carries an ID that is not proven to be its own; as
 *           fsq_project_edit_lock() and fsq_handle_read_project(); FSQ_E_FAILED, with EINTR when cancelled;
 *           FSQ_E_PERMISSION
 * Source: quotactl(2), Q_XGETQUOTA; statx(2), stx_ctime
 */
int fsq_owner_lock(struct fsq_handle *directory, struct fsq_project_edit *edit,
		   const struct fsq_claim *claim, const struct fsq_call_options *options,
		   struct fsq_owner *owner, struct fsq_error *err);

#endif
