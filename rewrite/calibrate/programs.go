package calibrate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

// reading is a plan that reads a table by its partition key, as the executor runs it.
type reading struct {
	program   *planrun.Program
	parameter string
	columns   float64 // that the model counts
	row       float64 // bytes of a row without its elements, as the model counts them
	element   float64 // and of an element
}

// graves and nested are tables beside layouts that are read by plans: of deleted rows, and of rows with collections.
var (
	gravesLayout = layout{"dead", plainLayout.columns, plainLayout.size}
	nestedLayout = layout{"nested", 1, 8}
)

// elementSize is that of the text which an element of a collection carries beside its number.
const elementSize = 20

// owned is the name of the collections: a set, and a map with _value behind it.
const owned = "tags"

// graph is the model of the tables that plans read, in the language of workload files.
func graph() (*model.Graph, error) {
	var y strings.Builder
	y.WriteString("name: calibrate\nmodel:\n  entities:\n")
	for _, l := range append(layouts[:len(layouts):len(layouts)], gravesLayout) {
		fmt.Fprintf(&y, "  - {name: %s, count: 1000, key: [id, seq], attributes: [{name: id, type: int}, {name: seq, type: int}%s]}\n", l.name, l.attributes())
	}
	fmt.Fprintf(&y, "  - {name: %s, count: 1000, key: [id], attributes: [{name: id, type: int}%s]}\n", nestedLayout.name, nestedLayout.attributes())
	fmt.Fprintf(&y, "  - {name: element, count: 10000, key: [tag], attributes: [{name: tag, type: int}, {name: value, type: text, size: %d}]}\n", elementSize)
	fmt.Fprintf(&y, "  relationships:\n  - {name: belongs, from: element, to: %s, kind: \"n:1\", forward: owner, backward: %s}\n", nestedLayout.name, owned)
	y.WriteString("statements: []\n")
	w, err := workload.Read("calibrate", []byte(y.String()))
	if err != nil {
		return nil, err
	}
	return w.Graph, nil
}

func (l layout) attributes() string {
	var b strings.Builder
	for i := range l.columns {
		fmt.Fprintf(&b, ", {name: c%d, type: text, size: %d}", i, l.size)
	}
	return b.String()
}

// compile makes the plans that read tables, and programs of them.
func (b *bench) compile() error {
	g, err := graph()
	if err != nil {
		return fmt.Errorf("calibrate: its own tables: %w", err)
	}
	b.readings = map[string]*reading{}
	for _, l := range append(layouts[:len(layouts):len(layouts)], gravesLayout) {
		e := g.Entity(l.name)
		t := &model.Table{Tree: model.Tree{Entities: []*model.Entity{e}}, Keyspace: b.keyspace, Name: l.name,
			Partition: []model.Field{e.Field("id")}, Clustering: []model.Field{e.Field("seq")}, Values: l.fields(e)}
		text := "SELECT " + l.name + ".seq" + l.selected() + " FROM " + l.name + " WHERE " + l.name + ".id"
		if b.readings[l.name], err = read(g, t, text+" = ?"); err != nil {
			return err
		}
		if b.readings[several(l)], err = read(g, t, text+" IN ?"); err != nil {
			return err
		}
	}
	l := nestedLayout
	e, of := g.Entity(l.name), g.Entity("element")
	t := &model.Table{Tree: model.Tree{Entities: []*model.Entity{e}}, Keyspace: b.keyspace, Name: l.name,
		Partition: []model.Field{e.Field("id")}, Values: l.fields(e)}
	t.Nests = []*model.Nest{{Edge: g.Relationship("belongs"), Tree: model.Tree{Entities: []*model.Entity{of}}, Key: of.Field("tag"), Values: []model.Field{of.Field("value")}}}
	b.readings[l.name], err = read(g, t, "SELECT "+l.name+".c0, element.tag, element.value FROM "+l.name+"."+owned+" WHERE "+l.name+".id = ?")
	return err
}

// several is the reading of many partitions of a layout's table.
func several(l layout) string { return l.name + ", several" }

func (l layout) fields(e *model.Entity) (list []model.Field) {
	for i := range l.columns {
		list = append(list, e.Field(fmt.Sprintf("c%d", i)))
	}
	return list
}

func (l layout) selected() string {
	var b strings.Builder
	for i := range l.columns {
		fmt.Fprintf(&b, ", %s.c%d", l.name, i)
	}
	return b.String()
}

// read plans a query over a table and compiles the plan.
func read(g *model.Graph, t *model.Table, text string) (*reading, error) {
	fail := func(err error) error { return fmt.Errorf("calibrate: plan %s: %w", text, err) }
	s, err := workload.Parse(g, text)
	if err != nil {
		return nil, fail(err)
	}
	space, err := plan.NewSpace(s.Query, []*model.Table{t}, nil)
	if err != nil {
		return nil, fail(err)
	}
	plans := space.Plans(1)
	if len(plans) == 0 {
		return nil, fail(fmt.Errorf("the table %s does not answer it", t))
	}
	r := &reading{parameter: s.Query.Parameters()[0].Name}
	get := &plans[0].Steps[0]
	r.columns = float64(len(get.Fields))
	r.row = rowHeader
	for _, f := range get.Fields {
		r.row += f.Size()
	}
	for _, n := range t.Nests {
		r.element = n.ElementBytes(n.Values)
	}
	if r.program, err = planrun.Compile(plans[0]); err != nil {
		return nil, fail(err)
	}
	return r, nil
}

// get runs a reading for the partitions of ids, and wants so many rows.
func (b *bench) get(ctx context.Context, name string, want int, ids ...int) error {
	r := b.readings[name]
	cells := make([][]byte, len(ids))
	for i, id := range ids {
		cells[i] = cell(id)
	}
	// With an account rows go the way that those of plans with several steps do, which most are that read many.
	var account planrun.Account
	rows, err := r.program.Run(ctx, b.pool, planrun.Parameters{r.parameter: cells}, planrun.RunOptions{Parallel: parallel, Consistency: b.consistency, Account: &account})
	if err == nil && len(rows.Cells) != want {
		err = &LostError{fmt.Sprintf("reading %s", b.table(strings.TrimSuffix(name, ", several"))), len(rows.Cells), want}
	}
	return err
}

// cell is a number as a cell of type int.
func cell(n int) []byte { return exec.FromInt32(int32(n)) } //nolint:gosec // of rows that were made by us

// bound are the cells of values: whole numbers and texts, and cells as they are.
func bound(values []any) [][]byte {
	cells := make([][]byte, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case int:
			cells[i] = cell(v)
		case string:
			cells[i] = []byte(v)
		case []byte:
			cells[i] = v
		}
	}
	return cells
}

// single is a collection with one element, or entry, as a cell.
func single(parts ...[]byte) []byte {
	made := cell(1)
	for _, p := range parts {
		made = slices.Concat(made, cell(len(p)), p)
	}
	return made
}
