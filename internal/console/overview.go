package console

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"

	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/capture/report"
	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/internal/preview"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// overviewPage answers whether all is well, and what it costs.
type overviewPage struct {
	Answer   string
	Sub      string
	Problems []problem
	Waiting  []recommend.Recommendation // for a person, what saves most first
	Others   int                        // that wait, too, and can not be approved: changes to the application, and what a condition forbids
	Changes  []migrate.Change           // that are not over
	Checks   []admin.Check
	Learning string // what is to come, if there is no advice yet
}

// problem is something that a person should know, and where more is said.
type problem struct{ Text, Link string }

// over are the states of changes that are history.
var over = []migrate.State{migrate.RolledBack, migrate.Dropped}

func (c *console) overview(r *request) error {
	p, err := c.overviewOf(r)
	if err != nil {
		return err
	}
	return c.show(r, "overview", frame{Title: "Overview", Here: "overview", Refresh: 30, Page: p})
}

func (c *console) overviewOf(r *request) (*overviewPage, error) {
	advice, err := ask[admin.Recommendations](c, r, "recommendations")
	if err != nil {
		return nil, err
	}
	all, err := ask[[]migrate.Change](c, r, "migrations")
	if err != nil {
		return nil, err
	}
	bypass, err := ask[rewrite.Bypass](c, r, "bypass")
	if err != nil {
		return nil, err
	}
	said, err := ask[report.Statements](c, r, "statements?since=5m&limit=1")
	if err != nil {
		return nil, err
	}
	connected, err := ask[[]proxy.ConnectionInfo](c, r, "connections")
	if err != nil {
		return nil, err
	}
	p := &overviewPage{Checks: c.o.Ready()}
	serve := 0
	for i := range all {
		m := &all[i]
		if m.State == migrate.Serving {
			serve++
		}
		if slices.Contains(over, m.State) {
			continue
		}
		p.Changes = append(p.Changes, *m)
		link := "/ui/changes/" + m.ID
		switch {
		case m.Pending != "":
			p.Problems = append(p.Problems, problem{m.ID + ": " + m.Pending, link})
		case m.State == migrate.Failed || m.State == migrate.Suspended:
			p.Problems = append(p.Problems, problem{fmt.Sprintf("%s is %s: %s", m.ID, m.State, m.Reason), link})
		case m.Differed > 0:
			p.Problems = append(p.Problems, problem{fmt.Sprintf("%s: %d answers of the table differed from Cassandra's without an explanation", m.ID, m.Differed), link})
		}
	}
	for i := range advice.Recommendations {
		switch x := &advice.Recommendations[i]; {
		case preview.Approvable(x):
			p.Waiting = append(p.Waiting, *x)
		case x.Undecided():
			p.Others++
		}
	}
	bySaving(p.Waiting)
	if bypass.On {
		p.Problems = append(p.Problems, problem{"All statements run as written: " + cmp.Or(bypass.Actor, "somebody") + " switched the bypass on " + ago(c.o.Now().Sub(bypass.Since)) + ". helenus bypass off ends that.", "/ui/activity"})
	}
	for _, check := range p.Checks {
		if !check.Ready {
			p.Problems = append(p.Problems, problem{check.Name + " is not ready: " + check.Why, ""})
		} else if check.Why != "" && check.Name != "rewriting" {
			p.Problems = append(p.Problems, problem{check.Name + ": " + check.Why, ""})
		}
	}
	for _, text := range advice.Problems {
		p.Problems = append(p.Problems, problem{"Advice: " + text, "/ui/recommendations"})
	}
	p.Answer = c.traffic(&said, connected)
	waits := "nothing waits for you"
	if n := len(p.Waiting) + p.Others; n > 0 {
		waits = plural(n, "waits for you", "wait for you")
	}
	p.Sub = fmt.Sprintf("%s; %s.", plural(serve, "change serves", "changes serve"), waits)
	p.Learning = learning(&advice, said.Requests)
	return p, nil
}

// traffic says what is forwarded, for whom: the first line of all.
func (c *console) traffic(said *report.Statements, connected []proxy.ConnectionInfo) string {
	seconds := said.To.Sub(said.From).Seconds()
	if said.Requests == 0 || seconds <= 0 {
		if len(connected) == 0 {
			return "No application is connected, so nothing is forwarded."
		}
		return plural(len(connected), "connection is", "connections are") + " open; nothing was asked in the last five minutes."
	}
	clients := map[string]bool{}
	for i := range connected {
		host := connected[i].Address
		if at := strings.LastIndex(host, ":"); at > 0 {
			host = host[:at]
		}
		clients[cmp.Or(connected[i].Application, connected[i].Driver, host)] = true
	}
	text := fmt.Sprintf("Forwarding %s requests/s for %s", number(math.Round(float64(said.Requests)/seconds)), plural(len(clients), "application", "applications"))
	if p99, ok := c.added(); ok {
		text += "; added " + millis(p99*1000) + " at p99"
	}
	return text + "."
}

// learning says what is missing before there is advice.
func learning(a *admin.Recommendations, requests uint64) string {
	switch {
	case len(a.Recommendations) > 0:
		return ""
	case a.Trouble != "":
		return "The latest round of advice failed: " + a.Trouble
	case requests == 0:
		return "Learning has not begun: point an application at the proxy, and what it asks is looked at here within minutes."
	case a.At.IsZero():
		return "Learning: the first round of advice has not ended yet. It comes by itself; helenus recommendations --now does not wait."
	}
	return fmt.Sprintf("Nothing to advise so far: %s were looked at and dismissed, each for a reason (below Recommendations).", plural(len(a.Dismissed), "statement", "statements"))
}

// added is the ninety-ninth percentile of what the proxy added to requests, seconds, since it started.
func (c *console) added() (p99 float64, ok bool) {
	families, err := c.o.Metrics.Gather()
	if err != nil && len(families) == 0 {
		return 0, false
	}
	for _, f := range families {
		if f.GetName() == "helenus_proxy_added_seconds" {
			return quantile(f, 0.99)
		}
	}
	return 0, false
}

// quantile is one of all histograms of a family together, between the bounds of their classic buckets.
func quantile(f *dto.MetricFamily, q float64) (float64, bool) {
	upTo := map[float64]uint64{}
	var total uint64
	for _, m := range f.GetMetric() {
		total += m.GetHistogram().GetSampleCount()
		for _, b := range m.GetHistogram().GetBucket() {
			upTo[b.GetUpperBound()] += b.GetCumulativeCount()
		}
	}
	var bounds []float64
	for b := range upTo {
		bounds = append(bounds, b)
	}
	slices.Sort(bounds)
	if total == 0 || len(bounds) == 0 {
		return 0, false
	}
	want, low, below := q*float64(total), 0.0, 0.0
	for _, b := range bounds {
		if n := float64(upTo[b]); n >= want {
			if math.IsInf(b, 1) {
				return low, true
			}
			return low + (b-low)*(want-below)/max(n-below, 1), true
		}
		low, below = b, float64(upTo[b])
	}
	return low, true
}

// recommendationsPage answers what to do.
type recommendationsPage struct {
	Answer    string
	Show      string // open, kept, decided or all
	List      []recommend.Recommendation
	Counts    map[string]int
	Dismissed []recommend.Dismissal
	Learning  string
	At        string
	Problems  []string
	Timeline  string
}

// shown says which recommendations each choice lists.
var shown = map[string]func(*recommend.Recommendation) bool{
	"open": func(r *recommend.Recommendation) bool { return r.State == recommend.Open && r.Kind != recommend.Keep },
	"kept": func(r *recommend.Recommendation) bool { return r.State == recommend.Open && r.Kind == recommend.Keep },
	"decided": func(r *recommend.Recommendation) bool {
		return r.State == recommend.Approved || r.State == recommend.Rejected || r.State == recommend.Snoozed
	},
	"all": func(*recommend.Recommendation) bool { return true },
}

func (c *console) recommendations(r *request) error {
	advice, err := ask[admin.Recommendations](c, r, "recommendations")
	if err != nil {
		return err
	}
	p := recommendationsPage{Show: cmp.Or(r.URL.Query().Get("show"), "open"), Counts: map[string]int{}, Dismissed: advice.Dismissed, Problems: advice.Problems, Timeline: advice.Timeline}
	if shown[p.Show] == nil {
		p.Show = "open"
	}
	var open []recommend.Recommendation
	for i := range advice.Recommendations {
		x := &advice.Recommendations[i]
		for name, is := range shown {
			if is(x) {
				p.Counts[name]++
			}
		}
		if shown[p.Show](x) {
			p.List = append(p.List, *x)
		}
		if shown["open"](x) {
			open = append(open, *x)
		}
	}
	bySaving(p.List)
	p.Answer = together(open)
	p.Learning = learning(&advice, 1)
	if !advice.At.IsZero() {
		p.At = ago(c.o.Now().Sub(advice.At))
	}
	return c.show(r, "recommendations", frame{Title: "Recommendations", Here: "recommendations", Page: p})
}

// bySaving sorts what saves most first.
func bySaving(list []recommend.Recommendation) {
	slices.SortStableFunc(list, func(a, b recommend.Recommendation) int {
		return cmp.Compare(b.SavedSecondsPerSecond, a.SavedSecondsPerSecond)
	})
}

// together says what open advice would save.
func together(open []recommend.Recommendation) string {
	var saved, of float64
	for i := range open {
		if x := &open[i]; x.BenefitRatio > 0 {
			saved += x.SavedSecondsPerSecond
			of += x.SavedSecondsPerSecond / x.BenefitRatio
		}
	}
	switch {
	case len(open) == 0:
		return "Nothing is open."
	case of == 0:
		return plural(len(open), "is", "are") + " open."
	case len(open) == 1:
		return fmt.Sprintf("1 open: it would save %s, %s of what its reads cost your cluster.", work(saved), share(saved/of))
	}
	return fmt.Sprintf("%d open: together they would save %s, %s of what these reads cost your cluster.", len(open), work(saved), share(saved/of))
}
