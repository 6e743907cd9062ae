package exectest

import (
	"maps"

	"github.com/helenus-db/helenus/capture/cql"
)

// Replicate says how a keyspace is replicated, as CREATE or ALTER KEYSPACE of somebody else would; nil: it is gone, unless it has tables. A
// keyspace that has tables and of which nothing was said is replicated as Cassandra's examples are.
func (m *Memory) Replicate(keyspace string, replication map[string]string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.replicate(keyspace, replication)
}

func (m *Memory) replicate(keyspace string, replication map[string]string) {
	if replication == nil {
		delete(m.keyspaces, keyspace)
		return
	}
	if m.keyspaces == nil {
		m.keyspaces = map[string]map[string]string{}
	}
	m.keyspaces[keyspace] = maps.Clone(replication)
}

// replicationOf reads the replication of a definition.
func replicationOf(properties []cql.Property) map[string]string {
	out := map[string]string{}
	for _, p := range properties {
		entries, ok := p.Value.(*cql.Map)
		if !ok || p.Name != "replication" {
			continue
		}
		for _, e := range entries.Entries {
			name, isName := e.Key.(*cql.Literal)
			value, isValue := e.Value.(*cql.Literal)
			if isName && isValue {
				out[name.Text] = value.Text
			}
		}
	}
	return out
}
