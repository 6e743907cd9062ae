package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/cql/lexer"
)

// What a workload file says that reads well, and makes a design that is of no use.

// checkWeights refuses a workload none of whose statements runs in any of the mixes: every design for it costs nothing.
func checkWeights(file string, w *workload.Workload, mixes []string) error {
	runs := func(s *workload.Statement) bool {
		return slices.ContainsFunc(mixes, func(mix string) bool { return s.WeightIn(mix) > 0 }) || slices.ContainsFunc(s.Steps, func(x float64) bool { return x > 0 })
	}
	if slices.ContainsFunc(w.Statements, runs) {
		return nil
	}
	of := ""
	if named := strings.Trim(strings.Join(mixes, ", "), ", "); named != "" {
		of = " in mix " + named
	}
	return fmt.Errorf("%s: no statement has a weight%s, so that every design costs 0: say how often each runs a second, such as weight: 10 (all alike: 1 each)", file, of)
}

// checkTypes refuses a type that CQL can not read, and tells of one that Cassandra does not have by itself, once each: it may be a user-defined type, or a slip.
func checkTypes(out io.Writer, file string, g *model.Graph) error {
	told := map[string]bool{}
	for _, e := range g.Entities {
		for _, a := range e.Attributes {
			st, err := cql.Parse("CREATE TYPE t (f " + a.Type + ")")
			made, ok := st.(*cql.CreateType)
			if err != nil || !ok || len(made.Fields) != 1 {
				return fmt.Errorf("%s: %s.%s: %q is no type of CQL", file, e.Name, a.Name, a.Type)
			}
			for _, name := range userTypes(made.Fields[0].Type, nil) {
				if told[name] {
					continue
				}
				told[name] = true
				near := ""
				if n := model.Nearest(name, nativeTypes()); n != "" {
					near = "; nearest is " + n
				}
				if _, err := fmt.Fprintf(out, "note: type %s of %s.%s is none of Cassandra's own: CREATE TYPE it before the tables%s\n", name, e.Name, a.Name, near); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// nativeTypes are the types that Cassandra has by itself, in lower case.
func nativeTypes() []string {
	return slices.DeleteFunc(lexer.Keywords(), func(word string) bool { return lexer.Lookup(word).Class()&lexer.NativeType == 0 })
}

// userTypes adds the names of the user-defined types in a type.
func userTypes(t cql.Type, names []string) []string {
	if t.UDT {
		names = append(names, t.Name)
	}
	for _, arg := range t.Args {
		names = userTypes(arg, names)
	}
	return names
}
