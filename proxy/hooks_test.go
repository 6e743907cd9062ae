package proxy_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/helenus-db/helenus/proxy"
)

// tally is a Recorder that keeps everything.
type tally struct {
	mu       sync.Mutex
	records  map[string]*record
	sampling atomic.Bool
	clients  map[proxy.Client]bool
}

type record struct {
	tally     *tally
	text      string
	keyspace  string
	known     *proxy.Prepared
	exchanges []proxy.Exchange
}

func (r *tally) Statement(keyspace, text string) proxy.Record { return r.at(keyspace, text) }

func (r *tally) at(keyspace, text string) *record {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.records == nil {
		r.records = make(map[string]*record)
		r.clients = make(map[proxy.Client]bool)
	}
	if r.records[text] == nil {
		r.records[text] = &record{tally: r, text: text, keyspace: keyspace}
	}
	return r.records[text]
}

func (r *tally) Batch(kind byte, children []proxy.Record) proxy.Record {
	text := "BATCH " + string('0'+kind)
	for _, c := range children {
		text += " | " + c.(*record).text
	}
	return r.at("", text)
}

func (r *tally) Unknown() proxy.Record { return r.at("", "unknown") }

func (r *tally) Mark(c *proxy.Client) uint64 { return uint64(len(c.Application)) }

func (r *tally) Sampling(*proxy.Client) bool { return r.sampling.Load() }

func (r *tally) find(text string) []proxy.Exchange {
	r.mu.Lock()
	defer r.mu.Unlock()
	if x := r.records[text]; x != nil {
		return append([]proxy.Exchange(nil), x.exchanges...)
	}
	return nil
}

func (r *tally) prepared(text string) *proxy.Prepared {
	r.mu.Lock()
	defer r.mu.Unlock()
	if x := r.records[text]; x != nil {
		return x.known
	}
	return nil
}

func (r *record) Prepared(p *proxy.Prepared) {
	r.tally.mu.Lock()
	defer r.tally.mu.Unlock()
	r.known = p
}

func (r *record) Done(xs []proxy.Exchange) {
	r.tally.mu.Lock()
	defer r.tally.mu.Unlock()
	for _, x := range xs {
		x.Values = append([]proxy.Value(nil), x.Values...)
		for i := range x.Values {
			x.Values[i].Bytes = append([]byte(nil), x.Values[i].Bytes...)
		}
		x.Response = append([]byte(nil), x.Response...)
		if x.Trace != nil {
			trace := *x.Trace
			x.Trace = &trace
		}
		r.exchanges = append(r.exchanges, x)
		r.tally.clients[*x.Client] = true
	}
}

// scripted is a Rewriter that does what the test says.
type scripted struct {
	epoch  atomic.Uint64
	mu     sync.Mutex
	rules  map[string]proxy.Rule
	take   func(*proxy.Request) bool
	opaque atomic.Int32
}

type rule string

func (r rule) Text() string { return string(r) }

func (w *scripted) Epoch() uint64 { return w.epoch.Load() }

func (w *scripted) Rule(_, text string) proxy.Rule {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r, ok := w.rules[text]; ok {
		return r
	}
	return nil
}

func (w *scripted) Unsure(text string) proxy.Rule { return w.Rule("", text) }

func (w *scripted) set(text string, r proxy.Rule) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.rules == nil {
		w.rules = make(map[string]proxy.Rule)
	}
	w.rules[text] = r
	w.epoch.Add(1)
}

func (w *scripted) Take(r *proxy.Request) bool {
	w.mu.Lock()
	take := w.take
	w.mu.Unlock()
	return take != nil && take(r)
}

// takes sets what Take does while requests may come.
func (w *scripted) takes(f func(*proxy.Request) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.take = f
}

func (w *scripted) Opaque(*proxy.Client) func() {
	w.opaque.Add(1)
	return func() { w.opaque.Add(-1) }
}

// await waits for something that must happen; how long it takes is not judged.
func await(t testing.TB, happened func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !happened(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not happen")
		}
	}
}

// barrier is Server.Barrier with a limit.
func barrier(t testing.TB, s *proxy.Server, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return s.Barrier(ctx)
}

// cancelled is a context that has ended.
func cancelled(t testing.TB) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// keyspaceOf returns the keyspace that a text was first said in.
func (r *tally) keyspaceOf(text string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if x := r.records[text]; x != nil {
		return x.keyspace
	}
	return ""
}
