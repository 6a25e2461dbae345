/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "diagnosis.h"
#include "quota/kernel/privilege.h"
#include "quota/kernel/quotactl.h"

/* Does the kernel hear quota calls of this process at all? */
static void check_calls(struct fsq_diagnosis *diagnosis)
{
	int rc = fsq_quotactl_probe(&diagnosis->by_fd);

	diagnosis->unreachable = rc != 0;
	if (rc == -ENOSYS && !fsq_has_seccomp_filter())
		fsq_finding_visit(diagnosis,
				  (struct fsq_finding){ .id = FSQ_FINDING_KERNEL_WITHOUT_QUOTA });
	else if (rc)
		fsq_finding_visit(diagnosis,
				  (struct fsq_finding){ .id = FSQ_FINDING_SECCOMP, .errnum = -rc });
}

void fsq_diagnose_caller(struct fsq_diagnosis *diagnosis)
{
	enum fsq_finding_id id = FSQ_FINDING_PRIVILEGED;

	if (fsq_in_user_namespace())
		id = FSQ_FINDING_USER_NAMESPACE;
	else if (!fsq_is_privileged())
		id = FSQ_FINDING_NO_CAPABILITY;
	fsq_finding_visit(diagnosis, (struct fsq_finding){ .id = id });
	check_calls(diagnosis);
}
