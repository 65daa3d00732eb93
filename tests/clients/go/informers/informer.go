package main

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"vedette/harness"
)

var protocolCount = regexp.MustCompile(`(?m)^http_requests_total\{protocol="([^"]*)"\} ([0-9]+)`)

const agent = "informers"

// An informer is client-go's, with all that its handlers were told.
type informer struct {
	resource string
	shared   cache.SharedIndexInformer
	mutex    sync.Mutex
	calls    []call // guarded by the mutex
}

type call struct{ verb, name, value string }

// value is what the tests write into an object.
func value(object interface{}) string {
	switch o := object.(type) {
	case *corev1.ConfigMap:
		return o.Data["v"]
	case *unstructured.Unstructured:
		v, _, _ := unstructured.NestedString(o.Object, "spec", "v")
		return v
	}
	return fmt.Sprintf("%T", object)
}

func (i *informer) note(verb string, object interface{}) {
	accessor, err := meta.Accessor(object)
	if err != nil || accessor.GetName() == "kube-root-ca.crt" { // the server's own
		return
	}
	i.mutex.Lock()
	defer i.mutex.Unlock()
	i.calls = append(i.calls, call{verb, accessor.GetName(), value(object)})
}

func (i *informer) run(resource string, shared cache.SharedIndexInformer) {
	i.resource, i.shared = resource, shared
	shared.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(o interface{}) { i.note("add", o) },
		UpdateFunc: func(old, o interface{}) {
			if old.(metav1.Object).GetResourceVersion() != o.(metav1.Object).GetResourceVersion() {
				i.note("update", o)
			}
		},
		DeleteFunc: func(o interface{}) {
			if gone, ok := o.(cache.DeletedFinalStateUnknown); ok {
				o = gone.Obj
			}
			i.note("delete", o)
		},
	})
	go shared.Run(make(chan struct{}))
}

// byName sorts calls so that those for one object stay in their order: client-go's queue keeps no
// other.
func byName(calls []call) []call {
	sorted := append([]call{}, calls...)
	sort.SliceStable(sorted, func(a, b int) bool { return sorted[a].name < sorted[b].name })
	return sorted
}

// told waits until the handlers were told this, and nothing else, since the last time.
func (i *informer) told(want []call) error {
	late := harness.Until(i.resource, func() bool {
		i.mutex.Lock()
		defer i.mutex.Unlock()
		return len(i.calls) >= len(want)
	})
	i.mutex.Lock()
	defer i.mutex.Unlock()
	if !reflect.DeepEqual(byName(i.calls), byName(want)) {
		return fmt.Errorf("%s: told %v, wanted %v (%v)", i.resource, i.calls, want, late)
	}
	i.calls = nil
	return nil
}

// ---- what is written ----

func (w *world) put(name, v string, exists bool) error {
	ctx := context.Background()
	config := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"v": v}}
	robot := &unstructured.Unstructured{Object: map[string]interface{}{
		"apiVersion": "example.org/v1", "kind": "Robot",
		"metadata": map[string]interface{}{"name": name},
		"spec":     map[string]interface{}{"v": v},
	}}
	maps := w.maps.CoreV1().ConfigMaps("default")
	if !exists {
		if _, err := maps.Create(ctx, config, metav1.CreateOptions{}); err != nil {
			return err
		}
		_, err := w.robots.Create(ctx, robot, metav1.CreateOptions{})
		return err
	}
	if _, err := maps.Update(ctx, config, metav1.UpdateOptions{}); err != nil {
		return err
	}
	// A custom kind is not updated without saying what.
	old, err := w.robots.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	robot.SetResourceVersion(old.GetResourceVersion())
	_, err = w.robots.Update(ctx, robot, metav1.UpdateOptions{})
	return err
}

func (w *world) remove(name string) error {
	err := w.maps.CoreV1().ConfigMaps("default").Delete(
		context.Background(), name, metav1.DeleteOptions{})
	if err != nil {
		return err
	}
	return w.robots.Delete(context.Background(), name, metav1.DeleteOptions{})
}

// change makes, changes and removes an object of each kind, and changes one that stays; it returns
// what an informer is to be told.
func (w *world) change() ([]call, error) {
	w.turn++
	name, v := fmt.Sprintf("passing-%d", w.turn), fmt.Sprintf("%d", w.turn)
	for _, err := range []error{
		w.put(name, "new", false), w.put("stays", v, true), w.put(name, v, true), w.remove(name)} {
		if err != nil {
			return nil, err
		}
	}
	return []call{{"add", name, "new"}, {"update", "stays", v}, {"update", name, v},
		{"delete", name, v}}, nil
}

// changeAndTell: and all informers are told.
func (w *world) changeAndTell() error {
	want, err := w.change()
	if err != nil {
		return err
	}
	for _, i := range w.informers {
		if err := i.told(want); err != nil {
			return err
		}
	}
	return w.same()
}

// same: the informers' copies are what the server has.
func (w *world) same() error {
	maps, err := w.maps.CoreV1().ConfigMaps("default").List(
		context.Background(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	custom, err := w.robots.List(context.Background(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	var want [2][]string
	for i := range maps.Items {
		want[0] = append(want[0], maps.Items[i].Name+"@"+maps.Items[i].ResourceVersion)
	}
	for _, item := range custom.Items {
		want[1] = append(want[1], item.GetName()+"@"+item.GetResourceVersion())
	}
	for at, i := range w.informers {
		var got []string
		for _, object := range i.shared.GetStore().List() {
			o := object.(metav1.Object)
			got = append(got, o.GetName()+"@"+o.GetResourceVersion())
		}
		sort.Strings(got)
		if !reflect.DeepEqual(got, want[at]) {
			return fmt.Errorf("%s: the copy is %v, the server has %v", i.resource, got, want[at])
		}
	}
	return nil
}

// ---- the tests ----

func (w *world) follow() error {
	if err := w.put("stays", "0", false); err != nil {
		return err
	}
	config, err := w.line.config(agent)
	if err != nil {
		return err
	}
	custom, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	typed := rest.CopyConfig(config)
	typed.ContentType = "application/vnd.kubernetes.protobuf"
	maps, err := kubernetes.NewForConfig(typed)
	if err != nil {
		return err
	}
	w.informers = []*informer{{}, {}}
	w.informers[0].run("configmaps", informers.NewSharedInformerFactoryWithOptions(maps, 0,
		informers.WithNamespace("default")).Core().V1().ConfigMaps().Informer())
	w.informers[1].run("robots", dynamicinformer.NewFilteredDynamicSharedInformerFactory(custom, 0,
		"default", nil).ForResource(robots).Informer())
	for _, i := range w.informers {
		if err := harness.Until("a synced informer", i.shared.HasSynced); err != nil {
			return err
		}
		if err := i.told([]call{{"add", "stays", "0"}}); err != nil {
			return err
		}
	}
	if err := w.changeAndTell(); err != nil {
		return err
	}
	return w.listed(1)
}

// listed: how often each informer has listed, ever.
func (w *world) listed(want int) error {
	for _, i := range w.informers {
		n, err := w.audited(agent, "list", i.resource)
		if err != nil {
			return err
		}
		if n != want {
			return fmt.Errorf("%s were listed %d times, wanted %d", i.resource, n, want)
		}
	}
	return nil
}

// lists is how often the first informer has listed; both are told the same.
func (w *world) lists() int {
	n, err := w.audited(agent, "list", w.informers[0].resource)
	if err != nil {
		return -1
	}
	return n
}

// silence: nothing happens, but pings are sent and answered; no watch begins anew.
func (w *world) silence() error {
	var before [2]int
	for at, i := range w.informers {
		before[at], _ = w.audited(agent, "watch", i.resource)
	}
	writes := atomic.LoadInt64(&w.line.writes)
	err := harness.Until("pings", func() bool {
		return atomic.LoadInt64(&w.line.writes) >= writes+8
	})
	if err != nil {
		return err
	}
	if err := w.changeAndTell(); err != nil {
		return err
	}
	for at, i := range w.informers {
		if n, err := w.audited(agent, "watch", i.resource); err != nil || n != before[at] {
			return fmt.Errorf("%s: %d watches, then %d (%v)", i.resource, before[at], n, err)
		}
	}
	return nil
}

// interrupt ends the server and starts it again. What happens before the informers are back, they
// are told in order, and so they are of what happens then, without another list. Their line is cut
// or held meanwhile: client-go waits long when it finds nobody, longer each time.
func (w *world) interrupt(end func() error, state int32) error {
	want := w.lists()
	if err := w.changeAndTell(); err != nil {
		return err
	}
	w.line.set(state)
	if err := end(); err != nil {
		return err
	}
	if err := w.start(); err != nil {
		return err
	}
	var missed []call
	for i := 0; i < 3; i++ {
		calls, err := w.change()
		if err != nil {
			return err
		}
		missed = append(missed, calls...)
	}
	w.line.set(open)
	for _, i := range w.informers {
		if err := i.told(missed); err != nil {
			return err
		}
	}
	if err := w.changeAndTell(); err != nil {
		return err
	}
	return w.listed(want)
}

// expire: the server forgets what the informers would need. They list once, and are told the
// difference.
func (w *world) expire() error {
	want := w.lists() + 1
	if err := w.changeAndTell(); err != nil {
		return err
	}
	last := w.informers[1].shared.LastSyncResourceVersion()
	w.line.set(held)
	if err := w.server.Kill(); err != nil {
		return err
	}
	if err := w.start("--window-events", "10", "--tail-events", "10"); err != nil {
		return err
	}
	err := harness.Until("the window passes "+last, func() bool {
		if _, err := w.change(); err != nil {
			return false
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		events, err := w.robots.Watch(ctx, metav1.ListOptions{ResourceVersion: last})
		if err != nil {
			return false
		}
		defer events.Stop()
		return (<-events.ResultChan()).Type == "ERROR"
	})
	if err != nil {
		return err
	}
	w.line.set(open)
	for _, i := range w.informers {
		if err := i.told([]call{{"update", "stays", fmt.Sprint(w.turn)}}); err != nil {
			return err
		}
	}
	if err := w.changeAndTell(); err != nil {
		return err
	}
	return w.listed(want)
}
