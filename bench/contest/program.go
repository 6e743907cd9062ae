package contest

import (
	"context"
	"fmt"

	"github.com/helenus-db/helenus/rewrite/exec"
)

// reads is a program of a query.
type reads struct {
	program *exec.Program
	session exec.Session
	options exec.RunOptions
}

func (p *reads) Run(ctx context.Context, with Parameters) (Sample, error) {
	var account exec.Account
	o := p.options
	o.Account = &account
	_, err := p.program.Run(ctx, p.session, with, o)
	return accounted(&account), err
}

func accounted(a *exec.Account) Sample {
	var s Sample
	for i := range a.Steps {
		s.Requests += a.Steps[i].Requests
		s.Rows += a.Steps[i].Rows
		s.Bytes += a.Steps[i].Bytes
	}
	return s
}

// Runner makes programs of an entry's plans. Its tables are in a keyspace (Arena.Create).
func (e *Entry) Runner(session exec.Session, o exec.RunOptions) (*Runner, error) {
	r := &Runner{Name: e.Name, Programs: map[string]Program{}}
	for id, s := range e.Statements {
		if s.Plan == nil {
			continue
		}
		program, err := exec.Compile(s.Plan)
		if err != nil {
			return nil, fmt.Errorf("plan of %s over the tables of %s: %w", id, e.Name, err)
		}
		r.Programs[id] = &reads{program, session, o}
	}
	return r, nil
}
