// SPDX-License-Identifier: Apache-2.0

package fsquota

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func walk(ctx context.Context, client *Client, directory string) (UsageRow, error) {
	answer, err := Ask[UsageAnswer](ctx, client, "usage", "--fallback=walk", "--", directory)
	return first(answer.Usage, err)
}

func check(t *testing.T, err error, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("%v, not %v", err, want)
	}
}

func TestAnswersAreOfTheirRequests(t *testing.T) {
	var client Client
	var all sync.WaitGroup
	for i := 0; i < 20; i++ {
		all.Add(1)
		go func(path string) {
			defer all.Done()
			if _, err := walk(context.Background(), &client, path); !errors.Is(err, ErrNotFound) || !errors.Is(err, fs.ErrNotExist) || err.(*Error).Path != path {
				t.Error(err)
			}
		}(fmt.Sprintf("/nowhere/%d", i))
	}
	all.Wait()
	hostile := t.TempDir() + "/a \xff\"\\\n\u00e4"
	check(t, os.Mkdir(hostile, 0o700), nil)
	row, err := walk(context.Background(), &client, hostile)
	check(t, err, nil)
	if *row.UsedInodes != 1 || row.HardBytes != nil || *row.Source != "walk" {
		t.Fatal(row)
	}
	_, err = client.Supported(context.Background(), "/proc")
	check(t, err, ErrNotSupported)
	_, err = client.Usage(context.Background(), "a\x00b")
	check(t, err, ErrUsage)
	_, err = client.Watch("/nowhere")
	check(t, err, ErrNotFound)
	check(t, client.Close(), nil)
	_, err = client.List(context.Background())
	check(t, err, ErrClosed)
}

func TestLimitsOfARowAreWhatARequestTakes(t *testing.T) {
	hard, inodes := uint64(10<<20), uint64(100)
	limits := UsageRow{HardBytes: &hard, SoftInodes: &inodes}.Limits()
	if limits != (Limits{Hard: "10485760", Soft: "none", HardInodes: "none", SoftInodes: Inodes(100)}) {
		t.Fatal(limits)
	}
	var given words
	given.limits(limits)
	if text := strings.Join(given, " "); text != "--hard=10485760 --soft=none --hard-inodes=none --soft-inodes=100" {
		t.Fatal(text)
	}
	given = nil
	given.limits(Limits{})
	if len(given) != 0 {
		t.Fatal(given)
	}
}

func TestCancelledRequestsAndDeadProcessesLeaveAClientThatWorks(t *testing.T) {
	var client Client
	defer client.Close()
	for i := 0; i < 5; i++ {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*5*time.Millisecond)
		_, err := walk(ctx, &client, "/")
		cancel()
		check(t, err, context.DeadlineExceeded)
		_, err = walk(context.Background(), &client, "/proc/self/fd/")
		check(t, err, nil)
		if i%2 == 1 {
			client.batch.process.Signal(syscall.SIGKILL)
		}
	}
}

// The program notes that it was started, and what it was asked, and dies.
func TestOnlyWhatReadsIsAskedTwice(t *testing.T) {
	directory := t.TempDir()
	program, log := directory+"/program", directory+"/log"
	script := fmt.Sprintf("#!/bin/sh\nread -r line\necho \"$line\" >>%s\n", log)
	check(t, os.WriteFile(program, []byte(script), 0o755), nil)
	client := Client{Program: program}
	_, err := client.Assign(context.Background(), AssignRequest{Directory: "/d", Limits: Limits{Hard: "1M"}, Mkdir: true})
	check(t, err, ErrUnknown)
	_, err = client.Usage(context.Background(), "/d")
	check(t, err, ErrDied)
	asked, _ := os.ReadFile(log)
	usage := "[\"usage\",\"--\",\"/d\"]\n"
	if want := "[\"assign\",\"--hard=1M\",\"--mkdir\",\"--\",\"/d\"]\n" + strings.Repeat(usage, 2); string(asked) != want {
		t.Fatalf("%s", asked)
	}
}
