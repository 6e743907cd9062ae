package admin

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/rewrite/calendar"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

func TestStatus(t *testing.T) {
	quiet := func(o *Options) {
		o.Ready = func() []Check { return []Check{{Name: "cassandra", Ready: true, Detail: "3 nodes"}} }
	}
	p := &parts{options: quiet}
	c := serve(t, p, false)
	var got Status
	if err := c.Get(context.Background(), "status", &got); err != nil {
		t.Fatal(err)
	}
	want := Status{Healthy: true, Problems: []string{}, Remarks: []string{}, Checks: []Check{{Name: "cassandra", Ready: true, Detail: "3 nodes"}},
		Changes: map[string]int{}, Calendars: map[string]int{}, Waits: []Waiting{}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	p.all = []recommend.Recommendation{
		{ID: "r-1", Kind: recommend.LookUpTable, State: recommend.Open, Title: "orders by customer"},
		{ID: "r-2", Kind: recommend.Keep, State: recommend.Open}, {ID: "r-3", Kind: recommend.LookUpTable, State: recommend.Rejected},
	}
	p.migration = []migrate.Change{
		{ID: "r-4", State: migrate.Serving}, {ID: "r-5", State: migrate.Suspended, Reason: "a write was lost"}, {ID: "r-6", State: migrate.Dropped},
		{ID: "r-7", State: migrate.RolledBack}, {ID: "r-8", State: migrate.Serving, Pending: "the roll-back is not stored yet"},
	}
	p.calendars = []calendar.Calendar{{ID: "r-9", State: calendar.Paused}}
	got = Status{}
	if err := c.Get(context.Background(), "status", &got); err != nil {
		t.Fatal(err)
	}
	if got.Healthy || len(got.Problems) != 2 || !strings.Contains(got.Problems[0], "r-5 is suspended: a write was lost") || !strings.Contains(got.Problems[1], "r-8: the roll-back") {
		t.Errorf("problems %q", got.Problems)
	}
	if d := cmp.Diff(map[string]int{"serving": 2, "suspended": 1, "rolled-back": 1}, got.Changes); d != "" {
		t.Error(d)
	}
	var waits []string
	for _, w := range got.Waits {
		waits = append(waits, w.ID+" "+w.Order)
	}
	if d := cmp.Diff([]string{"r-5 helenus resume r-5, or rollback", "r-7 helenus drop r-7", "r-9 helenus resume r-9, or rollback", "r-1 helenus explain r-1"}, waits); d != "" {
		t.Error(d)
	}
}

// A check that is not ready, and one that is and has something to say, are problems; a proposal waits for its second person.
func TestStatusOfTroubleAndProposals(t *testing.T) {
	p := someParts()
	p.options = func(o *Options) {
		o.Approvers = 2
		o.Ready = func() []Check {
			return []Check{{Name: "cassandra", Why: "away"}, {Name: "state", Ready: true, Why: "it is in memory"}}
		}
	}
	c := serve(t, p, false)
	if err := c.Post(context.Background(), "recommendations/r-1/approve", Decision{Actor: "ann"}, &Proposed{}); err != nil {
		t.Fatal(err)
	}
	var got Status
	if err := c.Get(context.Background(), "status", &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"cassandra is not ready: away", "state: it is in memory"}, got.Problems); d != "" {
		t.Error(d)
	}
	if len(got.Waits) != 1 || got.Waits[0].Order != "helenus approve r-1" || !strings.Contains(got.Waits[0].What, "ann") {
		t.Errorf("%+v", got.Waits)
	}
	if err := (&Client{Address: c.Address, Token: "wrong"}).Get(context.Background(), "status", &got); errors.Is(err, ErrUnreachable) || code(t, err) != "unauthorised" {
		t.Errorf("without a token: %v", err)
	}
}
