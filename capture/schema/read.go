package schema

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/capture/cql"
)

// System reports whether a keyspace is Cassandra's own.
func System(keyspace string) bool {
	return keyspace == "system" || strings.HasPrefix(keyspace, "system_") || keyspace == "dse_system"
}

// Read reads the schema of the named keyspaces, or of all that are not Cassandra's own. A keyspace that does not exist is
// left out. Read is not atomic: a schema that changes meanwhile is read again at the next SCHEMA_CHANGE event.
func Read(ctx context.Context, session *gocql.Session, keyspaces ...string) (*Schema, error) {
	wanted := map[string]bool{}
	for _, k := range keyspaces {
		wanted[k] = true
	}
	take := func(k string) bool {
		if len(wanted) > 0 {
			return wanted[k]
		}
		return !System(k)
	}
	type id struct{ keyspace, table string }
	found := map[string]*Keyspace{}
	tables := map[id]*Table{}

	var keyspace, table string
	var replication map[string]string
	err := each(ctx, session, `SELECT keyspace_name, replication FROM system_schema.keyspaces`, func() {
		if take(keyspace) {
			found[keyspace] = &Keyspace{Name: keyspace, Replication: replication, Tables: []Table{}}
		}
		replication = nil
	}, &keyspace, &replication)
	if err != nil {
		return nil, fmt.Errorf("read keyspaces: %w", err)
	}

	var uuid gocql.UUID
	var ttl, grace int
	var comment string
	var flags []string
	err = each(ctx, session, `SELECT keyspace_name, table_name, id, default_time_to_live, gc_grace_seconds, comment, flags FROM system_schema.tables`, func() {
		if found[keyspace] != nil {
			t := &Table{Keyspace: keyspace, Name: table, ID: uuid.String(), DefaultTTL: ttl, GCGrace: grace, Comment: comment, Flags: flags}
			sort.Strings(t.Flags)
			for _, f := range flags {
				t.Counter = t.Counter || f == "counter"
			}
			tables[id{keyspace, table}] = t
		}
		flags = nil
	}, &keyspace, &table, &uuid, &ttl, &grace, &comment, &flags)
	if err != nil {
		return nil, fmt.Errorf("read tables: %w", err)
	}

	// Before Cassandra 4 there is no such column, and reads always repair before they answer.
	var repair string
	err = each(ctx, session, `SELECT keyspace_name, table_name, read_repair FROM system_schema.tables`, func() {
		if t := tables[id{keyspace, table}]; t != nil {
			t.ReadRepair = repair
		}
	}, &keyspace, &table, &repair)
	var refused gocql.RequestError
	if err != nil && (!errors.As(err, &refused) || refused.Code() != gocql.ErrCodeInvalid) {
		return nil, fmt.Errorf("read how tables are repaired: %w", err)
	}

	views := map[id]*View{}
	var view, clause string
	err = each(ctx, session, `SELECT keyspace_name, view_name, base_table_name, id, where_clause FROM system_schema.views`, func() {
		if t := tables[id{keyspace, table}]; t != nil {
			t.Views = append(t.Views, view)
			views[id{keyspace, view}] = &View{Table: Table{Keyspace: keyspace, Name: view, ID: uuid.String()}, Of: table, Partial: restricts(clause)}
		}
		clause = ""
	}, &keyspace, &view, &table, &uuid, &clause)
	if err != nil {
		return nil, fmt.Errorf("read materialised views: %w", err)
	}
	named := func(name id) *Table { // a table or a view: they share names
		if v := views[name]; v != nil {
			return &v.Table
		}
		return tables[name]
	}

	var c Column
	var kind, order string
	err = each(ctx, session, `SELECT keyspace_name, table_name, column_name, kind, position, type, clustering_order FROM system_schema.columns`, func() {
		if t := named(id{keyspace, table}); t != nil {
			c.Kind, c.Descending = ColumnKind(kind), strings.EqualFold(order, "desc")
			t.Columns = append(t.Columns, c)
		}
		c = Column{}
	}, &keyspace, &table, &c.Name, &kind, &c.Position, &c.Type, &order)
	if err != nil {
		return nil, fmt.Errorf("read columns: %w", err)
	}

	// Before Cassandra 5 nothing is masked.
	var masked string
	masks := map[id]map[string]bool{}
	err = each(ctx, session, `SELECT keyspace_name, table_name, column_name FROM system_schema.column_masks`, func() {
		if masks[id{keyspace, table}] == nil {
			masks[id{keyspace, table}] = map[string]bool{}
		}
		masks[id{keyspace, table}][masked] = true
	}, &keyspace, &table, &masked)
	if err != nil && (!errors.As(err, &refused) || refused.Code() != gocql.ErrCodeInvalid) {
		return nil, fmt.Errorf("read which columns are masked: %w", err)
	}
	for where, names := range masks {
		if t := named(where); t != nil {
			for i := range t.Columns {
				t.Columns[i].Masked = names[t.Columns[i].Name]
			}
		}
	}

	var x Index
	err = each(ctx, session, `SELECT keyspace_name, table_name, index_name, kind, options FROM system_schema.indexes`, func() {
		if t := tables[id{keyspace, table}]; t != nil {
			x.Column, x.On = target(x.Options["target"])
			t.Indexes = append(t.Indexes, x)
		}
		x = Index{}
	}, &keyspace, &table, &x.Name, &x.Kind, &x.Options)
	if err != nil {
		return nil, fmt.Errorf("read indexes: %w", err)
	}

	var trigger string
	err = each(ctx, session, `SELECT keyspace_name, table_name, trigger_name FROM system_schema.triggers`, func() {
		if t := tables[id{keyspace, table}]; t != nil {
			t.Triggers = append(t.Triggers, trigger)
		}
	}, &keyspace, &table, &trigger)
	if err != nil {
		return nil, fmt.Errorf("read triggers: %w", err)
	}
	if err := readCode(ctx, session, found); err != nil {
		return nil, err
	}

	for _, t := range tables {
		sortColumns(t.Columns)
		sort.Slice(t.Indexes, func(i, j int) bool { return t.Indexes[i].Name < t.Indexes[j].Name })
		sort.Strings(t.Views)
		sort.Strings(t.Triggers)
		found[t.Keyspace].Tables = append(found[t.Keyspace].Tables, *t)
	}
	for _, v := range views {
		sortColumns(v.Columns)
		found[v.Keyspace].Views = append(found[v.Keyspace].Views, *v)
	}
	out := &Schema{Keyspaces: []Keyspace{}}
	for _, k := range found {
		sort.Slice(k.Tables, func(i, j int) bool { return k.Tables[i].Name < k.Tables[j].Name })
		sort.Slice(k.Views, func(i, j int) bool { return k.Views[i].Name < k.Views[j].Name })
		out.Keyspaces = append(out.Keyspaces, *k)
	}
	sort.Slice(out.Keyspaces, func(i, j int) bool { return out.Keyspaces[i].Name < out.Keyspaces[j].Name })
	return out, nil
}

// readCode reads the types, functions and aggregates that users have defined.
func readCode(ctx context.Context, session *gocql.Session, found map[string]*Keyspace) error {
	var keyspace, name string
	var names, types []string
	err := each(ctx, session, `SELECT keyspace_name, type_name, field_names, field_types FROM system_schema.types`, func() {
		if k := found[keyspace]; k != nil && len(names) == len(types) {
			t := UserType{Name: name, Fields: make([]Field, len(names))}
			for i := range names {
				t.Fields[i] = Field{names[i], types[i]}
			}
			k.Types = append(k.Types, t)
		}
		names, types = nil, nil
	}, &keyspace, &name, &names, &types)
	if err != nil {
		return fmt.Errorf("read user-defined types: %w", err)
	}
	var f Function
	add := func() {
		if k := found[keyspace]; k != nil {
			k.Functions = append(k.Functions, f)
		}
		f = Function{Aggregate: f.Aggregate}
	}
	if err := each(ctx, session, `SELECT keyspace_name, function_name, argument_types, return_type, language FROM system_schema.functions`, add,
		&keyspace, &f.Name, &f.Arguments, &f.Returns, &f.Language); err != nil {
		return fmt.Errorf("read functions: %w", err)
	}
	f = Function{Aggregate: true}
	if err := each(ctx, session, `SELECT keyspace_name, aggregate_name, argument_types, return_type, state_func, final_func FROM system_schema.aggregates`, add,
		&keyspace, &f.Name, &f.Arguments, &f.Returns, &f.State, &f.Final); err != nil {
		return fmt.Errorf("read aggregates: %w", err)
	}
	for _, k := range found {
		sort.Slice(k.Types, func(i, j int) bool { return k.Types[i].Name < k.Types[j].Name })
		sort.Slice(k.Functions, func(i, j int) bool {
			a, b := &k.Functions[i], &k.Functions[j]
			if a.Name != b.Name {
				return a.Name < b.Name
			}
			return strings.Join(a.Arguments, ",") < strings.Join(b.Arguments, ",")
		})
	}
	return nil
}

// each runs a query and calls row after each row was scanned into dest.
func each(ctx context.Context, session *gocql.Session, query string, row func(), dest ...any) error {
	iter := session.Query(query).WithContext(ctx).Iter()
	for iter.Scan(dest...) {
		row()
	}
	return iter.Close()
}

// restricts tells whether the WHERE of a materialised view asks for more than columns that are not null.
func restricts(where string) bool {
	st, err := cql.Parse("CREATE MATERIALIZED VIEW v AS SELECT * FROM t WHERE " + where + " PRIMARY KEY (k)")
	v, ok := st.(*cql.CreateView)
	return err != nil || !ok || slices.ContainsFunc(v.Where, func(r cql.Relation) bool { return r.Op != cql.OpIsNotNull })
}

var targetFunction = regexp.MustCompile(`^(keys|values|entries|full)\((.*)\)$`)

// target takes an index target apart: `city`, `"City"`, `keys(m)`.
func target(t string) (column, on string) {
	column, on = t, "values"
	if m := targetFunction.FindStringSubmatch(t); m != nil {
		on, column = m[1], m[2]
	}
	if len(column) >= 2 && column[0] == '"' && column[len(column)-1] == '"' {
		column = strings.ReplaceAll(column[1:len(column)-1], `""`, `"`)
	}
	return column, on
}
