package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"reflect"
	"sync"
	"syscall"

	"vedette/harness"
)

// handshake: what was agreed upon, and that nobody else's certificate would do.
func handshake(s *harness.Server) error {
	c, err := newClient(s)
	if err != nil {
		return err
	}
	defer c.close()
	answer, err := c.send(context.Background(), "GET", "/readyz", "")
	if err != nil {
		return err
	}
	answer.Body.Close()
	agreed := answer.TLS
	if agreed == nil || agreed.NegotiatedProtocol != "h2" || len(agreed.VerifiedChains) == 0 {
		return fmt.Errorf("the connection's TLS: %+v", agreed)
	}
	stranger, err := newClient(s)
	if err != nil {
		return err
	}
	stranger.transport.TLSClientConfig.RootCAs = x509.NewCertPool()
	var unknown x509.UnknownAuthorityError
	if _, err = stranger.version(); !errors.As(err, &unknown) {
		return fmt.Errorf("without the CA: %v", err)
	}
	other, err := newClient(s)
	if err != nil {
		return err
	}
	other.transport.TLSClientConfig.ServerName = "vedette.invalid"
	var hostname x509.HostnameError
	if _, err = other.version(); !errors.As(err, &hostname) {
		return fmt.Errorf("under another name: %v", err)
	}
	return nil
}

const (
	crowdWatches     = 600
	crowdConnections = 3 // of 250 streams
	crowdObjects     = 20
)

// crowd: more watches than one connection has streams for. net/http makes another connection when
// those that it has are full; one by one, it makes no more than needed.
func crowd(s *harness.Server) error {
	c, err := newClient(s)
	if err != nil {
		return err
	}
	defer c.close()
	from, err := c.version()
	if err != nil {
		return err
	}
	streams := make([]*stream, crowdWatches)
	for i := range streams {
		if streams[i], err = c.watch("resourceVersion=" + from); err != nil {
			return err
		}
		defer streams[i].close()
	}
	var names []string
	for i := 0; i < crowdObjects; i++ {
		names = append(names, fmt.Sprintf("crowd-%d", i))
		if err := c.create(names[i], "1"); err != nil {
			return err
		}
	}
	if c.connections() != crowdConnections {
		return fmt.Errorf("%d connections", c.connections())
	}
	err = harness.Each(len(streams), func(i int) error { return sees(streams[i], names) })
	if err != nil {
		return err
	}
	return c.clear()
}

// sees reads from a stream until these, in this order, were added; nothing else may come.
func sees(from *stream, names []string) error {
	var got []string
	for len(got) < len(names) {
		e, err := from.next()
		if err != nil {
			return fmt.Errorf("after %v: %w", got, err)
		}
		if e.Object.Metadata.Name != "kube-root-ca.crt" {
			got = append(got, e.Object.Metadata.Name)
		}
		if e.Type != "ADDED" {
			return fmt.Errorf("%s after %v", e.Type, got)
		}
	}
	if !reflect.DeepEqual(got, names) {
		return fmt.Errorf("saw %v, wanted %v", got, names)
	}
	return nil
}

const burstRequests = 600

// burst: a client that has no connection yet is asked for everything at once. It learns only on
// the way how many streams a connection has. A user may have 400 requests in flight: told to wait
// (429), the client does, as client-go does.
func burst(s *harness.Server) error {
	c, err := newClient(s)
	if err != nil {
		return err
	}
	defer c.close()
	return harness.Each(burstRequests, func(int) error {
		for {
			answer, err := c.send(context.Background(), "GET", maps, "")
			if err != nil {
				return err
			}
			_, err = io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
			if err != nil {
				return err
			}
			if answer.StatusCode == http.StatusOK {
				return nil
			}
			if answer.StatusCode != http.StatusTooManyRequests ||
				answer.Header.Get("Retry-After") == "" {
				return fmt.Errorf("%s", answer.Status)
			}
		}
	})
}

const herdClients = 300

// herd: clients that come all at once, as after a restart. The server is held up until all have
// said hello. Who is greeted is served soon: were all greeted first, all would wait for all, and in
// a herd that is large enough nobody be served in time.
func herd(s *harness.Server) error {
	c, err := newClient(s)
	if err != nil {
		return err
	}
	if err := s.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	var sockets []net.Conn
	for i := 0; err == nil && i < herdClients; i++ {
		var socket net.Conn
		if socket, err = net.Dial("tcp", s.Door()); err == nil {
			defer socket.Close()
			sockets = append(sockets, socket)
		}
	}
	config := c.transport.TLSClientConfig.Clone()
	config.ServerName = "127.0.0.1"
	hellos := make(chan bool, herdClients)
	var count halfway
	done := make(chan error)
	for _, socket := range sockets {
		go func(socket net.Conn) {
			conn := tls.Client(helloConn{socket, hellos}, config)
			err := conn.Handshake()
			count.add(1)
			if err == nil {
				err = readyz(conn)
			}
			count.add(-1)
			done <- err
		}(socket)
	}
	for range sockets {
		<-hellos
	}
	if err2 := s.Signal(syscall.SIGCONT); err == nil {
		err = err2
	}
	for range sockets {
		if err2 := <-done; err == nil {
			err = err2
		}
	}
	if err == nil && count.most > herdClients*3/4 {
		err = fmt.Errorf("of %d, %d were greeted and not served", herdClients, count.most)
	}
	return err
}

// halfway counts clients that have been greeted and not served, and the most that there were.
type halfway struct {
	mutex   sync.Mutex
	n, most int
}

func (h *halfway) add(n int) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.n += n; h.n > h.most {
		h.most = h.n
	}
}

// A helloConn says when something was written to it.
type helloConn struct {
	net.Conn
	hellos chan bool
}

func (c helloConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	select {
	case c.hellos <- true:
	default:
	}
	return n, err
}

// readyz asks in HTTP/1.1, as nothing else was agreed upon.
func readyz(conn net.Conn) error {
	if _, err := io.WriteString(conn, "GET /readyz HTTP/1.1\r\nHost: vedette\r\n\r\n"); err != nil {
		return err
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = errors.New(answer.Status)
	}
	return err
}
