package lint

import (
	"fmt"
	"maps"
	"slices"

	"github.com/helenus-db/helenus/capture/schema"
)

// share sees to it that no two fixes make a table of the same name: all of them can be carried out. Where both tables have the same
// primary key, the first fix makes one with the columns of both, and the other names that fix; else the other gets another name.
func (in *Input) share(list []Finding) {
	makers := map[Reference]*Finding{}
	for i := range list {
		f := &list[i]
		if f.Fix == nil || len(f.Fix.facts) == 0 {
			continue
		}
		on := slices.Collect(maps.Keys(f.Fix.facts))[0] // a fix makes one table
		maker := makers[on]
		if maker != nil && in.joined(maker, f, on) {
			continue
		}
		if maker != nil {
			own := *in
			own.taken = makers
			if own.mend(f); f.Fix == nil {
				continue
			}
			on = slices.Collect(maps.Keys(f.Fix.facts))[0]
		}
		makers[on] = f
	}
}

// joined has the table of one finding's fix serve another's, too, if that can be.
func (in *Input) joined(maker, f *Finding, on Reference) bool {
	if len(maker.Fix.defines()) != 1 || len(f.Fix.defines()) != 1 {
		return false
	}
	table, other := in.made(maker, on), in.made(f, on)
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
	arrange(&wider)
	fact := *maker.Fix.facts[on]
	fact.RowBytes = max(fact.RowBytes, f.Fix.facts[on].RowBytes)
	first, second := *maker.Fix, *f.Fix
	first.CQL, second.CQL = []string{createText(&wider)}, []string{createText(&wider)}
	first.facts = map[Reference]*Fact{on: &fact}
	second.facts = first.facts
	if in.try(maker, &first) != nil || in.try(f, &second) != nil || in.run(maker, &first) != nil || in.run(f, &second) != nil {
		return false
	}
	first.Says += fmt.Sprintf(" The table serves %s, too.", f.label())
	second.CQL, second.facts, second.maker = []string{}, nil, maker
	second.Says = fmt.Sprintf("Read the table that the fix of %s makes: it has what this needs.", maker.label())
	maker.Fix, f.Fix = &first, &second
	return true
}

// made is the table that a finding's fix makes.
func (in *Input) made(f *Finding, on Reference) *schema.Table {
	after, err := Define(in.Schema, f.on.Keyspace, f.Fix.defines()...)
	if err != nil {
		return nil
	}
	return after.Table(on.Keyspace, on.Table)
}

// label names a finding in a sentence.
func (f *Finding) label() string {
	if f.Statement == "" {
		return f.Rule + " on " + f.Table
	}
	return f.Rule + ", statement " + f.Statement[:min(len(f.Statement), shortID)]
}
