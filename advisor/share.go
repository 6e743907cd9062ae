package advisor

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/capture/store"
)

// Of several processes with one state one advises (Options.Leads). What it proposes is in the records of changes, which all read; the rest of its latest round, the model above
// all, is a document that the others read when somebody asks. Who asks another for a round leaves a wish, and waits for the round that fulfils it.

const (
	roundKind  = "advice"
	roundID    = "latest"
	wishID     = "wish"
	maxShared  = 8 << 20         // bytes of a round, compressed
	patience   = 2 * time.Minute // with which a round is waited for
	readWithin = 5 * time.Second // that a round is to be read in, when somebody asks
	lookEvery  = time.Second / 2 // whether a wish was fulfilled
)

// shared is a round as it is kept for others.
type shared struct {
	At   time.Time `json:"at"`
	Text []byte    `json:"text,omitempty"` // compressed; none if it is too large
}

type wanted struct {
	At time.Time `json:"at"`
}

// share keeps the latest round for the others. That it can not be kept is no reason to fail it.
func (a *Advisor) share(ctx context.Context) {
	a.mu.RLock()
	lean := *a.latest
	a.mu.RUnlock()
	lean.Recommendations = nil // the records have them
	err := func() error {
		text, err := json.Marshal(&lean)
		if err != nil {
			return err
		}
		packed, err := pack(string(text))
		if err != nil {
			return err
		}
		if len(packed) > maxShared {
			packed = nil
		}
		return a.o.Store.Save(ctx, roundKind, roundID, shared{At: lean.At, Text: packed})
	}()
	if err != nil {
		a.o.Log.Warn("the other members do not know the latest round of advice", "err", err)
	}
}

// Follow notes that another process may have advised, corrected the model, or wants a round.
func (a *Advisor) Follow(ctx context.Context) error {
	b, err := a.proposals(ctx)
	if err != nil {
		return err
	}
	var wish wanted
	if a.o.Leads != nil && a.o.Leads() {
		if err := a.o.Store.Load(ctx, roundKind, wishID, &wish); err != nil && !errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("read whether a round of advice is wanted: %w", err)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.book, a.loaded, a.known, a.stale = b, true, nil, true
	if wish.At.After(a.wished) {
		a.wished = wish.At
		select {
		case a.poke <- struct{}{}:
		default: // a round is due already
		}
	}
	return nil
}

// catchUp reads the latest round of whoever leads.
func (a *Advisor) catchUp() {
	a.mu.RLock()
	stale := a.stale && a.o.Leads != nil && !a.o.Leads()
	a.mu.RUnlock()
	if !stale {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), readWithin)
	defer cancel()
	advice, at, err := a.sharedRound(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case err != nil && !errors.Is(err, store.ErrNotFound):
		a.o.Log.Warn("the latest round of advice of the leader could not be read", "err", err)
	case err == nil && advice != nil && !at.Before(a.last):
		a.latest, a.last, a.took = advice, at, advice.Duration
		a.trouble.Store(nil)
	}
	a.stale = false
}

// sharedRound reads the latest round that is kept; nil if it was too large.
func (a *Advisor) sharedRound(ctx context.Context) (*recommend.Advice, time.Time, error) {
	var s shared
	if err := a.o.Store.Load(ctx, roundKind, roundID, &s); err != nil || s.Text == nil {
		return nil, s.At, err
	}
	z, err := gzip.NewReader(bytes.NewReader(s.Text))
	if err != nil {
		return nil, s.At, err
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return nil, s.At, err
	}
	var advice recommend.Advice
	if err := json.Unmarshal(text, &advice); err != nil {
		return nil, s.At, err
	}
	return &advice, s.At, nil
}

// ask has the leader work advice out, and returns it.
func (a *Advisor) ask(ctx context.Context) (*recommend.Advice, error) {
	var before shared
	if err := a.o.Store.Load(ctx, roundKind, roundID, &before); err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf("read the latest round of advice: %w", err)
	}
	if err := a.o.Store.Save(ctx, roundKind, wishID, wanted{a.o.Clock().UTC()}); err != nil {
		return nil, fmt.Errorf("ask the leader of the fleet for a round of advice: %w", err)
	}
	for waited := time.Duration(0); waited < patience; waited += lookEvery {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(lookEvery):
		}
		var now shared
		if err := a.o.Store.Load(ctx, roundKind, roundID, &now); err == nil && !now.At.Equal(before.At) {
			a.mu.Lock()
			a.stale = true
			a.mu.Unlock()
			if latest := a.Latest(); latest != nil {
				return latest, nil
			}
			return &recommend.Advice{At: now.At}, nil // it was too large to be shared
		}
	}
	return nil, fmt.Errorf("%w (the leader of the fleet was asked, and has not answered within %v)", ErrNothingSeen, patience)
}
