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

// Where columns are all static, Cassandra refuses conditions on clustering columns ("Cannot restrict clustering columns when
// selecting only static columns") and answers one row for each partition: a clustering column is asked for besides.
func TestStaticColumnsAlone(t *testing.T) {
	attribute := func(name string) *model.Attribute { return &model.Attribute{Name: name, Type: "int"} }
	hotel := &model.Entity{Name: "Hotel", Count: 10, Key: []*model.Attribute{attribute("hid")}}
	name := attribute("stars")
	hotel.Attributes = append(hotel.Key[:1:1], name)
	room := &model.Entity{Name: "Room", Count: 100, Key: []*model.Attribute{attribute("rid")}}
	room.Attributes = room.Key
	edge := &model.Relationship{Name: "r", From: room, To: hotel, Kind: model.ManyToOne, Forward: "hotel", Backward: "rooms"}
	tree := model.Tree{Entities: []*model.Entity{hotel, room}, Edges: []*model.Relationship{edge}}
	stars, hid, rid := model.Field{Entity: hotel, Attribute: name}, hotel.KeyFields()[0], room.KeyFields()[0]
	table := &model.Table{Tree: tree, Partition: []model.Field{hid}, Clustering: []model.Field{rid}, Values: []model.Field{stars}, Static: []model.Field{stars}, Keyspace: "k", Name: "t"}
	equal := func(f model.Field) plan.Binding { return plan.Binding{Field: f, Op: workload.Equal, Value: "?"} }
	where := []workload.Predicate{{Field: hid, Op: workload.Equal, Value: "?"}, {Field: rid, Op: workload.Equal, Value: "?"}}
	for _, c := range []struct {
		clustering []plan.Binding
		want       string
	}{
		{nil, "SELECT stars, rid FROM k.t WHERE hid = ?"},
		{[]plan.Binding{equal(rid)}, "SELECT stars, rid FROM k.t WHERE hid = ? AND rid = ?"},
	} {
		q := &workload.Query{Tree: tree, Select: []model.Field{stars}, Where: where[:1+len(c.clustering)]}
		p := &plan.Plan{Query: q, Steps: []plan.Step{{Kind: plan.Get, Table: table, Partition: []plan.Binding{equal(hid)}, Clustering: c.clustering, Fields: table.Fields()}}}
		program, err := planrun.Compile(p)
		if err != nil {
			t.Fatal(err)
		}
		var sent exec.Query
		s := fakeSession{query: func(q exec.Query) (exec.Answer, error) {
			sent = q
			return exec.Answer{Rows: [][][]byte{{exec.FromInt32(5), exec.FromInt32(1)}, {exec.FromInt32(5), nil}}}, nil // the second has statics only
		}}
		one := [][]byte{exec.FromInt32(1)}
		rows, err := program.Run(context.Background(), s, planrun.Parameters{"Hotel.hid =": one, "Room.rid =": one}, planrun.RunOptions{})
		if err != nil || len(rows.Cells) != 1 || len(rows.Cells[0]) != 1 {
			t.Errorf("%v %v", rows, err)
		}
		if sent.Text != c.want {
			t.Errorf("%s, want %s", sent.Text, c.want)
		}
	}
}

// NoSE's workloads write 0 and 1 for false and true (EAC: IsAdmin = 0).
func TestNumbersForTruth(t *testing.T) {
	for literal, want := range map[string]byte{"0": 0, "1": 1, "true": 1, "FALSE": 0} {
		if cell, err := planrun.Encode("boolean", literal); err != nil || len(cell) != 1 || cell[0] != want {
			t.Errorf("%s: %v %v", literal, cell, err)
		}
	}
	if cell, err := planrun.Encode("boolean", "2"); err == nil {
		t.Errorf("2 is %v", cell)
	}
}

// A write that changes no table of a design asks nothing, not even whom it speaks of.
func TestWriteOfNoTable(t *testing.T) {
	p, table := userByID()
	name := p.Query.Select[0]
	w := &workload.Write{Kind: workload.Update, Entity: name.Entity, Tree: table.Tree, Set: []model.Field{name}, Where: []workload.Predicate{{Field: name, Op: workload.Equal, Value: "?"}}}
	program, err := planrun.CompileWrite(w, nil)
	if err != nil {
		t.Fatal(err)
	}
	with := planrun.Parameters{"SET User.name": {[]byte("Eve")}, "User.name =": {[]byte("Ada")}}
	if err := program.Run(context.Background(), fakeSession{}, with, planrun.RunOptions{}); err != nil {
		t.Error(err)
	}
}
