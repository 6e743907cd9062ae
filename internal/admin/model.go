package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/helenus-db/helenus/advisor"
	"github.com/helenus-db/helenus/advisor/infer"
)

// Corrector keeps what people say about the model; *advisor.Advisor is one.
type Corrector interface {
	Export(ctx context.Context, version int) (string, error)
	Diff(ctx context.Context, file string) ([]infer.Difference, int, error)
	Import(ctx context.Context, file, reason, actor string, dry bool) (*advisor.Imported, error)
	Reset(ctx context.Context, version int, reason, actor string, dry bool) (*advisor.Imported, error)
	Versions(ctx context.Context) ([]advisor.Version, error)
	Questions(ctx context.Context) (advisor.Questions, error)
	Answer(ctx context.Context, id, choice, reason, actor string) (advisor.Version, error)
	Unanswer(ctx context.Context, id, reason, actor string) (advisor.Version, error)
}

// modelRoutes are the routes about the model, and what people say about it.
func (s *Server) modelRoutes(route func(string, func(*http.Request) (any, error))) {
	route("GET /api/v1/model", s.model)
	route("GET /api/v1/model/export", s.exportModel)
	route("GET /api/v1/model/versions", func(r *http.Request) (any, error) { return s.o.Corrector.Versions(r.Context()) })
	route("GET /api/v1/model/diff", func(r *http.Request) (any, error) { return s.diff(r, "") })
	route("POST /api/v1/model/diff", func(r *http.Request) (any, error) {
		o, err := modelOrder(r)
		if err != nil {
			return nil, err
		}
		return s.diff(r, o.File)
	})
	route("POST /api/v1/model/import", s.importModel)
	route("POST /api/v1/model/reset", s.resetModel)
	route("GET /api/v1/questions", func(r *http.Request) (any, error) { return s.o.Corrector.Questions(r.Context()) })
	route("POST /api/v1/questions/{id}/answer", s.answer)
	route("POST /api/v1/questions/{id}/undo", s.unanswer)
}

func (s *Server) model(r *http.Request) (any, error) {
	a := s.o.Advisor.Latest()
	if a == nil {
		return nil, &Error{
			Status: http.StatusServiceUnavailable, Code: "unavailable",
			Message: "no model has been worked out yet: Helenus has just started (helenus recommendations --now does not wait), nothing was said, or Cassandra can not be reached (see /readyz)",
		}
	}
	if !wantsText(r) {
		return a.Model, nil
	}
	return textOf(a.Model.Text)
}

func (s *Server) exportModel(r *http.Request) (any, error) {
	version := 0
	if given := r.URL.Query().Get("version"); given != "" {
		var err error
		if version, err = strconv.Atoi(given); err != nil || version < 1 {
			return nil, invalid(fmt.Sprintf("version %q is no number from 1 on; `helenus model versions` lists them", given))
		}
	}
	file, err := s.o.Corrector.Export(r.Context(), version)
	return text(file), err
}

// maxModel bounds a model file that is sent, bytes: twice that of 5,000 statements over 500 tables.
const maxModel = 8 << 20

// ModelOrder is the body of orders about the model as a whole.
type ModelOrder struct {
	Actor   string `json:"actor,omitempty"` // see Decision
	Reason  string `json:"reason,omitempty"`
	File    string `json:"file,omitempty"`    // a model file, YAML
	Version int    `json:"version,omitempty"` // to go back to; 0: to no corrections
	DryRun  bool   `json:"dry_run,omitempty"` // say what it would do, and do nothing
}

// modelOrder reads the body, which may be large.
func modelOrder(r *http.Request) (o ModelOrder, err error) {
	if err := body(r, &o, `{"actor": "ann", "reason": "...", "file": "name: ..."}`); err != nil {
		if tooLarge(err) {
			err = &Error{Status: http.StatusRequestEntityTooLarge, Code: "invalid", Message: fmt.Sprintf("the model file is larger than %d MiB; what is imported of it is its corrections, so leave out what is large", maxModel>>20)}
		}
		return o, err
	}
	if len(o.Reason) > maxReason {
		return o, invalid(fmt.Sprintf("the reason has %d bytes; %d are enough", len(o.Reason), maxReason))
	}
	o.Actor, err = actorOf(r, o.Actor)
	return o, err
}

// tooLarge tells whether a body was refused for its size.
func tooLarge(err error) bool {
	e := new(Error)
	return errors.As(err, &e) && e.Status == http.StatusRequestEntityTooLarge
}

// ModelDiff is the answer to GET and POST model/diff.
type ModelDiff struct {
	Version     int                `json:"version,omitempty"` // what is compared with, if it is not a file that was sent
	Differences []infer.Difference `json:"differences"`
}

// diff compares with a file; with "" with the latest that was imported.
func (s *Server) diff(r *http.Request, file string) (any, error) {
	differences, version, err := s.o.Corrector.Diff(r.Context(), file)
	return ModelDiff{version, differences}, err
}

func (s *Server) importModel(r *http.Request) (any, error) {
	o, err := modelOrder(r)
	if err != nil {
		return nil, err
	}
	return s.o.Corrector.Import(r.Context(), o.File, o.Reason, o.Actor, o.DryRun)
}

func (s *Server) resetModel(r *http.Request) (any, error) {
	o, err := modelOrder(r)
	if err != nil {
		return nil, err
	}
	if o.Version < 0 {
		return nil, invalid("version: a number from 1 on, or 0 for no corrections")
	}
	return s.o.Corrector.Reset(r.Context(), o.Version, o.Reason, o.Actor, o.DryRun)
}

func (s *Server) answer(r *http.Request) (any, error) {
	d, err := anyDecision(r)
	switch {
	case err != nil:
		return nil, err
	case d.Choice == "":
		return nil, invalid("an answer needs a choice: its number, or the choice itself (`helenus questions` lists them)")
	case d.ofChange() || d.Limits != nil || d.Drop:
		return nil, invalid("an answer has a choice and a reason, and nothing else")
	}
	return s.o.Corrector.Answer(r.Context(), r.PathValue("id"), d.Choice, d.Reason, d.Actor)
}

func (s *Server) unanswer(r *http.Request) (any, error) {
	d, err := decision(r)
	if err != nil {
		return nil, err
	}
	return s.o.Corrector.Unanswer(r.Context(), r.PathValue("id"), d.Reason, d.Actor)
}
