package main

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// A wait of a test ends well long before this; the machine may be busy, and the server slowed down
// by a sanitizer.
const patience = 120 * time.Second

var tapCount, tapFailed int

// tap runs one test and prints its line; why it failed comes behind it.
func tap(name string, run func() error) {
	tapCount++
	if err := run(); err != nil {
		tapFailed++
		fmt.Printf("not ok %d - %s\n", tapCount, name)
		fmt.Println("# " + strings.ReplaceAll(err.Error(), "\n", "\n# "))
		return
	}
	fmt.Printf("ok %d - %s\n", tapCount, name)
}

// finish prints the plan and ends the program.
func finish() {
	fmt.Printf("1..%d\n", tapCount)
	if tapFailed > 0 {
		os.Exit(1)
	}
	os.Exit(0)
}

// until waits for a condition.
func until(what string, holds func() bool) error {
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("not seen in %v: %s", patience, what)
		}
	}
	return nil
}

// each runs n at a time and gives the first error.
func each(n int, run func(i int) error) error {
	errs := make(chan error, n)
	for i := 0; i < n; i++ {
		go func(i int) { errs <- run(i) }(i)
	}
	var first error
	for i := 0; i < n; i++ {
		if err := <-errs; err != nil && first == nil {
			first = err
		}
	}
	return first
}
