#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What README.md, CONTRIBUTING.md, SECURITY.md, NEWS.md, the Markdown in doc, the pages and contrib name is there.

load documentation

references() { run "$srcdir/tests/documentation/references" "$@"; }

@test "every link, path, page, command, option, target and number in the documents is there" {
	references
	assert_success
}

# breaks KIND FILE OLD NEW WHAT: with NEW instead of OLD in FILE, WHAT of KIND is complained of.
breaks() {
	local kind=$1 file=$2 old=$3 new=$4 what=$5
	grep -qF -- "$old" "$srcdir/$file" || fail "$file: $old"
	rm "$top/$file"
	OLD=$old NEW=$new perl -pe 's/\Q$ENV{OLD}\E/$ENV{NEW}/g' "$srcdir/$file" >"$top/$file"
	references --top "$top" "$kind"
	ln -sf "$srcdir/$file" "$top/$file"
	assert_failure 1
	assert_line --regexp "^$kind .*$what"
}

@test "what is renamed without the documents is noticed" {
	local top=$BATS_TEST_TMPDIR/top
	mkdir "$top"
	cp -rs "$srcdir"/{.ci,.github,*.md,Makefile.am,configure.ac,completions,contrib,debian,doc,man,src,tests,tools} "$top"
	breaks links tests/watch/watch.bats 'one event each, and polling' 'an event each' 'watch.bats XFS: a soft'
	breaks links doc/list.svg '<title>' '<title>other' 'README.md: doc/list.svg'
	breaks links README.md doc/list.svg doc/lists.svg 'README.md: doc/lists.svg'
	breaks links doc/internals.md https://uapi http://uapi 'internals.md: http'
	breaks files CONTRIBUTING.md tests/suites tests/suits 'CONTRIBUTING.md: tests/suits'
	breaks files CONTRIBUTING.md many.bats more.bats 'CONTRIBUTING.md: .*more.bats'
	breaks files man/fsquota-tutorial.7 contrib/ansible contrib/units 'contrib/units'
	breaks files man/fsquota.8 /etc/projects /etc/projekts '/etc/projekts'
	breaks files contrib/systemd/fsquota-prune.service 'see fsquota-apply.service' 'see fsquota-use.service' fsquota-use
	breaks pages man/fsquota-usage.8 'fsquota-concepts 7' 'fsquota-concept 7' 'fsquota-concept\(7\)'
	breaks pages man/fsquota-concepts.7 'Sh WHOSE AN ID IS' 'Sh WHOSE' 'WHOSE AN ID IS in fsquota-concepts.7'
	breaks pages contrib/systemd/fsquota-watch.service 'fsquota-watch(8)' 'fsquota-look(8)' 'fsquota-look\(8\)'
	breaks commands README.md '`fsquota batch`' '`fsquota batches`' 'README.md: fsquota batches'
	breaks commands README.md '`prune`' '`prunes`' 'README.md: prunes'
	breaks commands README.md '`tools/check --all`' '`tools/check --every`' 'README.md: --every of tools/check'
	breaks commands README.md --with-xfs-quota-version --with-version '--with-version of configure.ac'
	breaks commands tools/static --host --target '--host of tools/static'
	breaks commands contrib/kubernetes/local-path/setup '--mkdir' '--make' 'setup: fsquota assign --make'
	breaks commands contrib/systemd/fsquota-apply.service 'apply --quiet' 'apply --silent' 'apply --silent'
	breaks commands contrib/cloud-init/fsquota.yaml '[fsquota, apply]' '[fsquota, use]' 'fsquota use'
	breaks commands contrib/ansible/roles/fsquota/tasks/main.yml "'--dry-run'" "'--try'" 'main.yml: .*--try'
	breaks commands man/fsquota-assign.8 '# fsquota assign' '# fsquota give' 'fsquota give'
	breaks commands man/fsquota-usage.8 'Fl -fallback' 'Fl -fall' '--fall'
	breaks commands man/fsquota.8 'Cm batch Fl -read-only' 'Cm batch Fl -over' 'batch --over'
	breaks targets CONTRIBUTING.md 'make coverage' 'make covered' 'make covered'
	breaks targets README.md 'tools/setup static' 'tools/setup linux' 'tools/setup linux'
	breaks targets CONTRIBUTING.md FSQUOTA_CHECK FSQUOTA_ALL FSQUOTA_ALL
	breaks numbers doc/costs.md '<!-- bench -->' '' 'no place for tests/bench/all'
	breaks numbers doc/costs.md '<!-- bench -->' $'<!-- bench -->\n| | | CPU | KiB |' 'has other columns than'
	breaks numbers man/fsquota-apply.8 'status 9' 'status 19' 'exit status 19'
	breaks numbers doc/xfs_quota.md '| 6, if' '| 99, if' 'deviation 99'
}
