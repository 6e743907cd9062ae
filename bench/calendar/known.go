package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/given"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/timeline"
)

// known is a calendar with its baselines in a file, so that a run that failed, or one that measures for longer, needs not look for them
// again: that takes minutes, and comes to the same. It has the tables as CQL; plans and migrations are worked out from them.
type known struct {
	Of     string            `json:"of"` // the flags that it was designed by
	Space  float64           `json:"space_bytes"`
	Cost   float64           `json:"cost"`
	Bound  float64           `json:"bound"`
	Tables map[string]string `json:"tables"` // of the calendar: CQL by name
	Steps  [][]string        `json:"steps"`  // names of its tables
	Rivals []*knownRival     `json:"rivals"`
}

// knownRival is a baseline.
type knownRival struct {
	Name    string              `json:"name"`
	Said    float64             `json:"cost_predicted"`
	Designs []map[string]string `json:"designs"` // CQL by name
	Steps   []int               `json:"steps"`   // by step: which design
}

// flags are what a calendar depends on.
func (o *options) flags() string {
	return fmt.Sprintf("-file %s -rows %g -space %g -exact=%v -limit %v -parameters %q", o.file, o.rows, o.share, o.exact, o.limit, filepath.Base(o.parameters))
}

// recall reads a calendar that was kept; nil: there is none.
func (o *options) recall() (*known, error) {
	if o.kept == "" {
		return nil, nil //nolint:nilnil // none is none
	}
	text, err := os.ReadFile(o.kept)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // none is none
	}
	if err != nil {
		return nil, &usageError{fmt.Errorf("-calendar: %w", err)}
	}
	k := &known{}
	if err := json.Unmarshal(text, k); err != nil {
		return nil, &usageError{fmt.Errorf("-calendar: %s: %w", o.kept, err)}
	}
	if k.Of != o.flags() || len(k.Rivals) == 0 {
		return nil, &usageError{fmt.Errorf("-calendar: %s was designed by\n  %s\nnot by\n  %s\nremove it, or give the same flags", o.kept, k.Of, o.flags())}
	}
	return k, nil
}

// keep writes the calendar and the baselines to the file.
func (b *bench) keep() error {
	if b.kept == "" {
		return nil
	}
	k := &known{Of: b.flags(), Space: b.calendar.Space, Cost: b.calendar.Cost, Bound: b.calendar.Bound, Tables: map[string]string{}}
	for _, s := range b.calendar.Steps {
		var names []string
		for _, t := range tablesOf(s) {
			names = append(names, t.Name)
			k.Tables[t.Name] = inCQL(t)
		}
		k.Steps = append(k.Steps, names)
	}
	for _, x := range b.rivals {
		r := &knownRival{Name: x.name, Said: x.said, Steps: x.at}
		for _, e := range x.designs {
			tables := map[string]string{}
			for _, t := range e.Tables {
				tables[t.Name] = inCQL(t)
			}
			r.Designs = append(r.Designs, tables)
		}
		k.Rivals = append(k.Rivals, r)
	}
	text, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(b.kept, append(text, '\n'), 0o644) //nolint:gosec // it holds no secrets
}

func inCQL(t *model.Table) string {
	x := design.Table{Table: t, Name: t.Name, CQL: t.CQL("", t.Name)}
	return strings.Join(x.DDL(), ";\n") + ";\n"
}

// tables reads tables, by name.
func (b *bench) tables(of map[string]string) (map[string]*model.Table, error) {
	tables := map[string]*model.Table{}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		list, err := given.Read(b.kept, []byte(of[name]), b.work.Graph)
		if err != nil {
			return nil, &usageError{err}
		}
		tables[name] = list[0]
	}
	return tables, nil
}

// revive makes the calendar and the baselines of what was kept.
func (b *bench) revive(ctx context.Context, k *known) error {
	tables, err := b.tables(k.Tables)
	if err != nil {
		return err
	}
	var steps [][]*model.Table
	for _, names := range k.Steps {
		var list []*model.Table
		for _, name := range names {
			if tables[name] == nil {
				return &usageError{fmt.Errorf("-calendar: %s: there is no table %s", b.kept, name)}
			}
			list = append(list, tables[name])
		}
		steps = append(steps, list)
	}
	if b.calendar, err = timeline.Given(ctx, b.work, timeline.Options{Cost: b.model, Solver: solve.New(solve.Config{}), Space: k.Space}, steps); err != nil {
		return &usageError{fmt.Errorf("-calendar: %s: %w", b.kept, err)}
	}
	if c := b.calendar.Cost; c > k.Cost*(1+1e-6) || c < k.Cost*(1-1e-6) {
		return &usageError{fmt.Errorf("-calendar: %s: it costs %g, and cost %g when it was designed: the workload or the cost model is another: remove it", b.kept, c, k.Cost)}
	}
	b.calendar.Bound = k.Bound
	for _, r := range k.Rivals {
		x := &rival{name: r.Name, said: r.Said, at: r.Steps}
		used := slices.Compact(slices.Sorted(slices.Values(x.at)))
		if len(used) == 0 || len(x.at) != len(k.Steps) || len(used) != len(r.Designs) || used[0] != 0 || used[len(used)-1] != len(used)-1 {
			return &usageError{fmt.Errorf("-calendar: %s: %s has not one of its %d designs at each of the %d steps, and each at one", b.kept, r.Name, len(r.Designs), len(k.Steps))}
		}
		for i, of := range r.Designs {
			tables, err := b.tables(of)
			if err != nil {
				return err
			}
			var list []*model.Table
			for _, name := range slices.Sorted(maps.Keys(tables)) {
				list = append(list, tables[name])
			}
			e, err := b.entry(ctx, x, i, list)
			if err != nil {
				return &usageError{fmt.Errorf("-calendar: %s: %w", b.kept, err)}
			}
			x.designs = append(x.designs, e)
		}
		b.rivals = append(b.rivals, x)
	}
	b.say("the calendar and the baselines are those of %s", b.kept)
	return nil
}
