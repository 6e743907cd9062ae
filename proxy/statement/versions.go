package statement

import (
	"slices"

	"github.com/helenus-db/helenus/proxy/wire"
)

// since are the versions of the protocol that first had a code for a type. To clients of earlier ones Cassandra describes it as a custom type, by
// its class.
var since = map[uint16]byte{wire.TypeDate: 4, wire.TypeTime: 4, wire.TypeSmallint: 4, wire.TypeTinyint: 4, wire.TypeDuration: 5}

// classes are those of since.
var classes = []string{"org.apache.cassandra.db.marshal.SimpleDateType", "org.apache.cassandra.db.marshal.TimeType", "org.apache.cassandra.db.marshal.ShortType",
	"org.apache.cassandra.db.marshal.ByteType", "org.apache.cassandra.db.marshal.DurationType"}

// Alike tells whether Cassandra describes the results to a client of a version of the protocol in the bytes of ResultMetadata. (The id is the same in
// all versions, so clients of several share what is known of a statement.)
func (p *Prepared) Alike(version byte) bool {
	if p.Version == version {
		return true
	}
	lower := min(p.Version, version)
	return !slices.ContainsFunc(p.Results, func(c Column) bool { return c.Type.newerThan(lower) })
}

// newerThan tells whether a version of the protocol has no code for a type, or for a part of it.
func (t *Type) newerThan(version byte) bool {
	return since[t.Code] > version || t.Code == wire.TypeCustom && slices.Contains(classes, t.Custom) || slices.ContainsFunc(t.Elements, func(e Type) bool { return e.newerThan(version) })
}
