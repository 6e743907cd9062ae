package planrun_test

import (
	"context"
	"testing"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

type fakeSession struct {
	exec.Session
	query func(exec.Query) (exec.Answer, error)
}

func (f fakeSession) Query(_ context.Context, q exec.Query) (exec.Answer, error) { return f.query(q) }

func userByID() (*plan.Plan, *model.Table) {
	id, name := &model.Attribute{Name: "id", Type: "int"}, &model.Attribute{Name: "name", Type: "text"}
	e := &model.Entity{Name: "User", Count: 10, Key: []*model.Attribute{id}, Attributes: []*model.Attribute{id, name}}
	f := func(a *model.Attribute) model.Field { return model.Field{Entity: e, Attribute: a} }
	t := &model.Table{Tree: model.Tree{Entities: []*model.Entity{e}}, Partition: []model.Field{f(id)}, Values: []model.Field{f(name)}, Keyspace: "k", Name: "users"}
	q := &workload.Query{Tree: t.Tree, Select: []model.Field{f(name)}, Where: []workload.Predicate{{Field: f(id), Op: workload.Equal, Value: "?"}}}
	return &plan.Plan{Query: q, Steps: []plan.Step{{Kind: plan.Get, Table: t, Partition: []plan.Binding{{Field: f(id), Op: workload.Equal, Value: "?"}}, Fields: t.Fields()}}}, t
}

func TestPlainGet(t *testing.T) {
	p, _ := userByID()
	program, err := planrun.Compile(p)
	if err != nil {
		t.Fatal(err)
	}
	var sent exec.Query
	s := fakeSession{query: func(q exec.Query) (exec.Answer, error) {
		sent = q
		return exec.Answer{Rows: [][][]byte{{[]byte("Ada")}}}, nil
	}}
	rows, err := program.Run(context.Background(), s, planrun.Parameters{"User.id =": {exec.FromInt32(7)}}, planrun.RunOptions{})
	if err != nil || len(rows.Cells) != 1 || string(rows.Cells[0][0]) != "Ada" || rows.Columns[0].Name() != "User.name" || rows.Columns[0].Type != "text" {
		t.Fatal(rows, err)
	}
	if sent.Text != "SELECT name FROM k.users WHERE id = ?" || sent.Routed != 1 || string(sent.Values[0]) != string(exec.FromInt32(7)) {
		t.Error(sent)
	}
}
