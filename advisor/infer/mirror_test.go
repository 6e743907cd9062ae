package infer_test

import (
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/capture/schema"
)

// TestMaterializedViews: reads of a view are reads of what its table holds, and the view is nobody's table.
func TestMaterializedViews(t *testing.T) {
	for _, partial := range []bool{false, true} {
		s := single("hotel", infertest.Table("hotel", "guests", "guest_id uuid", "", "name text", "email text"))
		s.Keyspaces[0].Views = []schema.View{{Table: infertest.Table("hotel", "guests_by_email", "email text", "guest_id uuid", "name text"), Of: "guests", Partial: partial}}
		traffic := &infertest.Traffic{}
		traffic.Say("SELECT guest_id, name FROM hotel.guests_by_email WHERE email = ?", 100, 400, 1)
		traffic.Say("SELECT name FROM hotel.guests WHERE guest_id = ?", 100, 400, 1)
		m := inferred(t, traffic, s, infertest.Measured("hotel", "guests", 500, 500, "guest_id 500 16", "name 480 9", "email 500 20"))
		if len(m.Unexplained) != 0 || len(m.Workload.Statements) != 2 {
			t.Errorf("unexplained %+v, of the workload %v", m.Unexplained, m.Workload.Statements)
		}
		if view := m.Table("hotel", "guests_by_email"); view == nil || !view.Existing || view.Count != 500 {
			t.Errorf("what its reads cost is not known: %v", view)
		}
		if len(m.Tables) != 1 || len(m.Workload.Tables) != 1 || len(m.Holders("hotel", "guests")) != 0 {
			t.Errorf("a view is a table: %v, %v, %v", m.Tables, m.Workload.Tables, m.Holders("hotel", "guests"))
		}
		e := entity(m, "Guest")
		if e == nil || len(e.Tables) != 1 {
			t.Fatalf("entities %+v", m.Entities)
		}
		last := e.Evidence[len(e.Evidence)-1].Text
		if !strings.Contains(last, "guests_by_email is a materialised view of hotel.guests") || strings.Contains(last, "some of its rows") != partial {
			t.Errorf("partial %t: %s", partial, last)
		}
	}
}
