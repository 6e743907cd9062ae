package rewrite

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/cycle"
	"github.com/helenus-db/helenus/capture/history"
	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/rewrite/calendar"
	"github.com/helenus-db/helenus/rewrite/exec"
)

// made is traffic hour by hour up to a clock: one statement from 8 to 18 o'clock and another by night, until they change places.
type made struct {
	now   *time.Time
	turns time.Time
}

var marchMonday = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

func (m made) Hours(_ context.Context, from, _ time.Time, yield func(*history.HourOf) error) error {
	for at := marchMonday; !at.Add(time.Hour).After(*m.now); at = at.Add(time.Hour) {
		h := &history.HourOf{At: at, Origin: "o", From: at, To: at.Add(time.Hour), Watched: time.Hour}
		for i := range 2 {
			n := uint64(20)
			if (at.Hour() >= 8 && at.Hour() < 18) == (i == 0) != !at.Before(m.turns) {
				n = 1000 + uint64(at.YearDay()%3) //nolint:gosec // small
			}
			h.Said = append(h.Said, history.Executions{Fingerprint: fmt.Sprint("f", i), Keyspace: "k", Kind: "select", Text: "SELECT a FROM t WHERE id = ?", Count: n, Micros: 1000 * n})
		}
		if at.Before(from) {
			continue
		}
		if err := yield(h); err != nil {
			return err
		}
	}
	return nil
}

// W-5, W-53, in the running product: on a real Cassandra, over days of a clock that the test sets, a look-up is made ahead of its
// step, answers in it, and is gone in the other, while rows are written and the process is started anew; no answer is wrong; and
// when the cycle stops, nothing of ours is left in the keyspace.
func TestCassandraCalendar(t *testing.T) {
	l := newLive(t)
	l.load(120)
	l.boot(fast())
	ctx := context.Background()
	now := marchMonday.AddDate(0, 0, 14)
	traffic := made{now: &now, turns: now.AddDate(0, 0, 3)}
	record, err := cycle.Read(ctx, traffic, time.Time{}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	report, err := cycle.Find(record, cycle.Options{})
	if err != nil || report.Cycle == nil || len(report.Cycle.Steps) != 2 {
		t.Fatalf("%v %+v", err, report)
	}
	changes := change.Open(l.store)
	keep := func() *calendar.Keeper {
		k, err := calendar.New(calendar.Options{Migrations: l.engine, Changes: changes, Clock: func() time.Time { return now }, Every: time.Minute,
			Recent: func(ctx context.Context, from time.Time) (*cycle.Record, error) {
				return cycle.Read(ctx, traffic, from, time.Time{})
			}})
		if err != nil {
			t.Fatal(err)
		}
		if err := k.Restore(ctx); err != nil {
			t.Fatal(err)
		}
		return k
	}
	keeper := keep()
	p := plan.Calendar{Seasons: []plan.Season{{Rewrite: l.advice(), Steps: []bool{true, false}, Fill: 30 * time.Minute, Bytes: 1000}}}
	if _, err := keeper.Approve(ctx, "r-1", p, *report.Cycle, calendar.Limits{Drop: true}, "ann", nil); err != nil {
		t.Fatal(err)
	}
	var byDay, byNight, own, restarts int
	var stage calendar.Stage
	for i := 0; changes.Known()["r-1"].State != change.Dropped; i++ {
		if i > 20_000 {
			t.Fatalf("%s: %+v; %+v", now, keeper.Calendars(), l.engine.Migrations())
		}
		keeper.Tick(ctx)
		if now := keeper.Calendars()[0].Seasons[0].Stage; now != stage || i%50 == 0 {
			l.read() // as after a schema event
			stage = now
		}
		if restarts == 0 && stage == calendar.Coming && now.Day() == 17 {
			restarts++
			l.stop()
			l.boot(fast())
			keeper = keep()
		}
		guest := str(fmt.Sprint("guest", i%20))
		if i%3 == 0 {
			if a := l.ask(l.in("UPDATE %s.stays SET guest = ? WHERE room = ? AND day = ? AND n = ?"), guest, str(fmt.Sprint("room", i%21)), num(i%4), num(i%120)); a.failed {
				t.Fatalf("a write failed: %+v", a)
			}
		}
		want, err := l.pool.Query(ctx, exec.Query{Text: l.statement(), Values: [][]byte{guest}, Consistency: gocql.One})
		if err != nil {
			t.Fatal(err)
		}
		got := l.ask(l.statement(), guest)
		if got.failed || !exec.Equal(got.rows, want.Rows) {
			t.Fatalf("%s: %s: got %q, want %q", now, guest, got.rows, want.Rows)
		}
		day := now.Hour() >= 8 && now.Hour() < 18
		switch {
		case got.forwarded:
			own++
		case day:
			byDay++
		default:
			byNight++
		}
		if table := l.schema.Load().Table(l.keyspace, "stays_by_guest"); table != nil && !day && stage == calendar.Out {
			t.Errorf("%s: the table is there", now)
		}
		// What is under way takes the time of the machine; between changes the clock may run.
		if stage == calendar.Coming || stage == calendar.Going {
			now = now.Add(10 * time.Second)
			time.Sleep(5 * time.Millisecond)
		} else {
			now = now.Add(20 * time.Minute)
		}
	}
	c := keeper.Calendars()[0]
	if c.State != calendar.Withdrawn || c.Seasons[0].Served < 3 || c.Seasons[0].Took == 0 || restarts != 1 {
		t.Errorf("%s, %d restarts: %+v", c.State, restarts, c)
	}
	if byDay < 40 || own < 100 || byNight > byDay {
		t.Errorf("answered from the look-up %d times by day and %d by night, %d times as written", byDay, byNight, own)
	}
	l.read()
	for _, x := range l.schema.Load().Keyspaces {
		for i := range x.Tables {
			if x.Name == l.keyspace && x.Tables[i].Name != "stays" {
				t.Errorf("%s is left behind", x.Tables[i].Name)
			}
		}
	}
}
