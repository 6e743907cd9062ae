package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
)

// Ask answers what the API answers to a request, without one: the routes, the checks and the errors are the same. Whoever asks is whom
// the context names (see Who). An error is an *Error.
func (s *Server) Ask(ctx context.Context, method, path string, order *Decision) (any, error) {
	body := []byte{}
	if order != nil {
		var err error
		if body, err = json.Marshal(order); err != nil {
			return nil, invalid(err.Error())
		}
	}
	var a asked
	r, err := http.NewRequestWithContext(context.WithValue(ctx, askedKey{}, &a), method, "/api/v1/"+path, bytes.NewReader(body))
	if err != nil {
		return nil, invalid(err.Error())
	}
	r.Header.Set("Content-Type", "application/json")
	var w refusal
	s.api.ServeHTTP(&w, r)
	switch {
	case !a.done:
		return nil, w.error()
	case a.err != nil:
		return nil, classify(a.err)
	}
	return a.answer, nil
}

type askedKey struct{}

// asked takes the answer to Ask.
type asked struct {
	answer any
	err    error
	done   bool
}

// answered gives an answer to Ask, if it asked.
func answered(r *http.Request, answer any, err error) bool {
	a, ok := r.Context().Value(askedKey{}).(*asked)
	if ok {
		*a = asked{answer, err, true}
	}
	return ok
}

// refusal takes what is written before a route is reached: that there is none, or that it may not be taken.
type refusal struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func (w *refusal) Header() http.Header {
	if w.header == nil {
		w.header = http.Header{}
	}
	return w.header
}

func (w *refusal) WriteHeader(code int) { w.code = code }

func (w *refusal) Write(p []byte) (int, error) { return w.body.Write(p) }

func (w *refusal) error() error {
	e := &Error{Code: "internal"}
	if json.Unmarshal(w.body.Bytes(), e) != nil || e.Message == "" {
		e.Message = "there is no such page"
	}
	if e.Status = w.code; e.Status < http.StatusBadRequest {
		e.Status = http.StatusNotFound
	}
	return e
}
