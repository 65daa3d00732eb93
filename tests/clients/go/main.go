// Go's HTTP/2, the one of net/http that client-go stands on, against a server: prints TAP.
//
//	go-client VEDETTE FOLDER
//
// The folder is for the server's data; it is made. The server is started, stopped and killed here.
package main

import (
	"fmt"
	"os"
	"time"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: go-client VEDETTE FOLDER")
		os.Exit(2)
	}
	s := &server{binary: os.Args[1], data: os.Args[2]}
	time.AfterFunc(540*time.Second, func() {
		fmt.Println("not ok - the whole takes too long")
		os.Exit(1)
	})
	tap("a server starts", s.start)
	tap("HTTP/2 by ALPN, and only with a server that the CA vouches for", func() error {
		return handshake(s)
	})
	tap("600 watches share three connections, and each sees all", func() error { return crowd(s) })
	tap("2,000 requests at once", func() error { return burst(s) })
	tap("a stream that is not read stops nobody, and loses nothing", func() error { return slow(s) })
	tap("large lists, plain and in gzip", func() error { return lists(s) })
	tap("a body over the limit is refused, and the connection goes on", func() error {
		return overlong(s)
	})
	tap("a watch that times out ends its stream, not its connection", func() error {
		return timeout(s)
	})
	tap("400 watches are cancelled at once, and the connection goes on", func() error {
		return cancel(s)
	})
	tap("a storm of cancels: the client is sent away, comes back and has missed nothing",
		func() error { return storm(s) })
	tap("SIGTERM: streams end in order, requests are answered, watches resume", func() error {
		return drain(s)
	})
	tap("kill -9: watches resume", func() error { return crash(s) })
	tap("the server stops", s.terminate)
	finish()
}
