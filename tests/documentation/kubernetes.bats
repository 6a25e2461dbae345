#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=install
# needs: golang-go kubectl python3-kubernetes python3-yaml
#
# contrib/kubernetes, as kubectl renders it: the one of tests/guest/kubectl, whatever else is in PATH.

load ../lib/fsquota

setup_file() {
	local programs
	programs=$("$srcdir/tests/guest/kubectl") || return 1
	export PATH=$programs:$PATH
	step "kubectl $(kubectl version --client | tr '\n' ' ')"
}

# rendered DIRECTORY: what the kubelet would make of it
rendered() {
	kubectl kustomize "$srcdir/contrib/kubernetes/$1" >"$BATS_TEST_TMPDIR/rendered.yaml" || return 1
	"$srcdir/tests/clients/manifest" "$BATS_TEST_TMPDIR/rendered.yaml"
}

# What the containers run, each once.
images() { sed -n 's/^ *\(- \)\?image: //p' "$BATS_TEST_TMPDIR/rendered.yaml" | sort -u; }

# bats test_tags=full
@test "each overlay is one by the API's schema, with a directory that is the same in all containers" {
	local overlay directory
	for overlay in base:/var/lib/kubelet overlays/var:/var/lib overlays/data-disk:/data overlays/openshift:/var/lib/kubelet \
		overlays/caps:/var/lib/kubelet; do
		directory=${overlay#*:}
		run -0 rendered "${overlay%:*}"
		refute_output --partial Warning
		assert_equal "$(grep -c " volume $directory $directory " <<<"$output")" 3
		assert_equal "$(grep -c " word \"$directory\"" <<<"$output")" 2
		assert_line "metrics capability SYS_ADMIN"
		assert_equal "$(images)" "fsquota:$(fsquota --version | cut -d ' ' -f 2)-busybox"
		# The profile is copied to where kubelet looks for it, under the name that the containers have.
		assert_line "profile volume /var/lib/kubelet/seccomp /node/seccomp rw"
		assert_line 'profile word "/node/seccomp/fsquota.json"'
		assert_equal "$(grep -c ' profile fsquota.json$' <<<"$output")" 3
		# The lines are about it, and right.
		python3 -c 'import sys, yaml
for one in yaml.safe_load_all(open(sys.argv[1])):
    if one["kind"] == "ConfigMap": print(one["data"].get("node.conf", ""))' "$BATS_TEST_TMPDIR/rendered.yaml" >"$BATS_TEST_TMPDIR/lines"
		assert_equal "$(sed 's/^# *//' "$BATS_TEST_TMPDIR/lines" | grep '^/' | grep -vc "^$directory\b")" 0
	done
}

@test "OpenShift's constraint allows what the containers ask for" {
	local capability
	run -0 rendered overlays/openshift
	assert_line 'kind security.openshift.io/v1 SecurityContextConstraints'
	while read -r capability; do
		grep -q "^- $capability\$" <(sed -n '/^allowedCapabilities:/,/^[a-z]*:$/p' "$BATS_TEST_TMPDIR/rendered.yaml") ||
			fail "$capability"
	done < <(sed -n 's/.* capability //p' <<<"$output")
	grep -q 'serviceAccountName: fsquota' "$BATS_TEST_TMPDIR/rendered.yaml"
}

@test "what writes the lines of pods may list and watch them, and nothing else; apply reads them" {
	run -0 rendered overlays/caps
	assert_equal "$(images | wc -l)" 1
	assert_equal "$(grep -E '^(caps|apply) (emptydir|projected|capability|word)|^caps volume' <<<"$output" | grep -v 'apply capability')" "$(
		printf '%s\n' 'apply emptydir pod-lines /run/fsquota.d ro' 'apply word "fsquota"' 'apply word "apply"' \
			'apply word "--watch"' 'apply word "--quiet"' 'apply word "--projects-file=/node/etc/projects"' \
			'apply word "--projid-file=/node/etc/projid"' 'apply word "/etc/fsquota.d"' 'apply word "/run/fsquota.d"' \
			'caps emptydir pod-lines /run/fsquota.d rw' \
			'caps projected token /var/run/secrets/kubernetes.io/serviceaccount ro' 'caps word "fsquota-caps"' \
			'caps word "--ids=kubelet"'
	)"
	prints '[{"apiGroups":[""],"resources":["pods"],"verbs":["list","watch"]}]' python3 -c 'import json, sys, yaml
for one in yaml.safe_load_all(open(sys.argv[1])):
    if one["kind"] == "ClusterRole": print(json.dumps(one["rules"], separators=(",", ":")))' "$BATS_TEST_TMPDIR/rendered.yaml"
}

@test "the PodMonitor and the NetworkPolicy find the port of the DaemonSet's pods" {
	prints 'kind monitoring.coreos.com/v1 PodMonitor
kind monitoring.coreos.com/v1 PrometheusRule' rendered podmonitor
	prints '' rendered networkpolicy
	python3 - "$srcdir/contrib/kubernetes" <<-'END'
		import sys, yaml
		monitor = yaml.safe_load(open(sys.argv[1] + "/podmonitor/podmonitor.yaml"))
		pods = yaml.safe_load(open(sys.argv[1] + "/base/daemonset.yaml"))
		template = pods["spec"]["template"]
		assert monitor["metadata"]["namespace"] == pods["metadata"]["namespace"]
		assert monitor["spec"]["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
		ports = [port["name"] for one in template["spec"]["containers"] for port in one.get("ports", [])]
		assert [one["port"] for one in monitor["spec"]["podMetricsEndpoints"]] == ports
		policy = yaml.safe_load(open(sys.argv[1] + "/networkpolicy/networkpolicy.yaml"))
		assert policy["metadata"]["namespace"] == pods["metadata"]["namespace"]
		assert policy["spec"]["podSelector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
		assert [one["port"] for rule in policy["spec"]["ingress"] for one in rule["ports"]] == ports
	END
}

@test "the PrometheusRule is what its command makes of the rules" {
	local top=$srcdir/contrib
	cp -r --parents "$top"/{prometheus,kubernetes/podmonitor} "$BATS_TEST_TMPDIR"
	(cd "$BATS_TEST_TMPDIR$top/kubernetes/podmonitor" && sed -n 's/^#   \(sed .*\)/\1/p' prometheusrule.yaml | sh -e)
	run -0 diff "$top/kubernetes/podmonitor/prometheusrule.yaml" "$BATS_TEST_TMPDIR$top/kubernetes/podmonitor/prometheusrule.yaml"
}

@test "README.md installs and removes what renders, and has a row for each right" {
	local readme=$srcdir/contrib/kubernetes/README.md words count=0 right
	while read -r -a words; do
		kubectl kustomize "$srcdir/${words[-1]}" >/dev/null || fail "${words[*]}"
		count=$((count + 1))
	done < <(sed -n 's/^    kubectl \(apply\|delete\) -k /&/p' "$readme")
	assert_equal $count 2
	run -0 rendered base
	while read -r right; do
		grep -qE "^\|.*\`$right\`.*\|.*\|.*\|\$" "$readme" || fail "$right"
	done < <(sed -nE 's/^[a-z]+ capability //p; s/^[a-z]+ volume ([^ ]*) .*/\1/p; s/^[a-z]+ profile (.*json)/the profile \1/p' <<<"$output" |
		sed 's/^the profile //' | sort -u)
	# Each directory of the tables is there.
	while read -r right; do
		[ -e "$srcdir/contrib/kubernetes/$right" ] || fail "$right"
	done < <(sed -n 's/^|.*| `\([a-z].*\)` |$/\1/p' "$readme")
}

# chart NAME=VALUE...: what Helm makes of the chart with these values, sorted as all that is compared
chart() {
	python3 -c 'import json, sys, yaml
values = yaml.safe_load(open(sys.argv[1]))
given = dict(word.split("=", 1) for word in sys.argv[2:])
assert given.keys() <= values.keys()
print(json.dumps(values | given))' "$BATS_TEST_TMPDIR/chart/values.yaml" "$@" |
		"$BATS_TEST_TMPDIR/helm" kube-system "$(<"$BATS_TEST_TMPDIR/chart/templates/fsquota.yaml")" | sorted
}

sorted() {
	python3 -c 'import json, sys, yaml
def sort(value):
    if isinstance(value, dict): return {key: sort(value[key]) for key in sorted(value)}
    # The order of mounts says nothing, that of containers and words does.
    if isinstance(value, list): return sorted(map(sort, value), key=lambda one: one.get("mountPath", "") if isinstance(one, dict) else "")
    return value
for one in sorted(yaml.safe_load_all(sys.stdin), key=lambda one: one["kind"] + one["metadata"]["name"]):
    print(json.dumps(sort(one), indent=1))'
}

@test "the chart renders as base does, and with another directory and lines as their overlay" {
	"$srcdir/contrib/kubernetes/make-chart" "$BATS_TEST_TMPDIR/chart"
	GOCACHE=$BATS_TEST_TMPDIR/cache GO111MODULE=off go build -o "$BATS_TEST_TMPDIR/helm" "$BATS_TEST_DIRNAME/helm.go"
	assert_equal "$(python3 -c 'import sys, yaml; print(yaml.safe_load(open(sys.argv[1]))["version"])' "$BATS_TEST_TMPDIR/chart/Chart.yaml")" \
		"$(fsquota --version | cut -d ' ' -f 2)"
	diff <(kubectl kustomize "$srcdir/contrib/kubernetes/base" | sorted) <(chart)
	diff <(kubectl kustomize "$srcdir/contrib/kubernetes/overlays/data-disk" | sorted) \
		<(chart directory=/data "lines=$(sed -n '/node.conf: |$/,$s/^    //p' "$srcdir/contrib/kubernetes/overlays/data-disk/lines.yaml")"$'\n')
	# Nothing else of another name is left.
	run ! grep -n '/var/lib/kubelet$\|kube-system' "$BATS_TEST_TMPDIR/chart/templates/fsquota.yaml"
}
