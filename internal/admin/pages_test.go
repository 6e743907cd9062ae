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
)

// TestSessions turns a token into a cookie, which ends.
func TestSessions(t *testing.T) {
	s := New(Options{Token: "secret", Log: slog.New(slog.DiscardHandler), Migrator: migrator{&parts{}}, Calendars: calendars{&parts{}}})
	now := time.Now()
	s.door.now = func() time.Time { return now }
	ask := func(cookie *http.Cookie, header string) error {
		r := httptest.NewRequest(http.MethodGet, "/ui/", nil)
		if cookie != nil {
			r.AddCookie(cookie)
		}
		r.Header.Set("Authorization", header)
		_, _, err := s.Who(r)
		return err
	}
	begin := func(token string) *http.Cookie {
		w := httptest.NewRecorder()
		err := s.Begin(w, httptest.NewRequest(http.MethodPost, "/ui/login", nil), token)
		if (err == nil) != (len(w.Result().Cookies()) == 1) {
			t.Fatalf("%q: %v, %v", token, err, w.Result().Cookies())
		}
		if err != nil {
			return nil
		}
		return w.Result().Cookies()[0]
	}
	for _, wrong := range []string{"", "Secret", "secret2"} {
		if begin(wrong) != nil {
			t.Errorf("%q is taken", wrong)
		}
	}
	c := begin("secret")
	if c == nil || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Value == "secret" {
		t.Fatalf("%+v", c)
	}
	if err := ask(c, ""); err != nil {
		t.Error(err)
	}
	if err := ask(nil, "Bearer secret"); err != nil {
		t.Error(err)
	}
	for _, header := range []string{"", "Bearer other", "Bearer "} {
		if ask(nil, header) == nil || ask(&http.Cookie{Name: SessionCookie, Value: "made-up"}, header) == nil {
			t.Errorf("%q lets somebody in", header)
		}
	}
	now = now.Add(sessionFor)
	if ask(c, "") == nil {
		t.Error("it does not end")
	}
	c = begin("secret")
	r := httptest.NewRequest(http.MethodPost, "/ui/logout", nil)
	r.AddCookie(c)
	s.End(httptest.NewRecorder(), r)
	if ask(c, "") == nil {
		t.Error("it was not ended")
	}
	first := begin("secret")
	for range maxSessions {
		now = now.Add(time.Microsecond)
		c = begin("secret")
	}
	if ask(first, "") == nil || ask(c, "") != nil || len(s.sessions.all) > maxSessions {
		t.Errorf("%d sessions", len(s.sessions.all))
	}
}

// TestAsk gives the answers and the errors of the API.
func TestAsk(t *testing.T) {
	p := &parts{all: []recommend.Recommendation{{ID: "r-1", State: recommend.Open}}}
	s := New(Options{Token: "secret", Log: slog.New(slog.DiscardHandler), Advisor: p, Migrator: migrator{p}, Calendars: calendars{&parts{}}})
	ctx := context.Background()
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
		s := New(Options{Log: slog.New(slog.DiscardHandler), Migrator: migrator{&parts{}}, Calendars: calendars{&parts{}}, Pages: pages})
		s.http.Handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
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
