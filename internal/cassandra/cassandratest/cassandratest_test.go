package cassandratest

import "testing"

func TestKeyspaceIsUsableAndUnique(t *testing.T) {
	session, first := Keyspace(t)
	_, second := Keyspace(t)
	if first == second {
		t.Fatalf("two keyspaces are called %s", first)
	}
	if err := session.Query("CREATE TABLE t (k int PRIMARY KEY, v text)").Exec(); err != nil {
		t.Fatal(err)
	}
	if err := session.Query("INSERT INTO t (k, v) VALUES (?, ?)", 1, "one").Exec(); err != nil {
		t.Fatal(err)
	}
	var v string
	if err := session.Query("SELECT v FROM " + first + ".t WHERE k = 1").Scan(&v); err != nil || v != "one" {
		t.Fatalf("read %q, %v", v, err)
	}
}
