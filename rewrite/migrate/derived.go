package migrate

import (
	"context"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/condition"
	"github.com/helenus-db/helenus/rewrite/kind"
)

// uncreated are the states in which the tables of a change need not be in the schema: create says what is wrong with those that are.
var uncreated = map[State]bool{Approved: true, Created: true}

// drifted tells why the tables of a change, as the schema shows them, are not what was made and filled any more, "" if they are.
// Only that counts from which answers could become wrong: compaction, caching, indexes or columns that somebody adds do not.
func (m *Manager) drifted(ctx context.Context, noun string, have *Change, f kind.Fitted, s *schema.Schema) (reason string, err error) {
	d, ok := f.(kind.Derived)
	if !ok || uncreated[have.State] {
		return "", nil
	}
	tables := d.Tables()
	name := have.Rewrite.FullTable()
	table := s.Table(have.Rewrite.Home(), have.Rewrite.Table)
	if table == nil {
		return drift("the %s table %s is gone: "+anew, noun, name), nil
	}
	ours, err := m.owns(ctx, have, table.Comment)
	switch {
	case err != nil:
		return "", err
	case !ours && OwnerOf(table.Comment) != "":
		return drift("the %s table %s is not ours any more: it belongs to another helenus (comment %q)", noun, name, table.Comment), nil
	case !ours:
		return drift("the %s table %s is not ours any more (comment %q)", noun, name, table.Comment), nil
	case have.TableID != "" && table.ID != have.TableID:
		return drift("the %s table %s was dropped and made again (id %s, was %s): its entries are gone: "+anew, noun, name, table.ID, have.TableID), nil
	case table.DefaultTTL != 0:
		return drift("default_time_to_live of the %s table %s is %d: entries written since then vanish", noun, name, table.DefaultTTL), nil
	case table.GCGrace == 0:
		return drift("gc_grace_seconds of the %s table %s is 0: Cassandra drops the hints of entries that a node missed", noun, name), nil
	}
	for i := range tables {
		is := s.Table(tables[i].Keyspace, tables[i].Name)
		if is == nil {
			return drift("the table %s is gone: "+anew, &tables[i]), nil
		}
		if reason, err := layout(noun, &tables[i], is); reason != "" || err != nil {
			return reason, err
		}
	}
	return "", nil
}

// anew is what helps where nothing can be set back.
const anew = "roll the change back, drop it and approve it anew"

// drift is what says that a table is not as it was.
func drift(format string, args ...any) string {
	return condition.Schema.Refuse(format, args...).Error()
}

// layout compares the columns of a table of ours with those that it is made with.
func layout(noun string, made *kind.Table, table *schema.Table) (reason string, err error) {
	if made.Columns == nil {
		return "", nil
	}
	columns, err := made.Columns()
	if err != nil {
		return "", err
	}
	for _, c := range columns {
		is := table.Column(c.Name)
		switch {
		case is == nil:
			return drift("the %s table %s.%s has no column %s any more", noun, table.Keyspace, table.Name, c.Name), nil
		case is.Masked && !c.Masked:
			name, column := &cql.TableRef{Keyspace: table.Keyspace, Table: table.Name}, &cql.ColumnRef{Name: c.Name}
			return drift("column %s of the %s table %s is masked, as the base's was; ALTER TABLE %s ALTER %s DROP MASKED sets it back", c.Name, noun, name, name, column), nil
		case *is != c:
			return drift("column %s of the %s table %s.%s is not as it was made (%s %s)", c.Name, noun, table.Keyspace, table.Name, is.Kind, is.Type), nil
		}
	}
	return "", nil
}
