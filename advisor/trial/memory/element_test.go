package memory_test

import (
	"testing"

	"github.com/helenus-db/helenus/advisor/lint"
	"github.com/helenus-db/helenus/advisor/trial/memory"
	"github.com/helenus-db/helenus/capture/cql"
)

// Deleting an element of a set leaves the others, and one of a list by its place is refused rather than guessed.
func TestDeleteElement(t *testing.T) {
	s, err := lint.Define(nil, "k", "CREATE TABLE t (id int PRIMARY KEY, s set<text>, l list<text>)")
	if err != nil {
		t.Fatal(err)
	}
	store := memory.New(s, "k")
	for _, text := range []string{"INSERT INTO t (id, s, l) VALUES (1, {'a', 'b'}, ['a'])", "DELETE s['a'] FROM t WHERE id = 1"} {
		st, err := cql.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Write(st, nil); err != nil {
			t.Fatal(err)
		}
	}
	st, _ := cql.Parse("SELECT s FROM t")
	a, err := store.Select(st.(*cql.Select), nil)
	if err != nil || len(a.Rows) != 1 || memory.Text(a.Rows[0][0]) != "{b}" {
		t.Errorf("%v, %v", a, err)
	}
	if st, err = cql.Parse("DELETE l[0] FROM t WHERE id = 1"); err != nil {
		t.Fatal(err)
	}
	if err := store.Write(st, nil); err == nil {
		t.Error("an element of a list was deleted by its place")
	}
}
