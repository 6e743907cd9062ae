package rewrite

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// TestWhoIsToldWaitsForNoApproval: while an approval is being stored readiness, metrics and pages tell how things stand, the schema is followed, and nobody else gets its place.
// (In the machine's own time: a bubble's stands still while a lock is waited for.)
func TestWhoIsToldWaitsForNoApproval(t *testing.T) {
	w := newWorld(t)
	e, err := New(Options{Session: w.db, Store: w.store, Traffic: w, Bypass: w.bypassed.Store, Schema: w.db.Schema, Migrate: quick(), Kinds: few()})
	must(t, err)
	w.engine = e
	ctx := context.Background()
	must(t, e.Restore(ctx))
	other := advice(t)
	print, text, _, err := cql.FingerprintText("SELECT room, day, n, status FROM hotel.stays WHERE status = ? ALLOW FILTERING", "")
	must(t, err)
	other.Column, other.Table, other.Statements, other.Texts = "status", "stays_by_status", []string{print.String()}, []string{text}
	_, err = e.Approve(ctx, "m2", other, "ann")
	must(t, err)
	for _, fails := range []error{errFull, nil} {
		hangs, goOn, approved := make(chan struct{}, 1), make(chan struct{}), make(chan error, 1)
		var hung atomic.Bool
		w.store.Before.Set(func(_, id string) error {
			if id == "m1" && hung.CompareAndSwap(false, true) {
				hangs <- struct{}{}
				<-goOn
				return fails
			}
			return nil
		})
		go func() { approved <- w.approve("m1") }()
		<-hangs
		told := make(chan struct{})
		go func() {
			defer close(told)
			if all := e.Migrations(); len(all) != 1 || all[0].ID != "m2" {
				t.Errorf("%+v", all)
			}
			_, _, _ = e.Bypassed(), e.Unstored(), metric(t, e, "helenus_orders_pending")
			e.Look()(w.db.Schema())
			for _, id := range []string{"m1", "m3"} {
				if err := w.approve(id); !errors.As(err, new(*migrate.ErrAlreadyApproved)) {
					t.Errorf("%s is approved, too: %v", id, err)
				}
			}
		}()
		select {
		case <-told:
		case <-time.After(time.Minute):
			t.Fatal("who is told waits for an approval")
		}
		close(goOn)
		if err := <-approved; !errors.Is(err, fails) {
			t.Error(err)
		}
	}
	if all := e.Migrations(); len(all) != 2 || all[0].State != migrate.Approved {
		t.Errorf("%+v", all)
	}
}
