#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=install
# needs: prometheus python3-prometheus-client
#
# Those who read metrics: promtool, node_exporter and Prometheus of Debian, and what contrib has for them:
# rules and a dashboard. They run on this machine: tests/guest/run tells what limits a server in a guest. A
# guest writes the files that they read ("stages"), and is gone when the tests begin.
#
# A test publishes the file that it needs, and waits until Prometheus gives the answer that it expects. It
# never relies on one scrape: when a scrape is cut off, Prometheus marks all series of that job as stale, and
# answers with nothing until the next one.

load ../lib/fsquota

# Prometheus runs for all tests, with the rules, and asks node_exporter and serve.
setup_file() {
	local programs directory=$BATS_FILE_TMPDIR node served
	programs=$("$srcdir/tests/guest/prometheus") || return 1
	export PATH=$programs:$PATH stages=$directory/stages services=''
	mkdir "$stages" "$directory/textfile"
	a_guest_writes "$stages" "$BATS_TEST_DIRNAME/stages"
	start prometheus-node-exporter --collector.disable-defaults --collector.textfile \
		--collector.textfile.directory="$directory/textfile" --web.listen-address=127.0.0.1:0
	start "$BATS_TEST_DIRNAME/serve" "$stages/names.prom"
	node=$(address_of prometheus-node-exporter)
	served=$(address_of serve)
	# A scrape may take 10 seconds: on a busy machine one of ten thousand projects takes more than two.
	cat >"$directory/prometheus.yml" <<-END
		global: { scrape_interval: 10s, scrape_timeout: 10s, evaluation_interval: 2s }
		rule_files: [ $srcdir/contrib/prometheus/fsquota.rules.yml ]
		scrape_configs:
		  - job_name: node
		    static_configs: [ { targets: [ "$node" ] } ]
		  - job_name: openmetrics
		    static_configs: [ { targets: [ "$served" ] } ]
	END
	start prometheus --config.file="$directory/prometheus.yml" --storage.tsdb.path="$directory/data" \
		--web.listen-address=127.0.0.1:0
	url=http://$(address_of prometheus)
	export url
	# Two scrapes, between which the use has grown.
	publish before
	answers 'fsquota_project_used_bytes{job="node",path="/mnt/x/logs"}' '.[].value[1]' 1048576
	publish after
	answers 'fsquota_project_used_bytes{job="node",path="/mnt/x/logs"}' '.[].value[1]' 3145728
}

teardown_file() {
	local service
	for service in ${services-}; do
		kill -KILL "${service%:*}"
		wait "${service%:*}" || true
	done
}

# A service that ended while a test ran fails this test.
teardown() { services_run; }

# start PROGRAM [ARGUMENT...]: as a child of the shell that runs setup_file, with which it ends. Descriptors
# 3 and 4 are the output of bats, which would wait for a child that keeps them.
start() {
	setpriv --pdeathsig KILL "$@" >"$BATS_FILE_TMPDIR/${1##*/}.log" 2>&1 3>&- 4>&- &
	services+=" $!:${1##*/}"
}

# services_run: or the test fails with the end of the log of the one that has ended. Go writes a crash there
# that is longer than the rest, and whose beginning matters.
services_run() {
	local service log
	for service in $services; do
		log=$BATS_FILE_TMPDIR/${service#*:}.log
		kill -0 "${service%:*}" 2>/dev/null || fail "${service#*:} has ended:
$(grep -m 1 -A 40 -E '^(panic|fatal error|unexpected fault|SIG[A-Z]+):' "$log" || tail -n 20 "$log")"
	done
}

# A wait ends when nothing comes for this many seconds: it only bounds a test that fails.
patience=600

# address_of SERVICE: prints ADDRESS:PORT, once it listens there. The kernel has chosen the port.
address_of() {
	local log=$BATS_FILE_TMPDIR/$1.log end=$((SECONDS + patience))
	until grep -q 'Listening on.*address=' "$log"; do
		services_run
		[ $SECONDS -lt $end ] || fail "$1 does not listen: $(tail -n 60 "$log")"
		nap 0.1
	done
	sed -n 's/.*Listening on.*address=//p;T;q' "$log"
}

# publish STAGE: node_exporter finds this file from now on.
publish() {
	cp "$stages/$1.prom" "$BATS_FILE_TMPDIR/textfile/.new"
	mv "$BATS_FILE_TMPDIR/textfile/.new" "$BATS_FILE_TMPDIR/textfile/fsquota.prom"
}

# answers EXPRESSION|--rules FILTER EXPECTED: wait until the result of the expression, or the list of rules,
# as jq prints it with the filter, is as expected. An expression that Prometheus refuses fails at once.
answers() {
	local end=$((SECONDS + patience)) answer status round=0
	while :; do
		round=$((round + 1))
		[ $((round % 50)) != 0 ] || step "waits for $1"
		status=0
		answer=$("$BATS_TEST_DIRNAME/ask" "$url" "$1" 2>&1) || status=$?
		[ $status != 2 ] || fail "$1: $answer"
		[ $status != 0 ] || [ "$(jq -r "$2" <<<"$answer")" != "$3" ] || return 0
		services_run
		[ $SECONDS -lt $end ] || fail "$1: $answer, not $3; $(tail -n 20 "$BATS_FILE_TMPDIR"/*.log)"
		nap 0.2
	done
}

# --- those who read it --------------------------------------------------------------------------

@test "promtool finds nothing wrong with it" {
	local stage
	for stage in before after names many; do
		prints '' promtool check metrics <"$stages/$stage.prom"
	done
	# It would.
	run promtool check metrics < <(sed '/^# HELP fsquota_project_used_bytes/d' "$stages/after.prom")
	assert_failure
	assert_output --partial 'no help text'
}

@test "a query answers what usage says, by way of node_exporter" {
	local expected
	expected=$(jq -c '.usage[] | . as $of | ("used_bytes", "hard_bytes", "used_inodes") |
		["fsquota_project_\(.)", $of.path, "\($of.id)", $of.name, $of.mountpoint, "\($of[.])"]' \
		"$stages/usage.json" | sort)
	assert_equal "$(wc -l <<<"$expected")" 27
	publish after
	answers '{__name__=~"fsquota_project_(used_bytes|hard_bytes|used_inodes)",job="node",path!=""}' \
		'map([.metric.__name__, .metric.path, .metric.id, .metric.name, .metric.mountpoint, .value[1]]
			| tojson) | sort | .[]' "$expected"
	answers node_textfile_scrape_error '.[].value[1]' 0
}

@test "Prometheus takes it as OpenMetrics, whatever the names are" {
	local job samples paths
	samples=$(grep -c '^fsquota_' "$stages/names.prom")
	paths=$(jq -r '.list | map(.path) | sort | .[]' "$stages/names.json")
	assert_equal "$(wc -l <<<"$paths")" 6
	publish names
	answers 'up{job="openmetrics"}' '.[].value[1]' 1
	for job in node openmetrics; do
		answers "count({__name__=~\"fsquota_.*\",job=\"$job\"})" '.[].value[1]' "$samples"
		answers "fsquota_project_used_inodes{job=\"$job\",mountpoint=\"/mnt/x2\"}" \
			'map(.metric.path) | sort | .[]' "$paths"
	done
}

# bats test_tags=full
@test "ten thousand projects are valid and right, and Prometheus has them all" {
	prints 10000 "$BATS_TEST_DIRNAME/same_as_list" "$stages/many.prom" "$stages/many.json" "$stages/many.json"
	publish many
	answers 'count(fsquota_project_hard_bytes{job="node"})' '.[].value[1]' 10000
	answers 'sum(fsquota_project_hard_bytes{job="node"})' '.[].value[1] | tonumber' \
		$((4096 * (100001 + 110000) * 5000))
	answers 'fsquota_project_hard_bytes{job="node",path="/mnt/x2/volume109999",name="volume109999",id="109999"}' \
		'.[].value[1]' $((109999 * 4096))
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
		's/4 \* 3600/3 * 3600/' 's/bytes < fsquota/bytes > fsquota/' 's/offset 1h == 1/offset 1h == 3/' \
		'/and on (instance) fsquota_filesystem_scan/d' 's/limits_bytes > fsquota_budget/limits_bytes >= fsquota_budget/' 's/offset 1h)/offset 3h)/' 's/directories > 64/directories > 63/'; do
		rm -rf "$copy"
		cp -r "$srcdir/contrib/prometheus" "$copy"
		sed -i "$change" "$copy/fsquota.rules.yml"
		run ! cmp -s "$copy/fsquota.rules.yml" "$srcdir/contrib/prometheus/fsquota.rules.yml"
		run promtool test rules "$copy/fsquota.rules.test.yml"
		[ "$status" != 0 ] && [[ $output == *FAILED* ]] || fail "$change: $output"
	done
}

@test "Prometheus runs the rules, and a full project raises the alarm" {
	publish after
	answers 'ALERTS{alertname="FsquotaGraceRunning",path="/mnt/x/web",job="node"}' '.[].metric.alertstate' firing
	# It fires after five minutes.
	answers 'ALERTS{alertname="FsquotaSpaceNearlyFull",path="/mnt/e/nested/a",job="node"}' \
		'.[].metric.alertstate | IN("pending", "firing")' true
	answers --rules 'map(.rules[].health) | unique | .[]' ok
	answers 'ALERTS{alertname=~"FsquotaNotEnforced|FsquotaScanFailed|FsquotaGraceOver|FsquotaMetricsMissing"}' \
		length 0
}

@test "every expression of the dashboard has a result" {
	local expression count=0 dashboard=$srcdir/contrib/prometheus/fsquota-dashboard.json
	publish after
	while IFS= read -r expression; do
		[[ $expression != *fsquota_*\$* || $expression == *'instance=~"$instance"'* ]] || fail "$expression"
		# What Grafana puts there for "All".
		answers "${expression//\$instance/.*}" 'length > 0' true
		count=$((count + 1))
	done < <(jq -r '.. | .expr? // empty' "$dashboard")
	assert_equal "$count" "$(grep -c '"expr":' "$dashboard")"
	assert [ $count -ge 15 ]
	# The names of nodes to choose from, and each metric of projects is in use.
	answers "$(jq -r '.templating.list[] | .query.query? // empty' "$dashboard" |
		sed -n 's/^label_values(\(.*\), instance)$/\1/p')" 'any(.metric | has("instance"))' true
	assert_equal "$(jq '[.panels[].id] | length - (unique | length)' "$dashboard")" 0
}
