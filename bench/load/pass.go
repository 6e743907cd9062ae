package load

import (
	"fmt"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
)

// pass is what is written to a table in one go: its rows, or the elements of one collection of theirs.
type pass struct {
	table     *model.Table // what the source is asked for: the table, or what has a row for each element (model.Table.Spread)
	text      string
	types     []string // of the source's columns; the bucket's is last
	partition []int    // which of them are the partition key
	bound     []int    // which of them each marker of the text stands for; alone: the element's key as a set of its own
	key       int      // of an element, among the source's columns
}

const alone = -1

// passes are those of a table, its rows first.
func passes(t *model.Table, keyspace string) []pass {
	name := model.Quote(keyspace) + "." + model.Quote(t.Name)
	rows := source(t, t.Plain())
	names := columnNames(t, t.Fields())
	if t.Bucket != nil {
		names = append(names, model.Quote(t.BucketColumn()))
	}
	for i := range names {
		rows.bound = append(rows.bound, i)
	}
	rows.text = fmt.Sprintf("INSERT INTO %s (%s) VALUES (?%s)", name, strings.Join(names, ", "), strings.Repeat(", ?", len(names)-1))
	list := []pass{rows}
	for _, n := range t.Nests {
		list = append(list, elements(t, n, name))
	}
	return list
}

// source is a pass without its text.
func source(t, from *model.Table) pass {
	p := pass{table: from}
	for i, f := range from.Fields() {
		p.types = append(p.types, t.ColumnType(f))
		if i < len(from.Partition) {
			p.partition = append(p.partition, i)
		}
	}
	if from.Bucket != nil {
		p.partition = append(p.partition, len(p.types))
		p.types = append(p.types, from.Bucket.Type())
	}
	return p
}

// elements adds each element of a collection to the set and the maps of its row, which has been written before. An element
// without a value has no entry in that map, as a marker that is unset changes nothing.
func elements(t *model.Table, n *model.Nest, name string) pass {
	p := source(t, t.Spread(n))
	row := columnNames(t, append(t.Partition[:len(t.Partition):len(t.Partition)], t.Clustering...))
	key := len(row) // the element's comes after that of the row, then its values
	set := model.Quote(t.NestColumn(n.Key))
	added := []string{set + " = " + set + " + ?"}
	p.bound, p.key = append(p.bound, alone), key
	for i, v := range n.Values {
		added = append(added, model.Quote(t.NestColumn(v))+"[?] = ?")
		p.bound = append(p.bound, key, key+1+i)
	}
	var where []string
	for i, column := range row {
		where = append(where, column+" = ?")
		p.bound = append(p.bound, i)
	}
	if t.Bucket != nil {
		where = append(where, model.Quote(t.BucketColumn())+" = ?")
		p.bound = append(p.bound, len(p.types)-1)
	}
	p.text = "UPDATE " + name + " SET " + strings.Join(added, ", ") + " WHERE " + strings.Join(where, " AND ")
	return p
}

func columnNames(t *model.Table, fields []model.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = model.Quote(t.ColumnName(f))
	}
	return names
}
