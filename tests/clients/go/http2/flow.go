package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"vedette/harness"
)

const (
	largeObjects = 64
	largeLen     = 100_000 // bytes of each: all are more than the window that net/http gives a stream
)

// large makes values that differ, and that gzip makes smaller.
func large(i int) string {
	return strings.Repeat(fmt.Sprintf("%04x", i*2654435761%65536), largeLen/4)
}

func largeNames(prefix string) []string {
	names := make([]string, largeObjects)
	for i := range names {
		names[i] = fmt.Sprintf("%s-%03d", prefix, i)
	}
	return names
}

// slow: a watch that is not read runs out of its window, 4 MiB, and is parked. Others on the same
// connection, and requests, go on; when it is read at last, it has all that the others had.
func slow(s *harness.Server) error {
	c, err := newClient(s)
	if err != nil {
		return err
	}
	defer c.close()
	from, err := c.version()
	if err != nil {
		return err
	}
	stuck, err := c.watch("resourceVersion=" + from)
	if err != nil {
		return err
	}
	defer stuck.close()
	names := largeNames("slow")
	fast := make(chan error)
	for i := 0; i < 10; i++ {
		reader, err := c.watch("resourceVersion=" + from)
		if err != nil {
			return err
		}
		defer reader.close()
		go func() { fast <- sees(reader, names) }()
	}
	for i, name := range names {
		if err := c.create(name, large(i)); err != nil {
			return err
		}
	}
	for i := 0; i < 10; i++ {
		if err := <-fast; err != nil {
			return err
		}
	}
	err = harness.Until("a parked watch", func() bool {
		n, err := c.metric("watch_watchers", `state="parked"`)
		return err == nil && n == 1
	})
	if err != nil {
		return err
	}
	if err := sees(stuck, names); err != nil {
		return fmt.Errorf("the slow one: %w", err)
	}
	if c.connections() != 1 {
		return fmt.Errorf("%d connections", c.connections())
	}
	return c.clear()
}

// lists: eight at a time on one connection, each more than its stream's window. net/http asks for
// gzip by itself and unpacks it; without, the bytes are the same.
func lists(s *harness.Server) error {
	packed, err := newClient(s)
	if err != nil {
		return err
	}
	defer packed.close()
	plain, err := newClient(s)
	if err != nil {
		return err
	}
	defer plain.close()
	plain.transport.DisableCompression = true
	names := largeNames("list")
	for i, name := range names {
		if err := packed.create(name, large(i)); err != nil {
			return err
		}
	}
	bodies := make([][]byte, 16)
	err = harness.Each(len(bodies), func(i int) error {
		c := []*client{packed, plain}[i%2]
		answer, err := c.send(context.Background(), "GET", maps, "")
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK || answer.Uncompressed != (c == packed) {
			return fmt.Errorf("%s, unpacked: %v", answer.Status, answer.Uncompressed)
		}
		bodies[i], err = io.ReadAll(answer.Body)
		return err
	})
	if err != nil {
		return err
	}
	var all list
	if err := json.Unmarshal(bodies[0], &all); err != nil {
		return err
	}
	at := 0
	for _, item := range all.Items {
		if item.Metadata.Name == "kube-root-ca.crt" {
			continue
		}
		if at == len(names) || item.Metadata.Name != names[at] || item.Data["v"] != large(at) {
			return fmt.Errorf("%s is not what was written", item.Metadata.Name)
		}
		at++
	}
	for i, body := range bodies {
		if at != len(names) || !bytes.Equal(body, bodies[0]) {
			return fmt.Errorf("list %d has %d bytes, the first %d with %d objects", i, len(body),
				len(bodies[0]), at)
		}
	}
	if packed.connections() != 1 {
		return fmt.Errorf("%d connections", packed.connections())
	}
	return packed.clear()
}

// overlong: the answer comes before the body has been sent, and net/http stops sending.
func overlong(s *harness.Server) error {
	c, err := newClient(s)
	if err != nil {
		return err
	}
	defer c.close()
	body := configMap("overlong", strings.Repeat("x", 20_000_000))
	for i := 0; i < 5; i++ {
		if _, err := c.ask(http.StatusRequestEntityTooLarge, "POST", maps, body); err != nil {
			return err
		}
		if _, err := c.version(); err != nil {
			return err
		}
	}
	if c.connections() != 1 {
		return fmt.Errorf("%d connections", c.connections())
	}
	return nil
}
