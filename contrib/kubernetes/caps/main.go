// SPDX-License-Identifier: Apache-2.0
//
// A cap for each emptyDir volume of the pods of a node, from what the pods say: lines of fsquota.d(5) for
// "fsquota apply --watch". README.md describes it.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"reflect"
	"sort"
	"strings"
	"syscall"
	"time"
)

const (
	watchFor   = 5 * time.Minute // after which the API server ends a watch
	answerIn   = 30 * time.Second
	longestNap = 30 * time.Second
)

type controller struct {
	node, root, file, ids, api, credentials string
	softFirst                               bool
	client                                  *http.Client
	version                                 string            // resourceVersion of the last event
	pods                                    map[string][]line // by UID
	written                                 map[string]string // words by path; nil before the first time
	last                                    string            // error that was reported
	nap                                     time.Duration     // before the next list
}

type event struct {
	Type   string
	Object json.RawMessage
}

// What the API server sends in the place of an object.
type status struct {
	Code    int
	Message string
}

var errGone = errors.New("the version is too old")

// get asks for the pods of the node.
func (c *controller) get(ctx context.Context, query url.Values) (io.ReadCloser, error) {
	query.Set("fieldSelector", "spec.nodeName="+c.node)
	request, err := http.NewRequestWithContext(ctx, "GET", c.api+"/api/v1/pods?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	token, err := os.ReadFile(c.credentials + "/token") // it is replaced every hour
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	answer, err := c.client.Do(request)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode == http.StatusOK {
		return answer.Body, nil
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusGone {
		return nil, errGone
	}
	var why status
	if json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&why) != nil || why.Message == "" {
		why.Message = answer.Status
	}
	return nil, fmt.Errorf("%s", why.Message)
}

// connect reads the certificate of the API server, which may have been replaced, too.
func (c *controller) connect() error {
	transport := &http.Transport{
		ForceAttemptHTTP2:     true,
		ResponseHeaderTimeout: answerIn,
		DialContext:           (&net.Dialer{Timeout: answerIn, KeepAlive: 15 * time.Second}).DialContext,
	}
	if strings.HasPrefix(c.api, "https") {
		ca, err := os.ReadFile(c.credentials + "/ca.crt")
		if err != nil {
			return err
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
		transport.TLSClientConfig.RootCAs.AppendCertsFromPEM(ca)
	}
	if c.client != nil {
		c.client.CloseIdleConnections()
	}
	c.client = &http.Client{Transport: transport}
	return nil
}

func (c *controller) list() error {
	ctx, cancel := context.WithTimeout(context.Background(), answerIn)
	defer cancel()
	body, err := c.get(ctx, url.Values{"resourceVersion": {"0"}})
	if err != nil {
		return fmt.Errorf("cannot list pods: %w", err)
	}
	defer body.Close()
	var all struct {
		Metadata struct{ ResourceVersion string }
		Items    []pod
	}
	if err := json.NewDecoder(body).Decode(&all); err != nil {
		return fmt.Errorf("cannot list pods: %w", err)
	}
	c.version = all.Metadata.ResourceVersion
	c.pods = map[string][]line{}
	for i := range all.Items {
		c.pods[all.Items[i].Metadata.UID] = c.lines(&all.Items[i])
	}
	return c.write()
}

// watch follows the pods until the API server ends it.
func (c *controller) watch() error {
	ctx, cancel := context.WithTimeout(context.Background(), watchFor+answerIn)
	defer cancel()
	body, err := c.get(ctx, url.Values{
		"watch": {"1"}, "allowWatchBookmarks": {"true"}, "resourceVersion": {c.version},
		"timeoutSeconds": {fmt.Sprint(int(watchFor.Seconds()))},
	})
	if err != nil {
		return fmt.Errorf("cannot watch pods: %w", err)
	}
	defer body.Close()
	c.last, c.nap = "", time.Second
	for events := json.NewDecoder(body); ; {
		var next event
		if err := events.Decode(&next); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("cannot watch pods: %w", err)
		}
		if err := c.follow(&next); err != nil {
			return err
		}
	}
}

func (c *controller) follow(next *event) error {
	var one pod
	if next.Type == "ERROR" {
		var why status
		if json.Unmarshal(next.Object, &why) == nil && why.Code == http.StatusGone {
			return errGone
		}
		return fmt.Errorf("cannot watch pods: %s", why.Message)
	}
	if err := json.Unmarshal(next.Object, &one); err != nil {
		return fmt.Errorf("cannot watch pods: %w", err)
	}
	c.version = one.Metadata.ResourceVersion
	switch next.Type {
	case "ADDED", "MODIFIED":
		c.pods[one.Metadata.UID] = c.lines(&one)
	case "DELETED":
		delete(c.pods, one.Metadata.UID)
	default: // a bookmark
		return nil
	}
	return c.write()
}

// write replaces the file, if lines have changed, and prints which.
func (c *controller) write() error {
	wanted := map[string]string{}
	var text []string
	for _, lines := range c.pods {
		for _, line := range lines {
			wanted[line.path] = line.words
			text = append(text, line.path+" "+line.words+"\n")
		}
	}
	sort.Strings(text)
	if reflect.DeepEqual(c.written, wanted) {
		return nil
	}
	all := strings.Join(text, "")
	if now, err := os.ReadFile(c.file); err != nil || string(now) != all {
		new := filepath.Join(filepath.Dir(c.file), "."+filepath.Base(c.file)+".new")
		if err := os.WriteFile(new, []byte(all), 0644); err != nil {
			return err
		}
		if err := os.Rename(new, c.file); err != nil {
			return err
		}
	}
	for path, words := range wanted {
		if c.written[path] != words {
			fmt.Printf("caps     %s %s\n", path, words)
		}
	}
	for path := range c.written {
		if wanted[path] == "" {
			fmt.Printf("removes  %s\n", path)
		}
	}
	c.written = wanted
	return nil
}

// run keeps the lines. While there is no answer they stay as they are.
func (c *controller) run() {
	for {
		err := c.connect()
		if err == nil {
			err = c.list()
		}
		for err == nil {
			err = c.watch()
		}
		if !errors.Is(err, errGone) && err.Error() != c.last {
			complain("%v", err)
			c.last = err.Error()
		}
		time.Sleep(c.nap + time.Duration(rand.Int63n(int64(c.nap))))
		if c.nap *= 2; c.nap > longestNap {
			c.nap = longestNap
		}
	}
}

func complain(format string, what ...any) {
	fmt.Fprintf(os.Stderr, "fsquota-caps: "+format+"\n", what...)
}

func main() {
	c := controller{nap: time.Second}
	flag.StringVar(&c.node, "node", os.Getenv("NODE_NAME"), "`name` of this node; also $NODE_NAME")
	flag.StringVar(&c.root, "root", "/var/lib/kubelet", "`directory` of kubelet, as it is registered in /etc/projects")
	flag.StringVar(&c.file, "file", "/run/fsquota.d/pods.conf", "`file` for the lines")
	flag.StringVar(&c.ids, "ids", "kubelet", "`who` gives volumes their project IDs: kubelet, apply or both")
	flag.BoolVar(&c.softFirst, "soft-first", false, "soft limit at the size, and the hard one 10 % above")
	server := url.URL{Scheme: "https", Host: net.JoinHostPort(os.Getenv("KUBERNETES_SERVICE_HOST"),
		os.Getenv("KUBERNETES_SERVICE_PORT"))}
	flag.StringVar(&c.api, "api", server.String(), "`URL` of the API server")
	flag.StringVar(&c.credentials, "credentials", "/var/run/secrets/kubernetes.io/serviceaccount",
		"`directory` with token and ca.crt")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: fsquota-caps [OPTION]...\n\n"+
			"Write lines of fsquota.d(5) that cap the emptyDir volumes of this node's pods.")
		flag.PrintDefaults()
	}
	flag.Parse()
	switch {
	case flag.NArg() > 0:
		complain("takes no operands")
	case !isName(c.node):
		complain("no name of a node: %q", c.node)
	case !filepath.IsAbs(c.root) || filepath.Clean(c.root) != c.root || strings.ContainsAny(c.root, "\n\x00"):
		complain("the root is no absolute path without . and ..: %q", c.root)
	case c.ids != "kubelet" && c.ids != "apply" && c.ids != "both":
		complain("IDs come from kubelet, apply or both, not %q", c.ids)
	default:
		rand.Seed(time.Now().UnixNano())
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
		go c.run()
		<-signals
		return
	}
	os.Exit(2)
}
