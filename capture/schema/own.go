package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/helenus-db/helenus/capture/cql"
)

// OwnComment begins the comment of every table that Helenus made: such a table is nothing to advise on.
const OwnComment = "helenus "

// Own tells whether a table is one that Helenus made.
func (t *Table) Own() bool { return strings.HasPrefix(t.Comment, OwnComment) }

// MaxName is the longest name of a keyspace, a table or an index that Cassandra takes, letters.
const MaxName = 48

// PendingSuffix ends the name of the table that lies beside a look-up table, and is else called as it is. MaxLookUp is the longest name of a look-up table beside which
// that name is whole.
const (
	PendingSuffix = "_pending"
	MaxLookUp     = MaxName - len(PendingSuffix)
)

// DataKeyspace is the keyspace in which the tables lie that are kept from those of one keyspace of the application: prefix_base, cut and
// with a hash where the base's name is too long or has more than small letters, digits and underlines. Each keyspace has one of its own, as
// its replication follows (docs/decisions/057). Without a prefix they lie among the application's.
func DataKeyspace(prefix, base string) string {
	if prefix == "" {
		return base
	}
	whole := prefix + "_" + base
	clean := strings.Map(func(r rune) rune {
		if r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, whole)
	if clean == whole && len(whole) <= MaxName {
		return whole
	}
	sum := sha256.Sum256([]byte(base))
	suffix := "_" + hex.EncodeToString(sum[:4])
	return clean[:min(len(clean), MaxName-len(suffix))] + suffix
}

// WithoutOwn is a schema as the application sees it: without tables of ours, and without the keyspaces that have no others. prefix is that of
// DataKeyspace: keyspaces of ours that have no table yet are left out by their names.
func (s *Schema) WithoutOwn(prefix string) *Schema {
	ours := map[string]bool{}
	for i := range s.Keyspaces {
		if name := DataKeyspace(prefix, s.Keyspaces[i].Name); name != s.Keyspaces[i].Name {
			ours[name] = true
		}
	}
	out := &Schema{}
	for _, k := range s.Keyspaces {
		own := len(k.Tables)
		k.Tables = slices.DeleteFunc(slices.Clone(k.Tables), func(t Table) bool { return t.Own() })
		own -= len(k.Tables)
		if len(k.Tables) == 0 && (own > 0 && prefix != "" || ours[k.Name]) {
			continue
		}
		out.Keyspaces = append(out.Keyspaces, k)
	}
	return out
}

// CreateLike is the statement that makes a keyspace, unless it is there, which is replicated as another.
func (k *Keyspace) CreateLike(name string) string {
	return fmt.Sprintf("CREATE KEYSPACE IF NOT EXISTS %s WITH replication = %s", identifier(name), ReplicationText(k.Replication))
}

// AlterLike is the statement that has a keyspace be replicated as another.
func (k *Keyspace) AlterLike(name string) string {
	return fmt.Sprintf("ALTER KEYSPACE %s WITH replication = %s", identifier(name), ReplicationText(k.Replication))
}

// GrantAll is the statement that gives a role all rights on a keyspace; "" is a role whose name is not known.
func GrantAll(keyspace, role string) string {
	if role == "" {
		role = "helenus"
	}
	return fmt.Sprintf("GRANT ALL PERMISSIONS ON KEYSPACE %s TO %s", identifier(keyspace), identifier(role))
}

// ReplicatedAs tells whether two keyspaces are replicated alike.
func (k *Keyspace) ReplicatedAs(o *Keyspace) bool { return maps.Equal(k.Replication, o.Replication) }

// Replicas is how many there are of each row: in the data centre that has most, and in all. 0: the replication does not say.
func (k *Keyspace) Replicas() (most, all int) {
	for option, text := range k.Replication {
		if n, err := strconv.Atoi(text); err == nil && option != "class" {
			most, all = max(most, n), all+n
		}
	}
	return most, all
}

// identifier writes a name as CQL.
func identifier(name string) string { return (&cql.ColumnRef{Name: name}).String() }

// ReplicationText is a replication as CQL: the class, then data centres by name.
func ReplicationText(replication map[string]string) string {
	literal := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	parts := []string{literal("class") + ": " + literal(replication["class"])}
	for _, name := range slices.Sorted(maps.Keys(replication)) {
		if name != "class" {
			parts = append(parts, literal(name)+": "+literal(replication[name]))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
