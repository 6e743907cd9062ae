package main

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/capture/profile"
	"github.com/helenus-db/helenus/capture/sketch"
)

// As capture/profile keeps them.
const (
	kept         = 1024 // hashes of a column's sketch, and values with their rows
	rowsPerTable = 8    // of a value
)

// inList is how many members a list has that numbers them.
const inList = 4

// row is one of a table, as it was seen: hashes by column.
type row map[string]uint64

// rowsOf makes rows of the tables, in their order: what is referred to is in front. A row's partners have its tenant.
func rowsOf(r *rand.Rand, all []*thing) map[*thing][]row {
	rows, tenant := map[*thing][]row{}, map[*thing][]int{}
	for _, t := range all {
		for i := range min(int(t.rows), 2*kept) {
			x, of := row{}, i
			partner := func(other *thing) row {
				list := rows[other]
				j := r.IntN(len(list))
				if t.tenant != nil && other.tenant == t.tenant {
					for range 8 { // by its tenant, or nearly
						if tenant[other][j]%int(t.tenant.rows) == of%int(t.tenant.rows) {
							break
						}
						j = (j + 1) % len(list)
					}
				}
				return list[j]
			}
			if t.sub != "" {
				j := i / inList % len(rows[t.refs[0].of])
				x[t.key] = rows[t.refs[0].of][j].is(t.refs[0].of)
				if of = j; t.tenant != nil && t.refs[0].of.tenant == t.tenant {
					of = tenant[t.refs[0].of][j]
				}
			}
			switch {
			case t.numbered:
				x[t.sub] = infertest.Hash(string(rune('1' + i%inList)))
			case t.sub != "":
				x[t.sub] = r.Uint64()
			default:
				x[t.key] = r.Uint64()
			}
			if t.tenant != nil {
				x[tenantColumn] = rows[t.tenant][of%len(rows[t.tenant])].is(t.tenant)
			}
			for k, ref := range t.refs {
				if k == 0 && t.sub != "" {
					continue
				}
				p := partner(ref.of)
				x[ref.column] = p.is(ref.of)
				if ref.number != "" {
					x[ref.column], x[ref.number] = p[ref.of.key], p[ref.of.sub]
				}
			}
			for k, c := range t.plain {
				x[c] = uint64(r.IntN(10*(1+k*k*k*50)))<<16 ^ infertest.Hash(t.name+c)
			}
			rows[t], tenant[t] = append(rows[t], x), append(tenant[t], of)
		}
	}
	return rows
}

// is the value by which a row of a table is called.
func (x row) is(of *thing) uint64 {
	if of.sub != "" && !of.numbered {
		return x[of.sub]
	}
	return x[of.key]
}

// profiles are the sketches of columns that hold keys, and the rows of the values with the smallest hashes.
func (s size) profiles(r *rand.Rand, all []*thing) *profile.Document {
	e := profile.Epoch{ID: 1, Source: 1, Began: infertest.Start, Last: infertest.Start.Add(time.Hour)}
	rows := rowsOf(r, all)
	smallest := sketch.New(kept)
	for _, t := range all {
		columns := []string{t.key}
		if t.sub != "" {
			columns = append(columns, t.sub)
		}
		if t.tenant != nil {
			columns = append(columns, tenantColumn)
		}
		for i, ref := range t.refs {
			if i > 0 || t.sub == "" {
				columns = append(columns, ref.column)
			}
			if ref.number != "" {
				columns = append(columns, ref.number)
			}
		}
		for _, c := range columns {
			v := sketch.New(kept)
			for _, x := range rows[t] {
				v.Add(x[c])
				smallest.Add(x[c])
			}
			e.Columns = append(e.Columns, profile.Column{Keyspace: t.keyspace, Table: t.name, Name: c, Read: v.Total(), Distinct: v.Distinct(), Values: v})
		}
	}
	e.Keys = keysOf(all, rows, smallest.Hashes())
	return &profile.Document{Epochs: []profile.Epoch{e}}
}

// keysOf are values with the rows that have them.
func keysOf(all []*thing, rows map[*thing][]row, hashes []uint64) (out []profile.Key) {
	for _, h := range hashes {
		out = append(out, profile.Key{Hash: h, Class: "uuid"})
	}
	for _, t := range all {
		for n, x := range rows[t] {
			seen := profile.Row{Keyspace: t.keyspace, Table: t.name, ID: uint64(n), Seen: 1} // #nosec G115 -- few
			for _, c := range slices.Sorted(maps.Keys(x)) {
				i, found := slices.BinarySearch(hashes, x[c])
				if !found {
					continue
				}
				k := &out[i]
				if last := len(k.Rows); last >= rowsPerTable && k.Rows[last-rowsPerTable].Table == t.name && k.Rows[last-rowsPerTable].Keyspace == t.keyspace {
					continue
				}
				if seen.Cells == nil {
					for _, name := range slices.Sorted(maps.Keys(x)) {
						seen.Cells = append(seen.Cells, profile.Cell{Column: name, Hash: x[name]})
					}
				}
				k.Rows = append(k.Rows, seen)
			}
		}
	}
	for i := range out {
		slices.SortFunc(out[i].Rows, func(a, b profile.Row) int {
			return cmp.Or(cmp.Compare(a.Keyspace, b.Keyspace), cmp.Compare(a.Table, b.Table), cmp.Compare(a.ID, b.ID))
		})
	}
	return out
}
