package console

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/helenus-db/helenus/internal/access"
	"github.com/helenus-db/helenus/internal/access/openid"
	"github.com/helenus-db/helenus/internal/admin"
)

// API answers what the admin API answers, in the process; an error is an *admin.Error.
type API interface {
	Ask(ctx context.Context, method, path string, order *admin.Decision) (any, error)
}

// Sessions know who sent a request.
type Sessions interface {
	// Begin turns a token into a session, whose cookie it sets; End ends it.
	Begin(w http.ResponseWriter, r *http.Request, token string) error
	End(w http.ResponseWriter, r *http.Request)
	// Provider names who else people can log in with, "" if nobody; the browser is sent there, and a session made when it comes back.
	Provider() string
	LeaveForProvider(w http.ResponseWriter, r *http.Request, next string) error
	BeginByProvider(w http.ResponseWriter, r *http.Request) (next string, err error)
	// Who returns the context in which the API knows who asks.
	Who(r *http.Request) (context.Context, admin.Person, error)
}

// Options say what the pages are made of. All fields but Settings are needed.
type Options struct {
	API      API
	Sessions Sessions
	Ready    func() []admin.Check
	Metrics  prometheus.Gatherer
	Settings func() string   // those in force, without secrets, as YAML
	Stopping <-chan struct{} // closed when answers without an end must end
	Now      func() time.Time
	Log      *slog.Logger
}

type console struct {
	o       Options
	pages   map[string]*template.Template
	style   []byte
	streams chan struct{} // holds one token for each stream
}

// maxStreams bounds the pages that are followed live, as each holds one of the few connections that the admin port takes; others are
// loaded again from time to time.
const maxStreams = 8

//go:embed assets
var assets embed.FS

// New makes the pages, which answer below /ui/.
func New(o Options) http.Handler {
	c := &console{o: o, pages: map[string]*template.Template{}, style: style(), streams: make(chan struct{}, maxStreams)}
	for _, name := range []string{"login", "arrived", "arriving", "error", "overview", "recommendations", "change", "order", "statements", "statement", "tables", "table", "joins", "model", "activity", "settings", "connections"} {
		c.pages[name] = template.Must(template.New(name).Funcs(c.words()).ParseFS(assets, "assets/layout.tmpl", "assets/parts.tmpl", "assets/"+name+".tmpl"))
	}
	mux := http.NewServeMux()
	file := func(name, kind string, text []byte) {
		mux.HandleFunc("GET /ui/static/"+name, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Cache-Control", "no-cache")
			_, _ = w.Write(text)
		})
	}
	script, _ := assets.ReadFile("assets/console.js")
	icon, _ := assets.ReadFile("assets/icon.svg")
	file("console.css", "text/css; charset=utf-8", c.style)
	file("console.js", "text/javascript; charset=utf-8", script)
	file("icon.svg", "image/svg+xml", icon)
	mux.HandleFunc("GET /ui/login", c.showLogin)
	mux.HandleFunc("POST /ui/login", c.login)
	mux.HandleFunc("GET /ui/login/openid", c.leaveForProvider)
	mux.HandleFunc("GET "+openid.Path, c.loginByProvider)
	mux.HandleFunc("POST /ui/logout", c.logout)
	for pattern, show := range map[string]func(*request) error{
		"GET /ui/{$}":                     c.overview,
		"GET /ui/recommendations":         c.recommendations,
		"GET /ui/changes/{id}":            c.change,
		"GET /ui/changes/{id}/live":       c.changeLive,
		"GET /ui/changes/{id}/{order}":    c.order,
		"POST /ui/changes/{id}/{order}":   c.give,
		"GET /ui/statements":              c.statements,
		"GET /ui/statements/{id}":         c.statement,
		"GET /ui/tables":                  c.tables,
		"GET /ui/tables/{keyspace}/{id}":  c.table,
		"GET /ui/joins":                   c.joins,
		"GET /ui/model":                   c.model,
		"POST /ui/questions/{id}/{order}": c.answerQuestion,
		"GET /ui/model.svg":               c.picture,
		"GET /ui/tables.svg":              c.picture,
		"GET /ui/activity":                c.activity,
		"GET /ui/settings":                c.settings,
		"GET /ui/connections":             c.connections,
		"/ui/": func(*request) error {
			return &admin.Error{Status: http.StatusNotFound, Code: "not_found", Message: "There is no such page."}
		},
	} {
		mux.Handle(pattern, c.known(show))
	}
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.Log.Warn("an order from another site was refused", "remote", r.RemoteAddr, "path", r.URL.Path, "origin", r.Header.Get("Origin"))
		c.fail(w, &request{Request: r}, &admin.Error{Status: http.StatusForbidden, Code: "forbidden", Message: "This was sent by a page of another site, so nothing was done. Open the console itself and try again."})
	}))
	return headed(protection.Handler(mux))
}

// policy allows what comes from here, in files of its own.
const policy = access.PolicyPage

func headed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		access.Headers(w, r)
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// request is one of somebody who is known.
type request struct {
	*http.Request
	w   http.ResponseWriter
	who admin.Person
}

// maxForm bounds what a form may send, bytes.
const maxForm = 64 << 10

// known shows a page to whoever is known. Others are led to the login if they only want to see it.
func (c *console) known(show func(*request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		ctx, who, err := c.o.Sessions.Who(r)
		if err != nil {
			if r.Method == http.MethodGet || r.Method == http.MethodHead {
				if r.Header.Get("Sec-Fetch-Site") == "cross-site" {
					c.goOn(w, r, "arriving", "One moment", r.URL.RequestURI())
					return
				}
				http.Redirect(w, r, "/ui/login?next="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
				return
			}
			c.fail(w, &request{Request: r}, &admin.Error{Status: http.StatusUnauthorized, Code: "unauthorised", Message: "Nothing was done: you are not logged in, or your session has ended."})
			return
		}
		q := &request{Request: r.WithContext(ctx), w: w, who: who}
		if err := show(q); err != nil {
			c.fail(w, q, err)
		}
	})
}

// ask asks the API, and says so if it has answered something else than expected.
func ask[T any](c *console, r *request, path string) (out T, err error) {
	answer, err := c.o.API.Ask(r.Context(), http.MethodGet, path, nil)
	if err != nil {
		return out, err
	}
	switch a := answer.(type) {
	case T:
		return a, nil
	case *T:
		return *a, nil
	}
	return out, fmt.Errorf("GET %s answered a %T", path, answer)
}

// frame is what every page has around it.
type frame struct {
	Title   string
	Here    string // the entry of the menu
	Who     *admin.Person
	Follow  string // the stream of what lives on the page; "": nothing does
	Refresh int    // seconds after which the page is loaded again, without scripts; 0: never
	Page    any
}

func (c *console) show(r *request, name string, f frame) error { //nolint:gocritic // one a page
	f.Who = &r.who
	return c.write(r.w, http.StatusOK, name, f)
}

// write makes the whole page before the first byte of it is sent, so that one that can not be made is an error.
func (c *console) write(w http.ResponseWriter, status int, name string, f frame) error { //nolint:gocritic // one a page
	var b bytes.Buffer
	if err := c.pages[name].ExecuteTemplate(&b, "layout", f); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = b.WriteTo(w)
	return nil
}

// failure is the page of an error.
type failure struct {
	Status  int
	Heading string
	Message string
	Login   bool
}

func (c *console) fail(w http.ResponseWriter, r *request, err error) {
	f := failure{Status: http.StatusInternalServerError, Message: err.Error()}
	if e := new(admin.Error); errors.As(err, &e) {
		f.Status = e.Status
	} else {
		c.o.Log.Error("a page of the console could not be made", "path", r.URL.Path, "error", err)
	}
	f.Login = f.Status == http.StatusUnauthorized
	f.Heading = map[int]string{
		http.StatusNotFound: "Not there", http.StatusUnauthorized: "Log in first", http.StatusForbidden: "Not allowed", http.StatusConflict: "Refused",
		http.StatusBadRequest: "Not understood", http.StatusServiceUnavailable: "Not yet", http.StatusInternalServerError: "That failed",
	}[f.Status]
	if f.Heading == "" {
		f.Heading = http.StatusText(f.Status)
	}
	page := frame{Title: f.Heading, Page: f}
	if r.who.Name != "" {
		page.Who = &r.who
	}
	if err := c.write(w, f.Status, "error", page); err != nil {
		http.Error(w, "the page could not be made", http.StatusInternalServerError)
	}
}
