package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gocql/gocql"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/internal/keyspace"
	"github.com/helenus-db/helenus/internal/sleep"
	"github.com/helenus-db/helenus/internal/words"
	"github.com/helenus-db/helenus/rewrite"
	"github.com/helenus-db/helenus/rewrite/gain"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// state is where decisions and changes are kept: a *store.Store, in a file, or a *keyspace.Store, in a keyspace of Cassandra.
type state interface {
	migrate.Store
	Commit(ctx context.Context, c store.Change) error
	Delete(ctx context.Context, kind, id string) error
	Append(ctx context.Context, entries ...store.Entry) error
	Audit(ctx context.Context, q store.AuditQuery) ([]store.Entry, error)
	Trim(ctx context.Context, before time.Time) (int64, error)
	Watch(f func([]store.Entry))
	Trouble() string
	Close() error
}

// unheard are the kinds of documents that are written all the time, by who does the work alone: other members need not know.
var unheard = []string{migrate.KindBackfill, gain.KindGain, rewrite.KindSightings, "proposal"}

// openState opens the state, whatever it is in: the relay needs none of it. One that is shared is waited for: who has not read it would not know what to write.
func (h *helenus) openState(ctx context.Context) (err error) {
	if h.settings.Shared() {
		return h.openShared(ctx)
	}
	h.file, err = store.Begin(h.settings.StateDir, h.stateDamaged)
	if errors.Is(err, store.ErrLocked) {
		return fmt.Errorf("%w; or take over from it: run --take-over", err)
	}
	if err != nil {
		return err
	}
	h.store = h.file
	if err := store.Usable(ctx, h.store); errors.Is(err, store.ErrMoved) {
		return err
	}
	return nil
}

// openShared opens the state in its keyspace, and makes that if it is missing.
func (h *helenus) openShared(ctx context.Context) (err error) {
	if err := os.MkdirAll(h.settings.StateDir, 0o700); err != nil {
		return fmt.Errorf("make the state directory: %w", err)
	}
	if h.claimed, err = claim(h.settings.StateDir); err != nil {
		return err
	}
	if err := leftBehind(ctx, h.settings.StateDir); err != nil {
		return err
	}
	h.log.Info("reading the state: no request is taken before", "keyspace", h.settings.StateKeyspace)
	cluster := func() (*gocql.Session, error) {
		session, err := sessions{h.settings, h.secured.dialer()}.stating()
		if err != nil {
			return nil, noSession(h.settings, err)
		}
		return session, nil
	}
	if h.shared, err = keyspace.New(keyspace.Options{Connect: cluster, Keyspace: h.settings.StateKeyspace, Replication: h.settings.StateReplication, Unheard: unheard, Now: clock}); err != nil {
		return usageError{err}
	}
	h.store = h.shared
	return h.patiently(ctx, func() error {
		if err := h.shared.Prepare(ctx); err != nil {
			return err
		}
		if err := store.Usable(ctx, h.shared); err != nil {
			return err
		}
		_, err := migrate.Owner(ctx, h.shared)
		return err
	})
}

// leftBehind refuses to begin in a keyspace while the file of the process that was tried out before lies in its directory with changes that go on: they would be forgotten, without a
// word, with the tables that they made.
func leftBehind(ctx context.Context, dir string) error {
	if _, err := os.Stat(filepath.Join(dir, store.File)); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	file, err := store.Open(dir)
	if errors.Is(err, store.ErrLocked) {
		return fmt.Errorf("%w: a process with state sqlite runs there", err)
	}
	if err != nil {
		return nil //nolint:nilerr // a file that can not be read is none to take along
	}
	defer func() { _ = file.Close() }() // nothing was written
	if store.Usable(ctx, file) != nil {
		return nil // it was moved
	}
	changes, err := change.Open(file).All(ctx)
	if err != nil {
		return nil //nolint:nilerr // likewise
	}
	n := 0
	for _, c := range changes {
		if c.State.Underway() {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return fmt.Errorf("%s holds %s that would be forgotten: `helenus state move --to cassandra` with the same settings takes everything that was decided along; if it is to be forgotten, move the file away",
		filepath.Join(dir, store.File), words.Plural(n, "change", "changes"))
}

// sayEvery is how often it is said that the state can not be read.
const sayEvery = 10 * time.Second

// patiently does something with the state, and if that is shared does it again until it works: a Cassandra that does not answer just now is no reason to end, and a process that has
// not read the state may take no requests. What would fail again is returned.
func (h *helenus) patiently(ctx context.Context, do func() error) error {
	for said := (time.Time{}); ; {
		err := do()
		if err == nil || h.shared == nil || lasting(err) {
			return err
		}
		if time.Since(said) > sayEvery {
			said = time.Now()
			h.log.Warn("the state can not be read yet: without it this process takes no requests; it is tried again each second. "+keyspace.WhatHelps(err),
				"keyspace", h.settings.StateKeyspace, "error", err)
		}
		if sleep.For(ctx, retryEvery) != nil {
			return ctx.Err()
		}
	}
}

// lasting tells whether what is wrong with the state would be so again.
func lasting(err error) bool {
	return errors.Is(err, store.ErrNewer) || errors.Is(err, store.ErrMoved) || errors.As(err, new(*keyspace.DDLError)) ||
		errors.As(err, new(*json.SyntaxError)) || errors.As(err, new(*json.UnmarshalTypeError))
}

// sayWho has connections say which state this process has, and which process it is.
func (h *helenus) sayWho(ctx context.Context) error {
	var owner string
	err := h.patiently(ctx, func() (err error) { owner, err = migrate.Owner(ctx, h.store); return err })
	if err != nil && h.shared != nil {
		return err // the others would not find its connections, and take it for gone
	}
	if err != nil { // approvals say so, too
		h.log.Warn("connections can not say which process of helenus they come through", "error", err)
		return nil
	}
	h.secured.member = owner + "/" + h.process
	if h.shared != nil {
		h.shared.Renew()
	}
	return nil
}

// stateDamaged is told what is wrong with the state. It does not block: whoever finds damage may hold locks.
func (h *helenus) stateDamaged(d store.Damage) {
	effect := "no change is known: nothing is served, no entry is written; requests are forwarded"
	if d.Running {
		effect = "no read is served any more until it is resumed; what this process knows of is saved anew; requests are forwarded"
	}
	h.webhooks.StateLost()
	h.log.Error("the state is damaged", "error", d.Why, "effect", effect, "set_aside", d.Aside, "in_memory_only", d.Memory)
	if d.Running {
		select {
		case h.lost <- d.Why.Error():
		default: // it will be said to have been lost already
		}
	}
}

// mindState turns reads back when the state was lost; the suspensions make all that is known be saved anew.
func (h *helenus) mindState(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case why := <-h.lost:
			h.engine.TurnBack("the state was lost: " + why)
			if err := h.changes.Renew(ctx); err != nil {
				h.log.Error("not all that is known of changes could be saved anew", "err", err)
			}
		}
	}
}

// trimEvery is how often lines of the audit trail go that are not to be kept any more.
const trimEvery = 12 * time.Hour

// trim keeps the audit trail from growing for ever.
func (h *helenus) trim(ctx context.Context) {
	if h.member != nil {
		h.member.Lead(ctx, h.trimming)
		return
	}
	h.trimming(ctx)
}

func (h *helenus) trimming(ctx context.Context) {
	for h.settings.AuditKeep > 0 {
		if n, err := h.store.Trim(ctx, clock().Add(-h.settings.AuditKeep)); err != nil {
			h.log.Warn("old lines of the audit trail could not be removed; it is tried again", "err", err)
		} else if n > 0 {
			h.log.Info("old lines of the audit trail were removed", "lines", n, "audit_keep", h.settings.AuditKeep)
		}
		if sleep.For(ctx, trimEvery) != nil {
			return
		}
	}
	<-ctx.Done()
}

// restore puts in force what the state holds. One that can not be understood is set aside like one that can not be read.
func (h *helenus) restore(ctx context.Context) error {
	once := func() error {
		if err := h.changes.Load(ctx); err != nil {
			return fmt.Errorf("restore changes: %w", err)
		}
		if err := h.engine.Restore(ctx); err != nil {
			return fmt.Errorf("restore changes: %w", err)
		}
		if err := h.keeper.Restore(ctx); err != nil {
			return fmt.Errorf("restore calendars: %w", err)
		}
		return nil
	}
	err := h.patiently(ctx, once)
	if err == nil || errors.Is(err, store.ErrNewer) || ctx.Err() != nil || h.file == nil { // what others have is not given up
		return err
	}
	if !errors.Is(err, store.ErrCorrupt) { // else the store has done so
		h.file.GiveUp(err)
	}
	return once()
}

// stateMetric is 1 while something of the state is not known, or not kept.
func (h *helenus) stateMetric() prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "helenus_state_damaged",
		Help: "1 while decisions and changes are not known because a damaged state was set aside, or are kept in memory only; /readyz says why.",
	}, func() float64 {
		if h.file != nil && h.file.Trouble() != "" {
			return 1
		}
		return 0
	})
}
