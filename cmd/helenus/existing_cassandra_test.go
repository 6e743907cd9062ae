package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/rewrite/condition"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// TestExistingTableServes: an application that keeps its orders by customer, too, and reads them with ALLOW FILTERING all the same, is advised to find them there;
// that is approved by name of the condition only, serves, is turned back when a write is left out, and is rolled back without a trace.
func TestExistingTableServes(t *testing.T) {
	contact, _, _ := strings.Cut(os.Getenv("HELENUS_TEST_CASSANDRA"), ",")
	if contact == "" {
		t.Skip("HELENUS_TEST_CASSANDRA is not set: `make test` sets it where a real Cassandra can run")
	}
	direct := session(t, contact)
	s := newShop(t, direct)
	defer must(t, direct, "DROP KEYSPACE "+s.keyspace)
	kept := s.keyspace + ".orders_by_customer"
	must(t, direct, "CREATE TABLE "+kept+" (customer text, day int, number int, PRIMARY KEY ((customer), day, number))")
	for i := range customers {
		b := direct.NewBatch(gocql.UnloggedBatch)
		for n := i; n < orders; n += customers {
			b.Query("INSERT INTO "+kept+" (customer, day, number) VALUES (?, ?, ?)", customer(n), n%days, n)
		}
		if err := direct.ExecuteBatch(b); err != nil {
			t.Fatal(err)
		}
	}
	p := s.process(contact)
	p.start()
	p.awaitReady()
	through := session(t, p.listen)
	order := func(number int, both bool) {
		b := through.NewBatch(gocql.LoggedBatch)
		b.Query("INSERT INTO "+s.table()+" (day, number, customer, total) VALUES (?, ?, ?, ?)", number%days, number, customer(number%customers), number)
		if both {
			b.Query("INSERT INTO "+kept+" (customer, day, number) VALUES (?, ?, ?)", customer(number%customers), number%days, number)
		}
		if err := through.ExecuteBatch(b); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 40 {
		order(orders+i, true)
	}
	s.ask(through, 60)
	var found recommend.Recommendation
	var last admin.Recommendations
	t.Cleanup(func() {
		if found.ID == "" {
			t.Logf("the last advice: %+v", last)
		}
	})
	await(t, "it is advised to find orders by customer where they are", func() bool {
		var all admin.Recommendations
		if err := p.client().Post(context.Background(), "advise", admin.Decision{}, &all); err != nil {
			return false
		}
		for _, r := range all.Recommendations {
			if string(r.Kind) == plan.Existing {
				found = r
			}
			if r.Kind == recommend.LookUpTable && found.ID != "" {
				t.Fatalf("a table is advised that is there already: %s", r.Why)
			}
		}
		last = all
		return found.ID != "" // before both tables are measured it is not
	})
	if err := p.approve(found.ID); err == nil || !strings.Contains(err.Error(), string(condition.Copies.ID)) {
		t.Fatalf("approved without a word about the application's writes: %v", err)
	}
	decision := admin.Decision{Actor: "test"}
	for _, v := range found.Verdicts {
		if v.Overrulable() {
			decision.Despite = append(decision.Despite, fmt.Sprintf("%s:%s", v.Condition, v.Cause))
		}
	}
	if err := p.client().Post(context.Background(), "recommendations/"+found.ID+"/approve", decision, &migrate.Change{}); err != nil {
		t.Fatal(err)
	}
	m := s.serving(p, found.ID, through)
	if m.Last.Rows != orders+40 || m.Last.Missing != 0 {
		t.Errorf("verified: %+v", m.Last)
	}
	s.alike(through, "while it serves")
	await(t, "reads are answered", func() bool { s.ask(through, 10); return p.metric(`helenus_change_reads_total{`, `result="served"`) > 0 })
	must(t, through, fmt.Sprintf("UPDATE %s SET customer = 'nobody' WHERE day = 3 AND number = 3", s.table())) // outdated there, in no answer
	s.alike(through, "after a row was moved")

	order(orders+100, false) // a version of the application that leaves the other write out
	await(t, "the missing row is noticed", func() bool {
		for range 300 { // one of a thousand is compared, and a sweep reads all rows now and then: either notices
			s.answers(through, customer(100))
		}
		m = p.migration(found.ID)
		return m.State != migrate.Serving
	})
	if m.State != migrate.Suspended || !strings.Contains(m.Reason, "answers otherwise") && !strings.Contains(m.Reason, " rows of "+s.table()+" are not in "+kept) {
		t.Errorf("%s: %s", m.State, m.Reason)
	}
	s.alike(through, "once it is turned back")
	if err := p.client().Post(context.Background(), "migrations/"+found.ID+"/rollback", admin.Decision{Actor: "test"}, new(any)); err != nil {
		t.Fatal(err)
	}
	p.awaitState(found.ID, migrate.RolledBack)
	s.alike(through, "once it is rolled back")
	var name string
	var names []string
	iter := direct.Query("SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?", s.keyspace).Iter()
	for iter.Scan(&name) {
		names = append(names, name)
	}
	if err := iter.Close(); err != nil || !slices.Equal(names, []string{"orders", "orders_by_customer"}) {
		t.Errorf("tables %q, %v", names, err)
	}
	p.stop()
}
