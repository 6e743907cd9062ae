package diagram

import "github.com/helenus-db/helenus/capture/cql"

// CQL is the statements that make what the physical diagram shows, in order: types, tables, indexes (D-4).
func (s *Schema) CQL() []string {
	var list []string
	add := func(st cql.Statement) { list = append(list, st.String()) }
	for _, t := range s.Types {
		st := &cql.CreateType{Type: cql.TableRef{Keyspace: t.Keyspace, Table: t.Title()}}
		for _, f := range t.Fields {
			st.Fields = append(st.Fields, cql.ColumnDefinition{Name: f.Name, Type: f.Type})
		}
		add(st)
	}
	for _, t := range s.Tables {
		st := &cql.CreateTable{Table: cql.TableRef{Keyspace: t.Keyspace, Table: t.Name}}
		desc := false
		for _, c := range t.Columns {
			st.Columns = append(st.Columns, cql.ColumnDefinition{Name: c.Name, Type: c.Type, Static: c.Part == Static})
			desc = desc || c.Desc
		}
		st.PartitionKey, st.ClusteringKey = t.Key()
		for _, c := range t.Columns {
			if desc && c.Part == Clustering {
				st.ClusteringOrder = append(st.ClusteringOrder, cql.Ordering{Column: c.Name, Descending: c.Desc})
			}
		}
		add(st)
		for _, c := range t.Columns {
			if c.Indexed {
				add(&cql.CreateIndex{Table: st.Table, Targets: []cql.IndexTarget{{Column: c.Name}}})
			}
		}
	}
	return list
}

// Key returns the names of the primary key's columns.
func (t *Table) Key() (partition, clustering []string) {
	for _, c := range t.Columns {
		switch c.Part {
		case Partition:
			partition = append(partition, c.Name)
		case Clustering:
			clustering = append(clustering, c.Name)
		}
	}
	return partition, clustering
}
