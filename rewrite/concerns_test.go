package rewrite

import (
	"testing"

	"github.com/helenus-db/helenus/capture/schema"
)

// A table of another helenus is a sign of it for a change over the same base: not what it left behind of one that is long gone.
func TestWhatConcernsAChange(t *testing.T) {
	own, theirs := schema.Table{Name: "x", Comment: "helenus a owner b"}, schema.Table{Name: "y"}
	s := &schema.Schema{Keyspaces: []schema.Keyspace{
		{Name: "as_they_liked", Tables: []schema.Table{own}},
		{Name: "helenus_data_gone", Tables: []schema.Table{own}},
		{Name: "helenus_data_hotel", Tables: []schema.Table{own}},
		{Name: "hotel", Tables: []schema.Table{theirs}},
		{Name: "shop", Tables: []schema.Table{theirs, own}},
	}}
	e := &Engine{options: Options{DataKeyspace: "helenus_data", Schema: func() *schema.Schema { return s }}}
	for keyspace, want := range map[string]bool{"hotel": true, "helenus_data_hotel": true, "as_they_liked": true, "shop": false, "helenus_data_gone": false, "nowhere": false} {
		if got := e.concerns(keyspace, "hotel"); got != want {
			t.Errorf("%s: %v", keyspace, got)
		}
	}
}
