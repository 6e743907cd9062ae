package admin

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/capture/cycle"
)

// cycleRoutes are the routes about how traffic goes with the time.
func (s *Server) cycleRoutes(route func(string, func(*http.Request) (any, error))) {
	route("GET /api/v1/cycles", s.cycles)
	route("GET /api/v1/cycles/workload", s.cycleWorkload)
}

// cycleOptions reads what is asked for.
func cycleOptions(q url.Values) (o cycle.Options, since time.Time, err error) {
	if since, err = moment(q, "since"); err != nil {
		return o, since, err
	}
	if o.Zone, err = cycle.Zone(q.Get("zone")); err != nil {
		return o, since, invalid(err.Error())
	}
	o.Period = q.Get("period")
	if text := q.Get("min_step"); text != "" {
		if o.MinStep, err = time.ParseDuration(text); err != nil {
			return o, since, invalid(fmt.Sprintf("min_step %q is no duration such as 2h", text))
		}
	}
	if err := o.Check(); err != nil {
		return o, since, invalid(err.Error())
	}
	return o, since, nil
}

// found looks for cycles in the history.
func (s *Server) found(r *http.Request) (*cycle.Report, time.Time, error) {
	o, since, err := cycleOptions(r.URL.Query())
	if err != nil {
		return nil, since, err
	}
	record, err := cycle.Read(r.Context(), s.o.History, since, time.Time{})
	if err != nil {
		return nil, since, &Error{Status: http.StatusServiceUnavailable, Code: "unavailable", Message: err.Error()}
	}
	report, err := cycle.Find(record, o)
	return report, since, err
}

func (s *Server) cycles(r *http.Request) (any, error) {
	report, _, err := s.found(r)
	return report, err
}

// cycleWorkload is the workload of the history with a weight for each step of the cycle that was found in it, as a file that design reads.
func (s *Server) cycleWorkload(r *http.Request) (any, error) {
	report, since, err := s.found(r)
	if err != nil {
		return nil, err
	}
	if report.Cycle == nil {
		return nil, &Error{Status: http.StatusConflict, Code: "refused", Message: "there are no steps to give weights for: " + report.Why}
	}
	sc := s.o.Schema()
	if sc == nil {
		return nil, &Error{Status: http.StatusServiceUnavailable, Code: "unavailable", Message: "the schema has not been read yet (see /readyz)"}
	}
	counts, err := s.o.History.Between(r.Context(), since, time.Time{})
	if err != nil {
		return nil, &Error{Status: http.StatusServiceUnavailable, Code: "unavailable", Message: "not all of the history could be read: " + err.Error()}
	}
	own := *counts
	own.Feeds = s.o.Statements().Feeds // findings are of the process, not of the history
	written, err := s.o.Weigh(r.Context(), &own, sc, s.o.Measured(), report.Cycle)
	if errors.Is(err, infer.ErrNoStatement) {
		return nil, &Error{Status: http.StatusConflict, Code: "refused", Message: err.Error()}
	}
	return text(written), err
}
