package kinds_test

import (
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/kinds"
)

// A change's kind is found by its name; one that names none is of the first kind that there was; of one that is not known here nothing is
// allowed, and that is said.
func TestFind(t *testing.T) {
	all := kinds.All(kinds.Settings{})
	names := map[string]bool{}
	for _, k := range all {
		if k.Name() == "" || names[k.Name()] {
			t.Errorf("two kinds are called %q", k.Name())
		}
		names[k.Name()] = true
		if found := all.Find(&plan.Rewrite{Kind: k.Name()}); found == nil || found.Name() != k.Name() {
			t.Errorf("%s is %v", k.Name(), found)
		}
	}
	if k := all.Find(&plan.Rewrite{}); k == nil || k.Name() != plan.LookUp {
		t.Errorf("a record from when there were look-ups only is %v", k)
	}
	c := plan.Rewrite{Kind: "of tomorrow", Keyspace: "k", Base: "t"}
	v := all.Judge(c, &capture.Snapshot{}, &schema.Schema{})
	if all.Find(&c) != nil || len(v) != 1 || !v[0].Refused || !strings.Contains(v[0].Reason, `"of tomorrow"`) || all.Title(&c) != "change k.t (of tomorrow)" {
		t.Errorf("%+v, %q", v, all.Title(&c))
	}
}
