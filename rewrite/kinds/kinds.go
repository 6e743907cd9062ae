// Package kinds lists the kinds of change that there are. It may import rewrite/kind and the folder of each kind.
package kinds

import (
	"cmp"
	"fmt"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/existing"
	"github.com/helenus-db/helenus/rewrite/kind"
	"github.com/helenus-db/helenus/rewrite/lookup"
)

// Settings are those of the kinds.
type Settings struct {
	LookUp lookup.Settings // also of existing tables, which are read alike
}

// All are all kinds. The first is that of records which name none.
func All(s Settings) Set {
	return Set{
		lookup.Kind{Settings: s.LookUp},
		existing.Kind{Settings: s.LookUp},
	}
}

// Set is some kinds, by their names.
type Set []kind.Kind

// Find returns the kind of a change, nil if there is none of its name.
func (s Set) Find(c *plan.Rewrite) kind.Kind {
	name := cmp.Or(c.Kind, plan.LookUp) // there were no others when records did not say
	for _, k := range s {
		if k.Name() == name {
			return k
		}
	}
	return nil
}

// Title says in a few words what a change does.
func (s Set) Title(c *plan.Rewrite) string {
	if k := s.Find(c); k != nil {
		return k.Title(c)
	}
	return fmt.Sprintf("change %s.%s (%s)", c.Keyspace, c.Base, c.Kind)
}

// Judge says which statements may take part in a change, and which forbid it, by which condition.
func (s Set) Judge(c plan.Rewrite, snapshot *capture.Snapshot, tables *schema.Schema) []plan.Verdict {
	if k := s.Find(&c); k != nil {
		return k.Judge(c, snapshot, tables)
	}
	return []plan.Verdict{{Refused: true, Reason: Unknown(&c)}}
}

// Propose returns what the kinds propose that find it themselves.
func (s Set) Propose(snapshot *capture.Snapshot, tables *schema.Schema) (all []plan.Proposal) {
	for _, k := range s {
		if p, ok := k.(kind.Proposer); ok {
			all = append(all, p.Propose(snapshot, tables)...)
		}
	}
	return all
}

// Unknown says that there is no kind of a change's name.
func Unknown(c *plan.Rewrite) string {
	return fmt.Sprintf("there is no kind of change %q in this version: a newer version made it; run that one, or roll the change back there", c.Kind)
}
