// Go's HTTP/2, the one of net/http that client-go stands on, against a server: prints TAP.
//
//	http2 VEDETTE FOLDER
//
// The folder is for the server's data; it is made. The server is started, stopped and killed here.
package main

import (
	"fmt"
	"os"
	"time"

	"vedette/harness"
)

var tests = []struct {
	name string
	run  func(s *harness.Server) error
}{
	{"HTTP/2 by ALPN, and only with a server that the CA vouches for", handshake},
	{"600 watches share three connections, and each sees all", crowd},
	{"600 requests at once", burst},
	{"300 clients at once: not all are greeted before one is served", herd},
	{"a stream that is not read stops nobody, and loses nothing", slow},
	{"large lists, plain and in gzip", lists},
	{"a body over the limit is refused, and the connection goes on", overlong},
	{"a watch that times out ends its stream, not its connection", timeout},
	{"400 watches are cancelled, and the connection goes on", cancel},
	{"a storm of cancels: the client is sent away, comes back and has missed nothing", storm},
	{"SIGTERM: streams end in order, requests are answered, watches resume", drain},
	{"kill -9: watches resume", crash},
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: http2 VEDETTE FOLDER")
		os.Exit(2)
	}
	s := &harness.Server{Binary: os.Args[1], Data: os.Args[2]}
	time.AfterFunc(540*time.Second, func() {
		fmt.Println("not ok - the whole takes too long")
		os.Exit(1)
	})
	harness.Tap("a server starts", func() error { return s.Start() })
	for _, test := range tests {
		harness.Tap(test.name, func() error { return test.run(s) })
	}
	harness.Tap("the server stops", s.Terminate)
	harness.Finish()
}
