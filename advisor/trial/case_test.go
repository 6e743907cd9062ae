package trial_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/trial"
	"github.com/helenus-db/helenus/advisor/trial/memory"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
)

// asked is a case of one SELECT that is asked as another; the table has a key of two columns and two more.
func asked(t *testing.T, was, is string) *trial.Case {
	t.Helper()
	column := func(name string, kind schema.ColumnKind, position int) schema.Column {
		return schema.Column{Name: name, Kind: kind, Position: position, Type: "int"}
	}
	s := &schema.Schema{Keyspaces: []schema.Keyspace{{Name: "k", Tables: []schema.Table{{Keyspace: "k", Name: "t", Columns: []schema.Column{
		column("a", schema.PartitionKey, 0), column("b", schema.Clustering, 0), column("c", schema.Regular, -1), column("d", schema.Regular, -1),
	}}}}}}
	parsed := func(text string) *cql.Select {
		st, err := cql.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return st.(*cql.Select) //nolint:forcetypeassert // they are SELECTs
	}
	return &trial.Case{Keyspace: "k", Old: s, New: s, Table: s.Table("k", "t"), Asks: []trial.Ask{{Old: parsed(was), New: trial.Way{Select: parsed(is)}}}}
}

// TestEveryQuestionIsAnswered: four conditions at once are met by some rows, so that a difference in what is answered is seen, whatever
// the seed; what no row can meet has not been tried.
func TestEveryQuestionIsAnswered(t *testing.T) {
	const four = "SELECT b FROM t WHERE a = ? AND b >= ? AND c = ? AND d IN ? ALLOW FILTERING"
	for seed := range uint64(20) {
		var differ *trial.DifferError
		if err := asked(t, four, strings.Replace(four, "ALLOW", "ORDER BY b DESC ALLOW", 1)).Run(seed); !errors.As(err, &differ) {
			t.Errorf("seed %d, another order: %v", seed, err)
		}
		if err := asked(t, four, four).Run(seed); err != nil {
			t.Errorf("seed %d, the same: %v", seed, err)
		}
	}
	const none = "SELECT b FROM t WHERE a = ? AND c = 1 AND c > 7 ALLOW FILTERING"
	var unknown *memory.UnknownError
	if err := asked(t, none, none).Run(1); !errors.As(err, &unknown) || !strings.Contains(err.Error(), "none of the rows that were made answers") {
		t.Error(err)
	}
}
