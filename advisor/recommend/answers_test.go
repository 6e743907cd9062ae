package recommend_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/recommend"
)

// TestChangesAreTried: an application change whose table or plan has something left out is found to answer otherwise; the change itself is not.
func TestChangesAreTried(t *testing.T) {
	const (
		limited  = "SELECT room, sent, author, body FROM messages WHERE room = ? LIMIT 10"
		all      = "SELECT room, sent, author, body FROM messages WHERE room = ?"
		backward = "SELECT room, sent, author, body FROM messages WHERE room = ? ORDER BY sent ASC LIMIT 10"
	)
	steps := func(d *design.Design, change func(s *plan.Step)) {
		p := d.Statements[0].Plan
		for i := range p.Steps {
			change(&p.Steps[i])
		}
	}
	table := func(tables []*design.Table, from, to string) bool {
		had := false
		for _, x := range tables {
			had = had || strings.Contains(x.CQL, from)
			x.CQL = strings.Replace(x.CQL, from, to, 1)
		}
		return had
	}
	for _, c := range []struct {
		name, first string
		mutate      func(d *design.Design, tables []*design.Table) bool // false: there is nothing to leave out
		want        string
	}{
		{"LIMIT dropped", limited, func(d *design.Design, _ []*design.Table) (had bool) {
			steps(d, func(s *plan.Step) { had, s.Limit = had || s.Limit > 0, 0 })
			p := d.Statements[0].Plan
			p.Steps = slices.DeleteFunc(p.Steps, func(s plan.Step) bool { return s.Kind == plan.Limit })
			return had
		}, "other rows"},
		{"DESC dropped", limited, func(_ *design.Design, tables []*design.Table) bool { return table(tables, "sent DESC", "sent ASC") }, "its answers would be"},
		{"DESC dropped, without LIMIT", all, func(_ *design.Design, tables []*design.Table) bool { return table(tables, "sent DESC", "sent ASC") }, "in another order"},
		{"DESC added", backward, func(_ *design.Design, tables []*design.Table) bool {
			return table(tables, "sent, person)\n)", "sent, person)\n) WITH CLUSTERING ORDER BY (sent DESC, person ASC)")
		}, "its answers would be"},
		{"a column of the key dropped", all, func(_ *design.Design, tables []*design.Table) bool {
			had := false
			for _, x := range tables {
				had = had || slices.ContainsFunc(x.Table.Clustering, func(f model.Field) bool { return f.Attribute.Name == "sent" })
				x.CQL = strings.Replace(strings.Replace(x.CQL, "(room), sent, ", "(room), ", 1), "sent DESC, ", "", 1)
			}
			return had
		}, "its answers would be"},
		{"a key of which equal values have other bytes", all, func(_ *design.Design, tables []*design.Table) bool { return table(tables, "room text", "room decimal") }, "different bytes"},
		{"a key that there can not be", all, func(_ *design.Design, tables []*design.Table) bool {
			return table(tables, "room text", "room duration")
		}, "can not be part of a primary key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := recommend.TryChanged(context.Background(), chat(c.first), func(*design.Design, []*design.Table) {}); err != nil {
				t.Fatalf("as it is: %v", err)
			}
			made := ""
			err := recommend.TryChanged(context.Background(), chat(c.first), func(d *design.Design, tables []*design.Table) {
				if !c.mutate(d, tables) {
					t.Errorf("nothing to leave out of %s", d.Statements[0].Plan)
				}
				for _, x := range tables {
					made += x.CQL + "\n"
				}
			})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s\n%s", err, c.want, made)
			}
		})
	}
}

// TestWritesAreTried: where a statement that a write needs besides is left out, or says too little, the new table is found to hold other rows.
func TestWritesAreTried(t *testing.T) {
	const limited = "SELECT room, sent, author, body FROM messages WHERE room = ? LIMIT 10"
	writes := func(d *design.Design, kind plan.Kind, change func(p *plan.WritePlan, i int)) bool {
		had := false
		for _, s := range d.Statements[1:] {
			for _, p := range s.Writes {
				for i := len(p.Steps) - 1; i >= 0; i-- {
					if p.Steps[i].Kind == kind {
						change(p, i)
						had = true
					}
				}
			}
		}
		return had
	}
	drop := func(p *plan.WritePlan, i int) { p.Steps = slices.Delete(p.Steps, i, i+1) }
	for _, kind := range []plan.Kind{plan.Put, plan.Remove} {
		t.Run(string(kind), func(t *testing.T) {
			in := chat(limited, "DELETE FROM messages WHERE room = ? AND sent = ?")
			if err := recommend.TryChanged(context.Background(), in, func(*design.Design, []*design.Table) {}); err != nil {
				t.Fatalf("as it is: %v", err)
			}
			err := recommend.TryChanged(context.Background(), in, func(d *design.Design, _ []*design.Table) {
				if !writes(d, kind, drop) {
					t.Error("no write of this design has such a step")
				}
			})
			if err == nil || !strings.Contains(err.Error(), "with other rows than it has to have") {
				t.Errorf("%v", err)
			}
		})
	}
}
