package kind

import (
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/proxy"
)

// Marker names a value of a request: by its place in the statement, and by its name if it has one.
type Marker struct {
	Index int
	Name  string
}

// Values are the values of one request together with the names by which some drivers send them.
type Values struct {
	Values    []proxy.Value
	Variables []proxy.Column // of the prepared statement, nil for a QUERY
}

// Get finds the value of a marker; ok is false if the request has none.
func (v Values) Get(m Marker) (value proxy.Value, ok bool) {
	named := len(v.Values) > 0 && v.Values[0].Name != ""
	if !named {
		if m.Index < 0 || m.Index >= len(v.Values) {
			return proxy.Value{}, false
		}
		return v.Values[m.Index], true
	}
	name := v.Name(m)
	for _, c := range v.Values {
		if name != "" && c.Name == name { // as Cassandra compares them: "A" and a are two columns
			return c, true
		}
	}
	return proxy.Value{}, false
}

// Name is the name by which Cassandra knows a marker, "" if that is not known here.
func (v Values) Name(m Marker) string {
	if m.Index < len(v.Variables) {
		return v.Variables[m.Index].Name
	}
	return m.Name
}

// Conditional tells whether a statement, or any statement of a BATCH text, has an IF.
func Conditional(st cql.Statement) bool {
	switch s := st.(type) {
	case *cql.Batch:
		for _, child := range s.Statements {
			if Conditional(child) {
				return true
			}
		}
	case *cql.Insert:
		return s.IfNotExists
	case *cql.Update:
		return s.IfExists || len(s.Conditions) > 0
	case *cql.Delete:
		return s.IfExists || len(s.Conditions) > 0
	}
	return false
}

// Comment is what a table of a change carries, so that it is known to be ours.
func Comment(signature string) string { return schema.OwnComment + signature }
