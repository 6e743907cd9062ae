package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// result is what became of an event at an address, or of an attempt.
type result string

const (
	delivered result = "delivered"
	retried   result = "retried"   // an attempt that failed and is made again
	refused   result = "refused"   // the receiver does not want it: it is not sent again
	exhausted result = "exhausted" // all attempts failed
	dropped   result = "dropped"   // the queue was full, or Helenus ended
)

var results = []result{delivered, retried, refused, exhausted, dropped}

// errElsewhere is why a redirect is not followed.
var errElsewhere = errors.New("it redirects to another address; name that one")

// maxAnswer bounds what is read of an answer, for the connection's sake.
const maxAnswer = 4 << 10

// newClient is a client that sends nothing to another host than the one it was told: a redirect there would give the message, which may be signed, to
// whoever the receiver says. On the same host 307 and 308 are followed, which keep the message; the others would ask for a page.
func newClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // it is one
	transport.MaxIdleConns, transport.MaxResponseHeaderBytes = 1, 64<<10
	return &http.Client{Transport: transport, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		first := via[0].URL
		if r.Method != http.MethodPost || r.URL.Host != first.Host || r.URL.Scheme != first.Scheme || len(via) > 3 {
			return errElsewhere
		}
		return nil
	}}
}

// attempt sends once. wish is for how long the receiver wants to be left alone.
func (t *Teller) attempt(ctx context.Context, to *target, d delivery) (is result, wish time.Duration) {
	body, err := d.event.body(to.format, d.id, t.o.Console)
	if err != nil {
		return refused, 0
	}
	ctx, cancel := context.WithTimeout(ctx, t.o.Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.url, bytes.NewReader(body))
	if err != nil {
		t.o.Log.Error("a webhook can not be called", "to", to.host(), "error", plain(err))
		return refused, 0
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", t.o.Agent)
	r.Header.Set("X-Helenus-Event", d.event.Kind)
	r.Header.Set("X-Helenus-Delivery", d.id)
	if t.o.Secret != "" {
		sign(r.Header, t.o.Secret, t.o.Clock.Now(), body)
	}
	answer, err := to.client.Do(r)
	if err != nil {
		if answer != nil {
			_ = answer.Body.Close()
		}
		t.o.Log.Warn("a webhook was not delivered", "to", to.host(), "event", d.event.Kind, "error", plain(err))
		if errors.Is(err, errElsewhere) {
			return refused, 0
		}
		return retried, 0
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxAnswer))
	_ = answer.Body.Close()
	is = verdict(answer.StatusCode)
	if is != delivered {
		t.o.Log.Warn("a webhook was not taken", "to", to.host(), "event", d.event.Kind, "status", answer.StatusCode)
	}
	if s, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil && s > 0 {
		wish = time.Duration(min(s, 1<<20)) * time.Second
	}
	return is, wish
}

// verdict is what an answer means: what may be otherwise soon is tried again.
func verdict(status int) result {
	switch {
	case status >= 200 && status < 300:
		return delivered
	case status >= 500, status == http.StatusTooManyRequests, status == http.StatusRequestTimeout, status == http.StatusTooEarly:
		return retried
	}
	return refused
}

// done counts what became of an event, and logs what was not delivered.
func (t *Teller) done(to *target, d delivery, r result) {
	t.counts.deliveries.WithLabelValues(string(to.format), string(r)).Inc()
	if r != delivered {
		t.o.Log.Warn("nobody was told of an event", "to", to.host(), "event", d.event.Kind, "result", string(r))
	}
}

// host is what the log says of an address, which may be a secret.
func (to *target) host() string {
	u, err := url.Parse(to.url)
	if err != nil {
		return string(to.format)
	}
	return u.Host
}

// plain is an error without the address that it is about.
func plain(err error) string {
	var about *url.Error
	if errors.As(err, &about) {
		return fmt.Sprintf("%s: %v", about.Op, about.Err)
	}
	return err.Error()
}
