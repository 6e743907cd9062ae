package exec

import (
	"testing"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/proxy"
)

func TestAnswerShows(t *testing.T) {
	native := func(t gocql.Type) gocql.TypeInfo { return gocql.NewNativeType(4, t, "") }
	text, number := proxy.Type{Code: 0x0D}, proxy.Type{Code: 0x09}
	address := func(fields ...string) proxy.Type {
		out := proxy.Type{Code: 0x30, Keyspace: "k", Name: "address", Fields: fields}
		for range fields {
			out.Elements = append(out.Elements, text)
		}
		return out
	}
	udt := gocql.UDTTypeInfo{NativeType: gocql.NewNativeType(4, gocql.TypeUDT, ""), KeySpace: "k", Name: "address", Elements: []gocql.UDTField{{Name: "street", Type: native(gocql.TypeVarchar)}}}
	list := gocql.CollectionType{NativeType: gocql.NewNativeType(4, gocql.TypeList, ""), Elem: udt}
	dict := gocql.CollectionType{NativeType: gocql.NewNativeType(4, gocql.TypeMap, ""), Key: native(gocql.TypeInt), Elem: udt}
	tuple := gocql.TupleTypeInfo{NativeType: gocql.NewNativeType(4, gocql.TypeTuple, ""), Elems: []gocql.TypeInfo{native(gocql.TypeInt), udt}}
	of := func(code uint16, elements ...proxy.Type) proxy.Type {
		return proxy.Type{Code: code, Elements: elements}
	}
	for i, c := range []struct {
		is    gocql.TypeInfo
		told  proxy.Type
		alike bool
	}{
		{native(gocql.TypeVarchar), text, true}, {native(gocql.TypeVarchar), number, false}, {native(gocql.TypeBlob), text, false},
		{native(gocql.TypeSmallInt), proxy.Type{Custom: "org.apache.cassandra.db.marshal.ShortType"}, true}, // version 3 has no code for it
		{udt, address("street"), true}, {udt, address("road"), false}, {udt, address("street", "zip"), false}, {udt, address(), false}, {udt, text, false},
		{list, of(0x20, address("street")), true}, {list, of(0x20, address("street", "zip")), false}, {list, of(0x22, address("street")), false},
		{dict, of(0x21, number, address("street")), true}, {dict, of(0x21, text, address("street")), false}, {dict, of(0x21, number, address("road")), false},
		{tuple, of(0x31, number, address("street")), true}, {tuple, of(0x31, number), false}, {tuple, of(0x31, number, address("road")), false},
	} {
		if got := described(c.is, &c.told); got != c.alike {
			t.Errorf("%d: %v is taken for %+v: %t", i, c.is, c.told, got)
		}
	}
	if a, b := address("street"), address("street", "zip"); !equal(&a, &a) || equal(&a, &b) || !equal(&a, &proxy.Type{Custom: "x"}) {
		t.Error("types of the protocol")
	}
	a := Answer{Columns: []string{"a", "b"}}
	told := []proxy.Column{{Name: "a", Type: text}}
	if !a.Shows(told, 1) || a.Shows(told, 0) || a.Shows([]proxy.Column{{Name: "b"}}, 1) {
		t.Error("names")
	}
	if a.typed = func(int, proxy.Type) bool { return false }; a.Shows(told, 1) {
		t.Error("types")
	}
}
