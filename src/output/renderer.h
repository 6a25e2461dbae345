/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ways to print a row. Commands hand their rows to whichever the user asked for; what comes
 * before and after the rows of a table has functions of its own. One that is NULL prints nothing;
 * the functions below look.
 */
#ifndef FSQ_RENDERER_H
#define FSQ_RENDERER_H

#include "rows.h"
#include "shared/writer.h"

struct renderer {
	/* around all that a command prints; @name is the command's */
	void (*begin)(struct writer *w, const char *name);
	void (*end)(struct writer *w);

	/* quota: one ID on one filesystem after the other */
	void (*quota_begin)(struct writer *w, const struct row_style *style,
			    const struct owner_row *owner);
	void (*quota_row)(struct writer *w, const struct row_style *style,
			  const struct usage_row *row);
	/* report: all IDs of one filesystem */
	void (*report_begin)(struct writer *w, const struct row_style *style, enum row_type type,
			     const char *directory, const char *device);
	void (*report_row)(struct writer *w, const struct row_style *style,
			   const struct usage_row *row);
	void (*report_end)(struct writer *w);
	void (*state_row)(struct writer *w, const struct state_row *row);
	void (*state_off)(struct writer *w, enum row_type type, const char *device);
	/* dump */
	void (*limits_row)(struct writer *w, const struct limits_row *row);
	/* quot */
	void (*ownership_begin)(struct writer *w, enum row_type type, const char *directory,
				const char *device);
	void (*ownership_row)(struct writer *w, const struct ownership_row *row, bool files,
			      bool unread);
	void (*file_size_begin)(struct writer *w, const char *directory, const char *device);
	void (*file_size_row)(struct writer *w, const struct file_size_row *row);
	/* df: the first of blocks, inodes and realtime in @style is printed, under the heading of
	 * blocks if blocks or realtime are in it */
	void (*space_begin)(struct writer *w, const struct row_style *style);
	void (*space_row)(struct writer *w, const struct row_style *style,
			  const struct space_row *row);
	/* print, path: @numbered for path, @foreign when foreign filesystems are marked */
	void (*paths_begin)(struct writer *w, bool numbered, bool foreign);
	void (*paths_row)(struct writer *w, bool numbered, bool foreign,
			  const struct path_row *row);
	void (*project_begin)(struct writer *w, enum project_action action, const char *project,
			      const char *directory);
	void (*project_wrong_id)(struct writer *w, const char *path, uint32_t is, uint32_t wanted);
	void (*project_no_inheritance)(struct writer *w, const char *path);
	void (*project_end)(struct writer *w, unsigned int directories, const char *projects_file,
			    const char *project, int depth);
	/* id, assign, and lsattr: @project with the ID; around what is in a directory */
	void (*id_row)(struct writer *w, const char *path, uint32_t id);
	void (*attributes_row)(struct writer *w, const struct attributes_row *row, bool project);
	void (*attributes_enter)(struct writer *w, const char *directory);
	void (*attributes_leave)(struct writer *w);
	/* find: instead of end() found_end() */
	void (*found_row)(struct writer *w, const struct found_row *row);
	void (*found_end)(struct writer *w, uint64_t mounts_skipped);
	/* limit, restore, timer, warn; resize --dry-run */
	void (*changed_quota_row)(struct writer *w, const struct changed_quota_row *row);
	/* enable, disable, off, remove */
	void (*switched_row)(struct writer *w, const struct switched_row *row);
	/* project -s, -C */
	void (*changed_tree_row)(struct writer *w, const struct changed_tree_row *row);
	void (*released_row)(struct writer *w, const struct released_row *row); /* release */
	/* supported: all that is printed */
	void (*support)(struct writer *w, const struct support_row *row);
	void (*leftover_row)(struct writer *w, const struct leftover_row *row); /* prune */
	void (*applied_row)(struct writer *w, const struct applied_row *row);	/* apply */
	/* watch: a line that stands alone, in JSON too */
	void (*watch_row)(struct writer *w, const struct watch_row *row);
	/* doctor */
	void (*finding_row)(struct writer *w, const struct finding_row *row);
};

/* What not every renderer has. */

static inline void render_begin(const struct renderer *render, struct writer *w, const char *name)
{
	if (render->begin)
		render->begin(w, name);
}

static inline void render_end(const struct renderer *render, struct writer *w)
{
	if (render->end)
		render->end(w);
}

static inline void render_found_end(const struct renderer *render, struct writer *w,
				    uint64_t mounts_skipped)
{
	if (render->found_end)
		render->found_end(w, mounts_skipped);
}

static inline void render_quota_begin(const struct renderer *render, struct writer *w,
				      const struct row_style *style, const struct owner_row *owner)
{
	if (render->quota_begin)
		render->quota_begin(w, style, owner);
}

static inline void render_report_begin(const struct renderer *render, struct writer *w,
				       const struct row_style *style, enum row_type type,
				       const char *directory, const char *device)
{
	if (render->report_begin)
		render->report_begin(w, style, type, directory, device);
}

static inline void render_report_end(const struct renderer *render, struct writer *w)
{
	if (render->report_end)
		render->report_end(w);
}

static inline void render_state_off(const struct renderer *render, struct writer *w,
				    enum row_type type, const char *device)
{
	if (render->state_off)
		render->state_off(w, type, device);
}

static inline void render_ownership_begin(const struct renderer *render, struct writer *w,
					  enum row_type type, const char *directory,
					  const char *device)
{
	if (render->ownership_begin)
		render->ownership_begin(w, type, directory, device);
}

static inline void render_file_size_begin(const struct renderer *render, struct writer *w,
					  const char *directory, const char *device)
{
	if (render->file_size_begin)
		render->file_size_begin(w, directory, device);
}

static inline void render_space_begin(const struct renderer *render, struct writer *w,
				      const struct row_style *style)
{
	if (render->space_begin)
		render->space_begin(w, style);
}

static inline void render_paths_begin(const struct renderer *render, struct writer *w,
				      bool numbered, bool foreign)
{
	if (render->paths_begin)
		render->paths_begin(w, numbered, foreign);
}

static inline void render_project_end(const struct renderer *render, struct writer *w,
				      unsigned int directories, const char *projects_file,
				      const char *project, int depth)
{
	if (render->project_end)
		render->project_end(w, directories, projects_file, project, depth);
}

static inline void render_attributes_enter(const struct renderer *render, struct writer *w,
					   const char *directory)
{
	if (render->attributes_enter)
		render->attributes_enter(w, directory);
}

static inline void render_attributes_leave(const struct renderer *render, struct writer *w)
{
	if (render->attributes_leave)
		render->attributes_leave(w);
}

/* As xfs_quota prints, for both doors. */
extern const struct renderer text_renderer;

/* JSON for machines: one object, in it an array with an object a line, see fsquota-json(5). */
extern const struct renderer json_renderer;

#endif
