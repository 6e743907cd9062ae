package timeline

import (
	"math"
	"slices"
	"testing"

	"github.com/helenus-db/helenus/advisor/model"
)

// TestTreesInAnyOrder: what fills a table does not depend on the order in which others name the entities of the same tree.
func TestTreesInAnyOrder(t *testing.T) {
	for _, reversed := range []bool{false, true} {
		w, tables := figured(t, "9, 9", "9, 9", 1, 2, 3, 4, 8)
		if reversed {
			tables[3].Tree.Entities = slices.Clone(tables[3].Tree.Entities)
			slices.Reverse(tables[3].Tree.Entities)
		}
		s := prepared(t, w, Options{Candidates: tables, NoEnumeration: true}).newSearch()
		number := func(table int) int {
			n := slices.IndexFunc(s.tables, func(x *model.Table) bool { return x.ID() == tables[table].ID() })
			if n < 0 {
				t.Fatalf("there is no table %s", tables[table])
			}
			return n
		}
		open := make([]bool, len(s.tables))
		open[number(1)], open[number(2)] = true, true
		s.cheapestFilling(number(3), open) // met first
		if via, price := s.cheapestFilling(number(0), open); math.IsInf(price, 1) || len(via) != 2 {
			t.Errorf("reversed %v: the view of titles is filled for %g by %d tables, not out of items by title and users", reversed, price, len(via))
		}
	}
}
