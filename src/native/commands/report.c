/* SPDX-License-Identifier: Apache-2.0 */
/* Users, groups and projects as a table, and the page of --html. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "native/cli/finding_words.h"
#include "native/cli/options.h"
#include "native/cli/paths.h"
#include "native/cli/replacement.h"
#include "native/rows/projects.h"
#include "native/rows/records.h"
#include "quota/fsquota.h"
#include "shared/array.h"
#include "shared/read_file.h"
#include "shared/sort.h"
#include "shared/text_hash.h"
#include "shared/utf8.h"

/* --- the page --- */

/*
 * Filters and sorts the projects, and shows the first 500 at first: a browser takes long to lay out ten thousand rows.
 * The policy of the page allows it by the SHA-256 of its text, so that no name can be a script.
 */
#define SCRIPT_HASH "sha256-VayRkMFIgVBE/s/gZdN2ZmByCcGbjc5C8EGTUEMnI7w="
#define FIRST_ROWS 500
/* clang-format off */
static const char script[] =
	"\n"
	"(() => {\n"
	"const most = 500, table = document.querySelector(\".p\"), [shown, rest] = table.tBodies,\n"
	"\trows = [...shown.rows, ...rest.rows], tools = document.querySelector(\".tools\"),\n"
	"\t[filter, more] = tools.children, sizes = \"BKMGTPE\"\n"
	"let order = 0, down = false\n"
	"const number = text => {\n"
	"\tconst [, value, unit] = text.replace(\"\\u2212\", \"-\").match(/^([+-]?[\\d.]+)(.?)/) || []\n"
	"\treturn value ? value * 1024 ** Math.max(0, sizes.indexOf(unit || \"B\")) : -1e99\n"
	"}\n"
	"const show = all => {\n"
	"\tconst wanted = filter.value.toLowerCase(), list = rows.filter(row =>\n"
	"\t\t(row.cells[0].textContent + \" \" + row.cells[1].textContent).toLowerCase().includes(wanted))\n"
	"\tshown.replaceChildren(...list.slice(0, all ? list.length : most))\n"
	"\trest.replaceChildren(...list.slice(all ? list.length : most))\n"
	"\tmore.hidden = !rest.rows.length\n"
	"\tmore.textContent = \"Show all \" + list.length\n"
	"}\n"
	"tools.hidden = false\n"
	"filter.oninput = () => show(false)\n"
	"more.onclick = () => show(true)\n"
	"table.tHead.onclick = event => {\n"
	"\tconst column = event.target.cellIndex, is_number = event.target.className == \"n\"\n"
	"\tif (column == undefined || !event.target.textContent) return\n"
	"\tdown = order == column + 1 ? !down : is_number\n"
	"\torder = column + 1\n"
	"\trows.map(row => [is_number ? number(row.cells[column].textContent) : row.cells[column].textContent, row])\n"
	"\t\t.sort(([a], [b]) => (is_number ? a - b : a.localeCompare(b)) * (down ? -1 : 1))\n"
	"\t\t.forEach(([, row], i) => rows[i] = row)\n"
	"\tshow(more.hidden)\n"
	"}\n"
	"show(false)\n"
	"})()\n";
/* clang-format on */

/* Light or dark like the reader's system. The page loads nothing from elsewhere. */
static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
	"'unsafe-inline'; script-src '" SCRIPT_HASH "'\">\n"
	"<title>Quotas</title>\n<style>\n"
	":root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--dim:#656d76;--line:#d8dee4;"
	"--ok:#1a7f37;--near:#9a6700;--full:#cf222e;--rest:#e7ebef}\n"
	"@media(prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--dim:#8b949e;--line:#"
	"30363d;"
	"--ok:#3fb950;--near:#d29922;--full:#f85149;--rest:#21262d}}\n"
	"body{background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,sans-serif;"
	"max-width:75rem;margin:2rem auto;padding:0 1rem}\n"
	"h1,h2{line-height:1.2}small,th,td::before{color:var(--dim);font-weight:normal}\n"
	"table{border-collapse:collapse;width:100%}\n"
	"th,td{border-bottom:1px solid var(--line);padding:.3rem .6rem;text-align:left}\n"
	"td:nth-child(-n+2),.d td{overflow-wrap:anywhere}.d td+td{min-width:14rem}\n"
	".n{text-align:right;font-variant-numeric:tabular-nums}"
	".n,.note,.problem{white-space:nowrap}\n"
	".bar{background:var(--rest);border-radius:3px;height:.7rem;min-width:6rem;"
	"overflow:hidden}\n"
	".bar i{background:var(--ok);display:block;height:100%}\n"
	".near i{background:var(--near)}.full i{background:var(--full)}\n"
	"input,button{font:inherit;margin:0 .5rem .5rem 0}.tools~table th{cursor:pointer}\n"
	".note{color:var(--near)}.problem{color:var(--full)}.d:empty::after{content:'Nothing.'}\n"
	/* On a narrow screen a row is a paragraph that names its numbers. */
	"@media(max-width:60rem){th,td:empty{display:none}"
	"td,.d td+td{border:0;min-width:0;padding:0 1rem 0 0}td:first-child{width:100%}\n"
	"tr{align-items:center;border-bottom:1px solid var(--line);display:flex;flex-wrap:wrap;"
	"padding:.3rem 0}\n"
	".f td:nth-child(3)::before{content:'Size '}\n"
	"td:nth-child(4)::before{content:'Used '}\n"
	".f td:nth-child(7)::before{content:'Projects '}\n"
	".f td:nth-child(8)::before{content:'Hard limits '}\n"
	".p td:nth-child(3)::before{content:'ID '}\n"
	".p td:nth-child(5)::before{content:'Growth '}\n"
	".p td:nth-child(6)::before{content:'Soft '}\n"
	".p td:nth-child(7)::before{content:'Hard '}\n"
	".p td:nth-child(10)::before{content:'Available '}\n"
	".p td:nth-child(11)::before{content:'Grace '}\n"
	".p td:nth-child(12)::before{content:'Inodes '}}\n"
	"</style>\n<noscript><style>tbody[hidden]{display:table-row-group}.tools{display:none}"
	"</style></noscript>\n";

/* The use of projects in the page that is replaced, to show their growth since. */
struct earlier_use {
	uint64_t key, used_bytes;
};

struct earlier_page {
	struct earlier_use *uses;
	size_t count, capacity;
	char when[32]; /* of field_time() */
};

#define WHEN "<p><small data-when=\""
#define USE "<tr data-key="

/* A key of two numbers, since a page may have 10 000 projects: it keeps no copy of the path. */
static uint64_t key_of(const struct project_row *row)
{
	return text_hash(TEXT_HASH_START + row->id, row->mountpoint ? row->mountpoint : "");
}

static int compare_keys(const void *one, const void *other)
{
	const struct earlier_use *a = one, *b = other;

	return compare_numbers(a->key, b->key);
}

/* If the old page cannot be read, the new one shows no growth. The file may be a pipe, or have a lease. */
static void read_earlier(struct earlier_page *earlier, const struct replacement *replacement)
{
	int fd = openat(replacement->directory, replacement->name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char *text = NULL, *rest, *line;
	size_t length = 0;
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		fsq_read_fd(fd, &text, &length);
	if (fd >= 0)
		close(fd);
	if (!text)
		return;
	for (rest = text; (line = fsq_next_line(&rest, text + length));) {
		struct earlier_use use;

		if (strncmp(line, WHEN, strlen(WHEN)) == 0)
			sscanf(line + strlen(WHEN), "%31[0-9TZ:.+-]", earlier->when);
		if (sscanf(line, USE "%" SCNu64 " data-used=%" SCNu64, &use.key, &use.used_bytes) ==
		    2)
			array_add(&earlier->uses, &earlier->count, &earlier->capacity, &use,
				  sizeof(use));
	}
	array_sort(earlier->uses, earlier->count, sizeof(*earlier->uses), compare_keys);
	free(text);
}

/* Names are written by tenants: escape them. */
static void write_escaped_text(struct writer *w, const char *text)
{
	for (; *text; text++) {
		size_t length = fsq_utf8_length(text, NULL);
		unsigned char byte = (unsigned char)*text;

		if (fsq_utf8_printable(text) == 0)
			write_text(w, UTF8_REPLACEMENT);
		else if (byte == '<')
			write_text(w, "&lt;");
		else if (byte == '>')
			write_text(w, "&gt;");
		else if (byte == '&')
			write_text(w, "&amp;");
		else if (byte == '"')
			write_text(w, "&quot;");
		else
			write_bytes(w, text, length);
		text += length ? length - 1 : 0;
	}
}

static void write_cell(struct writer *w, const char *text)
{
	write_text(w, "<td>");
	write_escaped_text(w, text ? text : "");
}

/* @bytes    FIELD_NOT_KNOWN: nothing is shown */
static void write_size(struct writer *w, uint64_t bytes)
{
	char cell[FIELD_CELL];

	write_text(w, "<td class=\"n\">");
	if (bytes != FIELD_NOT_KNOWN)
		write_text(w, field_size(cell, bytes));
}

/* @percent  below 0: there is no limit */
static void write_html_bar(struct writer *w, double percent)
{
	static const char *const classes[] = {
		[FIELD_FAR] = "",
		[FIELD_NEAR] = " near",
		[FIELD_AT] = " full",
	};
	char number[FIELD_CELL];

	write_text(w, "<td class=\"n\">");
	if (percent >= 0)
		write_format(w, "%s%%", field_decimal(number, percent));
	write_text(w, "<td>");
	if (percent >= 0)
		write_format(w, "<div class=\"bar%s\"><i style=\"width:%s%%\"></i></div>",
			     classes[field_nearness(percent)],
			     field_decimal(number, percent > 100 ? 100 : percent));
}

static void write_filesystems(struct projects *projects)
{
	struct session *session = projects->session;
	struct writer *w = session->out;

	write_text(w, "<h2>Filesystems</h2>\n<table class=\"f\">\n<tr><th>Mounted on<th>Device"
		      "<th class=\"n\">Size<th class=\"n\">Used<th class=\"n\">Use<th>"
		      "<th class=\"n\">Projects<th class=\"n\">Hard limits<th>Limits\n");
	for (size_t i = 0; i < session->path_count; i++) {
		const struct fsq_filesystem_info *info = session->paths[i].info;
		const struct project_sum *sum = &projects->sums[i];
		struct fsq_space space[FSQ_FORMS];
		uint64_t size = FIELD_NOT_KNOWN, used = FIELD_NOT_KNOWN;

		if (!sum->asked)
			continue;
		if (paths_read_space(session, &session->paths[i], info->directory, space)) {
			size = space[FSQ_BLOCKS].total;
			used = size - space[FSQ_BLOCKS].free;
		}
		write_text(w, "<tr>");
		write_cell(w, info->directory);
		write_cell(w, info->device);
		write_size(w, size);
		write_size(w, used);
		write_html_bar(w, size && size != FIELD_NOT_KNOWN
					  ? 100.0 * (double)used / (double)size
					  : -1);
		write_format(w, "<td class=\"n\">%" PRIu64, sum->projects);
		write_size(w, sum->hard_bytes);
		write_cell(w, !sum->known     ? "not read"
			      : sum->enforced ? "enforced"
					      : "not enforced");
		write_char(w, '\n');
	}
	write_text(w, "</table>\n");
}

static int compare_use(const void *one, const void *other)
{
	const struct project *const *a = one, *const *b = other;

	if ((*a)->usage.used_bytes != (*b)->usage.used_bytes)
		return (*a)->usage.used_bytes > (*b)->usage.used_bytes ? -1 : 1;
	return *a < *b ? -1 : 1;
}

static void write_growth(struct writer *w, const struct earlier_page *earlier, uint64_t key,
			 uint64_t used)
{
	const struct earlier_use wanted = { .key = key }, *was = NULL;
	char cell[FIELD_CELL];

	if (earlier->count)
		was = bsearch(&wanted, earlier->uses, earlier->count, sizeof(wanted), compare_keys);
	write_text(w, "<td class=\"n\">");
	if (!was || was->used_bytes == used || was->used_bytes == FIELD_NOT_KNOWN ||
	    used == FIELD_NOT_KNOWN)
		return;
	if (was->used_bytes < used)
		write_format(w, "+%s", field_size(cell, used - was->used_bytes));
	else
		write_format(w, "\u2212%s", field_size(cell, was->used_bytes - used));
}

/* @sorted   room for all projects */
static void write_projects(struct projects *projects, const struct project **sorted,
			   const struct earlier_page *earlier)
{
	struct writer *w = projects->session->out;
	char cell[FIELD_CELL];

	for (size_t i = 0; i < projects->count; i++)
		sorted[i] = &projects->all[i];
	array_sort(sorted, projects->count, sizeof(struct project *), compare_use);
	write_format(w, "<h2>Projects <small>%zu, the largest first%s%.16s", projects->count,
		     earlier->when[0] ? "; growth since " : "", earlier->when);
	write_text(w, "</small></h2>\n<p class=\"tools\" hidden><input type=\"search\" "
		      "placeholder=\"Filter\" aria-label=\"Filter by directory and name\">"
		      "<button></button>\n"
		      "<table class=\"p\">\n<thead><tr><th>Directory<th>Name"
		      "<th class=\"n\">ID<th class=\"n\">Used<th class=\"n\">Growth"
		      "<th class=\"n\">Soft<th class=\"n\">Hard<th class=\"n\">Use<th>"
		      "<th class=\"n\">Available<th>Grace<th class=\"n\">Inodes\n<tbody>\n");
	for (size_t i = 0; i < projects->count; i++) {
		if (i == FIRST_ROWS)
			write_text(w, "<tbody hidden>\n");
		struct project_row row = projects_row(projects, sorted[i]);
		uint64_t key = key_of(&row);

		write_format(w, USE "%" PRIu64 " data-used=%" PRIu64 ">", key, row.used_bytes);
		write_cell(w, row.path);
		if (row.force.is > FSQ_IN_FORCE_YES)
			write_format(w, "<br><span class=\"problem\">not in force: %s</span>",
				     row.in_force);
		write_cell(w, row.shown_name);
		write_format(w, "<td class=\"n\">%u", row.id);
		write_size(w, row.used_bytes);
		write_growth(w, earlier, key, row.used_bytes);
		write_size(w, row.soft_bytes ? row.soft_bytes : FIELD_NOT_KNOWN);
		write_size(w, row.hard_bytes ? row.hard_bytes : FIELD_NOT_KNOWN);
		write_html_bar(w, row.percent);
		write_size(w, row.available_bytes);
		write_cell(w, row.bytes_grace_seconds == FIELD_NO_SECONDS
				      ? ""
				      : field_duration(cell, (uint64_t)row.bytes_grace_seconds));
		write_format(w, "<td class=\"n\">%" PRIu64 "\n", row.used_inodes);
	}
	if (projects->count <= FIRST_ROWS)
		write_text(w, "<tbody hidden>\n");
	write_format(w, "</table>\n<script>%s</script>\n", script);
}

static enum fsq_visit write_html_finding(const struct fsq_finding *finding, void *arg)
{
	struct session *session = arg;
	struct finding_words words;
	struct writer *w = session->out;

	if (finding->level == FSQ_FINDING_OK)
		return FSQ_VISIT_CONTINUE;
	if (!finding_words_get(&words, finding)) {
		session_no_memory(session);
		return FSQ_VISIT_STOP;
	}
	write_text(w, finding->level == FSQ_FINDING_PROBLEM ? "<tr><td class=\"problem\">problem"
							    : "<tr><td class=\"note\">note");
	write_cell(w, finding->path);
	write_cell(w, words.sentence);
	if (words.repair) {
		write_text(w, "<br><code>");
		write_escaped_text(w, words.repair);
		write_text(w, "</code>");
	}
	write_char(w, '\n');
	finding_words_clear(&words);
	return FSQ_VISIT_CONTINUE;
}

static void report_diagnosis_failure(const struct fsq_error *err, void *session)
{
	session_fail(session, err);
}

static void write_findings(struct session *session, const char *const *directories, size_t count)
{
	const struct fsq_registry registry = session_registry(session);
	const struct fsq_diagnose_request request = { .size = sizeof(request),
						      .paths = directories,
						      .path_count = count,
						      .registry = &registry,
						      .failed = report_diagnosis_failure };
	struct writer *w = session->out;
	struct fsq_error err;

	write_text(w, "<h2>What fsquota doctor finds</h2>\n<table class=\"d\">");
	if (fsq_diagnose(&request, write_html_finding, session, &err))
		session_fail(session, &err);
	write_text(w, "</table>\n");
}

/* "12 projects use 3.5G: 1 is at its limit, 2 are near." */
static void write_sum(struct projects *projects)
{
	size_t count = 0, of[FIELD_AT + 1] = { 0 };
	struct writer *w = projects->session->out;
	char cell[FIELD_CELL];
	uint64_t used = 0;

	for (size_t i = 0; i < projects->count; i++) {
		const struct project_row row = projects_row(projects, &projects->all[i]);

		if (row.id == 0)
			continue;
		count++;
		used += row.used_bytes == FIELD_NOT_KNOWN ? 0 : row.used_bytes;
		of[row.percent < 0 ? FIELD_FAR : field_nearness(row.percent)]++;
	}
	write_format(w, "<p>%zu project%s %s %s: ", count, count == 1 ? "" : "s",
		     count == 1 ? "uses" : "use", field_size(cell, used));
	if (of[FIELD_AT] + of[FIELD_NEAR] == 0)
		write_text(w, "none is near its limit.\n");
	else
		write_format(w, "%zu at the limit, %zu near it.\n", of[FIELD_AT], of[FIELD_NEAR]);
}

static void write_html_page(struct projects *projects, const struct project **sorted,
			    const char *const *directories, const struct earlier_page *earlier)
{
	struct session *session = projects->session;
	struct writer *w = session->out;
	char host[256] = "", when[FIELD_CELL], day[64];
	const time_t now = time(NULL);
	struct tm tm;

	strftime(day, sizeof(day), "%A, %e %B %Y, %H:%M %Z", localtime_r(&now, &tm));
	gethostname(host, sizeof(host) - 1);
	write_text(w, head);
	write_text(w, "<h1>Quotas of ");
	write_escaped_text(w, host);
	write_format(w, "</h1>\n" WHEN "%s\">%s, fsquota " PACKAGE_VERSION "</small>\n",
		     field_time(when, (int64_t)now * 1000), day);
	write_sum(projects);
	write_filesystems(projects);
	write_projects(projects, sorted, earlier);
	write_findings(session, directories, session->path_count);
}

/* Write the page of the session's filesystems to a file, which is replaced as a whole. */
static void write_report(struct session *session, const char *file)
{
	struct projects projects = {
		.session = session,
		.type = FSQ_PROJECT,
		.want_sums = true,
		.want_none = true,
		.want_available = true,
		.want_in_force = true,
		.pass_over = true,
	};
	const char **directories = calloc(session->path_count + 1, sizeof(*directories));
	const struct project **sorted = NULL;
	struct earlier_page earlier = { 0 };
	struct replacement replacement;
	sigset_t before;

	session->current_path = -1;
	for (size_t i = 0; directories && i < session->path_count; i++) {
		directories[i] = session->paths[i].info->directory;
		scopes_add_path(&projects.scopes, session, directories[i], false);
	}
	if (!directories || !projects_collect_scopes(&projects, false))
		goto out;
	sorted = calloc(projects.count + 1, sizeof(*sorted));
	/* Block signals, so that no temporary file is left. Incomplete output would look complete. */
	block_termination_signals(&before);
	if (!sorted)
		session_no_memory(session);
	else if (!session->no_memory && replacement_begin(session, &replacement, file)) {
		read_earlier(&earlier, &replacement);
		write_html_page(&projects, sorted, directories, &earlier);
		replacement_end(session, &replacement,
				!session->no_memory && !is_signal_pending(NULL));
	}
	restore_signals(&before);
out:
	if (!directories)
		session_no_memory(session);
	free(earlier.uses);
	free(sorted);
	free(directories);
	projects_free(&projects);
}

/* --- the table --- */

struct report_options {
	struct quota_options quota;
	bool terse, names;
	const char *html; /* the file of the page, or NULL */
};

struct report {
	struct session *session;
	const struct report_options *options;
	struct record_range range;
	bool numeric;
	const struct path_entry *path;
	enum fsq_type type;
};

static void show_record(const struct fsq_dquot *dquot, void *arg)
{
	struct report *report = arg;
	const struct quota_options *options = &report->options->quota;
	bool used = !report->options->terse;
	struct record_row row;

	/* With -t only if a shown amount is in use. */
	for (int i = 0; i < FSQ_FORMS; i++)
		used |= (options->form[i] || (i == FSQ_BLOCKS && !options_has_form(options))) &&
			dquot->form[i].used;
	if (!used)
		return;
	row = records_row(report->session, report->path, report->type, dquot, report->numeric);
	tables_row(report->session, &row);
}

/* The types that were chosen, or all that are counted. */
static void command_report(struct session *session, const struct invocation *invocation)
{
	const struct report_options *options = invocation->options;
	bool all = options_type_count(&options->quota) == 0;
	struct report report = {
		.session = session,
		.options = options,
		.path = &session->paths[session->current_path],
		.numeric = options->quota.numeric ||
			   ((options->quota.lower || options->quota.upper) && !options->names),
	};
	struct fsq_state state;

	if (options->html && options->quota.type[FSQ_USER] | options->quota.type[FSQ_GROUP]) {
		session_usage_error(session, "--html shows projects; of users and groups there are "
					     "--csv and --json");
		return;
	}
	if (options->html && session_has_rows(session) && !session->batch) {
		session_usage_error(session, "--html writes a page, without rows beside it");
		return;
	}
	if (options->html && session_has_person(session))
		options_tell_of_others(session, &options->quota, report.path->fs, "report");
	if (options->html) {
		/* One page shows all filesystems, so write it with the first. */
		if (session->current_path == 0)
			write_report(session, options->html);
		return;
	}
	if (!options_number(session, options->quota.lower, &report.range.lower) ||
	    !options_number(session, options->quota.upper, &report.range.upper))
		return;
	if (session->style.top)
		tables_sort_fullest(session);
	records_choose(session, options->quota.form, report.numeric, "TYPE,");
	if (all && fsq_quota_state(report.path->fs, FSQ_PROJECT, &state))
		state = (struct fsq_state){ .accounting = { true, true, true } };
	for (int type = 0; type < FSQ_TYPES; type++) {
		report.type = (enum fsq_type)type;
		if (all ? state.accounting[type] : options->quota.type[type])
			records_each(session, report.path->fs, report.type, &report.range,
				     show_record, &report);
	}
}

#define FIELD(member) offsetof(struct report_options, member)

static const struct command_option report_options[] = {
	{ 't', NULL, "only where something is used", .field = FIELD(terse) },
	{ 'L', NULL, "lowest ID; also means -n", .kind = VALUE_ID, .argument = "ID",
	  .field = FIELD(quota.lower) },
	{ 'U', NULL, "highest ID; also means -n", .kind = VALUE_ID, .argument = "ID",
	  .field = FIELD(quota.upper) },
	{ 'l', NULL, "names even so", .field = FIELD(names) },
	{ 0, "html", "write a page about filesystems, projects and findings", .kind = VALUE_FILE,
	  .argument = "FILE", .field = FIELD(html) },
	{ 0 },
};

const struct command report_command = {
	.name = "report",
	.alias = "repquota",
	.group = GROUP_RECORDS,
	.summary = "show use and limits of users, groups and projects",
	.synopsis = "[-bir] [-gpu] [-ahntlLU] [-f file] [--html FILE]",
	.help = "Every user (-u), group (-g) and project (-p; default: all that are counted),\n"
		"with use and limits.",
	.example = "report /srv\n"
		   "report -u -g -bi --json /srv",
	.options = (option_tables){ form_options, type_options, all_option, first_options,
				    human_option, numeric_option, report_options,
				    output_file_option, NULL },
	.rows = &record_rows,
	.options_size = sizeof(struct report_options),
	.flags = COMMAND_FILESYSTEMS | COMMAND_PATHS | COMMAND_READS,
	.run = command_report,
};
