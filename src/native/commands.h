/* SPDX-License-Identifier: Apache-2.0 */
/* All commands, in the order of --help, which groups them: a line here is all that a new file needs. */
#ifndef FSQ_NATIVE_COMMANDS_H
#define FSQ_NATIVE_COMMANDS_H

/* clang-format off */
#define NATIVE_COMMANDS(each) \
	each(assign) \
	each(usage) \
	each(resize) \
	each(move) \
	each(release) \
	each(supported) \
	each(list) \
	each(top) \
	each(check) \
	each(explain) \
	each(watch) \
	each(find) \
	each(id) \
	each(lsattr) \
	each(apply) \
	each(export) \
	each(prune) \
	each(doctor) \
	each(setup) \
	each(report) \
	each(quota) \
	each(limit) \
	each(timer) \
	each(project) \
	each(dump) \
	each(restore) \
	each(df) \
	each(state) \
	each(enable) \
	each(disable) \
	each(batch) \
	each(completion) \
	each(metrics) \
	each(oci_hook) \
	each(schema)
#define DECLARE_COMMAND(name) extern const struct command name##_command;
/* clang-format on */

struct command;
NATIVE_COMMANDS(DECLARE_COMMAND)

#endif
