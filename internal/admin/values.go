package admin

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/helenus-db/helenus/capture/window"
)

// Windows is what the API needs of package window.
type Windows interface {
	Statistics() window.Statistics
	Findings() window.Findings
	Switch(on bool) (changed bool)
	Record(out io.Writer, done <-chan struct{}) (int, error)
}

// values are the routes about what is learnt from values.
func (s *Server) values(route func(string, func(*http.Request) (any, error))) {
	route("GET /api/v1/flows", func(*http.Request) (any, error) { return s.o.Statements().Flows(), nil })
	route("GET /api/v1/profiles", s.profiles)
	route("GET /api/v1/sampling", func(*http.Request) (any, error) { return s.o.Windows.Statistics(), nil })
	route("POST /api/v1/sampling/on", s.sampling(true))
	route("POST /api/v1/sampling/off", s.sampling(false))
	route("POST /api/v1/capture/record", s.record)
}

// profiles are without hashes, unless somebody asks for them to add them up with those of other processes.
func (s *Server) profiles(r *http.Request) (any, error) {
	p := s.o.Windows.Findings().Profiles
	if r.URL.Query().Get("hashes") != "true" {
		p = p.Derived()
	}
	return p, nil
}

func (s *Server) sampling(on bool) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		d, err := decision(r)
		if err != nil {
			return nil, err
		}
		if err := s.noted(r.Context(), map[bool]string{true: "sampling.on", false: "sampling.off"}[on], "sampling", d.Reason, d.Actor); err != nil {
			return nil, err
		}
		if s.o.Windows.Switch(on) {
			s.o.Log.Info("sampling of values switched", "on", on, "actor", d.Actor)
		}
		return s.o.Windows.Statistics(), nil
	}
}

// Bounds of a recording.
const maxRecordFor = 10 * time.Minute

// file is an answer of bytes.
type file []byte

func isFile(w http.ResponseWriter, answer any) bool {
	f, ok := answer.(file)
	if ok {
		w.Header().Set("Content-Type", "application/gzip")
		_, _ = w.Write(f)
	}
	return ok
}

// record answers with a trace of what is looked at from now on, for as long as is asked.
func (s *Server) record(r *http.Request) (any, error) {
	d, err := decision(r)
	if err != nil {
		return nil, err
	}
	length, err := time.ParseDuration(r.URL.Query().Get("for"))
	if err != nil || length <= 0 || length > maxRecordFor {
		return nil, invalid("for is how long to record, like 10s, at most " + maxRecordFor.String())
	}
	if err := s.noted(r.Context(), "capture.record", "values, hashed", d.Reason, d.Actor); err != nil {
		return nil, err
	}
	s.o.Log.Info("values are recorded, hashed", "for", length, "actor", d.Actor)
	ctx, cancel := context.WithTimeout(r.Context(), length)
	defer cancel()
	var out bytes.Buffer
	_, err = s.o.Windows.Record(&out, ctx.Done())
	if errors.Is(err, window.ErrOff) || errors.Is(err, window.ErrRecording) {
		return nil, &Error{Status: http.StatusConflict, Code: "refused", Message: err.Error()}
	}
	return file(out.Bytes()), err
}
