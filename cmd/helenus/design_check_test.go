package main

import (
	"bytes"
	"strings"
	"testing"
)

// A type that Cassandra does not have may be a user's own, or a slip: it is told of, once, and the design is made.
func TestDesignTellsOfTypes(t *testing.T) {
	text := strings.NewReplacer("{name: city, type: text, distinct: 10}", "{name: city, type: txt, distinct: 10}", "type: double", "type: 'list<frozen<txt>>'").Replace(small)
	var out, told bytes.Buffer
	c := root()
	c.SetArgs([]string{"design", "--mix", "day", written(t, "w.yaml", text)})
	c.SetOut(&out)
	c.SetErr(&told)
	if err := c.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := "note: type txt of Hotel.city is none of Cassandra's own: CREATE TYPE it before the tables; nearest is text"; strings.Count(told.String(), "note: type ") != 1 || !strings.Contains(told.String(), want) {
		t.Errorf("%s\nnot: %s", told.String(), want)
	}
	if !strings.Contains(out.String(), "CREATE TABLE") {
		t.Errorf("no design: %s", out.String())
	}
}
