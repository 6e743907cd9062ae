package test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
)

// person is one in front of Grafana and the console, who has no command line: a browser that follows links and sends forms.
type person struct {
	t       *testing.T
	console string // address
	browser *http.Client
}

// arrives logs in to the console with a token.
func arrives(t *testing.T, console, token string) *person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &person{t, console, &http.Client{Jar: jar, Timeout: 20 * time.Second}}
	p.read(p.browser.PostForm(console+"/ui/login", url.Values{"token": {token}}))
	return p
}

func (p *person) read(answer *http.Response, err error) string {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		p.t.Fatalf("%s: %d, %v\n%s", answer.Request.URL, answer.StatusCode, err, body)
	}
	return string(body)
}

func (p *person) opens(address string) string {
	p.t.Helper()
	return p.read(p.browser.Get(address))
}

// sends presses the button of the form of a page, with what is chosen there from the start, having typed what is asked for; and returns the page that it leads to.
func (p *person) sends(address string) string {
	p.t.Helper()
	page := p.opens(address)
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		p.t.Fatal(err)
	}
	fields := url.Values{}
	for n := range root.Descendants() {
		if n.Data != "form" || attribute(n, "action") != "" { // the log out is one, too
			continue
		}
		for in := range n.Descendants() {
			kind, name := attribute(in, "type"), attribute(in, "name")
			switch {
			case in.Data == "label" && attribute(in, "for") == "typed":
				for code := range in.Descendants() {
					if code.Data == "code" && code.FirstChild != nil {
						fields.Set("typed", code.FirstChild.Data)
					}
				}
			case in.Data == "input" && name != "typed" && (kind != "radio" && kind != "checkbox" || slices.ContainsFunc(in.Attr, func(a html.Attribute) bool { return a.Key == "checked" })):
				fields.Add(name, attribute(in, "value"))
			}
		}
	}
	if fields.Get("typed") == "" {
		p.t.Fatalf("%s asks for nothing to be typed:\n%s", address, page)
	}
	return p.read(p.browser.PostForm(address, fields))
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// links are where the cells of a panel's column of ids lead, by the names of the links.
func links(t *testing.T, uid, title string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, d := range dashboards(t) {
		d.each(func(p *panel) {
			if d.UID != uid || p.Title != title {
				return
			}
			for _, o := range p.FieldConfig.Overrides {
				for _, x := range o.Properties {
					if list, ok := x.Value.([]any); ok && x.ID == "links" {
						for _, l := range list {
							found[fmt.Sprint(l.(map[string]any)["title"])] = fmt.Sprint(l.(map[string]any)["url"])
						}
					}
				}
			}
		})
	}
	return found
}

// approves goes from the rows of Grafana's table of recommendations, as this Prometheus fills it, by their links to the console, and approves the first that can be approved there.
// It returns its id, "" if there is none yet.
func (p *person) approves(prometheus string) string {
	p.t.Helper()
	rows := ""
	for _, d := range dashboards(p.t) {
		d.each(func(x *panel) {
			if d.UID == "helenus-recommendations" && x.Title == "Recommendations" {
				rows = x.Targets[0].Expr
			}
		})
	}
	var answer struct {
		Data struct {
			Result []struct{ Metric map[string]string }
		}
	}
	if !(client{p.t, "http://" + prometheus, ""}).get("/api/v1/query?query="+url.QueryEscape(plain.Replace(rows)), &answer) {
		return ""
	}
	to := links(p.t, "helenus-recommendations", "Recommendations")["Open in the console"]
	for _, row := range answer.Data.Result {
		id := row.Metric["change_id"]
		address := strings.NewReplacer("${console}", p.console, "${__value.raw}", id).Replace(to)
		if strings.Contains(p.opens(address), `id="order-approve"`) && row.Metric["kind"] != "timeline" {
			p.sends(address + "/approve")
			return id
		}
	}
	return ""
}

// sees is what a person finds of a change that serves: in the dashboard that its row leads to what was measured, and the same in the console.
func (p *person) sees(id string, ask func(expr string) (int, error)) {
	p.t.Helper()
	to := links(p.t, "helenus-recommendations", "Recommendations")["What became of it"]
	if !strings.HasPrefix(to, "/d/helenus-change?var-change=${__value.raw}&") {
		p.t.Errorf("the row leads to %q, not to the dashboard of the change", to)
	}
	for _, d := range dashboards(p.t) {
		d.each(func(x *panel) {
			if d.UID != "helenus-change" || x.Title != "Promised and measured" {
				return
			}
			if n, err := ask(strings.ReplaceAll(x.Targets[0].Expr, "$change", id)); n != 2 || err != nil {
				p.t.Errorf("%s of %s: %d rows (%v), not what was promised and what was measured", x.Title, id, n, err)
			}
		})
	}
	page := p.opens(p.console + "/ui/changes/" + id)
	for _, text := range []string{"It serves: reads take ", " times as fast, promised were ", "Promised and measured", `id="order-rollback"`} {
		if !strings.Contains(page, text) {
			p.t.Errorf("the page of %s does not say %q:\n%s", id, text, page)
		}
	}
}
