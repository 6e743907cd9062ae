package main

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/internal/sleep"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
)

// stateLink is a process's way to the state that all share. The engine asks it for much while it holds a mutex, and in a bubble no time passes while anybody waits for
// a mutex: so only what members say and hear of each other takes time here, and a process that stands still is refused at once what it asks for; what it was about to say
// is said, perhaps, when it goes on.
type stateLink struct {
	store *exectest.Store
	p     *process
}

var errUnreached = errors.New("the state can not be reached")

// step is one request to the state. Of one that fails it may be that it was carried out, or is later.
func (l *stateLink) step(ctx context.Context, name string, writes, slow bool, do func() error) error {
	w := l.p.w
	draw := w.draw("state " + l.p.member.ID() + " " + name)
	if slow {
		if err := sleep.For(ctx, latency(draw)); err != nil {
			return err
		}
	}
	lost := draw >> 32
	frozen := l.p.standing()
	switch {
	case l.p.life.Err() != nil:
		if writes && lost%2 == 0 {
			_ = do() // it had been sent
		}
		return errKilled
	case frozen != nil:
		if writes && lost%2 == 0 {
			w.wait.Go(func() {
				select {
				case <-frozen:
					_ = do()
				case <-l.p.life.Done():
				}
			})
		}
		if slow {
			if err := l.p.pass(); err != nil {
				return err
			}
		}
		return errUnreached
	case l.p.cut.Load() || w.isDown.Load() || lost%150 == 0:
		if writes {
			w.loses(lost>>8, func() { _ = do() })
		}
		if slow && lost>>4%2 == 0 { // a connection that is gone is noticed at once, an answer that does not come is waited for
			if err := sleep.For(ctx, 5*time.Second); err != nil {
				return err
			}
		}
		return errUnreached
	}
	return do()
}

func (l *stateLink) Epoch(ctx context.Context) (n int64, err error) {
	err = l.step(ctx, "epoch", false, true, func() (err error) { n, err = l.store.Epoch(ctx); return err })
	return n, err
}

func (l *stateLink) List(ctx context.Context, kind string) (list []store.Document, err error) {
	err = l.step(ctx, "list "+kind, false, false, func() (err error) { list, err = l.store.List(ctx, kind); return err })
	return list, err
}

func (l *stateLink) Versions(ctx context.Context, kind string) (list map[string]int64, err error) {
	err = l.step(ctx, "versions "+kind, false, false, func() (err error) { list, err = l.store.Versions(ctx, kind); return err })
	return list, err
}

func (l *stateLink) Document(ctx context.Context, kind, id string) (d *store.Document, err error) {
	err = l.step(ctx, "document "+kind+id, false, false, func() (err error) { d, err = l.store.Document(ctx, kind, id); return err })
	return d, err
}

func (l *stateLink) Load(ctx context.Context, kind, id string, v any) error {
	return l.step(ctx, "load "+kind+id, false, false, func() error { return l.store.Load(ctx, kind, id, v) })
}

// Replace, as all that is stored, encodes before it sends: what is carried out later is what was said then.
func (l *stateLink) Replace(ctx context.Context, kind, id string, version int64, v any, entries ...store.Entry) (int64, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return 0, err
	}
	entries = slices.Clone(entries)
	err = l.step(ctx, "replace "+kind+id, true, false, func() error {
		_, err := l.store.Replace(ctx, kind, id, version, json.RawMessage(raw), entries...)
		l.noted(kind, raw, err)
		return err
	})
	return version + 1, err
}

// noted tells the world of a state that is stored.
func (l *stateLink) noted(kind string, raw []byte, err error) {
	var r change.Record
	if err == nil && kind == change.Kind && json.Unmarshal(raw, &r) == nil {
		l.p.w.moved(r.State)
	}
}

func (l *stateLink) Remove(ctx context.Context, kind, id string, version int64, entries ...store.Entry) error {
	entries = slices.Clone(entries)
	return l.step(ctx, "remove "+kind+id, true, false, func() error { return l.store.Remove(ctx, kind, id, version, entries...) })
}

func (l *stateLink) Save(ctx context.Context, kind, id string, v any) error {
	return l.Decide(ctx, kind, id, v)
}

func (l *stateLink) Decide(ctx context.Context, kind, id string, v any, entries ...store.Entry) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	entries = slices.Clone(entries)
	return l.step(ctx, "decide "+kind+id, true, false, func() error { return l.store.Decide(ctx, kind, id, json.RawMessage(raw), entries...) })
}

func (l *stateLink) Delete(ctx context.Context, kind, id string) error {
	return l.step(ctx, "delete "+kind+id, true, false, func() error { return l.store.Delete(ctx, kind, id) })
}

func (l *stateLink) Beat(ctx context.Context, member string, counter int64, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return l.step(ctx, "beat", true, true, func() error { return l.store.Beat(ctx, member, counter, json.RawMessage(raw)) })
}

func (l *stateLink) Beats(ctx context.Context) (all map[string]json.RawMessage, err error) {
	err = l.step(ctx, "beats", false, true, func() (err error) { all, err = l.store.Beats(ctx); return err })
	return all, err
}

func (l *stateLink) Silence(ctx context.Context, member string, counter int64) error {
	return l.step(ctx, "silence", true, false, func() error { return l.store.Silence(ctx, member, counter) })
}

func (l *stateLink) Raise(ctx context.Context, form int) error {
	return l.step(ctx, "raise", true, false, func() error { return l.store.Raise(ctx, form) })
}
