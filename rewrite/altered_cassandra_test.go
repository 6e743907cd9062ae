package rewrite

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/kind"
	"github.com/helenus-db/helenus/rewrite/migrate"
	"github.com/helenus-db/helenus/rewrite/twintest"
)

// A user-defined type may be altered under a statement that is served, prepared or as text: its answers go on to have the columns that Cassandra
// says, by type, too, and are served again once the client has been told.
func TestCassandraAlteredType(t *testing.T) {
	w := newTwin(t)
	const text = "SELECT id, who, home, others FROM @.people WHERE who = ? ALLOW FILTERING"
	alter := func(text string) {
		w.do(strings.ReplaceAll(text, "@", w.keyspace))
		w.read()
	}
	alter("CREATE TYPE @.address (street text)")
	alter("CREATE TABLE @.people (id text PRIMARY KEY, who text, home address, others map<text, frozen<list<frozen<address>>>>)")
	alter("INSERT INTO @.people (id, who, home, others) VALUES ('a', 'ann', {street: 'high'}, {'x': [{street: 'low'}]})")
	print, normalised, _, err := cql.FingerprintText(strings.ReplaceAll(text, "@", w.keyspace), "")
	must(t, err)
	_, err = w.engine.Approve(t.Context(), "people", plan.Rewrite{Keyspace: w.keyspace, Base: "people", Column: "who", Table: "people_by_who",
		Statements: []string{print.String()}, Texts: []string{normalised}, SchemaDigest: w.schema.Load().Table(w.keyspace, "people").Digest()}, "ann")
	must(t, err)
	w.await(migrate.Serving)
	forms := []twintest.Statement{{Way: twintest.Execute, Text: text, Values: []twintest.Value{twintest.Text("ann")}}, {Text: strings.Replace(text, "?", "'ann'", 1)}}
	for _, alteration := range []string{"", "ALTER TYPE @.address ADD zip text", "ALTER TYPE @.address RENAME street TO road"} {
		if alteration != "" {
			alter(alteration)
			alter("UPDATE @.people SET home.zip = '1', others = {'x': [{zip: '2'}]} WHERE id = 'a'")
			w.await(migrate.Serving)
			// What Helenus reads by itself must not be prepared in the client's name: Cassandra would not tell the client any more.
			own := w.engine.rules.Load().rule("", strings.ReplaceAll(text, "@", w.keyspace))
			_, err := own.read.read.Original(t.Context(), kind.Request{Values: kind.Values{Values: []proxy.Value{{Bytes: []byte("ann")}}}, Consistency: gocql.One})
			must(t, err)
		}
		for i, s := range forms {
			served := w.engine.active["people"].counts.served.Load()
			for range 3 {
				got, err := w.through.Do(s)
				must(t, err)
				want, err := w.beside.Do(s)
				must(t, err)
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("after %q, form %d: %q %s, without Helenus %q %s", alteration, i, got.Rows, got.Types, want.Rows, want.Types)
				}
			}
			if w.engine.active["people"].counts.served.Load() == served {
				t.Errorf("after %q, form %d is not served any more", alteration, i)
			}
		}
	}
}
