package match

import (
	"slices"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/condition"
)

// TestExamplesOfConditions: what docs/conditions.md says of a SELECT is what becomes of it: it is served, or refused by the condition
// that it is an example of. Each condition that refuses tables or statements has one that is refused.
func TestExamplesOfConditions(t *testing.T) {
	regular := func(name, cqlType string) schema.Column {
		return schema.Column{Name: name, Kind: schema.Regular, Position: -1, Type: cqlType}
	}
	room := schema.Column{Name: "room", Kind: schema.PartitionKey, Type: "uuid"}
	tables := map[string]*schema.Table{
		"stays": {Keyspace: "hotel", Name: "stays", Columns: []schema.Column{room, {Name: "day", Kind: schema.Clustering, Type: "date"},
			{Name: "floor", Kind: schema.Static, Position: -1, Type: "int"}, regular("guest", "text"), regular("status", "text"), regular("rate", "decimal"), regular("tags", "set<text>"),
			{Name: "card", Kind: schema.Regular, Position: -1, Type: "text", Masked: true}}},
		"visits": {Keyspace: "hotel", Name: "visits", Counter: true, Columns: []schema.Column{room, regular("n", "counter")}},
	}
	// judge says by which condition a SELECT is refused, "" if it is served, from a look-up by the column that it compares first.
	judge := func(text string) condition.ID {
		st, ok := parse(t, text).(*cql.Select)
		if !ok {
			t.Fatalf("%s: no SELECT", text)
		}
		print, normal, _, err := cql.FingerprintText(text, "")
		if err != nil {
			t.Fatal(err)
		}
		lu := plan.Rewrite{Keyspace: "hotel", Base: st.Table.Table, Table: "x", Column: st.Where[0].Columns[0], Statements: []string{print.String()}, Texts: []string{normal}}
		l, refusal := New(lu, tables[st.Table.Table])
		if refusal == nil {
			_, refusal = l.CompileRead(st, "")
		}
		if refusal == nil {
			return ""
		}
		return refusal.Condition
	}
	for _, c := range condition.All {
		refused := false
		for line := range strings.SplitSeq(c.CQL, "\n") {
			text, says, found := strings.Cut(line, "-- ")
			if !found || !strings.HasPrefix(text, "SELECT") {
				continue
			}
			switch got := judge(text); {
			case strings.HasPrefix(says, "served") && got != "":
				t.Errorf("%s: %s is refused by %s", c.Name(), text, got)
			case strings.HasPrefix(says, "refused"):
				if refused = true; got != c.ID {
					t.Errorf("%s: %s is refused by %q", c.Name(), text, got)
				}
			}
		}
		always := slices.Contains([]*condition.Condition{condition.Paging, condition.Conditional}, c) // by how a statement is executed, not by its text
		if judges := slices.Contains(c.Where, condition.OfTable) || slices.Contains(c.Where, condition.OfStatement); judges && !refused && !always {
			t.Errorf("%s has no example of a statement that it refuses", c.Name())
		}
	}
}

// TestChecksAreRegistered: the condition of each check says that it is checked there, and each that says it is checked for the table has a check.
func TestChecksAreRegistered(t *testing.T) {
	at := func(c *condition.Condition, place condition.Place) {
		if !slices.Contains(c.Where, place) {
			t.Errorf("%s does not say that it is checked for %s", c.Name(), place)
		}
	}
	checked := map[*condition.Condition]bool{}
	for _, c := range tableChecks {
		at(c.condition, condition.OfTable)
		checked[c.condition] = true
	}
	for _, c := range condition.All {
		if slices.Contains(c.Where, condition.OfTable) && !checked[c] {
			t.Errorf("%s has no check of the table", c.Name())
		}
	}
	for _, c := range clauseChecks {
		at(c.condition, condition.OfStatement)
	}
	for _, c := range habitChecks {
		at(c.condition, condition.OfStatement)
	}
}
