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
	"github.com/helenus-db/helenus/internal/long"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/calendar"
)

// timelined is a process that has advised a calendar, and what it is advised for.
type timelined struct {
	*process
	shop            *shop
	direct, through *gocql.Session
	found           recommend.Recommendation
	last            admin.Recommendations
}

// adviseTimeline starts a process with two weeks of history behind it, and waits until it advises a calendar whose one table is due now.
func adviseTimeline(t *testing.T) *timelined {
	t.Helper()
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
	return &timelined{p, s, direct, through, found, last}
}

// tables are the shop's.
func (x *timelined) tables() string {
	x.t.Helper()
	return rowsOf(x.t, x.direct, "SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?", x.shop.keyspace)
}

// there tells whether the calendar's table serves, and has a read be compared.
func (x *timelined) there() bool {
	x.t.Helper()
	var c calendar.Calendar
	if err := x.client().Get(context.Background(), "calendars/"+x.found.ID, &c); err != nil {
		return false
	}
	if c.State != calendar.Following {
		x.t.Fatalf("%s: %s", c.State, c.Reason)
	}
	_ = x.through.Query(x.shop.byCustomer(), "customer 1").Iter().Close()
	return c.Seasons[0].Stage == calendar.There
}

// awaitNothingLeft waits until the calendar is over, its advice open again, and the keyspace as it was.
func (x *timelined) awaitNothingLeft() {
	x.t.Helper()
	await(x.t, "nothing of ours is left", func() bool {
		var one recommend.Recommendation
		_ = x.client().Get(context.Background(), "recommendations/"+x.found.ID, &one)
		return one.State == recommend.Open && x.tables() == "[orders]"
	})
}

// TestTimelineOfTheProcess: a process with two weeks of history behind it advises a calendar; approved with limits, the table that
// is due now is made, and answers; that holds over kill -9; and when it is withdrawn the keyspace is as it was.
func TestTimelineOfTheProcess(t *testing.T) {
	x := adviseTimeline(t)
	p, s, direct, found := x.process, x.shop, x.direct, x.found
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
	await(t, "its table serves", x.there)
	for _, l := range x.last.Recommendations { // the same look-up can not be approved besides
		if l.Kind == recommend.LookUpTable {
			if code, out := command(t, p, "approve", l.ID); code != exitRefused || !strings.Contains(out, "calendar "+found.ID) {
				t.Errorf("approve %s: %d %s", l.ID, code, out)
			}
		}
	}
	p.kill()
	p.start()
	p.awaitReady()
	await(t, "its table serves again", x.there)
	again := session(t, p.listen)
	for i := range 40 {
		want, got := rowsOf(t, direct, s.byCustomer(), customer(i)), rowsOf(t, again, s.byCustomer(), customer(i))
		if want != got {
			t.Errorf("%s: %s instead of %s", customer(i), got, want)
		}
	}
	if code, out := command(t, p, "migrations"); code != 0 || !strings.Contains(out, "helenus_orders_by_customer (there)") {
		t.Errorf("changes: %d %s", code, out)
	}
	if code, out := command(t, p, "pause", found.ID, "--reason", "a release"); code != 0 || !strings.Contains(out, "is paused") || !strings.Contains(out, "a release") {
		t.Errorf("pause: %d %s", code, out)
	}
	if code, out := command(t, p, "resume", found.ID); code != 0 || !strings.Contains(out, "is following") {
		t.Errorf("resume: %d %s", code, out)
	}
	if code, out := command(t, p, "rollback", "--yes", found.ID); code != 0 || !strings.Contains(out, "is withdrawing") {
		t.Errorf("rollback: %d %s", code, out)
	}
	x.awaitNothingLeft()
	if code, out := command(t, p, "migrations", found.ID); code != 0 || !strings.Contains(out, "none of its tables is left") {
		t.Errorf("changes %s: %d %s", found.ID, code, out)
	}
}

// TestTimelineWaitsOfTheProcess: what the limits do not allow yet waits, and the commands say for what; a change that is approved by itself
// begins; orders that make no sense are refused and change nothing; and what was to be dropped at the end is.
func TestTimelineWaitsOfTheProcess(t *testing.T) {
	long.Only(t, "two minutes; TestTimelineOfTheProcess has the rest of a calendar")
	x := adviseTimeline(t)
	id := x.found.ID
	says := func(code int, want string, args ...string) {
		t.Helper()
		if got, out := command(t, x.process, args...); got != code || !strings.Contains(out, want) {
			t.Errorf("%v: exit code %d and not %d; %q is not in\n%s", args, got, code, want, out)
		}
	}
	waits := func(what string) {
		t.Helper()
		await(t, "it waits: "+what, func() bool {
			_, out := command(t, x.process, "migrations", id)
			return strings.Contains(out, what)
		})
		if got := x.tables(); got != "[orders]" {
			t.Errorf("while it waits there are %s", got)
		}
	}

	// More than is allowed, and a window that is not now.
	says(0, "limits: 1 B", "approve", id, "--max-bytes", "1")
	waits("bytes, and 1 are allowed")
	says(0, id+".1", "migrations") // the list names what waits
	says(0, "following", "recommendations")
	says(exitRefused, "approved", "approve", id)
	says(exitRefused, "approved", "approve", id, "--each")
	says(exitRefused, "it was approved as a whole", "approve", id+".1")
	says(exitRefused, "only one that is paused can be resumed", "resume", id)
	says(exitRefused, "withdraw its calendar first", "reopen", id)
	says(exitNotFound, "`helenus changes` lists them", "pause", "r-000000")
	says(0, "is withdrawing", "rollback", "--yes", id)
	x.awaitNothingLeft()

	// While nothing may begin at all.
	says(0, "", "bypass", "on")
	says(0, "is following", "approve", id)
	waits("it is tried again: requests bypass the rewriting")
	says(0, "", "bypass", "off")
	await(t, "its table serves after all", x.there)

	// Somebody rolls its table back: that pauses it, and says who; resumed, it makes the table anew.
	says(0, "statements run as written again", "rollback", id+".1")
	await(t, "it is paused", func() bool {
		_, out := command(t, x.process, "migrations", id)
		return strings.Contains(out, id+" is paused") && strings.Contains(out, "roll-back ordered, by "+actor())
	})
	says(0, "paused", "migrations")
	says(0, "is following", "resume", id)
	await(t, "its table serves again", x.there)
	says(0, "helenus_orders_by_customer is not there", "migrations", id) // between the two, it was dropped
	says(0, "is withdrawing", "rollback", "--yes", id)
	x.awaitNothingLeft()

	clock := func(in time.Duration) string { return time.Now().UTC().Add(in).Format("15:04") }
	says(0, "changes begin ", "approve", id, "--window", clock(11*time.Hour)+"-"+clock(12*time.Hour))
	waits("it waits for a window in which changes may begin")
	says(0, "is withdrawing", "rollback", "--yes", id)
	x.awaitNothingLeft()

	// Each change by itself.
	until := time.Now().AddDate(0, 1, 0).Format(time.DateOnly)
	says(0, "each change is approved by itself; all is dropped when it ends", "approve", id, "--each", "--drop-at-end", "--until", until)
	waits("waits for `helenus approve " + id + ".1`")
	says(exitNotFound, "has no table "+id+".7", "approve", id+".7")
	says(exitUsage, "has limits already", "approve", id+".1", "--changes-per-day", "3")
	says(0, "is paused", "pause", id, "--reason", "a release")
	says(0, "the next change is approved: create helenus_orders_by_customer", "approve", id+".1")
	says(exitRefused, "is approved already", "approve", id+".1")
	if got := x.tables(); got != "[orders]" {
		t.Errorf("while it is paused there are %s", got)
	}
	says(0, "is following", "resume", id)
	await(t, "its table serves", x.there)
	says(0, "(there)", "migrations")
	says(exitNotFound, id+" is a calendar (following)", "drop", id)

	// Withdrawn over the API without a word of dropping: the limits say that.
	var c calendar.Calendar
	if err := x.client().Post(context.Background(), "calendars/"+id+"/withdraw", admin.Decision{Actor: "ann", Reason: "the sale is over"}, &c); err != nil || c.State != calendar.Withdrawing {
		t.Fatal(c.State, err)
	}
	x.awaitNothingLeft()
	says(0, "withdrawn by ann: the sale is over", "migrations", id)
	says(0, "none of its tables is left", "migrations", id)
	says(exitRefused, "it is over", "rollback", id)
	says(exitRefused, "is withdrawn", "approve", id+".1")
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
