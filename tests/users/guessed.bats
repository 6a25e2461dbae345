#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
# needs: man-db
#
# What people type who have read nothing: the answer comes, or a message that names it.

# shellcheck disable=SC2154 # run_split sets stderr
load ../lib/fsquota

setup_file() {
	fresh_each x e
	printf '' >/etc/projects
	printf '' >/etc/projid
	local fs
	for fs in x e; do
		mkdir "/mnt/$fs/dir"
		fsquota assign "/mnt/$fs/dir" --name "web-$fs" --hard 10M
	done
}

# leads STATUS TEXT WORD...: fsquota refuses the words with one line that has the text.
leads() {
	run_split fsquota "${@:3}"
	[[ $status = "$1" && -z $stdout && $stderr == *"$2"* && $stderr != *$'\n'* ]] || fail "${*:3}: $status: $stdout$stderr"
}

@test "a command of another tool, or with a letter wrong, leads to ours" {
	local pair words
	for pair in "ls list" "show list" "set assign resize" "delete release" "rm release" "backup export dump" \
		"rename move" "mv move" "asign assign" "lits list" "relase release" "rep report" "metric metrics"; do
		read -r -a words <<<"$pair"
		leads 2 "there is no command \"${words[0]}\"; did you mean \"${words[1]}\"${words[2]:+ or \"${words[2]}\"}?" "${words[0]}"
	done
	# Of xfs_quota's commands those that stay there.
	leads 2 "there is no command \"quot\"; did you mean \"fsquota -x -c 'quot -p' PATH\"?" quot /mnt/x
	leads 2 "did you mean \"disable\" or \"fsquota -x -c 'off -p' PATH\"?" off /mnt/x
	leads 2 "did you mean \"release\" or \"fsquota -x -c 'remove -p' PATH\"?" remove /mnt/x
	# Words of other tools for an option or two of ours, topics, and a word too many or too few.
	leads 2 'did you mean "apply --diff --dry-run"?' plan
	leads 2 'did you mean "assign --like"?' clone /mnt/x/dir /mnt/e/other
	leads 2 'did you mean "limit -u bsoft=100M bhard=120M USER DIR", "assign" or "release"?' setquota -u root 0 1G 0 0 /mnt/x
	leads 2 'did you mean "doctor", "explain" or "quota -u"?' why
	leads 2 'did you mean "setup"?' init /mnt/x
	leads 2 'did you mean "batch --read-only"?' grant ann
	leads 2 'there is no command "docker"; see fsquota-containers(7)' docker ps
	leads 2 'there is no command "tutorial"; see fsquota-tutorial(7)' help tutorial
	leads 2 'write the command without "fsquota" in front of it' fsquota usage /mnt/x/dir
	leads 2 '/mnt/x is a path: write a command in front of it, such as list' /mnt/x
	leads 2 'options stand behind a command, not --dry-run; see fsquota --help' --dry-run list
	leads 2 'did you mean "batch --read-only"?' --read-only list
	leads 2 'did you mean "list"?' print
	leads 2 'did you mean "list"?' path /mnt/x/dir
	leads 2 'did you mean "list", "top" or "explain"?' fill
	leads 2 'did you mean "usage" or "state"?' info /mnt/x/dir
	leads 2 'did you mean "release --keep-tags"?' unregister /mnt/x/dir
	leads 2 'did you mean "doctor"?' repair /mnt/x
	leads 2 'did you mean "project -s"?' chattr -p 10 /mnt/x/dir
	leads 2 'did you mean "report --html"?' html
	leads 2 'did you mean "timer"?' reset
	leads 2 'did you mean "watch" or "check"?' warnquota
	leads 2 'there is no command "--xfs-quota"; see fsquota -x -c' --xfs-quota --version
	leads 2 'there is no command "--list"; did you mean "list"?' --list
	leads 2 'there is no command "convertquota"; there are assign, usage, ' convertquota
	leads 2 'there is no command "uninstall"; to undo setup, release the directories' uninstall /mnt/x
	leads 2 'there is no command "weekend"; see --until in fsquota-resize(8)' help weekend
	leads 2 'there is no command "history"; see "log" in fsquota.conf(5)' history
	leads 2 'did you mean "--version"?' -v
	leads 2 'did you mean "watch"?' events
	leads 2 'did you mean "list", "doctor" or "state"?' status
	leads 2 'did you mean "enable", or "state" to see what is on?' quotaon -p /mnt/x
	leads 2 'did you mean "watch" or "check"?' alerts
	leads 2 'did you mean "oci-hook"?' runc
	leads 2 'there is no command "kubelet"; see fsquota-containers(7)' help kubelet
	leads 2 'there is no command "sizes"; see fsquota-output(7)' help sizes
	leads 2 'there is no command "homes"; see fsquota.d(5)' homes
	leads 2 'there is no command "logs"; see "log" in fsquota.conf(5)' logs
	leads 2 'there is no command "errors"; see fsquota-json(5)' help errors
	leads 2 'there is no command "exit"; batch ends where its input does; see EXIT STATUS in fsquota(8)' help exit
	leads 2 'there is no command "systemd"; see FILES in fsquota-apply(8)' help systemd
	run -0 fsquota batch <<<$'# a comment\nquit'
	assert_line --partial 'batch takes no comments'
	assert_line --partial 'batch ends where its input does'
	# What is like nothing, and what would be like everything.
	for words in '' x xyzzy 'ls show' "$(printf %0100d 0)" -- 'lis%s'; do
		exits 2 fsquota "$words"
		[[ $stderr == *"see fsquota --help" || $words == lis* ]] || fail "$words: $stderr"
	done
}

@test "an option of another tool, or with a letter wrong, leads to ours" {
	leads 2 'unknown option --limit; did you mean --hard SIZE?' assign --limit 10G /mnt/x/dir
	leads 2 'unknown option --hrad; did you mean --hard SIZE?' assign --hrad=10G /mnt/x/dir
	leads 2 'unknown option --inodes; did you mean --hard-inodes N?' resize --inodes 10 /mnt/x/dir
	leads 2 'unknown option --sort-by; did you mean --sort LIST?' list --sort-by USED
	leads 2 'unknown option --dryrun; did you mean --dry-run?' prune --dryrun
	# -Z is like all letters, and to a synopsis of [OPTION]... the help says more.
	leads 2 'unknown option -Z; usage: fsquota list [OPTION]... [DIR|PATH]..., with --over, --total' list -Z
	leads 2 'unknown option -Z; usage: fsquota state [-gpu]' state -Z
	leads 2 'unknown option --limit; did you mean --top N?' list --limit 1
	leads 2 'unknown option --percent; did you mean --over PERCENT?' watch --percent 90
	leads 2 'unknown option --nagios; did you mean --format FORMAT?' check --nagios
	leads 2 'unknown option --warn; did you mean --over PERCENT or --warning PERCENT?' check --warn 80
	leads 2 'unknown option --notify; did you mean --mail?' check --notify root
	leads 2 'unknown option --summarize; did you mean --total?' list --summarize
	leads 2 'unknown option --validate; did you mean --dry-run?' apply --validate
	leads 2 'unknown option --changed-exit; did you mean --exit-code?' apply --changed-exit
	leads 2 'unknown option --sync; did you mean --prune?' apply --sync
	leads 2 'unknown option --web.listen-address; did you mean --listen ADDRESS:PORT?' metrics --web.listen-address=:9753
	leads 2 'unknown option --storage-opt; did you mean --hard SIZE?' oci-hook --storage-opt size=1G
	leads 2 'unknown option --gid; did you mean --owner OWNER?' assign --mkdir --gid 5 /mnt/x/new
	leads 2 'unknown option --shrink; did you mean --allow-shrink?' resize /mnt/x/dir 1M --shrink
	leads 2 'unknown option --expires; did you mean --until WHEN?' resize /mnt/x/dir +1G --expires 2d
	leads 2 'unknown option --from; did you mean --like OTHER?' assign --from /mnt/x/dir /mnt/x/new
	leads 2 'unknown option --verbose; did you mean --output-all?' list --verbose
	leads 2 'unknown option -l; did you mean --output-all?' list -l
	leads 2 'unknown option -o; did you mean --output-file FILE?' metrics -o file
	leads 2 'unknown option --head; did you mean --rows N?' top --head 3
	leads 2 'unknown option --users; did you mean -u?' list --users
	leads 2 'unknown option --projects; did you mean -p?' list --projects
	leads 2 'unknown option --output-file: > FILE writes to a file' export --output-file lines
	# A known word of another meaning is no similar one: --for was taken for --force.
	leads 2 'unknown option --for; did you mean --until WHEN?' resize /mnt/x/dir +1G --for 2d
	leads 2 'unknown option --for: fsquota resize DIR SIZE --until WHEN' assign /mnt/x/dir --for 2d
	leads 2 'unknown option --register: it does so, unless --no-register is given' assign --register /mnt/x/dir
	# Letters, of which -n is mostly meant as --dry-run.
	leads 2 'unknown option -n; did you mean --dry-run or --noheadings?' prune -n
	leads 2 'unknown option -p: --id ID chooses the ID; mkdir -p makes what is above DIR' assign -p /mnt/x/new
	leads 2 'unknown option -b: --hard SIZE is the limit' assign /mnt/x/dir -b 10M
	leads 2 'unknown option -n: -N has no header, --top N has N rows; for kubectl' list -n default
	leads 2 'unknown option -A: without a path it takes volumes of all namespaces' list -A
	leads 2 'unknown option -w: fsquota watch and fsquota top follow' list -w
	leads 2 'unknown option -s: sizes have a letter' usage -s /mnt/x/dir
	leads 2 'unknown option -q: fsquota check --quiet tells' usage -q /mnt/x/dir
	leads 2 'unknown option -v: --diff shows the limits' apply -v
	leads 2 'unknown option -w; did you mean --over PERCENT or --warning PERCENT?' check -w 80
	# What the command does not need.
	leads 2 'unknown option --yes: the command does not ask' prune --yes
	leads 2 'unknown option -r: DIR stands for all that is in it' resize -r /mnt/x/dir 1G
	leads 2 'unknown option -r: it takes each directory that has a quota' release -r /mnt/x/dir
	leads 2 'unknown option --human: sizes have a letter' list --human
	leads 2 'unknown option --watch: fsquota watch and fsquota top follow' list --watch
	leads 2 'unknown option -f: FILE is an operand, without an option' apply -f lines
	leads 2 'unknown option --file: FILE is an operand, without an option' apply --file lines
	leads 2 'unknown option -f: the command does not ask' release -f /mnt/x/dir
	leads 2 'unknown option --all: without a path it takes all filesystems' list --all
	leads 2 'unknown option --namespace: names of volumes begin with it, where /var/log/pods is: fsquota list | grep NAMESPACE/' list --namespace one
	leads 2 'unknown option --pdf: --html FILE makes a page' report --pdf page.pdf
}

@test "an option for what a command does in another way leads there" {
	leads 2 'unknown option --format: setup makes no filesystem' setup --format xfs /dev/none
	leads 2 'unknown option --mount: mount -o prjquota DEVICE DIR, then fsquota setup --yes DIR' setup --mount /mnt/x /dev/none
	leads 2 'unknown option --undo: there is no undo' setup --undo /mnt/x
	leads 2 'unknown option --all: name one filesystem' setup --all
	leads 2 'unknown option --fix: doctor changes nothing: run the commands behind "repair:"' doctor --fix
	leads 2 'unknown option --soft: fsquota limit -u bhard=50M USER PATH; of a directory: fsquota assign DIR --hard 50M' limit -u 1000 --soft 50M --hard 100M /mnt/x
	leads 2 'unknown option --id: the ID or name is a word of its own, in front of PATH' limit -p bhard=1M --id 10 /mnt/x
	leads 2 'unknown option --name: the ID or name is a word of its own' quota --name web-x /mnt/x
	leads 2 'unknown option --name: fsquota usage takes --id and --name' explain --name web-x
	leads 2 'unknown option --grace: fsquota timer TIME [ID] PATH sets grace times' limit --grace 7d /mnt/x
	leads 2 'unknown option --user: limits of a user: fsquota limit -u bhard=10M USER PATH' assign --user 1000 --hard 10M /mnt/x/dir
	leads 2 'unknown option -u: limits of a user: fsquota limit -u bsoft=0 bhard=0' release -u 1001
	leads 2 'unknown option --retag: fsquota project -s NAME' assign --retag /mnt/x/dir
	leads 2 'unknown option --check: -s sets the ID, as project -s -p DIR ID; -c looks for files without it' project --check /mnt/x/dir
	leads 2 'unknown option --foreign: fsquota project -c NAME' find --foreign web-x
	leads 2 'unknown option --size: fsquota explain DIR shows the largest' find --size web-x
	leads 2 'unknown option --by-user: fsquota quota -u USER has the limits; of a project' list --by-user
	leads 2 'unknown option --unit: sizes have a letter' list --unit=M
	leads 2 'unknown option --format: --html FILE writes a page' report --format html
	leads 2 'unknown option --at: --over PERCENT is for what is so full' watch --at 90
	leads 2 'unknown option --mail: fsquota check --mail sends it' watch --mail root
	leads 2 'unknown option --path: a path is an operand, without an option' list --path /mnt/x
	leads 2 'unknown option --add: fsquota resize DIR +SIZE adds to the limit' resize /mnt/x/dir --add 5M
	leads 2 'unknown option --ttl; did you mean --until WHEN?' resize /mnt/x/dir 1G --ttl 48h
	leads 2 'unknown option --missing-ok; did you mean --if-exists?' release --missing-ok /mnt/x/dir
	leads 2 'unknown option --strict: it exits with 3 if there is a problem' doctor --strict
	leads 2 'unknown option --webhook: fsquota watch --exec PROGRAM calls one' watch --webhook URL
	leads 2 'unknown option --monthly: cron(8) or a timer of systemd' report --monthly
	leads 2 'unknown option --since: there is no history' report --since 2026-11-01
	leads 2 'unknown option --exclude: it removes what is gone for certain' prune --exclude /mnt/x/dir
	leads 2 'unknown option --kubeconfig; see fsquota-containers(7)' check --kubeconfig file
	leads 2 'unknown option -n: --rows N shows so many' top -n 1
	leads 2 'unknown option -d: --interval SECONDS' top -d 1
	leads 2 'unknown option --user; did you mean -u? (of one: fsquota quota -u NAME)' usage --user ann
	run_split fsquota limit --user ann bhard=1G /mnt/x
	assert_equal "$status:$stderr" '2:fsquota limit: unknown option --user; did you mean -u?'
	leads 2 '"yaml" is no column; there is no YAML, but --json' export -o yaml
	leads 2 '"quota=1G" is no column; a limit is --hard SIZE, of fsquota assign' assign -o quota=1G /mnt/x/dir
	leads 2 '-h is --help, without a path; sizes have a letter anyway' usage -h /mnt/x/dir
	leads 2 'setup runs programs of this system: not with --root' --root "$BATS_TEST_TMPDIR" setup
	leads 5 '(fsquota list /var/lib/kubelet/pods shows volumes; see fsquota-containers(7))' top pods
	leads 5 '(fsquota report -u shows users, -g groups)' list users
	leads 2 'unknown option --size-limit; did you mean --hard SIZE?' assign --size-limit 1G /mnt/x/dir
	leads 2 'unknown option --device: PATH is the device, or the directory' setup --device /dev/vdb
	leads 2 'unknown option --boot: --yes writes the line of fstab' setup --boot /mnt/x
	leads 2 'unknown option -a: without a path it takes all filesystems; --all' prune -a
	leads 2 'unknown option --only: it removes what is gone for certain' prune --only /mnt/x/dir
	leads 2 'unknown option --only: -o COLUMN -N' usage --only used /mnt/x/dir
	leads 2 'unknown option -u: limits of users who are gone' prune -u /mnt/x
	leads 2 'unknown option --fail: it exits with 8' check --fail /mnt/x
	leads 2 'unknown option --quiet: it prints nothing but' move --quiet /mnt/x/dir /mnt/x/new
	leads 2 'unknown option -P: projects are -p, users -u' report -P /mnt/x
	leads 2 'unknown option -T: fsquota timer sets grace times' report -T /mnt/x
	leads 2 'unknown option --pvc; see fsquota-containers(7)' assign --pvc data
	leads 2 'unknown option --as-user: fsquota batch --read-only' list --as-user ann
	leads 2 'unknown option --format; fsquota report --html FILE writes a page' list --format=html
	run_split fsquota report --html - --json /mnt/x
	assert_equal "$status" 2
	assert_regex "$stderr" '--html writes a page, without rows beside it'
	leads 2 'there is no directory 10GB; did you mean --hard 10GB?' assign --mkdir /mnt/x/dir 10GB
	leads 2 'there is no directory 5%; did you mean --hard 5%?' assign /mnt/x/dir 5%
	leads 2 'two paths are wanted; one with a blank takes quotes' move /mnt/x/a dir /mnt/x/b
	leads 2 '--edit goes with one directory, and with no limits; that of the project: /mnt/x/dir' resize --edit --name web-x
	leads 5 '(make it and mount the disk there, or name the device)' setup /mnt/x/none
	leads 5 '(name the directory where it is mounted; the server sets the limits)' supported server:/home
	leads 5 '(fsquota doctor /var/lib/kubelet looks there; see fsquota-containers(7))' explain kubelet
	run_split fsquota list --over 0.9 /mnt/x
	assert_equal "$status:$stderr" '0:fsquota list: --over 0.9 is less than one percent: 90 is for 0.9'
	leads 2 'unknown option --pod: fsquota list /var/lib/kubelet/pods shows volumes' list --pod web-0
	leads 2 'unknown option --selector: fsquota list | grep WORD' list --selector app=web
	leads 2 'unknown option --xml: programs read --json, --csv, --pairs or --raw' usage --xml /mnt/x/dir
	leads 2 'unknown option --fail-if-over: fsquota check tells by its exit status' usage --fail-if-over /mnt/x/dir
	leads 2 'unknown option --all: name the directories, which fsquota list shows' release --all
	leads 2 'unknown option --pods: --info has a metric with the pod' metrics --pods
	leads 2 'unknown option --format: it has the format of Prometheus' metrics --format prometheus
	leads 2 'unknown option --text: each answer is a line of JSON' batch --text
	leads 2 'unknown option --socket: systemctl enable --now fsquota-batch.socket listens' batch --socket file
	leads 2 'unknown option --from-file: fsquota apply FILE takes lines' assign --from-file lines
	leads 2 'unknown option --if-changed: it writes only what differs' assign --if-changed /mnt/x/dir
	leads 2 'unknown option --follow: --watch stays, and looks again' apply --follow
	leads 2 'unknown option --at-boot: systemctl enable fsquota-apply.service' apply --at-boot
	leads 2 'unknown option --mkdir: it is a word of the line' apply --mkdir lines
	# What some of them say is so.
	mkdir -p /mnt/x/homes/{ann,bob}
	fsquota assign /mnt/x/homes/*/ --hard 1M
	assert_equal "$(fsquota id /mnt/x/homes/* | sort -u | wc -l)" 2
	leads 2 'unknown option --keep-going: a directory that fails does not stop the others' apply --keep-going
	printf '/mnt/x/homes/%s hard=2M\n' ann none bob >"$BATS_TEST_TMPDIR/lines.conf"
	run -5 fsquota apply "$BATS_TEST_TMPDIR/lines.conf"
	assert_equal "$(fsquota usage --raw -No HARD /mnt/x/homes/*)" $'2M\n2M'
	fsquota release /mnt/x/homes/*
}

@test "an option of another command leads to that one" {
	leads 2 'unknown option --fallback of explain; fsquota usage has it' explain --fallback=walk /mnt/x
	leads 2 'unknown option --html of list; fsquota report has it' list --html /mnt/x
	leads 2 'unknown option --exit-code: --dry-run exits with 9 if steps are left; --json lists what was done' setup --exit-code /mnt/x
	leads 2 'unknown option --hard of export; fsquota assign, resize and others have it' export --hard /mnt/x
	leads 2 'unknown option --quiet: it prints the ID, warnings and errors, and nothing else' assign --quiet /mnt/x/dir
	leads 2 'unknown option --mail of list; fsquota check has it' list --mail
	leads 2 'did you mean the command "release"' assign /mnt/x/dir --remove
	leads 2 'unknown option --colour-me; usage: fsquota list ' list --colour-me
	leads 2 'unknown option --from-where; usage: fsquota move OLD NEW ' move --from-where /mnt/x/dir
}

@test "a directory that is not there: what makes it, or what was meant" {
	local fs
	for fs in x e; do
		leads 5 '(--mkdir makes it)' assign "/mnt/$fs/new" --hard 5M
		leads 5 '(mkdir -p makes it, and what is above it)' assign "/mnt/$fs/new/below" --hard 5M
		leads 5 '(the shell found no such path; fsquota.d(5) has patterns)' assign "/mnt/$fs/homes/*" --hard 5M
		echo "/mnt/$fs/new/below hard=5M" >"$BATS_TEST_TMPDIR/lines"
		run -5 fsquota apply "$BATS_TEST_TMPDIR/lines"
		assert_output --partial 'line 1: the word mkdir in it makes it, mkdir -p what is above it; or take the line out)'
		run -0 fsquota assign --mkdir "/mnt/$fs/lost+found/" --hard 5M
		assert_output --partial 'is where fsck puts what it finds, which counts there from now on; fsquota release takes that off'
		fsquota release "/mnt/$fs/lost+found"
		fsquota assign --mkdir "/mnt/$fs/gone" --hard 5M
		rmdir "/mnt/$fs/gone"
		leads 5 '(it is registered: fsquota prune --dry-run shows what is gone)' usage "/mnt/$fs/gone"
		fsquota release "/mnt/$fs/gone"
	done
}

@test "a format in the place of columns, or of --format, leads to its option" {
	run -0 fsquota list -o path -o used_bytes,USE_PCT,percent,hard_bytes /mnt/x
	assert_line --index 0 'PATH       USED USE% USE% HARD'
	leads 2 '"json" is no column; did you mean --json?' list -o json
	leads 2 '"wide" is no column; did you mean --output-all?' list -o wide
	leads 2 'there is no column "/tmp/list"; > /tmp/list writes to a file' export -o /tmp/list
	leads 2 'unknown option --format; did you mean --csv?' list --format csv
	leads 2 'unknown option --format; did you mean --csv?' usage --format=csv /mnt/x/dir
}

@test "a size with GB or MB is refused with the one to write, by each command and by files" {
	local command
	for command in 'assign /mnt/x/dir --hard 10GB' 'assign /mnt/x/dir --soft 10GB' 'resize /mnt/x/dir 10GB' \
		'resize /mnt/x/dir --hard 10GB' 'check --limit /mnt/x/dir=10GB'; do
		# shellcheck disable=SC2086 # words
		leads 2 '"10GB" is no size: some tools count GB by 1000, others by 1024; write 10G, which counts by 1024' $command
	done
	leads 2 '"1.5mb" is no size: some tools count mb by 1000, others by 1024; write 1.5M, which' resize /mnt/x/dir 1.5mb
	echo '/mnt/x/* hard=20MB' >"$BATS_TEST_TMPDIR/lines.conf"
	leads 2 'line 1: "20MB" is no size: some tools count MB' apply "$BATS_TEST_TMPDIR/lines.conf"
	leads 2 '"+5GB" is no size: some tools count GB by 1000, others by 1024; write +5G, which' resize /mnt/x/dir +5GB
	leads 2 '"1,5G" is no size; write it with a point: 1.5G' assign /mnt/x/dir --hard 1,5G
	leads 2 '"much" is no size, such as 500M, 10G or none' assign /mnt/x/dir --hard much
}

@test "a size, a limit or a time in the wrong place leads to the right one" {
	leads 2 '/mnt/x/dir is no size: the size stands last, fsquota resize DIR SIZE' resize +5G /mnt/x/dir
	leads 2 'a time with a blank takes quotes, such as --until "monday 8:00"' resize /mnt/x/dir +1G --until monday 8:00
	leads 2 'there is no directory hard=1G; did you mean --hard 1G?' assign hard=1G /mnt/x/dir
	leads 2 'there is no directory 1G; did you mean --hard 1G?' assign 1G /mnt/x/dir
	leads 5 '/mnt/x/new: cannot open: No such file or directory (--mkdir makes it)' assign /mnt/x/new --hard 1G
	leads 5 '/mnt/x/new: cannot open: No such file or directory (--mkdir makes it)' assign /mnt/x/new/ --hard 1G
	leads 5 '/mnt/x/new: cannot open: No such file or directory (--mkdir makes it)' assign /mnt/x/new /mnt/x/newer
	leads 5 '/mnt/x/new: cannot open: No such file or directory (> FILE writes to a file)' export /mnt/x/new
	leads 5 '(> FILE writes to a file)' dump /mnt/x/new
	leads 2 'fsquota dump: saved is no path (> FILE writes to a file)' dump saved /mnt/x
	leads 2 'fsquota dump: usage: fsquota dump [-g|-p|-u] [-LU] [-f file] [PATH]' dump /mnt/x saved
	leads 5 'the ID or name comes first; fsquota id prints that of a directory' find /mnt/x/dir
	leads 2 "--until today is $(date +%Y-%m-%d) " resize /mnt/x/dir +1G --until today
	leads 2 "--until takes no seconds: write 1m" resize /mnt/x/dir +1G --until 2s
	leads 2 'the last word, or --at; a file takes -f' restore /mnt/x dump
	: >"$BATS_TEST_TMPDIR/dump"
	leads 1 'open on ' dump -f "$BATS_TEST_TMPDIR/dump" /mnt/x
	[[ $stderr == *'dump failed, -f writes a new one; > FILE replaces it: File exists' ]] || fail "$stderr"
	leads 2 'name limits and whose they are, such as bhard=50M alice /srv; of a directory: fsquota assign DIR --hard 50M' \
		limit bhard=200M /mnt/x
	leads 2 'bhard=2M,bsoft=1M: blanks separate limits, not commas' limit bhard=2M,bsoft=1M 7 /mnt/x
	leads 2 'unrecognised argument 10: name limits and whose they are, such as bhard=50M alice /srv; of a directory: fsquota assign DIR --hard 50M' limit bhard=1M 10 11 /mnt/x
	leads 2 'cannot parse web-x: the time comes first, in one word: seconds, without a letter, or 30m, 12h, 7d, 2w' timer -p web-x 7d /mnt/x
	leads 2 'name a time such as 7d; fsquota state shows the grace times' timer /mnt/x
	leads 2 '--over PERCENT is for what is so full; --at goes with --id or --name' check --at 90
	leads 2 '--warning and --critical go with --format nagios; else take --over' check --warning 90 /mnt/x
	leads 2 '--format is table or nagios (fsquota metrics is for Prometheus), not "prometheus"' check --format prometheus
	leads 2 'option --mail=root takes no value: also mail it; fsquota.conf(5) has the address' check --mail=root
	leads 2 'did you mean --exec /usr/bin/logger --exec-arg -t --exec-arg quota, or fsquota watch ... | logger -t quota?' watch --exec 'logger -t quota' /mnt/x
	leads 2 'not "/bin/echo full"; did you mean --exec /bin/echo --exec-arg full, or fsquota watch ... | /bin/echo full?' watch --exec '/bin/echo full' /mnt/x
	leads 2 "did you mean --exec /bin/sh --exec-arg -c --exec-arg 'echo hit >>/run/hit'?" watch --exec 'echo hit >>/run/hit' /mnt/x
	leads 2 '"my data" cannot be the name of a project: names are no numbers, do not begin with #, and have no blanks' assign --name 'my data' /mnt/x/dir
	leads 2 '--mode and --owner need --mkdir; limits of a user: fsquota limit -u' assign --owner 1000 /mnt/x/dir
	echo '/mnt/x/new hard=1G' >"$BATS_TEST_TMPDIR/lines.conf"
	run -5 fsquota apply "$BATS_TEST_TMPDIR/lines.conf"
	assert_line --partial '/mnt/x/new: cannot open: No such file or directory ('
	assert_line --partial '/lines.conf, line 1: the word mkdir in it makes it, mkdir -p what is above it; or take the line out)'
}

@test "a directory that was not renamed, or not within its project, leads to the way" {
	mkdir /mnt/x/old
	fsquota assign /mnt/x/old --hard 10M
	leads 5 'cannot open: No such file or directory (rename it with mv first; move registers it, and with --rename does both; to another filesystem: cp -a, then assign --like)' move /mnt/x/old /mnt/x/none
	mkdir /mnt/x/copy
	leads 6 'is still there, and is not /mnt/x/copy (copy it, then fsquota assign NEW --like OLD' move /mnt/x/old /mnt/x/copy
	# A provisioner has made the old one again.
	mv /mnt/x/old /mnt/x/new
	run -0 fsquota assign --mkdir /mnt/x/old --hard 10M
	assert_line --partial '/mnt/x/old: is not what was registered: files elsewhere (1) have its ID and share its limit: if it was renamed, rmdir it, and then fsquota move OLD NEW; if it is mounted here, name it by its own path'
	leads 6 '(if it was made again, as by fsquota apply: rmdir it, and then fsquota move)' move /mnt/x/old /mnt/x/new
	rmdir /mnt/x/old
	run -0 fsquota move /mnt/x/old /mnt/x/new
	mv /mnt/x/new /mnt/x/old
	run -0 fsquota move /mnt/x/new /mnt/x/old
	mv /mnt/x/old /mnt/x/dir/old
	leads 6 '(if mv has copied it: fsquota assign NEW --like OLD, then fsquota prune)' move /mnt/x/old /mnt/x/dir/old
	run -0 fsquota prune --dry-run
	fsquota assign /mnt/x/dir/old
	fsquota prune
	[ "$(grep -c /mnt/x/old /etc/projects)" = 0 ]
	dd if=/dev/zero of=/mnt/x/dir/old/file bs=64k count=32 conv=fsync status=none
	fsquota assign /mnt/x/dir/old --hard 4M
	leads 6 'in use (fsquota assign sets a limit below what is in use)' resize /mnt/x/dir/old 1M --allow-shrink
	run -0 fsquota assign /mnt/x/dir/old --hard 1M
	fsquota release /mnt/x/dir/old
}

@test "a line with words of another tool leads to those of ours" {
	local words
	for words in absent state=absent ensure=absent; do
		leads 2 "there is no \"${words%=*}\": without its line, fsquota apply --prune takes the quota of a directory away" \
			apply - <<<"/mnt/x/dir $words"
	done
	leads 2 'blanks separate words, not commas: hard=10G soft=5G' apply - <<<'/mnt/x/dir hard=10G,soft=5G'
	for words in 'hard-limit hard' 'soft_limit soft' 'group owner' 'gid owner' 'project name' 'project-id id' 'permissions mode'; do
		leads 2 "there is no key \"${words% *}\"; did you mean ${words#* }?" apply - <<<"/mnt/x/dir ${words% *}=1"
	done
}

@test "none takes a limit away, and the others stay" {
	fsquota limit bhard=7M bsoft=5M 77 /mnt/x
	fsquota limit bsoft=none 77 /mnt/x
	assert_equal "$(kernel_has /mnt/x 77)" "0 0 7168 0 0 0"
	fsquota limit bhard=none 77 /mnt/x
	local fs id
	for fs in x e; do
		id=$(fsquota id /mnt/$fs/dir)
		fsquota assign /mnt/$fs/dir --soft 5M --hard 10M --hard-inodes 100
		fsquota assign /mnt/$fs/dir --soft none
		assert_equal "$(kernel_has /mnt/$fs "$id" | cut -d' ' -f2,3,6)" "0 10240 100"
		fsquota resize /mnt/$fs/dir --hard-inodes none
		assert_equal "$(kernel_has /mnt/$fs "$id" | cut -d' ' -f2,3,6)" "0 10240 0"
		fsquota assign /mnt/$fs/dir --hard none
		assert_equal "$(fsquota usage --raw -No HARD,IHARD /mnt/$fs/dir)" " "
		fsquota resize /mnt/$fs/dir 10M
	done
}

@test "the name of a project, a mount point, and a directory that quota and df do not expect" {
	local fs command size
	cd "$BATS_TEST_TMPDIR"
	for command in usage release check 'resize --dry-run'; do
		size=''
		[[ $command != resize* ]] || size=1G
		# shellcheck disable=SC2086 # words
		leads 5 'web-x: cannot open: No such file or directory (the project of that name: /mnt/x/dir, or --name web-x)' $command web-x $size
	done
	leads 5 '(the project of that name: /mnt/x/dir)' explain web-x
	leads 5 '(fsquota quota -u root shows the user of that name)' explain root
	leads 5 'there is no project root, but a user: take -u' quota root /mnt/x
	leads 5 'invalid project number; -s sets the ID, -c checks it, -C takes it off' project check /mnt/x/dir
	leads 5 'fsquota quota 1000 shows the project of that ID, fsquota quota -u 1000 the user)' list -u 1000
	leads 5 'there is no project set; did you mean the command "assign" or "resize"?' quota set /mnt/x/dir
	leads 2 'unrecognised argument root: name limits and whose they are, such as bhard=50M alice /srv; of a directory: fsquota assign DIR --hard 50M' limit -u root 10G /mnt/x
	refute_regex "$(fsquota usage ./web-x 2>&1)$(fsquota usage web-y 2>&1)" 'project of that name'
	for fs in x e; do
		leads 5 "(fsquota list /mnt/$fs shows the projects in it, usage --fallback=walk counts)" usage /mnt/$fs
		run -0 fsquota quota --raw --output NAME,HARD /mnt/$fs/dir
		assert_line "web-$fs 10M"
		dd if=/dev/zero of=/mnt/$fs/dir/file bs=64k count=200 conv=fsync status=none || :
		sync -f /mnt/$fs
		run -0 df --output=size,pcent -B1M /mnt/$fs/dir
		assert_line --regexp '^ *10 +100%$'
		run -0 fsquota df --raw --noheadings --output SIZE,USE%,PATH /mnt/$fs/dir
		assert_output --regexp "^10M 1[0-9][0-9]% /mnt/$fs/dir\$"
		rm /mnt/$fs/dir/file
		mkdir -p /mnt/$fs/dir/below /mnt/$fs/plain
		prints /mnt/$fs/dir fsquota df --raw --noheadings --output PATH /mnt/$fs/dir/below
		prints /mnt/$fs fsquota df --raw --noheadings --output PATH /mnt/$fs/plain
		prints "/mnt/$fs"$'\n'"/mnt/$fs/dir" fsquota df --raw --noheadings --output PATH /mnt/$fs/plain /mnt/$fs/dir
		prints "/mnt/$fs"$'\n'"/mnt/$fs/dir" fsquota df --raw --noheadings --output PATH /mnt/$fs
		rmdir /mnt/$fs/dir/below /mnt/$fs/plain
	done
	leads 2 'name a project or a directory of one' quota /mnt/x
	mkdir /mnt/x/free
	leads 2 '/mnt/x/free: belongs to no project; fsquota assign gives it one' quota /mnt/x/free
	HOME=/run/nobody leads 5 '/run/nobody: cannot open: No such file or directory (without DIR it is $HOME; . is this directory)' explain
}

# tests/documentation compares these with fsquota(8).
@test "fsquota alone shows the commands as --help does, and fails" {
	run_split fsquota
	assert_equal "$status$stderr" 2
	assert_equal "$stdout" "$(fsquota --help)"
	assert_line --partial 'put a quota on a directory'
}

# bats test_tags=install
@test "help opens the page on a terminal, and is text where there is none" {
	local bin=$BATS_TEST_TMPDIR/bin name
	mkdir "$bin"
	printf '#!/bin/sh\necho "page $* $(less)"\n' >"$bin/page"
	chmod +x "$bin/page"
	mount --bind "$bin/page" /usr/bin/man
	# Others are in the PATH of the caller: this man, and what the page is shown with.
	for name in man less; do
		printf '#!/bin/sh\ntouch "%s"\n' "$bin/ran" >"$bin/$name"
		chmod +x "$bin/$name"
	done
	run -0 env PATH="$bin:$PATH" script -qec 'fsquota help list' /dev/null
	assert_line --partial 'page 8 fsquota-list'
	[ ! -e "$bin/ran" ]
	# It fails where the page is not installed.
	printf '#!/bin/sh\nexit 16\n' >"$bin/page"
	run -0 env PATH="$bin:$PATH" script -qec 'fsquota help list' /dev/null
	assert_line --partial "Usage: fsquota list"
	umount /usr/bin/man
	run -0 env PATH="$bin:$PATH" fsquota help list
	assert_line "Usage: fsquota list [OPTION]... [DIR|PATH]..."
	[ ! -e "$bin/ran" ]
}

@test "the help of each command has two examples, of words that it takes" {
	local command line words
	for command in $(fsquota help --machine | cut -f1); do
		mapfile -t lines < <(fsquota help "$command" | sed '1,/^Examples:$/d')
		assert_equal "$command ${#lines[@]}" "$command 2"
		for line in "${lines[@]}"; do
			read -r -a words <<<"${line%%[|<>&]*}"
			assert_equal "${words[0]} ${words[1]}" "fsquota $command"
			run -0 "${words[@]}" --help
		done
	done
}

# Empty dumps, and words in place of -f FILE.
restores_nothing() {
	local words
	fsquota limit bhard=7M isoft=5 42 "/mnt/$1"
	rm -f dump
	fsquota dump -f dump "/mnt/$1"
	fsquota limit bhard=8M 42 "/mnt/$1"
	: >empty
	printf '# type = project\nfs = %s\n\n' "$(findmnt -no SOURCE "/mnt/$1")" >nothing
	cp dump "/mnt/$1/dump"
	for words in "restore -f $PWD/dump DIR=$PWD/dump /mnt/$1" "restore -f $PWD/dump DIR=--at $PWD/dump --at /mnt/$1" \
		"restore -f /mnt/$1/dump DIR=/mnt/$1/dump" "restore -f /mnt/$1/dump DIR=--dry-run --at /mnt/$1 --at /mnt/$1/dump" \
		"\"word\" is no filesystem; a dump is read with -f=--at /mnt/$1 word" "no filesystem=-f dump --at /mnt/$1 word" \
		"several filesystems=/mnt/x /mnt/e" "no limits in standard input=/mnt/$1" "no limits in /dev/null=-f /dev/null /mnt/$1" \
		"no limits in empty=-f empty /mnt/$1" "no limits in nothing=-f nothing -p --dry-run /mnt/$1"; do
		# shellcheck disable=SC2086 # words
		leads 2 "${words%%=*}" restore ${words#*=} </dev/null
	done
	assert_equal "$(kernel_has "/mnt/$1" 42)" "0 0 8192 0 5 0"
	fsquota restore "/mnt/$1" <dump
	assert_equal "$(kernel_has "/mnt/$1" 42)" "0 0 7168 0 5 0"
}

@test "limit -d with a directory sets the default of all, and says so" {
	local fs
	for fs in x e; do
		run_split fsquota limit -p bhard=500m -d /mnt/$fs/dir
		assert_equal "$status:$stderr" "0:fsquota limit: /mnt/$fs: the default of all is set; of one directory: fsquota assign /mnt/$fs/dir --hard SIZE"
		is_silent fsquota limit -p bhard=0 -d /mnt/$fs
	done
}

@test "restore sets limits, or says what is missing" {
	cd "$BATS_TEST_TMPDIR"
	restores_nothing x
	restores_nothing e
}

@test "what reads standard input says so on a terminal" {
	local words
	for words in 'restore /mnt/x=a dump' 'restore -u --at /mnt/x --dry-run=a dump' 'apply -=lines' 'batch=requests' \
		"oci-hook=the container's state"; do
		run script -qec "fsquota ${words%%=*}" /dev/null </dev/null
		assert_line --regexp "reading ${words#*=}.* from the terminal, up to Ctrl-D"
	done
	refute_line --partial 'No such'
	run_split fsquota apply - </dev/null
	assert_equal "$stderr" ""
}

@test "a number that is no path leads to the project of that ID" {
	local words
	cd "$BATS_TEST_TMPDIR"
	for words in "report -p 142" "report 142" "df 142" "supported 142" "id 142" "export 142" "metrics 142" "list 142" "explain 142"; do
		# shellcheck disable=SC2086 # words
		leads 5 'No such file or directory (fsquota quota 142 shows the project of that ID' $words
	done
	for words in "usage 142" "check 142" "release 142" "resize 142 9M"; do
		# shellcheck disable=SC2086 # words
		leads 5 'No such file or directory (for the project of that ID: --id 142; fsquota quota -u 142 shows the user)' $words
	done
	for words in "watch 90" "check 90" "list 90%"; do
		# shellcheck disable=SC2086 # words
		leads 5 'No such file or directory (for what is so full: --over 90' $words
	done
	for words in "state 142" "dump 142" "state -p 142 /mnt/x" "disable 142 /mnt/x"; do
		# shellcheck disable=SC2086 # words
		leads 2 '142 is no path (fsquota quota 142 shows the project of that ID' $words
	done
	leads 5 'cannot open' list 142x
	[[ $stderr != *'that ID'* ]] || fail "$stderr"
	mkdir 142
	run_split fsquota usage 142
	[[ $stderr != *'that ID'* ]] || fail "$stderr"
}

@test "a volume by the name that list shows" {
	local pod=/mnt/x/kubelet/pods/0d0d volume
	volume=$pod/volumes/kubernetes.io~empty-dir/cache
	mount -t tmpfs none /var/log
	mkdir -p /var/log/pods/shop_web-0_0d0d "$volume" "${volume%/*}/logs"
	fsquota assign --hard 5M "$volume"
	prints 5242880 fsquota usage --raw --bytes -No HARD --name shop/web-0/cache
	prints 5242880 fsquota usage --raw --bytes -No HARD --name shop/web-0
	fsquota assign --hard 6M "${volume%/*}/logs"
	run -0 fsquota resize --name shop/web-0/logs 7M
	prints 7340032 fsquota usage --raw --bytes -No HARD --name shop/web-0/logs
	leads 6 '2 volumes have a name that begins with shop/: fsquota list | grep shop/' usage --name shop/
	leads 5 'there is no project "shop/we"' usage --name shop/we
	leads 5 'there is a volume of that name: fsquota usage --name shop/web-0/cache)' explain shop/web-0/cache
	leads 5 '(fsquota list | grep shop/web-0 shows its volumes)' list shop/web-0
	leads 5 '(fsquota list | grep shop shows its volumes)' list shop
	leads 6 '2 volumes have a name that begins with shop: fsquota list | grep shop' usage --name shop
	leads 5 'there is a volume of that name: --name shop/web-0/cache)' release shop/web-0/cache
	leads 5 "belongs to no project (fsquota list $pod shows the projects in it, usage --fallback=walk counts)" explain "$pod"
	umount /var/log
}

@test "guesses of five who had a list of tasks" {
	local words="limits and whose they are, such as bhard=50M alice /srv; of a directory: fsquota assign DIR --hard 50M"
	leads 2 '--mail takes no address: "mail = ADDRESS" in fsquota.conf(5) has it' check --mail me@example.org /mnt/x
	leads 2 'one size is the hard limit; the soft one is --soft 200M' resize /mnt/x/dir 300M 200M
	leads 2 "the last word, or --at; before it $words" limit /mnt/x/dir bhard=60M
	leads 2 "the last word, or --at; before it $words" limit -u alice bhard=5G
	leads 2 'unknown option --due: fsquota list -o +until shows when limits go back' list --due
	leads 2 'unknown option --over: fsquota list --over PERCENT' report --over 80 /mnt/x
	leads 2 'unknown option --until: fsquota resize DIR SIZE --until WHEN is for directories; of users: at(1)' limit -u bhard=9G alice /mnt/x --until monday
	leads 2 'unknown option --kubelet: fsquota doctor /var/lib/kubelet looks at its filesystem; see KUBELET in fsquota-xfs_quota(7)' doctor --kubelet
	leads 2 'there is no directory bhard=5m; did you mean --hard 5m?' assign /mnt/x/dir bhard=5m
	leads 2 'there is no directory isoft=5; did you mean --soft-inodes 5?' assign --mkdir new isoft=5
	leads 2 'unknown option -0: --jsonl has any name in a line; --raw has no blanks in a cell' list -0 -o path
	leads 2 'unknown option --if-not-exists: it may run again: it changes only the limits that are given' assign --if-not-exists /mnt/x/dir
	leads 2 'unknown option -p: --id ID chooses the ID; mkdir -p makes what is above DIR' assign /mnt/x/dir -p 77
	leads 2 'unknown option --syslog: fsquota watch ... | logger -t fsquota logs its lines' watch --syslog /mnt/x
	leads 2 'unknown option --to: --html FILE makes a page, which mail(1) sends' report --to boss@example.org
	leads 2 '-h is --help; the limit is --hard 5M' assign -h 5M /mnt/x/dir
	leads 2 'not with --root; have the image run it at its first boot' --root / setup --yes /srv
	run fsquota -c report /mnt/x
	assert_output 'command "report" not found without -x'
	leads 5 '-: cannot open: No such file or directory (fsquota batch reads requests from standard input)' usage -
	leads 5 'web-x: is the name of a project: give its old path, which fsquota list shows' move web-x /mnt/x
	leads 5 '/mnt/x/a hard=5M mkdir: cannot read: No such file or directory (FILE is a file or directory with lines, - standard input)' apply '/mnt/x/a hard=5M mkdir'
	leads 5 '/etc/fsquota.d: cannot read: No such file or directory (FILE is a file or directory with lines, - standard input)' apply
	leads 2 'there is no command "exit-codes"; see EXIT STATUS in fsquota(8)' exit-codes
}

@test "users and groups: what leaves them out says so" {
	local fs words
	fsquota limit -u bhard=5m daemon /mnt/x
	fsquota limit -g bhard=5m daemon /mnt/e
	for fs in x e; do
		run script -qec "fsquota report --html $BATS_TEST_TMPDIR/page; fsquota dump /mnt/$fs; fsquota check /mnt/$fs; fsquota timer 7d /mnt/$fs" /dev/null
		for words in "report -u" "dump -u" "check -u" "timer -u"; do
			assert_output --partial "/mnt/$fs: has limits of users or groups, too: fsquota $words, or -g"
		done
		run script -qec "fsquota dump -p /mnt/$fs; fsquota check -u /mnt/$fs" /dev/null
		refute_output --partial 'users or groups'
	done
	run_split fsquota dump /mnt/x
	assert_equal "$status$stderr" "0fsquota dump: /mnt/x: has limits of users or groups, too: fsquota dump -u, or -g"
	fsquota limit -u bhard=0 daemon /mnt/x
	prints '' fsquota dump -u /mnt/x
	run_split fsquota dump /mnt/x
	assert_equal "$status$stderr" 0
	leads 2 'fsquota state shows the grace times' timer -u
	leads 2 '-u, -g and -p exclude each other' dump -ugp /mnt/x
	leads 2 'fsquota-watch-mail.service mails, see fsquota-watch(8)' watch --over 90 --exec 'mail -s quota root' /mnt/x
	leads 2 '--html shows projects; of users and groups there are --csv and --json' report -u --html page /mnt/x
	leads 2 'unknown option -u: fsquota dump -u has the limits of users' export -u
	leads 2 'unknown option --user: fsquota quota -u USER has the limits' doctor --user daemon
	leads 2 'did you mean "limit --edit -u USER DIR" or "resize --edit"?' edquota daemon
	leads 2 'unknown option --copy: name the limits, for one user at a time' limit -u --copy daemon bin /mnt/x
	leads 2 '--name is given twice: name one project a run' release --name web-x --name web-e
	leads 2 '--id is given twice: name one project a run' resize --id 70 --id 71 --at /mnt/x 5M
	leads 2 '--id takes --at PATH, or the directory' resize --id 1048579 --hard 200Mi
	leads 2 '--mail takes no address' check --mail root /mnt/x
}

@test "guesses of a programmer" {
	leads 2 'unknown option -H; did you mean --noheadings?' list -Hp -o name,used /mnt/x
	leads 2 'unknown option -B: sizes have a letter (K, M, G, ...), or take --bytes' df -B1 /mnt/x/dir
	leads 2 'unknown option --gone: fsquota prune --dry-run shows directories that are gone' list --gone /mnt/x
	leads 2 'unknown option --files0-from: fsquota batch reads requests from standard input' usage --files0-from=-
	leads 2 'unknown option --until: fsquota resize DIR SIZE --until WHEN, when it has a quota' assign /mnt/x/dir --hard 2M --until friday
	leads 2 'unknown option --undo: resize DIR --until now puts back what --until has changed' resize /mnt/x/dir --undo
	leads 2 'unknown option --read-only: fsquota batch --read-only lets others look, by sudo(8)' list --read-only
	leads 2 'unknown option --shell: eval takes what --pairs prints' usage --shell /mnt/x/dir
	leads 2 'there is no column "pcent"; there are ID,NAME,USED,SOFT,HARD,USE%,IUSED,IHARD,PATH, and others, see --list-columns' list -o name,pcent,used
	# A name that the ID makes is shown to who asks for names; what is in no project only with its name.
	mkdir /mnt/x/unnamed
	fsquota assign /mnt/x/unnamed --id 1048600
	run -0 fsquota list -o name,id /mnt/x
	assert_line --regexp '^volume1048600 +1048600$'
	run -0 fsquota list -o +path /mnt/x
	refute_output --partial volume1048600
	run -0 fsquota list -o id,path /mnt/x
	refute_line --regexp '/mnt/x$'
	# Who knows the quotas of ZFS takes the inner one for a part of the outer one.
	run -0 fsquota assign --mkdir /mnt/x/dir/sub
	assert_line --partial "/mnt/x/dir/sub: leaves project $(fsquota usage --raw -No ID /mnt/x/dir) of /mnt/x/dir: it counts there no more, and those limits do not hold in it"
	fsquota release /mnt/x/dir/sub
	rmdir /mnt/x/dir/sub /mnt/x/unnamed
	run -0 fsquota list -No id,inforce /mnt/x
	assert_line --regexp '^1048600 +gone$'
}

# On a terminal: what it says on both streams together.
says() {
	run script -qec "$(printf '%q ' "${@:2}")" /dev/null </dev/null
	assert_output --partial "$1"
}

# What did something else than was meant, and said nothing.
others_change() {
	local top=/mnt/$1 id command
	mkdir -p $top/photos/sub $top/alpha $top/new $top/plain
	id=$(fsquota assign $top/photos --hard 10M --soft 9M)
	fsquota assign $top/alpha --hard 5M --name "alpha-$1"
	run -0 fsquota assign $top/new --hard 6M --name "alpha-$1"
	assert_line --regexp "$top/new: joins project [0-9]+ of $top/alpha, whose limits change: hard 5M -> 6M"
	says "the soft limit moves with the hard one, from 9M to 10M; --soft SIZE sets it" fsquota resize $top/photos --hard +10%
	says "$top/photos/sub: has no quota of its own: the limits are those of $top/photos, project $id" fsquota resize $top/photos/sub 12M
	leads 6 'would be smaller than the 12M (12582912 bytes) its project has' resize $top/photos/sub 11M
	run -0 fsquota assign $top/photos/sub --hard 2M
	assert_line --partial "$top/photos/sub: leaves project $id of $top/photos: it counts there no more"
	run -0 fsquota resize --name "alpha-$1" 1T
	assert_output --regexp "$top: the limit of 1T is more than the filesystem has, [0-9]+M"
	for command in list export; do
		says "$top/plain: no project here: fsquota explain DIR" fsquota "$command" $top/photos $top/plain
	done
	fsquota release $top/photos/sub $top/photos $top/alpha $top/new
}

@test "limits of other directories that change are named" {
	others_change x
	others_change e
}

@test "what is not read, not shown or not sent is said" {
	echo '/mnt/x/dir hard=11M' >"$BATS_TEST_TMPDIR/lines"
	mkdir -p /etc/fsquota.d
	run fsquota apply <"$BATS_TEST_TMPDIR/lines"
	assert_output 'fsquota apply: the lines are those of /etc/fsquota.d, and standard input is not read: fsquota apply - reads it'
	run bash -c "sleep 0.1; cat $BATS_TEST_TMPDIR/lines | { sleep 0.1; fsquota apply; }"
	assert_output --partial 'standard input is not read: fsquota apply - reads it'
	run_split fsquota apply </dev/null
	assert_equal "$stderr" ''
	leads 0 "has no file *.conf, so nothing is released; an empty one means that nothing is wished" apply --prune
	rmdir /etc/fsquota.d
	leads 2 '--raw and an earlier format exclude each other' usage --pairs --raw /mnt/x/dir
	leads 2 '--json and an earlier format exclude each other' list --csv --json
	says 'no address: write mail = ADDRESS into /etc/fsquota.conf' fsquota check --mail /mnt/x/dir
	says 'no limits are due: fsquota list -o +until shows when' fsquota resize --due
	umount /mnt/e
	mount -t ext4 -o noquota "$FSQ_E_DEV" /mnt/e
	if fsquota supported /mnt/e; then
		umount /mnt/e
		tune2fs -O ^quota,^project "$FSQ_E_DEV" >/dev/null 2>&1
		mount -t ext4 "$FSQ_E_DEV" /mnt/e
	fi
	says '/mnt/e: left out: project quota is off here, see fsquota doctor' fsquota list
	says 'nothing is changed: fsquota setup --yes --unmount /mnt/e does the steps' fsquota setup /mnt/e
	mkdir /mnt/x/gone
	fsquota assign /mnt/x/gone
	rmdir /mnt/x/gone
	says 'directories that are gone: 2; fsquota prune --dry-run shows them' fsquota list /mnt/x
	fsquota release /mnt/x/gone
	run_split fsquota list
	assert_equal "$stderr" ''
	fresh_fs e
}

@test "guesses of five more" {
	leads 2 'unknown option --grace: fsquota timer TIME [ID] PATH sets grace times' timer --grace 14d /mnt/x
	leads 2 'unknown option --users: it keeps quotas of users, and sets up those of projects' setup --users /mnt/x
	leads 2 '"web" is no project ID from 1 to 4294967294; a name takes --name' assign --id web /mnt/x/dir
	leads 2 '"web" is no project ID from 1 to 4294967294; a name takes --name' usage --id web --at /mnt/x
	leads 2 '--until is a time such as 3d or "monday 8:00", not "never"; without it limits last' resize /mnt/x/dir 11M --until never
	leads 2 '--until goes with one directory, and with limits; that of the project: /mnt/x/dir' resize --name web-x 11M --until 3d
	leads 2 'unknown option --config: FILE is an operand, without an option' apply --config /etc/fsquota.d
	leads 2 'unknown option --install: systemctl enable has a unit run it, see FILES' watch --install
	leads 2 'unknown option --install-sudoers: --read-only and sudoers(5) let others look: see fsquota-batch(8)' batch --install-sudoers
	leads 2 'option --html takes a value: --html FILE (write a page' report --html
	leads 5 'used: cannot open: No such file or directory (for the column of that name: -o USED)' usage used
	leads 5 '(for the column of that name: -o USED)' usage used_bytes
	leads 5 '/mnt/x/none: cannot open: No such file or directory (--like takes a directory that has a quota, or had one' assign /mnt/x/dir --like /mnt/x/none
	mkdir /mnt/x/old
	fsquota assign /mnt/x/old --name old
	leads 5 'old: is the name of a project: give its old path, which fsquota list shows, and its new one' move old new
	leads 5 'newer: cannot open: No such file or directory (NEW is a path from here: write it in full, as OLD is)' move /mnt/x/old newer
	leads 6 '(NEW is a path from here: write it in full, as OLD is)' move --rename /mnt/x/old newer
	mv /mnt/x/old /mnt/x/newer
	is_silent fsquota move /mnt/x/old /mnt/x/newer
	leads 5 '/mnt/x/old: is not registered, and neither is a directory in it (NEW is: the quota has moved there already)' move /mnt/x/old /mnt/x/newer
	fsquota release /mnt/x/newer
	# Of a programmer.
	leads 2 'there is a newline in its path (--no-register limits it, and writes no line)' assign --mkdir $'/mnt/x/a\nb'
	leads 2 'unknown option --remove: release deletes no files: rm -r does' release --remove /mnt/x/dir
	leads 2 'unknown option --schema: fsquota schema COMMAND prints it' usage --json --schema
	leads 2 'there is no such command; errors and batch: see fsquota-json(5)' schema error
	leads 2 'that command has no rows of its own; see fsquota-json(5)' schema batch
	leads 2 'unknown option --null: --jsonl has any name in a line; --raw has no blanks in a cell' list --null
	mkdir /mnt/x/counted
	says '/mnt/x/counted: is counted, without a limit: --hard SIZE sets one' fsquota assign /mnt/x/counted
	says '/mnt/x/counted: had no hard limit of space, and has one now' fsquota resize /mnt/x/counted 10M
	fsquota release /mnt/x/counted
	# Of a newcomer.
	leads 2 'a time is one word: 3days' timer 3 days /mnt/x
	leads 2 'a size is wanted; usage' resize /mnt/x/dir
	rm -rf /mnt/x/copy
	leads 5 '(--like takes only limits: cp -a copies what is in it, --mkdir makes it empty)' assign --like /mnt/x/dir /mnt/x/copy
	leads 2 '--until now goes with one directory, and puts back its limits; that of the project: /mnt/x/dir' resize --name web-x --until now
}

@test "guesses of two with many nodes" {
	leads 2 'unknown option --enforced; did you mean --require-enforced?' assign --enforced /mnt/x/dir
	leads 2 'unknown option --enforced: fsquota doctor exits with 3 where limits would not hold' supported --enforced /mnt/x
	leads 2 'unknown option --require-enforced: fsquota doctor exits with 3' apply --require-enforced
	leads 2 'unknown option --budget: a budget is a line: /srv budget=100G, see fsquota.d(5)' apply --budget 1G
	leads 2 '"changed" is no column, but a key of --json' assign /mnt/x/dir -o path,changed
	leads 2 "unknown option --mkdir: sed 's/\$/ mkdir/' adds the word to each line" export --mkdir
	leads 2 '"12.5%" is no percentage: a whole number from 1% to 100%, such as 10%' assign /mnt/x/dir --hard 12.5%
	leads 2 '"120%" is no percentage' assign /mnt/x/dir --hard 120%
	leads 2 'unknown option --set: -s sets the ID, as project -s -p DIR ID' project --set /mnt/x/dir 10
	cd "$BATS_TEST_TMPDIR"
	echo '/mnt/x/r6 hard=10M mkdir id-range=6000-6999' >lines
	leads 2 'lines, line 1: id-range belongs in /etc/fsquota.conf, see fsquota.conf(5)' apply lines
	printf 'id-range 6000-6999\n' >/etc/fsquota.conf
	run fsquota assign /mnt/x/dir
	assert_output --partial 'line 1: there is no key "id-range 6000-6999"; a line is KEY = VALUE, see fsquota.conf(5)'
	rm /etc/fsquota.conf
	echo '/mnt/x/c1=90Mi' >lines
	leads 2 'a path and its limit are two words: /mnt/x/c1 hard=90Mi' apply lines
	leads 2 'unknown option --events; usage: fsquota watch' watch --events /mnt/x
	leads 2 'unknown option --format; fsquota metrics is for Prometheus' list --format prometheus
	leads 2 'unknown option --if-needed: it may run again' assign --if-needed /mnt/x/dir
	leads 2 'unknown option --number: -o COLUMN -N --bytes has the value of one column' usage --number /mnt/x/dir
	leads 2 '"0" is no project ID from 1 to 4294967294; fsquota explain of a mount point shows what has none' find 0 /mnt/x
	leads 2 'unknown option --no-project: fsquota explain of a mount point shows what has none' find --no-project /mnt/x
	leads 2 'name the project, by its name or ID, which fsquota id DIR prints' project /mnt/x/dir
	# What is moved out of a directory keeps its ID.
	mkdir /mnt/x/dir/moved
	mv /mnt/x/dir/moved /mnt/x/moved
	leads 6 'or its owner has set the ID: fsquota release --id ID)' assign /mnt/x/moved --hard 1M
	is_silent fsquota release --id "$(fsquota usage --raw -No ID /mnt/x/dir)" /mnt/x/moved
	assert_equal "$(fsquota id --raw -No ID /mnt/x/moved /mnt/x/dir | xargs)" "0 $(fsquota usage --raw -No ID /mnt/x/dir)"
	rmdir /mnt/x/moved
	# Another directory by the same path: mounted there, or made anew after mv.
	mkdir -p /mnt/x/one /mnt/x/two /run/mounted
	mount --bind /mnt/x/one /run/mounted
	run -0 fsquota assign /run/mounted --hard 5M
	refute_output --partial 'registered'
	umount /run/mounted
	mount --bind /mnt/x/two /run/mounted
	run -0 fsquota assign /run/mounted --hard 5M
	assert_line --partial '/run/mounted: is not what was registered: files elsewhere (1) have its ID and share its limit'
	run_split fsquota assign /run/mounted --hard 5M
	assert_equal "$stderr" ''
	fsquota release /run/mounted
	umount /run/mounted
	fsquota prune --all
	mkdir /mnt/x/renamed
	fsquota assign /mnt/x/renamed --hard 5M
	mv /mnt/x/renamed /mnt/x/renamed-2
	mkdir /mnt/x/renamed
	run -0 fsquota assign /mnt/x/renamed --hard 5M
	assert_line --partial '/mnt/x/renamed: is not what was registered: files elsewhere (1)'
	# What lasts for one run only, or is left as it is.
	echo '/mnt/x budget=500M' >lines
	run -0 fsquota apply lines
	assert_output --partial 'a budget in these lines is only for this run: in /etc/fsquota.d it lasts'
	run_split fsquota assign /mnt/x/dir --mkdir --mode 0700 --owner 1000:1000 --hard 12M
	assert_equal "$status:$stderr" '0:fsquota assign: /mnt/x/dir: was there, and keeps its owner and mode: chown(1) and chmod(1) change them'
	says '/mnt/x/dir: was there, and keeps its owner and mode' fsquota assign /mnt/x/dir --mkdir --mode 0700
	echo '/mnt/x/dir hard=10M mkdir mode=0711' >lines
	says '/mnt/x/dir: was there, and keeps its owner and mode' fsquota apply lines
	run -0 fsquota assign /mnt/x/made --mkdir --mode 0700 --owner 1000:1000
	run_split fsquota assign /mnt/x/made --mkdir --mode 0700 --owner 1000:1000
	assert_equal "$stderr" ''
	fsquota release /mnt/x/made
	rmdir /mnt/x/made
}

@test "who cannot write any more is told by explain, and sees the grace time in list" {
	local fs
	fresh_each x e
	for fs in x e; do
		mkdir -m 777 "/mnt/$fs/full"
		fsquota assign "/mnt/$fs/full" --soft 2M --hard 8M
		setpriv --reuid 1000 --regid 1000 --clear-groups dd if=/dev/zero of="/mnt/$fs/full/file" bs=1M count=4 conv=fsync 2>/dev/null
		says "/mnt/$fs/full: above the soft limit of space: full when the grace time is over" fsquota explain "/mnt/$fs/full"
		run -0 fsquota list "/mnt/$fs"
		assert_line --regexp ' USE% GRACE '
		fsquota assign "/mnt/$fs/full" --hard 4M --soft none
		says "/mnt/$fs/full: full: all of the hard limit of space is used" fsquota explain "/mnt/$fs/full"
		says "/mnt/$fs/full: all of the limit that stops first is used, soft or hard" setpriv --reuid 1000 --regid 1000 --clear-groups "$FSQUOTA" explain "/mnt/$fs/full"
		fsquota assign "/mnt/$fs/full" --hard 20M
		fsquota limit -u bhard=4M 1000 "/mnt/$fs"
		chown 1000 "/mnt/$fs/full"
		says "/mnt/$fs/full: full: all of the hard limit of space of user 1000 is used; see fsquota quota -u 1000" fsquota explain "/mnt/$fs/full"
		says "has limits of users or groups, too: fsquota list -u, or -g" fsquota list "/mnt/$fs"
		fsquota limit -u bhard=0 1000 "/mnt/$fs"
		run script -qec "fsquota explain /mnt/$fs/full" /dev/null
		refute_output --partial 'limit'
	done
}
