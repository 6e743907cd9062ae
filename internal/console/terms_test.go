package console

import (
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/rewrite/calendar"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// What the form of an approval says reaches the API, all of it; what it can not mean is said, and nothing is ordered.
func TestApprovalForm(t *testing.T) {
	night, err := calendar.ParseWindow("22:00-06:00")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		id   string
		form url.Values
		want admin.Decision
		code int
		says string // on the form that is shown again
	}{
		"as it is offered": {id: "r-46cc57", form: url.Values{"on_entry_failure": {"turn-back"}, "fill": {"own"}}, want: admin.Decision{Actor: "ann", OnEntryFailure: "turn-back", Fill: "own"}, code: 303},
		"all of it":        {id: "r-46cc57", form: url.Values{"on_entry_failure": {"refuse"}, "fill": {"bulk"}, "hold": {"yes"}, "despite": {"C20:4ad1f0"}}, want: admin.Decision{Actor: "ann", OnEntryFailure: "refuse", Fill: "bulk", Hold: true, Despite: []string{"C20:4ad1f0"}}, code: 303},
		"a timeline":       {id: "r-time", want: admin.Decision{Actor: "ann"}, code: 303},
		"within limits": {id: "r-time", form: url.Values{"until": {"2027-01-31"}, "changes_per_day": {"4"}, "max_bytes": {"2GB"}, "windows": {"22:00-06:00"}, "each": {"yes"}, "drop": {"yes"}},
			want: admin.Decision{Actor: "ann", Limits: &calendar.Limits{Until: time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC), ChangesPerDay: 4, MaxBytes: 2e9, Windows: []calendar.Window{night}, Each: true, Drop: true}}, code: 303},
		"no day":             {id: "r-time", form: url.Values{"until": {"soon"}}, code: 400, says: "like 2027-01-31"},
		"no number":          {id: "r-time", form: url.Values{"changes_per_day": {"-1"}}, code: 400, says: "no number of changes"},
		"no size":            {id: "r-time", form: url.Values{"max_bytes": {"much"}}, code: 400, says: "no size such as"},
		"no window":          {id: "r-time", form: url.Values{"windows": {"at night"}}, code: 400, says: "when changes may begin"},
		"terms of no change": {id: "r-time", form: url.Values{"fill": {"bulk"}, "hold": {"yes"}, "on_entry_failure": {"refuse"}}, want: admin.Decision{Actor: "ann"}, code: 303},
	} {
		t.Run(name, func(t *testing.T) {
			f := hotel(t)
			timeline := f.advice.Recommendations[0]
			timeline.ID, timeline.Kind, timeline.Rewrite = "r-time", recommend.TimelineKind, nil
			f.advice.Recommendations = append(f.advice.Recommendations, timeline)
			form := url.Values{"typed": {c.id}}
			for k, v := range c.form {
				form[k] = v
			}
			w := f.post("/ui/changes/"+c.id+"/approve", form)
			if w.Code != c.code || !strings.Contains(w.Body.String(), c.says) {
				t.Fatalf("%d: %s", w.Code, w.Body)
			}
			switch {
			case c.code != 303 && len(f.orders) > 0:
				t.Errorf("ordered: %+v", f.orders)
			case c.code == 303 && (len(f.orders) != 1 || !reflect.DeepEqual(f.orders[0].d, c.want)):
				t.Errorf("%+v, want %+v", f.orders, c.want)
			case c.code != 303:
				lawful(t, w.Body.String())
				for k, v := range c.form { // he need not type it again
					if !strings.Contains(w.Body.String(), `name="`+k+`"`) || !strings.Contains(w.Body.String(), v[0]) {
						t.Errorf("%s %q is not on the form that is shown again", k, v)
					}
				}
			}
		})
	}
}

// The form of a throttle shows the pace, and orders what is other than it is.
func TestThrottleForm(t *testing.T) {
	for name, c := range map[string]struct {
		id   string
		now  migrate.Throttle
		form url.Values
		code int
		want admin.Decision
		says string
	}{
		"a rate":            {id: "r-backfill", form: url.Values{"rate": {"500"}}, code: 303, want: admin.Decision{Actor: "ann", Rate: new(500)}},
		"a pause":           {id: "r-backfill", now: migrate.Throttle{Rate: 500}, form: url.Values{"rate": {"500"}, "paused": {"yes"}}, code: 303, want: admin.Decision{Actor: "ann", Paused: new(true)}},
		"both taken off":    {id: "r-backfill", now: migrate.Throttle{Rate: 500, Paused: true}, form: url.Values{"rate": {""}}, code: 303, want: admin.Decision{Actor: "ann", Rate: new(0), Paused: new(false)}},
		"as it is":          {id: "r-backfill", now: migrate.Throttle{Rate: 500}, form: url.Values{"rate": {"500"}}, code: 400, says: "its pace already"},
		"no number":         {id: "r-backfill", form: url.Values{"rate": {"fast"}}, code: 400, says: "is no rate"},
		"backwards":         {id: "r-backfill", form: url.Values{"rate": {"-5"}}, code: 400, says: "is no rate"},
		"sweeps are slowed": {id: "r-serving", form: url.Values{"rate": {"500"}, "paused": {"yes"}}, code: 303, want: admin.Decision{Actor: "ann", Rate: new(500)}},
		"it is over":        {id: "r-rolled", form: url.Values{"rate": {"500"}}, code: 409},
	} {
		t.Run(name, func(t *testing.T) {
			f := hotel(t)
			for i := range f.migrations {
				f.migrations[i].Throttle = c.now
			}
			page := f.get("/ui/changes/" + c.id + "/throttle").Body.String()
			if c.code != 409 && (strings.Contains(page, `name="paused"`) != (c.id == "r-backfill") || !strings.Contains(page, `name="rate"`) || !strings.Contains(page, "Its pace now: "+c.now.String())) {
				t.Errorf("the form: %s", page)
			}
			lawful(t, page)
			w := f.post("/ui/changes/"+c.id+"/throttle", c.form)
			if w.Code != c.code || !strings.Contains(w.Body.String(), c.says) {
				t.Fatalf("%d: %s", w.Code, w.Body)
			}
			if c.code == 303 && (len(f.orders) != 1 || f.orders[0].path != "changes/"+c.id+"/throttle" || !reflect.DeepEqual(f.orders[0].d, c.want)) || c.code != 303 && len(f.orders) > 0 {
				t.Errorf("%+v, want %+v", f.orders, c.want)
			}
		})
	}
	f := hotel(t)
	if body := f.get("/ui/changes/r-backfill").Body.String(); !strings.Contains(body, "Its pace: at most 5000 rows a second.") || !strings.Contains(body, `<a href="/ui/changes/r-backfill/throttle">Change it</a>`) {
		t.Errorf("the page of the change does not show its pace: %s", body)
	}
	f.person.Role = "viewer"
	if body := f.get("/ui/changes/r-backfill").Body.String(); strings.Contains(body, `/throttle"`) || !strings.Contains(body, "Its pace") {
		t.Error("a viewer is offered to change the pace, or does not see it")
	}
}
