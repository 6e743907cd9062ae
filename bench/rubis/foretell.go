package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/contest"
	"github.com/helenus-db/helenus/bench/data"
	"github.com/helenus-db/helenus/bench/generate"
)

// foretell measures a dozen and more designs, and holds what the cost model says of them against it. It calibrates anew, on a
// server that has been at work for a while, where the first calibration met one that had just started: on a machine that does other
// things too, a get took twice as long then (0.63 ms where it took 0.30 later, 0.74 and 0.41, of the times fitted).
func (b *bench) foretell(ctx context.Context, k *kase) (*contest.Prediction, error) {
	if err := b.calibrate(ctx); err != nil {
		return nil, err
	}
	w, err := b.load(k, b.studyScale)
	if err != nil {
		return nil, err
	}
	entries, err := b.crowd(ctx, k, w)
	if err != nil {
		return nil, err
	}
	s := contest.NewStudy(entries, w.Statements)
	world, err := data.New(w.Graph, data.Options{Seed: b.seed, Workload: w})
	if err != nil {
		return nil, err
	}
	b.say("%d designs to foretell, of %d different tables", len(entries), len(s.Tables))
	keyspace, err := b.arena.Create(ctx, s.Tables)
	if err != nil {
		return nil, err
	}
	if _, err := b.put(ctx, keyspace, s.Tables, world); err != nil {
		return nil, err
	}
	if err := s.Prepare(b.arena.Pool, b.running()); err != nil {
		return nil, err
	}
	tally, err := b.measured(ctx, s.Requests, s.Runners, world, b.study)
	if err != nil {
		return nil, err
	}
	label := fmt.Sprintf("%s, entity counts times %g, weights of mix %s", b.label, b.studyScale, k.main)
	return s.Judge(b.model, label, k.main, tally)
}

// How many designs are foretold.
const (
	enoughDesigns  = 16
	randomAttempts = 60
	// apart is by what share the model must tell designs apart: of those that it takes for equal, noise would be the judge.
	apart = 0.02
)

// crowd makes designs of all sorts for the case's main mix, no two that the model takes for equal: those made by hand, the
// best for each of its mixes that has all statements, by each cost model, within less and less space, and among random
// candidates.
func (b *bench) crowd(ctx context.Context, k *kase, w *workload.Workload) (entries []*contest.Entry, err error) {
	left := map[string]string{}
	for _, s := range k.made {
		e, err := contest.Made(ctx, w, s.name, s.schema, b.design())
		if err != nil {
			return nil, err
		}
		for id, reason := range e.Missing {
			left[id] = reason
		}
		entries = append(entries, e)
	}
	contest.Without(w, left)
	met := map[string]bool{}
	// add plans over the tables of a design for the main mix, by our model, whatever they were chosen by.
	add := func(name string, d *design.Design) error {
		tables := make([]*model.Table, len(d.Tables))
		ids := make([]string, len(d.Tables))
		for i, t := range d.Tables {
			tables[i], ids[i] = t.Table, t.Table.ID()
			tables[i].Name = t.Name
		}
		slices.Sort(ids)
		key := strings.Join(ids, "\n")
		if met[key] {
			return nil
		}
		met[key] = true
		if err := w.SetMix(k.main); err != nil {
			return err
		}
		e, err := contest.Over(ctx, w, name, tables, b.design())
		if err != nil || len(e.Missing) > 0 {
			return err
		}
		said := e.Foretold(b.model, w.Statements, k.main)
		for _, o := range entries {
			if other := o.Foretold(b.model, w.Statements, k.main); math.Abs(said-other) < apart*other {
				return nil
			}
		}
		entries = append(entries, e)
		return nil
	}
	choose := func(name, mix string, o design.Options) (*design.Design, error) {
		if err := w.SetMix(mix); err != nil {
			return nil, err
		}
		d, err := design.Choose(ctx, w, o)
		if err == nil {
			err = add(name, d)
		}
		return d, err
	}
	best, err := choose(ours(k.main), k.main, b.design())
	if err != nil {
		return nil, err
	}
	if b.smoke {
		return entries, nil
	}
	for _, mix := range k.mixes {
		if part, others := w.In(mix); mix == k.main || len(others) > 0 || len(part.Statements) == 0 {
			continue
		}
		if _, err = choose(ours(mix), mix, b.design()); err != nil {
			return nil, err
		}
	}
	for _, name := range cost.Names() {
		o := b.design()
		if o.Cost, err = cost.ByName(name); err != nil {
			return nil, err
		}
		if _, err = choose("ours by "+name, k.main, o); err != nil {
			return nil, err
		}
	}
	if err := b.narrow(best, choose, k.main); err != nil {
		return nil, err
	}
	for seed := range uint64(randomAttempts) {
		if len(entries) >= enoughDesigns {
			break
		}
		o := b.design()
		share := 0.4 + 0.1*float64(seed%4)
		o.Allow = contest.Half(share, seed+b.seed*1000)
		_, err := choose(fmt.Sprintf("best of %.0f %% of the candidates, draw %d", 100*share, seed), k.main, o)
		var none *design.UnanswerableError
		if err != nil && !errors.As(err, &none) {
			return nil, err
		}
	}
	return entries, nil
}

// narrow adds designs within less and less space.
func (b *bench) narrow(best *design.Design, choose func(name, mix string, o design.Options) (*design.Design, error), mix string) error {
	o := b.design()
	o.SpaceLimit = 1
	least := 0.0
	var small *design.SpaceError
	if _, err := choose("", mix, o); errors.As(err, &small) {
		least = small.Smallest
	} else if err != nil {
		return err
	}
	all := best.Bytes()
	for _, share := range []float64{0, 0.33, 0.66} {
		o.SpaceLimit = (least + share*(all-least)) * 1.0001
		if _, err := choose(fmt.Sprintf("ours within %.1f MB", o.SpaceLimit/1e6), mix, o); err != nil && !errors.As(err, &small) {
			return err
		}
	}
	return nil
}

// growth measures how long the advisor takes for random workloads (N-61), as figure 19 does.
func (b *bench) growth(ctx context.Context) ([]contest.Growth, error) {
	most, runs := 4, 5
	if b.smoke {
		most, runs = 1, 1
	}
	var list []contest.Growth
	for scale := 1; scale <= most; scale++ {
		var seconds []float64
		for seed := range uint64(runs) {
			w := generate.Workload(generate.Scale(scale), b.seed*100+seed+1)
			o := b.design()
			o.Limits.Gap, o.Limits.Wall = 0.01, 20*time.Second
			begun := time.Now()
			if _, err := design.Choose(ctx, w, o); err != nil {
				return list, fmt.Errorf("random workload of scale %d, seed %d: %w", scale, seed, err)
			}
			seconds = append(seconds, time.Since(begun).Seconds())
		}
		slices.SortFunc(seconds, cmp.Compare)
		g := contest.Growth{Scale: scale, Seconds: seconds[len(seconds)/2], Least: seconds[0], Most: seconds[len(seconds)-1], Runs: runs}
		b.say("the advisor takes %.2f s for a random workload of scale %d", g.Seconds, scale)
		list = append(list, g)
	}
	return list, nil
}
