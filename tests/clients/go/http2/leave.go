package main

import (
	"fmt"
	"io"

	"vedette/harness"
)

// timeout: the end is said in order, between events.
func timeout(s *harness.Server) error {
	c, err := newClient(s)
	if err != nil {
		return err
	}
	defer c.close()
	err = harness.Each(20, func(int) error {
		stream, err := c.watch("timeoutSeconds=1&allowWatchBookmarks=true")
		for err == nil {
			_, err = stream.next()
		}
		if err != io.EOF {
			return fmt.Errorf("it ended with %w", err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	before := c.connections()
	if _, err := c.version(); err != nil || c.connections() != before {
		return fmt.Errorf("%d connections, then %d: %v", before, c.connections(), err)
	}
	return nil
}

// cancel: a program that ends takes all its watches back at once. That is no attack.
func cancel(s *harness.Server) error {
	c, err := newClient(s)
	if err != nil {
		return err
	}
	defer c.close()
	from, err := c.version()
	if err != nil {
		return err
	}
	stays, err := c.watch("resourceVersion=" + from)
	if err != nil {
		return err
	}
	defer stays.close()
	for round := 0; round < 2; round++ {
		streams := make([]*stream, 200)
		for i := range streams {
			if streams[i], err = c.watch("resourceVersion=" + from); err != nil {
				return err
			}
		}
		for _, stream := range streams {
			stream.close()
		}
	}
	if err := c.create("cancel", "1"); err != nil {
		return err
	}
	if err := sees(stays, []string{"cancel"}); err != nil {
		return err
	}
	if c.connections() != 1 {
		return fmt.Errorf("%d connections", c.connections())
	}
	return c.clear()
}

const stormCancels = 4000

// storm: more than the server puts up with on one connection (GOAWAY, ENHANCE_YOUR_CALM). The
// client's watches break and go on over a new one; another client notices nothing.
func storm(s *harness.Server) error {
	c, err := newClient(s)
	if err != nil {
		return err
	}
	defer c.close()
	other, err := newClient(s)
	if err != nil {
		return err
	}
	defer other.close()
	from, err := c.version()
	if err != nil {
		return err
	}
	if _, err = other.version(); err != nil {
		return err
	}
	var watchers []*watcher
	for i := 0; i < 10; i++ {
		watchers = append(watchers, c.follow(from), other.follow(from))
	}
	err = harness.Each(8, func(worker int) error {
		for i := 0; i < stormCancels/8; i++ {
			// A stream of a connection that is sent away ends with an error, as it must.
			if stream, err := c.watch("resourceVersion=" + from); err == nil {
				stream.close()
			}
			if worker == 0 && i%10 == 0 {
				if err := other.create(fmt.Sprintf("storm-%d", i), "1"); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := agree(other, from, watchers); err != nil {
		return err
	}
	if c.connections() < 2 || other.connections() != 1 {
		return fmt.Errorf("%d connections, and %d of the other", c.connections(),
			other.connections())
	}
	return other.clear()
}
