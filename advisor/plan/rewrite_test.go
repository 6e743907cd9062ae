package plan_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/rewrite/condition"
)

// A verdict says in JSON what its condition is called and where to read of it, and comes back as it was.
func TestVerdictJSON(t *testing.T) {
	for want, v := range map[string]plan.Verdict{
		`{"statement":"","condition":"C17","refused":true,"reason":"it counts","title":"counters","link":"` + condition.Counters.Link() + `"}`: {
			Condition: condition.Counters.ID, Refused: true, Reason: "it counts"},
		`{"statement":"f","condition":"","refused":false,"reason":"can be answered"}`:                    {Statement: "f", Reason: "can be answered"},
		`{"statement":"","condition":"C99","refused":true,"reason":"of another version","cause":"4ad1"}`: {Condition: "C99", Refused: true, Reason: "of another version", Cause: "4ad1"},
	} {
		got, err := json.Marshal(v)
		if err != nil || string(got) != want {
			t.Errorf("got  %s\nwant %s (%v)", got, want, err)
		}
		var back plan.Verdict
		if err := json.Unmarshal(got, &back); err != nil || back != v {
			t.Errorf("came back as %+v, %v", back, err)
		}
	}
}

func TestOverrules(t *testing.T) {
	if o, err := plan.ParseOverrule(plan.ExampleOverrule); err != nil || o.String() != plan.ExampleOverrule {
		t.Errorf("%+v, %v", o, err)
	}
	for _, bad := range []string{"", "C20", "20:4ad1f0", "C20:4ad1f", "C99:4ad1f0", "C0:4ad1f0", "c20:4ad1f0", "C20:xyzxyz"} {
		if o, err := plan.ParseOverrule(bad); err == nil || !strings.Contains(err.Error(), condition.Page) {
			t.Errorf("%q: %+v, %v", bad, o, err)
		}
	}
	const cause = "4ad1f0aa52c17d3f9b8e6a7c5d4e3f21"
	for _, c := range condition.All {
		v := plan.Verdict{Condition: c.ID, Refused: true, Cause: cause}
		if got := (plan.Overrule{Condition: c.ID, Statement: "4ad1f0"}).Covers(&v); got != c.Overrule {
			t.Errorf("%s is overruled: %t", c.Name(), got)
		}
		if v.Cause = ""; v.Overrulable() {
			t.Errorf("%s is overruled, but not because of a statement", c.Name())
		}
	}
}
