package infer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/schema"
)

// A parcel is of a line of an order, by two columns, whatever they are called: that the line's number is one of the order's own is told by rows, though numbers are small. A
// number that is of something else is not, nor are both a join if only one of them is fed.
func TestKeysOfSeveralColumns(t *testing.T) {
	for _, c := range []struct {
		name string
		own  bool // the number is one of the order's lines
		fed  []string
	}{
		{"both fed", true, []string{"c2", "c3"}},
		{"one fed", true, []string{"c2"}},
		{"another number", false, []string{"c2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := single("ks",
				infertest.Table("ks", "lines", "a1 bigint", "a2 int", "a3 int"),
				infertest.Table("ks", "orders", "b1 bigint", "", "b2 text"),
				infertest.Table("ks", "t1", "c1 uuid", "", "c2 bigint", "c3 int", "c4 text"))
			rows := &infertest.Rows{Keyspace: "ks"}
			for i := range 120 {
				order := fmt.Sprint("order ", i)
				for n := range 1 + i%4 {
					rows.Add("lines", "a1", order, "a2", fmt.Sprint("number ", n))
				}
				rows.Add("orders", "b1", order, "b2", "open")
				n := i % (1 + i%4)
				if !c.own {
					n = (i * 7) % 5
				}
				rows.Add("t1", "c1", fmt.Sprint("parcel ", i), "c2", order, "c3", fmt.Sprint("number ", n))
			}
			traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
			parcel := traffic.Say("SELECT c2, c3 FROM t1 WHERE c1 = ?", 1000, 900, 1)
			line := traffic.Say("SELECT a3 FROM lines WHERE a1 = ? AND a2 = ?", 1000, 900, 1)
			order := traffic.Say("SELECT b1 FROM orders WHERE b2 = ? ALLOW FILTERING", 100, 900, 5)
			list := traffic.Say("SELECT a2, a3 FROM lines WHERE a1 = ?", 500, 900, 3)
			one := feed.Feed{Executions: 1000, Hits: 1000, Share: 1, Producers: 1000, Followed: 1, PerExecution: 1, Shape: feed.Single, Confidence: 1}
			traffic.Feed(order, "orders", "b1", list, "lines", "a1", feed.Feed{Executions: 500, Hits: 500, Share: 1, Producers: 100, Followed: 1, PerExecution: 5, Shape: feed.NPlusOne, Confidence: 1})
			for i, column := range c.fed {
				one.To.Index = i
				traffic.Feed(parcel, "t1", column, line, "lines", map[string]string{"c2": "a1", "c3": "a2"}[column], one)
			}
			snapshot := traffic.Snapshot()
			snapshot.Profiles = rows.Document()
			m, err := infer.Infer(snapshot, s, []schema.Stats{
				infertest.Measured("ks", "lines", 300, 120, "a1 120 8", "a2 4 4", "a3 20 4"),
				infertest.Measured("ks", "orders", 120, 120, "b1 120 8", "b2 5 10"),
				infertest.Measured("ks", "t1", 120, 120, "c1 120 16", "c2 120 8", "c3 4 4", "c4 50 10"),
			})
			if err != nil {
				t.Fatal(err)
			}
			conserved(t, m, snapshot)
			if got := strings.Contains(related(m), "-> Line"); got != c.own {
				t.Errorf("relationships %s", related(m))
			}
			for _, st := range m.Workload.Statements { // what is not fed is asked for by itself
				if uses := m.UsesOf(st.ID); c.own && uses[0].Fingerprint == parcel && (len(uses) != 2 || strings.Contains(st.String(), "a2 = ?") != (len(c.fed) == 1)) {
					t.Errorf("%s", st)
				}
			}
		})
	}
}

// Several columns at once are said as each of them: what is fed to them is a join, with one value for both, two, or a list of rows.
func TestSeveralColumnsAtOnce(t *testing.T) {
	said := func(where string, fed ...string) (m *infer.Model, ticket, seats string) {
		s := single("ks",
			infertest.Table("ks", "seats", "hall_id uuid", "sector int,seat_no int", "price int"),
			infertest.Table("ks", "tickets", "ticket_id uuid", "", "hall_id uuid", "sector int", "seat_no int", "name text"))
		traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
		ticket = traffic.Say("SELECT hall_id, sector, seat_no FROM tickets WHERE ticket_id = ?", 1000, 900, 1)
		seats = traffic.Say("SELECT price FROM seats WHERE hall_id = ? AND "+where, 1000, 900, 1)
		for i, column := range fed {
			f := feed.Feed{Executions: 1000, Hits: 1000, Share: 1, Producers: 1000, Followed: 1, PerExecution: 1, Shape: feed.Single, Confidence: 1}
			f.From.Index, f.To.Index = i, i
			traffic.Feed(ticket, "tickets", column, seats, "seats", column, f)
		}
		m = inferred(t, traffic, s,
			infertest.Measured("ks", "seats", 20000, 20, "hall_id 20 16", "sector 20 4", "seat_no 50 4", "price 9 4"),
			infertest.Measured("ks", "tickets", 9000, 9000, "ticket_id 9000 16", "hall_id 20 16", "sector 20 4", "seat_no 50 4", "name 8000 20"))
		return m, ticket, seats
	}
	together := func(m *infer.Model, ticket, seats string) bool {
		for _, st := range m.Workload.Statements {
			if uses := m.UsesOf(st.ID); len(uses) == 2 && uses[0].Fingerprint == ticket && uses[1].Fingerprint == seats {
				return true
			}
		}
		return false
	}
	all := []string{"hall_id", "sector", "seat_no"}
	plain, _, _ := said("sector = ? AND seat_no = ?", all...)
	for _, c := range []struct {
		where string
		fed   []string
		join  bool
	}{
		{"sector = ? AND seat_no = ?", all, true},
		{"(sector, seat_no) = (?, ?)", all, true},
		{"(sector, seat_no) = ?", all, true},
		{"(sector, seat_no) IN ((?, ?), (?, ?))", all, true},
		{"(sector, seat_no) IN ?", all, true},
		{"(sector, seat_no) IN ?", all[:2], false}, // of a list that nothing supplies
		{"(sector, seat_no) > (?, ?)", all, false},
	} {
		m, ticket, seats := said(c.where, c.fed...)
		if together(m, ticket, seats) != c.join {
			t.Errorf("%s, fed %v: workload\n%s\n%+v", c.where, c.fed, texts(m), m.Joins)
		}
		if c.join && texts(m) != texts(plain) {
			t.Errorf("%s: workload\n%s\nbut column by column\n%s", c.where, texts(m), texts(plain))
		}
	}
}
