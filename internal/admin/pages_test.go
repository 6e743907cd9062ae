package admin

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/access"
)

// TestSessions turns a token into a cookie, by which Ask knows who asks.
func TestSessions(t *testing.T) {
	p := &parts{all: []recommend.Recommendation{{ID: "r-1", State: recommend.Open}}}
	s := paged(t, p, nil)
	who := func(cookies []*http.Cookie) (context.Context, Person, error) {
		r := httptest.NewRequest(http.MethodGet, "/ui/", nil)
		for _, c := range cookies {
			r.AddCookie(c)
		}
		return s.Who(r)
	}
	begin := func(token string) ([]*http.Cookie, error) {
		w := httptest.NewRecorder()
		err := s.Begin(w, httptest.NewRequest(http.MethodPost, "/ui/login", nil), token)
		return w.Result().Cookies(), err
	}
	if c, err := begin("other"); err == nil || len(c) > 0 {
		t.Error("a wrong token is taken")
	}
	if _, _, err := who(nil); err == nil {
		t.Error("nobody is somebody")
	}
	cookies, err := begin("secret")
	if err != nil || len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteStrictMode {
		t.Fatalf("%+v, %v", cookies, err)
	}
	ctx, i, err := who(cookies)
	if err != nil || !i.Claims {
		t.Fatalf("%+v, %v", i, err)
	}
	if _, err := s.Ask(ctx, http.MethodGet, "recommendations/r-1", nil); err != nil {
		t.Error(err)
	}
	if _, err := s.Ask(context.Background(), http.MethodGet, "recommendations/r-1", nil); err == nil {
		t.Error("it answers nobody")
	}
	r := httptest.NewRequest(http.MethodPost, "/ui/logout", nil)
	r.AddCookie(cookies[0])
	s.End(httptest.NewRecorder(), r)
	if _, _, err := who(cookies); err == nil {
		t.Error("it was not ended")
	}
}

// paged is a server that does not listen.
func paged(t *testing.T, p *parts, pages func(*Server) http.Handler) *Server {
	t.Helper()
	state, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = state.Close() })
	tokens, err := access.LoadTokens(context.Background(), state, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	gate := access.New(access.Options{Bootstrap: "secret", Tokens: tokens, Hosts: access.NewHosts("127.0.0.1:0", nil), Log: log})
	return New(Options{Gate: gate, Audit: state, Proposals: state, Log: log, Advisor: p, Migrator: migrator{p}, Calendars: calendars{p}, Pages: pages})
}

// TestAsk gives the answers and the errors of the API.
func TestAsk(t *testing.T) {
	p := &parts{all: []recommend.Recommendation{{ID: "r-1", State: recommend.Open}}}
	s := paged(t, p, nil)
	ctx := as(context.Background(), access.Identity{Name: "ann", Role: access.Admin})
	got, err := s.Ask(ctx, http.MethodGet, "recommendations/r-1", nil)
	if one, ok := got.(recommend.Recommendation); err != nil || !ok || one.ID != "r-1" {
		t.Errorf("%T, %v", got, err)
	}
	if _, err := s.Ask(ctx, http.MethodPost, "recommendations/r-1/reject", &Decision{Actor: "ann", Reason: "dear"}); err != nil || p.all[0].State != recommend.Rejected || p.all[0].Actor != "ann" {
		t.Errorf("%v, %+v", err, p.all)
	}
	for path, status := range map[string]int{
		"recommendations/r-2": 404, "nowhere": 404, "recommendations/..": 404, "recommendations/%zz": 400, "recommendations/\n": 400,
	} {
		_, err := s.Ask(ctx, http.MethodGet, path, nil)
		if e := new(Error); !errors.As(err, &e) || e.Status != status || e.Message == "" {
			t.Errorf("%q: %v, want %d", path, err, status)
		}
	}
	if _, err := s.Ask(ctx, http.MethodPost, "recommendations/r-1/reject", &Decision{}); err == nil {
		t.Error("rejected without a reason")
	}
}

// TestPages are served where they belong, and only if there are any.
func TestPages(t *testing.T) {
	get := func(pages func(*Server) http.Handler, path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		s := paged(t, &parts{}, pages)
		s.http.Handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1:1"+path, nil))
		return w
	}
	teapot := func(*Server) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	}
	for path, code := range map[string]int{"/": 303, "/ui": 303, "/ui/": 418, "/ui/x": 418, "/other": 404, "/api/v1/model": 401} {
		if got := get(teapot, path); got.Code != code || code == 303 && got.Header().Get("Location") != "/ui/" {
			t.Errorf("%s: %d", path, got.Code)
		}
	}
	if got := get(nil, "/ui/"); got.Code != 404 {
		t.Errorf("without pages: %d", got.Code)
	}
}
