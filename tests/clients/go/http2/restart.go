package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"syscall"
	"time"

	"vedette/harness"
)

// agree: a last object, which all wait for; then a replay of the whole time by a new client must
// be what each has seen, over however many streams.
func agree(c *client, from string, watchers []*watcher) error {
	last := "last-" + from
	if err := c.create(last, "1"); err != nil {
		return err
	}
	replay := c.follow(from)
	all := append([]*watcher{replay}, watchers...)
	err := harness.Until("the last object by all", func() bool {
		for _, w := range all {
			w.mutex.Lock()
			n, failed := len(w.names), w.failed
			done := failed != nil || n > 0 && w.names[n-1] == last
			w.mutex.Unlock()
			if !done {
				return false
			}
		}
		return true
	})
	for i, w := range all {
		if failed := w.close(); failed != nil && err == nil {
			err = failed
		}
		if got, want := strings.Join(w.seen, "\n"), strings.Join(replay.seen, "\n"); err == nil &&
			got != want {
			err = fmt.Errorf("watcher %d saw\n%s\nthe replay is\n%s", i, got, want)
		}
	}
	return err
}

// A writer creates objects one after the other, and is answered or knows that nobody is there.
type writer struct {
	client  *client
	prefix  string
	stop    chan struct{}
	done    sync.WaitGroup
	written int
	dropped error // a request that a connection had and nobody answered
	failed  error
}

func write(c *client, prefix string) *writer {
	w := &writer{client: c, prefix: prefix, stop: make(chan struct{})}
	w.done.Add(1)
	go w.run()
	return w
}

func (w *writer) run() {
	defer w.done.Done()
	for {
		select {
		case <-w.stop:
			return
		default:
		}
		if w.failed = w.one(fmt.Sprintf("%s-%d", w.prefix, w.written)); w.failed != nil {
			return
		}
		w.written++
	}
}

// one creates an object, however often that must be tried; it is there already when the answer to
// an earlier try was lost.
func (w *writer) one(name string) error {
	var err error
	for deadline := time.Now().Add(harness.Patience); time.Now().Before(deadline); {
		connected := false
		trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected = true }}
		ctx := httptrace.WithClientTrace(context.Background(), trace)
		var answer *http.Response
		answer, err = w.client.send(ctx, "POST", maps, configMap(name, "1"))
		if err == nil {
			_, err = io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
		}
		if err == nil {
			if answer.StatusCode != http.StatusCreated && answer.StatusCode != http.StatusConflict {
				return errors.New(answer.Status)
			}
			return nil
		}
		// A request that a farewell has crossed is sent again, and finds nobody.
		if connected && !errors.Is(err, syscall.ECONNREFUSED) {
			w.dropped = fmt.Errorf("POST %s: %w", name, err)
		}
		time.Sleep(time.Millisecond)
	}
	return err
}

func (w *writer) close() error {
	close(w.stop)
	w.done.Wait()
	return w.failed
}

const (
	restarts        = 4
	restartWatchers = 40
)

// cycles ends the server some times and starts it again, under writers and watchers; what the
// watchers have seen in the end must be what has happened.
func cycles(s *harness.Server, name string, end func() error,
	look func(watchers []*watcher, writers []*writer) error) error {
	c, err := newClient(s)
	if err != nil {
		return err
	}
	defer c.close()
	from, err := c.version()
	if err != nil {
		return err
	}
	var watchers []*watcher
	for i := 0; i < restartWatchers; i++ {
		watchers = append(watchers, c.follow(from))
	}
	var writers []*writer
	for i := 0; i < 4; i++ {
		writers = append(writers, write(c, fmt.Sprintf("%s-%d", name, i)))
	}
	for i := 0; i < restarts; i++ {
		// All are at work: each has seen something since the last start.
		before := make([]int, len(watchers))
		for at, w := range watchers {
			before[at] = w.added()
		}
		err := harness.Until("events by all", func() bool {
			for at, w := range watchers {
				if w.added() < before[at]+5 {
					return false
				}
			}
			return true
		})
		if err != nil {
			return err
		}
		if err := end(); err != nil {
			return err
		}
		if err := s.Start(); err != nil {
			return err
		}
	}
	written := 0
	for _, w := range writers {
		if err := w.close(); err != nil {
			return err
		}
		written += w.written
	}
	if err := agree(c, from, watchers); err != nil {
		return err
	}
	if got := len(watchers[0].names); got != written+1 {
		return fmt.Errorf("%d objects were written, and %d seen", written, got-1)
	}
	if err := look(watchers, writers); err != nil {
		return err
	}
	return c.clear()
}

// drain: no stream breaks, and no request that has reached the server goes without an answer.
func drain(s *harness.Server) error {
	return cycles(s, "drain", s.Terminate, func(watchers []*watcher, writers []*writer) error {
		for i, w := range watchers {
			if w.breaks() != 0 {
				return fmt.Errorf("%d streams of watcher %d broke off", w.breaks(), i)
			}
		}
		for _, w := range writers {
			if w.dropped != nil {
				return w.dropped
			}
		}
		return nil
	})
}

func crash(s *harness.Server) error {
	return cycles(s, "crash", s.Kill, func(watchers []*watcher, _ []*writer) error {
		for i, w := range watchers {
			if w.breaks() == 0 {
				return fmt.Errorf("no stream of watcher %d broke off", i)
			}
		}
		return nil
	})
}
