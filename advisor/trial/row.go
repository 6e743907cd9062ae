package trial

import (
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/trial/memory"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Row is one row of an answer, by what its columns stand for.
type Row map[model.Field]memory.Value

// Compare orders two rows as a query asks for; values are made so that their texts have the order of what they stand for.
func Compare(a, b Row, order []workload.Order) int {
	for _, o := range order {
		d := strings.Compare(memory.Text(a[o.Field]), memory.Text(b[o.Field]))
		if d != 0 && o.Desc {
			return -d
		}
		if d != 0 {
			return d
		}
	}
	return 0
}

// Meets reports whether a value meets a condition of a query.
func Meets(have memory.Value, op workload.Op, want memory.Value) bool {
	if list := memory.Elements(have); list != nil {
		return slices.Contains(list, memory.Text(want))
	}
	d := strings.Compare(memory.Text(have), memory.Text(want))
	switch op {
	case workload.In:
		return slices.Contains(memory.Elements(want), memory.Text(have))
	case workload.Less:
		return d < 0
	case workload.LessOrEqual:
		return d <= 0
	case workload.Greater:
		return d > 0
	case workload.GreaterOrEqual:
		return d >= 0
	case workload.NotEqual:
		return d != 0
	case workload.Like:
		return strings.HasPrefix(memory.Text(have), memory.Text(want))
	}
	return d == 0
}
