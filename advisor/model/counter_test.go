package model_test

import (
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/model"
)

// TestCountersStandAlone: Cassandra takes a counter in no key, and beside other counters only. What a design keeps elsewhere is a bigint.
func TestCountersStandAlone(t *testing.T) {
	listing := &model.Entity{Name: "Listing", Count: 10}
	attribute := func(name, kind string) model.Field {
		a := &model.Attribute{Name: name, Type: kind}
		listing.Attributes = append(listing.Attributes, a)
		return model.Field{Entity: listing, Attribute: a}
	}
	id, title, views, likes := attribute("id", "uuid"), attribute("title", "text"), attribute("views", "counter"), attribute("likes", "Counter")
	for _, c := range []struct {
		name  string
		table model.Table
		want  []string
		holds int // of its counters as bigints
	}{
		{"alone", model.Table{Partition: []model.Field{id}, Values: []model.Field{views, likes}}, []string{"views counter", "likes Counter"}, 0},
		{"beside a text", model.Table{Partition: []model.Field{id}, Values: []model.Field{title, views}}, []string{"title text", "views bigint"}, 1},
		{"in the key", model.Table{Partition: []model.Field{id}, Clustering: []model.Field{views}, Values: []model.Field{likes}}, []string{"views bigint", "likes bigint"}, 2},
		{"as it is known to be", model.Table{Partition: []model.Field{id}, Values: []model.Field{title, views}, Types: map[model.Field]string{views: "int"}}, []string{"views int"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			cql := c.table.CQL("shop", "t")
			for _, want := range c.want {
				if !strings.Contains(cql, want+",") {
					t.Errorf("%s: want %q", cql, want)
				}
			}
			if got := c.table.Uncounted(); len(got) != c.holds {
				t.Errorf("%v of its counters are bigints", got)
			}
		})
	}
}
