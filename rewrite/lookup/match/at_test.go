package match

import (
	"fmt"
	"testing"

	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/exec"
)

// TestAt: rows are named as Cassandra finds them, and not by their values.
func TestAt(t *testing.T) {
	columns := []schema.Column{{Name: "email"}, {Name: "Day"}}
	for _, c := range []struct {
		columns int
		values  [][]byte
		want    string
	}{
		{1, [][]byte{[]byte("test")}, "token(email) = -6017608668500074083"},
		{1, [][]byte{nil}, "token(email) = -9223372036854775808"},
		{2, [][]byte{[]byte("test"), []byte("123")}, fmt.Sprintf(`token(email, "Day") = %d`, exec.TokenOf(exec.PartitionKey([][]byte{[]byte("test"), []byte("123")})))},
	} {
		if got := At(columns[:c.columns], c.values); got != c.want {
			t.Errorf("%q: %s, not %s", c.values, got, c.want)
		}
	}
}
