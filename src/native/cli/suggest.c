/* SPDX-License-Identifier: Apache-2.0 */
#include "suggest.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "finding_words.h"
#include "pods.h"
#include "quota/base/path.h"
#include "quota/mounts/lookup.h"

/* Words of other tools, with blanks around each, and our words for them. */
static const struct synonym {
	const char *words, *meant;
} command_synonyms[] = {
	{ " status ", "\"list\", \"doctor\" or \"state\"" },
	{ " ls show projects ps print path ", "\"list\"" },
	{ " set create add new protect ", "\"assign\" or \"resize\"" },
	{ " setquota ",
	  "\"limit -u bsoft=100M bhard=120M USER DIR\", \"assign\" or \"release\"" },
	{ " delete del rm unset clear unassign ", "\"release\"" },
	{ " unregister deregister forget ", "\"release --keep-tags\"" },
	{ " backup save ", "\"export\" or \"dump\"" },
	{ " import load ", "\"apply\" or \"restore\"" },
	{ " plan diff validate preview ", "\"apply --diff --dry-run\"" },
	{ " sync reload deploy ", "\"apply\"" },
	{ " copy cp clone ", "\"assign --like\"" },
	{ " rename mv ", "\"move\"" },
	{ " du size stat used ", "\"usage\"" },
	{ " get ", "\"list\", \"usage\" or \"export\"" },
	{ " edquota ", "\"limit --edit -u USER DIR\" or \"resize --edit\"" },
	{ " edit change update patch grow shrink expand extend increase ", "\"resize\"" },
	{ " why ", "\"doctor\", \"explain\" or \"quota -u\"" },
	{ " where describe ", "\"explain\"" },
	{ " who ncdu ", "\"list\" or \"explain\"" },
	{ " fill full ", "\"list\", \"top\" or \"explain\"" },
	{ " monitor follow ", "\"watch\" or \"top\"" },
	{ " event events ", "\"watch\"" },
	{ " alert alerts mail email notify remind warn warnquota ", "\"watch\" or \"check\"" },
	{ " diagnose verify fsck test ", "\"doctor\" or \"check\"" },
	{ " quotacheck fix repair lint ", "\"doctor\"" },
	{ " tag retag chattr ", "\"project -s\"" },
	{ " init install prepare mkfs mount ", "\"setup\"" },
	{ " grant allow share delegate auth access ", "\"batch --read-only\"" },
	{ " serve daemon server ", "\"batch\" or \"metrics --listen\"" },
	{ " prometheus exporter openmetrics ", "\"metrics\"" },
	{ " hook runc crun ", "\"oci-hook\"" },
	{ " clean cleanup gc purge ", "\"prune\"" },
	{ " quot ", "\"fsquota -x -c 'quot -p' PATH\"" },
	{ " off ", "\"disable\" or \"fsquota -x -c 'off -p' PATH\"" },
	{ " remove ", "\"release\" or \"fsquota -x -c 'remove -p' PATH\"" },
	{ " repquota ", "\"report\"" },
	{ " html ", "\"report --html\"" },
	{ " quotaon on ", "\"enable\", or \"state\" to see what is on" },
	{ " quotaoff ", "\"disable\"" },
	{ " info ", "\"usage\" or \"state\"" },
	{ " grace reset ", "\"timer\"" },
	{ " man ", "\"help\"" },
	{ " -v ", "\"--version\"" },
	{ " --read-only ", "\"batch --read-only\"" },
}, topics[] = {
	{ " tutorial howto start begin recipes ", "see fsquota-tutorial(7)" },
	{ " concepts glossary ", "see fsquota-concepts(7)" },
	{ " containers container docker podman kubernetes k8s kubectl kubelet kubeconfig context pvc configmap ",
	  "see fsquota-containers(7)" },
	{ " output columns formats units sizes ", "see fsquota-output(7)" },
	{ " fsquota.d lines homes ", "see fsquota.d(5)" },
	{ " fsquota.conf config conf configure ", "see fsquota.conf(5)" },
	{ " history log logs journal ",
	  "see \"log\" in fsquota.conf(5), which has changes logged from then on" },
	{ " image images ", "see fsquota.d(5), and FILES in fsquota-apply(8)" },
	{ " json error errors ", "see fsquota-json(5)" },
	{ " exit quit ", "batch ends where its input does; see EXIT STATUS in fsquota(8)" },
	{ " exit-status exit-code exit-codes exitcodes status-codes ",
	  "see EXIT STATUS in fsquota(8)" },
	{ " # ", "batch takes no comments" },
	{ " systemd service services cron boot ansible ", "see FILES in fsquota-apply(8)" },
	{ " xfs_quota xfs-quota ", "see fsquota -x -c 'report -p' PATH, and fsquota-xfs_quota(7)" },
	{ " until weekend temporary ", "see --until in fsquota-resize(8)" },
	{ " uninstall undo ",
	  "to undo setup, release the directories and take prjquota out of /etc/fstab" },
}, nouns[] = {
	{ " pod pods volumes namespace namespaces ",
	  "fsquota list /var/lib/kubelet/pods shows volumes; see fsquota-containers(7)" },
	{ " kubelet kubernetes ", "fsquota doctor /var/lib/kubelet looks there; see fsquota-containers(7)" },
	{ " user users group groups ", "fsquota report -u shows users, -g groups" },
}, option_synonyms[] = {
	{ " limit max ", " hard top " },
	{ " quota size space bhard hard-limit size-limit storage storage-opt ", " hard " },
	{ " bsoft soft-limit ", " soft " },
	{ " warn ", " over warning soft " },
	{ " inodes files ihard max-inodes ", " hard-inodes " },
	{ " isoft ", " soft-inodes " },
	{ " project ", " id name " },
	{ " project-id pid ", " id " },
	{ " project-name ", " name " },
	{ " enforced enforce ", " require-enforced " },
	{ " filesystem mount mountpoint path device ", " at " },
	{ " columns fields ", " output " },
	{ " wide long verbose v ", " output-all " },
	{ " order sort-by ", " sort " },
	{ " head first ", " top rows " },
	{ " format yaml ", " json " },
	{ " dry simulate noop no-act check check-mode syntax-check plan preview validate verify test ", " dry-run " },
	{ " assume-yes ", " yes force " },
	{ " force ", " yes " },
	{ " timeout wait ", " lock-timeout " },
	{ " for duration expires expire temporary ttl days hours ", " until " },
	{ " shrink ", " allow-shrink " },
	{ " from copy copy-from same-as ", " like " },
	{ " notify email ", " mail " },
	{ " percent threshold above when ", " over " },
	{ " user uid group gid chown ", " owner " },
	{ " chmod perms permissions ", " mode " },
	{ " make create parents ", " mkdir " },
	{ " run command cmd script ", " exec " },
	{ " ignore-not-found ignore-missing missing-ok ", " if-exists " },
	{ " http port address bind daemon serve server web.listen-address ", " listen " },
	{ " textfile output-file out ", " output-file " },
	{ " once ", " batch count " },
	{ " delete remove purge exclusive sync ", " prune " },
	{ " detailed-exitcode changed-exit-code changed-exit ", " exit-code " },
	{ " kubelet kubernetes ", " pods " },
	{ " sum sums summarize summary ", " total " },
	{ " nagios icinga ", " format " },
	{ " no-header no-headings noheader ", " noheadings " },
	{ " colour ", " color " },
	/* Letters that tables had until 0.2.0, and those of other tools. Where xfs_quota has the letter, it means that. */
	{ " b ", " batch bytes " },
	{ " c ", " critical " },
	{ " H ", " noheadings " },
	{ " j ", " json " },
	{ " L ", " hard " },
	{ " l ", " hard output-all " },
	{ " n ", " dry-run top noheadings " },
	{ " o ", " output output-file " },
	{ " p ", " mkdir " },
	{ " q ", " quiet " },
	{ " r ", " raw " },
	{ " S ", " sort " },
	{ " s ", " hard sort " },
	{ " w ", " over warning " },
};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define WORD_MAX 24

/* How many letters differ, are missing, are too many or changed places. */
static size_t distance(const char *one, size_t length, const char *other)
{
	size_t width = strlen(other), row[3][WORD_MAX + 1];

	if (length > WORD_MAX || width > WORD_MAX)
		return WORD_MAX;
	for (size_t k = 0; k <= width; k++)
		row[0][k] = k;
	for (size_t i = 1; i <= length; i++) {
		size_t *now = row[i % 3], *before = row[(i - 1) % 3];
		const size_t *two_before = row[(i + 1) % 3];

		now[0] = i;
		for (size_t k = 1; k <= width; k++) {
			size_t least = before[k - 1] + (one[i - 1] != other[k - 1]);

			if (before[k] + 1 < least)
				least = before[k] + 1;
			if (now[k - 1] + 1 < least)
				least = now[k - 1] + 1;
			if (i > 1 && k > 1 && one[i - 1] == other[k - 2] &&
			    one[i - 2] == other[k - 1] && two_before[k - 2] + 1 < least)
				least = two_before[k - 2] + 1;
			now[k] = least;
		}
	}
	return row[length % 3][width];
}

bool suggest_has_word(const char *words, const char *word, size_t length)
{
	char wanted[WORD_MAX + 3];

	if (length == 0 || length > WORD_MAX || memchr(word, ' ', length))
		return false;
	snprintf(wanted, sizeof(wanted), " %.*s ", (int)length, word);
	return strstr(words, wanted);
}

static const char *find_synonym(const struct synonym *table, size_t count, const char *word,
				size_t length)
{
	for (size_t i = 0; i < count; i++)
		if (suggest_has_word(table[i].words, word, length))
			return table[i].meant;
	return NULL;
}

void suggest_begin(struct suggestion *to, const char *word, size_t length)
{
	*to = (struct suggestion){
		.word = word,
		.length = length,
		.commands = find_synonym(command_synonyms, COUNT(command_synonyms), word, length),
		.topic = find_synonym(topics, COUNT(topics), word, length)
				 ?: find_synonym(nouns, COUNT(nouns), word, length),
		.options = find_synonym(option_synonyms, COUNT(option_synonyms), word, length),
		.best = WORD_MAX,
	};
}

bool suggest_is_meant(const struct suggestion *to, const char *name)
{
	return to->options && suggest_has_word(to->options, name, strlen(name));
}

bool suggest_is_nearer(struct suggestion *to, const char *name)
{
	const char *word = to->word;
	size_t far;

	if (suggest_is_meant(to, name))
		far = 0;
	else if (to->options)
		return false;
	else if (to->length >= 3 && strncmp(word, name, to->length) == 0)
		far = 1;
	else
		far = distance(word, to->length, name);
	if (far > (to->length + 1) / 3 || far >= to->best)
		return false;
	to->best = far;
	return true;
}

/* @return   a hint that the word is an ID or a percentage, and no path, for free(3); NULL: it is no number */
static char *suggest_for_id(const struct session *session, const char *word)
{
	size_t digits = strspn(word, "0123456789");
	char over[48] = "", *hint = NULL;
	uint32_t id;

	if (session->takes_over && digits > 0 && digits < 3)
		snprintf(over, sizeof(over), "for what is so full: --over %.2s", word);
	if (over[0] && strcmp(word + digits, "%") == 0)
		return strdup(over);
	if (!isdigit((unsigned char)word[0]) || fsq_parse_id(word, &id))
		return NULL;
	if (asprintf(&hint,
		     session->takes_name
			     ? "%1$s%2$sfor the project of that ID: --id %3$u; fsquota quota -u "
			       "%3$u shows the user"
			     : "%1$s%2$sfsquota quota %3$u shows the project of that ID, fsquota "
			       "quota -u %3$u the user",
		     over, over[0] ? "; " : "", id) < 0)
		return NULL;
	return hint;
}

struct wanted_directory {
	uint32_t id;
	const char *below; /* a path that is in it, or NULL */
	char *first;
};

static enum fsq_visit take_first(uint32_t id, const char *directory, void *arg)
{
	struct wanted_directory *wanted = arg;

	if (id != wanted->id ||
	    (wanted->below && !fsq_path_below(directory, wanted->below, strlen(wanted->below))))
		return FSQ_VISIT_CONTINUE;
	wanted->first = quote_for_shell(directory);
	return FSQ_VISIT_STOP;
}

char *suggest_directory_of(const struct session *session, uint32_t id)
{
	struct wanted_directory wanted = { .id = id };

	fsq_projects_each(session->projects_file, take_first, &wanted, NULL);
	return wanted.first;
}

char *suggest_directory_above(const struct session *session, uint32_t id, const char *path)
{
	char *real = id ? fsq_lookup_gone(NULL, path) : NULL;
	struct wanted_directory wanted = { .id = id, .below = real };

	if (real)
		fsq_projects_each(session->projects_file, take_first, &wanted, NULL);
	free(real);
	return wanted.first;
}

/* @return   how to see the user, or if the command takes no name the project, that the word is a name of; for free(3), or NULL */
static char *suggest_for_name(struct session *session, const char *word)
{
	char *quoted, *hint = NULL, *directory = NULL;
	uint32_t id;
	int length = -1;
	size_t volumes = pods_count(session->projects_file, word, &id);

	if (strchr(word, '/') && !volumes)
		return NULL;
	quoted = quote_for_shell(word);
	/* A namespace, or a pod. */
	if (quoted && volumes > (strchr(word, '/') != NULL))
		length = asprintf(&hint, "fsquota list | grep %s shows its volumes", quoted);
	else if (quoted && volumes)
		length = asprintf(&hint, "there is a volume of that name: %s--name %s",
				  session->takes_name ? "" : "fsquota usage ", quoted);
	else if (quoted && fsq_project_names_id(session_names(session), word, &id) &&
		 (directory = suggest_directory_of(session, id)))
		length = asprintf(&hint, "the project of that name: %s%s%s", directory,
				  session->takes_name ? ", or --name " : "",
				  session->takes_name ? quoted : "");
	else if (quoted && fsq_project_names_id(session_names(session), word, &id))
		length = asprintf(&hint,
				  session->takes_name
					  ? "there is a project of that name: --name %s"
					  : "fsquota quota %s shows the project of that name",
				  quoted);
	else if (quoted && names_to_id(session, FSQ_USER, word, &id))
		length = asprintf(&hint, "fsquota quota -u %s shows the user of that name", quoted);
	free(directory);
	free(quoted);
	return length < 0 ? NULL : hint;
}

static bool is_mounted_on(const char *path)
{
	struct stat st, above;
	char *parent = NULL;
	bool is = asprintf(&parent, "%s/..", path) >= 0 &&
		  fsq_lookup_stat(NULL, path, 0, &st, NULL) == 0 &&
		  fsq_lookup_stat(NULL, parent, 0, &above, NULL) == 0 && st.st_dev != above.st_dev;

	free(parent);
	return is;
}

static enum fsq_visit look_below(uint32_t id, const char *directory, void *arg)
{
	const char **above = arg;

	(void)id;
	if (!fsq_path_below(*above, directory, strlen(directory)))
		return FSQ_VISIT_CONTINUE;
	*above = NULL;
	return FSQ_VISIT_STOP;
}

bool suggest_has_projects_below(const struct session *session, const char *path)
{
	char *real = fsq_lookup_gone(NULL, path);
	const char *above = real;

	if (above)
		fsq_projects_each(session->projects_file, look_below, &above, NULL);
	free(real);
	return real && !above;
}

static enum fsq_visit look_for(uint32_t id, const char *directory, void *arg)
{
	const char **path = arg;

	(void)id;
	if (strcmp(*path, directory) != 0)
		return FSQ_VISIT_CONTINUE;
	*path = NULL;
	return FSQ_VISIT_STOP;
}

bool suggest_is_registered(const struct session *session, const char *path)
{
	fsq_projects_each(session->projects_file, look_for, &path, NULL);
	return !path;
}

/* Behind --json, somebody may name what other tools call a field. @return  for free(3), or NULL */
static char *suggest_for_column(const struct session *session, const char *word)
{
	char *hint = NULL;

	for (const struct field *field = session->rows ? session->rows->fields : NULL;
	     field && (field->column || field->key); field++)
		if (field->column &&
		    (strcasecmp(field->column, word) == 0 ||
		     (field->key && strcasecmp(field->key, word) == 0)) &&
		    asprintf(&hint, "for the column of that name: -o %s", field->column) >= 0)
			return hint;
	return NULL;
}

/* @return   how to see such things, for free(3), or NULL */
static char *suggest_for_noun(const char *word)
{
	const char *meant = find_synonym(nouns, COUNT(nouns), word, strlen(word));

	return meant ? strdup(meant) : NULL;
}

char *suggest_for_path(struct session *session, const char *path, bool exists)
{
	char *quoted, *hint = NULL;
	int length = -1;

	if (!exists && strcmp(path, "-") == 0)
		return strdup("fsquota batch reads requests from standard input");
	if (!exists && suggest_is_registered(session, path))
		return strdup("it is registered: fsquota prune --dry-run shows what is gone");
	if (!exists)
		hint = suggest_for_id(session, path);
	if (!exists && !hint)
		hint = suggest_for_name(session, path);
	if (!exists && !hint)
		hint = suggest_for_column(session, path);
	if (!exists && !hint && session->has_root)
		hint = strdup("with --root, paths are as in that system");
	if (!exists && !hint && strstr(path, ":/"))
		hint = strdup("name the directory where it is mounted; the server sets the limits");
	if (!exists && !hint && session->reads)
		hint = suggest_for_noun(path);
	if (!exists)
		return hint || !session->saves ? hint : strdup("> FILE writes to a file");
	quoted = is_mounted_on(path) || suggest_has_projects_below(session, path)
			 ? quote_for_shell(path)
			 : NULL;
	if (quoted)
		length = asprintf(&hint,
				  "fsquota list %s shows the projects in it, usage "
				  "--fallback=walk counts",
				  quoted);
	free(quoted);
	return length < 0 ? NULL : hint;
}

const char *suggest_missing(const char *directory, const char *hint)
{
	char *above = strdup(directory), *slash = above ? strrchr(above, '/') : NULL;
	struct stat st;

	if (strpbrk(directory, "*?["))
		hint = "the shell found no such path; fsquota.d(5) has patterns";
	else if (slash > above && slash[1]) {
		*slash = '\0';
		if (fsq_lookup_stat(NULL, above, 0, &st, NULL) == -ENOENT)
			hint = "mkdir -p makes it, and what is above it";
	}
	free(above);
	return hint;
}

/* podman takes 10GB for 10^10 bytes, zfs for 10 * 2^30. */
const char *suggest_size(const char *word, int rc, const char *such_as, char text[SUGGESTION])
{
	size_t sign = word[0] == '+';
	const char *number = word + sign;
	size_t digits = strspn(number, "0123456789.");

	if (rc == -ERANGE)
		snprintf(text, SUGGESTION, "\"%.60s\" is too large for a limit", word);
	else if (word[0] == '+' && !strchr(such_as, '+'))
		snprintf(text, SUGGESTION,
			 "\"%.40s\" adds to a limit, which only fsquota resize DIR +SIZE does; "
			 "write a size such as %s",
			 word, such_as);
	else if (digits > 0 && digits < 20 && number[digits] &&
		 strchr("kmgtpeKMGTPE", number[digits]) &&
		 strcasecmp(number + digits + 1, "b") == 0)
		snprintf(text, SUGGESTION,
			 "\"%s\" is no size: some tools count %s by 1000, others by 1024; "
			 "write %.*s%c, which counts by 1024",
			 word, number + digits, (int)(sign + digits), word,
			 toupper((unsigned char)number[digits]));
	/* Many languages write 1.5 so. */
	else if (digits > 0 && number[digits] == ',' && strlen(word) < 20 &&
		 isdigit((unsigned char)number[digits + 1]))
		snprintf(text, SUGGESTION, "\"%s\" is no size; write it with a point: %.*s.%s",
			 word, (int)(sign + digits), word, number + digits + 1);
	else
		snprintf(text, SUGGESTION, "\"%.60s\" is no size, such as %s", word, such_as);
	return text;
}

/* The smallest block of what most filesystems have. */
#define BLOCK_BYTES 4096

const char *suggest_unit(const char *word, uint64_t bytes, char text[SUGGESTION])
{
	if (bytes == 0 || bytes >= BLOCK_BYTES || !isdigit((unsigned char)word[strlen(word) - 1]))
		return NULL;
	snprintf(text, SUGGESTION, "%u bytes is less than a block; write %.20sG, %.20sM or %.20sK",
		 (unsigned int)bytes, word, word, word);
	return text;
}
