package migrate

import (
	"context"
	"fmt"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/condition"
	"github.com/helenus-db/helenus/rewrite/match"
)

// needed are the states in which the look-up table must be in the schema. Earlier, the schema at hand may be older than the table.
var needed = map[State]bool{Verify: true, Shadow: true, Serving: true, Suspended: true}

// derived tells why the look-up table of a migration, as the schema shows it, is not what was made and filled any more, "" if it is.
// Only that counts from which answers could become wrong: compaction, caching, indexes or columns that somebody adds do not.
func (m *Manager) derived(ctx context.Context, have *Migration, l *match.LookUp, s *schema.Schema) (reason string, err error) {
	name := have.LookUp.Keyspace + "." + have.LookUp.Table
	table := s.Table(have.LookUp.Keyspace, have.LookUp.Table)
	if table == nil {
		if !needed[have.State] {
			return "", nil
		}
		return drift("the look-up table %s is gone", name), nil
	}
	if have.State == Approved || have.State == Created { // create says so, and the schema at hand may show a table from before
		return "", nil
	}
	ours, err := m.owns(ctx, have, table.Comment)
	switch {
	case err != nil:
		return "", err
	case !ours && OwnerOf(table.Comment) != "":
		return drift("the look-up table %s is not ours any more: it belongs to another helenus (comment %q)", name, table.Comment), nil
	case !ours:
		return drift("the look-up table %s is not ours any more (comment %q)", name, table.Comment), nil
	case have.TableID != "" && table.ID != have.TableID:
		return drift("the look-up table %s was dropped and made again (id %s, was %s): its entries are gone", name, table.ID, have.TableID), nil
	case table.DefaultTTL != 0:
		return drift("default_time_to_live of the look-up table %s is %d: entries written since then vanish", name, table.DefaultTTL), nil
	case table.GCGrace == 0:
		return drift("gc_grace_seconds of the look-up table %s is 0: Cassandra drops the hints of entries that a node missed", name), nil
	}
	if s.Table(have.LookUp.Keyspace, l.PendingTable()) == nil {
		return drift("the table %s is gone", l.PendingName()), nil
	}
	return layout(l, have, table)
}

// drift is what says that a table is not as it was.
func drift(format string, args ...any) string {
	return condition.Schema.Refuse(format, args...).Error()
}

// layout compares the columns of a look-up table with those that it is made with.
func layout(l *match.LookUp, have *Migration, table *schema.Table) (reason string, err error) {
	st, err := cql.Parse(l.Create(have.ID))
	if err != nil {
		return "", fmt.Errorf("the definition of %s can not be read: %w", l.LookUpName(), err)
	}
	made, ok := st.(*cql.CreateTable)
	if !ok {
		return "", fmt.Errorf("the definition of %s is no CREATE TABLE", l.LookUpName())
	}
	types := map[string]string{l.By.Name: l.By.Type}
	for _, k := range l.Key {
		types[k.Name] = k.Type // as Cassandra writes it
	}
	descending := map[string]bool{}
	for _, o := range made.ClusteringOrder {
		descending[o.Column] = o.Descending
	}
	want := map[string]schema.Column{}
	for _, c := range made.Columns {
		if types[c.Name] == "" {
			types[c.Name] = c.Type.String()
		}
		want[c.Name] = schema.Column{Name: c.Name, Kind: schema.Regular, Position: -1, Type: types[c.Name]}
	}
	for i, c := range made.PartitionKey {
		want[c] = schema.Column{Name: c, Kind: schema.PartitionKey, Position: i, Type: types[c]}
	}
	for i, c := range made.ClusteringKey {
		want[c] = schema.Column{Name: c, Kind: schema.Clustering, Position: i, Type: types[c], Descending: descending[c]}
	}
	for _, c := range made.Columns {
		is := table.Column(c.Name)
		switch {
		case is == nil:
			return drift("the look-up table %s.%s has no column %s any more", table.Keyspace, table.Name, c.Name), nil
		case *is != want[c.Name]:
			return drift("column %s of the look-up table %s.%s is not as it was made (%s %s)", c.Name, table.Keyspace, table.Name, is.Kind, is.Type), nil
		}
	}
	return "", nil
}
