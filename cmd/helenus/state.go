package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/helenus-db/helenus/capture/store"
)

// openState opens the state, whatever it is in: the relay needs none of it.
func (h *helenus) openState() (err error) {
	h.store, err = store.Begin(h.settings.StateDir, h.stateDamaged)
	if errors.Is(err, store.ErrLocked) {
		return fmt.Errorf("%w; or take over from it: run --take-over", err)
	}
	return err
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
	for h.settings.AuditKeep > 0 {
		if n, err := h.store.Trim(ctx, clock().Add(-h.settings.AuditKeep)); err != nil {
			h.log.Warn("old lines of the audit trail could not be removed; it is tried again", "err", err)
		} else if n > 0 {
			h.log.Info("old lines of the audit trail were removed", "lines", n, "audit_keep", h.settings.AuditKeep)
		}
		if !pause(ctx, trimEvery) {
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
			return fmt.Errorf("restore migrations: %w", err)
		}
		if err := h.keeper.Restore(ctx); err != nil {
			return fmt.Errorf("restore calendars: %w", err)
		}
		return nil
	}
	err := once()
	if err == nil || errors.Is(err, store.ErrNewer) || ctx.Err() != nil {
		return err
	}
	if !errors.Is(err, store.ErrCorrupt) { // else the store has done so
		h.store.GiveUp(err)
	}
	return once()
}

// stateMetric is 1 while something of the state is not known, or not kept.
func (h *helenus) stateMetric() prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "helenus_state_damaged",
		Help: "1 while decisions and changes are not known because a damaged state was set aside, or are kept in memory only; /readyz says why.",
	}, func() float64 {
		if h.store.Trouble() != "" {
			return 1
		}
		return 0
	})
}
