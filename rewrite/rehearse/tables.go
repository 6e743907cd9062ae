package rehearse

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Tables tries a schema that comes without plans, by the best plans that there are over its tables alone. Statements without one are Untried.
func Tables(ctx context.Context, w *workload.Workload, tables []*model.Table, o design.Options) (*design.Trial, error) {
	o.Candidates, o.OnlyExisting = nil, true
	for i, t := range tables {
		own := *t
		own.Name, own.Keyspace, own.Existing, own.Kept = fmt.Sprintf("t%d", i+1), "", false, true
		o.Candidates = append(o.Candidates, &own)
	}
	left := *w
	left.Tables = nil
	var missing []design.Untried
	for len(left.Statements) > 0 {
		d, err := design.Choose(ctx, &left, o)
		var none *design.UnanswerableError
		switch {
		case errors.As(err, &none):
			missing = append(missing, design.Untried{Statement: none.Statement, Reason: "no plan over these tables answers " + none.Query})
			left.Statements = slices.DeleteFunc(slices.Clone(left.Statements), func(s *workload.Statement) bool { return s.ID == none.Statement })
			continue
		case err != nil:
			return nil, err
		}
		x, err := Design(ctx, &left, d)
		if err != nil {
			return nil, err
		}
		x.Untried = append(missing, x.Untried...)
		return x, nil
	}
	return &design.Trial{Untried: missing}, nil
}
