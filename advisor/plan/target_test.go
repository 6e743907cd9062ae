package plan_test

import (
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// TestWritesOccurrences: a table of comments with the names of author and receiver is written for a user as the one and as the
// other; a user has written 5 comments and received 5.
func TestWritesOccurrences(t *testing.T) {
	entity := func(name string, count float64, attributes ...string) *model.Entity {
		e := &model.Entity{Name: name, Count: count}
		for _, a := range append([]string{"id"}, attributes...) {
			e.Attributes = append(e.Attributes, &model.Attribute{Name: a, Type: "uuid"})
		}
		e.Key = e.Attributes[:1]
		return e
	}
	user, comment := entity("user", 100, "name", "karma"), entity("comment", 500, "text")
	g := &model.Graph{Entities: []*model.Entity{user, comment}, Relationships: []*model.Relationship{
		{Name: "wrote", From: comment, To: user, Kind: model.ManyToOne, Forward: "author", Backward: "written"},
		{Name: "got", From: comment, To: user, Kind: model.ManyToOne, Forward: "receiver", Backward: "received"}}}
	wrote, got := g.Relationships[0], g.Relationships[1]
	other := g.Occurrence(user, 2)
	tree, err := model.NewTree(comment, wrote, g.Between(got, comment, other))
	if err != nil {
		t.Fatal(err)
	}
	x := &model.Table{Tree: tree, Partition: user.KeyFields(), Clustering: append(comment.KeyFields(), other.KeyFields()...),
		Values: []model.Field{comment.Field("text"), user.Field("name"), other.Field("name")}}
	if err := x.Validate(); err != nil {
		t.Fatal(err)
	}
	by := func(e *model.Entity) []workload.Predicate {
		return []workload.Predicate{{Field: e.Field("id"), Op: workload.Equal, Value: "?"}}
	}
	alone := func(e *model.Entity) model.Tree { return model.Tree{Entities: []*model.Entity{e}} }
	for name, c := range map[string]struct {
		write   workload.Write
		support []string
		steps   string
	}{
		"an update of either name": {workload.Write{Kind: workload.Update, Entity: user, Tree: alone(user), Set: []model.Field{user.Field("name")}, Where: by(user)},
			[]string{"comment.id, user#2.id", "user.id, comment.id"}, "put 10 rows"},
		"a user deleted": {workload.Write{Kind: workload.Delete, Entity: user, Tree: alone(user), Where: by(user)},
			[]string{"comment.id, user#2.id", "user.id, comment.id"}, "delete 10 rows"},
		"a comment, connected to both": {workload.Write{Kind: workload.Insert, Entity: comment, Tree: alone(comment), Set: []model.Field{comment.Field("id"), comment.Field("text")},
			Connections: []workload.Connection{{Edge: wrote, Entity: user}, {Edge: got, Entity: user}}},
			[]string{"user.name", "user#2.name"}, "put 1 row"},
		"a comment, connected to one": {workload.Write{Kind: workload.Insert, Entity: comment, Tree: alone(comment), Set: []model.Field{comment.Field("id")},
			Connections: []workload.Connection{{Edge: wrote, Entity: user}}}, nil, ""},
		"another value of users": {workload.Write{Kind: workload.Update, Entity: user, Tree: alone(user), Set: []model.Field{user.Field("karma")}, Where: by(user)}, nil, ""},
	} {
		t.Run("N-37 N-39 "+name, func(t *testing.T) {
			w := &c.write
			if plan.Modifies(w, x) != (c.steps != "") {
				t.Fatalf("modifies: %t", plan.Modifies(w, x))
			}
			if c.steps == "" {
				return
			}
			var asked []string
			for _, s := range plan.SupportQueries(w, x) {
				var names []string
				for _, f := range s.Query.Select {
					names = append(names, f.String())
				}
				asked = append(asked, strings.Join(names, ", "))
			}
			if strings.Join(asked, "; ") != strings.Join(c.support, "; ") {
				t.Errorf("support asks for %q, want %q", asked, c.support)
			}
			var steps []string
			for _, s := range plan.WriteSteps(w, x) {
				steps = append(steps, strings.SplitN(s.String(), " into ", 2)[0])
			}
			if got := strings.Join(steps, "; "); !strings.HasPrefix(got, c.steps) {
				t.Errorf("%s, want %s", got, c.steps)
			}
		})
	}
}

// TestIncrements: what is added to must be known before it is put.
func TestIncrements(t *testing.T) {
	book := library()
	x := &model.Table{Tree: model.Tree{Entities: []*model.Entity{book}}, Partition: book.KeyFields(), Values: []model.Field{book.Field("year"), book.Field("title")}}
	w := &workload.Write{Kind: workload.Update, Entity: book, Tree: x.Tree, Increments: []model.Field{book.Field("year")},
		Where: []workload.Predicate{{Field: book.Field("id"), Op: workload.Equal, Value: "?"}}}
	support := plan.SupportQueries(w, x)
	if !plan.Modifies(w, x) || len(support) != 1 || len(support[0].Query.Select) != 1 || support[0].Query.Select[0] != book.Field("year") {
		t.Errorf("support %+v", support)
	}
}
