package verify

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

// rows hands over the rows of a live table, with their buckets, as the reference does.
func (c *check) rows(ctx context.Context, t *model.Table, row func([]any) error) error {
	var columns, types []string
	for _, f := range t.Fields() {
		columns, types = append(columns, t.ColumnName(f)), append(types, t.ColumnType(f))
	}
	if t.Bucket != nil {
		columns, types = append(columns, t.BucketColumn()), append(types, t.Bucket.Type())
	}
	return c.scan(ctx, t, columns, func(cells [][]byte) error {
		values, err := decodedRow(t, types, cells)
		if err != nil {
			return err
		}
		return row(values)
	})
}

// elements hands over the elements of a collection as rows: the key of the row they are in, their own, their values. An entry of
// a map whose key is not in the set belongs to no element; it is handed over as one that nobody expects.
func (c *check) elements(ctx context.Context, t *model.Table, n *model.Nest, row func([]any) error) error {
	spread := t.Spread(n)
	var columns, types []string
	for _, f := range append(t.Partition[:len(t.Partition):len(t.Partition)], t.Clustering...) {
		columns, types = append(columns, t.ColumnName(f)), append(types, t.ColumnType(f))
	}
	key := len(columns)
	for _, f := range n.Fields() {
		columns, types = append(columns, t.NestColumn(f)), append(types, spread.ColumnType(f))
	}
	if t.Bucket != nil {
		columns, types = append(columns, t.BucketColumn()), append(types, t.Bucket.Type())
	}
	return c.scan(ctx, t, columns, func(cells [][]byte) error {
		keys, err := planrun.Elements(cells[key], 1)
		if err != nil {
			return fmt.Errorf("column %s of %s: %w", columns[key], t.Name, err)
		}
		found := map[string][][]byte{} // elements by their keys
		for _, k := range keys {
			element := slices.Clone(cells)
			element[key] = k
			for i := range n.Values {
				element[key+1+i] = nil
			}
			found[string(k)] = element
		}
		for i := range n.Values {
			entries, err := planrun.Elements(cells[key+1+i], 2)
			if err != nil {
				return fmt.Errorf("column %s of %s: %w", columns[key+1+i], t.Name, err)
			}
			for at := 0; at < len(entries); at += 2 {
				element, ok := found[string(entries[at])]
				if !ok {
					if err := row([]any{fmt.Sprintf("%s of %s has an entry of no element", columns[key+1+i], t.Name)}); err != nil {
						return err
					}
					continue
				}
				element[key+1+i] = entries[at+1]
			}
		}
		for _, k := range keys {
			values, err := decodedRow(t, types, found[string(k)])
			if err != nil {
				return err
			}
			if err := row(values); err != nil {
				return err
			}
		}
		return nil
	})
}

// scan reads some columns of a whole table.
func (c *check) scan(ctx context.Context, t *model.Table, columns []string, row func([][]byte) error) error {
	names := make([]string, len(columns))
	for i, column := range columns {
		names[i] = model.Quote(column)
	}
	return c.at.session.Scan(ctx, exec.Query{Text: "SELECT " + strings.Join(names, ", ") + " FROM " + t.Keyspace + "." + t.Name, Consistency: gocql.LocalOne, PageSize: 5000}, row)
}

func decodedRow(t *model.Table, types []string, cells [][]byte) ([]any, error) {
	values := make([]any, len(cells))
	for i, cell := range cells {
		var err error
		if values[i], err = planrun.Decode(types[i], cell); err != nil {
			return nil, fmt.Errorf("a %s of %s: %w", types[i], t.Name, err)
		}
	}
	return values, nil
}
