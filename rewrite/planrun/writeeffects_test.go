package planrun_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

const people = `
name: people
model:
  entities:
  - name: Person
    count: 100
    key: [id]
    attributes: [{name: id, type: int}, {name: city, type: text, absent: 0.1}, {name: note, type: text, absent: 0.5}, {name: karma, type: bigint, absent: 0.1}]
  - {name: Post, count: 1000, key: [id], attributes: [{name: id, type: int}, {name: title, type: text, absent: 0.5}]}
  relationships:
  - {name: wrote, from: Post, to: Person, kind: "n:1", forward: author, backward: posts}
`

// blog has people by key, by city, and their posts with the note as a static column.
type blog struct {
	t        *testing.T
	graph    *model.Graph
	tables   []*model.Table
	mu       sync.Mutex // effects are sent side by side
	batches  [][]exec.Query
	sent     []exec.Query // writes
	asked    []exec.Query // reads
	answer   map[string][][][]byte
	fail     error // of writes
	failRead error
}

func newBlog(t *testing.T) *blog {
	t.Helper()
	w, err := workload.Read("people.yaml", []byte(people))
	if err != nil {
		t.Fatal(err)
	}
	person, post := w.Graph.Entity("Person"), w.Graph.Entity("Post")
	alone := model.Tree{Entities: []*model.Entity{person}}
	both, err := model.NewTree(post, w.Graph.Relationships[0])
	if err != nil {
		t.Fatal(err)
	}
	f := func(names ...string) []model.Field {
		var list []model.Field
		for _, n := range names {
			x, err := w.Graph.Field(n)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, x)
		}
		return list
	}
	b := &blog{t: t, graph: w.Graph, answer: map[string][][][]byte{}}
	b.tables = []*model.Table{
		{Keyspace: "k", Name: "people", Tree: alone, Partition: f("Person.id"), Values: f("Person.city", "Person.note", "Person.karma")},
		{Keyspace: "k", Name: "by_city", Tree: alone, Partition: f("Person.city"), Clustering: f("Person.id"), Values: f("Person.karma", "Person.note")},
		{Keyspace: "k", Name: "posts", Tree: both, Partition: f("Person.id"), Clustering: f("Post.id"), Values: f("Post.title", "Person.note"), Static: f("Person.note")},
		{Keyspace: "k", Name: "post_by_id", Tree: both, Partition: f("Post.id"), Values: f("Post.title", "Person.id", "Person.note")},
	}
	for _, x := range b.tables {
		if err := x.Validate(); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// Query implements exec.Session.
func (b *blog) Query(ctx context.Context, q exec.Query) (exec.Answer, error) {
	if err := ctx.Err(); err != nil {
		return exec.Answer{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if strings.HasPrefix(q.Text, "SELECT ") {
		b.asked = append(b.asked, q)
		return exec.Answer{Rows: b.answer[q.Text]}, b.failRead
	}
	b.sent = append(b.sent, q)
	return exec.Answer{}, b.fail
}

func (b *blog) Scan(context.Context, exec.Query, func([][]byte) error) error { return errFake }
func (b *blog) Agree(context.Context) error                                  { return nil }

// batching is a blog that takes batches.
type batching struct{ *blog }

func (b batching) Batch(_ context.Context, list []exec.Query) error {
	b.batches = append(b.batches, list)
	return b.fail
}

func (b *blog) compile(text string, tables ...*model.Table) *planrun.WriteProgram {
	b.t.Helper()
	s, err := workload.Parse(b.graph, text)
	if err != nil {
		b.t.Fatal(err)
	}
	var plans []*plan.WritePlan
	for _, x := range tables {
		plans = append(plans, &plan.WritePlan{Write: s.Write, Table: x})
	}
	p, err := planrun.CompileWrite(s.Write, plans)
	if err != nil {
		b.t.Fatal(err)
	}
	p.Now = func() time.Time { return time.UnixMicro(1_000_000) }
	return p
}

// written are the writes as texts.
func written(list []exec.Query) string {
	var lines []string
	for _, q := range list {
		text := strings.NewReplacer("INSERT INTO k.", "put ", "DELETE FROM k.", "delete ", " VALUES ", " ", " WHERE", "").Replace(q.Text)
		if at := strings.Index(text, " (?"); at > 0 {
			text = text[:at]
		}
		for _, v := range q.Values {
			switch {
			case exec.IsUnset(v):
				text += " unset"
			case v == nil:
				text += " null"
			case len(v) == 4 && v[0] == 0:
				n, _ := exec.Int32(v)
				text += fmt.Sprint(" ", n)
			case len(v) == 8:
				n, _ := exec.Int64(v)
				text += fmt.Sprint(" ", n)
			default:
				text += fmt.Sprintf(" %q", v)
			}
		}
		lines = append(lines, text)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func id(n int32) [][]byte { return [][]byte{exec.FromInt32(n)} }

func texts(values ...string) [][]byte {
	var list [][]byte
	for _, v := range values {
		list = append(list, []byte(v))
	}
	return list
}

var none = [][]byte{nil}

func TestWhatIsWritten(t *testing.T) {
	const note = "SELECT note FROM k.people WHERE id = ?"
	const byID = "SELECT city, karma, note FROM k.people WHERE id = ?"
	for _, c := range []struct {
		name, write string
		tables      []int
		answer      map[string][][][]byte
		with        planrun.Parameters
		want        string
	}{
		{"null is unset in a new row", "INSERT INTO Person SET id = ?, city = ?, note = ?", []int{0, 1}, nil,
			planrun.Parameters{"SET Person.id": id(1), "SET Person.city": texts("Bonn"), "SET Person.note": none},
			"put by_city (city, id, karma, note) \"Bonn\" 1 unset unset\nput people (id, city, note, karma) 1 \"Bonn\" unset unset"},
		{"no row without a key", "INSERT INTO Person SET id = ?", []int{0, 1}, nil, planrun.Parameters{"SET Person.id": id(1)},
			"put people (id, city, note, karma) 1 unset unset unset"},
		{"null takes away", "UPDATE Person SET note = ? WHERE Person.id = ?", []int{0}, nil, planrun.Parameters{"SET Person.note": none, "Person.id =": id(1)}, "put people (id, note) 1 null"},
		{"a static column is always written", "INSERT INTO Post SET id = ?, title = ? AND CONNECT TO author(?)", []int{2, 0},
			map[string][][][]byte{"SELECT note FROM k.people WHERE id = ?": {{nil}}},
			planrun.Parameters{"SET Post.id": id(7), "SET Post.title": none, "author.id": id(1)}, "put posts (person_id, post_id, title, note) 1 7 unset null"},
		{"a static column alone, once for the partition", "UPDATE Person SET note = ? WHERE Person.id = ?", []int{2},
			map[string][][][]byte{"SELECT post_id FROM k.posts WHERE person_id = ?": {{exec.FromInt32(5)}, {exec.FromInt32(6)}}},
			planrun.Parameters{"SET Person.note": texts("hi"), "Person.id =": id(1)}, "put posts (person_id, note) 1 \"hi\""},
		{"a row moves", "UPDATE Person SET city = ? WHERE Person.id = ?", []int{0, 1}, map[string][][][]byte{byID: {{[]byte("Bonn"), exec.FromInt64(4), nil}}},
			planrun.Parameters{"SET Person.city": texts("Rome"), "Person.id =": id(1)},
			"delete by_city city = ? AND id = ? \"Bonn\" 1\nput by_city (city, id, karma, note) \"Rome\" 1 4 unset\nput people (id, city) 1 \"Rome\""},
		{"a row that stays is not deleted", "UPDATE Person SET city = ?, note = ? WHERE Person.id = ?", []int{0, 1}, map[string][][][]byte{byID: {{[]byte("Bonn"), nil, []byte("x")}}},
			planrun.Parameters{"SET Person.city": texts("Bonn"), "SET Person.note": none, "Person.id =": id(1)},
			"put by_city (city, id, karma, note) \"Bonn\" 1 unset null\nput people (id, city, note) 1 \"Bonn\" null"},
		{"a row loses its place", "UPDATE Person SET city = ? WHERE Person.id = ?", []int{0, 1}, map[string][][][]byte{byID: {{[]byte("Bonn"), nil, nil}}},
			planrun.Parameters{"SET Person.city": none, "Person.id =": id(1)}, "delete by_city city = ? AND id = ? \"Bonn\" 1\nput people (id, city) 1 null"},
		{"a row gets a place", "UPDATE Person SET city = ? WHERE Person.id = ?", []int{0, 1}, map[string][][][]byte{byID: {{nil, nil, nil}}},
			planrun.Parameters{"SET Person.city": texts("Bonn"), "Person.id =": id(1)}, "put by_city (city, id, karma, note) \"Bonn\" 1 unset unset\nput people (id, city) 1 \"Bonn\""},
		{"added once for all tables", "UPDATE Person SET karma = karma + ? WHERE Person.id = ?", []int{0, 1},
			map[string][][][]byte{"SELECT city, karma FROM k.people WHERE id = ?": {{[]byte("Bonn"), exec.FromInt64(4)}}},
			planrun.Parameters{"ADD Person.karma": {exec.FromInt64(3)}, "Person.id =": id(1)}, "put by_city (city, id, karma) \"Bonn\" 1 7\nput people (id, karma) 1 7"},
		{"nothing plus a number", "UPDATE Person SET karma = karma + ? WHERE Person.id = ?", []int{0}, map[string][][][]byte{"SELECT karma FROM k.people WHERE id = ?": {{nil}}},
			planrun.Parameters{"ADD Person.karma": {exec.FromInt64(3)}, "Person.id =": id(1)}, "put people (id, karma) 1 null"},
		{"nobody is named by null", "DELETE FROM Person WHERE Person.id = ?", []int{0, 1}, nil, planrun.Parameters{"Person.id =": none}, ""},
		{"whom a condition finds, each once", "DELETE FROM Person.posts WHERE Person.id = ? AND Post.title != ?", []int{2, 0},
			map[string][][][]byte{"SELECT title, post_id FROM k.posts WHERE person_id = ?": {{[]byte("a"), exec.FromInt32(5)}, {[]byte("b"), exec.FromInt32(6)}}, "SELECT post_id FROM k.posts WHERE person_id = ?": {{exec.FromInt32(5)}}},
			planrun.Parameters{"Person.id =": id(1), "Post.title !=": texts("z")}, "delete people id = ? 1\ndelete posts person_id = ? AND post_id = ? 1 5"},
		{"a post has another author", "CONNECT Post(?) TO author(?)", []int{3, 2, 0},
			map[string][][][]byte{note: {{nil}}, "SELECT title FROM k.post_by_id WHERE post_id = ?": {{nil}}, "SELECT person_id FROM k.post_by_id WHERE post_id = ?": {{exec.FromInt32(1)}}},
			planrun.Parameters{"Post.id =": id(7), "author.id": id(2)},
			"delete posts person_id = ? AND post_id = ? 1 7\nput post_by_id (post_id, title, person_id, note) 7 null 2 null\nput posts (person_id, post_id, title, note) 2 7 unset null"},
		{"the author that it had", "CONNECT Post(?) TO author(?)", []int{3, 2, 0},
			map[string][][][]byte{note: {{nil}}, "SELECT title FROM k.post_by_id WHERE post_id = ?": {{nil}}, "SELECT person_id FROM k.post_by_id WHERE post_id = ?": {{exec.FromInt32(2)}}},
			planrun.Parameters{"Post.id =": id(7), "author.id": id(2)},
			"put post_by_id (post_id, title, person_id, note) 7 null 2 null\nput posts (person_id, post_id, title, note) 2 7 null null"},
		{"a post without an author gets one", "CONNECT Post(?) TO author(?)", []int{3, 2, 0},
			map[string][][][]byte{note: {{nil}}, "SELECT title FROM k.post_by_id WHERE post_id = ?": {{nil}}},
			planrun.Parameters{"Post.id =": id(7), "author.id": id(2)},
			"put post_by_id (post_id, title, person_id, note) 7 null 2 null\nput posts (person_id, post_id, title, note) 2 7 unset null"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBlog(t)
			b.answer = c.answer
			var tables []*model.Table
			for _, n := range c.tables {
				tables = append(tables, b.tables[n])
			}
			p := b.compile(c.write, tables...)
			account := &planrun.Account{}
			if err := p.Run(context.Background(), b, c.with, planrun.RunOptions{Parallel: 1, Account: account}); err != nil {
				t.Fatal(err)
			}
			if got := written(b.sent); got != c.want {
				var asked []string
				for _, q := range b.asked {
					asked = append(asked, q.Text)
				}
				t.Errorf("got\n%s\nwant\n%s\nasked %q", got, c.want, asked)
			}
			requests := 0
			for i, s := range p.Steps() {
				requests += account.Steps[i].Requests
				if (s.Query == nil) == (s.Table == "") {
					t.Errorf("step %+v", s)
				}
			}
			if requests != len(b.sent)+len(b.asked) {
				t.Errorf("%d requests are accounted for, %d were sent", requests, len(b.sent)+len(b.asked))
			}
			for _, q := range b.sent {
				if q.Timestamp != b.sent[0].Timestamp || q.Timestamp < 1_000_000 || q.Routed != 1 {
					t.Errorf("%+v", q)
				}
			}
		})
	}
}

// TestSupportIsShared: one query, though three tables need its answer.
func TestSupportIsShared(t *testing.T) {
	b := newBlog(t)
	second := *b.tables[1]
	second.Name, second.Clustering, second.Partition = "by_karma", second.Partition, second.Values[:1]
	second.Clustering = append(slices.Clone(second.Clustering), b.tables[1].Clustering...)
	second.Values = second.Values[1:]
	third := *b.tables[1]
	third.Name = "by_city_again"
	b.answer["SELECT city, karma FROM k.people WHERE id = ?"] = [][][]byte{{[]byte("Bonn"), exec.FromInt64(1)}}
	b.answer["SELECT karma, city FROM k.people WHERE id = ?"] = [][][]byte{{exec.FromInt64(1), []byte("Bonn")}}
	p := b.compile("DELETE FROM Person WHERE Person.id = ?", b.tables[0], b.tables[1], &second, &third)
	if err := p.Run(context.Background(), b, planrun.Parameters{"Person.id =": id(1)}, planrun.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	if len(b.asked) != 1 || len(b.sent) != 4 { // what by_karma asks covers what by_city and its twin do
		t.Errorf("%d reads and %d writes", len(b.asked), len(b.sent))
	}
}

func TestLoggedBatches(t *testing.T) {
	b := newBlog(t)
	for i := range 250 {
		b.answer["SELECT post_id FROM k.posts WHERE person_id = ?"] = append(b.answer["SELECT post_id FROM k.posts WHERE person_id = ?"], [][]byte{exec.FromInt32(int32(i))})
	}
	p := b.compile("DELETE FROM Person WHERE Person.id = ?", b.tables[0], b.tables[2])
	with := planrun.Parameters{"Person.id =": id(1)}
	if err := p.Run(context.Background(), batching{b}, with, planrun.RunOptions{Logged: true}); err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, list := range b.batches {
		total += len(list)
		if len(list) > 100 {
			t.Errorf("a batch of %d", len(list))
		}
	}
	if total != 251 || len(b.batches) != 3 || len(b.sent) != 0 {
		t.Errorf("%d rows in %d batches, %d alone", total, len(b.batches), len(b.sent))
	}
	if err := p.Run(context.Background(), b, with, planrun.RunOptions{Logged: true}); !errors.Is(err, planrun.ErrNoBatches) {
		t.Error(err)
	}
	if err := p.Run(context.Background(), b, with, planrun.RunOptions{MaxRows: 100}); !errors.Is(err, exec.ErrTooManyRows) || len(b.sent) > 0 {
		t.Errorf("%v, %d sent", err, len(b.sent))
	}
}

// requestError is what Cassandra says.
func requestError(code int, text string) error { return &refusal{code, text} }

// TestWritesFail: the error says what was done and what to do.
func TestWritesFail(t *testing.T) {
	b := newBlog(t)
	const ask = "SELECT city, karma, note FROM k.people WHERE id = ?"
	b.answer[ask] = [][][]byte{{[]byte("Bonn"), nil, nil}}
	p := b.compile("UPDATE Person SET city = ? WHERE Person.id = ?", b.tables[0], b.tables[1])
	with := planrun.Parameters{"SET Person.city": texts("Rome"), "Person.id =": id(1)}
	var failed *planrun.WriteError

	b.failRead = requestError(gocql.ErrCodeReadTimeout, "too slow")
	err := p.Run(context.Background(), b, with, planrun.RunOptions{})
	if !errors.As(err, &failed) || failed.Effects != nil || !errors.Is(err, planrun.ErrTimeout) || len(b.sent) > 0 || failed.Step.Query == nil || !strings.Contains(err.Error(), "nothing was written") {
		t.Errorf("%v", err)
	}
	b.failRead, failed = nil, nil

	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if err := p.Run(cancelled, b, with, planrun.RunOptions{}); !errors.As(err, &failed) || failed.Effects != nil || !errors.Is(err, planrun.ErrCancelled) {
		t.Errorf("%v", err)
	}
	late, end := context.WithDeadline(context.Background(), time.Unix(1, 0))
	defer end()
	if err := p.Run(late, b, with, planrun.RunOptions{}); !errors.Is(err, planrun.ErrTimeout) {
		t.Errorf("%v", err)
	}

	b.fail = requestError(gocql.ErrCodeInvalid, "unconfigured table by_city")
	err = p.Run(context.Background(), b, with, planrun.RunOptions{Parallel: 1})
	if !errors.As(err, &failed) || failed.Effects == nil || !errors.Is(err, planrun.ErrNoTable) || failed.Step.Table != "k.by_city" || failed.Step.Kind != plan.Remove {
		t.Fatalf("%v", err)
	}
	first := b.sent[0]
	b.fail, b.sent = nil, nil
	if err := failed.Effects.Apply(context.Background(), b, planrun.RunOptions{}); err != nil {
		t.Error(err)
	}
	if deletes, puts := failed.Effects.Len(); len(b.sent) != 3 || deletes != 1 || puts != 2 || b.sent[0].Text != first.Text || b.sent[0].Timestamp != first.Timestamp || first.Timestamp != failed.Effects.Timestamp() {
		t.Errorf("%d sent again: %+v", len(b.sent), b.sent)
	}
	at := b.sent[0].Timestamp
	b.sent = nil
	if err := p.Run(context.Background(), b, with, planrun.RunOptions{}); err != nil || b.sent[0].Timestamp <= at {
		t.Errorf("%v: a later write is not later: %d, %d", err, at, b.sent[0].Timestamp)
	}

	var parameter *planrun.ParameterError
	for name, with := range map[string]planrun.Parameters{
		"Person.id =":     {"SET Person.city": texts("Rome")},
		"SET Person.city": {"Person.id =": id(1)},
	} {
		if err := p.Run(context.Background(), b, with, planrun.RunOptions{}); !errors.As(err, &parameter) || parameter.Name != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := p.Run(context.Background(), b, planrun.Parameters{"SET Person.city": texts("Rome"), "Person.id =": texts("five!")}, planrun.RunOptions{}); !errors.As(err, &parameter) {
		t.Errorf("%v", err)
	}
}

// TestOverflow: what does not fit is not written.
func TestOverflow(t *testing.T) {
	b := newBlog(t)
	b.answer["SELECT karma FROM k.people WHERE id = ?"] = [][][]byte{{exec.FromInt64(1<<63 - 1)}}
	p := b.compile("UPDATE Person SET karma = karma + ? WHERE Person.id = ?", b.tables[0])
	err := p.Run(context.Background(), b, planrun.Parameters{"ADD Person.karma": {exec.FromInt64(1)}, "Person.id =": id(1)}, planrun.RunOptions{})
	var wrong *planrun.TypeError
	if !errors.As(err, &wrong) || len(b.sent) > 0 {
		t.Errorf("%v", err)
	}
}

// TestTablesAreLent: a support query reads a table that the write does not change.
func TestTablesAreLent(t *testing.T) {
	b := newBlog(t)
	b.answer["SELECT note FROM k.people WHERE id = ?"] = [][][]byte{{[]byte("hi")}}
	p := b.compile("INSERT INTO Post SET id = ?, title = ? AND CONNECT TO author(?)", b.tables[2], b.tables[0])
	with := planrun.Parameters{"SET Post.id": id(7), "SET Post.title": texts("x"), "author.id": id(1)}
	if err := p.Run(context.Background(), b, with, planrun.RunOptions{}); err != nil || len(b.sent) != 1 || len(b.asked) != 1 {
		t.Errorf("%v: %d writes after %d reads", err, len(b.sent), len(b.asked))
	}
	if p := b.compile("UPDATE Post FROM Post.author SET title = ? WHERE Person.note = ?", b.tables[0], b.tables[1]); len(p.Steps()) != 0 {
		t.Errorf("a write that changes nothing has steps %v", p.Steps())
	}
}

// TestWritesThatCanNotBeCompiled names what is missing.
func TestWritesThatCanNotBeCompiled(t *testing.T) {
	b := newBlog(t)
	unnamed := *b.tables[0]
	unnamed.Name = ""
	for _, c := range []struct {
		write string
		table *model.Table
		want  string
	}{
		{"DELETE FROM Person WHERE Person.id = ?", b.tables[1], "no plan for the support query"},
		{"DELETE FROM Person WHERE Person.id = ?", &unnamed, "name"},
		{"UPDATE Person SET note = note + ? WHERE Person.id = ?", b.tables[0], "nothing can be added to Person.note"},
	} {
		s, err := workload.Parse(b.graph, c.write)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := planrun.CompileWrite(s.Write, []*plan.WritePlan{{Write: s.Write, Table: c.table}}); !errors.Is(err, planrun.ErrPlan) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.write, err)
		}
	}
}
