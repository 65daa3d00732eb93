// Package harness is what test programs in Go share: TAP, waiting, and a server.
package harness

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// A wait of a test ends well long before this; the machine may be busy, and the server slowed down
// by a sanitizer.
const Patience = 120 * time.Second

var tapCount, tapFailed int

// Tap runs one test and prints its line; why it failed comes behind it.
func Tap(name string, run func() error) {
	tapCount++
	if err := run(); err != nil {
		tapFailed++
		fmt.Printf("not ok %d - %s\n", tapCount, name)
		fmt.Println("# " + strings.ReplaceAll(err.Error(), "\n", "\n# "))
		return
	}
	fmt.Printf("ok %d - %s\n", tapCount, name)
}

// Finish prints the plan and ends the program.
func Finish() {
	fmt.Printf("1..%d\n", tapCount)
	if tapFailed > 0 {
		os.Exit(1)
	}
	os.Exit(0)
}

// Until waits for a condition.
func Until(what string, holds func() bool) error {
	for deadline := time.Now().Add(Patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("not seen in %v: %s", Patience, what)
		}
	}
	return nil
}

// Each runs n at a time and gives the first error.
func Each(n int, run func(i int) error) error {
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
