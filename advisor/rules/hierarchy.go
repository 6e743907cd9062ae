package rules

import (
	"fmt"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
)

// hierarchy makes it the hierarchical pattern if the entity is a supertype that is asked by its key. By other attributes it is
// an entity like any other, and the remark says what its table is.
func (m *Match) hierarchy(e *model.Entity, whole bool) {
	h := e.Base().Hierarchy
	if h == nil {
		return
	}
	if whole {
		m.Pattern = "P9"
	}
	kind := "a set, since one may be of several subtypes"
	if h.Disjoint {
		kind = "a text, since each is of one subtype at most"
	}
	covering := "some are of none"
	if h.Covering {
		covering = "all are of one"
	}
	m.Remarks = append(m.Remarks,
		fmt.Sprintf("one table for %s and its subtypes %s (P9): column %s is %s; %s", e.Name, strings.Join(h.Subtypes, ", "), h.Type.Name, kind, covering),
		"alternatives, not worked out: a table for each type, and one for each subtype")
}
