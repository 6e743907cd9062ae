package design

import (
	"context"
	"runtime"
	"sync"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// spaces are the plan spaces of queries over a pool of tables, each made once.
type spaces struct {
	tables     []*model.Table
	arithmetic plan.Arithmetic
	made       map[string]*made // by the query's key
}

type made struct {
	space *plan.Space
	err   error
}

// newSpaces makes those of the statements' queries, side by side, as they are most of what preparing a choice takes. When the context ends the
// rest is left out.
func newSpaces(ctx context.Context, w *workload.Workload, tables []*model.Table, arithmetic plan.Arithmetic) *spaces {
	x := &spaces{tables, arithmetic, map[string]*made{}}
	var wait sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, s := range w.Statements {
		if s.Query == nil || x.made[s.Query.Key()] != nil {
			continue
		}
		m := &made{}
		x.made[s.Query.Key()] = m
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if m.err = ctx.Err(); m.err == nil {
				m.space, m.err = plan.NewSpace(s.Query, tables, arithmetic)
			}
		})
	}
	wait.Wait()
	return x
}

// of is a query's plan space.
func (x *spaces) of(ctx context.Context, q *workload.Query) (*plan.Space, error) {
	key := q.Key()
	m := x.made[key]
	if m == nil {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m = &made{}
		m.space, m.err = plan.NewSpace(q, x.tables, x.arithmetic)
		x.made[key] = m
	}
	return m.space, m.err
}
