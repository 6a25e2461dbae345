// SPDX-License-Identifier: Apache-2.0

package fsquota

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Watch is a process of "fsquota watch". Its events come from Events, which is closed when it has ended.
type Watch struct {
	Events <-chan WatchRow

	process    *os.Process
	stop       sync.Once
	stopped    chan struct{} // closed when nobody wants the events
	begun      chan struct{} // closed when there is an event
	ended      chan struct{} // closed when it has ended
	err        error         // then
	messages   messages
	notReading func() // ends the wait for the process
}

var watches uint64

// Watch begins to watch the filesystems of paths, or all. Options of fsquota-watch(8) can stand in front, as
// "--over=90". When it returns no later event is lost.
func (client *Client) Watch(words ...string) (*Watch, error) {
	// It watches when it says so, as a service does.
	name := fmt.Sprintf("@fsquota-%d-%d", os.Getpid(), atomic.AddUint64(&watches, 1))
	ready, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		return nil, err
	}
	defer ready.Close()
	command := exec.Command(client.program(), append([]string{"watch", "--jsonl"}, words...)...)
	command.Env = append(os.Environ(), "NOTIFY_SOCKET="+name)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	events := make(chan WatchRow)
	watch := &Watch{
		Events:  events,
		stopped: make(chan struct{}), begun: make(chan struct{}), ended: make(chan struct{}),
		messages:   messages{warn: client.warn},
		notReading: func() { ready.SetReadDeadline(time.Now()) },
	}
	command.Stderr = &watch.messages
	if err := command.Start(); err != nil {
		return nil, err
	}
	watch.process = command.Process
	go watch.read(command, output, events)
	if said, _ := ready.Read(make([]byte, 256)); said == 0 {
		select {
		case <-watch.begun:
		case <-watch.ended:
			if watch.err != nil {
				return nil, watch.err
			}
		}
	}
	return watch, nil
}

func (watch *Watch) read(command *exec.Cmd, output io.Reader, events chan<- WatchRow) {
	var err error
	lines := bufio.NewReader(output)
	for first := true; err == nil; first = false {
		var line []byte
		var event WatchRow
		if line, err = lines.ReadBytes('\n'); err != nil {
			break
		}
		if first {
			close(watch.begun)
			watch.notReading()
		}
		if err = json.Unmarshal(line, &event); err == nil {
			select {
			case events <- event:
			case <-watch.stopped:
			}
		}
	}
	if err != io.EOF {
		watch.err = err
		watch.process.Signal(syscall.SIGTERM)
		io.Copy(io.Discard, output)
	}
	if err := command.Wait(); err != nil && watch.err == nil {
		watch.err = err
		if watch.messages.failure != nil {
			watch.err = watch.messages.failure
		}
	}
	close(watch.ended)
	close(events)
	watch.notReading()
}

// Close ends the process, and returns why it has failed, if so.
func (watch *Watch) Close() error {
	watch.stop.Do(func() {
		close(watch.stopped)
		watch.process.Signal(syscall.SIGTERM)
	})
	<-watch.ended
	return watch.err
}

// messages is what a process says on standard error: the first error is kept.
type messages struct {
	warn    func(path, message string)
	rest    []byte
	failure *Error
}

func (to *messages) Write(text []byte) (int, error) {
	to.rest = append(to.rest, text...)
	for {
		line, rest, found := bytes.Cut(to.rest, []byte("\n"))
		if !found {
			return len(text), nil
		}
		to.rest = rest
		var told struct {
			Error   *Error
			Warning *struct{ Path, Message string }
		}
		json.Unmarshal(line, &told)
		if told.Error != nil && to.failure == nil {
			to.failure = told.Error
		}
		if told.Warning != nil {
			to.warn(told.Warning.Path, told.Warning.Message)
		}
	}
}
