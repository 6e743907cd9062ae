package memory

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/helenus-db/helenus/capture/cql"
)

// Value is nil for null, a string, or a Set, List or Map that is not empty.
type Value any

type (
	// Set is sorted and has nothing twice.
	Set []string
	// List is a list, also that of an IN.
	List []string
	// Map is a map.
	Map map[string]string
)

// Args are the values of a statement's markers, by Key.
type Args map[string]Value

// Key is the name of a marker among Args: its own, or "#" and its place in the statement.
func Key(m *cql.Marker) string {
	if m.Name != "" {
		return m.Name
	}
	return "#" + strconv.Itoa(m.Index)
}

// UnknownError says what of a statement can not be run here.
type UnknownError struct{ What string }

func (e *UnknownError) Error() string { return e.What + " can not be run on generated rows" }

func unknown(format string, args ...any) error { return &UnknownError{fmt.Sprintf(format, args...)} }

// Of is the value of a term that names no column.
func Of(t cql.Term, args Args) (Value, error) {
	switch x := t.(type) {
	case *cql.Marker:
		v, ok := args[Key(x)]
		if !ok {
			return nil, fmt.Errorf("nothing is bound to %s", x)
		}
		return v, nil
	case *cql.Literal:
		if x.Kind == cql.LiteralNull {
			return nil, nil
		}
		return x.Text, nil
	case *cql.TypeCast:
		return Of(x.Term, args)
	case *cql.FunctionCall:
		if Computed(x) {
			return "computed by " + x.String(), nil
		}
	case *cql.List:
		list, err := scalars(x.Elements, args)
		return whole(List(list)), err
	case *cql.Tuple:
		list, err := scalars(x.Elements, args)
		return List(list), err
	case *cql.Set:
		list, err := scalars(x.Elements, args)
		return whole(SetOf(list...)), err
	case *cql.Map:
		m := Map{}
		for _, e := range x.Entries {
			pair, err := scalars([]cql.Term{e.Key, e.Value}, args)
			if err != nil {
				return nil, err
			}
			m[pair[0]] = pair[1]
		}
		return whole(m), nil
	}
	return nil, unknown("%s", t)
}

// scalars are the values of terms, each of which is a string.
func scalars(terms []cql.Term, args Args) ([]string, error) {
	out := make([]string, 0, len(terms))
	for _, t := range terms {
		v, err := Of(t, args)
		if err != nil {
			return nil, err
		}
		s, ok := v.(string)
		if !ok {
			return nil, unknown("%s within a collection or list", t)
		}
		out = append(out, s)
	}
	return out, nil
}

// SetOf is the set of some elements.
func SetOf(list ...string) Set {
	out := slices.Clone(list)
	slices.Sort(out)
	return slices.Compact(out)
}

// whole is a value as it is stored: an empty collection is null.
func whole(v Value) Value {
	n := 1
	switch x := v.(type) {
	case Set:
		n = len(x)
	case List:
		n = len(x)
	case Map:
		n = len(x)
	}
	if n == 0 {
		return nil
	}
	return v
}

// Elements are those of a set or list, each once for each time that it is there.
func Elements(v Value) []string {
	switch x := v.(type) {
	case Set:
		return x
	case List:
		return x
	}
	return nil
}

// Text writes a value; different values have different texts.
func Text(v Value) string {
	switch x := v.(type) {
	case nil:
		return "null"
	case string:
		return x
	case Set:
		return "{" + strings.Join(x, ", ") + "}"
	case List:
		return "[" + strings.Join(x, ", ") + "]"
	case Map:
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(x)) {
			parts = append(parts, k+": "+x[k])
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return fmt.Sprint(v)
}

// Collection says what a column's type holds several values of: "set", "list", "map", or "" for a single value; a frozen one is single.
func Collection(cqlType string) string {
	for _, kind := range []string{"set", "list", "map"} {
		if strings.HasPrefix(cqlType, kind+"<") {
			return kind
		}
	}
	return ""
}

// Computed tells whether a term is a call of functions that is given nothing, as now() and toTimestamp(now()): here it is the same
// wherever it stands, though Cassandra would make another value each time.
func Computed(t cql.Term) bool {
	x, ok := t.(*cql.FunctionCall)
	if !ok || x.Star || x.OfColumn {
		return false
	}
	for _, a := range x.Args {
		if !Computed(a) {
			return false
		}
	}
	return true
}
