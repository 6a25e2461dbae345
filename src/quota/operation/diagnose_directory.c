/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "diagnosis.h"
#include "quota/base/path.h"
#include "quota/registry/entries.h"

/* @return   the directory above, on the same file system, that hands the ID on; or -1 */
static int open_above(int fd, uint32_t id)
{
	int above = openat(fd, "..", O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
	struct fsq_inode_project project;
	struct stat here, there;

	if (above < 0)
		return -1;
	if (fstat(fd, &here) == 0 && fstat(above, &there) == 0 && here.st_dev == there.st_dev &&
	    here.st_ino != there.st_ino && fsq_inode_project_get(above, &project) == 0 &&
	    project.id == id && project.inherit)
		return above;
	close(above);
	return -1;
}

/* @source   set: the path of the highest directory that hands the ID on to this one, or NULL
 * @return   0, or -ENOMEM */
static int find_source(int fd, uint32_t id, char **source)
{
	int highest = open_above(fd, id);

	*source = NULL;
	if (highest < 0)
		return 0;
	for (;;) {
		int next = open_above(highest, id);

		if (next < 0)
			break;
		close(highest);
		highest = next;
	}
	errno = 0;
	*source = fsq_fd_path(highest);
	close(highest);
	return *source || errno != ENOMEM ? 0 : -ENOMEM;
}

void fsq_diagnose_directory(struct fsq_subject *subject)
{
	const char *file = subject->diagnosis->registry->projects_file;
	struct fsq_place *place = &subject->place;
	uint32_t registered = 0;
	struct fsq_error err;
	char *source = NULL;
	struct stat st;
	int rc;

	if (fstat(place->target.fd, &st) || !S_ISDIR(st.st_mode) ||
	    fsq_inode_project_get(place->target.fd, &place->project) || place->project.id == 0)
		return;
	rc = fsq_projects_id_of(file, place->path, &registered, &err) ? -err.errnum : 0;
	/* That a file cannot be read is a finding of its own. */
	if (rc == 0 && !registered)
		rc = find_source(place->target.fd, place->project.id, &source);
	if (rc == -ENOMEM)
		fsq_diagnosis_fail(subject->diagnosis, ENOMEM, place->path);
	if (source)
		fsq_finding_visit_here(
			subject, (struct fsq_finding){
					 .id = FSQ_FINDING_PROJECT_ABOVE,
					 .path = place->path,
					 .name = source,
					 .project = place->project.id,
					 .in_doubt = fsq_diagnose_is_registered(subject->diagnosis,
										place->path, false),
				 });
	free(source);
}
