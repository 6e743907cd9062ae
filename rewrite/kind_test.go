package rewrite

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// A record from when there were look-ups only names no kind: it is opened as a look-up, and says so from then on.
func TestRecordWithoutAKind(t *testing.T) {
	w := newWorld(t)
	base, err := json.Marshal(stays())
	must(t, err)
	var old Change
	must(t, json.Unmarshal(fmt.Appendf(nil, `{"id": "m1", "state": "suspended", "form": 1, "t0": 7, "base": %s,
		"look_up": {"keyspace": "hotel", "base": "stays", "column": "guest", "table": "stays_by_guest", "statements": [], "texts": [], "schema_digest": "d", "entries": 5}}`, base), &old))
	must(t, putChange(w.store, &old))
	e, err := New(Options{Session: w.db, Store: w.store, Traffic: w, Schema: w.db.Schema})
	must(t, err)
	must(t, e.Restore(context.Background()))
	m := e.Migrations()[0]
	if m.Rewrite.Kind != plan.LookUp || m.Rewrite.Entries != 5 || m.State != migrate.Suspended || m.Title != "look up stays by guest" {
		t.Errorf("%+v", m)
	}
}
