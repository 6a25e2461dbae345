/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "names.h"
#include "options.h"

COMMAND_FUNCTION(warn)
{
	struct selection selection = { 0 };
	bool *form = selection.style.form;
	bool of_all = false;
	enum fsq_type type;
	uint32_t id = 0, warnings;
	int option, rc;

	options_begin();
	while ((option = getopt(argc, argv, command->options)) != -1) {
		if (option == 'd')
			of_all = true;
		else if (!options_select(&selection, option))
			return command_usage(session, command);
	}
	if (options_type_count(&selection) > 1 || argc - optind != (of_all ? 1 : 2))
		return command_usage(session, command);
	type = options_type(&selection);
	if (!of_all && !names_to_id_or_complain(session, type, argv[optind + 1], &id))
		return COMMAND_NEXT;
	if (!options_number(session, argv[optind], &warnings))
		return COMMAND_NEXT;
	if (session->current_path < 0)
		return COMMAND_NEXT;
	if (!form[ROW_BLOCKS] && !form[ROW_INODES] && !form[ROW_REALTIME])
		form[ROW_BLOCKS] = form[ROW_INODES] = form[ROW_REALTIME] = true;
	rc = fsq_kernel_set_warnings(&session->paths[session->current_path].fs->target, type, id,
				     form, (uint16_t)warnings);
	if (rc == -EINVAL)
		session_complain_as(session, 1, FSQ_E_NOT_SUPPORTED, -rc, "cannot set warnings");
	else if (rc)
		session_complain(session, 1, -rc, "cannot set warnings");
	return COMMAND_NEXT;
}
