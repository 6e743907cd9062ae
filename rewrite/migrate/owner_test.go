package migrate

import (
	"errors"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/kind"
	"github.com/helenus-db/helenus/rewrite/lookup"
)

// A store has one owner id, for good, and no two stores have the same.
func TestOwnerOfStore(t *testing.T) {
	s, other := &exectest.Store{}, &exectest.Store{}
	first, err := Owner(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Owner(t.Context(), s)
	if err != nil || again != first {
		t.Errorf("%q, then %q, %v", first, again, err)
	}
	if second, err := Owner(t.Context(), other); err != nil || second == first {
		t.Errorf("two stores: %q and %q, %v", first, second, err)
	}
	if got := OwnerOf(kind.Comment(signature("r-46cc57", first))); got != first {
		t.Errorf("read back: %q", got)
	}
	for _, comment := range []string{"", "helenus r-46cc57", "helenus r-46cc57 owner", "ours owner " + first, "helenus r-1 owner " + first + "0"} {
		if got := OwnerOf(comment); got != "" {
			t.Errorf("%q names %q", comment, got)
		}
	}
	unsaved := &exectest.Store{}
	unsaved.Before.Set(func(string, string) error { return errors.New("disk full") })
	if id, err := Owner(t.Context(), unsaved); err == nil {
		t.Errorf("%q was not saved", id)
	}
}

// What of a look-up table makes answers wrong, and what does not.
func TestDerived(t *testing.T) {
	base := schema.Table{Keyspace: "hotel", Name: "stays", ID: "b", Columns: []schema.Column{
		{Name: "room", Kind: schema.PartitionKey, Type: "text"},
		{Name: "day", Kind: schema.Clustering, Type: "int", Descending: true},
		{Name: "guest", Kind: schema.Regular, Position: -1, Type: "text"},
	}}
	text := "SELECT room, day FROM hotel.stays WHERE guest = ? ALLOW FILTERING"
	lu := plan.Rewrite{Keyspace: "hotel", Base: "stays", Column: "guest", Table: "stays_by_guest", Texts: []string{text}, SchemaDigest: base.Digest()}
	fitted, refusal := lookup.Kind{}.Open(kind.Parts{}).Fit(lu, &base)
	if refusal != nil {
		t.Fatal(refusal)
	}
	l := fitted.(*lookup.Fitted)
	db := exectest.New()
	define := func(comment string) schema.Table {
		db.Drop("hotel", "stays_by_guest")
		if _, err := db.Query(t.Context(), exec.Query{Text: l.Create(comment)}); err != nil {
			t.Fatal(err)
		}
		return *db.Schema().Table("hotel", "stays_by_guest")
	}
	const mine, others = "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"
	made := define(signature("m", mine))
	column := func(name string, change func(*schema.Column)) func(*schema.Table) {
		return func(x *schema.Table) { change(x.Column(name)) }
	}
	for what, c := range map[string]struct {
		change func(*schema.Table)
		want   string // "": goes on
	}{
		"nothing": {func(*schema.Table) {}, ""},
		"a column added": {func(x *schema.Table) {
			x.Columns = append(x.Columns, schema.Column{Name: "note", Kind: schema.Regular, Position: -1, Type: "text"})
		}, ""},
		"an index":                  {func(x *schema.Table) { x.Indexes = []schema.Index{{Name: "i"}} }, ""},
		"default_time_to_live":      {func(x *schema.Table) { x.DefaultTTL = 3 }, "default_time_to_live of the look-up table hotel.stays_by_guest is 3"},
		"gc_grace_seconds":          {func(x *schema.Table) { x.GCGrace = 0 }, "gc_grace_seconds"},
		"made again":                {func(x *schema.Table) { x.ID = "another" }, "was dropped and made again"},
		"another owner":             {func(x *schema.Table) { x.Comment = kind.Comment(signature("m", others)) }, "belongs to another helenus"},
		"another change":            {func(x *schema.Table) { x.Comment = kind.Comment(signature("n", mine)) }, "not ours any more"},
		"no comment":                {func(x *schema.Table) { x.Comment = "" }, "not ours any more"},
		"an old comment":            {func(x *schema.Table) { x.Comment = kind.Comment("m") }, "not ours any more"},
		"the key column of another": {column("room", func(c *schema.Column) { c.Type = "blob" }), "column room"},
		"the key in another order":  {column("day", func(c *schema.Column) { c.Descending = false }), "column day"},
		"a column dropped":          {func(x *schema.Table) { x.Columns = x.Columns[:len(x.Columns)-1] }, "has no column"},
	} {
		table := made
		table.Columns = append([]schema.Column(nil), made.Columns...)
		c.change(&table)
		m := New(Parts{Store: &exectest.Store{}}, Settings{})
		have := Change{ID: "m", Owner: mine, TableID: made.ID, Rewrite: lu, State: Serving}
		s := &schema.Schema{Keyspaces: []schema.Keyspace{{Name: "hotel", Tables: []schema.Table{table, {Keyspace: "hotel", Name: l.PendingTable()}}}}}
		reason, err := m.drifted(t.Context(), "look-up", &have, l, s)
		if err != nil || (c.want == "") != (reason == "") || !strings.Contains(reason, c.want) {
			t.Errorf("%s: %q, %v; want %q", what, reason, err, c.want)
		}
	}
	m := New(Parts{Store: &exectest.Store{}}, Settings{})
	none := &schema.Schema{}
	for state, gone := range map[State]bool{Created: false, DualWrite: true, Verify: true, Serving: true} {
		if reason, err := m.drifted(t.Context(), "look-up", &Change{ID: "m", Owner: mine, Rewrite: lu, State: state}, l, none); err != nil || (reason != "") != gone {
			t.Errorf("no table in %s: %q, %v", state, reason, err)
		}
	}
}
