package plan

import (
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// NewWholeSpace builds a space in which nothing is left out and no states are one that differ in any field at hand.
func NewWholeSpace(q *workload.Query, tables []*model.Table) (*Space, error) {
	b, err := newBuilder(q, tables)
	if err != nil {
		return nil, err
	}
	for i := range b.names {
		b.bindable.add(i)
	}
	b.estimator = Means{}.Reads(q)
	b.expandAll()
	return b.trimmedSpace(), nil
}
