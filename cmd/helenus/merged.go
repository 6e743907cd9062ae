package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/merged"
	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/fleet"
	"github.com/helenus-db/helenus/internal/keyspace"
	"github.com/helenus-db/helenus/internal/sleep"
)

// A fleet learns as one process would that all traffic goes through: capture/merged puts together what its members learned, by way of the state.

// learnedState is the state as capture/merged needs it.
type learnedState struct{ *keyspace.Store }

func (s learnedState) Put(ctx context.Context, row merged.Row, keep time.Duration) error {
	return s.PutLearned(ctx, row.Kind, row.Key, row.Body, keep)
}

// Agree is a compare and set: a document of the state, which all members read alike.
func (s learnedState) Agree(ctx context.Context, row merged.Row, _ time.Duration) (merged.Row, error) {
	_, err := s.Replace(ctx, agreedKind(row.Kind), row.Key, 0, row.Body)
	if errors.Is(err, store.ErrConflict) {
		err = s.Load(ctx, agreedKind(row.Kind), row.Key, &row.Body)
	}
	return row, err
}

// agreedKind is the kind of document of what was agreed on.
func agreedKind(kind string) string { return "sampling-" + kind }

func (s learnedState) All(ctx context.Context, kind string) ([]merged.Row, error) {
	list, err := s.Learned(ctx, kind)
	rows := make([]merged.Row, len(list))
	for i, one := range list {
		rows[i] = merged.Row{Kind: kind, Key: one.Window, Body: one.Body}
	}
	return rows, err
}

func (s learnedState) Drop(ctx context.Context, kind, key string) error {
	if kind == merged.SecretKind {
		return s.Delete(ctx, agreedKind(kind), key)
	}
	return s.DropSnapshot(ctx, kind, key)
}

// knownHours is the state as capture/history needs it.
type knownHours struct{ *keyspace.Store }

func (s knownHours) Put(ctx context.Context, kind, key string, body []byte, keep time.Duration) error {
	return s.PutLearned(ctx, kind, key, body, keep)
}

func (s knownHours) All(ctx context.Context, kind string) (map[string][]byte, error) {
	list, err := s.Learned(ctx, kind)
	rows := map[string][]byte{}
	for _, one := range list {
		rows[one.Window] = one.Body
	}
	return rows, err
}

// exchangeHoursEvery is how often a member looks whether others have left hours that it does not know.
const exchangeHoursEvery = 5 * time.Minute

// exchangeHours leaves this member's hours for the others, and takes theirs.
func (h *helenus) exchangeHours(ctx context.Context) {
	if h.shared == nil {
		<-ctx.Done()
		return
	}
	for wait := retryEvery; sleep.For(ctx, wait) == nil; wait = exchangeHoursEvery {
		left, taken, err := h.history.Exchange(ctx, knownHours{h.shared}, h.process)
		if err != nil && ctx.Err() == nil {
			h.log.Warn("the history of hours could not be exchanged with the other members; it is tried again", "after", exchangeHoursEvery, "err", err)
		}
		if left+taken > 0 {
			h.log.Debug("hours of the history were exchanged with the other members", "left", left, "taken", taken)
		}
	}
}

// learnTogether has this process learn as one of its fleet, if it is of one.
func (h *helenus) learnTogether() {
	if h.shared == nil {
		return
	}
	s := h.settings
	registered := func() []fleet.View { return h.member.Fleet().Members }
	h.merged = merged.New(merged.Options{
		Store: learnedState{h.shared}, Name: h.process, Counts: h.registry.Counts, Windows: h.registry.Windows(), Leads: h.member.Leads,
		Members: func() int { return len(registered()) },
		Registered: func(name string) bool {
			return slices.ContainsFunc(registered(), func(v fleet.View) bool { return v.ID == name })
		},
		Skew: (&skew{clock: h.shared.Clock}).now, Secret: s.SampleSecret, Rotation: s.SampleRotation, Retention: s.SampleRetention, Keep: s.HistoryHours,
		Statements: min(s.MaxStatements, maxMerged), Every: min(mergeEvery, s.AdviseEvery), Log: h.log,
	})
}

// maxMerged is how many statements a member tells of by themselves, mergeEvery how often it does.
const (
	maxMerged  = 5_000
	mergeEvery = 30 * time.Second
)

// learnMerged exchanges what was learned with the other members.
func (h *helenus) learnMerged(ctx context.Context) {
	if h.merged == nil {
		<-ctx.Done()
		return
	}
	h.merged.Run(ctx)
}

// learned is what this process has learned, or its fleet.
func (h *helenus) learned() *capture.Snapshot {
	if h.merged != nil {
		if s := h.merged.Snapshot(); s != nil {
			return s
		}
	}
	return h.registry.Snapshot()
}

// skew is how much Cassandra's clock, by which all members go, is ahead of this machine's. Where the two agree as far as can be told it is nothing: machines whose
// clocks are kept by one service are nearer to each other than an answer tells.
type skew struct {
	clock func(context.Context) (now time.Time, uncertain time.Duration, err error)

	mu   sync.Mutex
	last time.Time // that it was asked
	is   time.Duration
}

// askClockEvery is how often clocks are compared, skewSamples how many answers the best is taken of.
const (
	askClockEvery = time.Minute
	skewSamples   = 5
)

func (k *skew) now() time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.last.IsZero() && time.Since(k.last) < askClockEvery {
		return k.is
	}
	k.last = time.Now()
	best := time.Duration(-1)
	for range skewSamples {
		now, uncertain, err := k.clock(context.Background())
		if err != nil || best >= 0 && uncertain >= best {
			continue
		}
		best, k.is = uncertain, time.Until(now)
		if k.is.Abs() <= uncertain {
			k.is = 0
		}
	}
	return k.is
}
