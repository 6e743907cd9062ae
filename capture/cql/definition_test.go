package cql

import "testing"

func TestIsDefinitions(t *testing.T) {
	for text, want := range map[string]bool{
		"":                                false,
		"-- nothing":                      false,
		"CREATE TABLE t (k int)":          true,
		"create table t (k int)":          true,
		"-- as described\n/* by cqlsh */": false,
		"-- as described\nUSE k;":         true,
		"// as described\nALTER TABLE t":  true,
		"INSERT INTO t JSON '{}'":         true,
		"\"CREATE\" TABLE":                false,
		"SELECT * FROM t":                 false,
		"use: k":                          false,
		"create :\n  - t":                 false,
		"tables:\n  - CREATE TABLE t":     false,
		"{\"tables\": []}":                false,
	} {
		if got := IsDefinitions(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
