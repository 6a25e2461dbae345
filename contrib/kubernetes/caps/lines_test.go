// SPDX-License-Identifier: Apache-2.0
package main

import (
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"testing"
)

func TestSize(t *testing.T) {
	for text, bytes := range map[string]int64{
		"0": 0, "-5": 0, "": 0, "1e99": 0, "9E": 0, "1.2.3": 0, "x": 0, "1e999999999": 0,
		"1": 1, "1024": 1024, "1Ki": 1024, "1.5Gi": 3 << 29, "2G": 2e9, "12e6": 12e6, "12E6": 12e6, "1k": 1000,
		"100m": 1, "1500m": 2, "1n": 1, "3e-1": 1, "0.1Ti": 109951162778,
	} {
		if got := size(text); got != bytes {
			t.Errorf("%q is %d, not %d", text, got, bytes)
		}
	}
}

const id = "0b3ef7e6-7d11-4d5c-9a55-2f0d4a1f6c55"

// of is what the JSON of a spec gets, with the options of c.
func of(t *testing.T, c controller, uid, spec string) (words map[string]string) {
	var p pod
	if err := json.Unmarshal([]byte(`{"metadata":{"uid":"`+uid+`"},"spec":`+spec+`}`), &p); err != nil {
		t.Fatal(err)
	}
	words = map[string]string{}
	for _, line := range c.lines(&p) {
		words[line.path] = line.words
	}
	return words
}

func TestLines(t *testing.T) {
	const place = "/k/pods/" + id + "/volumes/kubernetes.io~empty-dir/"
	limited := func(size string) string { return `{"resources":{"limits":{"ephemeral-storage":"` + size + `"}}}` }
	kubelet, apply := controller{root: "/k", ids: "kubelet"}, controller{root: "/k", ids: "apply"}
	both, soft := controller{root: "/k", ids: "both"}, controller{root: "/k", ids: "kubelet", softFirst: true}
	for name, one := range map[string]struct {
		controller controller
		spec       string
		wanted     map[string]string
	}{
		"a size": {kubelet, `{"volumes":[{"name":"a","emptyDir":{"sizeLimit":"1Mi"}},{"name":"b","emptyDir":{}}]}`,
			map[string]string{place + "a": "hard=1048576 registered"}},
		"in memory, and what is no emptyDir": {kubelet, `{"containers":[` + limited("1Mi") + `],"volumes":[{"name":"a","emptyDir":{"medium":"Memory"}},
			{"name":"b","emptyDir":{"medium":"HugePages-2Mi","sizeLimit":"1Mi"}},{"name":"c","secret":{}}]}`, map[string]string{}},
		"the smaller of two": {kubelet, `{"containers":[` + limited("1Mi") + `,` + limited("1Mi") + `,{}],"volumes":[{"name":"a","emptyDir":{"sizeLimit":"1Mi"}},
			{"name":"b","emptyDir":{"sizeLimit":"3Mi"}},{"name":"c","emptyDir":{}},{"name":"d","emptyDir":{"sizeLimit":"0"}}]}`,
			map[string]string{place + "a": "hard=1048576 registered", place + "b": "hard=2097152 registered",
				place + "c": "hard=2097152 registered", place + "d": "hard=2097152 registered"}},
		"a container that starts with a sidecar": {kubelet, `{"containers":[` + limited("1Ki") + `],"initContainers":[
			{"restartPolicy":"Always","resources":{"limits":{"ephemeral-storage":"8Ki"}}},` + limited("32Ki") + `],
			"overhead":{"ephemeral-storage":"4Ki"},"volumes":[{"name":"a","emptyDir":{}}]}`, map[string]string{place + "a": "hard=45056 registered"}},
		"less than a block": {kubelet, `{"volumes":[{"name":"a","emptyDir":{"sizeLimit":"1"}}]}`,
			map[string]string{place + "a": "hard=4096 registered"}},
		"soft first": {soft, `{"volumes":[{"name":"a","emptyDir":{"sizeLimit":"1M"}}]}`,
			map[string]string{place + "a": "soft=1000000 hard=1100000 registered"}},
		"IDs of apply": {apply, `{"volumes":[{"name":"data","emptyDir":{"sizeLimit":"1Mi"}}]}`,
			map[string]string{place + "[d]ata": "hard=1048576"}},
		"of both, with a user namespace": {both, `{"hostUsers":false,"volumes":[{"name":"a","emptyDir":{"sizeLimit":"1Mi"}}]}`,
			map[string]string{place + "a": "hard=1048576 registered"}},
		"of both, without": {both, `{"volumes":[{"name":"a","emptyDir":{"sizeLimit":"1Mi"}}]}`,
			map[string]string{place + "[a]": "hard=1048576"}},
		"no name of a volume": {kubelet, `{"volumes":[{"name":"a b","emptyDir":{"sizeLimit":"1Mi"}},{"name":"..","emptyDir":{"sizeLimit":"1Mi"}}]}`,
			map[string]string{}},
	} {
		if got := of(t, one.controller, id, one.spec); !reflect.DeepEqual(got, one.wanted) {
			t.Errorf("%s: %q, not %q", name, got, one.wanted)
		}
	}
	spec := `{"volumes":[{"name":"a","emptyDir":{"sizeLimit":"1Mi"}}]}`
	if got := of(t, kubelet, "../../x", spec); len(got) > 0 {
		t.Errorf("no UID: %q", got)
	}
	kubelet.root = `/a b/*"`
	for path := range of(t, kubelet, id, spec) {
		if wanted := `/a\ b/\*\"/pods/` + id + "/volumes/kubernetes.io~empty-dir/a"; path != wanted {
			t.Errorf("%s, not %s", path, wanted)
		}
	}
}

func TestFollow(t *testing.T) {
	c := controller{root: "/k", ids: "kubelet", file: t.TempDir() + "/pods.conf", pods: map[string][]line{}}
	const line = "/k/pods/" + id + "/volumes/kubernetes.io~empty-dir/a hard=1048576 registered\n"
	pod := func(version, size string) string {
		return `{"metadata":{"uid":"` + id + `","resourceVersion":"` + version + `"},"spec":{"volumes":[{"name":"a","emptyDir":{` + size + `}}]}}`
	}
	for _, one := range []struct{ kind, object, version, file string }{
		{"ADDED", pod("1", ``), "1", ""},
		{"MODIFIED", pod("2", `"sizeLimit":"1Mi"`), "2", line},
		{"BOOKMARK", `{"metadata":{"resourceVersion":"9"}}`, "9", line},
		{"DELETED", pod("10", `"sizeLimit":"1Mi"`), "10", ""},
	} {
		err := c.follow(&event{one.kind, json.RawMessage(one.object)})
		text, _ := os.ReadFile(c.file)
		if err != nil || c.version != one.version || string(text) != one.file {
			t.Errorf("%s: %v, version %s, %q", one.kind, err, c.version, text)
		}
	}
	if err := c.follow(&event{"ERROR", json.RawMessage(`{"code":410,"message":"too old resource version"}`)}); !errors.Is(err, errGone) {
		t.Errorf("gone: %v", err)
	}
	if err := c.follow(&event{"ERROR", json.RawMessage(`{"code":500,"message":"etcd"}`)}); err == nil || err.Error() != "cannot watch pods: etcd" {
		t.Errorf("an error: %v", err)
	}
}
