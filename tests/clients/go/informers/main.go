// client-go against a server: shared and dynamic informers that outlive it, and leader election.
// Prints TAP.
//
//	informers VEDETTE FOLDER
//
// The folder is for the server's data; it is made. The server is started, stopped and killed here.
// How often an informer has listed is in the server's audit log, FOLDER.audit.
package main

import (
	"fmt"
	"os"
	"time"

	"vedette/harness"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: informers VEDETTE FOLDER")
		os.Exit(2)
	}
	// A connection that is silent for a second is asked whether it is still there (PING).
	os.Setenv("HTTP2_READ_IDLE_TIMEOUT_SECONDS", "1")
	time.AfterFunc(540*time.Second, func() {
		fmt.Println("not ok - the whole takes too long")
		os.Exit(1)
	})
	w := &world{server: &harness.Server{Binary: os.Args[1], Data: os.Args[2]}}
	harness.Tap("a server starts", func() error { return w.start() })
	harness.Tap("a definition is made, and served", w.define)
	harness.Tap("two informers list once and follow", w.follow)
	harness.Tap("all of it over HTTP/2", w.protocol)
	harness.Tap("silent connections are kept up by pings", w.silence)
	for i := 0; i < 3; i++ {
		state := int32(held)
		if i == 0 {
			state = cut
		}
		harness.Tap("kill -9: the informers go on, without a list", func() error {
			return w.interrupt(w.server.Kill, state)
		})
		harness.Tap("SIGTERM: the informers go on, without a list", func() error {
			return w.interrupt(w.server.Terminate, state)
		})
	}
	harness.Tap("a window that has passed them: one list each", w.expire)
	harness.Tap("and they go on", func() error { return w.interrupt(w.server.Kill, held) })
	harness.Tap("one of three is elected", w.elect)
	harness.Tap("it stays leader over kill -9", w.reelect)
	harness.Tap("it steps down, and the next one leads", w.succeed)
	harness.Tap("it is cut off, and the last one leads", w.usurp)
	harness.Tap("the server stops", w.server.Terminate)
	harness.Finish()
}
