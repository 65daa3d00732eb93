package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"vedette/harness"
)

// A line is how a client reaches the server. It counts what is sent over it; who dials while it
// is cut finds nobody, and while it is held waits.
type line struct {
	server *harness.Server
	state  int32 // open, cut or held
	writes int64
}

const (
	open = iota
	cut
	held
)

type countedConn struct {
	net.Conn
	line *line
}

func (c countedConn) Write(p []byte) (int, error) {
	atomic.AddInt64(&c.line.writes, 1)
	return c.Conn.Write(p)
}

// dial finds the server at whatever door it has.
func (l *line) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	for atomic.LoadInt32(&l.state) == held && ctx.Err() == nil {
		time.Sleep(5 * time.Millisecond)
	}
	if atomic.LoadInt32(&l.state) == cut {
		return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, network, l.server.Door())
	if err != nil {
		return nil, err
	}
	return countedConn{conn, l}, nil
}

func (l *line) set(state int32) { atomic.StoreInt32(&l.state, state) }

// config is a client's, out of the server's kubeconfig; its name is in the audit log.
func (l *line) config(name string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", l.server.Data+"/admin.kubeconfig")
	if err != nil {
		return nil, err
	}
	config.UserAgent = name
	config.Dial = l.dial
	config.QPS = -1
	return config, nil
}

// A world is a server, somebody who changes things, and informers that are told of it.
type world struct {
	server    *harness.Server
	maps      kubernetes.Interface // the writer's, over a line that is never cut
	robots    dynamic.ResourceInterface
	dynamic   dynamic.Interface
	informers []*informer
	line      *line // of the informers
	turn      int   // what is written is numbered
	leaders   leaders
}

var (
	definitions = schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	robots = schema.GroupVersionResource{Group: "example.org", Version: "v1", Resource: "robots"}
)

const definition = `{
	"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
	"metadata": {"name": "robots.example.org"},
	"spec": {
		"group": "example.org", "scope": "Namespaced",
		"names": {"plural": "robots", "singular": "robot", "kind": "Robot", "listKind": "RobotList"},
		"versions": [{
			"name": "v1", "served": true, "storage": true,
			"schema": {"openAPIV3Schema": {"type": "object", "properties": {
				"spec": {"type": "object", "properties": {"v": {"type": "string"}}}}}}
		}]
	}
}`

// start: each request is in the audit log before it is answered, so that a kill loses none.
func (w *world) start(options ...string) error {
	all := append([]string{"--audit-log", w.server.Data + ".audit", "--audit-mode", "blocking"},
		options...)
	return w.server.Start(all...)
}

func (w *world) define() error {
	w.line = &line{server: w.server}
	config, err := (&line{server: w.server}).config("writer")
	if err != nil {
		return err
	}
	if w.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return err
	}
	w.robots = w.dynamic.Resource(robots).Namespace("default")
	typed := rest.CopyConfig(config)
	typed.ContentType = "application/vnd.kubernetes.protobuf" // as Kubernetes' own controllers do
	if w.maps, err = kubernetes.NewForConfig(typed); err != nil {
		return err
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON([]byte(definition)); err != nil {
		return err
	}
	_, err = w.dynamic.Resource(definitions).Create(context.Background(), object, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	return harness.Until("the kind is served", func() bool {
		_, err := w.robots.List(context.Background(), metav1.ListOptions{})
		return err == nil
	})
}

// audited counts the requests of a client in the audit log.
func (w *world) audited(agent, verb, resource string) (int, error) {
	log, err := os.Open(w.server.Data + ".audit")
	if err != nil {
		return 0, err
	}
	defer log.Close()
	n := 0
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event struct {
			Verb, UserAgent string
			ObjectRef       struct{ Resource string }
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			return 0, fmt.Errorf("%s: %w", lines.Bytes(), err)
		}
		if event.Verb == verb && event.UserAgent == agent && event.ObjectRef.Resource == resource {
			n++
		}
	}
	return n, lines.Err()
}

// protocol: the server has been asked in nothing but HTTP/2.
func (w *world) protocol() error {
	text, err := w.maps.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(context.Background())
	if err != nil {
		return err
	}
	counts := protocolCount.FindAllStringSubmatch(string(text), -1)
	if len(counts) == 0 {
		return errors.New("no http_requests_total")
	}
	for _, count := range counts {
		if (count[1] == "HTTP/2.0") != (count[2] != "0") {
			return fmt.Errorf("%v", counts)
		}
	}
	return nil
}
