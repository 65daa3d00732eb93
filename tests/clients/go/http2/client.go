package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"vedette/harness"
)

const (
	base = "https://127.0.0.1" // what the certificate is good for; the dialer knows the port
	maps = "/api/v1/namespaces/default/configmaps"
)

// A client is net/http's with a transport of its own, as client-go makes it: HTTP/2 where the
// server can, gzip, the server verified by its CA, and the administrator's certificate.
type client struct {
	http      *http.Client
	transport *http.Transport
	dials     int64 // connections that were made
}

func newClient(s *harness.Server) (*client, error) {
	config, err := s.TLS()
	if err != nil {
		return nil, err
	}
	c := &client{}
	c.transport = &http.Transport{
		ForceAttemptHTTP2: true,
		TLSClientConfig:   config,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			conn, err := (&net.Dialer{}).DialContext(ctx, network, s.Door())
			if err == nil {
				atomic.AddInt64(&c.dials, 1)
			}
			return conn, err
		},
	}
	c.http = &http.Client{Transport: c.transport}
	return c, nil
}

func (c *client) connections() int { return int(atomic.LoadInt64(&c.dials)) }

func (c *client) close() { c.transport.CloseIdleConnections() }

// send gives an answer whose body is still to be read; only HTTP/2 will do.
func (c *client) send(ctx context.Context, method, path, body string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, base+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body == "" {
		request.Body, request.GetBody = http.NoBody, nil
	} else {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := c.http.Do(request)
	if err == nil && answer.ProtoMajor != 2 {
		answer.Body.Close()
		return nil, fmt.Errorf("%s %s was answered in %s", method, path, answer.Proto)
	}
	return answer, err
}

// ask sends a request and reads the whole answer, which must have this status.
func (c *client) ask(want int, method, path, body string) ([]byte, error) {
	answer, err := c.send(context.Background(), method, path, body)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != want {
		err = fmt.Errorf("%s %s: %s, wanted %d: %.300s", method, path, answer.Status, want, text)
	}
	return text, err
}

type object struct {
	Metadata struct {
		Name            string `json:"name"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Data map[string]string `json:"data"`
	Code int               `json:"code"` // of a Status
}

type list struct {
	Metadata struct {
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Items []object `json:"items"`
}

// configMap is a body; no value needs more than quotes.
func configMap(name, value string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"%s"},`+
		`"data":{"v":"%s"}}`, name, value)
}

func (c *client) create(name, value string) error {
	_, err := c.ask(http.StatusCreated, "POST", maps, configMap(name, value))
	return err
}

func (c *client) list() (list, error) {
	var all list
	text, err := c.ask(http.StatusOK, "GET", maps, "")
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	return all, err
}

// version is the resourceVersion of now.
func (c *client) version() (string, error) {
	all, err := c.list()
	return all.Metadata.ResourceVersion, err
}

// clear deletes all maps of the namespace.
func (c *client) clear() error {
	_, err := c.ask(http.StatusOK, "DELETE", maps, "")
	return err
}

// metric is the sum of the samples of this name that have this label.
func (c *client) metric(name, label string) (float64, error) {
	text, err := c.ask(http.StatusOK, "GET", "/metrics", "")
	sum := 0.0
	for _, line := range strings.Split(string(text), "\n") {
		if !strings.HasPrefix(line, name+"{") || !strings.Contains(line, label) {
			continue
		}
		value, bad := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
		if bad != nil {
			err = bad
		}
		sum += value
	}
	return sum, err
}
