package plan_test

import (
	"testing"

	"github.com/helenus-db/helenus/advisor/plan"
)

// TestHandMadeSchemas plans every query of RUBiS over the schemas that people made for it. Seed 003's code finds no plan
// for 23 and 14 of the 28, as it does not use a table over a larger graph for a smaller query (N-23).
func TestHandMadeSchemas(t *testing.T) {
	w := load(t, "rubis.yaml")
	if len(w.Schemas) != 2 {
		t.Fatalf("%d schemas, want 2", len(w.Schemas))
	}
	for name, tables := range w.Schemas {
		t.Run(name, func(t *testing.T) {
			for _, s := range w.Statements {
				if s.Query == nil {
					continue
				}
				space, err := plan.NewSpace(s.Query, tables, nil)
				if err != nil {
					t.Fatal(err)
				}
				// No table of the normalized schema says who wrote a comment, and its hand-made plans do not ask.
				lost := name == "rubis_baseline" && s.Query.String() == "SELECT users.nickname FROM comments.from_user WHERE comments.id = ?"
				if lost != (len(space.Arcs) == 0) {
					t.Errorf("%s: %d arcs: %s", s.ID, len(space.Arcs), s.Query)
				}
			}
		})
	}
}
