package nose_test

import (
	"math"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/nose"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// shop is a chain author <- book <- review: 100, 1,000 and 5,000.
func shop(t *testing.T) *model.Graph {
	t.Helper()
	entity := func(name string, count float64, attributes ...*model.Attribute) *model.Entity {
		id := &model.Attribute{Name: "id", Type: "uuid", Size: 16}
		return &model.Entity{Name: name, Count: count, Key: []*model.Attribute{id}, Attributes: append([]*model.Attribute{id}, attributes...)}
	}
	author := entity("author", 100, &model.Attribute{Name: "name", Type: "text", Size: 20})
	book := entity("book", 1000, &model.Attribute{Name: "title", Type: "text", Size: 30},
		&model.Attribute{Name: "genre", Type: "text", Size: 10, Distinct: 10},
		&model.Attribute{Name: "year", Type: "int", Size: 8, Distinct: 500, Effective: 50})
	review := entity("review", 5000, &model.Attribute{Name: "stars", Type: "int", Size: 8, Distinct: 5})
	g := &model.Graph{Entities: []*model.Entity{author, book, review}, Relationships: []*model.Relationship{
		{Name: "wrote", From: book, To: author, Kind: model.ManyToOne, Forward: "author", Backward: "books"},
		{Name: "about", From: review, To: book, Kind: model.ManyToOne, Forward: "book", Backward: "reviews"},
	}}
	if err := g.Validate(); err != nil {
		t.Fatal(err)
	}
	return g
}

// table makes a table of "partition|clustering|values".
func table(t *testing.T, g *model.Graph, text string, edges ...*model.Relationship) *model.Table {
	t.Helper()
	var lists [3][]model.Field
	for i, part := range strings.Split(text, "|") {
		for _, name := range strings.Fields(part) {
			f, err := g.Field(name)
			if err != nil {
				t.Fatal(err)
			}
			lists[i] = append(lists[i], f)
		}
	}
	x, err := model.NewTable(g, lists[0], lists[1], lists[2], edges...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
		t.Errorf("%s: %.12g, want %.12g", what, got, want)
	}
}

func priced(t *testing.T, name string) cost.Model {
	t.Helper()
	m, err := cost.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const (
	lookup    = 0.0078395645
	partition = 0.0013692786
	row       = 1.17093638386496e-05
	insert    = 0.013329108
	remove    = 0.0013287903
)

// TestReads: what each kind of step costs, by hand (docs/design/nose.md, sections 1 and 3). A partition of an
// author has ten books, that of a book five reviews.
func TestReads(t *testing.T) {
	for name, c := range map[string]struct {
		query                     string
		tables                    string // in the order in which the plan reads them
		requests, entities, bytes float64
		cassandra                 float64
	}{
		"N-31 one get, the fields selected": {
			"SELECT book.title FROM author.books WHERE author.id = ?", "author.id|book.id|book.title",
			1, 10, 10 * 30, lookup + partition + 10*row},
		"N-32 an equality on a clustering prefix divides": {
			"SELECT book.title FROM author.books WHERE author.id = ? AND book.genre = ?", "author.id|book.genre book.id|book.title",
			1, 1, 30, lookup + partition + row},
		"N-32 both ends of a range are a tenth, once": {
			"SELECT book.title FROM author.books WHERE author.id = ? AND book.genre = ? AND book.year >= ? AND book.year < ?", "author.id|book.genre book.year book.id|book.title",
			1, 0.1, 3, lookup + partition + 0.1*row},
		"N-33 a filter is free, what it needs is read whole": {
			"SELECT book.title FROM author.books WHERE author.id = ? AND book.genre = ?", "author.id|book.id|book.title book.genre",
			1, 10, 10 * (16 + 16 + 30 + 10), lookup + partition + 10*row},
		"N-32 a range before an equality is left to a filter": {
			"SELECT book.title FROM author.books WHERE author.id = ? AND book.genre = ? AND book.year >= ?", "author.id|book.year book.genre book.id|book.title",
			1, 10, 10 * (16 + 8 + 10 + 16 + 30), lookup + partition + 10*row},
		"N-31 N-32 a get for each row": {
			"SELECT book.title FROM author.books WHERE author.id = ?", "author.id|book.id|, book.id||book.title",
			1 + 10, 10 + 10, 10*(16+16) + 10*30, 2*lookup + 11*partition + 20*row},
		"N-32 filtered before the next": {
			"SELECT book.title FROM author.books WHERE author.id = ? AND book.genre = ?", "author.id|book.id|book.genre, book.id||book.title",
			1 + 1, 10 + 1, 10*(16+16+10) + 30, 2*lookup + 2*partition + 11*row},
		"N-33 a sort costs one": {
			"SELECT book.title FROM author.books WHERE author.id = ? ORDER BY book.year", "author.id|book.id|book.title book.year",
			1 + 1, 10 + 1, 10*(16+16+30+8) + 1, lookup + partition + 10*row + 1},
		"N-21 a limit on the first lookup": {
			"SELECT book.title FROM author.books WHERE author.id = ? LIMIT 3", "author.id|book.id|book.title",
			1, 3, 3 * 30, lookup + partition + 3*row},
		"N-21 no limit above what is there": {
			"SELECT book.title FROM author.books WHERE author.id = ? LIMIT 30", "author.id|book.id|book.title",
			1, 10, 10 * 30, lookup + partition + 10*row},
		"N-21 a limit before fields are fetched": {
			"SELECT book.title FROM author.books WHERE author.id = ? ORDER BY book.year LIMIT 3", "author.id|book.year book.id|, book.id||book.title",
			1 + 3, 3 + 3, 3*(16+8+16) + 3*30, 2*lookup + 4*partition + 6*row},
		"N-21 a limit on a later lookup, not by id": {
			"SELECT review.stars FROM author.books.reviews WHERE author.id = ? LIMIT 3", "author.id|book.id|, book.id|review.id|review.stars",
			1 + 3, 10 + 3, 10*(16+16) + 3*8, 2*lookup + 11*partition + 13*row},
		"N-21 a limit above a filter changes nothing": {
			"SELECT book.title FROM author.books WHERE author.id = ? AND book.genre = ? LIMIT 3", "author.id|book.id|book.title book.genre",
			1, 10, 10 * (16 + 16 + 30 + 10), lookup + partition + 10*row},
		"the values that the code takes a field to have": {
			"SELECT book.title FROM book WHERE book.year = ?", "book.year|book.id|book.title",
			1, 20, 20 * 30, lookup + partition + 20*row},
		"rows of the largest entity, also over branches": {
			"SELECT review.stars FROM author.books.reviews WHERE author.id = ?", "author.id|book.id review.id|review.stars",
			1, 50, 50 * 8, lookup + partition + 50*row},
	} {
		t.Run(name, func(t *testing.T) {
			g := shop(t)
			s, err := workload.Parse(g, c.query)
			if err != nil {
				t.Fatal(err)
			}
			var tables []*model.Table
			for _, text := range strings.Split(c.tables, ", ") {
				tables = append(tables, table(t, g, text))
			}
			space, err := plan.NewSpace(s.Query, tables, nose.Arithmetic{})
			if err != nil {
				t.Fatal(err)
			}
			var p *plan.Plan
			for _, x := range space.Plans(100) {
				if len(x.Tables()) == len(tables) && x.Tables()[0] == tables[0] {
					p = x
				}
			}
			if p == nil {
				t.Fatal("no such plan")
			}
			for model, want := range map[string]float64{"nose:request_count": c.requests, "nose:entity_count": c.entities, "nose:field_size": c.bytes, "nose:cassandra": c.cassandra} {
				near(t, "N-35 "+model+"\n"+p.String(), cost.Plan(priced(t, model), p).Work, want)
			}
		})
	}
}

// TestWrites: support queries, and what is written (section 6).
func TestWrites(t *testing.T) {
	for name, c := range map[string]struct {
		write, table string
		support      []string
		found        []float64
		requests     float64
		bytes        float64
		cassandra    float64
	}{
		"N-41 an insert into its own table": {
			"INSERT INTO book SET id = ?, title = ?", "book.id||book.title book.year", nil, nil, 1, 16 + 30 + 8, insert},
		"N-38 N-41 an insert asks for the part it is connected to": {
			"INSERT INTO book SET id = ?, title = ? AND CONNECT TO author(?)", "author.id|book.id|book.title author.name",
			[]string{"SELECT author.name FROM author WHERE author.id = ?"}, []float64{1}, 1, 16 + 16 + 30 + 20, insert},
		"nothing to ask": {
			"INSERT INTO book SET id = ?, title = ? AND CONNECT TO author(?)", "author.id|book.id|book.title", nil, nil, 1, 16 + 16 + 30, insert},
		"N-37 an update of a value": {
			"UPDATE book SET title = ? WHERE book.id = ?", "book.id||book.title", nil, nil, 1, 46, insert},
		"N-39 its support finds the rest of the key, by parts": {
			"UPDATE book SET title = ? WHERE book.id = ?", "author.id|book.year review.id book.id|book.title",
			[]string{"SELECT book.year FROM book WHERE book.id = ?", "SELECT author.id FROM book.author WHERE book.id = ?", "SELECT review.id FROM book.reviews WHERE book.id = ?"},
			[]float64{1, 1, 5}, 5, 16 + 8 + 16 + 16 + 30, 5 * insert},
		"N-40 an update of the key deletes and puts": {
			"UPDATE book SET year = ? WHERE book.id = ?", "author.id|book.year book.id|book.title",
			[]string{"SELECT book.title FROM book WHERE book.id = ?", "SELECT author.id FROM book.author WHERE book.id = ?"},
			[]float64{1, 1}, 2, 2 * (16 + 8 + 16 + 30), insert + remove},
		"N-41 a delete asks for keys": {
			"DELETE FROM book WHERE book.id = ?", "author.id|book.id|book.title",
			[]string{"SELECT author.id FROM book.author WHERE book.id = ?"}, []float64{1}, 1, 62, remove},
		"N-42 a connection asks both sides": {
			"CONNECT book(?) TO author(?)", "author.id|book.id|book.title author.name",
			[]string{"SELECT book.title FROM book WHERE book.id = ?", "SELECT author.name FROM author WHERE author.id = ?"}, []float64{1, 1}, 1, 82, insert},
	} {
		t.Run(name, func(t *testing.T) {
			g := shop(t)
			s, err := workload.Parse(g, c.write)
			if err != nil {
				t.Fatal(err)
			}
			x := table(t, g, c.table)
			var a nose.Arithmetic
			if !a.Modifies(s.Write, x) {
				t.Fatal("it does not modify the table")
			}
			var got []string
			for _, q := range a.SupportQueries(s.Write, x) {
				got = append(got, q.Query.String())
				near(t, "executions", q.Times, 1)
			}
			if strings.Join(got, "\n") != strings.Join(c.support, "\n") {
				t.Errorf("support\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.support, "\n"))
			}
			steps := a.WriteSteps(s.Write, x, c.found)
			for model, want := range map[string]float64{"nose:request_count": c.requests, "nose:entity_count": c.requests, "nose:field_size": c.bytes, "nose:cassandra": c.cassandra} {
				near(t, "N-34 N-45 "+model, cost.Write(priced(t, model), &plan.WritePlan{Steps: steps}).Work, want)
			}
		})
	}
}
