package admin

import (
	"container/list"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/exporter-toolkit/web"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/internal/access"
	"github.com/helenus-db/helenus/internal/access/openid"
	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/rewrite"
	"github.com/helenus-db/helenus/rewrite/calendar"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// Advisor is what the API needs of package advisor.
type Advisor interface {
	// Latest is the last advice worked out in this process; nil before the first.
	Latest() *recommend.Advice
	// Refresh works it out now.
	Refresh(ctx context.Context) (*recommend.Advice, error)
	// Trouble says why the latest round failed; "" if it did not.
	Trouble() string
	// Recommendations are all that are remembered, also from before a restart; Recommendation is one of them.
	Recommendations(ctx context.Context) ([]recommend.Recommendation, error)
	Recommendation(ctx context.Context, id string) (recommend.Recommendation, error)
	// Dismiss, Snooze and Reopen are decisions; Admit is what an approval is, in the transaction in which the change begins.
	Dismiss(ctx context.Context, id, reason, actor string) (recommend.Recommendation, error)
	Snooze(ctx context.Context, id string, length time.Duration, reason, actor string) (recommend.Recommendation, error)
	Reopen(ctx context.Context, id, reason, actor string) (recommend.Recommendation, error)
	Admit(actor string, despite ...plan.Overrule) change.Admission
}

// Migrator is what the API needs of package rewrite.
type Migrator interface {
	ApproveOn(ctx context.Context, id string, lu plan.Rewrite, terms migrate.Terms) (migrate.Change, error)
	Rollback(ctx context.Context, id, actor string) error
	Hold(ctx context.Context, id, actor string) error
	CutOver(ctx context.Context, id, actor string) error
	Throttle(ctx context.Context, id string, o migrate.ThrottleOrder, actor string) error
	Resume(ctx context.Context, id, actor string) error
	Verify(ctx context.Context, id, actor string) error
	Drop(ctx context.Context, id, actor string) error
	// Spark writes the script that fills a change's table elsewhere, Filled says that it has.
	Spark(id string) (string, error)
	Filled(ctx context.Context, id, actor string) error
	Migrations() []migrate.Change
	// CDCTables are those that CDC agents have to know, Told takes what one tells.
	CDCTables() ([]rewrite.CDCTable, error)
	Told(ctx context.Context, report *rewrite.CDCReport) (rewrite.CDCFindings, error)
	// Bypass switches the kill-switch, Bypassed is its state.
	Bypass(ctx context.Context, on bool, actor string) error
	Bypassed() rewrite.Bypass
	// Beforehand is what to know of the cluster before a change is approved, Sightings who was seen to be connected past Helenus.
	Beforehand(c *plan.Rewrite) []string
	Sightings() rewrite.Sightings
}

// Check is one condition of readiness.
type Check struct {
	Name  string `json:"name"`
	Ready bool   `json:"ready"`
	Why   string `json:"why,omitempty"` // if it is not; or what a person should know all the same
	// Detail is for people: what is there.
	Detail string `json:"detail,omitempty"`
}

// Options says what a Server serves. All fields but Pprof, MetricsToken, Approvers, WebConfig and Pages are needed.
type Options struct {
	Gate         *access.Gate
	OpenID       *openid.Provider // nil: people log in with tokens alone
	Audit        Audit
	Proposals    Proposals
	Approvers    int    // persons that must approve; 0: 1
	MetricsToken bool   // /metrics is for viewers
	WebConfig    string // file of exporter-toolkit, of TLS; "": none is spoken
	Pprof        bool
	Statements   func() *capture.Snapshot // since the process started
	History      Memory
	Trace        Trace
	Schemas
	Changes   Changes
	Advisor   Advisor
	Corrector Corrector
	Migrator  Migrator
	Calendars Calendars
	// Members are the processes that share the state; nil: there is this one.
	Members Members
	// Connections lists the client connections, to be written as JSON.
	Connections func() any
	Windows     Windows
	Ready       func() []Check
	Metrics     prometheus.Gatherer
	Log         *slog.Logger
	// Pages makes what is served at / and below /ui/, of the server that its pages ask; nil: nothing is.
	Pages func(*Server) http.Handler
}

// Server is the admin API.
type Server struct {
	o        Options
	api      http.Handler // for Ask
	stopping chan struct{}
	http     http.Server
	bounds   bounds
	requests requests

	patterns []string // of the API's routes
}

// New makes a server; nothing is listened on yet.
func New(o Options) *Server {
	s := &Server{o: o, stopping: make(chan struct{})}
	s.bounds.most, s.bounds.open = share(descriptors()), map[net.Conn]*list.Element{}
	s.http.Handler = timely(s.requests.counted(caught(s.Handler())))
	s.http.ReadHeaderTimeout, s.http.IdleTimeout, s.http.MaxHeaderBytes = headerTimeout, idleTimeout, maxHeader
	s.http.ConnState = s.bounds.changed
	s.http.ErrorLog = slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug)
	s.http.RegisterOnShutdown(sync.OnceFunc(func() { close(s.stopping) }))
	return s
}

// Serve answers on l until Shutdown.
func (s *Server) Serve(l net.Listener) error {
	if err := web.Serve(l, &s.http, &web.FlagConfig{WebConfigFile: &s.o.WebConfig}, s.o.Log); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Shutdown stops listening and lets the requests under way end.
func (s *Server) Shutdown(ctx context.Context) error { return s.http.Shutdown(ctx) }

// maxBody bounds what a client may send, bytes.
const maxBody = 1 << 20

// bodyBound is what a client may send to a route, bytes.
func bodyBound(pattern string) int64 {
	if strings.HasPrefix(pattern, "POST /api/v1/model/") {
		return maxModel
	}
	return maxBody
}

// Handler is the whole API.
func (s *Server) Handler() http.Handler {
	api := http.NewServeMux()
	route := func(pattern string, h func(r *http.Request) (any, error)) {
		s.patterns = append(s.patterns, pattern)
		api.Handle(pattern, s.allowed(Needed(pattern), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Body = http.MaxBytesReader(w, r.Body, bodyBound(pattern))
			var answer any
			err := readable(pattern, r)
			if err == nil {
				answer, err = h(r)
			}
			if answered(r, answer, err) {
				return
			}
			switch text, isText := answer.(text); {
			case err != nil:
				s.o.Log.Debug("request refused", "method", r.Method, "path", r.URL.Path, "error", err)
				writeError(w, err)
			case isFile(w, answer):
			case isText:
				w.Header().Set("Content-Type", "text/plain; charset=utf-8")
				_, _ = io.WriteString(w, string(text))
			default:
				if _, proposed := answer.(*Proposed); proposed {
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(http.StatusAccepted)
				}
				writeJSON(w, answer)
			}
		})))
	}
	s.accessRoutes(route)
	s.statementRoutes(route)
	s.cycleRoutes(route)
	s.calendarRoutes(route)
	route("GET /api/v1/status", s.status)
	s.modelRoutes(route)
	route("GET /api/v1/connections", func(*http.Request) (any, error) { return s.o.Connections(), nil })
	route("GET /api/v1/others", func(*http.Request) (any, error) { return s.o.Migrator.Sightings(), nil })
	route("GET /api/v1/recommendations", s.recommendations)
	route("GET /api/v1/recommendations/{id}", s.recommendation)
	s.changeRoutes(route)
	route("POST /api/v1/advise", s.advise)
	s.values(route)
	s.cdcRoutes(route)
	route("GET /api/v1/bypass", func(*http.Request) (any, error) { return s.o.Migrator.Bypassed(), nil })
	route("POST /api/v1/bypass/on", s.bypass(true))
	route("POST /api/v1/bypass/off", s.bypass(false))
	route("GET /api/v1/members", func(*http.Request) (any, error) { return s.fleet(), nil })
	route("DELETE /api/v1/members/{id}", s.removeMember)
	api.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		if methods := answering(api, r); len(methods) > 0 {
			w.Header().Set("Allow", strings.Join(methods, ", "))
			writeError(w, &Error{Status: http.StatusMethodNotAllowed, Code: "not_found", Message: fmt.Sprintf("there is no %s %s, but %s", r.Method, r.URL.Path, strings.Join(methods, " and "))})
			return
		}
		writeError(w, notFound("there is no "+r.Method+" "+r.URL.Path+"; docs/operating.md lists what there is"))
	})

	s.api = api

	all := http.NewServeMux()
	if s.o.Pages != nil {
		pages := s.o.Pages(s)
		all.Handle("GET /{$}", http.RedirectHandler("/ui/", http.StatusSeeOther))
		all.Handle("/ui", http.RedirectHandler("/ui/", http.StatusSeeOther))
		all.Handle("/ui/", pages)
	}
	all.Handle("/api/", s.identified(api))
	all.HandleFunc("POST /api/v1/session", s.session)
	all.HandleFunc("DELETE /api/v1/session", s.session)
	metrics := promhttp.HandlerFor(s.o.Metrics, promhttp.HandlerOpts{EnableOpenMetrics: true, ErrorLog: slog.NewLogLogger(s.o.Log.Handler(), slog.LevelWarn)})
	if s.o.MetricsToken {
		metrics = s.identified(s.allowed(access.Viewer, metrics))
	}
	all.Handle("GET /metrics", metrics)
	all.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	all.HandleFunc("GET /readyz", s.ready)
	if s.o.Pprof {
		for path, h := range map[string]http.HandlerFunc{
			"": pprof.Index, "cmdline": pprof.Cmdline, "profile": pprof.Profile, "symbol": pprof.Symbol, "trace": pprof.Trace,
		} {
			all.Handle("/debug/pprof/"+path, s.identified(s.allowed(access.Admin, h)))
		}
	}
	return s.careful(all)
}

// answering are the methods that have a route where a request goes.
func answering(routes *http.ServeMux, r *http.Request) (methods []string) {
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		other := *r
		other.Method = method
		if _, pattern := routes.Handler(&other); strings.HasPrefix(pattern, method+" ") {
			methods = append(methods, method)
		}
	}
	return methods
}

// text is an answer for people.
type text string

func textOf(write func(io.Writer) error) (any, error) {
	var b strings.Builder
	if err := write(&b); err != nil {
		return nil, err
	}
	return text(b.String()), nil
}

func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	checks := s.o.Ready()
	w.Header().Set("Content-Type", "application/json")
	for _, c := range checks {
		if !c.Ready {
			w.WriteHeader(http.StatusServiceUnavailable)
			break
		}
	}
	writeJSON(w, checks)
}

func wantsText(r *http.Request) bool { return r.URL.Query().Get("format") == "text" }

func (s *Server) advise(r *http.Request) (any, error) {
	if _, err := s.o.Advisor.Refresh(r.Context()); err != nil {
		return nil, err
	}
	return s.recommendations(r)
}

// Recommendations is the answer to GET recommendations: the advice without the model.
type Recommendations struct {
	At              time.Time                  `json:"at"` // of the last round in this process; zero if there was none
	Recommendations []recommend.Recommendation `json:"recommendations"`
	Dismissed       []recommend.Dismissal      `json:"dismissed"`
	Timeline        string                     `json:"timeline,omitempty"` // why no calendar is advised
	Trouble         string                     `json:"trouble,omitempty"`  // why the latest round failed: the rest is of the one before
	Problems        []string                   `json:"problems,omitempty"` // what that round could not work out, or not as well as it might, and why
}

func (s *Server) recommendations(r *http.Request) (any, error) {
	all, err := s.o.Advisor.Recommendations(r.Context())
	if err != nil {
		return nil, err
	}
	out := Recommendations{Recommendations: []recommend.Recommendation{}, Dismissed: []recommend.Dismissal{}, Trouble: s.o.Advisor.Trouble()}
	for _, one := range all {
		out.Recommendations = append(out.Recommendations, s.joined(r.Context(), one))
	}
	if a := s.o.Advisor.Latest(); a != nil {
		out.At, out.Dismissed, out.Timeline, out.Problems = a.At, append(out.Dismissed, a.Dismissed...), a.Timeline, a.Problems
	}
	return out, nil
}

// joined adds the state of the change that carries a recommendation out.
func (s *Server) joined(ctx context.Context, r recommend.Recommendation) recommend.Recommendation {
	for _, m := range s.o.Migrator.Migrations() {
		if m.ID == r.ID {
			r.Migration, r.Pending, r.Waits = string(m.State), m.Pending, m.Waits()
			if m.Gain != nil && m.State != migrate.Dropped {
				r.Measured = m.Gain.Text
			}
		}
	}
	if why := s.awaits(ctx, &r); why != "" {
		r.Waits = why
	}
	switch {
	case r.State != recommend.Open:
	case r.Rewrite != nil && r.Executable():
		r.Beforehand = s.o.Migrator.Beforehand(r.Rewrite)
	case r.Timeline != nil && len(r.Timeline.Calendar.Seasons) > 0:
		r.Beforehand = s.o.Migrator.Beforehand(&r.Timeline.Calendar.Seasons[0].Rewrite)
	}
	if c, err := s.o.Calendars.Calendar(r.ID); err == nil && r.State == recommend.Approved {
		r.Migration = string(c.State)
	}
	return r
}

func (s *Server) recommendation(r *http.Request) (any, error) {
	one, err := s.o.Advisor.Recommendation(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	one = s.joined(r.Context(), one)
	if !wantsText(r) {
		return one, nil
	}
	return textOf(func(w io.Writer) error { return recommend.Explain(w, one) })
}

// Decision is the body of every POST that decides something.
type Decision struct {
	Actor  string `json:"actor"`            // who decides, if the token is the bootstrap one; else it is whoever the token names
	Reason string `json:"reason,omitempty"` // needed to dismiss and to snooze
	For    string `json:"for,omitempty"`    // of a snooze: how long, like 168h
	// Limits of a calendar that is approved, and whether one that is withdrawn leaves nothing that serves.
	Limits *calendar.Limits `json:"limits,omitempty"`
	Drop   bool             `json:"drop,omitempty"`
	// OnEntryFailure, of an approval, is what becomes of a write whose entry can not be written: turn-back (the default) or refuse.
	OnEntryFailure string `json:"on_entry_failure,omitempty"`
	// Hold, of an approval, keeps the change in shadow until the cut-over is ordered.
	Hold bool `json:"hold,omitempty"`
	// Fill, of an approval, is who fills the table: own (the default) or bulk, which waits for a bulk job.
	Fill string `json:"fill,omitempty"`
	// Despite, of an approval, are conditions that are overruled, each with the statement because of which it refuses: as plan.ExampleOverrule.
	Despite []string `json:"despite,omitempty"`
	// Rate and Paused are for throttling a change: rows a second (0: as the settings say), and whether none are filled and compared. What is left out stays as it is.
	Rate   *int  `json:"rate,omitempty"`
	Paused *bool `json:"paused,omitempty"`
	// Choice answers a question: the number of a candidate, or its answer.
	Choice string `json:"choice,omitempty"`
}

// terms are what an approval says of how a change is carried out.
func (d *Decision) terms() (migrate.Terms, error) {
	t := migrate.Terms{Actor: d.Actor, OnEntryFailure: d.OnEntryFailure, Fill: d.Fill, Hold: d.Hold}
	if err := t.Check(); err != nil {
		return t, invalid(err.Error())
	}
	for _, text := range d.Despite {
		o, err := plan.ParseOverrule(text)
		if err != nil {
			return t, invalid("despite: " + err.Error())
		}
		t.Despite = append(t.Despite, o)
	}
	return t, nil
}

// ofChange tells whether a decision says what only the approval of a change can.
func (d *Decision) ofChange() bool {
	return d.OnEntryFailure != "" || d.Fill != "" || d.Hold || len(d.Despite) > 0
}

// decision reads the body of an order that needs neither limits nor drop. One that has them is refused: who sent them would believe that they count.
func decision(r *http.Request) (Decision, error) {
	d, err := anyDecision(r)
	if err == nil {
		err = d.plain()
	}
	return d, err
}

// plain refuses what only some orders have.
func (d *Decision) plain() (err error) {
	if d.ofChange() {
		err = invalid("on_entry_failure, fill, hold and despite are for approving a change: this order has none of them")
	}
	if err == nil && d.Choice != "" {
		err = invalid("choice is for answering a question: this order has none")
	}
	if err == nil && (d.Limits != nil || d.Drop) {
		err = invalid("limits are for approving a timeline, drop is for withdrawing its calendar: this order has neither")
	}
	if err == nil && d.For != "" {
		err = invalid("for is how long to snooze: this order lasts")
	}
	return err
}

// anyDecision reads the body of an order that may say anything but a pace.
func anyDecision(r *http.Request) (Decision, error) {
	d, err := readDecision(r)
	if err == nil && (d.Rate != nil || d.Paused != nil) {
		err = invalid("rate and paused are for throttling a change: this order has neither")
	}
	return d, err
}

func readDecision(r *http.Request) (Decision, error) {
	var d Decision
	err := body(r, &d, `{"actor": "ann", "reason": "..."}`)
	if err != nil {
		return d, err
	}
	if len(d.Reason) > maxReason {
		return d, invalid(fmt.Sprintf("the reason has %d bytes; %d are enough", len(d.Reason), maxReason))
	}
	d.Actor, err = actorOf(r, d.Actor)
	return d, err
}

// maxReason bounds the reason that a person gives, bytes.
const maxReason = 4000

// body reads the body of a request, which may be empty.
func body(r *http.Request, v any, example string) error {
	in := json.NewDecoder(r.Body)
	in.DisallowUnknownFields()
	err := in.Decode(v)
	if err == nil {
		if _, more := in.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is something after it")
		}
	}
	var large *http.MaxBytesError
	var other *json.UnmarshalTypeError
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return nil
	case errors.As(err, &large):
		return &Error{Status: http.StatusRequestEntityTooLarge, Code: "invalid", Message: fmt.Sprintf("the body is larger than %d bytes", large.Limit)}
	case errors.As(err, &other) && other.Field != "": // in the words of JSON, not of Go
		err = fmt.Errorf("%s may not be %s", other.Field, other.Value)
	case errors.As(err, &other):
		err = fmt.Errorf("it may not be %s", other.Value)
	}
	return invalid(fmt.Sprintf("the body must be JSON such as %s: %v", example, err))
}

func (s *Server) bypass(on bool) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		d, err := decision(r)
		if err != nil {
			return nil, err
		}
		if err := s.o.Migrator.Bypass(r.Context(), on, d.Actor); err != nil {
			return nil, err
		}
		return s.o.Migrator.Bypassed(), nil
	}
}
