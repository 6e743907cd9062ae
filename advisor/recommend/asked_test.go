package recommend

import (
	"slices"
	"testing"

	"github.com/helenus-db/helenus/capture/schema"
)

// A look-up is offered by the columns that one can be kept by; by another only where there is none, so that the refusal says why.
func TestAskedBy(t *testing.T) {
	table := &schema.Table{Keyspace: "k", Name: "t", Columns: []schema.Column{
		{Name: "id", Kind: schema.PartitionKey, Type: "uuid"}, {Name: "who", Kind: schema.Regular, Type: "text"}, {Name: "sum", Kind: schema.Regular, Type: "varint"},
		{Name: "tags", Kind: schema.Regular, Type: "set<text>"}, {Name: "card", Kind: schema.Regular, Type: "text", Masked: true}, {Name: "name", Kind: schema.Regular, Type: "text"},
		{Name: "owner", Kind: schema.Static, Type: "text"},
	}, Indexes: []schema.Index{{Name: "i", Column: "name", Options: map[string]string{"case_sensitive": "false"}}}}
	for _, c := range []struct{ asked, want []string }{
		{[]string{"who", "sum"}, []string{"who"}},
		{[]string{"sum", "who", "card", "name", "tags"}, []string{"who"}},
		{[]string{"sum", "card"}, []string{"sum", "card"}},
		{[]string{"name"}, []string{"name"}},
		{[]string{"id", "owner", "gone"}, nil},
	} {
		if got := askedBy(table, c.asked); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.asked, got, c.want)
		}
	}
}
