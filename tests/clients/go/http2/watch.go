package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// A stream is one watch request.
type stream struct {
	lines  *bufio.Reader
	body   io.Closer
	cancel context.CancelFunc
}

type event struct {
	Type   string `json:"type"`
	Object object `json:"object"`
}

func (c *client) watch(query string) (*stream, error) {
	ctx, cancel := context.WithCancel(context.Background())
	answer, err := c.send(ctx, "GET", maps+"?watch=1&"+query, "")
	if err != nil {
		cancel()
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		cancel()
		answer.Body.Close()
		return nil, fmt.Errorf("a watch was answered with %s", answer.Status)
	}
	return &stream{bufio.NewReader(answer.Body), answer.Body, cancel}, nil
}

// next gives io.EOF only at an end in order: between two events, and said by the server.
func (s *stream) next() (event, error) {
	var e event
	line, err := s.lines.ReadBytes('\n')
	if err == io.EOF && len(line) > 0 {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		err = json.Unmarshal(line, &e)
	}
	return e, err
}

// close takes the request back (RST_STREAM).
func (s *stream) close() {
	s.cancel()
	s.body.Close()
}

// A watcher follows the maps for as long as it likes, over as many streams as that takes: when one
// ends, the next goes on at the last version that was seen, never with a list.
type watcher struct {
	client *client
	mutex  sync.Mutex // guards what is below
	stream *stream
	from   string
	seen   []string // TYPE name version
	names  []string // of the ADDED that are not the server's own
	broken int      // streams that did not end in order
	closed bool
	failed error
	over   chan struct{}
}

func (c *client) follow(from string) *watcher {
	w := &watcher{client: c, from: from, over: make(chan struct{})}
	go w.run()
	return w
}

func (w *watcher) run() {
	defer close(w.over)
	for {
		w.mutex.Lock()
		from, done := w.from, w.closed || w.failed != nil
		w.mutex.Unlock()
		if done {
			return
		}
		s, err := w.client.watch("resourceVersion=" + from)
		if err != nil {
			time.Sleep(10 * time.Millisecond) // nobody there; as any client, it tries again
			continue
		}
		w.mutex.Lock()
		w.stream = s
		closed := w.closed
		w.mutex.Unlock()
		if closed {
			s.close()
			return
		}
		w.read(s)
		s.close()
	}
}

func (w *watcher) read(s *stream) {
	for {
		e, err := s.next()
		w.mutex.Lock()
		if err != nil {
			if err != io.EOF && !w.closed {
				w.broken++
			}
			w.mutex.Unlock()
			return
		}
		w.take(e)
		w.mutex.Unlock()
	}
}

func (w *watcher) take(e event) {
	meta := e.Object.Metadata
	if e.Type == "ERROR" {
		w.failed = fmt.Errorf("the watch from %s got an error, code %d", w.from, e.Object.Code)
		return
	}
	if len(meta.ResourceVersion) < len(w.from) ||
		len(meta.ResourceVersion) == len(w.from) && meta.ResourceVersion <= w.from {
		w.failed = fmt.Errorf("%s %s has version %s, after %s", e.Type, meta.Name,
			meta.ResourceVersion, w.from)
	}
	w.from = meta.ResourceVersion
	w.seen = append(w.seen, e.Type+" "+meta.Name+" "+meta.ResourceVersion)
	if e.Type == "ADDED" && meta.Name != "kube-root-ca.crt" {
		w.names = append(w.names, meta.Name)
	}
}

// added is how many ADDED were seen, without the server's own.
func (w *watcher) added() int {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return len(w.names)
}

func (w *watcher) breaks() int {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.broken
}

// close ends it; afterwards its fields can be read.
func (w *watcher) close() error {
	w.mutex.Lock()
	w.closed = true
	s := w.stream
	w.mutex.Unlock()
	if s != nil {
		s.close()
	}
	<-w.over
	return w.failed
}
