package rewrite

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

const staysOf = "SELECT room, status FROM hotel.stays WHERE guest = ? ALLOW FILTERING"

// keptByGuest adds a table that the application keeps beside its stays, and returns the change that finds stays by it.
func keptByGuest(t *testing.T, db *exectest.Memory) plan.Rewrite {
	t.Helper()
	base := db.Schema().Table("hotel", "stays")
	as := schema.Table{Keyspace: "hotel", Name: "stays_of", ID: "00000000-0000-0000-0000-0000000000aa", GCGrace: 10, Columns: []schema.Column{
		{Name: "who", Kind: schema.PartitionKey, Type: "text"}}}
	held := map[string]string{"who": "guest"}
	for i, k := range base.PrimaryKey() {
		k.Kind, k.Position = schema.Clustering, i
		as.Columns = append(as.Columns, k)
		held[k.Name] = k.Name
	}
	db.Add(as)
	own, err := json.Marshal(plan.Copied{As: as, Columns: held, Coverage: 1})
	must(t, err)
	print, normal, _, err := cql.FingerprintText(staysOf, "")
	must(t, err)
	return plan.Rewrite{Kind: plan.Existing, Keyspace: "hotel", Base: "stays", Column: "guest", Statements: []string{print.String()}, Texts: []string{normal}, SchemaDigest: base.Digest(), Own: own}
}

// reaches waits for a state.
func reaches(t *testing.T, e *Engine, state migrate.State) Change {
	t.Helper()
	var m Change
	for range 2000 {
		if m = e.Migrations()[0]; m.State == state {
			return m
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%s (%s), not %s", m.State, m.Waits(), state)
	return m
}

// stay writes a stay, and, if both, the row by which it is found.
func stay(t *testing.T, db *exectest.Memory, key []byte, guest string, both bool) {
	t.Helper()
	base := db.Schema().Table("hotel", "stays")
	var columns, marks []string
	var values [][]byte
	for _, k := range base.PrimaryKey() {
		columns, marks = append(columns, k.Name), append(marks, "?")
		v := key
		if k.Type == "int" || k.Type == "date" {
			v = exec.FromInt32(int32(key[0]))
		}
		values = append(values, v)
	}
	into := func(table, by string) {
		must(t, db.Write("INSERT INTO hotel."+table+" ("+strings.Join(columns, ", ")+", "+by+") VALUES ("+strings.Join(marks, ", ")+", ?)", append(append([][]byte{}, values...), []byte(guest)), 1))
	}
	into("stays", "guest")
	if both {
		into("stays_of", "who")
	}
}

// TestExistingTable: rows are found by a table that the application keeps; what it lacks is found by verification, or by reads that are compared, and turns
// reads back; nothing is ever written to it.
func TestExistingTable(t *testing.T) {
	db, ctx := exectest.New(), context.Background()
	base := stays()
	db.Add(base)
	c := keptByGuest(t, db)
	stay(t, db, []byte("a"), "ann", true)
	stay(t, db, []byte("b"), "ann", true)
	stay(t, db, []byte("c"), "bob", true)
	relay := &exectest.Relay{DB: db}
	e, err := New(Options{Session: db, Store: &exectest.Store{}, Traffic: relay, Schema: db.Schema, Every: 2, Kinds: few(),
		Migrate: migrate.Settings{Settle: time.Millisecond, Retry: time.Millisecond, SampleDelay: time.Millisecond, ShadowReads: 1, ShadowLeast: 1, ShadowSelf: 20, Passes: 1, SweepEvery: time.Hour}})
	must(t, err)
	must(t, e.Restore(ctx))
	relay.Rewriter = e
	running, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { defer close(ended); e.Run(running) }()
	defer func() { stop(); <-ended }()
	e.Look()(db.Schema())

	m, err := e.Approve(ctx, "m1", c, "ann")
	must(t, err)
	if m.Title = e.Migrations()[0].Title; m.Title != "find stays by stays_of, which the application keeps" {
		t.Errorf("%q", m.Title)
	}
	m = reaches(t, e, migrate.Serving)
	if m.Passes == 0 || m.Last.Rows != 3 || m.Last.Entries != 3 || m.ByOwn == 0 {
		t.Errorf("verified: %+v", m)
	}
	served := 0
	for range 10 {
		rows, asWritten := relay.Ask(staysOf, []byte("ann"))
		if len(rows) != 2 {
			t.Fatalf("%q", rows)
		}
		if !asWritten {
			served++
		}
	}
	if served == 0 {
		t.Error("nothing was served")
	}

	stay(t, db, []byte("d"), "ann", false) // a write that the application forgets to do twice
	for range 200 {
		relay.Ask(staysOf, []byte("ann"))
		if e.Migrations()[0].State == migrate.Suspended {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	m = reaches(t, e, migrate.Suspended)
	if !strings.Contains(m.Reason, fmt.Sprintf("the existing table answers otherwise for token(guest) = %d: 2 rows", exec.TokenOf([]byte("ann")))) {
		t.Errorf("%q", m.Reason)
	}
	if rows, asWritten := relay.Ask(staysOf, []byte("ann")); !asWritten || len(rows) != 3 {
		t.Errorf("%q, as written: %t", rows, asWritten)
	}
	must(t, e.Resume(ctx, "m1", "ann")) // too early
	m = reaches(t, e, migrate.Failed)
	if !strings.Contains(m.Reason, "1 rows of hotel.stays are not in hotel.stays_of") {
		t.Errorf("%q", m.Reason)
	}
	stay(t, db, []byte("d"), "ann", true)
	must(t, e.Resume(ctx, "m1", "ann"))
	reaches(t, e, migrate.Serving)

	// It is emptied: reads run as written before that goes on.
	relay.Do("TRUNCATE hotel.stays_of")
	if rows, asWritten := relay.Ask(staysOf, []byte("ann")); !asWritten || len(rows) != 3 {
		t.Errorf("after TRUNCATE %q, as written: %t", rows, asWritten)
	}
	reaches(t, e, migrate.Failed)
	must(t, e.Rollback(ctx, "m1", "ann"))
	reaches(t, e, migrate.RolledBack)
	must(t, e.Drop(ctx, "m1", "ann"))
	reaches(t, e, migrate.Dropped)
	if db.Schema().Table("hotel", "stays_of") == nil {
		t.Error("the application's table was dropped")
	}
}
