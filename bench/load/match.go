package load

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/model"
)

// MismatchError tells of a live table that is not what a design says.
type MismatchError struct {
	Keyspace, Table string
	Column          string // "" if it is about the table as a whole
	Want, Got       string
}

func (e *MismatchError) Error() string {
	what := "table " + e.Keyspace + "." + e.Table
	if e.Column != "" {
		what = "column " + e.Column + " of " + what
	}
	return fmt.Sprintf("load: %s is %s, but the design says %s: drop it, or run over a keyspace of its own", what, e.Got, e.Want)
}

const nothing = "not there"

// Match checks that live tables are those of a design: columns with their types and places in the key, the order of clustering
// columns, and indexes. Further columns of a table are a mismatch too, further tables are not. The first one found is told, a
// *MismatchError; tables and their columns are gone through in order.
func Match(ctx context.Context, s *gocql.Session, keyspace string, tables []*model.Table) error {
	for _, t := range tables {
		live, err := columns(ctx, s, keyspace, t.Name)
		if err != nil {
			return err
		}
		if len(live) == 0 {
			return &MismatchError{Keyspace: keyspace, Table: t.Name, Want: "a table", Got: nothing}
		}
		for _, c := range designed(t) {
			got, ok := live[c.name]
			if !ok {
				got = nothing
			}
			if got != c.is {
				return &MismatchError{keyspace, t.Name, c.name, c.is, got}
			}
			delete(live, c.name)
		}
		for _, name := range sortedKeys(live) {
			return &MismatchError{keyspace, t.Name, name, nothing, live[name]}
		}
		if err := indexes(ctx, s, keyspace, t); err != nil {
			return err
		}
	}
	return nil
}

// described is a column in words.
type described struct{ name, is string }

// describe says what a column is. Positions of regular columns mean nothing.
func describe(cqlType, kind string, position int, order string) string {
	switch kind {
	case "partition_key":
		return cqlType + ", partition key " + strconv.Itoa(position+1)
	case "clustering":
		return cqlType + ", clustering key " + strconv.Itoa(position+1) + " " + strings.ToLower(order)
	}
	return cqlType + ", " + kind
}

// designed are the columns of a design's table.
func designed(t *model.Table) []described {
	var list []described
	for i, f := range t.Fields() {
		kind, position, order := "partition_key", i, "none"
		switch clustering := i - len(t.Partition); {
		case clustering >= len(t.Clustering):
			kind = "regular"
			if slices.Contains(t.Static, f) {
				kind = "static"
			}
		case clustering >= 0:
			kind, position, order = "clustering", clustering, "asc"
			if slices.Contains(t.Desc, f) {
				order = "desc"
			}
		}
		list = append(list, described{t.ColumnName(f), describe(plain(t.ColumnType(f)), kind, position, order)})
	}
	for _, n := range t.Nests {
		for _, f := range n.Fields() {
			list = append(list, described{t.NestColumn(f), describe(plain(t.NestType(f)), "regular", -1, "none")})
		}
	}
	if t.Bucket != nil {
		list = append(list, described{t.BucketColumn(), describe(t.Bucket.Type(), "partition_key", len(t.Partition), "none")})
	}
	return list
}

// plain is a type as Cassandra writes it.
func plain(cqlType string) string {
	return strings.ReplaceAll(strings.ToLower(cqlType), "varchar", "text")
}

// columns are those of a live table, in words.
func columns(ctx context.Context, s *gocql.Session, keyspace, table string) (map[string]string, error) {
	iter := s.Query("SELECT column_name, type, kind, position, clustering_order FROM system_schema.columns WHERE keyspace_name = ? AND table_name = ?", keyspace, table).WithContext(ctx).Iter()
	live := map[string]string{}
	var name, cqlType, kind, order string
	var position int
	for iter.Scan(&name, &cqlType, &kind, &position, &order) {
		live[name] = describe(cqlType, kind, position, order)
	}
	if err := iter.Close(); err != nil {
		return nil, fmt.Errorf("load: reading the schema of %s.%s: %w", keyspace, table, err)
	}
	return live, nil
}

// indexes checks that there are those that the design has.
func indexes(ctx context.Context, s *gocql.Session, keyspace string, t *model.Table) error {
	if len(t.Indexes) == 0 {
		return nil
	}
	iter := s.Query("SELECT kind, options FROM system_schema.indexes WHERE keyspace_name = ? AND table_name = ?", keyspace, t.Name).WithContext(ctx).Iter()
	live := map[string]string{}
	var kind string
	var options map[string]string
	for iter.Scan(&kind, &options) {
		what := "an index"
		if strings.Contains(strings.ToLower(options["class_name"]), "storageattached") || strings.EqualFold(options["class_name"], "sai") {
			what = "a storage-attached index"
		}
		live[strings.Trim(options["target"], `"`)] = what
		options = nil
	}
	if err := iter.Close(); err != nil {
		return fmt.Errorf("load: reading the indexes of %s.%s: %w", keyspace, t.Name, err)
	}
	for _, i := range t.Indexes {
		want, column := "an index", t.ColumnName(i.Field)
		if i.SAI {
			want = "a storage-attached index"
		}
		if got := live[column]; got != want {
			if got == "" {
				got = "without an index"
			}
			return &MismatchError{keyspace, t.Name, column, want, got}
		}
	}
	return nil
}

func sortedKeys(m map[string]string) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
