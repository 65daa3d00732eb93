// Server-side apply against the library that Kubernetes does it with, structured-merge-diff: prints
// TAP.
//
//	merge VEDETTE FOLDER SEQUENCES [SEED]
//
// In each sequence some managers apply and update one object, at random. The same is done with the
// library; after each step object, managed fields and conflicts must be the same. The folder is for
// the server's data; it is made.
package main

import (
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"time"

	"vedette/harness"
)

const steps = 12 // of a sequence

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: merge VEDETTE FOLDER SEQUENCES [SEED]")
		os.Exit(2)
	}
	sequences, err := strconv.Atoi(os.Args[3])
	seed := time.Now().UnixNano() % 1_000_000
	if err == nil && len(os.Args) > 4 {
		seed, err = strconv.ParseInt(os.Args[4], 10, 64)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	s := &harness.Server{Binary: os.Args[1], Data: os.Args[2]}
	c := &client{}
	harness.Tap("a server starts", func() error { return s.Start("--access-log", "off") })
	harness.Tap("a kind with lists and maps of all types", func() error { return c.define(s) })
	harness.Tap(fmt.Sprintf("%d sequences of applies and updates", sequences), func() error {
		for i := 0; i < sequences; i++ {
			if err := sequence(c, seed+int64(i)); err != nil {
				return fmt.Errorf("seed %d: %w", seed+int64(i), err)
			}
		}
		return nil
	})
	harness.Tap("the server stops", s.Terminate)
	harness.Finish()
}

// sequence: one object's life.
func sequence(c *client, seed int64) error {
	r := rand.New(rand.NewSource(seed))
	name := fmt.Sprintf("w-%d", seed)
	m, err := newModel()
	if err != nil {
		return err
	}
	trace := ""
	for i := 0; i < steps; i++ {
		w := randomWrite(r, m.spec())
		trace += fmt.Sprintf("\n%d: %s", i, w)
		if i == 0 {
			w.force = true
		}
		want, err := m.write(w)
		if err != nil {
			return fmt.Errorf("%s\nthe library: %w", trace, err)
		}
		got, err := c.write(name, w)
		if err != nil {
			return fmt.Errorf("%s\nthe server: %w", trace, err)
		}
		if difference := want.differs(got); difference != "" {
			return fmt.Errorf("%s\n%s", trace, difference)
		}
		if err := m.follow(got); err != nil {
			return err
		}
	}
	return c.remove(name)
}
