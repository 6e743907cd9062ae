package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/calendar"
)

// TestTimelineOfTheProcess: a process with two weeks of history behind it advises a calendar; approved with limits, the table that
// is due now is made, and answers; that holds over kill -9; and when it is withdrawn the keyspace is as it was.
func TestTimelineOfTheProcess(t *testing.T) {
	contact, _, _ := strings.Cut(os.Getenv("HELENUS_TEST_CASSANDRA"), ",")
	if contact == "" {
		t.Skip("HELENUS_TEST_CASSANDRA is not set: no Cassandra to test against")
	}
	direct := session(t, contact)
	s := newShop(t, direct)
	t.Cleanup(func() { must(t, direct, "DROP KEYSPACE "+s.keyspace) })
	insert := "INSERT INTO " + s.table() + " (day, number, customer, total) VALUES (?, ?, ?, ?)"

	// Since an hour ago, for eight hours of each day, orders are looked for by customer; in the others they are imported.
	p := newProcess(t, contact, "--shadow-reads", "1", "--shadow-probes", "8", "--settle", "100ms", "--advise-every", "1h", "--keyspaces", s.keyspace)
	hour := time.Now().UTC().Truncate(time.Hour)
	first := (hour.Hour() + 23) % 24
	before := &past{t: t, dir: p.state, now: hour.AddDate(0, 0, -14), random: rand.New(rand.NewPCG(1, 2))} //nolint:gosec // seeded on purpose
	before.start()
	say := func(text string, n int, took time.Duration) {
		list := make([]proxy.Exchange, n)
		for i := range list {
			list[i].End = int64(took)
		}
		before.registry.Statement(s.keyspace, text).Done(list)
	}
	for before.now.Before(hour) {
		if (before.now.Hour()-first+24)%24 < 8 {
			say(s.byCustomer(), 2000+before.random.IntN(200), 10*time.Millisecond)
		} else {
			say(insert, 8000+before.random.IntN(800), time.Millisecond)
		}
		before.now = before.now.Add(30 * time.Minute)
		if err := before.history.Tick(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	before.end()

	p.start()
	p.awaitReady()
	through := session(t, p.listen)
	s.ask(through, 30)
	if err := through.Query(insert, 1, 1_000_000, "customer x", 1).Exec(); err != nil {
		t.Fatal(err)
	}
	var found recommend.Recommendation
	var last admin.Recommendations
	await(t, "a calendar is advised", func() bool {
		if err := p.client().Post(context.Background(), "advise", admin.Decision{}, &last); err != nil {
			return false
		}
		for _, r := range last.Recommendations {
			if r.Kind == recommend.TimelineKind && r.Eligible {
				found = r
			}
		}
		time.Sleep(200 * time.Millisecond)
		return found.ID != ""
	})
	if code, out := command(t, p, "explain", found.ID); code != 0 || !strings.Contains(out, "Calendar\n") || !strings.Contains(out, "make helenus_orders_by_customer") || !strings.Contains(out, "--until DATE") {
		t.Errorf("explain: %d\n%s", code, out)
	}
	if code, out := command(t, p, "approve", found.ID, "--until", "2001-01-01"); code != exitUsage || !strings.Contains(out, "over already") {
		t.Errorf("approved until the past: %d %s", code, out)
	}
	for _, bad := range [][]string{{"--changes-per-day", "-1"}, {"--max-bytes", "lots"}, {"--max-bytes", ""}, {"--window", "22:00"}, {"--window", "08:00-08:00"}, {"--window", "25:00-26:00"}, {"--until", "soon"}, {"--until", ""}} {
		if code, out := command(t, p, append([]string{"approve", found.ID}, bad...)...); code != exitUsage || strings.Contains(out, "is following") {
			t.Errorf("approve %v: %d %s", bad, code, out)
		}
	}
	if code, out := command(t, p, "approve", found.ID+".1"); code == 0 {
		t.Errorf("a change of what is not approved was approved: %s", out)
	}
	if code, out := command(t, p, "pause", found.ID); code == 0 {
		t.Errorf("what is not approved was paused: %s", out)
	}
	if code, out := command(t, p, "approve", found.ID, "--changes-per-day", "4", "--max-bytes", "1GB"); code != 0 || !strings.Contains(out, "is following, approved by") || !strings.Contains(out, "4 changes a day") {
		t.Fatalf("approve: %d %s", code, out)
	}
	there := func() bool {
		var c calendar.Calendar
		if err := p.client().Get(context.Background(), "calendars/"+found.ID, &c); err != nil {
			return false
		}
		if c.State != calendar.Following {
			t.Fatalf("%s: %s", c.State, c.Reason)
		}
		_ = through.Query(s.byCustomer(), "customer 1").Iter().Close() // a read to compare
		return c.Seasons[0].Stage == calendar.There
	}
	await(t, "its table serves", there)
	for _, l := range last.Recommendations { // the same look-up can not be approved besides
		if l.Kind == recommend.LookUpTable {
			if code, out := command(t, p, "approve", l.ID); code != exitRefused || !strings.Contains(out, "calendar "+found.ID) {
				t.Errorf("approve %s: %d %s", l.ID, code, out)
			}
		}
	}
	p.kill()
	p.start()
	p.awaitReady()
	await(t, "its table serves again", there)
	again := session(t, p.listen)
	for i := range 40 {
		want, got := rowsOf(t, direct, s.byCustomer(), customer(i)), rowsOf(t, again, s.byCustomer(), customer(i))
		if want != got {
			t.Errorf("%s: %s instead of %s", customer(i), got, want)
		}
	}
	if code, out := command(t, p, "migrations"); code != 0 || !strings.Contains(out, "helenus_orders_by_customer (there)") {
		t.Errorf("migrations: %d %s", code, out)
	}
	if code, out := command(t, p, "pause", found.ID, "--reason", "a release"); code != 0 || !strings.Contains(out, "is paused") || !strings.Contains(out, "a release") {
		t.Errorf("pause: %d %s", code, out)
	}
	if code, out := command(t, p, "resume", found.ID); code != 0 || !strings.Contains(out, "is following") {
		t.Errorf("resume: %d %s", code, out)
	}
	if code, out := command(t, p, "rollback", found.ID); code != 0 || !strings.Contains(out, "is withdrawing") {
		t.Errorf("rollback: %d %s", code, out)
	}
	await(t, "nothing of ours is left", func() bool {
		var one recommend.Recommendation
		_ = p.client().Get(context.Background(), "recommendations/"+found.ID, &one)
		return one.State == recommend.Open && rowsOf(t, direct, "SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?", s.keyspace) == "[orders]"
	})
	if code, out := command(t, p, "migrations", found.ID); code != 0 || !strings.Contains(out, "none of its tables is left") {
		t.Errorf("migrations %s: %d %s", found.ID, code, out)
	}
}

// rowsOf are the rows of an answer, in words.
func rowsOf(t *testing.T, s *gocql.Session, text string, values ...any) string {
	t.Helper()
	rows, err := s.Query(text, values...).Iter().SliceMap()
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var b strings.Builder
	for _, r := range rows {
		if name, ok := r["table_name"]; ok {
			b.WriteString("[" + name.(string) + "]")
			continue
		}
		fmt.Fprint(&b, r["day"], r["number"], r["total"], " ")
	}
	return b.String()
}
