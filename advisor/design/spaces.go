package design

import (
	"context"
	"runtime"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/internal/guard"
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
	var queries []*workload.Query
	for _, s := range w.Statements {
		if s.Query != nil && x.made[s.Query.Key()] == nil {
			x.made[s.Query.Key()] = &made{}
			queries = append(queries, s.Query)
		}
	}
	guard.Each(guard.Advice, runtime.GOMAXPROCS(0), len(queries), func(i int) { *x.made[queries[i].Key()] = x.buildSpace(ctx, queries[i]) })
	return x
}

func (x *spaces) buildSpace(ctx context.Context, q *workload.Query) (m made) {
	if m.err = ctx.Err(); m.err == nil {
		m.space, m.err = plan.NewSpace(q, x.tables, x.arithmetic)
	}
	return m
}

// spaceOf is a query's plan space.
func (x *spaces) spaceOf(ctx context.Context, q *workload.Query) (*plan.Space, error) {
	key := q.Key()
	if x.made[key] == nil {
		m := x.buildSpace(ctx, q)
		x.made[key] = &m
	}
	return x.made[key].space, x.made[key].err
}
