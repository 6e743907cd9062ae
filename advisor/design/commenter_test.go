package design_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// TestHandMade plans RUBiS over its two schemas made by hand, all statements of bidding: the expert's has a plan for every
// one, the normalised schema for all but q31, the name of a comment's author.
//
// Nobody can plan that one. A table holds the rows of a join over its graph, and no table of the normalised schema has the
// relationship comments_from_user in its graph: let one comment be written by somebody else, and the contents of all 17
// tables stay what they are, byte for byte, while the answer changes. So no way of reading them, scans and joins in the
// application included, finds it. NoSE's own file (schemas/rubis_baseline.rb and the plans beside it) has no plan for it
// either: AboutMe reads the user, comments, items bought, sold and bid on, and nobody's name; its expert schema has the table
// "commenter" for that. With that table added, the normalised schema has a plan for everything, which is then the one given
// here.
func TestHandMade(t *testing.T) {
	planned := func(schema string, more ...*model.Table) error {
		w := load(t, "rubis.yaml")
		if err := w.SetMix("bidding"); err != nil {
			t.Fatal(err)
		}
		tables := keptCopies(w.Schemas[schema])
		for _, x := range more {
			own := *w.Schemas["rubis_expert"][slices.IndexFunc(w.Schemas["rubis_expert"], func(y *model.Table) bool { return y.Name == x.Name })]
			own.Kept = true
			tables = append(tables, &own)
		}
		for _, x := range tables { // what a changed end_date needs can only be found by a scan
			x.ScanAllowed = x.Name == "user_items_sold" && schema == "rubis_expert" || x.Name == "items_by_category" || x.Name == "items_by_region"
		}
		d, err := design.Choose(context.Background(), w, design.Options{Cost: cost.Default(), Solver: solver(), Candidates: tables, OnlyExisting: true})
		if err != nil {
			return err
		}
		for _, s := range d.Statements {
			if s.Plan == nil && s.Statement.Query != nil {
				t.Errorf("%s: no plan for %s", schema, s.Statement.ID)
			}
			if s.Statement.ID == "q31" && (len(s.Plan.Steps) != 1 || s.Plan.Steps[0].Table.Name != "commenter") {
				t.Errorf("%s: q31 by\n%s", schema, s.Plan)
			}
		}
		return nil
	}
	if err := planned("rubis_expert"); err != nil {
		t.Error(err)
	}
	var none *design.UnanswerableError
	if err := planned("rubis_baseline"); !errors.As(err, &none) || none.Statement != "q31" {
		t.Errorf("got %v, want q31 without a plan", err)
	}
	if err := planned("rubis_baseline", &model.Table{Name: "commenter"}); err != nil {
		t.Error(err)
	}
	w := load(t, "rubis.yaml")
	author := w.Graph.Relationship("comments_from_user")
	concerned := func(list []*model.Table) (names []string) {
		for _, x := range list {
			if slices.ContainsFunc(x.Tree.Edges, func(r *model.Relationship) bool { return r == author || r.Of == author }) {
				names = append(names, x.Name)
			}
		}
		return names
	}
	if got := concerned(w.Schemas["rubis_baseline"]); len(got) > 0 || len(w.Schemas["rubis_baseline"]) != 17 {
		t.Errorf("of %d normalised tables %q say who wrote a comment", len(w.Schemas["rubis_baseline"]), got)
	}
	if got := concerned(w.Schemas["rubis_expert"]); !slices.Equal(got, []string{"commenter"}) {
		t.Errorf("expert tables that say who wrote a comment: %q", got)
	}
	asks := func(s *workload.Statement) bool {
		return s.Query != nil && slices.Contains(s.Query.Tree.Edges, author)
	}
	for _, s := range w.Statements {
		if asks(s) != (s.ID == "q31") {
			t.Errorf("%s: %s", s.ID, s)
		}
	}
}
