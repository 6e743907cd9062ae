package console

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// elements are those of a page of a name that fit.
func elements(t *testing.T, page, name string, fits func(*html.Node) bool) (list []*html.Node) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == name && fits(n) {
			list = append(list, n)
		}
	}
	return list
}

func contents(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

// link is where the link of a page leads whose text begins so.
func link(t *testing.T, page, text string) string {
	t.Helper()
	found := elements(t, page, "a", func(n *html.Node) bool { return strings.HasPrefix(contents(n), text) })
	if len(found) == 0 {
		t.Fatalf("there is no link %q on the page: %s", text, page)
	}
	return attribute(found[0], "href")
}

// filled is the form of a page as a person sends it who changes nothing but these fields, and types what he is asked to.
func filled(t *testing.T, page string, fields url.Values) url.Values {
	t.Helper()
	form := url.Values{}
	for _, n := range elements(t, page, "input", func(*html.Node) bool { return true }) {
		checked := false
		for _, a := range n.Attr {
			checked = checked || a.Key == "checked"
		}
		switch kind := attribute(n, "type"); {
		case (kind == "radio" || kind == "checkbox") && !checked:
		default:
			form.Add(attribute(n, "name"), attribute(n, "value"))
		}
	}
	for _, n := range elements(t, page, "label", func(n *html.Node) bool { return attribute(n, "for") == "typed" }) {
		for c := range n.Descendants() {
			if c.Type == html.ElementNode && c.Data == "code" {
				form.Set("typed", contents(c))
			}
		}
	}
	for k, v := range fields {
		if !form.Has(k) {
			t.Fatalf("the form has no field %s, or it is not chosen from the start: %v", k, form)
		}
		form[k] = v
	}
	return form
}

// grafanaLink is where the row of a recommendation leads in the dashboard that is shipped.
func grafanaLink(t *testing.T, id string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "charts", "dashboards", "helenus-recommendations.json"))
	if err != nil {
		t.Fatal(err)
	}
	var dashboard any
	if err := json.Unmarshal(raw, &dashboard); err != nil {
		t.Fatal(err)
	}
	var found string
	var look func(any)
	look = func(v any) {
		switch x := v.(type) {
		case map[string]any:
			if to, ok := x["url"].(string); ok && strings.Contains(to, "/ui/changes/") {
				found = to
			}
			for _, y := range x {
				look(y)
			}
		case []any:
			for _, y := range x {
				look(y)
			}
		}
	}
	look(dashboard)
	path, ok := strings.CutPrefix(found, "${console}")
	if !ok {
		t.Fatalf("no cell of the table of recommendations leads to the console: %q", found)
	}
	return strings.ReplaceAll(path, "${__value.raw}", url.PathEscape(id))
}

// TestStoryWithoutTheCommandLine goes, by the links and forms that are on the pages, from a row in Grafana to the recommendation, approves it, watches it, slows it, pauses it and lets it
// go on, sees what it is worth, and turns it back and drops it.
func TestStoryWithoutTheCommandLine(t *testing.T) {
	const id = "r-46cc57"
	f := hotel(t)
	show := func(path string, says ...string) string {
		t.Helper()
		w := f.get(path)
		if w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		lawful(t, w.Body.String())
		for _, text := range says {
			if !strings.Contains(w.Body.String(), text) {
				t.Errorf("%s does not say %q", path, text)
			}
		}
		return w.Body.String()
	}
	// send sends the form of a page, and shows the page that it leads to.
	send := func(path string, fields url.Values, then func()) string {
		t.Helper()
		before := len(f.orders)
		w := f.post(path, filled(t, show(path, "What will happen"), fields))
		if w.Code != http.StatusSeeOther || len(f.orders) != before+1 {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		then()
		return show(w.Header().Get("Location"))
	}
	at := func(state migrate.State, pace migrate.Throttle) func() {
		return func() {
			r := f.advice.Recommendation(id)
			r.State = recommend.Approved
			m := change(id, state, *r.Rewrite)
			m.Throttle = pace
			if m.IsPaused() {
				m.Progress.Throttled = migrate.Paused
			}
			f.migrations = append(f.migrations[:4:4], m)
		}
	}

	page := show(grafanaLink(t, id), "Before and after", "Who pays", "What stands in the way", "Weighed and not taken", "CREATE TABLE")
	show(link(t, show("/ui/recommendations"), "Look up reservations"), "Why") // and from the console's own list
	page = send(link(t, page, "Approve"), url.Values{"fill": {"own"}}, at(migrate.Backfill, migrate.Throttle{}))
	if !strings.Contains(page, "/ui/changes/"+id+"/live") || !strings.Contains(page, "107 of 256") {
		t.Error("what is under way is not watched")
	}
	page = send(link(t, page, "Throttle"), url.Values{"rate": {"500"}}, at(migrate.Backfill, migrate.Throttle{Rate: 500}))
	page = send(link(t, page, "Change it"), url.Values{"rate": {""}}, at(migrate.Backfill, migrate.Throttle{Paused: true}))
	if !strings.Contains(page, "Waits: it is paused") {
		t.Error("that it is paused is not said")
	}
	page = send(link(t, page, "Change it"), url.Values{"rate": {"900"}}, at(migrate.Serving, migrate.Throttle{}))
	for _, text := range []string{"It serves: reads take 1.7 ms instead of 460 ms", "Promised and measured", "0 differences"} {
		if !strings.Contains(page, text) {
			t.Errorf("what it is worth is not said: %q", text)
		}
	}
	page = send(link(t, page, "Roll back"), nil, at(migrate.RolledBack, migrate.Throttle{}))
	page = send(link(t, page, "Drop"), nil, func() { f.migrations = f.migrations[:4]; f.advice.Recommendation(id).State = recommend.Open })
	link(t, page, "Approve")
	if !strings.Contains(show(link(t, page, "Activity"), "Activity"), "ann") {
		t.Error("the trail does not say who")
	}
}
