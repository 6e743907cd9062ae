package preview

import (
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// TestResumeSaysWhatComesFirst: whoever resumes a change is told whether its table is made, emptied, filled or only compared.
func TestResumeSaysWhatComesFirst(t *testing.T) {
	for _, c := range []struct {
		is   migrate.Change
		says string
	}{
		{migrate.Change{State: migrate.Failed}, "CREATE TABLE"},
		{migrate.Change{State: migrate.Suspended}, "CREATE TABLE"},
		{migrate.Change{State: migrate.Failed, T0: 1}, "TRUNCATE"},
		{migrate.Change{State: migrate.Suspended, T0: 1, Passes: 1, Refill: true}, "TRUNCATE"},
		{migrate.Change{State: migrate.Suspended, T0: 1}, "Filling"},
		{migrate.Change{State: migrate.Suspended, T0: 1, Passes: 1}, "compared first"},
		{migrate.Change{State: migrate.Failed, T0: 1, Passes: 1}, "compared first"},
	} {
		c.is.Rewrite = plan.Rewrite{Keyspace: "hotel", Base: "stays", Table: "stays_by_guest"}
		s := &Subject{ID: "r-1", Mig: &c.is}
		if got := Orders["resume"].Happens(s)[0]; !strings.Contains(got, c.says) || !strings.Contains(got, "stays_by_guest") {
			t.Errorf("%s, T0 %d, %d passes: %q does not say %q", c.is.State, c.is.T0, c.is.Passes, got, c.says)
		}
	}
}

// TestVerifyIsOfferedWhereItIsTaken: in the states in which migrate.Manager takes the order, and in no other.
func TestVerifyIsOfferedWhereItIsTaken(t *testing.T) {
	taken := map[migrate.State]bool{migrate.Shadow: true, migrate.Serving: true, migrate.Suspended: true}
	for _, state := range migrate.States {
		for _, broken := range []bool{false, true} {
			s := &Subject{ID: "r-1", Mig: &migrate.Change{State: state, Broken: broken}}
			if got := Orders["verify"].When(s); got != (taken[state] && !broken) {
				t.Errorf("%s, broken %t: %t", state, broken, got)
			}
		}
	}
}
