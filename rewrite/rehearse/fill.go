package rehearse

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/trial/memory"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

type rnd = *rand.Rand

// fill puts into a table what it holds by definition: a row for each row of the join over its tree, but none where a column of its key has no value,
// and in its collections the elements that belong to the row.
func (r *rehearsal) fill(w *world, t *model.Table) error {
	rows, ok := w.join(t.Tree)
	if !ok {
		return &memory.UnknownError{What: "a join of so many rows as " + t.Tree.Path()}
	}
	var columns []string
	for _, f := range t.Fields() {
		columns = append(columns, t.ColumnName(f))
	}
	if t.Bucket != nil {
		columns = append(columns, t.BucketColumn())
	}
	for _, n := range t.Nests {
		for _, f := range n.Fields() {
			columns = append(columns, t.NestColumn(f))
		}
	}
	for i, c := range columns {
		columns[i] = model.Quote(c)
	}
	insert := exec.Query{Text: "INSERT INTO " + model.Quote(t.Keyspace) + "." + model.Quote(t.Name) + " (" + strings.Join(columns, ", ") + ") VALUES (" +
		strings.TrimSuffix(strings.Repeat("?, ", len(columns)), ", ") + ")"}
	nested := make([][]combined, len(t.Nests))
	for i, n := range t.Nests {
		if nested[i], ok = w.join(t.Tree.With(n)); !ok {
			return &memory.UnknownError{What: "a join of so many rows as " + t.Whole().Path()}
		}
	}
rows:
	for _, row := range rows {
		insert.Values = nil
		for _, f := range t.Fields() {
			v := w.value(row, f)
			if v == nil && t.InKey(f) {
				continue rows
			}
			if of := t.ColumnType(f); v != nil && !strings.EqualFold(of, f.Attribute.Type) {
				v = converted(f.Attribute.Type, of, v)
			}
			insert.Values = append(insert.Values, v)
		}
		if b := t.Bucket; b != nil {
			n := int64(0)
			if !b.Of.IsZero() {
				n = b.Number(w.value(row, b.Of))
			}
			insert.Values = append(insert.Values, b.Cell(n))
		}
		for i, n := range t.Nests {
			insert.Values = append(insert.Values, elements(w, n, row, nested[i])...)
		}
		if _, err := r.session.Query(context.Background(), insert); err != nil {
			return err
		}
	}
	return nil
}

// converted is a cell of another type; what has no like is left.
func converted(from, to string, cell []byte) []byte {
	v, err := planrun.Decode(from, cell)
	if err != nil {
		return cell
	}
	if made, err := planrun.Encode(to, v); err == nil {
		return made
	}
	return cell
}

// elements are the cells of a nest's columns: the set of its keys, and a map from them for each value that there is.
func elements(w *world, n *model.Nest, row combined, rows []combined) [][]byte {
	var keys []string
	maps := make([][]string, len(n.Values))
	for _, r := range rows {
		belongs := true
		for e, i := range row {
			belongs = belongs && r[e] == i
		}
		k := string(w.value(r, n.Key))
		if !belongs || slices.Contains(keys, k) {
			continue
		}
		keys = append(keys, k)
		for i, f := range n.Values {
			if v := w.value(r, f); v != nil {
				maps[i] = append(maps[i], k, string(v))
			}
		}
	}
	out := [][]byte{joined(len(keys), keys)}
	for _, m := range maps {
		out = append(out, joined(len(m)/2, m))
	}
	return out
}

// empty takes all rows of a table away.
func (c *cassandra) empty(t *model.Table) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.store.Truncate(cql.TableRef{Keyspace: t.Keyspace, Table: t.Name})
}
