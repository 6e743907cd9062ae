package lint

import (
	"fmt"
	"maps"
	"slices"

	"github.com/helenus-db/helenus/capture/schema"
)

// shareTables sees to it that no two fixes make a table of the same name: all of them can be carried out. Where both tables have the same
// primary key, the first fix makes one with the columns of both, and the other names that fix; else the other gets another name.
func (in *Input) shareTables(list []Finding) {
	makers := map[Reference]*Finding{}
	for i := range list {
		f := &list[i]
		if f.Fix == nil || len(f.Fix.facts) == 0 {
			continue
		}
		on := slices.Collect(maps.Keys(f.Fix.facts))[0] // a fix makes one table
		maker := makers[on]
		if maker != nil && in.joinFixes(maker, f, on) {
			continue
		}
		if maker != nil {
			own := *in
			own.taken = makers
			if own.addFix(f); f.Fix == nil {
				continue
			}
			on = slices.Collect(maps.Keys(f.Fix.facts))[0]
		}
		makers[on] = f
	}
}

// joinFixes has the table of one finding's fix serve another's, too, if that can be.
func (in *Input) joinFixes(maker, f *Finding, on Reference) bool {
	if len(maker.Fix.definitions()) != 1 || len(f.Fix.definitions()) != 1 {
		return false
	}
	table, other := in.tableMadeBy(maker, on), in.tableMadeBy(f, on)
	if table == nil || other == nil || !sameKey(table, other) {
		return false
	}
	wider := *table
	wider.Columns = slices.Clone(table.Columns)
	for _, c := range other.Columns {
		switch own := table.Column(c.Name); {
		case own == nil:
			wider.Columns = append(wider.Columns, c)
		case own.Type != c.Type || own.Kind != c.Kind:
			return false
		}
	}
	sortColumns(&wider)
	fact := *maker.Fix.facts[on]
	fact.RowBytes = max(fact.RowBytes, f.Fix.facts[on].RowBytes)
	first, second := *maker.Fix, *f.Fix
	first.CQL, second.CQL = []string{createText(&wider)}, []string{createText(&wider)}
	first.facts = map[Reference]*Fact{on: &fact}
	second.facts = first.facts
	if in.checkFix(maker, &first) != nil || in.checkFix(f, &second) != nil || in.tryFix(maker, &first) != nil || in.tryFix(f, &second) != nil {
		return false
	}
	first.Says += fmt.Sprintf(" The table serves %s, too.", f.labelText())
	second.CQL, second.facts, second.maker = []string{}, nil, maker
	second.Says = fmt.Sprintf("Read the table that the fix of %s makes: it has what this needs.", maker.labelText())
	maker.Fix, f.Fix = &first, &second
	return true
}

// tableMadeBy is the table that a finding's fix makes.
func (in *Input) tableMadeBy(f *Finding, on Reference) *schema.Table {
	after, err := Define(in.Schema, f.on.Keyspace, f.Fix.definitions()...)
	if err != nil {
		return nil
	}
	return after.Table(on.Keyspace, on.Table)
}

// labelText names a finding in a sentence.
func (f *Finding) labelText() string {
	if f.Statement == "" {
		return f.Rule + " on " + f.Table
	}
	return f.Rule + ", statement " + f.Statement[:min(len(f.Statement), shortID)]
}
