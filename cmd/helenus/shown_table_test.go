package main

import (
	"context"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/rewrite/kinds"
	"github.com/helenus-db/helenus/rewrite/lookup/match"
)

// TestShownTableIsMade: the definition that an advice shows is the one that its change carries out, but for the comment.
func TestShownTableIsMade(t *testing.T) {
	in := recommend.Input{Snapshot: infertest.Hotel().Snapshot(), Schema: infertest.HotelSchema(), Statistics: infertest.HotelStatistics(), Nodes: 1,
		Judge: kinds.All(kinds.Settings{}), Solver: solve.New(solve.Config{}), DataKeyspace: "helenus_data"}
	a, err := recommend.Make(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, r := range a.Recommendations {
		if r.Rewrite == nil || len(r.CQL) == 0 { // a timeline of look-ups shows each of its own
			continue
		}
		shown++
		l, refusal := match.New(*r.Rewrite, in.Schema.Table(r.Rewrite.Keyspace, r.Rewrite.Base))
		if refusal != nil {
			t.Fatal(refusal)
		}
		made, _, _ := strings.Cut(strings.Replace(l.Create(r.ID), "IF NOT EXISTS ", "", 1), "\n    AND comment")
		words := func(text string) string { return strings.Join(strings.Fields(text), " ") }
		base := in.Schema.Keyspace(r.Rewrite.Keyspace)
		if len(r.CQL) != 2 || r.CQL[0] != base.CreateLike(r.Rewrite.Home())+";" || r.Rewrite.Home() == base.Name {
			t.Fatalf("%s shows %q", r.ID, r.CQL)
		}
		if got := strings.TrimSuffix(r.CQL[1], ";"); words(got) != words(made) {
			t.Errorf("%s shows\n%s\nand makes\n%s", r.ID, got, made)
		}
	}
	if shown == 0 {
		t.Error("no look-up is advised")
	}
}
