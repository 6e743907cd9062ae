package migrate

import (
	"strings"
	"testing"

	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/kind"
)

// TestLayout: what is otherwise than it was made is said, and of a mask what takes it off.
func TestLayout(t *testing.T) {
	made := schema.Column{Name: "Guest", Type: "text", Kind: schema.PartitionKey}
	columns := func() ([]schema.Column, error) { return []schema.Column{made}, nil }
	masked, other := made, made
	masked.Masked, other.Type = true, "blob"
	for name, c := range map[string]struct {
		is   []schema.Column
		says string
	}{
		"as made":      {[]schema.Column{made}, ""},
		"another type": {[]schema.Column{other}, "column Guest of the look-up table ours.of_guest is not as it was made"},
		"gone":         {nil, "has no column Guest any more"},
		"masked":       {[]schema.Column{masked}, `column Guest of the look-up table ours.of_guest is masked, as the base's was; ALTER TABLE ours.of_guest ALTER "Guest" DROP MASKED sets it back`},
	} {
		t.Run(name, func(t *testing.T) {
			says, err := layout("look-up", &kind.Table{Columns: columns}, &schema.Table{Keyspace: "ours", Name: "of_guest", Columns: c.is})
			if err != nil || (says == "") != (c.says == "") || !strings.Contains(says, c.says) {
				t.Errorf("says %q, want %q (%v)", says, c.says, err)
			}
		})
	}
}
