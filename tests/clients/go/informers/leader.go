package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"vedette/harness"
)

const lease = "robots-controller"

// A candidate runs for the lease over a line of its own.
type candidate struct {
	name   string
	line   *line
	resign context.CancelFunc
}

type leaders struct {
	candidates []*candidate
	mutex      sync.Mutex
	leading    map[string]bool // guarded by the mutex
	overlaps   int             // guarded by the mutex: times that two have led at once
}

func (l *leaders) set(name string, leads bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if !leads {
		delete(l.leading, name)
		return
	}
	l.leading[name] = true
	if len(l.leading) > 1 {
		l.overlaps++
	}
}

// leader waits for one that is not this.
func (l *leaders) leader(not string) (*candidate, error) {
	var found *candidate
	err := harness.Until("a leader that is not "+not, func() bool {
		l.mutex.Lock()
		defer l.mutex.Unlock()
		for _, c := range l.candidates {
			if l.leading[c.name] && c.name != not {
				found = c
			}
		}
		return found != nil
	})
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if err == nil && l.overlaps > 0 {
		err = errors.New("two have led at once")
	}
	return found, err
}

func (w *world) run(c *candidate) error {
	config, err := c.line.config(c.name)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	lock, err := resourcelock.New(resourcelock.LeasesResourceLock, "default", lease,
		client.CoreV1(), client.CoordinationV1(), resourcelock.ResourceLockConfig{Identity: c.name})
	if err != nil {
		return err
	}
	ctx, resign := context.WithCancel(context.Background())
	c.resign = resign
	go leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: lock, ReleaseOnCancel: true,
		LeaseDuration: 10 * time.Second, RenewDeadline: 6 * time.Second,
		RetryPeriod: 200 * time.Millisecond,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { w.leaders.set(c.name, true) },
			OnStoppedLeading: func() { w.leaders.set(c.name, false) },
		},
	})
	return nil
}

// holds: the lease says who leads, and how often that has changed.
func (w *world) holds(name string, transitions int32) error {
	var text string
	err := harness.Until("the lease of "+name, func() bool {
		l, err := w.maps.CoordinationV1().Leases("default").Get(
			context.Background(), lease, metav1.GetOptions{})
		if err != nil || l.Spec.HolderIdentity == nil || l.Spec.LeaseTransitions == nil {
			text = fmt.Sprint(err)
			return false
		}
		text = fmt.Sprintf("%s, after %d", *l.Spec.HolderIdentity, *l.Spec.LeaseTransitions)
		return *l.Spec.HolderIdentity == name && *l.Spec.LeaseTransitions == transitions
	})
	if err != nil {
		return fmt.Errorf("%w; it says %s", err, text)
	}
	return nil
}

func (w *world) elect() error {
	w.leaders.leading = map[string]bool{}
	for _, name := range []string{"anna", "bert", "cleo"} {
		c := &candidate{name: name, line: &line{server: w.server}}
		w.leaders.candidates = append(w.leaders.candidates, c)
		if err := w.run(c); err != nil {
			return err
		}
	}
	c, err := w.leaders.leader("")
	if err != nil {
		return err
	}
	return w.holds(c.name, 0)
}

func (w *world) reelect() error {
	c, err := w.leaders.leader("")
	if err != nil {
		return err
	}
	if err := w.server.Kill(); err != nil {
		return err
	}
	if err := w.start(); err != nil {
		return err
	}
	before, err := w.audited(c.name, "update", "leases")
	if err != nil {
		return err
	}
	err = harness.Until("renewals", func() bool {
		n, err := w.audited(c.name, "update", "leases")
		return err == nil && n >= before+5
	})
	if err != nil {
		return err
	}
	return w.holds(c.name, 0)
}

func (w *world) succeed() error {
	c, err := w.leaders.leader("")
	if err != nil {
		return err
	}
	c.resign()
	next, err := w.leaders.leader(c.name)
	if err != nil {
		return err
	}
	return w.holds(next.name, 1)
}

// usurp: the leader cannot renew, and stops before the lease can be had by another.
func (w *world) usurp() error {
	c, err := w.leaders.leader("")
	if err != nil {
		return err
	}
	c.line.set(cut)
	if err := w.server.Kill(); err != nil { // which ends the connection that it has
		return err
	}
	if err := w.start(); err != nil {
		return err
	}
	next, err := w.leaders.leader(c.name)
	if err != nil {
		return err
	}
	return w.holds(next.name, 2)
}
