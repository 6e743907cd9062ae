package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/config"
	"github.com/helenus-db/helenus/internal/guard"
)

// receiver answers as told, and remembers what it got.
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	bodies  []string
	headers []http.Header
	got     chan struct{}
}

// receive answers with the codes given, one after the other, then with 204; a code of 0 is no answer until the request is given up.
func receive(t *testing.T, codes ...int) *receiver {
	t.Helper()
	r := &receiver{got: make(chan struct{}, 1000)}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		r.mu.Lock()
		code := http.StatusNoContent
		if len(codes) > 0 {
			code, codes = codes[0], codes[1:]
		}
		r.bodies, r.headers = append(r.bodies, string(body)), append(r.headers, q.Header.Clone())
		r.mu.Unlock()
		r.got <- struct{}{}
		if code == 0 {
			<-q.Context().Done()
			return
		}
		if code == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", "60")
		}
		w.WriteHeader(code)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) await(t *testing.T, n int) {
	t.Helper()
	for range n {
		select {
		case <-r.got:
		case <-time.After(20 * time.Second):
			t.Fatal("nothing came")
		}
	}
}

func (r *receiver) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.bodies...)
}

// hand is a clock whose pauses are over at once; it tells what they were.
type hand struct {
	mu     sync.Mutex
	pauses []time.Duration
}

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

func (h *hand) clock() guard.Clock {
	return guard.Clock{Now: func() time.Time { return noon }, After: func(d time.Duration) <-chan time.Time {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.pauses = append(h.pauses, d)
		c := make(chan time.Time, 1)
		c <- noon
		return c
	}}
}

func (h *hand) waited() []time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]time.Duration(nil), h.pauses...)
}

// begin runs a Teller until the test ends, or end is called.
func begin(t *testing.T, o Options) (teller *Teller, log *safe, end func()) {
	t.Helper()
	log = &safe{}
	o.Log = slog.New(slog.NewTextHandler(log, nil))
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	teller = New(o)
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() { defer close(over); teller.Run(ctx) }()
	end = func() {
		cancel()
		select {
		case <-over:
		case <-time.After(20 * time.Second):
			t.Error("it does not end")
		}
	}
	t.Cleanup(end)
	return teller, log, end
}

type safe struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safe) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safe) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func (t *Teller) count(f Format, r result) float64 {
	return testutil.ToFloat64(t.counts.deliveries.WithLabelValues(string(f), string(r)))
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

var suspended = store.Entry{At: noon, Actor: store.Guard, Action: "suspend", Target: "r-7f3a9c", Before: "serving", After: "suspended",
	Reason: "a value 4711 of ann@example.org was refused [Cassandra: Invalid string constant (hush)]"}

func TestWhatIsSent(t *testing.T) {
	plain, slack := receive(t), receive(t)
	teller, _, end := begin(t, Options{
		URLs: []string{plain.URL + "/hook?key=hush"}, Slack: []string{slack.URL}, Secret: "secret", Console: "https://helenus.example.org/", Agent: "helenus/1",
		Clock: (&hand{}).clock(), Describe: func(_ context.Context, c *Change) {
			c.Title, c.Keyspace, c.Table = "orders <by> customer", "shop", "orders"
		},
	})
	teller.Decided([]store.Entry{suspended})
	plain.await(t, 1)
	slack.await(t, 1)
	end()
	var m message
	if err := json.Unmarshal([]byte(plain.all()[0]), &m); err != nil {
		t.Fatal(err)
	}
	want := Change{ID: "r-7f3a9c", Title: "orders <by> customer", Keyspace: "shop", Table: "orders", Before: "serving", After: "suspended"}
	if m.Kind != "change.suspended" || *m.Change != want || !m.Time.Equal(noon) || m.Link != "https://helenus.example.org/ui/changes/r-7f3a9c" || m.Delivery == "" ||
		!strings.HasPrefix(m.Text, "r-7f3a9c (orders <by> customer) is suspended: ") {
		t.Errorf("%s", plain.all()[0])
	}
	var s struct{ Text string }
	if err := json.Unmarshal([]byte(slack.all()[0]), &s); err != nil || !strings.Contains(s.Text, "orders &lt;by&gt; customer") ||
		!strings.HasSuffix(s.Text, "<https://helenus.example.org/ui/changes/r-7f3a9c|Open in the console>") {
		t.Errorf("%s, %v", slack.all()[0], err)
	}
	for _, text := range append(plain.all(), slack.all()...) {
		for _, secret := range []string{"4711", "ann@", "hush", "secret"} {
			if strings.Contains(text, secret) {
				t.Errorf("%q is in %s", secret, text)
			}
		}
	}
	h := plain.headers[0]
	sum := hmac.New(sha256.New, []byte("secret"))
	sum.Write([]byte("1795694400." + plain.all()[0]))
	if got := h.Get("X-Helenus-Signature"); got != "t=1795694400,v1="+hex.EncodeToString(sum.Sum(nil)) {
		t.Errorf("signed %s", got)
	}
	if h.Get("X-Helenus-Event") != "change.suspended" || h.Get("X-Helenus-Delivery") != m.Delivery || h.Get("User-Agent") != "helenus/1" || h.Get("Content-Type") != "application/json" {
		t.Errorf("headers %v", h)
	}
}

// Which lines of the trail people are told of; each kind has its sentence.
func TestWhichEvents(t *testing.T) {
	for _, test := range []struct{ before, after, want string }{
		{"shadow", "serving", "change.serving"}, {"serving", "verify", "change.turned-back"}, {"serving", "dual-write", "change.turned-back"},
		{"serving", "suspended", "change.suspended"}, {"backfill", "failed", "change.failed"}, {"rolling-back", "rolled-back", "change.rolled-back"},
		{"following", "paused", "calendar.paused"}, {"withdrawing", "withdrawn", "calendar.ended"},
		{"verify", "verify", ""}, {"backfill", "verify", ""}, {"open", "approved", ""}, {"open", "rejected", ""}, {"off", "on", ""}, {"serving", "rolling-back", ""}, {"", "proposed", ""},
		{"suspended", "suspended", ""},
	} {
		e, ok := of(&store.Entry{Target: "r-1", Before: test.before, After: test.after})
		if e.Kind != test.want || ok != (test.want != "") {
			t.Errorf("%s to %s: %q", test.before, test.after, e.Kind)
		}
	}
	for _, kind := range config.WebhookEvents {
		if sentences[kind] == "" {
			t.Errorf("%s has no sentence", kind)
		}
	}
	if len(sentences) != len(config.WebhookEvents) {
		t.Errorf("%d sentences, %d kinds", len(sentences), len(config.WebhookEvents))
	}
}

// Only what is wanted is told: not the rest, and nothing at all without addresses.
func TestOnlyWhatIsWanted(t *testing.T) {
	r := receive(t)
	teller, _, end := begin(t, Options{URLs: []string{r.URL}, Events: []string{"advice.new", "state.lost"}})
	teller.Decided([]store.Entry{suspended})
	teller.Advised(noon, []Change{{ID: "r-1"}, {ID: "r-2"}})
	teller.StateLost()
	r.await(t, 3)
	end()
	if all := strings.Join(r.all(), ""); len(r.all()) != 3 || strings.Contains(all, "suspended") || !strings.Contains(all, "New advice: r-2") || !strings.Contains(all, "lost its state") {
		t.Errorf("%s", all)
	}
	silent, _, _ := begin(t, Options{})
	silent.Decided([]store.Entry{suspended})
	if n := testutil.ToFloat64(silent.counts.events.WithLabelValues("change.suspended")); n != 0 {
		t.Errorf("%v events without an address", n)
	}
}

// A receiver that fails is tried again after growing pauses, with the same delivery, and one that asks for a pause gets it.
func TestItIsTriedAgain(t *testing.T) {
	r, h := receive(t, 500, 429, 503), &hand{}
	teller, _, end := begin(t, Options{URLs: []string{r.URL}, Clock: h.clock()})
	teller.Decided([]store.Entry{suspended})
	r.await(t, 4)
	eventually(t, "it was not delivered", func() bool { return teller.count(JSON, delivered) == 1 })
	end()
	if got := h.waited(); len(got) != 3 || got[0] != time.Second || got[1] != time.Minute || got[2] != 30*time.Second {
		t.Errorf("pauses %v", got)
	}
	if all := r.all(); all[0] != all[3] || teller.count(JSON, retried) != 3 {
		t.Errorf("%v, %v retried", all, teller.count(JSON, retried))
	}
}

// After all attempts it is given up, and the next event has its turn.
func TestItIsGivenUp(t *testing.T) {
	codes := make([]int, len(pauses)+1)
	for i := range codes {
		codes[i] = 500
	}
	r, h := receive(t, codes...), &hand{}
	teller, log, end := begin(t, Options{URLs: []string{r.URL + "/hush"}, Clock: h.clock()})
	teller.Decided([]store.Entry{suspended})
	teller.StateLost()
	r.await(t, len(codes)+1)
	eventually(t, "the second was not delivered", func() bool { return teller.count(JSON, delivered) == 1 })
	end()
	if teller.count(JSON, exhausted) != 1 || len(h.waited()) != len(pauses) {
		t.Errorf("%v exhausted, pauses %v", teller.count(JSON, exhausted), h.waited())
	}
	if strings.Contains(log.String(), "hush") || !strings.Contains(log.String(), "result=exhausted") {
		t.Errorf("log:\n%s", log)
	}
}

// Who says that he is gone, or does not want it, is not asked again; nor is the address told to anybody who cannot be reached.
func TestRefusals(t *testing.T) {
	for _, code := range []int{400, 401, 404, 410, 301, 302} {
		r, h := receive(t, code), &hand{}
		teller, _, end := begin(t, Options{URLs: []string{r.URL}, Clock: h.clock()})
		teller.Decided([]store.Entry{suspended})
		eventually(t, "it was not refused", func() bool { return teller.count(JSON, refused) == 1 })
		end()
		if len(r.all()) != 1 || len(h.waited()) != 0 {
			t.Errorf("%d: asked %d times", code, len(r.all()))
		}
	}
	r, h := receive(t), &hand{}
	r.Close()
	teller, log, end := begin(t, Options{Slack: []string{r.URL + "/hush"}, Clock: h.clock()})
	teller.Decided([]store.Entry{suspended})
	eventually(t, "it was not given up", func() bool { return teller.count(Slack, exhausted) == 1 })
	end()
	if strings.Contains(log.String(), "hush") {
		t.Errorf("log:\n%s", log)
	}
}

// A redirect is followed on the same host, as the message; to another host nothing is sent.
func TestRedirects(t *testing.T) {
	elsewhere := receive(t)
	var self *httptest.Server
	var got []string
	self = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		switch q.URL.Path {
		case "/here":
			http.Redirect(w, q, "/there", http.StatusTemporaryRedirect)
		case "/there":
			got = append(got, q.Method+" "+string(body))
		case "/away":
			http.Redirect(w, q, elsewhere.URL, http.StatusPermanentRedirect)
		case "/round":
			http.Redirect(w, q, self.URL+"/round", http.StatusTemporaryRedirect)
		}
	}))
	t.Cleanup(self.Close)
	teller, _, end := begin(t, Options{URLs: []string{self.URL + "/here", self.URL + "/away", self.URL + "/round"}, Secret: "s"})
	teller.StateLost()
	eventually(t, "not all were tried", func() bool { return teller.count(JSON, delivered) == 1 && teller.count(JSON, refused) == 2 })
	end()
	if len(got) != 1 || !strings.HasPrefix(got[0], "POST {") || len(elsewhere.all()) != 0 {
		t.Errorf("got %v, elsewhere %v", got, elsewhere.all())
	}
}

// A receiver that does not answer holds nobody up: who decides goes on at once, what is too much goes, the oldest first, and the end comes in time.
func TestNobodyIsHeldUp(t *testing.T) {
	codes := make([]int, 10)
	r := receive(t, codes...)
	fast := receive(t)
	teller, _, end := begin(t, Options{URLs: []string{r.URL, fast.URL}, Timeout: time.Hour})
	teller.Decided([]store.Entry{suspended})
	r.await(t, 1) // and hangs
	begun := time.Now()
	for range waiting + 10 {
		teller.StateLost()
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("telling took %v", took)
	}
	fast.await(t, 2)
	if n := len(teller.targets[0].queue); n != waiting || teller.count(JSON, dropped) < 10 {
		t.Errorf("%d wait, %v were dropped", n, teller.count(JSON, dropped))
	}
	begun = time.Now()
	end()
	if took := time.Since(begun); took > 5*lastWords {
		t.Errorf("the end took %v", took)
	}
}

// At the end what waits is sent once more, without pauses.
func TestLastWords(t *testing.T) {
	r := receive(t, 500)
	never := guard.Clock{Now: func() time.Time { return noon }, After: func(time.Duration) <-chan time.Time { return nil }}
	teller, _, end := begin(t, Options{URLs: []string{r.URL}, Clock: never})
	teller.Decided([]store.Entry{suspended})
	teller.StateLost()
	eventually(t, "it does not wait for its second attempt", func() bool { return teller.count(JSON, retried) == 1 })
	end()
	if len(r.all()) != 3 || teller.count(JSON, delivered) != 2 {
		t.Errorf("%d requests, %v delivered", len(r.all()), teller.count(JSON, delivered))
	}
}
