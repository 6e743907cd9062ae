package safety

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Edit is an edited schema that was checked again (S-25).
type Edit struct {
	What    string  // what is done
	Schema  string  // the primary key, or the grammar
	Verdict Verdict // of the edited one
	Writer  string
	Cost    string // what it does to readers
}

// shards is how many buckets an edit spreads writers over.
const shards = 16

// safeEdits returns tables with other keys, each checked again, the best first. Those that are no better are left out, unless
// nothing is.
func (t *Table) safeEdits(group Group, p Principal) ([]Edit, error) {
	writer, shard := t.freeName("writer"), t.freeName("shard")
	owners := t.clone()
	for i, w := range owners.Writes {
		if w.Owner.kind == anyone { // a person's own column tells who it was, whoever it was
			owners.Writes[i].Owner = Var("sender of " + w.ID)
		}
		owners.Writes[i].Key[writer] = owners.Writes[i].Owner
	}
	re := owners.clone()
	re.Partition, re.Clustering = []string{writer}, slices.Concat(t.Partition, t.Clustering)
	within := owners.clone()
	within.Partition = append(slices.Clone(t.Partition), writer)
	sharded := t.clone()
	sharded.Partition = append(slices.Clone(t.Partition), shard)
	sharded.Shard, sharded.Shards = shard, shards
	for i, w := range sharded.Writes {
		if w.Owner.kind == anyone {
			sharded.Writes[i].Key[shard] = Var("any shard")
		} else {
			sharded.Writes[i].Key[shard] = Func("hash", w.Owner)
		}
	}
	if t.Partitions > 0 {
		sharded.Partitions = t.Partitions * shards
	}
	candidates := []struct {
		what, cost string
		table      *Table
	}{
		{"partition by the writer (the user-oriented form)", "readers by the old key need another table, or one read per writer", re},
		{"add the writer to the partition key", "readers by the old key read one partition per writer, and merge", within},
	}
	if group == Partition {
		candidates = append(candidates, struct {
			what, cost string
			table      *Table
		}{fmt.Sprintf("add a shard, hash(writer) mod %d, to the partition key", shards), fmt.Sprintf("readers ask for %d partitions, and merge", shards), sharded})
	} else {
		rows := owners.clone()
		rows.Clustering = append(slices.Clone(t.Clustering), writer)
		candidates = append(candidates, struct {
			what, cost string
			table      *Table
		}{"add the writer to the clustering key: a row for each writer instead of one that all overwrite", "readers get several rows, and pick or add up", rows})
	}
	var list []Edit
	for _, c := range candidates {
		a, err := Check(c.table.Grammar(group))
		if err != nil {
			return nil, err
		}
		e := Edit{What: c.what, Schema: c.table.CQL(), Cost: c.cost, Writer: a.By}
		switch e.Verdict = Grade(a, Unclassed, Load{Overlaps: -1}, c.table.Shards); {
		case e.Verdict == Safe && p.Guessed:
			e.Verdict = SafeIf
		case e.Verdict == Unsafe:
			continue
		}
		list = append(list, e)
	}
	return list, nil
}

// freeName returns a name that no column has.
func (t *Table) freeName(name string) string {
	for slices.Contains(slices.Concat(t.Partition, t.Clustering, t.Static, t.Values), name) {
		name += "_"
	}
	return name
}

func (t *Table) clone() *Table {
	c := *t
	c.Writes = slices.Clone(t.Writes)
	for i := range c.Writes {
		c.Writes[i].Key = maps.Clone(c.Writes[i].Key)
	}
	return &c
}

// entityGroups returns the grammar with each entity as a group of its own.
func (g *Grammar) entityGroups() *Grammar {
	out := &Grammar{Writes: g.Writes, Facts: g.Facts, Root: Alt()}
	for _, p := range g.Productions {
		out.Root.Parts = append(out.Root.Parts, Child(p.Kind, varsOf(p.Params)...))
		out.Productions = append(out.Productions, &Production{Kind: p.Kind, Params: p.Params, Body: Empty()})
	}
	return out
}

// byWriter returns the grammar with each entity below its writer: figure 1 becomes figure 2. The writer's group is the kind
// that has nothing but the writer in its key, if there is one. Kinds whose key does not hold the writer get it as one more
// parameter.
func (g *Grammar) byWriter() *Grammar {
	c := newChecker(g, confirmedFacts(g.Facts))
	out := &Grammar{Facts: g.Facts}
	top, writer := "", "w"
	at := map[string]int{}
	for _, p := range g.Productions {
		at[p.Kind] = -1
		for i := range p.Params {
			if _, ok := c.by[p.Kind][placeVar(i).Name]; ok {
				at[p.Kind] = i
				break
			}
		}
		if at[p.Kind] == 0 && len(p.Params) == 1 && top == "" {
			top, writer = p.Kind, p.Params[0]
		}
	}
	if top == "" {
		for top = "writers"; g.productionOf(top) != nil; top += "_" {
			continue
		}
	}
	body := Alt()
	for _, p := range g.Productions {
		if p.Kind == top {
			continue
		}
		params, args := slices.Clone(p.Params), varsOf(p.Params)
		i := at[p.Kind]
		if i < 0 && len(c.writes[p.Kind]) > 0 {
			name := "writer"
			for slices.Contains(params, name) {
				name += "'"
			}
			i, params, args = len(params), append(params, name), append(args, Var(name))
		}
		for k := range args {
			if args[k] = Var(params[k] + "'"); k == i {
				args[k] = Var(writer)
			}
		}
		body.Parts = append(body.Parts, Child(p.Kind, args...))
		out.Productions = append(out.Productions, &Production{Kind: p.Kind, Params: params, Body: Empty()})
		at[p.Kind] = i
	}
	for _, w := range g.Writes {
		x := *w
		if i := at[w.Kind]; w.Kind != top && i == len(w.Key) {
			x.Key = append(slices.Clone(w.Key), w.Owner)
			if w.Owner.kind == anyone {
				x.Key[i] = Var("sender")
				x.Owner = Var("sender")
			}
		}
		out.Writes = append(out.Writes, &x)
	}
	all := Star(body)
	if len(body.Parts) == 0 {
		all = Empty()
	}
	out.Root = Child(top, Var(writer))
	out.Productions = append([]*Production{{Kind: top, Params: []string{writer}, Body: all}}, out.Productions...)
	return out
}

func confirmedFacts(facts []Fact) []Fact {
	return slices.DeleteFunc(slices.Clone(facts), func(f Fact) bool { return f.Probable })
}

// safeEdits returns grammars that are safe, each checked again.
func (g *Grammar) safeEdits() ([]Edit, error) {
	var list []Edit
	for _, c := range []struct {
		what, cost string
		grammar    *Grammar
	}{
		{"keep each entity with its writer (the user-oriented form)", "what was read as one group is read from one group per writer", g.byWriter()},
		{"a group for each entity", "no consistency over several entities", g.entityGroups()},
	} {
		a, err := Check(c.grammar)
		if err != nil {
			return nil, err
		}
		if a.Safe {
			list = append(list, Edit{What: c.what, Schema: strings.TrimSpace(c.grammar.schemaText()), Verdict: Safe, Writer: a.By, Cost: c.cost})
		}
	}
	return list, nil
}

// schemaText writes the schema without the writes.
func (g *Grammar) schemaText() string {
	only := Grammar{Root: g.Root, Productions: g.Productions}
	return only.String()
}
