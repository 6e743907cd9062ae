package verify

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/model"
)

// MismatchError says that a live table is not the one that plans were made for.
type MismatchError struct {
	Table      string
	Want, Live string // a column with what it is; "" if there is none
}

func (e *MismatchError) Error() string {
	what := fmt.Sprintf("has %s where the design has %s", e.Live, e.Want)
	switch {
	case e.Live == "" && e.Want == "":
		what = "is not there"
	case e.Live == "":
		what = "lacks " + e.Want
	case e.Want == "":
		what = "has " + e.Live + " in its key, which the design has not"
	}
	return fmt.Sprintf("table %s %s: it belongs to another design; make it by this one's schema.cql", e.Table, what)
}

// Live checks that a table is on the cluster as the design has it: the same columns of the same types, the same keys in the
// same order. Columns besides those of the key, of which the design knows nothing, do no harm. The error is a *MismatchError.
func Live(ctx context.Context, session *gocql.Session, t *model.Table) error {
	want, live := expected(t), map[string]string{}
	iter := session.Query("SELECT column_name, kind, position, clustering_order, type FROM system_schema.columns WHERE keyspace_name = ? AND table_name = ?", t.Keyspace, t.Name).WithContext(ctx).Iter()
	var (
		name, kind, order, cqlType string
		position                   int
	)
	for iter.Scan(&name, &kind, &position, &order, &cqlType) {
		live[name] = described(name, kind, position, order, cqlType)
	}
	if err := iter.Close(); err != nil {
		return fmt.Errorf("reading the columns of %s.%s: %w", t.Keyspace, t.Name, err)
	}
	if len(live) == 0 {
		return &MismatchError{Table: t.Keyspace + "." + t.Name}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if live[name] != want[name] {
			return &MismatchError{t.Keyspace + "." + t.Name, want[name], live[name]}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(live)) {
		if want[name] == "" && strings.Contains(live[name], "key") {
			return &MismatchError{t.Keyspace + "." + t.Name, "", live[name]}
		}
	}
	return nil
}

// described says what a column is; partition keys and clustering columns have their place.
func described(name, kind string, position int, order, cqlType string) string {
	text := fmt.Sprintf("%s %s", name, cqlType)
	switch kind {
	case "partition_key":
		return fmt.Sprintf("%s as partition key %d", text, position+1)
	case "clustering":
		return fmt.Sprintf("%s as clustering key %d %s", text, position+1, order)
	case "static":
		return text + " static"
	}
	return text
}

// expected describes the columns that a table should have.
func expected(t *model.Table) map[string]string {
	want := map[string]string{}
	add := func(f model.Field, kind string, position int, order string) {
		name := t.ColumnName(f)
		cqlType := strings.ToLower(t.ColumnType(f))
		if cqlType == "varchar" {
			cqlType = "text"
		}
		want[name] = described(name, kind, position, order, cqlType)
	}
	for i, f := range t.Partition {
		add(f, "partition_key", i, "")
	}
	if t.Bucket != nil {
		want[t.BucketColumn()] = described(t.BucketColumn(), "partition_key", len(t.Partition), "", t.Bucket.Type())
	}
	for i, f := range t.Clustering {
		order := "asc"
		if slices.Contains(t.Desc, f) {
			order = "desc"
		}
		add(f, "clustering", i, order)
	}
	for _, f := range t.Values {
		kind := "regular"
		if slices.Contains(t.Static, f) {
			kind = "static"
		}
		add(f, kind, -1, "")
	}
	return want
}
