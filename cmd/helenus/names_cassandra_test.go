package main

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/rewrite/migrate"
)

// TestNamesThatNeedQuotes: keyspace, table and columns have capitals, blanks, quotes, words of CQL and as many letters as there may be. From the first
// statement to the drop everything works, and each command knows them.
func TestNamesThatNeedQuotes(t *testing.T) {
	contact, _, _ := strings.Cut(os.Getenv("HELENUS_TEST_CASSANDRA"), ",")
	if contact == "" {
		t.Skip("HELENUS_TEST_CASSANDRA is not set: `make test` sets it where a real Cassandra can run")
	}
	direct := session(t, contact)
	keyspace := fmt.Sprintf("My_Shop_%d", os.Getpid())
	table := "Orders_" + strings.Repeat("Of_All_Customers_", 3)[:41]
	full := fmt.Sprintf("%q.%q", keyspace, table)
	must(t, direct, fmt.Sprintf("CREATE KEYSPACE %q WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}", keyspace))
	defer must(t, direct, fmt.Sprintf("DROP KEYSPACE %q", keyspace))
	must(t, direct, "CREATE TABLE "+full+` ("Order Day" int, "select" int, "Kunde, ""E-Mail""" text, "größe" int, PRIMARY KEY (("Order Day"), "select"))`)
	insert := "INSERT INTO " + full + ` ("Order Day", "select", "Kunde, ""E-Mail""", "größe") VALUES (?, ?, ?, ?)`
	for day := range days {
		b := direct.NewBatch(0)
		for i := day; i < orders; i += days {
			b.Query(insert, day, i, customer(i), i)
		}
		if err := direct.ExecuteBatch(b); err != nil {
			t.Fatal(err)
		}
	}
	s := &shop{t, keyspace, direct}
	p := s.process(contact)
	p.start()
	p.awaitReady()
	through := session(t, p.listen)
	read := `SELECT "select", "größe" FROM ` + full + ` WHERE "Kunde, ""E-Mail""" = ? ALLOW FILTERING`
	same := func(times int) {
		t.Helper()
		for i := range times {
			got, err := through.Query(read, customer(i)).Iter().SliceMap()
			want, direct := direct.Query(read, customer(i)).Iter().SliceMap()
			if err != nil || direct != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("%v %v, without Helenus %v %v", got, err, want, direct)
			}
		}
	}
	same(60)
	advice := p.advice()
	if err := p.approve(advice.ID); err != nil {
		t.Fatal(err)
	}
	await(t, "it serves", func() bool { same(20); return p.migration(advice.ID).State == migrate.Serving })
	for i := range 100 {
		must(t, through, insert, i%days, orders+i, customer(i/2), i)
		must(t, through, "UPDATE "+full+` SET "Kunde, ""E-Mail""" = ? WHERE "Order Day" = ? AND "select" = ?`, customer(i), i%days, i)
	}
	same(60)
	if p.metric(`helenus_change_reads_total{`, `result="served"`) == 0 {
		t.Error("nothing was served")
	}
	file := t.TempDir() + "/model.yaml"
	for _, c := range []struct {
		args  string
		says  string
		exits int
	}{
		{"status", "serving", 0},
		{"recommendations", table, 0},
		{"explain " + advice.ID, `"Kunde, ""E-Mail"""`, 0},
		{"changes", advice.ID, 0},
		{"verify " + advice.ID, "0 without entry", 0},
		{"statements", `"größe"`, 0},
		{"flows", "", 0},
		{"model", table, 0},
		{"model export", "Kunde", 0},
		{"model diff " + file, "", 0},
		{"model import " + file, "", 0},
		{"questions", "", 0},
		{"audit", "approve", 0},
		{"check --contact-points " + contact, "", 0},
		{"lint --live", "no fix: change " + advice.ID + " answers it", 0},
		{"rollback --yes " + advice.ID, "", 0},
	} {
		code, out := command(t, p, strings.Fields(c.args)...)
		if code != c.exits || !strings.Contains(out, c.says) {
			t.Errorf("helenus %s: %d\n%s", c.args, code, out)
		}
		if c.args == "model export" {
			if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.awaitState(advice.ID, migrate.RolledBack)
	if code, out := command(t, p, "drop", "--yes", advice.ID); code != 0 {
		t.Errorf("drop: %d %s", code, out)
	}
	p.awaitState(advice.ID, migrate.Dropped)
	same(20)
	p.stop()
}
