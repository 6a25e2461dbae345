#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Those who read metrics: promtool, node_exporter and Prometheus of Debian, on the loopback; and what
# contrib has for them: rules, dashboard, systemd units and the DaemonSet.

# shellcheck disable=SC2154 # run_split sets stdout and stderr
load ../lib/fsquota
load ../native/projects

PORT=19090 NODE=19100 SERVE=19101
url=http://127.0.0.1:$PORT

# Prometheus runs for all tests, with the rules, and asks node_exporter and serve.
setup_file() {
	local programs directory=$BATS_FILE_TMPDIR
	programs=$("$srcdir/tests/guest/prometheus") || return 1
	export PATH=$programs:$PATH
	ip link set lo up
	make_projects
	fresh_fs x2
	chmod 755 "$directory"
	mkdir -m 777 "$directory/textfile"
	cat >"$directory/prometheus.yml" <<-END
		global: { scrape_interval: 2s, evaluation_interval: 1s }
		rule_files: [ $srcdir/contrib/prometheus/fsquota.rules.yml ]
		scrape_configs:
		  - job_name: node
		    static_configs: [ { targets: [ "127.0.0.1:$NODE" ] } ]
		  - job_name: openmetrics
		    static_configs: [ { targets: [ "127.0.0.1:$SERVE" ] } ]
	END
	start prometheus-node-exporter --collector.disable-defaults --collector.textfile \
		--collector.textfile.directory="$directory/textfile" --web.listen-address=127.0.0.1:$NODE
	start "$BATS_TEST_DIRNAME/serve" $SERVE "$directory/served"
	start prometheus --config.file="$directory/prometheus.yml" --storage.tsdb.path="$directory/data" \
		--web.listen-address=127.0.0.1:$PORT --log.level=warn
	register_projects
	publish
	# Two scrapes, between which the use has grown.
	until_found 'fsquota_project_used_bytes{job="node",path="/mnt/x/logs"}' '"1048576"'
	fallocate -l 3M /mnt/x/logs/file
	sync -f /mnt/x
	publish
	until_found 'fsquota_project_used_bytes{job="node",path="/mnt/x/logs"}' '"3145728"'
}

teardown_file() {
	local process
	for process in $(<"$BATS_FILE_TMPDIR/processes"); do kill -- "-$process" || true; done
}

setup() {
	register_projects
	text=$BATS_TEST_TMPDIR/text
	dirty=''
}

teardown() {
	[ -n "$dirty" ] || return 0
	fresh_fs x2
	register_projects
	publish
	until_found 'count(fsquota_project_hard_bytes{job="node"})' '"12"'
}

# start PROGRAM [ARGUMENT...]: as a service manager does, again when it fails. Under User-Mode Linux the
# programs of Go lose a register now and then.
start() {
	# shellcheck disable=SC2016 # expanded there
	GODEBUG=asyncpreemptoff=1 setsid bash -c 'until "$@"; do sleep 0.5; done' bash "$@" \
		>"$BATS_FILE_TMPDIR/${1##*/}.log" 2>&1 3>&- &
	echo $! >>"$BATS_FILE_TMPDIR/processes"
}

# publish [ARGUMENT...]: what metrics shows now, for node_exporter.
publish() {
	fsquota metrics --output-file "$BATS_FILE_TMPDIR/textfile/fsquota.prom" "$@"
}

# until_found EXPRESSION PATTERN: Prometheus answers with it.
until_found() {
	"$BATS_TEST_DIRNAME/ask" --until "$2" $url "$1" >"$BATS_FILE_TMPDIR/found" ||
		fail "$(grep -A 40 -h '^panic' "$BATS_FILE_TMPDIR"/*.log || tail -n 5 "$BATS_FILE_TMPDIR"/*.log)"
}

# ask EXPRESSION: sets answer to its result, as JSON.
ask() {
	answer=$("$BATS_TEST_DIRNAME/ask" $url "$1")
}

# --- those who read it --------------------------------------------------------------------------

@test "promtool finds nothing wrong with it" {
	fsquota metrics >"$text"
	run -0 promtool check metrics <"$text"
	assert_output ''
	# It would.
	run promtool check metrics < <(sed '/^# HELP fsquota_project_used_bytes/d' "$text")
	assert_failure
}

@test "a query answers what usage says, by way of node_exporter" {
	local fs dir key json
	for fs in x e f; do
		for dir in web logs nested/a; do
			json=$(fsquota usage --json /mnt/$fs/$dir)
			for key in used_bytes hard_bytes used_inodes; do
				ask "fsquota_project_$key{job=\"node\",path=\"/mnt/$fs/$dir\"}"
				assert_equal "$fs $dir $key: $(jq -r '.[].value[1]' <<<"$answer")" \
					"$fs $dir $key: $(jq ".usage[0].$key" <<<"$json")"
				assert_equal "$(jq -c '.[].metric | [.id, .name, .mountpoint]' <<<"$answer")" \
					"$(jq -c '.usage[0] | ["\(.id)", .name, .mountpoint]' <<<"$json")"
			done
		done
	done
	ask 'node_textfile_scrape_error'
	assert_equal "$(jq -r '.[].value[1]' <<<"$answer")" 0
}

@test "Prometheus takes it as OpenMetrics, whatever the names are" {
	dirty=yes
	local name id=100 samples names=('a"b' 'c\d' $'e\xffg' 'ü日本𝄞' '{}=,#' $'\x01')
	for name in "${names[@]}"; do
		mkdir "/mnt/x2/$name"
		chattr -p $id "/mnt/x2/$name"
		echo "$id:/mnt/x2/$name" >>/etc/projects
		id=$((id + 1))
	done
	fsquota metrics --output-file "$BATS_FILE_TMPDIR/served"
	publish
	samples=$(grep -c '^fsquota_' "$BATS_FILE_TMPDIR/served")
	until_found 'up{job="openmetrics"}' '"1"'
	until_found 'scrape_samples_scraped{job="openmetrics"}' "\"$samples\""
	until_found 'count({__name__=~"fsquota_.*",job="node"})' "\"$samples\""
	for job in node openmetrics; do
		ask "fsquota_project_used_inodes{job=\"$job\",mountpoint=\"/mnt/x2\"}"
		assert_equal "$job $(jq -r '.[].metric.path' <<<"$answer" | sort)" "$job $(fsquota list \
			--json /mnt/x2 | jq -r '.list[].path' | sort)"
	done
}

@test "ten thousand projects are valid and right, and Prometheus has them all" {
	local id
	dirty=yes
	: >/etc/projects
	for id in {100001..110000}; do echo "limit -p bhard=$((4 * id))k $id"; done |
		xfs_quota -x /mnt/x2 >/dev/null
	seq 100001 110000 | awk '{ print $1 ":/mnt/x2/volume" $1 >>"/etc/projects"
		print "volume" $1 ":" $1 >>"/etc/projid" }'
	fsquota list --json /mnt/x2 >"$text.list"
	publish /mnt/x2
	run -0 "$BATS_TEST_DIRNAME/same_as_list" "$BATS_FILE_TMPDIR/textfile/fsquota.prom" \
		"$text.list" "$text.list"
	assert_output 10000
	run -0 promtool check metrics <"$BATS_FILE_TMPDIR/textfile/fsquota.prom"
	assert_output ''
	until_found 'count(fsquota_project_hard_bytes{job="node"})' '"10000"'
	ask 'sum(fsquota_project_hard_bytes{job="node"}) - 4096 * (100001 + 110000) * 5000'
	assert_equal "$(jq -r '.[].value[1]' <<<"$answer")" 0
	until_found 'fsquota_project_hard_bytes{path="/mnt/x2/volume109999",name="volume109999",id="109999"}' \
		"\"$((109999 * 4096))\""
}

# --- contrib/prometheus -------------------------------------------------------------------------

@test "promtool finds nothing wrong with the rules, and their own tests pass" {
	local rules=$srcdir/contrib/prometheus/fsquota.rules
	cd "$srcdir/contrib/prometheus"
	run -0 promtool check rules fsquota.rules.yml
	assert_output --partial "SUCCESS: $(grep -c -- '- alert:' "$rules.yml") rules found"
	run -0 promtool test rules fsquota.rules.test.yml
	assert_output --partial SUCCESS
	# Each alert is tested.
	run diff <(sed -n 's/.*- alert: //p' "$rules.yml" | sort) \
		<(sed -n 's/.*alertname: //p' "$rules.test.yml" | sort -u)
	assert_success
}

@test "the tests of the rules fail where a rule is another" {
	local change copy=$BATS_TEST_TMPDIR/rules
	for change in 's/0\.9$/0.95/' 's/grace_seconds > 0/grace_seconds > 3600/' 's/seconds == 0/seconds < 0/' \
		's/> 600/> 700/' 's/enforced == 0/enforced == 1/' 's/success == 0/success == 2/' \
		's/offset 1h == 1/offset 1h == 3/' 's/offset 1h)/offset 3h)/'; do
		rm -rf "$copy"
		cp -r "$srcdir/contrib/prometheus" "$copy"
		sed -i "$change" "$copy/fsquota.rules.yml"
		run ! cmp -s "$copy/fsquota.rules.yml" "$srcdir/contrib/prometheus/fsquota.rules.yml"
		run promtool test rules "$copy/fsquota.rules.test.yml"
		[ "$status" != 0 ] || fail "$change: $output"
	done
}

@test "Prometheus runs the rules, and a full project raises the alarm" {
	local health
	until_found 'ALERTS{alertname="FsquotaGraceRunning",path="/mnt/x/web",job="node"}' firing
	until_found 'ALERTS{alertname="FsquotaSpaceNearlyFull",path="/mnt/e/nested/a",job="node"}' pending
	health=$(/usr/bin/python3 -c 'import sys, urllib.request
print(urllib.request.urlopen(sys.argv[1] + "/api/v1/rules").read().decode())' $url)
	assert_equal "$(jq -r '.data.groups[].rules[].health' <<<"$health" | sort -u)" ok
	ask 'ALERTS{alertname=~"FsquotaNotEnforced|FsquotaScanFailed|FsquotaGraceOver|FsquotaMetricsMissing"}'
	assert_equal "$answer" '[]'
}

@test "every expression of the dashboard has a result" {
	local expression count=0 dashboard=$srcdir/contrib/prometheus/fsquota-dashboard.json
	while IFS= read -r expression; do
		# What Grafana puts there for "All".
		ask "${expression//\$instance/.*}"
		[ "$answer" != '[]' ] || fail "$expression"
		[[ $expression != *fsquota_*\$* || $expression == *'instance=~"$instance"'* ]] || fail "$expression"
		count=$((count + 1))
	done < <(jq -r '.. | .expr? // empty' "$dashboard")
	assert_equal "$count" "$(grep -c '"expr":' "$dashboard")"
	assert [ $count -ge 15 ]
	# The names of nodes to choose from, and each metric of projects is in use.
	ask "$(jq -r '.templating.list[] | .query.query? // empty' "$dashboard" |
		sed -n 's/^label_values(\(.*\), instance)$/\1/p')"
	[[ $answer == *'"instance"'* ]] || fail "$answer"
	assert_equal "$(jq '[.panels[].id] | length - (unique | length)' "$dashboard")" 0
}

# --- contrib/systemd and contrib/kubernetes -----------------------------------------------------

@test "the command of the systemd unit works with its capabilities alone" {
	local unit=$srcdir/contrib/systemd/fsquota-metrics.service command capabilities words
	command=$(sed -n 's/^ExecStart=//p' "$unit")
	capabilities=$(sed -n 's/^CapabilityBoundingSet=CAP_//p' "$unit" | tr 'A-Z ' 'a-z,')
	assert_equal "$capabilities" sys_admin
	read -ra words <<<"${command/\/usr\/bin\/fsquota/$FSQUOTA}"
	mkdir -m 755 "$BATS_TEST_TMPDIR/lib"
	words[-1]=$BATS_TEST_TMPDIR/lib/${words[-1]##*/}
	chmod 700 /mnt/x/web /mnt/x/nested
	chown 1000 /mnt/x/web /mnt/x/nested
	run -0 setpriv --no-new-privs --bounding-set "-all,+$capabilities" --inh-caps -all "${words[@]}"
	assert_output ''
	assert_equal "$(grep -c '^fsquota_project_used_bytes' "${words[-1]}")" 12
	chown 0 /mnt/x/web /mnt/x/nested
	# And not with less.
	run setpriv --bounding-set -all --inh-caps -all "${words[@]}"
	assert_failure 4
}

# In a root of its own: the volumes, the system's programs, and nothing else.
# shellcheck disable=SC2016 # expanded by the inner shell
in_container() {
	local root=$BATS_TEST_TMPDIR/root kind a b c
	mkdir -p "$root"/{proc,usr/local,tmp}
	for a in bin lib lib64; do ln -sT "usr/$a" "$root/$a"; done
	{
		echo "mount --rbind /usr '$root/usr'"
		echo "mount -t proc none '$root/proc'"
		echo "mkdir -p '$root/bin.own' && cp '$FSQUOTA' '$root/bin.own/fsquota'"
		while read -r kind a b c; do
			[ "$kind" = volume ] || continue
			echo "mkdir -p '$root$b' '$a' && mount --bind '$a' '$root$b'"
			[ "$c" = rw ] || echo "mount -o remount,bind,ro '$root$b'"
		done <"$text"
	} >"$BATS_TEST_TMPDIR/mount"
	unshare -m bash -e -c '. "$1" && shift && exec "$@"' bash "$BATS_TEST_TMPDIR/mount" \
		unshare --root "$root" "$@"
}

@test "the DaemonSet is one by the API's schema, and its container writes the file" {
	local words=() capabilities environment line pid
	"$BATS_TEST_DIRNAME/manifest" "$srcdir/contrib/kubernetes/fsquota-metrics.yaml" >"$text"
	mapfile -t words < <(sed -n 's/^word //p' "$text" | jq -c .)
	for line in "${!words[@]}"; do
		words[line]=$(jq -r . <<<"${words[line]}")
	done
	capabilities=$(sed -n 's/^capability //p' "$text" | tr A-Z a-z)
	environment=$(sed -n 's/^env //p' "$text")
	# The directory of kubelet lies on a filesystem with quotas.
	mkdir -p /mnt/x/kubelet/pod
	own 77 /mnt/x/kubelet/pod x
	real -c 'limit -p bhard=7m 77' /mnt/x
	echo '77:/var/lib/kubelet/pod' >>/etc/projects
	echo 'pod:77' >>/etc/projid
	sed -i "s|^volume /var/lib/kubelet |volume /mnt/x/kubelet |; s|^volume /var/lib/node-exporter |volume $BATS_TEST_TMPDIR/node |" "$text"
	in_container env -i PATH=/bin.own:/usr/bin "$environment" \
		setpriv --bounding-set "-all,+$capabilities" --inh-caps -all "${words[@]}" 3>&- &
	pid=$!
	for _ in {1..300}; do
		[ ! -e "$BATS_TEST_TMPDIR/node/fsquota.prom" ] || break
		sleep 0.1
	done
	kill $pid
	wait $pid || true
	assert_equal "$(tail -n 1 "$BATS_TEST_TMPDIR/node/fsquota.prom")" '# EOF'
	assert_equal "$(sed -n 's/^fsquota_project_hard_bytes{id="77",//p' "$BATS_TEST_TMPDIR/node/fsquota.prom")" \
		"name=\"pod\",path=\"/var/lib/kubelet/pod\",filesystem=\"$FSQ_X_DEV\",mountpoint=\"/var/lib/kubelet\"} 7340032"
}

@test "the container ends when it is told to" {
	local script
	script=$("$BATS_TEST_DIRNAME/manifest" "$srcdir/contrib/kubernetes/fsquota-metrics.yaml" |
		sed -n 's/^word //p' | sed -n 3p | jq -r .)
	assert [ -n "$script" ]
	INTERVAL=1000 dash -c "${script//\/textfile/$BATS_TEST_TMPDIR}" sh /mnt/x 3>&- &
	for _ in {1..300}; do
		[ ! -e "$BATS_TEST_TMPDIR/fsquota.prom" ] || break
		sleep 0.1
	done
	pkill -P $! -x sleep || true
	kill $!
	wait $!
}
