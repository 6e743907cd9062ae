package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/correction"
	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/capture/feed"
)

// The true workload of a case is what is inferred of the very same traffic over tables under their own names, with the feeds that there were in place of those
// that the miner found. Where that lacks an entity, a table or a relationship, everything is said that a person can say of the tables: which are copies, what
// identifies a row, whose key a column holds. That it is the truth is not assumed: it is scored as any other model (`bin/corpora -regret -v`, TestTruthIsTrue).

// truth is what was observed of a case, with the tables' own names.
func (v variant) truth(o *observed) *observed {
	switch v.design {
	case "normalised", "denormalised", "grown", "grown, copied":
		return o
	}
	return v.run(true)
}

// names are those of tables, columns and indexes.
type names struct{ tables, columns, indexes []string }

func namesIn(tables []*table) (n names) {
	for _, t := range tables {
		n.tables, n.indexes = append(n.tables, t.name), append(n.indexes, t.index)
		for _, c := range t.columns() {
			n.columns = append(n.columns, c.name)
		}
	}
	return n
}

// restore gives tables and columns the names that they had.
func (n names) restore(tables []*table) {
	k := 0
	for i, t := range tables {
		t.name, t.index = n.tables[i], n.indexes[i]
		for _, list := range [][]column{t.partition, t.clustering, t.values} {
			for c := range list {
				list[c].name = n.columns[k]
				k++
			}
		}
	}
}

// known infers the true model of a case, and scores it.
func (o *observed) known() (*infer.Model, *score, error) {
	own := *o.snapshot
	own.Feeds = o.site.feeds()
	m, err := infer.WithCorrections(&own, o.schema, o.stats, nil)
	if err != nil {
		return nil, nil, err
	}
	s := o.score(m)
	if s.structure() == 1 {
		return m, s, nil
	}
	told, err := infer.WithCorrections(&own, o.schema, o.stats, o.said())
	if err != nil {
		return nil, nil, err
	}
	if t := o.score(told); t.structure() > s.structure() {
		return told, t, nil
	}
	return m, s, nil
}

// structure is how right a model is without its workload, 1 if all is.
func (s *score) structure() float64 {
	return s.byKey.f1() * s.byTables.f1() * s.relationships.f1()
}

// feeds are those that there were: that account for 3 % and 100 executions of a statement, as in score.feeds.
func (s *site) feeds() (out []feed.Feed) {
	for _, st := range s.statements {
		for place, sources := range st.sources {
			for from, n := range sources {
				if from.st == nil || n < leastFed || n < leastShare*float64(st.count) {
					continue
				}
				all := 0.0
				for _, k := range sources {
					all += k
				}
				to, inList := strings.CutPrefix(st.trace.Variables[place].Name, "in(")
				f := feed.Feed{
					From:       feed.End{Fingerprint: from.st.trace.Fingerprint, Index: from.column, Keyspace: s.keyspace, Table: from.st.table.name, Column: from.st.trace.Results[from.column].Name},
					To:         feed.End{Fingerprint: st.trace.Fingerprint, Index: place, Keyspace: s.keyspace, Table: st.table.name, Column: strings.TrimSuffix(to, ")")},
					Executions: int(all), Hits: int(n), Share: n / all, Producers: len(st.followed[place][from]), Confidence: 1, SupportRead: st.trace.Write, Shape: feed.Single,
				}
				f.Followed, f.PerExecution = float64(f.Producers)/float64(from.st.runs), n/float64(f.Producers)
				switch {
				case inList:
					f.Shape = feed.InList
				case f.PerExecution > 1:
					f.Shape = feed.NPlusOne
				}
				out = append(out, f)
			}
		}
	}
	slices.SortFunc(out, func(a, b feed.Feed) int {
		return cmp.Or(strings.Compare(a.From.Fingerprint, b.From.Fingerprint), strings.Compare(a.To.Fingerprint, b.To.Fingerprint),
			cmp.Compare(a.From.Index, b.From.Index), cmp.Compare(a.To.Index, b.To.Index))
	})
	return out
}

// said is all that a person can say of the tables, in the words of a model file.
func (o *observed) said() (list correction.List) {
	for _, e := range o.site.w.entities {
		base := o.base(e)
		if base == nil {
			continue
		}
		if !e.pairs {
			list = append(list, correction.Correction{Entity: o.name(base), Key: base.keyed()})
		}
		for _, t := range o.site.tables {
			if t.of == e && t != base && t.keyed() != nil {
				list = append(list, correction.Correction{Copy: o.name(t), Of: o.name(base)})
			}
		}
		for _, c := range base.columns() {
			if r := e.edge(c.path); r != nil && c.form == "" && !e.pairs && len(r.to.key) == 1 && o.base(r.to) != nil {
				list = append(list, correction.Correction{Relationship: o.name(base) + "." + c.name, To: o.name(o.base(r.to))})
			}
		}
	}
	return list
}

// base is the first table that has all instances of an entity and its key, nil if there is none.
func (o *observed) base(e *entity) *table {
	for _, t := range o.site.tables {
		if t.of == e && t.share == 0 && t.keyed() != nil {
			return t
		}
	}
	return nil
}

// keyed are the columns with the key of a table's entity as it is, nil if it has not all of them.
func (t *table) keyed() (out []string) {
	for _, k := range t.of.key {
		c := t.column(k)
		if c == nil || c.form != "" {
			return nil
		}
		out = append(out, c.name)
	}
	return out
}

// name is a table's full name.
func (o *observed) name(t *table) string { return fmt.Sprintf("%s.%s", o.site.keyspace, t.name) }
