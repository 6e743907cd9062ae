package contest

import (
	"slices"

	"github.com/helenus-db/helenus/advisor/workload"
)

// Request is a kind of request of the application: statements that it sends one after the other.
type Request struct {
	Name       string
	Statements []*workload.Statement
}

// Requests returns the kinds of requests of a workload, in its order: its groups, and statements without one by themselves.
func Requests(w *workload.Workload) []*Request {
	var all []*Request
	named := map[string]*Request{}
	for _, s := range w.Statements {
		name := s.Group
		if name == "" {
			name = s.ID
		}
		r := named[name]
		if r == nil {
			r = &Request{Name: name}
			named[name] = r
			all = append(all, r)
		}
		r.Statements = append(r.Statements, s)
	}
	return all
}

// Weight is how often the request is sent in a mix ("" is the workload's own), 0 if it is no part of it. All statements of
// a group have the same weight: that of the first that is part of the mix counts.
func (r *Request) Weight(mix string) float64 {
	for _, s := range r.Statements {
		if mix == "" || s.PartOf(mix) {
			return s.WeightIn(mix)
		}
	}
	return 0
}

// Writes tells whether the request changes data.
func (r *Request) Writes() bool {
	return slices.ContainsFunc(r.Statements, (*workload.Statement).IsWrite)
}
