package plan_test

import (
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// TestStepsSpeakOfColumns: a look-up of orders by customer_id is read by customer_id, though what that column holds is the id of a customer.
func TestStepsSpeakOfColumns(t *testing.T) {
	id := &model.Attribute{Name: "id", Type: "uuid"}
	f := model.Field{Entity: &model.Entity{Name: "Customer", Attributes: []*model.Attribute{id}, Key: []*model.Attribute{id}}, Attribute: id}
	for want, table := range map[string]*model.Table{
		"by customer_id = ?": {Name: "helenus_orders_by_customer_id", Columns: map[model.Field]string{f: "customer_id"}},
		"by id = ?":          {Name: "new_one"},
	} {
		s := plan.Step{Kind: plan.Get, Table: table, Partition: []plan.Binding{{Field: f, Op: workload.Equal, Value: "?"}}}
		if text := s.String(); !strings.Contains(text, want) {
			t.Errorf("%s: %s", want, text)
		}
	}
}
