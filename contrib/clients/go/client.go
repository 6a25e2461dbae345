// SPDX-License-Identifier: Apache-2.0

// Package fsquota gives directories project quotas by one process of "fsquota batch", which answers thousands of
// requests; and follows "fsquota watch".
//
// # Cancellation
//
// A request whose context ends while it waits for its turn is never sent. One that was sent returns at once with the
// error of the context; the process is told to end it (SIGINT), and a change that is ended so is undone. Whether it was
// too late for that is not known to the caller. The next request waits for the answer, or, when there is none within
// Patience, goes to a new process.
//
// # When the process dies
//
// A request goes to a new process, once, if the old one cannot have begun to change something for it: if the request
// only reads, or if no byte of it was taken. Any other request fails with ErrUnknown: it may be done, half of it may
// be done as after SIGKILL (see fsquota-concepts(7)), or nothing. assign, release and resize to a size can be asked
// again: they go on where they were. A process that has ended while nobody asked is replaced without a word.
package fsquota

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Patience is how long a request that was cancelled may still take before its process is given up.
const Patience = 5 * time.Second

// Code is a kind of failure, for errors.Is.
type Code string

func (code Code) Error() string { return string(code) }

// The kinds of failure of fsquota-json(5).
const (
	ErrFailed       = Code("failed")
	ErrUsage        = Code("usage")
	ErrNotSupported = Code("not-supported")
	ErrNotPermitted = Code("not-permitted")
	ErrNotFound     = Code("not-found")
	ErrConflict     = Code("conflict")
	ErrPartial      = Code("partial")
)

var (
	// ErrUnknown says that the process died, and that it is not known whether a change was made.
	ErrUnknown = errors.New("the process ended before it answered: it is not known whether the change was made")
	// ErrDied says that the process died, and so did the one after it. Nothing was changed.
	ErrDied = errors.New("the process ended before it answered")
	// ErrClosed says that the client is closed.
	ErrClosed = errors.New("the client is closed")
)

// Error is a failure that fsquota has told. errors.Is(err, ErrNotFound) asks for its kind.
type Error struct {
	Code    Code   `json:"code"`
	Errno   string `json:"errno"` // such as ENOENT, or ""
	Path    string `json:"path"`
	Message string `json:"message"`
	Cause   string `json:"cause"`
	Hint    string `json:"hint"`
}

func (e *Error) Error() string {
	text := e.Message
	if e.Path != "" {
		text = e.Path + ": " + text
	}
	if e.Errno != "" {
		text += ": " + e.Errno
	}
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	return text
}

// Is tells whether target is the code of the error.
func (e *Error) Is(target error) bool {
	switch target {
	case fs.ErrNotExist:
		return e.Errno == "ENOENT"
	case fs.ErrPermission:
		return e.Errno == "EACCES" || e.Errno == "EPERM"
	}
	return target == e.Code
}

// Client asks one process of "fsquota batch", one request at a time. Its zero value is ready, any number of goroutines
// can use it, and the process starts with the first request.
type Client struct {
	Program string // empty: the one that PATH leads to
	// Warn is called for each warning; nil: they go to the standard logger of package log.
	Warn func(path, message string)

	once  sync.Once
	turn  chan struct{} // who has sent to it may use what follows
	batch *batch
	done  bool
}

// reads are the commands that change nothing: all others may.
var reads = map[string]bool{
	"check": true, "df": true, "doctor": true, "explain": true, "export": true, "find": true, "id": true, "list": true,
	"lsattr": true, "quota": true, "report": true, "state": true, "supported": true, "usage": true,
}

// Ask sends the words of a command line, such as "usage", "--", "/srv/web", and returns what is answered as one of the
// types whose name ends with Answer. With an *Error the answer has what was done all the same.
func Ask[Answer any](ctx context.Context, client *Client, words ...string) (Answer, error) {
	var answer Answer
	line, err := client.ask(ctx, words)
	if err != nil {
		return answer, err
	}
	var told struct {
		Error    *Error
		Messages []struct {
			Warning *struct{ Path, Message string }
		}
	}
	if err := json.Unmarshal(line, &told); err != nil {
		return answer, fmt.Errorf("fsquota %s: %w", words[0], err)
	}
	for _, message := range told.Messages {
		if message.Warning != nil {
			client.warn(message.Warning.Path, message.Warning.Message)
		}
	}
	if err := json.Unmarshal(line, &answer); err != nil && told.Error == nil {
		return answer, fmt.Errorf("fsquota %s: %w", words[0], err)
	}
	if told.Error != nil {
		return answer, told.Error
	}
	return answer, nil
}

func (client *Client) warn(path, message string) {
	if client.Warn != nil {
		client.Warn(path, message)
	} else if path != "" {
		log.Printf("fsquota: %s: %s", path, message)
	} else {
		log.Printf("fsquota: %s", message)
	}
}

// Close waits for the request that is answered now, and ends the process. Later requests fail with ErrClosed.
func (client *Client) Close() error {
	client.once.Do(func() { client.turn = make(chan struct{}, 1) })
	client.turn <- struct{}{}
	defer func() { <-client.turn }()
	client.done = true
	if client.batch == nil {
		return nil
	}
	batch := client.batch
	client.batch = nil
	batch.requests.Close()
	<-batch.ended
	batch.close()
	return batch.status
}

func (client *Client) ask(ctx context.Context, words []string) ([]byte, error) {
	request, err := encode(words)
	if err != nil {
		return nil, err
	}
	client.once.Do(func() { client.turn = make(chan struct{}, 1) })
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case client.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for attempt := 0; ; attempt++ {
		batch, err := client.start()
		if err != nil {
			<-client.turn
			return nil, err
		}
		answers := make(chan result, 1)
		go func() { answers <- batch.exchange(request) }()
		select {
		case got := <-answers:
			switch {
			case got.err == nil:
			case errors.Is(got.err, ErrUnknown) && reads[words[0]]:
				got.err = ErrDied
				fallthrough
			case errors.Is(got.err, ErrDied):
				client.giveUp()
				if attempt == 0 {
					continue
				}
			default:
				client.giveUp()
			}
			<-client.turn
			return got.line, got.err
		case <-ctx.Done():
			batch.process.Signal(syscall.SIGINT)
			go client.waitForCancelled(answers)
			return nil, ctx.Err()
		}
	}
}

// waitForCancelled has the turn, and passes it on when the answer that nobody wants is there.
func (client *Client) waitForCancelled(answers <-chan result) {
	patience := time.NewTimer(Patience)
	defer patience.Stop()
	select {
	case got := <-answers:
		if got.err != nil {
			client.giveUp()
		}
	case <-patience.C:
		client.giveUp()
	}
	<-client.turn
}

// start returns a process that has not ended.
func (client *Client) start() (*batch, error) {
	if client.done {
		return nil, ErrClosed
	}
	if client.batch != nil {
		select {
		case <-client.batch.ended:
			client.giveUp()
		default:
			return client.batch, nil
		}
	}
	var err error
	client.batch, err = start(client.program())
	return client.batch, err
}

func (client *Client) program() string {
	if client.Program == "" {
		return "fsquota"
	}
	return client.Program
}

// giveUp lets the process end by itself, which undoes a change that it is at (SIGTERM).
func (client *Client) giveUp() {
	client.batch.process.Signal(syscall.SIGTERM)
	client.batch.close()
	client.batch = nil
}

// batch is one process.
type batch struct {
	process  *os.Process
	requests io.WriteCloser
	output   *os.File
	answers  *bufio.Reader
	sent     uint64
	ended    chan struct{} // closed when it has
	status   error         // then
}

type result struct {
	line []byte
	err  error
}

func start(program string) (*batch, error) {
	command := exec.Command(program, "batch")
	// A terminal's signals are for the caller.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Stderr = os.Stderr
	requests, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	// Not StdoutPipe: Wait would close it before the last answer is read.
	from, to, err := os.Pipe()
	if err != nil {
		requests.Close()
		return nil, err
	}
	command.Stdout = to
	err = command.Start()
	to.Close()
	if err != nil {
		requests.Close()
		from.Close()
		return nil, err
	}
	it := &batch{
		process: command.Process, requests: requests, output: from, answers: bufio.NewReader(from),
		ended: make(chan struct{}),
	}
	go func() {
		it.status = command.Wait()
		close(it.ended)
	}()
	return it, nil
}

func (it *batch) close() {
	it.requests.Close()
	it.output.Close()
}

// exchange fails with ErrDied if no byte of the request was taken, and with ErrUnknown if it is not known what became
// of it.
func (it *batch) exchange(request []byte) result {
	if count, err := it.requests.Write(request); err != nil && count == 0 {
		return result{nil, ErrDied}
	}
	line, err := it.answers.ReadBytes('\n')
	if err != nil {
		return result{nil, ErrUnknown}
	}
	it.sent++
	var number struct{ Request uint64 }
	if err := json.Unmarshal(line, &number); err != nil || number.Request != it.sent {
		return result{nil, fmt.Errorf("%w: answer %d to request %d", ErrUnknown, number.Request, it.sent)}
	}
	return result{line, nil}
}

// encode writes the bytes of a path as they are: encoding/json would replace those that are not UTF-8.
func encode(words []string) ([]byte, error) {
	if len(words) == 0 {
		return nil, &Error{Code: ErrUsage, Message: "there is no command"}
	}
	line := []byte("[")
	for _, word := range words {
		if strings.IndexByte(word, 0) >= 0 {
			return nil, &Error{Code: ErrUsage, Message: "there is a NUL in a word"}
		}
		line = append(line, '"')
		for _, c := range []byte(word) {
			switch {
			case c == '"' || c == '\\':
				line = append(line, '\\', c)
			case c < ' ':
				line = append(line, fmt.Sprintf("\\u%04x", c)...)
			default:
				line = append(line, c)
			}
		}
		line = append(line, '"', ',')
	}
	line[len(line)-1] = ']'
	return append(line, '\n'), nil
}
