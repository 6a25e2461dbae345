#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=shared
# needs: golang-go systemd
#
# fsquota batch: requests in, answers out.

load ../lib/fsquota

setup_file() {
	fresh_each x x2 e
	rm -f /etc/projects /etc/projid /etc/fsquota.conf
	mkdir -p /mnt/x/web /mnt/e/logs /mnt/x2/other
	fsquota assign /mnt/x/web --hard 10M --name web >/dev/null
	fsquota assign /mnt/e/logs --hard 20M --name logs >/dev/null 2>&1
}

setup() { mkdir -p /run/mnt; }

# answers LINE...: sets answers, of one batch for all.
answers() {
	succeeds fsquota batch < <(printf '%s\n' "$@")
	mapfile -t answers <<<"$stdout"
	assert_equal "${#answers[@]}" $#
}

# is NUMBER FILTER EXPECTED: of the answer, as jq sees it.
is() {
	assert_equal "$(jq -c "$2" <<<"${answers[$1 - 1]}")" "$3"
}

# begin_batch [WORD...]: a batch of its own, with words before it.
begin_batch() {
	coproc BATCH { exec "$@" "$FSQUOTA" batch; }
}

# end_batch: as it ends by itself.
end_batch() {
	local input=${BATCH[1]} pid=$BATCH_PID
	exec {input}>&-
	wait "$pid"
}

# asks LINE: of the coprocess; sets answers to one answer.
asks() {
	echo "$1" >&"${BATCH[1]}"
	IFS= read -r -t 60 'answers[0]' <&"${BATCH[0]}"
}

@test "words between blanks, and JSON arrays" {
	mkdir -p "/mnt/x/a b'c\"d\\e" $'/mnt/x/n\nl'
	answers 'usage /mnt/x/web' '["usage","/mnt/x/web"]' ' [ "id" , "/mnt/x/web" ] ' 'id  /mnt/x/web	' \
		'["id","/mnt/x/a b'"'"'c\"d\\e"]' '["id","/mnt/x/n\nl"]' '["id","/mnt/\u0078/n\u000al"]' 'id $HOME * ~'
	is 1 '[.request, .exit, .usage[0].hard_bytes, .usage[0].name]' '[1,0,10485760,"web"]'
	is 2 '.usage' "$(jq -c .usage <<<"${answers[0]}")"
	is 3 '.id[0].id' 1048577
	is 4 '.id[0].path' '"/mnt/x/web"'
	is 5 '.id[0].path' '"/mnt/x/a b'"'"'c\"d\\e"'
	is 6 '.id[0].path' '"/mnt/x/n\nl"'
	is 7 '.id[0].path' '"/mnt/x/n\nl"'
	is 8 '[.error.path] + [.messages[].error.path]' '["$HOME","*","~"]'
}

@test "behind a request that has read the names, assign knows the name that it gives" {
	mkdir -p /mnt/x/{one,other}
	answers 'usage /mnt/x/web' 'assign --hard 1M /mnt/x/one' '["assign","--hard","1M","/mnt/x/other"]' 'usage /mnt/x/one /mnt/x/other'
	is 2 '.assign[0] | .name == "volume\(.id)"' true
	is 3 '.assign[0] | .name == "volume\(.id)"' true
	is 4 '[.usage[].name]' "$(jq -sc '[.[].assign[0].name]' <<<"${answers[1]}${answers[2]}")"
	answers 'release /mnt/x/one /mnt/x/other'
}

@test "a line that cannot be parsed is answered, and the next one, too" {
	answers 'id "/mnt/x/web"' "id 'x" 'id /mnt/x/a\ b' '[' '["id"' '["id",]' '["id" "x"]' '[1]' '["\x"]' '["\ud800"]' '["\u0000"]' \
		'["id"] x' '' 'nonsense' 'id --bogus' 'batch' '--json batch' 'watch' 'id /mnt/x/web'
	local i
	for i in {1..18}; do is "$i" '[.request, .exit, .error.code]' "[$i,2,\"usage\"]"; done
	is 1 '.error.message' '"a request with quotes is a JSON array of words, such as [\"usage\", \"/srv/two words\"]"'
	is 19 '[.exit, .id[0].id]' '[0,1048577]'
	# The next try would be a quote.
	mkdir '/mnt/x/with two blanks'
	answers 'usage --fallback=walk /mnt/x/with two blanks' 'usage /mnt/x/none two blanks'
	is 1 '[.error.path, .error.hint]' '["/mnt/x/with","a path with a blank takes a JSON array: [\"usage\", \"/srv/two words\"]"]'
	is 2 .error.hint null
	rmdir '/mnt/x/with two blanks'
}

@test "a line is at most 1 MiB long, and holds no NUL" {
	head -c 3000000 /dev/zero | tr '\0' x >/run/long
	run_split fsquota batch < <(cat /run/long; echo; printf 'id /mnt\0/x\nid /mnt/x/web')
	mapfile -t answers <<<"$stdout"
	assert_equal "$status:${#answers[@]}" 0:3
	is 1 '[.exit, .error.message]' '[2,"the request is longer than 1 MiB"]'
	is 2 '[.exit, .error.message]' '[2,"there is a NUL in it"]'
	is 3 '[.request, .exit]' '[3,0]'
	rm /run/long
}

@test "errors, warnings, and what is no JSON" {
	mkdir -p /mnt/e/warned/memory
	mount -t tmpfs none /mnt/e/warned/memory
	answers 'usage /mnt/x/web /nowhere /mnt/x' 'limit -p bhard=x 42 /mnt/x' --version 'help usage' \
		'assign /mnt/e/warned --hard 2G' 'check /mnt/x' 'supported -q /proc' 'restore -p /mnt/x' 'usage web'
	is 1 '[.exit, .error.path, .messages[0].error.path, (.usage | length)]' '[5,"/nowhere","/mnt/x",1]'
	is 2 '[.exit, .error.code]' '[2,"usage"]'
	is 3 '.output | startswith("fsquota ")' true
	is 4 '.output | startswith("Usage: fsquota usage")' true
	is 5 '[.exit, .assign[].hard_bytes, (.messages | map(keys[0]) | unique)]' '[0,2147483648,["warning"]]'
	is 6 '[.exit, .check]' '[0,[]]'
	is 7 'keys' '["exit","request"]'
	# It finds standard input empty.
	is 8 '[.exit, .error.message]' '[2,"there are no limits in standard input"]'
	is 9 '.error.hint' '"the project of that name: /mnt/x/web, or --name web"'
	umount /mnt/e/warned/memory
	fsquota release /mnt/e/warned
}

@test "what others change counts for the next request" {
	begin_batch
	asks 'usage /mnt/x/web'
	is 1 '.usage[0] | [.name, .used_bytes, .enforced]' '["web",0,true]'
	echo 'other:1048577' >/etc/projid
	dd if=/dev/zero of=/mnt/x/web/file bs=64k count=16 conv=fsync status=none
	asks 'usage /mnt/x/web'
	is 1 '.usage[0] | [.name, .used_bytes]' '["other",1048576]'
	sed -i 's/^1048577:/55:/' /etc/projects
	asks 'usage /mnt/x/web'
	is 1 '.exit' 5
	sed -i 's/^55:/1048577:/' /etc/projects
	echo 'web:1048577' >/etc/projid
	echo 'register = maybe' >/etc/fsquota.conf
	asks 'release --dry-run /mnt/x/web'
	is 1 '.exit' 2
	rm /etc/fsquota.conf
	real -c 'disable -p' /mnt/x
	asks 'usage /mnt/x/web'
	is 1 '.usage[0] | [.name, .enforced]' '["web",false]'
	real -c 'enable -p' /mnt/x
	mount -t tmpfs -o size=1M t /mnt/x/web
	asks 'usage /mnt/x/web'
	is 1 '.usage[0] | [.source, .hard_bytes]' '["statfs",1048576]'
	umount /mnt/x/web
	asks 'usage /mnt/x/web'
	is 1 '.usage[0] | [.source, .enforced]' '["quota",true]'
	rm /mnt/x/web/file
	end_batch
}

# settings TEXT: in the answer to a request that takes an ID.
settings() {
	asks 'assign --dry-run /mnt/x/settings'
	is 1 '[.exit, .assign[0].id]' "$1"
}

@test "a file of fsquota.conf.d that is added, changed, replaced or removed counts for the next request" {
	local d=/etc/fsquota.conf.d
	mkdir -p /mnt/x/settings
	echo 'id-range = 100-199' >/etc/fsquota.conf
	begin_batch
	settings '[0,100]'
	mkdir $d
	settings '[0,100]'
	echo 'id-range = 10-19' >$d/1.conf
	settings '[0,10]'
	# No process starts between the answer and the write, which leaves the size as it is.
	echo 'id-range = 20-29' >$d/1.conf
	settings '[0,20]'
	printf '%s' 'id-range = 30-39' 1<>$d/1.conf
	settings '[0,30]'
	nap 0.2
	settings '[0,30]'
	printf '%s' 'id-range = 40-49' 1<>$d/1.conf
	settings '[0,40]'
	echo 'id-range = 50-59' >/run/settings
	nap 0.2
	settings '[0,40]'
	mv /run/settings $d/2.conf
	settings '[0,50]'
	ln -s 1.conf $d/3.conf
	settings '[0,40]'
	nap 0.2
	settings '[0,40]'
	echo 'id-range = 6-9' >$d/1.conf
	settings '[0,6]'
	echo 'id-range = 6' >$d/2.conf
	asks 'assign --dry-run /mnt/x/settings'
	is 1 '[.exit, (.error.message | startswith("/etc/fsquota.conf.d/2.conf, line 1: "))]' '[2,true]'
	asks 'assign --dry-run /mnt/x/settings'
	is 1 .exit 2
	rm $d/2.conf
	settings '[0,6]'
	nap 0.2
	settings '[0,6]'
	rm $d/3.conf
	settings '[0,6]'
	mv $d/1.conf $d/1.old
	settings '[0,100]'
	mv $d/1.old $d/1.conf
	settings '[0,6]'
	nap 0.2
	settings '[0,6]'
	rm -r $d
	settings '[0,100]'
	end_batch
	rmdir /mnt/x/settings
	rm /etc/fsquota.conf
}

@test "the files are read once, but what others write in place, of the same size and at once, is seen" {
	local i id=0 next taken
	rm -f /etc/projects /etc/projid
	echo '3000000:/nowhere' >/etc/projects
	mkdir -p /mnt/x/many/{0..20}
	begin_batch
	asks 'assign /mnt/x/many/0 --hard 1M'
	# No process starts between the answer and the write.
	for i in {1..20}; do
		[[ ${answers[0]} =~ \"id\":([0-9]+) ]]
		next=${BASH_REMATCH[1]}
		[ "$next" != "${taken-}" ] || fail "it has $next from the line that was written just now"
		id=$((next > id ? next : id)) taken=$((id + 1))
		printf '%s' $taken 1<>/etc/projects
		asks "assign /mnt/x/many/$i --hard 1M"
	done
	asks "release $(printf ' /mnt/x/many/%s' {0..20})"
	is 1 '.exit' 0
	end_batch
	assert_equal "$(</etc/projects)" "$taken:/nowhere"
	rm -rf /etc/projects /etc/projid /mnt/x/many
}

@test "what a request changes counts for the next one that came with it" {
	mkdir /mnt/x/new
	answers 'usage /mnt/x/new' 'assign /mnt/x/new --hard 5M --name new' 'usage /mnt/x/new' 'usage --name new' \
		'resize /mnt/x/new 6M' 'usage /mnt/x/new' 'release /mnt/x/new' 'usage /mnt/x/new' 'usage --name new'
	is 1 .exit 5
	is 2 '.assign[] | [.name, .changed]' '["new",true]'
	is 3 '.usage[0] | [.name, .hard_bytes]' '["new",5242880]'
	is 4 '.usage[0].path' '"/mnt/x/new"'
	is 6 '.usage[0].hard_bytes' 6291456
	is 7 '[.exit, .release[0].changed]' '[0,true]'
	is 8 .exit 5
	is 9 .exit 5
	rmdir /mnt/x/new
}

# Together they use all that is read or loaded on first use. What would change something is a dry run.
asking="
	apply --dry-run /mnt/x/lines
	assign --dry-run --hard 5M /mnt/x/dir
	check --over 50
	check /mnt/x/web
	check -u --over 0 /mnt/e
	df -o FILESYSTEM,PATH
	df -o FILESYSTEM,PATH UUID=f500a000-0000-4000-8000-000000000001
	disable --dry-run -p /mnt/x
	doctor
	doctor /mnt/x
	dump -p /mnt/x
	enable --dry-run -p /mnt/x
	explain /mnt/x/web
	export
	find web /mnt/x
	id /mnt/x/web
	limit --dry-run -p bhard=7m web /mnt/x
	limit --dry-run -u bhard=7m root /mnt/x
	list
	list /mnt/e
	list -u --sort name /mnt/e
	lsattr -p /mnt/x/web
	metrics --metric fsquota_project_used_bytes
	move --dry-run /mnt/x/renamed /mnt/x/dir
	project -c -p /mnt/x/web web /mnt/x
	prune --dry-run
	quota -p -v web /mnt/x
	quota -u -v root /mnt/x
	release --dry-run /mnt/x/web
	report -p -u -g
	resize --dry-run /mnt/x/web +1M
	restore --dry-run -p -f /mnt/x/dump /mnt/x
	state -p
	supported /mnt/x
	timer --dry-run -p 3d /mnt/x
	usage --name web
	usage /mnt/x/web /mnt/e/logs"

# answers_all: set all to the answers of a batch, without their numbers
answers_all() {
	sed -n 's/^	//p' <<<"$asking" >&"${BATCH[1]}"
	timeout 100 head -n "$(grep -c '^	' <<<"$asking")" <&"${BATCH[0]}" >"$BATS_TEST_TMPDIR/answers"
	all=$(sed 's/"request":[0-9]*//' "$BATS_TEST_TMPDIR/answers")
	[ -n "$all" ]
}

# recovers WHAT: the answers are the usual ones
recovers() {
	answers_all
	end_batch
	[ "$all" = "$usual" ] || complain "$1: $(diff <(echo "$usual") <(echo "$all"))"
}

# fails_at PATH|'' CALLS ERROR: all of these calls about this path fail until each request was answered
fails_at() {
	local tracer
	begin_batch
	strace -qq -o "$BATS_TEST_TMPDIR/trace" -p "$BATCH_PID" ${1:+-P "$1"} -e "trace=$2" -e "inject=$2:error=$3" 2>/dev/null 3>&- &
	tracer=$!
	until_true grep -q '^TracerPid:.*[1-9]' "/proc/$BATCH_PID/status"
	answers_all
	kill "$tracer"
	wait "$tracer" || :
	grep -q INJECTED "$BATS_TEST_TMPDIR/trace" || complain "$*: nothing failed"
	recovers "$*"
}

# usual_answers: sets usual, and opened to the files that the requests open
usual_answers() {
	cp "$BATS_TEST_DIRNAME/batch.bats" /mnt/x/web/file
	mkdir -p /mnt/x/dir
	echo '/mnt/x/dir hard=5M' >/mnt/x/lines
	rm -f /mnt/x/dump
	fsquota dump -p -f /mnt/x/dump /mnt/x
	begin_batch strace -f -qq -o "$BATS_TEST_TMPDIR/opened" -e trace=read,open,openat,openat2
	answers_all
	end_batch
	usual=$all complaints=''
	forgets_none "$asking" 'batch|completion|help|oci-hook|off|path|print|quit|quot|remove|schema|setup|top|warn|watch'
	mapfile -t opened < <(sed -n '/read(/,$s/.*open[at2]*(.*"\(\/[^"]*\)".*/\1/p' "$BATS_TEST_TMPDIR/opened" | grep -v '^/sys/\|^/dev/null' | sort -u)
}

@test "a failure of a moment is not remembered: without descriptors, each request answers right afterwards" {
	local usual opened complaints free first
	usual_answers
	for free in {0..6}; do
		begin_batch
		asks --version
		first=0
		while [ -e "/proc/$BATCH_PID/fd/$first" ]; do ((first += 1)); done
		prlimit --pid "$BATCH_PID" --nofile=$((first + free)):
		answers_all
		prlimit --pid "$BATCH_PID" --nofile=1024:
		recovers "$free descriptors free"
	done
	no_complaints
}

# bats test_tags=every-call
@test "a failure of a moment is not remembered: whatever could not be opened or asked for" {
	local usual opened complaints errors=(ENFILE ENOMEM EINTR EIO EMFILE) every=${FSQUOTA_FULL:+1} call i
	usual_answers
	for ((i = 0; i < ${#opened[@]}; i += ${every:-4})); do
		step "${opened[i]}"
		fails_at "${opened[i]}" open,openat,openat2 "${errors[i % 5]}"
	done
	# Some libraries call again for as long as a signal interrupts them.
	errors=(ENFILE ENOMEM EIO) i=0
	for call in fstatfs statfs statx newfstatat quotactl_fd ioctl mmap getdents64 socket; do
		step "$call"
		fails_at '' "$call" "${errors[i++ % 3]}"
	done
	no_complaints
}

@test "a filesystem that was asked for can be unmounted" {
	begin_batch
	for request in 'usage /mnt/x2/other' 'list /mnt/x2' 'assign /mnt/x2/other --hard 1M' 'usage /mnt/x2/other' \
		'report -p /mnt/x2' 'quota -p 42 /mnt/x2'; do
		asks "$request"
		umount /mnt/x2
		mount -t xfs -o uquota,gquota,pquota "$FSQ_X2_DEV" /mnt/x2
	done
	end_batch
}

@test "SIGINT ends the request that walks, and not the batch; not one that follows" {
	mkdir -p /mnt/x/tree
	(cd /mnt/x/tree && seq 1 3000 | xargs mkdir)
	local walk
	for walk in 'usage --fallback=walk /mnt/x/tree' 'find 7 /mnt/x/tree' 'lsattr -R /mnt/x/tree' \
		'project -s -p /mnt/x/tree 77 /mnt/x' 'assign /mnt/x/tree'; do
		FSQUOTA_THREADS=1 begin_batch strace -qq -o /run/trace -e trace=getdents64 \
			-e inject=getdents64:delay_enter=5000
		echo "$walk" >&"${BATCH[1]}"
		until grep -qs getdents64 /run/trace; do sleep 0.05; done
		pkill -INT -P "$BATCH_PID" -x fsquota
		IFS= read -r -t 120 'answers[0]' <&"${BATCH[0]}"
		is 1 '[.request, .exit, .error.errno]' '[1,1,"EINTR"]'
		asks 'id /mnt/x/web'
		is 1 '[.request, .exit]' '[2,0]'
		pkill -INT -P "$BATCH_PID" -x fsquota
		asks "usage --fallback=walk /mnt/x/web"
		is 1 '[.request, .exit]' '[3,0]'
		end_batch
		rm /run/trace
	done
	fsquota project -C -p /mnt/x/tree 77 /mnt/x >/dev/null 2>&1 || true
	rm -rf /mnt/x/tree
}

@test "batch takes no other words" {
	refuses 2 'requests are lines of standard input, not "/mnt/x"' fsquota batch /mnt/x
	run -0 fsquota batch <<<'apply -'
	assert_equal "$(jq -r '[.exit, .error.message] | @tsv' <<<"$output")" $'2\tstandard input has the requests: name a file'
	refuses 2 --bogus fsquota batch --bogus
}

@test "output that cannot be written ends it with 1" {
	exits 1 bash -c 'yes "id /mnt/x/web" | head -n 100000 | "$FSQUOTA" batch >/dev/full'
	assert_one_line
}

@test "without standard input it reads nothing else" { refuses 1 'Bad file' bash -c '"$FSQUOTA" batch <&-'; }

# --- costs; those of a request are in tests/robustness/cost.bats ---------------------------------

# bats test_tags=many
@test "usage of a thousand directories takes six system calls at most for each" {
	mkdir -p /mnt/x/many
	(cd /mnt/x/many && seq 1 1000 | xargs mkdir)
	fsquota assign /mnt/x/many --hard 10M >/dev/null
	# As many projects as directories, of which five hundred are registered.
	seq 1 500 | awk '{ print 1048577 ":/mnt/x/many/" $1 }' >>/etc/projects
	local few many
	strace -f -c -U calls,name -o /run/few "$FSQUOTA" usage --json /mnt/x/many/{1..10} >/dev/null
	strace -f -c -U calls,name -o /run/many "$FSQUOTA" usage --json /mnt/x/many/{1..1000} >/run/out
	assert_equal "$(jq '.usage | length' /run/out)" 1000
	few=$(awk '$2 == "total" { print $1 }' /run/few)
	many=$(awk '$2 == "total" { print $1 }' /run/many)
	[ $(((many - few) * 100 / 990)) -le 600 ] || fail "$few $many"
	sed -i '\,/many/,d' /etc/projects
	fsquota release /mnt/x/many
	rm -rf /mnt/x/many
}

# The blocks of the page, and the files without the comments that they begin with.
@test "the page shows the clients in contrib" {
	local client
	for client in client.sh client.py; do
		sed -E '/^(#|"""|$)/d; :a; n; ba' "$srcdir/contrib/clients/$client"
	done >"$BATS_TEST_TMPDIR/files"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/files")" -gt 25 ]
	sed -n '/^\.Sh CLIENTS/,/^\.Sh EXIT/p' "$srcdir/man/fsquota-batch.8" |
		sed -n '/^\.Bd/,/^\.Ed/{/^\.[BE]d/d;s/\\e/\\/g;p}' >"$BATS_TEST_TMPDIR/page"
	diff "$BATS_TEST_TMPDIR/page" "$BATS_TEST_TMPDIR/files"
}

# bats test_tags=install,many,full
@test "the clients in contrib work as they stand" {
	local client
	dd if=/dev/zero of=/mnt/x/web/file bs=64k count=16 conv=fsync status=none
	for client in "$srcdir/contrib/clients/client.sh" "$srcdir/contrib/clients/client.py" "$builddir/tests/batch/client"; do
		prints $'1048576\ncannot open\n4096' "$client" /mnt/x/web "/mnt/x/no such" /mnt/e/logs
	done
	rm /mnt/x/web/file
}

# bats test_tags=many
@test "each answer is that of a process of its own at the same moment" {
	local count=1000
	fresh_fs x && fresh_fs x2
	[ -z "${FSQUOTA_FULL-}" ] || count=20000
	run -0 ticking "$srcdir/tests/batch/compare.py" "${FSQUOTA_SEED:-1}" "$count"
	echo "# requests beside processes: ${output//[^0-9]/}" >&3
}

# bats test_tags=many,shared,full
@test "a hundred thousand requests leave no memory and no descriptor behind" {
	fresh_fs x && fresh_fs x2
	run -0 ticking "$srcdir/tests/batch/compare.py" --alone 1 100000
}

@test "the line of a directory may end with a slash" {
	mkdir /mnt/x/slash
	fsquota project -s -p /mnt/x/slash 77 /mnt/x
	fsquota limit -p bhard=5M 77 /mnt/x
	echo 77:/mnt/x/slash/ >>/etc/projects
	chattr -p 0 /mnt/x/slash
	answers 'usage /mnt/x/slash' 'usage /mnt/x/slash'
	is 1 '.usage[0].id' 77
	is 2 '.usage[0].id' 77
	assert_equal "$(fsquota usage --raw -No ID /mnt/x/slash)" 77
	sed -i '$d' /etc/projects
}

# --- a colleague who may only look ---------------------------------------------------------------

# what_stays: what it reads, but for times that pass, and what df says of a filesystem: XFS gives blocks back in the background.
what_stays() { sed -E 's/_seconds":[0-9]*//g; s/("total_bytes":[0-9]*),"used_bytes":[0-9]*,"available_bytes":[0-9]*/\1/g'; }

@test "batch --read-only answers what looks, and refuses what changes something or names a file" {
	local file=/run/written before i
	local looks=('usage /mnt/x/web' list check 'report -n /mnt/x' 'quota 1048577 /mnt/x' 'dump /mnt/x' 'id /mnt/x/web'
		'state /mnt/x' df 'supported /mnt/x' doctor 'explain /mnt/x/web' export 'metrics --metric fsquota_project_used_bytes' 'help assign')
	local refused=('assign /mnt/x/new --hard 1M --mkdir' 'release /mnt/x/web' 'resize /mnt/x/web 1M' 'limit bhard=1M web /mnt/x'
		'disable /mnt/x' 'apply /run/wanted' 'prune --all' 'find 1048577 /mnt/x' 'lsattr /mnt/x' 'restore -f /run/wanted /mnt/x'
		"metrics --output-file $file" "report --html $file /mnt/x" "report -f $file /mnt/x" "report -nf$file /mnt/x"
		"report -f - /mnt/x" 'list --projects-file /run/wanted' '--projid-file=/run/wanted list' 'metrics --listen 127.0.0.1:1'
		"watch --exec $file" 'assign --help')
	echo '1048577:/mnt/x/web' >/run/wanted
	chmod 755 /run/wanted
	before=$(cat /etc/projects && fsquota dump -p /mnt/x)
	succeeds fsquota batch < <(printf '%s\n' "${looks[@]}")
	mapfile -t answers < <(what_stays <<<"$stdout")
	succeeds fsquota batch --read-only < <(printf '%s\n' "${looks[@]}" "${refused[@]}" '--root / list')
	assert_equal "$(head -n ${#looks[@]} <<<"$stdout" | what_stays)" "$(printf '%s\n' "${answers[@]}")"
	mapfile -t answers < <(tail -n +$((${#looks[@]} + 1)) <<<"$stdout")
	for ((i = 0; i < ${#refused[@]}; i++)); do
		assert_equal "${refused[i]}: $(jq -c '[.exit, .error.code]' <<<"${answers[i]}")" "${refused[i]}: [4,\"not-permitted\"]"
	done
	assert_equal "$(jq -c '[.exit, .error.code]' <<<"${answers[i]}")" '[2,"usage"]'
	assert [ ! -e "$file" ]
	assert_equal "$(cat /etc/projects && fsquota dump -p /mnt/x)" "$before"
}

# colleague GROUPS LINE...: prints the answers to user 1000 with these groups, an option of setpriv.
colleague() {
	setpriv --reuid 1000 --regid 1000 "$1" python3 -c '
import socket, sys
to = socket.socket(socket.AF_UNIX)
to.connect("/run/fsquota.socket")
file = to.makefile("rw")
for line in sys.argv[1:]:
    file.write(line + "\n")
    file.flush()
    print(file.readline(), end="")' "${@:2}"
}

# bats test_tags=install
@test "the group of fsquota-batch.socket sees what root sees, and changes nothing" {
	local unit=$srcdir/contrib/systemd/fsquota-batch@.service socket=/run/fsquota.socket words capabilities
	local requests=('usage /mnt/x/web' list 'check --over 0')
	capabilities=$(sed -n 's/^CapabilityBoundingSet=//p' "$unit" | tr 'A-Z ' 'a-z,' | sed 's/cap_/+/g')
	read -ra words <<<"$(sed -n "s|^ExecStart=/usr/bin/fsquota|$FSQUOTA|p" "$unit")"
	chmod 700 /mnt/x/web
	systemd-socket-activate --accept --inetd --listen $socket setpriv --no-new-privs --bounding-set "-all,$capabilities" \
		--inh-caps -all "${words[@]}" >/dev/null 2>&1 3>&- &
	until [ -S $socket ]; do nap 0.1; done
	chgrp 7777 $socket
	chmod 660 $socket
	run_split colleague --groups=7777 "${requests[@]}" 'assign /mnt/x/more --hard 1M' 'release /mnt/x/web' 'limit bhard=1M web /mnt/x'
	kill $!
	assert_equal "$(head -n 3 <<<"$stdout" | what_stays)" "$(printf '%s\n' "${requests[@]}" | fsquota batch | what_stays)"
	assert_equal "$(tail -n +4 <<<"$stdout" | jq -c '[.exit, .error.code]' | sort | uniq -c | tr -s ' ')" ' 3 [4,"not-permitted"]'
	run colleague --clear-groups list
	assert_failure 1
	assert_line --partial PermissionError
	chmod 755 /mnt/x/web
}
