package console

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/internal/access"
	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// pages are all pages of the fixture, and texts that must be on each.
var pages = []struct {
	path string
	says []string
}{
	{"/ui/", []string{"Forwarding 4,200 requests/s for 1 application; added 39.7 µs at p99. 1 change serves; 3 wait for you.", "r-suspended is suspended", "Look up reservations by guest_id", "saves 52.9 ms of cluster work each second"}},
	{"/ui/recommendations", []string{"3 open: together they would save", "52.9 ms/s", "2.1 times as long", "13.6 MB", "high", "/ui/changes/r-46cc57", "for people to do", "something stands in the way"}},
	{"/ui/recommendations?show=decided", []string{"serving", "r-rolled"}},
	{"/ui/recommendations?show=kept", []string{"Keep reading hotels by its index on city", "nothing to do"}},
	{"/ui/recommendations?show=all", []string{"r-46cc57", "r-rolled"}},
	{"/ui/recommendations?show=" + url.QueryEscape(hostile), []string{"3 open"}},
	{"/ui/changes/r-46cc57", []string{"Expected: 2.2 ms instead of 283 ms for each read, 12 a minute", "ALLOW FILTERING, which looks at every row", "scan reservations, filtering by guest_id = ?", "1 request, 4 rows, 200000 scanned", "1.2 ms <small>2.1 times",
		"a secondary index on reservations.guest_id", "All writers of reservations must go through Helenus", "CREATE TABLE hotel.helenus_reservations_by_guest_id", "60 executions", "helenus approve r-46cc57", "/ui/changes/r-46cc57/dismiss", "It rests on open questions", "/ui/model#q-q-1", "with 60 % certainty: a guest&#39;s"}},
	{"/ui/changes/r-46cc57/approve", []string{"CREATE TABLE hotel.helenus_reservations_by_guest_id, about 13.6 MB", "3 write statements", "Everything can be undone", "type its id: <code>r-46cc57</code>", "on_entry_failure", `name="fill"`, "helenus bulk r-46cc57"}},
	{"/ui/changes/r-46cc57/dismiss", []string{"Nothing changes in the cluster", "required"}},
	{"/ui/changes/r-46cc57/snooze", []string{"Nothing changes in the cluster", "required", "For how many days"}},
	{"/ui/changes/r-dcd89a", []string{"the application is to be changed", "Code, as a sketch"}},
	{"/ui/changes/r-ce597f", []string{"Leave it as it is"}},
	{"/ui/changes/r-refused", []string{"refused", condition17, "it counts"}},
	{"/ui/changes/r-nasty", []string{"&lt;script&gt;", "Reopen"}},
	{"/ui/changes/r-backfill", []string{"Under way, at backfill: 107 of 256 ranges, about 4 min to go", `<progress id="progress" max="100" value="42">`, "/ui/changes/r-backfill/live", `http-equiv="refresh"`, "it is at dual-write", "took 60 s"}},
	{"/ui/changes/r-serving", []string{"It serves: reads take 1.7 ms instead of 460 ms (270.6 times as fast, promised were 129.0). 0 differences in 10,212 compared reads.", "129.0 times as fast", "Roll back", "79 min"}},
	{"/ui/changes/r-backfill/throttle", []string{"Its pace now: at most 5000 rows a second", `value="5000"`, `name="paused"`, "helenus throttle r-backfill --rate 5000"}},
	{"/ui/changes/r-serving/throttle", []string{"Its pace now: as the settings say", "They can not be paused"}},
	{"/ui/changes/r-serving/rollback", []string{"At once, reads and writes run as the application wrote them"}},
	{"/ui/changes/r-suspended", []string{"It is suspended", "Resume", "&lt;script&gt;"}},
	{"/ui/changes/r-suspended/resume", []string{"compared first"}},
	{"/ui/changes/r-rolled", []string{"rolled back", "Drop its table"}},
	{"/ui/changes/r-rolled/drop", []string{"DROP TABLE hotel.helenus_reservations_by_guest_id", "type the table&#39;s name"}},
	{"/ui/statements", []string{"3 different statements", "283 ms", "ALLOW FILTERING"}},
	{"/ui/statements?find=INSERT&sort=calls&since=1h", []string{"INSERT INTO"}},
	{"/ui/statements?find=" + url.QueryEscape(hostile+"none"), []string{"None has"}},
	{"/ui/statements/36bdef75", []string{"it reads every row", "Median, the last hour", "hotel.reservations", "look up reservations by guest_id"}},
	{"/ui/tables", []string{"hotel.reservations", "nobody reads"}},
	{"/ui/tables/hotel/reservations", []string{"60 of them scans", "guest_id"}},
	{"/ui/joins", []string{"hotels.hotel_id", "58 of 60", "n&#43;1"}},
	{"/ui/model", []string{"entities and", "Reservation", "Whose key is &lt;script&gt;", "12 ms of work each second depend on it", "/ui/changes/r-46cc57", "taken for now", `action="/ui/questions/q-1/answer"`, `value="none"`, "3 more are worth less",
		"hotel.guests is called Visitor", `action="/ui/questions/q-7/undo"`, "not in force: there is no table hotel.gone"}},
	{"/ui/activity", []string{"it is at serving", "ann"}},
	{"/ui/connections", []string{"10.0.0.1:5000", "4,711"}},
	{"/ui/settings", []string{"listen: 127.0.0.1:9042"}},
	{"/ui/login", []string{"admin.token"}},
}

const condition17 = "docs/conditions.md#c17"

// TestPages shows every page, and that each keeps the rules of all.
func TestPages(t *testing.T) {
	for _, p := range pages {
		t.Run(p.path, func(t *testing.T) {
			w := hotel(t).get(p.path)
			body := w.Body.String()
			if w.Code != http.StatusOK {
				t.Fatalf("%d: %s", w.Code, body)
			}
			for _, text := range p.says {
				if !strings.Contains(body, text) {
					t.Errorf("%q is not on the page", text)
				}
			}
			if t.Failed() {
				t.Log(body)
			}
			lawful(t, body)
		})
	}
}

// TestEmptyPages shows that pages say what will come while there is nothing.
func TestEmptyPages(t *testing.T) {
	for path, text := range map[string]string{
		"/ui/": "Learning has not begun", "/ui/recommendations": "Nothing is open.", "/ui/statements": "Nothing was said yet", "/ui/joins": "No join by hand was seen",
		"/ui/connections": "No application is connected.", "/ui/activity": "Nothing was decided yet.",
	} {
		f := hotel(t)
		f.empty = true
		body := f.get(path).Body.String()
		if !strings.Contains(body, text) {
			t.Errorf("%s does not say %q:\n%s", path, text, body)
		}
		lawful(t, body)
	}
}

// maxPage is what a page may weigh, bytes.
const maxPage = 100_000

// lawful checks what holds of every page.
func lawful(t *testing.T, body string) {
	t.Helper()
	if len(body) > maxPage {
		t.Errorf("the page has %d bytes", len(body))
	}
	doc, err := html.Parse(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	ids, labels, heads := map[string]int{}, map[string]bool{}, 0
	var inputs []string
	each(doc, func(n *html.Node) {
		if id := attribute(n, "id"); id != "" {
			ids[id]++
		}
		for _, a := range n.Attr {
			if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
				t.Errorf("<%s> has %s inline", n.Data, a.Key)
			}
			if (a.Key == "href" || a.Key == "src") && strings.HasPrefix(strings.ToLower(a.Val), "javascript:") {
				t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
			}
		}
		switch n.Data {
		case "html":
			if attribute(n, "lang") == "" {
				t.Error("no language")
			}
		case "h1":
			heads++
		case "style":
			t.Error("a style inline")
		case "script":
			if attribute(n, "src") != "/ui/static/console.js" || n.FirstChild != nil {
				t.Error("a script inline, or from elsewhere")
			}
		case "label":
			labels[attribute(n, "for")] = true
		case "input", "select", "textarea", "progress":
			if attribute(n, "type") != "hidden" {
				inputs = append(inputs, attribute(n, "id"))
			}
		case "img":
			if !slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "alt" }) {
				t.Error("an image without a text")
			}
		case "form":
			if m := attribute(n, "method"); m != "post" && attribute(n, "action") != "/ui/statements" {
				t.Errorf("a form by %q", m)
			}
		}
	})
	if heads != 1 {
		t.Errorf("%d h1", heads)
	}
	for id, n := range ids {
		if n > 1 {
			t.Errorf("%d elements have the id %s", n, id)
		}
	}
	for _, id := range inputs {
		if id == "" || !labels[id] {
			t.Errorf("input %q has no label", id)
		}
	}
}

func each(n *html.Node, do func(*html.Node)) {
	if n.Type == html.ElementNode {
		do(n)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		each(c, do)
	}
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// TestErrors shows that what is not there is 404, with a page, and that ids with markup do no harm.
func TestErrors(t *testing.T) {
	for _, path := range []string{
		"/ui/nowhere", "/ui/changes/r-none", "/ui/changes/" + url.PathEscape(hostile), "/ui/changes/r-46cc57/dance", "/ui/statements/ffff", "/ui/statements/" + url.PathEscape(hostile),
		"/ui/tables/hotel/none", "/ui/changes/r-46cc57/" + url.PathEscape(hostile), "/ui/changes/..%2f..%2fetc", "/ui/changes/r-none/live", "/ui/changes/%00",
	} {
		w := hotel(t).get(path)
		if w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
		lawful(t, w.Body.String())
	}
	w := hotel(t).get("/ui/changes/r-46cc57/drop")
	if w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "can not be asked to drop now") {
		t.Errorf("dropping what is open: %d %s", w.Code, w.Body)
	}
}

// TestOrdersByRole offers what the person may have done, and says of the rest what it takes.
func TestOrdersByRole(t *testing.T) {
	for _, test := range []struct {
		role   string
		page   string
		order  string
		offers bool
		takes  string
	}{
		{"viewer", "r-46cc57", "approve", false, "operator"}, {"operator", "r-46cc57", "approve", true, ""}, {"admin", "r-46cc57", "approve", true, ""},
		{"operator", "r-rolled", "drop", false, "admin"}, {"admin", "r-rolled", "drop", true, ""}, {"viewer", "r-serving", "rollback", false, "operator"},
	} {
		f := hotel(t)
		f.person.Role = access.Role(test.role)
		body := f.get("/ui/changes/" + test.page).Body.String()
		lawful(t, body)
		if strings.Contains(body, `href="/ui/changes/`+test.page+"/"+test.order+`"`) != test.offers || strings.Contains(body, "takes the role "+test.takes+".") == test.offers {
			t.Errorf("%s of %s, as %s: offered %t", test.order, test.page, test.role, !test.offers)
		}
		if w := f.get("/ui/changes/" + test.page + "/" + test.order); (w.Code == http.StatusForbidden) == test.offers {
			t.Errorf("%s of %s, as %s: its page is %d", test.order, test.page, test.role, w.Code)
		}
		w := f.post("/ui/changes/"+test.page+"/"+test.order, url.Values{"typed": {"r-46cc57"}})
		if !test.offers && (w.Code != http.StatusForbidden || len(f.orders) > 0) {
			t.Errorf("%s of %s, as %s: ordered, %d", test.order, test.page, test.role, w.Code)
		}
	}
}

// TestOrders gives every order, and none that is not confirmed.
func TestOrders(t *testing.T) {
	table := "hotel.helenus_reservations_by_guest_id"
	for _, test := range []struct {
		name, path string
		form       url.Values
		code       int
		want       string
	}{
		{"approve", "r-46cc57/approve", url.Values{"typed": {"r-46cc57"}, "on_entry_failure": {"refuse"}}, 303, "changes/r-46cc57/approve ann  refuse"},
		{"approve, not confirmed", "r-46cc57/approve", url.Values{"typed": {"r-46cc5"}}, 400, ""},
		{"approve, as somebody else", "r-46cc57/approve", url.Values{"typed": {"r-46cc57"}, "actor": {"bob"}}, 303, "changes/r-46cc57/approve ann  "},
		{"approve what is refused", "r-refused/approve", url.Values{"typed": {"r-refused"}}, 409, ""},
		{"dismiss", "r-46cc57/dismiss", url.Values{"reason": {" too dear "}}, 303, "changes/r-46cc57/dismiss ann too dear "},
		{"dismiss, as it was called", "r-46cc57/reject", url.Values{"reason": {" too dear "}}, 303, "changes/r-46cc57/dismiss ann too dear "},
		{"dismiss without a reason", "r-46cc57/dismiss", url.Values{"reason": {" "}}, 400, ""},
		{"snooze", "r-46cc57/snooze", url.Values{"reason": {"later"}, "days": {"7"}}, 303, "changes/r-46cc57/snooze ann later  168h0m0s"},
		{"snooze without a reason", "r-46cc57/snooze", url.Values{"days": {"7"}}, 400, ""},
		{"snooze for ever", "r-46cc57/snooze", url.Values{"reason": {"later"}, "days": {"1000"}}, 400, ""},
		{"snooze for no time", "r-46cc57/snooze", url.Values{"reason": {"later"}, "days": {"0"}}, 400, ""},
		{"reopen", "r-nasty/reopen", nil, 303, "changes/r-nasty/reopen ann  "},
		{"roll back", "r-serving/rollback", nil, 303, "changes/r-serving/rollback ann  "},
		{"resume", "r-suspended/resume", nil, 303, "changes/r-suspended/resume ann  "},
		{"drop", "r-rolled/drop", url.Values{"typed": {table}}, 303, "changes/r-rolled/drop ann  "},
		{"drop another", "r-rolled/drop", url.Values{"typed": {"hotel.reservations"}}, 400, ""},
		{"drop what serves", "r-serving/drop", url.Values{"typed": {table}}, 409, ""},
		{"unknown", "r-none/approve", nil, 404, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := hotel(t)
			w := f.post("/ui/changes/"+test.path, test.form)
			var got string
			for _, o := range f.orders {
				got += strings.Join([]string{o.path, o.d.Actor, o.d.Reason, o.d.OnEntryFailure}, " ")
				if o.d.For != "" {
					got += " " + o.d.For
				}
			}
			if w.Code != test.code || got != test.want {
				t.Errorf("%d, %q; want %d, %q", w.Code, got, test.code, test.want)
			}
			if test.code != 303 {
				lawful(t, w.Body.String())
			}
		})
	}
	t.Run("refused by the API", func(t *testing.T) {
		f := hotel(t)
		f.refuse = &admin.Error{Status: 409, Message: "another came first " + hostile}
		w := f.post("/ui/changes/r-46cc57/approve", url.Values{"typed": {"r-46cc57"}})
		if w.Code != 409 || !strings.Contains(w.Body.String(), "another came first &lt;script&gt;") || !strings.Contains(w.Body.String(), `value="r-46cc57"`) {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		lawful(t, w.Body.String())
	})
	t.Run("by whoever has the token of nobody in particular", func(t *testing.T) {
		f := hotel(t)
		f.person.Claims = true
		f.post("/ui/changes/r-46cc57/approve", url.Values{"typed": {"r-46cc57"}, "actor": {"bob"}})
		if len(f.orders) != 1 || f.orders[0].d.Actor != "bob" {
			t.Errorf("%+v", f.orders)
		}
	})
}

// TestHostile shows that nobody gets in who is not known, and nothing from other sites.
func TestHostile(t *testing.T) {
	form := url.Values{"typed": {"r-46cc57"}}
	for _, site := range []string{"cross-site", "same-site"} {
		f := hotel(t)
		if w := f.post("/ui/changes/r-46cc57/approve", form, "Sec-Fetch-Site", site, "Origin", "https://evil.example"); w.Code != http.StatusForbidden || len(f.orders) > 0 {
			t.Errorf("%s: %d, %v", site, w.Code, f.orders)
		}
	}
	f := hotel(t)
	if w := f.post("/ui/changes/r-46cc57/approve", form, "Sec-Fetch-Site", "", "Origin", "null"); w.Code != http.StatusForbidden || len(f.orders) > 0 {
		t.Errorf("no origin: %d", w.Code)
	}
	if w := f.post("/ui/login", url.Values{"token": {"right"}}, "Sec-Fetch-Site", "cross-site"); w.Code != http.StatusForbidden {
		t.Errorf("login from elsewhere: %d", w.Code)
	}
	if w := f.post("/ui/changes/r-46cc57/approve", url.Values{"typed": {"r-46cc57"}, "reason": {strings.Repeat("x", 2*maxForm)}}); w.Code != http.StatusBadRequest || len(f.orders) > 0 {
		t.Errorf("a large form: %d", w.Code)
	}
	f.nobody = true
	if w := f.post("/ui/changes/r-46cc57/approve", form); w.Code != http.StatusUnauthorized || len(f.orders) > 0 {
		t.Errorf("without a session: %d", w.Code)
	}
	for _, p := range pages {
		if w := f.get(p.path); p.path != "/ui/login" && (w.Code != http.StatusSeeOther || !strings.HasPrefix(w.Header().Get("Location"), "/ui/login?next=")) {
			t.Errorf("%s without a session: %d to %s", p.path, w.Code, w.Header().Get("Location"))
		}
	}
	for _, path := range []string{"/ui/changes/r-backfill/live", "/ui/model.svg", "/ui/tables.svg"} {
		if w := f.get(path); w.Code != http.StatusSeeOther {
			t.Errorf("%s without a session: %d", path, w.Code)
		}
	}
	w := hotel(t).get("/ui/")
	for name, value := range map[string]string{"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"} {
		if got := w.Header().Get(name); got != value {
			t.Errorf("%s: %q", name, got)
		}
	}
	if strings.Contains(policy, "unsafe") {
		t.Error(policy)
	}
}

// TestLogin turns a token into a session, and leads only to pages of the console.
func TestLogin(t *testing.T) {
	for next, want := range map[string]string{
		"": "/ui/", "/ui/changes/r-1?x=1": "/ui/changes/r-1?x=1", "https://evil.example/ui/": "/ui/", "//evil.example/ui/": "/ui/", "/ui/\\evil": "/ui/", "/api/v1/model": "/ui/", "/ui/logout": "/ui/", "/ui/\r\nX: y": "/ui/",
	} {
		w := hotel(t).post("/ui/login", url.Values{"token": {" right\n"}, "next": {next}})
		if got := w.Header().Get("Location"); w.Code != http.StatusSeeOther || got != want || w.Header().Get("Set-Cookie") == "" {
			t.Errorf("%q: %d to %q", next, w.Code, got)
		}
	}
	w := hotel(t).post("/ui/login", url.Values{"token": {"wrong"}})
	if w.Code != http.StatusUnauthorized || w.Header().Get("Set-Cookie") != "" || !strings.Contains(w.Body.String(), "this is not the token") || strings.Contains(w.Body.String(), "wrong") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	lawful(t, w.Body.String())
	f := hotel(t)
	if w := f.post("/ui/logout", nil); w.Code != http.StatusSeeOther || !f.nobody {
		t.Errorf("logout: %d", w.Code)
	}
}

// TestProblems shows that the overview says what is wrong.
func TestProblems(t *testing.T) {
	f := hotel(t)
	f.bypass.On, f.bypass.Actor, f.bypass.Since = true, "bob", now.Add(-3*time.Hour)
	f.ready = []admin.Check{{Name: "schema", Why: "it has not been read yet"}}
	body := f.get("/ui/").Body.String()
	for _, text := range []string{"bob switched the bypass on 3 h ago", "schema is not ready: it has not been read yet", "3 to look at"} {
		if !strings.Contains(body, text) {
			t.Errorf("%q is missing:\n%s", text, body)
		}
	}
}

// TestContrast computes the contrast of all pairs of colours that the style sheet uses.
func TestContrast(t *testing.T) {
	colours := map[string]token{}
	for _, c := range tokens {
		colours[c.name] = c
	}
	for _, p := range pairs {
		text, on := colours[p.text], colours[p.on]
		for theme, both := range map[string][2]string{"light": {text.light, on.light}, "dark": {text.dark, on.dark}} {
			a, b := luminance(t, both[0]), luminance(t, both[1])
			if got := (max(a, b) + 0.05) / (min(a, b) + 0.05); got < p.least {
				t.Errorf("%s, %s on %s: %.2f, want %.1f", theme, p.text, p.on, got, p.least)
			}
		}
	}
	used := regexp.MustCompile(`var\(--([a-z]+)\)`).FindAllStringSubmatch(string(style()), -1)
	for _, m := range used {
		if colours[m[1]].name == "" {
			t.Errorf("the style sheet uses %s, which is no token", m[1])
		}
	}
	rules, _ := assets.ReadFile("assets/console.css")
	if m := regexp.MustCompile(`#[0-9a-fA-F]{3,8}\b`).Find(rules); m != nil {
		t.Errorf("the style sheet has a colour of its own: %s", m)
	}
}

func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	v, err := strconv.ParseUint(strings.TrimPrefix(colour, "#"), 16, 24)
	if err != nil || len(colour) != 7 {
		t.Fatalf("colour %q", colour)
	}
	linear := func(c uint64) float64 {
		f := float64(c&0xff) / 255
		if f <= 0.04045 {
			return f / 12.92
		}
		return math.Pow((f+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(v>>16) + 0.7152*linear(v>>8) + 0.0722*linear(v)
}

// TestRail shows how far changes have come.
func TestRail(t *testing.T) {
	lu := *hotel(t).advice.Recommendations[0].Rewrite
	for state, want := range map[migrate.State]string{
		migrate.Approved:  "now ahead ahead ahead ahead ahead ahead",
		migrate.Backfill:  "done done done now ahead ahead ahead",
		migrate.Serving:   "done done done done done done done",
		migrate.Suspended: "done done done done done done stopped",
	} {
		m := change("r-1", state, lu)
		var kinds []string
		for _, s := range rail(&m) {
			kinds = append(kinds, s.Kind)
		}
		if got := strings.Join(kinds, " "); got != want {
			t.Errorf("%s: %s", state, got)
		}
	}
}

// TestWords says numbers as people do.
func TestWords(t *testing.T) {
	for got, want := range map[string]string{
		millis(0): "0", millis(0.04): "40 µs", millis(1.73): "1.73 ms", millis(283.2): "283 ms", millis(1500): "1.5 s", millis(600_000): "10 min", millis(-2): "-2 ms",
		sizes(13.6e6): "13.6 MB", sizes(900): "900 B", share(0.004): "less than 1 %", share(0.41): "41 %", number(uint64(1234567)): "1,234,567", number(-1234): "-1,234", number(4.25): "4.25",
		rate(4200): "4,200 a second", rate(0.2): "12 a minute", rate(0): "never", ago(-time.Second): "now", ago(90 * time.Minute): "90 min ago", span(72 * time.Hour): "3 days", upper("élan"): "élan", upper("look"): "Look",
		fmt.Sprint(steps("1. scan t (1 request)\n2. get u")): "[{scan t 1 request} {get u }]",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestNothingWaits: what waits for a person is counted on the overview whether Helenus can carry it out or not, as in `helenus status`.
func TestNothingWaits(t *testing.T) {
	f := hotel(t)
	for i := range f.advice.Recommendations {
		f.advice.Recommendations[i].State = recommend.Rejected
	}
	if body := f.get("/ui/").Body.String(); !strings.Contains(body, "nothing waits for you") || strings.Contains(body, "not for Helenus to carry out") {
		t.Errorf("something waits:\n%s", body)
	}
	own := &f.advice.Recommendations[0]
	own.Kind, own.State = recommend.ApplicationChange, recommend.Open
	body := f.get("/ui/").Body.String()
	for _, text := range []string{"1 waits for you", "1 more is not for Helenus to carry out"} {
		if !strings.Contains(body, text) {
			t.Errorf("%q is missing:\n%s", text, body)
		}
	}
}
