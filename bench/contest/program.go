package contest

import (
	"context"
	"errors"
	"fmt"

	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

// reads is a program of a query.
type reads struct {
	program *planrun.Program
	session exec.Session
	options planrun.RunOptions
}

func (p *reads) Run(ctx context.Context, with Parameters) (Sample, error) {
	var account planrun.Account
	o := p.options
	o.Account = &account
	_, err := p.program.Run(ctx, p.session, with, o)
	return accounted(&account), err
}

// writes is a program of a write.
type writes struct {
	program *planrun.WriteProgram
	session exec.Session
	options planrun.RunOptions
	// halfway are what the last run failed to write: it is not known how much of it is there. The loop sends the same
	// request again, and then they are written.
	halfway *planrun.Effects
}

func (p *writes) Run(ctx context.Context, with Parameters) (Sample, error) {
	var account planrun.Account
	o := p.options
	o.Account = &account
	if p.halfway != nil {
		if err := p.halfway.Apply(ctx, p.session, o); err != nil {
			return Sample{}, err
		}
		p.halfway = nil
		return accounted(&account), nil
	}
	err := p.program.Run(ctx, p.session, with, o)
	var failed *planrun.WriteError
	if errors.As(err, &failed) {
		p.halfway = failed.Effects
	}
	return accounted(&account), err
}

func accounted(a *planrun.Account) Sample {
	var s Sample
	for i := range a.Steps {
		s.Requests += a.Steps[i].Requests
		s.Rows += a.Steps[i].Rows
		s.Bytes += a.Steps[i].Bytes
	}
	return s
}

// Runner makes programs of an entry's plans. Its tables are in a keyspace (Arena.Create).
func (e *Entry) Runner(session exec.Session, o planrun.RunOptions) (*Runner, error) {
	r := &Runner{Name: e.Name, Keyspace: e.Tables[0].Keyspace, Programs: map[string]Program{}}
	for id, s := range e.Statements {
		var err error
		if s.Plan != nil {
			program := &reads{session: session, options: o}
			program.program, err = planrun.Compile(s.Plan)
			r.Programs[id] = program
		} else {
			program := &writes{session: session, options: o}
			program.program, err = planrun.CompileWrite(s.Statement.Write, s.Writes)
			r.Programs[id] = program
		}
		if err != nil {
			return nil, fmt.Errorf("plan of %s over the tables of %s: %w", id, e.Name, err)
		}
	}
	return r, nil
}
